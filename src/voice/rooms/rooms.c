/* rooms.c - start time and status of voice channels. */
#include "voice/rooms/rooms.h"

#include "base/clock.h"
#include "base/map.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/messages/messages.h"
#include "voice/internal.h"

struct start_time_event {
    snowflake id, guild_id;
    struct opt_int voice_start_time;
};
struct status_event {
    snowflake id, guild_id;
    struct opt_str status;
};
struct status_draft {
    struct opt_str status;
};

/* --- schemas -------------------------------------------------------------------------- */

static const struct field start_time_fields[] = {
    { FIELD(struct start_time_event, id), .type = &type_id },
    { FIELD(struct start_time_event, guild_id), .type = &type_id },
    { FIELD(struct start_time_event, voice_start_time), .type = &type_count, .flags = NULLABLE,
      .doc = "Unix time in seconds" },
    { 0 },
};
static const struct schema start_time_schema = {
    .name = "VoiceChannelStartTime",
    .size = sizeof(struct start_time_event),
    .fields = start_time_fields,
    .doc = "When the first participant joined a voice channel.",
};

static const struct field status_fields[] = {
    { FIELD(struct status_event, id), .type = &type_id },
    { FIELD(struct status_event, guild_id), .type = &type_id },
    { FIELD(struct status_event, status), .type = &type_text, .flags = NULLABLE },
    { 0 },
};
static const struct schema status_schema = {
    .name = "VoiceChannelStatus",
    .size = sizeof(struct status_event),
    .fields = status_fields,
    .doc = "The status of a voice channel.",
};

static const struct type type_status = { .kind = KIND_STRING, .max = 500 };
static const struct field draft_fields[] = {
    { FIELD(struct status_draft, status), .type = &type_status, .flags = OPTIONAL | NULLABLE,
      .doc = "Null or empty: no status" },
    { 0 },
};
static const struct schema draft_schema = {
    .name = "VoiceChannelStatusDraft",
    .size = sizeof(struct status_draft),
    .fields = draft_fields,
    .doc = "A status for a voice channel.",
};
static const struct type draft_body = { .kind = KIND_OBJECT, .schema = &draft_schema };

/* --- SQL ------------------------------------------------------------------------------ */

#define SELECT_ROOMS "select channel_id, guild_id, status, started_at from voice_rooms "

static void voice_room_from_row(const struct rows *r, void *ret)
{
    *(struct voice_channel_status *)ret = (struct voice_channel_status){
        .id = row_id(r, 0),
        .guild_id = row_id(r, 1),
        .status = row_optional_text(r, 2),
        .voice_start_time = row_optional_int(r, 3),
    };
}

/* Reads the row of a voice channel. If there is no row, the channel has no status and no start
 * time. */
static enum err read_voice_room(struct tx *tx, const struct channel *c,
                                struct voice_channel_status *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, SELECT_ROOMS "where channel_id = $1", BIND(v_id(c->id)), &row, &found);

    *ret = (struct voice_channel_status){ .id = c->id,
                                          .guild_id = c->guild_id.value,
                                          .status.given = GIVEN_NULL,
                                          .voice_start_time.given = GIVEN_NULL };
    if (!e && found)
        voice_room_from_row(&row, ret);
    return e;
}

static bool caller_can_view_voice_channel(const struct permission_computation_input *who,
                                          const struct channel *c)
{
    const struct list *o = &c->permission_overwrites.value;

    return permissions_in_channel(who, c->type, o->items, o->count, false) &
           PERMISSION(VIEW_CHANNEL);
}

enum err read_visible_voice_channel_statuses(struct tx *tx,
                                             const struct permission_computation_input *who,
                                             const struct list *channels, struct list *ret)
{
    struct channel *c = channels->items;
    struct list rooms = { 0 };
    struct map by_id;
    enum err e = tx_read_list(tx, SELECT_ROOMS "where guild_id = $1 order by channel_id",
                              BIND(v_id(who->guild_id)), sizeof(struct voice_channel_status),
                              voice_room_from_row, &rooms);
    const struct voice_channel_status *r = rooms.items;

    *ret = (struct list){ 0 };
    map_init(&by_id);
    for (size_t i = 0; rooms.count && i < channels->count; i++)
        map_set_value(&by_id, c[i].id, &c[i]);
    for (size_t i = 0; !e && i < rooms.count; i++) {
        const struct channel *at = map_find_value(&by_id, r[i].id);

        if (at && caller_can_view_voice_channel(who, at))
            *(struct voice_channel_status *)list_append(tx_arena(tx), ret, sizeof *r) = r[i];
    }
    map_clear(&by_id);
    return e;
}

enum err list_active_voice_rooms(struct tx *tx, snowflake guild_id, struct list *ret)
{
    return tx_read_ids(tx,
                       "select channel_id from voice_rooms where guild_id = $1 order by channel_id",
                       BIND(v_id(guild_id)), ret);
}

enum err voice_rooms_delete_of_guild(struct tx *tx, snowflake guild_id)
{
    return tx_exec(tx, "delete from voice_rooms where guild_id = $1", BIND(v_id(guild_id)), NULL);
}

enum err voice_room_delete(struct tx *tx, snowflake channel_id)
{
    return tx_exec(tx, "delete from voice_rooms where channel_id = $1", BIND(v_id(channel_id)),
                   NULL);
}

/* --- joins and leaves ----------------------------------------------------------------- */

static void emit_channel_start_time(struct call *call, const struct voice_channel_status *r,
                                    struct opt_int at)
{
    struct start_time_event payload = { r->id, r->guild_id, at };

    call_emit_event(call, EVENT_VOICE_CHANNEL_START_TIME_UPDATE,
                    audience_of_channel_viewers(r->guild_id, r->id), &start_time_schema, &payload);
}

static void emit_channel_status(struct call *call, const struct voice_channel_status *r,
                                struct opt_str status)
{
    struct status_event payload = { r->id, r->guild_id, status };

    call_emit_event(call, EVENT_VOICE_CHANNEL_STATUS_UPDATE,
                    audience_of_channel_viewers(r->guild_id, r->id), &status_schema, &payload);
}

static const char START_ROOM[] =
    "insert into voice_rooms (channel_id, guild_id, started_at) values ($1, $2, $3) "
    "on conflict (channel_id) do update set started_at = excluded.started_at "
    "where voice_rooms.started_at is null";

enum err voice_room_on_join(struct call *call, const struct voice_state *s)
{
    struct voice_channel_status room = { .id = voice_state_get_channel_id(s),
                                         .guild_id = voice_state_get_guild_id(s) };
    int64_t now = clock_s(), changed;

    if (!room.guild_id)
        return OK;
    enum err e = tx_exec(call->tx, START_ROOM, BIND(v_id(room.id), v_id(room.guild_id), v_int(now)),
                         &changed);
    if (!e && changed)
        emit_channel_start_time(call, &room, opt_int_present(now));
    return e;
}

static const char FIND_EMPTY_ROOM[] =
    SELECT_ROOMS "where channel_id = $1 and not exists "
                 "(select 1 from voice_states v where v.channel_id = voice_rooms.channel_id)";

static enum err update_room_after_leave(struct call *call, const struct voice_state *was)
{
    struct voice_channel_status room;
    struct rows row;
    bool found;

    if (!voice_state_get_guild_id(was))
        return OK;
    enum err e = tx_one(call->tx, FIND_EMPTY_ROOM, BIND(v_id(voice_state_get_channel_id(was))),
                        &row, &found);
    if (e || !found)
        return e;
    voice_room_from_row(&row, &room);
    e = voice_room_delete(call->tx, room.id);
    if (e)
        return e;
    if (room.voice_start_time.given == GIVEN)
        emit_channel_start_time(call, &room, (struct opt_int){ GIVEN_NULL, 0 });
    if (room.status.given == GIVEN)
        emit_channel_status(call, &room, (struct opt_str){ .given = GIVEN_NULL });
    return OK;
}

/* --- PUT /channels/{channel.id}/voice-status ------------------------------------------ */

static const char SAVE_STATUS[] =
    "insert into voice_rooms (channel_id, guild_id, status) values ($1, $2, $3) "
    "on conflict (channel_id) do update set status = excluded.status";

static enum err require_voice_channel(struct call *call)
{
    return call->target.channel->type == CHANNEL_VOICE ? OK : ERR_CHANNEL_TYPE;
}

/* Requires MANAGE_CHANNELS if the caller is not in the channel. */
static enum err check_status_permission(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct voice_state s;

    if (call->target.permissions & PERMISSION(MANAGE_CHANNELS))
        return OK;
    enum err e = voice_state_find(call->tx, c->guild_id.value, call->caller->id, &s);
    if (e == ERR_UNKNOWN_VOICE_STATE || (!e && voice_state_get_channel_id(&s) != c->id))
        return call_get_missing_permissions_error(call, PERMISSION(MANAGE_CHANNELS));
    return e;
}

static enum err audit_record_status(struct call *call, const struct voice_channel_status *r,
                                    struct opt_str status)
{
    bool set = status.given == GIVEN;
    struct audit_log_options options = { .channel_id = opt_id_or_null(r->id) };

    if (set)
        options.status = status;
    return audit_log_record_changes(call, r->guild_id,
                                    set ? AUDIT_VOICE_STATUS_CREATE : AUDIT_VOICE_STATUS_DELETE,
                                    r->id, &options, (struct list){ 0 });
}

static enum err update_channel_status(struct call *call, const struct voice_channel_status *r,
                                      struct opt_str status)
{
    enum err e =
        tx_exec(call->tx, SAVE_STATUS,
                BIND(v_id(r->id), v_id(r->guild_id), sql_value_of_optional_text(status)), NULL);

    if (!e)
        e = audit_record_status(call, r, status);
    if (!e)
        emit_channel_status(call, r, status);
    return e;
}

static enum err set_voice_status(struct call *call)
{
    const struct status_draft *in = call->body;
    bool set = in->status.given == GIVEN && in->status.value.n;
    struct opt_str status = { .given = GIVEN_NULL };
    struct automod_checked_text evaluation = { .channel = call->target.channel };
    struct voice_channel_status room;
    enum err e = check_status_permission(call);

    if (set)
        evaluation.text = in->status.value, status = in->status;
    if (!e && set)
        e = message_check_text_with_automod(call, &evaluation);
    if (e || evaluation.refused)
        return e;
    e = read_voice_room(call->tx, call->target.channel, &room);
    if (e || (room.status.given == status.given && str_eq(room.status.value, status.value)))
        return e;
    e = update_channel_status(call, &room, status);
    return e ? e : message_run_automod_actions(call, &evaluation, 0);
}

static const struct route routes[] = {
    {
        .method = PUT,
        .path = "/channels/{channel.id}/voice-status",
        .name = "set_voice_status",
        .doc = "Set the status of a voice channel until all participants have left. "
               "A caller that is not in "
               "the channel also needs MANAGE_CHANNELS.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(SET_VOICE_CHANNEL_STATUS),
        .body = &draft_body,
        .status = 204,
        .fires = (const enum event[]){ EVENT_VOICE_CHANNEL_STATUS_UPDATE,
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .admit = require_voice_channel,
        .handle = set_voice_status,
    },
    { 0 },
};

const struct domain voice_rooms_domain = {
    .name = "Status of voice channels",
    .doc = "Status of voice channels, and when the first participant joined.",
    .routes = routes,
    .hooks = &(const struct hook_listeners){ .voice_left = update_room_after_leave },
};
