/* apps.c - app integrations of guilds and groups: removal and permissions. */
#include "apps.h"
#include "channels.h"
#include "gateway_conn.h"
#include "platforms.h"

#include <string.h>

/* Ada owns the guild; bob manages it; the app Dice is installed with a bot and a role. */
struct app_guild {
    struct client *ada, *bob, *bot;
    const char *guild, *app, *id, *role, *channel;
};

static void install(struct client *c, const char *guild, const char *app, const char *scopes,
                    const char *permissions)
{
    expect_status(
        client_post(c,
                    TEXT(c->world, "{'authorize': true, 'guild_id': '%s', 'permissions': '%s'}",
                         guild, permissions),
                    "/oauth2/authorize?client_id=%s&scope=%s", app, scopes),
        200);
    discard_received(c->world);
}

static struct app_guild create_app_guild(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    struct app_guild s = { .ada = h.ada, .bob = h.bob, .guild = h.guild };

    s.app = make_application(s.ada, "Dice");
    s.bot = application_bot(s.ada, s.app);
    install(s.ada, s.guild, s.app, "bot", "32");
    s.id = TEXT(w, "%lld", (long long)store_count(w, "select id from integrations"));
    s.role =
        TEXT(w, "%lld", (long long)store_count(w, "select id from roles where bot_id is not null"));
    s.channel = make_channel(s.ada, s.guild, "{'name': 'general'}");
    return s;
}

#define ADD_WEBHOOK                                                                       \
    "insert into webhooks (id, guild_id, channel_id, application_id, name, salt) values " \
    "(%llu, %s, %s, %s, 'x', '')"
#define ADD_COMMAND                                                                       \
    "insert into commands (id, application_id, guild_id, type, name, version, contexts, " \
    "integration_types, plain) values (%llu, %s, %s, 1, 'roll', 1, 1, 1, '{}')"
#define ADD_PERMISSION                                                                        \
    "insert into command_permissions (guild_id, target_id, entity_id, type, application_id, " \
    "permission, position) values (%s, %s, %s, 1, %s, 1, 0)"

/* --- removing ------------------------------------------------------------------------- */

static void removing_an_app_integration_removes_bot_webhooks_commands(struct world *w)
{
    struct app_guild s = create_app_guild(w);
    struct audience guild = audience_of_guild(id_of(s.guild));

    world_sql(w, ADD_WEBHOOK, (unsigned long long)snowflake_new(), s.guild, s.channel, s.app);
    world_sql(w, ADD_WEBHOOK, (unsigned long long)snowflake_new(), s.guild, s.channel, s.app);
    world_sql(w, ADD_WEBHOOK, (unsigned long long)snowflake_new(), s.guild, s.channel, "null");
    world_sql(w, ADD_COMMAND, (unsigned long long)snowflake_new(), s.app, s.guild);
    world_sql(w, ADD_COMMAND, (unsigned long long)snowflake_new(), s.app, "0");
    world_sql(w, ADD_PERMISSION, s.guild, s.app, s.guild, s.app);

    expect_status(client_delete(s.bob, INTEGRATIONS "/%s", s.guild, s.id), 204);
    expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}",
                    s.guild);
    expect_received(w, MANAGERS(s.guild), "INTEGRATION_DELETE",
                    "{'id': '%s', 'guild_id': '%s', 'application_id': '%s'}", s.id, s.guild, s.app);
    expect_received(w, guild, "GUILD_MEMBER_REMOVE", "{'guild_id': '%s', 'user': {'id': '%s'}}",
                    s.guild, s.app);
    expect_received(w,
                    audience_of_members_with_permission(id_of(s.guild), id_of(s.channel),
                                                        PERMISSION(MANAGE_WEBHOOKS)),
                    "WEBHOOKS_UPDATE", "{'guild_id': '%s', 'channel_id': '%s'}", s.guild,
                    s.channel);
    expect_received(w, guild, "GUILD_ROLE_DELETE", "{'guild_id': '%s', 'role_id': '%s'}", s.guild,
                    s.role);
    expect_received(w, guild, "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "{'guild_id': '%s'}",
                    s.guild);
    expect_received(
        w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 82, 'target_id': '%s'}", s.id);
    expect_nothing_received(w);

    expect(store_count(w, "select count(*) from integrations") == 0);
    expect(store_count(w, "select count(*) from webhooks") == 1);
    expect(store_count(w, "select count(*) from commands where guild_id = 0") == 1);
    expect(store_count(w, "select count(*) from commands") == 1);
    expect(store_count(w, "select count(*) from command_permissions") == 0);
    expect(!is_member(s.guild, s.bot));
    expect(client_get(s.ada, INTEGRATIONS, s.guild).json->count == 0);
}

static void removing_an_app_integration_sends_its_bot_guild_delete(struct world *w)
{
    struct app_guild s = create_app_guild(w);
    struct gateway_conn *bot = conn_session(s.bot, "v=10&encoding=json", "'intents': 17");

    expect_dispatch(bot, "GUILD_CREATE", "{'id': '%s'}", s.guild);
    /* The bot may remove its integration: it has the permission. */
    expect_status(client_delete(s.bot, INTEGRATIONS "/%s", s.guild, s.id), 204);
    expect_dispatch(bot, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect_dispatch(bot, "INTEGRATION_DELETE", "{'id': '%s'}", s.id);
    const struct dom *gone = expect_dispatch(bot, "GUILD_DELETE", "{'id': '%s'}", s.guild);
    expect(!dom_at(gone, "unavailable"));
    expect_quiet(bot);
}

static void removing_a_platform_integration_deletes_its_role(struct world *w)
{
    struct app_guild s = create_app_guild(w);

    link_new(s.ada, PLATFORM_A, "streamer");
    const char *id = follow(s.ada, s.guild, PLATFORM_A, "streamer"), *role = role_of(w, id);
    expect_status(client_delete(s.bob, INTEGRATIONS "/%s", s.guild, id), 204);
    expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}",
                    s.guild);
    expect_received(w, MANAGERS(s.guild), "INTEGRATION_DELETE", "{'id': '%s', 'guild_id': '%s'}",
                    id, s.guild);
    expect(!dom_at(world_last_event(w, "INTEGRATION_DELETE"), "application_id"));
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_ROLE_DELETE", "{'role_id': '%s'}",
                    role);
    expect_received(
        w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 82}");
    expect_nothing_received(w);
    expect_error(client_delete(s.bob, INTEGRATIONS "/%s", s.guild, id), 404, 10005);
}

static void removing_an_integration_stores_the_audit_log_reason(struct world *w)
{
    struct app_guild s = create_app_guild(w);
    struct answer a = client_request(s.bob, "DELETE",
                                     TEXT(w, "/api/v10/guilds/%s/integrations/%s", s.guild, s.id),
                                     "X-Audit-Log-Reason: no%20dice\r\n", STR(""));

    expect_status(a, 204);
    expect_json(client_get(s.ada, "/guilds/%s/audit-logs?action_type=82", s.guild),
                "{'audit_log_entries': [{'reason': 'no dice', 'user_id': '%s'}]}", s.bob->id);
}

/* --- bot leaves the guild ------------------------------------------------------------- */

static void kicking_the_bot_keeps_an_integration_with_commands_scope(struct world *w)
{
    struct app_guild s = create_app_guild(w);

    expect_status(client_delete(s.ada, "/guilds/%s/members/%s", s.guild, s.app), 204);
    expect_json(client_get(s.ada, INTEGRATIONS, s.guild),
                "[{'id': '%s', 'scopes': ['applications.commands']}]", s.id);
    const struct dom *event = world_last_event(w, "INTEGRATION_UPDATE");
    expect(event && dom_at(event, "scopes")->count == 1 && !dom_at(event, "user"));
    expect(store_count(w, "select count(*) from roles where bot_id is not null") == 0);
}

static void kicking_the_bot_deletes_an_integration_with_bot_scope_only(struct world *w)
{
    struct app_guild s = create_app_guild(w);

    world_sql(w, "update integrations set scopes = '[\"bot\"]'");
    expect_status(client_delete(s.ada, "/guilds/%s/members/%s", s.guild, s.app), 204);
    expect(world_last_event(w, "INTEGRATION_DELETE") != NULL);
    expect(client_get(s.ada, INTEGRATIONS, s.guild).json->count == 0);
}

/* --- POST /guilds/{guild.id}/migrate-command-scope ------------------------------------ */

#define MIGRATE "/guilds/%s/migrate-command-scope"

static void migrate_command_scope_adds_the_scope_to_apps_with_commands(struct world *w)
{
    struct app_guild s = create_app_guild(w);
    const char *other = make_application(s.ada, "Cards");

    install(s.ada, s.guild, other, "bot", "0");
    world_sql(w, "update integrations set scopes = '[\"bot\"]'");
    world_sql(w, ADD_COMMAND, (unsigned long long)snowflake_new(), s.app, "0");
    struct answer a = client_post(s.bob, NULL, MIGRATE, s.guild);
    expect_status(a, 200);
    expect_json(a, "{'integration_ids_with_app_commands': ['%s']}", s.id);
    expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}",
                    s.guild);
    expect_received(w, MANAGERS(s.guild), "INTEGRATION_UPDATE",
                    "{'id': '%s', 'scopes': ['bot', 'applications.commands']}", s.id);
    expect_received(w, MANAGERS(s.guild), "INTEGRATION_UPDATE",
                    "{'name': 'Cards', 'scopes': ['bot', 'applications.commands']}");
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_APPLICATION_COMMAND_INDEX_UPDATE",
                    "{'guild_id': '%s'}", s.guild);
    expect_nothing_received(w);
    /* A second request changes nothing and sends no events. */
    a = client_post(s.bob, "{'any': 'thing'}", MIGRATE, s.guild);
    expect_status(a, 200);
    expect_json(a, "{'integration_ids_with_app_commands': []}");
    expect_nothing_received(w);
}

static void migrate_command_scope_ignores_other_integrations(struct world *w)
{
    struct app_guild s = create_app_guild(w);

    world_sql(w, "update integrations set scopes = '[\"webhook.incoming\"]'");
    link_new(s.ada, PLATFORM_A, "streamer");
    follow(s.ada, s.guild, PLATFORM_A, "streamer");
    expect_json(client_post(s.ada, NULL, MIGRATE, s.guild),
                "{'integration_ids_with_app_commands': []}");
    expect_nothing_received(w);
    expect_json(client_get(s.ada, INTEGRATIONS, s.guild), "[{'scopes': ['webhook.incoming']}, {}]");
}

static void integrations_application_shows_cover_and_policy_urls(struct world *w)
{
    struct app_guild s = create_app_guild(w);
    struct answer a = client_get(s.ada, INTEGRATIONS, s.guild);

    expect(!dom_at(a.json, "0.application.cover_image"));
    expect(!dom_at(a.json, "0.application.terms_of_service_url"));
    expect_status(client_patch(s.ada,
                               "{'terms_of_service_url': 'https://a.example/t', "
                               "'privacy_policy_url': 'https://a.example/p'}",
                               "/applications/%s", s.app),
                  200);
    world_sql(w, "update applications set cover_image = 'abc' where id = %s", s.app);
    expect_json(client_get(s.ada, INTEGRATIONS, s.guild),
                "[{'application': {'id': '%s', 'cover_image': 'abc', 'terms_of_service_url': "
                "'https://a.example/t', 'privacy_policy_url': 'https://a.example/p'}}]",
                s.app);
}

/* --- GET /users/@me/guilds/integration-application-ids -------------------------------- */

static void integration_application_ids_are_listed_for_all_guilds(struct world *w)
{
    struct app_guild s = create_app_guild(w);
    const char *empty = found_guild(s.ada, "Empty"), *other = make_application(s.ada, "Cards");

    install(s.ada, s.guild, other, "applications.commands", "0");
    link_new(s.ada, PLATFORM_A, "streamer");
    follow(s.ada, empty, PLATFORM_A, "streamer");
    struct answer a = client_get(s.ada, "/users/@me/guilds/integration-application-ids");
    expect_status(a, 200);
    expect_json(a, "{'%s': ['%s', '%s'], '%s': []}", s.guild, s.app, other, empty);
    expect(a.json->count == 2);
    /* Membership in the guild is enough. */
    expect_json(client_get(s.bob, "/users/@me/guilds/integration-application-ids"),
                "{'%s': ['%s', '%s']}", s.guild, s.app, other);
    a = client_get(world_client(w, "zoe"), "/users/@me/guilds/integration-application-ids");
    expect(a.json->kind == JSON_OBJECT && a.json->count == 0);
    expect_error(client_get(s.bot, "/users/@me/guilds/integration-application-ids"), 403, 20001);
}

/* --- recipients of events ------------------------------------------------------------- */

static void integration_events_go_to_managers_and_bots_with_intent(struct world *w)
{
    struct app_guild s = create_app_guild(w);
    struct client *eve = world_client(w, "eve");
    const char *plain = make_application(s.ada, "Plain"), *deaf = make_application(s.ada, "Deaf");

    put_member(s.guild, eve);
    install(s.ada, s.guild, plain, "bot", "0");
    install(s.ada, s.guild, deaf, "bot", "32");
    link_new(s.ada, PLATFORM_A, "streamer");
    const char *id = follow(s.ada, s.guild, PLATFORM_A, "streamer");
    struct gateway_conn *asked =
        conn_session(application_bot(s.ada, plain), "v=10&encoding=json", "'intents': 17");
    struct gateway_conn *silent =
        conn_session(application_bot(s.ada, deaf), "v=10&encoding=json", "'intents': 1");
    expect_dispatch(asked, "GUILD_CREATE", "{}");
    expect_dispatch(silent, "GUILD_CREATE", "{}");
    client_connect(s.bob);
    client_connect(eve);

    expect_status(client_patch(s.ada, "{'expire_behavior': 1}", INTEGRATIONS "/%s", s.guild, id),
                  204);
    expect_event(s.bob, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect_event(s.bob, "INTEGRATION_UPDATE", "{'id': '%s'}", id);
    expect_dispatch(asked, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect_dispatch(asked, "INTEGRATION_UPDATE", "{'id': '%s'}", id);
    expect_quiet(asked);
    expect_quiet(silent);
    expect_silence(eve);
}

/* --- private channels ----------------------------------------------------------------- */

/* A group of ada with bob and eve. */
struct group {
    struct client *ada, *bob, *eve;
    const char *id, *app;
};

static struct group make_group(struct world *w)
{
    struct group g = { world_client(w, "ada"), world_client(w, "bob"), world_client(w, "eve") };

    befriend(g.ada, g.bob);
    befriend(g.ada, g.eve);
    struct answer a =
        client_post(g.ada, TEXT(w, "{'recipients': ['%s', '%s']}", g.bob->id, g.eve->id),
                    "/users/@me/channels");
    expect_status(a, 200);
    g.id = answer_text(a, "id");
    g.app = make_application(world_client(w, "maker"), "Dice");
    discard_received(w);
    return g;
}

static struct answer install_in_group(struct client *c, const struct group *g, const char *scopes)
{
    return client_post(c, TEXT(c->world, "{'authorize': true, 'channel_id': '%s'}", g->id),
                       "/oauth2/authorize?client_id=%s&scope=%s", g->app, scopes);
}

static void group_integration_can_be_created_listed_and_removed(struct world *w)
{
    struct group g = make_group(w);

    expect_status(install_in_group(g.bob, &g, "applications.commands"), 200);
    expect_status(install_in_group(g.bob, &g, "applications.commands"), 200);
    struct answer a = client_get(g.eve, "/channels/%s/integrations", g.id);
    expect_status(a, 200);
    expect(a.json->count == 1);
    expect_json(a,
                "[{'type': 'service', 'name': 'Dice', 'enabled': true, "
                "'account': {'id': '%s', 'name': 'Dice'}, 'scopes': ['applications.commands'], "
                "'application': {'id': '%s', 'summary': ''}}]",
                g.app, g.app);
    expect_absent(a, "0.user");
    expect_absent(a, "0.guild_id");
    const char *id = answer_text(a, "0.id");

    discard_received(w);
    expect_error(client_delete(g.eve, "/channels/%s/integrations/%s", g.id, id), 403, 50013);
    expect_error(client_delete(g.bob, "/channels/%s/integrations/77", g.id), 404, 10005);
    expect_nothing_received(w);
    expect_status(client_delete(g.bob, "/channels/%s/integrations/%s", g.id, id), 204);
    expect_received(w, audience_of_private_channel(id_of(g.id)), "INTEGRATION_DELETE",
                    "{'id': '%s', 'channel_id': '%s', 'application_id': '%s'}", id, g.id, g.app);
    expect(!dom_at(world_last_event(w, "INTEGRATION_DELETE"), "guild_id"));
    expect_nothing_received(w);
    expect(client_get(g.eve, "/channels/%s/integrations", g.id).json->count == 0);
}

static void group_integration_can_be_removed_by_owner_or_app_owner(struct world *w)
{
    struct group g = make_group(w);
    struct client *maker = world_client(w, "maker");

    expect_status(install_in_group(g.bob, &g, "applications.commands"), 200);
    const char *id = answer_text(client_get(g.ada, "/channels/%s/integrations", g.id), "0.id");
    expect_status(client_delete(g.ada, "/channels/%s/integrations/%s", g.id, id), 204);
    expect_status(install_in_group(g.bob, &g, "applications.commands"), 200);
    id = answer_text(client_get(g.ada, "/channels/%s/integrations", g.id), "0.id");
    /* A recipient who owns the app that manages the group. */
    expect_error(client_delete(maker, "/channels/%s/integrations/%s", g.id, id), 403, 50001);
    world_sql(w, "insert into recipients (channel_id, user_id, since) values (%s, %s, 1)", g.id,
              maker->id);
    expect_error(client_delete(maker, "/channels/%s/integrations/%s", g.id, id), 403, 50013);
    world_sql(w, "update channels set application_id = %s where id = %s", g.app, g.id);
    expect_status(client_delete(maker, "/channels/%s/integrations/%s", g.id, id), 204);
}

static void group_integration_requires_a_group_and_commands_scope(struct world *w)
{
    struct group g = make_group(w);
    struct client *zoe = world_client(w, "zoe");
    const char *guild = found_guild(g.ada, "The Guild");
    const char *channel = make_channel(g.ada, guild, "{'name': 'general'}");

    expect_error(install_in_group(zoe, &g, "applications.commands"), 403, 50001);
    expect_invalid(install_in_group(g.bob, &g, "bot"), "scope", "ENUM_TYPE_COERCE");
    expect_invalid(install_in_group(g.bob, &g, "bot%20applications.commands"), "scope",
                   "ENUM_TYPE_COERCE");
    struct group wrong = { .id = channel, .app = g.app };
    expect_error(install_in_group(g.ada, &wrong, "applications.commands"), 400, 50024);
    wrong.id = "77";
    expect_error(install_in_group(g.ada, &wrong, "applications.commands"), 404, 10003);
    expect(store_count(w, "select count(*) from channel_integrations") == 0);

    expect_error(client_get(zoe, "/channels/%s/integrations", g.id), 403, 50001);
    expect_error(client_get(g.ada, "/channels/%s/integrations", channel), 400, 50024);
    expect_error(client_delete(g.ada, "/channels/%s/integrations/1", channel), 400, 50024);
    expect_error(client_get(g.ada, "/channels/77/integrations"), 404, 10003);
    struct answer a =
        client_post(g.ada, TEXT(w, "{'recipient_id': '%s'}", g.bob->id), "/users/@me/channels");
    a = client_get(g.ada, "/channels/%s/integrations", answer_text(a, "id"));
    expect_status(a, 200);
    expect(a.json->count == 0);
}

const struct test integrations_apps_tests[] = {
    TEST(removing_an_app_integration_removes_bot_webhooks_commands),
    TEST(removing_an_app_integration_sends_its_bot_guild_delete),
    TEST(removing_a_platform_integration_deletes_its_role),
    TEST(removing_an_integration_stores_the_audit_log_reason),
    TEST(kicking_the_bot_keeps_an_integration_with_commands_scope),
    TEST(kicking_the_bot_deletes_an_integration_with_bot_scope_only),
    TEST(migrate_command_scope_adds_the_scope_to_apps_with_commands),
    TEST(migrate_command_scope_ignores_other_integrations),
    TEST(integrations_application_shows_cover_and_policy_urls),
    TEST(integration_application_ids_are_listed_for_all_guilds),
    TEST(integration_events_go_to_managers_and_bots_with_intent),
    TEST(group_integration_can_be_created_listed_and_removed),
    TEST(group_integration_can_be_removed_by_owner_or_app_owner),
    TEST(group_integration_requires_a_group_and_commands_scope),
    { 0 },
};
