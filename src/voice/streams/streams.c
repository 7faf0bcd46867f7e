/* streams.c - creates, changes and ends streams, with their events. */
#include "voice/streams/streams.h"

#include "model/fields/ids.h"
#include "model/configured/regions.h"
#include "voice/rooms/room_owners.h"

const char STREAM_USER_REQUESTED[] = "user_requested", STREAM_ENDED[] = "stream_ended",
           STREAM_FULL[] = "stream_full", STREAM_UNAUTHORIZED[] = "unauthorized",
           STREAM_PARSE_FAILED[] = "parse_failed", STREAM_INVALID_CHANNEL[] = "invalid_channel";

/* --- schemas and events --------------------------------------------------------------- */

struct stream_event {
    struct str stream_key, region;
    snowflake rtc_server_id, rtc_channel_id;
    struct list viewer_ids;
    bool paused;
};
struct stream_server_event {
    struct str stream_key, token;
    struct opt_str endpoint;
    struct opt_id guild_id; /* always null */
};
struct stream_delete_event {
    struct str stream_key, reason;
};

static const struct field created_fields[] = {
    { FIELD(struct stream_event, stream_key), .type = &type_text },
    { FIELD(struct stream_event, rtc_server_id), .type = &type_id },
    { FIELD(struct stream_event, rtc_channel_id), .type = &type_id },
    { FIELD(struct stream_event, region), .type = &type_text },
    { FIELD(struct stream_event, viewer_ids), .type = &type_ids },
    { FIELD(struct stream_event, paused), .type = &type_bool },
    { 0 },
};
static const struct schema created_schema = {
    .name = "StreamCreate",
    .size = sizeof(struct stream_event),
    .fields = created_fields,
    .doc = "A stream in which the receiver takes part.",
};
static const struct field updated_fields[] = {
    { FIELD(struct stream_event, stream_key), .type = &type_text },
    { FIELD(struct stream_event, region), .type = &type_text },
    { FIELD(struct stream_event, viewer_ids), .type = &type_ids },
    { FIELD(struct stream_event, paused), .type = &type_bool },
    { 0 },
};
static const struct schema updated_schema = {
    .name = "StreamUpdate",
    .size = sizeof(struct stream_event),
    .fields = updated_fields,
    .doc = "The current state of a stream.",
};
static const struct field server_fields[] = {
    { FIELD(struct stream_server_event, stream_key), .type = &type_text },
    { FIELD(struct stream_server_event, token), .type = &type_text },
    { FIELD(struct stream_server_event, endpoint), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct stream_server_event, guild_id), .type = &type_id, .flags = NULLABLE },
    { 0 },
};
static const struct schema server_schema = {
    .name = "StreamServer",
    .size = sizeof(struct stream_server_event),
    .fields = server_fields,
    .doc = "The voice server of a stream.",
};
static const struct field gone_fields[] = {
    { FIELD(struct stream_delete_event, stream_key), .type = &type_text },
    { FIELD(struct stream_delete_event, reason), .type = &type_text },
    { 0 },
};
static const struct schema gone_schema = {
    .name = "StreamDelete",
    .size = sizeof(struct stream_delete_event),
    .fields = gone_fields,
    .doc = "A stream that has ended for the receiver.",
};

static struct stream_event build_stream_event(struct call *call, const struct stream *s,
                                              const struct list *parts)
{
    const struct stream_participant *p = parts->items;
    struct stream_event out = {
        .stream_key = stream_key_format(call->arena, &s->key),
        .region = s->region,
        .rtc_server_id = s->rtc_server_id,
        .rtc_channel_id = stream_rtc_channel_id(s),
        .paused = s->paused,
    };

    for (size_t i = 0; i < parts->count; i++)
        if (p[i].user_id != s->key.owner_id)
            id_list_add(call->arena, &out.viewer_ids, p[i].user_id);
    return out;
}

void stream_token_derive(const struct api *api, const struct stream_participant *p,
                         unsigned char ret[VOICE_TOKEN_SIZE])
{
    auth_derive_key(api_get_options(api)->auth, "stream", p->user_id, p->salt, ret,
                    VOICE_TOKEN_SIZE);
}

/* Returns a participant's state for the relay: only the owner may send media, and only while the
 * stream is not paused and the owner is not suppressed. A muted owner may send video without audio.
 */
struct relay_voice_state stream_make_relay_voice_state(const struct stream *s,
                                                       const struct stream_participant *p,
                                                       bool there)
{
    bool sends_media = p->user_id == s->key.owner_id && !s->paused && !p->voice.is_not_speaker;
    struct relay_voice_state f = {
        .guild_id = s->rtc_server_id,
        .user_id = p->user_id,
        .channel_id = there ? stream_rtc_channel_id(s) : 0,
        .room_id = s->rtc_server_id,
        .may_send_audio = sends_media && !p->voice.muted,
        .may_send_video = sends_media,
        .may_receive_audio = !p->voice.deaf,
        .flags = p->voice.flags,
        .platform = p->voice.platform,
    };

    if (p->salt.n == sizeof f.salt)
        memcpy(f.salt, p->salt.p, sizeof f.salt);
    return f;
}

static void send_participant_to_relay(struct call *call, const struct stream *s,
                                      const struct stream_participant *p, bool there)
{
    struct relay_voice_state fact = stream_make_relay_voice_state(s, p, there);

    call_record_voice_state_change(call, &fact);
}

/* Emits STREAM_SERVER_UPDATE. endpoint.p is NULL if no voice server carries the stream now. */
static void emit_stream_server_update(struct call *call, const struct stream *s,
                                      const struct stream_participant *p, struct str endpoint)
{
    struct stream_server_event server = {
        .stream_key = stream_key_format(call->arena, &s->key),
        .endpoint = opt_str_or_null(endpoint),
        .guild_id = opt_id_or_null(0),
    };
    unsigned char token[VOICE_TOKEN_SIZE];

    stream_token_derive(call->api, p, token);
    server.token = str_hex_encode(call->arena, token, sizeof token);
    call_emit_event(call, EVENT_STREAM_SERVER_UPDATE, audience_of_session(p->session),
                    &server_schema, &server);
}

/* Sends the token and the endpoint of a stream to a participant. If `lost` is set (the previous
 * node is dead), sends an update without an endpoint first. */
static void connect_stream_participant(struct call *call, const struct stream *s,
                                       const struct stream_participant *p, struct str endpoint,
                                       bool lost)
{
    send_participant_to_relay(call, s, p, true);
    if (lost && endpoint.p)
        emit_stream_server_update(call, s, p, (struct str){ 0 });
    emit_stream_server_update(call, s, p, endpoint);
}

enum err stream_emit_create(struct call *call, const struct stream *s,
                            const struct stream_participant *p)
{
    struct str endpoint;
    struct list parts;
    enum err e = stream_list_participants(call->tx, s->key.owner_id, &parts);

    if (!e)
        e = find_voice_endpoint_of_room(call, s->rtc_server_id, s->region, &endpoint);
    if (e)
        return e;
    struct stream_event out = build_stream_event(call, s, &parts);
    call_emit_event(call, EVENT_STREAM_CREATE, audience_of_session(p->session), &created_schema,
                    &out);
    connect_stream_participant(call, s, p, endpoint, false);
    return OK;
}

enum err stream_move_to_node(struct call *call, const struct stream *s, bool lost)
{
    struct str endpoint;
    struct list parts;
    enum err e = stream_list_participants(call->tx, s->key.owner_id, &parts);

    if (!e)
        e = find_voice_endpoint_of_room(call, s->rtc_server_id, s->region, &endpoint);
    for (size_t i = 0; !e && i < parts.count; i++) {
        struct stream_participant *p = (struct stream_participant *)parts.items + i;

        p->salt = voice_token_salt_new(call->arena);
        e = stream_participant_write(call->tx, s->key.owner_id, p);
        if (!e)
            connect_stream_participant(call, s, p, endpoint, lost);
    }
    return e;
}

enum err stream_renew_tokens(struct call *call, const struct stream *s)
{
    return stream_move_to_node(call, s, false);
}

enum err stream_emit_update(struct call *call, const struct stream *s)
{
    struct list parts;
    enum err e = stream_list_participants(call->tx, s->key.owner_id, &parts);
    const struct stream_participant *p = parts.items;

    if (e)
        return e;
    struct stream_event out = build_stream_event(call, s, &parts);
    for (size_t i = 0; i < parts.count; i++) {
        send_participant_to_relay(call, s, &p[i], true);
        call_emit_event(call, EVENT_STREAM_UPDATE, audience_of_session(p[i].session),
                        &updated_schema, &out);
    }
    return OK;
}

void stream_emit_delete(struct call *call, uint64_t session, struct str key, const char *reason)
{
    struct stream_delete_event gone = { key, str_of(reason) };

    call_emit_event(call, EVENT_STREAM_DELETE, audience_of_session(session), &gone_schema, &gone);
}

/* Turns ERR_UNKNOWN_STREAM into OK, because most users have no stream. */
static enum err ignore_unknown_stream(enum err e)
{
    return e == ERR_UNKNOWN_STREAM ? OK : e;
}

/* Clears self_stream in the voice state of the stream's owner, who may meanwhile be in another
 * channel or in none. */
static enum err clear_self_stream(struct call *call, const struct stream_key *key)
{
    struct voice_state s;
    enum err e = voice_state_find(call->tx, key->guild_id, key->owner_id, &s);

    if (e)
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    if (!s.self_stream)
        return OK;
    s.self_stream = false;
    return voice_state_save(call, &s, 0);
}

enum err stream_end_and_emit(struct call *call, const struct stream *s, const char *owner_reason)
{
    struct str key = stream_key_format(call->arena, &s->key);
    struct list parts;
    enum err e = stream_list_participants(call->tx, s->key.owner_id, &parts);
    const struct stream_participant *p = parts.items;

    if (!e)
        e = stream_delete(call->tx, s->key.owner_id);
    if (!e)
        e = voice_room_node_row_delete(call, s->rtc_server_id);
    if (e)
        return e;
    for (size_t i = 0; i < parts.count; i++) {
        send_participant_to_relay(call, s, &p[i], false);
        stream_emit_delete(call, p[i].session, key,
                           p[i].user_id == s->key.owner_id ? owner_reason : STREAM_ENDED);
    }
    e = stream_delete_files(call, s);
    return e ? e : clear_self_stream(call, &s->key);
}

enum err stream_remove_viewer(struct call *call, const struct stream *s, snowflake user_id,
                              const char *reason)
{
    struct stream_participant part;
    enum err e = stream_participant_find(call->tx, s->key.owner_id, user_id, &part);

    if (e)
        return ignore_unknown_stream(e);
    e = stream_participant_delete(call->tx, s->key.owner_id, user_id);
    if (e)
        return e;
    send_participant_to_relay(call, s, &part, false);
    stream_emit_delete(call, part.session, stream_key_format(call->arena, &s->key), reason);
    return stream_emit_update(call, s);
}

/* --- changes of voice states ---------------------------------------------------------- */

static enum err end_stream_of_user(struct call *call, const struct voice_state *was)
{
    struct stream s;
    enum err e = stream_find_by_owner(call->tx, was->user_id, &s);

    if (e || s.key.channel_id != voice_state_get_channel_id(was))
        return ignore_unknown_stream(e);
    return stream_end_and_emit(call, &s, STREAM_ENDED);
}

enum err streams_on_voice_leave(struct call *call, const struct voice_state *was)
{
    struct list owners;
    enum err e = end_stream_of_user(call, was);

    if (!e)
        e = list_streams_watched_by(call->tx, was->user_id, &owners);
    for (size_t i = 0; !e && i < owners.count; i++) {
        struct stream s;

        e = stream_find_by_owner(call->tx, ((const snowflake *)owners.items)[i], &s);
        if (!e && s.key.channel_id == voice_state_get_channel_id(was))
            e = stream_remove_viewer(call, &s, was->user_id, STREAM_ENDED);
        e = ignore_unknown_stream(e);
    }
    return e;
}

enum err streams_on_permission_change(struct call *call, const struct voice_state_permissions *r)
{
    return r->permissions & PERMISSION(STREAM) ? OK : end_stream_of_user(call, r->state);
}

/* Updates the streams of a user in his voice channel after a change of his voice state. */
static enum err update_participant_in_stream(struct call *call, const struct voice_state *state,
                                             snowflake owner_id)
{
    struct stream_participant part;
    struct stream s;
    enum err e = stream_find_by_owner(call->tx, owner_id, &s);

    if (!e && (s.key.guild_id != voice_state_get_guild_id(state) ||
               s.key.channel_id != voice_state_get_channel_id(state)))
        return OK;
    if (!e)
        e = stream_participant_find(call->tx, owner_id, state->user_id, &part);
    if (e)
        return ignore_unknown_stream(e);
    part.voice = stream_voice_flags_of_voice_state(state);
    send_participant_to_relay(call, &s, &part, true);
    return OK;
}

enum err streams_on_voice_state_change(struct call *call, const struct voice_state *s)
{
    struct list owners;
    enum err e = list_streams_of_user(call->tx, s->user_id, &owners);

    for (size_t i = 0; !e && i < owners.count; i++)
        e = update_participant_in_stream(call, s, ((const snowflake *)owners.items)[i]);
    return e;
}
