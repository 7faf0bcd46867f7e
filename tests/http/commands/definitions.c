/* definitions.c - limits of all fields of a command definition. */
#include <stdlib.h>

#include "apps.h"
#include "test_app.h"

/* A body with the expected error; path NULL: valid. */
struct definition {
    const char *json, *path, *code;
};

static void check_commands_of_table_are_accepted_or_refused(struct test_app *s,
                                                            const struct definition *d)
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
/* Ten characters of two bytes. */
#define TEN_TWO_BYTE "éééééééééé"

static void chat_command_name_allows_lowercase_letters_of_any_script(struct world *w)
{
    static const struct definition names[] = {
        { NAMED("a"), NULL, NULL },
        { NAMED("-_0"), NULL, NULL },
        { NAMED("it\\u0027s"), NULL, NULL },
        { NAMED("größe"), NULL, NULL },
        { NAMED("приве́т"), "name", REGEX }, /* a combining accent */
        { NAMED("привет"), NULL, NULL },
        { NAMED("你好"), NULL, NULL },
        { NAMED("नमस्ते"), NULL, NULL }, /* this name has vowel signs, which are combining marks */
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
        { NAMED(TEN_TWO_BYTE TEN_TWO_BYTE TEN_TWO_BYTE "éé"), NULL, NULL },
        { NAMED(TEN_TWO_BYTE TEN_TWO_BYTE TEN_TWO_BYTE "ééé"), "name", "BASE_TYPE_BAD_LENGTH" },
        { NAMED(""), "name", "BASE_TYPE_BAD_LENGTH" },
        { "{'description': 'd'}", "name", "BASE_TYPE_REQUIRED" },
        { "{'description': 'd', 'name': []}", "name", "STRING_TYPE_CONVERT" },
        { 0 },
    };
    struct test_app s = world_test_app(w);

    check_commands_of_table_are_accepted_or_refused(&s, names);
    struct answer a = client_post(s.bot, NAMED("two words"), "%s", s.global);
    expect_invalid(a, "name", BAD_NAME); /* both errors */
    a = client_post(s.bot, NAMED("Ping"), "%s", s.global);
    expect_absent(a, "errors.name._errors.1"); /* the case alone is one error */
}

static void context_menu_command_name_allows_capitals_and_spaces(struct world *w)
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

    check_commands_of_table_are_accepted_or_refused(&s, names);
}

#define DESCRIBED(text) "{'name': 'a', 'description': '" text "'}"

static void command_description_is_required_only_for_chat_input_type(struct world *w)
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

    check_commands_of_table_are_accepted_or_refused(&s, descriptions);
}

#define WITH(fields) "{'name': 'a', 'description': 'd', " fields "}"

static void command_fields_with_wrong_types_are_refused(struct world *w)
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

    check_commands_of_table_are_accepted_or_refused(&s, fields);
    expect_error(client_post(s.bot, "{", "%s", s.global), 400, 50109);
    /* A null option gets only one error. */
    expect_json(client_post(s.bot, WITH("'options': [null]"), "%s", s.global),
                "{'errors': {'options': {'0': {'_errors': [{'code': "
                "'LIST_ITEM_VALUE_REQUIRED'}]}}}}");
    struct answer a = client_post(s.bot, WITH("'type': 4"), "%s", s.local);
    expect_invalid(a, "type", "BASE_TYPE_CHOICES"); /* entry point commands are global only */
    expect_json(a, "{'errors': {'type': {'_errors': "
                   "[{'message': 'Value must be one of (1, 2, 3).'}]}}}");
}

static void command_integration_types_must_be_supported_by_the_app(struct world *w)
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
    /* Types that the application supports later do not change existing commands. */
    expect_status(client_patch(s.ada, "{'integration_types_config': {'0': {}, '1': {}}}",
                               "/applications/%s", s.app),
                  200);
    expect_json(client_get(s.bot, "%s", s.global), "[{'integration_types': [0]}]");
}

/* --- several errors ------------------------------------------------------------------- */

static void invalid_command_gets_all_errors_in_one_response(struct world *w)
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

static void command_strings_refuse_numbers_and_numbers_accept_digits(struct world *w)
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
    /* Ids and bit sets are accepted as string or number. */
    expect_json(client_post(s.bot,
                            "{'name': 'x', 'description': 'd', 'default_member_permissions': 8}",
                            "%s", s.global),
                "{'default_member_permissions': '8'}");
    expect_status(
        client_post(bob, TEXT(w, "{'recipient_id': %s}", s.ada->id), "/users/@me/channels"), 200);
}

const struct test commands_definitions_tests[] = {
    TEST(command_strings_refuse_numbers_and_numbers_accept_digits),
    TEST(chat_command_name_allows_lowercase_letters_of_any_script),
    TEST(context_menu_command_name_allows_capitals_and_spaces),
    TEST(command_description_is_required_only_for_chat_input_type),
    TEST(command_fields_with_wrong_types_are_refused),
    TEST(command_integration_types_must_be_supported_by_the_app),
    TEST(invalid_command_gets_all_errors_in_one_response),
    { 0 },
};
