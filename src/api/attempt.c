/* attempt.c - what a call does inside a transaction, and what follows from its commit.
 *
 * The store may run a transaction again, so each attempt starts from scratch. */
#include "api/internal.h"

#include <assert.h>

#include "api/bans.h"
#include "base/log.h"
#include "base/mem.h"

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
static enum err attempt_enter(struct life *l)
{
    struct call *call = &l->call;
    enum err e = resolve_path(l);

    if (!e && (call->route->needs || (route_speaks(call->route) && call->api->permit))) {
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

    reply_forget(call);
    buf_cut(&call->headers, l->lines_before);
    call->status = 0;
    call->announced = NULL;
    call->announced_end = &call->announced;
    call->announce_error = OK;
    call->forgotten = NULL;
    call->voices = NULL;
    call->voices_end = &call->voices;
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

/* What other servers hear of it. */
static struct frame call_frame(const struct call *call)
{
    return (struct frame){ .announced = call->announced,
                           .forgotten = call->forgotten,
                           .voices = call->voices };
}

void attempt_prefetch(struct work *w, struct tx *tx)
{
    struct call *call = &container_of(w, struct life, call.work)->call;

    call->tx = tx;
    if (!call->decoded)
        call->route->prefetch(call);
    call->tx = NULL;
}

/* A handler that has something to say of it says it before its path is resolved. One that adds says
 * it for its group (attempt_prefetch); by itself its path says enough. */
static enum err handler_prefetch(struct call *call)
{
    bool said = call->decoded || route_store(call->route) == ROUTE_STORE_APPEND;

    return call->route->prefetch && !said ? call->route->prefetch(call) : OK;
}

enum err attempt_run(struct work *w, struct tx *tx)
{
    struct life *l = container_of(w, struct life, call.work);
    struct call *call = &l->call;
    enum err e;

    call->tx = tx;
    attempt_forget(l);
    switch (call->stage) {
    case STAGE_CREDENTIAL:
        e = auth_find(call->api->options.auth, tx, &l->credential, &l->caller);
        break;
    case STAGE_HEAD:
        e = call->route->admit_body(call);
        break;
    case STAGE_RECALL:
        e = attempt_enter(l);
        if (!e)
            e = call->route->recall(call);
        if (!e)
            e = check_whole(call);
        if (call->outdated)
            e = OK; /* nothing has failed: the body is read */
        break;
    case STAGE_LOOK:
        e = attempt_enter(l);
        if (!e)
            e = call->look(call);
        break;
    default:
        e = handler_prefetch(call);
        if (!e)
            e = attempt_enter(l);
        if (!e)
            e = call->route->handle(call);
        if (!e && call->kept)
            e = files_record(call);
        if (!e)
            e = check_whole(call);
    }
    if (!e)
        e = call->announce_error;
    if (!e && call->api->options.cluster && work_writes(w))
        cluster_log(call->api->options.cluster, tx, call_frame(call));
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
    if (o->banned)
        o->banned(o->forgotten_arg, &f->network);
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

    if (o->forgotten && !f->of_apps)
        o->forgotten(o->forgotten_arg, f->account, f->one ? f->session : NULL, forgets);
}

/* Where there are no other servers. */
static void call_tell(const struct call *call)
{
    const struct api_options *o = &call->api->options;

    for (const struct noted_voice *v = call->voices; v && o->voice_moved; v = v->next)
        o->voice_moved(o->voice_arg, &v->fact);
    if (call->announced && o->announce)
        o->announce(o->announce_arg, call->announced);
}

void call_committed(struct work *w)
{
    struct life *l = container_of(w, struct life, call.work);
    struct call *call = &l->call;
    const struct api_options *o = &call->api->options;

    for (struct forgotten *f = call->forgotten; f; f = f->next)
        api_forget(call->api, f);
    if (o->cluster)
        cluster_committed(o->cluster, w, call_frame(call));
    else
        call_tell(call);
    if (call->job_due)
        jobs_expect(call->api->jobs, call->job_due);
    if (call->dropped)
        file_removal_expect(call->api->file_removal);
}
