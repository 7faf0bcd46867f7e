/* rooms.c - end-to-end encryption (DAVE) of voice rooms: connects the participants of a room with
 * its group (group.h).
 *
 * Members of the group are the participants with media: they have selected a protocol and their
 * address is known. Observers, such as a page that only shows who speaks, do not count for the
 * version of the room and receive no messages about encryption. */
#include "relay/participants.h"

#include "base/clock.h"
#include "base/mem.h"

enum { GROUP_TICK_MS = 50 }; /* interval at which the timers of groups are checked */

struct dave_rooms {
    struct mls_key *key;
    struct dave_counters counters;
    struct deadline_list *deadlines;
    /* The latest binary message, or NULL. It is cached, because most messages go to all members. */
    struct serialized_message *latest;
};

static struct dave_rooms *dave_rooms_of_worker(const struct relay_room *room)
{
    return room->worker->participants->dave;
}

static int64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

/* --- messages to members ---------------------------------------------------------------- */

static bool serialized_message_equals(const struct serialized_message *t,
                                      const struct dave_message *m)
{
    return t && t->n == 1 + m->payload.n && (unsigned char)t->bytes[0] == m->op &&
           memcmp(t->bytes + 1, m->payload.p, m->payload.n) == 0;
}

static struct serialized_message *create_json_message(const struct dave_message *m)
{
    struct buf d;

    buf_init(&d, SIZE_MAX);
    dave_message_write_json(m, &d);
    return serialized_message_from_buf((enum voice_gateway_opcode)m->op, &d);
}

/* Returns a reference to a message with these bytes: to the cached message if it has the same
 * bytes, otherwise to a new one. */
static struct serialized_message *share_or_create_binary_message(struct dave_rooms *shared,
                                                                 const struct dave_message *m)
{
    if (!serialized_message_equals(shared->latest, m)) {
        serialized_message_unref(shared->latest);
        shared->latest = serialized_message_new_binary(m->op, m->payload);
    }
    return serialized_message_ref(shared->latest);
}

static void send_dave_message_to_member(void *context, snowflake user, const struct dave_message *m)
{
    const struct relay_room *room = context;
    struct relay_participant *s =
        find_participant_by_user(room->worker->participants, room->guild_id, user);

    if (!s || s->room != room)
        return;
    struct serialized_message *t =
        dave_message_is_json(m) ? create_json_message(m)
                                : share_or_create_binary_message(dave_rooms_of_worker(room), m);
    participant_outbox_send_message(s, t);
    serialized_message_unref(t);
}

/* --- groups ----------------------------------------------------------------------------- */

static void count_room_in_dave_counters(struct relay_room *room, bool encrypted)
{
    if (encrypted && !room->is_counted_encrypted)
        atomic_fetch_add(&room->relay->count.encrypted_rooms, 1);
    else if (!encrypted && room->is_counted_encrypted)
        atomic_fetch_sub(&room->relay->count.encrypted_rooms, 1);
    room->is_counted_encrypted = encrypted;
}

/* Updates the counters and the deadline of the group, and drops the cached message. Must be called
 * after every call that may change the group. */
static void update_dave_counters_and_deadline(struct relay_room *room)
{
    struct dave_rooms *shared = dave_rooms_of_worker(room);
    const struct dave_counters *c = &shared->counters;
    struct relay_counters *count = &room->worker->count;

    serialized_message_unref(shared->latest);
    shared->latest = NULL;
    count_room_in_dave_counters(room, dave_room_get_protocol_version(room->group));
    count->epochs = c->epochs;
    count->transitions = c->transitions;
    count->refused_commits = c->refused_commits;
    count->refused_key_packages = c->refused_key_packages;
    count->downgrades = c->downgrades;
    count->resets = c->resets;
    if (dave_room_next_timeout(room->group) == INT64_MAX)
        deadline_cancel(&room->group_deadline);
    else if (!room->group_deadline.link.next)
        deadline_restart(shared->deadlines, &room->group_deadline);
}

static void on_dave_group_timeout(struct deadline *d)
{
    struct relay_room *room = container_of(d, struct relay_room, group_deadline);
    int64_t now = now_ms();

    if (now >= dave_room_next_timeout(room->group))
        dave_room_handle_timeouts(room->group, now);
    update_dave_counters_and_deadline(room);
}

struct dave_rooms *dave_rooms_new(struct relay_worker *w)
{
    if (w->relay->options.e2ee == RELAY_E2EE_OFF)
        return NULL;
    struct dave_rooms *d = mem_new(sizeof *d);
    d->key = mls_key_new();
    d->deadlines = deadline_list_new(w->loop, GROUP_TICK_MS, false, on_dave_group_timeout);
    return d;
}

void dave_rooms_free(struct dave_rooms *d)
{
    if (!d)
        return;
    deadline_list_free(d->deadlines);
    serialized_message_unref(d->latest);
    mls_key_free(d->key);
    mem_free(d);
}

/* Returns the MLS group id of a room: the channel id for a voice channel, the server id minus one
 * for a stream. Clients compute the same id. */
static snowflake dave_group_id_of_room(const struct relay_voice_state *first)
{
    return first->channel_id == first->room_id ? first->room_id : first->room_id - 1;
}

void relay_room_begin_dave_encryption(struct relay_room *room,
                                      const struct relay_voice_state *first)
{
    struct dave_rooms *shared = dave_rooms_of_worker(room);

    if (!shared || first->stage)
        return;
    room->group = dave_room_new(&(struct dave_config){ .group = dave_group_id_of_room(first),
                                                       .version = DAVE_VERSION,
                                                       .key = shared->key,
                                                       .send = send_dave_message_to_member,
                                                       .context = room,
                                                       .counters = &shared->counters });
}

void relay_room_free_dave_encryption(struct relay_room *room)
{
    deadline_cancel(&room->group_deadline);
    count_room_in_dave_counters(room, false);
    dave_room_free(room->group);
    room->group = NULL;
}

/* --- participants ----------------------------------------------------------------------- */

enum relay_close_code participant_media_refusal_code(const struct relay_participant *s)
{
    if (!s->room->group || s->relay->options.e2ee != RELAY_E2EE_REQUIRE)
        return 0;
    if (!s->dave_version)
        return RELAY_DAVE_REQUIRED;
    return !s->in_group && dave_room_is_full(s->room->group) ? RELAY_RATE_LIMITED : 0;
}

bool participant_media_is_refused(const struct relay_participant *s)
{
    return participant_media_refusal_code(s) != 0;
}

unsigned participant_dave_version(const struct relay_participant *s)
{
    return s->in_group && s->room->group ? dave_room_get_protocol_version(s->room->group) : 0;
}

unsigned participant_join_dave_group(struct relay_participant *s)
{
    struct relay_room *room = s->room;

    if (!room->group || !s->media.has_address || participant_media_is_refused(s)) {
        participant_leave_dave_group(s);
        return 0;
    }
    s->in_group = true;
    unsigned version =
        dave_room_join(room->group, s->voice_state.user_id, s->dave_version, now_ms());
    update_dave_counters_and_deadline(room);
    return version;
}

void participant_on_session_description_sent(struct relay_participant *s, unsigned version)
{
    if (!s->in_group)
        return;
    dave_room_on_session_description_sent(s->room->group, s->voice_state.user_id, version,
                                          now_ms());
    update_dave_counters_and_deadline(s->room);
}

void participant_join_dave_group_after_description(struct relay_participant *s)
{
    if (!s->room->group || !s->described || s->in_group)
        return;
    participant_join_dave_group(s);
    participant_on_session_description_sent(s, 0);
}

/* Adds the resumed client to the group again with a new key package. In gateway versions without
 * sequence numbers, the client may have missed messages, so the DAVE version that it knows is
 * unknown. So the group is given a wrong version, which makes it send the current version. */
void participant_rejoin_dave_group(struct relay_participant *s)
{
    if (!s->in_group || s->version >= VOICE_SEQUENCE_VERSION)
        return;
    participant_on_session_description_sent(s, !participant_join_dave_group(s));
}

void participant_leave_dave_group(struct relay_participant *s)
{
    struct relay_room *room = s->room;

    if (!room->group || !s->in_group)
        return;
    s->in_group = false;
    dave_room_leave(room->group, s->voice_state.user_id, now_ms());
    update_dave_counters_and_deadline(room);
}

static enum relay_close_code close_code_of_dave_result(enum dave_message_result verdict)
{
    return verdict == DAVE_REFUSED    ? RELAY_BAD_REQUEST
           : verdict == DAVE_TOO_MANY ? RELAY_RATE_LIMITED
                                      : 0;
}

/* Handles a DAVE message. An invalid commit does not disconnect its sender, because the commit of
 * another member wins. */
void participant_handle_dave_message(struct relay_participant *s, const struct relay_message *n)
{
    struct relay_room *room = s->room;
    struct str payload = str_slice(n->text, n->n);
    snowflake user = s->voice_state.user_id;
    enum relay_close_code code = 0;

    if (!s->in_group || !room->group)
        return;
    if (n->dave.op == DAVE_KEY_PACKAGE)
        code = close_code_of_dave_result(
            dave_room_handle_key_package(room->group, user, payload, now_ms()));
    else if (n->dave.op == DAVE_COMMIT_WELCOME)
        dave_room_handle_commit(room->group, user, payload, now_ms());
    else if (n->dave.op == DAVE_TRANSITION_READY)
        dave_room_handle_transition_ready(room->group, user, n->dave.transition, now_ms());
    else
        dave_room_handle_invalid_commit(room->group, user, now_ms());
    update_dave_counters_and_deadline(room);
    if (code)
        participant_disconnect(s, code);
}
