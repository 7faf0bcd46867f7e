/* minute_stats.c - tests of the console's per-minute figures, which cover the last hour. */
#include "unit/unit.h"

#include "admin/console/minute_stats.h"

enum { GROUPS = 2, KINDS = 3 };

static const int64_t bounds[KINDS - 1] = { 500, 1000 };

static struct minute_stats_sample sample_at(int64_t minute, uint64_t *counts)
{
    return (struct minute_stats_sample){ .mono_ns = minute * 60000000000,
                                         .at_us = minute * 60000000,
                                         .calls = (uint64_t)minute * 100,
                                         .sessions = (uint64_t)minute,
                                         .counts = counts };
}

static void minute_statistics_are_differences_of_two_samples(void **state)
{
    struct minute_stats *f = minute_stats_new(GROUPS, KINDS);
    struct one_minute_stats minutes[STATS_MINUTES + 1];
    uint64_t counts[GROUPS * KINDS] = { 5, 0, 0, 1, 0, 0 };
    struct minute_stats_sample s = sample_at(1, counts);

    (void)state;
    assert_int_equal(minute_stats_read(f, &s, minutes), 0);
    minute_stats_add_sample(f, &s);
    counts[0] = 6; /* minute_stats_add_sample copies the counts */
    counts[5] = 4;
    s = sample_at(2, counts);
    s.longest_iteration_ns = 7;
    minute_stats_add_sample(f, &s);
    counts[0] = 16;
    s = sample_at(2, counts);
    s.mono_ns += 1000000000;
    s.calls += 3;
    assert_int_equal(minute_stats_read(f, &s, minutes), 2);
    assert_int_equal(minutes[0].at_us, 60000000);
    assert_int_equal(minutes[0].ns, 60000000000);
    assert_int_equal(minutes[0].calls, 100);
    assert_int_equal(minutes[0].sessions, 2);
    assert_int_equal(minutes[0].longest_iteration_ns, 7);
    assert_int_equal(minutes[0].counts[0], 1);
    assert_int_equal(minutes[0].counts[KINDS], 0);
    assert_int_equal(minutes[0].counts[5], 4);
    assert_int_equal(minutes[1].ns, 1000000000);
    assert_int_equal(minutes[1].calls, 3);
    assert_int_equal(minutes[1].counts[0], 10);
    minute_stats_free(f);
}

static void minute_statistics_retain_only_the_last_hour(void **state)
{
    struct minute_stats *f = minute_stats_new(GROUPS, KINDS);
    struct one_minute_stats minutes[STATS_MINUTES + 1];
    uint64_t counts[GROUPS * KINDS] = { 0 };
    struct minute_stats_sample s;

    (void)state;
    for (int64_t minute = 0; minute <= 2 * STATS_MINUTES + 5; minute++) {
        counts[1] = (uint64_t)(minute * minute);
        s = sample_at(minute, counts);
        minute_stats_add_sample(f, &s);
    }
    assert_int_equal(minute_stats_read(f, &s, minutes), STATS_MINUTES + 1);
    for (int i = 0; i < STATS_MINUTES; i++) {
        int64_t minute = STATS_MINUTES + 5 + i;

        assert_int_equal(minutes[i].at_us, minute * 60000000);
        assert_int_equal(minutes[i].counts[1], 2 * minute + 1);
    }
    assert_int_equal(minutes[STATS_MINUTES].ns, 0);
    minute_stats_free(f);
}

static void a_minute_without_calls_has_no_counts_of_an_earlier_minute(void **state)
{
    struct minute_stats *f = minute_stats_new(GROUPS, KINDS);
    struct one_minute_stats minutes[STATS_MINUTES + 1];
    uint64_t counts[GROUPS * KINDS] = { 0 };
    struct minute_stats_sample s;

    (void)state;
    for (int64_t minute = 0; minute <= 2 * STATS_MINUTES; minute++) {
        counts[1] += minute <= STATS_MINUTES; /* calls during the first hour only */
        s = sample_at(minute, counts);
        minute_stats_add_sample(f, &s);
    }
    assert_int_equal(minute_stats_read(f, &s, minutes), STATS_MINUTES + 1);
    for (int i = 0; i <= STATS_MINUTES; i++)
        assert_int_equal(minutes[i].counts[1], 0);
    minute_stats_free(f);
}

static void quantile_returns_the_upper_bound_of_its_bucket(void **state)
{
    (void)state;
    assert_int_equal(duration_quantile((uint32_t[]){ 0, 0, 0 }, bounds, 2, 0.5), 0);
    assert_int_equal(duration_quantile((uint32_t[]){ 1, 1, 0 }, bounds, 2, 0.5), 500);
    assert_int_equal(duration_quantile((uint32_t[]){ 1, 2, 0 }, bounds, 2, 0.5), 1000);
    assert_int_equal(duration_quantile((uint32_t[]){ 99, 0, 1 }, bounds, 2, 0.99), 500);
    assert_int_equal(duration_quantile((uint32_t[]){ 98, 0, 2 }, bounds, 2, 0.99), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minute_statistics_are_differences_of_two_samples),
        cmocka_unit_test(minute_statistics_retain_only_the_last_hour),
        cmocka_unit_test(a_minute_without_calls_has_no_counts_of_an_earlier_minute),
        cmocka_unit_test(quantile_returns_the_upper_bound_of_its_bucket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
