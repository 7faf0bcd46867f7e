/* server_response.c - encodes responses. */
#include <assert.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "net/http/server_internal.h"

struct http_server_request *http_server_request_new(struct server_loop *h)
{
    struct arena *a = h->arena_count ? h->arenas[--h->arena_count] : arena_new();
    struct http_server_request *call = arena_alloc(a, sizeof *call);

    call->x.arena = a;
    call->x.loop = h->loop;
    call->server_loop = h;
    h->requests_in_progress++;
    return call;
}

static void free_arena_callback(void *arena)
{
    arena_free(arena);
}

void http_server_request_free(struct http_server_request *call)
{
    if (!call)
        return;
    struct server_loop *h = call->server_loop;
    struct arena *a = call->x.arena;

    loop_free_buf_on_thread_pool(h->loop, &call->data);
    multipart_free_on_thread_pool(call->x.parts, h->loop);
    if (call->reserved)
        body_budget_release(h->budget, &call->owner, call->reserved);
    h->requests_in_progress--;
    if (arena_used_bytes(a) >= LOOP_POOL_FREE_MIN_BYTES) {
        loop_free_block_on_thread_pool(h->loop, a, free_arena_callback);
    } else if (h->arena_count < MAX_RETAINED_ARENAS && !h->orphaned) {
        arena_reset(a);
        h->arenas[h->arena_count++] = a;
    } else {
        arena_free(a);
    }
    if (h->orphaned && h->requests_in_progress == 0)
        server_loop_free(h);
}

static void refresh_common_headers(struct server_loop *h)
{
    if (h->head.dated)
        return;
    int64_t now = clock_s();
    char date[30];
    h->head.dated = true;
    if (now == h->head.date)
        return;
    format_http_date(now, date);
    h->head.date = now;
    h->head.common_n = (size_t)snprintf(
        h->head.common, sizeof h->head.common,
        "\r\nDate: %.29s\r\nVia: %.128s\r\nX-Content-Type-Options: nosniff\r\n", date, h->head.via);
}

static char *copy_bytes_and_advance(char *at, const char *p, size_t n)
{
    memcpy(at, p, n);
    return at + n;
}

#define PUT_LITERAL(at, literal) copy_bytes_and_advance((at), (literal), sizeof(literal) - 1)

static char *write_decimal_and_advance(char *at, uint64_t v)
{
    char digits[20];
    size_t i = sizeof digits;

    do {
        digits[--i] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    return copy_bytes_and_advance(at, digits + i, sizeof digits - i);
}

bool http_status_has_body(int status)
{
    return status != 204 && status != 304;
}

enum { FIXED_HEADER_BYTES = 256 }; /* upper limit in bytes for all fixed header text */

void append_response_head(struct server_loop *h, const struct response_encoding_context *to,
                          const struct response_head *head, uint64_t length, bool zipped,
                          bool varies)
{
    const char *reason = http_reason_phrase(head->status);
    size_t reason_n = strlen(reason);

    refresh_common_headers(h);
    char *start = buf_reserve(&h->buffers.out, FIXED_HEADER_BYTES + reason_n + h->head.common_n +
                                                   head->content_type.n + head->headers.n);
    char *at = PUT_LITERAL(start, "HTTP/1.1 ");
    at = write_decimal_and_advance(at, (uint64_t)head->status);
    *at++ = ' ';
    at = copy_bytes_and_advance(at, reason, reason_n);
    at = copy_bytes_and_advance(at, h->head.common, h->head.common_n);
    if (http_status_has_body(head->status)) {
        if (head->content_type.n) {
            at = PUT_LITERAL(at, "Content-Type: ");
            at = copy_bytes_and_advance(at, head->content_type.p, head->content_type.n);
            at = PUT_LITERAL(at, "\r\n");
        }
        at = PUT_LITERAL(at, "Content-Length: ");
        at = write_decimal_and_advance(at, length);
        at = PUT_LITERAL(at, "\r\n");
    }
    if (zipped)
        at = PUT_LITERAL(at, "Content-Encoding: gzip\r\n");
    if (varies)
        at = PUT_LITERAL(at, "Vary: Accept-Encoding\r\n");
    if (!to->keep_alive)
        at = PUT_LITERAL(at, "Connection: close\r\n");
    else if (to->old)
        at = PUT_LITERAL(at, "Connection: keep-alive\r\n");
    if (head->headers.n)
        at = copy_bytes_and_advance(at, head->headers.p, head->headers.n);
    at = PUT_LITERAL(at, "\r\n");
    h->buffers.out.n += (size_t)(at - start);
}

/* --- responses ------------------------------------------------------------------------ */

static void append_response(struct http_connection *c, const struct response_encoding_context *to,
                            const struct response_head *head, struct str body)
{
    struct server_loop *h = c->server_loop;
    bool varies = !head->no_gzip && http_status_has_body(head->status) &&
                  http_response_is_worth_compressing(head->content_type, body.n);
    bool zipped = varies && !head->gzipped && body.n <= HTTP_GZIP_MAX_BYTES &&
                  to->accept_encoding.n &&
                  http_accepts_content_coding(to->accept_encoding, STR("gzip")) &&
                  compress_response_body(h, body, &body);

    if (head->gzipped)
        varies = zipped = true;
    append_response_head(h, to, head, body.n, zipped, varies);
    if (to->head || !http_status_has_body(head->status))
        return;
    if (body.n >= MAX_COPIED_PAYLOAD)
        http_connection_send(c, &body, 1);
    else
        buf_add_str(&h->buffers.out, body);
}

void append_error_response(struct http_connection *c, const struct response_encoding_context *to,
                           int status, struct str headers)
{
    struct server_loop *h = c->server_loop;
    struct response_head head = { .status = status, .content_type = STR("application/json") };

    buf_reset(&h->buffers.pieces);
    buf_add_str(&h->buffers.pieces, headers);
    buf_add_str(&h->buffers.pieces, h->app.refusal_lines);
    size_t lines = h->buffers.pieces.n;
    h->app.refusal(h->app.arg, status, &h->buffers.pieces);
    server_counter_add(&h->counters.refused, 1);
    struct str all = buf_as_str(&h->buffers.pieces);
    head.headers = str_slice(all.p, lines);
    append_response(c, to, &head, str_skip_bytes(all, lines));
}

void http_connection_end_request(struct http_connection *c, struct http_server_request *call,
                                 bool keep_alive)
{
    c->call = NULL;
    if (c->state != CONN_CLOSED) {
        c->state = keep_alive ? CONN_HEAD : CONN_LAST;
        /* If pipelined input is unread when the connection closes, TCP sends a reset, and the
         * client may not read the response. */
        if (!keep_alive && c->in.n)
            c->linger = true;
    }
    http_server_request_free(call);
}

void http_respond(struct http_exchange *x, const struct response_head *head, struct str body)
{
    struct http_server_request *call = container_of(x, struct http_server_request, x);
    struct http_connection *c = x->connection;

    assert(loop_get_current() == x->loop);
    if (!c) {
        http_server_request_free(call);
        return;
    }
    bool keep = call->keep_alive && !head->close && !call->server_loop->stopping;
    if (c->state == CONN_AUTHORIZING_BODY)
        keep = http_request_body_skip(c, call, keep);
    struct response_encoding_context to = { x->request->accept_encoding, call->head, keep,
                                            call->old };
    /* The code that is handling the input of c also sends the output. */
    if (c->server_loop->current == c) {
        append_response(c, &to, head, body);
        http_connection_end_request(c, call, keep);
        return;
    }
    struct http_connection *before = http_connection_begin_collecting_output(c);
    append_response(c, &to, head, body);
    http_connection_end_request(c, call, keep);
    /* Handle requests that arrived meanwhile, then send this response and the responses of those
     * requests in one write. */
    http_connection_parse_stored_input(c);
    c->server_loop->current = before;
}

void http_close_connection_without_response(struct http_exchange *x)
{
    if (x->connection)
        http_connection_close(x->connection);
    http_server_request_free(container_of(x, struct http_server_request, x));
}
