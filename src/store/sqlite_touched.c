/* sqlite_touched.c - when rows were last changed, for who remembers what was read of them.
 *
 * SQLite tells the writer of every row that it changes, by statements, triggers or cascades. The
 * rows of some tables are noted in slots, by their ids, and get the number of the commit before
 * it happens. A reader knows how many commits its snapshot has seen at least:
 * what was read then still holds while the slots of its rows have no greater number. Rows that
 * share a slot only make somebody read again what did not change. */
#include <string.h>

#include "base/mem.h"
#include "store/sqlite.h"

static const char *const noted_tables[] = {
    [NOTED_MESSAGES] = "messages",
    [NOTED_USERS] = "users",
    [NOTED_CHANNELS] = "channels",
    [NOTED_COMMANDS] = "commands",
};

static unsigned slot_of(enum noted_rows rows, uint64_t id)
{
    return (unsigned)(((id + rows) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TOUCHED_BITS));
}

static void note_slot(struct sqlite_touched *t, enum noted_rows rows, uint64_t id)
{
    if (t->count == TOUCHED_AT_ONCE)
        t->too_many = true;
    else
        t->noted[t->count++] = (uint16_t)slot_of(rows, id);
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

void sqlite_touched_begin(struct sqlite *q)
{
    sqlite3_update_hook(q->writer->db, note_row, &q->touched);
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
    const struct sqlite_conn *c = tx->connection;

    if (tx->work->mode != STORE_READ || !c->in_snapshot)
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
