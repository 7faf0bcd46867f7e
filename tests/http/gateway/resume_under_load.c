/* resume_under_load.c - many sessions lose their sockets while many events are published. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "guilds.h"
#include "test_guild.h"
#include "waits.h"

enum { SESSIONS = 24, ROUNDS = 50, EVENTS = 6000 };

struct event_storm {
    struct gateway *gateway;
    struct test_guild test_guild;
    _Atomic int published;
    _Atomic int slowest; /* number of messages that every listener has received */
    _Atomic bool stop;
};

/* Publishes numbered events to viewers of the channel, at most so far ahead that a listener can
 * still resume. */
static void *publish_events(void *arg)
{
    struct event_storm *s = arg;

    for (int i = 0; i < EVENTS && !s->stop; i++) {
        char payload[64];
        int n = snprintf(payload, sizeof payload, "{\"i\":%d}", i);
        struct emitted_event a = {
            .event = EVENT_MESSAGE_DELETE,
            .to =
                audience_of_channel_viewers(id_of(s->test_guild.id), id_of(s->test_guild.channel)),
            .payload = str_slice(payload, (size_t)n),
        };

        gateway_publish_announcements(s->gateway, &a);
        s->published = i + 1;
        usleep(300);
        while (i > s->slowest + 2000 && !s->stop)
            usleep(1000);
    }
    return NULL;
}

struct listener {
    struct gateway_conn *gate;
    int next; /* the next expected number; -1: any */
    bool resuming;
};

/* Reads until a number has been received, or nothing is left. */
static void read_events(struct listener *l, int until, int wait_ms)
{
    while (l->next < until || l->resuming) {
        const struct dom *m = conn_read(l->gate, wait_ms);

        if (!m)
            return;
        conn_count(l->gate, m);
        if (str_is(dom_at(m, "t")->text, "RESUMED")) {
            l->resuming = false;
            continue;
        }
        expect(str_is(dom_at(m, "t")->text, "MESSAGE_DELETE"));
        int i = atoi(dom_at(m, "d.i")->text.p);
        expect(l->next < 0 || i == l->next);
        l->next = i + 1;
    }
}

static void resume_session_of_listener(struct client *bot, struct listener *l)
{
    struct gateway_conn *old = l->gate;

    conn_kill(old);
    l->gate = conn_open(bot, l->next % 2 ? "v=10" : "v=10&compress=zlib-stream");
    expect_op(l->gate, 10);
    conn_resume(l->gate, conn_id(old), conn_seq(old));
    l->resuming = true;
}

static void resuming_during_many_events_loses_and_duplicates_nothing(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct event_storm event_storm = { .gateway = guildhall_get_gateway(world_server(w)),
                                       .test_guild = world_test_guild(w, ada) };
    static struct listener listeners[SESSIONS];
    pthread_t thread;

    test_guild_add(&event_storm.test_guild, bot);
    for (int i = 0; i < SESSIONS; i++) {
        struct gateway_conn *g = conn_session(bot, "v=10", "'intents': 512");

        expect_soon(conn_census(g, "guilds") == 1);
        listeners[i] = (struct listener){ .gate = g, .next = -1 };
    }
    pthread_create(&thread, NULL, publish_events, &event_storm);
    for (int round = 0; round < ROUNDS; round++) {
        int slowest = EVENTS;

        for (int i = round % 3; i < SESSIONS; i += 3) {
            read_events(&listeners[i], event_storm.published, 20);
            resume_session_of_listener(bot, &listeners[i]);
        }
        for (int i = 0; i < SESSIONS; i++)
            if (listeners[i].next < slowest)
                slowest = listeners[i].next;
        event_storm.slowest = slowest;
    }
    event_storm.stop = true;
    pthread_join(thread, NULL);
    for (int i = 0; i < SESSIONS; i++) {
        read_events(&listeners[i], event_storm.published, 60000);
        expect(listeners[i].next == event_storm.published && !listeners[i].resuming);
        expect_quiet(listeners[i].gate);
    }
}

static void configure_four_event_loops(struct config *c)
{
    c->loops = 4;
}

const struct test gateway_resume_under_load_tests[] = {
    TEST_WITH(resuming_during_many_events_loses_and_duplicates_nothing, configure_four_event_loops),
    { 0 },
};
