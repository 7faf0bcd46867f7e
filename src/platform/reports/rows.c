/* rows.c - SQL of reports. */
#include "platform/reports/internal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "model/fields/rows.h"

#define REPORT_COLUMNS                                                                             \
    "id, coalesce(reporter_id, 0), message_id, channel_id, guild_id, author_id, reason, comment, " \
    "snapshot, coalesce(closed_at, 0), coalesce(resolution, '')"

static void report_from_row(const struct rows *r, void *ret)
{
    *(struct message_report *)ret = (struct message_report){
        .id = row_id(r, 0),
        .reporter_id = row_id(r, 1),
        .message_id = row_id(r, 2),
        .channel_id = row_id(r, 3),
        .guild_id = row_id(r, 4),
        .author_id = row_id(r, 5),
        .reason = row_text(r, 6),
        .comment = row_text(r, 7),
        .snapshot = row_text(r, 8),
        .closed_at = row_int(r, 9),
        .resolution = row_text(r, 10),
    };
}

static const char OPEN_AFTER[] = "select " REPORT_COLUMNS " from reports where closed_at is null "
                                 "and id > $1 order by id limit $2";

enum err list_open_reports(struct tx *tx, snowflake after, int64_t limit, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, OPEN_AFTER, BIND(v_id(after), v_int(limit)),
                        sizeof(struct message_report), report_from_row, ret);
}

static const char FIND_REPORT[] = "select " REPORT_COLUMNS " from reports where id = $1";

enum err report_find(struct tx *tx, snowflake id, struct message_report *ret)
{
    return tx_read_first(tx, FIND_REPORT, BIND(v_id(id)), report_from_row, ret, ERR_NOT_FOUND);
}

static const char FIND_OF_REPORTER[] =
    "select id from reports where reporter_id = $1 and message_id = $2";

enum err report_find_of_reporter(struct tx *tx, snowflake reporter, snowflake message,
                                 snowflake *ret)
{
    return tx_read_id(tx, FIND_OF_REPORTER, BIND(v_id(reporter), v_id(message)), ret);
}

static const char ADD_REPORT[] =
    "insert into reports (id, reporter_id, message_id, channel_id, guild_id, author_id, reason, "
    "comment, snapshot) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

enum err report_insert(struct tx *tx, const struct message_report *r)
{
    return tx_exec(tx, ADD_REPORT,
                   BIND(v_id(r->id), v_id(r->reporter_id), v_id(r->message_id), v_id(r->channel_id),
                        v_id(r->guild_id), v_id(r->author_id), v_text(r->reason),
                        v_text(r->comment), v_text(r->snapshot)),
                   NULL);
}

/* --- closing -------------------------------------------------------------------------- */

static const char CLOSE_REPORT[] =
    "update reports set closed_at = coalesce(closed_at, $2), closed_by = $3, resolution = $4 "
    "where id = $1";
static const char DELETE_OLD[] = "delete from reports where id in (select id from reports where "
                                 "closed_at < $1 order by closed_at limit 100)";

enum err report_close_with_resolution(struct tx *tx, snowflake id, unsigned uid,
                                      struct str resolution)
{
    int64_t changed = 0, now = clock_us();
    enum err e = tx_exec(tx, CLOSE_REPORT,
                         BIND(v_id(id), v_int(now), v_int(uid), v_text(resolution)), &changed);

    if (e || !changed)
        return e ? e : ERR_NOT_FOUND;
    return tx_exec(tx, DELETE_OLD, BIND(v_int(now - REPORT_RETENTION_DAYS * INT64_C(86400000000))),
                   NULL);
}
