/* account_ending.c - an account that is deleted leaves its guilds, some at a time. */
#include "model/fields/ids.h"
#include "platform/members/internal.h"

enum { LEAVING_COSTS = 4 }; /* of the room: a guild is told, and who listens writes, too */

static const char GUILDS_LEFT[] =
    "select guild_id from members where user_id = $1 order by guild_id limit $2";

enum err members_end_some(struct call *call, const struct account_ending *ending)
{
    struct list guilds = { 0 };
    struct rows rows;
    enum err e = tx_query(
        call->tx, GUILDS_LEFT,
        BIND(v_id(ending->user_id), v_int((*ending->room + LEAVING_COSTS - 1) / LEAVING_COSTS)),
        &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        ids_add(call->arena, &guilds, row_id(&rows, 0));
    e = rows_end(&rows);
    for (size_t i = 0; !e && i < guilds.count; i++)
        e = member_leave(call, ((snowflake *)guilds.items)[i], ending->user_id);
    *ending->room -= LEAVING_COSTS * (int64_t)guilds.count;
    return e;
}
