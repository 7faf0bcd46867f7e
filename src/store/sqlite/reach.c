/* reach.c - which columns a statement reads and writes, and when those were last written.
 *
 * SQLite names them to an authorizer while it prepares a statement, those of triggers and of
 * cascades too. Each column has a slot, and each table one for rows that come and go: a statement
 * that writes puts the number of the commit to come there before it runs. So what a statement read
 * in a snapshot that had seen so many commits still holds while none of its slots has a greater
 * number. Columns that share a slot only make somebody read again what did not change. It does not
 * name what generated columns are made of: there are none. */
#include <string.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

/* What they return does not follow from rows and parameters. */
static const char *const fickle[] = {
    "random",       "randomblob",   "changes",           "total_changes",     "date",     "time",
    "datetime",     "julianday",    "unixepoch",         "strftime",          "timediff", "noted",
    "current_date", "current_time", "current_timestamp", "last_insert_rowid",
};

static bool is_fickle(const char *function)
{
    for (size_t i = 0; i < COUNT_OF(fickle); i++)
        if (function && sqlite3_stricmp(function, fickle[i]) == 0)
            return true;
    return false;
}

/* column "": rows that come and go. SQLite spells names as the tables do, wherever they stand. */
static uint16_t slot_of_column(const char *table, const char *column)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *p = table; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    hash = (hash ^ '.') * UINT64_C(0x100000001b3);
    for (const char *p = column; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    return (uint16_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - REACH_BITS));
}

/* What is found while a statement is prepared. */
enum { MOST_SLOTS = 256 };
struct sqlite_finding {
    struct finding_slots {
        uint16_t all[MOST_SLOTS];
        unsigned count;
        bool too_many;
    } reads, writes;
    bool is_fickle;
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
        /* An index of words is searched by a column of its own name, which hangs on the others. */
        slots_add(&r->writes, slot_of_column(table, table));
        break;
    case SQLITE_FUNCTION:
        r->is_fickle |= is_fickle(column);
        break;
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        break;
    default:
        r->is_fickle = true; /* a pragma, say, that is there to be run */
        break;
    }
}

/* A statement that SQLite prepares by itself, because the tables have changed or for an index of
 * words, has nobody who notes what it writes. */
static int reach_authorize(void *arg, int action, const char *table, const char *column,
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

bool sqlite_reach_begin(struct sqlite_conn *c)
{
    return sqlite3_set_authorizer(c->db, reach_authorize, c) == SQLITE_OK;
}

static struct sqlite_slots slots_copy(const struct finding_slots *s, uint16_t *to)
{
    memcpy(to, s->all, s->count * sizeof *to);
    return (struct sqlite_slots){ to, s->count, s->too_many };
}

static struct sqlite_reach *reach_of(const struct sqlite_finding *f, unsigned age,
                                     struct sqlite_reach *older)
{
    struct sqlite_reach *r =
        mem_new(sizeof *r + (f->reads.count + f->writes.count) * sizeof(uint16_t));
    uint16_t *slots = (uint16_t *)(r + 1);

    r->reads = slots_copy(&f->reads, slots);
    r->writes = slots_copy(&f->writes, slots + f->reads.count);
    r->is_fickle = f->is_fickle;
    r->age = age;
    r->older = older;
    return r;
}

int sqlite_reach_prepare(struct sqlite_conn *c, const char *sql, unsigned flags, sqlite3_stmt **ret,
                         struct sqlite_reach **ret_reach)
{
    uint64_t key = (uint64_t)(uintptr_t)sql;
    struct sqlite_finding found = { .is_fickle = false };

    c->finding = &found;
    int code = sqlite3_prepare_v3(c->db, sql, -1, flags, ret, NULL);
    c->finding = NULL;
    struct sqlite_reach *r = map_get(&c->reaches, key);
    if (code == SQLITE_OK && (!r || r->age != c->reach_age)) {
        r = reach_of(&found, c->reach_age, r);
        map_put(&c->reaches, key, r);
    }
    *ret_reach = r;
    return code;
}

void sqlite_reaches_clear(struct sqlite_conn *c)
{
    struct sqlite_reach *r;
    size_t at = 0;

    while ((r = map_next(&c->reaches, &at))) {
        while (r) {
            struct sqlite_reach *older = r->older;

            mem_free(r);
            r = older;
        }
    }
    map_clear(&c->reaches);
}

void sqlite_reach_write(struct sqlite *q, struct sqlite_reach *r)
{
    uint64_t number = atomic_load_explicit(&q->store.commits, memory_order_relaxed) + 1;

    if (r->noted == number)
        return;
    r->noted = number;
    if (r->writes.too_many)
        sqlite_reach_write_all(q);
    for (unsigned i = 0; i < r->writes.count; i++)
        atomic_store_explicit(&q->reached.last[r->writes.all[i]], number, memory_order_relaxed);
}

void sqlite_reach_write_all(struct sqlite *q)
{
    uint64_t number = atomic_load_explicit(&q->store.commits, memory_order_relaxed) + 1;

    atomic_store_explicit(&q->reached.all, number, memory_order_relaxed);
}

bool sqlite_reach_holds(struct sqlite *q, const struct sqlite_slots *reads, uint64_t commits)
{
    uint64_t last = atomic_load_explicit(&q->reached.all, memory_order_relaxed);

    for (unsigned i = 0; i < reads->count; i++) {
        uint64_t of = atomic_load_explicit(&q->reached.last[reads->all[i]], memory_order_relaxed);

        last = of > last ? of : last;
    }
    return last <= commits;
}
