/* sync.c - hourly job that gives the role to subscribers of a platform account and records which
 * subscriptions have ended. A sync is a chain of small transactions, so that other writes do not
 * wait long. After a crash the job's lease expires, and the node that takes over the job continues
 * it. */
#include "integrations/sync.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "integrations/call_chain.h"

static struct sync_progress *get_progress_of_sync_chain(const struct internal_call_chain *c)
{
    return c->state;
}

/* Ends the sync after an error, or if the integration is gone. The job's lease stays; when the
 * lease expires, the job starts again. */
static bool end_integration_sync_on_error(struct internal_call_chain *c, enum err e, bool gone)
{
    if (!e && !gone)
        return false;
    if (e)
        log_warn("integrations: sync of integration %llu failed, will retry: %s",
                 (unsigned long long)get_progress_of_sync_chain(c)->job.key,
                 error_info(e)->message);
    internal_call_chain_free(c);
    return true;
}

static void on_sync_end_stored(struct call *call, enum err e, void *arg)
{
    (void)call;
    end_integration_sync_on_error(arg, e, true);
}

static void integration_sync_go_to_end_stage(struct internal_call_chain *c)
{
    get_progress_of_sync_chain(c)->stage = SYNC_END;
    internal_call_chain_schedule_next_step(c);
}

static void store_some_subscribers_of_page(struct internal_call_chain *c,
                                           const struct subscriber_page *p);

static void on_some_subscribers_stored(struct call *call, enum err e, void *arg)
{
    struct internal_call_chain *c = arg;
    struct subscriber_page *p = call_get_stage_data(call, "subscriber_page");

    if (end_integration_sync_on_error(c, e, p->sync.gone))
        return;
    p->before = p->after;
    if (p->before.count) {
        store_some_subscribers_of_page(c, p);
        return;
    }
    *get_progress_of_sync_chain(c) = p->sync;
    internal_call_chain_schedule_next_step(c);
}

static void store_some_subscribers_of_page(struct internal_call_chain *c,
                                           const struct subscriber_page *p)
{
    internal_call_chain_start_call_with_data(
        c, ROUTE_STORE_WRITE, integration_sync_step_store_subscriber_page,
        on_some_subscribers_stored, "subscriber_page", p, sizeof *p + p->bytes);
}

static void store_subscriber_page(struct internal_call_chain *c,
                                  const struct platform_provider_response *a)
{
    size_t bytes = 0;

    for (size_t n = 0; n < a->ids.count; n++)
        bytes += ((const struct str *)a->ids.items)[n].n + 1;
    struct subscriber_page *p = mem_new(sizeof *p + bytes);
    char *at = (char *)(p + 1);
    *p = (struct subscriber_page){ .sync = *get_progress_of_sync_chain(c),
                                   .bytes = bytes,
                                   .before = { a->ids.count, 0 } };
    for (size_t n = 0; n < a->ids.count; n++) {
        struct str id = ((const struct str *)a->ids.items)[n];

        memcpy(at, id.p, id.n);
        at[id.n] = '\0';
        at += id.n + 1;
    }
    p->sync.pages++;
    p->sync.stage = a->next.n ? SYNC_PAGES : SYNC_MEMBERS;
    snprintf(p->sync.cursor, sizeof p->sync.cursor, "%.*s", STR_ARGS(a->next));
    store_some_subscribers_of_page(c, p);
    mem_free(p);
}

static void on_subscriber_page_received(void *arg, const struct platform_provider_response *a)
{
    struct internal_call_chain *c = arg;
    struct sync_progress *s = get_progress_of_sync_chain(c);

    if (a->result == PROVIDER_OK && a->next.n <= LONGEST_CURSOR) {
        store_subscriber_page(c, a);
        return;
    }
    s->refused = a->result == PROVIDER_UNAUTHORISED;
    s->failed = !s->refused;
    if (s->failed)
        log_warn(
            "integrations: sync of integration %llu failed: no response from the provider of %s",
            (unsigned long long)s->job.key, platform_get_database_name(s->platform).p);
    integration_sync_go_to_end_stage(c);
}

static void request_subscriber_page(struct internal_call_chain *c)
{
    struct sync_progress *s = get_progress_of_sync_chain(c);

    if (s->refused) {
        integration_sync_go_to_end_stage(c);
        return;
    }
    if (s->pages >= PROVIDER_MAX_PAGES) {
        log_warn(
            "integrations: sync of integration %llu stopped: the provider sends too many pages",
            (unsigned long long)s->job.key);
        s->failed = true;
        integration_sync_go_to_end_stage(c);
        return;
    }
    platform_provider_send_request(
        c->api, c->loop,
        &(struct platform_provider_request){ .kind = ASK_SUBSCRIBERS,
                                             .platform = s->platform,
                                             .account_id = str_of(s->account_id),
                                             .cursor = str_of(s->cursor),
                                             .secret = str_of(s->secret),
                                             .done = on_subscriber_page_received,
                                             .arg = c });
}

static void on_subscriber_roles_changed(struct call *call, enum err e, void *arg)
{
    struct internal_call_chain *c = arg;
    struct sync_progress *s = get_progress_of_sync_chain(c);
    const struct scanned_member_range *r = call_get_stage_data(call, "scanned_member_range");

    if (end_integration_sync_on_error(c, e, r->sync.gone))
        return;
    s->member = r->last;
    if (r->ended)
        s->stage = SYNC_CLEANUP;
    internal_call_chain_schedule_next_step(c);
}

static void on_subscriber_states_scanned(struct call *call, enum err e, void *arg)
{
    struct internal_call_chain *c = arg;
    const struct scanned_member_range *r = call_get_stage_data(call, "scanned_member_range");

    if (!e && r->count) {
        internal_call_chain_start_call_with_data(
            c, ROUTE_STORE_WRITE, integration_sync_step_change_members, on_subscriber_roles_changed,
            "scanned_member_range", r, sizeof *r);
        return;
    }
    on_subscriber_roles_changed(call, e, arg);
}

static void start_subscriber_state_scan(struct internal_call_chain *c)
{
    struct scanned_member_range r = { .sync = *get_progress_of_sync_chain(c) };

    internal_call_chain_start_call_with_data(
        c, ROUTE_STORE_READ, integration_sync_step_scan_members, on_subscriber_states_scanned,
        "scanned_member_range", &r, sizeof r);
}

static void on_sync_cleanup_step_done(struct call *call, enum err e, void *arg)
{
    struct internal_call_chain *c = arg;
    const struct sync_cleanup *w = call_get_stage_data(call, "sync_cleanup");

    if (end_integration_sync_on_error(c, e, w->sync.gone))
        return;
    if (w->swept < CLEANUP_ROWS_PER_STEP)
        integration_sync_go_to_end_stage(c);
    else
        internal_call_chain_schedule_next_step(c);
}

static void start_sync_cleanup_step(struct internal_call_chain *c)
{
    struct sync_cleanup w = { .sync = *get_progress_of_sync_chain(c) };

    internal_call_chain_start_call_with_data(c, ROUTE_STORE_WRITE, integration_sync_step_cleanup,
                                             on_sync_cleanup_step_done, "sync_cleanup", &w,
                                             sizeof w);
}

static void on_subscribers_counted(struct call *call, enum err e, void *arg)
{
    struct internal_call_chain *c = arg;
    const struct sync_progress *s = call_get_stage_data(call, "sync_progress");

    if (end_integration_sync_on_error(c, e, false))
        return;
    get_progress_of_sync_chain(c)->subscribers = s->subscribers;
    internal_call_chain_start_call(c, ROUTE_STORE_WRITE, integration_sync_step_end_sync,
                                   on_sync_end_stored);
}

static void run_integration_sync_stage(struct internal_call_chain *c)
{
    switch (get_progress_of_sync_chain(c)->stage) {
    case SYNC_PAGES:
        request_subscriber_page(c);
        break;
    case SYNC_MEMBERS:
        start_subscriber_state_scan(c);
        break;
    case SYNC_CLEANUP:
        start_sync_cleanup_step(c);
        break;
    default:
        internal_call_chain_start_call(c, ROUTE_STORE_READ, integration_sync_step_count_subscribers,
                                       on_subscribers_counted);
    }
}

static void on_integration_sync_begun(struct call *call, enum err e, void *arg)
{
    struct internal_call_chain *c = arg;
    const struct sync_progress *s = call_get_stage_data(call, "sync_progress");

    if (end_integration_sync_on_error(c, e, s->gone))
        return;
    *get_progress_of_sync_chain(c) = *s;
    internal_call_chain_schedule_next_step(c);
}

static void start_integration_sync_job(struct api *api, struct loop *loop, const struct job *job)
{
    struct sync_progress first = { .job = *job };

    parse_integration_sync_progress(job->data, &first);
    first.job.data = (struct str){ 0 };
    internal_call_chain_start_call(internal_call_chain_new(api, loop, run_integration_sync_stage,
                                                           "sync_progress", &first, sizeof first),
                                   ROUTE_STORE_WRITE, integration_sync_step_begin,
                                   on_integration_sync_begun);
}

const struct job_kind sync_job = {
    .name = "integration-sync",
    .doc = "Gives the subscribers of a platform account their role.",
    .start = start_integration_sync_job,
    .lease_ms = SYNC_LEASE_MS,
};
