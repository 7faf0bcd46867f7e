/* sync.c - hourly job that gives subscribers of a platform account their role and records lapses.
 *
 * A sync is a chain of small transactions, so that other writes do not wait long. After a crash the
 * lease expires, and the node that takes over the job continues where it stopped. */
#include "integrations/sync.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "integrations/chain.h"

static struct sync *sync_of(const struct chain *c)
{
    return c->state;
}

/* Ends the chain on an error or if gone is set. The lease stays: when it expires, the job starts
 * again. */
static bool sync_ends(struct chain *c, enum err e, bool gone)
{
    if (!e && !gone)
        return false;
    if (e)
        log_warn("integrations: sync of integration %llu failed, will retry: %s",
                 (unsigned long long)sync_of(c)->job.key, error_info(e)->message);
    chain_end(c);
    return true;
}

static void sync_ended(struct call *call, enum err e, void *arg)
{
    (void)call;
    sync_ends(arg, e, true);
}

static void sync_finish(struct chain *c)
{
    sync_of(c)->stage = SYNC_END;
    chain_go_on(c);
}

static void keep_some(struct chain *c, const struct sync_page *p);

static void page_kept(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    struct sync_page *p = call_passed(call, "sync_page");

    if (sync_ends(c, e, p->sync.gone))
        return;
    p->before = p->after;
    if (p->before.count) {
        keep_some(c, p);
        return;
    }
    *sync_of(c) = p->sync;
    chain_go_on(c);
}

static void keep_some(struct chain *c, const struct sync_page *p)
{
    chain_run_with(c, ROUTE_STORE_WRITE, run_page, page_kept, "sync_page", p, sizeof *p + p->bytes);
}

static void keep_page(struct chain *c, const struct provider_answer *a)
{
    size_t bytes = 0;

    for (size_t n = 0; n < a->ids.count; n++)
        bytes += ((const struct str *)a->ids.items)[n].n + 1;
    struct sync_page *p = mem_new(sizeof *p + bytes);
    char *at = (char *)(p + 1);
    *p = (struct sync_page){ .sync = *sync_of(c), .bytes = bytes, .before = { a->ids.count, 0 } };
    for (size_t n = 0; n < a->ids.count; n++) {
        struct str id = ((const struct str *)a->ids.items)[n];

        memcpy(at, id.p, id.n);
        at[id.n] = '\0';
        at += id.n + 1;
    }
    p->sync.pages++;
    p->sync.stage = a->next.n ? SYNC_PAGES : SYNC_MEMBERS;
    snprintf(p->sync.cursor, sizeof p->sync.cursor, "%.*s", STR_FMT(a->next));
    keep_some(c, p);
    mem_free(p);
}

static void page_came(void *arg, const struct provider_answer *a)
{
    struct chain *c = arg;
    struct sync *s = sync_of(c);

    if (a->result == PROVIDER_OK && a->next.n <= LONGEST_CURSOR) {
        keep_page(c, a);
        return;
    }
    s->refused = a->result == PROVIDER_UNAUTHORISED;
    s->failed = !s->refused;
    if (s->failed)
        log_warn(
            "integrations: sync of integration %llu failed: no response from the provider of %s",
            (unsigned long long)s->job.key, platform_name(s->platform).p);
    sync_finish(c);
}

static void ask_page(struct chain *c)
{
    struct sync *s = sync_of(c);

    if (s->refused) {
        sync_finish(c);
        return;
    }
    if (s->pages >= PROVIDER_MAX_PAGES) {
        log_warn(
            "integrations: sync of integration %llu stopped: the provider sends too many pages",
            (unsigned long long)s->job.key);
        s->failed = true;
        sync_finish(c);
        return;
    }
    provider_ask(c->api, c->loop,
                 &(struct provider_question){ .kind = ASK_SUBSCRIBERS,
                                              .platform = s->platform,
                                              .account_id = str_of(s->account_id),
                                              .cursor = str_of(s->cursor),
                                              .secret = str_of(s->secret),
                                              .done = page_came,
                                              .arg = c });
}

static void members_settled(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    struct sync *s = sync_of(c);
    const struct member_range *r = call_passed(call, "member_range");

    if (sync_ends(c, e, r->sync.gone))
        return;
    s->member = r->last;
    if (r->ended)
        s->stage = SYNC_SWEEP;
    chain_go_on(c);
}

static void members_seen(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    const struct member_range *r = call_passed(call, "member_range");

    if (!e && r->count) {
        chain_run_with(c, ROUTE_STORE_WRITE, run_members, members_settled, "member_range", r,
                       sizeof *r);
        return;
    }
    members_settled(call, e, arg);
}

static void scan_members(struct chain *c)
{
    struct member_range r = { .sync = *sync_of(c) };

    chain_run_with(c, ROUTE_STORE_READ, run_scan, members_seen, "member_range", &r, sizeof r);
}

static void sync_swept(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    const struct sweep *w = call_passed(call, "sweep");

    if (sync_ends(c, e, w->sync.gone))
        return;
    if (w->swept < SWEEP)
        sync_finish(c);
    else
        chain_go_on(c);
}

static void sweep_old(struct chain *c)
{
    struct sweep w = { .sync = *sync_of(c) };

    chain_run_with(c, ROUTE_STORE_WRITE, run_sweep, sync_swept, "sweep", &w, sizeof w);
}

static void sync_counted(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    const struct sync *s = call_passed(call, "sync");

    if (sync_ends(c, e, false))
        return;
    sync_of(c)->subscribers = s->subscribers;
    chain_run(c, ROUTE_STORE_WRITE, run_end, sync_ended);
}

static void take_step(struct chain *c)
{
    switch (sync_of(c)->stage) {
    case SYNC_PAGES:
        ask_page(c);
        break;
    case SYNC_MEMBERS:
        scan_members(c);
        break;
    case SYNC_SWEEP:
        sweep_old(c);
        break;
    default:
        chain_run(c, ROUTE_STORE_READ, run_count, sync_counted);
    }
}

static void sync_begun(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    const struct sync *s = call_passed(call, "sync");

    if (sync_ends(c, e, s->gone))
        return;
    *sync_of(c) = *s;
    chain_go_on(c);
}

static void start_sync(struct api *api, struct loop *loop, const struct job *job)
{
    struct sync first = { .job = *job };

    sync_read(job->data, &first);
    first.job.data = (struct str){ 0 };
    chain_run(chain_new(api, loop, take_step, "sync", &first, sizeof first), ROUTE_STORE_WRITE,
              run_begin, sync_begun);
}

const struct job_kind sync_kind = {
    .name = "integration-sync",
    .doc = "Gives the subscribers of a platform account their role.",
    .start = start_sync,
    .lease_ms = SYNC_LEASE_MS,
};
