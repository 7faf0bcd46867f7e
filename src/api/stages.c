/* stages.c - moves a call through the stages of enum call_stage (call.h), from request to response.
 *
 * Checks run in the order of the stages, so all routes report errors in the same order. */
#include "api/internal.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "traffic/traffic.h"

static void call_start_next_stage(struct call_context *run, enum call_stage ended);

static void finish_and_free_call(struct call_context *run, enum err e)
{
    if (!run->call.exchange)
        internal_call_finish_and_free(run, e);
    else if (e)
        response_send_error(run, e);
    else
        response_send_success(run);
}

/* Returns true if the call may continue as a call of an anonymous caller, although its credential
 * is invalid. */
static bool may_continue_as_anonymous(const struct call *call)
{
    unsigned auth = call->route->auth;

    return auth & AUTH_OPEN && !(auth & AUTH_GOOD && call->exchange->request->authorization.p);
}

static void call_submit_transaction(struct call_context *run, enum call_stage stage,
                                    enum transaction_mode mode);

enum err call_restart_at_read_stage(struct call *call)
{
    call_get_context(call)->outdated = true;
    return ERR_STORE_RETRY;
}

/* Returns the call to the READ stage after a conflict. If several calls conflict, one of them
 * succeeds, and the others return to READ. */
static bool return_call_to_read_stage(struct call_context *run)
{
    enum { MOST_LOOKS = 8 };

    if (!run->outdated || !run->call.read || ++run->read_restarts > MOST_LOOKS)
        return false;
    response_discard_written_part(run);
    call_submit_transaction(run, STAGE_READ, STORE_READ);
    return true;
}

static void on_handler_finished(struct call_context *run, enum err e)
{
    struct call *call = &run->call;

    if (!e && call->after)
        call->after(call);
    if (!e || !return_call_to_read_stage(run))
        finish_and_free_call(run, e);
}

static void on_revocation_acknowledged(struct loop_message *p)
{
    on_handler_finished(container_of(p, struct call_context, revocation_wait.post), OK);
}

/* Delays the response until every node has dropped the revoked credential. */
static void wait_until_nodes_apply_revocation(struct call_context *run)
{
    run->revocation_wait = (struct cluster_log_position_wait){
        .position = run->work.position,
        .loop = run->call.loop,
        .post.run = on_revocation_acknowledged,
    };
    cluster_wait_for_nodes_at_log_position(run->call.api->options.cluster, &run->revocation_wait);
}

static void on_transaction_finished(struct work_item *w, enum err e)
{
    struct call_context *run = container_of(w, struct call_context, work);
    struct call *call = &run->call;

    loop_set_measured_activity(call->route->name);
    /* If the transaction failed, remove the headers that this stage has added. */
    if (e)
        buf_truncate(&run->response.headers, run->header_bytes_before);
    switch (run->stage) {
    case STAGE_CREDENTIAL:
        if (!e)
            call->caller = &run->caller;
        else if (e == ERR_UNAUTHORIZED && may_continue_as_anonymous(call))
            e = OK;
        break;
    case STAGE_HEAD:
    case STAGE_READ:
        break;
    case STAGE_KNOWN_BODY:
        if (!run->outdated) {
            finish_and_free_call(run, e);
            return;
        }
        run->outdated = false;
        call->read = NULL;
        response_discard_written_part(run);
        e = OK;
        break;
    default:
        /* After ERR_UNAVAILABLE the transaction may have committed nevertheless (store.h). So evict
         * the credentials that this call revoked from the cache; then the next call reads them from
         * the store. */
        for (struct revocation_record *f = e == ERR_UNAVAILABLE ? run->effects.revocations : NULL;
             f; f = f->next)
            api_apply_revocation_of_other_node(call->api, f);
        if (!e && run->effects.revocations && run->work.position)
            wait_until_nodes_apply_revocation(run);
        else
            on_handler_finished(run, e);
        return;
    }
    if (e)
        finish_and_free_call(run, e);
    else
        call_start_next_stage(run, run->stage);
}

uint64_t call_scheduling_key(const struct call *call)
{
    if (call->caller)
        return call->caller->id;
    return call->exchange ? call->exchange->address : 0;
}

static void add_request_id_if_nonzero(struct work_item *w, uint64_t id)
{
    if (w->id_count < WORK_ITEM_MAX_IDS)
        w->ids[w->id_count++] = id;
}

/* Adds the ids of path, caller and query to the work item, for prefetching. A path parameter that
 * is not an id, such as a code, is represented by its hash. */
static void add_request_ids_to_work_item(struct call_context *run)
{
    const struct call *call = &run->call;
    const struct schema *query = call->query ? call->route->query : NULL;
    snowflake id;

    for (size_t i = 0; i < run->match.count; i++)
        add_request_id_if_nonzero(&run->work, snowflake_parse(run->match.params[i], &id)
                                                  ? id
                                                  : hash_str(run->match.params[i]));
    add_request_id_if_nonzero(&run->work, call->caller ? call->caller->id : 0);
    for (const struct field *f = query ? query->fields : NULL; f && f->name.p; f++)
        if (f->member == MEMBER_OPT_ID)
            add_request_id_if_nonzero(
                &run->work,
                ((const struct opt_id *)((const char *)call->query + f->offset))->value);
}

static void call_submit_transaction(struct call_context *run, enum call_stage stage,
                                    enum transaction_mode mode)
{
    struct call *call = &run->call;
    const struct cluster *cluster = call->api->options.cluster;
    bool checks = stage == STAGE_READ && call->reads_standby; /* the checks on the primary */

    run->stage = stage;
    run->header_bytes_before = run->response.headers.n;
    /* Refuse the call now, because this node lost the database; the caller can try another node. */
    if (call->exchange && cluster && cluster_node_is_isolated(cluster)) {
        finish_and_free_call(run, ERR_UNAVAILABLE);
        return;
    }
    run->work = (struct work_item){
        .mode = mode,
        .in_background = stage != STAGE_CREDENTIAL && call->route->background && !checks,
        .measured = stage != STAGE_CREDENTIAL && (call->route->measured || checks),
        .is_idempotent = stage == STAGE_HANDLE || checks,
        .may_read_standby = stage == STAGE_HANDLE && call->reads_standby,
        .owner = call_scheduling_key(call),
        /* Work items with the same name have the same queries (store/postgres/prefetch.c). */
        .name = checks ? call->route->path : call->route->name,
        .loop = call->loop,
        .run = call_run_stage_in_transaction,
        .may_share = call->may_share,
        .committed = on_call_committed,
        .done = on_transaction_finished,
        .arena = call->arena,
    };
    if (store_queries_need_round_trips(call->api->options.store))
        add_request_ids_to_work_item(run);
    store_submit_work_item(call->api->options.store, &run->work);
}

static void call_run_handler(struct call_context *run)
{
    struct call *call = &run->call;

    switch (route_get_transaction_kind_of_handler(call->route)) {
    case ROUTE_STORE_NONE:
        run->stage = STAGE_HANDLE;
        run->header_bytes_before = run->response.headers.n;
        on_transaction_finished(&run->work, call_run_stage_in_transaction(&run->work, NULL));
        break;
    case ROUTE_STORE_READ:
        call_submit_transaction(run, STAGE_HANDLE, STORE_READ);
        break;
    case ROUTE_STORE_APPEND:
        call_submit_transaction(run, STAGE_HANDLE, call->decides ? STORE_WRITE : STORE_APPEND);
        break;
    default:
        call_submit_transaction(run, STAGE_HANDLE, STORE_WRITE);
    }
}

static void on_hash_stage_finished(struct loop_message *p)
{
    struct call_context *run = container_of(p, struct call_context, hashed);

    if (run->computed)
        finish_and_free_call(run, run->computed);
    else
        call_start_next_stage(run, STAGE_HASH);
}

/* Runs call->hash on a password thread, unless the client has disconnected. */
static void call_run_hash_stage(struct password_hash_task *t)
{
    struct call_context *run = container_of(t, struct call_context, hash);
    struct call *call = &run->call;

    run->computed = call->exchange && http_exchange_is_abandoned(call->exchange) ? ERR_UNAVAILABLE
                                                                                 : call->hash(call);
    loop_post_message(call->loop, &run->hashed);
}

static void call_start_hash_stage(struct call_context *run)
{
    run->stage = STAGE_HASH;
    run->hash.run = call_run_hash_stage;
    run->hashed.run = on_hash_stage_finished;
    if (!password_hasher_submit(run->call.api->hashing, &run->hash))
        finish_and_free_call(run, ERR_UNAVAILABLE);
}

static void call_run_compute_stage(uv_work_t *w)
{
    struct call_context *run = container_of(w, struct call_context, compute);

    run->computed = run->call.compute(&run->call);
}

static void on_compute_finished(uv_work_t *w, int status)
{
    struct call_context *run = container_of(w, struct call_context, compute);

    loop_set_measured_activity(run->call.route->name);
    if (status || run->computed)
        finish_and_free_call(run, run->computed ? run->computed : ERR_UNAVAILABLE);
    else
        call_start_next_stage(run, STAGE_COMPUTE);
}

static void call_start_compute_stage(struct call_context *run)
{
    run->stage = STAGE_COMPUTE;
    uv_queue_work(loop_get_uv_loop(run->call.loop), &run->compute, call_run_compute_stage,
                  on_compute_finished);
}

/* Accepts the body after the head was checked. If the connection closes before the body has
 * arrived, there is no callback. So until then the call must own nothing but its arena. */
static void accept_request_body(struct call_context *run)
{
    struct call *call = &run->call;
    struct api *api = call->api;

    buf_clear(&run->response.headers);
    run->admitting = false;
    run->admitted = true;
    call->exchange->app = run;
    http_accept_request_body(call->exchange, call->caller ? call->caller->id : call->files_of);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

/* Checks the credential and the head. If the body arrives later, the head is not checked again, but
 * the credential is, because it may have been revoked meanwhile. */
static enum err check_credential_and_request_head(struct call_context *run)
{
    const struct caller *c = run->call.caller;

    if (c && c->disabled)
        return ERR_ACCOUNT_DISABLED;
    if (c && c->deleting)
        return ERR_ACCOUNT_DELETING;
    if (!run->admitted)
        return check_request_head_against_route(run);
    add_rate_limit_headers(run);
    return OK;
}

static void decode_call_input(struct call *call)
{
    if (call->exchange)
        call_decode_query_and_body(call);
    else
        call->decoded = internal_call_decode(call);
}

static void call_run_decode_stage(uv_work_t *w)
{
    decode_call_input(&container_of(w, struct call_context, compute)->call);
}

static void on_decode_finished(uv_work_t *w, int status)
{
    struct call_context *run = container_of(w, struct call_context, compute);

    loop_set_measured_activity(run->call.route->name);
    if (status)
        finish_and_free_call(run, ERR_UNAVAILABLE);
    else
        call_start_next_stage(run, STAGE_DECODE);
}

static void call_start_decode_stage(struct call_context *run)
{
    run->stage = STAGE_DECODE;
    uv_queue_work(loop_get_uv_loop(run->call.loop), &run->compute, call_run_decode_stage,
                  on_decode_finished);
}

/* Runs route->before_decode. Returns true if the call ended or is now in the KNOWN_BODY stage. */
static bool run_before_decode_stage(struct call_context *run)
{
    struct call *call = &run->call;
    enum err e = call->route->before_decode ? call->route->before_decode(call) : OK;

    if (e)
        finish_and_free_call(run, e);
    else if (call->read)
        call_submit_transaction(run, STAGE_KNOWN_BODY, STORE_READ);
    return e || call->read;
}

/* Lets the handler run on a standby, if the route and the state of the standby allow it. */
static void choose_standby_or_primary(struct call *call)
{
    const struct route *route = call->route;

    if (!route->before_standby || call->read || call->needs_primary ||
        !store_may_read_standby(call->api->options.store, call_scheduling_key(call)))
        return;
    call->read = route->before_standby;
    call->reads_standby = true;
}

static void call_start_next_stage(struct call_context *run, enum call_stage ended)
{
    struct call *call = &run->call;

    if (ended == STAGE_CREDENTIAL) {
        enum err e = check_credential_and_request_head(run);

        if (e) {
            finish_and_free_call(run, e);
            return;
        }
        if (run->admitting && call->route->service && call->route->admit) {
            call_submit_transaction(run, STAGE_HEAD, STORE_READ);
            return;
        }
    }
    if (run->admitting) {
        accept_request_body(run);
        return;
    }
    if (ended == STAGE_CREDENTIAL && run_before_decode_stage(run))
        return;
    if (ended == STAGE_CREDENTIAL || ended == STAGE_KNOWN_BODY) {
        if (call_input_is_long(call)) {
            call_start_decode_stage(run);
            return;
        }
        call_decode_query_and_body(call);
    }
    if (ended <= STAGE_DECODE) {
        enum err e = check_request_body_against_route(run);

        if (e) {
            finish_and_free_call(run, e);
            return;
        }
        choose_standby_or_primary(call);
        if (call->read) {
            call_submit_transaction(run, STAGE_READ, STORE_READ);
            return;
        }
    }
    if (ended <= STAGE_READ && call->await) {
        run->stage = STAGE_AWAIT;
        call->await(call);
        return;
    }
    if (ended <= STAGE_AWAIT && call->hash) {
        call_start_hash_stage(run);
        return;
    }
    if (ended <= STAGE_HASH && call->compute) {
        call_start_compute_stage(run);
        return;
    }
    call_run_handler(run);
}

void start_internal_call_at_decode_stage(struct call_context *run, bool call_input_is_long)
{
    if (call_input_is_long) {
        call_start_decode_stage(run);
        return;
    }
    decode_call_input(&run->call);
    call_start_next_stage(run, STAGE_DECODE);
}

void call_resume_after_await(struct call *call, enum err e)
{
    struct call_context *run = call_get_context(call);

    assert(run->stage == STAGE_AWAIT);
    if (e)
        finish_and_free_call(run, e);
    else
        call_start_next_stage(run, STAGE_AWAIT);
}

void call_authenticate(struct call_context *run)
{
    struct call *call = &run->call;
    struct auth *auth = call->api->options.auth;
    struct str header = call->exchange->request->authorization;

    if (call->route->service) {
        call_start_next_stage(run, STAGE_CREDENTIAL);
        return;
    }
    enum caller_kind kind = parse_credential_kind(header, &call->token);
    if (header.p && auth_find_cached_token(auth, kind, call->token, &run->caller)) {
        call->caller = &run->caller;
        call_start_next_stage(run, STAGE_CREDENTIAL);
    } else if (header.p && parse_credential_token(kind, call->token, &run->credential)) {
        auth_record_revocations_before_lookup(auth, &run->credential);
        call_submit_transaction(run, STAGE_CREDENTIAL, STORE_READ);
    } else if (may_continue_as_anonymous(call)) {
        call_start_next_stage(run, STAGE_CREDENTIAL);
    } else {
        finish_and_free_call(run, ERR_UNAUTHORIZED);
    }
}

void call_context_init(struct call_context *run, struct api *api, struct arena *arena,
                       struct loop *loop)
{
    struct call *call = &run->call;

    memset(run, 0, offsetof(struct call_context, match));
    call->api = api;
    call->arena = arena;
    call->loop = loop;
    call->form.arena = arena;
    run->response.file = -1;
    run->effects.announced_end = &run->effects.announced;
    run->effects.voice_changes_end = &run->effects.voice_changes;
    buf_init(&call->reply, CALL_MAX_REPLY);
    buf_init(&run->response.headers, CALL_MAX_HEADERS);
}

/* Serves a page of the web client if the path matches no route. */
static bool reply_with_web_page_if_any(struct call_context *run)
{
    struct call *call = &run->call;
    const struct api_options *o = &call->api->options;
    enum http_method method = call->exchange->request->method;

    if (!o->page || run->match.error != ERR_NOT_FOUND ||
        (method != HTTP_GET && method != HTTP_HEAD))
        return false;
    loop_set_measured_activity("page");
    return o->page(o->page_arg, call);
}

static void start_call_of_http_exchange(struct api *api, struct http_exchange *x, bool admitting)
{
    struct call_context *run = arena_alloc_unzeroed(x->arena, sizeof *run);
    struct call *call = &run->call;

    call_context_init(run, api, x->arena, x->loop);
    call->exchange = x;
    call->parts = x->parts;
    run->admitting = admitting;
    run->admitted = false;
    run->read_restarts = 0;
    run->started = clock_monotonic_ns();
    run->began = traffic_is_recorded(api->options.traffic) ? run->started : 0;
    run->refused = OK;
    atomic_fetch_add_explicit(&api->running, 1, memory_order_relaxed);
    if (x->first)
        api_warn_untrusted_proxy(api, x);
    if (cors_is_preflight(api, x->request)) {
        response_send_to_options_request(run);
        return;
    }
    router_match_request(api->router, x->arena, x->request->method, x->request->path, &run->match);
    call->route = run->match.route;
    if (call->route)
        loop_set_measured_activity(call->route->name);
    if ((run->match.error == ERR_NOT_FOUND || run->match.error == ERR_METHOD_NOT_ALLOWED) &&
        is_operation_documented_by_discord(x->request->method, x->request->path))
        run->match.error = ERR_NOT_SERVED;
    if (run->match.error == ERR_METHOD_NOT_ALLOWED)
        response_add_allow_header(run, "Allow");
    if (run->match.error)
        finish_and_free_call(run, reply_with_web_page_if_any(run) ? OK : run->match.error);
    else if (!call->route)
        response_send_to_options_request(run);
    else if (!injected_faults_exist(api->faults) || call->route->service ||
             !call_apply_injected_fault(run))
        call_authenticate(run);
}

void call_check_request_head_before_body(struct api *api, struct http_exchange *x)
{
    start_call_of_http_exchange(api, x, true);
}

void call_start_complete_request(struct api *api, struct http_exchange *x)
{
    struct call_context *run = x->app;

    if (!run) {
        start_call_of_http_exchange(api, x, false);
        return;
    }
    atomic_fetch_add_explicit(&api->running, 1, memory_order_relaxed);
    run->started = clock_monotonic_ns(); /* set the start time now, because the time of the upload
                                          * does not count */
    run->call.parts = x->parts;
    run->call.caller = NULL; /* forget the caller, so that the credential is checked again */
    call_authenticate(run);
}
