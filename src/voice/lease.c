/* lease.c - the lease of a node on the voice states of its sessions. */
#include "voice/lease.h"

#include <pthread.h>
#include <string.h>

#include "api/jobs/errand.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "voice/state_rows.h"
#include "voice/streams/streams.h"

/* A dead node is detected at most LEASE_S and one tick after its last renewal, so within ten
 * seconds. Its states are removed in steps: a transaction with thousands of them would block
 * clients that reconnect. */
enum { TICK_MS = 1000, RENEW_TICKS = 2, LEASE_S = 7, PEOPLE_AT_ONCE = 64 };
/* Time in which a session can be resumed, plus a margin for the client. */
#define HELD_US (INT64_C(185) * 1000000)

struct lease {
    struct api *api;
    struct loop *loop;
    void (*on_tick)(void *arg);
    void *arg;
    int64_t node;
    bool shared; /* other nodes may use the store */
    bool running;
    size_t left; /* states removed so far */
    size_t step; /* states removed in the running step */
    bool more;   /* more states are left to remove */
    bool holds;  /* there are states with VOICE_NODE_HELD */
    unsigned ticks;
    struct deadlines *deadlines;
    struct deadline deadline;
    pthread_mutex_t lock; /* protects the members below, which lease_begin waits for */
    pthread_cond_t begun;
    bool cleared;
    enum err result;
};

/* --- SQL ------------------------------------------------------------------------------ */

static const char RENEW[] = "insert into voice_nodes (node, expires_at) values ($1, $2) "
                            "on conflict (node) do update set expires_at = excluded.expires_at";
static const char DEAD_NODES[] =
    "select distinct v.node from voice_states v left join voice_nodes n on n.node = v.node "
    "where v.node <> $1 and (n.expires_at is null or n.expires_at <= $2) and v.held_until <= $2";
/* A state that waits already keeps its held_until, so that a second restart does not extend it. */
static const char HOLD[] = "update voice_states set node = $1, live = 0, "
                           "held_until = case when held_until > 0 then held_until else $4 end "
                           "where node = $2 or cast($3 as bigint) = 1";
static const char HELD[] = "select 1 from voice_states where node = $1 limit 1";

static enum err lease_renew(struct call *call, const struct lease *l)
{
    if (!l->shared)
        return OK;
    return tx_exec(call->tx, RENEW,
                   BIND(v_int(l->node), v_int(clock_us() + LEASE_S * INT64_C(1000000))), NULL);
}

/* Lists expired nodes (int64_t) that still have states. */
static enum err find_dead(struct tx *tx, const struct lease *l, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, DEAD_NODES, BIND(v_int(l->node), v_int(clock_us())), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        *(int64_t *)list_add(tx_arena(tx), ret, sizeof(int64_t)) = row_int(&rows, 0);
    return rows_end(&rows);
}

static enum err find_held(struct tx *tx, struct lease *l)
{
    struct rows row;

    return tx_one(tx, HELD, BIND(v_int(VOICE_NODE_HELD)), &row, &l->holds);
}

/* Ends streams with a restart, even if the owner's voice state waits for a RESUME. */
static enum err end_streams(struct call *call, bool *ret_more)
{
    struct list states;
    enum err e = voice_held_streams(call->tx, PEOPLE_AT_ONCE, &states);
    const struct voice_state *s = states.items;

    *ret_more = states.count == PEOPLE_AT_ONCE;
    for (size_t i = 0; !e && i < states.count; i++)
        e = streams_left(call, &s[i]);
    return e;
}

/* Removes some states of dead nodes. */
static enum err clear_some(struct call *call, struct lease *l)
{
    struct list dead, states = { 0 };
    bool streams = false;
    enum err e = find_dead(call->tx, l, &dead);

    if (!e && dead.count)
        e = voice_of_node(call->tx, *(const int64_t *)dead.items, PEOPLE_AT_ONCE, &states);
    if (!e && l->holds)
        e = end_streams(call, &streams);
    l->step = states.count;
    l->more = dead.count > 1 || states.count == PEOPLE_AT_ONCE || streams;
    if (!e)
        e = voice_leave_all(call, &states);
    return e ? e : find_held(call->tx, l);
}

static struct lease *lease_of(const struct call *call)
{
    return call_passed(call, "lease");
}

static void lease_start(struct lease *l, enum route_store store, enum err (*run)(struct call *call),
                        void (*done)(struct call *call, enum err e, void *arg))
{
    errand_start(l->api, l->loop,
                 &(struct errand){ .name = "voice_lease",
                                   .store = store,
                                   .run = run,
                                   .done = done,
                                   .type = "lease",
                                   .data = l,
                                   .arg = l });
}

static enum err lease_keep(struct call *call)
{
    struct lease *l = lease_of(call);
    enum err e = lease_renew(call, l);

    return e ? e : clear_some(call, l);
}

static void lease_count(struct lease *l)
{
    l->left += l->step;
    if (l->left && !l->more) {
        log_info("voice: removed %zu voice states whose sessions did not resume", l->left);
        l->left = 0;
    }
}

static void lease_kept(struct call *call, enum err e, void *arg)
{
    struct lease *l = arg;

    (void)call;
    if (e)
        log_warn("voice: cannot renew the lease of this node: %s", error_info(e)->message);
    else
        lease_count(l);
    l->more = l->more || e;
    l->running = !e && l->more && !api_draining(l->api);
    if (l->running)
        lease_start(l, ROUTE_STORE_WRITE, lease_keep, lease_kept);
}

static enum err lease_look(struct call *call)
{
    struct lease *l = lease_of(call);
    struct list dead;
    enum err e = find_dead(call->tx, l, &dead);

    if (!e)
        e = find_held(call->tx, l);
    return e ? e : dead.count ? ERR_NOT_FOUND : OK;
}

static void lease_looked(struct call *call, enum err e, void *arg)
{
    (void)call;
    if (e)
        lease_start(arg, ROUTE_STORE_WRITE, lease_keep, lease_kept);
    else
        ((struct lease *)arg)->running = false;
}

static void lease_tick(struct deadline *d)
{
    struct lease *l = container_of(d, struct lease, deadline);

    l->on_tick(l->arg);
    deadline_touch(l->deadlines, d);
    if (!(l->shared || l->more || l->holds) || l->running || api_draining(l->api))
        return;
    l->running = true;
    if (l->more || (l->shared && l->ticks++ % RENEW_TICKS == 0))
        lease_start(l, ROUTE_STORE_WRITE, lease_keep, lease_kept);
    else
        lease_start(l, ROUTE_STORE_READ, lease_look, lease_looked);
}

/* Marks the states of this node number's previous process as waiting for a RESUME; on SQLite, all
 * states. */
static enum err clear_first(struct call *call)
{
    struct lease *l = lease_of(call);
    enum err e = tx_exec(call->tx, HOLD,
                         BIND(v_int(VOICE_NODE_HELD), v_int(l->node), v_int(!l->shared),
                              v_int(clock_us() + HELD_US)),
                         NULL);

    l->holds = true;
    return e ? e : lease_keep(call);
}

/* Startup does not wait for further steps, because the remaining states have other node numbers. */
static void lease_cleared(struct call *call, enum err e, void *arg)
{
    struct lease *l = arg;

    lease_kept(call, e, l);
    pthread_mutex_lock(&l->lock);
    l->cleared = true;
    l->result = e;
    pthread_cond_signal(&l->begun);
    pthread_mutex_unlock(&l->lock);
}

static void lease_begin_turn(struct loop *loop, void *arg)
{
    struct lease *l = arg;

    l->deadlines = deadlines_new(loop, TICK_MS, false, lease_tick);
    deadline_touch(l->deadlines, &l->deadline);
    l->running = true; /* lease_kept clears it */
    lease_start(l, ROUTE_STORE_WRITE, clear_first, lease_cleared);
}

enum err lease_begin(struct api *api, struct loop *loop, void (*on_tick)(void *arg), void *arg,
                     struct lease **ret)
{
    struct lease *l = mem_new(sizeof *l);

    l->api = api;
    l->loop = loop;
    l->on_tick = on_tick;
    l->arg = arg;
    l->node = snowflake_node();
    l->shared = strcmp(store_engine(api_options(api)->store), "postgres") == 0;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->begun, NULL);
    *ret = l;
    loop_call(loop, lease_begin_turn, l);
    pthread_mutex_lock(&l->lock);
    while (!l->cleared)
        pthread_cond_wait(&l->begun, &l->lock);
    pthread_mutex_unlock(&l->lock);
    if (l->result)
        log_error("voice: cannot clean up the voice states of the previous process: %s",
                  error_info(l->result)->message);
    return l->result;
}

static void lease_end_turn(struct loop *loop, void *arg)
{
    struct lease *l = arg;

    (void)loop;
    deadlines_free(l->deadlines);
}

void lease_end(struct lease *l)
{
    if (!l)
        return;
    loop_call(l->loop, lease_end_turn, l);
    pthread_cond_destroy(&l->begun);
    pthread_mutex_destroy(&l->lock);
    mem_free(l);
}
