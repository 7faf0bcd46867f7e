/* clocks.c - whose clock is wrong: this server's, or the database's. */
#include "unit/unit.h"

#include "cluster/clocks.h"

static const int64_t MS = 1000000, BEAT = 1000;

/* What a server sees that looks every second, of a database whose clock is `ahead`. */
struct scene {
    struct clock_watch watch;
    int64_t now; /* ms */
};

static struct clock_look look_at(struct scene *s, int64_t ahead)
{
    s->now += BEAT;
    return (struct clock_look){ s->now * MS, (s->now + 1) * MS, 1700000000000 + s->now + ahead };
}

static bool beat(struct scene *s, int64_t ahead, bool agrees)
{
    struct clock_look look = look_at(s, ahead);
    bool jumped = clocks_jumped(&s->watch, &look);

    clocks_note(&s->watch, &look, agrees);
    return jumped;
}

static void who_agrees_with_the_database_is_right(void **state)
{
    const int64_t others[] = { 5000, 5000, 5000 };

    (void)state;
    assert_true(clocks_agree(0, NULL, 0));
    assert_true(clocks_agree(OFFSET_MS, others, 3));
    assert_true(clocks_agree(-OFFSET_MS, others, 3));
}

static void one_of_several_that_is_alone_with_its_time_is_wrong(void **state)
{
    const int64_t others[] = { 0, 10, -10 };

    (void)state;
    assert_false(clocks_agree(5000, NULL, 0));
    assert_false(clocks_agree(OFFSET_MS + 1, others, 1));
    assert_false(clocks_agree(-5000, others, 2));
    assert_false(clocks_agree(3600000, others, 3));
}

static void a_database_that_is_alone_with_its_time_is_wrong(void **state)
{
    const int64_t others[] = { 5000, 4900, 5100, 0 };

    (void)state;
    assert_true(clocks_agree(5000, others, 1));
    assert_true(clocks_agree(5000, others, 3));
    assert_true(clocks_agree(5000, others, 4));
    /* Two and two: nobody knows, and the database's counts. */
    assert_false(clocks_agree(0 + 5000, others + 2, 2));
    assert_false(clocks_agree(-5000, others, 3));
}

static void one_look_makes_nobody_unready(void **state)
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
    for (int i = 0; i < OFF_AFTER_MS / BEAT; i++)
        beat(&s, 0, false);
    assert_true(s.watch.is_off);
    beat(&s, 0, true);
    assert_false(s.watch.is_off);
}

static void who_begins_with_a_wrong_clock_is_not_ready_from_the_first_look_on(void **state)
{
    struct scene s = { 0 };

    (void)state;
    beat(&s, 5000, false);
    assert_true(s.watch.is_off);
    beat(&s, 5000, true);
    assert_false(s.watch.is_off);
}

static void a_clock_that_was_set_is_noticed(void **state)
{
    struct scene s = { 0 };

    (void)state;
    assert_false(beat(&s, 7000, true));
    assert_false(beat(&s, 7000, true));
    assert_true(beat(&s, 0, true));
    assert_false(beat(&s, 0, true));
    assert_true(beat(&s, JUMP_MS + 10, true));
    assert_false(beat(&s, JUMP_MS, true));
}

/* A look that took long says less: the clock was read somewhere in it. */
static void a_slow_look_is_no_jump(void **state)
{
    struct scene s = { 0 };

    (void)state;
    beat(&s, 0, true);
    struct clock_look look = look_at(&s, 4000);
    look.after += 4000 * MS;
    assert_false(clocks_jumped(&s.watch, &look));
    look.database_ms += JUMP_MS + 10;
    assert_true(clocks_jumped(&s.watch, &look));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_agrees_with_the_database_is_right),
        cmocka_unit_test(one_of_several_that_is_alone_with_its_time_is_wrong),
        cmocka_unit_test(a_database_that_is_alone_with_its_time_is_wrong),
        cmocka_unit_test(one_look_makes_nobody_unready),
        cmocka_unit_test(who_begins_with_a_wrong_clock_is_not_ready_from_the_first_look_on),
        cmocka_unit_test(a_clock_that_was_set_is_noticed),
        cmocka_unit_test(a_slow_look_is_no_jump),
    };

    return cmocka_run_group_tests_name("cluster/clocks", tests, NULL, NULL);
}
