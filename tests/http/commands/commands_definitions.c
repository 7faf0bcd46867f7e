/* commands_definitions.c - what a command may be: every rule, on both sides of its limits. */
#include <stdlib.h>

#include "apps.h"
#include "test_app.h"

/* A body and what is wrong with it; NULL: nothing. */
struct definition {
    const char *json, *path, *code;
};

static void try_all(struct test_app *s, const struct definition *d)
{
    for (; d->json; d++) {
        struct answer a = client_post(s->bot, d->json, "%s", s->global);

        if (d->path)
            expect_invalid(a, d->path, d->code);
        else if (a.status != 200)
            expect_status(a, 201);
    }
}

#define NAMED(name) "{'description': 'd', 'name': '" name "'}"
#define BAD_NAME    "APPLICATION_COMMAND_INVALID_NAME"
#define REGEX       "STRING_TYPE_REGEX"
#define TEN         "abcdefghij"
#define THIRTY      TEN TEN TEN
#define HUNDRED     THIRTY THIRTY THIRTY TEN
/* Two bytes each. */
#define TEN_WIDE "éééééééééé"

static void command_names_are_letters_of_any_script(struct world *w)
{
    static const struct definition names[] = {
        { NAMED("a"), NULL, NULL },
        { NAMED("-_0"), NULL, NULL },
        { NAMED("it\\u0027s"), NULL, NULL },
        { NAMED("größe"), NULL, NULL },
        { NAMED("приве́т"), "name", REGEX }, /* a combining accent */
        { NAMED("привет"), NULL, NULL },
        { NAMED("你好"), NULL, NULL },
        { NAMED("नमस्ते"), NULL, NULL }, /* with vowel signs, which are marks */
        { NAMED("สวัสดี"), NULL, NULL },
        { NAMED("مَرحبا"), "name", REGEX }, /* marks of other scripts are refused */
        { NAMED("五〇"), NULL, NULL },
        { NAMED("½²"), NULL, NULL },
        { NAMED("two words"), "name", REGEX },
        { NAMED("a.b"), "name", REGEX },
        { NAMED("smile😀"), "name", REGEX },
        { NAMED("a\\u0000b"), "name", REGEX },
        { NAMED("a\\n"), "name", REGEX },
        { NAMED("Ping"), "name", BAD_NAME },
        { NAMED("Привет"), "name", BAD_NAME },
        { NAMED("ǅ"), "name", BAD_NAME }, /* title case has a lower case, too */
        { NAMED("ßʼ"), NULL, NULL },      /* a letter that looks like an apostrophe */
        { NAMED(THIRTY "ab"), NULL, NULL },
        { NAMED(THIRTY "abc"), "name", "BASE_TYPE_BAD_LENGTH" },
        { NAMED(TEN_WIDE TEN_WIDE TEN_WIDE "éé"), NULL, NULL },
        { NAMED(TEN_WIDE TEN_WIDE TEN_WIDE "ééé"), "name", "BASE_TYPE_BAD_LENGTH" },
        { NAMED(""), "name", "BASE_TYPE_BAD_LENGTH" },
        { "{'description': 'd'}", "name", "BASE_TYPE_REQUIRED" },
        { "{'description': 'd', 'name': []}", "name", "STRING_TYPE_CONVERT" },
        { 0 },
    };
    struct test_app s = world_test_app(w);

    try_all(&s, names);
    struct answer a = client_post(s.bot, NAMED("two words"), "%s", s.global);
    expect_invalid(a, "name", BAD_NAME); /* both */
    a = client_post(s.bot, NAMED("Ping"), "%s", s.global);
    expect_absent(a, "errors.name._errors.1"); /* the case alone is one problem */
}

static void menu_command_names_have_any_case_and_spaces(struct world *w)
{
    static const struct definition names[] = {
        { "{'type': 2, 'name': 'Say Hello 😀!'}", NULL, NULL },
        { "{'type': 3, 'name': 'Übersetzen'}", NULL, NULL },
        { "{'type': 2, 'name': '   '}", "name", "BASE_TYPE_BAD_LENGTH" },
        { "{'type': 2, 'name': 'a\\u0007b'}", "name", BAD_NAME },
        { "{'type': 3, 'name': 'a\\u0085b'}", "name", BAD_NAME },
        { "{'type': 3, 'name': '" THIRTY "abc'}", "name", "BASE_TYPE_BAD_LENGTH" },
        { "{'type': 2, 'name': 'x', 'name_localizations': {'de': 'a\\u0007'}}",
          "name_localizations", BAD_NAME },
        { "{'type': 2, 'name': 'x', 'name_localizations': {'de': 'Ä B'}}", NULL, NULL },
        { 0 },
    };
    struct test_app s = world_test_app(w);

    try_all(&s, names);
}

#define DESCRIBED(text) "{'name': 'a', 'description': '" text "'}"

static void command_descriptions_follow_the_type(struct world *w)
{
    static const struct definition descriptions[] = {
        { DESCRIBED("x"), NULL, NULL },
        { DESCRIBED(HUNDRED), NULL, NULL },
        { DESCRIBED(HUNDRED "x"), "description", "BASE_TYPE_BAD_LENGTH" },
        { DESCRIBED(""), "description", "BASE_TYPE_BAD_LENGTH" },
        { "{'name': 'a'}", "description", "BASE_TYPE_REQUIRED" },
        { "{'name': 'a', 'description': null}", "description", "BASE_TYPE_REQUIRED" },
        { "{'name': 'a', 'type': 4}", "description", "BASE_TYPE_REQUIRED" },
        { "{'name': 'a', 'type': 2, 'description': 'x'}", "description",
          "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION_INVALID" },
        { "{'name': 'a', 'type': 3, 'description': 'x'}", "description",
          "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION_INVALID" },
        { "{'name': 'a', 'type': 2, 'description_localizations': {'de': 'x'}}",
          "description_localizations.de", "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION_INVALID" },
        { "{'name': 'a', 'description': 'd', 'description_localizations': {'de': ''}}",
          "description_localizations.de", "BASE_TYPE_BAD_LENGTH" },
        { "{'name': 'a', 'description': 'd', 'description_localizations': {'de': '" HUNDRED "'}}",
          NULL, NULL },
        { "{'name': 'a', 'description': 'd', 'description_localizations': {'de': '" HUNDRED "x'}}",
          "description_localizations.de", "BASE_TYPE_BAD_LENGTH" },
        { 0 },
    };
    struct test_app s = world_test_app(w);

    try_all(&s, descriptions);
}

#define WITH(fields) "{'name': 'a', 'description': 'd', " fields "}"

static void fields_of_commands_have_their_types(struct world *w)
{
    static const struct definition fields[] = {
        { WITH("'type': 5"), "type", "BASE_TYPE_CHOICES" },
        { WITH("'type': 'x'"), "type", "NUMBER_TYPE_COERCE" },
        { WITH("'nsfw': 'yes'"), "nsfw", "BOOLEAN_TYPE_CONVERT" },
        { WITH("'nsfw': null"), NULL, NULL },
        { WITH("'contexts': []"), "contexts", "BASE_TYPE_MIN_LENGTH" },
        { WITH("'contexts': [3]"), "contexts.0", "BASE_TYPE_CHOICES" },
        { WITH("'contexts': [0, 1, 2, 2]"), NULL, NULL },
        { WITH("'integration_types': []"), "integration_types", "BASE_TYPE_MIN_LENGTH" },
        { WITH("'integration_types': [0, 2]"), "integration_types.1", "BASE_TYPE_CHOICES" },
        { WITH("'handler': 4"), "handler", "BASE_TYPE_CHOICES" },
        { WITH("'default_member_permissions': 'many'"), "default_member_permissions",
          "NUMBER_TYPE_COERCE" },
        { WITH("'default_member_permissions': -1"), "default_member_permissions",
          "NUMBER_TYPE_COERCE" },
        { WITH("'default_member_permissions': 18014398509481983"), NULL, NULL },
        { WITH("'default_member_permissions': '18014398509481984'"), "default_member_permissions",
          "NUMBER_TYPE_MAX" },
        { WITH("'name_localizations': []"), "name_localizations", "DICT_TYPE_CONVERT" },
        { WITH("'name_localizations': {'xx': 'b'}"), "name_localizations.xx", "BASE_TYPE_CHOICES" },
        { WITH("'name_localizations': {'EN-US': 'b'}"), "name_localizations.EN-US",
          "BASE_TYPE_CHOICES" },
        { WITH("'name_localizations': {'de': 'B'}"), "name_localizations", BAD_NAME },
        { WITH("'name_localizations': {'de': ''}"), "name_localizations.de",
          "BASE_TYPE_BAD_LENGTH" },
        { WITH("'name_localizations': {'de': null}"), NULL, NULL },
        { WITH("'name_localizations': {'he': 'b'}"), NULL, NULL },
        { WITH("'description_localizations': {'tlh': 'b'}"), "description_localizations.tlh",
          "BASE_TYPE_CHOICES" },
        { WITH("'options': {}"), "options", "LIST_TYPE_CONVERT" },
        { WITH("'options': [null]"), "options.0", "LIST_ITEM_VALUE_REQUIRED" },
        { WITH("'options': [[]]"), "options.0", "MODEL_TYPE_CONVERT" },
        { WITH("'options': [7]"), "options.0", "MODEL_TYPE_CONVERT" },
        { WITH("'type': 2, 'description': '', 'options': [{'type': 5, 'name': 'a', "
               "'description': 'd'}]"),
          "options", "APPLICATION_COMMAND_CONTEXT_MENU_OPTIONS_INVALID" },
        { WITH("'type': 4, 'options': [{'type': 5, 'name': 'a', 'description': 'd'}]"), "options",
          "APPLICATION_COMMAND_CONTEXT_MENU_OPTIONS_INVALID" },
        { "[]", "", "MODEL_TYPE_CONVERT" },
        { 0 },
    };
    struct test_app s = world_test_app(w);

    try_all(&s, fields);
    expect_error(client_post(s.bot, "{", "%s", s.global), 400, 50109);
    /* What is no option is nothing else either. */
    expect_json(client_post(s.bot, WITH("'options': [null]"), "%s", s.global),
                "{'errors': {'options': {'0': {'_errors': [{'code': "
                "'LIST_ITEM_VALUE_REQUIRED'}]}}}}");
    struct answer a = client_post(s.bot, WITH("'type': 4"), "%s", s.local);
    expect_invalid(a, "type", "BASE_TYPE_CHOICES"); /* entry points are global */
    expect_json(a, "{'errors': {'type': {'_errors': "
                   "[{'message': 'Value must be one of (1, 2, 3).'}]}}}");
}

static void installation_contexts_of_commands_are_the_applications(struct world *w)
{
    struct test_app s = world_test_app(w);

    expect_status(
        client_patch(s.ada, "{'integration_types_config': {'0': {}}}", "/applications/%s", s.app),
        200);
    expect_invalid(client_post(s.bot, WITH("'integration_types': [0, 1]"), "%s", s.global),
                   "integration_types.1", "APPLICATION_COMMAND_INTEGRATION_TYPE_INVALID");
    struct answer a = client_post(s.bot, WITH("'nsfw': true"), "%s", s.global);
    expect_json(a, "{'integration_types': [0]}");
    expect_invalid(client_put(s.bot,
                              "[{'name': 'a', 'description': 'd'}, {'name': 'b', "
                              "'description': 'd', 'integration_types': [1]}]",
                              "%s", s.global),
                   "1.integration_types.0", "APPLICATION_COMMAND_INTEGRATION_TYPE_INVALID");
    /* What the application can do later does not change what is there. */
    expect_status(client_patch(s.ada, "{'integration_types_config': {'0': {}, '1': {}}}",
                               "/applications/%s", s.app),
                  200);
    expect_json(client_get(s.bot, "%s", s.global), "[{'integration_types': [0]}]");
}

/* --- many at once --------------------------------------------------------------------- */

static void all_problems_of_a_command_are_told_at_once(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct answer a = client_post(
        s.bot,
        "{'name': 'Bad', 'nsfw': 3, 'contexts': [7], 'options': ["
        "{'type': 3, 'name': 'B B', 'description': '', 'choices': [{'name': '', 'value': 5}]},"
        "{'type': 99, 'name': 'c', 'description': 'd'},"
        "{'name': 'd'},"
        "{'type': 1, 'name': 'e', 'description': 'd', 'options': [{'type': 1, 'name': 'f', "
        "'description': 'd'}]}]}",
        "%s", s.global);

    expect_invalid(a, "name", BAD_NAME);
    expect_invalid(a, "description", "BASE_TYPE_REQUIRED");
    expect_invalid(a, "nsfw", "BOOLEAN_TYPE_CONVERT");
    expect_invalid(a, "contexts.0", "BASE_TYPE_CHOICES");
    expect_invalid(a, "options.0.name", REGEX);
    expect_invalid(a, "options.0.description", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(a, "options.0.choices.0.name", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(a, "options.0.choices.0.value", "STRING_TYPE_CONVERT");
    expect_invalid(a, "options.1", "UNION_TYPE_CHOICES");
    expect_invalid(a, "options.2.type", "BASE_TYPE_REQUIRED");
    expect_invalid(a, "options.2.description", "BASE_TYPE_REQUIRED");
    expect_invalid(a, "options.3", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID");
    expect_invalid(a, "options.3.options.0", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID");
    expect(store_count(w, "select count(*) from commands") == 0);
}

static void numbers_are_no_text_and_words_are_no_number(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = world_client(w, "bob");
    struct answer a = client_post(s.bot, "{'name': 7, 'description': 7}", "%s", s.global);

    expect_invalid(a, "name", "STRING_TYPE_CONVERT");
    expect_invalid(a, "description", "STRING_TYPE_CONVERT");
    expect_invalid(client_post(s.bot, "{'name': 'x', 'type': 'two'}", "%s", s.global), "type",
                   "NUMBER_TYPE_COERCE");
    expect_json(client_post(s.bot, "{'name': 'x', 'type': '2'}", "%s", s.global), "{'type': 2}");
    expect_invalid(client_post(s.bot,
                               "{'name': 'x', 'description': 'd', 'options': [{'type': 4, 'name': "
                               "'n', 'description': 'd', 'min_value': 'five'}]}",
                               "%s", s.global),
                   "options.0.min_value", "NUMBER_TYPE_COERCE");
    expect_invalid(client_put(bob, "{'note': 5}", "/users/@me/relationships/%s", s.ada->id), "note",
                   "STRING_TYPE_CONVERT");
    expect_invalid(client_put(bob, "{'type': 'friend'}", "/users/@me/relationships/%s", s.ada->id),
                   "type", "NUMBER_TYPE_COERCE");
    /* Ids and sets of bits have both spellings. */
    expect_json(client_post(s.bot,
                            "{'name': 'x', 'description': 'd', 'default_member_permissions': 8}",
                            "%s", s.global),
                "{'default_member_permissions': '8'}");
    expect_status(
        client_post(bob, TEXT(w, "{'recipient_id': %s}", s.ada->id), "/users/@me/channels"), 200);
}

const struct test commands_definitions_tests[] = {
    TEST(numbers_are_no_text_and_words_are_no_number),
    TEST(command_names_are_letters_of_any_script),
    TEST(menu_command_names_have_any_case_and_spaces),
    TEST(command_descriptions_follow_the_type),
    TEST(fields_of_commands_have_their_types),
    TEST(installation_contexts_of_commands_are_the_applications),
    TEST(all_problems_of_a_command_are_told_at_once),
    { 0 },
};
