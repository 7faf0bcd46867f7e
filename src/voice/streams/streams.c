/* streams.c - creates, changes and ends streams, with their events. */
#include "voice/streams/streams.h"

#include "model/fields/ids.h"
#include "model/configured/regions.h"
#include "voice/homes.h"

const char STREAM_USER_REQUESTED[] = "user_requested", STREAM_ENDED[] = "stream_ended",
           STREAM_FULL[] = "stream_full", STREAM_UNAUTHORIZED[] = "unauthorized",
           STREAM_PARSE_FAILED[] = "parse_failed", STREAM_INVALID_CHANNEL[] = "invalid_channel";

/* --- schemas and events --------------------------------------------------------------- */

struct stream_shown {
    struct str stream_key, region;
    snowflake rtc_server_id, rtc_channel_id;
    struct list viewer_ids;
    bool paused;
};
struct stream_server {
    struct str stream_key, token;
    struct opt_str endpoint;
    struct opt_id guild_id; /* always null */
};
struct stream_gone {
    struct str stream_key, reason;
};

static const struct field created_fields[] = {
    { FIELD(struct stream_shown, stream_key), .type = &type_text },
    { FIELD(struct stream_shown, rtc_server_id), .type = &type_id },
    { FIELD(struct stream_shown, rtc_channel_id), .type = &type_id },
    { FIELD(struct stream_shown, region), .type = &type_text },
    { FIELD(struct stream_shown, viewer_ids), .type = &type_ids },
    { FIELD(struct stream_shown, paused), .type = &type_bool },
    { 0 },
};
static const struct schema created_schema = {
    .name = "StreamCreate",
    .size = sizeof(struct stream_shown),
    .fields = created_fields,
    .doc = "A stream in which the receiver takes part.",
};
static const struct field updated_fields[] = {
    { FIELD(struct stream_shown, stream_key), .type = &type_text },
    { FIELD(struct stream_shown, region), .type = &type_text },
    { FIELD(struct stream_shown, viewer_ids), .type = &type_ids },
    { FIELD(struct stream_shown, paused), .type = &type_bool },
    { 0 },
};
static const struct schema updated_schema = {
    .name = "StreamUpdate",
    .size = sizeof(struct stream_shown),
    .fields = updated_fields,
    .doc = "The current state of a stream.",
};
static const struct field server_fields[] = {
    { FIELD(struct stream_server, stream_key), .type = &type_text },
    { FIELD(struct stream_server, token), .type = &type_text },
    { FIELD(struct stream_server, endpoint), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct stream_server, guild_id), .type = &type_id, .flags = NULLABLE },
    { 0 },
};
static const struct schema server_schema = {
    .name = "StreamServer",
    .size = sizeof(struct stream_server),
    .fields = server_fields,
    .doc = "The voice server of a stream.",
};
static const struct field gone_fields[] = {
    { FIELD(struct stream_gone, stream_key), .type = &type_text },
    { FIELD(struct stream_gone, reason), .type = &type_text },
    { 0 },
};
static const struct schema gone_schema = {
    .name = "StreamDelete",
    .size = sizeof(struct stream_gone),
    .fields = gone_fields,
    .doc = "A stream that has ended for the receiver.",
};

static struct stream_shown stream_as_shown(struct call *call, const struct stream *s,
                                           const struct list *parts)
{
    const struct stream_part *p = parts->items;
    struct stream_shown out = {
        .stream_key = stream_key_write(call->arena, &s->key),
        .region = s->region,
        .rtc_server_id = s->rtc_server_id,
        .rtc_channel_id = stream_rtc_channel(s),
        .paused = s->paused,
    };

    for (size_t i = 0; i < parts->count; i++)
        if (p[i].user_id != s->key.owner_id)
            ids_add(call->arena, &out.viewer_ids, p[i].user_id);
    return out;
}

void stream_token(const struct api *api, const struct stream_part *p,
                  unsigned char ret[VOICE_TOKEN])
{
    auth_derive(api_options(api)->auth, "stream", p->user_id, p->salt, ret, VOICE_TOKEN);
}

/* Only the owner sends video, and not while the stream is paused or the owner is suppressed. A
 * muted owner sends video without audio, as with a camera. */
struct voice_fact stream_fact(const struct stream *s, const struct stream_part *p, bool there)
{
    bool shows = p->user_id == s->key.owner_id && !s->paused && !p->voice.aside;
    struct voice_fact f = {
        .guild_id = s->rtc_server_id,
        .user_id = p->user_id,
        .channel_id = there ? stream_rtc_channel(s) : 0,
        .room_id = s->rtc_server_id,
        .speaks = shows && !p->voice.muted,
        .films = shows,
        .hears = !p->voice.deaf,
        .flags = p->voice.flags,
        .platform = p->voice.platform,
    };

    if (p->salt.n == sizeof f.salt)
        memcpy(f.salt, p->salt.p, sizeof f.salt);
    return f;
}

static void note_part(struct call *call, const struct stream *s, const struct stream_part *p,
                      bool there)
{
    struct voice_fact fact = stream_fact(s, p, there);

    call_note_voice(call, &fact);
}

/* Emits STREAM_SERVER_UPDATE; endpoint.p == NULL: no voice server now. */
static void part_tell_server(struct call *call, const struct stream *s, const struct stream_part *p,
                             struct str endpoint)
{
    struct stream_server server = {
        .stream_key = stream_key_write(call->arena, &s->key),
        .endpoint = given_str(endpoint),
        .guild_id = given_id(0),
    };
    unsigned char token[VOICE_TOKEN];

    stream_token(call->api, p, token);
    server.token = str_hex(call->arena, token, sizeof token);
    call_emit(call, EVENT_STREAM_SERVER_UPDATE, to_session(p->session), &server_schema, &server);
}

/* Each participant has its own token; a new token invalidates the previous one. */
static void part_welcome(struct call *call, const struct stream *s, const struct stream_part *p,
                         struct str endpoint, bool lost)
{
    note_part(call, s, p, true);
    if (lost && endpoint.p)
        part_tell_server(call, s, p, (struct str){ 0 });
    part_tell_server(call, s, p, endpoint);
}

enum err stream_welcome(struct call *call, const struct stream *s, const struct stream_part *p)
{
    struct str endpoint;
    struct list parts;
    enum err e = stream_parts(call->tx, s->key.owner_id, &parts);

    if (!e)
        e = voice_endpoint(call, s->rtc_server_id, s->region, &endpoint);
    if (e)
        return e;
    struct stream_shown out = stream_as_shown(call, s, &parts);
    call_emit(call, EVENT_STREAM_CREATE, to_session(p->session), &created_schema, &out);
    part_welcome(call, s, p, endpoint, false);
    return OK;
}

enum err stream_resettle(struct call *call, const struct stream *s, bool lost)
{
    struct str endpoint;
    struct list parts;
    enum err e = stream_parts(call->tx, s->key.owner_id, &parts);

    if (!e)
        e = voice_endpoint(call, s->rtc_server_id, s->region, &endpoint);
    for (size_t i = 0; !e && i < parts.count; i++) {
        struct stream_part *p = (struct stream_part *)parts.items + i;

        p->salt = voice_salt(call->arena);
        e = stream_part_put(call->tx, s->key.owner_id, p);
        if (!e)
            part_welcome(call, s, p, endpoint, lost);
    }
    return e;
}

enum err stream_migrate(struct call *call, const struct stream *s)
{
    return stream_resettle(call, s, false);
}

enum err stream_announce(struct call *call, const struct stream *s)
{
    struct list parts;
    enum err e = stream_parts(call->tx, s->key.owner_id, &parts);
    const struct stream_part *p = parts.items;

    if (e)
        return e;
    struct stream_shown out = stream_as_shown(call, s, &parts);
    for (size_t i = 0; i < parts.count; i++) {
        note_part(call, s, &p[i], true);
        call_emit(call, EVENT_STREAM_UPDATE, to_session(p[i].session), &updated_schema, &out);
    }
    return OK;
}

void stream_tell_gone(struct call *call, uint64_t session, struct str key, const char *reason)
{
    struct stream_gone gone = { key, str_of(reason) };

    call_emit(call, EVENT_STREAM_DELETE, to_session(session), &gone_schema, &gone);
}

/* Most users have no stream, so ERR_UNKNOWN_STREAM is not an error. */
static enum err none_is_fine(enum err e)
{
    return e == ERR_UNKNOWN_STREAM ? OK : e;
}

/* Clears self_stream; the owner may be in another channel or in none. */
static enum err clear_mark(struct call *call, const struct stream_key *key)
{
    struct voice_state s;
    enum err e = voice_find(call->tx, key->guild_id, key->owner_id, &s);

    if (e)
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    if (!s.self_stream)
        return OK;
    s.self_stream = false;
    return voice_save(call, &s, 0);
}

enum err stream_end(struct call *call, const struct stream *s, const char *owner_reason)
{
    struct str key = stream_key_write(call->arena, &s->key);
    struct list parts;
    enum err e = stream_parts(call->tx, s->key.owner_id, &parts);
    const struct stream_part *p = parts.items;

    if (!e)
        e = stream_remove(call->tx, s->key.owner_id);
    if (!e)
        e = voice_home_drop(call, s->rtc_server_id);
    if (e)
        return e;
    for (size_t i = 0; i < parts.count; i++) {
        note_part(call, s, &p[i], false);
        stream_tell_gone(call, p[i].session, key,
                         p[i].user_id == s->key.owner_id ? owner_reason : STREAM_ENDED);
    }
    e = stream_drop_files(call, s);
    return e ? e : clear_mark(call, &s->key);
}

enum err stream_unwatch(struct call *call, const struct stream *s, snowflake user_id,
                        const char *reason)
{
    struct stream_part part;
    enum err e = stream_part_find(call->tx, s->key.owner_id, user_id, &part);

    if (e)
        return none_is_fine(e);
    e = stream_part_remove(call->tx, s->key.owner_id, user_id);
    if (e)
        return e;
    note_part(call, s, &part, false);
    stream_tell_gone(call, part.session, stream_key_write(call->arena, &s->key), reason);
    return stream_announce(call, s);
}

/* --- changes of voice states ---------------------------------------------------------- */

static enum err end_own(struct call *call, const struct voice_state *was)
{
    struct stream s;
    enum err e = stream_of_owner(call->tx, was->user_id, &s);

    if (e || s.key.channel_id != voice_channel(was))
        return none_is_fine(e);
    return stream_end(call, &s, STREAM_ENDED);
}

enum err streams_left(struct call *call, const struct voice_state *was)
{
    struct list owners;
    enum err e = end_own(call, was);

    if (!e)
        e = streams_watched(call->tx, was->user_id, &owners);
    for (size_t i = 0; !e && i < owners.count; i++) {
        struct stream s;

        e = stream_of_owner(call->tx, ((const snowflake *)owners.items)[i], &s);
        if (!e && s.key.channel_id == voice_channel(was))
            e = stream_unwatch(call, &s, was->user_id, STREAM_ENDED);
        e = none_is_fine(e);
    }
    return e;
}

enum err streams_judged(struct call *call, const struct voice_rights *r)
{
    return r->rights & PERMISSION(STREAM) ? OK : end_own(call, r->state);
}

/* Ignores streams of other channels, which a user who joins or moves has left. */
static enum err follow_in_stream(struct call *call, const struct voice_state *state,
                                 snowflake owner_id)
{
    struct stream_part part;
    struct stream s;
    enum err e = stream_of_owner(call->tx, owner_id, &s);

    if (!e && (s.key.guild_id != voice_guild(state) || s.key.channel_id != voice_channel(state)))
        return OK;
    if (!e)
        e = stream_part_find(call->tx, owner_id, state->user_id, &part);
    if (e)
        return none_is_fine(e);
    part.voice = stream_voice_of(state);
    note_part(call, &s, &part, true);
    return OK;
}

enum err streams_follow(struct call *call, const struct voice_state *s)
{
    struct list owners;
    enum err e = streams_of_user(call->tx, s->user_id, &owners);

    for (size_t i = 0; !e && i < owners.count; i++)
        e = follow_in_stream(call, s, ((const snowflake *)owners.items)[i]);
    return e;
}
