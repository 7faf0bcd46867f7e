/* limits.c - tests the rate limit counters, their windows, and the headers and bodies that
 * report them. */
#include "unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "api/limits/limits.h"
#include "base/clock.h"
#include "base/hash.h"

static const struct rate_limit three = { .name = "three", .count = 3, .window_s = 10 };
static const struct rate_limit other = { .name = "other", .count = 3, .window_s = 10 };
static const struct rate_limit shared = {
    .name = "shared", .count = 2, .window_s = 5, .shared = true
};

static struct rate_limit_counters *limits;

static int set_up(void **state)
{
    struct rate_limit_options options = { .global_per_s = 5, .anonymous_per_s = 2, .percent = 100 };

    (void)state;
    clock_stop_wall_and_monotonic(); /* time advances only through clock_advance_wall_and_monotonic
                                      */
    limits = rate_limit_counters_new(&options);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rate_limit_counters_free(limits);
    clock_restore_real_time();
    return 0;
}

static bool allowed(uint64_t who, const struct rate_limit *limit, uint64_t major)
{
    return rate_limits_count_call(limits, who, false, limit, major).allowed;
}

static void rate_limit_allows_exactly_its_count_per_window(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct rate_limit_result v = rate_limits_count_call(limits, 1, false, &three, 0);

        assert_true(v.allowed && !v.global && !v.shared);
        assert_int_equal(v.limit, 3);
        assert_int_equal(v.remaining, 2 - i);
        assert_in_range(v.reset_after_ms, 1, 10000);
    }
    struct rate_limit_result v = rate_limits_count_call(limits, 1, false, &three, 0);
    assert_false(v.allowed);
    assert_int_equal(v.remaining, 0);
    assert_in_range(v.reset_at_ms - clock_ms(), 1, 10000);
}

static void returned_requests_do_not_count_towards_the_rate_limit(void **state)
{
    (void)state;
    rate_limits_revert_call_count(limits, 1, false, &three, 0); /* no request was counted yet */
    for (int i = 0; i < 3; i++)
        assert_true(allowed(1, &three, 0));
    assert_false(allowed(1, &three, 0));
    rate_limits_revert_call_count(limits, 1, false, &three, 0);
    rate_limits_revert_call_count(limits, 1, true, &three, 0);  /* another caller */
    rate_limits_revert_call_count(limits, 1, false, &other, 0); /* another limit */
    assert_true(allowed(1, &three, 0));
    assert_false(allowed(1, &three, 0));
}

static void rate_limit_resets_at_the_end_of_its_window(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(allowed(1, &three, 0));
    clock_advance_wall_and_monotonic(9 * 1000000);
    assert_false(allowed(1, &three, 0));
    clock_advance_wall_and_monotonic(1 * 1000000);
    struct rate_limit_result v = rate_limits_count_call(limits, 1, false, &three, 0);
    assert_true(v.allowed);
    assert_int_equal(v.remaining, 2);
}

static void each_caller_limit_and_major_parameter_has_its_own_counter(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(allowed(1, &three, 0));
    assert_false(allowed(1, &three, 0));
    assert_true(allowed(2, &three, 0));
    assert_true(allowed(1, &other, 0));
    assert_true(allowed(1, &three, 7));
    /* The hash of an IP address never shares a counter with an account of the same number. */
    assert_true(rate_limits_count_call(limits, 1, true, &three, 0).allowed);
}

static void shared_rate_limit_counts_all_callers_together(void **state)
{
    (void)state;
    assert_true(allowed(1, &shared, 3));
    assert_true(allowed(2, &shared, 3));
    struct rate_limit_result v = rate_limits_count_call(limits, 3, false, &shared, 3);
    assert_true(!v.allowed && v.shared);
    assert_true(allowed(3, &shared, 4));
}

static void pass_rate_limit_counts_to_other_node(void *arg, struct str message)
{
    assert_true(limits_receive_counts(arg, message) > 0);
}

static void rate_limit_counts_are_shared_between_nodes(void **state)
{
    struct rate_limit_options options = { .global_per_s = 5, .anonymous_per_s = 2, .percent = 100 };
    struct rate_limit_counters *there = rate_limit_counters_new(&options);
    /* A copy of the limit at another memory address, as in another process. */
    const struct rate_limit three_there = { .name = "three", .count = 3, .window_s = 10 };

    (void)state;
    rate_limits_enable_sharing_between_nodes(limits);
    rate_limits_enable_sharing_between_nodes(there);
    assert_true(allowed(1, &three, 7) && allowed(1, &three, 7));
    clock_advance_wall_and_monotonic(1000);
    assert_true(rate_limits_count_call(there, 1, false, &three_there, 7).allowed);
    rate_limits_publish_counts(limits, pass_rate_limit_counts_to_other_node, there);
    rate_limits_publish_counts(limits, pass_rate_limit_counts_to_other_node,
                               there); /* counts are published only once */
    struct rate_limit_result v = rate_limits_count_call(there, 1, false, &three_there, 7);
    assert_true(!v.allowed && v.remaining == 0);
    assert_true(rate_limits_count_call(there, 1, false, &three_there, 8).allowed);
    rate_limits_publish_counts(there, pass_rate_limit_counts_to_other_node, limits);
    assert_false(allowed(1, &three, 7));
    /* Both nodes use the same window. */
    clock_advance_wall_and_monotonic(10 * 1000000 - 1000);
    assert_true(rate_limits_count_call(there, 1, false, &three_there, 7).allowed);
    assert_true(allowed(1, &three, 7));
    rate_limit_counters_free(there);
}

static void fail_if_counts_are_published(void *arg, struct str message)
{
    (void)arg, (void)message;
    fail();
}

static void counters_far_from_their_limit_are_not_published(void **state)
{
    static const struct rate_limit many = { .name = "many", .count = 8, .window_s = 10 };

    (void)state;
    rate_limits_enable_sharing_between_nodes(limits);
    assert_true(allowed(1, &many, 0));
    rate_limits_publish_counts(limits, fail_if_counts_are_published, NULL);
}

static unsigned servers_apart;

static unsigned number_of_disconnected_nodes(void *arg)
{
    (void)arg;
    return servers_apart;
}

/* Each of two nodes receives the other's count immediately. */
static void strict_rate_limit_is_published_with_every_request(void **state)
{
    static const struct rate_limit strict = {
        .name = "strict", .count = 8, .window_s = 10, .strict = true
    };
    struct rate_limit_options options = { .global_per_s = 5, .anonymous_per_s = 2, .percent = 100 };
    struct rate_limit_counters *there = rate_limit_counters_new(&options);
    unsigned let_through = 0;

    (void)state;
    servers_apart = 1;
    rate_limits_enable_sharing_between_nodes(limits);
    rate_limits_enable_sharing_between_nodes(there);
    rate_limits_set_cluster_callbacks(
        limits, &(struct rate_limit_cluster_callbacks){ there, number_of_disconnected_nodes,
                                                        pass_rate_limit_counts_to_other_node });
    rate_limits_set_cluster_callbacks(
        there, &(struct rate_limit_cluster_callbacks){ limits, number_of_disconnected_nodes,
                                                       pass_rate_limit_counts_to_other_node });
    for (int i = 0; i < 20; i++)
        let_through += rate_limits_count_call(i % 2 ? there : limits, 1, false, &strict, 0).allowed;
    assert_int_equal(let_through, 8);
    rate_limits_publish_counts(limits, fail_if_counts_are_published,
                               NULL); /* counts are published only once */
    rate_limit_counters_free(there);
}

static void strict_rate_limit_is_divided_among_disconnected_nodes(void **state)
{
    static const struct rate_limit strict = {
        .name = "strict", .count = 8, .window_s = 10, .strict = true
    };
    static const struct rate_limit plain = { .name = "plain", .count = 8, .window_s = 10 };
    unsigned let_through = 0;

    (void)state;
    servers_apart = 3;
    rate_limits_set_cluster_callbacks(
        limits, &(struct rate_limit_cluster_callbacks){ NULL, number_of_disconnected_nodes, NULL });
    for (int i = 0; i < 20; i++)
        let_through += allowed(1, &strict, 0);
    assert_int_equal(let_through, 2); /* three nodes with two requests each stay within eight */
    for (int i = 0; i < 8; i++)
        assert_true(allowed(1, &plain, 0));
    servers_apart = 9;
    assert_true(allowed(2, &strict, 0)); /* each node allows at least one request */
    assert_false(allowed(2, &strict, 0));
}

static void global_rate_limit_differs_for_accounts_and_ip_addresses(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        assert_true(rate_limits_count_global_call(limits, 1, false).allowed);
    struct rate_limit_result v = rate_limits_count_global_call(limits, 1, false);
    assert_true(!v.allowed && v.global);
    assert_true(rate_limits_count_global_call(limits, 1, true).allowed);
    assert_true(rate_limits_count_global_call(limits, 1, true).allowed);
    assert_false(rate_limits_count_global_call(limits, 1, true).allowed);
    clock_advance_wall_and_monotonic(1000000);
    assert_true(rate_limits_count_global_call(limits, 1, false).allowed);
}

static void rate_limit_percentage_leaves_at_least_one_request(void **state)
{
    (void)state;
    struct rate_limit_options options = { .global_per_s = 5, .anonymous_per_s = 5, .percent = 10 };
    struct rate_limit_counters *tenth = rate_limit_counters_new(&options);

    assert_int_equal(rate_limits_count_call(tenth, 1, false, &three, 0).limit, 1);
    rate_limit_counters_free(tenth);
    options.percent = 1000;
    struct rate_limit_counters *tenfold = rate_limit_counters_new(&options);
    assert_int_equal(rate_limits_count_call(tenfold, 1, false, &three, 0).limit, 30);
    assert_int_equal(rate_limits_count_global_call(tenfold, 1, false).limit, 5);
    rate_limit_counters_free(tenfold);
}

/* Expired counters are freed; active counters are not. */
static void counters_stay_correct_with_many_callers(void **state)
{
    (void)state;
    for (uint64_t who = 1; who <= 100000; who++)
        assert_true(allowed(who, &three, 0));
    clock_advance_wall_and_monotonic(10 * 1000000);
    for (int i = 0; i < 3; i++)
        assert_true(allowed(5, &three, 0));
    for (uint64_t who = 200000; who <= 400000; who++)
        assert_true(allowed(who, &three, 0));
    assert_false(allowed(5, &three, 0));
}

static _Atomic int taken;

static void *send_1000_requests(void *arg)
{
    const struct rate_limit *limit = arg;

    for (int i = 0; i < 1000; i++)
        if (rate_limits_count_call(limits, 1, false, limit, 0).allowed)
            taken++;
    return NULL;
}

static void concurrent_threads_do_not_exceed_the_rate_limit(void **state)
{
    (void)state;
    static const struct rate_limit many = { .name = "many", .count = 1234, .window_s = 60 };
    pthread_t threads[4];

    taken = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, send_1000_requests, (void *)(uintptr_t)&many);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(taken, 1234);
}

/* --- headers and bodies --------------------------------------------------------------- */

static const char *headers(struct rate_limit_result v, const struct rate_limit *limit)
{
    static char text[1000];
    struct buf out;

    buf_init(&out, sizeof text - 1);
    write_rate_limit_headers(&v, limit, &out);
    memcpy(text, out.p ? out.p : "", out.n);
    text[out.n] = '\0';
    buf_clear(&out);
    return text;
}

static const char *body(struct rate_limit_result v, enum err e)
{
    static char text[1000];
    struct buf out;

    buf_init(&out, sizeof text - 1);
    write_rate_limit_response_body(&v, e, &out);
    memcpy(text, out.p, out.n);
    text[out.n] = '\0';
    buf_clear(&out);
    return text;
}

static void rate_limit_headers_have_the_documented_format(void **state)
{
    (void)state;
    struct rate_limit_result v = { .allowed = true,
                                   .limit = 3,
                                   .remaining = 2,
                                   .reset_at_ms = 1700000000042,
                                   .reset_after_ms = 9005 };
    char bucket[17], lines[400];

    format_rate_limit_bucket_id(&three, bucket);
    assert_int_equal(strlen(bucket), 16);
    assert_int_equal(strspn(bucket, "0123456789abcdef"), 16);
    snprintf(lines, sizeof lines,
             "X-RateLimit-Limit: 3\r\nX-RateLimit-Remaining: 2\r\n"
             "X-RateLimit-Reset: 1700000000.042\r\nX-RateLimit-Reset-After: 9.005\r\n"
             "X-RateLimit-Bucket: %s\r\n",
             bucket);
    assert_string_equal(headers(v, &three), lines);
    v.allowed = false;
    assert_string_equal(strstr(headers(v, &three), "X-RateLimit-Scope"),
                        "X-RateLimit-Scope: user\r\nRetry-After: 10\r\n");
    v.shared = true;
    assert_non_null(strstr(headers(v, &three), "X-RateLimit-Scope: shared\r\n"));
    v.global = true;
    v.reset_after_ms = 1;
    assert_string_equal(
        headers(v, &three),
        "X-RateLimit-Global: true\r\nX-RateLimit-Scope: global\r\nRetry-After: 1\r\n");
    v.reset_after_ms = 1000;
    assert_non_null(strstr(headers(v, &three), "Retry-After: 1\r\n"));
    v.reset_after_ms = 1001;
    assert_non_null(strstr(headers(v, &three), "Retry-After: 2\r\n"));
}

static void bucket_hash_depends_only_on_the_name_of_the_limit(void **state)
{
    (void)state;
    static const struct rate_limit again = { .name = "three", .count = 9, .window_s = 9 };
    char one[17], two[17];

    format_rate_limit_bucket_id(&three, one);
    format_rate_limit_bucket_id(&other, two);
    assert_string_not_equal(one, two);
    format_rate_limit_bucket_id(&again, two);
    assert_string_equal(one, two);
}

static void rate_limit_error_bodies_have_the_documented_format(void **state)
{
    (void)state;
    struct rate_limit_result v = { .reset_after_ms = 1250 };

    assert_string_equal(body(v, ERR_RATE_LIMITED),
                        "{\"message\":\"You are being rate limited.\",\"retry_after\":1.25,"
                        "\"global\":false}");
    v.global = true;
    assert_non_null(strstr(body(v, ERR_RATE_LIMITED), "\"global\":true}"));
    v.shared = true;
    assert_non_null(strstr(body(v, ERR_TOO_MANY_REQUESTS), "\"code\":31001}"));
    assert_non_null(strstr(body(v, ERR_RATE_LIMITED), "\"The resource is being rate limited.\""));
}

/* Windows use the monotonic clock: a wall clock that is set back does not extend a refusal. */
static void wall_clock_step_does_not_change_rate_limit_windows(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(allowed(1, &three, 0));
    clock_step_wall_clock(-600 * INT64_C(1000000));
    struct rate_limit_result v = rate_limits_count_call(limits, 1, false, &three, 0);
    assert_false(v.allowed);
    assert_in_range(v.reset_after_ms, 1, 10000);
    assert_in_range(v.reset_at_ms - clock_ms(), 1, 10000);
    clock_advance_wall_and_monotonic(10 * 1000000);
    assert_true(allowed(1, &three, 0));
    clock_step_wall_clock(600 * INT64_C(1000000));
    assert_true(allowed(1, &three, 0) && allowed(1, &three, 0));
    assert_false(allowed(1, &three, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rate_limit_allows_exactly_its_count_per_window),
        TEST(returned_requests_do_not_count_towards_the_rate_limit),
        TEST(rate_limit_resets_at_the_end_of_its_window),
        TEST(wall_clock_step_does_not_change_rate_limit_windows),
        TEST(each_caller_limit_and_major_parameter_has_its_own_counter),
        TEST(shared_rate_limit_counts_all_callers_together),
        TEST(rate_limit_counts_are_shared_between_nodes),
        TEST(counters_far_from_their_limit_are_not_published),
        TEST(strict_rate_limit_is_published_with_every_request),
        TEST(strict_rate_limit_is_divided_among_disconnected_nodes),
        TEST(global_rate_limit_differs_for_accounts_and_ip_addresses),
        TEST(rate_limit_percentage_leaves_at_least_one_request),
        TEST(counters_stay_correct_with_many_callers),
        TEST(concurrent_threads_do_not_exceed_the_rate_limit),
        TEST(rate_limit_headers_have_the_documented_format),
        TEST(bucket_hash_depends_only_on_the_name_of_the_limit),
        TEST(rate_limit_error_bodies_have_the_documented_format),
    };
    hash_init_random_key();
    return cmocka_run_group_tests_name("api/limits", tests, NULL, NULL);
}
