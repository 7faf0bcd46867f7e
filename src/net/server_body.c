/* server_body.c - bodies of requests, bounded by what the application takes in. */
#include "base/arena.h"
#include "net/server_internal.h"

enum {
    DRAIN_MAX = 64 * 1024, /* a refused body up to this is read and forgotten */
    /* What separates the parts of a form may come on top of their contents. */
    FORM_OVERHEAD =
        (MULTIPART_MAX_PARTS + 1) * (MULTIPART_MAX_PART_HEAD + 2 * MULTIPART_MAX_BOUNDARY),
};

static bool is_form(const struct http_request *r)
{
    return http_media_type_is(r->content_type, STR("multipart/form-data"));
}

/* Too long, and known before a byte of it was read. A short one is skipped, so
 * that the connection goes on; nobody waits for a long one. */
static size_t refuse_length(struct connection *c, struct serving *call)
{
    const struct http_request *r = call->x.request;

    if (r->length > DRAIN_MAX || r->expect_continue || !r->keep_alive) {
        c->call = call;
        connection_refuse(c, 413, STR(""));
        return 0;
    }
    struct answer_to to = { .head = call->head, .keep_alive = true, .old = call->old };
    c->skip = r->length;
    c->timing = TIMING_NONE;
    answer_add_refusal(c, &to, 413, STR(""));
    call_free(call);
    return 0;
}

static bool begin_form(struct serving *call, size_t max)
{
    char boundary[MULTIPART_MAX_BOUNDARY];
    size_t n = 0;

    if (!http_parameter(call->x.request->content_type, STR("boundary"), boundary, sizeof boundary,
                        &n))
        return false;
    call->x.parts = multipart_new(str_slice(boundary, n), max);
    return call->x.parts != NULL;
}

size_t body_begin(struct connection *c, struct serving *call, struct str rest)
{
    struct home *h = c->home;
    const struct http_request *r = call->x.request;
    struct intake intake = h->app.intake(h->app.arg, r);
    bool form = intake.max_multipart && is_form(r);
    uint64_t max = form ? intake.max_multipart + (uint64_t)FORM_OVERHEAD : intake.max_body;

    if (!r->chunked && r->length > max)
        return refuse_length(c, call);
    if (form && !begin_form(call, intake.max_multipart)) {
        c->call = call;
        connection_refuse(c, 400, STR(""));
        return 0;
    }
    if (!form && !r->chunked && r->length <= rest.n) {
        call->x.body = str_dup(call->x.arena, str_slice(rest.p, (size_t)r->length));
        size_t used = call->x.body.n;
        connection_dispatch(c, call); /* it may be answered, and gone with its request */
        return used;
    }
    c->call = call;
    c->state = CONN_BODY;
    call->left = r->length;
    buf_init(&call->data, form ? 0 : intake.max_body);
    if (r->expect_continue && rest.n == 0 && !call->old)
        buf_add_lit(&h->out, "HTTP/1.1 100 Continue\r\n\r\n");
    return 0;
}

/* Contents go to the form or to the body; returns a status or 0. */
static int add(struct serving *call, struct str bytes)
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
    buf_reset(&h->pieces);
    long n = http_read_chunks(&call->chunks, bytes, &h->pieces, ret_done);
    int status = n < 0 ? 0 : add(call, buf_str(&h->pieces));
    return status ? -status : n;
}

static long read_length(struct serving *call, struct str bytes, bool *ret_done)
{
    size_t n = bytes.n < call->left ? bytes.n : (size_t)call->left;
    int status = add(call, str_slice(bytes.p, n));

    call->left -= n;
    *ret_done = call->left == 0;
    return status ? -status : (long)n;
}

size_t body_read(struct connection *c, struct str bytes)
{
    struct serving *call = c->call;
    bool done = false;
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
