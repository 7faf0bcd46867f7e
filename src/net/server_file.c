/* server_file.c - answers from files, sent as the peer takes them. */
#include <errno.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/server_internal.h"

/* What waits in memory for a peer that is slow is one piece. */
enum { PIECE = 16 * 1024, AT_ONCE = 256 * 1024 };

struct file_sending {
    int fd;
    int64_t left;
};

void file_close(struct connection *c)
{
    if (!c->file)
        return;
    close(c->file->fd);
    mem_free(c->file);
    c->file = NULL;
}

/* From file to socket inside the kernel, as far as the socket takes it. */
static bool send_inside(struct connection *c, struct file_sending *f)
{
    uv_os_fd_t socket;

    if (c->tls || uv_fileno((uv_handle_t *)&c->tcp, &socket) != 0)
        return true;
    ssize_t n = 1;
    while (f->left && n > 0) {
        n = sendfile(socket, f->fd, NULL, (size_t)(f->left < AT_ONCE ? f->left : AT_ONCE));
        if (n > 0) {
            f->left -= n;
            c->handed += (uint64_t)n;
            figure_add(&c->home->figures.bytes_out, (uint64_t)n);
        }
    }
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINVAL || errno == EINTR));
}

/* One piece through memory; when the socket is full it also is what tells us
 * that there is room again. */
static bool send_piece(struct connection *c, struct file_sending *f)
{
    char piece[PIECE];
    ssize_t n = read(f->fd, piece, (size_t)(f->left < PIECE ? f->left : PIECE));

    if (n <= 0)
        return false;
    f->left -= n;
    struct str s = str_slice(piece, (size_t)n);
    connection_send(c, &s, 1);
    return true;
}

bool file_continue(struct connection *c)
{
    struct file_sending *f = c->file;

    connection_flush(c);
    while (c->state == CONN_FILE && f->left && connection_unsent(c) == 0) {
        if (send_inside(c, f) && (f->left == 0 || send_piece(c, f)))
            continue;
        /* The length was promised: all we can do is break off. */
        log_warn("server: a file ended early or could not be sent");
        connection_close(c);
    }
    if (c->state != CONN_FILE || f->left || connection_unsent(c))
        return false;
    file_close(c);
    serving_answered(c, c->call, c->call->keep_alive);
    return true;
}

static void file_begin(struct connection *c, struct serving *call, int fd, int64_t length)
{
    if (c->state == CONN_CLOSED || call->head || length == 0) {
        close(fd);
        serving_answered(c, call, call->keep_alive);
        return;
    }
    c->file = mem_new(sizeof *c->file);
    *c->file = (struct file_sending){ fd, length };
    c->state = CONN_FILE;
}

void http_answer_file(struct exchange *x, const struct answer_head *head, int fd, int64_t length)
{
    struct serving *call = container_of(x, struct serving, x);
    struct connection *c = x->connection;
    struct home *h = call->home;

    if (!c) {
        close(fd);
        serving_free(call);
        return;
    }
    bool nested = h->current == c;
    struct connection *before = connection_begin(c);
    call->keep_alive = call->keep_alive && !head->close && !h->stopping;
    struct answer_to to = { .keep_alive = call->keep_alive, .old = call->old };
    answer_add_head(h, &to, head, (uint64_t)length, false, false);
    file_begin(c, call, fd, answer_has_body(head->status) ? length : 0);
    if (nested)
        return;
    connection_resume(c);
    h->current = before;
}
