/* options.c - validation of command options, singly and combined. */
#include <stdlib.h>

#include "base/buf.h"
#include "test_app.h"

struct list_of_options {
    const char *json, *path, *code; /* NULL: valid */
};

static void check_options_of_table_are_accepted_or_refused(struct test_app *s,
                                                           const struct list_of_options *o)
{
    for (; o->json; o++) {
        struct answer a = client_post(
            s->bot, TEXT(s->world, "{'name': 'a', 'description': 'd', 'options': [%s]}", o->json),
            "%s", s->global);

        if (o->path)
            expect_invalid(a, o->path, o->code);
        else if (a.status != 200)
            expect_status(a, 201);
    }
}

#define OPTION(type, name, more) \
    "{'type': " #type ", 'name': '" name "', 'description': 'd'" more "}"
#define SUB(name, options)   OPTION(1, name, ", 'options': [" options "]")
#define GROUP(name, options) OPTION(2, name, ", 'options': [" options "]")
#define REQUIRED             ", 'required': true"

static void option_name_type_and_description_are_validated(struct world *w)
{
    static const struct list_of_options options[] = {
        { OPTION(3, "größe", ""), NULL, NULL },
        { OPTION(3, "A", ""), "options.0.name", "APPLICATION_COMMAND_INVALID_NAME" },
        { OPTION(3, "a b", ""), "options.0.name", "STRING_TYPE_REGEX" },
        { OPTION(3, "abcdefghijabcdefghijabcdefghijab", ""), NULL, NULL },
        { OPTION(3, "abcdefghijabcdefghijabcdefghijabc", ""), "options.0.name",
          "STRING_TYPE_REGEX" },
        { OPTION(3, "", ""), "options.0.name", "BASE_TYPE_BAD_LENGTH" },
        { OPTION(3, "a", ", 'name_localizations': {'de': 'B'}"), "options.0.name_localizations.de",
          "APPLICATION_COMMAND_INVALID_NAME" },
        { OPTION(3, "a", ", 'name_localizations': {'de': 'b c'}"),
          "options.0.name_localizations.de", "STRING_TYPE_REGEX" },
        { OPTION(3, "a", ", 'name_localizations': {'xx': 'b'}"), "options.0.name_localizations.xx",
          "BASE_TYPE_CHOICES" },
        { OPTION(3, "a", ", 'description_localizations': {'de': ''}"),
          "options.0.description_localizations.de", "BASE_TYPE_BAD_LENGTH" },
        { "{'type': 3, 'name': 'a'}", "options.0.description", "BASE_TYPE_REQUIRED" },
        { "{'type': 12, 'name': 'a', 'description': 'd'}", "options.0", "UNION_TYPE_CHOICES" },
        { "{'type': 0, 'name': 'a', 'description': 'd'}", "options.0", "UNION_TYPE_CHOICES" },
        { OPTION(11, "a", ""), NULL, NULL },
        { 0 },
    };
    struct test_app s = world_test_app(w);

    check_options_of_table_are_accepted_or_refused(&s, options);
}

static void command_options_nest_at_most_two_levels(struct world *w)
{
    static const char MIXED[] = "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID";
    static const struct list_of_options options[] = {
        { SUB("a", ""), NULL, NULL },
        { SUB("a", OPTION(3, "b", "")) "," GROUP("c", ""), NULL, NULL },
        { GROUP("a", SUB("b", OPTION(3, "c", ""))), NULL, NULL },
        { SUB("a", SUB("b", "")), "options.0.options.0", MIXED },
        { SUB("a", GROUP("b", "")), "options.0.options.0", MIXED },
        { GROUP("a", OPTION(3, "b", "")), "options.0.options.0", MIXED },
        { GROUP("a", SUB("b", "") "," GROUP("c", "")), "options.0.options.1", MIXED },
        { GROUP("a", SUB("b", SUB("c", ""))), "options.0.options.0.options.0", MIXED },
        { OPTION(3, "a", "") "," SUB("b", ""), "options.1", MIXED },
        { SUB("a", "") "," OPTION(3, "b", "") "," OPTION(3, "c", ""), "options.1", MIXED },
        { SUB("a", OPTION(3, "B", "")), "options.0.options.0.name",
          "APPLICATION_COMMAND_INVALID_NAME" },
        { SUB("a", "") "," OPTION(1, "b", REQUIRED), "options.1.required",
          "APPLICATION_COMMAND_REQUIRED_INVALID" },
        { OPTION(2, "b", REQUIRED), "options.0.required", "APPLICATION_COMMAND_REQUIRED_INVALID" },
        { 0 },
    };
    struct test_app s = world_test_app(w);

    check_options_of_table_are_accepted_or_refused(&s, options);
}

static void required_options_must_precede_optional_ones(struct world *w)
{
    static const char MISPLACED[] = "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID";
    static const struct list_of_options options[] = {
        { OPTION(3, "a", REQUIRED) "," OPTION(3, "b", REQUIRED) "," OPTION(3, "c", ""), NULL,
          NULL },
        { OPTION(3, "a", "") "," OPTION(3, "b", REQUIRED), "options.1", MISPLACED },
        { OPTION(3, "a", ", 'required': false") "," OPTION(3, "b", REQUIRED), "options.1",
          MISPLACED },
        { SUB("x", OPTION(3, "a", "") "," OPTION(3, "b", REQUIRED)), "options.0.options.1",
          MISPLACED },
        { 0 },
    };
    struct test_app s = world_test_app(w);

    check_options_of_table_are_accepted_or_refused(&s, options);
}

#define DE(name) ", 'name_localizations': {'de': '" name "'}"
#define FR(name) ", 'name_localizations': {'fr': '" name "'}"

static void option_names_must_be_unique_in_every_locale(struct world *w)
{
    static const char TAKEN[] = "APPLICATION_COMMAND_OPTIONS_NAME_INVALID";
    static const struct list_of_options options[] = {
        { OPTION(3, "a", "") "," OPTION(4, "a", ""), "options.1", TAKEN },
        { SUB("x", OPTION(3, "a", "")) "," SUB("y", OPTION(3, "a", "")), NULL, NULL },
        { SUB("x", OPTION(3, "a", "") "," OPTION(3, "a", "")), "options.0.options.1", TAKEN },
        { OPTION(3, "a", DE("c")) "," OPTION(3, "b", DE("c")), "options.1", TAKEN },
        { OPTION(3, "a", DE("c")) "," OPTION(3, "b", FR("c")), NULL, NULL },
        { OPTION(3, "a", DE("b")) "," OPTION(3, "b", ""), "options.1", TAKEN },
        { OPTION(3, "a", "") "," OPTION(3, "b", DE("a")), "options.1", TAKEN },
        { OPTION(3, "a", DE("b")) "," OPTION(3, "b", DE("a")), "options.1", TAKEN },
        { OPTION(3, "a", DE("a")) "," OPTION(3, "b", ""), NULL, NULL },
        { 0 },
    };
    struct test_app s = world_test_app(w);

    check_options_of_table_are_accepted_or_refused(&s, options);
}

#define CHOICE(value)  "{'name': 'x', 'value': " value "}"
#define CHOICES(value) ", 'choices': [" CHOICE(value) "]"
#define TEN            "abcdefghij"
#define HUNDRED        TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void choice_values_must_match_the_option_type(struct world *w)
{
    static const char INVALID[] = "APPLICATION_COMMAND_OPTIONS_CHOICES_INVALID";
    static const struct list_of_options options[] = {
        { OPTION(3, "a", CHOICES("'v'")), NULL, NULL },
        { OPTION(3, "a", CHOICES("''")), NULL, NULL },
        { OPTION(3, "a", CHOICES("'" HUNDRED "'")), NULL, NULL },
        { OPTION(3, "a", CHOICES("'" HUNDRED "x'")), "options.0.choices.0.value",
          "BASE_TYPE_MAX_LENGTH" },
        { OPTION(3, "a", CHOICES("5")), "options.0.choices.0.value", "STRING_TYPE_CONVERT" },
        { OPTION(3, "a", CHOICES("'a\\u0000'")), "options.0.choices.0.value", "STRING_TYPE_REGEX" },
        { OPTION(4, "a", CHOICES("9007199254740992")), NULL, NULL },
        { OPTION(4, "a", CHOICES("9007199254740993")), "options.0.choices.0.value",
          "NUMBER_TYPE_MAX" },
        { OPTION(4, "a", CHOICES("-9007199254740993")), "options.0.choices.0.value",
          "NUMBER_TYPE_MIN" },
        { OPTION(4, "a", CHOICES("1.5")), "options.0.choices.0.value", "NUMBER_TYPE_COERCE" },
        { OPTION(4, "a", CHOICES("'5'")), "options.0.choices.0.value", "NUMBER_TYPE_COERCE" },
        { OPTION(4, "a", CHOICES("true")), "options.0.choices.0.value", "NUMBER_TYPE_COERCE" },
        { OPTION(10, "a", CHOICES("1.5")), NULL, NULL },
        { OPTION(10, "a", CHOICES("1e300")), "options.0.choices.0.value", "NUMBER_TYPE_MAX" },
        { OPTION(10, "a", CHOICES("{}")), "options.0.choices.0.value", "NUMBER_TYPE_COERCE" },
        { OPTION(10, "a", CHOICES("null")), "options.0.choices.0.value", "BASE_TYPE_REQUIRED" },
        { OPTION(5, "a", CHOICES("true")), "options.0.choices", INVALID },
        { OPTION(6, "a", ", 'choices': []"), NULL, NULL },
        { OPTION(3, "a", CHOICES("'v'") ", 'autocomplete': true"), "options.0.choices", INVALID },
        { OPTION(3, "a", ", 'choices': [], 'autocomplete': true"), NULL, NULL },
        { OPTION(5, "a", ", 'autocomplete': true"), "options.0.autocomplete",
          "APPLICATION_COMMAND_AUTOCOMPLETE_INVALID" },
        { OPTION(5, "a", ", 'autocomplete': false"), NULL, NULL },
        { OPTION(3, "a", ", 'choices': [{'value': 'v'}]"), "options.0.choices.0.name",
          "BASE_TYPE_REQUIRED" },
        { OPTION(3, "a", ", 'choices': [{'name': '" HUNDRED "x', 'value': 'v'}]"),
          "options.0.choices.0.name", "BASE_TYPE_BAD_LENGTH" },
        { OPTION(3, "a",
                 ", 'choices': [{'name': 'Same', 'value': 'v'}, {'name': 'Same', "
                 "'value': 'w'}]"),
          NULL, NULL },
        { OPTION(3, "a",
                 ", 'choices': [{'name': 'x', 'value': 'v', 'name_localizations': "
                 "{'de': ''}}]"),
          "options.0.choices.0.name_localizations.de", "BASE_TYPE_BAD_LENGTH" },
        { OPTION(3, "a",
                 ", 'choices': [{'name': 'x', 'value': 'v', 'name_localizations': "
                 "{'zz': 'y'}}]"),
          "options.0.choices.0.name_localizations.zz", "BASE_TYPE_CHOICES" },
        { 0 },
    };
    struct test_app s = world_test_app(w);

    check_options_of_table_are_accepted_or_refused(&s, options);
}

static void option_value_and_length_ranges_are_validated(struct world *w)
{
    static const char RANGE[] = "APPLICATION_COMMAND_OPTIONS_RANGE_INVALID";
    static const struct list_of_options options[] = {
        { OPTION(4, "a", ", 'min_value': -9007199254740992, 'max_value': 9007199254740992"), NULL,
          NULL },
        { OPTION(4, "a", ", 'max_value': 9007199254740993"), "options.0.max_value",
          "NUMBER_TYPE_MAX" },
        { OPTION(4, "a", ", 'min_value': -9007199254740993"), "options.0.min_value",
          "NUMBER_TYPE_MIN" },
        { OPTION(4, "a", ", 'min_value': 1e20"), "options.0.min_value", "NUMBER_TYPE_MAX" },
        { OPTION(4, "a", ", 'max_value': -1e20"), "options.0.max_value", "NUMBER_TYPE_MIN" },
        { OPTION(4, "a", ", 'min_value': 0.5"), "options.0.min_value", "NUMBER_TYPE_COERCE" },
        { OPTION(4, "a", ", 'max_value': 0.5"), "options.0.max_value", "NUMBER_TYPE_COERCE" },
        { OPTION(10, "a", ", 'min_value': 0.5, 'max_value': 0.5"), NULL, NULL },
        { OPTION(10, "a", ", 'min_value': 2, 'max_value': 1"), "options.0.min_value", RANGE },
        { OPTION(10, "a", ", 'min_value': true"), "options.0.min_value", "NUMBER_TYPE_COERCE" },
        { OPTION(3, "a", ", 'min_length': 0, 'max_length': 0"), NULL, NULL },
        { OPTION(3, "a", ", 'max_length': 6000"), NULL, NULL },
        { OPTION(3, "a", ", 'max_length': 6001"), "options.0.max_length", "NUMBER_TYPE_MAX" },
        { OPTION(3, "a", ", 'min_length': -1"), "options.0.min_length", "NUMBER_TYPE_MIN" },
        { OPTION(3, "a", ", 'min_length': 2, 'max_length': 1"), "options.0.min_length", RANGE },
        { OPTION(3, "a", ", 'min_value': 2, 'max_value': 1"), NULL,
          NULL }, /* not allowed for string options */
        { OPTION(5, "a",
                 ", 'max_length': 99999, 'min_value': 'x', 'channel_types': 7, 'file_types': [1]"),
          NULL, NULL },
        { OPTION(7, "a", ", 'channel_types': [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 16]"), NULL,
          NULL },
        { OPTION(7, "a", ", 'channel_types': [0, 6]"), "options.0.channel_types.1",
          "BASE_TYPE_CHOICES" },
        { OPTION(11, "a", ", 'file_types': ['image', 'video', 'audio', '.tar']"), NULL, NULL },
        { OPTION(11, "a", ", 'file_types': ['png']"), "options.0.file_types.0",
          "STRING_TYPE_REGEX" },
        { OPTION(11, "a", ", 'file_types': ['.']"), "options.0.file_types.0", "STRING_TYPE_REGEX" },
        { OPTION(11, "a", ", 'file_types': ['.1','.2','.3','.4','.5','.6','.7','.8','.9','.0']"),
          NULL, NULL },
        { OPTION(11, "a",
                 ", 'file_types': ['.1','.2','.3','.4','.5','.6','.7','.8','.9','.0','.x']"),
          "options.0.file_types", "BASE_TYPE_MAX_LENGTH" },
        { 0 },
    };
    struct test_app s = world_test_app(w);

    check_options_of_table_are_accepted_or_refused(&s, options);
}

/* --- counts and sizes ----------------------------------------------------------------- */

static const char *repeat_option(struct test_app *s, size_t count, const char *item)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < count; i++) {
        buf_add_str(&b, i ? STR(",") : STR(""));
        for (const char *c = item; *c; c++)
            if (*c == '#')
                buf_printf(&b, "%zu", i);
            else
                buf_add_char(&b, *c);
    }
    buf_add_char(&b, '\0');
    const char *text = str_dup(world_arena(s->world), buf_as_str(&b)).p;
    buf_clear(&b);
    return text;
}

static struct answer post_options(struct test_app *s, const char *options)
{
    return client_post(
        s->bot, TEXT(s->world, "{'name': 'a', 'description': 'd', 'options': [%s]}", options), "%s",
        s->global);
}

static void commands_have_at_most_25_options_per_level(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *option = OPTION(5, "o#", ""), *sub = "{'type': 1, 'name': 's', 'description': "
                                                     "'d', 'options': [%s]}";

    expect_status(post_options(&s, repeat_option(&s, 25, option)), 201);
    expect_invalid(post_options(&s, repeat_option(&s, 26, option)), "options",
                   "BASE_TYPE_MAX_LENGTH");
    expect_status(post_options(&s, TEXT(w, sub, repeat_option(&s, 25, option))), 200);
    expect_invalid(post_options(&s, TEXT(w, sub, repeat_option(&s, 26, option))),
                   "options.0.options", "BASE_TYPE_MAX_LENGTH");
    const char *text = "{'type': 3, 'name': 's', 'description': 'd', 'choices': [%s]}";
    const char *choice = "{'name': 'n#', 'value': 'v#'}";
    expect_status(post_options(&s, TEXT(w, text, repeat_option(&s, 25, choice))), 200);
    expect_invalid(post_options(&s, TEXT(w, text, repeat_option(&s, 26, choice))),
                   "options.0.choices", "BASE_TYPE_MAX_LENGTH");
}

/* Names 'a' and 'd' have two characters; each of these options counts 2 + 100, each choice 1 +
 * 100. */
#define TWO_BYTE_25 "ééééééééééééééééééééééééé"
static void commands_have_at_most_8000_characters(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *choice =
        "{'name': 'x', 'value': '" TWO_BYTE_25 TWO_BYTE_25 TWO_BYTE_25 TWO_BYTE_25 "', "
        "'name_localizations': {'de': 'ä'}}";
    const char *three = repeat_option(&s, 25, choice); /* 2525 */
    const char *option = "{'type': 3, 'name': '%s', 'description': 'd', 'choices': [%s]}";
    const char *most = TEXT(w, "%s,%s,%s", TEXT(w, option, "x", three), TEXT(w, option, "y", three),
                            TEXT(w, option, "z", three)); /* 7581 */
    const char *rest =
        "{'type': 3, 'name': 'r', 'description': 'd', 'choices': ["
        "{'name': 'x', 'value': '" TWO_BYTE_25 TWO_BYTE_25 TWO_BYTE_25 TWO_BYTE_25 "'},"
        "{'name': 'x', 'value': '" TWO_BYTE_25 TWO_BYTE_25 TWO_BYTE_25 TWO_BYTE_25 "'},"
        "{'name': 'x', 'value': '" TWO_BYTE_25 TWO_BYTE_25 TWO_BYTE_25 TWO_BYTE_25 "'},"
        "{'name': 'x', 'value': '%s'}]}"; /* 306 without */

    /* 2 + 7581 + 306 = 7889 */
    const char *fits = TEXT(w, rest, TWO_BYTE_25 TWO_BYTE_25 TWO_BYTE_25 TWO_BYTE_25);
    expect_status(post_options(&s, TEXT(w, "%s,%s", most, fits)), 201);
    const char *eleven = "{'type': 5, 'name': 'q', 'description': '1234567890'}";
    expect_status(post_options(&s, TEXT(w, "%s,%s,%s", most, fits, eleven)), 200);
    const char *twelve = "{'type': 5, 'name': 'q', 'description': '12345678901'}";
    expect_invalid(post_options(&s, TEXT(w, "%s,%s,%s", most, fits, twelve)), "",
                   "APPLICATION_COMMAND_TOO_LARGE");
    /* The longest translation counts. */
    const char *longer = "{'type': 5, 'name': 'q', 'description': '1', "
                         "'description_localizations': {'de': '12345678901', 'fr': '1'}}";
    expect_invalid(post_options(&s, TEXT(w, "%s,%s,%s", most, fits, longer)), "",
                   "APPLICATION_COMMAND_TOO_LARGE");
    const char *bulk =
        TEXT(w, "[{'name': 'a', 'description': 'd', 'options': [%s,%s,%s]}]", most, fits, twelve);
    expect_invalid(client_put(s.bot, bulk, "%s", s.global), "0", "APPLICATION_COMMAND_TOO_LARGE");
    /* A short change of a command that already has 8,000 characters. */
    const char *id = answer_text(post_options(&s, TEXT(w, "%s,%s,%s", most, fits, eleven)), "id");
    expect_invalid(client_patch(s.bot, "{'description': 'dd'}", "%s/%s", s.global, id), "",
                   "APPLICATION_COMMAND_TOO_LARGE");
    expect_status(client_patch(s.bot, "{'description': 'e'}", "%s/%s", s.global, id), 200);
}

const struct test commands_options_tests[] = {
    TEST(option_name_type_and_description_are_validated),
    TEST(command_options_nest_at_most_two_levels),
    TEST(required_options_must_precede_optional_ones),
    TEST(option_names_must_be_unique_in_every_locale),
    TEST(choice_values_must_match_the_option_type),
    TEST(option_value_and_length_ranges_are_validated),
    TEST(commands_have_at_most_25_options_per_level),
    TEST(commands_have_at_most_8000_characters),
    { 0 },
};
