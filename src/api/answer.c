/* answer.c - sends the response of a call and frees its memory. */
#include "api/internal.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "model/text/old_versions.h"

enum { VERSION_TYPE_ALWAYS = 8 };
enum { LONGEST_ZIPPED = 8 * 1024 * 1024 };

static void send_answer(struct call_run *run, int status, struct str type)
{
    struct call *call = &run->call;
    struct exchange *x = call->exchange;
    struct buf reply = call->reply, headers;
    struct answer_head head = { .status = status, .content_type = type };

    struct api *api = call->api;
    int64_t now = clock_mono();

    atomic_fetch_add_explicit(&api->answers[status / 100 % 6], 1, memory_order_relaxed);
    if (call->route)
        durations_note(api->durations, loop_index(call->loop), run->match.group,
                       now - run->started);
    buf_add_str(&run->answer.headers, buf_str(&api->cors));
    headers = run->answer.headers;
    head.headers = buf_str(&headers);
    head.zipped = run->answer.zipped;
    head.no_gzip = run->answer.no_gzip;
    int file = run->answer.file;
    struct shared_text *shared = run->answer.shared;
    bool kept = run->answer.borrowed.p;
    struct str body = kept     ? run->answer.borrowed
                      : shared ? shared_text_str(shared)
                               : buf_str(&reply);
    if (run->began)
        call_record(run, now, status, type, type.p && !head.zipped && file < 0 ? body : STR(""));
    /* http_answer compresses short bodies itself, so a body that it will compress is not long. */
    bool is_long =
        body.n >= HTTP_LONG && (body.n > HTTP_GZIP_LONGEST || head.zipped || head.no_gzip ||
                                !http_accepts(x->request->accept_encoding, STR("gzip")));
    /* http_answer frees the exchange's arena, which contains the call. */
    if (file >= 0)
        http_answer_file(x, &head, file, run->answer.file_size);
    else if (is_long && shared)
        http_answer_shared(x, &head, shared);
    else if (is_long)
        http_answer_long(x, &head, body, kept ? NULL : &reply);
    else
        http_answer(x, &head, body);
    shared_text_unref(shared);
    buf_clear(&reply);
    buf_clear(&headers);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

static void answer_now(struct call_run *run)
{
    struct call *call = &run->call;
    int status = run->answer.status ? run->answer.status : route_status(call->route);
    struct str type = run->answer.type.p ? run->answer.type : STR("application/json");

    if (status == 204 || status == 304)
        type = (struct str){ 0 };
    /* Old client libraries read the Content-Type of an empty response without checking that it
     * exists. */
    if (status == 204 && run->match.version <= VERSION_TYPE_ALWAYS)
        buf_add_lit(&run->answer.headers, "Content-Type: text/html; charset=utf-8\r\n");
    files_finish(call, OK);
    send_answer(run, status, type);
}

static void answer_zip(uv_work_t *w)
{
    struct call_run *run = container_of(w, struct call_run, compute);
    struct call *call = &run->call;
    struct buf zipped;

    buf_init(&zipped, CALL_MAX_REPLY);
    run->answer.zipped = http_gzip(buf_str(&call->reply), 1, &zipped);
    if (run->answer.zipped) {
        buf_clear(&call->reply);
        call->reply = zipped;
    } else {
        buf_clear(&zipped);
    }
}

static void zip_done(uv_work_t *w, int status)
{
    struct call_run *run = container_of(w, struct call_run, compute);

    (void)status; /* If the compression fails, the response is sent uncompressed. */
    loop_part(run->call.route->name);
    answer_now(run);
}

/* True if the body is too long to be compressed on the loop: bodies up to 8 MiB are compressed on
 * the pool; longer ones are sent uncompressed, so that one caller does not occupy the pool. */
static bool is_to_be_zipped(const struct call_run *run)
{
    const struct call *call = &run->call;
    struct str type = run->answer.type.p ? run->answer.type : STR("application/json");

    return call->reply.n > HTTP_GZIP_LONGEST && call->reply.n <= LONGEST_ZIPPED &&
           run->answer.file < 0 && http_gzip_fits(type, call->reply.n) &&
           http_accepts(call->exchange->request->accept_encoding, STR("gzip"));
}

/* Copies a shared body into the call if it will be compressed on the pool. */
static void reply_unshare(struct call_run *run)
{
    struct call *call = &run->call;
    struct shared_text *shared = run->answer.shared;

    if (!shared || shared_text_str(shared).n <= HTTP_GZIP_LONGEST ||
        !http_accepts(call->exchange->request->accept_encoding, STR("gzip")))
        return;
    buf_add_str(&call->reply, shared_text_str(shared));
    run->answer.shared = NULL;
    shared_text_unref(shared);
}

/* Rewrites the body for API versions 6 and 7, which encode some fields differently
 * (old_versions.h). */
static void reply_respell(struct call_run *run)
{
    struct call *call = &run->call;
    struct shared_text *shared = run->answer.shared;
    struct str body = shared ? shared_text_str(shared) : buf_str(&call->reply);
    struct buf out;

    if (run->answer.borrowed.p || run->answer.type.p || run->answer.file >= 0 || !body.n)
        return;
    /* The longest growth is that of "deny":"0", from 10 bytes to 23. */
    buf_init(&out, (size_t)3 * CALL_MAX_REPLY);
    old_spelling(body, &out);
    buf_clear(&call->reply);
    call->reply = out;
    run->answer.shared = NULL;
    shared_text_unref(shared);
}

void answer_success(struct call_run *run)
{
    if (run->match.version <= VERSION_OLD_SPELLING)
        reply_respell(run);
    reply_unshare(run);
    if (is_to_be_zipped(run))
        uv_queue_work(loop_uv(run->call.loop), &run->compute, answer_zip, zip_done);
    else
        answer_now(run);
}

static void answer_limited(struct call_run *run, enum err e)
{
    struct call *call = &run->call;
    const struct limit *limit = run->verdict.of ? run->verdict.of : run->match.limit;

    if (e == ERR_RATE_LIMITED)
        call_note_refusal(call, REFUSED_TOO_MANY);
    buf_reset(&run->answer.headers);
    limits_headers(&run->verdict, limit, &run->answer.headers);
    limits_body(&run->verdict, e, &call->reply);
    send_answer(run, 429, STR("application/json"));
}

void reply_forget(struct call_run *run)
{
    struct call_answer *a = &run->answer;

    if (a->file >= 0)
        close(a->file);
    a->file = -1;
    a->borrowed = (struct str){ 0 };
    shared_text_unref(a->shared);
    a->shared = NULL;
    a->zipped = a->no_gzip = false;
    buf_reset(&run->call.reply);
}

void answer_error(struct call_run *run, enum err e)
{
    struct call *call = &run->call;

    reply_forget(run);
    files_finish(call, e);
    run->refused = e;
    if (error_info(e)->status == 429) {
        answer_limited(run, e);
        return;
    }
    error_body(e, &call->form, &call->reply);
    if (error_info(e)->status == 503)
        call_add_header(call, "Retry-After", STR("5"));
    send_answer(run, error_info(e)->status, STR("application/json"));
}

void answer_status(struct call_run *run, int status)
{
    struct call *call = &run->call;

    buf_printf(&call->reply, "{\"message\":\"%d: %s\",\"code\":0}", status, status_reason(status));
    send_answer(run, status, STR("application/json"));
}

void answer_cut(struct call_run *run)
{
    struct call *call = &run->call;
    struct api *api = call->api;
    struct buf reply = call->reply, headers = run->answer.headers;
    struct shared_text *shared = run->answer.shared;

    if (run->began)
        call_record(run, clock_mono(), 0, (struct str){ 0 }, STR(""));
    http_drop(call->exchange);
    shared_text_unref(shared);
    buf_clear(&reply);
    buf_clear(&headers);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

void answer_add_allow(struct call_run *run, const char *name)
{
    struct buf list;

    buf_init(&list, 128);
    for (int m = 0; m < HTTP_METHODS; m++)
        if (run->match.allowed >> m & 1)
            buf_printf(&list, "%s%s", list.n ? ", " : "", http_method_name((enum http_method)m));
    call_add_header(&run->call, name, buf_str(&list));
    buf_clear(&list);
}

void answer_options(struct call_run *run)
{
    struct call *call = &run->call;

    if (cors_is_preflight(call->api, call->exchange->request))
        cors_allow(call);
    else
        answer_add_allow(run, "Allow");
    send_answer(run, 204, (struct str){ 0 });
}
