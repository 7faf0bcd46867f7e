/* friend_sync.c - job that reads the friends of linked accounts from their platforms, for friend
 * suggestions. Runs only for connections with friend_sync. */
#include "integrations/internal.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "integrations/call_chain.h"
#include "platform/relationships/suggestions.h"

enum { NODE_LEASE_MS = 120 * 1000, MOST_PAGES = 20 };

/* State of the job: one page of friends of one connection. Has no pointers, because each
 * transaction gets a copy. */
struct friend_sync_state {
    struct job job;                                /* the job, without its data */
    char type[16], id[4 * LONGEST_ACCOUNT_ID + 1]; /* current connection; empty at first */
    char cursor[513], secret[4 * LONGEST_SECRET + 1];
    int pages;
    bool found, lost; /* lost: whether the job was scheduled again since this run started */
};

enum err schedule_linked_account_friend_sync(struct call *call, snowflake user_id)
{
    return job_schedule(call, &friend_sync_job, user_id, clock_us(), STR(""));
}

static const char NEXT[] =
    "select type, id, secret from connections where user_id = $1 and friend_sync = 1 "
    "and verified = 1 and revoked = 0 and (type > $2 or (type = $2 and id > $3)) "
    "order by type, id limit 1";

static enum err read_next_connection(struct call *call)
{
    struct friend_sync_state *s = call_get_stage_data(call, "friend_sync_state");
    struct rows row;
    enum err e = tx_one(call->tx, NEXT,
                        BIND(v_id(s->job.key), v_text(str_of(s->type)), v_text(str_of(s->id))),
                        &row, &s->found);

    if (e || !s->found)
        return e;
    struct str secret =
        row_column_is_null(&row, 2)
            ? (struct str){ 0 }
            : decrypt_linked_account_secret(call->arena, api_get_options(call->api)->auth,
                                            s->job.key, row_bytes(&row, 2));
    snprintf(s->type, sizeof s->type, "%.*s", STR_ARGS(row_text(&row, 0)));
    snprintf(s->id, sizeof s->id, "%.*s", STR_ARGS(row_text(&row, 1)));
    snprintf(s->secret, sizeof s->secret, "%.*s", STR_ARGS(secret));
    s->cursor[0] = '\0';
    s->pages = 0;
    return OK;
}

/* A page of friends. Their ids follow the struct in memory, each NUL-terminated. */
struct friend_sync_page {
    struct friend_sync_state step;
    size_t count;
};

static const char STILL_WANTED[] = "select 1 from connections where user_id = $1 and type = $2 "
                                   "and id = $3 and friend_sync = 1";
static const char DELETE_FRIENDS[] =
    "delete from connection_friends where user_id = $1 and type = $2 and id = $3";
static const char ADD[] =
    "insert into connection_friends (user_id, type, id, friend_id) values ($1, $2, $3, $4) "
    "on conflict do nothing";

static enum err store_friends_page(struct call *call)
{
    struct friend_sync_page *p = call_get_stage_data(call, "friend_sync_page");
    struct friend_sync_state *s = &p->step;
    struct value user = v_id(s->job.key), type = v_text(str_of(s->type)),
                 id = v_text(str_of(s->id));
    const char *friend = (const char *)(p + 1);
    bool wanted, still_claimed;

    enum err e = job_renew_lease(call, &s->job, clock_us() + INT64_C(1000) * NODE_LEASE_MS, STR(""),
                                 &still_claimed);
    s->lost = !e && !still_claimed;
    if (e || s->lost)
        return e;
    e = tx_exists(call->tx, STILL_WANTED, BIND(user, type, id), &wanted);
    if (e || !wanted)
        return e;
    if (s->pages == 1)
        e = tx_exec(call->tx, DELETE_FRIENDS, BIND(user, type, id), NULL);
    for (size_t n = 0; n < p->count && !e; n++) {
        e = tx_exec(call->tx, ADD, BIND(user, type, id, v_text(str_of(friend))), NULL);
        friend += strlen(friend) + 1;
    }
    return e;
}

/* Suggests friends to the user: owners of platform accounts that are his friends on that platform.
 * The search runs now, and then once per day. */
static enum err finish_friend_sync(struct call *call)
{
    const struct friend_sync_state *s = call_get_stage_data(call, "friend_sync_state");
    const struct job *job = &s->job;
    snowflake user_id = job->key;
    enum err e = friend_suggestions_search_now(call, user_id);

    if (!e)
        e = friend_suggestions_schedule_search(call, user_id);
    return e ? e : job_finish(call, job);
}

/* --- iteration over pages ------------------------------------------------------------- */

static void request_friends_page(struct internal_call_chain *c);

static void on_friends_page_stored(struct call *call, enum err e, void *arg)
{
    struct internal_call_chain *c = arg;
    const struct friend_sync_state *s = c->state;
    const struct friend_sync_page *p = call_get_stage_data(call, "friend_sync_page");

    if (p->step.lost)
        internal_call_chain_free(c);
    else if (e || !s->cursor[0] || s->pages >= MOST_PAGES)
        internal_call_chain_schedule_next_step(c);
    else
        request_friends_page(c);
}

/* Stores a page of friends. If the provider fails, the stored friends stay unchanged. */
static void on_friends_page_received(void *arg, const struct platform_provider_response *a)
{
    struct internal_call_chain *c = arg;
    struct friend_sync_state *s = c->state;
    size_t bytes = 0;

    if (a->result || a->next.n >= sizeof s->cursor) {
        internal_call_chain_schedule_next_step(c);
        return;
    }
    for (size_t n = 0; n < a->ids.count; n++)
        bytes += ((const struct str *)a->ids.items)[n].n + 1;
    snprintf(s->cursor, sizeof s->cursor, "%.*s", STR_ARGS(a->next));
    s->pages++;
    struct friend_sync_page *p = mem_new(sizeof *p + bytes);
    char *at = (char *)(p + 1);
    *p = (struct friend_sync_page){ *s, a->ids.count };
    for (size_t n = 0; n < a->ids.count; n++) {
        struct str id = ((const struct str *)a->ids.items)[n];

        memcpy(at, id.p, id.n);
        at += id.n;
        *at++ = '\0';
    }
    internal_call_chain_start_call_with_data(c, ROUTE_STORE_WRITE, store_friends_page,
                                             on_friends_page_stored, "friend_sync_page", p,
                                             sizeof *p + bytes);
    mem_free(p);
}

static void request_friends_page(struct internal_call_chain *c)
{
    const struct friend_sync_state *s = c->state;

    platform_provider_send_request(
        c->api, c->loop,
        &(struct platform_provider_request){ .kind = ASK_FRIENDS,
                                             .platform = platform_find_by_name(str_of(s->type)),
                                             .account_id = str_of(s->id),
                                             .cursor = str_of(s->cursor),
                                             .secret = str_of(s->secret),
                                             .done = on_friends_page_received,
                                             .arg = c });
}

static void on_next_connection_read(struct call *call, enum err e, void *arg)
{
    struct internal_call_chain *c = arg;
    const struct friend_sync_state *found = call_get_stage_data(call, "friend_sync_state");
    struct friend_sync_state *s = c->state;

    *s = *found;
    if (e)
        internal_call_chain_free(c);
    else if (!s->found)
        internal_call_chain_start_call(c, ROUTE_STORE_WRITE, finish_friend_sync,
                                       internal_call_chain_free_after_last_call);
    else
        request_friends_page(c);
}

static void begin_next_connection_read(struct internal_call_chain *c)
{
    internal_call_chain_start_call(c, ROUTE_STORE_READ, read_next_connection,
                                   on_next_connection_read);
}

static void start_friend_sync_job(struct api *api, struct loop *loop, const struct job *job)
{
    struct friend_sync_state first = { .job = *job };

    first.job.data = (struct str){ 0 };
    internal_call_chain_schedule_next_step(internal_call_chain_new(
        api, loop, begin_next_connection_read, "friend_sync_state", &first, sizeof first));
}

const struct job_kind friend_sync_job = {
    .name = "connection-friends",
    .doc = "Reads the friends of a user's connected accounts from their platforms.",
    .start = start_friend_sync_job,
    .lease_ms = NODE_LEASE_MS,
};
