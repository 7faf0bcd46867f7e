/* localizations.c - localized names and descriptions in command lists and indexes. */
#include <stdlib.h>

#include "apps.h"
#include "test_app.h"

/* Localizations in German, both kinds of English and Spanish at every level. */
static const char PAINT[] =
    "{'name': 'paint', 'description': 'Paints', "
    "'name_localizations': {'de': 'malen', 'en-GB': 'paynt', 'es-ES': 'pintar'}, "
    "'description_localizations': {'de': 'Malt'}, 'options': ["
    "{'type': 1, 'name': 'wall', 'description': 'A wall', 'name_localizations': {'de': 'wand'}, "
    "'options': [{'type': 3, 'name': 'color', 'description': 'Which', "
    "'name_localizations': {'en-US': 'color', 'en-GB': 'colour', 'de': 'farbe'}, "
    "'description_localizations': {'de': 'Welche'}, 'choices': ["
    "{'name': 'Red', 'value': 'r', 'name_localizations': {'de': 'Rot'}}, "
    "{'name': 'Blue', 'value': 'b'}]}]}]}";

static struct answer list_commands_in(struct test_app *s, const char *locale)
{
    return client_request(s->bot, "GET", TEXT(s->world, "/api/v10%s", s->global),
                          TEXT(s->world, "X-Discord-Locale: %s\r\n", locale), (struct str){ 0 });
}

static void command_list_contains_localizations_of_the_requested_locale(struct world *w)
{
    struct test_app s = world_test_app(w);

    make_command(s.bot, s.global, PAINT);
    struct answer a = list_commands_in(&s, "de");
    expect_json(a, "[{'name': 'paint', 'name_localized': 'malen', 'description': 'Paints', "
                   "'description_localized': 'Malt', 'options': [{'name': 'wall', "
                   "'name_localized': 'wand', 'description': 'A wall', 'options': [{"
                   "'name': 'color', 'name_localized': 'farbe', 'description_localized': 'Welche', "
                   "'choices': [{'name': 'Red', 'name_localized': 'Rot', 'value': 'r'}, "
                   "{'name': 'Blue'}]}]}]}]");
    expect_absent(a, "0.name_localizations");
    expect_absent(a, "0.description_localizations");
    expect_absent(a, "0.name_default");
    expect_absent(a, "0.options.0.name_localizations");
    expect_absent(a, "0.options.0.description_localized");
    expect_absent(a, "0.options.0.options.0.choices.0.name_localizations");
    expect_absent(a, "0.options.0.options.0.choices.1.name_localized");

    a = list_commands_in(&s, "ja"); /* no localization */
    expect_json(a, "[{'name': 'paint', 'options': [{'name': 'wall'}]}]");
    expect_absent(a, "0.name_localized");
    expect_absent(a, "0.name_localizations");
    a = list_commands_in(&s, "nonsense"); /* an unknown locale is treated as en-US */
    expect_json(a, "[{'name_localized': 'paynt'}]");
}

static void localizations_fall_back_to_a_related_locale(struct world *w)
{
    struct test_app s = world_test_app(w);

    make_command(s.bot, s.global, PAINT);
    struct answer a = list_commands_in(&s, "en-US");
    expect_json(a, "[{'name_localized': 'paynt'}]");
    /* A localization equal to the default ends the search and is omitted. */
    expect_absent(a, "0.options.0.options.0.name_localized");
    a = list_commands_in(&s, "en-GB");
    expect_json(a, "[{'name_localized': 'paynt', "
                   "'options': [{'options': [{'name_localized': 'colour'}]}]}]");
    expect_json(list_commands_in(&s, "es-419"), "[{'name_localized': 'pintar'}]");
    expect_json(list_commands_in(&s, "es-ES"), "[{'name_localized': 'pintar'}]");
    expect_absent(list_commands_in(&s, "pt-BR"), "0.name_localized");
}

static void with_localizations_returns_all_localizations(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.local, PAINT);
    static const char WHOLE[] =
        "{'name_localizations': {'de': 'malen', 'en-GB': 'paynt', 'es-ES': 'pintar'}, "
        "'options': [{'description_localizations': null, 'options': [{'name_localizations': "
        "{'de': 'farbe', 'en-GB': 'colour', 'en-US': 'color'}, 'choices': ["
        "{'name_localizations': {'de': 'Rot'}}, {'name_localizations': null}]}]}]}";

    expect_json(client_get(s.bot, "%s/%s", s.local, id), "%s", WHOLE);
    static const char *const yes[] = { "true", "True", "1" };
    for (size_t i = 0; i < 3; i++) {
        struct answer a = client_get(s.bot, "%s?with_localizations=%s", s.local, yes[i]);

        expect_json(a, "[%s]", WHOLE);
        expect_absent(a, "0.name_localized");
    }
    static const char *const no[] = { "false", "False", "0" };
    for (size_t i = 0; i < 3; i++)
        expect_absent(client_get(s.bot, "%s?with_localizations=%s", s.local, no[i]),
                      "0.name_localizations");
    expect_invalid(client_get(s.bot, "%s?with_localizations=maybe", s.local), "with_localizations",
                   "BOOLEAN_TYPE_CONVERT");
}

static void command_list_locale_comes_from_header_or_account(struct world *w)
{
    struct test_app s = world_test_app(w);

    make_command(s.bot, s.global, PAINT);
    struct answer a = client_request(s.bot, "GET", TEXT(w, "/api/v10%s", s.global),
                                     "Accept-Language: ja;q=0.1, de;q=0.9\r\n", (struct str){ 0 });
    expect_json(a, "[{'name_localized': 'malen'}]");
    world_sql(w, "update users set locale = 'de' where id = %s", s.ada->id);
    expect_json(client_get(s.ada, "%s", s.global), "[{'name_localized': 'malen'}]");
}

static void command_index_uses_localized_names_as_name(struct world *w)
{
    struct test_app s = world_test_app(w);

    make_command(s.bot, s.global, PAINT);
    make_command(s.bot, s.local, "{'name': 'plain', 'description': 'd'}");
    struct answer a = client_request(
        s.ada, "GET", TEXT(w, "/api/v9/guilds/%s/application-command-index", s.guild),
        "X-Discord-Locale: de\r\n", (struct str){ 0 });
    expect_json(a, "{'application_commands': [{'name': 'malen', 'name_default': 'paint', "
                   "'description': 'Malt', 'description_default': 'Paints', "
                   "'global_popularity_rank': 1, 'options': [{'name': 'wand', "
                   "'name_default': 'wall', 'description': 'A wall', 'options': [{"
                   "'name': 'farbe', 'name_default': 'color', 'description': 'Welche', "
                   "'choices': [{'name': 'Rot', 'name_default': 'Red', 'value': 'r'}, "
                   "{'name': 'Blue'}]}]}]}, {'name': 'plain'}]}");
    expect_absent(a, "application_commands.0.name_localized");
    expect_absent(a, "application_commands.0.name_localizations");
    expect_absent(a, "application_commands.0.options.0.description_default");
    expect_absent(a, "application_commands.1.name_default");
    expect_absent(a, "application_commands.1.global_popularity_rank");
}

const struct test commands_localizations_tests[] = {
    TEST(command_list_contains_localizations_of_the_requested_locale),
    TEST(localizations_fall_back_to_a_related_locale),
    TEST(with_localizations_returns_all_localizations),
    TEST(command_list_locale_comes_from_header_or_account),
    TEST(command_index_uses_localized_names_as_name),
    { 0 },
};
