/* table_versions.c - versions of tables, to detect stale cached rows on PostgreSQL. */
#include "store/postgres/row_cache/table_versions.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/postgres/postgres.h"

/* Names of relations, whether they are ordinary tables, and the relations that a write to them may
 * also change: by foreign keys that cascade, or by triggers whose functions name them. Partitions
 * are left out, because statements name only the partitioned table. Each catalog is read once:
 * without `materialized`, PostgreSQL reads them for each relation, which takes seconds. */
static const char READ_TABLES[] =
    "with recursive relations as materialized ("
    "select oid, relname, relkind, relispartition from pg_class "
    "where relnamespace = current_schema()::regnamespace "
    "and relkind in ('r', 'p', 'v', 'm', 'S')), "
    "trigger_words as materialized ("
    "select t.tgrelid, regexp_split_to_table(p.prosrc, '\\W+') as word from relations "
    "join pg_trigger t on t.tgrelid = relations.oid and not t.tgisinternal "
    "join pg_proc p on p.oid = t.tgfoid), "
    "changes (source, target) as materialized ("
    "select confrelid, conrelid from pg_constraint where contype = 'f' "
    "and (confdeltype not in ('a', 'r') or confupdtype not in ('a', 'r')) "
    "union select tgrelid, oid from trigger_words "
    "join relations on relname = word and relkind in ('r', 'p')), "
    "changed (oid, origin) as ("
    "select oid, oid from relations where not relispartition "
    "union select changes.target, changed.origin from changed "
    "join changes on changes.source = changed.oid) "
    "select source.relname, source.relkind = 'r', target.relname from changed "
    "join relations source on source.oid = changed.origin "
    "join relations target on target.oid = changed.oid order by source.relname";

/* Words before a parenthesis in queries whose rows may be cached. Functions that are not listed may
 * depend on more than rows and parameters. */
static const char *const pure_words[] = {
    "and",    "any",  "as",     "by",     "case",   "cast",  "coalesce", "count",  "else", "exists",
    "filter", "from", "in",     "join",   "length", "lower", "max",      "min",    "not",  "on",
    "or",     "over", "select", "substr", "sum",    "then",  "union",    "values", "when", "where",
};

/* Prefixes of other words that make a query depend on more: catalogs, the time, the event log. */
static const char *const impure_prefixes[] = { "pg_", "current_", "localtime", "information_schema",
                                               "log_" };

static bool word_is_pure(struct str word)
{
    for (size_t i = 0; i < COUNT_OF(pure_words); i++)
        if (str_eq(word, str_of(pure_words[i])))
            return true;
    return false;
}

static bool word_has_impure_prefix(struct str word)
{
    for (size_t i = 0; i < COUNT_OF(impure_prefixes); i++)
        if (str_starts_with(word, str_of(impure_prefixes[i])))
            return true;
    return false;
}

void table_versions_init(struct table_versions *v)
{
    pthread_mutex_init(&v->lock, NULL);
    map_init(&v->by_statement);
}

void table_versions_clear(struct table_versions *v)
{
    struct statement_tables *s;
    size_t at = 0;

    while ((s = map_next_value(&v->by_statement, &at)))
        mem_free(s);
    map_clear(&v->by_statement);
    pthread_mutex_destroy(&v->lock);
}

void table_versions_disable(struct table_versions *v)
{
    atomic_store(&v->is_known, false);
}

struct table_versions *table_versions_or_null(struct table_versions *v)
{
    return atomic_load(&v->is_known) ? v : NULL;
}

/* Returns the index of a table, or v->count if there is none of that name. */
static unsigned find_table(const struct table_versions *v, struct str name)
{
    unsigned i = 0;

    while (i < v->count && !str_eq(name, str_of(v->tables[i].name)))
        i++;
    return i;
}

static void add_table(struct table_versions *v, const char *name, bool is_cacheable)
{
    struct versioned_table *t = &v->tables[v->count++];

    snprintf(t->name, sizeof t->name, "%s", name);
    t->is_cacheable = is_cacheable;
}

void table_versions_load(struct table_versions *v, struct postgres_conn *c)
{
    PGresult *result = postgres_read_last_result(c, pq.sendQuery(c->pg, READ_TABLES));
    int count = postgres_result_is_ok(result) ? pq.ntuples(result) : 0;
    bool fits = count > 0;

    for (int i = 0; i < count && fits; i++) {
        const char *name = pq.getvalue(result, i, 0);

        fits = v->count < POSTGRES_TABLES_MAX;
        if (fits && find_table(v, str_of(name)) == v->count)
            add_table(v, name, pq.getvalue(result, i, 1)[0] == 't');
    }
    for (int i = 0; i < count && fits; i++) {
        unsigned table = find_table(v, str_of(pq.getvalue(result, i, 0)));
        unsigned written = find_table(v, str_of(pq.getvalue(result, i, 2)));

        fits = written < v->count;
        if (fits)
            v->tables[table].written.bits[written / 64] |= UINT64_C(1) << written % 64;
    }
    pq.clear(result);
    atomic_store(&v->is_known, fits);
}

/* --- the tables of a statement ---------------------------------------------------------- */

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns the next word, and moves *at behind it; skips texts in quotes. The result is empty at the
 * end. */
static struct str next_word_of_statement(const char **at)
{
    const char *p = *at;

    while (*p && !is_word_char(*p)) {
        if (*p == '\'')
            for (p++; *p && *p != '\''; p++)
                ;
        p += *p != 0;
    }
    *at = p;
    while (is_word_char(**at))
        ++*at;
    return (struct str){ p, (size_t)(*at - p) };
}

/* A word that is the name of a table counts as one, even if it is the name of a column. */
static void find_tables_of_statement(const struct table_versions *v, const char *sql,
                                     struct statement_tables *ret)
{
    bool selects = postgres_sql_is_select(sql), has_table = false;
    struct str word;

    ret->is_cacheable = selects;
    while ((word = next_word_of_statement(&sql)).n) {
        const char *next = sql + strspn(sql, " ");
        unsigned i = find_table(v, word);

        if (i < v->count) {
            has_table = true;
            ret->is_cacheable &= v->tables[i].is_cacheable;
            ret->reads.bits[i / 64] |= UINT64_C(1) << i % 64;
            if (!selects)
                table_set_add(&ret->writes, &v->tables[i].written);
        } else if (word_has_impure_prefix(word) || (*next == '(' && !word_is_pure(word))) {
            ret->is_cacheable = false;
        }
    }
    ret->is_cacheable &= has_table;
}

const struct statement_tables *table_versions_find_statement(struct table_versions *v,
                                                             const char *sql)
{
    pthread_mutex_lock(&v->lock);
    struct statement_tables *s = map_find_value(&v->by_statement, (uintptr_t)sql);
    if (!s) {
        s = mem_new(sizeof *s);
        find_tables_of_statement(v, sql, s);
        map_set_value(&v->by_statement, (uintptr_t)sql, s);
    }
    pthread_mutex_unlock(&v->lock);
    return s;
}

/* --- versions --------------------------------------------------------------------------- */

bool table_versions_are_unchanged(const struct table_versions *v, const struct table_set *tables,
                                  uint64_t clock)
{
    for (size_t i = 0; i < COUNT_OF(tables->bits); i++)
        for (uint64_t left = tables->bits[i]; left; left &= left - 1) {
            const struct versioned_table *t = &v->tables[i * 64 + (size_t)__builtin_ctzll(left)];

            /* Read .commits first, because table_versions_end_commit writes it last. */
            if (atomic_load(&t->commits) || atomic_load(&t->version) > clock)
                return false;
        }
    return true;
}

void table_versions_begin_commit(struct table_versions *v, const struct table_set *written)
{
    for (unsigned i = 0; i < v->count; i++)
        if (written->bits[i / 64] >> i % 64 & 1)
            atomic_fetch_add(&v->tables[i].commits, 1);
}

void table_versions_end_commit(struct table_versions *v, const struct table_set *written)
{
    pthread_mutex_lock(&v->lock); /* so that the versions of a table only increase */
    uint64_t number = atomic_fetch_add(&v->clock, 1) + 1;
    for (unsigned i = 0; i < v->count; i++)
        if (written->bits[i / 64] >> i % 64 & 1) {
            atomic_store(&v->tables[i].version, number);
            atomic_fetch_sub(&v->tables[i].commits, 1);
        }
    pthread_mutex_unlock(&v->lock);
}
