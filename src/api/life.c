/* life.c - moves a call through the stages of enum call_stage (call.h), from request to response.
 *
 * Checks run in the order of the stages, so all routes return errors in the same order. */
#include "api/internal.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/mem.h"
#include "traffic/traffic.h"

static void run_proceed(struct call_run *run, enum call_stage ended);

static void run_end(struct call_run *run, enum err e)
{
    if (!run->call.exchange)
        errand_end(run, e);
    else if (e)
        answer_error(run, e);
    else
        answer_success(run);
}

/* Returns true if the call may continue as anonymous although its credential is invalid. */
static bool takes_anybody(const struct call *call)
{
    unsigned auth = call->route->auth;

    return auth & AUTH_OPEN && !(auth & AUTH_GOOD && call->exchange->request->authorization.p);
}

static void run_submit(struct call_run *run, enum call_stage stage, enum store_mode mode);

enum err call_look_again(struct call *call)
{
    run_of(call)->outdated = true;
    return ERR_STORE_RETRY;
}

/* Returns the call to the READ stage after a conflict. If many calls conflict, one of them commits
 * in each round. */
static bool looks_again(struct call_run *run)
{
    enum { MOST_LOOKS = 8 };

    if (!run->outdated || !run->call.look || ++run->looks > MOST_LOOKS)
        return false;
    reply_forget(run);
    run_submit(run, STAGE_LOOK, STORE_READ);
    return true;
}

static void run_handled(struct call_run *run, enum err e)
{
    struct call *call = &run->call;

    if (!e && call->after)
        call->after(call);
    if (!e || !looks_again(run))
        run_end(run, e);
}

static void others_heard(struct post *p)
{
    run_handled(container_of(p, struct call_run, heard.post), OK);
}

/* Delays the response until every node has dropped the revoked credential. */
static void await_others(struct call_run *run)
{
    run->heard = (struct cluster_wait){
        .position = run->work.position,
        .loop = run->call.loop,
        .post.run = others_heard,
    };
    cluster_await(run->call.api->options.cluster, &run->heard);
}

static void tx_done(struct work *w, enum err e)
{
    struct call_run *run = container_of(w, struct call_run, work);
    struct call *call = &run->call;

    loop_part(call->route->name);
    /* Remove the headers that the failed stage has added. */
    if (e)
        buf_cut(&run->answer.headers, run->lines_before);
    switch (run->stage) {
    case STAGE_CREDENTIAL:
        if (!e)
            call->caller = &run->caller;
        else if (e == ERR_UNAUTHORIZED && takes_anybody(call))
            e = OK;
        break;
    case STAGE_HEAD:
    case STAGE_LOOK:
        break;
    case STAGE_RECALL:
        if (!run->outdated) {
            run_end(run, e);
            return;
        }
        run->outdated = false;
        call->look = NULL;
        reply_forget(run);
        e = OK;
        break;
    default:
        /* After ERR_UNAVAILABLE the commit may still have happened (store.h), so evict the revoked
         * credentials: the next call reads them again. */
        for (struct forgotten *f = e == ERR_UNAVAILABLE ? run->effects.forgotten : NULL; f;
             f = f->next)
            api_forget(call->api, f);
        if (!e && run->effects.forgotten && run->work.position)
            await_others(run);
        else
            run_handled(run, e);
        return;
    }
    if (e)
        run_end(run, e);
    else
        run_proceed(run, run->stage);
}

uint64_t call_owner(const struct call *call)
{
    if (call->caller)
        return call->caller->id;
    return call->exchange ? call->exchange->address : 0;
}

static void run_submit(struct call_run *run, enum call_stage stage, enum store_mode mode)
{
    struct call *call = &run->call;

    run->stage = stage;
    run->lines_before = run->answer.headers.n;
    run->work = (struct work){
        .mode = mode,
        .aside = stage != STAGE_CREDENTIAL && call->route->aside,
        .measured = stage != STAGE_CREDENTIAL && call->route->measured,
        .again = stage == STAGE_HANDLE,
        .owner = call_owner(call),
        .name = call->route->name,
        .loop = call->loop,
        .run = attempt_run,
        .prefetch =
            mode == STORE_APPEND && call->route->prefetch && !call->alone ? attempt_prefetch : NULL,
        .committed = call_committed,
        .done = tx_done,
        .arena = call->arena,
    };
    store_submit(call->api->options.store, &run->work);
}

static void run_handle(struct call_run *run)
{
    struct call *call = &run->call;

    switch (route_store(call->route)) {
    case ROUTE_STORE_NONE:
        run->stage = STAGE_HANDLE;
        run->lines_before = run->answer.headers.n;
        tx_done(&run->work, attempt_run(&run->work, NULL));
        break;
    case ROUTE_STORE_READ:
        run_submit(run, STAGE_HANDLE, STORE_READ);
        break;
    case ROUTE_STORE_APPEND:
        run_submit(run, STAGE_HANDLE, call->decides ? STORE_WRITE : STORE_APPEND);
        break;
    default:
        run_submit(run, STAGE_HANDLE, STORE_WRITE);
    }
}

static void answer_hash(struct post *p)
{
    struct call_run *run = container_of(p, struct call_run, hashed);

    if (run->computed)
        run_end(run, run->computed);
    else
        run_proceed(run, STAGE_HASH);
}

/* Runs call->hash on a password thread, unless the client has disconnected. */
static void run_hash(struct hash_task *t)
{
    struct call_run *run = container_of(t, struct call_run, hash);
    struct call *call = &run->call;

    run->computed =
        call->exchange && exchange_abandoned(call->exchange) ? ERR_UNAVAILABLE : call->hash(call);
    loop_post(call->loop, &run->hashed);
}

static void start_hash(struct call_run *run)
{
    run->stage = STAGE_HASH;
    run->hash.run = run_hash;
    run->hashed.run = answer_hash;
    if (!hashing_submit(run->call.api->hashing, &run->hash))
        run_end(run, ERR_UNAVAILABLE);
}

static void run_compute(uv_work_t *w)
{
    struct call_run *run = container_of(w, struct call_run, compute);

    run->computed = run->call.compute(&run->call);
}

static void compute_done(uv_work_t *w, int status)
{
    struct call_run *run = container_of(w, struct call_run, compute);

    loop_part(run->call.route->name);
    if (status || run->computed)
        run_end(run, run->computed ? run->computed : ERR_UNAVAILABLE);
    else
        run_proceed(run, STAGE_COMPUTE);
}

static void start_compute(struct call_run *run)
{
    run->stage = STAGE_COMPUTE;
    uv_queue_work(loop_uv(run->call.loop), &run->compute, run_compute, compute_done);
}

/* Lets the body be received after the head was accepted. The connection may close before the body
 * has arrived, without a callback, so the call holds nothing but its arena until then. */
static void let_body_come(struct call_run *run)
{
    struct call *call = &run->call;
    struct api *api = call->api;

    buf_clear(&run->answer.headers);
    run->admitting = false;
    run->admitted = true;
    call->exchange->app = run;
    http_admit(call->exchange, call->caller ? call->caller->id : call->files_of);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

/* Checks the caller and the head. The head is checked once; the credential is checked again when
 * the body has arrived, because it may have been revoked meanwhile. */
static enum err check_caller(struct call_run *run)
{
    const struct caller *c = run->call.caller;

    if (c && c->disabled)
        return ERR_ACCOUNT_DISABLED;
    if (c && c->deleting)
        return ERR_ACCOUNT_DELETING;
    if (!run->admitted)
        return check_head(run);
    add_limit_lines(run);
    return OK;
}

static void read_input(struct call *call)
{
    if (call->exchange)
        decode_input(call);
    else
        call->decoded = errand_decode(call);
}

static void run_decode(uv_work_t *w)
{
    read_input(&container_of(w, struct call_run, compute)->call);
}

static void decode_done(uv_work_t *w, int status)
{
    struct call_run *run = container_of(w, struct call_run, compute);

    loop_part(run->call.route->name);
    if (status)
        run_end(run, ERR_UNAVAILABLE);
    else
        run_proceed(run, STAGE_DECODE);
}

static void start_decode(struct call_run *run)
{
    run->stage = STAGE_DECODE;
    uv_queue_work(loop_uv(run->call.loop), &run->compute, run_decode, decode_done);
}

/* Runs route->before_decode. Returns true if the call ended or continues in the KNOWN_BODY
 * stage. */
static bool run_recall(struct call_run *run)
{
    struct call *call = &run->call;
    enum err e = call->route->before_decode ? call->route->before_decode(call) : OK;

    if (e)
        run_end(run, e);
    else if (call->look)
        run_submit(run, STAGE_RECALL, STORE_READ);
    return e || call->look;
}

/* --- from stage to stage -------------------------------------------------------------- */

/* Starts the stage that follows the completed one. */
static void run_proceed(struct call_run *run, enum call_stage ended)
{
    struct call *call = &run->call;

    if (ended == STAGE_CREDENTIAL) {
        enum err e = check_caller(run);

        if (e) {
            run_end(run, e);
            return;
        }
        if (run->admitting && call->route->service && call->route->admit) {
            run_submit(run, STAGE_HEAD, STORE_READ);
            return;
        }
    }
    if (run->admitting) {
        let_body_come(run);
        return;
    }
    if (ended == STAGE_CREDENTIAL && run_recall(run))
        return;
    if (ended == STAGE_CREDENTIAL || ended == STAGE_RECALL) {
        if (input_is_long(call)) {
            start_decode(run);
            return;
        }
        decode_input(call);
    }
    if (ended <= STAGE_DECODE) {
        enum err e = check_body(run);

        if (e) {
            run_end(run, e);
            return;
        }
        if (call->look) {
            run_submit(run, STAGE_LOOK, STORE_READ);
            return;
        }
    }
    if (ended <= STAGE_LOOK && call->await) {
        run->stage = STAGE_AWAIT;
        call->await(call);
        return;
    }
    if (ended <= STAGE_AWAIT && call->hash) {
        start_hash(run);
        return;
    }
    if (ended <= STAGE_HASH && call->compute) {
        start_compute(run);
        return;
    }
    run_handle(run);
}

void run_follow(struct call_run *run, bool input_is_long)
{
    if (input_is_long) {
        start_decode(run);
        return;
    }
    read_input(&run->call);
    run_proceed(run, STAGE_DECODE);
}

void call_resume(struct call *call, enum err e)
{
    struct call_run *run = run_of(call);

    assert(run->stage == STAGE_AWAIT);
    if (e)
        run_end(run, e);
    else
        run_proceed(run, STAGE_AWAIT);
}

void run_identify(struct call_run *run)
{
    struct call *call = &run->call;
    struct auth *auth = call->api->options.auth;
    struct str header = call->exchange->request->authorization;

    if (call->route->service) {
        run_proceed(run, STAGE_CREDENTIAL);
        return;
    }
    enum caller_kind kind = credential_kind(header, &call->token);
    if (header.p && auth_remembered(auth, kind, call->token, &run->caller)) {
        call->caller = &run->caller;
        run_proceed(run, STAGE_CREDENTIAL);
    } else if (header.p && credential_parse(kind, call->token, &run->credential)) {
        auth_will_find(auth, &run->credential);
        run_submit(run, STAGE_CREDENTIAL, STORE_READ);
    } else if (takes_anybody(call)) {
        run_proceed(run, STAGE_CREDENTIAL);
    } else {
        run_end(run, ERR_UNAUTHORIZED);
    }
}

void call_init(struct call_run *run, struct api *api, struct arena *arena, struct loop *loop)
{
    struct call *call = &run->call;

    memset(run, 0, offsetof(struct call_run, match));
    call->api = api;
    call->arena = arena;
    call->loop = loop;
    call->form.arena = arena;
    run->answer.file = -1;
    run->effects.announced_end = &run->effects.announced;
    run->effects.voices_end = &run->effects.voices;
    buf_init(&call->reply, CALL_MAX_REPLY);
    buf_init(&run->answer.headers, CALL_MAX_HEADERS);
}

/* Serves a page of the web client if the path matches no route. */
static bool run_find_page(struct call_run *run)
{
    struct call *call = &run->call;
    const struct api_options *o = &call->api->options;
    enum http_method method = call->exchange->request->method;

    if (!o->page || run->match.error != ERR_NOT_FOUND ||
        (method != HTTP_GET && method != HTTP_HEAD))
        return false;
    loop_part("page");
    return o->page(o->page_arg, call);
}

static void run_begin(struct api *api, struct exchange *x, bool admitting)
{
    struct call_run *run = arena_raw(x->arena, sizeof *run);
    struct call *call = &run->call;

    call_init(run, api, x->arena, x->loop);
    call->exchange = x;
    call->parts = x->parts;
    run->admitting = admitting;
    run->admitted = false;
    run->looks = 0;
    run->started = clock_mono();
    run->began = traffic_is_on(api->options.traffic) ? run->started : 0;
    run->refused = OK;
    atomic_fetch_add_explicit(&api->running, 1, memory_order_relaxed);
    if (x->first)
        api_note_proxy(api, x);
    if (cors_is_preflight(api, x->request)) {
        answer_options(run);
        return;
    }
    router_match(api->router, x->arena, x->request->method, x->request->path, &run->match);
    call->route = run->match.route;
    if (call->route)
        loop_part(call->route->name);
    if ((run->match.error == ERR_NOT_FOUND || run->match.error == ERR_METHOD_NOT_ALLOWED) &&
        known_operation(x->request->method, x->request->path))
        run->match.error = ERR_NOT_SERVED;
    if (run->match.error == ERR_METHOD_NOT_ALLOWED)
        answer_add_allow(run, "Allow");
    if (run->match.error)
        run_end(run, run_find_page(run) ? OK : run->match.error);
    else if (!call->route)
        answer_options(run);
    else if (!faults_there(api->faults) || call->route->service || !run_spoil(run))
        run_identify(run);
}

void call_admit(struct api *api, struct exchange *x)
{
    run_begin(api, x, true);
}

void call_begin(struct api *api, struct exchange *x)
{
    struct call_run *run = x->app;

    if (!run) {
        run_begin(api, x, false);
        return;
    }
    atomic_fetch_add_explicit(&api->running, 1, memory_order_relaxed);
    run->started = clock_mono(); /* the upload time does not count */
    run->call.parts = x->parts;
    run->call.caller = NULL; /* the credential is checked again */
    run_identify(run);
}
