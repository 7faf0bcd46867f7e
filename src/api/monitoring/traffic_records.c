/* traffic_records.c - records calls and refused requests for the traffic view of the console. */
#include "api/internal.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "traffic/traffic.h"

static bool is_text_content_type(struct str type)
{
    return !type.p || http_media_type_is(type, STR("application/json")) ||
           http_media_type_is(type, STR("application/x-www-form-urlencoded"));
}

/* Returns the text of the request body, but of a multipart body only the JSON and no files. */
static struct str get_request_body_to_record(const struct http_exchange *x)
{
    const struct multipart_part *part =
        x->parts ? multipart_find_part(x->parts, STR("payload_json")) : NULL;

    if (part)
        return buf_as_str(&part->data);
    return is_text_content_type(x->request->content_type) ? x->body : STR("");
}

/* Returns whether a token is the text that languages write for a variable that is not set. */
static bool is_unset_token(struct str token)
{
    return !token.n || str_is(token, "Bot") || str_is(token, "Bearer") ||
           str_is(token, "undefined") || str_is(token, "null") || str_is(token, "None") ||
           str_is(token, "nil");
}

static bool token_has_quotes_or_spaces(struct str token)
{
    for (size_t i = 0; i < token.n; i++)
        if (strchr("\"'` \t", token.p[i]))
            return true;
    return false;
}

static enum traffic_credential_type classify_credential(const struct call *call)
{
    struct str header = call->exchange->request->authorization, token, rest;

    if (!header.p)
        return TRAFFIC_NO_CREDENTIAL;
    enum caller_kind kind = parse_credential_kind(header, &token);
    bool is_twice = kind == CALLER_BOT && parse_credential_kind(token, &rest) == CALLER_BOT;
    if (is_unset_token(token))
        return TRAFFIC_UNSET_TOKEN;
    if (!is_twice && token_has_quotes_or_spaces(token))
        return TRAFFIC_QUOTED_TOKEN;
    switch (kind) {
    case CALLER_BOT:
        return is_twice ? TRAFFIC_BOT_TWICE : TRAFFIC_BOT;
    case CALLER_BEARER:
        return TRAFFIC_BEARER;
    default:
        return TRAFFIC_UNPREFIXED_TOKEN;
    }
}

static struct str format_first_form_error(const struct call_context *run, struct buf *room)
{
    if (run->refused && form_has_errors(&run->call.form))
        form_append_text_of_first_error(&run->call.form, room);
    return buf_as_str(room);
}

/* Returns true for routes of the console, whose own requests are not recorded. */
static bool is_console_route(const struct route *r)
{
    return r && r->service && strncmp(r->path, "/console", strlen("/console")) == 0;
}

/* Returns true for pages of the web client and their files, which are not recorded, because one
 * visit requests dozens of them. */
static bool is_web_page_request(const struct call_context *run)
{
    enum http_method method = run->call.exchange->request->method;

    return !run->call.route && !run->refused && (method == HTTP_GET || method == HTTP_HEAD);
}

/* Returns all header lines as one text: they are contiguous in memory. The last one has no CRLF. */
static struct str get_request_header_lines(const struct http_request *r)
{
    if (!r->header_count)
        return STR("");
    const struct http_header *first = &r->headers[0], *last = &r->headers[r->header_count - 1];
    return str_slice(first->name.p, (size_t)(last->value.p + last->value.n - first->name.p));
}

void record_call_traffic(const struct call_context *run, int64_t now, int status, struct str type,
                         struct str reply)
{
    const struct call *call = &run->call;
    const struct http_exchange *x = call->exchange;
    const struct caller *c = call->caller;
    struct traffic_record r = {
        .kind = TRAFFIC_CALL,
        .at_us = clock_us(),
        .took_ns = now - run->began,
        .status = status,
        .method = (uint8_t)x->request->method,
    };
    struct buf problem;

    if (is_console_route(call->route) || is_web_page_request(run))
        return;
    if (c) {
        r.user_id = c->id;
        r.application_id = c->application_id;
        r.caller = (uint8_t)c->kind;
    }
    if (run->recorded_app && !r.application_id) {
        r.application_id = run->recorded_app;
        r.caller = CALLER_BOT;
    }
    if (call->route) {
        r.name = call->route->name;
        r.path_pattern = call->route->path;
    }
    if (run->refused) {
        r.code = error_info(run->refused)->code;
        r.not_served = run->refused == ERR_NOT_SERVED;
        r.credential = (uint8_t)classify_credential(call);
    }
    buf_init(&problem, 4096);
    struct str texts[TRAFFIC_TEXTS] = {
        [TRAFFIC_TARGET] = x->request->target,
        [TRAFFIC_PROBLEM] = format_first_form_error(run, &problem),
        [TRAFFIC_ADDRESS] = x->remote,
        [TRAFFIC_REQUEST] = get_request_body_to_record(x),
        [TRAFFIC_REPLY] = run->response.type.p && !run->refused ? STR("") : reply,
        [TRAFFIC_REQUEST_HEAD] = get_request_header_lines(x->request),
        [TRAFFIC_REPLY_TYPE] = type,
        [TRAFFIC_REPLY_HEAD] = buf_as_str(&run->response.headers),
        [TRAFFIC_CAUSE] = run->refused ? run->cause : STR(""),
    };
    traffic_add_record(call->api->options.traffic, &r, texts);
    buf_clear(&problem);
}

enum { LONGEST_LINE_SHOWN = 512 };

static const struct {
    int status;
    const char *words;
} refusal_descriptions[] = {
    { 400, "the bytes are not an HTTP/1.1 request" },
    { 408, "the request was not complete in time" },
    { 413, "the body is longer than the route allows" },
    { 414, "the request line is longer than 8 KiB" },
    { 426, "only version 13 of WebSocket is supported" },
    { 431, "the headers exceed 32 KiB or 100 lines" },
    { 501, "this transfer encoding of the body is not supported" },
    { 503, "the bodies of all callers together exceed the option body-memory" },
    { 505, "only HTTP versions 1.0 and 1.1 are supported" },
};

static struct str describe_refusal(int status)
{
    for (size_t i = 0; i < COUNT_OF(refusal_descriptions); i++)
        if (refusal_descriptions[i].status == status)
            return str_of(refusal_descriptions[i].words);
    return STR("the server refused the request");
}

/* Returns the request target if the bytes begin like a request line. Returns nothing for other
 * bytes, which may be a secret or a TLS handshake and must not be recorded. */
static struct str parse_target_if_request_line(struct str bytes)
{
    struct str line = str_cut(&bytes, '\r');
    size_t n = 0;

    while (n < line.n && line.p[n] >= 'A' && line.p[n] <= 'Z')
        n++;
    if (n == 0 || n + 1 >= line.n || line.p[n] != ' ' || line.p[n + 1] != '/')
        return STR("");
    line = str_skip_bytes(line, n + 1);
    line = str_cut(&line, ' ');
    return line.n < LONGEST_LINE_SHOWN ? line : str_slice(line.p, LONGEST_LINE_SHOWN);
}

void record_refused_request(void *arg, int status, const struct refused_request *r)
{
    const struct api *api = arg;
    struct traffic_record record = {
        .kind = TRAFFIC_REFUSED,
        .at_us = clock_us(),
        .status = status,
        .method = (uint8_t)(r->target.p ? r->method : HTTP_OTHER_METHOD),
    };
    struct str texts[TRAFFIC_TEXTS] = {
        [TRAFFIC_TARGET] = r->target.p ? r->target : parse_target_if_request_line(r->bytes),
        [TRAFFIC_PROBLEM] = describe_refusal(status),
        [TRAFFIC_ADDRESS] = r->remote,
    };

    if (traffic_is_recorded(api->options.traffic))
        traffic_add_record(api->options.traffic, &record, texts);
}
