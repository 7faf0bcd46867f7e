/* state_rows.c - SQL for voice states. */
#include "voice/state_rows.h"

#include "base/clock.h"
#include "model/configured/regions.h"
#include "model/fields/rows.h"

#define STATE_COLUMNS                                                                   \
    "v.guild_id, v.user_id, v.channel_id, v.session_id, v.session_number, v.node, "     \
    "v.region, v.salt, v.live, v.self_mute, v.self_deaf, v.self_video, v.self_stream, " \
    "v.suppress, v.request_to_speak_at, v.connected_at, v.active_at, m.mute, m.deaf, "  \
    "v.priority, v.flags, v.platform, v.asked_at "
#define SELECT_STATES                                                  \
    "select " STATE_COLUMNS "from voice_states v left join members m " \
    "on m.guild_id = v.guild_id and m.user_id = v.user_id "

static void voice_state_from_row(const struct rows *r, void *ret)
{
    struct voice_state *s = ret;

    *s = (struct voice_state){
        .guild_id = opt_id_or_null(row_id(r, 0)),
        .user_id = row_id(r, 1),
        .channel_id = opt_id_or_null(row_id(r, 2)),
        .session_id = row_text(r, 3),
        .session = row_id(r, 4),
        .node = row_int(r, 5),
        .region = row_text(r, 6),
        .salt = row_bytes(r, 7),
        .live = row_bool(r, 8),
        .self_mute = row_bool(r, 9),
        .self_deaf = row_bool(r, 10),
        .self_video = row_bool(r, 11),
        .self_stream = row_bool(r, 12),
        .suppress = row_bool(r, 13),
        .request_to_speak_timestamp = row_optional_int(r, 14),
        .connected_at = opt_int_present(row_int(r, 15)),
        .active_at = row_int(r, 16),
        .mute = row_bool(r, 17),
        .deaf = row_bool(r, 18),
        .priority = row_bool(r, 19),
        .flags = row_optional_int(r, 20),
        .platform = row_optional_int(r, 21),
        .requested_again_at = row_int(r, 22),
    };
}

static enum err query_voice_state(struct tx *tx, struct sql sql, const struct value *values,
                                  size_t count, struct voice_state *ret)
{
    return tx_read_first(tx, sql, values, count, voice_state_from_row, ret,
                         ERR_UNKNOWN_VOICE_STATE);
}

static const char FIND_STATE[] = SELECT_STATES "where v.guild_id = $1 and v.user_id = $2";

enum err voice_state_find(struct tx *tx, snowflake guild_id, snowflake user_id,
                          struct voice_state *ret)
{
    return query_voice_state(tx, SQL(FIND_STATE), BIND(v_id(guild_id), v_id(user_id)), ret);
}

static const char FIND_STATE_OF_USER[] =
    SELECT_STATES "where v.user_id = $1 order by v.connected_at limit 1";

enum err voice_state_find_of_user(struct tx *tx, snowflake user_id, struct voice_state *ret)
{
    return query_voice_state(tx, SQL(FIND_STATE_OF_USER), BIND(v_id(user_id)), ret);
}

static enum err query_voice_states(struct tx *tx, struct sql sql, struct value of, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, sql, BIND(of), sizeof(struct voice_state), voice_state_from_row, ret);
}

static const char LIST_OF_SESSION[] =
    SELECT_STATES "where v.session_id = $1 order by v.guild_id, v.user_id";
static const char LIST_OF_CHANNEL[] =
    SELECT_STATES "where v.channel_id = $1 order by v.guild_id, v.user_id";
static const char LIST_OF_GUILD[] = SELECT_STATES "where v.guild_id = $1 order by v.user_id";
static const char LIST_OF_NODE[] = SELECT_STATES "where v.node = $1 and v.held_until <= $3 "
                                                 "order by v.guild_id, v.user_id limit $2";
static const char LIST_STREAMS_AWAITING_RESUME[] =
    SELECT_STATES "where v.node = $1 and v.self_stream = 1 limit $2";

enum err list_voice_states_of_session(struct tx *tx, struct str session_id, struct list *ret)
{
    return query_voice_states(tx, SQL(LIST_OF_SESSION), v_text(session_id), ret);
}

enum err list_voice_states_of_channel(struct tx *tx, snowflake channel_id, struct list *ret)
{
    return query_voice_states(tx, SQL(LIST_OF_CHANNEL), v_id(channel_id), ret);
}

enum err list_voice_states_of_guild(struct tx *tx, snowflake guild_id, struct list *ret)
{
    return query_voice_states(tx, SQL(LIST_OF_GUILD), v_id(guild_id), ret);
}

/* The condition on guild_id is redundant, but allows SQLite to use an index that has this order. */
static const char LIST_OF_CHANNEL_AFTER[] =
    SELECT_STATES "where v.guild_id = $1 and v.user_id > $2 and v.channel_id = $4 "
                  "order by v.user_id limit $3";
static const char LIST_OF_GUILD_AFTER[] =
    SELECT_STATES "where v.guild_id = $1 and v.user_id > $2 order by v.user_id limit $3";

enum err list_voice_states_of_room_step(struct tx *tx, const struct large_room_step *c,
                                        struct list *ret)
{
    struct value values[] = { v_id(c->guild_id), v_id(c->after), v_int(LARGE_ROOM_STEP),
                              v_id(c->channel_id) };

    *ret = (struct list){ 0 };
    return tx_read_list(tx, c->channel_id ? SQL(LIST_OF_CHANNEL_AFTER) : SQL(LIST_OF_GUILD_AFTER),
                        values, c->channel_id ? 4 : 3, sizeof(struct voice_state),
                        voice_state_from_row, ret);
}

enum err list_voice_states_of_node(struct tx *tx, int64_t node, int64_t max, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, LIST_OF_NODE, BIND(v_int(node), v_int(max), v_int(clock_us())),
                        sizeof(struct voice_state), voice_state_from_row, ret);
}

enum err list_streams_awaiting_resume(struct tx *tx, int64_t max, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, LIST_STREAMS_AWAITING_RESUME,
                        BIND(v_int(VOICE_NODE_AWAITING_RESUME), v_int(max)),
                        sizeof(struct voice_state), voice_state_from_row, ret);
}

static const char COUNT_STATES[] =
    "select count(*), coalesce(sum(self_video), 0) from voice_states where channel_id = $1";

enum err count_voice_participants(struct tx *tx, snowflake channel_id, int64_t *ret_participants,
                                  int64_t *ret_cameras)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, COUNT_STATES, BIND(v_id(channel_id)), &row, &found);

    if (e)
        return e;
    *ret_participants = row_int(&row, 0);
    *ret_cameras = row_int(&row, 1);
    return OK;
}

/* Tests whether a channel has more than $2 participants. The query reads only an index. */
static const char HAS_PARTICIPANT_AT_OFFSET[] =
    "select 1 from voice_states where channel_id = $1 limit 1 offset $2";

enum err channel_has_voice_participants(struct tx *tx, snowflake channel_id, int64_t participants,
                                        bool *ret)
{
    return tx_exists(tx, HAS_PARTICIPANT_AT_OFFSET, BIND(v_id(channel_id), v_int(participants - 1)),
                     ret);
}

static const char FIND_REGION_OF_CHANNEL[] =
    "select region from voice_states where channel_id = $1 order by connected_at limit 1";

enum err choose_region_of_voice_room(struct tx *tx, const struct channel *c, struct str wanted,
                                     struct str *ret)
{
    struct rows row;
    bool found;

    *ret = wanted;
    /* Ignore a region that the operator has removed or that never existed. */
    if (c->rtc_region.given == GIVEN && voice_region_is_usable(c->rtc_region.value, true)) {
        *ret = c->rtc_region.value;
        return OK;
    }
    enum err e = tx_one(tx, FIND_REGION_OF_CHANNEL, BIND(v_id(c->id)), &row, &found);
    if (!e && found)
        *ret = row_text(&row, 0);
    return e;
}

static const char UPSERT_STATE[] =
    "insert into voice_states (guild_id, user_id, channel_id, session_id, session_number, node, "
    "region, salt, live, self_mute, self_deaf, self_video, self_stream, suppress, "
    "request_to_speak_at, connected_at, active_at, priority, flags, platform, asked_at) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, "
    "$19, $20, $21) "
    "on conflict (guild_id, user_id) do update set channel_id = excluded.channel_id, "
    "session_id = excluded.session_id, session_number = excluded.session_number, "
    "node = excluded.node, region = excluded.region, salt = excluded.salt, "
    "live = excluded.live, self_mute = excluded.self_mute, self_deaf = excluded.self_deaf, "
    "self_video = excluded.self_video, self_stream = excluded.self_stream, "
    "suppress = excluded.suppress, request_to_speak_at = excluded.request_to_speak_at, "
    "connected_at = excluded.connected_at, active_at = excluded.active_at, "
    "priority = excluded.priority, flags = excluded.flags, platform = excluded.platform, "
    "asked_at = excluded.asked_at, "
    "held_until = case when excluded.node < 0 then voice_states.held_until else 0 end";

enum err voice_state_write_row(struct tx *tx, const struct voice_state *s)
{
    return tx_exec(tx, UPSERT_STATE,
                   BIND(v_id(voice_state_get_guild_id(s)), v_id(s->user_id),
                        v_id(voice_state_get_channel_id(s)), v_text(s->session_id),
                        v_id(s->session), v_int(s->node), v_text(s->region), v_bytes(s->salt),
                        v_int(s->live), v_int(s->self_mute), v_int(s->self_deaf),
                        v_int(s->self_video), v_int(s->self_stream), v_int(s->suppress),
                        sql_value_of_optional_int(s->request_to_speak_timestamp),
                        v_int(s->connected_at.value), v_int(s->active_at), v_int(s->priority),
                        sql_value_of_optional_int(s->flags), sql_value_of_optional_int(s->platform),
                        v_int(s->requested_again_at)),
                   NULL);
}

static const char RENEW_SALTS[] =
    "update voice_states set salt = $2, live = 0 where channel_id = $1";

enum err voice_states_renew_token_salts(struct tx *tx, snowflake channel_id, struct str salt)
{
    return tx_exec(tx, RENEW_SALTS, BIND(v_id(channel_id), v_bytes(salt)), NULL);
}

static const char DELETE_STATE[] = "delete from voice_states where guild_id = $1 and user_id = $2";

enum err voice_state_delete_row(struct tx *tx, const struct voice_state *s)
{
    return tx_exec(tx, DELETE_STATE, BIND(v_id(voice_state_get_guild_id(s)), v_id(s->user_id)),
                   NULL);
}
