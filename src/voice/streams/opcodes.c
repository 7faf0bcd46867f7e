/* opcodes.c - op 18 to 22: create, delete, watch, ping and pause streams. */
#include "voice/streams/streams.h"

#include "model/permissions/permissions.h"
#include "model/configured/regions.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

enum { OPTIONAL_NULLABLE = OPTIONAL | NULLABLE };

struct stream_request {
    struct str type;
    struct opt_id guild_id;
    snowflake channel_id;
    struct opt_str preferred_region;
};
struct stream_key_request {
    struct str stream_key;
};
struct stream_pause {
    struct str stream_key;
    bool paused;
};

static const struct field request_fields[] = {
    { FIELD(struct stream_request, type), .type = &type_text },
    { FIELD(struct stream_request, guild_id), .type = &type_id, .flags = OPTIONAL_NULLABLE },
    { FIELD(struct stream_request, channel_id), .type = &type_id },
    { FIELD(struct stream_request, preferred_region), .type = &type_text,
      .flags = OPTIONAL_NULLABLE },
    { 0 },
};
static const struct schema request_schema = { .size = sizeof(struct stream_request),
                                              .fields = request_fields };
const struct type type_stream_request = { .kind = KIND_OBJECT, .schema = &request_schema };

static const struct field name_fields[] = {
    { FIELD(struct stream_key_request, stream_key), .type = &type_text },
    { 0 },
};
static const struct schema name_schema = { .size = sizeof(struct stream_key_request),
                                           .fields = name_fields };
const struct type type_stream_key_request = { .kind = KIND_OBJECT, .schema = &name_schema };

static const struct field pause_fields[] = {
    { FIELD(struct stream_pause, stream_key), .type = &type_text },
    { FIELD(struct stream_pause, paused), .type = &type_bool },
    { 0 },
};
static const struct schema pause_schema = { .size = sizeof(struct stream_pause),
                                            .fields = pause_fields };
const struct type type_stream_pause = { .kind = KIND_OBJECT, .schema = &pause_schema };

/* Finds a stream by its key. Sets *ret_found to false if there is no such stream, or if the key is
 * malformed; after a malformed key the session gets STREAM_DELETE. */
static enum err find_stream_by_key(struct call *call, const struct session_opcode *o,
                                   struct str name, struct stream_key *ret_key, struct stream *ret,
                                   bool *ret_found)
{
    *ret_found = false;
    if (!stream_key_parse(name, ret_key)) {
        stream_emit_delete(call, o->session, name, STREAM_PARSE_FAILED);
        *ret_key = (struct stream_key){ 0 };
        return OK;
    }
    enum err e = stream_find_by_owner(call->tx, ret_key->owner_id, ret);
    if (e)
        return e == ERR_UNKNOWN_STREAM ? OK : e;
    *ret_found =
        ret->key.guild_id == ret_key->guild_id && ret->key.channel_id == ret_key->channel_id;
    return OK;
}

/* Finds the caller's voice state. Sets *ret_present to whether this gateway session is in the
 * channel channel_id. */
static enum err find_state_of_session(struct call *call, const struct session_opcode *o,
                                      snowflake guild_id, snowflake channel_id,
                                      struct voice_state *ret, bool *ret_present)
{
    enum err e = voice_state_find(call->tx, guild_id, o->caller.id, ret);

    *ret_present = !e && voice_state_get_channel_id(ret) == channel_id &&
                   str_eq(ret->session_id, o->session_id);
    return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
}

static struct stream_participant new_participant_of_session(struct call *call,
                                                            const struct session_opcode *o,
                                                            const struct voice_state *state)
{
    return (struct stream_participant){
        .user_id = o->caller.id,
        .session_id = o->session_id,
        .session = o->session,
        .salt = voice_token_salt_new(call->arena),
        .voice = stream_voice_flags_of_voice_state(state),
    };
}

/* --- op 18: create -------------------------------------------------------------------- */

/* Checks whether the owner may stream in the guild channel. If not, sets *ret_reason. */
static enum err check_guild_stream_permission(struct call *call, const struct stream_key *key,
                                              bool *ret_vip, const char **ret_reason)
{
    struct member_access standing;
    struct channel channel;
    struct guild guild;
    uint64_t permissions;
    enum err e = channel_find(call->tx, key->channel_id, &channel);

    if (!e)
        e = guild_find(call->tx, key->guild_id, &guild);
    if (!e)
        e = member_access_find_of_other_user(call->tx, key->guild_id, key->owner_id, &standing);
    if (!e)
        e = member_permissions_in_channel(call->tx, &standing, &channel, &permissions);
    if (e)
        return e;
    *ret_vip = guild_may_use_vip_regions(&guild);
    if (guild.afk_channel_id.given == GIVEN && guild.afk_channel_id.value == key->channel_id)
        *ret_reason = STREAM_INVALID_CHANNEL;
    else if (!(permissions & PERMISSION(STREAM)))
        *ret_reason = STREAM_UNAUTHORIZED;
    return OK;
}

static enum err check_stream_request(struct call *call, const struct session_opcode *o,
                                     const struct stream_key *key, struct voice_state *ret_state,
                                     bool *ret_vip, const char **ret_reason)
{
    const struct stream_request *in = o->d;
    bool present;
    enum err e =
        find_state_of_session(call, o, key->guild_id, key->channel_id, ret_state, &present);

    *ret_reason = NULL;
    if (e)
        return e;
    if (!present || !str_is(in->type, key->guild_id ? "guild" : "call"))
        *ret_reason = STREAM_INVALID_CHANNEL;
    else if (key->guild_id)
        e = check_guild_stream_permission(call, key, ret_vip, ret_reason);
    return e;
}

static enum err start_stream_of_caller(struct call *call, const struct session_opcode *o,
                                       const struct stream_key *key, struct voice_state *state,
                                       bool vip)
{
    const struct stream_request *in = o->d;
    struct stream s = { .key = *key, .rtc_server_id = snowflake_new(), .region = state->region };
    struct stream_participant part = new_participant_of_session(call, o, state);

    if (in->preferred_region.given == GIVEN &&
        voice_region_is_usable(in->preferred_region.value, vip))
        s.region = in->preferred_region.value;
    enum err e = stream_insert(call->tx, &s);
    if (!e)
        e = stream_participant_write(call->tx, key->owner_id, &part);
    if (!e)
        e = stream_emit_create(call, &s, &part);
    if (e)
        return e;
    state->self_stream = true;
    return voice_state_save(call, state, 0);
}

enum err create_stream(struct call *call, struct session_opcode *o)
{
    const struct stream_request *in = o->d;
    struct stream_key key = { in->guild_id.value, in->channel_id, o->caller.id };
    struct voice_state state;
    struct stream old;
    const char *reason;
    bool vip = false;

    enum err e = check_stream_request(call, o, &key, &state, &vip, &reason);
    if (e)
        return e;
    if (reason) {
        stream_emit_delete(call, o->session, stream_key_format(call->arena, &key), reason);
        return OK;
    }
    /* End the user's previous stream, because a user can have only one stream. */
    e = stream_find_by_owner(call->tx, o->caller.id, &old);
    if (!e) {
        e = stream_end_and_emit(call, &old, STREAM_ENDED);
        state.self_stream = false;
    } else if (e == ERR_UNKNOWN_STREAM) {
        e = OK;
    }
    return e ? e : start_stream_of_caller(call, o, &key, &state, vip);
}

/* --- op 20: watch --------------------------------------------------------------------- */

static enum err read_viewer_limit(struct call *call, const struct stream *s, int64_t *ret_most)
{
    struct channel channel;
    struct guild guild;

    *ret_most = STREAM_MAX_VIEWERS;
    if (!s->key.guild_id)
        return OK;
    enum err e = channel_find(call->tx, s->key.channel_id, &channel);
    if (!e)
        e = guild_find(call->tx, s->key.guild_id, &guild);
    if (!e && channel.type == CHANNEL_STAGE)
        *ret_most = guild.max_stage_video_channel_users;
    return e;
}

/* Reads whether the account already watches the stream, and whether the stream is full. */
static enum err check_stream_viewer_limit(struct call *call, const struct session_opcode *o,
                                          const struct stream *s, bool *ret_known, bool *ret_full)
{
    struct list parts;
    int64_t most;
    enum err e = stream_list_participants(call->tx, s->key.owner_id, &parts);

    *ret_known = false;
    for (size_t i = 0; !e && i < parts.count; i++)
        if (((const struct stream_participant *)parts.items)[i].user_id == o->caller.id)
            *ret_known = true;
    if (!e)
        e = read_viewer_limit(call, s, &most);
    *ret_full = !e && !*ret_known && (int64_t)parts.count - 1 >= most;
    return e;
}

enum err watch_stream(struct call *call, struct session_opcode *o)
{
    const struct stream_key_request *in = o->d;
    bool found, present = false, known = false, full = false;
    struct voice_state state;
    struct stream_key key;
    struct stream s;

    enum err e = find_stream_by_key(call, o, in->stream_key, &key, &s, &found);
    if (e || !key.owner_id)
        return e;
    e = find_state_of_session(call, o, key.guild_id, key.channel_id, &state, &present);
    if (!e && present && found)
        e = check_stream_viewer_limit(call, o, &s, &known, &full);
    if (e)
        return e;
    if (!present || !found || full) {
        stream_emit_delete(call, o->session, in->stream_key,
                           !present ? STREAM_UNAUTHORIZED
                           : !found ? STREAM_ENDED
                                    : STREAM_FULL);
        return OK;
    }
    struct stream_participant part = new_participant_of_session(call, o, &state);
    e = stream_participant_write(call->tx, key.owner_id, &part);
    if (!e)
        e = stream_emit_create(call, &s, &part);
    return e || known ? e : stream_emit_update(call, &s);
}

/* --- op 19: delete, op 21: ping, op 22: pause ----------------------------------------- */

enum err delete_stream(struct call *call, struct session_opcode *o)
{
    const struct stream_key_request *in = o->d;
    struct stream_key key;
    struct stream s;
    bool found;

    enum err e = find_stream_by_key(call, o, in->stream_key, &key, &s, &found);
    if (e || !found)
        return e;
    if (key.owner_id == o->caller.id)
        return stream_end_and_emit(call, &s, STREAM_USER_REQUESTED);
    return stream_remove_viewer(call, &s, o->caller.id, STREAM_USER_REQUESTED);
}

/* Handles a ping: only checks the stream key, because a ping does not move the stream. */
enum err handle_stream_ping(struct call *call, struct session_opcode *o)
{
    const struct stream_key_request *in = o->d;
    struct stream_key key;
    struct stream s;
    bool found;

    return find_stream_by_key(call, o, in->stream_key, &key, &s, &found);
}

enum err pause_stream(struct call *call, struct session_opcode *o)
{
    const struct stream_pause *in = o->d;
    struct stream_key key;
    struct stream s;
    bool found;

    enum err e = find_stream_by_key(call, o, in->stream_key, &key, &s, &found);
    if (e || !found || key.owner_id != o->caller.id)
        return e;
    if (s.paused != in->paused) {
        s.paused = in->paused;
        e = stream_update(call->tx, &s);
    }
    return e ? e : stream_emit_update(call, &s);
}
