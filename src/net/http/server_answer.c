/* server_answer.c - encodes responses. */
#include <assert.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "net/http/server_internal.h"

/* --- requests and their arenas -------------------------------------------------------- */

struct serving *serving_new(struct home *h)
{
    struct arena *a = h->arena_count ? h->arenas[--h->arena_count] : arena_new();
    struct serving *call = arena_alloc(a, sizeof *call);

    call->x.arena = a;
    call->x.loop = h->loop;
    call->home = h;
    h->calls++;
    return call;
}

static void arena_give_back(void *arena)
{
    arena_free(arena);
}

void serving_free(struct serving *call)
{
    if (!call)
        return;
    struct home *h = call->home;
    struct arena *a = call->x.arena;

    loop_dispose_buf(h->loop, &call->data);
    multipart_dispose(call->x.parts, h->loop);
    if (call->paid)
        body_budget_give(h->budget, &call->owner, call->paid);
    h->calls--;
    if (arena_used(a) >= LOOP_DISPOSE_LEAST) {
        loop_dispose(h->loop, a, arena_give_back);
    } else if (h->arena_count < ARENAS_KEPT && !h->orphaned) {
        arena_reset(a);
        h->arenas[h->arena_count++] = a;
    } else {
        arena_free(a);
    }
    if (h->orphaned && h->calls == 0)
        home_free(h);
}

/* --- headers -------------------------------------------------------------------------- */

static void refresh_common(struct home *h)
{
    if (h->head.dated)
        return;
    int64_t now = clock_s();
    char date[30];
    h->head.dated = true;
    if (now == h->head.date)
        return;
    timestamp_http(now, date);
    h->head.date = now;
    h->head.common_n = (size_t)snprintf(
        h->head.common, sizeof h->head.common,
        "\r\nDate: %.29s\r\nVia: %.128s\r\nX-Content-Type-Options: nosniff\r\n", date, h->head.via);
}

static char *answer_put(char *at, const char *p, size_t n)
{
    memcpy(at, p, n);
    return at + n;
}

#define PUT(at, literal) answer_put((at), (literal), sizeof(literal) - 1)

static char *put_number(char *at, uint64_t v)
{
    char digits[20];
    size_t i = sizeof digits;

    do {
        digits[--i] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    return answer_put(at, digits + i, sizeof digits - i);
}

bool answer_has_body(int status)
{
    return status != 204 && status != 304;
}

enum { FIXED_HEAD = 256 }; /* upper limit for all fixed header text */

void answer_add_head(struct home *h, const struct answer_to *to, const struct answer_head *head,
                     uint64_t length, bool zipped, bool varies)
{
    const char *reason = status_reason(head->status);
    size_t reason_n = strlen(reason);

    refresh_common(h);
    char *start = buf_room(&h->buffers.out, FIXED_HEAD + reason_n + h->head.common_n +
                                                head->content_type.n + head->headers.n);
    char *at = PUT(start, "HTTP/1.1 ");
    at = put_number(at, (uint64_t)head->status);
    *at++ = ' ';
    at = answer_put(at, reason, reason_n);
    at = answer_put(at, h->head.common, h->head.common_n);
    if (answer_has_body(head->status)) {
        if (head->content_type.n) {
            at = PUT(at, "Content-Type: ");
            at = answer_put(at, head->content_type.p, head->content_type.n);
            at = PUT(at, "\r\n");
        }
        at = PUT(at, "Content-Length: ");
        at = put_number(at, length);
        at = PUT(at, "\r\n");
    }
    if (zipped)
        at = PUT(at, "Content-Encoding: gzip\r\n");
    if (varies)
        at = PUT(at, "Vary: Accept-Encoding\r\n");
    if (!to->keep_alive)
        at = PUT(at, "Connection: close\r\n");
    else if (to->old)
        at = PUT(at, "Connection: keep-alive\r\n");
    if (head->headers.n)
        at = answer_put(at, head->headers.p, head->headers.n);
    at = PUT(at, "\r\n");
    h->buffers.out.n += (size_t)(at - start);
}

/* --- responses ------------------------------------------------------------------------ */

void answer_add(struct connection *c, const struct answer_to *to, const struct answer_head *head,
                struct str body)
{
    struct home *h = c->home;
    bool varies = !head->no_gzip && answer_has_body(head->status) &&
                  http_gzip_fits(head->content_type, body.n);
    bool zipped = varies && !head->zipped && body.n <= HTTP_GZIP_LONGEST && to->accept_encoding.n &&
                  http_accepts(to->accept_encoding, STR("gzip")) && gzip_body(h, body, &body);

    if (head->zipped)
        varies = zipped = true;
    answer_add_head(h, to, head, body.n, zipped, varies);
    if (to->head || !answer_has_body(head->status))
        return;
    if (body.n >= COPY_LIMIT)
        connection_send(c, &body, 1);
    else
        buf_add_str(&h->buffers.out, body);
}

void answer_add_refusal(struct connection *c, const struct answer_to *to, int status,
                        struct str headers)
{
    struct home *h = c->home;
    struct answer_head head = { .status = status, .content_type = STR("application/json") };

    buf_reset(&h->buffers.pieces);
    buf_add_str(&h->buffers.pieces, headers);
    buf_add_str(&h->buffers.pieces, h->app.refusal_lines);
    size_t lines = h->buffers.pieces.n;
    h->app.refusal(h->app.arg, status, &h->buffers.pieces);
    figure_add(&h->figures.refused, 1);
    struct str all = buf_str(&h->buffers.pieces);
    head.headers = str_slice(all.p, lines);
    answer_add(c, to, &head, str_from(all, lines));
}

void serving_answered(struct connection *c, struct serving *call, bool keep_alive)
{
    c->call = NULL;
    if (c->state != CONN_CLOSED) {
        c->state = keep_alive ? CONN_HEAD : CONN_LAST;
        /* Unread pipelined input would reset the connection before the client reads the
         * response. */
        if (!keep_alive && c->in.n)
            c->linger = true;
    }
    serving_free(call);
}

void http_answer(struct exchange *x, const struct answer_head *head, struct str body)
{
    struct serving *call = container_of(x, struct serving, x);
    struct connection *c = x->connection;

    assert(loop_current() == x->loop);
    if (!c) {
        serving_free(call);
        return;
    }
    bool keep = call->keep_alive && !head->close && !call->home->stopping;
    if (c->state == CONN_ASKED)
        keep = body_give_up(c, call, keep);
    struct answer_to to = { x->request->accept_encoding, call->head, keep, call->old };
    if (c->home->current == c) { /* input is being handled, so the caller continues */
        answer_add(c, &to, head, body);
        serving_answered(c, call, keep);
        return;
    }
    struct connection *before = connection_begin(c);
    answer_add(c, &to, head, body);
    serving_answered(c, call, keep);
    /* c is still current, so this call only adds to the output that is sent below. */
    connection_resume(c);
    c->home->current = before;
}

void http_drop(struct exchange *x)
{
    if (x->connection)
        connection_close(x->connection);
    serving_free(container_of(x, struct serving, x));
}
