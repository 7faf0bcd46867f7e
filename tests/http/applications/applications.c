/* applications.c - applications, their bots and what proves who they are. */
#include "apps.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "guilds.h"
#include "platform/applications/applications.h"
#include "platforms.h"
#include "waits.h"

#define APPS "/applications"

/* --- making --------------------------------------------------------------------------- */

static void a_new_application_has_every_field(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_post(ada,
                                  "{'name': ' Dice Roller ', 'description': 'Rolls dice', "
                                  "'redirect_uris': ['https://dice.example/back'], 'flags': 32768}",
                                  APPS);

    expect_status(a, 201);
    const char *id = answer_text(a, "id");
    expect_json(
        a,
        "{'name': 'Dice Roller', 'description': 'Rolls dice', 'icon': null, 'summary': '', "
        "'type': null, 'flags': 32768, 'flags_new': '32768', "
        "'bot': {'id': '%s', 'username': 'dice_roller', 'global_name': 'Dice Roller', 'bot': true, "
        "'discriminator': '0', 'avatar': null}, 'owner': {'id': '%s', 'username': 'ada'}, "
        "'team': null, 'redirect_uris': ['https://dice.example/back'], "
        "'interactions_endpoint_url': null, 'role_connections_verification_url': null, "
        "'integration_public': true, 'integration_require_code_grant': false, "
        "'bot_public': true, 'bot_require_code_grant': false, "
        "'integration_types_config': {'0': {}, '1': {}}, 'approximate_guild_count': 0, "
        "'approximate_user_install_count': 0, 'approximate_user_authorization_count': 0, "
        "'explicit_content_filter': 0, 'is_verified': false, 'is_discoverable': false, "
        "'is_monetized': false, 'hook': true, 'tags': [], 'interactions_version': 1, "
        "'interactions_event_types': [], 'eligible_oauth2_scopes': [], 'event_webhooks_url': null, "
        "'event_webhooks_status': 1, 'event_webhooks_types': []}",
        id, ada->id);
    expect(strlen(answer_text(a, "verify_key")) == 64);
    expect_absent(a, "install_params");
    expect_absent(a, "custom_install_url");
    expect_absent(a, "bot.email");
    expect_json(client_get(ada, APPS "/%s", id), "{'id': '%s'}", id);
    expect_json(client_get(ada, APPS), "[{'id': '%s', 'owner': {'id': '%s'}}]", id, ada->id);
}

static void a_new_application_may_use_every_intent(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_json(client_post(ada, "{'name': 'x'}", APPS),
                "{'flags': 565248, 'flags_new': '565248'}"); /* 1<<13 | 1<<15 | 1<<19 */
    expect_json(client_post(ada, "{'name': 'x', 'flags': null}", APPS), "{'flags': 565248}");
    expect_json(client_post(ada, "{'name': 'x', 'flags': 0}", APPS), "{'flags': 0}");
    expect_json(client_post(ada, "{'name': 'x', 'flags': 4096}", APPS), "{'flags': 0}");
}

static void no_intents(struct config *config)
{
    config->privileged_intents = false;
}

static void an_operator_may_keep_the_intents_back(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_post(ada, "{'name': 'x'}", APPS);

    expect_json(a, "{'flags': 0, 'flags_new': '0'}");
}

static void makers_say_where_their_pages_are(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");
    struct answer a = client_patch(
        ada,
        "{'cover_image': '" PNG "', 'terms_of_service_url': 'https://a.example/terms', "
        "'privacy_policy_url': 'https://a.example/privacy', 'event_webhooks_url': "
        "'https://a.example/events', 'event_webhooks_status': 2, 'event_webhooks_types': "
        "['APPLICATION_AUTHORIZED']}",
        APPS "/%s", id);

    expect_json(a,
                "{'terms_of_service_url': 'https://a.example/terms', 'privacy_policy_url': "
                "'https://a.example/privacy', 'event_webhooks_url': 'https://a.example/events', "
                "'event_webhooks_status': 2, 'event_webhooks_types': ['APPLICATION_AUTHORIZED']}");
    expect_status(client_request(world_stranger(w), "GET",
                                 TEXT(w, "/app-icons/%s/%s.png", id, answer_text(a, "cover_image")),
                                 "", STR("")),
                  200);
    expect_json(client_get(world_client(w, "bob"), APPS "/%s/public", id),
                "{'privacy_policy_url': 'https://a.example/privacy'}");
    a = client_patch(ada,
                     "{'cover_image': null, 'terms_of_service_url': '', 'event_webhooks_status': "
                     "null, 'event_webhooks_url': null, 'event_webhooks_types': []}",
                     APPS "/%s", id);
    expect_json(a, "{'event_webhooks_url': null, 'event_webhooks_status': 1, "
                   "'event_webhooks_types': []}");
    expect_absent(a, "cover_image");
    expect_absent(a, "terms_of_service_url");
    expect_invalid(client_patch(ada, "{'event_webhooks_status': 3}", APPS "/%s", id),
                   "event_webhooks_status", "BASE_TYPE_CHOICES");
}

static void names_have_1_to_32_characters(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_invalid(client_post(ada, "{}", APPS), "name", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(ada, "{'name': ' '}", APPS), "name", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_post(ada, TEXT(w, "{'name': '%033d'}", 1), APPS), "name",
                   "BASE_TYPE_BAD_LENGTH");
    expect_status(client_post(ada, TEXT(w, "{'name': '%032d'}", 1), APPS), 201);
    expect_invalid(client_post(ada, TEXT(w, "{'name': 'x', 'description': '%0401d'}", 1), APPS),
                   "description", "BASE_TYPE_MAX_LENGTH");
    expect_status(client_post(ada, TEXT(w, "{'name': 'x', 'description': '%0400d'}", 1), APPS),
                  201);
}

/* Whatever a username cannot hold is left out; names that are taken get longer. */
static void bots_have_names_of_their_own(struct world *w)
{
    static const struct {
        const char *name, *username;
    } cases[] = { { "Dice & Cards!", "dice_cards" },
                  { "x", "bot_x" },
                  { "\xe2\x82\xac\xe2\x82\xac", "bot_app" },
                  { "A.B", "a_b" } };
    struct client *ada = world_client(w, "ada");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer a = client_post(ada, TEXT(w, "{'name': '%s'}", cases[i].name), APPS);

        expect_status(a, 201);
        expect_json(a, "{'bot': {'username': '%s'}}", cases[i].username);
    }
    const char *taken[] = { "ada", "Dice Cards", "Admin", "ada" };
    for (size_t i = 0; i < 4; i++) {
        struct answer a = client_post(ada, TEXT(w, "{'name': '%s'}", taken[i]), APPS);

        expect_status(a, 201);
        const char *username = answer_text(a, "bot.username");
        expect(strlen(username) > strlen(taken[i]) && strlen(username) <= 32);
        expect(strcspn(username, " ") == strlen(username));
    }
}

static void redirect_uris_are_addresses_and_at_most_10(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");
    const char *nine = "'http://a/1','http://a/2','http://a/3','http://a/4','http://a/5',"
                       "'http://a/6','http://a/7','http://a/8','http://a/9'";

    expect_invalid(
        client_post(ada, "{'name': 'x', 'redirect_uris': ['ftp://a', 'https://b']}", APPS),
        "redirect_uris.0", "URL_TYPE_INVALID_URL");
    expect_status(
        client_patch(ada, TEXT(w, "{'redirect_uris': [%s,'http://a/10']}", nine), APPS "/%s", id),
        200);
    expect_invalid(
        client_patch(ada, TEXT(w, "{'redirect_uris': [%s,'http://a/10','http://a/11']}", nine),
                     APPS "/%s", id),
        "redirect_uris", "BASE_TYPE_MAX_LENGTH");
    expect_json(client_patch(ada, "{'redirect_uris': null}", APPS "/%s", id),
                "{'redirect_uris': []}");
}

static void people_have_at_most_50_and_teams_25(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *team = make_team(ada, "Makers");
    const char *body = TEXT(w, "{'name': 'App', 'team_id': '%s'}", team);

    for (int i = 0; i < 50; i++)
        make_application(ada, "App");
    expect_invalid(client_post(ada, "{'name': 'App'}", APPS), "", "APPLICATION_LIMIT_REACHED");
    for (int i = 0; i < 25; i++)
        expect_status(client_post(ada, body, APPS), 201);
    expect_invalid(client_post(ada, body, APPS), "", "APPLICATION_LIMIT_REACHED");
    expect(client_get(ada, APPS).json->count == 50);
    expect(client_get(ada, APPS "?with_team_applications=true").json->count == 75);
    expect_invalid(client_get(ada, APPS "?with_team_applications=maybe"), "with_team_applications",
                   "BOOLEAN_TYPE_CONVERT");

    const char *first = answer_text(client_get(ada, APPS), "0.id");
    expect_invalid(client_post(ada, TEXT(w, "{'team_id': '%s'}", team), APPS "/%s/transfer", first),
                   "", "APPLICATION_LIMIT_REACHED");
}

/* --- who may -------------------------------------------------------------------------- */

static void applications_are_for_those_who_make_them(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    const char *id = make_application(ada, "App");
    struct client *other = application_bot(eve, make_application(eve, "Other"));
    static const char *const posts[] = { "bot", "bot/reset", "reset", "delete" };

    expect_error(client_get(eve, APPS "/%s", id), 403, 20012);
    /* Told before the form. */
    expect_error(client_patch(eve, "{'name': ''}", APPS "/%s", id), 403, 20012);
    expect_error(client_post(eve, "{}", APPS "/%s/transfer", id), 403, 20012);
    for (size_t i = 0; i < 4; i++) {
        expect_error(client_post(eve, NULL, APPS "/%s/%s", id, posts[i]), 403, 20012);
        expect_error(client_post(ada, NULL, APPS "/%s/%s", ada->id, posts[i]), 404, 10002);
        expect_error(client_post(other, NULL, APPS "/%s/%s", id, posts[i]), 403, 20001);
    }
    expect_error(client_get(ada, APPS "/%s", ada->id), 404, 10002);
    expect_error(client_get(other, APPS "/%s", id), 403, 20012);
    expect_error(client_patch(other, "{}", APPS "/%s", id), 403, 20012);
    expect_json(client_get(eve, APPS), "[{'name': 'Other'}]");
}

static void everybody_sees_the_public_part(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");
    struct answer a = client_get(world_client(w, "eve"), APPS "/%s/public", id);

    expect_status(a, 200);
    expect_json(a, "{'id': '%s', 'name': 'App', 'bot': {'id': '%s'}, 'bot_public': true}", id, id);
    expect_absent(a, "owner");
    expect_absent(a, "team");
    expect_absent(a, "redirect_uris");
    expect_absent(a, "interactions_endpoint_url");
    expect_error(client_get(ada, APPS "/%s/public", ada->id), 404, 10002);
}

/* What each place in a team is worth. */
static void teams_share_applications(struct world *w)
{
    static const struct {
        const char *name, *role;
        int read, write, own;
    } cases[] = { { "anna", "admin", 200, 200, 403 },
                  { "dora", "developer", 200, 200, 403 },
                  { "rita", "read_only", 200, 403, 403 },
                  { "nora", NULL, 403, 403, 403 } };
    struct client *ada = world_client(w, "ada");
    const char *team = make_team(ada, "Makers");
    struct answer a = client_post(ada, TEXT(w, "{'name': 'App', 'team_id': '%s'}", team), APPS);

    expect_status(a, 201);
    const char *id = answer_text(a, "id");
    expect_json(a,
                "{'team': {'id': '%s', 'name': 'Makers', 'members': [{'role': 'admin'}]}, "
                "'owner': {'id': '%s', 'username': 'team%s', 'public_flags': 1024}}",
                team, team, team);
    for (size_t i = 0; i < 4; i++) {
        struct client *c = world_client(w, cases[i].name);

        if (cases[i].role)
            join_team(ada, team, c, cases[i].role);
        expect_status(client_get(c, APPS "/%s", id), cases[i].read);
        expect_status(client_patch(c, "{}", APPS "/%s", id), cases[i].write);
        expect_status(client_post(c, NULL, APPS "/%s/bot/reset", id), cases[i].write);
        expect_status(client_post(c, NULL, APPS "/%s/reset", id), cases[i].write);
        expect_status(client_post(c, NULL, APPS "/%s/delete", id), cases[i].own);
        expect_status(client_post(c, TEXT(w, "{'team_id': '%s'}", team), APPS "/%s/transfer", id),
                      cases[i].own);
        expect(client_get(c, APPS "?with_team_applications=1").json->count == !!cases[i].role);
        expect(client_get(c, APPS).json->count == 0);
    }
    expect_status(client_post(ada, NULL, APPS "/%s/delete", id), 204);
}

static void applications_are_made_in_teams_by_their_developers(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *team = make_team(ada, "Makers");
    const char *body = TEXT(w, "{'name': 'App', 'team_id': '%s'}", team);

    expect_error(client_post(bob, body, APPS), 403, 50001);
    expect_error(client_post(bob, TEXT(w, "{'name': 'App', 'team_id': '%s'}", bob->id), APPS), 404,
                 10039);
    join_team(ada, team, bob, "read_only");
    expect_error(client_post(bob, body, APPS), 403, 50013);
    expect_status(client_patch(ada, "{'role': 'developer'}", "/teams/%s/members/%s", team, bob->id),
                  200);
    expect_status(client_post(bob, body, APPS), 201);
}

static void owners_give_applications_to_their_teams(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *id = make_application(ada, "App"), *team = make_team(bob, "Makers");
    const char *body = TEXT(w, "{'team_id': '%s'}", team);

    expect_invalid(client_post(ada, "{}", APPS "/%s/transfer", id), "team_id",
                   "BASE_TYPE_REQUIRED");
    expect_error(client_post(ada, TEXT(w, "{'team_id': '%s'}", ada->id), APPS "/%s/transfer", id),
                 404, 10039);
    expect_error(client_post(ada, body, APPS "/%s/transfer", id), 403, 50001);
    join_team(bob, team, ada, "developer");
    expect_error(client_post(ada, body, APPS "/%s/transfer", id), 403, 50013);
    expect_status(client_patch(bob, "{'role': 'admin'}", "/teams/%s/members/%s", team, ada->id),
                  200);
    struct answer a = client_post(ada, body, APPS "/%s/transfer", id);
    expect_status(a, 200);
    expect_json(a, "{'id': '%s', 'team': {'id': '%s', 'owner_user_id': '%s'}}", id, team, bob->id);
    /* From now on it is bob's. */
    expect_error(client_post(ada, NULL, APPS "/%s/delete", id), 403, 20012);
    expect_status(client_post(bob, NULL, APPS "/%s/delete", id), 204);
}

/* --- changing ------------------------------------------------------------------------- */

static void everything_that_can_change_does(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");
    struct answer a =
        client_patch(ada,
                     "{'name': 'Better', 'description': 'More', 'tags': ['fun', 'dice'], "
                     "'role_connections_verification_url': 'https://a.example/r', "
                     "'custom_install_url': 'https://a.example/c', "
                     "'install_params': {'scopes': ['bot'], 'permissions': '8'}, "
                     "'integration_types_config': {'0': {'oauth2_install_params': {'scopes': "
                     "['bot', 'applications.commands'], 'permissions': '2048'}}}, "
                     "'integration_public': false, 'integration_require_code_grant': true}",
                     APPS "/%s", id);

    expect_status(a, 200);
    const char *changed =
        "{'name': 'Better', 'description': 'More', 'tags': ['fun', 'dice'], "
        "'role_connections_verification_url': 'https://a.example/r', "
        "'custom_install_url': 'https://a.example/c', "
        "'install_params': {'scopes': ['bot'], 'permissions': '8'}, "
        "'integration_types_config': {'0': {'oauth2_install_params': {'scopes': "
        "['bot', 'applications.commands'], 'permissions': '2048'}}}, "
        "'integration_public': false, 'integration_require_code_grant': true, "
        "'bot_public': false, 'bot_require_code_grant': true, 'bot': {'username': 'app'}}";
    expect_json(a, "%s", changed);
    expect_absent(a, "integration_types_config.1");
    /* Absent leaves everything as it is. */
    expect_status(client_patch(ada, "{}", APPS "/%s", id), 200);
    expect_json(client_get(ada, APPS "/%s", id), "%s", changed);

    a = client_patch(ada,
                     "{'description': null, 'tags': null, 'interactions_endpoint_url': '', "
                     "'role_connections_verification_url': null, 'custom_install_url': '', "
                     "'install_params': null, 'integration_types_config': null, "
                     "'bot_public': null, 'bot_require_code_grant': null, 'flags': null}",
                     APPS "/%s", id);
    expect_status(a, 200);
    expect_json(a, "{'description': '', 'tags': [], 'interactions_endpoint_url': null, "
                   "'role_connections_verification_url': null, "
                   "'integration_types_config': {'0': {}, '1': {}}, 'integration_public': true, "
                   "'integration_require_code_grant': false}");
    expect_absent(a, "custom_install_url");
    expect_absent(a, "install_params");
}

static void who_uses_it_is_counted_before_the_writer_is_asked(struct world *w)
{
    enum { USERS = 300, CHANGES = 20 };
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");
    struct client *bot = application_bot(ada, id);
    static const char counts[] = "{'approximate_guild_count': 0, 'approximate_user_install_count': "
                                 "100, 'approximate_user_authorization_count': 300}";

    world_sql(w,
              "insert into users (id, username) with recursive n (i) as (select 1 union all select "
              "i + 1 from n where i < %d) select i, 'u' || i from n",
              USERS);
    world_sql(w,
              "insert into authorizations (id, user_id, application_id, scopes, installed, "
              "created_at) select id, id, %s, '[]', case when id <= 100 then 1 else 0 end, 0 from "
              "users where id <= %d",
              id, USERS);
    expect_json(client_patch(ada, "{'description': 'first'}", APPS "/%s", id), counts);
    /* Each of them is a reading transaction of its own. */
    int64_t before = world_counter(w, "guildhall_store_reads_total");
    for (int i = 0; i < CHANGES; i++)
        expect_json(client_patch(ada, TEXT(w, "{'description': '%d'}", i), APPS "/%s", id), counts);
    expect(world_counter(w, "guildhall_store_reads_total") - before >= CHANGES);
    expect_json(client_patch(bot, "{'description': 'own'}", APPS "/@me"), counts);
}

static void the_newer_name_of_a_switch_wins(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");

    expect_json(client_patch(ada, "{'bot_public': false}", APPS "/%s", id),
                "{'bot_public': false, 'integration_public': false}");
    expect_json(
        client_patch(ada, "{'bot_public': false, 'integration_public': true}", APPS "/%s", id),
        "{'bot_public': true, 'integration_public': true}");
}

static void only_some_flags_can_be_set(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");

    expect_json(client_patch(ada, "{'flags': 2147483647}", APPS "/%s", id),
                "{'flags': 565504, 'flags_new': '565504'}"); /* 1<<8, 1<<13, 1<<15, 1<<19 */
    expect_json(client_patch(ada, "{'flags': 0}", APPS "/%s", id), "{'flags': 0}");
    expect_invalid(client_patch(ada, "{'flags': -1}", APPS "/%s", id), "flags", "NUMBER_TYPE_MIN");
}

static void changes_that_make_no_sense_are_refused(struct world *w)
{
    static const struct {
        const char *body, *path, *code;
    } cases[] = {
        { "{'name': ''}", "name", "BASE_TYPE_BAD_LENGTH" },
        { "{'tags': ['a','b','c','d','e','f']}", "tags", "BASE_TYPE_MAX_LENGTH" },
        { "{'tags': ['123456789012345678901']}", "tags.0", "BASE_TYPE_BAD_LENGTH" },
        { "{'tags': ['']}", "tags.0", "BASE_TYPE_BAD_LENGTH" },
        { "{'interactions_endpoint_url': 'javascript:1'}", "interactions_endpoint_url",
          "URL_TYPE_INVALID_URL" },
        { "{'role_connections_verification_url': 'x'}", "role_connections_verification_url",
          "URL_TYPE_INVALID_URL" },
        { "{'custom_install_url': 'x'}", "custom_install_url", "URL_TYPE_INVALID_URL" },
        { "{'install_params': {'scopes': ['bot']}}", "install_params.permissions",
          "BASE_TYPE_REQUIRED" },
        { "{'install_params': {'scopes': ['bot', 'world'], 'permissions': '0'}}",
          "install_params.scopes.1", "ENUM_TYPE_COERCE" },
        { "{'integration_types_config': {}}", "integration_types_config", "BASE_TYPE_BAD_LENGTH" },
        { "{'integration_types_config': {'2': {}}}", "integration_types_config.2",
          "BASE_TYPE_CHOICES" },
        { "{'integration_types_config': {'1': {'oauth2_install_params': {'scopes': ['world'], "
          "'permissions': '0'}}}}",
          "integration_types_config.1.oauth2_install_params.scopes.0", "ENUM_TYPE_COERCE" },
        { "{'icon': 'nonsense'}", "icon", "IMAGE_INVALID" },
    };
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_invalid(client_patch(ada, cases[i].body, APPS "/%s", id), cases[i].path,
                       cases[i].code);
    expect_status(
        client_patch(ada, "{'tags': ['a','b','c','d','12345678901234567890']}", APPS "/%s", id),
        200);
}

static void icons_are_kept_and_shown(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    struct answer a = client_post(ada, "{'name': 'App', 'icon': '" PNG "'}", APPS);

    expect_status(a, 201);
    const char *id = answer_text(a, "id"), *icon = answer_text(a, "icon");
    struct answer picture =
        client_request(world_stranger(w), "GET", TEXT(w, "/app-icons/%s/%s.png", id, icon), NULL,
                       (struct str){ 0 });
    expect_status(picture, 200);
    expect(str_is(answer_header(picture, "Content-Type"), "image/png"));
    expect_json(client_patch(ada, "{'icon': null}", APPS "/%s", id), "{'icon': null}");
    a = client_patch(application_bot(ada, id), "{'icon': '" PNG "'}", APPS "/@me");
    expect(strlen(answer_text(a, "icon")) == 32);

    /* Nobody leaves pictures in other people's folders. */
    const char *other = make_application(ada, "Other");
    expect_error(client_patch(eve, "{'icon': '" PNG "'}", APPS "/%s", other), 403, 20012);
    expect_error(client_request(eve, "GET", TEXT(w, "/app-icons/%s/%s.png", other, icon), NULL,
                                (struct str){ 0 }),
                 404, 0);
}

/* --- the bot -------------------------------------------------------------------------- */

static void bots_read_and_change_their_own_application(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");
    struct client *bot = application_bot(ada, id);
    static const char *const paths[] = { "/applications/@me", "/oauth2/applications/@me",
                                         "/oauth2/applications/%40me" };

    for (size_t i = 0; i < 3; i++) {
        struct answer a = client_get(bot, "%s", paths[i]);

        expect_status(a, 200);
        expect_json(a,
                    "{'id': '%s', 'name': 'App', 'description': '', 'icon': null, "
                    "'bot_public': true, 'bot_require_code_grant': false, "
                    "'owner': {'id': '%s'}, 'flags': 565248}",
                    id, ada->id);
        expect(strlen(answer_text(a, "verify_key")) == 64);
        expect_error(client_get(ada, "%s", paths[i]), 403, 20002);
    }
    expect_json(client_get(bot, APPS "/%s", id), "{'id': '%s'}", id);
    expect_error(client_patch(ada, "{}", APPS "/@me"), 403, 20002);
    /* A bot does not rename its application from within. */
    expect_json(client_patch(bot, "{'name': 'Mine', 'description': 'new'}", APPS "/@me"),
                "{'name': 'App', 'description': 'new'}");
    expect_json(client_patch(bot, "{'name': 'Mine'}", APPS "/%s", id), "{'name': 'Mine'}");
    expect_invalid(client_patch(bot, "{'tags': 1}", APPS "/@me"), "tags", "LIST_TYPE_CONVERT");
    expect_error(client_get(bot, APPS), 403, 20001);
    /* A bot that was made without one has none. */
    expect_error(client_get(world_bot(w, "lonely"), APPS "/@me"), 404, 10002);
}

static void a_bot_has_one_token_and_resetting_ends_it(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");

    struct answer a = client_post(ada, NULL, APPS "/%s/bot", id);
    expect_status(a, 200);
    expect_json(a, "{'token': null}");
    struct client *first = application_bot(ada, id);
    expect_json(client_get(first, "/users/@me"), "{'id': '%s', 'bot': true}", id);
    struct client *second = application_bot(ada, id);
    expect_error(client_get(first, "/users/@me"), 401, 0);
    expect_status(client_get(second, "/users/@me"), 200);
    /* Only as a bot. */
    struct client *bare = world_client_with(w, second->authorization + 4);
    expect_error(client_get(bare, "/users/@me"), 401, 0);
}

static enum err lose_bots(struct tx *tx, void *arg)
{
    (void)arg;
    enum err e = tx_exec(tx, "update applications set bot_id = null", NO_BIND, NULL);
    return e ? e : tx_exec(tx, "delete from users where bot = 1", NO_BIND, NULL);
}

/* World files may bring applications without a bot. */
static void an_application_without_a_bot_can_get_one(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App"), *guild = found_guild(ada, "Home");
    const char *body = TEXT(w, "{'authorize': true, 'guild_id': '%s'}", guild);

    expect(store_run(guildhall_store(world_server(w)), STORE_WRITE, world_arena(w), lose_bots,
                     NULL) == OK);
    struct answer a = client_get(ada, APPS "/%s", id);
    expect_status(a, 200);
    expect_absent(a, "bot");
    expect_error(client_post(ada, NULL, APPS "/%s/bot/reset", id), 400, 50010);
    expect_error(client_post(ada, body, "/oauth2/authorize?client_id=%s&scope=bot", id), 400,
                 50010);
    expect_status(
        client_post(ada, body, "/oauth2/authorize?client_id=%s&scope=applications.commands", id),
        200);
    a = client_post(ada, NULL, APPS "/%s/bot", id);
    expect_status(a, 200);
    struct client *bot = world_client_with(w, TEXT(w, "Bot %s", answer_text(a, "token")));
    expect_json(client_get(bot, APPS "/@me"), "{'bot': {'id': '%s', 'username': 'app'}}", id);
    expect_json(client_post(ada, NULL, APPS "/%s/bot", id), "{'token': null}");
    expect_status(client_post(ada, NULL, APPS "/%s/delete", id), 204);
}

/* --- keys ----------------------------------------------------------------------------- */

struct signing {
    struct world *world;
    snowflake id;
    struct application application;
};

static enum err find_application(struct tx *tx, void *arg)
{
    struct signing *s = arg;

    return application_find(tx, s->id, &s->application);
}

static bool is_signed(const char *key, const char *text, const unsigned char *signature)
{
    unsigned char public[32];

    return sodium_hex2bin(public, sizeof public, key, strlen(key), NULL, NULL, NULL) == 0 &&
           crypto_sign_verify_detached(signature, (const unsigned char *)text, strlen(text),
                                       public) == 0;
}

static void what_an_application_signs_its_key_verifies(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App"), *other = make_application(ada, "Other");
    const char *key = answer_text(client_get(ada, APPS "/%s", id), "verify_key");
    const char *other_key = answer_text(client_get(ada, APPS "/%s", other), "verify_key");
    struct signing s = { .world = w, .id = id_of(id) };
    unsigned char signature[64];

    expect(store_run(guildhall_store(world_server(w)), STORE_READ, world_arena(w), find_application,
                     &s) == OK);
    application_sign(guildhall_auth(world_server(w)), &s.application, STR("1234{}"), signature);
    expect(is_signed(key, "1234{}", signature));
    expect(!is_signed(key, "1234{ }", signature));
    expect(!is_signed(other_key, "1234{}", signature));
    world_restart(w);
    application_sign(guildhall_auth(world_server(w)), &s.application, STR("1234{}"), signature);
    expect(is_signed(key, "1234{}", signature));
}

static void secrets_are_shown_once_and_not_kept(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");
    const char *first = application_secret(ada, id), *second = application_secret(ada, id);

    expect(strlen(first) == 43 && strcmp(first, second) != 0);
    expect_absent(client_get(ada, APPS "/%s", id), "secret");
    expect(store_count(w, "select length(secret_digest) from applications") == 32);
    expect_status(client_form(world_stranger(w), "/oauth2/token",
                              "grant_type=client_credentials&scope=identify&client_id=%s"
                              "&client_secret=%s",
                              id, first),
                  401);
    expect_status(client_form(world_stranger(w), "/oauth2/token",
                              "grant_type=client_credentials&scope=identify&client_id=%s"
                              "&client_secret=%s",
                              id, second),
                  200);
}

/* --- the end -------------------------------------------------------------------------- */

static void deleting_takes_everything_along(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *id = make_application(ada, "App"), *guild = found_guild(ada, "Home");
    struct client *bot = application_bot(ada, id);

    expect_status(
        client_post(ada,
                    TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '8'}", guild),
                    "/oauth2/authorize?client_id=%s&scope=bot", id),
        200);
    expect_status(client_post(bob, "{'authorize': true, 'integration_type': 1}",
                              "/oauth2/authorize?client_id=%s&scope=applications.commands", id),
                  200);
    expect_json(client_get(ada, APPS "/%s", id),
                "{'approximate_guild_count': 1, 'approximate_user_install_count': 1, "
                "'approximate_user_authorization_count': 1}");
    const char *channel = NULL;
    struct answer channels = client_get(ada, "/guilds/%s/channels", guild);
    for (size_t i = 0; i < channels.json->count && !channel; i++)
        if (str_is(dom_at(&channels.json->items[i], "type")->text, "0"))
            channel = str_dupz(world_arena(w), dom_at(&channels.json->items[i], "id")->text);
    expect_status(client_post(bot, "{'name': 'news'}", "/channels/%s/webhooks", channel), 200);
    forget_told(w);
    expect_status(client_post(ada, NULL, APPS "/%s/delete", id), 204);

    struct subject managers = to_entitled(id_of(guild), 0, PERMISSION(MANAGE_GUILD));
    struct subject all = to_guild(id_of(guild));
    expect_told(w, managers, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", guild);
    expect_told(w, managers, "INTEGRATION_DELETE", "{'guild_id': '%s', 'application_id': '%s'}",
                guild, id);
    expect_told(w, all, "GUILD_MEMBER_REMOVE", "{'guild_id': '%s', 'user': {'id': '%s'}}", guild,
                id);
    expect_told(w, to_entitled(id_of(guild), id_of(channel), PERMISSION(MANAGE_WEBHOOKS)),
                "WEBHOOKS_UPDATE", "{'guild_id': '%s', 'channel_id': '%s'}", guild, channel);
    expect_told(w, all, "GUILD_ROLE_DELETE", "{'guild_id': '%s'}", guild);
    expect_told(w, all, "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "{'guild_id': '%s'}", guild);
    expect_nothing_told(w);
    expect_event(bot, "GUILD_DELETE", "{'id': '%s'}", guild);
    expect_event(bob, "USER_APPLICATION_REMOVE", "{'application_id': '%s'}", id);
    expect_silence(ada);

    expect_error(client_get(bot, "/users/@me"), 401, 0);
    expect_error(client_get(ada, APPS "/%s", id), 404, 10002);
    expect_json(client_get(bob, "/oauth2/tokens"), "[]");
    expect(store_count(w, "select count(*) from integrations") == 0);
    expect(store_count(w, "select count(*) from webhooks") == 0);
    expect(store_count(w, "select count(*) from authorizations") == 0);
    expect(store_count(w, "select count(*) from roles where managed = 1") == 0);
    expect(store_count(w, "select count(*) from tokens where application_id is not null") == 0);
    expect(store_count(w, "select member_count from guilds") == 1);
    /* What it wrote still has an author. */
    expect_json(client_get(ada, "/users/%s", id), "{'username': 'app', 'bot': true}");
}

/* An app in many guilds and with many people, as the store has them. */
static void make_popular(struct world *w, const char *app)
{
    static const char *const rows[] = {
        "users (id, username) select i, 'u' || i from n",
        "guilds (id, name, owner_id) select i, 'g', 1 from n",
        "members (guild_id, user_id, joined_at) select i, %s, 0 from n",
        "integrations (id, guild_id, type, name, application_id, created_at) select i, i, "
        "'service', 'a', %s, 0 from n",
        "authorizations (id, user_id, application_id, scopes, installed, created_at) select i, i, "
        "%s, '[]', 1, 0 from n",
        "channels (id, type) select i, 1 from n",
        "recipients (channel_id, user_id, since) select i, %s, 0 from n",
        "game_relationships (user_id, target_id, application_id, type, since) select i, i + 1, %s, "
        "1, 0 from n where i < 500",
        "role_connections (user_id, application_id) select i, %s from n",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *into = strstr(rows[i], "select");
        const char *sql =
            TEXT(w,
                 "insert into %.*s with recursive n (i) as (select 1 union all select i + 1 from n "
                 "where i < 1000) %s",
                 (int)(into - rows[i]), rows[i], into);

        world_sql(w, sql, app);
    }
}

static size_t count_events(struct world *w, enum event event)
{
    size_t count = 0;

    for (size_t i = 0; world_event(w, i) != EVENT_NONE; i++)
        count += world_event(w, i) == event;
    return count;
}

static void expect_all_told(struct world *w, enum event event, size_t count)
{
    world_settle(w);
    expect(count_events(w, event) == count);
}

/* The test fails when one of the steps takes long. */
static void a_popular_application_goes_in_steps(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");
    struct client *bot = application_bot(ada, id);
    enum { COUNT = 1000 };

    make_popular(w, id);
    expect_status(client_post(bot, "{'name': 'ping', 'description': 'd'}", APPS "/%s/commands", id),
                  201);
    expect_status(client_post(ada, NULL, APPS "/%s/delete", id), 204);
    expect_error(client_get(bot, "/users/@me"), 401, 0);
    expect_error(client_get(ada, APPS "/%s", id), 404, 10002);
    expect_error(client_post(ada, NULL, APPS "/%s/delete", id), 404, 10002);
    expect_json(client_get(ada, APPS), "[]");
    expect_number(w, 0, "select count(*) from applications");
    expect_number(w, 0, "select count(*) from jobs where kind = 'application-leftovers'");
    expect_all_told(w, EVENT_INTEGRATION_DELETE, COUNT);
    expect_all_told(w, EVENT_GUILD_INTEGRATIONS_UPDATE, COUNT);
    expect_all_told(w, EVENT_GUILD_MEMBER_REMOVE, COUNT);
    expect_all_told(w, EVENT_USER_APPLICATION_REMOVE, COUNT);
    expect_all_told(w, EVENT_GAME_RELATIONSHIP_REMOVE, 499);
    expect(store_count(w, "select count(*) from integrations") == 0);
    expect(store_count(w, "select count(*) from members") == 0);
    expect(store_count(w, "select count(*) from authorizations") == 0);
    expect(store_count(w, "select count(*) from role_connections") == 0);
    expect(store_count(w, "select count(*) from commands") == 0);
    expect(store_count(w, "select count(*) from tokens where application_id is not null") == 0);
    expect(store_count(w, "select count(*) from recipients") == COUNT);
    expect(store_count(w, "select count(distinct version) from command_indexes where id <= 1000") >
           1);
}

static void the_end_of_an_application_goes_on_after_a_restart(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");

    make_popular(w, id);
    expect_status(client_post(ada, NULL, APPS "/%s/delete", id), 204);
    world_restart(w);
    expect_number(w, 0, "select count(*) from applications");
    expect(store_count(w, "select count(*) from integrations") == 0);
    expect(store_count(w, "select count(*) from authorizations") == 0);
}

static void nothing_finds_an_application_that_is_being_removed(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *id = make_application(ada, "App"), *guild = found_guild(ada, "Home");
    struct client *bot = application_bot(ada, id);

    expect_status(client_post(ada, TEXT(w, "{'authorize': true, 'guild_id': '%s'}", guild),
                              "/oauth2/authorize?client_id=%s&scope=bot%%20applications.commands",
                              id),
                  200);
    expect_status(client_post(bob, "{'authorize': true, 'integration_type': 1}",
                              "/oauth2/authorize?client_id=%s&scope=applications.commands", id),
                  200);
    expect_status(client_post(bot, "{'name': 'ping', 'description': 'd'}", APPS "/%s/commands", id),
                  201);
    /* As the first step leaves it when there is much more. */
    world_sql(w, "update applications set removed = 1 where id = %s", id);
    world_restart(w);
    expect_error(client_get(bot, "/users/@me"), 401, 0);
    expect_error(client_get(ada, APPS "/%s", id), 404, 10002);
    expect_json(client_get(ada, APPS), "[]");
    expect_json(client_get(bob, "/oauth2/tokens"), "[]");
    expect_json(client_get(ada, "/guilds/%s/integrations", guild), "[]");
    expect_json(client_get(ada, "/guilds/%s/application-command-index", guild),
                "{'applications': [], 'application_commands': []}");
    expect_json(client_get(bob, "/users/@me/application-command-index"),
                "{'applications': [], 'application_commands': []}");
    expect_error(client_get(ada, "/oauth2/authorize?client_id=%s&scope=bot", id), 404, 10002);

    /* Whoever throws the bot out meanwhile succeeds. */
    expect_status(client_delete(ada, "/guilds/%s/members/%s", guild, id), 204);
    world_sql(w,
              "insert into jobs (kind, key, due, data) values ('application-leftovers', %s, 0, "
              "'')",
              id);
    world_restart(w);
    expect_number(w, 0, "select count(*) from applications");
    expect(store_count(w, "select count(*) from authorizations") == 0);
}

extern const struct test applications_tests[];
const struct test applications_tests[] = {
    TEST(a_new_application_has_every_field),
    TEST(a_new_application_may_use_every_intent),
    TEST_WITH(an_operator_may_keep_the_intents_back, no_intents),
    TEST(makers_say_where_their_pages_are),
    TEST(names_have_1_to_32_characters),
    TEST(bots_have_names_of_their_own),
    TEST(redirect_uris_are_addresses_and_at_most_10),
    TEST(people_have_at_most_50_and_teams_25),
    TEST(applications_are_for_those_who_make_them),
    TEST(everybody_sees_the_public_part),
    TEST(teams_share_applications),
    TEST(applications_are_made_in_teams_by_their_developers),
    TEST(owners_give_applications_to_their_teams),
    TEST(everything_that_can_change_does),
    TEST(who_uses_it_is_counted_before_the_writer_is_asked),
    TEST(the_newer_name_of_a_switch_wins),
    TEST(only_some_flags_can_be_set),
    TEST(changes_that_make_no_sense_are_refused),
    TEST(icons_are_kept_and_shown),
    TEST(bots_read_and_change_their_own_application),
    TEST(a_bot_has_one_token_and_resetting_ends_it),
    TEST(an_application_without_a_bot_can_get_one),
    TEST(what_an_application_signs_its_key_verifies),
    TEST(secrets_are_shown_once_and_not_kept),
    TEST(deleting_takes_everything_along),
    TEST(a_popular_application_goes_in_steps),
    TEST(the_end_of_an_application_goes_on_after_a_restart),
    TEST(nothing_finds_an_application_that_is_being_removed),
    { 0 },
};
