/* interactions_options.c - what is chosen and typed for a command's options. */
#include "test_commands.h"

#include "base/buf.h"

#define OPTION  "INTERACTION_APPLICATION_COMMAND_OPTION_INVALID"
#define MISSING "INTERACTION_APPLICATION_COMMAND_OPTION_MISSING"
#define VALUE   "INTERACTION_APPLICATION_COMMAND_OPTIONS_VALUE_INVALID"

/* A command with one option that these members describe. */
static const char *with_option(struct test_commands *s, const char *members)
{
    return make_global_command(s, "'options': [{'name': 'o', 'description': 'O', %s}]", members);
}

/* The same option, given this value. */
static struct answer give(struct test_commands *s, const char *id, int type, const char *value)
{
    return roll(s, s->bob, id, "'options': [{'name': 'o', 'type': %d, 'value': %s}]", type, value);
}

static void refuse(struct test_commands *s, const char *id, int type, const char *value,
                   const char *code)
{
    expect_invalid(give(s, id, type, value), "data.options", code);
}

static void take(struct test_commands *s, const char *id, int type, const char *value)
{
    expect_status(give(s, id, type, value), 204);
    expect_dom(s, last_interaction(s),
               "{'data': {'options': [{'name': 'o', 'type': %d, 'value': %s}]}}", type, value);
}

/* --- words and numbers ---------------------------------------------------------------- */

static void texts_have_their_length(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *free = with_option(&s, "'type': 3"),
               *short_one = with_option(&s, "'type': 3, 'min_length': 2, 'max_length': 3");
    char *most = arena_alloc(world_arena(w), 7000);

    take(&s, free, 3, "''");
    take(&s, free, 3, "'tab\\tand \\u00e9'");
    memset(most, 'x', 6002);
    most[0] = most[6001] = '\'';
    take(&s, free, 3, most);
    most[6001] = 'x';
    most[6002] = '\'';
    refuse(&s, free, 3, most, OPTION);
    take(&s, short_one, 3, "'ab'");
    take(&s, short_one, 3, "'\xc3\xa4\xc3\xb6\xc3\xbc'");
    refuse(&s, short_one, 3, "'a'", OPTION);
    refuse(&s, short_one, 3, "'abcd'", OPTION);
    refuse(&s, free, 3, "5", VALUE);
    refuse(&s, free, 3, "{}", VALUE);
    refuse(&s, free, 3, "null", VALUE);
}

static void numbers_have_their_range(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *whole = with_option(&s, "'type': 4"),
               *some = with_option(&s, "'type': 4, 'min_value': -1, 'max_value': 6"),
               *real = with_option(&s, "'type': 10, 'min_value': 0.5, 'max_value': 1.5"),
               *any = with_option(&s, "'type': 10");

    take(&s, whole, 4, "9007199254740992");
    take(&s, whole, 4, "-9007199254740992");
    refuse(&s, whole, 4, "9007199254740993", OPTION);
    refuse(&s, whole, 4, "-9007199254740993", OPTION);
    refuse(&s, whole, 4, "1.5", VALUE);
    refuse(&s, whole, 4, "'1'", VALUE);
    take(&s, some, 4, "-1");
    take(&s, some, 4, "6");
    refuse(&s, some, 4, "-2", OPTION);
    refuse(&s, some, 4, "7", OPTION);
    take(&s, real, 10, "0.5");
    take(&s, real, 10, "1.5");
    take(&s, real, 10, "1");
    refuse(&s, real, 10, "0.49", OPTION);
    refuse(&s, real, 10, "1.51", OPTION);
    refuse(&s, any, 10, "1e300", OPTION);
    refuse(&s, any, 10, "true", VALUE);
    /* As everybody writes it. */
    expect_status(give(&s, any, 10, "2.50e1"), 204);
    expect_dom(&s, last_interaction(&s), "{'data': {'options': [{'value': 25}]}}");
}

static void yes_and_no_are_booleans(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = with_option(&s, "'type': 5");

    take(&s, id, 5, "true");
    take(&s, id, 5, "false");
    refuse(&s, id, 5, "1", VALUE);
    refuse(&s, id, 5, "'true'", VALUE);
}

/* Limits beside choices do not count. */
static void choices_are_all_there_is(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *word = with_option(&s, "'type': 3, 'max_length': 1, 'choices': [{'name': 'Red', "
                                       "'value': 'red'}, {'name': 'B', 'value': 'blue'}]"),
               *number = with_option(&s, "'type': 4, 'choices': [{'name': 'Six', 'value': 6}]"),
               *real = with_option(&s, "'type': 10, 'choices': [{'name': 'Half', 'value': 0.5}]");

    take(&s, word, 3, "'red'");
    refuse(&s, word, 3, "'Red'", OPTION);
    refuse(&s, word, 3, "'green'", OPTION);
    take(&s, number, 4, "6");
    refuse(&s, number, 4, "5", OPTION);
    take(&s, real, 10, "0.5");
    refuse(&s, real, 10, "0.25", OPTION);
}

/* As much as a body can hold reaches the app whole. */
static void a_lot_of_text_arrives_whole(struct world *w)
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
    const char *id = make_global_command(&s, "'options': [%.*s]", STR_FMT(buf_str(&defs)));
    expect_status(roll(&s, s.bob, id, "'options': [%.*s]", STR_FMT(buf_str(&given))), 204);
    const struct dom *d = last_interaction(&s);
    expect(dom_at(d, "data.options")->count == 25);
    expect(str_is(dom_at(d, "data.options.24.value")->text, word));
    buf_clear(&defs);
    buf_clear(&given);
}

/* --- the list ------------------------------------------------------------------------- */

static void what_is_required_is_there_and_nothing_unknown(struct world *w)
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
    /* In the order in which they were given. */
    expect_status(roll(&s, s.bob, id,
                       "'options': [{'name': 'b', 'type': 4, 'value': 1}, {'name': 'a', 'type': 3, "
                       "'value': 'x'}]"),
                  204);
    expect_dom(&s, last_interaction(&s), "{'data': {'options': [{'name': 'b'}, {'name': 'a'}]}}");
    expect(!dom_at(last_interaction(&s), "data.options.0.focused"));
}

static void subcommands_nest_and_one_is_used(struct world *w)
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

static struct answer type_in(struct test_commands *s, const char *id, const char *options)
{
    return invoke(s, s->bob, "'type': 4",
                  "'id': '%s', 'version': '%s', 'name': 'roll', 'options': [%s]", id, id, options);
}

static void what_is_being_typed_is_text(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(
        &s, "'options': [{'name': 'n', 'description': 'N', 'type': 4, 'required': true, "
            "'autocomplete': true, 'min_value': 10}, {'name': 'other', 'description': 'O', 'type': "
            "3, 'autocomplete': true}, {'name': 'fixed', 'description': 'F', 'type': 3, "
            "'required': true}, {'name': 'file', 'description': 'F', 'type': 11}]");

    /* Limits do not count yet, and what is required may be missing. */
    expect_status(type_in(&s, id, "{'name': 'n', 'type': 4, 'value': '1', 'focused': true}"), 204);
    const struct dom *d = last_interaction(&s);
    expect_dom(
        &s, d,
        "{'type': 4, 'data': {'id': '%s', 'version': '%s', 'options': [{'name': 'n', 'type': "
        "4, 'value': '1', 'focused': true}]}}",
        id, id);
    expect_status(type_in(&s, id, "{'name': 'n', 'type': 4, 'value': 12, 'focused': true}"), 204);
    expect_dom(&s, last_interaction(&s), "{'data': {'options': [{'value': '12'}]}}");
    expect_status(type_in(&s, id, "{'name': 'n', 'type': 4, 'focused': true}"), 204);
    expect_dom(&s, last_interaction(&s), "{'data': {'options': [{'value': ''}]}}");
    /* What is filled in already is what it is; files never come along. */
    expect_status(
        type_in(&s, id,
                "{'name': 'n', 'type': 4, 'value': 12}, {'name': 'file', 'type': 11, "
                "'value': '0'}, {'name': 'other', 'type': 3, 'value': 'a', 'focused': true}"),
        204);
    d = last_interaction(&s);
    expect_dom(&s, d,
               "{'data': {'options': [{'name': 'n', 'value': 12}, {'name': 'other', 'value': "
               "'a', 'focused': true}]}}");
    expect(!dom_at(d, "data.options.0.focused"));
    expect(store_count(w, "select count(*) from interactions where focused_type = 4") == 3);
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
        struct answer a = type_in(&s, id, wrong[i]);

        expect_error(a, 400, 50035);
        expect(dom_at(a.json, "errors.data.options._errors.0.code"));
    }
}

static void options_of_subcommands_complete(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(
        &s, "'options': [{'name': 'sub', 'description': 'S', 'type': 1, 'options': [{'name': 'n', "
            "'description': 'N', 'type': 10, 'autocomplete': true}]}]");

    expect_status(
        type_in(&s, id,
                "{'name': 'sub', 'type': 1, 'options': [{'name': 'n', 'type': 10, 'value': "
                "'1.', 'focused': true}]}"),
        204);
    expect_dom(
        &s, last_interaction(&s),
        "{'data': {'options': [{'name': 'sub', 'type': 1, 'options': [{'name': 'n', 'type': 10, "
        "'value': '1.', 'focused': true}]}]}}");
    expect_error(type_in(&s, id, "{'name': 'sub', 'type': 1, 'focused': true}"), 400, 50035);
    expect_error(type_in(&s, id, "{'name': 'sub', 'type': 1}"), 400, 50035);
}

static void only_slash_commands_complete(struct world *w)
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
    TEST(texts_have_their_length),
    TEST(numbers_have_their_range),
    TEST(yes_and_no_are_booleans),
    TEST(choices_are_all_there_is),
    TEST(a_lot_of_text_arrives_whole),
    TEST(what_is_required_is_there_and_nothing_unknown),
    TEST(subcommands_nest_and_one_is_used),
    TEST(what_is_being_typed_is_text),
    TEST(options_of_subcommands_complete),
    TEST(only_slash_commands_complete),
    { 0 },
};
