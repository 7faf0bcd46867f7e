/* sync.c - subscribers of an account get their role, and those who no longer subscribe
 * are noted.
 *
 * A sync is a chain of small steps, each an errand of its own, so that no other write
 * waits long for it. After each the job's row says where to go on: a process that dies
 * leaves a lease behind, and whoever takes the job when it has run out goes on there.
 * The row's round tells the chain of this sync from one that began later. */
#include "integrations/internal.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "api/errand.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

enum {
    LEASE_MS = 30 * 1000, /* longer than any step, with all its tries */
    HOUR = 3600,
    JITTER = 300,
    LONGEST_CURSOR = 512,
    SCAN = 500,        /* members looked at in one step */
    MOST_CHANGES = 50, /* members changed in one step */
    SWEEP = 500,
    REVOKED_DAYS = 30,
};

enum stage { STAGE_BEGIN, STAGE_PAGES, STAGE_MEMBERS, STAGE_SWEEP, STAGE_END };

/* Where a sync is. Flat: it travels through errands, and as text through the job. */
struct sync {
    snowflake id;
    enum stage stage;
    int64_t round, pages;
    snowflake member; /* the last one that was looked at */
    char cursor[LONGEST_CURSOR + 1];
    enum platform platform;
    char account_id[4 * LONGEST_ACCOUNT_ID + 1];
    char secret[1024];
    bool gone;   /* nothing to go on with */
    bool failed; /* the provider did not answer */
    bool refused;
};

/* What goes on in memory. */
struct chain {
    struct api *api;
    struct loop *loop;
    struct post post; /* between two steps the loop sees to others */
    struct sync sync;
};

static void go_on(struct chain *c);

/* --- the job's text ------------------------------------------------------------------------- */

static struct str sync_text(struct arena *arena, const struct sync *s)
{
    return str_printf(arena, "%d %lld %lld %llu %s", (int)s->stage, (long long)s->round,
                      (long long)s->pages, (unsigned long long)s->member, s->cursor);
}

static int64_t cut_number(struct str *text)
{
    int64_t v = 0;

    str_to_i64(str_cut(text, ' '), &v);
    return v;
}

static void sync_read(struct str text, struct sync *ret)
{
    ret->stage = (enum stage)cut_number(&text);
    ret->round = cut_number(&text);
    ret->pages = cut_number(&text);
    ret->member = (snowflake)cut_number(&text);
    if (ret->stage > STAGE_END || text.n > LONGEST_CURSOR)
        *ret = (struct sync){ .id = ret->id };
    else
        memcpy(ret->cursor, text.p, text.n);
}

static enum err checkpoint(struct call *call, const struct sync *s)
{
    return job_schedule(call, &sync_kind, s->id, clock_us() + INT64_C(1000) * LEASE_MS,
                        sync_text(call->arena, s));
}

/* --- beginnings and ends ------------------------------------------------------------------------
 */

enum err sync_begin(struct call *call, snowflake integration_id)
{
    enum err e = job_schedule(call, &sync_kind, integration_id, clock_us(), STR(""));

    return e ? e
             : job_schedule(call, &expiry_kind, integration_id, clock_us() + 900 * SECOND, STR(""));
}

enum err sync_end_for_good(struct call *call, snowflake integration_id)
{
    enum err e = job_cancel(call, &sync_kind, integration_id);

    return e ? e : job_cancel(call, &expiry_kind, integration_id);
}

/* Not all at the same second. */
static int64_t next_hour(snowflake id)
{
    return clock_us() + (HOUR + (int64_t)(id >> 12) % JITTER) * SECOND;
}

/* The row, if this chain is still the one that works on it. */
static enum err find_row(struct call *call, struct sync *s, struct integration_row *ret)
{
    enum err e = integration_find(call->tx, s->id, ret);

    s->gone = e == ERR_UNKNOWN_INTEGRATION || (!e && ret->round != s->round);
    if (e == ERR_UNKNOWN_INTEGRATION)
        return job_cancel(call, &sync_kind, s->id);
    return e;
}

static enum err switch_off(struct call *call, struct sync *s, struct integration_row *i)
{
    bool told = i->enabled || i->syncing;

    s->gone = true;
    i->enabled = i->syncing = false;
    enum err e = told ? integration_change(call, i) : OK;
    return e ? e : sync_end_for_good(call, s->id);
}

static const char ADDER[] = "select 1 from users where id = $1 and deleting = 0";

/* The provider was switched off, who added it is gone, or it was refused for a month. */
static enum err is_over(struct tx *tx, const struct integration_row *i, bool *ret)
{
    struct rows row;
    bool found;

    *ret = !i->enabled || !platform_is_on(i->platform) ||
           (i->revoked_at && clock_us() - i->revoked_at > REVOKED_DAYS * DAY);
    if (*ret)
        return OK;
    enum err e = tx_one(tx, ADDER, BIND(v_id(i->user_id)), &row, &found);
    *ret = !e && !found;
    return e;
}

static enum err note_owner(struct call *call, struct sync *s, struct integration_row *i)
{
    struct connection c;
    bool found;
    enum err e = connection_of_account(call->tx, i->type, i->account_id, &c, &found);

    if (e)
        return e;
    /* Nobody has the account any more: the platform would not tell us either. */
    s->refused = !found || c.revoked;
    struct str secret =
        found ? secret_open(call->arena, api_options(call->api)->auth, c.user_id, c.secret)
              : (struct str){ 0 };
    snprintf(s->secret, sizeof s->secret, "%.*s", STR_FMT(secret));
    snprintf(s->account_id, sizeof s->account_id, "%.*s", STR_FMT(i->account_id));
    s->platform = i->platform;
    return OK;
}

/* The first step, and the one that takes up what another process left. */
static enum err run_begin(struct call *call)
{
    struct sync *s = call->data;
    struct integration_row i;
    bool over = false;

    enum err e = integration_find(call->tx, s->id, &i);
    s->gone = e == ERR_UNKNOWN_INTEGRATION;
    if (s->gone)
        return job_cancel(call, &sync_kind, s->id);
    if (!e)
        e = is_over(call->tx, &i, &over);
    if (e || over)
        return e ? e : switch_off(call, s, &i);
    e = note_owner(call, s, &i);
    if (e)
        return e;
    if (s->stage != STAGE_BEGIN && i.round == s->round && i.syncing)
        return OK;
    s->stage = STAGE_PAGES;
    s->pages = 0;
    s->member = 0;
    s->cursor[0] = '\0';
    s->round = ++i.round;
    bool told = !i.syncing;
    i.syncing = true;
    e = told ? integration_change(call, &i) : integration_save(call->tx, &i);
    return e ? e : checkpoint(call, s);
}

static const char COUNT_SUBSCRIBERS[] =
    "select count(*) from integration_subscribers where integration_id = $1 and round = $2";

/* However it went, it is over; the next one comes in an hour. */
static enum err run_end(struct call *call)
{
    struct sync *s = call->data;
    struct integration_row i;
    struct rows row;
    bool found;

    enum err e = find_row(call, s, &i);
    if (e || s->gone)
        return e;
    i.syncing = false;
    if (s->refused) {
        i.revoked_at = i.revoked_at ? i.revoked_at : clock_us();
    } else if (!s->failed) {
        e = tx_one(call->tx, COUNT_SUBSCRIBERS, BIND(v_id(i.id), v_int(i.round)), &row, &found);
        if (e)
            return e;
        i.subscriber_count = row_int(&row, 0);
        i.synced_at = clock_us();
        i.revoked_at = 0;
    }
    e = integration_change(call, &i);
    return e ? e : job_schedule(call, &sync_kind, s->id, next_hour(s->id), STR(""));
}

/* --- pages of subscribers
 * ------------------------------------------------------------------------- */

/* The ids follow the sync, each with its NUL. */
struct page {
    struct sync sync;
    size_t count, bytes;
};

static const char ADD_SUBSCRIBER[] =
    "insert into integration_subscribers (integration_id, subscriber_id, round) "
    "values ($1, $2, $3) on conflict (integration_id, subscriber_id) do update set "
    "round = excluded.round";

static enum err run_page(struct call *call)
{
    struct page *p = call->data;
    const char *id = (const char *)(p + 1);
    struct sync s = p->sync;
    struct integration_row i;

    enum err e = find_row(call, &s, &i);
    p->sync.gone = s.gone;
    for (size_t n = 0; n < p->count && !e && !s.gone; n++) {
        e = tx_exec(call->tx, ADD_SUBSCRIBER, BIND(v_id(i.id), v_text(str_of(id)), v_int(i.round)),
                    NULL);
        id += strlen(id) + 1;
    }
    return e || s.gone ? e : checkpoint(call, &s);
}

/* --- members
 * ------------------------------------------------------------------------------------------ */

/* A range of members: up to the last that was looked at, or the last that fits a step. */
struct range {
    struct sync sync;
    snowflake last;
    bool changes, ended;
};

static enum err run_scan(struct call *call)
{
    struct range *r = call->data;
    struct integration_row i;
    struct list found = { 0 };
    int changes = 0;

    enum err e = integration_find(call->tx, r->sync.id, &i);
    if (!e)
        e = subscribers_after(call->tx, &i, r->sync.member, INT64_MAX, SCAN, &found);
    if (e)
        return e;
    const struct subscriber *all = found.items;
    r->ended = found.count < SCAN;
    r->last = r->sync.member;
    for (size_t n = 0; n < found.count; n++) {
        changes += !subscriber_is_settled(&all[n]);
        if (changes > MOST_CHANGES) {
            r->ended = false;
            break;
        }
        r->last = all[n].user_id;
    }
    r->changes = changes > 0;
    return OK;
}

static enum err run_members(struct call *call)
{
    struct range *r = call->data;
    struct sync s = r->sync;
    struct integration_row i;
    struct list found = { 0 };

    enum err e = find_row(call, &s, &i);
    r->sync.gone = s.gone;
    if (e || s.gone)
        return e;
    e = subscribers_after(call->tx, &i, s.member, r->last, SCAN, &found);
    for (size_t n = 0; n < found.count && !e; n++)
        e = subscriber_settle(call, &i, (const struct subscriber *)found.items + n);
    s.member = r->last;
    return e ? e : checkpoint(call, &s);
}

/* --- those who are no longer named
 * ---------------------------------------------------------------------- */

struct sweep {
    struct sync sync;
    int64_t swept;
};

static const char DROP_OLD[] =
    "delete from integration_subscribers where integration_id = $1 and subscriber_id in "
    "(select subscriber_id from integration_subscribers where integration_id = $1 "
    "and round <> $2 limit $3)";

static enum err run_sweep(struct call *call)
{
    struct sweep *w = call->data;
    struct integration_row i;
    enum err e = find_row(call, &w->sync, &i);

    if (e || w->sync.gone)
        return e;
    e = tx_exec(call->tx, DROP_OLD, BIND(v_id(i.id), v_int(i.round), v_int(SWEEP)), &w->swept);
    return e ? e : checkpoint(call, &w->sync);
}

/* --- from step to step
 * ----------------------------------------------------------------------------------- */

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
    c->sync.stage = STAGE_END;
    go_on(c);
}

static void page_kept(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    const struct page *p = call->data;

    if (ends(c, e, p->sync.gone))
        return;
    c->sync = p->sync;
    go_on(c);
}

static void keep_page(struct chain *c, const struct provider_answer *a)
{
    size_t bytes = 0;

    for (size_t n = 0; n < a->ids.count; n++)
        bytes += ((const struct str *)a->ids.items)[n].n + 1;
    struct page *p = mem_new(sizeof *p + bytes);
    char *at = (char *)(p + 1);
    *p = (struct page){ .sync = c->sync, .count = a->ids.count, .bytes = bytes };
    for (size_t n = 0; n < a->ids.count; n++) {
        struct str id = ((const struct str *)a->ids.items)[n];

        memcpy(at, id.p, id.n);
        at[id.n] = '\0';
        at += id.n + 1;
    }
    p->sync.pages++;
    p->sync.stage = a->next.n ? STAGE_PAGES : STAGE_MEMBERS;
    snprintf(p->sync.cursor, sizeof p->sync.cursor, "%.*s", STR_FMT(a->next));
    errand_start(c->api, c->loop,
                 &(struct errand){ .store = ROUTE_STORE_WRITE,
                                   .run = run_page,
                                   .done = page_kept,
                                   .data = p,
                                   .size = sizeof *p + bytes,
                                   .arg = c });
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
        c->sync.stage = STAGE_SWEEP;
    go_on(c);
}

static void members_seen(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    const struct range *r = call->data;

    if (!e && r->changes) {
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
        c->sync.stage = STAGE_END;
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
    case STAGE_PAGES:
        ask_page(c);
        break;
    case STAGE_MEMBERS:
        scan_members(c);
        break;
    case STAGE_SWEEP:
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
    .lease_ms = LEASE_MS,
};
