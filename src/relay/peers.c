/* peers.c - WebSockets of the voice gateway: open, close, timeouts, messages to clients. */
#include "relay/peers.h"

#include "base/mem.h"

void voice_peer_send(struct voice_peer *p, enum voice_gateway_opcode op, struct str d)
{
    struct buf *out = &p->loop_state->out;

    buf_reset(out);
    buf_printf(out, "{\"op\":%d,\"d\":%.*s}", op, STR_ARGS(d));
    websocket_send(p->ws, WS_TEXT, buf_as_str(out));
}

/* Marks the stored voice state as disconnected. Must precede the client's next IDENTIFY. */
static void mark_voice_state_disconnected(struct voice_peer *p)
{
    const struct relay_callbacks *source = &p->loop_state->relay->options.source;

    if (p->is_marked_connected)
        source->on_connected_changed(source->arg, &p->voice_state, false);
    p->is_marked_connected = false;
}

void voice_peer_close(struct voice_peer *p, enum relay_close_code code, const char *reason)
{
    if (p->closing)
        return;
    p->closing = true;
    mark_voice_state_disconnected(p);
    deadline_cancel(&p->deadline);
    websocket_close(p->ws, code, str_of(reason));
}

struct relay_message *voice_peer_new_message(const struct voice_peer *p,
                                             enum relay_message_kind kind, size_t text)
{
    struct relay_message *n = relay_message_new(p->loop_state->relay, kind, text);

    n->loop = p->loop_state->loop;
    n->worker = p->worker;
    n->peer = p->number;
    n->version = p->version;
    return n;
}

void on_voice_socket_open(struct websocket *ws, void *arg)
{
    const struct voice_gateway_version *gateway_version = arg;
    struct relay *r = gateway_version->relay;
    struct voice_peer *p = mem_new(sizeof *p);
    char hello[64];

    p->loop_state = r->loop_states[loop_get_index(websocket_get_loop(ws))];
    p->ws = ws;
    p->number = atomic_fetch_add(&r->peers, 1) + 1;
    p->version = gateway_version->version;
    p->seq_ack = -1;
    websocket_set_data(ws, p);
    map_set_value(&p->loop_state->peers, p->number, p);
    atomic_fetch_add(&r->count.sockets, 1);
    if (!gateway_version->version) {
        voice_peer_close(p, RELAY_BAD_REQUEST, "unsupported gateway version");
        return;
    }
    p->counted = relay_count_unauthenticated_socket(r, websocket_address_key(ws));
    if (!p->counted) {
        voice_peer_close(p, RELAY_RATE_LIMITED, "too many unauthenticated connections");
        return;
    }
    deadline_restart(p->loop_state->unauthenticated, &p->deadline);
    int n = snprintf(hello, sizeof hello, "{\"v\":%d,\"heartbeat_interval\":%d}", p->version,
                     VOICE_HEARTBEAT_MS);
    voice_peer_send(p, VOICE_HELLO, str_slice(hello, (size_t)n));
}

static void uncount_unauthenticated_peer(struct voice_peer *p)
{
    if (p->counted)
        relay_uncount_unauthenticated_socket(p->loop_state->relay, websocket_address_key(p->ws));
    p->counted = false;
}

void on_voice_socket_closed(struct websocket *ws, int code)
{
    struct voice_peer *p = websocket_get_data(ws);

    (void)code;
    if (!p)
        return;
    uncount_unauthenticated_peer(p);
    mark_voice_state_disconnected(p);
    deadline_cancel(&p->deadline);
    relay_message_send(voice_peer_new_message(p, RELAY_MESSAGE_SOCKET_CLOSED, 0));
    map_remove_value(&p->loop_state->peers, p->number);
    atomic_fetch_sub(&p->loop_state->relay->count.sockets, 1);
    mem_free(p);
}

/* Closes a socket when the server stops. After close code 4014, clients wait for the
 * VOICE_SERVER_UPDATE that they get when their gateway session resumes. After any other code they
 * reconnect at once, which fails, and then discord.py and @discordjs/voice stop trying. */
void on_voice_socket_shutdown(struct websocket *ws)
{
    struct voice_peer *p = websocket_get_data(ws);

    if (p)
        voice_peer_close(p, RELAY_DISCONNECTED, "");
}

static void on_identify_timeout(struct deadline *d)
{
    voice_peer_close(container_of(d, struct voice_peer, deadline), RELAY_NOT_IDENTIFIED,
                     "not identified");
}

static void on_voice_heartbeat_timeout(struct deadline *d)
{
    voice_peer_close(container_of(d, struct voice_peer, deadline), RELAY_TIMED_OUT, "no heartbeat");
}

/* --- messages from the relay's thread ----------------------------------------------------- */

static void peer_set_identified(struct voice_peer *p, const struct relay_peer_message *l)
{
    const struct relay_callbacks *source = &p->loop_state->relay->options.source;

    uncount_unauthenticated_peer(p);
    p->state = VOICE_IDENTIFIED;
    p->voice_state = l->voice_state;
    p->worker = l->worker;
    p->is_marked_connected = true;
    websocket_set_max_unsent(p->ws, VOICE_MAX_UNSENT_IDENTIFIED);
    deadline_restart(p->loop_state->overdue, &p->deadline);
    if (l->kind == PEER_MESSAGE_RESUMED)
        source->on_connected_changed(source->arg, &p->voice_state, true);
}

/* Returns the close reason for a close code of the relay's OS thread; "" if it needs no text. */
static const char *close_reason_text(enum relay_close_code code)
{
    switch (code) {
    case RELAY_DAVE_REQUIRED:
        return "this server requires end-to-end encryption (DAVE): use a library that supports it";
    case RELAY_BAD_REQUEST:
        return "invalid key package (op 26)";
    case RELAY_BAD_PROTOCOL:
        return "the DTLS handshake failed";
    case RELAY_RATE_LIMITED:
        return "too many key packages (op 26), or the room is full (with required end-to-end "
               "encryption: 100 participants)";
    default:
        return "";
    }
}

static void handle_peer_message(struct voice_peer *p, const struct relay_peer_message *l)
{
    const struct relay_callbacks *source = &p->loop_state->relay->options.source;

    switch (l->kind) {
    case PEER_MESSAGE_IDENTIFIED:
    case PEER_MESSAGE_RESUMED:
        peer_set_identified(p, l);
        break;
    case PEER_MESSAGE_REPLACED:
        p->is_marked_connected = false;
        voice_peer_close(p, l->code, "");
        return;
    case PEER_MESSAGE_CLOSE:
        voice_peer_close(p, l->code, close_reason_text(l->code));
        return;
    case PEER_MESSAGE_ACTIVE:
        source->on_audio_activity(source->arg, &p->voice_state);
        return;
    case PEER_MESSAGE_TEXT:
        break;
    }
    if (!l->text)
        return;
    struct buf *out = &p->loop_state->out;
    buf_reset(out);
    serialized_message_write(l->text, l->seq, out);
    websocket_send(p->ws, l->text->binary ? WS_BINARY : WS_TEXT, buf_as_str(out));
}

/* Handles an accepted IDENTIFY whose socket was closed meanwhile: marks the stored voice state as
 * disconnected, and informs the relay's OS thread. */
static void mark_closed_socket_disconnected(struct voice_loop *h,
                                            const struct relay_peer_message *l)
{
    const struct relay_callbacks *source = &h->relay->options.source;
    struct relay_message *n = relay_message_new(h->relay, RELAY_MESSAGE_SOCKET_CLOSED, 0);

    source->on_connected_changed(source->arg, &l->voice_state, false);
    n->loop = h->loop;
    n->worker = l->worker;
    n->peer = l->peer;
    relay_message_send(n);
}

void voice_loop_deliver_peer_message(struct voice_loop *h, const struct relay_peer_message *l)
{
    struct voice_peer *p = map_find_value(&h->peers, l->peer);

    if (p && !p->closing)
        handle_peer_message(p, l);
    else if (l->kind == PEER_MESSAGE_IDENTIFIED || l->kind == PEER_MESSAGE_RESUMED)
        mark_closed_socket_disconnected(h, l);
}

struct voice_loop *voice_loop_new(struct relay *r, struct loop *loop)
{
    struct voice_loop *h = mem_new(sizeof *h);

    h->relay = r;
    h->loop = loop;
    map_init(&h->peers);
    /* No limit is needed, because the functions that create messages limit their size. */
    buf_init(&h->out, SIZE_MAX);
    h->arena = arena_new();
    h->unauthenticated =
        deadline_list_new(loop, VOICE_IDENTIFY_TIMEOUT_MS, true, on_identify_timeout);
    h->overdue =
        deadline_list_new(loop, VOICE_HEARTBEAT_TIMEOUT_MS, true, on_voice_heartbeat_timeout);
    return h;
}

void voice_loop_free(struct voice_loop *h)
{
    if (!h)
        return;
    deadline_list_free(h->unauthenticated);
    deadline_list_free(h->overdue);
    map_clear(&h->peers);
    buf_clear(&h->out);
    arena_free(h->arena);
    mem_free(h);
}
