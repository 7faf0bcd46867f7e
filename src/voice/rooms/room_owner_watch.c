/* room_owner_watch.c - assigns rooms of a dead or stopping node to another node. Every node checks
 * once per second. If two nodes find the same room, the store serialises their transactions: the
 * second node finds that the room has a new owner. */
#include <pthread.h>

#include "base/log.h"
#include "base/mem.h"
#include "voice/rooms/room_owners.h"
#include "voice/voice.h"

struct room_owner_watch {
    struct api *api;
    struct loop *loop;
    bool running, closing; /* only used on the loop */
    bool more;             /* more rooms must be moved to other nodes; set by the running call */

    /* Protects the fields below. Functions that wait for the end of an internal call wait for
     * changes of these fields. */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool finished;
    struct str offer; /* endpoint of this node to publish */
    enum err result;
};

static struct room_owner_watch *room_owner_watch_of_internal_call(const struct call *call)
{
    return call_get_stage_data(call, "room_owner_watch");
}

static void start_internal_call_for_room_owner_watch(
    struct room_owner_watch *w, enum route_transaction_kind store,
    enum err (*run)(struct call *call), void (*done)(struct call *call, enum err e, void *arg))
{
    internal_call_start(w->api, w->loop,
                        &(struct internal_call){ .name = "voice_homes",
                                                 .store = store,
                                                 .run = run,
                                                 .done = done,
                                                 .type = "room_owner_watch",
                                                 .data = w,
                                                 .arg = w });
}

static void wake_waiting_thread(struct room_owner_watch *w, enum err e)
{
    pthread_mutex_lock(&w->lock);
    w->finished = true;
    w->result = e;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
}

static enum err publish_voice_endpoint(struct call *call)
{
    return node_publish_voice_endpoint(call, room_owner_watch_of_internal_call(call)->offer);
}

static enum err hand_over_rooms_to_other_nodes(struct call *call)
{
    bool more = false;
    enum err e = node_publish_voice_endpoint(call, STR(""));

    if (!e)
        e = assign_voice_rooms_of_dead_nodes(call, &more);
    room_owner_watch_of_internal_call(call)->more = more;
    return e;
}

static void on_endpoint_published(struct call *call, enum err e, void *arg)
{
    (void)call;
    wake_waiting_thread(arg, e);
}

static void on_voice_rooms_handed_over(struct call *call, enum err e, void *arg)
{
    struct room_owner_watch *w = arg;

    (void)call;
    if (!e && w->more)
        start_internal_call_for_room_owner_watch(
            w, ROUTE_STORE_WRITE, hand_over_rooms_to_other_nodes, on_voice_rooms_handed_over);
    else
        wake_waiting_thread(w, e);
}

static enum err assign_voice_rooms_without_live_node(struct call *call)
{
    return assign_voice_rooms_of_dead_nodes(call, &room_owner_watch_of_internal_call(call)->more);
}

static void on_voice_rooms_assigned_to_nodes(struct call *call, enum err e, void *arg)
{
    struct room_owner_watch *w = arg;

    (void)call;
    if (e)
        log_warn("voice: cannot assign rooms to another node: %s", error_info(e)->message);
    w->running = !e && w->more;
    if (w->closing)
        start_internal_call_for_room_owner_watch(
            w, ROUTE_STORE_WRITE, hand_over_rooms_to_other_nodes, on_voice_rooms_handed_over);
    else if (w->running)
        start_internal_call_for_room_owner_watch(w, ROUTE_STORE_WRITE,
                                                 assign_voice_rooms_without_live_node,
                                                 on_voice_rooms_assigned_to_nodes);
}

static enum err read_whether_voice_rooms_lack_nodes(struct call *call)
{
    return read_whether_voice_rooms_lack_live_nodes(call,
                                                    &room_owner_watch_of_internal_call(call)->more);
}

static void on_voice_rooms_without_nodes_read(struct call *call, enum err e, void *arg)
{
    on_voice_rooms_assigned_to_nodes(call, e, arg);
}

void voice_room_node_watch_run_every_second(struct room_owner_watch *w)
{
    if (!w || w->running || w->closing || api_is_draining(w->api))
        return;
    w->running = true;
    start_internal_call_for_room_owner_watch(w, ROUTE_STORE_READ,
                                             read_whether_voice_rooms_lack_nodes,
                                             on_voice_rooms_without_nodes_read);
}

static void start_publishing_endpoint_on_loop(struct loop *loop, void *arg)
{
    (void)loop;
    start_internal_call_for_room_owner_watch(arg, ROUTE_STORE_WRITE, publish_voice_endpoint,
                                             on_endpoint_published);
}

static void start_handing_over_rooms_on_loop(struct loop *loop, void *arg)
{
    struct room_owner_watch *w = arg;

    (void)loop;
    w->closing = true;
    /* if a call is running, the next call starts when the running call has ended */
    if (!w->running)
        start_internal_call_for_room_owner_watch(
            w, ROUTE_STORE_WRITE, hand_over_rooms_to_other_nodes, on_voice_rooms_handed_over);
}

static enum err run_on_loop_and_wait_for_call_end(struct room_owner_watch *w,
                                                  void (*start)(struct loop *loop, void *arg))
{
    w->finished = false;
    loop_run_function_and_wait(w->loop, start, w);
    pthread_mutex_lock(&w->lock);
    while (!w->finished)
        pthread_cond_wait(&w->ended, &w->lock);
    pthread_mutex_unlock(&w->lock);
    return w->result;
}

enum err voice_room_node_watch_accept_rooms(struct room_owner_watch *w, const char *endpoint)
{
    w->offer = str_of(endpoint);
    enum err e = run_on_loop_and_wait_for_call_end(w, start_publishing_endpoint_on_loop);
    if (e)
        log_error("voice: cannot publish the voice endpoint of this node: %s",
                  error_info(e)->message);
    return e;
}

void voice_room_node_watch_hand_over_rooms(struct room_owner_watch *w)
{
    enum err e = run_on_loop_and_wait_for_call_end(w, start_handing_over_rooms_on_loop);

    if (e)
        log_warn("voice: cannot move the rooms of this stopping node to other nodes: %s",
                 error_info(e)->message);
}

struct room_owner_watch *voice_room_node_watch_new(struct api *api, struct loop *loop)
{
    struct room_owner_watch *w = mem_new(sizeof *w);

    w->api = api;
    w->loop = loop;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ended, NULL);
    return w;
}

void voice_room_node_watch_free(struct room_owner_watch *w)
{
    if (!w)
        return;
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->lock);
    mem_free(w);
}
