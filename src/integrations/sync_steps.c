/* sync_steps.c - the transactions of a sync. Each step stores its progress in the job's row. The
 * integration's round number distinguishes this sync from a later one. */
#include "integrations/sync.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

enum {
    HOUR = 3600,
    JITTER = 300,
    SCAN = 500, /* members scanned per step */
    REVOKED_DAYS = 30,
};

/* --- progress as text ----------------------------------------------------------------- */

static struct str format_integration_sync_progress(struct arena *arena,
                                                   const struct sync_progress *s)
{
    return str_printf(arena, "%d %lld %lld %llu %s", (int)s->stage, (long long)s->round,
                      (long long)s->pages, (unsigned long long)s->member, s->cursor);
}

static int64_t parse_next_progress_number(struct str *text)
{
    int64_t v = 0;

    str_to_i64(str_cut(text, ' '), &v);
    return v;
}

void parse_integration_sync_progress(struct str text, struct sync_progress *ret)
{
    ret->stage = (enum integration_sync_stage)parse_next_progress_number(&text);
    ret->round = parse_next_progress_number(&text);
    ret->pages = parse_next_progress_number(&text);
    ret->member = (snowflake)parse_next_progress_number(&text);
    if (ret->stage > SYNC_END || text.n > LONGEST_CURSOR)
        *ret = (struct sync_progress){ .job = ret->job };
    else
        memcpy(ret->cursor, text.p, text.n);
}

static enum err store_integration_sync_progress(struct call *call, struct sync_progress *s)
{
    bool still_claimed;
    enum err e = job_renew_lease(call, &s->job, clock_us() + INT64_C(1000) * SYNC_LEASE_MS,
                                 format_integration_sync_progress(call->arena, s), &still_claimed);

    s->gone = !e && !still_claimed;
    return e;
}

/* --- start and end -------------------------------------------------------------------- */

enum err schedule_integration_sync(struct call *call, snowflake integration_id)
{
    enum err e = job_schedule(call, &sync_job, integration_id, clock_us(), STR(""));

    return e ? e
             : job_schedule(call, &subscription_expiry_job, integration_id,
                            clock_us() + 900 * SECOND, STR(""));
}

enum err cancel_integration_sync(struct call *call, snowflake integration_id)
{
    enum err e = job_cancel(call, &sync_job, integration_id);

    return e ? e : job_cancel(call, &subscription_expiry_job, integration_id);
}

/* Returns the time of the next sync. The times are spread over five minutes by id, so that syncs do
 * not start together. */
static int64_t next_sync_time(snowflake id)
{
    return clock_us() + (HOUR + (int64_t)(id >> 12) % JITTER) * SECOND;
}

/* Reads the integration. Sets .gone if the integration was deleted or a newer sync has started. */
static enum err read_synced_integration(struct call *call, struct sync_progress *s,
                                        struct integration_row *ret)
{
    enum err e = read_integration(call->tx, s->job.key, ret);

    s->gone = e == ERR_UNKNOWN_INTEGRATION || (!e && ret->round != s->round);
    if (e == ERR_UNKNOWN_INTEGRATION)
        return job_cancel(call, &sync_job, s->job.key);
    return e;
}

static enum err disable_integration(struct call *call, struct sync_progress *s,
                                    struct integration_row *i)
{
    bool emit = i->enabled || i->syncing;

    s->gone = true;
    i->enabled = i->syncing = false;
    enum err e = emit ? update_integration_and_emit(call, i) : OK;
    return e ? e : cancel_integration_sync(call, s->job.key);
}

static const char READ_ADDING_USER[] = "select 1 from users where id = $1 and deleting = 0";

/* Reads whether the sync must stop: the platform or the integration is disabled, its creator was
 * deleted, or it has been revoked for 30 days. */
static enum err read_whether_sync_must_stop(struct tx *tx, const struct integration_row *i,
                                            bool *ret)
{
    bool found;

    *ret = !i->enabled || !platform_is_enabled(i->platform) ||
           (i->revoked_at && clock_us() - i->revoked_at > REVOKED_DAYS * DAY);
    if (*ret)
        return OK;
    enum err e = tx_exists(tx, READ_ADDING_USER, BIND(v_id(i->user_id)), &found);
    *ret = !e && !found;
    return e;
}

static enum err read_account_owner(struct call *call, struct sync_progress *s,
                                   struct integration_row *i)
{
    struct linked_platform_account c;
    bool found;
    enum err e =
        read_linked_account_of_platform_account(call->tx, i->type, i->account_id, &c, &found);

    if (e)
        return e;
    /* If no user has connected the account, treat the sync as refused, because the platform would
     * refuse the request. */
    s->refused = !found || c.revoked;
    struct str secret =
        found ? decrypt_linked_account_secret(call->arena, api_get_options(call->api)->auth,
                                              c.user_id, c.secret)
              : (struct str){ 0 };
    snprintf(s->secret, sizeof s->secret, "%.*s", STR_ARGS(secret));
    snprintf(s->account_id, sizeof s->account_id, "%.*s", STR_ARGS(i->account_id));
    s->platform = i->platform;
    return OK;
}

/* Begins a new sync, or continues a sync that another process did not finish. */
enum err integration_sync_step_begin(struct call *call)
{
    struct sync_progress *s = call_get_stage_data(call, "sync_progress");
    struct integration_row i;
    bool over = false;

    enum err e = read_integration(call->tx, s->job.key, &i);
    s->gone = e == ERR_UNKNOWN_INTEGRATION;
    if (s->gone)
        return job_cancel(call, &sync_job, s->job.key);
    if (!e)
        e = read_whether_sync_must_stop(call->tx, &i, &over);
    if (e || over)
        return e ? e : disable_integration(call, s, &i);
    e = read_account_owner(call, s, &i);
    if (e)
        return e;
    if (s->stage != SYNC_BEGIN && i.round == s->round && i.syncing)
        return OK;
    s->stage = SYNC_PAGES;
    s->pages = 0;
    s->member = 0;
    s->cursor[0] = '\0';
    s->round = ++i.round;
    bool emit = !i.syncing;
    i.syncing = true;
    e = emit ? update_integration_and_emit(call, &i) : update_integration_row(call->tx, &i);
    return e ? e : store_integration_sync_progress(call, s);
}

static const char COUNT_SUBSCRIBERS[] =
    "select count(*) from integration_subscribers where integration_id = $1 and round = $2";

/* Counts the subscribers in a read transaction, because only this sync writes rows of its round
 * number. */
enum err integration_sync_step_count_subscribers(struct call *call)
{
    struct sync_progress *s = call_get_stage_data(call, "sync_progress");
    int64_t n = 0;
    enum err e =
        tx_read_int(call->tx, COUNT_SUBSCRIBERS, BIND(v_id(s->job.key), v_int(s->round)), &n);

    if (!e)
        s->subscribers = n;
    return e;
}

/* Ends the sync, also after a failure, and schedules the next sync in an hour. */
enum err integration_sync_step_end_sync(struct call *call)
{
    struct sync_progress *s = call_get_stage_data(call, "sync_progress");
    struct integration_row i;
    bool found;

    enum err e = read_synced_integration(call, s, &i);
    if (e || s->gone)
        return e;
    i.syncing = false;
    if (s->refused) {
        i.revoked_at = i.revoked_at ? i.revoked_at : clock_us();
    } else if (!s->failed) {
        i.subscriber_count = s->subscribers;
        i.synced_at = clock_us();
        i.revoked_at = 0;
    }
    e = update_integration_and_emit(call, &i);
    /* If another sync was requested meanwhile, job_renew_lease has no effect, so that the requested
     * sync is not delayed. */
    return e ? e : job_renew_lease(call, &s->job, next_sync_time(s->job.key), STR(""), &found);
}

/* --- pages of subscribers ------------------------------------------------------------- */

static const char ADD_SUBSCRIBER[] =
    "insert into integration_subscribers (integration_id, subscriber_id, round) "
    "values ($1, $2, $3) on conflict (integration_id, subscriber_id) do update set "
    "round = excluded.round";

enum err insert_integration_subscriber(struct tx *tx, const struct integration_row *i,
                                       struct str id)
{
    return tx_exec(tx, ADD_SUBSCRIBER, BIND(v_id(i->id), v_text(id), v_int(i->round)), NULL);
}

enum err integration_sync_step_store_subscriber_page(struct call *call)
{
    struct subscriber_page *p = call_get_stage_data(call, "subscriber_page");
    const char *ids = (const char *)(p + 1);
    struct unstored_subscriber_ids left = p->before;
    struct sync_progress s = p->sync;
    struct integration_row i;

    enum err e = read_synced_integration(call, &s, &i);
    p->sync.gone = s.gone;
    if (e || s.gone)
        return e;
    for (int n = 0; n < MOST_IDS && left.count && !e; n++, left.count--) {
        struct str id = str_of(ids + left.at);

        e = insert_integration_subscriber(call->tx, &i, id);
        left.at += id.n + 1;
    }
    p->after = left;
    /* Store the progress only when the page is complete. After a crash, an incomplete page is
     * requested again. */
    if (!e && !left.count)
        e = store_integration_sync_progress(call, &s);
    p->sync.gone = s.gone;
    return e;
}

/* --- members -------------------------------------------------------------------------- */

enum err integration_sync_step_scan_members(struct call *call)
{
    struct scanned_member_range *r = call_get_stage_data(call, "scanned_member_range");
    struct integration_row i;
    struct list found = { 0 };

    r->count = 0;
    enum err e = read_integration(call->tx, r->sync.job.key, &i);
    if (!e)
        e = read_subscriber_states(call->tx, &i, r->sync.member, INT64_MAX, SCAN, &found);
    if (e)
        return e;
    const struct subscriber_state *all = found.items;
    r->ended = found.count < SCAN;
    r->last = r->sync.member;
    for (size_t n = 0; n < found.count; n++) {
        if (!subscriber_role_is_correct(&i, &all[n])) {
            if (r->count == MOST_CHANGES) {
                r->ended = false;
                break;
            }
            r->changes[r->count++] = all[n].user_id;
        }
        r->last = all[n].user_id;
    }
    return OK;
}

/* Applies the subscriber role to a member. Reads the member's state again, because it may have
 * changed since the scan. */
static enum err apply_subscriber_role_of_member(struct call *call, const struct integration_row *i,
                                                snowflake user_id)
{
    struct list found = { 0 };
    enum err e = read_subscriber_states(call->tx, i, user_id - 1, user_id, 1, &found);

    return e || !found.count ? e : update_subscriber_role_or_record_lapse(call, i, found.items);
}

enum err integration_sync_step_change_members(struct call *call)
{
    struct scanned_member_range *r = call_get_stage_data(call, "scanned_member_range");
    struct sync_progress s = r->sync;
    struct integration_row i;

    enum err e = read_synced_integration(call, &s, &i);
    r->sync.gone = s.gone;
    if (e || s.gone)
        return e;
    for (size_t n = 0; n < r->count && !e; n++)
        e = apply_subscriber_role_of_member(call, &i, r->changes[n]);
    s.member = r->last;
    if (!e)
        e = store_integration_sync_progress(call, &s);
    r->sync.gone = s.gone;
    return e;
}

/* --- subscribers of earlier rounds ---------------------------------------------------- */

static const char DELETE_OLD_SUBSCRIBERS[] =
    "delete from integration_subscribers where integration_id = $1 and subscriber_id in "
    "(select subscriber_id from integration_subscribers where integration_id = $1 "
    "and round < $2 limit $3)";

enum err integration_sync_step_cleanup(struct call *call)
{
    struct sync_cleanup *w = call_get_stage_data(call, "sync_cleanup");
    struct integration_row i;
    enum err e = read_synced_integration(call, &w->sync, &i);

    if (e || w->sync.gone)
        return e;
    e = tx_exec(call->tx, DELETE_OLD_SUBSCRIBERS,
                BIND(v_id(i.id), v_int(i.round), v_int(CLEANUP_ROWS_PER_STEP)), &w->swept);
    return e ? e : store_integration_sync_progress(call, &w->sync);
}
