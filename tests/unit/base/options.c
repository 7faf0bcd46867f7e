/* options.c - tests how options are read from flags, the environment and a file, and the error
 * messages. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"

struct command_settings {
    const char *name, *colour, *light;
    int64_t size;
    bool loud, quick;
};

static const struct option_row rows[] = {
    { "name", OPTION_TEXT, offsetof(struct command_settings, name), .value = "NAME",
      .help = "A name" },
    { "colour", OPTION_CHOICE, offsetof(struct command_settings, colour), .fallback = "red",
      .choices = "red|green", .help = "A colour" },
    { "light", OPTION_CHOICE, offsetof(struct command_settings, light), .fallback = "dim",
      .choices = "on|off|dim", .help = "A light" },
    { "the-size", OPTION_INT, offsetof(struct command_settings, size), .fallback = "5", .min = -1,
      .max = 10, .help = "A size" },
    { "loud", OPTION_SWITCH, offsetof(struct command_settings, loud), .fallback = "on",
      .help = "Loud" },
    { "quick", OPTION_SWITCH, offsetof(struct command_settings, quick), .fallback = "off",
      .help = "Quick" },
    { 0 },
};

static struct arena *arena;
static struct command_settings got;
static char *rest[8];
static char file[64];

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    got = (struct command_settings){ 0 };
    snprintf(file, sizeof file, "/tmp/guildhall-options-XXXXXX");
    close(mkstemp(file));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(file);
    unsetenv("T_NAME");
    unsetenv("T_THE_SIZE");
    unsetenv("T_LOUD");
    arena_free(arena);
    return 0;
}

/* Returns NULL, or the error message. */
static const char *read_all(const char *text, char **argv)
{
    struct option_source source = { "test", "T_", text ? file : NULL };
    const char *problem = "none was set";

    if (text) {
        FILE *f = fopen(file, "w");
        fputs(text, f);
        fclose(f);
    }
    bool ok = options_read(rows, &source, arena, argv, &got, rest, &problem);
    assert_true(ok == (problem == NULL));
    return problem;
}

/* Like the argv of main, the array is not const. */
#define ARGV(...) ((char **)(uintptr_t)(const char *[]){ __VA_ARGS__, NULL })
#define NO_FLAGS  ((char *[]){ NULL })

static void expect_configuration_file_error(const char *text, int line, const char *words)
{
    char all[300];

    snprintf(all, sizeof all, "%s, line %d: %s", file, line, words);
    assert_string_equal(read_all(text, NO_FLAGS), all);
}

static void unset_options_have_their_default(void **state)
{
    (void)state;
    assert_null(read_all(NULL, NO_FLAGS));
    assert_null(got.name);
    assert_string_equal(got.colour, "red");
    assert_int_equal(got.size, 5);
    assert_true(got.loud && !got.quick);
    assert_null(rest[0]);
}

static void flags_override_the_environment_which_overrides_the_file(void **state)
{
    (void)state;
    const char *text = "name = file\nthe-size = 1\ncolour = green\n";

    assert_null(read_all(text, NO_FLAGS));
    assert_string_equal(got.name, "file");
    assert_int_equal(got.size, 1);
    setenv("T_NAME", "environment", 1);
    setenv("T_THE_SIZE", "2", 1);
    assert_null(read_all(text, NO_FLAGS));
    assert_string_equal(got.name, "environment");
    assert_int_equal(got.size, 2);
    assert_null(read_all(text, ARGV("--name", "flag", "--the-size=3")));
    assert_string_equal(got.name, "flag");
    assert_int_equal(got.size, 3);
    assert_string_equal(got.colour, "green");
}

static void flags_accept_values_after_equals_sign_or_space(void **state)
{
    (void)state;
    assert_null(
        read_all(NULL, ARGV("one", "--quick", "two", "--loud", "off", "--name=a=b", "three")));
    assert_true(got.quick && !got.loud);
    assert_string_equal(got.name, "a=b");
    assert_string_equal(rest[0], "one");
    assert_string_equal(rest[1], "two");
    assert_string_equal(rest[2], "three");
    assert_null(rest[3]);
    assert_null(read_all(NULL, ARGV("--quick=no", "--loud=1", "--the-size", "-1", "--name=")));
    assert_true(!got.quick && got.loud && got.size == -1);
    assert_null(got.name);
}

static void invalid_flags_are_reported(void **state)
{
    (void)state;
    assert_string_equal(read_all(NULL, ARGV("--nmae", "x")),
                        "there is no option '--nmae'; did you mean --name?");
    assert_string_equal(read_all(NULL, ARGV("--")), "there is no option '--'");
    assert_string_equal(read_all(NULL, ARGV("--name")), "--name needs a value: NAME");
    assert_string_equal(read_all(NULL, ARGV("--name", "--quick")), "--name needs a value: NAME");
    assert_string_equal(read_all(NULL, ARGV("--the-size", "11")),
                        "--the-size must be a number from -1 to 10, not '11'");
    assert_string_equal(read_all(NULL, ARGV("--the-size", "-2")),
                        "--the-size must be a number from -1 to 10, not '-2'");
    assert_string_equal(read_all(NULL, ARGV("--the-size", "1x")),
                        "--the-size must be a number from -1 to 10, not '1x'");
    assert_string_equal(read_all(NULL, ARGV("--colour", "blue")),
                        "--colour must be one of red|green, not 'blue'");
    assert_string_equal(read_all(NULL, ARGV("--colour", "true")),
                        "--colour must be one of red|green, not 'true'");
    assert_string_equal(read_all(NULL, ARGV("--loud=maybe")),
                        "--loud=maybe must be on or off, not 'maybe'");
}

static void word_after_a_switch_is_its_value_if_there_are_too_many_arguments(void **state)
{
    struct option_source source = { .program = "test", .prefix = "T_", .max_arguments = 1 };
    const char *problem;

    (void)state;
    assert_false(
        options_read(rows, &source, arena, ARGV("--light", "maybe", "a"), &got, rest, &problem));
    assert_string_equal(problem, "--light must be one of on|off|dim, not 'maybe'");
    assert_false(
        options_read(rows, &source, arena, ARGV("a", "--loud", "maybe"), &got, rest, &problem));
    assert_string_equal(problem, "--loud must be on or off, not 'maybe'");
    assert_true(options_read(rows, &source, arena, ARGV("--light", "a"), &got, rest, &problem));
    assert_string_equal(rest[0], "a");
    source.max_arguments = 0;
    assert_true(
        options_read(rows, &source, arena, ARGV("--light", "maybe", "a"), &got, rest, &problem));
}

static void only_the_first_invalid_flag_is_reported(void **state)
{
    (void)state;
    assert_string_equal(read_all(NULL, ARGV("--colour", "blue", "--nmae")),
                        "--colour must be one of red|green, not 'blue'");
}

static void invalid_environment_variable_is_named_in_the_error(void **state)
{
    (void)state;
    setenv("T_THE_SIZE", "big", 1);
    assert_string_equal(read_all(NULL, NO_FLAGS),
                        "T_THE_SIZE must be a number from -1 to 10, not 'big'");
    unsetenv("T_THE_SIZE");
    setenv("T_LOUD", "", 1);
    assert_string_equal(read_all(NULL, NO_FLAGS), "T_LOUD must be on or off, not ''");
}

static void configuration_file_may_have_comments_and_sections(void **state)
{
    (void)state;
    assert_null(read_all("; words\n# more\n\n[part]\nname = a b \nloud=off\n[other]\nquick = yes\n",
                         NO_FLAGS));
    assert_string_equal(got.name, "a b");
    assert_true(!got.loud && got.quick);
}

static void invalid_configuration_line_is_named_in_the_error(void **state)
{
    (void)state;
    expect_configuration_file_error("name = x\n\nnmae = y\n", 3, "there is no option 'nmae'");
    expect_configuration_file_error("; first\nthe-size = 11\n", 2,
                                    "the-size must be a number from -1 to 10, not '11'");
    expect_configuration_file_error("name = x\nnonsense\n", 2, "not of the form 'name = value'");
    expect_configuration_file_error("name = x\nnonsense\nnmae = y\n", 2,
                                    "not of the form 'name = value'");
    expect_configuration_file_error("nmae = y\nnonsense\n", 1, "there is no option 'nmae'");
    assert_null(read_all("", NO_FLAGS));
}

static void missing_configuration_file_is_reported(void **state)
{
    (void)state;
    struct option_source source = { "test", "T_", "/nowhere/test.conf" };
    const char *problem;

    assert_false(options_read(rows, &source, arena, NO_FLAGS, &got, rest, &problem));
    assert_string_equal(problem, "cannot read the configuration file '/nowhere/test.conf'");
}

/* Database URLs and lists of regions are long. */
static void configuration_lines_may_have_4000_characters(void **state)
{
    (void)state;
    char text[4200];
    int n = snprintf(text, sizeof text, "name = ");

    memset(text + n, 'a', 4000);
    strcpy(text + n + 4000, "\nquick = on\n");
    assert_null(read_all(text, NO_FLAGS));
    assert_int_equal(strlen(got.name), 4000);
    assert_true(got.quick);
}

static void indented_configuration_lines_are_separate_options(void **state)
{
    (void)state;
    assert_null(read_all("name = a\n  the-size = 7\n\tquick = on\n", NO_FLAGS));
    assert_string_equal(got.name, "a");
    assert_int_equal(got.size, 7);
    assert_true(got.quick);
}

static void one_option_can_be_read_before_the_others(void **state)
{
    (void)state;
    struct option_source source = { "test", "T_", NULL };

    assert_null(option_read_value_before_other_options("name", &source, NO_FLAGS));
    assert_null(
        option_read_value_before_other_options("name", &source, ARGV("--names", "x", "--name")));
    assert_string_equal(
        option_read_value_before_other_options("name", &source, ARGV("a", "--name", "b")), "b");
    assert_string_equal(
        option_read_value_before_other_options("name", &source, ARGV("--name=c", "--name", "b")),
        "c");
    setenv("T_NAME", "d", 1);
    assert_string_equal(
        option_read_value_before_other_options("name", &source, ARGV("--names", "x")), "d");
}

static void help_and_sample_file_list_every_option(void **state)
{
    (void)state;
    struct option_source source = { "test", "T_", NULL };
    struct buf help, sample;

    buf_init(&help, 65536);
    buf_init(&sample, 65536);
    options_append_help(rows, &help);
    options_append_sample_file(rows, &source, &sample);
    buf_add_char(&help, '\0');
    buf_add_char(&sample, '\0');
    assert_non_null(strstr(help.p, "--name NAME "));
    assert_non_null(strstr(help.p, "--colour red|green "));
    assert_non_null(strstr(help.p, "--the-size N "));
    assert_non_null(strstr(help.p, "A size (5)\n"));
    assert_non_null(strstr(help.p, "--loud on|off "));
    assert_non_null(strstr(sample.p, "T_THE_SIZE\n;the-size = 5\n"));
    assert_null(read_all(sample.p, NO_FLAGS));
    /* Every line of the sample file is valid when its comment sign is removed. */
    for (char *at = sample.p; (at = strstr(at, "\n;")); at++)
        if (at[2] != ' ')
            at[1] = ' ';
    assert_null(read_all(sample.p, NO_FLAGS));
    assert_string_equal(got.colour, "red");
    assert_int_equal(got.size, 5);
    buf_clear(&help);
    buf_clear(&sample);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* --- unknown names -------------------------------------------------------------------- */

static const char *stray(const char *variable)
{
    static const char *const others[] = { "BINARY", "TEST_*", NULL };
    const struct option_row *lists[] = { rows, NULL };
    const char *problem = NULL;

    setenv(variable, "x", 1);
    options_check_environment_spelling(lists, others, "STRAY_", arena, &problem);
    unsetenv(variable);
    return problem ? problem : "";
}

static void unknown_environment_variables_with_the_prefix_are_reported(void **state)
{
    (void)state;
    assert_string_equal(stray("STRAY_NAME"), "");
    assert_string_equal(stray("STRAY_THE_SIZE"), "");
    assert_string_equal(stray("ASTRAY_NAM"), "");
    assert_string_equal(stray("STRAY_THE_SIZ"),
                        "the environment variable STRAY_THE_SIZ is not an option; did you mean "
                        "STRAY_THE_SIZE?");
    assert_string_equal(stray("STRAY_COLOR"),
                        "the environment variable STRAY_COLOR is not an option; did you mean "
                        "STRAY_COLOUR?");
    assert_string_equal(stray("STRAY_ZEBRA"),
                        "the environment variable STRAY_ZEBRA is not an option");
    assert_string_equal(stray("STRAY_"), "the environment variable STRAY_ is not an option");
}

static void environment_variables_of_other_tools_are_ignored(void **state)
{
    (void)state;
    assert_string_equal(stray("STRAY_BINARY"), "");
    assert_string_equal(stray("STRAY_TEST_POSTGRES"), "");
    assert_string_not_equal(stray("STRAY_BINARY_2"), "");
    assert_string_not_equal(stray("STRAY_TEST"), "");
}

static void misspelled_flag_gets_a_suggestion(void **state)
{
    (void)state;
    assert_string_equal(read_all(NULL, ARGV("--colr", "red")),
                        "there is no option '--colr'; did you mean --colour?");
}

static void choice_option_with_on_and_off_accepts_boolean_words(void **state)
{
    (void)state;
    assert_null(read_all("light = true\n", NO_FLAGS));
    assert_string_equal(got.light, "on");
    assert_null(read_all("light = 0\n", NO_FLAGS));
    assert_string_equal(got.light, "off");
    assert_null(read_all("light = dim\n", NO_FLAGS));
    assert_string_equal(got.light, "dim");
    assert_non_null(read_all("light = bright\n", NO_FLAGS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(unset_options_have_their_default),
        TEST(flags_override_the_environment_which_overrides_the_file),
        TEST(flags_accept_values_after_equals_sign_or_space),
        TEST(invalid_flags_are_reported),
        TEST(word_after_a_switch_is_its_value_if_there_are_too_many_arguments),
        TEST(only_the_first_invalid_flag_is_reported),
        TEST(invalid_environment_variable_is_named_in_the_error),
        TEST(configuration_file_may_have_comments_and_sections),
        TEST(invalid_configuration_line_is_named_in_the_error),
        TEST(missing_configuration_file_is_reported),
        TEST(configuration_lines_may_have_4000_characters),
        TEST(indented_configuration_lines_are_separate_options),
        TEST(one_option_can_be_read_before_the_others),
        TEST(help_and_sample_file_list_every_option),
        TEST(unknown_environment_variables_with_the_prefix_are_reported),
        TEST(environment_variables_of_other_tools_are_ignored),
        TEST(misspelled_flag_gets_a_suggestion),
        TEST(choice_option_with_on_and_off_accepts_boolean_words),
    };
    return cmocka_run_group_tests_name("base/options", tests, NULL, NULL);
}
