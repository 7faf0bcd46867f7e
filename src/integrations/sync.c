/* sync.c - subscribers of an account get their role, and those who no longer subscribe
 * are noted.
 *
 * A sync is a chain of small steps, each an errand of its own, so that no other write
 * waits long for it. A process that dies leaves a lease behind, and whoever takes the job
 * when it has run out goes on where it was. */
#include "integrations/sync.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "api/errand.h"
#include "base/log.h"
#include "base/mem.h"

/* What goes on in memory. */
struct chain {
    struct api *api;
    struct loop *loop;
    struct post post; /* between two steps the loop sees to others */
    struct sync sync;
};

static void go_on(struct chain *c);

/* --- from step to step ----------------------------------------------------------------------- */

static void chain_end(struct chain *c)
{
    sodium_memzero(c->sync.secret, sizeof c->sync.secret);
    mem_free(c);
}

/* The lease stays: the job is taken up again when it has run out. */
static bool ends(struct chain *c, enum err e, bool gone)
{
    if (!e && !gone)
        return false;
    if (e)
        log_warn("integrations: sync of %llu: %s", (unsigned long long)c->sync.id,
                 error_info(e)->message);
    chain_end(c);
    return true;
}

static void ended(struct call *call, enum err e, void *arg)
{
    (void)call;
    ends(arg, e, true);
}

static void finish(struct chain *c)
{
    c->sync.stage = SYNC_END;
    go_on(c);
}

static void keep_some(struct chain *c, const struct page *p);

static void page_kept(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    struct page *p = call->data;

    if (ends(c, e, p->sync.gone))
        return;
    p->before = p->after;
    if (p->before.count) {
        keep_some(c, p);
        return;
    }
    c->sync = p->sync;
    go_on(c);
}

static void keep_some(struct chain *c, const struct page *p)
{
    errand_start(c->api, c->loop,
                 &(struct errand){ .store = ROUTE_STORE_WRITE,
                                   .run = run_page,
                                   .done = page_kept,
                                   .data = p,
                                   .size = sizeof *p + p->bytes,
                                   .arg = c });
}

static void keep_page(struct chain *c, const struct provider_answer *a)
{
    size_t bytes = 0;

    for (size_t n = 0; n < a->ids.count; n++)
        bytes += ((const struct str *)a->ids.items)[n].n + 1;
    struct page *p = mem_new(sizeof *p + bytes);
    char *at = (char *)(p + 1);
    *p = (struct page){ .sync = c->sync, .bytes = bytes, .before = { a->ids.count, 0 } };
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

    if (a->result == PROVIDER_OK && a->next.n <= LONGEST_CURSOR) {
        keep_page(c, a);
        return;
    }
    c->sync.refused = a->result == PROVIDER_UNAUTHORISED;
    c->sync.failed = !c->sync.refused;
    if (c->sync.failed)
        log_warn("integrations: sync of %llu: the provider of %s does not answer",
                 (unsigned long long)c->sync.id, platform_name(c->sync.platform).p);
    finish(c);
}

static void ask_page(struct chain *c)
{
    struct sync *s = &c->sync;

    if (s->refused) {
        finish(c);
        return;
    }
    if (s->pages >= PROVIDER_MAX_PAGES) {
        log_warn("integrations: sync of %llu: the provider's pages do not end",
                 (unsigned long long)s->id);
        s->failed = true;
        finish(c);
        return;
    }
    provider_ask(c->api, c->loop,
                 &(struct question){ .kind = ASK_SUBSCRIBERS,
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
    const struct range *r = call->data;

    if (ends(c, e, r->sync.gone))
        return;
    c->sync.member = r->last;
    if (r->ended)
        c->sync.stage = SYNC_SWEEP;
    go_on(c);
}

static void members_seen(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    const struct range *r = call->data;

    if (!e && r->count) {
        errand_start(c->api, c->loop,
                     &(struct errand){ .store = ROUTE_STORE_WRITE,
                                       .run = run_members,
                                       .done = members_settled,
                                       .data = r,
                                       .size = sizeof *r,
                                       .arg = c });
        return;
    }
    members_settled(call, e, arg);
}

static void scan_members(struct chain *c)
{
    struct range r = { .sync = c->sync };

    errand_start(c->api, c->loop,
                 &(struct errand){ .store = ROUTE_STORE_READ,
                                   .run = run_scan,
                                   .done = members_seen,
                                   .data = &r,
                                   .size = sizeof r,
                                   .arg = c });
}

static void swept(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    const struct sweep *w = call->data;

    if (ends(c, e, w->sync.gone))
        return;
    if (w->swept < SWEEP)
        c->sync.stage = SYNC_END;
    go_on(c);
}

static void sweep_old(struct chain *c)
{
    struct sweep w = { .sync = c->sync };

    errand_start(c->api, c->loop,
                 &(struct errand){ .store = ROUTE_STORE_WRITE,
                                   .run = run_sweep,
                                   .done = swept,
                                   .data = &w,
                                   .size = sizeof w,
                                   .arg = c });
}

static void take_step(struct post *p)
{
    struct chain *c = container_of(p, struct chain, post);

    /* Who comes after us goes on where we are. */
    if (api_draining(c->api)) {
        chain_end(c);
        return;
    }
    switch (c->sync.stage) {
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
        errand_start(c->api, c->loop,
                     &(struct errand){ .store = ROUTE_STORE_WRITE,
                                       .run = run_end,
                                       .done = ended,
                                       .data = &c->sync,
                                       .size = sizeof c->sync,
                                       .arg = c });
    }
}

static void go_on(struct chain *c)
{
    c->post.run = take_step;
    loop_post(c->loop, &c->post);
}

static void begun(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    const struct sync *s = call->data;

    if (ends(c, e, s->gone))
        return;
    c->sync = *s;
    go_on(c);
}

static void start_sync(struct api *api, struct loop *loop, const struct job *job)
{
    struct chain *c = mem_new(sizeof *c);

    c->api = api;
    c->loop = loop;
    c->sync.id = job->key;
    sync_read(job->data, &c->sync);
    errand_start(api, loop,
                 &(struct errand){ .store = ROUTE_STORE_WRITE,
                                   .run = run_begin,
                                   .done = begun,
                                   .data = &c->sync,
                                   .size = sizeof c->sync,
                                   .arg = c });
}

const struct job_kind sync_kind = {
    .name = "integration-sync",
    .doc = "Gives subscribers of an account their role.",
    .start = start_sync,
    .lease_ms = SYNC_LEASE_MS,
};
