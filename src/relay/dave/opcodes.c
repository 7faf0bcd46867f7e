/* opcodes.c - voice gateway opcodes of end-to-end encryption (DAVE) that clients send. */
#include "relay/peers.h"

#include "model/fields/types.h"

/* --- JSON: opcodes 23 and 31 ------------------------------------------------------------ */

struct voice_transition {
    int64_t transition_id;
};
static const struct type type_transition_id = { .kind = KIND_INT, .min = 0, .max = UINT16_MAX };
static const struct field transition_fields[] = {
    { FIELD(struct voice_transition, transition_id), .type = &type_transition_id },
    { 0 },
};
static const struct schema transition_schema = { .size = sizeof(struct voice_transition),
                                                 .fields = transition_fields };
const struct type type_voice_transition = { .kind = KIND_OBJECT, .schema = &transition_schema };

static void pass_dave_transition_to_room(const struct voice_peer *p, enum dave_opcode op,
                                         const void *d)
{
    const struct voice_transition *in = d;
    struct relay_message *n = voice_peer_new_message(p, RELAY_MESSAGE_DAVE, 0);

    n->dave.op = op;
    n->dave.transition = (unsigned)in->transition_id;
    relay_message_send(n);
}

void handle_voice_transition_ready(struct voice_peer *p, const void *d)
{
    pass_dave_transition_to_room(p, DAVE_TRANSITION_READY, d);
}

void handle_voice_invalid_commit(struct voice_peer *p, const void *d)
{
    pass_dave_transition_to_room(p, DAVE_INVALID_COMMIT_WELCOME, d);
}

/* --- binary: opcodes 26 and 28 ---------------------------------------------------------- */

void handle_voice_binary_message(struct voice_peer *p, struct str message)
{
    unsigned op = message.n ? (unsigned char)message.p[0] : 0;

    if (p->state == VOICE_UNAUTHENTICATED) {
        voice_peer_close(p, RELAY_NOT_IDENTIFIED, "not identified");
        return;
    }
    if (!message.n) {
        voice_peer_close(p, RELAY_BAD_PAYLOAD, "a binary message begins with its opcode");
        return;
    }
    if (op != DAVE_KEY_PACKAGE && op != DAVE_COMMIT_WELCOME) {
        voice_peer_close(p, RELAY_BAD_OPCODE, "binary messages have opcode 26 or 28");
        return;
    }
    if (p->state != VOICE_IDENTIFIED)
        return;
    loop_set_measured_activity("voice_dave");
    struct relay_message *n = voice_peer_new_message(p, RELAY_MESSAGE_DAVE, message.n - 1);
    n->dave.op = (enum dave_opcode)op;
    memcpy(n->text, message.p + 1, message.n - 1);
    relay_message_send(n);
}
