/* life.c - the life of a call, from its bytes to its answer.
 *
 *   loop         route, credential, limit, kind of caller, scope, path
 *   loop         (a long body is read)
 *   loop         body; on the pool when it is long
 *   read tx      (a credential we have not seen lately; a stage a row asked for)
 *   loop         (an answer from elsewhere that is waited for)
 *   hashing      (a stage that works with a password)
 *   pool         (a stage that takes long: files)
 *   transaction  resolvers, rights, what the body's decoding said, handler
 *   loop         answer
 *
 * The order in which a call is refused is the order of these steps, the same for
 * every route. */
#include "api/internal.h"

#include <assert.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

enum { LONGEST_ZIPPED = 8 * 1024 * 1024 };

static void proceed(struct life *l, enum stage ended);

/* --- answering ------------------------------------------------------------------------ */

static void add_cors(const struct api *api, struct call *call)
{
    if (api->options.cors_origin)
        call_add_header(call, "Access-Control-Allow-Origin", str_of(api->options.cors_origin));
}

static void send_answer(struct life *l, int status, struct str type)
{
    struct call *call = &l->call;
    struct exchange *x = call->exchange;
    struct buf reply = call->reply, headers;
    struct answer_head head = { .status = status, .content_type = type };

    struct api *api = call->api;

    atomic_fetch_add_explicit(&api->answers[status / 100 % 6], 1, memory_order_relaxed);
    add_cors(api, call);
    headers = call->headers;
    head.headers = buf_str(&headers);
    head.zipped = call->reply_zipped;
    int file = call->reply_file;
    struct str body = call->reply_kept.p ? call->reply_kept : buf_str(&reply);
    /* The call lives in the exchange's arena, which is gone after the answer. */
    if (file >= 0)
        http_answer_file(x, &head, file, call->reply_file_size);
    else
        http_answer(x, &head, body);
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
    files_finish(call, OK);
    send_answer(l, status, type);
}

static void zip(uv_work_t *w)
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

static void answer_success(struct life *l)
{
    if (is_to_be_zipped(&l->call))
        uv_queue_work(loop_uv(l->call.loop), &l->compute, zip, zip_done);
    else
        answer_now(l);
}

static void answer_limited(struct life *l, enum err e)
{
    struct call *call = &l->call;
    const struct limit *limit = l->verdict.of ? l->verdict.of : l->match.limit;

    buf_reset(&call->headers);
    limits_headers(&l->verdict, limit, &call->headers);
    limits_body(&l->verdict, error_info(e)->code, &call->reply);
    send_answer(l, 429, STR("application/json"));
}

/* Whatever the answer was going to be. */
static void forget_reply(struct call *call)
{
    if (call->reply_file >= 0)
        close(call->reply_file);
    call->reply_file = -1;
    call->reply_kept = (struct str){ 0 };
    call->reply_zipped = false;
    buf_reset(&call->reply);
}

static void answer_error(struct life *l, enum err e)
{
    struct call *call = &l->call;

    forget_reply(call);
    files_finish(call, e);
    if (e == ERR_RATE_LIMITED || e == ERR_TOO_MANY_REQUESTS) {
        answer_limited(l, e);
        return;
    }
    error_body(e, &call->form, &call->reply);
    if (error_info(e)->status == 503)
        call_add_header(call, "Retry-After", STR("5"));
    send_answer(l, error_info(e)->status, STR("application/json"));
}

/* --- inside the transaction ----------------------------------------------------------- */

static enum err resolve_path(struct life *l)
{
    for (size_t i = 0; i < l->match.count; i++) {
        if (!l->match.resolvers[i]->resolve)
            continue;
        enum err e = l->match.resolvers[i]->resolve(&l->call);

        if (e)
            return e;
    }
    return OK;
}

/* Everything that can be refused before the handler is asked. */
static enum err enter(struct life *l)
{
    struct call *call = &l->call;
    enum err e = resolve_path(l);

    if (!e && call->route->needs) {
        assert(call->api->permit);
        e = call->api->permit(call, call->route->needs);
    }
    if (!e && call->route->admit)
        e = call->route->admit(call);
    return e ? e : call->decoded;
}

void attempt_forget(struct life *l)
{
    struct call *call = &l->call;

    forget_reply(call);
    buf_cut(&call->headers, l->lines_before);
    call->status = 0;
    call->announced = NULL;
    call->announced_end = &call->announced;
    call->announce_error = OK;
    call->forgotten = NULL;
    files_forget_attempt(call);
    call->job_due = 0;
    call->after = NULL;
    call->outdated = false;
    if (!call->decoded)
        call->form.root = NULL;
}

/* Is all of it there: the answer, its lines, and what the handler made on the way? Asked
 * inside the transaction, which is then rolled back. */
static enum err check_whole(const struct call *call)
{
    bool answer = buf_full(&call->reply) || buf_full(&call->headers);

    if (!answer && !arena_spoiled(call->arena))
        return OK;
    log_warn("api: %s: %s", call->route->name,
             answer ? "the answer would be too large" : "something does not fit its place");
    return answer ? ERR_ANSWER_TOO_LARGE : ERR_ENTITY_TOO_LARGE;
}

static enum err run_in_tx(struct work *w, struct tx *tx)
{
    struct life *l = container_of(w, struct life, call.work);
    struct call *call = &l->call;
    enum err e;

    call->tx = tx;
    attempt_forget(l);
    switch ((enum stage)call->stage) {
    case STAGE_CREDENTIAL:
        e = auth_find(call->api->options.auth, tx, &l->credential, &l->caller);
        break;
    case STAGE_LOOK:
        e = enter(l);
        if (!e)
            e = call->look(call);
        break;
    default:
        e = enter(l);
        if (!e)
            e = call->route->handle(call);
        if (!e && call->kept)
            e = files_record(call);
        if (!e)
            e = check_whole(call);
    }
    call->tx = NULL;
    return e ? e : call->announce_error;
}

void call_committed(struct work *w)
{
    struct life *l = container_of(w, struct life, call.work);
    struct call *call = &l->call;
    const struct api_options *o = &call->api->options;

    for (struct forgotten *f = call->forgotten; f; f = f->next) {
        if (f->one)
            auth_forget_session(o->auth, f->session);
        else
            auth_forget_account(o->auth, f->account);
        if (o->forgotten && !f->of_apps)
            o->forgotten(o->forgotten_arg, f->account, f->one ? f->session : NULL);
    }
    if (call->announced && o->announce)
        o->announce(o->announce_arg, call->announced);
    if (call->job_due)
        jobs_expect(call->api->jobs, call->job_due);
    if (call->dropped)
        file_removal_expect(call->api->file_removal);
}

/* May somebody call whose credential is not good? */
static bool takes_anybody(const struct call *call)
{
    unsigned auth = call->route->auth;

    return auth & AUTH_OPEN && !(auth & AUTH_GOOD && call->exchange->request->authorization.p);
}

static void submit(struct life *l, enum stage stage, enum store_mode mode);

enum err call_look_again(struct call *call)
{
    call->outdated = true;
    return ERR_STORE_RETRY;
}

/* Somebody changed the same thing meanwhile; of many who do, each round lets one through. */
static bool looks_again(struct life *l)
{
    enum { MOST_LOOKS = 8 };

    if (!l->call.outdated || !l->call.look || ++l->looks > MOST_LOOKS)
        return false;
    forget_reply(&l->call);
    submit(l, STAGE_LOOK, STORE_READ);
    return true;
}

static void tx_done(struct work *w, enum err e)
{
    struct life *l = container_of(w, struct life, call.work);
    struct call *call = &l->call;

    loop_part(call->route->name);
    /* A refusal says nothing of what was on its way. */
    if (e)
        buf_cut(&call->headers, l->lines_before);
    switch ((enum stage)call->stage) {
    case STAGE_CREDENTIAL:
        if (!e)
            call->caller = &l->caller;
        else if (e == ERR_UNAUTHORIZED && takes_anybody(call))
            e = OK;
        break;
    case STAGE_LOOK:
        break;
    default:
        if (!e && call->after)
            call->after(call);
        if (e && looks_again(l))
            return;
        if (e)
            answer_error(l, e);
        else
            answer_success(l);
        return;
    }
    if (e)
        answer_error(l, e);
    else
        proceed(l, (enum stage)call->stage);
}

static void submit(struct life *l, enum stage stage, enum store_mode mode)
{
    struct call *call = &l->call;

    call->stage = stage;
    l->lines_before = call->headers.n;
    call->work = (struct work){
        .mode = mode,
        .aside = stage != STAGE_CREDENTIAL && call->route->aside,
        .name = call->route->name,
        .loop = call->loop,
        .run = run_in_tx,
        .committed = call_committed,
        .done = tx_done,
        .arena = call->arena,
    };
    store_submit(call->api->options.store, &call->work);
}

static void handle(struct life *l)
{
    struct call *call = &l->call;

    switch (route_store(call->route)) {
    case ROUTE_STORE_NONE:
        call->stage = STAGE_HANDLE;
        l->lines_before = call->headers.n;
        tx_done(&call->work, run_in_tx(&call->work, NULL));
        break;
    case ROUTE_STORE_READ:
        submit(l, STAGE_HANDLE, STORE_READ);
        break;
    case ROUTE_STORE_APPEND:
        submit(l, STAGE_HANDLE, call->decides ? STORE_WRITE : STORE_APPEND);
        break;
    default:
        submit(l, STAGE_HANDLE, STORE_WRITE);
    }
}

/* --- the stages that take long -------------------------------------------------------- */

static void answer_hash(struct post *p)
{
    struct life *l = container_of(p, struct life, hashed);

    if (l->computed)
        answer_error(l, l->computed);
    else
        proceed(l, STAGE_HASH);
}

/* On a thread for passwords. Nobody hears of a hash for a client that has gone. */
static void run_hash(struct hash_task *t)
{
    struct life *l = container_of(t, struct life, hash);
    struct call *call = &l->call;

    l->computed = exchange_abandoned(call->exchange) ? ERR_UNAVAILABLE : call->hash(call);
    loop_post(call->loop, &l->hashed);
}

static void start_hash(struct life *l)
{
    l->call.stage = STAGE_HASH;
    l->hash.run = run_hash;
    l->hashed.run = answer_hash;
    if (!hashing_submit(l->call.api->hashing, &l->hash))
        answer_error(l, ERR_UNAVAILABLE);
}

static void compute(uv_work_t *w)
{
    struct life *l = container_of(w, struct life, compute);

    l->computed = l->call.compute(&l->call);
}

static void compute_done(uv_work_t *w, int status)
{
    struct life *l = container_of(w, struct life, compute);

    loop_part(l->call.route->name);
    if (status || l->computed)
        answer_error(l, l->computed ? l->computed : ERR_UNAVAILABLE);
    else
        proceed(l, STAGE_COMPUTE);
}

static void start_compute(struct life *l)
{
    l->call.stage = STAGE_COMPUTE;
    uv_queue_work(loop_uv(l->call.loop), &l->compute, compute, compute_done);
}

/* --- before a long body --------------------------------------------------------------- */

/* The head is good. Until the body is here the connection may end without a word, so nothing
 * is held meanwhile but the arena. */
static void let_body_come(struct life *l)
{
    struct call *call = &l->call;
    struct api *api = call->api;

    buf_clear(&call->headers);
    l->admitting = false;
    l->admitted = true;
    call->exchange->app = l;
    http_admit(call->exchange, call->caller ? call->caller->id : 0);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

/* What can be said of the caller and the head; once, though a credential is looked at again
 * when the body is here, because it may have been revoked meanwhile. */
static enum err check_caller(struct life *l)
{
    const struct caller *c = l->call.caller;

    if (c && c->disabled)
        return ERR_ACCOUNT_DISABLED;
    if (c && c->deleting)
        return ERR_ACCOUNT_DELETING;
    if (!l->admitted)
        return check_head(l);
    add_limit_lines(l);
    return OK;
}

static void decode(uv_work_t *w)
{
    decode_input(&container_of(w, struct life, compute)->call);
}

static void decode_done(uv_work_t *w, int status)
{
    struct life *l = container_of(w, struct life, compute);

    loop_part(l->call.route->name);
    if (status)
        answer_error(l, ERR_UNAVAILABLE);
    else
        proceed(l, STAGE_DECODE);
}

static void start_decode(struct life *l)
{
    l->call.stage = STAGE_DECODE;
    uv_queue_work(loop_uv(l->call.loop), &l->compute, decode, decode_done);
}

/* --- from stage to stage -------------------------------------------------------------- */

/* What follows the stage that just ended well. */
static void proceed(struct life *l, enum stage ended)
{
    struct call *call = &l->call;

    if (ended == STAGE_CREDENTIAL) {
        enum err e = check_caller(l);

        if (!e && l->admitting) {
            let_body_come(l);
            return;
        }
        if (e) {
            answer_error(l, e);
            return;
        }
        if (input_is_long(call)) {
            start_decode(l);
            return;
        }
        decode_input(call);
    }
    if (ended <= STAGE_DECODE) {
        enum err e = check_body(l);

        if (e) {
            answer_error(l, e);
            return;
        }
        if (call->look) {
            submit(l, STAGE_LOOK, STORE_READ);
            return;
        }
    }
    if (ended <= STAGE_LOOK && call->await) {
        call->stage = STAGE_AWAIT;
        call->await(call);
        return;
    }
    if (ended <= STAGE_AWAIT && call->hash) {
        start_hash(l);
        return;
    }
    if (ended <= STAGE_HASH && call->compute) {
        start_compute(l);
        return;
    }
    handle(l);
}

void call_resume(struct call *call, enum err e)
{
    struct life *l = container_of(call, struct life, call);

    assert(call->stage == STAGE_AWAIT);
    if (e)
        answer_error(l, e);
    else
        proceed(l, STAGE_AWAIT);
}

static void identify(struct life *l)
{
    struct call *call = &l->call;
    struct auth *auth = call->api->options.auth;
    struct str header = call->exchange->request->authorization;

    if (call->route->service) {
        proceed(l, STAGE_CREDENTIAL);
        return;
    }
    enum caller_kind kind = credential_kind(header, &call->token);
    if (header.p && auth_remembered(auth, kind, call->token, &l->caller)) {
        call->caller = &l->caller;
        proceed(l, STAGE_CREDENTIAL);
    } else if (header.p && credential_parse(kind, call->token, &l->credential)) {
        auth_will_find(auth, &l->credential);
        submit(l, STAGE_CREDENTIAL, STORE_READ);
    } else if (takes_anybody(call)) {
        proceed(l, STAGE_CREDENTIAL);
    } else {
        answer_error(l, ERR_UNAUTHORIZED);
    }
}

static void add_allow(struct life *l, const char *name)
{
    struct buf list;

    buf_init(&list, 128);
    for (int m = 0; m < HTTP_METHODS; m++)
        if (l->match.allowed >> m & 1)
            buf_printf(&list, "%s%s", list.n ? ", " : "", http_method_name((enum http_method)m));
    call_add_header(&l->call, name, buf_str(&list));
    buf_clear(&list);
}

static void answer_options(struct life *l)
{
    struct call *call = &l->call;

    add_allow(l, "Allow");
    if (call->api->options.cors_origin) {
        add_allow(l, "Access-Control-Allow-Methods");
        call_add_header(call, "Access-Control-Allow-Headers",
                        STR("Authorization, Content-Type, X-Audit-Log-Reason, X-Super-Properties"));
        call_add_header(call, "Access-Control-Max-Age", STR("86400"));
    }
    send_answer(l, 204, (struct str){ 0 });
}

void call_init(struct call *call, struct api *api, struct arena *arena, struct loop *loop)
{
    /* Field by field would be faster still, but this is what a reader expects. */
    memset(call, 0, sizeof *call);
    call->api = api;
    call->arena = arena;
    call->loop = loop;
    call->form.arena = arena;
    call->reply_file = -1;
    call->announced_end = &call->announced;
    buf_init(&call->reply, CALL_MAX_REPLY);
    buf_init(&call->headers, CALL_MAX_HEADERS);
}

static void life_begin(struct api *api, struct exchange *x, bool admitting)
{
    struct life *l = arena_raw(x->arena, sizeof *l);
    struct call *call = &l->call;

    call_init(call, api, x->arena, x->loop);
    call->exchange = x;
    call->parts = x->parts;
    l->admitting = admitting;
    l->admitted = false;
    l->looks = 0;
    atomic_fetch_add_explicit(&api->running, 1, memory_order_relaxed);
    router_match(api->router, x->arena, x->request->method, x->request->path, &l->match);
    call->route = l->match.route;
    if (call->route)
        loop_part(call->route->name);
    if (l->match.error == ERR_METHOD_NOT_ALLOWED)
        add_allow(l, "Allow");
    if (l->match.error)
        answer_error(l, l->match.error);
    else if (!call->route)
        answer_options(l);
    else
        identify(l);
}

void call_admit(struct api *api, struct exchange *x)
{
    life_begin(api, x, true);
}

void call_begin(struct api *api, struct exchange *x)
{
    struct life *l = x->app;

    if (!l) {
        life_begin(api, x, false);
        return;
    }
    atomic_fetch_add_explicit(&api->running, 1, memory_order_relaxed);
    l->call.parts = x->parts;
    l->call.caller = NULL; /* a credential may have been revoked meanwhile */
    identify(l);
}
