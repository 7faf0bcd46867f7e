/* gateway_socket.c - the WebSocket of a gateway client: HELLO, heartbeats, rate limit, received
 * messages, close. */
#include "gateway/sessions/gateway_socket.h"

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/background_encoding.h"
#include "gateway/sessions/traffic_recording.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/sending.h"
#include "gateway/sessions/session.h"
#include "gateway/sessions/upcalls.h"
#include "gateway/wire/codec.h"
#include "gateway/wire/etf.h"
#include "json/read.h"

enum { WINDOW_MS = 60 * 1000, WINDOW_PAYLOADS = 120, FREE_BEATS = 10 };

void gateway_socket_on_open(struct websocket *ws, void *arg)
{
    const struct wire_format *d = arg;
    struct gateway *g = d->gateway;
    struct gateway_socket *p = mem_new(sizeof *p);

    p->gateway_loop = g->gateway_loops[loop_get_index(websocket_get_loop(ws))];
    p->ws = ws;
    p->dialect = d;
    p->since_ms = clock_steady_ms();
    p->connection_number = atomic_fetch_add(&g->count.accepted, 1) + 1;
    websocket_set_data(ws, p);
    linked_list_append(&p->gateway_loop->peers, &p->link);
    atomic_fetch_add(&g->count.connected, 1);
    record_opcode_as_traffic(p, TRAFFIC_OPENED, 0, STR(""));
    if (d->fault) {
        gateway_socket_close(
            p, d->fault, d->fault == CLOSE_BAD_VERSION ? "invalid version" : "invalid encoding");
        return;
    }
    p->counted = registry_count_unauthenticated_socket(g, websocket_address_key(ws));
    if (!p->counted) {
        gateway_socket_close(p, CLOSE_TOO_MANY, "too many connections that have not identified");
        return;
    }
    deadline_restart(p->gateway_loop->timers.hellos, &p->deadline);
}

static void send_hello(struct gateway_socket *p)
{
    p->hello_sent = true;
    deadline_restart(p->gateway_loop->timers.unauthenticated, &p->deadline);
    send_opcode_to_client(p, OP_HELLO,
                          STR("{\"heartbeat_interval\":41250,\"_trace\":" GATEWAY_TRACE "}"));
}

static void uncount_unauthenticated_socket(struct gateway_socket *p)
{
    if (p->counted)
        registry_uncount_unauthenticated_socket(p->gateway_loop->gateway,
                                                websocket_address_key(p->ws));
    p->counted = false;
}

void gateway_socket_close(struct gateway_socket *p, enum gateway_close_code code,
                          const char *reason)
{
    gateway_socket_refuse(p, code, reason, NULL, STR(""));
}

void gateway_socket_refuse(struct gateway_socket *p, enum gateway_close_code code,
                           const char *reason, const struct caller *caller, struct str cause)
{
    if (p->closing)
        return;
    p->closing = true;
    deadline_cancel(&p->deadline);
    atomic_fetch_add(&p->gateway_loop->gateway->count.closed, 1);
    record_socket_close_as_traffic(p, code, reason, caller, cause);
    websocket_close(p->ws, code, str_of(reason));
}

void gateway_socket_on_closed(struct websocket *ws, int code)
{
    struct gateway_socket *p = websocket_get_data(ws);

    if (!p)
        return;
    if (!p->closing)
        record_socket_close_as_traffic(p, code, "closed by the client", NULL, STR(""));
    uncount_unauthenticated_socket(p);
    deadline_cancel(&p->deadline);
    if (p->request_socket)
        *p->request_socket = NULL;
    if (p->session) {
        struct session *s = p->session;

        p->session = NULL;
        s->socket = NULL;
        /* A client that closes with 1000 or 1001 ends its session, unless the server has closed the
         * connection first. */
        if (!p->closing && (code == 1000 || code == 1001))
            session_end(s);
        else
            session_on_socket_closed(s);
    }
    linked_list_remove(&p->link);
    zstd_stream_free(p->zstd);
    delayed_opcode_messages_free(p);
    background_encoding_cancel(p->encoding);
    atomic_fetch_sub(&p->gateway_loop->gateway->count.connected, 1);
    mem_free(p);
}

void gateway_socket_on_shutdown(struct websocket *ws)
{
    struct gateway_socket *p = websocket_get_data(ws);

    if (p)
        gateway_socket_close(p, CLOSE_GOING_AWAY, "");
}

void gateway_socket_on_output_sent(struct websocket *ws)
{
    struct gateway_socket *p = websocket_get_data(ws);

    if (p && p->session)
        session_send_events_from_replay_buffer(p->session);
}

void gateway_socket_attach_session(struct gateway_socket *p, struct session *s)
{
    uncount_unauthenticated_socket(p);
    /* Cancel the encoding of a long dispatch of the socket's former session. */
    if (p->encoding && !p->lent) {
        background_encoding_cancel(p->encoding);
        p->encoding = NULL;
    }
    websocket_set_max_unsent(p->ws, MAX_PAYLOAD);
    p->state = SOCKET_HAS_SESSION;
    p->session = s;
    s->socket = p;
    if (session_is_ready(s))
        session_set_state(s, SESSION_LIVE);
    deadline_restart(p->gateway_loop->timers.overdue, &p->deadline);
}

/* Detaches the session from the socket. The socket stays open, because the client may identify
 * again on it after op 9. */
void gateway_socket_detach_session(struct gateway_socket *p)
{
    p->state = SOCKET_UNAUTHENTICATED;
    p->session = NULL;
    p->since_ms = clock_steady_ms();
    if (!p->closing)
        deadline_restart(p->gateway_loop->timers.unauthenticated, &p->deadline);
}

void gateway_socket_start_reidentify_timeout(struct gateway_socket *p)
{
    if (p->closing)
        return;
    p->invalidated = true;
    deadline_restart(p->gateway_loop->timers.invalidated, &p->deadline);
}

void gateway_socket_on_identify(struct gateway_socket *p)
{
    if (p->invalidated)
        deadline_restart(p->gateway_loop->timers.unauthenticated, &p->deadline);
    p->invalidated = false;
}

void gateway_socket_on_heartbeat(struct gateway_socket *p)
{
    bool person = p->state == SOCKET_HAS_SESSION && !p->session->bot;

    /* User clients require that "d" of every opcode is an object, so null is only sent to bots. */
    send_opcode_to_client(p, OP_HEARTBEAT_ACK, person ? STR("{}") : STR("null"));
    if (p->closing || p->invalidated)
        return;
    if (p->state == SOCKET_HAS_SESSION) {
        deadline_restart(p->gateway_loop->timers.overdue, &p->deadline);
        replay_buffer_evict_expired(&p->session->replay, gateway_loop_time_s(p->gateway_loop));
    } else if (clock_steady_ms() - p->since_ms < UNAUTHENTICATED_MAX_MS) {
        deadline_restart(p->gateway_loop->timers.unauthenticated, &p->deadline);
    } else {
        gateway_socket_close(p, CLOSE_NOT_IDENTIFIED, "not identified");
    }
}

static struct gateway_socket *socket_from_deadline(struct deadline *d)
{
    return container_of(d, struct gateway_socket, deadline);
}

void on_gateway_hello_due(struct deadline *d)
{
    send_hello(socket_from_deadline(d));
}

void on_gateway_authentication_timeout(struct deadline *d)
{
    gateway_socket_close(socket_from_deadline(d), CLOSE_UNKNOWN, "not identified");
}

void on_gateway_heartbeat_overdue(struct deadline *d)
{
    struct gateway_socket *p = socket_from_deadline(d);

    send_opcode_to_client(p, OP_HEARTBEAT, STR("null"));
    deadline_restart(p->gateway_loop->timers.dead, &p->deadline);
}

void on_gateway_heartbeat_timeout(struct deadline *d)
{
    gateway_socket_close(socket_from_deadline(d), CLOSE_UNKNOWN, "no heartbeat");
}

void on_gateway_reidentify_timeout(struct deadline *d)
{
    gateway_socket_close(socket_from_deadline(d), CLOSE_BAD_SEQUENCE, "the session has ended");
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

/* Counts a message and checks the rate limit. A rate limit window starts with its first message, as
 * it does in client libraries. */
static bool opcode_is_within_rate_limit(struct gateway_socket *p, bool beat)
{
    uint32_t now = (uint32_t)clock_steady_ms();

    if (p->gateway_loop->gateway->options.no_limits)
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

/* Returns an explanation for the traffic log of which fields of a message are wrong. The text never
 * contains the token. */
static struct str describe_malformed_payload(const struct gateway_opcode_declaration *row,
                                             const struct form *form, struct arena *arena)
{
    struct buf out;

    buf_init(&out, 1024);
    form_append_text_of_first_error(form, &out);
    struct str problem = buf_move_to_arena(&out, arena);
    if (str_starts_with(problem, STR("token:")))
        problem = STR("the token is missing or is no text; is the variable with the token set?");
    return str_printf(arena, "op %d: %.*s", row->op, STR_ARGS(problem));
}

/* Decodes "d" with the schema in the opcode's table row and calls the row's handler. */
static void run_opcode_handler(struct gateway_socket *p,
                               const struct gateway_opcode_declaration *row, struct str raw)
{
    struct form form = { .arena = p->gateway_loop->arena };
    void *d = NULL;

    if (!row->handle)
        return;
    if (row->type) {
        bool object = raw.n && raw.p[0] == '{';

        if (!object) {
            gateway_socket_close(p, CLOSE_BAD_OPCODE, "field d has the wrong type");
            return;
        }
        if (schema_decode(row->type, raw, &form, &d)) {
            gateway_socket_refuse(p, CLOSE_BAD_PAYLOAD, "malformed payload", NULL,
                                  describe_malformed_payload(row, &form, p->gateway_loop->arena));
            return;
        }
    }
    loop_set_measured_activity(row->name);
    row->handle(p, row->op, raw, d);
}

static void handle_opcode(struct gateway_socket *p, int64_t op, struct str d)
{
    const struct gateway_opcode_declaration *row = gateway_upcalls.opcode_find(op);
    bool unidentified = p->state != SOCKET_HAS_SESSION;
    bool bot = p->session && p->session->bot;

    if (!opcode_is_within_rate_limit(p, row && row->flags & OP_IS_HEARTBEAT)) {
        gateway_socket_close(p, CLOSE_TOO_MANY, "too many payloads in 60 seconds");
        return;
    }
    if (op == OP_IDENTIFY || op == OP_RESUME) {
        if (p->state != SOCKET_UNAUTHENTICATED) {
            gateway_socket_close(p, CLOSE_IDENTIFIED, "already identified");
            return;
        }
    } else if (unidentified && !(row && row->flags & OP_BEFORE_IDENTIFY)) {
        /* Other opcodes are ignored between IDENTIFY and READY. Before IDENTIFY, close the socket.
         */
        if (p->state == SOCKET_UNAUTHENTICATED)
            gateway_socket_close(p, CLOSE_NOT_IDENTIFIED, "not identified");
        return;
    }
    if (!row || (bot && row->flags & OP_NOT_FOR_BOTS))
        return;
    run_opcode_handler(p, row, d);
}

static bool parse_opcode(struct str raw, int64_t *ret)
{
    return json_parse_int_text(raw, ret) && *ret >= 0 && *ret <= OP_MAX;
}

void gateway_socket_on_message(struct websocket *ws, enum ws_opcode opcode, struct str payload)
{
    struct gateway_socket *p = websocket_get_data(ws);
    struct gateway_loop *h = p->gateway_loop;
    struct form form = { .arena = h->arena };
    bool bot = p->session && p->session->bot;
    void *decoded;
    int64_t op;

    if (p->closing)
        return;
    /* A client that sends a message can receive HELLO, so do not wait for HELLO_MS. */
    if (!p->hello_sent)
        send_hello(p);
    if (p->closing)
        return;
    arena_reset(h->arena);
    if (payload.n > (bot ? MAX_FROM_BOT : MAX_FROM_USER)) {
        gateway_socket_close(p, CLOSE_BAD_PAYLOAD, "payload too large");
        return;
    }
    if (p->dialect->etf) {
        buf_reset(&h->in);
        if (opcode != WS_BINARY || !etf_to_json(payload, &h->in)) {
            gateway_socket_close(p, CLOSE_BAD_PAYLOAD, "not a valid ETF term");
            return;
        }
        payload = buf_as_str(&h->in);
    }
    if (payload.n == 0 || schema_decode(&type_envelope, payload, &form, &decoded)) {
        gateway_socket_close(p, CLOSE_BAD_PAYLOAD, "not an object with op and d");
        return;
    }
    const struct envelope *e = decoded;
    if (!parse_opcode(e->op, &op)) {
        gateway_socket_close(p, CLOSE_BAD_OPCODE, "unknown opcode");
        return;
    }
    record_opcode_as_traffic(p, TRAFFIC_RECEIVED, (int)op, e->d);
    handle_opcode(p, op, e->d);
}
