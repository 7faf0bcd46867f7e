/* traffic_recording.c - records messages of gateway sockets for the console's traffic viewer. */
#include "gateway/sessions/traffic_recording.h"

#include <string.h>

#include "base/clock.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"

static struct traffic_ring *get_traffic_ring_of_socket(const struct gateway_socket *p)
{
    return p->gateway_loop->gateway->options.traffic;
}

/* Adds a record to the traffic ring. `caller` is the account of a socket without a session, or
 * NULL; it is ignored if the socket has a session. */
static void add_traffic_record(struct gateway_socket *p, struct traffic_record *r,
                               const struct caller *caller, struct str texts[TRAFFIC_TEXTS])
{
    const struct session *s = p->session;

    r->at_us = clock_us();
    r->socket = p->connection_number;
    if (s) {
        r->session = s->number;
        caller = &s->caller;
    }
    if (caller) {
        r->user_id = caller->id;
        r->application_id = caller->application_id;
        r->caller = (uint8_t)caller->kind;
    }
    texts[TRAFFIC_ADDRESS] = websocket_get_client_address(p->ws);
    traffic_add_record(get_traffic_ring_of_socket(p), r, texts);
}

static void record_opcode_message(struct gateway_socket *p, enum traffic_kind kind, int op,
                                  struct str d)
{
    struct traffic_record r = { .kind = (uint8_t)kind, .status = op };
    struct str texts[TRAFFIC_TEXTS] = { 0 };

    texts[kind == TRAFFIC_SENT ? TRAFFIC_REPLY : TRAFFIC_REQUEST] = d;
    add_traffic_record(p, &r, NULL, texts);
}

void record_opcode_as_traffic(struct gateway_socket *p, enum traffic_kind kind, int op,
                              struct str d)
{
    if (traffic_is_recorded(get_traffic_ring_of_socket(p)))
        record_opcode_message(p, kind, op, d);
}

/* Returns an explanation of which messages or members the bot does not receive, or receives without
 * content, because an intent is missing. */
static struct str describe_missing_intents(const struct session *s, const struct gateway_event *n,
                                           unsigned form, struct str payload, struct arena *arena)
{
    uint32_t intents = s->options.intents;
    bool messages = intents & (INTENT(GUILD_MESSAGES) | INTENT(DIRECT_MESSAGES));
    struct buf names;

    if (form & PAYLOAD_WITHOUT_CONTENT)
        return STR("content, embeds, attachments, components and poll are withheld, because the "
                   "session lacks the intent MESSAGE_CONTENT (1 << 15); add it to the intents of "
                   "the bot, and enable it in the settings of the application");
    if (n->type == EVENT_GUILD_MEMBERS_CHUNK && s->bot && !(intents & INTENT(GUILD_MEMBERS)) &&
        memmem(payload.p, payload.n, "\"members\":[]", strlen("\"members\":[]")))
        return STR("no member is in this list; a request for all members (empty query, limit 0) "
                   "needs the intent GUILD_MEMBERS (1 << 1), which this session lacks: add it to "
                   "the intents of the bot, and enable it in the settings of the application");
    if (n->type != EVENT_READY || !s->bot || (messages && intents & INTENT(MESSAGE_CONTENT)))
        return STR("");
    buf_init(&names, 1024);
    intent_set_append_names(&names, intents);
    struct str text =
        messages ? STR("this session gets messages of others without their content, because its "
                       "intents lack MESSAGE_CONTENT (1 << 15)")
                 : str_printf(arena,
                              "this session gets no messages, because its intents (%.*s) lack "
                              "GUILD_MESSAGES (1 << 9) and DIRECT_MESSAGES (1 << 12)",
                              STR_ARGS(buf_as_str(&names)));
    buf_clear(&names);
    return text;
}

/* Records an event. This is a separate function so that the delivery code stays small while
 * recording is off. */
static void record_dispatched_event(struct gateway_socket *p, uint64_t seq, struct gateway_event *n,
                                    unsigned form)
{
    struct traffic_record r = { .kind = TRAFFIC_SENT,
                                .seq = seq,
                                .name = get_name_of_event_type(n->type) };
    struct str texts[TRAFFIC_TEXTS] = { 0 };

    /* Record the payload as JSON, even if the socket uses another encoding. */
    texts[TRAFFIC_REPLY] = gateway_event_get_payload_in_form(
        n, form & PAYLOAD_WITHOUT_CONTENT, p->gateway_loop->packer, p->gateway_loop->arena);
    if (p->session)
        texts[TRAFFIC_CAUSE] = describe_missing_intents(p->session, n, form, texts[TRAFFIC_REPLY],
                                                        p->gateway_loop->arena);
    add_traffic_record(p, &r, NULL, texts);
}

void record_dispatch_as_traffic(struct gateway_socket *p, uint64_t seq, struct gateway_event *n,
                                unsigned form)
{
    if (traffic_is_recorded(get_traffic_ring_of_socket(p)))
        record_dispatched_event(p, seq, n, form);
}

void record_socket_close_as_traffic(struct gateway_socket *p, int code, const char *reason,
                                    const struct caller *caller, struct str cause)
{
    struct traffic_record r = { .kind = TRAFFIC_CLOSED, .status = code };
    struct str texts[TRAFFIC_TEXTS] = {
        [TRAFFIC_PROBLEM] = str_of(reason), [TRAFFIC_CAUSE] = cause
    };

    if (traffic_is_recorded(get_traffic_ring_of_socket(p)))
        add_traffic_record(p, &r, caller, texts);
}
