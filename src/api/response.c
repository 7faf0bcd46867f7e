/* response.c - sends the response of a call and frees its memory. */
#include "api/internal.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "model/text/old_api_encoding.h"

enum { VERSION_TYPE_ALWAYS = 8 };
enum { LONGEST_ZIPPED = 8 * 1024 * 1024 };

static void send_response(struct call_context *run, int status, struct str type)
{
    struct call *call = &run->call;
    struct http_exchange *x = call->exchange;
    struct buf reply = call->reply, headers;
    struct response_head head = { .status = status, .content_type = type };

    struct api *api = call->api;
    int64_t now = clock_monotonic_ns();

    atomic_fetch_add_explicit(&api->responses[status / 100 % 6], 1, memory_order_relaxed);
    if (call->route)
        call_durations_record(api->durations, loop_get_index(call->loop), run->match.group,
                              now - run->started);
    if (api->cors.n)
        cors_append_headers(api, x->request, &run->response.headers);
    headers = run->response.headers;
    head.headers = buf_as_str(&headers);
    head.gzipped = run->response.zipped;
    head.no_gzip = run->response.no_gzip;
    int file = run->response.file;
    struct shared_text *shared = run->response.shared;
    bool is_borrowed = run->response.borrowed.p;
    struct str body = is_borrowed ? run->response.borrowed
                      : shared    ? shared_text_get(shared)
                                  : buf_as_str(&reply);
    if (run->began)
        record_call_traffic(run, now, status, type,
                            type.p && !head.gzipped && file < 0 ? body : STR(""));
    /* A body counts as long only if http_respond does not compress it. */
    bool is_long = body.n >= HTTP_LONG_TEXT_BYTES &&
                   (body.n > HTTP_GZIP_MAX_BYTES || head.gzipped || head.no_gzip ||
                    !http_accepts_content_coding(x->request->accept_encoding, STR("gzip")));
    /* Read what is needed before http_respond, which frees the call with the exchange's arena. */
    if (file >= 0)
        http_respond_file(x, &head, file, run->response.file_size);
    else if (is_long && shared)
        http_respond_shared_text(x, &head, shared);
    else if (is_long)
        http_respond_long_text(x, &head, body, is_borrowed ? NULL : &reply);
    else
        http_respond(x, &head, body);
    shared_text_unref(shared);
    buf_clear(&reply);
    buf_clear(&headers);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

static void send_success_response(struct call_context *run)
{
    struct call *call = &run->call;
    int status =
        run->response.status ? run->response.status : route_get_success_status(call->route);
    struct str type = run->response.type.p ? run->response.type : STR("application/json");

    if (status == 204 || status == 304)
        type = (struct str){ 0 };
    /* Send a Content-Type even for an empty response: old client libraries read it without checking
     * that it exists. */
    if (status == 204 && run->match.version <= VERSION_TYPE_ALWAYS)
        buf_add_lit(&run->response.headers, "Content-Type: text/html; charset=utf-8\r\n");
    call_delete_unused_blobs(call, OK);
    send_response(run, status, type);
}

static void compress_response(uv_work_t *w)
{
    struct call_context *run = container_of(w, struct call_context, compute);
    struct call *call = &run->call;
    struct buf zipped;

    buf_init(&zipped, CALL_MAX_REPLY);
    run->response.zipped = http_compress_gzip(buf_as_str(&call->reply), 1, &zipped);
    if (run->response.zipped) {
        buf_clear(&call->reply);
        call->reply = zipped;
    } else {
        buf_clear(&zipped);
    }
}

static void on_response_compressed(uv_work_t *w, int status)
{
    struct call_context *run = container_of(w, struct call_context, compute);

    (void)status; /* ignore the status: if the compression has failed, the body is sent
                   * uncompressed */
    loop_set_measured_activity(run->call.route->name);
    send_success_response(run);
}

/* Returns true if the body is too long to be compressed on the loop. Bodies up to 8 MiB are
 * compressed on the thread pool; longer ones are sent uncompressed, so that one caller does not
 * occupy the pool. */
static bool should_compress_on_pool(const struct call_context *run)
{
    const struct call *call = &run->call;
    struct str type = run->response.type.p ? run->response.type : STR("application/json");

    return call->reply.n > HTTP_GZIP_MAX_BYTES && call->reply.n <= LONGEST_ZIPPED &&
           run->response.file < 0 && http_response_is_worth_compressing(type, call->reply.n) &&
           http_accepts_content_coding(call->exchange->request->accept_encoding, STR("gzip"));
}

/* Copies a shared text into the call's arena if it will be compressed on the thread pool. */
static void copy_shared_response_body(struct call_context *run)
{
    struct call *call = &run->call;
    struct shared_text *shared = run->response.shared;

    if (!shared || shared_text_get(shared).n <= HTTP_GZIP_MAX_BYTES ||
        !http_accepts_content_coding(call->exchange->request->accept_encoding, STR("gzip")))
        return;
    buf_add_str(&call->reply, shared_text_get(shared));
    run->response.shared = NULL;
    shared_text_unref(shared);
}

/* Rewrites the body for API versions 6 and 7, which encode some fields differently. */
static void convert_response_body_to_old_api(struct call_context *run)
{
    struct call *call = &run->call;
    struct shared_text *shared = run->response.shared;
    struct str body = shared ? shared_text_get(shared) : buf_as_str(&call->reply);
    struct buf out;

    if (run->response.borrowed.p || run->response.type.p || run->response.file >= 0 || !body.n)
        return;
    /* The converted body is at most three times as long: the greatest growth is that of "deny":"0",
     * from 10 bytes to 23. */
    buf_init(&out, (size_t)3 * CALL_MAX_REPLY);
    encode_json_for_old_api(body, &out);
    buf_clear(&call->reply);
    call->reply = out;
    run->response.shared = NULL;
    shared_text_unref(shared);
}

void response_send_success(struct call_context *run)
{
    if (run->match.version <= VERSION_OLD_ENCODING)
        convert_response_body_to_old_api(run);
    copy_shared_response_body(run);
    if (should_compress_on_pool(run))
        uv_queue_work(loop_get_uv_loop(run->call.loop), &run->compute, compress_response,
                      on_response_compressed);
    else
        send_success_response(run);
}

static void send_rate_limited_response(struct call_context *run, enum err e)
{
    struct call *call = &run->call;
    const struct rate_limit *limit = run->limit_result.of ? run->limit_result.of : run->match.limit;

    if (e == ERR_RATE_LIMITED)
        call_log_refusal(call, REFUSED_TOO_MANY);
    call_set_rate_limit_refusal_cause(run, limit);
    buf_reset(&run->response.headers);
    write_rate_limit_headers(&run->limit_result, limit, &run->response.headers);
    write_rate_limit_response_body(&run->limit_result, e, &call->reply);
    send_response(run, 429, STR("application/json"));
}

void response_discard_written_part(struct call_context *run)
{
    struct call_response *a = &run->response;

    if (a->file >= 0)
        close(a->file);
    a->file = -1;
    a->borrowed = (struct str){ 0 };
    shared_text_unref(a->shared);
    a->shared = NULL;
    a->zipped = a->no_gzip = false;
    buf_reset(&run->call.reply);
}

void response_send_error(struct call_context *run, enum err e)
{
    struct call *call = &run->call;

    response_discard_written_part(run);
    call_delete_unused_blobs(call, e);
    run->refused = e;
    if (error_info(e)->status == 429) {
        send_rate_limited_response(run, e);
        return;
    }
    write_error_response_json(e, &call->form, &call->reply);
    add_refusal_cause_header(run);
    if (error_info(e)->status == 503)
        call_add_header(call, "Retry-After", STR("5"));
    send_response(run, error_info(e)->status, STR("application/json"));
}

void response_send_status_without_error_code(struct call_context *run, int status)
{
    struct call *call = &run->call;

    buf_printf(&call->reply, "{\"message\":\"%d: %s\",\"code\":0}", status,
               http_reason_phrase(status));
    send_response(run, status, STR("application/json"));
}

void response_close_connection(struct call_context *run)
{
    struct call *call = &run->call;
    struct api *api = call->api;
    struct buf reply = call->reply, headers = run->response.headers;
    struct shared_text *shared = run->response.shared;

    if (run->began)
        record_call_traffic(run, clock_monotonic_ns(), 0, (struct str){ 0 }, STR(""));
    http_close_connection_without_response(call->exchange);
    shared_text_unref(shared);
    buf_clear(&reply);
    buf_clear(&headers);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

void response_add_allow_header(struct call_context *run, const char *name)
{
    struct buf list;

    buf_init(&list, 128);
    for (int m = 0; m < HTTP_METHODS; m++)
        if (run->match.allowed >> m & 1)
            buf_printf(&list, "%s%s", list.n ? ", " : "", http_method_name((enum http_method)m));
    call_add_header(&run->call, name, buf_as_str(&list));
    buf_clear(&list);
}

void response_send_to_options_request(struct call_context *run)
{
    struct call *call = &run->call;

    if (cors_is_preflight(call->api, call->exchange->request))
        cors_add_preflight_headers(call);
    else
        response_add_allow_header(run, "Allow");
    send_response(run, 204, (struct str){ 0 });
}
