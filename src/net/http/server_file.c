/* server_file.c - responses that are sent as the peer reads them: files and long texts. */
#include <errno.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/http/server_internal.h"

enum {
    PIECE = 16 * 1024, /* maximum in memory for a slow peer */
    AT_ONCE = 256 * 1024,
    A_TURN = 1024 * 1024, /* bytes per loop iteration, for fairness */
};

struct file_sending {
    int fd;                     /* -1: the response is a text */
    struct str text;            /* the unsent rest */
    struct buf owned;           /* buffer that owns the text; empty: the text is static or shared */
    struct shared_text *shared; /* shared text that owns the text, or NULL */
    int64_t left;
    bool keep_alive;
};

void file_close(struct connection *c)
{
    if (!c->file)
        return;
    if (c->file->fd >= 0)
        close(c->file->fd);
    loop_dispose_buf(c->home->loop, &c->file->owned);
    shared_text_unref(c->file->shared);
    mem_free(c->file);
    c->file = NULL;
}

static void file_passed(struct connection *c, struct file_sending *f, size_t n)
{
    f->left -= (int64_t)n;
    if (f->fd < 0)
        f->text = str_from(f->text, n);
    c->handed += n;
    figure_add(&c->home->figures.bytes_out, n);
}

/* Sends the headers and the start of a text in one system call, so that the headers alone do not
 * wake the peer. Unsent headers stay in buffers.out. */
static void send_with_head(struct connection *c, struct file_sending *f)
{
    struct home *h = c->home;
    uv_os_fd_t socket;

    if (f->fd >= 0 || c->tls || h->current != c || !h->buffers.out.n || connection_unsent(c) ||
        uv_fileno((uv_handle_t *)&c->tcp, &socket) != 0)
        return;
    struct iovec pieces[] = {
        { h->buffers.out.p, h->buffers.out.n },
        { (char *)(uintptr_t)f->text.p, f->text.n < AT_ONCE ? f->text.n : AT_ONCE },
    };
    struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 2 };
    ssize_t n = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n <= 0)
        return; /* connection_flush handles the error */
    size_t of_head = (size_t)n < h->buffers.out.n ? (size_t)n : h->buffers.out.n;
    buf_drop(&h->buffers.out, of_head);
    figure_add(&h->figures.bytes_out, of_head);
    file_passed(c, f, (size_t)n - of_head);
}

/* Sends as much as the socket accepts, without a copy in user space. */
static bool send_inside(struct connection *c, struct file_sending *f)
{
    int64_t until = f->left - A_TURN;
    uv_os_fd_t socket;

    if (c->tls || uv_fileno((uv_handle_t *)&c->tcp, &socket) != 0)
        return true;
    ssize_t n = 1;
    while (f->left > (until > 0 ? until : 0) && n > 0) {
        size_t most = (size_t)(f->left < AT_ONCE ? f->left : AT_ONCE);

        n = f->fd >= 0 ? sendfile(socket, f->fd, NULL, most)
                       : send(socket, f->text.p, most, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0)
            file_passed(c, f, (size_t)n);
    }
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINVAL || errno == EINTR));
}

/* Sends one piece through libuv, which calls back when a full socket is writable again. queued:
 * libuv always calls back, in the next loop iteration. */
static bool send_piece(struct connection *c, struct file_sending *f, bool queued)
{
    char piece[PIECE];
    ssize_t n = f->left < PIECE ? (ssize_t)f->left : PIECE;
    struct str s = str_slice(f->text.p, (size_t)n);

    if (f->fd >= 0) {
        n = read(f->fd, piece, (size_t)n);
        if (n <= 0)
            return false;
        s = str_slice(piece, (size_t)n);
    }
    f->left -= n;
    if (f->fd < 0)
        f->text = str_from(f->text, (size_t)n);
    if (queued)
        connection_send_queued(c, s);
    else
        connection_send(c, &s, 1);
    return true;
}

bool file_continue(struct connection *c)
{
    struct file_sending *f = c->file;
    int64_t began = f->left;

    send_with_head(c, f);
    connection_flush(c);
    while (c->state == CONN_FILE && f->left && connection_unsent(c) == 0) {
        bool rests = began - f->left >= A_TURN;

        if ((rests || send_inside(c, f)) && (f->left == 0 || send_piece(c, f, rests))) {
            if (rests)
                break;
            continue;
        }
        /* The length was already announced, so the connection must be closed. */
        log_warn("server: could not send a whole file; closing the connection");
        connection_close(c);
    }
    if (c->state != CONN_FILE || f->left || connection_unsent(c))
        return false;
    bool keep = f->keep_alive;
    file_close(c);
    serving_answered(c, NULL, keep);
    return true;
}

/* Starts the body and frees the request. */
static void file_begin(struct connection *c, struct serving *call, struct file_sending f)
{
    f.keep_alive = call->keep_alive;
    c->file = mem_new(sizeof *c->file);
    *c->file = f;
    if (c->state == CONN_CLOSED || call->head || f.left == 0) {
        file_close(c);
        serving_answered(c, call, f.keep_alive);
        return;
    }
    c->state = CONN_FILE;
    c->call = NULL;
    serving_free(call);
}

/* Appends the headers and starts the body; also sends it, unless the connection's input is being
 * handled. */
static void file_answer(struct serving *call, const struct answer_head *head, struct file_sending f)
{
    struct connection *c = call->x.connection;
    struct home *h = call->home;
    bool nested = h->current == c, zipped = f.fd < 0 && head->zipped;
    bool varies = f.fd < 0 && !head->no_gzip && http_gzip_fits(head->content_type, (size_t)f.left);
    struct connection *before = connection_begin(c);

    call->keep_alive = call->keep_alive && !head->close && !h->stopping;
    struct answer_to to = { .keep_alive = call->keep_alive, .old = call->old };
    answer_add_head(h, &to, head, (uint64_t)f.left, zipped, zipped || varies);
    if (!answer_has_body(head->status))
        f.left = 0;
    file_begin(c, call, f);
    if (nested)
        return;
    connection_resume(c);
    h->current = before;
}

void http_answer_file(struct exchange *x, const struct answer_head *head, int fd, int64_t length)
{
    struct serving *call = container_of(x, struct serving, x);

    if (x->connection) {
        if (x->connection->state == CONN_ASKED)
            call->keep_alive = body_give_up(x->connection, call, call->keep_alive);
        file_answer(call, head, (struct file_sending){ .fd = fd, .left = length });
        return;
    }
    close(fd);
    serving_free(call);
}

static void text_answer(struct exchange *x, const struct answer_head *head, struct file_sending f)
{
    struct serving *call = container_of(x, struct serving, x);
    struct connection *c = x->connection;

    if (!c) {
        loop_dispose_buf(x->loop, &f.owned);
        shared_text_unref(f.shared);
        serving_free(call);
        return;
    }
    if (c->state == CONN_ASKED)
        call->keep_alive = body_give_up(c, call, call->keep_alive);
    file_answer(call, head, f);
}

void http_answer_long(struct exchange *x, const struct answer_head *head, struct str text,
                      struct buf *owner)
{
    struct file_sending f = { .fd = -1, .text = text, .left = (int64_t)text.n };

    if (owner) {
        f.owned = *owner;
        buf_init(owner, owner->max);
    }
    text_answer(x, head, f);
}

void http_answer_shared(struct exchange *x, const struct answer_head *head,
                        struct shared_text *text)
{
    struct str s = shared_text_str(text);

    text_answer(x, head,
                (struct file_sending){
                    .fd = -1, .text = s, .shared = shared_text_ref(text), .left = (int64_t)s.n });
}
