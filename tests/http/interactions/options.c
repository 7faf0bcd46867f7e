/* options.c - values of command options in invocations. */
#include "test_commands.h"

#include "base/buf.h"
#include "waits.h"

#define OPTION  "INTERACTION_APPLICATION_COMMAND_OPTION_INVALID"
#define MISSING "INTERACTION_APPLICATION_COMMAND_OPTION_MISSING"
#define VALUE   "INTERACTION_APPLICATION_COMMAND_OPTIONS_VALUE_INVALID"

/* Creates a command with one option that has these fields. */
static const char *create_command_with_option(struct test_commands *s, const char *members)
{
    return make_global_command(s, "'options': [{'name': 'o', 'description': 'O', %s}]", members);
}

/* Invokes the command with this value for its option. */
static struct answer invoke_with_value(struct test_commands *s, const char *id, int type,
                                       const char *value)
{
    return roll(s, s->bob, id, "'options': [{'name': 'o', 'type': %d, 'value': %s}]", type, value);
}

static void expect_option_value_refused(struct test_commands *s, const char *id, int type,
                                        const char *value, const char *code)
{
    expect_invalid(invoke_with_value(s, id, type, value), "data.options", code);
}

static void expect_option_value_accepted(struct test_commands *s, const char *id, int type,
                                         const char *value)
{
    expect_status(invoke_with_value(s, id, type, value), 204);
    expect_dom(s, last_interaction(s),
               "{'data': {'options': [{'name': 'o', 'type': %d, 'value': %s}]}}", type, value);
}

/* --- strings and numbers -------------------------------------------------------------- */

static void string_option_length_is_checked(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *free = create_command_with_option(&s, "'type': 3"),
               *short_one =
                   create_command_with_option(&s, "'type': 3, 'min_length': 2, 'max_length': 3");
    char *most = arena_alloc(world_arena(w), 7000);

    expect_option_value_accepted(&s, free, 3, "''");
    expect_option_value_accepted(&s, free, 3, "'tab\\tand \\u00e9'");
    memset(most, 'x', 6002);
    most[0] = most[6001] = '\'';
    expect_option_value_accepted(&s, free, 3, most);
    most[6001] = 'x';
    most[6002] = '\'';
    expect_option_value_refused(&s, free, 3, most, OPTION);
    expect_option_value_accepted(&s, short_one, 3, "'ab'");
    expect_option_value_accepted(&s, short_one, 3, "'\xc3\xa4\xc3\xb6\xc3\xbc'");
    expect_option_value_refused(&s, short_one, 3, "'a'", OPTION);
    expect_option_value_refused(&s, short_one, 3, "'abcd'", OPTION);
    expect_option_value_refused(&s, free, 3, "5", VALUE);
    expect_option_value_refused(&s, free, 3, "{}", VALUE);
    expect_option_value_refused(&s, free, 3, "null", VALUE);
}

static void number_option_range_is_checked(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *whole = create_command_with_option(&s, "'type': 4"),
               *some = create_command_with_option(&s, "'type': 4, 'min_value': -1, 'max_value': 6"),
               *real =
                   create_command_with_option(&s, "'type': 10, 'min_value': 0.5, 'max_value': 1.5"),
               *any = create_command_with_option(&s, "'type': 10");

    expect_option_value_accepted(&s, whole, 4, "9007199254740992");
    expect_option_value_accepted(&s, whole, 4, "-9007199254740992");
    expect_option_value_refused(&s, whole, 4, "9007199254740993", OPTION);
    expect_option_value_refused(&s, whole, 4, "-9007199254740993", OPTION);
    expect_option_value_refused(&s, whole, 4, "1.5", VALUE);
    expect_option_value_refused(&s, whole, 4, "'1'", VALUE);
    expect_option_value_accepted(&s, some, 4, "-1");
    expect_option_value_accepted(&s, some, 4, "6");
    expect_option_value_refused(&s, some, 4, "-2", OPTION);
    expect_option_value_refused(&s, some, 4, "7", OPTION);
    expect_option_value_accepted(&s, real, 10, "0.5");
    expect_option_value_accepted(&s, real, 10, "1.5");
    expect_option_value_accepted(&s, real, 10, "1");
    expect_option_value_refused(&s, real, 10, "0.49", OPTION);
    expect_option_value_refused(&s, real, 10, "1.51", OPTION);
    expect_option_value_refused(&s, any, 10, "1e300", OPTION);
    expect_option_value_refused(&s, any, 10, "true", VALUE);
    /* Numbers are sent in canonical form. */
    expect_status(invoke_with_value(&s, any, 10, "2.50e1"), 204);
    expect_dom(&s, last_interaction(&s), "{'data': {'options': [{'value': 25}]}}");
}

static void boolean_option_accepts_only_true_and_false(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = create_command_with_option(&s, "'type': 5");

    expect_option_value_accepted(&s, id, 5, "true");
    expect_option_value_accepted(&s, id, 5, "false");
    expect_option_value_refused(&s, id, 5, "1", VALUE);
    expect_option_value_refused(&s, id, 5, "'true'", VALUE);
}

/* Length limits do not apply to choices. */
static void option_with_choices_accepts_only_their_values(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *word = create_command_with_option(
                   &s, "'type': 3, 'max_length': 1, 'choices': [{'name': 'Red', "
                       "'value': 'red'}, {'name': 'B', 'value': 'blue'}]"),
               *number = create_command_with_option(
                   &s, "'type': 4, 'choices': [{'name': 'Six', 'value': 6}]"),
               *real = create_command_with_option(
                   &s, "'type': 10, 'choices': [{'name': 'Half', 'value': 0.5}]");

    expect_option_value_accepted(&s, word, 3, "'red'");
    expect_option_value_refused(&s, word, 3, "'Red'", OPTION);
    expect_option_value_refused(&s, word, 3, "'green'", OPTION);
    expect_option_value_accepted(&s, number, 4, "6");
    expect_option_value_refused(&s, number, 4, "5", OPTION);
    expect_option_value_accepted(&s, real, 10, "0.5");
    expect_option_value_refused(&s, real, 10, "0.25", OPTION);
}

/* The largest body reaches the app complete. */
static void options_with_600_kb_of_text_arrive_complete(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct buf defs, given;
    char word[24001];

    for (size_t i = 0; i < 24000; i += 4)
        memcpy(word + i, "\xf0\x9f\x8e\xb2", 4);
    word[24000] = '\0';
    buf_init(&defs, 1 << 20);
    buf_init(&given, 1 << 20);
    for (int i = 0; i < 25; i++) {
        buf_printf(&defs, "%s{'name': 'o%d', 'description': 'O', 'type': 3}", i ? ", " : "", i);
        buf_printf(&given, "%s{'name': 'o%d', 'type': 3, 'value': '%s'}", i ? ", " : "", i, word);
    }
    const char *id = make_global_command(&s, "'options': [%.*s]", STR_ARGS(buf_as_str(&defs)));
    expect_status(roll(&s, s.bob, id, "'options': [%.*s]", STR_ARGS(buf_as_str(&given))), 204);
    const struct dom *d = last_interaction(&s);
    expect(dom_at(d, "data.options")->count == 25);
    expect(str_is(dom_at(d, "data.options.24.value")->text, word));
    buf_clear(&defs);
    buf_clear(&given);
}

/* --- list of options ------------------------------------------------------------------ */

static void required_options_must_be_given_and_unknown_are_refused(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(
        &s, "'options': [{'name': 'a', 'description': 'A', 'type': 3, 'required': true}, "
            "{'name': 'b', 'description': 'B', 'type': 4}]");

    expect_invalid(roll(&s, s.bob, id, "%s", ""), "data.options", MISSING);
    expect_invalid(roll(&s, s.bob, id, "'options': [{'name': 'b', 'type': 4, 'value': 1}]"),
                   "data.options", MISSING);
    expect_invalid(roll(&s, s.bob, id,
                        "'options': [{'name': 'a', 'type': 3, 'value': 'x'}, {'name': 'c', 'type': "
                        "3, 'value': 'x'}]"),
                   "data.options", OPTION);
    expect_invalid(roll(&s, s.bob, id, "'options': [{'name': 'a', 'type': 4, 'value': 1}]"),
                   "data.options", OPTION);
    expect_invalid(roll(&s, s.bob, id,
                        "'options': [{'name': 'a', 'type': 3, 'value': 'x'}, {'name': 'a', 'type': "
                        "3, 'value': 'y'}]"),
                   "data.options", OPTION);
    expect_invalid(roll(&s, s.bob, id, "'options': [{'name': 'a', 'type': 3}]"), "data.options",
                   VALUE);
    expect_status(roll(&s, s.bob, id, "'options': [{'name': 'a', 'type': 3, 'value': 'x'}]"), 204);
    /* The options keep the order of the request. */
    expect_status(roll(&s, s.bob, id,
                       "'options': [{'name': 'b', 'type': 4, 'value': 1}, {'name': 'a', 'type': 3, "
                       "'value': 'x'}]"),
                  204);
    expect_dom(&s, last_interaction(&s), "{'data': {'options': [{'name': 'b'}, {'name': 'a'}]}}");
    expect(!dom_at(last_interaction(&s), "data.options.0.focused"));
}

static void exactly_one_nested_subcommand_must_be_given(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(
        &s, "'options': [{'name': 'plain', 'description': 'P', 'type': 1}, {'name': 'grp', "
            "'description': 'G', 'type': 2, 'options': [{'name': 'sub', 'description': 'S', "
            "'type': 1, 'options': [{'name': 'n', 'description': 'N', 'type': 4, 'required': "
            "true}]}]}]");
    static const char *const wrong[] = {
        "'options': [{'name': 'plain', 'type': 1}, {'name': 'grp', 'type': 2}]",
        "'options': [{'name': 'plain', 'type': 1, 'value': 1}]",
        "'options': [{'name': 'grp', 'type': 1}]",
        "'options': [{'name': 'sub', 'type': 1}]",
        "'options': [{'name': 'grp', 'type': 2, 'options': [{'name': 'other', 'type': 1}]}]",
    };

    expect_invalid(roll(&s, s.bob, id, "%s", ""), "data.options", MISSING);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_error(roll(&s, s.bob, id, "%s", wrong[i]), 400, 50035);
    expect_invalid(roll(&s, s.bob, id,
                        "'options': [{'name': 'grp', 'type': 2, 'options': [{'name': 'sub', "
                        "'type': 1}]}]"),
                   "data.options", MISSING);
    expect_status(roll(&s, s.bob, id, "'options': [{'name': 'plain', 'type': 1}]"), 204);
    expect_dom(
        &s, last_interaction(&s),
        "{'data': {'name': 'roll', 'options': [{'name': 'plain', 'type': 1, 'options': []}]}}");
    expect_status(roll(&s, s.bob, id,
                       "'options': [{'name': 'grp', 'type': 2, 'options': [{'name': 'sub', 'type': "
                       "1, 'options': [{'name': 'n', 'type': 4, 'value': 3}]}]}]"),
                  204);
    expect_dom(
        &s, last_interaction(&s),
        "{'data': {'name': 'roll', 'options': [{'name': 'grp', 'type': 2, 'options': [{'name': "
        "'sub', 'type': 1, 'options': [{'name': 'n', 'type': 4, 'value': 3}]}]}]}}");
    expect(store_count(w, "select count(*) from interactions where name = 'roll grp sub'") == 1);
}

/* --- autocomplete --------------------------------------------------------------------- */

static struct answer send_autocomplete(struct test_commands *s, const char *id, const char *options)
{
    return invoke(s, s->bob, "'type': 4",
                  "'id': '%s', 'version': '%s', 'name': 'roll', 'options': [%s]", id, id, options);
}

static void autocomplete_sends_the_focused_option_as_string(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(
        &s, "'options': [{'name': 'n', 'description': 'N', 'type': 4, 'required': true, "
            "'autocomplete': true, 'min_value': 10}, {'name': 'other', 'description': 'O', 'type': "
            "3, 'autocomplete': true}, {'name': 'fixed', 'description': 'F', 'type': 3, "
            "'required': true}, {'name': 'file', 'description': 'F', 'type': 11}]");

    /* Ranges are not checked yet, and required options may be missing. */
    expect_status(
        send_autocomplete(&s, id, "{'name': 'n', 'type': 4, 'value': '1', 'focused': true}"), 204);
    const struct dom *d = last_interaction(&s);
    expect_dom(
        &s, d,
        "{'type': 4, 'data': {'id': '%s', 'version': '%s', 'options': [{'name': 'n', 'type': "
        "4, 'value': '1', 'focused': true}]}}",
        id, id);
    expect_status(
        send_autocomplete(&s, id, "{'name': 'n', 'type': 4, 'value': 12, 'focused': true}"), 204);
    expect_dom(&s, last_interaction(&s), "{'data': {'options': [{'value': '12'}]}}");
    expect_status(send_autocomplete(&s, id, "{'name': 'n', 'type': 4, 'focused': true}"), 204);
    expect_dom(&s, last_interaction(&s), "{'data': {'options': [{'value': ''}]}}");
    /* Other options have their types; files are not sent. */
    expect_status(send_autocomplete(
                      &s, id,
                      "{'name': 'n', 'type': 4, 'value': 12}, {'name': 'file', 'type': 11, "
                      "'value': '0'}, {'name': 'other', 'type': 3, 'value': 'a', 'focused': true}"),
                  204);
    d = last_interaction(&s);
    expect_dom(&s, d,
               "{'data': {'options': [{'name': 'n', 'value': 12}, {'name': 'other', 'value': "
               "'a', 'focused': true}]}}");
    expect(!dom_at(d, "data.options.0.focused"));
    expect(store_count(w, "select count(*) from interactions where focused_type = 4") == 3);
    world_wait(w, 4);
    world_settle(w);
    expect(store_count(w, "select count(*) from command_uses") == 0);

    static const char *const wrong[] = {
        "",
        "{'name': 'n', 'type': 4, 'value': 12}",
        "{'name': 'fixed', 'type': 3, 'value': 'x', 'focused': true}",
        "{'name': 'n', 'type': 4, 'value': '1', 'focused': true}, {'name': 'other', 'type': 3, "
        "'value': 'a', 'focused': true}",
        "{'name': 'n', 'type': 4, 'value': 9}, {'name': 'other', 'type': 3, 'value': 'a', "
        "'focused': true}",
        "{'name': 'n', 'type': 4, 'value': [], 'focused': true}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct answer a = send_autocomplete(&s, id, wrong[i]);

        expect_error(a, 400, 50035);
        expect(dom_at(a.json, "errors.data.options._errors.0.code"));
    }
}

static void autocomplete_works_for_options_of_subcommands(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(
        &s, "'options': [{'name': 'sub', 'description': 'S', 'type': 1, 'options': [{'name': 'n', "
            "'description': 'N', 'type': 10, 'autocomplete': true}]}]");

    expect_status(send_autocomplete(
                      &s, id,
                      "{'name': 'sub', 'type': 1, 'options': [{'name': 'n', 'type': 10, 'value': "
                      "'1.', 'focused': true}]}"),
                  204);
    expect_dom(
        &s, last_interaction(&s),
        "{'data': {'options': [{'name': 'sub', 'type': 1, 'options': [{'name': 'n', 'type': 10, "
        "'value': '1.', 'focused': true}]}]}}");
    expect_error(send_autocomplete(&s, id, "{'name': 'sub', 'type': 1, 'focused': true}"), 400,
                 50035);
    expect_error(send_autocomplete(&s, id, "{'name': 'sub', 'type': 1}"), 400, 50035);
}

static void only_chat_input_commands_support_autocomplete(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "'type': 2, 'description': ''");

    expect_invalid(
        invoke(&s, s.bob, "'type': 4",
               "'id': '%s', 'version': '%s', 'name': 'roll', 'type': 2, 'target_id': '%s'", id, id,
               s.ada->id),
        "data", "INTERACTION_APPLICATION_COMMAND_INVALID");
}

const struct test interactions_options_tests[] = {
    TEST(string_option_length_is_checked),
    TEST(number_option_range_is_checked),
    TEST(boolean_option_accepts_only_true_and_false),
    TEST(option_with_choices_accepts_only_their_values),
    TEST(options_with_600_kb_of_text_arrive_complete),
    TEST(required_options_must_be_given_and_unknown_are_refused),
    TEST(exactly_one_nested_subcommand_must_be_given),
    TEST(autocomplete_sends_the_focused_option_as_string),
    TEST(autocomplete_works_for_options_of_subcommands),
    TEST(only_chat_input_commands_support_autocomplete),
    { 0 },
};
