/* recent.c - tests the list of recent events for sessions that move between loops. */
#include "unit/unit.h"

#include "gateway/resume/journal/recent.h"

static void add(struct recent_events *r, uint64_t number)
{
    struct news *n = news_new(EVENT_MESSAGE_DELETE, to_guild(1), STR("{}"));

    n->number = number;
    recent_add(r, n);
    news_unref(n);
}

static void recent_event_indexes_continue_after_trimming(void **state)
{
    (void)state;
    struct recent_events r = { 0 };

    assert_null(recent_at(&r, 0));
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(recent_end(&r), i);
        add(&r, 10 + i * 2);
        recent_trim(&r, i < 100 ? 0 : i - 100);
    }
    assert_null(recent_at(&r, 898));
    assert_int_equal(recent_at(&r, 899)->number, 10 + 899 * 2);
    assert_int_equal(recent_at(&r, 999)->number, 10 + 999 * 2);
    assert_null(recent_at(&r, 1000));
    assert_true(r.cap <= 256); /* trimmed events free their slots */
    recent_trim(&r, recent_end(&r));
    assert_int_equal(recent_end(&r), 1000);
    add(&r, 5000);
    assert_int_equal(recent_at(&r, 1000)->number, 5000);
    recent_clear(&r);
}

static void recent_events_after_a_number_are_found(void **state)
{
    (void)state;
    struct recent_events r = { 0 };

    for (uint64_t i = 0; i < 10; i++)
        add(&r, 10 + i * 2); /* 10, 12 … 28 */
    assert_int_equal(recent_after(&r, 0, 9), 0);
    assert_int_equal(recent_after(&r, 0, 10), 1);
    assert_int_equal(recent_after(&r, 0, 11), 1);
    assert_int_equal(recent_after(&r, 3, 11), 3); /* the session asked later */
    assert_int_equal(recent_after(&r, 0, 28), 10);
    recent_trim(&r, 4);
    assert_int_equal(recent_after(&r, 0, 9), 4);
    recent_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recent_event_indexes_continue_after_trimming),
        cmocka_unit_test(recent_events_after_a_number_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
