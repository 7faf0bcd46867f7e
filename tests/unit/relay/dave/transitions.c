/* transitions.c - tests transitions and versions of DAVE rooms. */
#include "unit/unit.h"

#include <stdlib.h>

#include "support/dave_hall.h"

/* --- transitions ------------------------------------------------------------------------ */

static void transition_ends_after_2_seconds_without_an_answer(void **state)
{
    (void)state;
    dave_client_range_join(1, 2);
    dave_hall_settle(100);
    dave_hall.clients[2].slow = true;
    dave_client_join(3, 1);
    dave_hall_deliver();
    assert_true(dave_room_is_in_transition(dave_hall.room));
    dave_room_handle_transition_ready(dave_hall.room, 2, dave_hall.clients[2].transition + 1,
                                      dave_hall.now); /* another id */
    dave_room_handle_transition_ready(dave_hall.room, 9, dave_hall.clients[2].transition,
                                      dave_hall.now); /* nobody */
    dave_hall_settle(DAVE_TRANSITION_MS - 1);
    assert_int_equal(dave_hall.clients[1].executed, 0);
    dave_hall_settle(1);
    assert_int_equal(dave_hall.clients[1].executed, dave_hall.clients[1].transition);
    expect_dave_group();
}

static void transition_does_not_wait_for_a_member_that_left(void **state)
{
    (void)state;
    dave_client_range_join(1, 3);
    dave_hall_settle(100);
    dave_hall.clients[2].slow = true;
    dave_client_join(4, 1);
    dave_hall_deliver();
    dave_client_leave(2);
    dave_hall_settle(1);
    expect_dave_group();
}

static void group_changes_wait_for_the_running_transition(void **state)
{
    (void)state;
    dave_client_range_join(1, 3);
    dave_hall_settle(100);
    dave_hall.clients[2].slow = true;
    dave_client_join(4, 1);
    dave_hall_deliver();
    dave_hall_forget_received();
    dave_client_join(5, 1);
    dave_client_leave(3);
    dave_hall_settle(DAVE_TRANSITION_MS - 1);
    expect_dave_received(1, DAVE_PROPOSALS, 0);
    dave_hall.clients[2].slow = false;
    dave_hall_settle(1);
    expect_dave_received(1, DAVE_PROPOSALS, 1);
    expect_dave_group();
}

static void dave_transition_ids_wrap_around_to_1(void **state)
{
    (void)state;
    dave_client_range_join(1, 2);
    dave_hall_settle(10);
    for (unsigned i = 0; i < 70000 && dave_hall.clients[1].transition != UINT16_MAX; i++) {
        dave_client_enter(3, 0); /* a downgrade and an upgrade whose packages never come */
        while (dave_hall.first < dave_hall.count) {
            struct dave_queued *q = &dave_hall.queue[dave_hall.first++];

            if (q->message.op == DAVE_PREPARE_TRANSITION)
                dave_hall.clients[q->user].transition = q->message.transition;
            free((void *)(uintptr_t)q->message.payload.p);
        }
        dave_hall.first = dave_hall.count = 0;
        dave_client_leave(3);
    }
    assert_int_equal(dave_hall.clients[1].transition, UINT16_MAX);
    dave_hall_deliver();
    dave_client_enter(3, 0);
    dave_hall_deliver();
    assert_int_equal(dave_hall.clients[1].transition, 1);
}

/* --- versions --------------------------------------------------------------------------- */

static void client_without_dave_downgrades_the_room(void **state)
{
    (void)state;
    dave_client_range_join(1, 2);
    dave_hall_settle(100);
    dave_hall_forget_received();
    dave_hall.clients[2].slow = true;
    assert_int_equal(dave_client_join(9, 0)->version, 0);
    assert_int_equal(dave_room_get_protocol_version(dave_hall.room), 0);
    assert_true(dave_room_is_in_transition(dave_hall.room));
    dave_hall_settle(DAVE_TRANSITION_MS - 1);
    expect_dave_received(1, DAVE_PREPARE_TRANSITION, 1);
    expect_dave_received(1, DAVE_EXECUTE_TRANSITION, 0);
    dave_hall_settle(1);
    assert_true(dave_hall.clients[1].version == 0 && dave_hall.clients[2].version == 0);
    for (unsigned op = 0; op < DAVE_OPS; op++)
        expect_dave_received(9, op, 0);
    assert_int_equal(dave_hall.counters.downgrades, 1);
    assert_int_equal(dave_room_handle_key_package(dave_hall.room, 1, STR("x"), dave_hall.now),
                     DAVE_OUTDATED);
    assert_int_equal(dave_room_handle_commit(dave_hall.room, 1, STR("x"), dave_hall.now),
                     DAVE_OUTDATED);
    assert_int_equal(dave_client_join(3, 1)->version, 0); /* as long as 9 is there */
    expect_dave_received(3, DAVE_EXTERNAL_SENDER, 0);
    assert_int_equal(dave_hall.counters.downgrades, 1);
}

static void encryption_begins_when_the_last_plain_client_leaves(void **state)
{
    (void)state;
    dave_client_join(8, 0);
    dave_client_join(9, 0);
    dave_client_range_join(1, 2);
    dave_client_leave(8);
    dave_hall_settle(100);
    assert_int_equal(dave_room_get_protocol_version(dave_hall.room), 0);
    dave_client_leave(9);
    assert_int_equal(dave_room_get_protocol_version(dave_hall.room), 1);
    dave_hall_settle(100);
    expect_dave_group();
    for (snowflake i = 1; i <= 2; i++) {
        expect_dave_received(i, DAVE_PREPARE_EPOCH, 1);
        expect_dave_received(i, DAVE_EXTERNAL_SENDER, 1);
        expect_dave_received(i, DAVE_PREPARE_TRANSITION, 0);
        assert_int_equal(dave_hall.clients[i].executed, 1); /* media flows */
        assert_int_equal(dave_hall.clients[i].version, 1);
    }
    assert_int_equal(dave_hall.counters.downgrades, 0);
}

static void dave_upgrade_ends_a_running_downgrade(void **state)
{
    (void)state;
    dave_client_range_join(1, 3);
    dave_hall_settle(100);
    for (snowflake i = 1; i <= 3; i++)
        dave_hall.clients[i].slow = true;
    dave_hall_forget_received();
    dave_client_join(9, 0);
    dave_hall_deliver();
    dave_client_leave(9);
    dave_hall_deliver();
    expect_dave_received(1, DAVE_EXECUTE_TRANSITION, 1);
    for (snowflake i = 1; i <= 3; i++)
        dave_hall.clients[i].slow = false;
    dave_hall_settle(DAVE_TRANSITION_MS);
    expect_dave_group();
}

static void key_package_sent_during_a_downgrade_is_used(void **state)
{
    (void)state;
    dave_client_enter(9, 0);
    dave_client_range_join(1, 2);
    dave_client_leave(9); /* opcode 24 requests packages */
    dave_client_enter(9, 0);
    dave_hall_settle(100); /* the packages arrive at version 0 */
    dave_client_leave(9);
    dave_hall_settle(DAVE_TRANSITION_MS);
    expect_dave_group();
}

static void late_participant_gets_the_dave_version_of_the_room(void **state)
{
    (void)state;
    dave_client_range_join(1, 2);
    dave_hall_settle(100);
    struct dave_client *c =
        &dave_hall.clients[3]; /* an observer that was described with version 0 */
    c->here = true;
    buf_init(&c->package, MLS_KEY_PACKAGE);
    assert_int_equal(dave_room_join(dave_hall.room, 3, 1, dave_hall.now), 1);
    dave_room_on_session_description_sent(dave_hall.room, 3, 0, dave_hall.now);
    assert_int_equal(dave_hall.queue[dave_hall.first].message.op, DAVE_PREPARE_EPOCH);
    assert_int_equal(dave_hall.queue[dave_hall.first + 1].message.op, DAVE_EXTERNAL_SENDER);
    uint64_t epoch = dave_hall.epoch;
    dave_hall_deliver_one();
    dave_hall.established = true; /* opcode 24 was for this client alone */
    dave_hall.epoch = epoch;
    dave_hall_settle(100);
    expect_dave_group();

    dave_client_enter(9, 0);
    c = &dave_hall.clients[4];
    c->here = true;
    dave_room_join(dave_hall.room, 4, 1, dave_hall.now);
    dave_room_on_session_description_sent(dave_hall.room, 4, 1,
                                          dave_hall.now); /* the room was downgraded meanwhile */
    dave_hall_settle(100);
    expect_dave_received(4, DAVE_PREPARE_TRANSITION, 1);
    assert_int_equal(c->transition, 0);
}

static void stage_channel_has_no_dave_encryption(void **state)
{
    (void)state;
    dave_hall_close(NULL);
    dave_hall_open_with(0);
    dave_client_range_join(1, 3);
    assert_int_equal(dave_room_get_protocol_version(dave_hall.room), 0);
    dave_client_leave(2);
    dave_hall_settle(5000);
    assert_int_equal(dave_hall.clients[1].received[DAVE_EXTERNAL_SENDER], 0);
    assert_int_equal(dave_hall.counters.transitions, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DAVE_TEST(transition_ends_after_2_seconds_without_an_answer),
        DAVE_TEST(transition_does_not_wait_for_a_member_that_left),
        DAVE_TEST(group_changes_wait_for_the_running_transition),
        DAVE_TEST(dave_transition_ids_wrap_around_to_1),
        DAVE_TEST(client_without_dave_downgrades_the_room),
        DAVE_TEST(encryption_begins_when_the_last_plain_client_leaves),
        DAVE_TEST(dave_upgrade_ends_a_running_downgrade),
        DAVE_TEST(key_package_sent_during_a_downgrade_is_used),
        DAVE_TEST(late_participant_gets_the_dave_version_of_the_room),
        DAVE_TEST(stage_channel_has_no_dave_encryption),
    };

    return cmocka_run_group_tests_name("relay/dave/transitions", tests, NULL, NULL);
}
