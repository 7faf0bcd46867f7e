/* session_opcodes.c - queues the voice opcodes of gateway sessions and runs them in order. Each
 * session has a queue (struct session_queue). Each opcode runs in a transaction. There are two rate
 * limits. The first limits joins per account (join_rate_limit.h). The second limits
 * VOICE_SERVER_UPDATE per guild (bots) or per session (users) to one per second after a burst of
 * three, because some clients send op 4 again at once when the endpoint does not answer. */
#include "voice/internal.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "voice/states_awaiting_resume.h"
#include "voice/rooms/room_owners.h"
#include "voice/rooms/node_lease.h"
#include "voice/join_rate_limit.h"

/* Rate limit of VOICE_SERVER_UPDATE: one event per SERVER_UPDATE_INTERVAL_MS, after a burst of
 * SERVER_UPDATE_BURST events. */
enum { SERVER_UPDATE_INTERVAL_MS = 1000, SERVER_UPDATE_BURST = 3 };

/* State of the rate limit of VOICE_SERVER_UPDATE, for a guild of a bot or a user's session. */
struct server_update_limit {
    snowflake channel_id;
    /* Token bucket: each VOICE_SERVER_UPDATE moves this time forward by one interval. */
    int64_t used_until_ms;
    bool is_delayed; /* an update is scheduled for later */
};

/* Queue of the opcodes of a gateway session. It is freed after the session has ended. */
struct session_queue {
    uint64_t session;
    bool busy;  /* the first opcode of the queue is running, or will run next */
    bool ended; /* the session has ended */
    /* The queue has an opcode, or the session has voice states, so the queue must not be freed. */
    bool needed;
    /* Number of reads of voice states from before a restart that are still running. */
    unsigned pending_restores;
    struct list_link waiting;         /* struct session_opcode */
    struct list_link delayed_updates; /* struct session_opcode: updates to send later */
    struct map limits; /* guild id of a bot (0 for users) -> struct server_update_limit */
};

struct voice_service {
    struct api *api;
    struct loops *loops;
    struct deadline_list **delays; /* one per loop */
    struct node_lease *lease;
    struct room_owner_watch *room_owner_watch; /* NULL without a cluster */
    pthread_mutex_t lock;                      /* protects the members below */
    struct map queues;                         /* struct session_queue by session number */
    struct map refused_resumes;                /* accounts, see states_awaiting_resume.h */
    struct join_rate_limit *join_rate_limit;
};

static int64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

static struct session_opcode *first_queued_opcode(const struct list_link *list)
{
    return container_of(list->next, struct session_opcode, link);
}

static void free_queued_opcodes(struct list_link *list)
{
    while (!linked_list_is_empty(list)) {
        struct session_opcode *o = first_queued_opcode(list);

        linked_list_remove(&o->link);
        arena_free(o->arena);
    }
}

/* --- opcode queues; these functions must be called with the lock held ----------------- */

static struct session_queue *session_queue_get(struct voice_service *v, uint64_t session)
{
    struct session_queue *l = map_find_value(&v->queues, session);

    if (l)
        return l;
    l = mem_new(sizeof *l);
    l->session = session;
    linked_list_init(&l->waiting);
    linked_list_init(&l->delayed_updates);
    map_init(&l->limits);
    map_set_value(&v->queues, session, l);
    return l;
}

static void session_queue_free(struct session_queue *l)
{
    size_t at = 0;

    for (struct server_update_limit *p; (p = map_next_value(&l->limits, &at));)
        mem_free(p);
    map_clear(&l->limits);
    free_queued_opcodes(&l->waiting);
    free_queued_opcodes(&l->delayed_updates);
    mem_free(l);
}

static struct server_update_limit make_initial_server_update_limit(void)
{
    return (struct server_update_limit){ .used_until_ms = now_ms() };
}

static struct server_update_limit *server_update_limit_get(struct session_queue *l,
                                                           snowflake location)
{
    struct server_update_limit *p = map_find_value(&l->limits, location);

    if (p)
        return p;
    p = mem_new(sizeof *p);
    *p = make_initial_server_update_limit();
    map_set_value(&l->limits, location, p);
    return p;
}

static void run_next_session_opcode(struct voice_service *v, uint64_t session);

static void on_run_next_opcode_posted(struct loop_message *post)
{
    struct session_opcode *o = container_of(post, struct session_opcode, post);

    run_next_session_opcode(o->voice, o->session);
}

static enum err run_handler_of_session_opcode(struct call *call)
{
    struct session_opcode *o = call_get_stage_data(call, "session_opcode");

    o->server_update_sent = o->server_update_delayed = false;
    return o->row->run(call, o);
}

static enum err leave_all_channels_of_session(struct call *call, struct session_opcode *o)
{
    struct list states;
    enum err e = list_voice_states_of_session(call->tx, o->session_id, &states);

    return e ? e : voice_states_delete_all_and_emit(call, &states);
}

static const struct voice_opcode_handler resend_opcode = { .run = resend_voice_server_update };
static const struct voice_opcode_handler leave_opcode = { .run = leave_all_channels_of_session };

/* Schedules the VOICE_SERVER_UPDATE that the rate limit has delayed. */
static void schedule_delayed_server_update(struct session_queue *l, const struct session_opcode *o)
{
    struct arena *arena = arena_new();
    struct session_opcode *again = arena_alloc(arena, sizeof *again);

    *again = (struct session_opcode){
        .caller = o->caller,
        .session = o->session,
        .session_id = str_dup(arena, o->session_id),
        .rate_limit_id = o->rate_limit_id,
        .row = &resend_opcode,
        .voice = o->voice,
        .loop = o->loop,
        .arena = arena,
    };
    linked_list_append(&l->delayed_updates, &again->link);
    deadline_restart(o->voice->delays[loop_get_index(o->loop)], &again->delay);
}

/* Records that VOICE_SERVER_UPDATE was sent or delayed for a guild. Records nothing otherwise,
 * because a client could send any number of guild ids. */
static void update_server_update_limit(struct session_queue *l, const struct session_opcode *o)
{
    if (!o->server_update_sent && !o->server_update_delayed &&
        !map_find_value(&l->limits, o->rate_limit_id))
        return;
    struct server_update_limit *p = server_update_limit_get(l, o->rate_limit_id);

    if (o->row == &resend_opcode)
        p->is_delayed = false;
    else
        p->channel_id = o->target;
    if (o->server_update_sent)
        p->used_until_ms =
            (p->used_until_ms > now_ms() ? p->used_until_ms : now_ms()) + SERVER_UPDATE_INTERVAL_MS;
    if (o->server_update_delayed && !p->is_delayed) {
        p->is_delayed = true;
        schedule_delayed_server_update(l, o);
    }
}

static void on_session_opcode_done(struct call *call, enum err e, void *arg)
{
    struct session_opcode *o = arg;
    struct voice_service *v = o->voice;
    uint64_t session = o->session;

    (void)call;
    if (e)
        log_warn("voice: gateway opcode %d of account %llu failed: %s", o->row->op,
                 (unsigned long long)o->caller.id, error_info(e)->message);
    pthread_mutex_lock(&v->lock);
    struct session_queue *l = map_find_value(&v->queues, session);
    bool again = e && o->row == &leave_opcode;
    if (!e && (o->row->set_join_target || o->row == &resend_opcode))
        update_server_update_limit(l, o);
    if (again) {
        /* Queue the opcode that leaves voice at the end of the session again, until it succeeds. */
        linked_list_append(&l->waiting, &o->link);
        deadline_restart(v->delays[loop_get_index(o->loop)], &o->delay);
    }
    pthread_mutex_unlock(&v->lock);
    if (again)
        return;
    arena_free(o->arena);
    run_next_session_opcode(v, session);
}

static void start_internal_call_of_session_opcode(struct session_opcode *o)
{
    internal_call_start(o->voice->api, o->loop,
                        &(struct internal_call){ .name = "voice_order",
                                                 .caller = &o->caller,
                                                 .store = ROUTE_STORE_WRITE,
                                                 .run = run_handler_of_session_opcode,
                                                 .done = on_session_opcode_done,
                                                 .type = "session_opcode",
                                                 .data = o,
                                                 .arg = o });
}

/* Returns whether the first opcode of a queue may run now. If not, it will run on the loop of its
 * session, or after a delay of the rate limit. */
static bool session_opcode_may_run_now(struct session_queue *l, struct session_opcode *o)
{
    const struct server_update_limit before = make_initial_server_update_limit(),
                                     *known = map_find_value(&l->limits, o->rate_limit_id);
    const struct server_update_limit *p = known ? known : &before;
    bool joins = o->row->set_join_target && o->target && o->target != p->channel_id;

    if (loop_get_current() != o->loop) {
        o->post.run = on_run_next_opcode_posted;
        loop_post_message(o->loop, &o->post);
        return false;
    }
    if (joins && !l->ended &&
        !voice_join_rate_limit_allows(o->voice->join_rate_limit, o->caller.id)) {
        deadline_restart(o->voice->delays[loop_get_index(o->loop)], &o->delay);
        return false;
    }
    o->quiet = p->is_delayed ||
               p->used_until_ms - now_ms() > (SERVER_UPDATE_BURST - 1) * SERVER_UPDATE_INTERVAL_MS;
    return true;
}

/* Starts the first opcode of a queue that is marked as busy. */
static void run_next_session_opcode(struct voice_service *v, uint64_t session)
{
    struct session_opcode *next = NULL;

    pthread_mutex_lock(&v->lock);
    struct session_queue *l = map_find_value(&v->queues, session);
    if (!l || api_is_draining(v->api)) {
        pthread_mutex_unlock(&v->lock);
        return;
    }
    if (linked_list_is_empty(&l->waiting)) {
        l->busy = false;
        if (l->ended && linked_list_is_empty(&l->delayed_updates) && !l->pending_restores) {
            map_remove_value(&v->queues, session);
            session_queue_free(l);
        }
    } else if (session_opcode_may_run_now(l, first_queued_opcode(&l->waiting))) {
        next = first_queued_opcode(&l->waiting);
        linked_list_remove(&next->link);
    }
    pthread_mutex_unlock(&v->lock);
    if (next)
        start_internal_call_of_session_opcode(next);
}

static void enqueue_session_opcode(struct voice_service *v, struct session_opcode *o, bool last)
{
    pthread_mutex_lock(&v->lock);
    struct session_queue *l = session_queue_get(v, o->session);
    bool go = !l->busy;

    l->ended = l->ended || last;
    l->busy = l->needed = true;
    linked_list_append(&l->waiting, &o->link);
    pthread_mutex_unlock(&v->lock);
    if (go)
        run_next_session_opcode(v, o->session);
}

/* Called when a delay of the rate limit ends: tries the first opcode of the queue again, or queues
 * the delayed VOICE_SERVER_UPDATE. */
static void on_opcode_delay_over(struct deadline *d)
{
    struct session_opcode *o = container_of(d, struct session_opcode, delay);
    struct voice_service *v = o->voice;

    if (o->row != &resend_opcode) {
        run_next_session_opcode(v, o->session);
        return;
    }
    pthread_mutex_lock(&v->lock);
    linked_list_remove(&o->link);
    pthread_mutex_unlock(&v->lock);
    enqueue_session_opcode(v, o, false);
}

/* --- calls from the gateway ----------------------------------------------------------- */

static struct session_opcode *session_opcode_new(struct voice_service *v,
                                                 const struct gateway_hook_session *who,
                                                 const struct voice_opcode_handler *row)
{
    struct arena *arena = arena_new();
    struct session_opcode *o = arena_alloc(arena, sizeof *o);

    o->caller = *who->caller;
    o->session = who->session;
    o->session_id = str_dup(arena, str_of(who->session_id));
    o->address = str_dup(arena, who->address);
    o->client = who->client;
    o->row = row;
    o->voice = v;
    o->loop = loop_get_current();
    o->arena = arena;
    return o;
}

static const struct voice_opcode_handler *find_opcode_handler(int op)
{
    for (const struct voice_opcode_handler *r = voice_opcodes; r->type; r++)
        if (r->op == op)
            return r;
    return NULL;
}

bool voice_handle_opcode(struct voice_service *v, const struct gateway_hook_session *who, int op,
                         struct str d)
{
    const struct voice_opcode_handler *row = find_opcode_handler(op);

    if (!v || !row || api_is_draining(v->api))
        return true;
    struct session_opcode *o = session_opcode_new(v, who, row);
    struct form form = { .arena = o->arena };
    void *decoded;

    if (schema_decode(row->type, str_dup(o->arena, d), &form, &decoded)) {
        arena_free(o->arena);
        return false;
    }
    o->d = decoded;
    if (row->set_join_target)
        row->set_join_target(o);
    enqueue_session_opcode(v, o, false);
    return true;
}

void voice_on_session_end(struct voice_service *v, const struct gateway_hook_session *who)
{
    if (!v || api_is_draining(v->api))
        return;
    pthread_mutex_lock(&v->lock);
    bool known = map_find_value(&v->queues, who->session);
    pthread_mutex_unlock(&v->lock);
    if (known)
        enqueue_session_opcode(v, session_opcode_new(v, who, &leave_opcode), true);
}

/* --- after a restart ------------------------------------------------------------------ */

/* Creates an opcode queue for the gateway session. Sessions with a queue lose their voice states
 * when they end. */
static void session_queue_open(struct voice_service *v, uint64_t session)
{
    pthread_mutex_lock(&v->lock);
    session_queue_get(v, session)->pending_restores++;
    pthread_mutex_unlock(&v->lock);
}

void session_opcodes_on_voice_states_restored(struct voice_service *v, uint64_t session, bool found)
{
    pthread_mutex_lock(&v->lock);
    struct session_queue *l = map_find_value(&v->queues, session);
    if (l) {
        l->needed = l->needed || found;
        if (!--l->pending_restores && !l->needed) {
            map_remove_value(&v->queues, session);
            session_queue_free(l);
        }
    }
    pthread_mutex_unlock(&v->lock);
}

/* Returns whether the gateway session has an opcode queue. A session with a queue was already on
 * this process before it resumed, because queues do not survive a restart. */
static bool session_queue_exists(struct voice_service *v, uint64_t session)
{
    pthread_mutex_lock(&v->lock);
    bool known = map_find_value(&v->queues, session);
    pthread_mutex_unlock(&v->lock);
    return known;
}

void voice_on_session_resumed(struct voice_service *v, const struct gateway_hook_session *who)
{
    if (!v || api_is_draining(v->api) || session_queue_exists(v, who->session))
        return;
    session_queue_open(v, who->session);
    restore_voice_states_of_resumed_session(v, v->api, who);
}

void voice_on_resume_refused(struct voice_service *v, snowflake user_id)
{
    if (!v)
        return;
    pthread_mutex_lock(&v->lock);
    refused_resumes_add_account(&v->refused_resumes, user_id);
    pthread_mutex_unlock(&v->lock);
}

void voice_on_session_received_guild(struct voice_service *v,
                                     const struct gateway_hook_session *who, snowflake guild_id)
{
    if (!v || api_is_draining(v->api))
        return;
    pthread_mutex_lock(&v->lock);
    bool refused = refused_resumes_contain_account(&v->refused_resumes, who->caller->id);
    pthread_mutex_unlock(&v->lock);
    if (!refused)
        return;
    session_queue_open(v, who->session);
    restore_voice_state_of_new_session(v, v->api, who, guild_id);
}

static void create_delay_list_of_loop(struct loop *loop, void *arg)
{
    struct voice_service *v = arg;

    v->delays[loop_get_index(loop)] =
        deadline_list_new(loop, SERVER_UPDATE_INTERVAL_MS, false, on_opcode_delay_over);
}

static void free_delay_list_of_loop(struct loop *loop, void *arg)
{
    struct voice_service *v = arg;

    deadline_list_free(v->delays[loop_get_index(loop)]);
}

static void on_voice_second_tick(void *arg)
{
    struct voice_service *v = arg;

    pthread_mutex_lock(&v->lock);
    voice_join_rate_limit_remove_expired(v->join_rate_limit);
    refused_resumes_remove(&v->refused_resumes, false);
    pthread_mutex_unlock(&v->lock);
    voice_room_node_watch_run_every_second(v->room_owner_watch);
}

enum err voice_start_accepting_rooms(struct voice_service *v, const char *endpoint)
{
    voice_set_relay_endpoint(endpoint);
    return v->room_owner_watch ? voice_room_node_watch_accept_rooms(v->room_owner_watch, endpoint)
                               : OK;
}

void voice_stop_accepting_rooms(struct voice_service *v)
{
    if (v && v->room_owner_watch)
        voice_room_node_watch_hand_over_rooms(v->room_owner_watch);
}

enum err voice_start(struct api *api, struct loops *loops, struct voice_service **ret)
{
    struct voice_service *v = mem_new(sizeof *v);

    v->api = api;
    v->loops = loops;
    v->delays = mem_new(loops_get_count(loops) * sizeof *v->delays);
    pthread_mutex_init(&v->lock, NULL);
    map_init(&v->queues);
    map_init(&v->refused_resumes);
    v->join_rate_limit = voice_join_rate_limit_new(!api_get_options(api)->limits.off);
    for (unsigned i = 0; i < loops_get_count(loops); i++)
        loop_run_function_and_wait(loops_get_loop_at(loops, i), create_delay_list_of_loop, v);
    if (api_get_options(api)->cluster && !cluster_has_no_other_nodes(api_get_options(api)->cluster))
        v->room_owner_watch = voice_room_node_watch_new(api, loops_get_loop_at(loops, 0));
    *ret = v;
    return voice_node_lease_begin(api, loops_get_loop_at(loops, 0), on_voice_second_tick, v,
                                  &v->lease);
}

void voice_stop(struct voice_service *v)
{
    if (!v)
        return;
    voice_node_lease_end(v->lease);
    v->lease = NULL;
    for (unsigned i = 0; i < loops_get_count(v->loops); i++)
        loop_run_function_and_wait(loops_get_loop_at(v->loops, i), free_delay_list_of_loop, v);
}

void voice_free(struct voice_service *v)
{
    size_t at = 0;

    if (!v)
        return;
    for (struct session_queue *l; (l = map_next_value(&v->queues, &at));)
        session_queue_free(l);
    map_clear(&v->queues);
    refused_resumes_remove(&v->refused_resumes, true);
    map_clear(&v->refused_resumes);
    voice_join_rate_limit_free(v->join_rate_limit);
    voice_room_node_watch_free(v->room_owner_watch);
    pthread_mutex_destroy(&v->lock);
    mem_free(v->delays);
    mem_free(v);
}

size_t voice_count_rate_limit_states(struct voice_service *v)
{
    size_t at = 0, count = 0;

    pthread_mutex_lock(&v->lock);
    for (struct session_queue *l; (l = map_next_value(&v->queues, &at));)
        count += l->limits.count;
    pthread_mutex_unlock(&v->lock);
    return count;
}
