/* home_watch.c - assigns rooms of a dead or stopping node to another node.
 *
 * Every node checks once per second. If two nodes find the same room, their transactions are
 * serialised by the store and the second one finds that the room has an owner again. */
#include <pthread.h>

#include "base/log.h"
#include "base/mem.h"
#include "voice/homes.h"
#include "voice/voice.h"

struct home_watch {
    struct api *api;
    struct loop *loop;
    bool running, closing; /* loop only */
    bool more;             /* more rooms are left; set by the running step */

    pthread_mutex_t lock; /* protects the members below, which a thread waits for */
    pthread_cond_t ended;
    bool settled;
    struct str offer; /* endpoint to publish */
    enum err result;
};

static struct home_watch *watch_of(const struct call *call)
{
    return call_passed(call, "home_watch");
}

static void watch_start(struct home_watch *w, enum route_store store,
                        enum err (*run)(struct call *call),
                        void (*done)(struct call *call, enum err e, void *arg))
{
    errand_start(w->api, w->loop,
                 &(struct errand){ .name = "voice_homes",
                                   .store = store,
                                   .run = run,
                                   .done = done,
                                   .type = "home_watch",
                                   .data = w,
                                   .arg = w });
}

static void watch_settled(struct home_watch *w, enum err e)
{
    pthread_mutex_lock(&w->lock);
    w->settled = true;
    w->result = e;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
}

static enum err watch_offer(struct call *call)
{
    return voice_home_offer(call, watch_of(call)->offer);
}

static enum err watch_give_up(struct call *call)
{
    bool more = false;
    enum err e = voice_home_offer(call, STR(""));

    if (!e)
        e = voice_homes_mend(call, &more);
    watch_of(call)->more = more;
    return e;
}

static void watch_offered(struct call *call, enum err e, void *arg)
{
    (void)call;
    watch_settled(arg, e);
}

static void watch_gave_up(struct call *call, enum err e, void *arg)
{
    struct home_watch *w = arg;

    (void)call;
    if (!e && w->more)
        watch_start(w, ROUTE_STORE_WRITE, watch_give_up, watch_gave_up);
    else
        watch_settled(w, e);
}

static enum err watch_mend(struct call *call)
{
    return voice_homes_mend(call, &watch_of(call)->more);
}

static void watch_mended(struct call *call, enum err e, void *arg)
{
    struct home_watch *w = arg;

    (void)call;
    if (e)
        log_warn("voice: cannot assign rooms to another node: %s", error_info(e)->message);
    w->running = !e && w->more;
    if (w->closing)
        watch_start(w, ROUTE_STORE_WRITE, watch_give_up, watch_gave_up);
    else if (w->running)
        watch_start(w, ROUTE_STORE_WRITE, watch_mend, watch_mended);
}

static enum err watch_look(struct call *call)
{
    return voice_homes_lost(call, &watch_of(call)->more);
}

static void watch_looked(struct call *call, enum err e, void *arg)
{
    watch_mended(call, e, arg);
}

void home_watch_tick(struct home_watch *w)
{
    if (!w || w->running || w->closing || api_draining(w->api))
        return;
    w->running = true;
    watch_start(w, ROUTE_STORE_READ, watch_look, watch_looked);
}

static void watch_open_turn(struct loop *loop, void *arg)
{
    (void)loop;
    watch_start(arg, ROUTE_STORE_WRITE, watch_offer, watch_offered);
}

static void watch_close_turn(struct loop *loop, void *arg)
{
    struct home_watch *w = arg;

    (void)loop;
    w->closing = true;
    if (!w->running) /* otherwise start it when the running call has ended */
        watch_start(w, ROUTE_STORE_WRITE, watch_give_up, watch_gave_up);
}

static enum err watch_wait(struct home_watch *w, void (*turn)(struct loop *loop, void *arg))
{
    w->settled = false;
    loop_call(w->loop, turn, w);
    pthread_mutex_lock(&w->lock);
    while (!w->settled)
        pthread_cond_wait(&w->ended, &w->lock);
    pthread_mutex_unlock(&w->lock);
    return w->result;
}

enum err home_watch_open(struct home_watch *w, const char *endpoint)
{
    w->offer = str_of(endpoint);
    enum err e = watch_wait(w, watch_open_turn);
    if (e)
        log_error("voice: cannot publish the voice endpoint of this node: %s",
                  error_info(e)->message);
    return e;
}

void home_watch_close(struct home_watch *w)
{
    enum err e = watch_wait(w, watch_close_turn);

    if (e)
        log_warn("voice: cannot move the rooms of this stopping node to other nodes: %s",
                 error_info(e)->message);
}

struct home_watch *home_watch_new(struct api *api, struct loop *loop)
{
    struct home_watch *w = mem_new(sizeof *w);

    w->api = api;
    w->loop = loop;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ended, NULL);
    return w;
}

void home_watch_free(struct home_watch *w)
{
    if (!w)
        return;
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->lock);
    mem_free(w);
}
