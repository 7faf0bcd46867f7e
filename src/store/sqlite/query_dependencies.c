/* query_dependencies.c - determines which columns a statement reads and writes.
 *
 * SQLite's authorizer callback reports the columns while SQLite prepares a statement, including
 * triggers and cascades. Each column has a version slot (row_versions.c), and each table has a slot
 * for inserted or deleted rows. A writing statement marks its slots before it runs. SQLite does not
 * report the source columns of generated columns, so the schema must not use generated columns. */
#include <string.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

/* SQL functions whose result depends on more than rows and parameters. */
static const char *const volatile_functions[] = {
    "random",       "randomblob",   "changes",           "total_changes",     "date",     "time",
    "datetime",     "julianday",    "unixepoch",         "strftime",          "timediff", "noted",
    "current_date", "current_time", "current_timestamp", "last_insert_rowid",
};

static bool is_volatile_function(const char *function)
{
    for (size_t i = 0; i < COUNT_OF(volatile_functions); i++)
        if (function && sqlite3_stricmp(function, volatile_functions[i]) == 0)
            return true;
    return false;
}

/* Returns the version slot of a column; an empty column name means inserted or deleted rows. */
static uint16_t column_version_slot(const char *table, const char *column)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *p = table; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    hash = (hash ^ '.') * UINT64_C(0x100000001b3);
    for (const char *p = column; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    return (uint16_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SQLITE_VERSION_BITS));
}

/* A list of version slots of columns, which is filled while a statement is prepared. */
enum {
    ANY_COLUMN = 0, /* version slot that is marked as changed when a statement writes unknown
                     * columns */
    MAX_DEPENDENCY_SLOTS = 256,
};
struct dependency_collector {
    struct collected_slots {
        uint16_t all[MAX_DEPENDENCY_SLOTS];
        unsigned count;
        bool too_many;
    } reads, writes;
    bool is_volatile;
};

static void add_row_version_slot(struct collected_slots *s, uint16_t slot)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->all[i] == slot)
            return;
    if (s->count == MAX_DEPENDENCY_SLOTS)
        s->too_many = true;
    else
        s->all[s->count++] = slot;
}

static void collect_columns_of_action(struct dependency_collector *r, int action, const char *table,
                                      const char *column)
{
    switch (action) {
    case SQLITE_READ:
        add_row_version_slot(&r->reads, ANY_COLUMN);
        add_row_version_slot(&r->reads, column_version_slot(table, ""));
        if (*column)
            add_row_version_slot(&r->reads, column_version_slot(table, column));
        break;
    case SQLITE_INSERT:
    case SQLITE_DELETE:
        add_row_version_slot(&r->writes, column_version_slot(table, ""));
        break;
    case SQLITE_UPDATE:
        add_row_version_slot(&r->writes, column_version_slot(table, column));
        /* In a full-text index, the column that is named like the table changes with any other
         * column. */
        add_row_version_slot(&r->writes, column_version_slot(table, table));
        break;
    case SQLITE_FUNCTION:
        r->is_volatile |= is_volatile_function(column);
        break;
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        break;
    default:
        r->is_volatile = true; /* for example a pragma */
        break;
    }
}

/* Collects the columns of the statement that is being prepared. SQLite prepares some statements
 * itself, after a schema change or for a full-text index. No code marks the columns that such
 * statements write, so sqlite_rows_end invalidates the query caches. */
static int on_authorize_statement_action(void *arg, int action, const char *table,
                                         const char *column, const char *database,
                                         const char *trigger)
{
    struct sqlite_conn *c = arg;
    bool writes = action == SQLITE_INSERT || action == SQLITE_DELETE || action == SQLITE_UPDATE;

    (void)database;
    (void)trigger;
    if (c->collector)
        collect_columns_of_action(c->collector, action, table ? table : "", column ? column : "");
    else if (writes)
        c->has_lost_track = true;
    return SQLITE_OK;
}

bool sqlite_register_query_dependency_callback(struct sqlite_conn *c)
{
    return sqlite3_set_authorizer(c->db, on_authorize_statement_action, c) == SQLITE_OK;
}

static struct row_version_slots copy_row_version_slots(const struct collected_slots *s,
                                                       uint16_t *to)
{
    memcpy(to, s->all, s->count * sizeof *to);
    return (struct row_version_slots){ to, s->count, s->too_many };
}

static struct query_dependencies *query_dependencies_new(const struct dependency_collector *f,
                                                         unsigned age,
                                                         struct query_dependencies *older)
{
    struct query_dependencies *r =
        mem_new(sizeof *r + (f->reads.count + f->writes.count) * sizeof(uint16_t));
    uint16_t *slots = (uint16_t *)(r + 1);

    r->reads = copy_row_version_slots(&f->reads, slots);
    r->writes = copy_row_version_slots(&f->writes, slots + f->reads.count);
    r->is_volatile = f->is_volatile;
    r->age = age;
    r->older = older;
    return r;
}

int sqlite_prepare_with_query_dependencies(struct sqlite_conn *c, const char *sql, unsigned flags,
                                           sqlite3_stmt **ret,
                                           struct query_dependencies **ret_found)
{
    uint64_t key = (uint64_t)(uintptr_t)sql;
    struct dependency_collector found = { .is_volatile = false };

    c->collector = &found;
    int code = sqlite3_prepare_v3(c->db, sql, -1, flags, ret, NULL);
    c->collector = NULL;
    struct query_dependencies *r = map_find_value(&c->dependencies, key);
    if (code == SQLITE_OK && (!r || r->age != c->dependencies_age)) {
        r = query_dependencies_new(&found, c->dependencies_age, r);
        map_set_value(&c->dependencies, key, r);
    }
    *ret_found = r;
    return code;
}

void sqlite_query_dependencies_free(struct sqlite_conn *c)
{
    struct query_dependencies *r;
    size_t at = 0;

    while ((r = map_next_value(&c->dependencies, &at))) {
        while (r) {
            struct query_dependencies *older = r->older;

            mem_free(r);
            r = older;
        }
    }
    map_clear(&c->dependencies);
}

void sqlite_invalidate_query_caches(struct sqlite *q)
{
    row_version_slots_mark_changed(q, &(uint16_t){ ANY_COLUMN }, 1);
}

void sqlite_mark_columns_of_query_written(struct sqlite *q, struct query_dependencies *r)
{
    uint64_t number = atomic_load_explicit(&q->store.commits, memory_order_relaxed) + 1;

    if (r->marked == number)
        return;
    r->marked = number;
    if (r->writes.too_many)
        sqlite_invalidate_query_caches(q);
    row_version_slots_mark_changed(q, r->writes.all, r->writes.count);
}
