/* group.c - tests the members, key packages and size of DAVE rooms. */
#include "unit/unit.h"

#include "base/mem.h"
#include "support/dave_hall.h"

/* --- joining and leaving ---------------------------------------------------------------- */

static void two_members_form_a_group_without_a_transition(void **state)
{
    (void)state;
    dave_client_join(1, 1);
    dave_hall_settle(100);
    expect_dave_received(1, DAVE_EXTERNAL_SENDER, 1);
    expect_dave_received(1, DAVE_PROPOSALS, 0);
    assert_int_equal(dave_room_next_timeout(dave_hall.room), INT64_MAX);

    dave_client_join(2, 1);
    dave_hall_settle(100);
    expect_dave_group();
    for (snowflake i = 1; i <= 2; i++) {
        expect_dave_received(i, DAVE_PROPOSALS, 1);
        expect_dave_received(i, DAVE_ANNOUNCE_COMMIT, i == 1);
        expect_dave_received(i, DAVE_WELCOME, i == 2);
        expect_dave_received(i, DAVE_EXECUTE_TRANSITION, 0);
        assert_int_equal(dave_hall.clients[i].transition, 0);
    }
    assert_int_equal(dave_hall.counters.epochs, 1);
    assert_int_equal(dave_hall.counters.transitions, 0);
    assert_int_equal(dave_hall.counters.refused_commits, 0);
}

static void third_dave_member_joins_with_a_transition(void **state)
{
    (void)state;
    dave_client_range_join(1, 2);
    dave_hall_settle(100);
    dave_hall_forget_received();
    dave_client_join(3, 1);
    dave_hall_settle(100);
    expect_dave_group();
    for (snowflake i = 1; i <= 3; i++) {
        expect_dave_received(i, DAVE_PROPOSALS, i < 3);
        expect_dave_received(i, DAVE_ANNOUNCE_COMMIT, i < 3);
        expect_dave_received(i, DAVE_WELCOME, i == 3);
        expect_dave_received(i, DAVE_EXECUTE_TRANSITION, 1);
        expect_dave_received(i, DAVE_EXTERNAL_SENDER, i == 3);
    }
    assert_int_equal(dave_hall.counters.transitions, 1);
}

static void joins_during_a_commit_round_wait_for_the_next(void **state)
{
    (void)state;
    dave_client_range_join(1, 2);
    dave_hall_settle(100);
    dave_hall_forget_received();
    dave_client_range_join(3, 5); /* 4 and 5 come while the Add of 3 is outstanding */
    dave_hall_settle(100);
    expect_dave_group();
    expect_dave_received(1, DAVE_PROPOSALS, 2);
    expect_dave_received(3, DAVE_PROPOSALS, 1);
    assert_int_equal(dave_hall.counters.epochs, 3);
}

static void lowest_free_dave_leaf_is_reused_first(void **state)
{
    (void)state;
    dave_client_range_join(1, 6);
    dave_hall_settle(100);
    dave_client_leave(dave_hall.leaves[1]);
    dave_client_leave(dave_hall.leaves[3]);
    dave_hall_settle(100);
    expect_dave_group();
    for (snowflake i = 1; i <= 6; i++)
        dave_hall.clients[i].reverses = dave_hall.clients[i].uses_path = true;
    dave_client_range_join(7, 9);
    dave_hall_settle(100);
    expect_dave_group();
    dave_client_leave(
        dave_hall.leaves[0]); /* only a commit with the right leaf index is accepted */
    dave_hall_settle(100);
    expect_dave_group();
    assert_int_equal(dave_hall.counters.refused_commits, 0);
}

static void member_that_leaves_and_returns_at_once_is_replaced(void **state)
{
    (void)state;
    dave_client_range_join(1, 3);
    dave_hall_settle(100);
    uint64_t epochs = dave_hall.counters.epochs;
    dave_hall.clients[1].silent = dave_hall.clients[3].silent = true;
    dave_client_leave(2);
    dave_client_join(2, 1);
    dave_hall.clients[1].silent = dave_hall.clients[3].silent = false;
    dave_hall_settle(100);
    expect_dave_group();
    /* The Remove was sent when it left, the Add follows. */
    assert_int_equal(dave_hall.counters.epochs - epochs, 2);
}

static void member_that_leaves_between_add_and_commit_is_removed(void **state)
{
    (void)state;
    dave_client_range_join(1, 2);
    dave_hall_settle(100);
    dave_hall.clients[1].silent = dave_hall.clients[2].silent = true;
    dave_client_join(3, 1);
    dave_hall_deliver();
    dave_client_leave(3);
    dave_hall.clients[1].silent = dave_hall.clients[2].silent = false;
    assert_int_equal(dave_client_commit(&dave_hall.clients[1]), DAVE_ACCEPTED);
    assert_int_equal(dave_client_commit(&dave_hall.clients[2]), DAVE_OUTDATED);
    assert_int_equal(dave_leaf_of(3), 2);
    dave_hall_settle(100);
    expect_dave_group();
    assert_int_equal(dave_hall.counters.epochs, 3);
    assert_int_equal(dave_hall.counters.refused_commits, 0);
}

static void member_that_leaves_before_the_first_commit_is_removed(void **state)
{
    (void)state;
    for (snowflake i = 1; i <= 3; i++)
        dave_client_join(i, 1)->silent = true;
    dave_hall_deliver();
    dave_client_leave(2);
    dave_client_join(4, 1)->silent = true; /* does not receive the Add of 2 */
    dave_hall_deliver();
    assert_int_equal(dave_hall.clients[4].proposal_count, 2);
    assert_int_equal(dave_client_commit(&dave_hall.clients[4]), DAVE_OUTDATED);
    for (snowflake i = 1; i <= 4; i++)
        dave_hall.clients[i].silent = false;
    assert_int_equal(dave_client_commit(&dave_hall.clients[3]), DAVE_ACCEPTED);
    dave_hall_settle(100);
    expect_dave_group();
    assert_int_equal(dave_hall.counters.resets, 0);
}

static void member_that_returns_before_the_first_commit_causes_a_new_group(void **state)
{
    (void)state;
    for (snowflake i = 1; i <= 3; i++)
        dave_client_join(i, 1)->silent = true;
    dave_hall_deliver();
    dave_client_leave(2);
    dave_client_enter(2, 1);
    for (snowflake i = 1; i <= 3; i++)
        dave_hall.clients[i].silent = false;
    assert_int_equal(dave_client_send_package(&dave_hall.clients[2]), DAVE_OUTDATED);
    dave_hall_settle(100);
    expect_dave_group();
    expect_dave_received(1, DAVE_PREPARE_EPOCH, 1);
}

static void new_key_package_revokes_the_add_proposal(void **state)
{
    (void)state;
    for (snowflake i = 1; i <= 3; i++)
        dave_client_join(i, 1)->silent = true;
    dave_hall_deliver();
    dave_hall_forget_received();
    for (snowflake i = 1; i <= 3; i++)
        dave_hall.clients[i].silent = false;
    assert_int_equal(dave_client_send_package(&dave_hall.clients[2]), DAVE_ACCEPTED);
    dave_hall_settle(100);
    expect_dave_group();
    expect_dave_received(1, DAVE_PROPOSALS, 2);
    expect_dave_received(2, DAVE_PROPOSALS, 0); /* the others commit */
    assert_int_equal(dave_hall.counters.epochs, 1);
}

static void key_package_replaced_during_a_round_is_used_in_the_next(void **state)
{
    (void)state;
    dave_client_range_join(1, 2);
    dave_hall_settle(100);
    dave_hall.clients[1].silent = dave_hall.clients[2].silent = true;
    dave_client_join(3, 1);
    dave_hall_deliver();
    dave_client_send_package(&dave_hall.clients[3]);
    dave_hall.clients[1].silent = dave_hall.clients[2].silent = false;
    assert_int_equal(dave_client_commit(&dave_hall.clients[2]), DAVE_ACCEPTED);
    dave_hall_settle(100);
    expect_dave_group();
    expect_dave_received(3, DAVE_WELCOME, 1);
}

static void joining_dave_twice_replaces_the_participant(void **state)
{
    (void)state;
    dave_client_range_join(1, 3);
    dave_hall_settle(100);
    dave_client_join(2, 1);
    dave_hall_settle(100);
    expect_dave_group();
}

/* --- sole members and resets ------------------------------------------------------------ */

static void single_remaining_member_starts_a_new_dave_group(void **state)
{
    (void)state;
    dave_client_range_join(1, 3);
    dave_hall_settle(100);
    dave_hall_forget_received();
    dave_client_leave(1);
    dave_client_leave(3);
    assert_int_equal(dave_hall.queue[dave_hall.count - 3].message.op, DAVE_PREPARE_EPOCH);
    assert_int_equal(dave_hall.queue[dave_hall.count - 2].message.op, DAVE_PREPARE_TRANSITION);
    assert_int_equal(dave_hall.queue[dave_hall.count - 2].message.transition, 0);
    assert_int_equal(dave_hall.queue[dave_hall.count - 1].message.op, DAVE_EXTERNAL_SENDER);
    dave_hall_settle(100);
    expect_dave_received(2, DAVE_PREPARE_EPOCH, 1);
    assert_int_equal(dave_room_next_timeout(dave_hall.room), INT64_MAX);

    uint64_t transitions = dave_hall.counters.transitions;
    dave_client_join(4, 1);
    dave_hall_settle(100);
    expect_dave_group();
    assert_int_equal(dave_hall.counters.transitions,
                     transitions); /* nobody could have been listening */
    dave_client_leave(2);
    dave_client_leave(4);
    assert_int_equal(dave_room_get_protocol_version(dave_hall.room), 0);
    dave_hall_settle(5000);
    dave_client_range_join(1, 2);
    dave_hall_settle(100);
    expect_dave_group();
}

static void dave_group_restarts_for_a_single_remaining_member(void **state)
{
    (void)state;
    dave_client_join(1, 1)->silent = true;
    dave_client_join(2, 1)->silent = true;
    dave_hall_deliver();
    dave_client_leave(2);
    dave_hall.clients[1].silent = false;
    dave_hall_settle(100);
    expect_dave_received(1, DAVE_PREPARE_EPOCH, 1);
    dave_client_join(3, 1);
    dave_hall_settle(100);
    expect_dave_group();
}

static void dave_group_is_reset_if_nobody_commits(void **state)
{
    (void)state;
    dave_client_range_join(1, 2);
    dave_hall_settle(100);
    dave_hall.clients[1].silent = dave_hall.clients[2].silent = true;
    dave_client_join(3, 1)->silent = true;
    dave_hall_settle(DAVE_COMMIT_MS + DAVE_COMMIT_MEMBER_MS - 1);
    assert_int_equal(dave_hall.counters.resets, 0);
    dave_hall_settle(1);
    assert_int_equal(dave_hall.counters.resets, 1);
    for (snowflake i = 1; i <= 3; i++) {
        expect_dave_received(i, DAVE_PREPARE_EPOCH, 1);
        expect_dave_received(i, DAVE_PREPARE_TRANSITION, 0);
    }
    /* The second wait is twice as long. */
    dave_hall_settle(2 * (DAVE_COMMIT_MS + 3 * DAVE_COMMIT_MEMBER_MS) - 1);
    assert_int_equal(dave_hall.counters.resets, 1);
    for (snowflake i = 1; i <= 3; i++)
        dave_hall.clients[i].silent = false;
    dave_hall_settle(1);
    assert_int_equal(dave_hall.counters.resets, 2);
    dave_hall_settle(100);
    expect_dave_group();
    assert_true(dave_hall.clients[1].executed > 0); /* media flows: not immediately */
}

static void time_to_wait_for_a_commit_is_limited(void **state)
{
    (void)state;
    dave_client_join(1, 1)->silent = true;
    dave_client_join(2, 1)->silent = true;
    dave_hall_deliver();
    for (int i = 0; i < 20; i++) {
        assert_true(dave_room_next_timeout(dave_hall.room) - dave_hall.now <=
                    (int64_t)2100 << DAVE_COMMIT_DOUBLINGS);
        dave_hall_settle(dave_room_next_timeout(dave_hall.room) - dave_hall.now);
        assert_int_equal(dave_hall.counters.resets, i + 1);
    }
}

/* --- key packages ----------------------------------------------------------------------- */

static void key_packages_are_checked_and_limited(void **state)
{
    struct dave_client *c = dave_client_enter(1, 1);

    (void)state;
    assert_int_equal(dave_room_handle_key_package(dave_hall.room, 1, STR("x"), dave_hall.now),
                     DAVE_REFUSED);
    assert_int_equal(dave_room_handle_key_package(dave_hall.room, 2, STR("x"), dave_hall.now),
                     DAVE_OUTDATED);
    assert_int_equal(dave_hall.counters.refused_key_packages, 1);
    /* The first one was requested by opcode 25 and does not count. */
    for (int i = 0; i < DAVE_KEY_PACKAGES; i++)
        assert_int_equal(dave_client_send_package(c), DAVE_ACCEPTED);
    dave_hall.now += DAVE_KEY_PACKAGES_MS - 1;
    assert_int_equal(dave_client_send_package(c), DAVE_TOO_MANY);
    dave_hall.now++;
    assert_int_equal(dave_client_send_package(c), DAVE_ACCEPTED);
    assert_int_equal(dave_hall.counters.refused_key_packages, 2);
}

static void key_package_before_the_session_description_is_ignored(void **state)
{
    (void)state;
    dave_client_join(1, 1);
    dave_hall.clients[2].here = true;
    buf_init(&dave_hall.clients[2].package, MLS_KEY_PACKAGE);
    assert_int_equal(dave_room_join(dave_hall.room, 2, 1, dave_hall.now), 1);
    assert_int_equal(dave_client_send_package(&dave_hall.clients[2]), DAVE_OUTDATED);
    expect_dave_received(2, DAVE_EXTERNAL_SENDER, 0);
    dave_room_on_session_description_sent(dave_hall.room, 2, 1, dave_hall.now);
    dave_room_on_session_description_sent(dave_hall.room, 2, 1, dave_hall.now);
    dave_hall_settle(10);
    expect_dave_received(2, DAVE_EXTERNAL_SENDER, 1);
}

/* --- large rooms ------------------------------------------------------------------------ */

static void large_room_gets_one_message_of_proposals_per_second(void **state)
{
    (void)state;
    dave_client_range_join(1, 30);
    dave_hall_settle(3000);
    expect_dave_group();
    dave_hall.proposed_count = 0;
    for (snowflake i = 31; i <= 60; i++) {
        dave_client_join(i, 1);
        dave_hall_settle(100);
    }
    dave_hall_settle(2000);
    expect_dave_group();
    assert_in_range(dave_hall.proposed_count, 3, 5);
    for (size_t i = 1; i < dave_hall.proposed_count; i++)
        assert_true(dave_hall.proposed_at[i] - dave_hall.proposed_at[i - 1] >= DAVE_BATCH_MS);
}

static void calls_with_up_to_100_members_are_encrypted(void **state)
{
    (void)state;
    dave_client_range_join(1, 100);
    dave_hall_settle(9000);
    expect_dave_group();
    for (snowflake i = 10; i < 30; i++) {
        dave_client_leave(i);
        dave_client_join(i + 91, 1);
    }
    dave_hall_settle(9000);
    expect_dave_group();
    assert_int_equal(dave_hall.counters.refused_commits, 0);
    assert_int_equal(dave_hall.counters.resets, 0);

    assert_int_equal(dave_client_join(10, 1)->version, 0);
    assert_int_equal(dave_hall.counters.downgrades, 1);
    dave_hall_settle(5000);
    assert_int_equal(dave_hall.clients[1].version, 0);
    for (snowflake i = 30; i < 50; i++) { /* 100 to 81 */
        dave_client_leave(i);
        assert_int_equal(dave_room_get_protocol_version(dave_hall.room), 0);
    }
    dave_client_leave(50);
    assert_int_equal(dave_room_get_protocol_version(dave_hall.room), 1);
    dave_hall_settle(9000);
    expect_dave_group();
    assert_int_equal(dave_hall.clients[1].version, 1);
}

static void many_joins_and_leaves_before_the_first_commit_form_a_group(void **state)
{
    (void)state;
    dave_client_join(1, 1)->silent = true;
    for (int round = 0; round < 4; round++)
        for (snowflake i = 2; i < DAVE_CLIENTS; i++) {
            dave_client_join_any(i, 1);
            dave_hall.clients[i].silent = true;
            dave_hall_deliver();
            if (i > 3)
                dave_client_leave(i - 1);
        }
    for (size_t i = 0; i < DAVE_CLIENTS; i++)
        dave_hall.clients[i].silent = false;
    dave_hall_settle(600000);
    expect_dave_group();
}

/* Random events in random order; at the end all present clients form a group. */
static void run_random_joins_and_leaves(unsigned seed)
{
    enum { PEOPLE = 9, STEPS = 150 };

    for (int step = 0; step < STEPS; step++) {
        seed = seed * 1103515245 + 12345;
        unsigned choice = seed >> 16, user = 1 + choice / 16 % PEOPLE;
        struct dave_client *c = &dave_hall.clients[user];

        switch (choice % 8) {
        case 0:
        case 1:
            if (!c->here)
                dave_client_join_any(user, step % 17 ? 1 : 0);
            break;
        case 2:
            if (c->here)
                dave_client_leave(user);
            break;
        case 3:
            c->damaged = c->here;
            break;
        case 4:
            c->silent = !c->silent;
            break;
        case 5:
            c->reverses = c->uses_path = !c->reverses;
            c->slow = !c->slow;
            break;
        default:
            dave_hall_settle(choice / 16 % 700);
        }
        if (choice % 3 == 0 && dave_hall.first < dave_hall.count)
            dave_hall_deliver_one();
    }
    for (size_t i = 1; i <= PEOPLE; i++) {
        struct dave_client *c = &dave_hall.clients[i];

        c->silent = c->slow = c->damaged = false;
        if (!c->here || !c->version)
            dave_client_leave(i), dave_client_join_any(i, 1);
    }
    dave_hall_settle(600000);
    expect_dave_group();
    assert_int_equal(dave_hall.counters.refused_commits, 0);
}

static void random_joins_and_leaves_end_with_a_common_group(void **state)
{
    for (unsigned seed = 1; seed <= 40; seed++) {
        print_message("seed %u\n", seed);
        run_random_joins_and_leaves(seed);
        dave_hall_close(state);
        dave_hall_open(state);
    }
}

static void json_messages_have_the_documented_members(void **state)
{
    static const struct {
        struct dave_message message;
        const char *json;
    } cases[] = {
        { { .op = DAVE_PREPARE_TRANSITION, .version = 1, .transition = 10 },
          "{\"protocol_version\":1,\"transition_id\":10}" },
        { { .op = DAVE_EXECUTE_TRANSITION, .transition = 10 }, "{\"transition_id\":10}" },
        { { .op = DAVE_PREPARE_EPOCH, .version = 1, .epoch = 1 },
          "{\"protocol_version\":1,\"epoch\":1}" },
    };
    struct buf b;

    (void)state;
    buf_init(&b, 256);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        buf_reset(&b);
        assert_true(dave_message_is_json(&cases[i].message));
        dave_message_write_json(&cases[i].message, &b);
        assert_str(buf_as_str(&b), cases[i].json);
    }
    assert_false(dave_message_is_json(&(struct dave_message){ .op = DAVE_WELCOME }));
    buf_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DAVE_TEST(two_members_form_a_group_without_a_transition),
        DAVE_TEST(third_dave_member_joins_with_a_transition),
        DAVE_TEST(joins_during_a_commit_round_wait_for_the_next),
        DAVE_TEST(lowest_free_dave_leaf_is_reused_first),
        DAVE_TEST(member_that_leaves_and_returns_at_once_is_replaced),
        DAVE_TEST(member_that_leaves_between_add_and_commit_is_removed),
        DAVE_TEST(member_that_leaves_before_the_first_commit_is_removed),
        DAVE_TEST(member_that_returns_before_the_first_commit_causes_a_new_group),
        DAVE_TEST(new_key_package_revokes_the_add_proposal),
        DAVE_TEST(key_package_replaced_during_a_round_is_used_in_the_next),
        DAVE_TEST(joining_dave_twice_replaces_the_participant),
        DAVE_TEST(single_remaining_member_starts_a_new_dave_group),
        DAVE_TEST(dave_group_restarts_for_a_single_remaining_member),
        DAVE_TEST(dave_group_is_reset_if_nobody_commits),
        DAVE_TEST(time_to_wait_for_a_commit_is_limited),
        DAVE_TEST(key_packages_are_checked_and_limited),
        DAVE_TEST(key_package_before_the_session_description_is_ignored),
        DAVE_TEST(large_room_gets_one_message_of_proposals_per_second),
        DAVE_TEST(calls_with_up_to_100_members_are_encrypted),
        DAVE_TEST(many_joins_and_leaves_before_the_first_commit_form_a_group),
        DAVE_TEST(random_joins_and_leaves_end_with_a_common_group),
        DAVE_TEST(json_messages_have_the_documented_members),
    };

    return cmocka_run_group_tests_name("relay/dave/group", tests, NULL, NULL);
}
