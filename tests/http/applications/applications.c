/* applications.c - creating, reading and changing applications. */
#include "apps.h"

#include <string.h>

#include "guilds.h"
#include "platforms.h"
#include "test_guild.h"

#define APPS "/applications"

/* --- creating ------------------------------------------------------------------------- */

static void creating_an_application_returns_all_fields(struct world *w)
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

static void new_application_has_all_intent_flags_by_default(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_json(client_post(ada, "{'name': 'x'}", APPS),
                "{'flags': 565248, 'flags_new': '565248'}"); /* 1<<13 | 1<<15 | 1<<19 */
    expect_json(client_post(ada, "{'name': 'x', 'flags': null}", APPS), "{'flags': 565248}");
    expect_json(client_post(ada, "{'name': 'x', 'flags': 0}", APPS), "{'flags': 0}");
    expect_json(client_post(ada, "{'name': 'x', 'flags': 4096}", APPS), "{'flags': 0}");
}

static void configure_no_privileged_intents(struct config *config)
{
    config->privileged_intents = false;
}

static void privileged_intents_option_off_clears_the_intent_flags(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_post(ada, "{'name': 'x'}", APPS);

    expect_json(a, "{'flags': 0, 'flags_new': '0'}");
}

static void application_urls_cover_and_webhook_fields_can_be_changed(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");
    struct answer a = client_patch(
        ada,
        "{'cover_image': '" PNG "', 'terms_of_service_url': 'https://a.example/terms', "
        "'privacy_policy_url': 'https://a.example/privacy', 'event_webhooks_url': "
        "'https://a.example/events', 'event_webhooks_status': 1, 'event_webhooks_types': "
        "['APPLICATION_AUTHORIZED']}",
        APPS "/%s", id);

    expect_json(a,
                "{'terms_of_service_url': 'https://a.example/terms', 'privacy_policy_url': "
                "'https://a.example/privacy', 'event_webhooks_url': 'https://a.example/events', "
                "'event_webhooks_status': 1, 'event_webhooks_types': ['APPLICATION_AUTHORIZED']}");
    expect_json(client_patch(ada, "{'event_webhooks_status': 2}", APPS "/%s", id),
                "{'event_webhooks_status': 2}");
    expect_json(client_get(ada, APPS "/%s", id), "{'event_webhooks_status': 2}");
    expect_status(client_request(world_anonymous(w), "GET",
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

static void application_name_must_have_1_to_32_characters(struct world *w)
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

/* The bot's username drops invalid characters and is extended if it is already in use. */
static void bot_username_is_derived_from_the_application_name(struct world *w)
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

static void redirect_uris_must_be_urls_and_at_most_10(struct world *w)
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

static void application_limit_is_50_per_user_and_25_per_team(struct world *w)
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

/* --- permissions ---------------------------------------------------------------------- */

static void only_its_owner_can_access_an_application(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    const char *id = make_application(ada, "App");
    struct client *other = application_bot(eve, make_application(eve, "Other"));
    static const char *const posts[] = { "bot", "bot/reset", "reset", "delete" };

    expect_error(client_get(eve, APPS "/%s", id), 403, 20012);
    /* The permission is checked before the body. */
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

static void public_application_route_omits_private_fields(struct world *w)
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

/* Access by team role. */
static void team_role_determines_access_to_team_applications(struct world *w)
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

static void creating_a_team_application_requires_the_developer_role(struct world *w)
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

static void owner_can_transfer_an_application_to_a_team(struct world *w)
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
    /* Bob now owns the application. */
    expect_error(client_post(ada, NULL, APPS "/%s/delete", id), 403, 20012);
    expect_status(client_post(bob, NULL, APPS "/%s/delete", id), 204);
}

/* --- changing ------------------------------------------------------------------------- */

static void all_changeable_application_fields_can_be_set_and_cleared(struct world *w)
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
    /* Absent fields keep their values. */
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

static void application_patch_counts_installs_in_a_read_transaction(struct world *w)
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
    /* Each count is a read transaction of its own. */
    int64_t before = world_counter(w, "guildhall_store_reads_total");
    for (int i = 0; i < CHANGES; i++)
        expect_json(client_patch(ada, TEXT(w, "{'description': '%d'}", i), APPS "/%s", id), counts);
    expect(world_counter(w, "guildhall_store_reads_total") - before >= CHANGES);
    expect_json(client_patch(bot, "{'description': 'own'}", APPS "/@me"), counts);
}

static void integration_public_takes_precedence_over_bot_public(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");

    expect_json(client_patch(ada, "{'bot_public': false}", APPS "/%s", id),
                "{'bot_public': false, 'integration_public': false}");
    expect_json(
        client_patch(ada, "{'bot_public': false, 'integration_public': true}", APPS "/%s", id),
        "{'bot_public': true, 'integration_public': true}");
}

static void application_patch_ignores_flags_that_cannot_be_set(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");

    expect_json(client_patch(ada, "{'flags': 2147483647}", APPS "/%s", id),
                "{'flags': 565504, 'flags_new': '565504'}"); /* 1<<8, 1<<13, 1<<15, 1<<19 */
    expect_json(client_patch(ada, "{'flags': 0}", APPS "/%s", id), "{'flags': 0}");
    expect_invalid(client_patch(ada, "{'flags': -1}", APPS "/%s", id), "flags", "NUMBER_TYPE_MIN");
}

static void invalid_application_changes_are_refused(struct world *w)
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
        { "{'team_id': '7'}", "team_id", "BASE_TYPE_CHOICES" },
        { "{'type': 4}", "type", "BASE_TYPE_CHOICES" },
        { "{'max_participants': 5}", "max_participants", "NUMBER_TYPE_MAX" },
        { "{'explicit_content_filter': 1}", "explicit_content_filter", "BASE_TYPE_CHOICES" },
    };
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_invalid(client_patch(ada, cases[i].body, APPS "/%s", id), cases[i].path,
                       cases[i].code);
    expect_status(
        client_patch(ada, "{'tags': ['a','b','c','d','12345678901234567890']}", APPS "/%s", id),
        200);
    /* Unchanged read-only values are accepted. */
    expect_json(client_patch(ada,
                             "{'team_id': null, 'type': null, 'max_participants': -1, "
                             "'explicit_content_filter': 0}",
                             APPS "/%s", id),
                "{'team': null, 'type': null, 'explicit_content_filter': 0}");
}

static void application_icon_can_be_set_served_and_removed(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    struct answer a = client_post(ada, "{'name': 'App', 'icon': '" PNG "'}", APPS);

    expect_status(a, 201);
    const char *id = answer_text(a, "id"), *icon = answer_text(a, "icon");
    struct answer picture =
        client_request(world_anonymous(w), "GET", TEXT(w, "/app-icons/%s/%s.png", id, icon), NULL,
                       (struct str){ 0 });
    expect_status(picture, 200);
    expect(str_is(answer_header(picture, "Content-Type"), "image/png"));
    expect_json(client_patch(ada, "{'icon': null}", APPS "/%s", id), "{'icon': null}");
    a = client_patch(application_bot(ada, id), "{'icon': '" PNG "'}", APPS "/@me");
    expect(strlen(answer_text(a, "icon")) == 32);

    /* A refused request stores no icon. */
    const char *other = make_application(ada, "Other");
    expect_error(client_patch(eve, "{'icon': '" PNG "'}", APPS "/%s", other), 403, 20012);
    expect_error(client_request(eve, "GET", TEXT(w, "/app-icons/%s/%s.png", other, icon), NULL,
                                (struct str){ 0 }),
                 404, 0);
}

extern const struct test applications_tests[];
const struct test applications_tests[] = {
    TEST(creating_an_application_returns_all_fields),
    TEST(new_application_has_all_intent_flags_by_default),
    TEST_WITH(privileged_intents_option_off_clears_the_intent_flags,
              configure_no_privileged_intents),
    TEST(application_urls_cover_and_webhook_fields_can_be_changed),
    TEST(application_name_must_have_1_to_32_characters),
    TEST(bot_username_is_derived_from_the_application_name),
    TEST(redirect_uris_must_be_urls_and_at_most_10),
    TEST(application_limit_is_50_per_user_and_25_per_team),
    TEST(only_its_owner_can_access_an_application),
    TEST(public_application_route_omits_private_fields),
    TEST(team_role_determines_access_to_team_applications),
    TEST(creating_a_team_application_requires_the_developer_role),
    TEST(owner_can_transfer_an_application_to_a_team),
    TEST(all_changeable_application_fields_can_be_set_and_cleared),
    TEST(application_patch_counts_installs_in_a_read_transaction),
    TEST(integration_public_takes_precedence_over_bot_public),
    TEST(application_patch_ignores_flags_that_cannot_be_set),
    TEST(invalid_application_changes_are_refused),
    TEST(application_icon_can_be_set_served_and_removed),
    { 0 },
};
