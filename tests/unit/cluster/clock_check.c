/* clock_check.c - tests which clock is considered wrong: the node's or the database's. */
#include "unit/unit.h"

#include "cluster/clock_check.h"

static const int64_t MS = 1000000, BEAT = 1000;

/* State of a node that reads the clock of the database every second. */
struct scene {
    struct node_clock_check watch;
    int64_t now; /* ms */
};

static struct database_clock_sample make_clock_reading(struct scene *s, int64_t ahead)
{
    s->now += BEAT;
    return (struct database_clock_sample){ s->now * MS, (s->now + 1) * MS,
                                           1700000000000 + s->now + ahead };
}

static bool beat(struct scene *s, int64_t ahead, bool agrees)
{
    struct database_clock_sample read_step = make_clock_reading(s, ahead);
    bool jumped = database_clock_jumped(&s->watch, &read_step);

    node_clock_check_record_sample(&s->watch, &read_step, agrees);
    return jumped;
}

static void node_clock_is_right_if_it_agrees_with_the_database(void **state)
{
    const int64_t others[] = { 5000, 5000, 5000 };

    (void)state;
    assert_true(node_clock_is_correct(0, NULL, 0));
    assert_true(node_clock_is_correct(CLOCK_OFFSET_MAX_MS, others, 3));
    assert_true(node_clock_is_correct(-CLOCK_OFFSET_MAX_MS, others, 3));
}

static void node_clock_is_wrong_if_other_nodes_agree_with_the_database(void **state)
{
    const int64_t others[] = { 0, 10, -10 };

    (void)state;
    assert_false(node_clock_is_correct(5000, NULL, 0));
    assert_false(node_clock_is_correct(CLOCK_OFFSET_MAX_MS + 1, others, 1));
    assert_false(node_clock_is_correct(-5000, others, 2));
    assert_false(node_clock_is_correct(3600000, others, 3));
}

static void node_clock_is_right_if_most_nodes_disagree_with_the_database(void **state)
{
    const int64_t others[] = { 5000, 4900, 5100, 0 };

    (void)state;
    assert_true(node_clock_is_correct(5000, others, 1));
    assert_true(node_clock_is_correct(5000, others, 3));
    assert_true(node_clock_is_correct(5000, others, 4));
    /* With two against two nodes, the database's clock counts as right. */
    assert_false(node_clock_is_correct(0 + 5000, others + 2, 2));
    assert_false(node_clock_is_correct(-5000, others, 3));
}

static void single_clock_deviation_does_not_make_a_node_unready(void **state)
{
    struct scene s = { 0 };

    (void)state;
    beat(&s, 0, true);
    beat(&s, 5000, false);
    assert_false(s.watch.is_off);
    beat(&s, 5000, false);
    beat(&s, 5000, false);
    assert_false(s.watch.is_off);
    beat(&s, 5000, true);
    beat(&s, 0, false);
    assert_false(s.watch.is_off);
    for (int i = 0; i < CLOCK_WRONG_AFTER_MS / BEAT; i++)
        beat(&s, 0, false);
    assert_true(s.watch.is_off);
    beat(&s, 0, true);
    assert_false(s.watch.is_off);
}

static void node_that_starts_with_a_wrong_clock_is_unready_immediately(void **state)
{
    struct scene s = { 0 };

    (void)state;
    beat(&s, 5000, false);
    assert_true(s.watch.is_off);
    beat(&s, 5000, true);
    assert_false(s.watch.is_off);
}

static void jump_of_the_database_clock_is_detected(void **state)
{
    struct scene s = { 0 };

    (void)state;
    assert_false(beat(&s, 7000, true));
    assert_false(beat(&s, 7000, true));
    assert_true(beat(&s, 0, true));
    assert_false(beat(&s, 0, true));
    assert_true(beat(&s, CLOCK_JUMP_MS + 10, true));
    assert_false(beat(&s, CLOCK_JUMP_MS, true));
}

/* A slow reading is less precise: the clock was read at an unknown time within it. */
static void slow_clock_reading_is_not_a_jump(void **state)
{
    struct scene s = { 0 };

    (void)state;
    beat(&s, 0, true);
    struct database_clock_sample read_step = make_clock_reading(&s, 4000);
    read_step.after += 4000 * MS;
    assert_false(database_clock_jumped(&s.watch, &read_step));
    read_step.database_ms += CLOCK_JUMP_MS + 10;
    assert_true(database_clock_jumped(&s.watch, &read_step));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_clock_is_right_if_it_agrees_with_the_database),
        cmocka_unit_test(node_clock_is_wrong_if_other_nodes_agree_with_the_database),
        cmocka_unit_test(node_clock_is_right_if_most_nodes_disagree_with_the_database),
        cmocka_unit_test(single_clock_deviation_does_not_make_a_node_unready),
        cmocka_unit_test(node_that_starts_with_a_wrong_clock_is_unready_immediately),
        cmocka_unit_test(jump_of_the_database_clock_is_detected),
        cmocka_unit_test(slow_clock_reading_is_not_a_jump),
    };

    return cmocka_run_group_tests_name("cluster/clocks", tests, NULL, NULL);
}
