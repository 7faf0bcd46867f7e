/* durations.c - tests the histogram of request durations, which sums the counts of all event
 * loops. */
#include "unit/unit.h"

#include <string.h>

#include "api/monitoring/durations.h"

static const struct domain quiet = { .name = "Quiet" }, busy = { .name = "Busy" };
static const struct domain *const domains[] = { &quiet, &busy, NULL };

static void expect_line(const struct buf *out, const char *line)
{
    if (!memmem(out->p, out->n, line, strlen(line)))
        fail_msg("no line %s in\n%.*s", line, (int)out->n, out->p);
}

static void duration_histogram_sums_the_counts_of_all_loops(void **state)
{
    struct call_durations *d = call_durations_new(domains, 2);
    struct buf out;

    (void)state;
    call_durations_record(d, 0, 1, 500 * 1000); /* a duration equal to the bound is within it */
    call_durations_record(d, 1, 1, 501 * 1000); /* 1 µs more is not */
    call_durations_record(d, 1, 1, 7000000000); /* longer than all bounds */
    buf_init(&out, SIZE_MAX);
    call_durations_write_metrics(d, &out);
    expect_line(&out, "guildhall_call_seconds_bucket{group=\"Busy\",le=\"0.0005\"} 1\n");
    expect_line(&out, "guildhall_call_seconds_bucket{group=\"Busy\",le=\"0.001\"} 2\n");
    expect_line(&out, "guildhall_call_seconds_bucket{group=\"Busy\",le=\"5\"} 2\n");
    expect_line(&out, "guildhall_call_seconds_bucket{group=\"Busy\",le=\"+Inf\"} 3\n");
    expect_line(&out, "guildhall_call_seconds_sum{group=\"Busy\"} 7.001001\n");
    expect_line(&out, "guildhall_call_seconds_count{group=\"Busy\"} 3\n");
    assert_null(memmem(out.p, out.n, "Quiet", 5));
    buf_clear(&out);
    call_durations_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        duration_histogram_sums_the_counts_of_all_loops) };

    return cmocka_run_group_tests_name("api/durations", tests, NULL, NULL);
}
