/* timestamp.c - tests the formatting and parsing of timestamps and dates. */
#include "unit/unit.h"

#include <stdio.h>

#include "base/timestamp.h"

static const char *format(int64_t us)
{
    static char text[TIMESTAMP_TEXT_SIZE];
    size_t n = timestamp_format(us, text);

    assert_int_equal(n, strlen(text));
    return text;
}

static int64_t parse(const char *text)
{
    int64_t us = -1;

    if (!timestamp_parse(str_of(text), &us))
        fail_msg("'%s' is not read", text);
    return us;
}

static void timestamps_have_six_fraction_digits_or_none(void **state)
{
    (void)state;
    assert_string_equal(format(0), "1970-01-01T00:00:00+00:00");
    assert_string_equal(format(1), "1970-01-01T00:00:00.000001+00:00");
    assert_string_equal(format(1769885131297561), "2026-01-31T18:45:31.297561+00:00");
    assert_string_equal(format(1500000), "1970-01-01T00:00:01.500000+00:00");
}

static void timestamps_before_1970_are_formatted(void **state)
{
    (void)state;
    assert_string_equal(format(-1), "1969-12-31T23:59:59.999999+00:00");
    assert_string_equal(format(-1000000), "1969-12-31T23:59:59+00:00");
}

static void timestamp_years_have_four_digits(void **state)
{
    (void)state;
    assert_string_equal(format(parse("0000-01-01T00:00:00Z")), "0000-01-01T00:00:00+00:00");
    assert_string_equal(format(parse("0099-03-01T00:00:00Z")), "0099-03-01T00:00:00+00:00");
    assert_string_equal(format(parse("9999-12-31T23:59:59.999999Z")),
                        "9999-12-31T23:59:59.999999+00:00");
    assert_string_equal(format(INT64_MAX), "9999-12-31T23:59:59.775807+00:00");
    assert_string_equal(format(INT64_MIN), "0000-01-01T00:00:00.224192+00:00");
}

static void formatted_timestamps_parse_back_to_the_same_time(void **state)
{
    (void)state;
    /* Steps of slightly more than one day, over four centuries. */
    for (int64_t us = -6311433600000000; us < 6311433600000000; us += 90061000001)
        assert_int_equal(parse(format(us)), us);
}

static void rfc_3339_offsets_and_variants_are_parsed(void **state)
{
    (void)state;
    int64_t us = parse("2026-01-31T18:45:31.297561+00:00");

    assert_int_equal(parse("2026-01-31T18:45:31.297561Z"), us);
    assert_int_equal(parse("2026-01-31t18:45:31.297561z"), us);
    assert_int_equal(parse("2026-01-31 18:45:31.297561Z"), us);
    assert_int_equal(parse("2026-01-31T20:15:31.297561+01:30"), us);
    assert_int_equal(parse("2026-01-31T00:45:31.297561-18:00"), us);
    assert_int_equal(parse("2026-01-31T18:45:31.2975619Z"), us);
    assert_int_equal(parse("2026-01-31T18:45:31.3Z"), us - 297561 + 300000);
    assert_int_equal(parse("2026-01-31T18:45:31.297561"), us);
    assert_int_equal(parse("2026-01-31 18:45:31.297561"), us);
    assert_int_equal(parse("2026-01-31T18:45:31"), us - 297561);
    assert_int_equal(parse("2026-01-31T20:15:31.297561+0130"), us);
    assert_int_equal(parse("2016-12-31T23:59:60Z"), parse("2017-01-01T00:00:00Z"));
}

static void invalid_timestamps_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "2026-01-31",
        "2026-01-31T18:45:31.Z",
        "2026-01-31T18:45Z",
        "2026-1-31T18:45:31Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-04-00T00:00:00Z",
        "2026-01-31T24:00:00Z",
        "2026-01-31T23:60:00Z",
        "2026-01-31T23:59:61Z",
        "2026-01-31T23:59:59+24:00",
        "2026-01-31T23:59:59+00:60",
        "2026-01-31T23:59:59+000",
        "2026-01-31T23:59:59+00000",
        "2026-01-31T23:59:59+",
        "2026-01-31T23:59:59ZZ",
        "2026-01-31T23:59:59Z ",
        "+026-01-31T23:59:59Z",
        "0000-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
    };
    int64_t us;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (timestamp_parse(str_of(bad[i]), &us))
            fail_msg("'%s' is read", bad[i]);
}

static void date_parse_accepts_only_existing_days(void **state)
{
    (void)state;
    int64_t days;

    assert_true(date_parse(STR("1970-01-02"), &days));
    assert_int_equal(days, 1);
    assert_true(date_parse(STR("2000-02-29"), &days));
    assert_int_equal(days, 11016);
    assert_false(date_parse(STR("2001-02-29"), &days));
    assert_false(date_parse(STR("2000-02-2"), &days));
    assert_false(date_parse(STR("2000-02-290"), &days));
    assert_false(date_parse(STR(""), &days));
}

static void http_date_has_the_rfc_7231_format(void **state)
{
    (void)state;
    char text[30];

    format_http_date(784111777, text);
    assert_string_equal(text, "Sun, 06 Nov 1994 08:49:37 GMT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timestamps_have_six_fraction_digits_or_none),
        cmocka_unit_test(timestamps_before_1970_are_formatted),
        cmocka_unit_test(timestamp_years_have_four_digits),
        cmocka_unit_test(formatted_timestamps_parse_back_to_the_same_time),
        cmocka_unit_test(rfc_3339_offsets_and_variants_are_parsed),
        cmocka_unit_test(invalid_timestamps_are_refused),
        cmocka_unit_test(date_parse_accepts_only_existing_days),
        cmocka_unit_test(http_date_has_the_rfc_7231_format),
    };
    return cmocka_run_group_tests_name("base/timestamp", tests, NULL, NULL);
}
