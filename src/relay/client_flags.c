/* client_flags.c - sends the flags (op 18) and the platform (op 20) of a client to its room. */
#include "relay/participants.h"

#include "json/write.h"

/* In larger rooms the relay sends no flags and platforms: a new participant would get more messages
 * than are stored for RESUME (VOICE_REPLAY_MAX). */
enum { MAX_ROOM_FOR_CLIENT_FLAGS = 100 };

static struct serialized_message *create_client_value_message(const struct relay_participant *about,
                                                              enum voice_gateway_opcode op,
                                                              const char *name,
                                                              const struct opt_int *value)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, SIZE_MAX);
    json_begin_object(&j);
    json_write_name(&j, "user_id");
    json_write_id(&j, about->voice_state.user_id);
    json_write_key(&j, str_of(name));
    if (value->given == GIVEN)
        json_write_int(&j, value->value);
    else
        json_write_null(&j);
    json_end_object(&j);
    return serialized_message_from_buf(op, &out);
}

static struct serialized_message *create_client_flags_message(const struct relay_participant *about)
{
    return create_client_value_message(about, VOICE_CLIENT_FLAGS, "flags", &about->flags);
}

static struct serialized_message *create_client_platform_message(
    const struct relay_participant *about)
{
    return create_client_value_message(about, VOICE_CLIENT_PLATFORM, "platform", &about->platform);
}

void exchange_client_flags(struct relay_participant *s)
{
    const struct relay_room *room = s->room;

    if (room->count > MAX_ROOM_FOR_CLIENT_FLAGS)
        return;
    for (size_t i = 0; i < room->count; i++) {
        const struct relay_participant *other = room->participants[i];

        if (other != s && other->flags.given == GIVEN)
            participant_outbox_send_and_unref_message(s, create_client_flags_message(other));
        if (other != s && other->platform.given == GIVEN)
            participant_outbox_send_and_unref_message(s, create_client_platform_message(other));
    }
    if (s->flags.given == GIVEN)
        send_to_other_participants(s, create_client_flags_message(s));
    if (s->platform.given == GIVEN)
        send_to_other_participants(s, create_client_platform_message(s));
}

/* Stores new flags of the client and sends them to the room. The platform cannot change, because a
 * voice session has one client. */
void participant_update_flags(struct relay_participant *s, struct opt_int flags)
{
    bool was = s->flags.given == GIVEN, is = flags.given == GIVEN;
    bool same = was == is && (!is || s->flags.value == flags.value);

    s->flags = flags;
    if (!same && s->room->count <= MAX_ROOM_FOR_CLIENT_FLAGS)
        send_to_other_participants(s, create_client_flags_message(s));
}
