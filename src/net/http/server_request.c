/* server_request.c - parses input into requests.
 *
 * A request that arrives complete is copied once, from the loop's buffer to the request's arena.
 * Only incomplete input is stored with the connection. */
#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "net/http/server_internal.h"

enum { HEAD_RECHECK_BYTES = 1024 };

void report_refused_request(const struct http_connection *c, const struct http_server_request *call,
                            int status, struct str bytes)
{
    const struct http_server_callbacks *app = &c->server_loop->app;
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

static void respond_error_and_close(struct http_connection *c, int status, struct str headers)
{
    struct response_encoding_context to = { .keep_alive = false };

    http_server_request_free(c->call);
    c->call = NULL;
    c->linger = true;
    c->state = CONN_LAST;
    append_error_response(c, &to, status, headers);
}

void http_connection_refuse_request(struct http_connection *c, int status, struct str headers)
{
    if (c->state == CONN_CLOSED)
        return;
    report_refused_request(c, c->call, status, buf_as_str(&c->in));
    respond_error_and_close(c, status, headers);
}

/* Refuses a request with a malformed head. `bytes` starts with the head. */
static void refuse_malformed_head(struct http_connection *c, int status, struct str bytes)
{
    if (c->state == CONN_CLOSED)
        return;
    report_refused_request(c, NULL, status, bytes);
    respond_error_and_close(c, status, STR(""));
}

/* Checks an incomplete head, because its start may already be invalid or too long. Checks it when
 * its first bytes arrive, at line ends and after every 1 KiB: a check after each of many tiny
 * pieces would take quadratic time. */
static size_t check_incomplete_head(struct http_connection *c, struct str bytes)
{
    assert(bytes.p); /* only called when at least one byte was received */
    bool line_ended = bytes.p[bytes.n - 1] == '\n';

    if (c->checked_bytes && !line_ended && bytes.n < c->checked_bytes + HEAD_RECHECK_BYTES)
        return 0;
    c->checked_bytes = bytes.n;
    long n = http_parse_head(bytes, &c->server_loop->request);
    if (n < 0) {
        refuse_malformed_head(c, (int)-n, bytes);
        return bytes.n;
    }
    return 0;
}

/* Finds the end of the head by searching for CR; the setup of memmem would cost more. */
static size_t find_head_length(struct http_connection *c, struct str bytes)
{
    /* Start three bytes before the unsearched ones, because these may belong to the CRLF CRLF that
     * ends the head. */
    const char *p = bytes.p + (c->checked_bytes > 3 ? c->checked_bytes - 3 : 0);
    const char *end = bytes.p + bytes.n;

    while (p < end && (p = memchr(p, '\r', (size_t)(end - p)))) {
        if (end - p >= 4 && memcmp(p, "\r\n\r\n", 4) == 0)
            return (size_t)(p - bytes.p) + 4;
        p++;
    }
    return 0;
}

/* Copies a parsed request, but not the unused elements of its header array. */
static struct http_request *copy_parsed_request(struct arena *a, const struct http_request *r)
{
    size_t n = offsetof(struct http_request, headers) + r->header_count * sizeof r->headers[0];

    return memcpy(arena_alloc_unzeroed(a, n), r, n);
}

void http_connection_pass_request_to_app(struct http_connection *c,
                                         struct http_server_request *call)
{
    struct server_loop *h = c->server_loop;

    c->state = CONN_HANDLING;
    c->timing = TIMING_NONE;
    c->call = call;
    server_counter_add(&h->counters.requests, 1);
    h->app.request(h->app.arg, &call->x);
}

/* Determines the client's address. If the peer is a trusted proxy, the address is in the proxy's
 * headers. */
static void determine_client_address(const struct http_connection *c,
                                     struct http_server_request *call)
{
    struct http_exchange *x = &call->x;
    char text[ADDRESS_TEXT_SIZE];
    struct ip_address a;
    struct buf local_host;

    x->secure = c->tls != NULL;
    x->address = c->address;
    x->remote = str_slice(c->remote, c->remote_n);
    if (c->trusted && ip_address_parse(x->remote, &a)) {
        find_forwarded_client_address(c->server_loop->proxies, x->request, &a);
        x->address = address_rate_limit_key(&a);
        x->remote = str_slice(text, ip_address_format(&a, text));
        x->secure = forwarded_headers_say_client_used_tls(x->request, x->secure);
    }
    x->remote = str_dup(x->arena, x->remote);
    if (x->request->method != HTTP_GET && x->request->method != HTTP_HEAD) {
        buf_init(&local_host, ADDRESS_TEXT_SIZE + sizeof "[]:65535");
        http_connection_append_local_host(c, &local_host);
        x->local = buf_move_to_arena(&local_host, x->arena);
    }
}

/* Creates the request for a head of n bytes. If the request was refused, returns NULL. */
static struct http_server_request *parse_request_head(struct http_connection *c, const char *bytes,
                                                      size_t n)
{
    struct server_loop *h = c->server_loop;
    struct http_server_request *call = http_server_request_new(h);
    char *copy = memcpy(arena_alloc_unzeroed(call->x.arena, n), bytes, n);
    long got = http_parse_head(str_slice(copy, n), &h->request);

    c->checked_bytes = 0;
    if (got <= 0) {
        http_server_request_free(call);
        refuse_malformed_head(c, got < 0 ? (int)-got : 400, str_slice(bytes, n));
        return NULL;
    }
    call->x.request = copy_parsed_request(call->x.arena, &h->request);
    call->x.connection = c;
    call->x.first = !c->used;
    c->used = true;
    determine_client_address(c, call);
    call->received = n;
    call->head = h->request.method == HTTP_HEAD;
    call->keep_alive = h->request.keep_alive;
    call->old = h->request.minor == 0;
    return call;
}

static size_t read_next_request(struct http_connection *c, struct str bytes)
{
    size_t n = find_head_length(c, bytes);

    if (n == 0)
        return check_incomplete_head(c, bytes);
    struct http_server_request *call = parse_request_head(c, bytes.p, n);
    if (!call)
        return bytes.n;

    const struct http_request *r = call->x.request;
    if (r->chunked || (r->has_length && r->length))
        return n + http_request_body_start_reading(c, call, str_skip_bytes(bytes, n));
    if (!r->upgrade_websocket || !websocket_accept_upgrade(c, call))
        http_connection_pass_request_to_app(c, call);
    return n;
}

static size_t skip_refused_body(struct http_connection *c, struct str bytes)
{
    size_t n = bytes.n < c->skip ? bytes.n : (size_t)c->skip;

    c->skip -= n;
    return n;
}

/* Returns true if the peer must read more responses before its next request is handled. */
static bool has_too_much_unsent_output(struct http_connection *c)
{
    if (c->server_loop->buffers.out.n >= MAX_UNSENT_OUTPUT)
        http_connection_flush(c);
    return http_connection_count_unsent_bytes(c) > MAX_UNSENT_OUTPUT;
}

static size_t parse_input_into_requests(struct http_connection *c, struct str bytes)
{
    size_t used = 0;

    for (;;) {
        if (c->state == CONN_FILE && !long_response_send_more(c))
            break;
        if (used == bytes.n)
            break;
        struct str rest = str_skip_bytes(bytes, used);
        size_t n = 0;

        if (c->state == CONN_LAST || c->state == CONN_LINGER || c->state == CONN_CLOSED)
            return bytes.n;
        if (c->state == CONN_BODY)
            n = http_request_body_read(c, rest);
        else if (c->state == CONN_HEAD && used && server_loop_read_time_is_used_up(c->server_loop))
            http_connection_postpone_input(c);
        else if (c->state == CONN_HEAD && !has_too_much_unsent_output(c))
            n = c->skip ? skip_refused_body(c, rest) : read_next_request(c, rest);
        if (n == 0)
            break;
        used += n;
    }
    return used;
}

/* After the end of the peer's input, closes the connection when all requests have got their
 * responses. */
static void close_after_eof(struct http_connection *c)
{
    if (c->later.next)
        return;
    if (c->ended && c->state == CONN_HEAD &&
        http_connection_count_unsent_bytes(c) <= MAX_UNSENT_OUTPUT)
        c->state = CONN_LAST;
    else if (c->ended && c->state == CONN_BODY)
        http_connection_close(c); /* close now, because the rest of the body will not arrive */
}

static void parse_postponed_input_of_connection(struct http_connection *c)
{
    size_t used = parse_input_into_requests(c, buf_as_str(&c->in));

    if (used == c->in.n)
        buf_clear(&c->in);
    else
        buf_drop_first_bytes(&c->in, used);
}

/* Returns true if reading must pause because input cannot be handled yet. Returns false while a
 * head is incomplete. */
static bool must_pause_reading(const struct http_connection *c)
{
    bool head = c->state == CONN_HEAD && c->checked_bytes &&
                http_connection_count_unsent_bytes(c) <= MAX_UNSENT_OUTPUT;

    return c->state == CONN_AUTHORIZING_BODY || c->later.next ||
           (c->in.n >= MAX_UNHANDLED_INPUT && c->state != CONN_BODY && !head);
}

static void send_output_and_update_reading(struct http_connection *c,
                                           struct http_connection *before)
{
    close_after_eof(c);
    http_connection_send_collected_output(c, before);
    http_connection_set_read_paused(c, must_pause_reading(c));
    if (c->state == CONN_WEBSOCKET)
        on_websocket_output_sent(c);
}

void http_connection_parse_stored_input(struct http_connection *c)
{
    struct http_connection *before = http_connection_begin_collecting_output(c);

    parse_postponed_input_of_connection(c);
    send_output_and_update_reading(c, before);
}

void http_connection_parse_input(struct http_connection *c, char *bytes, size_t n)
{
    if (c->state == CONN_WEBSOCKET) {
        websocket_decode_input(c, bytes, n);
        return;
    }
    struct http_connection *before = http_connection_begin_collecting_output(c);
    if (c->in.n) {
        buf_add(&c->in, bytes, n);
        parse_postponed_input_of_connection(c);
    } else {
        size_t used = parse_input_into_requests(c, str_slice(bytes, n));
        buf_add(&c->in, bytes + used, n - used);
    }
    send_output_and_update_reading(c, before);
}
