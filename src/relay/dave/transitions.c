/* transitions.c - messages to the members of a DAVE group, and transitions between its epochs. */
#include "relay/dave/group_state.h"

#include <assert.h>

/* --- messages --------------------------------------------------------------------------- */

bool dave_message_is_json(const struct dave_message *m)
{
    return m->op == DAVE_PREPARE_TRANSITION || m->op == DAVE_EXECUTE_TRANSITION ||
           m->op == DAVE_PREPARE_EPOCH;
}

void dave_message_write_json(const struct dave_message *m, struct buf *out)
{
    if (m->op == DAVE_PREPARE_TRANSITION)
        buf_printf(out, "{\"protocol_version\":%u,\"transition_id\":%u}", m->version,
                   m->transition);
    else if (m->op == DAVE_EXECUTE_TRANSITION)
        buf_printf(out, "{\"transition_id\":%u}", m->transition);
    else
        buf_printf(out, "{\"protocol_version\":%u,\"epoch\":%u}", m->version, m->epoch);
}

static void send_message_to_dave_member(struct dave_room *room, const struct dave_member *m,
                                        struct dave_message message)
{
    room->config.send(room->config.context, m->user, &message);
}

void dave_member_send_binary_message(struct dave_room *room, const struct dave_member *m,
                                     enum dave_opcode op, const struct buf *payload)
{
    assert(!buf_is_full(payload));
    send_message_to_dave_member(room, m,
                                (struct dave_message){ .op = op, .payload = buf_as_str(payload) });
}

void send_dave_external_sender_package(struct dave_room *room, struct dave_member *m)
{
    struct buf payload;

    buf_init(&payload, PAYLOAD_MAX);
    mls_write_external_sender(room->config.key, &payload);
    dave_member_send_binary_message(room, m, DAVE_EXTERNAL_SENDER, &payload);
    buf_clear(&payload);
    m->requested++;
}

/* Sends opcode 24: the client discards its group and sends a new key package. */
void send_dave_prepare_epoch(struct dave_room *room, const struct dave_member *m)
{
    send_message_to_dave_member(room, m,
                                (struct dave_message){ .op = DAVE_PREPARE_EPOCH,
                                                       .version = DAVE_VERSION,
                                                       .epoch = FIRST_EPOCH });
}

void send_dave_prepare_transition(struct dave_room *room, const struct dave_member *m,
                                  unsigned version, unsigned transition)
{
    send_message_to_dave_member(room, m,
                                (struct dave_message){ .op = DAVE_PREPARE_TRANSITION,
                                                       .version = version,
                                                       .transition = transition });
}

/* --- transitions ------------------------------------------------------------------------ */

void dave_transition_finish(struct dave_room *room)
{
    for (EACH_MEMBER(m, room)) {
        if (room->transition && m->in_transition)
            send_message_to_dave_member(room, m,
                                        (struct dave_message){ .op = DAVE_EXECUTE_TRANSITION,
                                                               .transition = room->transition });
        m->in_transition = m->ready = false;
    }
    room->transition = 0;
    room->transition_due = NEVER;
}

/* Starts a transition. Finishes a running transition first, because some clients can store only
 * one. */
void dave_transition_start(struct dave_room *room, int64_t now)
{
    dave_transition_finish(room);
    room->last_transition = room->last_transition % TRANSITION_MAX + 1;
    room->transition = room->last_transition;
    room->transition_due = now + DAVE_TRANSITION_MS;
    room->config.counters->transitions++;
}

void dave_transition_finish_if_ready(struct dave_room *room)
{
    if (!room->transition)
        return;
    for (EACH_MEMBER(m, room))
        if (m->in_transition && !m->ready)
            return;
    dave_transition_finish(room);
}
