/* life.c - the life of a call, from its bytes to its answer.
 *
 * It goes through the stages of enum call_stage (call.h). The order in which a call is refused
 * is the order of the stages, the same for every route. */
#include "api/internal.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/mem.h"
#include "traffic/traffic.h"

static void life_proceed(struct life *l, enum call_stage ended);

static void life_end(struct life *l, enum err e)
{
    if (!l->call.exchange)
        errand_end(l, e);
    else if (e)
        answer_error(l, e);
    else
        answer_success(l);
}

/* --- transactions -------------------------------------------------------------------- */

/* May somebody call whose credential is not good? */
static bool takes_anybody(const struct call *call)
{
    unsigned auth = call->route->auth;

    return auth & AUTH_OPEN && !(auth & AUTH_GOOD && call->exchange->request->authorization.p);
}

static void life_submit(struct life *l, enum call_stage stage, enum store_mode mode);

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
    reply_forget(&l->call);
    life_submit(l, STAGE_LOOK, STORE_READ);
    return true;
}

static void life_handled(struct life *l, enum err e)
{
    struct call *call = &l->call;

    if (!e && call->after)
        call->after(call);
    if (!e || !looks_again(l))
        life_end(l, e);
}

static void others_heard(struct post *p)
{
    life_handled(container_of(p, struct life, heard.post), OK);
}

/* What was revoked here is good nowhere when the reply leaves. */
static void await_others(struct life *l)
{
    l->heard = (struct cluster_wait){
        .position = l->call.work.position,
        .loop = l->call.loop,
        .post.run = others_heard,
    };
    cluster_await(l->call.api->options.cluster, &l->heard);
}

static void tx_done(struct work *w, enum err e)
{
    struct life *l = container_of(w, struct life, call.work);
    struct call *call = &l->call;

    loop_part(call->route->name);
    /* A refusal has none of the lines that its stage added. */
    if (e)
        buf_cut(&call->headers, l->lines_before);
    switch (call->stage) {
    case STAGE_CREDENTIAL:
        if (!e)
            call->caller = &l->caller;
        else if (e == ERR_UNAUTHORIZED && takes_anybody(call))
            e = OK;
        break;
    case STAGE_HEAD:
    case STAGE_LOOK:
        break;
    case STAGE_RECALL:
        if (!call->outdated) {
            life_end(l, e);
            return;
        }
        call->outdated = false;
        reply_forget(call);
        e = OK;
        break;
    default:
        /* Perhaps it is committed all the same (store.h): what it revokes is looked at anew. */
        for (struct forgotten *f = e == ERR_UNAVAILABLE ? call->forgotten : NULL; f; f = f->next)
            api_forget(call->api, f);
        if (!e && call->forgotten && call->work.position)
            await_others(l);
        else
            life_handled(l, e);
        return;
    }
    if (e)
        life_end(l, e);
    else
        life_proceed(l, call->stage);
}

/* Whose turn it takes where many wait. */
static uint64_t life_owner(const struct call *call)
{
    if (call->caller)
        return call->caller->id;
    return call->exchange ? call->exchange->address : 0;
}

static void life_submit(struct life *l, enum call_stage stage, enum store_mode mode)
{
    struct call *call = &l->call;

    call->stage = stage;
    l->lines_before = call->headers.n;
    call->work = (struct work){
        .mode = mode,
        .aside = stage != STAGE_CREDENTIAL && call->route->aside,
        .measured = stage != STAGE_CREDENTIAL && call->route->measured,
        .again = stage == STAGE_HANDLE,
        .owner = life_owner(call),
        .name = call->route->name,
        .loop = call->loop,
        .run = attempt_run,
        .prefetch =
            mode == STORE_APPEND && call->route->prefetch && !call->alone ? attempt_prefetch : NULL,
        .committed = call_committed,
        .done = tx_done,
        .arena = call->arena,
    };
    store_submit(call->api->options.store, &call->work);
}

static void life_handle(struct life *l)
{
    struct call *call = &l->call;

    switch (route_store(call->route)) {
    case ROUTE_STORE_NONE:
        call->stage = STAGE_HANDLE;
        l->lines_before = call->headers.n;
        tx_done(&call->work, attempt_run(&call->work, NULL));
        break;
    case ROUTE_STORE_READ:
        life_submit(l, STAGE_HANDLE, STORE_READ);
        break;
    case ROUTE_STORE_APPEND:
        life_submit(l, STAGE_HANDLE, call->decides ? STORE_WRITE : STORE_APPEND);
        break;
    default:
        life_submit(l, STAGE_HANDLE, STORE_WRITE);
    }
}

/* --- the stages that take long -------------------------------------------------------- */

static void answer_hash(struct post *p)
{
    struct life *l = container_of(p, struct life, hashed);

    if (l->computed)
        life_end(l, l->computed);
    else
        life_proceed(l, STAGE_HASH);
}

/* On a thread for passwords. Nobody hears of a hash for a client that has gone. */
static void run_hash(struct hash_task *t)
{
    struct life *l = container_of(t, struct life, hash);
    struct call *call = &l->call;

    l->computed =
        call->exchange && exchange_abandoned(call->exchange) ? ERR_UNAVAILABLE : call->hash(call);
    loop_post(call->loop, &l->hashed);
}

static void start_hash(struct life *l)
{
    l->call.stage = STAGE_HASH;
    l->hash.run = run_hash;
    l->hashed.run = answer_hash;
    if (!hashing_submit(l->call.api->hashing, &l->hash))
        life_end(l, ERR_UNAVAILABLE);
}

static void life_compute(uv_work_t *w)
{
    struct life *l = container_of(w, struct life, compute);

    l->computed = l->call.compute(&l->call);
}

static void compute_done(uv_work_t *w, int status)
{
    struct life *l = container_of(w, struct life, compute);

    loop_part(l->call.route->name);
    if (status || l->computed)
        life_end(l, l->computed ? l->computed : ERR_UNAVAILABLE);
    else
        life_proceed(l, STAGE_COMPUTE);
}

static void start_compute(struct life *l)
{
    l->call.stage = STAGE_COMPUTE;
    uv_queue_work(loop_uv(l->call.loop), &l->compute, life_compute, compute_done);
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
    http_admit(call->exchange, call->caller ? call->caller->id : call->files_of);
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

static void read_input(struct call *call)
{
    if (call->exchange)
        decode_input(call);
    else
        call->decoded = errand_decode(call);
}

static void life_decode(uv_work_t *w)
{
    read_input(&container_of(w, struct life, compute)->call);
}

static void decode_done(uv_work_t *w, int status)
{
    struct life *l = container_of(w, struct life, compute);

    loop_part(l->call.route->name);
    if (status)
        life_end(l, ERR_UNAVAILABLE);
    else
        life_proceed(l, STAGE_DECODE);
}

static void start_decode(struct life *l)
{
    l->call.stage = STAGE_DECODE;
    uv_queue_work(loop_uv(l->call.loop), &l->compute, life_decode, decode_done);
}

/* Whether somebody else goes on with it: a body that was seen before need not be read. */
static bool life_recognise(struct life *l)
{
    struct call *call = &l->call;
    bool known = false;
    enum err e = call->route->recognise ? call->route->recognise(call, &known) : OK;

    if (e)
        life_end(l, e);
    else if (known)
        life_submit(l, STAGE_RECALL, STORE_READ);
    return e || known;
}

/* --- from stage to stage -------------------------------------------------------------- */

/* What follows the stage that just ended well. */
static void life_proceed(struct life *l, enum call_stage ended)
{
    struct call *call = &l->call;

    if (ended == STAGE_CREDENTIAL) {
        enum err e = check_caller(l);

        if (e) {
            life_end(l, e);
            return;
        }
        if (l->admitting && call->route->admit_body) {
            life_submit(l, STAGE_HEAD, STORE_READ);
            return;
        }
    }
    if (l->admitting) {
        let_body_come(l);
        return;
    }
    if (ended == STAGE_CREDENTIAL && life_recognise(l))
        return;
    if (ended == STAGE_CREDENTIAL || ended == STAGE_RECALL) {
        if (input_is_long(call)) {
            start_decode(l);
            return;
        }
        decode_input(call);
    }
    if (ended <= STAGE_DECODE) {
        enum err e = check_body(l);

        if (e) {
            life_end(l, e);
            return;
        }
        if (call->look) {
            life_submit(l, STAGE_LOOK, STORE_READ);
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
    life_handle(l);
}

void life_follow(struct life *l, bool input_is_long)
{
    if (input_is_long) {
        start_decode(l);
        return;
    }
    read_input(&l->call);
    life_proceed(l, STAGE_DECODE);
}

void call_resume(struct call *call, enum err e)
{
    struct life *l = container_of(call, struct life, call);

    assert(call->stage == STAGE_AWAIT);
    if (e)
        life_end(l, e);
    else
        life_proceed(l, STAGE_AWAIT);
}

void life_identify(struct life *l)
{
    struct call *call = &l->call;
    struct auth *auth = call->api->options.auth;
    struct str header = call->exchange->request->authorization;

    if (call->route->service) {
        life_proceed(l, STAGE_CREDENTIAL);
        return;
    }
    enum caller_kind kind = credential_kind(header, &call->token);
    if (header.p && auth_remembered(auth, kind, call->token, &l->caller)) {
        call->caller = &l->caller;
        life_proceed(l, STAGE_CREDENTIAL);
    } else if (header.p && credential_parse(kind, call->token, &l->credential)) {
        auth_will_find(auth, &l->credential);
        life_submit(l, STAGE_CREDENTIAL, STORE_READ);
    } else if (takes_anybody(call)) {
        life_proceed(l, STAGE_CREDENTIAL);
    } else {
        life_end(l, ERR_UNAUTHORIZED);
    }
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
    call->voices_end = &call->voices;
    buf_init(&call->reply, CALL_MAX_REPLY);
    buf_init(&call->headers, CALL_MAX_HEADERS);
}

/* Is there something for people where programs find nothing? */
static bool life_find_page(struct life *l)
{
    struct call *call = &l->call;
    const struct api_options *o = &call->api->options;
    enum http_method method = call->exchange->request->method;

    if (!o->page || l->match.error != ERR_NOT_FOUND || (method != HTTP_GET && method != HTTP_HEAD))
        return false;
    loop_part("page");
    return o->page(o->page_arg, call);
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
    l->started = clock_mono();
    l->began = traffic_is_on(api->options.traffic) ? l->started : 0;
    l->refused = OK;
    atomic_fetch_add_explicit(&api->running, 1, memory_order_relaxed);
    if (cors_is_preflight(api, x->request)) {
        answer_options(l);
        return;
    }
    router_match(api->router, x->arena, x->request->method, x->request->path, &l->match);
    call->route = l->match.route;
    if (call->route)
        loop_part(call->route->name);
    if ((l->match.error == ERR_NOT_FOUND || l->match.error == ERR_METHOD_NOT_ALLOWED) &&
        known_operation(x->request->method, x->request->path))
        l->match.error = ERR_NOT_SERVED;
    if (l->match.error == ERR_METHOD_NOT_ALLOWED)
        answer_add_allow(l, "Allow");
    if (l->match.error)
        life_end(l, life_find_page(l) ? OK : l->match.error);
    else if (!call->route)
        answer_options(l);
    else if (!faults_there(api->faults) || call->route->service || !life_spoil(l))
        life_identify(l);
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
    l->started = clock_mono(); /* how fast a body comes is the client's doing */
    l->call.parts = x->parts;
    l->call.caller = NULL; /* a credential may have been revoked meanwhile */
    life_identify(l);
}
