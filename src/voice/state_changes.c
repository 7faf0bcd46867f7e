/* state_changes.c - creates, changes and removes voice states, with their events. */
#include "voice/state_rows.h"

#include <sodium.h>

#include "base/clock.h"
#include "model/configured/regions.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "voice/rooms/room_owners.h"
#include "voice/rooms/rooms.h"
#include "voice/voice.h"

static void emit_voice_state(struct call *call, struct audience to, const struct voice_state *s)
{
    call_emit_event(call, EVENT_VOICE_STATE_UPDATE, to, &voice_state_schema, s);
}

struct voice_state voice_state_without_channel(const struct voice_state *s)
{
    struct voice_state gone = *s;

    gone.channel_id = opt_id_or_null(0);
    gone.connected_at = (struct opt_int){ 0 };
    gone.self_video = gone.self_stream = gone.suppress = false;
    gone.request_to_speak_timestamp = (struct opt_int){ GIVEN_NULL, 0 };
    return gone;
}

/* Reads the member to whom a voice state belongs. If the user has left the guild, events have the
 * voice state without a member. */
static enum err read_member_of_state(struct call *call, struct voice_state *s, struct member *room)
{
    enum err e = OK;

    if (s->member)
        *room = *s->member;
    else
        e = member_find(call->tx, voice_state_get_guild_id(s), s->user_id, room);
    if (!e && !room->user)
        e = member_read_user(call->tx, room);
    if (e)
        return e == ERR_UNKNOWN_MEMBER ? OK : e;
    s->member = room;
    s->mute = room->mute;
    s->deaf = room->deaf;
    return OK;
}

void voice_state_send_to_relay(struct call *call, const struct voice_state *s)
{
    struct relay_voice_state fact = relay_voice_state_from_voice_state(s);

    call_record_voice_state_change(call, &fact);
}

enum err voice_state_emit_update(struct call *call, const struct voice_state *s, snowflake from)
{
    snowflake guild_id = voice_state_get_guild_id(s), channel_id = voice_state_get_channel_id(s);
    struct voice_state visible = *s;
    struct member member;

    if (!guild_id) {
        voice_state_send_to_relay(call, s);
        emit_voice_state(call, audience_of_private_channel(channel_id ? channel_id : from), s);
        return channel_id ? hook_voice_state_changed(call, s) : OK;
    }
    enum err e = read_member_of_state(call, &visible, &member);
    if (e)
        return e;
    voice_state_send_to_relay(call, &visible);
    emit_voice_state(call, audience_of_channel_viewers(guild_id, channel_id ? channel_id : from),
                     &visible);
    if (channel_id && from && from != channel_id) {
        struct voice_state gone = voice_state_without_channel(&visible);

        emit_voice_state(call, audience_who_can_view_only_first_channel(guild_id, from, channel_id),
                         &gone);
    }
    return channel_id ? hook_voice_state_changed(call, &visible) : OK;
}

void emit_voice_state_to_account(struct call *call, const struct voice_state *s)
{
    emit_voice_state(call, audience_of_user(s->user_id), s);
}

struct str voice_token_salt_new(struct arena *arena)
{
    unsigned char *salt = arena_alloc(arena, VOICE_SALT_BYTES);

    randombytes_buf(salt, VOICE_SALT_BYTES);
    return str_slice((const char *)salt, VOICE_SALT_BYTES);
}

void voice_token_derive(const struct api *api, const struct voice_state *s,
                        unsigned char ret[VOICE_TOKEN_SIZE])
{
    auth_derive_key(api_get_options(api)->auth, "voice", s->user_id, s->salt, ret,
                    VOICE_TOKEN_SIZE);
}

/* Emits VOICE_SERVER_UPDATE. endpoint.p is NULL if no voice server carries the channel now. */
static void emit_server_update(struct call *call, const struct voice_state *s, struct str endpoint)
{
    struct voice_server server = { .guild_id = s->guild_id, .endpoint = opt_str_or_null(endpoint) };
    unsigned char token[VOICE_TOKEN_SIZE];

    if (!voice_state_get_guild_id(s))
        server.channel_id = s->channel_id;
    voice_token_derive(call->api, s, token);
    server.token = str_hex_encode(call->arena, token, sizeof token);
    call_emit_event(call, EVENT_VOICE_SERVER_UPDATE, audience_of_session(s->session),
                    &voice_server_schema, &server);
}

enum err emit_voice_server_update(struct call *call, const struct voice_state *s)
{
    struct str endpoint;
    enum err e =
        find_voice_endpoint_of_room(call, voice_state_get_channel_id(s), s->region, &endpoint);

    if (!e)
        emit_server_update(call, s, endpoint);
    return e;
}

enum err voice_state_save(struct call *call, struct voice_state *s, snowflake from)
{
    enum err e = voice_state_write_row(call->tx, s);

    return e ? e : voice_state_emit_update(call, s, from);
}

enum err voice_state_save_without_event(struct call *call, const struct voice_state *s)
{
    enum err e = voice_state_write_row(call->tx, s);

    if (!e)
        voice_state_send_to_relay(call, s);
    return e;
}

enum err voice_state_delete_and_emit(struct call *call, const struct voice_state *s)
{
    struct voice_state gone = voice_state_without_channel(s);
    enum err e = voice_state_delete_row(call->tx, s);

    if (!e)
        e = voice_state_emit_update(call, &gone, voice_state_get_channel_id(s));
    return e ? e : hook_voice_left(call, s);
}

enum err voice_states_delete_all_and_emit(struct call *call, const struct list *states)
{
    const struct voice_state *s = states->items;
    enum err e = OK;

    for (size_t i = 0; !e && i < states->count; i++)
        e = voice_state_delete_and_emit(call, &s[i]);
    return e;
}

bool member_is_suppressed_on_voice_join(const struct channel *c, snowflake afk_channel_id,
                                        uint64_t permissions)
{
    return c->type == CHANNEL_STAGE || c->id == afk_channel_id ||
           !(permissions & PERMISSION(SPEAK));
}

int64_t voice_max_cameras(const struct channel *c, const struct guild *g)
{
    return c->type == CHANNEL_STAGE ? g->max_stage_video_channel_users : g->max_video_channel_users;
}

enum err read_whether_camera_is_within_limit(struct tx *tx, snowflake channel_id, int64_t max,
                                             bool counted, bool *ret)
{
    int64_t participants, cameras = 0;
    enum err e = max ? count_voice_participants(tx, channel_id, &participants, &cameras) : OK;

    *ret = !max || cameras - counted < max;
    return e;
}

/* Applies the rules of a join, but does not require CONNECT. */
enum err voice_state_move_to_channel(struct call *call, const struct voice_state *s,
                                     const struct channel *to)
{
    snowflake from = voice_state_get_channel_id(s);
    struct voice_state moved = *s;
    struct member_access standing;
    struct guild guild;
    uint64_t permissions;
    bool fits, full;

    if (from == to->id)
        return OK;
    enum err e = channel_has_voice_participants(call->tx, to->id, VOICE_ROOM_MAX, &full);
    if (!e && full)
        return ERR_MAX_MEMBERS;
    if (!e)
        e = member_access_find_of_other_user(call->tx, voice_state_get_guild_id(s), s->user_id,
                                             &standing);
    if (!e)
        e = member_permissions_in_channel(call->tx, &standing, to, &permissions);
    if (!e)
        e = guild_find(call->tx, voice_state_get_guild_id(s), &guild);
    if (!e)
        e = choose_region_of_voice_room(call->tx, to, s->region, &moved.region);
    if (!e)
        e = read_whether_camera_is_within_limit(call->tx, to->id, voice_max_cameras(to, &guild),
                                                false, &fits);
    if (e)
        return e;
    moved.channel_id = opt_id_or_null(to->id);
    moved.connected_at = opt_int_present(clock_s());
    moved.salt = voice_token_salt_new(call->arena);
    moved.live = moved.self_stream = false;
    moved.self_video = s->self_video && fits && permissions & PERMISSION(STREAM);
    moved.priority = permissions & PERMISSION(PRIORITY_SPEAKER);
    moved.suppress =
        member_is_suppressed_on_voice_join(to, guild.afk_channel_id.value, permissions);
    moved.request_to_speak_timestamp = (struct opt_int){ GIVEN_NULL, 0 };
    moved.active_at = clock_us();
    e = voice_state_save(call, &moved, from);
    if (e)
        return e;
    e = emit_voice_server_update(call, &moved);
    if (!e)
        e = voice_room_on_join(call, &moved);
    if (!e)
        e = hook_voice_left(call, s);
    return e ? e : afk_schedule_move_of_idle_user(call, &moved);
}

static enum err change_region_of_voice_state(struct call *call, struct voice_state *s,
                                             struct str region)
{
    if (str_eq(s->region, region))
        return OK;
    s->region = region;
    s->salt = voice_token_salt_new(call->arena);
    s->live = false;
    enum err e = voice_state_write_row(call->tx, s);
    if (e)
        return e;
    voice_state_send_to_relay(call, s);
    return emit_voice_server_update(call, s);
}

static enum err change_regions_of_voice_states_of_step(struct call *call,
                                                       const struct large_room_step *c,
                                                       struct str region)
{
    struct list states;
    enum err e = list_voice_states_of_room_step(call->tx, c, &states);

    for (size_t i = 0; !e && i < states.count; i++)
        e = change_region_of_voice_state(call, (struct voice_state *)states.items + i, region);
    return e ? e : schedule_next_large_room_step(call, &voice_region_job, c, &states);
}

enum err voice_call_change_region(struct call *call, snowflake channel_id, struct str region)
{
    return change_regions_of_voice_states_of_step(
        call, &(struct large_room_step){ .channel_id = channel_id }, region);
}

enum err voice_on_channel_region_change(struct call *call, const struct channel *c)
{
    struct large_room_step step = { .guild_id = c->guild_id.value, .channel_id = c->id };

    return channel_is_voice(c->type)
               ? change_regions_of_voice_states_of_step(call, &step, c->rtc_region.value)
               : OK;
}

/* Changes the region of the next batch of voice states of a large room, to the region that the
 * channel has when the job runs. */
static enum err run_region_change_job(struct call *call, const struct job *job)
{
    struct large_room_step step;
    struct channel c;

    if (!large_room_step_from_job(job, &step))
        return OK;
    enum err e = channel_find(call->tx, step.channel_id, &c);
    if (e || c.rtc_region.given != GIVEN)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    return change_regions_of_voice_states_of_step(call, &step, c.rtc_region.value);
}

const struct job_kind voice_region_job = {
    .name = "voice-migration",
    .doc = "Moves the other participants of a large voice channel to its new region.",
    .run = run_region_change_job,
};

enum err voice_room_move_to_node(struct call *call, snowflake channel_id, struct str endpoint,
                                 bool lost, bool *ret_empty)
{
    struct str salt = voice_token_salt_new(call->arena);
    struct list states;
    enum err e = list_voice_states_of_channel(call->tx, channel_id, &states);
    struct voice_state *s = states.items;

    *ret_empty = !e && !states.count;
    if (!e && states.count)
        e = voice_states_renew_token_salts(call->tx, channel_id, salt);
    for (size_t i = 0; !e && i < states.count; i++) {
        s[i].salt = salt;
        s[i].live = false;
        voice_state_send_to_relay(call, &s[i]);
        if (lost && endpoint.p)
            emit_server_update(call, &s[i], (struct str){ 0 });
        emit_server_update(call, &s[i],
                           voice_region_fill_endpoint_pattern(call->arena, endpoint, s[i].region));
    }
    return e;
}
