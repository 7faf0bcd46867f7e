/* event_log.c - reads the event log, from which resumed sessions get missed events. */
#include "gateway/resume/journal/event_log.h"

#include <string.h>

/* Selects the first and the last position. Each subquery is a single index lookup. */
static const char LOG_RANGE[] = "select coalesce((select min(position) from log), 0), "
                                "coalesce((select max(position) from log), 0)";

enum err read_event_log_range(struct tx *tx, int64_t *ret_first, int64_t *ret_last)
{
    struct rows r;
    bool found;
    enum err e = tx_one(tx, LOG_RANGE, NO_BIND, &r, &found);

    if (!e) {
        *ret_first = row_int(&r, 0);
        *ret_last = row_int(&r, 1);
    }
    return e;
}

static const char LOG_POSITIONS[] =
    "select position from log where position >= $1 order by position limit $2";

enum err read_event_log_positions(struct tx *tx, int64_t from, int64_t limit, struct list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, LOG_POSITIONS, BIND(v_int(from), v_int(limit)), &r);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&r))
        *(int64_t *)list_append(tx_arena(tx), ret, sizeof(int64_t)) = row_int(&r, 0);
    return rows_end(&r);
}

static const char LOG_ROWS[] = "select position, body from log where position > $1 and "
                               "position <= $2 order by position limit $3";

static const char LOG_ROWS_OF_PARTS[] =
    "select position, case when log_recipients_include(recipients, $4) then body end, recipients "
    "from log where position > $1 and position <= $2 order by position limit $3";

static enum err collect_event_log_rows(struct tx *tx, struct rows *r, struct list *ret)
{
    size_t cap = 64;
    struct event_log_row *rows = arena_array(tx_arena(tx), struct event_log_row, cap);

    for (ret->count = 0; rows_next(r); ret->count++) {
        if (ret->count == cap) {
            struct event_log_row *more = arena_array(tx_arena(tx), struct event_log_row, cap * 2);

            memcpy(more, rows, cap * sizeof *rows);
            rows = more;
            cap *= 2;
        }
        rows[ret->count] = (struct event_log_row){ row_int(r, 0), row_bytes(r, 1),
                                                   r->columns > 2 ? row_bytes(r, 2) : STR("") };
    }
    ret->items = rows;
    return rows_end(r);
}

enum err read_event_log_page(struct tx *tx, int64_t after, int64_t last, int64_t limit,
                             struct list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, LOG_ROWS, BIND(v_int(after), v_int(last), v_int(limit)), &r);

    return e ? e : collect_event_log_rows(tx, &r, ret);
}

enum err read_event_log_page_of_parts(struct tx *tx, int64_t after, int64_t last, int64_t limit,
                                      struct str parts, struct list *ret)
{
    struct rows r;

    if (!tx_queries_need_round_trips(tx)) /* SQLite */
        return read_event_log_page(tx, after, last, limit, ret);
    enum err e = tx_query(tx, LOG_ROWS_OF_PARTS,
                          BIND(v_int(after), v_int(last), v_int(limit), v_bytes(parts)), &r);
    return e ? e : collect_event_log_rows(tx, &r, ret);
}
