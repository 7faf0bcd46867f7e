/* traffic_recording.c - records messages of gateway sockets for the traffic viewer. */
#include "gateway/sessions/traffic_recording.h"

#include "base/clock.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"

static struct traffic_ring *traffic_ring(const struct gateway_socket *p)
{
    return p->gateway_loop->gateway->options.traffic;
}

static void add_traffic_record(struct gateway_socket *p, struct traffic_record *r,
                               struct str texts[TRAFFIC_TEXTS])
{
    const struct session *s = p->session;

    r->at_us = clock_us();
    r->socket = p->connection_number;
    if (s) {
        r->session = s->number;
        r->user_id = s->caller.id;
        r->application_id = s->caller.application_id;
        r->caller = (uint8_t)s->caller.kind;
    }
    texts[TRAFFIC_ADDRESS] = websocket_remote_address(p->ws);
    traffic_add_record(traffic_ring(p), r, texts);
}

static void record_opcode_message(struct gateway_socket *p, enum traffic_kind kind, int op,
                                  struct str d)
{
    struct traffic_record r = { .kind = (uint8_t)kind, .status = op };
    struct str texts[TRAFFIC_TEXTS] = { 0 };

    texts[kind == TRAFFIC_SENT ? TRAFFIC_REPLY : TRAFFIC_REQUEST] = d;
    add_traffic_record(p, &r, texts);
}

void record_traffic_opcode(struct gateway_socket *p, enum traffic_kind kind, int op, struct str d)
{
    if (traffic_is_recorded(traffic_ring(p)))
        record_opcode_message(p, kind, op, d);
}

/* A separate function prepares the record, so that it runs only while recording is on. */
static void record_dispatched_event(struct gateway_socket *p, uint64_t seq, struct gateway_event *n,
                                    unsigned form)
{
    struct traffic_record r = { .kind = TRAFFIC_SENT, .seq = seq, .name = event_name(n->type) };
    struct str texts[TRAFFIC_TEXTS] = { 0 };

    /* The payload is recorded as JSON, whatever encoding the socket uses. */
    texts[TRAFFIC_REPLY] = gateway_event_payload_in_form(
        n, form & PAYLOAD_WITHOUT_CONTENT, p->gateway_loop->packer, p->gateway_loop->arena);
    add_traffic_record(p, &r, texts);
}

void record_traffic_dispatch(struct gateway_socket *p, uint64_t seq, struct gateway_event *n,
                             unsigned form)
{
    if (traffic_is_recorded(traffic_ring(p)))
        record_dispatched_event(p, seq, n, form);
}

void record_traffic_close(struct gateway_socket *p, int code, const char *reason)
{
    struct traffic_record r = { .kind = TRAFFIC_CLOSED, .status = code };
    struct str texts[TRAFFIC_TEXTS] = { [TRAFFIC_PROBLEM] = str_of(reason) };

    if (traffic_is_recorded(traffic_ring(p)))
        add_traffic_record(p, &r, texts);
}
