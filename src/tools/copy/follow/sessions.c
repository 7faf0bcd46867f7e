/* sessions.c - receives events and queues them, with one OS thread per server.
 *
 * If the queue is full, the OS threads wait, so the memory is bounded. If a server then drops the
 * slow session, the session is resumed; if it cannot be resumed, a new session begins and the
 * missed changes are copied. */
#include "tools/copy/follow/follow.h"

#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

enum { MAX_QUEUED_EVENTS = 5000, MAX_QUEUED_BYTES = 24 * 1024 * 1024, MAX_PAUSE_MS = 15000 };
#define SECOND_NS INT64_C(1000000000)

struct session_thread {
    struct follow_sessions *all;
    enum followed_guild_server side;
    struct bot_session *session;
    pthread_t thread;
    bool runs;
};

struct follow_sessions {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct followed_guild_event *first, **last;
    size_t count, bytes;
    bool stops;
    snowflake guild;
    struct session_thread threads[SIDES];
};

struct follow_sessions *follow_sessions_new(snowflake guild)
{
    struct follow_sessions *f = mem_new(sizeof *f);
    pthread_condattr_t attributes;

    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&f->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    f->last = &f->first;
    f->guild = guild;
    return f;
}

void followed_guild_event_free(struct followed_guild_event *e)
{
    if (!e)
        return;
    mem_free(e->name);
    mem_free(e->data);
    mem_free(e);
}

/* Waits for a change of the queue, for at most a second. */
static void wait_for_followed_guild_event(struct follow_sessions *f)
{
    int64_t until = clock_monotonic_ns() + SECOND_NS;
    struct timespec at = { .tv_sec = (time_t)(until / SECOND_NS),
                           .tv_nsec = (long)(until % SECOND_NS) };

    pthread_cond_timedwait(&f->changed, &f->lock, &at);
}

/* Returns false if the sessions end. */
static bool enqueue_followed_guild_event(struct follow_sessions *f, struct followed_guild_event *e,
                                         size_t bytes)
{
    pthread_mutex_lock(&f->lock);
    while (!f->stops && (f->count >= MAX_QUEUED_EVENTS || f->bytes >= MAX_QUEUED_BYTES))
        wait_for_followed_guild_event(f);
    bool ok = !f->stops;
    if (ok) {
        *f->last = e;
        f->last = &e->next;
        f->count++;
        f->bytes += bytes;
        pthread_cond_broadcast(&f->changed);
    }
    pthread_mutex_unlock(&f->lock);
    if (!ok)
        followed_guild_event_free(e);
    return ok;
}

static char *copy_text_to_heap(struct str text)
{
    char *copy = mem_resize(NULL, text.n + 1);

    if (text.n)
        memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    return copy;
}

/* Returns whether an event is needed. Events of other guilds are not, nor are events that contain
 * the whole guild. */
static bool followed_guild_event_is_needed(const struct follow_sessions *f,
                                           const struct bot_session_event *e)
{
    static const char *const unneeded[] = { "GUILD_CREATE", "PRESENCE_UPDATE", "TYPING_START",
                                            "VOICE_STATE_UPDATE", "GUILD_AUDIT_LOG_ENTRY_CREATE" };

    if (str_is(e->name, "READY") || str_is(e->name, "RESUMED"))
        return true;
    for (size_t i = 0; i < COUNT_OF(unneeded); i++)
        if (str_is(e->name, unneeded[i]))
            return false;
    if (str_is(e->name, "GUILD_UPDATE"))
        return json_member_get_id(e->data, "id") == f->guild;
    return json_member_get_id(e->data, "guild_id") == f->guild;
}

static bool enqueue_event_of_follow_session(struct session_thread *t,
                                            const struct bot_session_event *e, bool refused)
{
    struct followed_guild_event *copy = mem_new(sizeof *copy);

    *copy = (struct followed_guild_event){ .side = t->side,
                                           .name = copy_text_to_heap(e->name),
                                           .data = copy_text_to_heap(e->data),
                                           .after = e->after,
                                           .refused = refused };
    return enqueue_followed_guild_event(t->all, copy, e->name.n + e->data.n);
}

static bool follow_sessions_stop(struct follow_sessions *f)
{
    pthread_mutex_lock(&f->lock);
    bool stops = f->stops;
    pthread_mutex_unlock(&f->lock);
    return stops;
}

static void sleep_unless_sessions_stop(struct follow_sessions *f, int64_t ms)
{
    for (int64_t i = 0; i < ms && !follow_sessions_stop(f); i += 50)
        nanosleep(&(struct timespec){ .tv_nsec = 50 * 1000000 }, NULL);
}

static void *receive_events_of_follow_session(void *arg)
{
    struct session_thread *t = arg;
    struct arena *arena = arena_new();
    int64_t pause_ms = 250;
    bool more = true;

    while (more && !follow_sessions_stop(t->all)) {
        struct bot_session_event e;
        enum bot_session_result result =
            bot_session_wait_for_event(t->session, clock_monotonic_ns() + SECOND_NS, arena, &e);

        if (result == SESSION_EVENT) {
            pause_ms = 250;
            more = !followed_guild_event_is_needed(t->all, &e) ||
                   enqueue_event_of_follow_session(t, &e, false);
        } else if (result == SESSION_REFUSED) {
            enqueue_event_of_follow_session(t, &e, true);
            more = false;
        } else if (result == SESSION_LOST) {
            sleep_unless_sessions_stop(t->all, pause_ms);
            pause_ms = pause_ms * 2 < MAX_PAUSE_MS ? pause_ms * 2 : MAX_PAUSE_MS;
        }
        arena_reset(arena);
    }
    arena_free(arena);
    return NULL;
}

bool follow_sessions_start(struct follow_sessions *f, enum followed_guild_server side,
                           const struct bot_session_options *options,
                           const struct gateway_resume_point *from)
{
    struct session_thread *t = &f->threads[side];

    *t = (struct session_thread){ .all = f, .side = side };
    t->session = bot_session_new(options, from);
    t->runs = pthread_create(&t->thread, NULL, receive_events_of_follow_session, t) == 0;
    return t->runs;
}

void follow_sessions_free(struct follow_sessions *f)
{
    struct followed_guild_event *next;

    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->stops = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    for (size_t i = 0; i < SIDES; i++) {
        if (f->threads[i].runs)
            pthread_join(f->threads[i].thread, NULL);
        bot_session_free(f->threads[i].session);
    }
    for (struct followed_guild_event *e = f->first; e; e = next) {
        next = e->next;
        followed_guild_event_free(e);
    }
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    mem_free(f);
}

struct followed_guild_event *follow_sessions_wait_for_event(struct follow_sessions *f)
{
    pthread_mutex_lock(&f->lock);
    if (!f->first)
        wait_for_followed_guild_event(f);
    struct followed_guild_event *e = f->first;
    if (e) {
        f->first = e->next;
        if (!f->first)
            f->last = &f->first;
        f->count--;
        f->bytes -= strlen(e->name) + strlen(e->data);
        pthread_cond_broadcast(&f->changed);
    }
    pthread_mutex_unlock(&f->lock);
    return e;
}

bool follow_sessions_have_no_queued_event(struct follow_sessions *f)
{
    pthread_mutex_lock(&f->lock);
    bool empty = !f->first;
    pthread_mutex_unlock(&f->lock);
    return empty;
}
