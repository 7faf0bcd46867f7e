/* rooms.c - start time and status of voice channels. */
#include "voice/rooms.h"

#include "base/clock.h"
#include "base/map.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/messages/messages.h"
#include "voice/internal.h"

struct room_started {
    snowflake id, guild_id;
    struct opt_int voice_start_time;
};
struct room_said {
    snowflake id, guild_id;
    struct opt_str status;
};
struct status_draft {
    struct opt_str status;
};

/* --- schemas -------------------------------------------------------------------------- */

static const struct field started_fields[] = {
    { FIELD(struct room_started, id), .type = &type_id },
    { FIELD(struct room_started, guild_id), .type = &type_id },
    { FIELD(struct room_started, voice_start_time), .type = &type_count, .flags = NULLABLE,
      .doc = "Unix time in seconds" },
    { 0 },
};
static const struct schema started_schema = {
    .name = "VoiceChannelStartTime",
    .size = sizeof(struct room_started),
    .fields = started_fields,
    .doc = "When the first participant joined a voice channel.",
};

static const struct field said_fields[] = {
    { FIELD(struct room_said, id), .type = &type_id },
    { FIELD(struct room_said, guild_id), .type = &type_id },
    { FIELD(struct room_said, status), .type = &type_text, .flags = NULLABLE },
    { 0 },
};
static const struct schema said_schema = {
    .name = "VoiceChannelStatus",
    .size = sizeof(struct room_said),
    .fields = said_fields,
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

#define ROOMS "select channel_id, guild_id, status, started_at from voice_rooms "

static void read_room(const struct rows *r, void *ret)
{
    *(struct voice_room *)ret = (struct voice_room){
        .id = row_id(r, 0),
        .guild_id = row_id(r, 1),
        .status = row_opt_text(r, 2),
        .voice_start_time = row_opt_int(r, 3),
    };
}

/* Reads a voice channel's row; without a row it has neither status nor start time. */
static enum err room_find(struct tx *tx, const struct channel *c, struct voice_room *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, ROOMS "where channel_id = $1", BIND(v_id(c->id)), &row, &found);

    *ret = (struct voice_room){ .id = c->id,
                                .guild_id = c->guild_id.value,
                                .status.given = GIVEN_NULL,
                                .voice_start_time.given = GIVEN_NULL };
    if (!e && found)
        read_room(&row, ret);
    return e;
}

static bool room_is_seen(const struct rights_of *who, const struct channel *c)
{
    const struct list *o = &c->permission_overwrites.value;

    return rights_in_channel(who, c->type, o->items, o->count, false) & PERMISSION(VIEW_CHANNEL);
}

enum err voice_rooms(struct tx *tx, const struct rights_of *who, const struct list *channels,
                     struct list *ret)
{
    struct channel *c = channels->items;
    struct list rooms = { 0 };
    struct map by_id;
    enum err e = tx_list(tx, ROOMS "where guild_id = $1 order by channel_id",
                         BIND(v_id(who->guild_id)), sizeof(struct voice_room), read_room, &rooms);
    const struct voice_room *r = rooms.items;

    *ret = (struct list){ 0 };
    map_init(&by_id);
    for (size_t i = 0; rooms.count && i < channels->count; i++)
        map_put(&by_id, c[i].id, &c[i]);
    for (size_t i = 0; !e && i < rooms.count; i++) {
        const struct channel *at = map_get(&by_id, r[i].id);

        if (at && room_is_seen(who, at))
            *(struct voice_room *)list_add(tx_arena(tx), ret, sizeof *r) = r[i];
    }
    map_clear(&by_id);
    return e;
}

enum err rooms_of_guild(struct tx *tx, snowflake guild_id, struct list *ret)
{
    return tx_ids(tx, "select channel_id from voice_rooms where guild_id = $1 order by channel_id",
                  BIND(v_id(guild_id)), ret);
}

enum err rooms_forget_guild(struct tx *tx, snowflake guild_id)
{
    return tx_exec(tx, "delete from voice_rooms where guild_id = $1", BIND(v_id(guild_id)), NULL);
}

enum err room_forget(struct tx *tx, snowflake channel_id)
{
    return tx_exec(tx, "delete from voice_rooms where channel_id = $1", BIND(v_id(channel_id)),
                   NULL);
}

/* --- joins and leaves ----------------------------------------------------------------- */

static void room_tell_start(struct call *call, const struct voice_room *r, struct opt_int at)
{
    struct room_started told = { r->id, r->guild_id, at };

    call_emit(call, EVENT_VOICE_CHANNEL_START_TIME_UPDATE, to_viewers(r->guild_id, r->id),
              &started_schema, &told);
}

static void room_tell_status(struct call *call, const struct voice_room *r, struct opt_str status)
{
    struct room_said told = { r->id, r->guild_id, status };

    call_emit(call, EVENT_VOICE_CHANNEL_STATUS_UPDATE, to_viewers(r->guild_id, r->id), &said_schema,
              &told);
}

static const char START_ROOM[] =
    "insert into voice_rooms (channel_id, guild_id, started_at) values ($1, $2, $3) "
    "on conflict (channel_id) do update set started_at = excluded.started_at "
    "where voice_rooms.started_at is null";

enum err room_entered(struct call *call, const struct voice_state *s)
{
    struct voice_room room = { .id = voice_channel(s), .guild_id = voice_guild(s) };
    int64_t now = clock_s(), changed;

    if (!room.guild_id)
        return OK;
    enum err e = tx_exec(call->tx, START_ROOM, BIND(v_id(room.id), v_id(room.guild_id), v_int(now)),
                         &changed);
    if (!e && changed)
        room_tell_start(call, &room, given_int(now));
    return e;
}

static const char LEFT_EMPTY[] =
    ROOMS "where channel_id = $1 and not exists "
          "(select 1 from voice_states v where v.channel_id = voice_rooms.channel_id)";

static enum err room_left(struct call *call, const struct voice_state *was)
{
    struct voice_room room;
    struct rows row;
    bool found;

    if (!voice_guild(was))
        return OK;
    enum err e = tx_one(call->tx, LEFT_EMPTY, BIND(v_id(voice_channel(was))), &row, &found);
    if (e || !found)
        return e;
    read_room(&row, &room);
    e = room_forget(call->tx, room.id);
    if (e)
        return e;
    if (room.voice_start_time.given == GIVEN)
        room_tell_start(call, &room, (struct opt_int){ GIVEN_NULL, 0 });
    if (room.status.given == GIVEN)
        room_tell_status(call, &room, (struct opt_str){ .given = GIVEN_NULL });
    return OK;
}

/* --- PUT /channels/{channel.id}/voice-status ------------------------------------------ */

static const char SAVE_STATUS[] =
    "insert into voice_rooms (channel_id, guild_id, status) values ($1, $2, $3) "
    "on conflict (channel_id) do update set status = excluded.status";

static enum err status_admit(struct call *call)
{
    return call->target.channel->type == CHANNEL_VOICE ? OK : ERR_CHANNEL_TYPE;
}

/* A caller that is not in the channel needs MANAGE_CHANNELS. */
static enum err status_may_set(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct voice_state s;

    if (call->target.rights & PERMISSION(MANAGE_CHANNELS))
        return OK;
    enum err e = voice_find(call->tx, c->guild_id.value, call->caller->id, &s);
    if (e == ERR_UNKNOWN_VOICE_STATE || (!e && voice_channel(&s) != c->id))
        return call_lacks(call, PERMISSION(MANAGE_CHANNELS));
    return e;
}

static enum err status_audit(struct call *call, const struct voice_room *r, struct opt_str status)
{
    bool set = status.given == GIVEN;
    struct audit_options options = { .channel_id = given_id(r->id) };

    if (set)
        options.status = status;
    return audit_with(call, r->guild_id,
                      set ? AUDIT_VOICE_STATUS_CREATE : AUDIT_VOICE_STATUS_DELETE, r->id, &options,
                      (struct list){ 0 });
}

static enum err status_change(struct call *call, const struct voice_room *r, struct opt_str status)
{
    enum err e = tx_exec(call->tx, SAVE_STATUS,
                         BIND(v_id(r->id), v_id(r->guild_id), v_opt_text(status)), NULL);

    if (!e)
        e = status_audit(call, r, status);
    if (!e)
        room_tell_status(call, r, status);
    return e;
}

static enum err set_voice_status(struct call *call)
{
    const struct status_draft *in = call->body;
    bool set = in->status.given == GIVEN && in->status.value.n;
    struct opt_str status = { .given = GIVEN_NULL };
    struct text_judged judged = { .channel = call->target.channel };
    struct voice_room room;
    enum err e = status_may_set(call);

    if (set)
        judged.text = in->status.value, status = in->status;
    if (!e && set)
        e = message_judge(call, &judged);
    if (e || judged.refused)
        return e;
    e = room_find(call->tx, call->target.channel, &room);
    if (e || (room.status.given == status.given && str_eq(room.status.value, status.value)))
        return e;
    e = status_change(call, &room, status);
    return e ? e : message_judged(call, &judged, 0);
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
        .admit = status_admit,
        .handle = set_voice_status,
    },
    { 0 },
};

const struct domain voice_rooms_domain = {
    .name = "Status of voice channels",
    .doc = "Status of voice channels, and when the first participant joined.",
    .routes = routes,
    .hooks = &(const struct hooks){ .voice_left = room_left },
};
