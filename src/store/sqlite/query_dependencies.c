/* query_dependencies.c - determines which columns a statement reads and writes.
 *
 * SQLite's authorizer callback reports them while it prepares a statement, including triggers and
 * cascades. Each column has a version slot (row_versions.c), and each table has one for inserted or
 * deleted rows. A writing statement marks its slots before it runs. SQLite does not report the
 * source columns of generated columns, so the schema must not use generated columns. */
#include <string.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

/* SQL functions whose result does not depend on rows and parameters alone. */
static const char *const volatile_functions[] = {
    "random",       "randomblob",   "changes",           "total_changes",     "date",     "time",
    "datetime",     "julianday",    "unixepoch",         "strftime",          "timediff", "noted",
    "current_date", "current_time", "current_timestamp", "last_insert_rowid",
};

static bool is_volatile(const char *function)
{
    for (size_t i = 0; i < COUNT_OF(volatile_functions); i++)
        if (function && sqlite3_stricmp(function, volatile_functions[i]) == 0)
            return true;
    return false;
}

/* Returns the slot of a column; column "": inserted or deleted rows of the table. */
static uint16_t slot_of_column(const char *table, const char *column)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *p = table; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    hash = (hash ^ '.') * UINT64_C(0x100000001b3);
    for (const char *p = column; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    return (uint16_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SQLITE_VERSION_BITS));
}

/* Columns that are collected while a statement is prepared. */
enum {
    ANY_COLUMN = 0, /* slot that is marked when the written columns are unknown */
    MOST_SLOTS = 256,
};
struct sqlite_finding {
    struct finding_slots {
        uint16_t all[MOST_SLOTS];
        unsigned count;
        bool too_many;
    } reads, writes;
    bool is_volatile;
};

static void slots_add(struct finding_slots *s, uint16_t slot)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->all[i] == slot)
            return;
    if (s->count == MOST_SLOTS)
        s->too_many = true;
    else
        s->all[s->count++] = slot;
}

static void finding_add(struct sqlite_finding *r, int action, const char *table, const char *column)
{
    switch (action) {
    case SQLITE_READ:
        slots_add(&r->reads, ANY_COLUMN);
        slots_add(&r->reads, slot_of_column(table, ""));
        if (*column)
            slots_add(&r->reads, slot_of_column(table, column));
        break;
    case SQLITE_INSERT:
    case SQLITE_DELETE:
        slots_add(&r->writes, slot_of_column(table, ""));
        break;
    case SQLITE_UPDATE:
        slots_add(&r->writes, slot_of_column(table, column));
        /* A full-text index has a column with the table's own name, which depends on all others. */
        slots_add(&r->writes, slot_of_column(table, table));
        break;
    case SQLITE_FUNCTION:
        r->is_volatile |= is_volatile(column);
        break;
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        break;
    default:
        r->is_volatile = true; /* for example, a pragma */
        break;
    }
}

/* Collects the columns of the statement that is being prepared. SQLite prepares some statements
 * itself, after a schema change or for a full-text index. No code marks the columns that these
 * write, so sqlite_end invalidates the query caches. */
static int statement_authorize(void *arg, int action, const char *table, const char *column,
                               const char *database, const char *trigger)
{
    struct sqlite_conn *c = arg;
    bool writes = action == SQLITE_INSERT || action == SQLITE_DELETE || action == SQLITE_UPDATE;

    (void)database;
    (void)trigger;
    if (c->finding)
        finding_add(c->finding, action, table ? table : "", column ? column : "");
    else if (writes)
        c->has_lost_track = true;
    return SQLITE_OK;
}

bool sqlite_dependencies_begin(struct sqlite_conn *c)
{
    return sqlite3_set_authorizer(c->db, statement_authorize, c) == SQLITE_OK;
}

static struct sqlite_slots slots_copy(const struct finding_slots *s, uint16_t *to)
{
    memcpy(to, s->all, s->count * sizeof *to);
    return (struct sqlite_slots){ to, s->count, s->too_many };
}

static struct query_dependencies *dependencies_new(const struct sqlite_finding *f, unsigned age,
                                                   struct query_dependencies *older)
{
    struct query_dependencies *r =
        mem_new(sizeof *r + (f->reads.count + f->writes.count) * sizeof(uint16_t));
    uint16_t *slots = (uint16_t *)(r + 1);

    r->reads = slots_copy(&f->reads, slots);
    r->writes = slots_copy(&f->writes, slots + f->reads.count);
    r->is_volatile = f->is_volatile;
    r->age = age;
    r->older = older;
    return r;
}

int sqlite_dependencies_prepare(struct sqlite_conn *c, const char *sql, unsigned flags,
                                sqlite3_stmt **ret, struct query_dependencies **ret_found)
{
    uint64_t key = (uint64_t)(uintptr_t)sql;
    struct sqlite_finding found = { .is_volatile = false };

    c->finding = &found;
    int code = sqlite3_prepare_v3(c->db, sql, -1, flags, ret, NULL);
    c->finding = NULL;
    struct query_dependencies *r = map_get(&c->dependencies, key);
    if (code == SQLITE_OK && (!r || r->age != c->dependencies_age)) {
        r = dependencies_new(&found, c->dependencies_age, r);
        map_put(&c->dependencies, key, r);
    }
    *ret_found = r;
    return code;
}

void sqlite_dependencies_clear(struct sqlite_conn *c)
{
    struct query_dependencies *r;
    size_t at = 0;

    while ((r = map_next(&c->dependencies, &at))) {
        while (r) {
            struct query_dependencies *older = r->older;

            mem_free(r);
            r = older;
        }
    }
    map_clear(&c->dependencies);
}

void sqlite_columns_change(struct sqlite *q)
{
    sqlite_slots_change(q, &(uint16_t){ ANY_COLUMN }, 1);
}

void sqlite_dependencies_write(struct sqlite *q, struct query_dependencies *r)
{
    uint64_t number = atomic_load_explicit(&q->store.commits, memory_order_relaxed) + 1;

    if (r->marked == number)
        return;
    r->marked = number;
    if (r->writes.too_many)
        sqlite_columns_change(q);
    sqlite_slots_change(q, r->writes.all, r->writes.count);
}
