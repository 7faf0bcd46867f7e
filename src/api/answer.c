/* answer.c - what a call is answered with, when it has come to its end. */
#include "api/internal.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "model/text/old_versions.h"

enum { VERSION_TYPE_ALWAYS = 8 };
enum { LONGEST_ZIPPED = 8 * 1024 * 1024 };

static void send_answer(struct life *l, int status, struct str type)
{
    struct call *call = &l->call;
    struct exchange *x = call->exchange;
    struct buf reply = call->reply, headers;
    struct answer_head head = { .status = status, .content_type = type };

    struct api *api = call->api;
    int64_t now = clock_mono();

    atomic_fetch_add_explicit(&api->answers[status / 100 % 6], 1, memory_order_relaxed);
    if (call->route)
        durations_note(api->durations, loop_index(call->loop), l->match.group, now - l->started);
    buf_add_str(&call->headers, buf_str(&api->cors));
    headers = call->headers;
    head.headers = buf_str(&headers);
    head.zipped = call->reply_zipped;
    head.no_gzip = call->reply_as_it_is;
    int file = call->reply_file;
    struct shared_text *shared = call->reply_shared;
    bool kept = call->reply_kept.p;
    struct str body = kept ? call->reply_kept : shared ? shared_text_str(shared) : buf_str(&reply);
    if (l->began)
        call_record(l, now, status, type, type.p && !head.zipped && file < 0 ? body : STR(""));
    /* What is compressed while it is sent, and so is short, is none of the long ones. */
    bool is_long =
        body.n >= HTTP_LONG && (body.n > HTTP_GZIP_LONGEST || head.zipped || head.no_gzip ||
                                !http_accepts(x->request->accept_encoding, STR("gzip")));
    /* The call lives in the exchange's arena, which is gone after the answer. */
    if (file >= 0)
        http_answer_file(x, &head, file, call->reply_file_size);
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

static void answer_now(struct life *l)
{
    struct call *call = &l->call;
    int status = call->status ? call->status : route_status(call->route);
    struct str type = call->reply_type.p ? call->reply_type : STR("application/json");

    if (status == 204 || status == 304)
        type = (struct str){ 0 };
    /* Libraries of older versions read the type of an empty answer without asking whether it is
     * there. */
    if (status == 204 && l->match.version <= VERSION_TYPE_ALWAYS)
        buf_add_lit(&call->headers, "Content-Type: text/html; charset=utf-8\r\n");
    files_finish(call, OK);
    send_answer(l, status, type);
}

static void answer_zip(uv_work_t *w)
{
    struct life *l = container_of(w, struct life, compute);
    struct call *call = &l->call;
    struct buf zipped;

    buf_init(&zipped, CALL_MAX_REPLY);
    call->reply_zipped = http_gzip(buf_str(&call->reply), 1, &zipped);
    if (call->reply_zipped) {
        buf_clear(&call->reply);
        call->reply = zipped;
    } else {
        buf_clear(&zipped);
    }
}

static void zip_done(uv_work_t *w, int status)
{
    struct life *l = container_of(w, struct life, compute);

    (void)status; /* as it is, it is an answer too */
    loop_part(l->call.route->name);
    answer_now(l);
}

/* Long answers are compressed on the pool. Those that are longer still go as they are: the
 * pool has other work than to press one caller's megabytes. */
static bool is_to_be_zipped(const struct call *call)
{
    struct str type = call->reply_type.p ? call->reply_type : STR("application/json");

    return call->reply.n > HTTP_GZIP_LONGEST && call->reply.n <= LONGEST_ZIPPED &&
           call->reply_file < 0 && http_gzip_fits(type, call->reply.n) &&
           http_accepts(call->exchange->request->accept_encoding, STR("gzip"));
}

/* What is to be compressed on the pool is the call's own. */
static void reply_unshare(struct call *call)
{
    struct shared_text *shared = call->reply_shared;

    if (!shared || shared_text_str(shared).n <= HTTP_GZIP_LONGEST ||
        !http_accepts(call->exchange->request->accept_encoding, STR("gzip")))
        return;
    buf_add_str(&call->reply, shared_text_str(shared));
    call->reply_shared = NULL;
    shared_text_unref(shared);
}

/* Versions 6 and 7 have their own spelling. */
static void reply_respell(struct call *call)
{
    struct shared_text *shared = call->reply_shared;
    struct str body = shared ? shared_text_str(shared) : buf_str(&call->reply);
    struct buf out;

    if (call->reply_kept.p || call->reply_type.p || call->reply_file >= 0 || !body.n)
        return;
    /* "deny":"0" is the shortest text that grows: from 10 bytes to 23. */
    buf_init(&out, (size_t)3 * CALL_MAX_REPLY);
    old_spelling(body, &out);
    buf_clear(&call->reply);
    call->reply = out;
    call->reply_shared = NULL;
    shared_text_unref(shared);
}

void answer_success(struct life *l)
{
    if (l->match.version <= VERSION_OLD_SPELLING)
        reply_respell(&l->call);
    reply_unshare(&l->call);
    if (is_to_be_zipped(&l->call))
        uv_queue_work(loop_uv(l->call.loop), &l->compute, answer_zip, zip_done);
    else
        answer_now(l);
}

static void answer_limited(struct life *l, enum err e)
{
    struct call *call = &l->call;
    const struct limit *limit = l->verdict.of ? l->verdict.of : l->match.limit;

    if (e == ERR_RATE_LIMITED)
        call_note_refusal(call, REFUSED_TOO_MANY);
    buf_reset(&call->headers);
    limits_headers(&l->verdict, limit, &call->headers);
    limits_body(&l->verdict, e, &call->reply);
    send_answer(l, 429, STR("application/json"));
}

void reply_forget(struct call *call)
{
    if (call->reply_file >= 0)
        close(call->reply_file);
    call->reply_file = -1;
    call->reply_kept = (struct str){ 0 };
    shared_text_unref(call->reply_shared);
    call->reply_shared = NULL;
    call->reply_zipped = call->reply_as_it_is = false;
    buf_reset(&call->reply);
}

void answer_error(struct life *l, enum err e)
{
    struct call *call = &l->call;

    reply_forget(call);
    files_finish(call, e);
    l->refused = e;
    if (error_info(e)->status == 429) {
        answer_limited(l, e);
        return;
    }
    error_body(e, &call->form, &call->reply);
    if (error_info(e)->status == 503)
        call_add_header(call, "Retry-After", STR("5"));
    send_answer(l, error_info(e)->status, STR("application/json"));
}

void answer_status(struct life *l, int status)
{
    struct call *call = &l->call;

    buf_printf(&call->reply, "{\"message\":\"%d: %s\",\"code\":0}", status, status_reason(status));
    send_answer(l, status, STR("application/json"));
}

void answer_cut(struct life *l)
{
    struct call *call = &l->call;
    struct api *api = call->api;
    struct buf reply = call->reply, headers = call->headers;
    struct shared_text *shared = call->reply_shared;

    if (l->began)
        call_record(l, clock_mono(), 0, (struct str){ 0 }, STR(""));
    http_drop(call->exchange);
    shared_text_unref(shared);
    buf_clear(&reply);
    buf_clear(&headers);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

void answer_add_allow(struct life *l, const char *name)
{
    struct buf list;

    buf_init(&list, 128);
    for (int m = 0; m < HTTP_METHODS; m++)
        if (l->match.allowed >> m & 1)
            buf_printf(&list, "%s%s", list.n ? ", " : "", http_method_name((enum http_method)m));
    call_add_header(&l->call, name, buf_str(&list));
    buf_clear(&list);
}

void answer_options(struct life *l)
{
    struct call *call = &l->call;

    if (cors_is_preflight(call->api, call->exchange->request))
        cors_allow(call);
    else
        answer_add_allow(l, "Allow");
    send_answer(l, 204, (struct str){ 0 });
}
