/* interest.c - tests which parts of the log a node subscribes to. */
#include "unit/unit.h"

#include "cluster/interest.h"

static bool subscribed[LOG_PARTS];
static unsigned calls;

static void record_subscription(void *arg, unsigned part, bool on)
{
    (void)arg;
    assert_true(subscribed[part] != on);
    subscribed[part] = on;
    calls++;
}

static void nats_subscription_ends_a_minute_after_its_last_key(void **state)
{
    (void)state;
    struct interest *i = interest_set_new(record_subscription, NULL);
    uint64_t key = log_address_key(AUDIENCE_GUILD, 1);
    struct log_entry_address a = { .count = 2, .keys = { 99, key } };
    unsigned part = log_address_get_nats_part_of_key(key);

    assert_false(interest_set_matches_log_address(i, &a));
    interest_set_add_guild_or_user(i, key);
    interest_set_add_guild_or_user(i, key);
    assert_true(interest_set_matches_log_address(i, &a) && subscribed[part]);
    interest_set_remove_guild_or_user(i, key);
    assert_true(interest_set_matches_log_address(i, &a));
    interest_set_end_unused_subscriptions(i, 1);
    interest_set_end_unused_subscriptions(i, 1 + INTEREST_KEEP_MS);
    assert_true(subscribed[part]);
    interest_set_remove_guild_or_user(i, key);
    assert_false(interest_set_matches_log_address(i, &a));

    /* A session that comes back within a minute does not begin a new subscription. */
    interest_set_end_unused_subscriptions(i, 10);
    interest_set_end_unused_subscriptions(i, 9 + INTEREST_KEEP_MS);
    interest_set_add_guild_or_user(i, key);
    interest_set_end_unused_subscriptions(i, 11 + INTEREST_KEEP_MS);
    assert_int_equal(calls, 1);
    interest_set_remove_guild_or_user(i, key);
    interest_set_end_unused_subscriptions(i, 20);
    interest_set_end_unused_subscriptions(i, 20 + INTEREST_KEEP_MS);
    assert_false(subscribed[part]);
    assert_int_equal(calls, 2);
    interest_set_remove_guild_or_user(i, key);
    assert_false(interest_set_matches_log_address(i, &a));
    interest_set_free(i);
}

static void keys_that_share_a_nats_subject_are_distinguished(void **state)
{
    (void)state;
    struct interest *i = interest_set_new(record_subscription, NULL);
    uint64_t one = log_address_key(AUDIENCE_USER, 1), other = 2;

    while (log_address_get_nats_part_of_key(other) != log_address_get_nats_part_of_key(one))
        other++;
    struct log_entry_address a = { .count = 1, .keys = { other } };
    interest_set_add_guild_or_user(i, one);
    assert_false(interest_set_matches_log_address(i, &a));
    interest_set_add_guild_or_user(i, other);
    interest_set_remove_guild_or_user(i, one);

    unsigned char parts[LOG_PARTS / 8];
    unsigned part = log_address_get_nats_part_of_key(other), bits = 0;
    interest_set_copy_nats_parts(i, parts);
    for (unsigned p = 0; p < LOG_PARTS; p++)
        bits += parts[p / 8] >> p % 8 & 1;
    assert_true(bits == 1 && parts[part / 8] >> part % 8 & 1);
    interest_set_end_unused_subscriptions(i, 1);
    interest_set_end_unused_subscriptions(i, 1 + INTEREST_KEEP_MS);
    assert_true(subscribed[log_address_get_nats_part_of_key(other)]);
    interest_set_free(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nats_subscription_ends_a_minute_after_its_last_key),
        cmocka_unit_test(keys_that_share_a_nats_subject_are_distinguished),
    };

    return cmocka_run_group_tests_name("cluster/interest", tests, NULL, NULL);
}
