/* call_rows.c - SQL for private calls and ringing. */
#include "model/fields/ids.h"
#include "voice/calls/calls.h"

static const char FIND_CALL[] = "select message_id, region from calls where channel_id = $1";
/* The join excludes users who have left the group DM since the ringing began. */
static const char LIST_RINGING[] =
    "select r.user_id from call_ringing r join recipients p on p.channel_id = r.channel_id "
    "and p.user_id = r.user_id where r.channel_id = $1 order by r.user_id";

static enum err read_ringing_users(struct tx *tx, struct voice_call *c)
{
    return tx_read_ids(tx, LIST_RINGING, BIND(v_id(c->channel_id)), &c->ringing);
}

enum err voice_call_find(struct tx *tx, snowflake channel_id, struct voice_call *ret)
{
    struct rows row;
    enum err e = tx_one_or(tx, FIND_CALL, BIND(v_id(channel_id)), ERR_UNKNOWN_CHANNEL, &row);

    if (e)
        return e;
    *ret = (struct voice_call){
        .channel_id = channel_id,
        .message_id = row_id(&row, 0),
        .region = row_text(&row, 1),
    };
    return read_ringing_users(tx, ret);
}

static const char INSERT_CALL[] =
    "insert into calls (channel_id, message_id, region) values ($1, $2, $3)";
static const char DELETE_CALL[] = "delete from calls where channel_id = $1";
static const char UPDATE_CALL_REGION[] = "update calls set region = $2 where channel_id = $1";

enum err voice_call_insert(struct tx *tx, const struct voice_call *c)
{
    return tx_exec(tx, INSERT_CALL,
                   BIND(v_id(c->channel_id), v_id(c->message_id), v_text(c->region)), NULL);
}

enum err voice_call_delete(struct tx *tx, snowflake channel_id)
{
    return tx_exec(tx, DELETE_CALL, BIND(v_id(channel_id)), NULL);
}

enum err voice_call_update_region(struct tx *tx, snowflake channel_id, struct str region)
{
    return tx_exec(tx, UPDATE_CALL_REGION, BIND(v_id(channel_id), v_text(region)), NULL);
}

static const char INSERT_RINGING[] =
    "insert into call_ringing (channel_id, user_id) values ($1, $2) on conflict do nothing";
static const char DELETE_RINGING[] =
    "delete from call_ringing where channel_id = $1 and user_id = $2";
static const char DELETE_ALL_RINGING[] = "delete from call_ringing where channel_id = $1";

enum err voice_call_add_ringing_user(struct tx *tx, snowflake channel_id, snowflake user_id)
{
    return tx_exec(tx, INSERT_RINGING, BIND(v_id(channel_id), v_id(user_id)), NULL);
}

enum err voice_call_remove_ringing_user(struct tx *tx, snowflake channel_id, snowflake user_id)
{
    return tx_exec(tx, DELETE_RINGING, BIND(v_id(channel_id), v_id(user_id)), NULL);
}

enum err voice_call_remove_all_ringing_users(struct tx *tx, snowflake channel_id)
{
    return tx_exec(tx, DELETE_ALL_RINGING, BIND(v_id(channel_id)), NULL);
}
