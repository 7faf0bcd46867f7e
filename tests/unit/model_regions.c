/* model_regions.c - the operator's list of regions, good and bad. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "model/regions.h"

static const char *problem_of(const char *list)
{
    const char *problem = "none was set";
    bool ok = regions_set(str_of(list), &problem);

    assert_true(ok == (problem == NULL));
    return problem;
}

static void good_lists_are_taken(void **state)
{
    (void)state;
    assert_null(problem_of("main"));
    assert_null(problem_of("main:Main"));
    assert_null(problem_of(" main : Main Street , eu-1:Europe, x:\xc3\x84ther "));
    assert_null(problem_of("main:"));
    assert_null(problem_of("a:b:c"));
    assert_null(problem_of("abcdefghijklmnopqrstuvwxyz-01234")); /* 32 */
}

static void bad_lists_are_told(void **state)
{
    (void)state;
    static const char bad_id[] = "has an id that is not 1-32 of a-z, 0-9 and -";

    assert_string_equal(problem_of(""), "names no region");
    assert_string_equal(problem_of(","), bad_id);
    assert_string_equal(problem_of("main,,eu"), bad_id);
    assert_string_equal(problem_of(":Main"), bad_id);
    assert_string_equal(problem_of("Main"), bad_id);
    assert_string_equal(problem_of("a b"), bad_id);
    assert_string_equal(problem_of("\xc3\xa4"), bad_id);
    assert_string_equal(problem_of("abcdefghijklmnopqrstuvwxyz-012345"), bad_id); /* 33 */
    assert_string_equal(problem_of("a:x,b:y,a:z"), "names a region twice");
    assert_string_equal(problem_of("a:\xff"), "has a name that is too long or not UTF-8");
}

static void names_and_lists_have_limits(void **state)
{
    (void)state;
    char list[400] = "";

    snprintf(list, sizeof list, "a:%063d", 0);
    assert_null(problem_of(list));
    snprintf(list, sizeof list, "a:%064d", 0);
    assert_string_equal(problem_of(list), "has a name that is too long or not UTF-8");
    list[0] = '\0';
    for (int i = 0; i < 32; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%sr%d", i ? "," : "", i);
    assert_null(problem_of(list));
    strcat(list, ",more");
    assert_string_equal(problem_of(list), "has more than 32 regions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_lists_are_taken),
        cmocka_unit_test(bad_lists_are_told),
        cmocka_unit_test(names_and_lists_have_limits),
    };
    return cmocka_run_group_tests_name("voice/regions", tests, NULL, NULL);
}
