/* event_bus.c - tests that the events of a commit reach every event loop in order. */
#include "unit/unit.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "base/mem.h"
#include "cluster/log_address.h"
#include "gateway/fanout/event_bus.h"
#include "gateway/gateway.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"
#include "net/loop_internal.h"

enum { LOOPS = 3, EVENTS = 5 };

struct bus_world {
    struct loops *loops;
    struct gateway *gateway;
    struct emitted_event list[EVENTS];
    sem_t reached, go_on;
    struct loop_message pause;
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
        world.list[i] = (struct emitted_event){
            .event = EVENT_MESSAGE_CREATE,
            .to = audience_of_guild(i + 1),
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

static void loop_pause(struct loop_message *p)
{
    (void)p;
    sem_post(&world.reached);
    while (sem_wait(&world.go_on) != 0)
        ;
}

static size_t count_loop_messages(struct loop *l)
{
    size_t count = 0;

    for (const struct loop_message *p = atomic_load(&l->messages); p; p = p->next)
        count++;
    return count;
}

/* While a loop is busy, messages for it wait in its list. */
static void commit_with_many_events_posts_one_message_per_loop(void **state)
{
    (void)state;
    sem_init(&world.reached, 0, 0);
    sem_init(&world.go_on, 0, 0);
    world.pause.run = loop_pause;
    loop_post_message(loops_get_loop_at(world.loops, 1), &world.pause);
    sem_wait(&world.reached);
    gateway_publish_announcements(world.gateway, world.list);
    size_t count = count_loop_messages(loops_get_loop_at(world.loops, 1));
    gateway_publish_announcements(world.gateway, world.list);
    size_t later = count_loop_messages(loops_get_loop_at(world.loops, 1));
    sem_post(&world.go_on);
    sem_destroy(&world.reached);
    assert_int_equal(count, 1);
    assert_int_equal(later, 2);
}

static void read_loop_position(struct loop *loop, void *arg)
{
    const struct gateway_loop *h = world.gateway->gateway_loops[loop_get_index(loop)];

    *(uint64_t *)arg =
        h->queue.first || h->queue.sending || h->begun != h->position ? 0 : h->position;
}

/* Loops without listeners count too, because a session that moves between loops waits for the
 * number. */
static void every_loop_reaches_the_last_event_number(void **state)
{
    uint64_t before = world.gateway->published;

    (void)state;
    gateway_publish_announcements(world.gateway, world.list);
    publish_event_to_loops(world.gateway,
                           gateway_event_new(EVENT_READY, audience_of_user(1), STR("{}")));
    assert_int_equal(world.gateway->published, before + EVENTS + 1);
    for (unsigned i = 0; i < LOOPS; i++) {
        uint64_t at = 0;

        loop_run_function_and_wait(loops_get_loop_at(world.loops, i), read_loop_position, &at);
        assert_int_equal(at, world.gateway->published);
    }
}

static void event_numbers_are_derived_from_the_log_position(void **state)
{
    (void)state;
    gateway_publish_events_of_log_position(world.gateway, 7, world.list);
    assert_int_equal(world.gateway->published, (UINT64_C(7) << EVENT_NUMBER_BITS) + EVENTS);
    gateway_publish_events_of_log_position(world.gateway, 9, NULL);
    assert_int_equal(world.gateway->published, (UINT64_C(7) << EVENT_NUMBER_BITS) + EVENTS);
}

static uint64_t loop_position(unsigned loop)
{
    uint64_t at = 0;

    loop_run_function_and_wait(loops_get_loop_at(world.loops, loop), read_loop_position, &at);
    return at;
}

/* Passed over positions are collected until an event follows. They use as many numbers as they
 * have events, so that these have the same numbers as on other nodes. */
static void passed_over_positions_are_posted_before_the_next_event(void **state)
{
    struct log_entry_address a = { .count = 1,
                                   .keys = { log_address_key(AUDIENCE_GUILD, 1) },
                                   .events = 3 };
    uint64_t before = world.gateway->published;

    (void)state;
    gateway_skip_log_position(world.gateway, 13, &a);
    gateway_skip_log_position(world.gateway, 14, &a);
    assert_int_equal(world.gateway->published, before);
    publish_event_to_loops(world.gateway,
                           gateway_event_new(EVENT_READY, audience_of_user(1), STR("{}")));
    uint64_t last = (UINT64_C(14) << EVENT_NUMBER_BITS) + 3 + 1;
    assert_int_equal(world.gateway->published, last);
    for (unsigned i = 0; i < LOOPS; i++)
        assert_int_equal(loop_position(i), last);
    for (int64_t position = 15; position < 15 + 300; position++)
        gateway_skip_log_position(world.gateway, position, &a);
    assert_true(world.gateway->published >= UINT64_C(200) << EVENT_NUMBER_BITS);
    gateway_publish_skipped_log_positions(world.gateway);
    last = (UINT64_C(314) << EVENT_NUMBER_BITS) + 3;
    for (unsigned i = 0; i < LOOPS; i++)
        assert_int_equal(loop_position(i), last);
}

static void local_events_do_not_exceed_the_number_range_of_a_position(void **state)
{
    uint64_t next = UINT64_C(412) << EVENT_NUMBER_BITS;

    (void)state;
    gateway_publish_events_of_log_position(world.gateway, 411, world.list);
    world.gateway->cluster = (struct cluster *)&world; /* only compared with NULL */
    world.gateway->published = next - 3;
    for (int i = 0; i < 4; i++)
        publish_event_to_loops(world.gateway,
                               gateway_event_new(EVENT_READY, audience_of_user(1), STR("{}")));
    assert_int_equal(world.gateway->published, next - 1);
    gateway_publish_events_of_log_position(world.gateway, 412, world.list);
    assert_int_equal(world.gateway->published, next + EVENTS);
    for (unsigned i = 0; i < LOOPS; i++)
        assert_int_equal(loop_position(i), next + EVENTS);
    world.gateway->cluster = NULL;
}

static void private_channel_event_is_published_once_per_recipient(void **state)
{
    snowflake people[] = { 11, 12, 13 };
    uint64_t before = world.gateway->published;
    struct emitted_event a = {
        .event = EVENT_MESSAGE_CREATE,
        .to = audience_of_private_channel(5),
        .payload = STR("{}"),
        .member_ids = { .items = people, .count = COUNT_OF(people) },
    };

    (void)state;
    gateway_publish_announcements(world.gateway, &a);
    assert_int_equal(world.gateway->published, before + COUNT_OF(people));
    a.member_ids.count = 0;
    gateway_publish_announcements(world.gateway, &a);
    assert_int_equal(world.gateway->published, before + COUNT_OF(people));
}

static atomic_bool commits_end;
static atomic_int commits;

/* Pauses let the loops of a slow machine process all events. */
static void *commit_on_and_on(void *arg)
{
    const struct timespec pause = { .tv_nsec = 100 * 1000 };

    (void)arg;
    while (!atomic_load(&commits_end)) {
        gateway_publish_announcements(world.gateway, world.list);
        atomic_fetch_add(&commits, 1);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* Must be the last test, because it stops the gateway while another thread still commits. */
static void commits_during_gateway_stop_are_safe(void **state)
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
        cmocka_unit_test(commit_with_many_events_posts_one_message_per_loop),
        cmocka_unit_test(every_loop_reaches_the_last_event_number),
        cmocka_unit_test(event_numbers_are_derived_from_the_log_position),
        cmocka_unit_test(passed_over_positions_are_posted_before_the_next_event),
        cmocka_unit_test(local_events_do_not_exceed_the_number_range_of_a_position),
        cmocka_unit_test(private_channel_event_is_published_once_per_recipient),
        cmocka_unit_test(commits_during_gateway_stop_are_safe),
    };

    return cmocka_run_group_tests_name("gateway/bus", tests, bus_start, bus_stop);
}
