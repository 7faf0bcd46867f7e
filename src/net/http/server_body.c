/* server_body.c - reads request bodies within the application's limits and the memory budget.
 *
 * A body that is short or already received is read at once. Before any other body is read, the
 * application authenticates the sender (authorize_body), so that a request that fails because of
 * its head uses no memory. The body then counts against the budget. */
#include <assert.h>

#include "base/arena.h"
#include "base/mem.h"
#include "net/http/server_internal.h"

enum {
    MAX_UNAUTHORIZED_BODY = 4 * 1024,  /* maximum length in bytes of bodies that are read without
                                        * authentication */
    MAX_UNAUTHORIZED_HEAD = 16 * 1024, /* if the head is longer than this, every body needs
                                        * authentication */
    MAX_SKIPPED_BODY = 64 * 1024, /* refused bodies up to this length are read and discarded, to
                                   * reuse the connection */
    BUDGET_STEP = 64 * 1024,      /* number of bytes that are reserved in the budget at a time */
    /* Additional bytes for a form, because its delimiters and part headers do not count towards the
     * limit for its contents. */
    FORM_OVERHEAD =
        (MULTIPART_MAX_PARTS + 1) * (MULTIPART_MAX_PART_HEAD + 2 * MULTIPART_MAX_BOUNDARY),
};

static bool is_multipart_form(const struct http_request *r)
{
    return http_media_type_is(r->content_type, STR("multipart/form-data"));
}

bool http_request_body_skip(struct http_connection *c, struct http_server_request *call,
                            bool keep_alive)
{
    const struct http_request *r = call->x.request;

    /* Discard a short body, so that the connection can be reused. Do not wait for a long body, but
     * close the connection. */
    if (!keep_alive || r->chunked || r->length > MAX_SKIPPED_BODY || r->expect_continue) {
        c->linger = true;
        return false;
    }
    c->skip = r->length;
    return true;
}

/* Refuses a body before it is read, because its announced length exceeds the limit. */
static void refuse_too_long_request_body(struct http_connection *c,
                                         struct http_server_request *call)
{
    bool keep = http_request_body_skip(c, call, call->keep_alive && !c->server_loop->stopping);
    struct response_encoding_context to = { .head = call->head,
                                            .keep_alive = keep,
                                            .old = call->old };

    c->timing = TIMING_NONE;
    report_refused_request(c, call, 413, STR(""));
    append_error_response(c, &to, 413, STR(""));
    http_connection_end_request(c, call, keep);
}

static bool begin_multipart(struct http_server_request *call)
{
    char boundary[MULTIPART_MAX_BOUNDARY];
    size_t n = 0;

    if (!http_copy_header_parameter(call->x.request->content_type, STR("boundary"), boundary,
                                    sizeof boundary, &n))
        return false;
    call->x.parts = multipart_new(str_slice(boundary, n), call->max_parts);
    return call->x.parts != NULL;
}

/* Counts n more received bytes; returns false if the memory budget is exhausted. */
static bool reserve_body_budget(const struct server_loop *h, struct http_server_request *call,
                                size_t n)
{
    call->received += n;
    if (!call->counts_against_budget || call->received <= call->reserved)
        return true;
    size_t due = (call->received - call->reserved + BUDGET_STEP - 1) / BUDGET_STEP * BUDGET_STEP;
    if (!body_budget_reserve(h->budget, &call->owner, due))
        return false;
    call->reserved += due;
    return true;
}

/* Starts to receive a body. Memory grows with the received bytes, not with the announced length. */
static void start_receiving_body(struct http_connection *c)
{
    struct http_server_request *call = c->call;
    const struct http_request *r = call->x.request;

    if (!r->chunked && r->length > call->max) {
        refuse_too_long_request_body(c, call);
        return;
    }
    if (call->form && !begin_multipart(call)) {
        http_connection_refuse_request(c, 400, STR(""));
        return;
    }
    /* Reserve memory for the head, which is stored with the body. */
    if (!reserve_body_budget(c->server_loop, call, 0)) {
        http_connection_refuse_request(c, 503, STR("Retry-After: 5\r\n"));
        return;
    }
    c->state = CONN_BODY;
    c->timing = TIMING_NONE; /* the body gets its own timeout */
    call->left = r->length;
    buf_init(&call->data, call->form ? 0 : (size_t)(r->chunked ? call->max : r->length));
    if (call->expects)
        buf_add_lit(&c->server_loop->buffers.out, "HTTP/1.1 100 Continue\r\n\r\n");
}

static uint64_t max_body_length(const struct server_loop *h, const struct http_server_request *call,
                                const struct body_limits *in)
{
    uint64_t max = call->form ? in->max_multipart + (uint64_t)FORM_OVERHEAD : in->max_body;
    size_t share = body_budget_limit_per_owner(h->budget) - BUDGET_STEP; /* the head also counts */

    return max < share ? max : share;
}

static bool body_needs_no_authorization(const struct http_server_request *call)
{
    const struct http_request *r = call->x.request;

    return !call->form && !r->chunked && r->length <= MAX_UNAUTHORIZED_BODY &&
           r->length <= call->max && call->received <= MAX_UNAUTHORIZED_HEAD;
}

size_t http_request_body_start_reading(struct http_connection *c, struct http_server_request *call,
                                       struct str rest)
{
    struct server_loop *h = c->server_loop;
    const struct http_request *r = call->x.request;
    struct body_limits intake = h->app.body_limits(h->app.arg, r);

    call->form = intake.max_multipart && is_multipart_form(r);
    call->max_parts = intake.max_multipart;
    call->max = max_body_length(h, call, &intake);
    call->expects = r->expect_continue && rest.n == 0 && !call->old;
    if (!call->form && !r->chunked && r->length <= call->max && r->length <= rest.n) {
        call->x.body = str_dup(call->x.arena, str_slice(rest.p, (size_t)r->length));
        size_t used = call->x.body.n;
        /* This call may respond to the request and thereby free it. */
        http_connection_pass_request_to_app(c, call);
        return used;
    }
    c->call = call;
    call->counts_against_budget = !body_needs_no_authorization(call);
    if (!call->counts_against_budget || !h->app.authorize_body) {
        start_receiving_body(c);
        return 0;
    }
    c->state = CONN_AUTHORIZING_BODY;
    c->timing = TIMING_NONE;
    /* This call may respond to the request and thereby free it. */
    h->app.authorize_body(h->app.arg, &call->x);
    return 0;
}

void http_accept_request_body(struct http_exchange *x, uint64_t account)
{
    struct http_server_request *call = container_of(x, struct http_server_request, x);
    struct http_connection *c = x->connection;

    assert(loop_get_current() == x->loop);
    if (!c) {
        http_server_request_free(call);
        return;
    }
    assert(c->state == CONN_AUTHORIZING_BODY);
    call->owner = (struct body_budget_owner){ x->address, account };
    /* The code that is handling the input of c continues with the body. */
    if (c->server_loop->current == c) {
        start_receiving_body(c);
        return;
    }
    struct http_connection *before = http_connection_begin_collecting_output(c);
    start_receiving_body(c);
    http_connection_parse_stored_input(c);
    c->server_loop->current = before;
}

static int append_body_bytes(struct http_server_request *call, struct str bytes)
{
    if (!call->x.parts) {
        buf_add_str(&call->data, bytes);
        return buf_is_full(&call->data) ? 413 : 0;
    }
    enum err e = multipart_feed(call->x.parts, bytes);
    return e == OK ? 0 : e == ERR_ENTITY_TOO_LARGE ? 413 : 400;
}

static long read_chunked_body(struct server_loop *h, struct http_server_request *call,
                              struct str bytes, bool *ret_done)
{
    if (!call->x.parts) {
        long n = http_decode_chunks(&call->chunks, bytes, &call->data, ret_done);
        return n >= 0 && buf_is_full(&call->data) ? -413 : n;
    }
    buf_reset(&h->buffers.pieces);
    long n = http_decode_chunks(&call->chunks, bytes, &h->buffers.pieces, ret_done);
    int status = n < 0 ? 0 : append_body_bytes(call, buf_as_str(&h->buffers.pieces));
    return status ? -status : n;
}

static long read_body_of_known_length(struct http_server_request *call, struct str bytes,
                                      bool *ret_done)
{
    size_t n = bytes.n < call->left ? bytes.n : (size_t)call->left;
    int status = append_body_bytes(call, str_slice(bytes.p, n));

    call->left -= n;
    *ret_done = call->left == 0;
    return status ? -status : (long)n;
}

size_t http_request_body_read(struct http_connection *c, struct str bytes)
{
    struct http_server_request *call = c->call;
    bool done = false;
    size_t before = call->left && bytes.n > call->left ? (size_t)call->left : bytes.n;

    c->received += before;
    if (!reserve_body_budget(c->server_loop, call, before)) {
        http_connection_refuse_request(c, 503, STR("Retry-After: 5\r\n"));
        return bytes.n;
    }
    long n = call->x.request->chunked ? read_chunked_body(c->server_loop, call, bytes, &done)
                                      : read_body_of_known_length(call, bytes, &done);

    if (n >= 0 && done && call->x.parts && multipart_finish(call->x.parts) != OK)
        n = -400;
    if (n < 0) {
        http_connection_refuse_request(c, (int)-n, STR(""));
        return bytes.n;
    }
    if (done) {
        call->x.body = buf_as_str(&call->data);
        http_connection_pass_request_to_app(c, call);
    }
    return (size_t)n;
}
