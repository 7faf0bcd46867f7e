/* commits.c - tests which commits of members a DAVE room accepts. */
#include "unit/unit.h"

#include "base/mem.h"
#include "support/dave_hall.h"

/* --- invalid commits -------------------------------------------------------------------- */

static void member_with_an_invalid_commit_is_added_again(void **state)
{
    (void)state;
    dave_client_range_join(1, 4);
    dave_hall_settle(100);
    uint64_t epochs = dave_hall.counters.epochs;
    dave_hall_forget_received();
    dave_hall.clients[3].damaged = true;
    dave_client_leave(4);
    dave_hall_settle(1000);
    expect_dave_group();
    expect_dave_received(3, DAVE_WELCOME, 1);
    expect_dave_received(1, DAVE_WELCOME, 0);
    assert_int_equal(dave_hall.counters.epochs - epochs, 2); /* Remove and Add in one commit */
    assert_int_equal(dave_hall.counters.resets, 0);
}

static void group_is_reset_if_all_members_report_a_bad_commit(void **state)
{
    (void)state;
    dave_client_range_join(1, 3);
    dave_hall_settle(100);
    for (snowflake i = 1; i <= 3; i++)
        dave_hall.clients[i].damaged = true;
    dave_client_join(4, 1)->damaged = true;
    dave_hall_settle(1000);
    expect_dave_group();
    assert_true(dave_hall.counters.resets >= 1);
}

static void member_with_reported_invalid_commits_may_not_commit(void **state)
{
    (void)state;
    dave_client_range_join(1, 4);
    dave_hall_settle(100);
    for (snowflake i = 1; i <= 4; i++)
        dave_hall.clients[i].silent = true;
    dave_client_leave(4);
    dave_hall_deliver();
    dave_hall.clients[2].damaged = dave_hall.clients[3].damaged = true;
    assert_int_equal(dave_client_commit(&dave_hall.clients[1]), DAVE_ACCEPTED);
    dave_hall_deliver(); /* both others report it: nobody is left that may commit */
    assert_int_equal(dave_hall.counters.resets, 1);
    assert_int_equal(dave_client_commit(&dave_hall.clients[1]), DAVE_OUTDATED);
    assert_int_equal(dave_client_commit(&dave_hall.clients[2]), DAVE_ACCEPTED);
    for (snowflake i = 1; i <= 4; i++)
        dave_hall.clients[i].silent = false;
    dave_hall_settle(1000);
    expect_dave_group();
}

/* --- refused commits -------------------------------------------------------------------- */

/* Three members, of which 3 has left; the commits of 1 and 2 are expected. 4 joins. */
static struct dave_client *round_open(void)
{
    dave_client_range_join(1, 3);
    dave_hall_settle(100);
    dave_hall.clients[1].silent = dave_hall.clients[2].silent = true;
    dave_hall.clients[1].uses_path = dave_hall.clients[2].uses_path = true;
    dave_hall.now += 10;
    dave_client_leave(3);
    dave_hall_deliver();
    assert_int_equal(dave_hall.clients[1].proposal_count, 1);
    return &dave_hall.clients[1];
}

static enum dave_message_result commit_try(struct dave_client *c, struct dave_commit commit,
                                           enum dave_fault f, struct str more)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    dave_write_commit(&b, &commit, f);
    buf_add_str(&b, more);
    enum dave_message_result v =
        dave_room_handle_commit(dave_hall.room, c->id.user, buf_as_str(&b), dave_hall.now);
    buf_clear(&b);
    return v;
}

static void commit_that_removes_a_member_is_checked(void **state)
{
    struct dave_client *c = round_open(), *other = &dave_hall.clients[2];
    unsigned char refs[2][MLS_HASH];
    char *big = mem_new(DAVE_COMMIT_BYTES);
    uint64_t refused = 0;

    (void)state;
    memcpy(refs[0], c->proposals[0].ref, MLS_HASH);
    memcpy(refs[1], c->proposals[0].ref, MLS_HASH);
    struct dave_commit right = { DAVE_GROUP, dave_hall.epoch, dave_leaf_of(1), refs, 1, &c->id },
                       wrong;
    struct dave_identity stolen = c->id;

    for (enum dave_fault f = FAULTS_OF_PACKAGES + 1; f < FAULTS_OF_COMMITS; f++, refused++)
        assert_int_equal(commit_try(c, right, f, STR("")), DAVE_REFUSED);
    assert_int_equal(commit_try(c, right, FAULT_LEAF_SIGNATURE, STR("")), DAVE_REFUSED);
    assert_int_equal(commit_try(c, right, FAULT_IDENTITY, STR("")), DAVE_REFUSED);
    assert_int_equal(commit_try(c, right, FAULT_NONE, STR("x")), DAVE_REFUSED);
    assert_int_equal(commit_try(c, right, FAULT_NONE, str_slice(big, DAVE_COMMIT_BYTES)),
                     DAVE_REFUSED);
    wrong = right;
    wrong.group++;
    assert_int_equal(commit_try(c, wrong, FAULT_NONE, STR("")), DAVE_REFUSED);
    wrong = right;
    wrong.leaf = dave_leaf_of(2);
    assert_int_equal(commit_try(c, wrong, FAULT_NONE, STR("")), DAVE_REFUSED);
    wrong = right;
    stolen.signature = other->id.signature; /* another signature key */
    wrong.path = &stolen;
    assert_int_equal(commit_try(c, wrong, FAULT_NONE, STR("")), DAVE_REFUSED);
    refused += 7;
    assert_int_equal(dave_hall.counters.refused_commits, refused);

    for (int later = -1; later <= 1; later += 2) {
        wrong = right;
        wrong.epoch += (uint64_t)later;
        assert_int_equal(commit_try(c, wrong, FAULT_NONE, STR("")), DAVE_OUTDATED);
    }
    wrong = right;
    wrong.reference_count = 2; /* twice the same */
    assert_int_equal(commit_try(c, wrong, FAULT_NONE, STR("")), DAVE_OUTDATED);
    refs[0][0] ^= 1; /* unknown */
    assert_int_equal(commit_try(c, right, FAULT_NONE, STR("")), DAVE_OUTDATED);
    refs[0][0] ^= 1;
    assert_int_equal(commit_try(&dave_hall.clients[3], right, FAULT_NONE, STR("")), DAVE_OUTDATED);
    dave_client_enter(5, 1); /* not a member of the group */
    assert_int_equal(commit_try(&dave_hall.clients[5], right, FAULT_NONE, STR("")), DAVE_OUTDATED);
    assert_int_equal(dave_hall.counters.refused_commits, refused);

    assert_int_equal(commit_try(c, right, FAULT_NONE, STR("")), DAVE_ACCEPTED);
    assert_int_equal(commit_try(c, right, FAULT_NONE, STR("")), DAVE_OUTDATED);
    mem_free(big);
}

static void commit_with_adds_needs_a_welcome_for_each_member(void **state)
{
    unsigned char refs[2][MLS_HASH], packages[3][MLS_HASH] = { { 0 } };
    struct buf welcome;

    (void)state;
    dave_client_range_join(1, 2);
    dave_hall_settle(100);
    dave_hall.clients[1].silent = dave_hall.clients[2].silent = true;
    dave_hall.clients[1].slow = true; /* a running transition collects both joins */
    dave_client_join(3, 1);
    dave_hall_deliver();
    assert_int_equal(dave_client_commit(&dave_hall.clients[2]), DAVE_ACCEPTED);
    dave_hall_deliver();
    dave_hall.clients[3].silent = true;
    dave_client_range_join(4, 5);
    dave_hall_settle(DAVE_TRANSITION_MS);
    struct dave_client *c = &dave_hall.clients[1];
    assert_int_equal(c->proposal_count, 2);
    for (size_t i = 0; i < 2; i++) {
        memcpy(refs[i], c->proposals[i].ref, MLS_HASH);
        memcpy(packages[i], c->proposals[i].package_ref, MLS_HASH);
    }
    struct dave_commit commit = { DAVE_GROUP, dave_hall.epoch, dave_leaf_of(1), refs, 2, NULL };
    buf_init(&welcome, 1 << 16);
    assert_int_equal(commit_try(c, commit, FAULT_NONE, STR("")), DAVE_REFUSED);
    dave_write_welcome(&welcome, packages, 1);
    assert_int_equal(commit_try(c, commit, FAULT_NONE, buf_as_str(&welcome)), DAVE_REFUSED);
    buf_reset(&welcome);
    dave_write_welcome(&welcome, packages, 3);
    assert_int_equal(commit_try(c, commit, FAULT_NONE, buf_as_str(&welcome)), DAVE_REFUSED);
    buf_reset(&welcome);
    dave_write_welcome(&welcome, packages + 1, 2);
    assert_int_equal(commit_try(c, commit, FAULT_NONE, buf_as_str(&welcome)), DAVE_REFUSED);
    buf_reset(&welcome);
    dave_write_welcome(&welcome, packages, 2);
    commit.reference_count = 1; /* not all outstanding proposals */
    assert_int_equal(commit_try(c, commit, FAULT_NONE, buf_as_str(&welcome)), DAVE_OUTDATED);
    commit.reference_count = 2;
    assert_int_equal(dave_hall.counters.refused_commits, 4);
    assert_int_equal(commit_try(c, commit, FAULT_NONE, buf_as_str(&welcome)), DAVE_ACCEPTED);
    buf_clear(&welcome);
}

static void first_dave_commit_must_come_from_leaf_0(void **state)
{
    (void)state;
    dave_client_join(1, 1)->silent = true;
    dave_client_join(2, 1)->silent = true;
    dave_hall_deliver();
    dave_client_enter(3, 1);
    dave_hall.established = true; /* dave_leaf_of gives UINT32_MAX */
    assert_int_equal(dave_client_commit(&dave_hall.clients[1]), DAVE_REFUSED);
    dave_hall.established = false;
    assert_int_equal(dave_client_commit(&dave_hall.clients[3]), DAVE_REFUSED); /* no reference */
    dave_hall.clients[3].proposals[0] = dave_hall.clients[1].proposals[0];
    dave_hall.clients[3].proposal_count = 1;
    assert_int_equal(dave_client_commit(&dave_hall.clients[3]), DAVE_OUTDATED);
    dave_hall.clients[1].uses_path = true;
    assert_int_equal(dave_client_commit(&dave_hall.clients[1]), DAVE_ACCEPTED);
    assert_int_equal(dave_client_commit(&dave_hall.clients[2]), DAVE_OUTDATED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DAVE_TEST(member_with_an_invalid_commit_is_added_again),
        DAVE_TEST(group_is_reset_if_all_members_report_a_bad_commit),
        DAVE_TEST(member_with_reported_invalid_commits_may_not_commit),
        DAVE_TEST(commit_that_removes_a_member_is_checked),
        DAVE_TEST(commit_with_adds_needs_a_welcome_for_each_member),
        DAVE_TEST(first_dave_commit_must_come_from_leaf_0),
    };

    return cmocka_run_group_tests_name("relay/dave/commits", tests, NULL, NULL);
}
