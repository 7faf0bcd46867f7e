/* friends.c - job that reads the friends of linked accounts from their platforms, for friend
 * suggestions. Runs only for connections with friend_sync. */
#include "integrations/internal.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "integrations/chain.h"
#include "platform/relationships/suggestions.h"

enum { LEASE_MS = 120 * 1000, MOST_PAGES = 20 };

/* State of the job: one page of one connection. Contains no pointers, because it is copied between
 * calls. */
struct friends_step {
    struct job job;                                /* without data */
    char type[16], id[4 * LONGEST_ACCOUNT_ID + 1]; /* current connection; empty: none yet */
    char cursor[513], secret[4 * LONGEST_SECRET + 1];
    int pages;
    bool found, lost; /* lost: the job was rescheduled meanwhile */
};

enum err friends_begin(struct call *call, snowflake user_id)
{
    return job_schedule(call, &friends_kind, user_id, clock_us(), STR(""));
}

static const char NEXT[] =
    "select type, id, secret from connections where user_id = $1 and friend_sync = 1 "
    "and verified = 1 and revoked = 0 and (type > $2 or (type = $2 and id > $3)) "
    "order by type, id limit 1";

/* Reads the connection after the current one. */
static enum err run_next(struct call *call)
{
    struct friends_step *s = call_passed(call, "friends_step");
    struct rows row;
    enum err e = tx_one(call->tx, NEXT,
                        BIND(v_id(s->job.key), v_text(str_of(s->type)), v_text(str_of(s->id))),
                        &row, &s->found);

    if (e || !s->found)
        return e;
    struct str secret = row_null(&row, 2) ? (struct str){ 0 }
                                          : secret_open(call->arena, api_options(call->api)->auth,
                                                        s->job.key, row_bytes(&row, 2));
    snprintf(s->type, sizeof s->type, "%.*s", STR_FMT(row_text(&row, 0)));
    snprintf(s->id, sizeof s->id, "%.*s", STR_FMT(row_text(&row, 1)));
    snprintf(s->secret, sizeof s->secret, "%.*s", STR_FMT(secret));
    s->cursor[0] = '\0';
    s->pages = 0;
    return OK;
}

/* A page of friends; the ids follow the struct, each with its NUL. */
struct friends_page {
    struct friends_step step;
    size_t count;
};

static const char STILL_WANTED[] = "select 1 from connections where user_id = $1 and type = $2 "
                                   "and id = $3 and friend_sync = 1";
static const char FORGET[] =
    "delete from connection_friends where user_id = $1 and type = $2 and id = $3";
static const char ADD[] =
    "insert into connection_friends (user_id, type, id, friend_id) values ($1, $2, $3, $4) "
    "on conflict do nothing";

static enum err run_page(struct call *call)
{
    struct friends_page *p = call_passed(call, "friends_page");
    struct friends_step *s = &p->step;
    struct value user = v_id(s->job.key), type = v_text(str_of(s->type)),
                 id = v_text(str_of(s->id));
    const char *friend = (const char *)(p + 1);
    struct rows row;
    bool wanted, held;

    enum err e = job_renew(call, &s->job, clock_us() + INT64_C(1000) * LEASE_MS, STR(""), &held);
    s->lost = !e && !held;
    if (e || s->lost)
        return e;
    e = tx_one(call->tx, STILL_WANTED, BIND(user, type, id), &row, &wanted);
    if (e || !wanted)
        return e;
    if (s->pages == 1)
        e = tx_exec(call->tx, FORGET, BIND(user, type, id), NULL);
    for (size_t n = 0; n < p->count && !e; n++) {
        e = tx_exec(call->tx, ADD, BIND(user, type, id, v_text(str_of(friend))), NULL);
        friend += strlen(friend) + 1;
    }
    return e;
}

/* Suggests the accounts of this server that belong to the friends, now and then once per day. */
static enum err run_end(struct call *call)
{
    const struct friends_step *s = call_passed(call, "friends_step");
    const struct job *job = &s->job;
    snowflake user_id = job->key;
    enum err e = suggestions_from_connections(call, user_id);

    if (!e)
        e = suggestions_watch(call, user_id);
    return e ? e : job_finish(call, job);
}

/* --- iteration over pages ------------------------------------------------------------- */

static void ask_page(struct chain *c);

static void page_kept(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    const struct friends_step *s = c->state;
    const struct friends_page *p = call_passed(call, "friends_page");

    if (p->step.lost)
        chain_end(c);
    else if (e || !s->cursor[0] || s->pages >= MOST_PAGES)
        chain_go_on(c);
    else
        ask_page(c);
}

/* Stores a page of friends. If the provider fails, the friends that were stored before stay. */
static void page_came(void *arg, const struct provider_answer *a)
{
    struct chain *c = arg;
    struct friends_step *s = c->state;
    size_t bytes = 0;

    if (a->result || a->next.n >= sizeof s->cursor) {
        chain_go_on(c);
        return;
    }
    for (size_t n = 0; n < a->ids.count; n++)
        bytes += ((const struct str *)a->ids.items)[n].n + 1;
    snprintf(s->cursor, sizeof s->cursor, "%.*s", STR_FMT(a->next));
    s->pages++;
    struct friends_page *p = mem_new(sizeof *p + bytes);
    char *at = (char *)(p + 1);
    *p = (struct friends_page){ *s, a->ids.count };
    for (size_t n = 0; n < a->ids.count; n++) {
        struct str id = ((const struct str *)a->ids.items)[n];

        memcpy(at, id.p, id.n);
        at += id.n;
        *at++ = '\0';
    }
    chain_run_with(c, ROUTE_STORE_WRITE, run_page, page_kept, "friends_page", p, sizeof *p + bytes);
    mem_free(p);
}

static void ask_page(struct chain *c)
{
    const struct friends_step *s = c->state;

    provider_ask(c->api, c->loop,
                 &(struct provider_question){ .kind = ASK_FRIENDS,
                                              .platform = platform_of(str_of(s->type)),
                                              .account_id = str_of(s->id),
                                              .cursor = str_of(s->cursor),
                                              .secret = str_of(s->secret),
                                              .done = page_came,
                                              .arg = c });
}

static void friends_found(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;
    const struct friends_step *found = call_passed(call, "friends_step");
    struct friends_step *s = c->state;

    *s = *found;
    if (e)
        chain_end(c);
    else if (!s->found)
        chain_run(c, ROUTE_STORE_WRITE, run_end, chain_ended);
    else
        ask_page(c);
}

static void next_connection(struct chain *c)
{
    chain_run(c, ROUTE_STORE_READ, run_next, friends_found);
}

static void start_friends(struct api *api, struct loop *loop, const struct job *job)
{
    struct friends_step first = { .job = *job };

    first.job.data = (struct str){ 0 };
    chain_go_on(chain_new(api, loop, next_connection, "friends_step", &first, sizeof first));
}

const struct job_kind friends_kind = {
    .name = "connection-friends",
    .doc = "Reads the friends of a user's connected accounts from their platforms.",
    .start = start_friends,
    .lease_ms = LEASE_MS,
};
