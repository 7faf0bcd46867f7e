/* gateway_delivery.c - which events a session is not told, whatever its seat. */
#include "unit.h"

#include "gateway/fanout/delivery.h"
#include "gateway/sessions/session.h"

static bool receives(const struct session *s, enum event event, uint64_t number)
{
    struct news *n = news_new(event, to_guild(1), STR("{}"));

    n->number = number;
    struct delivery d = delivery_of(NULL, n);
    bool is_told = delivery_receives(&d, s);
    news_unref(n);
    return is_told;
}

/* READY tells of presences as they are in memory, which is ahead of the line of events: one that
 * still stands there would undo what READY said. */
static void presences_from_before_ready_are_not_told_after_it(void **state)
{
    struct session s = { .caller.id = 7, .presences = 5 };

    (void)state;
    assert_false(receives(&s, EVENT_PRESENCE_UPDATE, 4));
    assert_false(receives(&s, EVENT_PRESENCE_UPDATE, 5));
    assert_true(receives(&s, EVENT_PRESENCE_UPDATE, 6));
    assert_true(receives(&s, EVENT_MESSAGE_CREATE, 4));
}

static void what_another_loop_has_told_is_not_told_again(void **state)
{
    struct session s = { .caller.id = 7, .resume.seen = 5 };

    (void)state;
    assert_false(receives(&s, EVENT_MESSAGE_CREATE, 5));
    assert_true(receives(&s, EVENT_MESSAGE_CREATE, 6));
    assert_true(receives(&s, EVENT_MESSAGE_CREATE, 0)); /* has no place in the line */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presences_from_before_ready_are_not_told_after_it),
        cmocka_unit_test(what_another_loop_has_told_is_not_told_again),
    };

    return cmocka_run_group_tests_name("gateway/delivery", tests, NULL, NULL);
}
