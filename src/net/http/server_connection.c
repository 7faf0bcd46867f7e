/* server_connection.c - timeouts, sending, receiving and closing of a connection. */
#include <assert.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/http/server_internal.h"

/* --- closing -------------------------------------------------------------------------- */

static void on_connection_closed(uv_handle_t *handle)
{
    struct http_connection *c = container_of(handle, struct http_connection, tcp);
    struct server_loop *h = c->server_loop;

    linked_list_remove(&c->link);
    buf_clear(&c->in);
    tls_connection_free(c->tls);
    if (c->upgraded)
        websocket_free_buffers(&c->websocket);
    mem_free(c);
    server_counter_add(&h->counters.open, (uint64_t)-1);
    server_loop_count_closed_handle(h);
}

static void connection_abandon_request(struct http_connection *c, bool working)
{
    struct http_server_request *call = c->call;

    c->call = NULL;
    if (call && working) {
        call->x.connection = NULL; /* the response will be dropped */
        atomic_store_explicit(&call->x.abandoned, true, memory_order_relaxed);
    } else if (call) {
        http_server_request_free(call);
    }
    long_response_free(c);
}

void http_connection_close(struct http_connection *c)
{
    if (c->state == CONN_CLOSED)
        return;
    bool working = c->state == CONN_HANDLING || c->state == CONN_AUTHORIZING_BODY;
    c->state = CONN_CLOSED;
    deadline_cancel(&c->deadline);
    linked_list_remove(&c->later);
    if (c->upgraded)
        websocket_call_closed_handler(c);
    else
        connection_abandon_request(c, working);
    uv_close((uv_handle_t *)&c->tcp, on_connection_closed);
}

static void shut_down_writing(struct http_connection *c)
{
    uv_os_fd_t fd;

    c->state = CONN_LINGER;
    deadline_restart(c->server_loop->timers.lingering, &c->deadline);
    if (uv_fileno((uv_handle_t *)&c->tcp, &fd) != 0 || shutdown(fd, SHUT_WR) != 0)
        http_connection_close(c);
    else
        http_connection_set_read_paused(c, false);
}

static void send_tls_close_notify(struct http_connection *c)
{
    struct buf *cipher = &c->server_loop->buffers.cipher;

    if (!c->tls)
        return;
    buf_reset(cipher);
    tls_append_close_notify(c->tls, cipher);
    uv_buf_t b = uv_buf_init(cipher->p, (unsigned)cipher->n);
    if (cipher->n)
        uv_try_write((uv_stream_t *)&c->tcp, &b, 1);
}

void http_connection_close_when_sent(struct http_connection *c)
{
    if (c->state == CONN_CLOSED || c->state == CONN_LINGER)
        return;
    c->state = CONN_LAST;
    if (http_connection_count_unsent_bytes(c) ||
        (c->server_loop->current == c && c->server_loop->buffers.out.n))
        return;
    send_tls_close_notify(c);
    /* Closing a socket with unread input sends a TCP reset, after which the peer may lose the error
     * response. So only shut down the sending direction. */
    if (c->linger && !c->ended)
        shut_down_writing(c);
    else
        http_connection_close(c);
}

/* --- timeouts ------------------------------------------------------------------------- */

void on_connection_closing_timeout(struct deadline *d)
{
    http_connection_close(container_of(d, struct http_connection, deadline));
}

/* Returns the number of bytes received if the current timeout limits receiving, otherwise the
 * number of bytes sent. */
static uint64_t count_transferred_bytes(const struct http_connection *c)
{
    return c->timing == TIMING_READING ? c->received
                                       : c->queued_bytes - http_connection_count_unsent_bytes(c);
}

/* Called when a timeout has expired. If the peer transferred enough bytes since the timeout
 * started, restarts the timeout and returns true. */
static bool renew_timeout_window(struct http_connection *c, struct deadline_list *list,
                                 uint64_t least)
{
    uint64_t moved = count_transferred_bytes(c);

    if (moved - c->mark < least)
        return false;
    c->mark = moved;
    deadline_restart(list, &c->deadline);
    return true;
}

/* Closes the connection if the peer has read fewer bytes than the minimum since the timeout
 * started. */
void on_connection_send_timeout(struct deadline *d)
{
    struct http_connection *c = container_of(d, struct http_connection, deadline);

    if (!renew_timeout_window(c, c->server_loop->timers.sending, c->server_loop->timers.least_sent))
        http_connection_close(c);
}

void on_connection_read_timeout(struct deadline *d)
{
    struct http_connection *c = container_of(d, struct http_connection, deadline);

    if (c->state == CONN_BODY &&
        renew_timeout_window(c, c->server_loop->timers.reading, c->server_loop->timers.least_read))
        return;
    if (c->in.n == 0 && c->state != CONN_BODY) {
        http_connection_close(c);
        return;
    }
    struct http_connection *before = http_connection_begin_collecting_output(c);
    http_connection_refuse_request(c, 408, STR(""));
    http_connection_send_collected_output(c, before);
}

static void start_connection_timeout(struct http_connection *c,
                                     enum http_connection_running_timeout timing,
                                     struct deadline_list *list)
{
    if (c->timing == timing)
        return;
    c->timing = (uint8_t)timing;
    c->mark = count_transferred_bytes(c);
    deadline_restart(list, &c->deadline);
}

/* Sets the timeout for the current state. A request head has one timeout for all its bytes. Bodies
 * and unsent responses have no time limit while the peer transfers them at the minimum rate. Each
 * response restarts the idle timeout. */
static void set_connection_timeout(struct http_connection *c)
{
    struct server_loop *h = c->server_loop;
    bool unsent = http_connection_count_unsent_bytes(c) > 0;

    /* The closing handshake of a WebSocket has a timeout of its own, which is never extended. */
    if (c->state == CONN_LAST && c->upgraded)
        return;
    switch ((enum http_connection_state)c->state) {
    case CONN_HANDLING:
    case CONN_AUTHORIZING_BODY:
        deadline_cancel(&c->deadline);
        c->timing = TIMING_NONE;
        break;
    case CONN_BODY:
        start_connection_timeout(c, TIMING_READING, h->timers.reading);
        break;
    case CONN_HEAD:
    case CONN_FILE:
    case CONN_LAST:
        if (unsent) {
            start_connection_timeout(c, TIMING_SENDING, h->timers.sending);
        } else if (c->state == CONN_HEAD && c->in.n) {
            start_connection_timeout(c, TIMING_READING, h->timers.reading);
        } else {
            deadline_restart(h->timers.idle, &c->deadline);
            c->timing = TIMING_IDLE;
        }
        break;
    default:
        break;
    }
}

/* --- sending -------------------------------------------------------------------------- */

struct queued_write {
    uv_write_t request;
    char bytes[];
};

static void on_queued_write_done(uv_write_t *request, int status)
{
    struct queued_write *o = container_of(request, struct queued_write, request);
    struct http_connection *c = container_of(request->handle, struct http_connection, tcp);

    mem_free(o);
    if (status < 0)
        http_connection_close(c);
    if (c->state == CONN_CLOSED)
        return;
    if (c->state == CONN_LAST)
        http_connection_close_when_sent(c);
    else if (c->state == CONN_WEBSOCKET)
        on_websocket_output_sent(c);
    else if (c->state == CONN_FILE ||
             (c->state == CONN_HEAD && http_connection_count_unsent_bytes(c) <= MAX_UNSENT_OUTPUT))
        http_connection_parse_stored_input(c);
}

/* Queues a copy of the pieces. Their first `done` bytes were already sent and are omitted. */
static void queue_unsent_rest_of_pieces(struct http_connection *c, const struct str *pieces,
                                        size_t count, size_t done)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += pieces[i].n;
    if (total == done)
        return;

    struct queued_write *o = mem_resize(NULL, sizeof *o + total - done);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        size_t cut = done < pieces[i].n ? done : pieces[i].n;

        if (pieces[i].n > cut)
            memcpy(o->bytes + n, pieces[i].p + cut, pieces[i].n - cut);
        n += pieces[i].n - cut;
        done -= cut;
    }
    c->queued_bytes += n;
    uv_buf_t b = uv_buf_init(o->bytes, (unsigned)n);
    if (uv_write(&o->request, (uv_stream_t *)&c->tcp, &b, 1, on_queued_write_done) != 0) {
        mem_free(o);
        http_connection_close(c);
    }
}

static void send_raw_bytes(struct http_connection *c, const struct str *pieces, size_t count)
{
    uv_buf_t bufs[3];
    size_t total = 0;
    int n = 0;

    for (size_t i = 0; i < count; i++) {
        bufs[i] = uv_buf_init((char *)(uintptr_t)pieces[i].p, (unsigned)pieces[i].n);
        total += pieces[i].n;
    }
    server_counter_add(&c->server_loop->counters.bytes_out, total);
    if (http_connection_count_unsent_bytes(c) == 0)
        n = uv_try_write((uv_stream_t *)&c->tcp, bufs, (unsigned)count);
    if (n < 0 && n != UV_EAGAIN) {
        http_connection_close(c);
        return;
    }
    if (n < 0 || (size_t)n < total)
        queue_unsent_rest_of_pieces(c, pieces, count, n < 0 ? 0 : (size_t)n);
}

static bool encrypt_output_pieces(struct http_connection *c, const struct str *pieces, size_t count)
{
    struct buf *cipher = &c->server_loop->buffers.cipher;

    buf_reset(cipher);
    for (size_t i = 0; i < count; i++)
        if (pieces[i].n && !tls_encrypt(c->tls, pieces[i], cipher))
            return false;
    return true;
}

static void reset_scratch_buffer(struct buf *b)
{
    if (b->cap > MAX_RETAINED_SCRATCH)
        buf_clear(b);
    else
        buf_reset(b);
}

static void send_pieces_encrypted(struct http_connection *c, const struct str *pieces, size_t count)
{
    if (c->state == CONN_CLOSED || c->state == CONN_LINGER)
        return;
    if (!c->tls) {
        send_raw_bytes(c, pieces, count);
        return;
    }
    if (!encrypt_output_pieces(c, pieces, count)) {
        http_connection_close(c);
        return;
    }
    struct str all = buf_as_str(&c->server_loop->buffers.cipher);
    send_raw_bytes(c, &all, 1);
    reset_scratch_buffer(&c->server_loop->buffers.cipher);
}

void http_connection_send(struct http_connection *c, const struct str *pieces, size_t count)
{
    struct server_loop *h = c->server_loop;
    struct str all[3];
    size_t n = 0;

    if (h->current == c && h->buffers.out.n)
        all[n++] = buf_as_str(&h->buffers.out);
    for (size_t i = 0; i < count; i++)
        all[n++] = pieces[i];
    if (n)
        send_pieces_encrypted(c, all, n);
    if (h->current == c)
        reset_scratch_buffer(&h->buffers.out);
}

void http_connection_send_through_libuv_queue(struct http_connection *c, struct str piece)
{
    http_connection_flush(c);
    if (c->state == CONN_CLOSED || c->state == CONN_LINGER)
        return;
    if (c->tls && !encrypt_output_pieces(c, &piece, 1)) {
        http_connection_close(c);
        return;
    }
    struct str all = c->tls ? buf_as_str(&c->server_loop->buffers.cipher) : piece;
    server_counter_add(&c->server_loop->counters.bytes_out, all.n);
    queue_unsent_rest_of_pieces(c, &all, 1, 0);
    if (c->tls)
        reset_scratch_buffer(&c->server_loop->buffers.cipher);
}

/* Calls send() directly, because libuv's write makes the kernel also read its file and inode
 * structures, which causes cache misses with thousands of sockets. */
static size_t try_send_to_socket_once(const struct http_connection *c, int fd, struct str bytes)
{
    ssize_t n = send(fd, bytes.p, bytes.n, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n <= 0)
        return 0;
    server_counter_add(&c->server_loop->counters.bytes_out, (size_t)n);
    return (size_t)n;
}

/* Sends encrypted bytes. TLS records must be sent in order, so libuv queues the bytes that the
 * kernel does not accept. */
static size_t try_send_encrypted(struct http_connection *c, int fd, struct str bytes)
{
    struct buf *cipher = &c->server_loop->buffers.cipher;

    if (!encrypt_output_pieces(c, &bytes, 1))
        return 0;
    struct str all = buf_as_str(cipher);
    size_t n = try_send_to_socket_once(c, fd, all);
    server_counter_add(&c->server_loop->counters.bytes_out, all.n - n);
    queue_unsent_rest_of_pieces(c, &all, 1, n);
    reset_scratch_buffer(cipher);
    return bytes.n;
}

/* Returns whether no output is queued that must be sent first. */
static bool connection_can_send_at_once(const struct http_connection *c, uv_os_fd_t *ret_fd)
{
    return c->state == CONN_WEBSOCKET && !http_connection_count_unsent_bytes(c) &&
           !(c->server_loop->current == c && c->server_loop->buffers.out.n) &&
           uv_fileno((const uv_handle_t *)&c->tcp, ret_fd) == 0;
}

size_t http_connection_try_send(struct http_connection *c, struct str bytes)
{
    uv_os_fd_t fd;

    if (!bytes.n || !connection_can_send_at_once(c, &fd))
        return 0;
    return c->tls ? try_send_encrypted(c, fd, bytes) : try_send_to_socket_once(c, fd, bytes);
}

size_t http_connection_try_send_pieces(struct http_connection *c, const struct str *pieces,
                                       size_t count)
{
    struct iovec all[8];
    struct msghdr message = { .msg_iov = all, .msg_iovlen = count };
    uv_os_fd_t fd;

    assert(count <= COUNT_OF(all));
    if (c->tls || !connection_can_send_at_once(c, &fd))
        return 0;
    for (size_t i = 0; i < count; i++)
        all[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].p, pieces[i].n };
    ssize_t n = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n <= 0)
        return 0;
    server_counter_add(&c->server_loop->counters.bytes_out, (size_t)n);
    return (size_t)n;
}

void http_connection_flush(struct http_connection *c)
{
    if (c->server_loop->buffers.out.n)
        http_connection_send(c, NULL, 0);
}

struct http_connection *http_connection_begin_collecting_output(struct http_connection *c)
{
    struct http_connection *before = c->server_loop->current;

    if (before && before != c)
        http_connection_flush(before);
    c->server_loop->current = c;
    return before;
}

void http_connection_send_collected_output(struct http_connection *c,
                                           struct http_connection *before)
{
    http_connection_flush(c);
    c->server_loop->current = before;
    if (c->state == CONN_LAST)
        http_connection_close_when_sent(c);
    set_connection_timeout(c);
}

/* --- receiving ------------------------------------------------------------------------ */

/* Limits the time for reading per loop iteration, because thousands of sockets may be readable at
 * once, and the input of one may contain hundreds of requests. Unread input stays in the kernel,
 * and epoll reports the socket again in the next iteration. */
bool server_loop_read_time_is_used_up(struct server_loop *h)
{
    int64_t now = clock_monotonic_ns();

    if (!h->input.reads_until)
        h->input.reads_until = now + MAX_READING_NS;
    else if (now > h->input.reads_until)
        h->input.reads_until = -1;
    return h->input.reads_until < 0;
}

static bool connection_read_time_is_used_up(struct server_loop *h)
{
    return h->input.reads_until < 0 ||
           (++h->input.reads % READS_PER_CLOCK_CHECK == 0 && server_loop_read_time_is_used_up(h));
}

static void post_resume_reading_message(struct server_loop *h)
{
    if (h->input.continue_posted || linked_list_is_empty(&h->input.postponed))
        return;
    h->input.continue_posted = true;
    loop_post_message(h->loop, &h->input.continue_message);
}

void http_connection_postpone_input(struct http_connection *c)
{
    if (!c->later.next)
        linked_list_append(&c->server_loop->input.postponed, &c->later);
    post_resume_reading_message(c->server_loop);
}

void on_continue_postponed_input(struct loop_message *post)
{
    struct server_loop *h = container_of(post, struct server_loop, input.continue_message);

    h->input.continue_posted = false;
    while (!linked_list_is_empty(&h->input.postponed) && !server_loop_read_time_is_used_up(h)) {
        struct http_connection *c =
            container_of(h->input.postponed.next, struct http_connection, later);

        loop_set_measured_activity("reading");
        linked_list_remove(&c->later);
        if (c->state == CONN_WEBSOCKET)
            websocket_resume_input(c);
        else
            http_connection_parse_stored_input(c);
    }
    post_resume_reading_message(h);
}

/* If the time for reading is up, returns an empty buffer; libuv then reports UV_ENOBUFS. */
static void on_read_buffer_needed(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    struct http_connection *c = container_of(handle, struct http_connection, tcp);

    (void)suggested;
    if (connection_read_time_is_used_up(c->server_loop)) {
        *ret = uv_buf_init(NULL, 0);
        return;
    }
    /* Unless a body is expected, read only a small amount, because requests after the first one may
     * have to be stored. */
    *ret = uv_buf_init(c->server_loop->buffers.bytes,
                       c->state == CONN_BODY ? READ_BUFFER_BYTES : HEAD_READ_BYTES);
}

/* Handles the end of the peer's input: requests that arrived completely still get responses. */
static void on_end_of_input(struct http_connection *c)
{
    c->ended = true;
    if (c->state == CONN_HEAD && (http_connection_count_unsent_bytes(c) || c->later.next))
        return; /* complete requests still wait for responses; close_after_eof runs after the last
                 * response */
    if (c->state != CONN_HANDLING && c->state != CONN_AUTHORIZING_BODY && c->state != CONN_FILE &&
        c->state != CONN_LAST)
        http_connection_close(c);
}

static bool detect_tls_by_first_byte(struct http_connection *c, const char *bytes)
{
    c->sniffed = true;
    if (!c->server_loop->tls)
        return true;
    if (bytes[0] == 0x16)
        c->tls = tls_server_connection_new(c->server_loop->tls);
    return c->tls || !c->server_loop->tls_only;
}

static void decrypt_input(struct http_connection *c, const char *bytes, size_t n)
{
    struct server_loop *h = c->server_loop;
    bool eof = false;

    buf_reset(&h->buffers.plain);
    buf_reset(&h->buffers.cipher);
    bool ok = tls_decrypt(c->tls, str_slice(bytes, n), &h->buffers.plain, &h->buffers.cipher, &eof);
    if (h->buffers.cipher.n) {
        struct str reply = buf_as_str(&h->buffers.cipher);

        /* After the handshake, TLS itself sends little. If a peer triggers more TLS output without
         * reading it, close the connection, because the output would grow without limit. */
        if (http_connection_count_unsent_bytes(c) > MAX_UNSENT_OUTPUT) {
            http_connection_close(c);
            return;
        }
        send_raw_bytes(c, &reply, 1);
    }
    if (h->buffers.plain.n && c->state != CONN_CLOSED)
        http_connection_parse_input(c, h->buffers.plain.p, h->buffers.plain.n);
    reset_scratch_buffer(&h->buffers.plain);
    if (c->state == CONN_CLOSED)
        return;
    if (!ok)
        http_connection_close(c);
    else if (eof)
        on_end_of_input(c);
}

static void handle_received_bytes(struct http_connection *c, char *bytes, size_t n)
{
    if (!c->sniffed && !detect_tls_by_first_byte(c, bytes)) {
        struct http_connection *before = http_connection_begin_collecting_output(c);
        http_connection_refuse_request(c, 400, STR(""));
        http_connection_send_collected_output(c, before);
    } else if (c->tls) {
        decrypt_input(c, bytes, n);
    } else {
        http_connection_parse_input(c, bytes, n);
    }
}

/* Reads an optional PROXY protocol header at the start of a connection. The bytes after it are
 * handled as input. */
static void read_proxy_preamble(struct http_connection *c, const char *bytes, size_t n)
{
    struct ip_address client;
    bool found;

    buf_add(&c->in, bytes, n);
    long used = parse_proxy_protocol_header(buf_as_str(&c->in), &client, &found);
    if (used == 0)
        return;
    c->preamble = false;
    if (used == PROXY_BAD) {
        http_connection_close(c);
        return;
    }
    struct buf all = c->in;
    size_t skipped = used > 0 ? (size_t)used : 0;
    buf_init(&c->in, all.max);
    if (found)
        http_connection_set_client_address(c, &client);
    if (all.n > skipped)
        handle_received_bytes(c, all.p + skipped, all.n - skipped);
    buf_clear(&all);
}

static void on_bytes_received(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct http_connection *c = container_of(stream, struct http_connection, tcp);

    if (n == 0 || n == UV_ENOBUFS)
        return;
    loop_set_measured_activity("reading");
    if (n < 0) {
        if (n == UV_EOF)
            on_end_of_input(c);
        else
            http_connection_close(c);
        return;
    }
    server_counter_add(&c->server_loop->counters.bytes_in, (uint64_t)n);
    if (c->preamble)
        read_proxy_preamble(c, buf->base, (size_t)n);
    else
        handle_received_bytes(c, buf->base, (size_t)n);
}

void http_connection_start_reading(struct http_connection *c)
{
    if (uv_read_start((uv_stream_t *)&c->tcp, on_read_buffer_needed, on_bytes_received) != 0)
        http_connection_close(c);
}

void http_connection_set_read_paused(struct http_connection *c, bool pause)
{
    if (c->paused == pause || c->state == CONN_CLOSED || c->ended)
        return;
    c->paused = pause;
    if (pause)
        uv_read_stop((uv_stream_t *)&c->tcp);
    else
        http_connection_start_reading(c);
}
