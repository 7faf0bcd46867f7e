/* retained_events.c - tests the list of recent events for sessions that move between loops. */
#include "unit/unit.h"

#include "gateway/resume/journal/retained_events.h"

static void add(struct retained_events *r, uint64_t number)
{
    struct gateway_event *n =
        gateway_event_new(EVENT_MESSAGE_DELETE, audience_of_guild(1), STR("{}"));

    n->number = number;
    retained_events_add(r, n);
    gateway_event_unref(n);
}

static void retained_event_indexes_continue_after_removal(void **state)
{
    (void)state;
    struct retained_events r = { 0 };

    assert_null(retained_event_at(&r, 0));
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(retained_events_end(&r), i);
        add(&r, 10 + i * 2);
        retained_events_drop_before(&r, i < 100 ? 0 : i - 100);
    }
    assert_null(retained_event_at(&r, 898));
    assert_int_equal(retained_event_at(&r, 899)->number, 10 + 899 * 2);
    assert_int_equal(retained_event_at(&r, 999)->number, 10 + 999 * 2);
    assert_null(retained_event_at(&r, 1000));
    assert_true(r.cap <= 256); /* trimmed events free their slots */
    retained_events_drop_before(&r, retained_events_end(&r));
    assert_int_equal(retained_events_end(&r), 1000);
    add(&r, 5000);
    assert_int_equal(retained_event_at(&r, 1000)->number, 5000);
    retained_events_clear(&r);
}

static void retained_events_after_a_number_are_found(void **state)
{
    (void)state;
    struct retained_events r = { 0 };

    for (uint64_t i = 0; i < 10; i++)
        add(&r, 10 + i * 2); /* 10, 12 … 28 */
    assert_int_equal(retained_events_find_after(&r, 0, 9), 0);
    assert_int_equal(retained_events_find_after(&r, 0, 10), 1);
    assert_int_equal(retained_events_find_after(&r, 0, 11), 1);
    assert_int_equal(retained_events_find_after(&r, 3, 11), 3); /* the session asked later */
    assert_int_equal(retained_events_find_after(&r, 0, 28), 10);
    retained_events_drop_before(&r, 4);
    assert_int_equal(retained_events_find_after(&r, 0, 9), 4);
    retained_events_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retained_event_indexes_continue_after_removal),
        cmocka_unit_test(retained_events_after_a_number_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
