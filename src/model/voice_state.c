/* voice_state.c - JSON schemas of voice states, voice servers and calls. */
#include "model/voice_state.h"

static const struct field state_fields[] = {
    { FIELD(struct voice_state, guild_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct voice_state, channel_id), .type = &type_id, .flags = NULLABLE },
    { FIELD(struct voice_state, user_id), .type = &type_id },
    { FIELD(struct voice_state, member), .type = &type_member, .flags = OPTIONAL },
    { FIELD(struct voice_state, session_id), .type = &type_text },
    { FIELD(struct voice_state, connected_at), .type = &type_count, .flags = OPTIONAL,
      .doc = "Unix time in seconds" },
    { FIELD(struct voice_state, deaf), .type = &type_bool, .doc = "Deafened by a moderator" },
    { FIELD(struct voice_state, mute), .type = &type_bool, .doc = "Muted by a moderator" },
    { FIELD(struct voice_state, self_deaf), .type = &type_bool },
    { FIELD(struct voice_state, self_mute), .type = &type_bool },
    { FIELD(struct voice_state, self_stream), .type = &type_bool },
    { FIELD(struct voice_state, self_video), .type = &type_bool, .doc = "The camera is on" },
    { FIELD(struct voice_state, suppress), .type = &type_bool, .doc = "May not speak" },
    { FIELD(struct voice_state, request_to_speak_timestamp), .type = &type_time,
      .flags = NULLABLE },
    { 0 },
};
const struct schema voice_state_schema = {
    .name = "VoiceState",
    .size = sizeof(struct voice_state),
    .fields = state_fields,
    .doc = "The voice connection of a user.",
};
const struct type type_voice_state = { .kind = KIND_OBJECT, .schema = &voice_state_schema };
const struct type type_voice_states = { .kind = KIND_ARRAY, .of = &type_voice_state };

static const struct field server_fields[] = {
    { FIELD(struct voice_server, token), .type = &type_text },
    { FIELD(struct voice_server, guild_id), .type = &type_id, .flags = NULLABLE },
    { FIELD(struct voice_server, channel_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct voice_server, endpoint), .type = &type_text, .flags = NULLABLE },
    { 0 },
};
const struct schema voice_server_schema = {
    .name = "VoiceServer",
    .size = sizeof(struct voice_server),
    .fields = server_fields,
    .doc = "The voice server to connect to.",
};

static const struct field call_fields[] = {
    { FIELD(struct voice_call, channel_id), .type = &type_id },
    { FIELD(struct voice_call, message_id), .type = &type_id },
    { FIELD(struct voice_call, region), .type = &type_text },
    { FIELD(struct voice_call, ringing), .type = &type_ids },
    { FIELD(struct voice_call, voice_states), .type = &type_voice_states, .flags = OPTIONAL },
    { 0 },
};
const struct schema voice_call_schema = {
    .name = "Call",
    .size = sizeof(struct voice_call),
    .fields = call_fields,
    .doc = "A call in a private channel.",
};

static const struct field voice_call_delete_fields[] = {
    { FIELD(struct voice_call_delete_event, channel_id), .type = &type_id },
    { 0 },
};
const struct schema voice_call_delete_event_schema = {
    .name = "CallGone",
    .size = sizeof(struct voice_call_delete_event),
    .fields = voice_call_delete_fields,
    .doc = "A call that has ended.",
};

/* Converts a voice state for the relay. A user who requests to speak or is invited to speak on a
 * stage may not send audio or video yet. Self mute has the same effect as a mute by a moderator. */
struct relay_voice_state relay_voice_state_from_voice_state(const struct voice_state *s)
{
    struct relay_voice_state f = {
        .guild_id = voice_state_get_guild_id(s),
        .user_id = s->user_id,
        .channel_id = voice_state_get_channel_id(s),
        .room_id = voice_state_get_channel_id(s),
        .may_send_audio = !s->mute && !s->self_mute && !s->suppress &&
                          s->request_to_speak_timestamp.given != GIVEN,
        .may_receive_audio = !s->deaf && !s->self_deaf,
        .may_send_video =
            s->self_video && !s->suppress && s->request_to_speak_timestamp.given != GIVEN,
        .priority = s->priority,
        .flags = s->flags,
        .platform = s->platform,
    };

    if (s->salt.n == sizeof f.salt)
        memcpy(f.salt, s->salt.p, sizeof f.salt);
    return f;
}
