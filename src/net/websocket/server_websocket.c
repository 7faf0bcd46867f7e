/* server_websocket.c - connections that became WebSockets.
 *
 * Outgoing frames are collected in the websocket and sent at the end of the loop iteration. The
 * `closed` callback also runs then or later, never inside another callback of the handler. */
#include <assert.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/http/server_internal.h"

enum {
    PIECE_BYTES = 128 * 1024, /* maximum number of bytes of a long message that are sent with one
                               * write */
    MAX_SENDING_NS = 5 * 1000 * 1000, /* time limit for sending per loop iteration, in ns */
    SOCKETS_PER_CLOCK_CHECK = 8,      /* number of sockets between two checks of the clock */
    CLOSE_FRAME_RESERVE = 512,        /* bytes for close frames beyond max_unsent */
    MAX_UNSENT_FOR_PONG = 4 * 1024, /* if more bytes than this are unsent, only the newest ping gets
                                     * a pong */
    /* A copy of fewer bytes than this takes less time than a further system call. */
    MIN_BYTES_TO_SEND_AT_ONCE = 8 * 1024,
    MAX_CONTROLS_PER_MINUTE = 600, /* maximum number of pings and pongs per peer */
    MINUTE_MS = 60 * 1000,
};

/* The newest ping of a peer that does not read. Older pings need no pong (RFC 6455 §5.5.3). */
struct pending_pong {
    size_t n;
    char payload[WS_MAX_CONTROL];
};

/* A message that is sent in pieces as the peer reads it. Frames that are sent later are queued in
 * `after`. */
struct long_message {
    struct buf bytes, after;
    size_t at;
};

/* --- interface for the application ---------------------------------------------------- */

void *websocket_get_data(const struct websocket *ws)
{
    return ws->open ? ws->data : NULL;
}

void websocket_set_data(struct websocket *ws, void *data)
{
    ws->data = data;
}

struct loop *websocket_get_loop(const struct websocket *ws)
{
    return websocket_get_connection(ws)->server_loop->loop;
}

struct str websocket_get_client_address(const struct websocket *ws)
{
    char *text = websocket_get_connection(ws)->server_loop->remote;

    return str_slice(text, ip_address_format(&ws->remote, text));
}

uint64_t websocket_address_key(const struct websocket *ws)
{
    return websocket_get_connection(ws)->address;
}

bool websocket_uses_tls(const struct websocket *ws)
{
    return websocket_get_connection(ws)->secure;
}

static void queue_websocket_for_iteration_end(struct websocket *ws)
{
    if (!ws->dirty.next)
        linked_list_append(&websocket_get_connection(ws)->server_loop->dirty, &ws->dirty);
}

void websocket_set_max_unsent(struct websocket *ws, size_t max_waiting)
{
    ws->out.max = max_waiting + CLOSE_FRAME_RESERVE;
}

static size_t get_max_unsent_bytes(const struct websocket *ws)
{
    return ws->out.max - CLOSE_FRAME_RESERVE;
}

size_t websocket_count_unsent_bytes(const struct websocket *ws)
{
    const struct long_message *m = ws->long_message;
    size_t behind = m ? m->bytes.n - m->at + m->after.n : 0;

    return http_connection_count_unsent_bytes(websocket_get_connection(ws)) + ws->out.n + behind;
}

static struct buf *get_buffer_for_next_frame(struct websocket *ws)
{
    return ws->long_message ? &ws->long_message->after : &ws->out;
}

/* Returns true if n more bytes may be queued. If they would exceed the limit, the peer reads too
 * slowly and is disconnected. */
static bool can_queue_bytes(struct websocket *ws, size_t n)
{
    if (ws->close_sent || ws->ending || ws->cut || ws->over)
        return false;
    queue_websocket_for_iteration_end(ws);
    size_t waiting = websocket_count_unsent_bytes(ws);
    size_t most = get_max_unsent_bytes(ws);
    ws->cut = waiting > most || n > most - waiting;
    return !ws->cut;
}

void websocket_send(struct websocket *ws, enum ws_opcode opcode, struct str payload)
{
    if (can_queue_bytes(ws, payload.n))
        ws_append_frame(get_buffer_for_next_frame(ws), opcode, payload);
}

/* Sends as much of the queued frames and then of the pieces as the kernel accepts, without copying
 * the pieces. Returns the number of bytes of the pieces that were sent. */
static size_t send_pieces_at_once(struct websocket *ws, struct str *pieces, size_t count)
{
    size_t queued = ws->out.n;

    pieces[0] = buf_as_str(&ws->out);
    size_t n = http_connection_try_send_pieces(websocket_get_connection(ws), pieces, count);
    if (n < queued) {
        buf_drop_first_bytes(&ws->out, n);
        return 0;
    }
    buf_clear(&ws->out);
    return n - queued;
}

void websocket_send_parts(struct websocket *ws, enum ws_opcode opcode, const struct str *parts,
                          size_t count)
{
    struct str pieces[2 + WEBSOCKET_PARTS_MAX]; /* queued frames, head, parts */
    char head[WS_MAX_HEAD];
    size_t n = 0, sent = 0;

    assert(count <= WEBSOCKET_PARTS_MAX);
    for (size_t i = 0; i < count; i++)
        n += (pieces[2 + i] = parts[i]).n;
    if (!can_queue_bytes(ws, n))
        return;
    pieces[1] = str_slice(head, ws_encode_frame_head(head, opcode, n));
    n += pieces[1].n;
    if (n >= MIN_BYTES_TO_SEND_AT_ONCE && !ws->long_message)
        sent = send_pieces_at_once(ws, pieces, count + 2);
    struct buf *out = get_buffer_for_next_frame(ws);
    if (sent == n || !buf_reserve(out, n - sent))
        return;
    for (size_t i = 1; i < count + 2; i++) {
        size_t skipped = sent < pieces[i].n ? sent : pieces[i].n;

        buf_add_str(out, str_skip_bytes(pieces[i], skipped));
        sent -= skipped;
    }
}

void websocket_send_buf(struct websocket *ws, enum ws_opcode opcode, struct buf *payload)
{
    char head[WS_MAX_HEAD];

    if (payload->n <= PIECE_BYTES || ws->long_message) {
        websocket_send(ws, opcode, buf_as_str(payload));
        buf_clear(payload);
        return;
    }
    if (!can_queue_bytes(ws, payload->n)) {
        buf_clear(payload);
        return;
    }
    struct long_message *m = mem_new(sizeof *m);
    buf_init(&m->after, ws->out.max);
    m->bytes = *payload;
    buf_init(payload, payload->max);
    buf_add(&ws->out, head, ws_encode_frame_head(head, opcode, m->bytes.n));
    ws->long_message = m;
}

/* Returns true if nothing is queued and sending is allowed, so that a frame can be sent at once. */
static bool can_send_at_once(const struct websocket *ws)
{
    return !ws->out.n && !ws->long_message && !ws->close_sent && !ws->ending && !ws->cut &&
           !ws->over;
}

void websocket_send_frame(struct websocket *ws, struct str frame, bool now)
{
    size_t n = now && can_send_at_once(ws)
                   ? http_connection_try_send(websocket_get_connection(ws), frame)
                   : 0;

    if (n < frame.n && can_queue_bytes(ws, frame.n - n))
        buf_add_str(get_buffer_for_next_frame(ws), str_skip_bytes(frame, n));
}

/* Sends as many queued bytes as the socket accepts. The rest is sent at the end of the loop
 * iteration. */
void websocket_flush(struct websocket *ws)
{
    size_t n = http_connection_try_send(websocket_get_connection(ws), buf_as_str(&ws->out));

    if (n == ws->out.n) {
        buf_clear(&ws->out);
        if (!ws->awaited && !ws->pong && !ws->long_message && !ws->ending && !ws->cut)
            linked_list_remove(&ws->dirty);
    } else if (n) {
        memmove(ws->out.p, ws->out.p + n, ws->out.n - n);
        ws->out.n -= n;
    }
}

void websocket_prefetch_into_cpu_cache(const struct websocket *ws)
{
    __builtin_prefetch(ws);
    __builtin_prefetch((const char *)ws + 64);
}

void websocket_prefetch_connection_into_cpu_cache(const struct websocket *ws)
{
    http_connection_prefetch_into_cpu_cache(websocket_get_connection(ws));
}

void websocket_notify_when_all_is_sent(struct websocket *ws)
{
    ws->awaited = true;
    queue_websocket_for_iteration_end(ws);
}

/* Calls the handler's `drained` if all output was sent. Output of the callback is sent in the same
 * loop iteration. */
static void call_drained_if_all_sent(struct websocket *ws)
{
    if (!ws->awaited || ws->long_message ||
        http_connection_count_unsent_bytes(websocket_get_connection(ws)))
        return;
    if (ws->close_sent || ws->ending || ws->cut)
        return;
    ws->awaited = false;
    ws->on->drained(ws);
}

/* Replies to a ping. If the peer sends pings but does not read, stores only the newest ping. */
static void reply_to_ping(struct websocket *ws, struct str payload)
{
    if (websocket_count_unsent_bytes(ws) <= MAX_UNSENT_FOR_PONG) {
        websocket_send(ws, WS_PONG, payload);
        return;
    }
    if (!ws->pong)
        ws->pong = mem_new(sizeof *ws->pong);
    ws->pong->n = payload.n;
    memcpy(ws->pong->payload, payload.p, payload.n);
}

static void send_pending_pong(struct websocket *ws)
{
    struct pending_pong *p = ws->pong;

    if (!p || http_connection_count_unsent_bytes(websocket_get_connection(ws)))
        return;
    ws->pong = NULL;
    websocket_send(ws, WS_PONG, str_slice(p->payload, p->n));
    mem_free(p);
}

/* Counts a control frame. Returns false after 600 frames in a minute; no client needs more. */
static bool count_and_limit_control_frame(struct websocket *ws)
{
    uint32_t now = (uint32_t)uv_now(loop_get_uv_loop(websocket_get_loop(ws)));

    if (ws->controls == 0 || now - ws->minute >= MINUTE_MS) {
        ws->minute = now;
        ws->controls = 0;
    }
    return ++ws->controls <= MAX_CONTROLS_PER_MINUTE;
}

static void queue_close_frame(struct websocket *ws, int code, struct str reason)
{
    if (ws->close_sent)
        return;
    ws_append_close_frame(get_buffer_for_next_frame(ws), code, reason);
    ws->close_sent = true;
    queue_websocket_for_iteration_end(ws);
}

void websocket_close(struct websocket *ws, int code, struct str reason)
{
    if (ws->close_sent || ws->ending || ws->over)
        return;
    queue_close_frame(ws, code, reason);
    deadline_restart(websocket_get_connection(ws)->server_loop->timers.goodbyes,
                     &websocket_get_connection(ws)->deadline);
}

/* --- beginning and end ---------------------------------------------------------------- */

static void send_handshake(struct http_connection *c, const char *accept)
{
    struct buf *out = &c->server_loop->buffers.out;

    /* Send the response to the handshake alone, because some clients lose frames that arrive
     * together with it. */
    http_connection_flush(c);
    buf_add_lit(out, "HTTP/1.1 101 Switching Protocols\r\n"
                     "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ");
    buf_add(out, accept, 28);
    buf_add_lit(out, "\r\n\r\n");
    http_connection_flush(c);
}

/* --- WebSocket handlers, which the sockets of a loop share ------------------------------ */

struct stored_handler {
    struct stored_handler *next;
    struct websocket_handler on;
};

static bool handlers_are_equal(const struct websocket_handler *a, const struct websocket_handler *b)
{
    return a->max_message == b->max_message && a->too_large == b->too_large && a->open == b->open &&
           a->message == b->message && a->closed == b->closed && a->shutdown == b->shutdown &&
           a->drained == b->drained;
}

static const struct websocket_handler *find_or_store_handler(struct server_loop *h,
                                                             const struct websocket_handler *on)
{
    for (const struct stored_handler *k = h->handlers; k; k = k->next)
        if (handlers_are_equal(&k->on, on))
            return &k->on;
    struct stored_handler *k = mem_new(sizeof *k);
    k->on = *on;
    k->next = h->handlers;
    h->handlers = k;
    return &k->on;
}

void websocket_handlers_free(struct server_loop *h)
{
    while (h->handlers) {
        struct stored_handler *next = h->handlers->next;

        mem_free(h->handlers);
        h->handlers = next;
    }
}

bool websocket_accept_upgrade(struct http_connection *c, struct http_server_request *call)
{
    struct server_loop *h = c->server_loop;
    struct websocket_handler on = { 0 };
    char accept[29];
    int status = 400;

    if (!h->app.upgrade)
        return false;
    if (h->stopping) {
        c->call = call;
        http_connection_refuse_request(c, 503, STR("Retry-After: 1\r\n"));
        return true;
    }
    if (!ws_check_handshake(call->x.request, accept, &status)) {
        c->call = call;
        http_connection_refuse_request(
            c, status, status == 426 ? STR("Sec-WebSocket-Version: 13\r\n") : STR(""));
        return true;
    }
    if (!h->app.upgrade(h->app.arg, call->x.request, &on))
        return false;

    struct websocket *ws = &c->websocket;
    c->upgraded = true;
    memset(ws, 0, sizeof *ws);
    ip_address_parse(call->x.remote, &ws->remote);
    ws->on = find_or_store_handler(h, &on);
    ws->data = on.arg;
    ws->code = 1006;
    buf_init(&ws->out, on.max_unsent + CLOSE_FRAME_RESERVE);
    c->secure = call->x.secure;
    c->address = call->x.address;
    c->state = CONN_WEBSOCKET;
    c->timing = TIMING_NONE;
    /* Starts the timeout for sending the handshake. */
    deadline_restart(h->timers.idle, &c->deadline);
    http_server_request_free(call);
    server_counter_add(&h->counters.websockets, 1);
    send_handshake(c, accept);
    return true;
}

void websocket_call_closed_handler(struct http_connection *c)
{
    struct websocket *ws = &c->websocket;

    linked_list_remove(&ws->dirty);
    if (ws->over)
        return;
    ws->over = true;
    server_counter_add(&c->server_loop->counters.websockets, (uint64_t)-1);
    if (ws->on->closed)
        ws->on->closed(ws, ws->code);
}

static void long_message_free(struct long_message *m)
{
    if (!m)
        return;
    buf_clear(&m->bytes);
    buf_clear(&m->after);
    mem_free(m);
}

void websocket_free_buffers(struct websocket *ws)
{
    long_message_free(ws->long_message);
    if (ws->reader)
        ws_reader_free(ws->reader);
    mem_free(ws->reader);
    buf_clear(&ws->out);
    mem_free(ws->pong);
}

void websocket_close_for_server_shutdown(struct http_connection *c)
{
    struct websocket *ws = &c->websocket;

    if (!ws->open)
        http_connection_close(c);
    else if (ws->on->shutdown)
        ws->on->shutdown(ws);
    else
        websocket_close(ws, 1001, STR(""));
}

/* --- reading -------------------------------------------------------------------------- */

static void close_at_iteration_end(struct websocket *ws)
{
    struct http_connection *c = websocket_get_connection(ws);

    ws->ending = true;
    c->linger = true; /* unread input may still arrive */
    deadline_restart(c->server_loop->timers.goodbyes, &c->deadline);
    queue_websocket_for_iteration_end(ws);
}

static void websocket_handle_frame(struct websocket *ws, const struct ws_message *m)
{
    switch (m->opcode) {
    case WS_CLOSE:
        ws->code = (uint16_t)m->close_code;
        queue_close_frame(ws, m->close_code == 1005 ? 1000 : m->close_code, STR(""));
        close_at_iteration_end(ws);
        break;
    case WS_PING:
    case WS_PONG:
        if (!count_and_limit_control_frame(ws)) {
            queue_close_frame(ws, 1008, STR("too many control frames"));
            close_at_iteration_end(ws);
        } else if (m->opcode == WS_PING) {
            reply_to_ping(ws, m->payload);
        }
        break;
    case WS_TEXT:
    case WS_BINARY:
        if (!ws->close_sent)
            ws->on->message(ws, m->opcode, m->payload);
        break;
    default:
        break;
    }
}

/* Called when the time for reading is up: postpones the remaining messages to the next loop
 * iteration. */
static void postpone_messages_to_next_iteration(struct http_connection *c, const char *bytes,
                                                size_t n)
{
    buf_add(&c->in, bytes, n);
    http_connection_set_read_paused(c, true);
    http_connection_postpone_input(c);
}

void websocket_resume_input(struct http_connection *c)
{
    struct buf waiting = c->in;

    buf_init(&c->in, waiting.max);
    http_connection_set_read_paused(c, false);
    websocket_decode_input(c, waiting.p, waiting.n);
    buf_clear(&waiting);
}

static void read_websocket_frames(struct http_connection *c, struct ws_reader *r, char *bytes,
                                  size_t n)
{
    struct websocket *ws = &c->websocket;
    bool first = true;

    while (n && c->state == CONN_WEBSOCKET && !ws->ending && !ws->cut) {
        if (!first && server_loop_read_time_is_used_up(c->server_loop)) {
            postpone_messages_to_next_iteration(c, bytes, n);
            return;
        }
        first = false;
        struct ws_message m = { 0 };
        bool found = false;
        long used = ws_reader_decode_bytes(r, bytes, n, &m, &found);

        if (used < 0) {
            bool large = used == -1009 && ws->on->too_large;

            queue_close_frame(ws, large ? ws->on->too_large : (int)-used, STR(""));
            close_at_iteration_end(ws);
            return;
        }
        bytes += used;
        n -= (size_t)used;
        if (found)
            websocket_handle_frame(ws, &m);
    }
}

/* Stores the decoder if a message or frame is incomplete; otherwise frees it. */
static void store_reader_if_incomplete(struct websocket *ws, struct ws_reader *r)
{
    bool rests = ws_reader_release_message(r);

    if (rests && r == ws->reader) {
        mem_free(r);
        ws->reader = NULL;
    } else if (!rests && r != ws->reader) {
        ws->reader = mem_new(sizeof *r);
        *ws->reader = *r;
    }
}

void websocket_decode_input(struct http_connection *c, char *bytes, size_t n)
{
    struct websocket *ws = &c->websocket;
    struct ws_reader fresh;

    if (!ws->open || c->later.next) {
        buf_add(&c->in, bytes, n);
        http_connection_set_read_paused(c, c->later.next || c->in.n >= MAX_UNHANDLED_INPUT);
        return;
    }
    ws_reader_init(&fresh, ws->on->max_message);
    struct ws_reader *r = ws->reader ? ws->reader : &fresh;
    read_websocket_frames(c, r, bytes, n);
    store_reader_if_incomplete(ws, r);
}

/* --- sending -------------------------------------------------------------------------- */

/* Called when the kernel has accepted all output. After the handshake was sent, calls the handler's
 * `open`. */
void on_websocket_output_sent(struct http_connection *c)
{
    struct websocket *ws = &c->websocket;
    struct buf early = c->in;

    if (ws->open) {
        /* The next piece is sent at the end of the iteration. */
        if (ws->long_message)
            queue_websocket_for_iteration_end(ws);
        send_pending_pong(ws);
        call_drained_if_all_sent(ws);
    }
    if (ws->open || http_connection_count_unsent_bytes(c))
        return;
    void *arg = ws->data;
    deadline_cancel(&c->deadline);
    ws->open = true;
    ws->data = NULL;
    if (ws->on->open)
        ws->on->open(ws, arg);
    buf_init(&c->in, early.max);
    http_connection_set_read_paused(c, false);
    if (early.n)
        websocket_decode_input(c, early.p, early.n);
    buf_clear(&early);
}

/* Sends the next piece of a long message once the kernel has accepted the previous one. */
static void send_next_message_piece(struct websocket *ws)
{
    struct long_message *m = ws->long_message;
    struct http_connection *c = websocket_get_connection(ws);

    if (!m || c->state != CONN_WEBSOCKET || http_connection_count_unsent_bytes(c))
        return;
    size_t left = m->bytes.n - m->at;
    struct str piece = str_slice(m->bytes.p + m->at, left < PIECE_BYTES ? left : PIECE_BYTES);

    http_connection_send(c, &piece, 1);
    m->at += piece.n;
    if (m->at == m->bytes.n) {
        m->after.max = ws->out.max; /* max_unsent may have changed */
        ws->out = m->after;
        buf_init(&m->after, 0);
        ws->long_message = NULL;
        long_message_free(m);
    }
    /* Send the frames that follow the last piece of a long message, even if the kernel has not yet
     * accepted all of the piece. */
    if (c->state == CONN_WEBSOCKET && (ws->out.n || !http_connection_count_unsent_bytes(c)))
        queue_websocket_for_iteration_end(ws);
}

static void send_websocket_output_of_iteration(struct websocket *ws)
{
    struct http_connection *c = websocket_get_connection(ws);

    if (ws->cut) {
        http_connection_close(c);
        return;
    }
    if (ws->out.n) {
        struct str all = buf_as_str(&ws->out);
        size_t n = http_connection_try_send(c, all);
        if (n < all.n) {
            all = str_skip_bytes(all, n);
            http_connection_send(c, &all, 1);
        }
        buf_clear(&ws->out);
    }
    send_next_message_piece(ws);
    if (c->state == CONN_WEBSOCKET) {
        /* If the kernel accepted all bytes at once, no callback reports that they were sent, so
         * send a pending pong here. */
        send_pending_pong(ws);
        call_drained_if_all_sent(ws);
    }
    /* The close frame is queued behind the long message, so close only after that message was sent.
     */
    if (ws->ending && !ws->long_message && !ws->out.n && c->state == CONN_WEBSOCKET) {
        websocket_call_closed_handler(c);
        http_connection_close_when_sent(c);
        if (c->state == CONN_LAST)
            deadline_restart(c->server_loop->timers.goodbyes, &c->deadline);
    }
}

static void free_wakeup_message(struct loop_message *post)
{
    mem_free(post);
}

/* Posts an empty message, so that the loop does not sleep before its next iteration. */
static void wake_for_next_iteration(struct server_loop *h)
{
    struct loop_message *post = mem_new(sizeof *post);

    post->run = free_wakeup_message;
    loop_post_message(h->loop, post);
}

/* Sends the output of all WebSockets with queued output, at the end of a loop iteration. The time
 * for sending is limited, because there may be thousands of WebSockets. */
void websockets_send_queued_output(struct server_loop *h)
{
    int64_t began = linked_list_is_empty(&h->dirty) ? 0 : clock_monotonic_ns();

    for (unsigned n = 1; !linked_list_is_empty(&h->dirty); n++) {
        struct websocket *ws = container_of(h->dirty.next, struct websocket, dirty);

        if (n % SOCKETS_PER_CLOCK_CHECK == 0 && clock_monotonic_ns() - began > MAX_SENDING_NS) {
            wake_for_next_iteration(h);
            return;
        }
        linked_list_remove(&ws->dirty);
        send_websocket_output_of_iteration(ws);
    }
}
