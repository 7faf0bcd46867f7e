/* stall_meter.c - tests the meter that reports loop iterations that took too long, with their
 * longest part. */
#include "unit/unit.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/stall_meter.h"
#include "base/log.h"

static struct stall_record reported;
static unsigned reports;

static void record_long_iteration_report(const struct stall_record *r)
{
    reported = *r;
    reports++;
}

/* Burns processor time, so that the result does not depend on other load of the machine. */
static void work_ms(int ms)
{
    struct timespec t;
    int64_t end = 0;

    for (;;) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;

        if (!end)
            end = now + (int64_t)ms * 1000000;
        if (now >= end)
            return;
    }
}

static int set_up(void **state)
{
    (void)state;
    reports = 0;
    stall_meter_set_test_mode(1, record_long_iteration_report);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    stall_meter_set_test_mode(1, NULL);
    return 0;
}

static void report_of_a_long_iteration_names_its_longest_part(void **state)
{
    struct stall_meter m = { .kind = "turn" };

    (void)state;
    stall_meter_begin_measuring_activity(&m, "short");
    work_ms(2);
    stall_meter_begin_measuring_activity(&m, "long");
    work_ms(STALL_LIMIT_MS);
    stall_meter_begin_measuring_activity(&m, "short");
    stall_meter_end_iteration(&m);
    assert_int_equal(reports, 1);
    assert_string_equal(reported.part, "long");
    assert_string_equal(reported.kind, "turn");
    assert_true(reported.longest_ns >= (int64_t)(STALL_LIMIT_MS + 2) * 1000000);
}

static void each_loop_iteration_is_measured_separately(void **state)
{
    struct stall_meter m = { .kind = "turn" };

    (void)state;
    for (int tries = 0; tries < 5; tries++) { /* other load may delay single tries */
        reports = 0;
        for (int i = 0; i < 3; i++) {
            stall_meter_begin_measuring_activity(&m, "half");
            work_ms(STALL_LIMIT_MS / 2);
            stall_meter_end_iteration(&m);
        }
        if (!reports)
            return;
    }
    fail();
}

static void many_short_parts_add_up_to_a_long_iteration(void **state)
{
    struct stall_meter m = { .kind = "turn" };

    (void)state;
    for (int i = 0; i < 30; i++) {
        stall_meter_begin_measuring_activity(&m, "a bit");
        work_ms(1);
    }
    stall_meter_end_iteration(&m);
    assert_int_equal(reports, 1);
    assert_string_equal(reported.part, "a bit");
}

static void sleeping_time_does_not_count_as_blocking(void **state)
{
    struct stall_meter m = { .kind = "turn" };
    struct timespec t = { .tv_nsec = 30 * 1000000 };

    (void)state;
    stall_meter_begin_measuring_activity(&m, "sleep");
    nanosleep(&t, NULL);
    stall_meter_end_iteration(&m);
    assert_int_equal(reports, 0);
}

static void work_while_the_meter_is_paused_does_not_count(void **state)
{
    struct stall_meter m = { .kind = "write" };

    (void)state;
    stall_meter_begin_measuring_activity(&m, "work");
    stall_meter_pause(&m);
    work_ms(STALL_LIMIT_MS + 5);
    stall_meter_begin_measuring_activity(&m, "work");
    stall_meter_pause(&m);
    assert_int_equal(reports, 0);
}

static void find_longest_write_record(const struct stall_record *r, void *arg)
{
    if (strcmp(r->part, "kept") == 0 && strcmp(r->kind, "write") == 0)
        *(struct stall_record *)arg = *r;
}

static void longest_duration_of_each_part_is_recorded(void **state)
{
    struct stall_meter m = { .kind = "write" };
    struct stall_record found = { 0 };

    (void)state;
    for (int ms = 5; ms > 1; ms -= 3) {
        stall_meter_begin_measuring_activity(&m, "kept");
        work_ms(ms);
        stall_meter_end_iteration(&m);
    }
    stall_records_visit(find_longest_write_record, &found);
    assert_true(found.longest_ns >= 5000000);
    assert_int_equal(found.over, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(report_of_a_long_iteration_names_its_longest_part, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(each_loop_iteration_is_measured_separately, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(many_short_parts_add_up_to_a_long_iteration, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(sleeping_time_does_not_count_as_blocking, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(work_while_the_meter_is_paused_does_not_count, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(longest_duration_of_each_part_is_recorded, set_up,
                                        tear_down),
    };

    log_init(2, LOG_OFF, 0);
    return cmocka_run_group_tests_name("base/hold", tests, NULL, NULL);
}
