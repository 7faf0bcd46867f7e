/* topics.c - tests sessions with very many subscriptions, and how unused guild views are freed. */
#include "unit/unit.h"

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/subscriptions/topics.h"
#include "gateway/subscriptions/guild_view.h"

enum { SEATS = 100000, GUILDS = 2000, CHANNELS = 300, PATIENCE_S = 60 };
#define SECOND INT64_C(1000000000)

struct gallery {
    struct topics topics;
    struct session_subscriptions seats;
    struct loop_iteration_callback end;
    int turns; /* iterations after which views still existed */
    _Atomic bool is_empty;
    int64_t took;
    bool is_right; /* assertions in loop threads cannot fail a test */
};

static void init_topics_fixture(struct loop *l, void *arg)
{
    struct gallery *g = arg;

    topics_init(&g->topics, l);
    g->seats = (struct session_subscriptions){ .user_id = 1, .topics = &g->topics };
}

static void clear_topics_fixture(struct loop *l, void *arg)
{
    struct gallery *g = arg;

    (void)l;
    topics_clear(&g->topics);
}

/* --- subscriptions -------------------------------------------------------------------- */

static void subscribe_to_many_topics(struct loop *l, void *arg)
{
    struct gallery *g = arg;
    int64_t began = clock_thread_cpu_ns();

    (void)l;
    for (snowflake id = 1; id <= SEATS; id++)
        session_subscription_add(&g->seats, AUDIENCE_CHANNEL, id);
    for (snowflake id = 1; id <= SEATS; id += 2)
        session_subscription_remove(&g->seats,
                                    session_subscription_find(&g->seats, AUDIENCE_CHANNEL, id));
    g->is_right = g->seats.count == SEATS / 2 &&
                  !session_subscription_find(&g->seats, AUDIENCE_CHANNEL, 1) &&
                  session_subscription_find(&g->seats, AUDIENCE_CHANNEL, 2) &&
                  !session_subscription_find(&g->seats, AUDIENCE_GUILD, 2);
    session_subscriptions_clear(&g->seats);
    g->took = clock_thread_cpu_ns() - began;
}

/* A linear search per subscription would compare five thousand million times. */
static void subscribing_to_100000_topics_is_fast(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct gallery g = { 0 };

    (void)state;
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), init_topics_fixture, &g);
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), subscribe_to_many_topics, &g);
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), clear_topics_fixture, &g);
    loops_stop(ls);
    assert_true(g.is_right);
    assert_true(g.took < 5 * SECOND);
}

/* Returns whether each subscription is stored at its index and is found. */
static bool subscriptions_are_consistent(const struct session_subscriptions *own, const bool *taken,
                                         snowflake most)
{
    uint32_t count = 0;

    for (snowflake id = 1; id <= most; id++) {
        enum audience_kind kind = id % 3 ? AUDIENCE_GUILD : AUDIENCE_USER;
        const struct topic_subscription *seat = session_subscription_find(own, kind, id);

        if (taken[id] != (seat != NULL) || session_subscription_find(own, AUDIENCE_CHANNEL, id))
            return false;
        if (seat && (own->items[seat->session_index] != seat || seat->topic->id != id))
            return false;
        count += seat != NULL;
    }
    return count == own->count && (own->map != NULL) <= (count != 0);
}

/* Subscribes and unsubscribes in random order, with few and with many topics. */
static void subscribe_and_unsubscribe_randomly(struct loop *l, void *arg)
{
    enum { MOST = 40, ROUNDS = 4000 };
    struct gallery *g = arg;
    bool taken[MOST + 1] = { false };
    unsigned chance = 1;

    (void)l;
    g->is_right = true;
    for (int i = 0; i < ROUNDS && g->is_right; i++) {
        chance = chance * 1103515245 + 12345;
        snowflake id = 1 + (chance >> 16) % MOST;
        enum audience_kind kind = id % 3 ? AUDIENCE_GUILD : AUDIENCE_USER;
        /* Phases of mostly subscribing alternate with phases of mostly unsubscribing. */
        bool takes = (chance >> 8) % 8 < (i / 300 % 2 ? 2u : 6u);
        struct topic_subscription *seat = session_subscription_find(&g->seats, kind, id);

        if (takes)
            session_subscription_add(&g->seats, kind, id);
        else if (seat)
            session_subscription_remove(&g->seats, seat);
        taken[id] = takes;
        g->is_right = subscriptions_are_consistent(&g->seats, taken, MOST);
    }
    session_subscriptions_clear(&g->seats);
    g->is_right = g->is_right && !g->seats.map && !g->seats.items;
}

static void random_subscriptions_stay_consistent(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct gallery g = { 0 };

    (void)state;
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), init_topics_fixture, &g);
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), subscribe_and_unsubscribe_randomly, &g);
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), clear_topics_fixture, &g);
    loops_stop(ls);
    assert_true(g.is_right);
}

/* Three sessions subscribe; all or some have received an event; one unsubscribes. */
static void unsubscribe_session_during_delivery(struct loop *l, void *arg)
{
    struct gallery *g = arg;

    (void)l;
    g->is_right = true;
    for (uint32_t delivered_to = 0; delivered_to <= 3; delivered_to++)
        for (int gone = 0; gone < 3; gone++) {
            struct session_subscriptions own[3];

            for (int i = 0; i < 3; i++) {
                own[i] = (struct session_subscriptions){ .user_id = 1, .topics = &g->topics };
                session_subscription_add(&own[i], AUDIENCE_GUILD, 7);
            }
            struct topic *t = topic_find(&g->topics, AUDIENCE_GUILD, 7);
            t->delivered_count = delivered_to;
            session_subscriptions_clear(&own[gone]);
            g->is_right = g->is_right && t->count == 2 &&
                          t->delivered_count == delivered_to - ((uint32_t)gone < delivered_to);
            for (uint32_t i = 0; i < t->count; i++)
                g->is_right = g->is_right && t->subscriptions[i]->index == i;
            for (int i = 0; i < 3; i++)
                session_subscriptions_clear(&own[i]);
        }
}

static void unsubscribing_during_delivery_does_not_move_other_sessions(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct gallery g = { 0 };

    (void)state;
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), init_topics_fixture, &g);
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), unsubscribe_session_during_delivery, &g);
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), clear_topics_fixture, &g);
    loops_stop(ls);
    assert_true(g.is_right);
}

/* --- views ---------------------------------------------------------------------------- */

static void count_loop_iteration(struct loop_iteration_callback *t)
{
    struct gallery *g = container_of(t, struct gallery, end);

    if (g->topics.old)
        g->turns++;
    else
        g->is_empty = true;
}

static void add_guild_views_of_many_guilds(struct loop *l, void *arg)
{
    struct gallery *g = arg;
    const struct list none = { 0 };

    (void)l;
    for (snowflake id = 1; id <= GUILDS; id++) {
        struct guild guild = { .id = id };
        struct guild_view *v = guild_view_new(&guild, &none);

        for (snowflake c = 1; c <= CHANNELS; c++)
            guild_view_set_channel(v, c, 0, NULL, 0);
        session_subscription_add(&g->seats, AUDIENCE_GUILD, id)->topic->view = v;
    }
}

static void unsubscribe_from_all_guilds(struct loop *l, void *arg)
{
    struct gallery *g = arg;

    session_subscriptions_clear(&g->seats);
    g->end.run = count_loop_iteration;
    loop_add_iteration_callback(l, &g->end);
}

static void stop_counting_loop_iterations(struct loop *l, void *arg)
{
    (void)l;
    loop_remove_iteration_callback(&((struct gallery *)arg)->end);
}

static void views_of_a_disconnected_bot_are_freed_over_several_iterations(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct gallery g = { 0 };
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;

    (void)state;
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), init_topics_fixture, &g);
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), add_guild_views_of_many_guilds, &g);
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), unsubscribe_from_all_guilds, &g);
    while (!g.is_empty)
        assert_true(clock_monotonic_ns() < until);
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), stop_counting_loop_iterations, &g);
    assert_true(g.turns >= 2);
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), clear_topics_fixture, &g);
    loops_stop(ls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subscribing_to_100000_topics_is_fast),
        cmocka_unit_test(random_subscriptions_stay_consistent),
        cmocka_unit_test(unsubscribing_during_delivery_does_not_move_other_sessions),
        cmocka_unit_test(views_of_a_disconnected_bot_are_freed_over_several_iterations),
    };

    return cmocka_run_group_tests_name("gateway/topics", tests, NULL, NULL);
}
