/* peer.c - a gateway socket: HELLO, heartbeats, rate limit, reading messages, close. */
#include "gateway/sessions/peer.h"

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/packing.h"
#include "gateway/sessions/recording.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/sending.h"
#include "gateway/sessions/session.h"
#include "gateway/sessions/upcalls.h"
#include "gateway/wire/codec.h"
#include "gateway/wire/etf.h"
#include "json/read.h"

enum { WINDOW_MS = 60 * 1000, WINDOW_PAYLOADS = 120, FREE_BEATS = 10 };

void peer_open(struct websocket *ws, void *arg)
{
    const struct dialect *d = arg;
    struct gateway *g = d->gateway;
    struct peer *p = mem_new(sizeof *p);

    p->hub = g->hubs[loop_index(websocket_loop(ws))];
    p->ws = ws;
    p->dialect = d;
    p->since_ms = clock_steady_ms();
    p->turn = atomic_fetch_add(&g->turns, 1) + 1;
    websocket_set_data(ws, p);
    links_append(&p->hub->peers, &p->link);
    atomic_fetch_add(&g->count.connected, 1);
    record_op(p, TRAFFIC_OPENED, 0, STR(""));
    if (d->fault) {
        peer_close(p, d->fault, d->fault == CLOSE_BAD_VERSION ? "version" : "encoding");
        return;
    }
    p->counted = registry_count_stranger(g, websocket_address(ws));
    if (!p->counted) {
        peer_close(p, CLOSE_TOO_MANY, "too many connections that have not identified");
        return;
    }
    deadline_touch(p->hub->timers.hellos, &p->deadline);
}

static void peer_greet(struct peer *p)
{
    p->greeted = true;
    deadline_touch(p->hub->timers.strangers, &p->deadline);
    send_op(p, OP_HELLO, STR("{\"heartbeat_interval\":41250,\"_trace\":" GATEWAY_TRACE "}"));
}

static void peer_uncount(struct peer *p)
{
    if (p->counted)
        registry_uncount_stranger(p->hub->gateway, websocket_address(p->ws));
    p->counted = false;
}

void peer_close(struct peer *p, enum close_code code, const char *reason)
{
    if (p->closing)
        return;
    p->closing = true;
    deadline_drop(&p->deadline);
    atomic_fetch_add(&p->hub->gateway->count.closed, 1);
    record_close(p, code, reason);
    websocket_close(p->ws, code, str_of(reason));
}

void peer_closed(struct websocket *ws, int code)
{
    struct peer *p = websocket_data(ws);

    if (!p)
        return;
    if (!p->closing)
        record_close(p, code, "by the client");
    peer_uncount(p);
    deadline_drop(&p->deadline);
    if (p->asking)
        *p->asking = NULL;
    if (p->session) {
        struct session *s = p->session;

        p->session = NULL;
        s->peer = NULL;
        /* A client that closes with 1000 or 1001 ends its session, unless it confirms a close by
         * the server. */
        if (!p->closing && (code == 1000 || code == 1001))
            session_end(s);
        else
            session_lose_peer(s);
    }
    link_remove(&p->link);
    zstd_free(p->zstd);
    late_free(p);
    packing_abandon(p->packing);
    atomic_fetch_sub(&p->hub->gateway->count.connected, 1);
    mem_free(p);
}

void peer_shutdown(struct websocket *ws)
{
    struct peer *p = websocket_data(ws);

    if (p)
        peer_close(p, CLOSE_GOING, "");
}

void peer_drained(struct websocket *ws)
{
    struct peer *p = websocket_data(ws);

    if (p && p->session)
        session_send(p->session);
}

void peer_become(struct peer *p, struct session *s)
{
    peer_uncount(p);
    /* Cancel a long dispatch of the socket's former session. */
    if (p->packing && !p->lent) {
        packing_abandon(p->packing);
        p->packing = NULL;
    }
    websocket_set_max_waiting(p->ws, MAX_PAYLOAD);
    p->state = PEER_KNOWN;
    p->session = s;
    s->peer = p;
    if (session_is_ready(s))
        session_set_state(s, SESSION_LIVE);
    deadline_touch(p->hub->timers.overdue, &p->deadline);
}

/* After op 9 the client may identify again on the same socket. */
void peer_become_stranger(struct peer *p)
{
    p->state = PEER_STRANGER;
    p->session = NULL;
    p->since_ms = clock_steady_ms();
    if (!p->closing)
        deadline_touch(p->hub->timers.strangers, &p->deadline);
}

void peer_invalidate_soon(struct peer *p)
{
    if (p->closing)
        return;
    p->invalidated = true;
    deadline_touch(p->hub->timers.invalidated, &p->deadline);
}

void peer_identified(struct peer *p)
{
    if (p->invalidated)
        deadline_touch(p->hub->timers.strangers, &p->deadline);
    p->invalidated = false;
}

void peer_beat(struct peer *p)
{
    bool person = p->state == PEER_KNOWN && !p->session->bot;

    /* User clients read "d" of every opcode as an object, so it must not be null. */
    send_op(p, OP_HEARTBEAT_ACK, person ? STR("{}") : STR("null"));
    if (p->closing || p->invalidated)
        return;
    if (p->state == PEER_KNOWN) {
        deadline_touch(p->hub->timers.overdue, &p->deadline);
        replay_trim(&p->session->replay, hub_second(p->hub));
    } else if (clock_steady_ms() - p->since_ms < STRANGER_LONGEST_MS) {
        deadline_touch(p->hub->timers.strangers, &p->deadline);
    } else {
        peer_close(p, CLOSE_NOT_IDENTIFIED, "not identified");
    }
}

static struct peer *of_deadline(struct deadline *d)
{
    return container_of(d, struct peer, deadline);
}

void peer_hello_due(struct deadline *d)
{
    peer_greet(of_deadline(d));
}

void peer_expired_stranger(struct deadline *d)
{
    peer_close(of_deadline(d), CLOSE_UNKNOWN, "not identified");
}

void peer_expired_overdue(struct deadline *d)
{
    struct peer *p = of_deadline(d);

    send_op(p, OP_HEARTBEAT, STR("null"));
    deadline_touch(p->hub->timers.dead, &p->deadline);
}

void peer_expired_dead(struct deadline *d)
{
    peer_close(of_deadline(d), CLOSE_UNKNOWN, "no heartbeat");
}

void peer_expired_invalidated(struct deadline *d)
{
    peer_close(of_deadline(d), CLOSE_BAD_SEQUENCE, "the session is gone");
}

struct envelope {
    struct str op, d;
};

static const struct type type_any = { .kind = KIND_RAW };
static const struct field envelope_fields[] = {
    { FIELD(struct envelope, op), .type = &type_any, .flags = OPTIONAL },
    { FIELD(struct envelope, d), .type = &type_any, .flags = OPTIONAL },
    { 0 },
};
static const struct schema envelope_schema = {
    .name = "GatewayMessage",
    .size = sizeof(struct envelope),
    .fields = envelope_fields,
};
static const struct type type_envelope = { .kind = KIND_OBJECT, .schema = &envelope_schema };

/* The rate limit window starts with its first message, as in clients that limit themselves. */
static bool within_pace(struct peer *p, bool beat)
{
    uint32_t now = (uint32_t)clock_steady_ms();

    if (p->hub->gateway->options.no_limits)
        return true;
    if (now - p->window_ms >= WINDOW_MS) {
        p->window_ms = now;
        p->payloads = p->beats = 0;
    }
    if (beat && p->beats < FREE_BEATS) {
        p->beats++;
        return true;
    }
    return ++p->payloads <= WINDOW_PAYLOADS;
}

/* Decodes "d" with the row's schema and calls the row's handler. */
static void run_row(struct peer *p, const struct opcode_row *row, struct str raw)
{
    struct form form = { .arena = p->hub->arena };
    void *d = NULL;

    if (!row->handle)
        return;
    if (row->type) {
        bool object = raw.n && raw.p[0] == '{';

        if (!object) {
            peer_close(p, CLOSE_BAD_OPCODE, "data of the wrong type");
            return;
        }
        if (schema_decode(row->type, raw, &form, &d)) {
            peer_close(p, CLOSE_BAD_PAYLOAD, "malformed payload");
            return;
        }
    }
    loop_part(row->name);
    row->handle(p, row->op, raw, d);
}

static void handle_op(struct peer *p, int64_t op, struct str d)
{
    const struct opcode_row *row = gateway_upcalls.opcode_find(op);
    bool stranger = p->state != PEER_KNOWN;
    bool bot = p->session && p->session->bot;

    if (!within_pace(p, row && row->flags & OP_BEAT)) {
        peer_close(p, CLOSE_TOO_MANY, "too many payloads");
        return;
    }
    if (op == OP_IDENTIFY || op == OP_RESUME) {
        if (p->state != PEER_STRANGER) {
            peer_close(p, CLOSE_IDENTIFIED, "already identified");
            return;
        }
    } else if (stranger && !(row && row->flags & OP_STRANGERS)) {
        /* Between IDENTIFY and READY other opcodes are ignored. */
        if (p->state == PEER_STRANGER)
            peer_close(p, CLOSE_NOT_IDENTIFIED, "not identified");
        return;
    }
    if (!row || (bot && row->flags & OP_USERS))
        return;
    run_row(p, row, d);
}

static bool read_op(struct str raw, int64_t *ret)
{
    return json_raw_int(raw, ret) && *ret >= 0 && *ret <= OP_MAX;
}

void peer_message(struct websocket *ws, enum ws_opcode opcode, struct str payload)
{
    struct peer *p = websocket_data(ws);
    struct hub *h = p->hub;
    struct form form = { .arena = h->arena };
    bool bot = p->session && p->session->bot;
    void *decoded;
    int64_t op;

    if (p->closing)
        return;
    /* A client that sends a message is ready to receive HELLO: do not wait for HELLO_MS. */
    if (!p->greeted)
        peer_greet(p);
    if (p->closing)
        return;
    arena_reset(h->arena);
    if (payload.n > (bot ? MAX_FROM_BOT : MAX_FROM_USER)) {
        peer_close(p, CLOSE_BAD_PAYLOAD, "payload too large");
        return;
    }
    if (p->dialect->etf) {
        buf_reset(&h->in);
        if (opcode != WS_BINARY || !etf_to_json(payload, &h->in)) {
            peer_close(p, CLOSE_BAD_PAYLOAD, "not a term");
            return;
        }
        payload = buf_str(&h->in);
    }
    if (payload.n == 0 || schema_decode(&type_envelope, payload, &form, &decoded)) {
        peer_close(p, CLOSE_BAD_PAYLOAD, "not a message");
        return;
    }
    const struct envelope *e = decoded;
    if (!read_op(e->op, &op)) {
        peer_close(p, CLOSE_BAD_OPCODE, "no such opcode");
        return;
    }
    record_op(p, TRAFFIC_RECEIVED, (int)op, e->d);
    handle_op(p, op, e->d);
}
