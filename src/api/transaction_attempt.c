/* transaction_attempt.c - runs a stage of a call inside a transaction, and applies its effects
 * after the commit.
 *
 * The store may run a transaction again, so each attempt resets the previous one. */
#include "api/internal.h"

#include <assert.h>

#include "api/auth/address_bans.h"
#include "base/log.h"
#include "base/mem.h"

static enum err resolve_path_parameters(struct call_context *run)
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

/* Runs all checks that precede the handler: resolvers of the path, permissions, route->admit. If
 * they succeed, returns the decoding error of the body, or OK. */
static enum err check_call_access(struct call_context *run)
{
    struct call *call = &run->call;
    enum err e = resolve_path_parameters(run);

    if (!e && (call->route->needs ||
               (route_changes_are_visible_in_guild(call->route) && call->api->check_permissions))) {
        assert(call->api->check_permissions);
        e = call->api->check_permissions(call, call->route->needs);
    }
    if (!e && call->route->admit)
        e = call->route->admit(call);
    return e ? e : call->decoded;
}

/* Resets the results of an earlier attempt, because the store may run the transaction again. */
static void call_attempt_reset(struct call_context *run)
{
    struct call *call = &run->call;

    response_discard_written_part(run);
    buf_truncate(&run->response.headers, run->header_bytes_before);
    run->response.status = 0;
    run->effects.announced = NULL;
    run->effects.announced_end = &run->effects.announced;
    run->effects.announce_error = OK;
    run->effects.revocations = NULL;
    run->effects.voice_changes = NULL;
    run->effects.voice_changes_end = &run->effects.voice_changes;
    reset_call_files_before_retry(call);
    run->effects.job_due = 0;
    run->refusal = (struct call_refusal_cause){ 0 };
    run->cause = STR("");
    call->after = NULL;
    run->outdated = false;
    if (!call->decoded)
        call->form.root = NULL;
}

/* Fails if the response, its headers or an arena allocation was truncated at its limit. Called
 * inside the transaction, so that the transaction is rolled back. */
static enum err check_response_within_limits(const struct call_context *run)
{
    const struct call *call = &run->call;
    bool response_too_large = buf_is_full(&call->reply) || buf_is_full(&run->response.headers);

    if (!response_too_large && !arena_has_lost_data(call->arena))
        return OK;
    log_warn("api: refused a request with status 413; route %s: %s", call->route->name,
             response_too_large ? "the response exceeds its size limit"
                                : "the call exceeds its memory limit");
    return response_too_large ? ERR_ANSWER_TOO_LARGE : ERR_ENTITY_TOO_LARGE;
}

/* Returns those effects of the call that other nodes must apply, as an entry of the event log. */
static struct log_entry build_log_entry_from_commit_effects(
    const struct call_commit_effects *effects)
{
    return (struct log_entry){ .announced = effects->announced,
                               .revocations = effects->revocations,
                               .voices = effects->voice_changes };
}

enum err call_run_stage_in_transaction(struct work_item *w, struct tx *tx)
{
    struct call_context *run = container_of(w, struct call_context, work);
    struct call *call = &run->call;
    enum err e;

    call->tx = tx;
    call_attempt_reset(run);
    switch (run->stage) {
    case STAGE_CREDENTIAL:
        e = auth_find_stored_token(call->api->options.auth, tx, &run->credential, &run->caller);
        break;
    case STAGE_HEAD:
        e = check_call_access(run);
        break;
    case STAGE_KNOWN_BODY:
        e = check_call_access(run);
        if (!e)
            e = call->read(call);
        if (!e)
            e = check_response_within_limits(run);
        if (run->outdated)
            e = OK; /* not an error: the call continues with the DECODE stage */
        break;
    case STAGE_READ:
        e = check_call_access(run);
        if (!e)
            e = call->read(call);
        break;
    default:
        e = check_call_access(run);
        if (!e)
            e = call->route->handle(call);
        if (!e && run->effects.blobs)
            e = insert_call_file_rows(call);
        if (!e)
            e = check_response_within_limits(run);
    }
    if (!e)
        e = run->effects.announce_error;
    if (!e && call->api->options.cluster && work_item_is_write(w))
        cluster_append_log_entry(call->api->options.cluster, tx,
                                 build_log_entry_from_commit_effects(&run->effects));
    if (e)
        call_find_refusal_cause(run, e);
    call->tx = NULL;
    return e;
}

static void apply_address_ban_change(struct api *api, const struct revocation_record *f)
{
    const struct api_options *o = &api->options;

    if (f->addresses == ADDRESSES_LIFTED) {
        address_ban_set_remove(auth_get_address_ban_set(o->auth), &f->network);
        return;
    }
    address_ban_set_add(auth_get_address_ban_set(o->auth), &f->network);
    if (o->events.addresses_banned)
        o->events.addresses_banned(o->events.arg, &f->network);
}

void api_apply_revocation_of_other_node(struct api *api, const struct revocation_record *f)
{
    const struct api_options *o = &api->options;

    if (f->addresses) {
        apply_address_ban_change(api, f);
        return;
    }
    uint64_t forgets = f->application ? auth_evict_application_tokens(o->auth, f->application)
                       : f->one       ? auth_evict_session_token(o->auth, f->session)
                                      : auth_evict_account_tokens(o->auth, f->account);

    if (o->events.credential_revoked && !f->applications_only)
        o->events.credential_revoked(o->events.arg, f->account, f->one ? f->session : NULL,
                                     forgets);
}

void call_publish_events(const struct call *call)
{
    const struct api_commit_callbacks *events = &call->api->options.events;
    const struct call_commit_effects *effects = &call_get_context(call)->effects;

    for (const struct voice_state_change *v = effects->voice_changes;
         v && events->voice_state_changed; v = v->next)
        events->voice_state_changed(events->arg, &v->state);
    if (effects->announced && events->announce)
        events->announce(events->arg, effects->announced);
}

void on_call_committed(struct work_item *w)
{
    struct call_context *run = container_of(w, struct call_context, work);
    struct call *call = &run->call;
    const struct api_options *o = &call->api->options;

    for (struct revocation_record *f = run->effects.revocations; f; f = f->next)
        api_apply_revocation_of_other_node(call->api, f);
    if (o->cluster)
        cluster_publish_log_entry(o->cluster, w,
                                  build_log_entry_from_commit_effects(&run->effects));
    else
        call_publish_events(call);
    if (run->effects.job_due)
        job_scheduler_wake_at(call->api->jobs, run->effects.job_due);
    if (run->effects.files_marked_deleted)
        file_removal_schedule(call->api->file_removal);
}
