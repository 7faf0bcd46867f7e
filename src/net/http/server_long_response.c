/* server_long_response.c - responses that are sent as the peer reads them: files and long texts. */
#include <errno.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/http/server_internal.h"

enum {
    PIECE_BYTES = 16 * 1024, /* maximum number of bytes in memory for a peer that reads slowly */
    MAX_BYTES_PER_CALL = 256 * 1024,
    MAX_BYTES_PER_ITERATION = 1024 * 1024, /* bytes per loop iteration, for fairness */
};

struct long_response {
    int fd;           /* descriptor of the file to send; -1 if the response is a text */
    struct str text;  /* the part of the text that is not sent yet */
    struct buf owned; /* buffer that owns the text; empty if the text is static or shared */
    struct shared_text *shared; /* shared text that owns the text, or NULL */
    int64_t left;
    bool keep_alive;
};

void long_response_free(struct http_connection *c)
{
    if (!c->file)
        return;
    if (c->file->fd >= 0)
        close(c->file->fd);
    loop_free_buf_on_thread_pool(c->server_loop->loop, &c->file->owned);
    shared_text_unref(c->file->shared);
    mem_free(c->file);
    c->file = NULL;
}

static void count_sent_bytes(struct http_connection *c, struct long_response *f, size_t n)
{
    f->left -= (int64_t)n;
    if (f->fd < 0)
        f->text = str_skip_bytes(f->text, n);
    c->queued_bytes += n;
    server_counter_add(&c->server_loop->counters.bytes_out, n);
}

/* Sends the headers and the start of the text in one system call, so that the peer is not woken for
 * the headers alone. Unsent headers stay in buffers.out. */
static void send_head_and_text_start(struct http_connection *c, struct long_response *f)
{
    struct server_loop *h = c->server_loop;
    uv_os_fd_t socket;

    if (f->fd >= 0 || c->tls || h->current != c || !h->buffers.out.n ||
        http_connection_count_unsent_bytes(c) || uv_fileno((uv_handle_t *)&c->tcp, &socket) != 0)
        return;
    struct iovec pieces[] = {
        { h->buffers.out.p, h->buffers.out.n },
        { (char *)(uintptr_t)f->text.p,
          f->text.n < MAX_BYTES_PER_CALL ? f->text.n : MAX_BYTES_PER_CALL },
    };
    struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 2 };
    ssize_t n = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n <= 0)
        return; /* http_connection_flush handles a send error */
    size_t of_head = (size_t)n < h->buffers.out.n ? (size_t)n : h->buffers.out.n;
    buf_drop_first_bytes(&h->buffers.out, of_head);
    server_counter_add(&h->counters.bytes_out, of_head);
    count_sent_bytes(c, f, (size_t)n - of_head);
}

/* Sends as much of the body as the socket accepts, without a copy in user space. */
static bool send_body_without_copy(struct http_connection *c, struct long_response *f)
{
    int64_t until = f->left - MAX_BYTES_PER_ITERATION;
    uv_os_fd_t socket;

    if (c->tls || uv_fileno((uv_handle_t *)&c->tcp, &socket) != 0)
        return true;
    ssize_t n = 1;
    while (f->left > (until > 0 ? until : 0) && n > 0) {
        size_t most = (size_t)(f->left < MAX_BYTES_PER_CALL ? f->left : MAX_BYTES_PER_CALL);

        n = f->fd >= 0 ? sendfile(socket, f->fd, NULL, most)
                       : send(socket, f->text.p, most, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0)
            count_sent_bytes(c, f, (size_t)n);
    }
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINVAL || errno == EINTR));
}

/* Sends one piece through libuv. If the socket is full, libuv calls back when it is writable again.
 * If `queued` is set, libuv always calls back, in the next loop iteration. */
static bool send_next_body_piece(struct http_connection *c, struct long_response *f, bool queued)
{
    char piece[PIECE_BYTES];
    ssize_t n = f->left < PIECE_BYTES ? (ssize_t)f->left : PIECE_BYTES;
    struct str s = str_slice(f->text.p, (size_t)n);

    if (f->fd >= 0) {
        n = read(f->fd, piece, (size_t)n);
        if (n <= 0)
            return false;
        s = str_slice(piece, (size_t)n);
    }
    f->left -= n;
    if (f->fd < 0)
        f->text = str_skip_bytes(f->text, (size_t)n);
    if (queued)
        http_connection_send_through_libuv_queue(c, s);
    else
        http_connection_send(c, &s, 1);
    return true;
}

bool long_response_send_more(struct http_connection *c)
{
    struct long_response *f = c->file;
    int64_t began = f->left;

    send_head_and_text_start(c, f);
    http_connection_flush(c);
    while (c->state == CONN_FILE && f->left && http_connection_count_unsent_bytes(c) == 0) {
        bool rests = began - f->left >= MAX_BYTES_PER_ITERATION;

        if ((rests || send_body_without_copy(c, f)) &&
            (f->left == 0 || send_next_body_piece(c, f, rests))) {
            if (rests)
                break;
            continue;
        }
        /* The rest of the file cannot be read, and the headers with the full length were already
         * sent, so close the connection. */
        log_warn(
            "server: cannot read the rest of a file that is being sent; closing the connection");
        http_connection_close(c);
    }
    if (c->state != CONN_FILE || f->left || http_connection_count_unsent_bytes(c))
        return false;
    bool keep = f->keep_alive;
    long_response_free(c);
    http_connection_end_request(c, NULL, keep);
    return true;
}

/* Starts to send the body, and frees the request, which is not needed any more. */
static void begin_long_response(struct http_connection *c, struct http_server_request *call,
                                struct long_response f)
{
    f.keep_alive = call->keep_alive;
    c->file = mem_new(sizeof *c->file);
    *c->file = f;
    if (c->state == CONN_CLOSED || call->head || f.left == 0) {
        long_response_free(c);
        http_connection_end_request(c, call, f.keep_alive);
        return;
    }
    c->state = CONN_FILE;
    c->call = NULL;
    http_server_request_free(call);
}

/* Appends the headers and starts the body. If the connection's input is being handled, the output
 * is sent by the function that handles the input. */
static void respond_with_long_body(struct http_server_request *call,
                                   const struct response_head *head, struct long_response f)
{
    struct http_connection *c = call->x.connection;
    struct server_loop *h = call->server_loop;
    bool nested = h->current == c, zipped = f.fd < 0 && head->gzipped;
    bool varies = f.fd < 0 && !head->no_gzip &&
                  http_response_is_worth_compressing(head->content_type, (size_t)f.left);
    struct http_connection *before = http_connection_begin_collecting_output(c);

    call->keep_alive = call->keep_alive && !head->close && !h->stopping;
    struct response_encoding_context to = { .keep_alive = call->keep_alive, .old = call->old };
    append_response_head(h, &to, head, (uint64_t)f.left, zipped, zipped || varies);
    if (!http_status_has_body(head->status))
        f.left = 0;
    begin_long_response(c, call, f);
    if (nested)
        return;
    http_connection_parse_stored_input(c);
    h->current = before;
}

void http_respond_file(struct http_exchange *x, const struct response_head *head, int fd,
                       int64_t length)
{
    struct http_server_request *call = container_of(x, struct http_server_request, x);

    if (x->connection) {
        if (x->connection->state == CONN_AUTHORIZING_BODY)
            call->keep_alive = http_request_body_skip(x->connection, call, call->keep_alive);
        respond_with_long_body(call, head, (struct long_response){ .fd = fd, .left = length });
        return;
    }
    close(fd);
    http_server_request_free(call);
}

static void respond_with_long_text(struct http_exchange *x, const struct response_head *head,
                                   struct long_response f)
{
    struct http_server_request *call = container_of(x, struct http_server_request, x);
    struct http_connection *c = x->connection;

    if (!c) {
        loop_free_buf_on_thread_pool(x->loop, &f.owned);
        shared_text_unref(f.shared);
        http_server_request_free(call);
        return;
    }
    if (c->state == CONN_AUTHORIZING_BODY)
        call->keep_alive = http_request_body_skip(c, call, call->keep_alive);
    respond_with_long_body(call, head, f);
}

void http_respond_long_text(struct http_exchange *x, const struct response_head *head,
                            struct str text, struct buf *owner)
{
    struct long_response f = { .fd = -1, .text = text, .left = (int64_t)text.n };

    if (owner) {
        f.owned = *owner;
        buf_init(owner, owner->max);
    }
    respond_with_long_text(x, head, f);
}

void http_respond_shared_text(struct http_exchange *x, const struct response_head *head,
                              struct shared_text *text)
{
    struct str s = shared_text_get(text);

    respond_with_long_text(
        x, head,
        (struct long_response){
            .fd = -1, .text = s, .shared = shared_text_ref(text), .left = (int64_t)s.n });
}
