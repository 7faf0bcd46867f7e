/* touched.c - when rows were last changed, for who remembers what was read of them.
 *
 * SQLite tells the writer of every row that it changes, by statements, triggers or cascades. The
 * rows of some tables are noted in slots, by their ids, and get the number of the commit before
 * it happens. Of tables whose rows have no number of their own it tells nothing: those have
 * triggers that only the writer's connection knows, which say whose row it was. A reader knows how
 * many commits its snapshot has seen at least: what was read then still holds while the slots of
 * its rows have no greater number. Rows that share a slot only make somebody read again what did
 * not change. */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

static const char *const noted_tables[] = {
    [NOTED_MESSAGES] = "messages",
    [NOTED_USERS] = "users",
    [NOTED_CHANNELS] = "channels",
    [NOTED_COMMANDS] = "commands",
};

static unsigned slot_of(enum noted_rows rows, uint64_t id)
{
    uint64_t of = id + rows * UINT64_C(0xd1b54a32d192ed03); /* ids follow each other */

    return (unsigned)((of * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TOUCHED_BITS));
}

static void note_slot(struct sqlite_touched *t, enum noted_rows rows, uint64_t id)
{
    uint16_t slot = (uint16_t)slot_of(rows, id);

    if (t->count && t->noted[t->count - 1] == slot)
        return; /* many rows of one guild, say */
    if (t->count == TOUCHED_AT_ONCE)
        t->too_many = true;
    else
        t->noted[t->count++] = slot;
}

static void note_row(void *arg, int what, const char *database, const char *table, sqlite3_int64 id)
{
    (void)what;
    (void)database;
    for (size_t i = 0; i < COUNT_OF(noted_tables); i++)
        if (strcmp(table, noted_tables[i]) == 0)
            note_slot(arg, (enum noted_rows)i, (uint64_t)id);
}

void sqlite_touch(struct tx *tx, enum noted_rows rows, uint64_t id)
{
    if (work_writes(tx->work))
        note_slot(&((struct sqlite *)tx->store)->touched, rows, id);
}

/* noted(kind, id): a row of somebody's changed. */
static void note_owner(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    note_slot(sqlite3_user_data(context), (enum noted_rows)sqlite3_value_int(values[0]),
              (uint64_t)sqlite3_value_int64(values[1]));
}

/* Tables without numbers, and which column says whose a row is. */
static const struct {
    enum noted_rows rows;
    const char *table, *owner;
} noted_owners[] = {
    { NOTED_MEMBERS, "members", "guild_id" },
    { NOTED_MEMBERS, "member_roles", "guild_id" },
    { NOTED_RELATIONSHIPS, "relationships", "user_id" },
};

static bool note_when(sqlite3 *db, size_t i, const char *what, const char *row)
{
    char *sql = sqlite3_mprintf("create temp trigger %s_%s_%s after %s on main.%s begin "
                                "select noted(%d, %s.%s); end",
                                noted_owners[i].table, what, row, what, noted_owners[i].table,
                                (int)noted_owners[i].rows, row, noted_owners[i].owner);
    bool done = sql && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;

    sqlite3_free(sql);
    return done;
}

static bool note_owners(sqlite3 *db, struct sqlite_touched *t)
{
    bool done = sqlite3_create_function(db, "noted", 2, SQLITE_UTF8, t, note_owner, NULL, NULL) ==
                SQLITE_OK;

    for (size_t i = 0; i < COUNT_OF(noted_owners) && done; i++)
        done = note_when(db, i, "insert", "new") && note_when(db, i, "update", "old") &&
               note_when(db, i, "update", "new") && note_when(db, i, "delete", "old");
    return done;
}

enum err sqlite_touched_begin(struct sqlite *q)
{
    sqlite3 *db = q->writer->db;

    sqlite3_update_hook(db, note_row, &q->touched);
    if (note_owners(db, &q->touched))
        return OK;
    log_error("store: changes cannot be noted: %s", sqlite3_errmsg(db));
    return ERR_UNAVAILABLE;
}

void sqlite_touched_commit(struct sqlite *q, uint64_t number)
{
    struct sqlite_touched *t = &q->touched;

    for (unsigned i = 0; i < t->count; i++)
        atomic_store_explicit(&t->last[t->noted[i]], number, memory_order_relaxed);
    if (t->too_many)
        atomic_store_explicit(&t->all, number, memory_order_relaxed);
    t->count = 0;
    t->too_many = false;
}

bool sqlite_seen(struct tx *tx, struct tx_seen *ret)
{
    struct sqlite_conn *c = tx->connection;

    /* What is cached is used only beside rows of the same snapshot. */
    if (tx->work->mode != STORE_READ || !c->in_snapshot || !sqlite_snapshot_taken(c))
        return false;
    *ret = (struct tx_seen){ c->number, c->seen };
    return true;
}

bool sqlite_row_changed(struct tx *tx, const struct tx_seen *since, enum noted_rows rows,
                        uint64_t id)
{
    struct sqlite_touched *t = &((struct sqlite *)tx->store)->touched;
    uint64_t last = atomic_load_explicit(&t->last[slot_of(rows, id)], memory_order_relaxed);

    return last > since->commits ||
           atomic_load_explicit(&t->all, memory_order_relaxed) > since->commits;
}
