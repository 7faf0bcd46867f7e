/* gateway_bus.c - what a commit announces comes to every loop at once, in order. */
#include "unit.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "base/mem.h"
#include "gateway/fanout/bus.h"
#include "gateway/gateway.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "net/loop_internal.h"

enum { LOOPS = 3, EVENTS = 5 };

struct bus_world {
    struct loops *loops;
    struct gateway *gateway;
    struct announcement list[EVENTS];
    sem_t reached, go_on;
    struct post pause;
};

static struct bus_world world;

static int bus_start(void **state)
{
    struct gateway_options options = { 0 };

    (void)state;
    world.loops = loops_start(LOOPS, NULL, NULL);
    world.gateway = gateway_new(&options);
    gateway_start(world.gateway, world.loops);
    for (size_t i = 0; i < EVENTS; i++)
        world.list[i] = (struct announcement){
            .event = EVENT_MESSAGE_CREATE,
            .to = to_guild(i + 1),
            .payload = STR("{}"),
            .next = i + 1 < EVENTS ? &world.list[i + 1] : NULL,
        };
    return 0;
}

static int bus_stop(void **state)
{
    (void)state;
    gateway_stop(world.gateway);
    loops_stop(world.loops);
    gateway_free(world.gateway);
    return 0;
}

static void loop_pause(struct post *p)
{
    (void)p;
    sem_post(&world.reached);
    while (sem_wait(&world.go_on) != 0)
        ;
}

static size_t posts_of(struct loop *l)
{
    size_t count = 0;

    for (const struct post *p = atomic_load(&l->posts); p; p = p->next)
        count++;
    return count;
}

/* While a loop does something else, what comes for it stands in its list. */
static void a_commit_is_one_message_to_a_loop_whatever_it_announces(void **state)
{
    (void)state;
    sem_init(&world.reached, 0, 0);
    sem_init(&world.go_on, 0, 0);
    world.pause.run = loop_pause;
    loop_post(loops_at(world.loops, 1), &world.pause);
    sem_wait(&world.reached);
    gateway_announce(world.gateway, world.list);
    size_t count = posts_of(loops_at(world.loops, 1));
    gateway_announce(world.gateway, world.list);
    size_t later = posts_of(loops_at(world.loops, 1));
    sem_post(&world.go_on);
    sem_destroy(&world.reached);
    assert_int_equal(count, 1);
    assert_int_equal(later, 2);
}

static void hub_is_at(struct loop *loop, void *arg)
{
    const struct hub *h = world.gateway->hubs[loop_index(loop)];

    *(uint64_t *)arg =
        h->queue.first || h->queue.sending || h->begun != h->position ? 0 : h->position;
}

/* Also those where nobody listens: who comes from another loop waits for the number. */
static void every_loop_gets_to_the_last_number(void **state)
{
    uint64_t before = world.gateway->published;

    (void)state;
    gateway_announce(world.gateway, world.list);
    publish(world.gateway, news_new(EVENT_READY, to_user(1), STR("{}")));
    assert_int_equal(world.gateway->published, before + EVENTS + 1);
    for (unsigned i = 0; i < LOOPS; i++) {
        uint64_t at = 0;

        loop_call(loops_at(world.loops, i), hub_is_at, &at);
        assert_int_equal(at, world.gateway->published);
    }
}

/* The same numbers on every server: each position has a range of its own. */
static void the_events_of_a_position_are_numbered_from_it(void **state)
{
    (void)state;
    gateway_announce_at(world.gateway, 7, world.list);
    assert_int_equal(world.gateway->published, (UINT64_C(7) << NUMBERS_OF_POSITION) + EVENTS);
    gateway_announce_at(world.gateway, 9, NULL);
    assert_int_equal(world.gateway->published, (UINT64_C(7) << NUMBERS_OF_POSITION) + EVENTS);
}

/* What this server tells by itself between two positions does not reach into the next one's. */
static void a_position_has_room_for_millions_of_comings_and_goings(void **state)
{
    enum { MANY = 10 * 1000 * 1000 };

    (void)state;
    gateway_announce_at(world.gateway, 11, world.list);
    world.gateway->published += MANY;
    gateway_announce_at(world.gateway, 12, world.list);
    assert_int_equal(world.gateway->published, (UINT64_C(12) << NUMBERS_OF_POSITION) + EVENTS);
}

/* Who is in a private channel hears of it as a person, each with an event of its own. */
static void people_of_a_private_channel_are_told_one_by_one(void **state)
{
    snowflake people[] = { 11, 12, 13 };
    uint64_t before = world.gateway->published;
    struct announcement a = {
        .event = EVENT_MESSAGE_CREATE,
        .to = to_channel(5),
        .payload = STR("{}"),
        .people = { .items = people, .count = COUNT_OF(people) },
    };

    (void)state;
    gateway_announce(world.gateway, &a);
    assert_int_equal(world.gateway->published, before + COUNT_OF(people));
    a.people.count = 0;
    gateway_announce(world.gateway, &a);
    assert_int_equal(world.gateway->published, before + COUNT_OF(people));
}

static atomic_bool commits_end;
static atomic_int commits;

/* With pauses: hubs of a slow machine are to come to the end of what they were told. */
static void *commit_on_and_on(void *arg)
{
    const struct timespec pause = { .tv_nsec = 100 * 1000 };

    (void)arg;
    while (!atomic_load(&commits_end)) {
        gateway_announce(world.gateway, world.list);
        atomic_fetch_add(&commits, 1);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* The last of the tests: errands of a server that stops still commit while its hubs go. */
static void what_commits_while_hubs_go_harms_nobody(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, commit_on_and_on, NULL), 0);
    while (atomic_load(&commits) < 100)
        sched_yield();
    gateway_stop(world.gateway);
    int stopped = atomic_load(&commits);
    while (atomic_load(&commits) < stopped + 100)
        sched_yield();
    atomic_store(&commits_end, true);
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_is_one_message_to_a_loop_whatever_it_announces),
        cmocka_unit_test(every_loop_gets_to_the_last_number),
        cmocka_unit_test(the_events_of_a_position_are_numbered_from_it),
        cmocka_unit_test(a_position_has_room_for_millions_of_comings_and_goings),
        cmocka_unit_test(people_of_a_private_channel_are_told_one_by_one),
        cmocka_unit_test(what_commits_while_hubs_go_harms_nobody),
    };

    return cmocka_run_group_tests_name("gateway/bus", tests, bus_start, bus_stop);
}
