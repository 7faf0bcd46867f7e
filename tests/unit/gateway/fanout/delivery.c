/* delivery.c - tests which events a session does not receive. */
#include "unit/unit.h"

#include "gateway/fanout/delivery.h"
#include "gateway/sessions/session.h"

static bool receives(const struct session *s, enum event event, uint64_t number)
{
    struct gateway_event *n = gateway_event_new(event, audience_of_guild(1), STR("{}"));

    n->number = number;
    struct event_delivery d = event_delivery_new(NULL, n);
    bool is_received = session_receives_event(&d, s);
    gateway_event_unref(n);
    return is_received;
}

/* READY contains the current presences, which are newer than queued presence events: a queued
 * event would undo them. */
static void presence_updates_older_than_ready_are_not_delivered(void **state)
{
    struct session s = { .caller.id = 7, .presences = 5 };

    (void)state;
    assert_false(receives(&s, EVENT_PRESENCE_UPDATE, 4));
    assert_false(receives(&s, EVENT_PRESENCE_UPDATE, 5));
    assert_true(receives(&s, EVENT_PRESENCE_UPDATE, 6));
    assert_true(receives(&s, EVENT_MESSAGE_CREATE, 4));
}

static void events_already_delivered_by_another_loop_are_skipped(void **state)
{
    struct session s = { .caller.id = 7, .resume.delivered_elsewhere = 5 };

    (void)state;
    assert_false(receives(&s, EVENT_MESSAGE_CREATE, 5));
    assert_true(receives(&s, EVENT_MESSAGE_CREATE, 6));
    assert_true(receives(&s, EVENT_MESSAGE_CREATE, 0)); /* has no event number */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presence_updates_older_than_ready_are_not_delivered),
        cmocka_unit_test(events_already_delivered_by_another_loop_are_skipped),
    };

    return cmocka_run_group_tests_name("gateway/delivery", tests, NULL, NULL);
}
