/* api_limits.c - counters, their windows, and what is said about them. */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "api/limits/limits.h"
#include "base/clock.h"
#include "base/hash.h"

static const struct limit three = { .name = "three", .count = 3, .window_s = 10 };
static const struct limit other = { .name = "other", .count = 3, .window_s = 10 };
static const struct limit shared = { .name = "shared", .count = 2, .window_s = 5, .shared = true };

static struct limits *limits;

static int set_up(void **state)
{
    struct limits_options options = { .global_per_s = 5, .anonymous_per_s = 2, .percent = 100 };

    (void)state;
    clock_stop(); /* only the tests make time pass */
    limits = limits_new(&options);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    limits_free(limits);
    clock_reset();
    return 0;
}

static bool allowed(uint64_t who, const struct limit *limit, uint64_t major)
{
    return limits_count(limits, who, false, limit, major).allowed;
}

static void exactly_so_many_are_allowed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct verdict v = limits_count(limits, 1, false, &three, 0);

        assert_true(v.allowed && !v.global && !v.shared);
        assert_int_equal(v.limit, 3);
        assert_int_equal(v.remaining, 2 - i);
        assert_in_range(v.reset_after_ms, 1, 10000);
    }
    struct verdict v = limits_count(limits, 1, false, &three, 0);
    assert_false(v.allowed);
    assert_int_equal(v.remaining, 0);
    assert_in_range(v.reset_at_ms - clock_ms(), 1, 10000);
}

static void what_is_returned_does_not_count(void **state)
{
    (void)state;
    limits_return(limits, 1, false, &three, 0); /* there is nothing to return */
    for (int i = 0; i < 3; i++)
        assert_true(allowed(1, &three, 0));
    assert_false(allowed(1, &three, 0));
    limits_return(limits, 1, false, &three, 0);
    limits_return(limits, 1, true, &three, 0);  /* somebody else's */
    limits_return(limits, 1, false, &other, 0); /* another limit */
    assert_true(allowed(1, &three, 0));
    assert_false(allowed(1, &three, 0));
}

static void a_window_ends_when_it_ends(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(allowed(1, &three, 0));
    clock_advance(9 * 1000000);
    assert_false(allowed(1, &three, 0));
    clock_advance(1 * 1000000);
    struct verdict v = limits_count(limits, 1, false, &three, 0);
    assert_true(v.allowed);
    assert_int_equal(v.remaining, 2);
}

static void callers_limits_and_majors_are_counted_apart(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(allowed(1, &three, 0));
    assert_false(allowed(1, &three, 0));
    assert_true(allowed(2, &three, 0));
    assert_true(allowed(1, &other, 0));
    assert_true(allowed(1, &three, 7));
    /* An address whose hash is an account's number is still an address. */
    assert_true(limits_count(limits, 1, true, &three, 0).allowed);
}

static void a_shared_limit_has_no_caller(void **state)
{
    (void)state;
    assert_true(allowed(1, &shared, 3));
    assert_true(allowed(2, &shared, 3));
    struct verdict v = limits_count(limits, 3, false, &shared, 3);
    assert_true(!v.allowed && v.shared);
    assert_true(allowed(3, &shared, 4));
}

static void pass_on(void *arg, struct str message)
{
    assert_true(limits_hear(arg, message) > 0);
}

static void what_is_counted_at_one_server_counts_at_the_other(void **state)
{
    struct limits_options options = { .global_per_s = 5, .anonymous_per_s = 2, .percent = 100 };
    struct limits *there = limits_new(&options);
    /* The same rows at another address, as another process has them. */
    const struct limit three_there = { .name = "three", .count = 3, .window_s = 10 };

    (void)state;
    limits_share(limits);
    limits_share(there);
    assert_true(allowed(1, &three, 7) && allowed(1, &three, 7));
    clock_advance(1000);
    assert_true(limits_count(there, 1, false, &three_there, 7).allowed);
    limits_tell(limits, pass_on, there);
    limits_tell(limits, pass_on, there); /* nothing is told twice */
    struct verdict v = limits_count(there, 1, false, &three_there, 7);
    assert_true(!v.allowed && v.remaining == 0);
    assert_true(limits_count(there, 1, false, &three_there, 8).allowed);
    limits_tell(there, pass_on, limits);
    assert_false(allowed(1, &three, 7));
    /* The window is one for both. */
    clock_advance(10 * 1000000 - 1000);
    assert_true(limits_count(there, 1, false, &three_there, 7).allowed);
    assert_true(allowed(1, &three, 7));
    limits_free(there);
}

static void pass_nothing(void *arg, struct str message)
{
    (void)arg, (void)message;
    fail();
}

static void what_is_far_from_its_limit_is_not_told(void **state)
{
    static const struct limit many = { .name = "many", .count = 8, .window_s = 10 };

    (void)state;
    limits_share(limits);
    assert_true(allowed(1, &many, 0));
    limits_tell(limits, pass_nothing, NULL);
}

static unsigned servers_apart;

static unsigned count_apart(void *arg)
{
    (void)arg;
    return servers_apart;
}

/* Two servers, of which each is told at once what the other counts. */
static void what_is_strict_is_told_with_each_call(void **state)
{
    static const struct limit strict = {
        .name = "strict", .count = 8, .window_s = 10, .strict = true
    };
    struct limits_options options = { .global_per_s = 5, .anonymous_per_s = 2, .percent = 100 };
    struct limits *there = limits_new(&options);
    unsigned let_through = 0;

    (void)state;
    servers_apart = 1;
    limits_share(limits);
    limits_share(there);
    limits_set_others(limits, &(struct limits_others){ there, count_apart, pass_on });
    limits_set_others(there, &(struct limits_others){ limits, count_apart, pass_on });
    for (int i = 0; i < 20; i++)
        let_through += limits_count(i % 2 ? there : limits, 1, false, &strict, 0).allowed;
    assert_int_equal(let_through, 8);
    limits_tell(limits, pass_nothing, NULL); /* nothing is told twice */
    limits_free(there);
}

static void servers_that_do_not_hear_each_other_share_what_is_strict(void **state)
{
    static const struct limit strict = {
        .name = "strict", .count = 8, .window_s = 10, .strict = true
    };
    static const struct limit plain = { .name = "plain", .count = 8, .window_s = 10 };
    unsigned let_through = 0;

    (void)state;
    servers_apart = 3;
    limits_set_others(limits, &(struct limits_others){ NULL, count_apart, NULL });
    for (int i = 0; i < 20; i++)
        let_through += allowed(1, &strict, 0);
    assert_int_equal(let_through, 2); /* three times that is not more than eight */
    for (int i = 0; i < 8; i++)
        assert_true(allowed(1, &plain, 0));
    servers_apart = 9;
    assert_true(allowed(2, &strict, 0)); /* nobody is shut out */
    assert_false(allowed(2, &strict, 0));
}

static void the_global_limit_is_another_for_addresses(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        assert_true(limits_count_global(limits, 1, false).allowed);
    struct verdict v = limits_count_global(limits, 1, false);
    assert_true(!v.allowed && v.global);
    assert_true(limits_count_global(limits, 1, true).allowed);
    assert_true(limits_count_global(limits, 1, true).allowed);
    assert_false(limits_count_global(limits, 1, true).allowed);
    clock_advance(1000000);
    assert_true(limits_count_global(limits, 1, false).allowed);
}

static void percent_leaves_at_least_one(void **state)
{
    (void)state;
    struct limits_options options = { .global_per_s = 5, .anonymous_per_s = 5, .percent = 10 };
    struct limits *tenth = limits_new(&options);

    assert_int_equal(limits_count(tenth, 1, false, &three, 0).limit, 1);
    limits_free(tenth);
    options.percent = 1000;
    struct limits *tenfold = limits_new(&options);
    assert_int_equal(limits_count(tenfold, 1, false, &three, 0).limit, 30);
    assert_int_equal(limits_count_global(tenfold, 1, false).limit, 5);
    limits_free(tenfold);
}

/* Counters of callers who are gone are given back; those that count are not. */
static void many_callers_do_not_disturb_each_other(void **state)
{
    (void)state;
    for (uint64_t who = 1; who <= 100000; who++)
        assert_true(allowed(who, &three, 0));
    clock_advance(10 * 1000000);
    for (int i = 0; i < 3; i++)
        assert_true(allowed(5, &three, 0));
    for (uint64_t who = 200000; who <= 400000; who++)
        assert_true(allowed(who, &three, 0));
    assert_false(allowed(5, &three, 0));
}

static _Atomic int taken;

static void *take_many(void *arg)
{
    const struct limit *limit = arg;

    for (int i = 0; i < 1000; i++)
        if (limits_count(limits, 1, false, limit, 0).allowed)
            taken++;
    return NULL;
}

static void threads_together_get_no_more(void **state)
{
    (void)state;
    static const struct limit many = { .name = "many", .count = 1234, .window_s = 60 };
    pthread_t threads[4];

    taken = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, take_many, (void *)(uintptr_t)&many);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(taken, 1234);
}

/* --- words ---------------------------------------------------------------------------- */

static const char *headers(struct verdict v, const struct limit *limit)
{
    static char text[1000];
    struct buf out;

    buf_init(&out, sizeof text - 1);
    limits_headers(&v, limit, &out);
    memcpy(text, out.p ? out.p : "", out.n);
    text[out.n] = '\0';
    buf_clear(&out);
    return text;
}

static const char *body(struct verdict v, enum err e)
{
    static char text[1000];
    struct buf out;

    buf_init(&out, sizeof text - 1);
    limits_body(&v, e, &out);
    memcpy(text, out.p, out.n);
    text[out.n] = '\0';
    buf_clear(&out);
    return text;
}

static void headers_have_their_forms(void **state)
{
    (void)state;
    struct verdict v = { .allowed = true,
                         .limit = 3,
                         .remaining = 2,
                         .reset_at_ms = 1700000000042,
                         .reset_after_ms = 9005 };
    char bucket[17], lines[400];

    limit_bucket(&three, bucket);
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

static void buckets_of_other_limits_have_other_names(void **state)
{
    (void)state;
    static const struct limit again = { .name = "three", .count = 9, .window_s = 9 };
    char one[17], two[17];

    limit_bucket(&three, one);
    limit_bucket(&other, two);
    assert_string_not_equal(one, two);
    limit_bucket(&again, two);
    assert_string_equal(one, two);
}

static void bodies_have_their_forms(void **state)
{
    (void)state;
    struct verdict v = { .reset_after_ms = 1250 };

    assert_string_equal(body(v, ERR_RATE_LIMITED),
                        "{\"message\":\"You are being rate limited.\",\"retry_after\":1.25,"
                        "\"global\":false}");
    v.global = true;
    assert_non_null(strstr(body(v, ERR_RATE_LIMITED), "\"global\":true}"));
    v.shared = true;
    assert_non_null(strstr(body(v, ERR_TOO_MANY_REQUESTS), "\"code\":31001}"));
    assert_non_null(strstr(body(v, ERR_RATE_LIMITED), "\"The resource is being rate limited.\""));
}

/* Whoever was active would otherwise be refused until the clock is back where it was. */
static void a_step_of_the_clock_changes_no_window(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(allowed(1, &three, 0));
    clock_step(-600 * INT64_C(1000000));
    struct verdict v = limits_count(limits, 1, false, &three, 0);
    assert_false(v.allowed);
    assert_in_range(v.reset_after_ms, 1, 10000);
    assert_in_range(v.reset_at_ms - clock_ms(), 1, 10000);
    clock_advance(10 * 1000000);
    assert_true(allowed(1, &three, 0));
    clock_step(600 * INT64_C(1000000));
    assert_true(allowed(1, &three, 0) && allowed(1, &three, 0));
    assert_false(allowed(1, &three, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(exactly_so_many_are_allowed),
        TEST(what_is_returned_does_not_count),
        TEST(a_window_ends_when_it_ends),
        TEST(a_step_of_the_clock_changes_no_window),
        TEST(callers_limits_and_majors_are_counted_apart),
        TEST(a_shared_limit_has_no_caller),
        TEST(what_is_counted_at_one_server_counts_at_the_other),
        TEST(what_is_far_from_its_limit_is_not_told),
        TEST(what_is_strict_is_told_with_each_call),
        TEST(servers_that_do_not_hear_each_other_share_what_is_strict),
        TEST(the_global_limit_is_another_for_addresses),
        TEST(percent_leaves_at_least_one),
        TEST(many_callers_do_not_disturb_each_other),
        TEST(threads_together_get_no_more),
        TEST(headers_have_their_forms),
        TEST(buckets_of_other_limits_have_other_names),
        TEST(bodies_have_their_forms),
    };
    hash_init();
    return cmocka_run_group_tests_name("api/limits", tests, NULL, NULL);
}
