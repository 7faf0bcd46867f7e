/* friends.c - whom connected accounts know on their platforms, where their owners want
 * friends to be suggested from there. */
#include "integrations/internal.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "api/errand.h"
#include "base/clock.h"
#include "base/mem.h"
#include "platform/suggestions.h"

enum { LEASE_MS = 120 * 1000, MOST_PAGES = 20 };

/* One page of one connection's. Flat: it travels through errands. */
struct step {
    snowflake user_id;
    char type[16], id[4 * LONGEST_ACCOUNT_ID + 1]; /* empty: the first one */
    char cursor[513], secret[4 * LONGEST_SECRET + 1];
    int pages;
    bool found;
};

struct chain {
    struct api *api;
    struct loop *loop;
    struct post post;
    struct step step;
};

enum err friends_begin(struct call *call, snowflake user_id)
{
    return job_schedule(call, &friends_kind, user_id, clock_us(), STR(""));
}

/* --- rows ------------------------------------------------------------------------------------ */

static const char NEXT[] =
    "select type, id, secret from connections where user_id = $1 and friend_sync = 1 "
    "and verified = 1 and revoked = 0 and (type > $2 or (type = $2 and id > $3)) "
    "order by type, id limit 1";

/* The connection after the one that was last. */
static enum err run_next(struct call *call)
{
    struct step *s = call->data;
    struct rows row;
    enum err e = tx_one(call->tx, NEXT,
                        BIND(v_id(s->user_id), v_text(str_of(s->type)), v_text(str_of(s->id))),
                        &row, &s->found);

    if (e || !s->found)
        return e;
    struct str secret = row_null(&row, 2) ? (struct str){ 0 }
                                          : secret_open(call->arena, api_options(call->api)->auth,
                                                        s->user_id, row_bytes(&row, 2));
    snprintf(s->type, sizeof s->type, "%.*s", STR_FMT(row_text(&row, 0)));
    snprintf(s->id, sizeof s->id, "%.*s", STR_FMT(row_text(&row, 1)));
    snprintf(s->secret, sizeof s->secret, "%.*s", STR_FMT(secret));
    s->cursor[0] = '\0';
    s->pages = 0;
    return OK;
}

/* The ids follow it, each with its NUL. */
struct page {
    struct step step;
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
    const struct page *p = call->data;
    const struct step *s = &p->step;
    struct value user = v_id(s->user_id), type = v_text(str_of(s->type)),
                 id = v_text(str_of(s->id));
    const char *friend = (const char *)(p + 1);
    struct rows row;
    bool wanted;

    enum err e = tx_one(call->tx, STILL_WANTED, BIND(user, type, id), &row, &wanted);
    if (e || !wanted)
        return e;
    if (s->pages == 1)
        e = tx_exec(call->tx, FORGET, BIND(user, type, id), NULL);
    for (size_t n = 0; n < p->count && !e; n++) {
        e = tx_exec(call->tx, ADD, BIND(user, type, id, v_text(str_of(friend))), NULL);
        friend += strlen(friend) + 1;
    }
    return e ? e
             : job_schedule(call, &friends_kind, s->user_id, clock_us() + INT64_C(1000) * LEASE_MS,
                            STR(""));
}

/* Those who are here as well are suggested, now and from day to day. */
static enum err run_end(struct call *call)
{
    snowflake user_id = ((const struct step *)call->data)->user_id;
    enum err e = suggestions_from_connections(call, user_id);

    if (!e)
        e = suggestions_watch(call, user_id);
    return e ? e : job_cancel(call, &friends_kind, user_id);
}

/* --- from page to page ----------------------------------------------------------------------- */

static void chain_end(struct chain *c)
{
    sodium_memzero(c->step.secret, sizeof c->step.secret);
    mem_free(c);
}

static void ended(struct call *call, enum err e, void *arg)
{
    (void)call, (void)e;
    chain_end(arg);
}

static void run(struct chain *c, enum route_store store, enum err (*fn)(struct call *),
                void (*done)(struct call *, enum err, void *))
{
    errand_start(c->api, c->loop,
                 &(struct errand){ .store = store,
                                   .run = fn,
                                   .done = done,
                                   .data = &c->step,
                                   .size = sizeof c->step,
                                   .arg = c });
}

static void next_connection(struct chain *c);
static void ask_page(struct chain *c);

static void page_kept(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;

    (void)call;
    if (e || !c->step.cursor[0] || c->step.pages >= MOST_PAGES)
        next_connection(c);
    else
        ask_page(c);
}

/* A provider that does not answer leaves what it said before. */
static void page_came(void *arg, const struct provider_answer *a)
{
    struct chain *c = arg;
    size_t bytes = 0;

    if (a->result || a->next.n >= sizeof c->step.cursor) {
        next_connection(c);
        return;
    }
    for (size_t n = 0; n < a->ids.count; n++)
        bytes += ((const struct str *)a->ids.items)[n].n + 1;
    snprintf(c->step.cursor, sizeof c->step.cursor, "%.*s", STR_FMT(a->next));
    c->step.pages++;
    struct page *p = mem_new(sizeof *p + bytes);
    char *at = (char *)(p + 1);
    *p = (struct page){ c->step, a->ids.count };
    for (size_t n = 0; n < a->ids.count; n++) {
        struct str id = ((const struct str *)a->ids.items)[n];

        memcpy(at, id.p, id.n);
        at += id.n;
        *at++ = '\0';
    }
    errand_start(c->api, c->loop,
                 &(struct errand){ .store = ROUTE_STORE_WRITE,
                                   .run = run_page,
                                   .done = page_kept,
                                   .data = p,
                                   .size = sizeof *p + bytes,
                                   .arg = c });
    mem_free(p);
}

static void ask_page(struct chain *c)
{
    provider_ask(c->api, c->loop,
                 &(struct question){ .kind = ASK_FRIENDS,
                                     .platform = platform_of(str_of(c->step.type)),
                                     .account_id = str_of(c->step.id),
                                     .cursor = str_of(c->step.cursor),
                                     .secret = str_of(c->step.secret),
                                     .done = page_came,
                                     .arg = c });
}

static void found(struct call *call, enum err e, void *arg)
{
    struct chain *c = arg;

    c->step = *(const struct step *)call->data;
    if (e)
        chain_end(c);
    else if (!c->step.found)
        run(c, ROUTE_STORE_WRITE, run_end, ended);
    else
        ask_page(c);
}

static void take_step(struct post *p)
{
    struct chain *c = container_of(p, struct chain, post);

    if (api_draining(c->api))
        chain_end(c);
    else
        run(c, ROUTE_STORE_READ, run_next, found);
}

static void next_connection(struct chain *c)
{
    c->post.run = take_step;
    loop_post(c->loop, &c->post);
}

static void start_friends(struct api *api, struct loop *loop, const struct job *job)
{
    struct chain *c = mem_new(sizeof *c);

    c->api = api;
    c->loop = loop;
    c->step.user_id = job->key;
    next_connection(c);
}

const struct job_kind friends_kind = {
    .name = "connection-friends",
    .doc = "Asks platforms whom somebody knows there.",
    .start = start_friends,
    .lease_ms = LEASE_MS,
};
