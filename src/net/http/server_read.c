/* server_read.c - parses input into requests.
 *
 * A request that arrives complete is copied once, from the loop's buffer to its arena. Only
 * incomplete input is stored with the connection. */
#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "net/http/server_internal.h"

enum { LOOK_AGAIN = 1024 };

void refusal_note(const struct connection *c, const struct serving *call, int status,
                  struct str bytes)
{
    const struct server_app *app = &c->home->app;
    struct refused_request r = { .remote = str_slice(c->remote, c->remote_n), .bytes = bytes };

    if (!app->refused)
        return;
    if (call) {
        r.remote = call->x.remote;
        r.target = call->x.request->target;
        r.method = call->x.request->method;
    }
    app->refused(app->arg, status, &r);
}

static void connection_answer_last(struct connection *c, int status, struct str headers)
{
    struct answer_to to = { .keep_alive = false };

    serving_free(c->call);
    c->call = NULL;
    c->linger = true;
    c->state = CONN_LAST;
    answer_add_refusal(c, &to, status, headers);
}

void connection_refuse(struct connection *c, int status, struct str headers)
{
    if (c->state == CONN_CLOSED)
        return;
    refusal_note(c, c->call, status, buf_str(&c->in));
    connection_answer_last(c, status, headers);
}

/* Refuses a request with a malformed head, whose bytes may not be in c->in. */
static void connection_refuse_head(struct connection *c, int status, struct str bytes)
{
    if (c->state == CONN_CLOSED)
        return;
    refusal_note(c, NULL, status, bytes);
    connection_answer_last(c, status, STR(""));
}

/* --- one request ---------------------------------------------------------------------- */

/* Checks an incomplete head, whose start may already be invalid or too long: the first time, at
 * line ends and after every 1 KiB, so that many tiny pieces do not cost quadratic time. */
static size_t wait_for_head(struct connection *c, struct str bytes)
{
    assert(bytes.p); /* the caller has received at least one byte */
    bool line_ended = bytes.p[bytes.n - 1] == '\n';

    if (c->looked_at && !line_ended && bytes.n < c->looked_at + LOOK_AGAIN)
        return 0;
    c->looked_at = bytes.n;
    long n = http_read_head(bytes, &c->home->request);
    if (n < 0) {
        connection_refuse_head(c, (int)-n, bytes);
        return bytes.n;
    }
    return 0;
}

/* Finds the end of the head by searching for CR; memmem has a higher setup cost. */
static size_t head_length(struct connection *c, struct str bytes)
{
    /* The empty line may start in bytes that were checked before. */
    const char *p = bytes.p + (c->looked_at > 3 ? c->looked_at - 3 : 0);
    const char *end = bytes.p + bytes.n;

    while (p < end && (p = memchr(p, '\r', (size_t)(end - p)))) {
        if (end - p >= 4 && memcmp(p, "\r\n\r\n", 4) == 0)
            return (size_t)(p - bytes.p) + 4;
        p++;
    }
    return 0;
}

/* Copies a request with only the headers in use. */
static struct http_request *copy_request(struct arena *a, const struct http_request *r)
{
    size_t n = offsetof(struct http_request, headers) + r->header_count * sizeof r->headers[0];

    return memcpy(arena_raw(a, n), r, n);
}

void connection_dispatch(struct connection *c, struct serving *call)
{
    struct home *h = c->home;

    c->state = CONN_CALL;
    c->timing = TIMING_NONE;
    c->call = call;
    figure_add(&h->figures.requests, 1);
    h->app.request(h->app.arg, &call->x);
}

/* Determines the client's address; behind a trusted proxy, by the proxy's headers. */
static void find_client(const struct connection *c, struct serving *call)
{
    struct exchange *x = &call->x;
    char text[ADDRESS_TEXT];
    struct address a;
    struct buf own;

    x->secure = c->tls != NULL;
    x->address = c->address;
    x->remote = str_slice(c->remote, c->remote_n);
    if (c->trusted && address_parse(x->remote, &a)) {
        forwarded_client(c->home->proxies, x->request, &a);
        x->address = address_key(&a);
        x->remote = str_slice(text, address_write(&a, text));
        x->secure = forwarded_secure(x->request, x->secure);
    }
    x->remote = str_dup(x->arena, x->remote);
    if (x->request->method != HTTP_GET && x->request->method != HTTP_HEAD) {
        buf_init(&own, ADDRESS_TEXT + sizeof "[]:65535");
        connection_add_own_host(c, &own);
        x->local = buf_take(&own, x->arena);
    }
}

/* Creates the request for a head of n bytes; returns NULL if it was refused. */
static struct serving *read_head(struct connection *c, const char *bytes, size_t n)
{
    struct home *h = c->home;
    struct serving *call = serving_new(h);
    char *copy = memcpy(arena_raw(call->x.arena, n), bytes, n);
    long got = http_read_head(str_slice(copy, n), &h->request);

    c->looked_at = 0;
    if (got <= 0) {
        serving_free(call);
        connection_refuse_head(c, got < 0 ? (int)-got : 400, str_slice(bytes, n));
        return NULL;
    }
    call->x.request = copy_request(call->x.arena, &h->request);
    call->x.connection = c;
    call->x.first = !c->used;
    c->used = true;
    find_client(c, call);
    call->received = n;
    call->head = h->request.method == HTTP_HEAD;
    call->keep_alive = h->request.keep_alive;
    call->old = h->request.minor == 0;
    return call;
}

static size_t read_request(struct connection *c, struct str bytes)
{
    size_t n = head_length(c, bytes);

    if (n == 0)
        return wait_for_head(c, bytes);
    struct serving *call = read_head(c, bytes.p, n);
    if (!call)
        return bytes.n;

    const struct http_request *r = call->x.request;
    if (r->chunked || (r->has_length && r->length))
        return n + body_begin(c, call, str_from(bytes, n));
    if (!r->upgrade_websocket || !websocket_begin(c, call))
        connection_dispatch(c, call);
    return n;
}

/* --- all input of a connection -------------------------------------------------------- */

static size_t reader_skip(struct connection *c, struct str bytes)
{
    size_t n = bytes.n < c->skip ? bytes.n : (size_t)c->skip;

    c->skip -= n;
    return n;
}

/* Returns true if the peer must read responses before the next request is handled. */
static bool output_waits(struct connection *c)
{
    if (c->home->buffers.out.n >= WAITING_OUTPUT)
        connection_flush(c);
    return connection_unsent(c) > WAITING_OUTPUT;
}

static size_t reader_take(struct connection *c, struct str bytes)
{
    size_t used = 0;

    for (;;) {
        if (c->state == CONN_FILE && !file_continue(c))
            break;
        if (used == bytes.n)
            break;
        struct str rest = str_from(bytes, used);
        size_t n = 0;

        if (c->state == CONN_LAST || c->state == CONN_LINGER || c->state == CONN_CLOSED)
            return bytes.n;
        if (c->state == CONN_BODY)
            n = body_read(c, rest);
        else if (c->state == CONN_HEAD && used && home_has_read_enough(c->home))
            connection_postpone(c);
        else if (c->state == CONN_HEAD && !output_waits(c))
            n = c->skip ? reader_skip(c, rest) : read_request(c, rest);
        if (n == 0)
            break;
        used += n;
    }
    return used;
}

/* After EOF, closes the connection once all requests have got their responses. */
static void end_if_done(struct connection *c)
{
    if (c->later.next)
        return;
    if (c->ended && c->state == CONN_HEAD && connection_unsent(c) <= WAITING_OUTPUT)
        c->state = CONN_LAST;
    else if (c->ended && c->state == CONN_BODY)
        connection_close(c); /* the rest of the body will not arrive */
}

static void take_waiting(struct connection *c)
{
    size_t used = reader_take(c, buf_str(&c->in));

    if (used == c->in.n)
        buf_clear(&c->in);
    else
        buf_drop(&c->in, used);
}

/* True if reading must pause because input cannot be handled, except for the rest of a head. */
static bool input_waits(const struct connection *c)
{
    bool head = c->state == CONN_HEAD && c->looked_at && connection_unsent(c) <= WAITING_OUTPUT;

    return c->state == CONN_ASKED || c->later.next ||
           (c->in.n >= WAITING_INPUT && c->state != CONN_BODY && !head);
}

static void after_taking(struct connection *c, struct connection *before)
{
    end_if_done(c);
    connection_end(c, before);
    connection_pause(c, input_waits(c));
    if (c->state == CONN_WEBSOCKET)
        websocket_sent(c);
}

void connection_resume(struct connection *c)
{
    struct connection *before = connection_begin(c);

    take_waiting(c);
    after_taking(c, before);
}

void connection_input(struct connection *c, char *bytes, size_t n)
{
    if (c->state == CONN_WEBSOCKET) {
        websocket_input(c, bytes, n);
        return;
    }
    struct connection *before = connection_begin(c);
    if (c->in.n) {
        buf_add(&c->in, bytes, n);
        take_waiting(c);
    } else {
        size_t used = reader_take(c, str_slice(bytes, n));
        buf_add(&c->in, bytes + used, n - used);
    }
    after_taking(c, before);
}
