/* state_changes.c - creates, changes and removes voice states, with their events. */
#include "voice/state_rows.h"

#include <sodium.h>

#include "base/clock.h"
#include "model/configured/regions.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "voice/homes.h"
#include "voice/rooms.h"
#include "voice/voice.h"

static void state_changes_emit(struct call *call, struct subject to, const struct voice_state *s)
{
    call_emit(call, EVENT_VOICE_STATE_UPDATE, to, &voice_state_schema, s);
}

struct voice_state voice_without_channel(const struct voice_state *s)
{
    struct voice_state gone = *s;

    gone.channel_id = given_id(0);
    gone.connected_at = (struct opt_int){ 0 };
    gone.self_video = gone.self_stream = gone.suppress = false;
    gone.request_to_speak_timestamp = (struct opt_int){ GIVEN_NULL, 0 };
    return gone;
}

/* Reads the member of a state; the state of a user who has left the guild is sent without one. */
static enum err load_member(struct call *call, struct voice_state *s, struct member *room)
{
    enum err e = OK;

    if (s->member)
        *room = *s->member;
    else
        e = member_find(call->tx, voice_guild(s), s->user_id, room);
    if (!e && !room->user)
        e = member_load_user(call->tx, room);
    if (e)
        return e == ERR_UNKNOWN_MEMBER ? OK : e;
    s->member = room;
    s->mute = room->mute;
    s->deaf = room->deaf;
    return OK;
}

void voice_note(struct call *call, const struct voice_state *s)
{
    struct voice_fact fact = voice_fact_of(s);

    call_note_voice(call, &fact);
}

enum err voice_announce(struct call *call, const struct voice_state *s, snowflake from)
{
    snowflake guild_id = voice_guild(s), channel_id = voice_channel(s);
    struct voice_state shown = *s;
    struct member member;

    if (!guild_id) {
        voice_note(call, s);
        state_changes_emit(call, to_channel(channel_id ? channel_id : from), s);
        return channel_id ? hook_voice_changed(call, s) : OK;
    }
    enum err e = load_member(call, &shown, &member);
    if (e)
        return e;
    voice_note(call, &shown);
    state_changes_emit(call, to_viewers(guild_id, channel_id ? channel_id : from), &shown);
    if (channel_id && from && from != channel_id) {
        struct voice_state gone = voice_without_channel(&shown);

        state_changes_emit(call, to_viewers_unless(guild_id, from, channel_id), &gone);
    }
    return channel_id ? hook_voice_changed(call, &shown) : OK;
}

void voice_tell_self(struct call *call, const struct voice_state *s)
{
    state_changes_emit(call, to_user(s->user_id), s);
}

struct str voice_salt(struct arena *arena)
{
    unsigned char *salt = arena_alloc(arena, VOICE_SALT);

    randombytes_buf(salt, VOICE_SALT);
    return str_slice((const char *)salt, VOICE_SALT);
}

void voice_token(const struct api *api, const struct voice_state *s, unsigned char ret[VOICE_TOKEN])
{
    auth_derive(api_options(api)->auth, "voice", s->user_id, s->salt, ret, VOICE_TOKEN);
}

/* Emits VOICE_SERVER_UPDATE; endpoint.p == NULL: no voice server now. */
static void state_tell_server(struct call *call, const struct voice_state *s, struct str endpoint)
{
    struct voice_server server = { .guild_id = s->guild_id, .endpoint = given_str(endpoint) };
    unsigned char token[VOICE_TOKEN];

    if (!voice_guild(s))
        server.channel_id = s->channel_id;
    voice_token(call->api, s, token);
    server.token = str_hex(call->arena, token, sizeof token);
    call_emit(call, EVENT_VOICE_SERVER_UPDATE, to_session(s->session), &voice_server_schema,
              &server);
}

enum err voice_send_server(struct call *call, const struct voice_state *s)
{
    struct str endpoint;
    enum err e = voice_endpoint(call, voice_channel(s), s->region, &endpoint);

    if (!e)
        state_tell_server(call, s, endpoint);
    return e;
}

enum err voice_save(struct call *call, struct voice_state *s, snowflake from)
{
    enum err e = voice_put(call->tx, s);

    return e ? e : voice_announce(call, s, from);
}

enum err voice_save_unseen(struct call *call, const struct voice_state *s)
{
    enum err e = voice_put(call->tx, s);

    if (!e)
        voice_note(call, s);
    return e;
}

enum err voice_leave(struct call *call, const struct voice_state *s)
{
    struct voice_state gone = voice_without_channel(s);
    enum err e = voice_delete(call->tx, s);

    if (!e)
        e = voice_announce(call, &gone, voice_channel(s));
    return e ? e : hook_voice_left(call, s);
}

enum err voice_leave_all(struct call *call, const struct list *states)
{
    const struct voice_state *s = states->items;
    enum err e = OK;

    for (size_t i = 0; !e && i < states->count; i++)
        e = voice_leave(call, &s[i]);
    return e;
}

bool voice_suppressed(const struct channel *c, snowflake afk_channel_id, uint64_t rights)
{
    return c->type == CHANNEL_STAGE || c->id == afk_channel_id || !(rights & PERMISSION(SPEAK));
}

int64_t voice_max_cameras(const struct channel *c, const struct guild *g)
{
    return c->type == CHANNEL_STAGE ? g->max_stage_video_channel_users : g->max_video_channel_users;
}

enum err voice_camera_fits(struct tx *tx, snowflake channel_id, int64_t max, bool counted,
                           bool *ret)
{
    int64_t people, cameras = 0;
    enum err e = max ? voice_count(tx, channel_id, &people, &cameras) : OK;

    *ret = !max || cameras - counted < max;
    return e;
}

/* Follows the rules of a join, but CONNECT is not required. */
enum err voice_move(struct call *call, const struct voice_state *s, const struct channel *to)
{
    snowflake from = voice_channel(s);
    struct voice_state moved = *s;
    struct standing standing;
    struct guild guild;
    uint64_t rights;
    bool fits, full;

    if (from == to->id)
        return OK;
    enum err e = voice_holds(call->tx, to->id, VOICE_ROOM, &full);
    if (!e && full)
        return ERR_MAX_MEMBERS;
    if (!e)
        e = standing_of_member(call->tx, voice_guild(s), s->user_id, &standing);
    if (!e)
        e = standing_rights_in(call->tx, &standing, to, &rights);
    if (!e)
        e = guild_find(call->tx, voice_guild(s), &guild);
    if (!e)
        e = voice_room_region(call->tx, to, s->region, &moved.region);
    if (!e)
        e = voice_camera_fits(call->tx, to->id, voice_max_cameras(to, &guild), false, &fits);
    if (e)
        return e;
    moved.channel_id = given_id(to->id);
    moved.connected_at = given_int(clock_s());
    moved.salt = voice_salt(call->arena);
    moved.live = moved.self_stream = false;
    moved.self_video = s->self_video && fits && rights & PERMISSION(STREAM);
    moved.priority = rights & PERMISSION(PRIORITY_SPEAKER);
    moved.suppress = voice_suppressed(to, guild.afk_channel_id.value, rights);
    moved.request_to_speak_timestamp = (struct opt_int){ GIVEN_NULL, 0 };
    moved.active_at = clock_us();
    e = voice_save(call, &moved, from);
    if (e)
        return e;
    e = voice_send_server(call, &moved);
    if (!e)
        e = room_entered(call, &moved);
    if (!e)
        e = hook_voice_left(call, s);
    return e ? e : voice_watch_idle(call, &moved);
}

static enum err state_migrate(struct call *call, struct voice_state *s, struct str region)
{
    if (str_eq(s->region, region))
        return OK;
    s->region = region;
    s->salt = voice_salt(call->arena);
    s->live = false;
    enum err e = voice_put(call->tx, s);
    if (e)
        return e;
    voice_note(call, s);
    return voice_send_server(call, s);
}

static enum err migrate_crowd(struct call *call, const struct voice_crowd *c, struct str region)
{
    struct list states;
    enum err e = voice_crowd_after(call->tx, c, &states);

    for (size_t i = 0; !e && i < states.count; i++)
        e = state_migrate(call, (struct voice_state *)states.items + i, region);
    return e ? e : voice_crowd_later(call, &voice_migration_job, c, &states);
}

enum err voice_migrate_call(struct call *call, snowflake channel_id, struct str region)
{
    return migrate_crowd(call, &(struct voice_crowd){ .channel_id = channel_id }, region);
}

enum err voice_follow_region(struct call *call, const struct channel *c)
{
    struct voice_crowd crowd = { .guild_id = c->guild_id.value, .channel_id = c->id };

    return channel_is_voice(c->type) ? migrate_crowd(call, &crowd, c->rtc_region.value) : OK;
}

/* Uses the region that the channel has when the job runs. */
static enum err migrate_more(struct call *call, const struct job *job)
{
    struct voice_crowd crowd;
    struct channel c;

    if (!voice_crowd_of(job, &crowd))
        return OK;
    enum err e = channel_find(call->tx, crowd.channel_id, &c);
    if (e || c.rtc_region.given != GIVEN)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    return migrate_crowd(call, &crowd, c.rtc_region.value);
}

const struct job_kind voice_migration_job = {
    .name = "voice-migration",
    .doc = "Moves the other participants of a large voice channel to its new region.",
    .run = migrate_more,
};

enum err voice_resettle(struct call *call, snowflake channel_id, struct str endpoint, bool lost,
                        bool *ret_empty)
{
    struct str salt = voice_salt(call->arena);
    struct list states;
    enum err e = voice_in_channel(call->tx, channel_id, &states);
    struct voice_state *s = states.items;

    *ret_empty = !e && !states.count;
    if (!e && states.count)
        e = voice_renew_salts(call->tx, channel_id, salt);
    for (size_t i = 0; !e && i < states.count; i++) {
        s[i].salt = salt;
        s[i].live = false;
        voice_note(call, &s[i]);
        if (lost && endpoint.p)
            state_tell_server(call, &s[i], (struct str){ 0 });
        state_tell_server(call, &s[i], region_fill(call->arena, endpoint, s[i].region));
    }
    return e;
}
