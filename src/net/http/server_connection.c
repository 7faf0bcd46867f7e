/* server_connection.c - timeouts, sending, receiving and closing of a connection. */
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/http/server_internal.h"

/* --- closing -------------------------------------------------------------------------- */

static void connection_closed(uv_handle_t *handle)
{
    struct connection *c = container_of(handle, struct connection, tcp);
    struct home *h = c->home;

    link_remove(&c->link);
    buf_clear(&c->in);
    tls_free(c->tls);
    if (c->upgraded)
        websocket_clear(&c->websocket);
    mem_free(c);
    figure_add(&h->figures.open, (uint64_t)-1);
    home_handle_closed(h);
}

static void connection_drop_call(struct connection *c, bool working)
{
    struct serving *call = c->call;

    c->call = NULL;
    if (call && working) {
        call->x.connection = NULL; /* the response will be dropped */
        atomic_store_explicit(&call->x.abandoned, true, memory_order_relaxed);
    } else if (call) {
        serving_free(call);
    }
    file_close(c);
}

void connection_close(struct connection *c)
{
    if (c->state == CONN_CLOSED)
        return;
    bool working = c->state == CONN_CALL || c->state == CONN_ASKED;
    c->state = CONN_CLOSED;
    deadline_drop(&c->deadline);
    link_remove(&c->later);
    if (c->upgraded)
        websocket_end(c);
    else
        connection_drop_call(c, working);
    uv_close((uv_handle_t *)&c->tcp, connection_closed);
}

static void shut_down(struct connection *c)
{
    uv_os_fd_t fd;

    c->state = CONN_LINGER;
    deadline_touch(c->home->timers.lingering, &c->deadline);
    if (uv_fileno((uv_handle_t *)&c->tcp, &fd) != 0 || shutdown(fd, SHUT_WR) != 0)
        connection_close(c);
    else
        connection_pause(c, false);
}

static void say_goodbye(struct connection *c)
{
    struct buf *cipher = &c->home->buffers.cipher;

    if (!c->tls)
        return;
    buf_reset(cipher);
    tls_shutdown(c->tls, cipher);
    uv_buf_t b = uv_buf_init(cipher->p, (unsigned)cipher->n);
    if (cipher->n)
        uv_try_write((uv_stream_t *)&c->tcp, &b, 1);
}

void connection_finish(struct connection *c)
{
    if (c->state == CONN_CLOSED || c->state == CONN_LINGER)
        return;
    c->state = CONN_LAST;
    if (connection_unsent(c) || (c->home->current == c && c->home->buffers.out.n))
        return;
    say_goodbye(c);
    /* Closing a socket with unread input resets the connection, and the peer may lose the error
     * response. */
    if (c->linger && !c->ended)
        shut_down(c);
    else
        connection_close(c);
}

/* --- timeouts ------------------------------------------------------------------------- */

void connection_expired(struct deadline *d)
{
    connection_close(container_of(d, struct connection, deadline));
}

/* Returns the bytes received or sent, depending on which of both the timeout limits. */
static uint64_t count_moved(const struct connection *c)
{
    return c->timing == TIMING_READING ? c->received : c->handed - connection_unsent(c);
}

/* Ends a timeout window: a peer that transferred enough bytes gets another window. */
static bool renew_window(struct connection *c, struct deadlines *list, uint64_t least)
{
    uint64_t moved = count_moved(c);

    if (moved - c->mark < least)
        return false;
    c->mark = moved;
    deadline_touch(list, &c->deadline);
    return true;
}

/* A large response may take any time while the peer reads at the minimum rate. */
void connection_expired_sending(struct deadline *d)
{
    struct connection *c = container_of(d, struct connection, deadline);

    if (!renew_window(c, c->home->timers.sending, c->home->timers.least_sent))
        connection_close(c);
}

void connection_expired_reading(struct deadline *d)
{
    struct connection *c = container_of(d, struct connection, deadline);

    if (c->state == CONN_BODY &&
        renew_window(c, c->home->timers.reading, c->home->timers.least_read))
        return;
    if (c->in.n == 0 && c->state != CONN_BODY) {
        connection_close(c);
        return;
    }
    struct connection *before = connection_begin(c);
    connection_refuse(c, 408, STR(""));
    connection_end(c, before);
}

static void begin_timing(struct connection *c, enum connection_timing timing,
                         struct deadlines *list)
{
    if (c->timing == timing)
        return;
    c->timing = (uint8_t)timing;
    c->mark = count_moved(c);
    deadline_touch(list, &c->deadline);
}

/* Sets the timeout by the state. A head has one timeout for all its bytes. Bodies and unsent
 * responses continue while the peer keeps a minimum rate. Each response restarts the idle
 * timeout. */
static void set_deadline(struct connection *c)
{
    struct home *h = c->home;
    bool unsent = connection_unsent(c) > 0;

    /* The closing handshake of a WebSocket has its own timeout, which is never extended. */
    if (c->state == CONN_LAST && c->upgraded)
        return;
    switch ((enum connection_state)c->state) {
    case CONN_CALL:
    case CONN_ASKED:
        deadline_drop(&c->deadline);
        c->timing = TIMING_NONE;
        break;
    case CONN_BODY:
        begin_timing(c, TIMING_READING, h->timers.reading);
        break;
    case CONN_HEAD:
    case CONN_FILE:
    case CONN_LAST:
        if (unsent) {
            begin_timing(c, TIMING_SENDING, h->timers.sending);
        } else if (c->state == CONN_HEAD && c->in.n) {
            begin_timing(c, TIMING_READING, h->timers.reading);
        } else {
            deadline_touch(h->timers.idle, &c->deadline);
            c->timing = TIMING_IDLE;
        }
        break;
    default:
        break;
    }
}

/* --- sending -------------------------------------------------------------------------- */

struct outgoing {
    uv_write_t request;
    char bytes[];
};

static void connection_sent(uv_write_t *request, int status)
{
    struct outgoing *o = container_of(request, struct outgoing, request);
    struct connection *c = container_of(request->handle, struct connection, tcp);

    mem_free(o);
    if (status < 0)
        connection_close(c);
    if (c->state == CONN_CLOSED)
        return;
    if (c->state == CONN_LAST)
        connection_finish(c);
    else if (c->state == CONN_WEBSOCKET)
        websocket_sent(c);
    else if (c->state == CONN_FILE ||
             (c->state == CONN_HEAD && connection_unsent(c) <= WAITING_OUTPUT))
        connection_resume(c);
}

/* Queues a copy of the pieces without their first `done` bytes. */
static void connection_keep_rest(struct connection *c, const struct str *pieces, size_t count,
                                 size_t done)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += pieces[i].n;
    if (total == done)
        return;

    struct outgoing *o = mem_resize(NULL, sizeof *o + total - done);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        size_t cut = done < pieces[i].n ? done : pieces[i].n;

        if (pieces[i].n > cut)
            memcpy(o->bytes + n, pieces[i].p + cut, pieces[i].n - cut);
        n += pieces[i].n - cut;
        done -= cut;
    }
    c->handed += n;
    uv_buf_t b = uv_buf_init(o->bytes, (unsigned)n);
    if (uv_write(&o->request, (uv_stream_t *)&c->tcp, &b, 1, connection_sent) != 0) {
        mem_free(o);
        connection_close(c);
    }
}

static void send_bytes(struct connection *c, const struct str *pieces, size_t count)
{
    uv_buf_t bufs[3];
    size_t total = 0;
    int n = 0;

    for (size_t i = 0; i < count; i++) {
        bufs[i] = uv_buf_init((char *)(uintptr_t)pieces[i].p, (unsigned)pieces[i].n);
        total += pieces[i].n;
    }
    figure_add(&c->home->figures.bytes_out, total);
    if (connection_unsent(c) == 0)
        n = uv_try_write((uv_stream_t *)&c->tcp, bufs, (unsigned)count);
    if (n < 0 && n != UV_EAGAIN) {
        connection_close(c);
        return;
    }
    if (n < 0 || (size_t)n < total)
        connection_keep_rest(c, pieces, count, n < 0 ? 0 : (size_t)n);
}

static bool connection_encrypt(struct connection *c, const struct str *pieces, size_t count)
{
    struct buf *cipher = &c->home->buffers.cipher;

    buf_reset(cipher);
    for (size_t i = 0; i < count; i++)
        if (pieces[i].n && !tls_write(c->tls, pieces[i], cipher))
            return false;
    return true;
}

static void connection_trim(struct buf *b)
{
    if (b->cap > SCRATCH_KEPT)
        buf_clear(b);
    else
        buf_reset(b);
}

static void send_pieces(struct connection *c, const struct str *pieces, size_t count)
{
    if (c->state == CONN_CLOSED || c->state == CONN_LINGER)
        return;
    if (!c->tls) {
        send_bytes(c, pieces, count);
        return;
    }
    if (!connection_encrypt(c, pieces, count)) {
        connection_close(c);
        return;
    }
    struct str all = buf_str(&c->home->buffers.cipher);
    send_bytes(c, &all, 1);
    connection_trim(&c->home->buffers.cipher);
}

void connection_send(struct connection *c, const struct str *pieces, size_t count)
{
    struct home *h = c->home;
    struct str all[3];
    size_t n = 0;

    if (h->current == c && h->buffers.out.n)
        all[n++] = buf_str(&h->buffers.out);
    for (size_t i = 0; i < count; i++)
        all[n++] = pieces[i];
    if (n)
        send_pieces(c, all, n);
    if (h->current == c)
        connection_trim(&h->buffers.out);
}

void connection_send_queued(struct connection *c, struct str piece)
{
    connection_flush(c);
    if (c->state == CONN_CLOSED || c->state == CONN_LINGER)
        return;
    if (c->tls && !connection_encrypt(c, &piece, 1)) {
        connection_close(c);
        return;
    }
    struct str all = c->tls ? buf_str(&c->home->buffers.cipher) : piece;
    figure_add(&c->home->figures.bytes_out, all.n);
    connection_keep_rest(c, &all, 1, 0);
    if (c->tls)
        connection_trim(&c->home->buffers.cipher);
}

/* Calls send() directly, because libuv's write also reads the file and its inode, which causes
 * cache misses with thousands of sockets. */
static size_t send_some(const struct connection *c, int fd, struct str bytes)
{
    ssize_t n = send(fd, bytes.p, bytes.n, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n <= 0)
        return 0;
    figure_add(&c->home->figures.bytes_out, (size_t)n);
    return (size_t)n;
}

/* Sends encrypted bytes. TLS records must leave in order, so libuv queues the bytes that the kernel
 * does not accept. */
static size_t send_encrypted(struct connection *c, int fd, struct str bytes)
{
    struct buf *cipher = &c->home->buffers.cipher;

    if (!connection_encrypt(c, &bytes, 1))
        return 0;
    struct str all = buf_str(cipher);
    size_t n = send_some(c, fd, all);
    figure_add(&c->home->figures.bytes_out, all.n - n);
    connection_keep_rest(c, &all, 1, n);
    connection_trim(cipher);
    return bytes.n;
}

size_t connection_try(struct connection *c, struct str bytes)
{
    uv_os_fd_t fd;

    if (c->state != CONN_WEBSOCKET || connection_unsent(c) || !bytes.n ||
        (c->home->current == c && c->home->buffers.out.n) ||
        uv_fileno((uv_handle_t *)&c->tcp, &fd) != 0)
        return 0;
    return c->tls ? send_encrypted(c, fd, bytes) : send_some(c, fd, bytes);
}

void connection_flush(struct connection *c)
{
    if (c->home->buffers.out.n)
        connection_send(c, NULL, 0);
}

struct connection *connection_begin(struct connection *c)
{
    struct connection *before = c->home->current;

    if (before && before != c)
        connection_flush(before);
    c->home->current = c;
    return before;
}

void connection_end(struct connection *c, struct connection *before)
{
    connection_flush(c);
    c->home->current = before;
    if (c->state == CONN_LAST)
        connection_finish(c);
    set_deadline(c);
}

/* --- receiving ------------------------------------------------------------------------ */

/* Limits the time for reading, because thousands of sockets may be readable at once, and one may
 * carry hundreds of requests. Unread input stays in the kernel, and epoll reports the socket again
 * in the next loop iteration. */
bool home_has_read_enough(struct home *h)
{
    int64_t now = clock_mono();

    if (!h->input.reads_until)
        h->input.reads_until = now + READING_NS;
    else if (now > h->input.reads_until)
        h->input.reads_until = -1;
    return h->input.reads_until < 0;
}

static bool reading_is_spent(struct home *h)
{
    return h->input.reads_until < 0 ||
           (++h->input.reads % READS_BETWEEN_LOOKS == 0 && home_has_read_enough(h));
}

static void go_on_soon(struct home *h)
{
    if (h->input.goes_on || links_empty(&h->input.postponed))
        return;
    h->input.goes_on = true;
    loop_post(h->loop, &h->input.go_on);
}

void connection_postpone(struct connection *c)
{
    if (!c->later.next)
        links_append(&c->home->input.postponed, &c->later);
    go_on_soon(c->home);
}

void home_go_on(struct post *post)
{
    struct home *h = container_of(post, struct home, input.go_on);

    h->input.goes_on = false;
    while (!links_empty(&h->input.postponed) && !home_has_read_enough(h)) {
        struct connection *c = container_of(h->input.postponed.next, struct connection, later);

        loop_part("reading");
        link_remove(&c->later);
        if (c->state == CONN_WEBSOCKET)
            websocket_resume(c);
        else
            connection_resume(c);
    }
    go_on_soon(h);
}

/* An empty buffer makes libuv read nothing and report UV_ENOBUFS. */
static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    struct connection *c = container_of(handle, struct connection, tcp);

    (void)suggested;
    if (reading_is_spent(c->home)) {
        *ret = uv_buf_init(NULL, 0);
        return;
    }
    /* Unless a body is expected, read little: input that cannot be handled yet must be stored. */
    *ret = uv_buf_init(c->home->buffers.bytes, c->state == CONN_BODY ? READ_SIZE : HEAD_READ);
}

/* Handles EOF of the peer: its complete requests still get responses. */
static void end_of_input(struct connection *c)
{
    c->ended = true;
    if (c->state == CONN_HEAD && (connection_unsent(c) || c->later.next))
        return; /* requests are still waiting; end_if_done checks again */
    if (c->state != CONN_CALL && c->state != CONN_ASKED && c->state != CONN_FILE &&
        c->state != CONN_LAST)
        connection_close(c);
}

static bool is_tls(struct connection *c, const char *bytes)
{
    c->sniffed = true;
    if (!c->home->tls)
        return true;
    if (bytes[0] == 0x16)
        c->tls = tls_new(c->home->tls);
    return c->tls || !c->home->tls_only;
}

static void connection_decrypt(struct connection *c, const char *bytes, size_t n)
{
    struct home *h = c->home;
    bool eof = false;

    buf_reset(&h->buffers.plain);
    buf_reset(&h->buffers.cipher);
    bool ok = tls_read(c->tls, str_slice(bytes, n), &h->buffers.plain, &h->buffers.cipher, &eof);
    if (h->buffers.cipher.n) {
        struct str reply = buf_str(&h->buffers.cipher);

        /* TLS sends little after the handshake. Close a peer that triggers more output without
         * reading, because the output would grow. */
        if (connection_unsent(c) > WAITING_OUTPUT) {
            connection_close(c);
            return;
        }
        send_bytes(c, &reply, 1);
    }
    if (h->buffers.plain.n && c->state != CONN_CLOSED)
        connection_input(c, h->buffers.plain.p, h->buffers.plain.n);
    connection_trim(&h->buffers.plain);
    if (c->state == CONN_CLOSED)
        return;
    if (!ok)
        connection_close(c);
    else if (eof)
        end_of_input(c);
}

static void take_bytes(struct connection *c, char *bytes, size_t n)
{
    if (!c->sniffed && !is_tls(c, bytes)) {
        struct connection *before = connection_begin(c);
        connection_refuse(c, 400, STR(""));
        connection_end(c, before);
    } else if (c->tls) {
        connection_decrypt(c, bytes, n);
    } else {
        connection_input(c, bytes, n);
    }
}

/* Reads an optional PROXY protocol header at the start of a connection; the rest is input. */
static void take_preamble(struct connection *c, const char *bytes, size_t n)
{
    struct address client;
    bool found;

    buf_add(&c->in, bytes, n);
    long used = proxy_header_read(buf_str(&c->in), &client, &found);
    if (used == 0)
        return;
    c->preamble = false;
    if (used == PROXY_BAD) {
        connection_close(c);
        return;
    }
    struct buf all = c->in;
    size_t skipped = used > 0 ? (size_t)used : 0;
    buf_init(&c->in, all.max);
    if (found)
        connection_set_remote(c, &client);
    if (all.n > skipped)
        take_bytes(c, all.p + skipped, all.n - skipped);
    buf_clear(&all);
}

static void got_bytes(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct connection *c = container_of(stream, struct connection, tcp);

    if (n == 0 || n == UV_ENOBUFS)
        return;
    loop_part("reading");
    if (n < 0) {
        if (n == UV_EOF)
            end_of_input(c);
        else
            connection_close(c);
        return;
    }
    figure_add(&c->home->figures.bytes_in, (uint64_t)n);
    if (c->preamble)
        take_preamble(c, buf->base, (size_t)n);
    else
        take_bytes(c, buf->base, (size_t)n);
}

void connection_read_start(struct connection *c)
{
    if (uv_read_start((uv_stream_t *)&c->tcp, give_room, got_bytes) != 0)
        connection_close(c);
}

void connection_pause(struct connection *c, bool pause)
{
    if (c->paused == pause || c->state == CONN_CLOSED || c->ended)
        return;
    c->paused = pause;
    if (pause)
        uv_read_stop((uv_stream_t *)&c->tcp);
    else
        connection_read_start(c);
}
