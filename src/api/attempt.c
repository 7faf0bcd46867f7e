/* attempt.c - runs a stage of a call inside a transaction, and applies its effects after the
 * commit.
 *
 * The store may run a transaction again, so each attempt resets the previous one. */
#include "api/internal.h"

#include <assert.h>

#include "api/auth/bans.h"
#include "base/log.h"
#include "base/mem.h"

static enum err resolve_path(struct call_run *run)
{
    for (size_t i = 0; i < run->match.count; i++) {
        if (!run->match.resolvers[i]->resolve)
            continue;
        enum err e = run->match.resolvers[i]->resolve(&run->call);

        if (e)
            return e;
    }
    return OK;
}

/* Runs all checks before the handler: resolvers of the path, permissions, route->admit; then
 * returns the decoding error of the body, if any. */
static enum err attempt_enter(struct call_run *run)
{
    struct call *call = &run->call;
    enum err e = resolve_path(run);

    if (!e && (call->route->needs || (route_speaks(call->route) && call->api->permit))) {
        assert(call->api->permit);
        e = call->api->permit(call, call->route->needs);
    }
    if (!e && call->route->admit)
        e = call->route->admit(call);
    return e ? e : call->decoded;
}

void attempt_forget(struct call_run *run)
{
    struct call *call = &run->call;

    reply_forget(run);
    buf_cut(&run->answer.headers, run->lines_before);
    run->answer.status = 0;
    run->effects.announced = NULL;
    run->effects.announced_end = &run->effects.announced;
    run->effects.announce_error = OK;
    run->effects.forgotten = NULL;
    run->effects.voices = NULL;
    run->effects.voices_end = &run->effects.voices;
    files_forget_attempt(call);
    run->effects.job_due = 0;
    call->after = NULL;
    run->outdated = false;
    if (!call->decoded)
        call->form.root = NULL;
}

/* Fails if the response, its headers or an arena allocation exceeded its limit. Called inside the
 * transaction, which is then rolled back. */
static enum err check_whole(const struct call_run *run)
{
    const struct call *call = &run->call;
    bool answer = buf_full(&call->reply) || buf_full(&run->answer.headers);

    if (!answer && !arena_spoiled(call->arena))
        return OK;
    log_warn("api: %s: %s", call->route->name,
             answer ? "the response exceeds its size limit" : "the call exceeds its memory limit");
    return answer ? ERR_ANSWER_TOO_LARGE : ERR_ENTITY_TOO_LARGE;
}

/* Returns the effects of the call that other nodes must apply. */
static struct frame effects_frame(const struct call_effects *effects)
{
    return (struct frame){ .announced = effects->announced,
                           .forgotten = effects->forgotten,
                           .voices = effects->voices };
}

bool call_was_prefetched(const struct call *call)
{
    return run_of(call)->work.prefetch;
}

void attempt_prefetch(struct work *w, struct tx *tx)
{
    struct call *call = &container_of(w, struct call_run, work)->call;

    call->tx = tx;
    if (!call->decoded)
        call->route->prefetch(call);
    call->tx = NULL;
}

/* Runs route->prefetch before the path is resolved. The calls of an APPEND route are prefetched for
 * the whole batch (attempt_prefetch), or not at all. */
static enum err handler_prefetch(struct call *call)
{
    bool said = call->decoded || route_store(call->route) == ROUTE_STORE_APPEND;

    return call->route->prefetch && !said ? call->route->prefetch(call) : OK;
}

enum err attempt_run(struct work *w, struct tx *tx)
{
    struct call_run *run = container_of(w, struct call_run, work);
    struct call *call = &run->call;
    enum err e;

    call->tx = tx;
    attempt_forget(run);
    switch (run->stage) {
    case STAGE_CREDENTIAL:
        e = auth_find(call->api->options.auth, tx, &run->credential, &run->caller);
        break;
    case STAGE_HEAD:
        e = attempt_enter(run);
        break;
    case STAGE_RECALL:
        e = attempt_enter(run);
        if (!e)
            e = call->look(call);
        if (!e)
            e = check_whole(run);
        if (run->outdated)
            e = OK; /* not an error: the body is decoded next */
        break;
    case STAGE_LOOK:
        e = attempt_enter(run);
        if (!e)
            e = call->look(call);
        break;
    default:
        e = handler_prefetch(call);
        if (!e)
            e = attempt_enter(run);
        if (!e)
            e = call->route->handle(call);
        if (!e && run->effects.blobs)
            e = files_record(call);
        if (!e)
            e = check_whole(run);
    }
    if (!e)
        e = run->effects.announce_error;
    if (!e && call->api->options.cluster && work_writes(w))
        cluster_log(call->api->options.cluster, tx, effects_frame(&run->effects));
    call->tx = NULL;
    return e;
}

static void forget_addresses(struct api *api, const struct forgotten *f)
{
    const struct api_options *o = &api->options;

    if (f->addresses == ADDRESSES_LIFTED) {
        bans_drop(auth_bans(o->auth), &f->network);
        return;
    }
    bans_put(auth_bans(o->auth), &f->network);
    if (o->events.banned)
        o->events.banned(o->events.arg, &f->network);
}

void api_forget(struct api *api, const struct forgotten *f)
{
    const struct api_options *o = &api->options;

    if (f->addresses) {
        forget_addresses(api, f);
        return;
    }
    uint64_t forgets = f->application ? auth_forget_application(o->auth, f->application)
                       : f->one       ? auth_forget_session(o->auth, f->session)
                                      : auth_forget_account(o->auth, f->account);

    if (o->events.forgotten && !f->of_apps)
        o->events.forgotten(o->events.arg, f->account, f->one ? f->session : NULL, forgets);
}

void call_publish(const struct call *call)
{
    const struct api_events *events = &call->api->options.events;
    const struct call_effects *effects = &run_of(call)->effects;

    for (const struct noted_voice *v = effects->voices; v && events->voice_moved; v = v->next)
        events->voice_moved(events->arg, &v->fact);
    if (effects->announced && events->announce)
        events->announce(events->arg, effects->announced);
}

void call_committed(struct work *w)
{
    struct call_run *run = container_of(w, struct call_run, work);
    struct call *call = &run->call;
    const struct api_options *o = &call->api->options;

    for (struct forgotten *f = run->effects.forgotten; f; f = f->next)
        api_forget(call->api, f);
    if (o->cluster)
        cluster_committed(o->cluster, w, effects_frame(&run->effects));
    else
        call_publish(call);
    if (run->effects.job_due)
        jobs_expect(call->api->jobs, run->effects.job_due);
    if (run->effects.dropped)
        file_removal_expect(call->api->file_removal);
}
