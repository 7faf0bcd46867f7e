/* row_cache.c - cached rows of reads on event loops, if this server is the only writer.
 *
 * table_versions.h says which rows are valid. Each loop's connection has a cache, which ends with
 * the connection: as long as the database has not closed it, no other server can start
 * (server_identity.c). A lost connection may be noticed late, so rows are used only for
 * CACHE_LEASE_MS after a query of the connection was sent that the database has answered. Tools may
 * write at any time; each of their transactions sends a notification, which empties the caches. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/postgres/loop.h"

enum { CACHE_LEASE_MS = 1000 };

/* The values of the key are the parameters as they are sent. */
static bool make_cache_key(const char *sql, const struct postgres_parameters *p, size_t count,
                           struct value *values, struct query_cache_pending_entry *ret)
{
    for (size_t i = 0; i < count; i++) {
        if (p->binary[i])
            return false;
        values[i] = p->text[i] ? v_text(str_of(p->text[i])) : v_null();
    }
    *ret = (struct query_cache_pending_entry){ .sql = sql, .values = values, .count = count };
    return query_cache_hash_request(ret);
}

static bool cached_tables_are_unchanged(const struct postgres_conn *c,
                                        const struct statement_tables *tables, uint64_t seen)
{
    return table_versions_are_unchanged(c->rows.versions, &tables->reads,
                                        seen < c->rows.clock ? seen : c->rows.clock);
}

struct cached_rows *postgres_find_cached_rows(struct postgres_conn *c, const char *sql,
                                              const struct postgres_parameters *p, size_t count)
{
    struct value values[POSTGRES_MAX_VALUES];
    struct query_cache_pending_entry q;

    if (!c->rows.cache || !atomic_load(&c->rows.versions->is_known) ||
        clock_monotonic_ns() > c->rows.until || !make_cache_key(sql, p, count, values, &q))
        return NULL;
    struct cached_rows *r = query_cache_find(c->rows.cache, &q);
    return r && cached_tables_are_unchanged(c, r->reads, r->seen) ? r : NULL;
}

static void add_rows_of_result(struct arena *a, const PGresult *result,
                               struct query_cache_pending_entry *q)
{
    struct value *row = arena_array(a, struct value, (size_t)q->columns);

    for (int at = 0; at < pq.ntuples(result) && q->hash; at++) {
        for (int i = 0; i < q->columns; i++)
            row[i] = postgres_decode_column(a, result, at, i);
        query_cache_add_row(a, q, row);
    }
}

void postgres_cache_rows(struct tx *tx, struct queued_statement *e)
{
    struct postgres_conn *c = tx->connection;
    const struct statement_tables *tables = e->statement->tables;
    struct value values[POSTGRES_MAX_VALUES];
    struct query_cache_pending_entry q;

    if (e->cached)
        return;
    e->cached = true;
    if (!tables || !tables->is_cacheable ||
        !make_cache_key(e->sql, e->values, e->count, values, &q))
        return;
    struct cached_rows *stale = query_cache_find(c->rows.cache, &q);
    bool is_valid = stale && cached_tables_are_unchanged(c, stale->reads, stale->seen);
    if (is_valid || !query_cache_wants_rows(c->rows.cache, stale, &q) ||
        !cached_tables_are_unchanged(c, tables, c->rows.clock))
        return;
    q.reads = tables;
    q.columns = pq.nfields(e->result);
    add_rows_of_result(tx_arena(tx), e->result, &q);
    if (q.hash)
        query_cache_insert(c->rows.cache, &q, c->rows.clock);
}

void postgres_loop_reader_empty_cache(struct postgres_loop_reader *r)
{
    struct postgres_conn *c = &r->conn;

    query_cache_free(c->rows.cache);
    c->rows.cache =
        c->rows.versions && atomic_load(&c->rows.versions->is_known) ? query_cache_new() : NULL;
}

void postgres_loop_reader_read_notifications(struct postgres_loop_reader *r)
{
    PGnotify *n;

    while ((n = pq.notifies(r->conn.pg))) {
        if (n->extra[0] && r->conn.rows.versions)
            table_versions_disable(r->conn.rows.versions);
        postgres_loop_reader_empty_cache(r);
        pq.freemem(n);
    }
}

void postgres_loop_reader_extend_cache_lease(struct postgres_loop_reader *r)
{
    r->conn.rows.until = r->asked_at + (int64_t)CACHE_LEASE_MS * 1000000;
}

bool postgres_run_read_from_cache(struct postgres_loop_reader *r, struct work_item *w)
{
    struct postgres_conn *c = &r->conn;
    struct tx tx = { .store = &r->pool->store, .work = w, .connection = c };
    struct arena *arena = w->arena;
    uint64_t clock = c->rows.clock;

    if (!c->rows.cache || r->running)
        return false;
    c->rows.is_only_source = true;
    c->rows.clock = atomic_load(&c->rows.versions->clock);
    c->wants_more = c->must_leave = false;
    c->row_time_limit.until = 0;
    w->result = tx_run_work_item(&tx);
    c->rows.is_only_source = false;
    c->rows.clock = clock;
    if (!c->wants_more && !c->must_leave) {
        work_item_call_callbacks(&r->pool->store, w, w->result);
        return true;
    }
    w->arena = arena; /* restore the arena, which the aborted read may have replaced */
    return false;
}
