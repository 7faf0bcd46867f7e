/* remember.c - which questions are answered from memory, and whose answers go there.
 *
 * The memory is sqlite_recall.c; here are the transactions and cursors that use it. */
#include "store/sqlite/cursor.h"

/* --- giving out ----------------------------------------------------------------------- */

/* The writer sees what it has written itself: its statements note that before they run, so that
 * nothing from before is given out. */
static bool can_remember(struct tx *tx, const char *sql)
{
    struct sqlite_conn *c = tx->connection;

    if (!c->recalls || c->has_lost_track)
        return false;
    if (!work_writes(tx->work))
        return c->in_snapshot;
    const struct sqlite_statement *st = map_get(&c->statements, (uint64_t)(uintptr_t)sql);
    c->seen = atomic_load_explicit(&tx->store->commits, memory_order_relaxed);
    return !st || !st->reach->writes.count;
}

bool sqlite_remembered(struct tx *tx, const char *sql, const struct value *values, size_t count,
                       struct sqlite_asking *asking, struct rows *ret)
{
    struct sqlite_conn *c = tx->connection;

    *asking = (struct sqlite_asking){ 0 };
    if (!can_remember(tx, sql))
        return false;
    const struct recalled *r =
        sqlite_recall((struct sqlite *)tx->store, c, sql, values, count, ret->single, asking);
    if (r)
        sqlite_cursor_add(tx, sql, sqlite_recalled_columns(r), ret)->recalled = r;
    return r;
}

bool sqlite_remembered_next(struct rows *r, struct sqlite_cursor *cursor)
{
    struct arena *a = r->lent ? NULL : tx_arena(r->tx);

    if (sqlite_share_over(r->tx->connection) ||
        !sqlite_recalled_row(cursor->recalled, cursor->next_row, a, cursor->cursor.row))
        return false;
    cursor->next_row++;
    r->row = cursor->cursor.row;
    return true;
}

enum err sqlite_remembered_end(struct rows *r, struct sqlite_cursor *cursor)
{
    struct sqlite_conn *c = r->tx->connection;

    sqlite_recalled_done(cursor->recalled);
    tx_remove_cursor(r->tx, &cursor->cursor);
    return c->share.is_spent ? tx_fail(r->tx, ERR_STORE_RETRY) : OK;
}

/* --- putting there -------------------------------------------------------------------- */

/* The caller's own may be gone before all rows are there. */
static const struct value *values_copy(struct arena *a, const struct value *values, size_t count)
{
    struct value *copy = arena_raw(a, count * sizeof *copy);

    for (size_t i = 0; i < count; i++)
        copy[i] = values[i].kind == VALUE_TEXT
                      ? value_copy(a, VALUE_TEXT, values[i].s.p, values[i].s.n)
                      : values[i];
    return copy;
}

void sqlite_remember_begin(struct tx *tx, struct sqlite_cursor *cursor,
                           const struct sqlite_asking *asking, const struct value *values,
                           size_t count, const struct rows *ret)
{
    const struct sqlite_reach *reach = cursor->statement->reach;

    if (!asking->hash || reach->is_fickle || reach->reads.too_many || reach->writes.count ||
        !cursor->statement->reads_only)
        return;
    struct sqlite_asking *a = cursor->asking = arena_raw(tx_arena(tx), sizeof *a);
    *a = *asking;
    a->sql = cursor->sql;
    a->reads = &reach->reads;
    a->values = values_copy(tx_arena(tx), values, count);
    a->count = count;
    a->single = ret->single;
    a->columns = ret->columns;
}

void sqlite_remember_row(struct rows *r, const struct sqlite_cursor *cursor)
{
    struct sqlite_asking *a = cursor->asking;

    if (a && r->lent)
        a->hash = 0; /* gone before all rows are there */
    if (a && a->hash)
        sqlite_asking_row(tx_arena(r->tx), a, r->row, r->columns);
}

/* Those that stop early have not seen all there is. */
void sqlite_remember_end(struct sqlite_conn *c, const struct sqlite_cursor *cursor)
{
    const struct sqlite_asking *a = cursor->asking;

    if (a && a->hash && (cursor->at_end || (a->single && a->rows)))
        sqlite_recall_keep(c, a);
}
