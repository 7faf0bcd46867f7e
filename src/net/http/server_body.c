/* server_body.c - reads request bodies within the application's limits and the memory budget.
 *
 * A body that is short or already received is read at once. For any other body the application
 * first authenticates the sender (admit), so that a request that fails by its head alone uses no
 * memory; the body then counts against the budget. */
#include <assert.h>

#include "base/arena.h"
#include "base/mem.h"
#include "net/http/server_internal.h"

enum {
    UNASKED_MAX = 4 * 1024,   /* bodies up to this length are read without authentication */
    UNASKED_HEAD = 16 * 1024, /* … if the head is not longer than this */
    DRAIN_MAX = 64 * 1024,    /* refused bodies up to this length are read and discarded */
    PAY_STEP = 64 * 1024,     /* bytes reserved in the budget at a time */
    /* Delimiters and part headers of a form do not count towards the limit for its contents. */
    FORM_OVERHEAD =
        (MULTIPART_MAX_PARTS + 1) * (MULTIPART_MAX_PART_HEAD + 2 * MULTIPART_MAX_BOUNDARY),
};

static bool is_form(const struct http_request *r)
{
    return http_media_type_is(r->content_type, STR("multipart/form-data"));
}

/* --- before the body is read ---------------------------------------------------------- */

bool body_give_up(struct connection *c, struct serving *call, bool keep_alive)
{
    const struct http_request *r = call->x.request;

    /* Skip a short body, to reuse the connection; close it instead of waiting for a long one. */
    if (!keep_alive || r->chunked || r->length > DRAIN_MAX || r->expect_continue) {
        c->linger = true;
        return false;
    }
    c->skip = r->length;
    return true;
}

/* Refuses a body whose announced length is too long, before any of it is read. */
static void refuse_length(struct connection *c, struct serving *call)
{
    bool keep = body_give_up(c, call, call->keep_alive && !c->home->stopping);
    struct answer_to to = { .head = call->head, .keep_alive = keep, .old = call->old };

    c->timing = TIMING_NONE;
    refusal_note(c, call, 413, STR(""));
    answer_add_refusal(c, &to, 413, STR(""));
    serving_answered(c, call, keep);
}

static bool begin_form(struct serving *call)
{
    char boundary[MULTIPART_MAX_BOUNDARY];
    size_t n = 0;

    if (!http_parameter(call->x.request->content_type, STR("boundary"), boundary, sizeof boundary,
                        &n))
        return false;
    call->x.parts = multipart_new(str_slice(boundary, n), call->max_parts);
    return call->x.parts != NULL;
}

/* Counts n more received bytes; returns false if the memory budget is exhausted. */
static bool body_pay(const struct home *h, struct serving *call, size_t n)
{
    call->received += n;
    if (!call->charged || call->received <= call->paid)
        return true;
    size_t due = (call->received - call->paid + PAY_STEP - 1) / PAY_STEP * PAY_STEP;
    if (!body_budget_take(h->budget, &call->owner, due))
        return false;
    call->paid += due;
    return true;
}

/* Starts to receive a body. Memory grows with the received bytes, not with the announced length. */
static void body_expect(struct connection *c)
{
    struct serving *call = c->call;
    const struct http_request *r = call->x.request;

    if (!r->chunked && r->length > call->max) {
        refuse_length(c, call);
        return;
    }
    if (call->form && !begin_form(call)) {
        connection_refuse(c, 400, STR(""));
        return;
    }
    if (!body_pay(c->home, call, 0)) { /* the head counts, too: it is stored as long as the body */
        connection_refuse(c, 503, STR("Retry-After: 5\r\n"));
        return;
    }
    c->state = CONN_BODY;
    c->timing = TIMING_NONE; /* the body gets its own timeout */
    call->left = r->length;
    buf_init(&call->data, call->form ? 0 : (size_t)(r->chunked ? call->max : r->length));
    if (call->expects)
        buf_add_lit(&c->home->buffers.out, "HTTP/1.1 100 Continue\r\n\r\n");
}

static uint64_t longest_body(const struct home *h, const struct serving *call,
                             const struct intake *in)
{
    uint64_t max = call->form ? in->max_multipart + (uint64_t)FORM_OVERHEAD : in->max_body;
    size_t share = body_budget_share(h->budget) - PAY_STEP; /* the head counts, too */

    return max < share ? max : share;
}

static bool is_for_anybody(const struct serving *call)
{
    const struct http_request *r = call->x.request;

    return !call->form && !r->chunked && r->length <= UNASKED_MAX && r->length <= call->max &&
           call->received <= UNASKED_HEAD;
}

size_t body_begin(struct connection *c, struct serving *call, struct str rest)
{
    struct home *h = c->home;
    const struct http_request *r = call->x.request;
    struct intake intake = h->app.intake(h->app.arg, r);

    call->form = intake.max_multipart && is_form(r);
    call->max_parts = intake.max_multipart;
    call->max = longest_body(h, call, &intake);
    call->expects = r->expect_continue && rest.n == 0 && !call->old;
    if (!call->form && !r->chunked && r->length <= call->max && r->length <= rest.n) {
        call->x.body = str_dup(call->x.arena, str_slice(rest.p, (size_t)r->length));
        size_t used = call->x.body.n;
        connection_dispatch(c, call); /* may respond to the request and free it */
        return used;
    }
    c->call = call;
    call->charged = !is_for_anybody(call);
    if (!call->charged || !h->app.admit) {
        body_expect(c);
        return 0;
    }
    c->state = CONN_ASKED;
    c->timing = TIMING_NONE;
    h->app.admit(h->app.arg, &call->x); /* may respond to the request and free it */
    return 0;
}

void http_admit(struct exchange *x, uint64_t account)
{
    struct serving *call = container_of(x, struct serving, x);
    struct connection *c = x->connection;

    assert(loop_current() == x->loop);
    if (!c) {
        serving_free(call);
        return;
    }
    assert(c->state == CONN_ASKED);
    call->owner = (struct body_owner){ x->address, account };
    if (c->home->current == c) { /* input is being handled, so the caller continues */
        body_expect(c);
        return;
    }
    struct connection *before = connection_begin(c);
    body_expect(c);
    connection_resume(c);
    c->home->current = before;
}

/* --- while the body is received ------------------------------------------------------- */

static int add_bytes(struct serving *call, struct str bytes)
{
    if (!call->x.parts) {
        buf_add_str(&call->data, bytes);
        return buf_full(&call->data) ? 413 : 0;
    }
    enum err e = multipart_feed(call->x.parts, bytes);
    return e == OK ? 0 : e == ERR_ENTITY_TOO_LARGE ? 413 : 400;
}

static long read_chunks(struct home *h, struct serving *call, struct str bytes, bool *ret_done)
{
    if (!call->x.parts) {
        long n = http_read_chunks(&call->chunks, bytes, &call->data, ret_done);
        return n >= 0 && buf_full(&call->data) ? -413 : n;
    }
    buf_reset(&h->buffers.pieces);
    long n = http_read_chunks(&call->chunks, bytes, &h->buffers.pieces, ret_done);
    int status = n < 0 ? 0 : add_bytes(call, buf_str(&h->buffers.pieces));
    return status ? -status : n;
}

static long read_length(struct serving *call, struct str bytes, bool *ret_done)
{
    size_t n = bytes.n < call->left ? bytes.n : (size_t)call->left;
    int status = add_bytes(call, str_slice(bytes.p, n));

    call->left -= n;
    *ret_done = call->left == 0;
    return status ? -status : (long)n;
}

size_t body_read(struct connection *c, struct str bytes)
{
    struct serving *call = c->call;
    bool done = false;
    size_t before = call->left && bytes.n > call->left ? (size_t)call->left : bytes.n;

    c->received += before;
    if (!body_pay(c->home, call, before)) {
        connection_refuse(c, 503, STR("Retry-After: 5\r\n"));
        return bytes.n;
    }
    long n = call->x.request->chunked ? read_chunks(c->home, call, bytes, &done)
                                      : read_length(call, bytes, &done);

    if (n >= 0 && done && call->x.parts && multipart_end(call->x.parts) != OK)
        n = -400;
    if (n < 0) {
        connection_refuse(c, (int)-n, STR(""));
        return bytes.n;
    }
    if (done) {
        call->x.body = buf_str(&call->data);
        connection_dispatch(c, call);
    }
    return (size_t)n;
}
