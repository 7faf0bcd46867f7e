/* clients.c - sends the flags (op 18) and the platform (op 20) of a client to its room. */
#include "relay/seats.h"

#include "json/write.h"

/* In a larger room no flags or platforms are sent: a new participant would get more messages than
 * are stored for RESUME (VOICE_KEPT). */
enum { CLIENTS_DESCRIBED = 100 };

static struct relay_text *text_about_client(const struct relay_seat *about, enum voice_op op,
                                            const char *name, const struct opt_int *value)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, SIZE_MAX);
    json_object(&j);
    json_name(&j, "user_id");
    json_id(&j, about->place.user_id);
    json_key(&j, str_of(name));
    if (value->given == GIVEN)
        json_int(&j, value->value);
    else
        json_null(&j);
    json_object_end(&j);
    return relay_text_finish(op, &out);
}

static struct relay_text *text_flags(const struct relay_seat *about)
{
    return text_about_client(about, VOICE_CLIENT_FLAGS, "flags", &about->flags);
}

static struct relay_text *text_platform(const struct relay_seat *about)
{
    return text_about_client(about, VOICE_CLIENT_PLATFORM, "platform", &about->platform);
}

static void seat_hear_of_client(struct relay_seat *s, struct relay_text *t)
{
    outbox_send(s, t);
    relay_text_unref(t);
}

void seat_describe(struct relay_seat *s)
{
    const struct relay_room *room = s->room;

    if (room->count > CLIENTS_DESCRIBED)
        return;
    for (size_t i = 0; i < room->count; i++) {
        const struct relay_seat *other = room->seats[i];

        if (other != s && other->flags.given == GIVEN)
            seat_hear_of_client(s, text_flags(other));
        if (other != s && other->platform.given == GIVEN)
            seat_hear_of_client(s, text_platform(other));
    }
    if (s->flags.given == GIVEN)
        tell_others(s, text_flags(s));
    if (s->platform.given == GIVEN)
        tell_others(s, text_platform(s));
}

/* Only flags can change, because a session has one client and so one platform. */
void seat_take_flags(struct relay_seat *s, struct opt_int flags)
{
    bool was = s->flags.given == GIVEN, is = flags.given == GIVEN;
    bool same = was == is && (!is || s->flags.value == flags.value);

    s->flags = flags;
    if (!same && s->room->count <= CLIENTS_DESCRIBED)
        tell_others(s, text_flags(s));
}
