/* error_causes.c - tests that every error has its own cause and fix. */
#include "unit/unit.h"

#include <stdio.h>

#include "base/error_causes.h"
#include "base/errors.h"

static void expect_text_is_one_sentence(const char *text, int code)
{
    size_t n = strlen(text);

    if (n < sizeof "Cut it." - 1 || text[n - 1] != '.')
        fail_msg("%d: '%s' is not a sentence", code, text);
}

static void every_error_has_a_cause_and_a_fix(void **state)
{
    struct error_cause cause;

    (void)state;
    for (int e = OK + 1; e < ERR_COUNT; e++) {
        const struct error_info *info = error_info((enum err)e);

        if (!find_causes_of_api_error(info->status, info->code, &cause))
            fail_msg("%s has no row in error_causes.def", info->name);
        assert_int_equal(cause.code, info->code ? info->code : info->status);
        expect_text_is_one_sentence(cause.causes, cause.code);
        expect_text_is_one_sentence(cause.fix, cause.code);
    }
    assert_false(find_causes_of_api_error(418, 0, &cause));
    assert_false(find_causes_of_api_error(404, 10001, &cause));
}

static void close_codes_are_found_by_number(void **state)
{
    struct error_cause cause;

    (void)state;
    assert_true(find_causes_of_gateway_close_code(4014, &cause));
    expect_text_is_one_sentence(cause.causes, 4014);
    expect_text_is_one_sentence(cause.fix, 4014);
    assert_false(find_causes_of_gateway_close_code(4006, &cause));
}

static void reference_has_one_section_for_each_error(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, SIZE_MAX);
    write_error_reference(&out);
    buf_add_char(&out, '\0');
    for (int e = OK + 1; e < ERR_COUNT; e++) {
        const struct error_info *info = error_info((enum err)e);
        char heading[32];

        snprintf(heading, sizeof heading, "\n### %d\n", info->code ? info->code : info->status);
        const char *first = strstr(out.p, heading);
        assert_non_null(first);
        assert_null(strstr(first + 1, heading));
    }
    buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_has_a_cause_and_a_fix),
        cmocka_unit_test(close_codes_are_found_by_number),
        cmocka_unit_test(reference_has_one_section_for_each_error),
    };
    return cmocka_run_group_tests_name("base/error_causes", tests, NULL, NULL);
}
