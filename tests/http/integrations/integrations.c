/* integrations.c - listing, creating, changing and removing guild integrations. */
#include "apps.h"
#include "platforms.h"

#include <string.h>

#include "integrations/integrations.h"

/* Ada owns the guild, bob manages it, eve is a plain member; ada has connected "streamer". */
struct test_integration_guild {
    struct client *ada, *bob, *eve;
    const char *guild;
};

static struct test_integration_guild create_integration_guild(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    struct test_integration_guild s = { h.ada, h.bob, world_client(w, "eve"), h.guild };

    put_member(s.guild, s.eve);
    make_account(w, PLATFORM_A, "streamer", "Streamer");
    link_account(s.ada, PLATFORM_A, "streamer");
    discard_received(w);
    return s;
}

static const char *install_app(struct test_integration_guild *s, const char *scopes,
                               const char *permissions)
{
    struct world *w = s->ada->world;
    const char *app = make_application(s->ada, "Dice");

    expect_status(client_post(s->ada,
                              TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '%s'}",
                                   s->guild, permissions),
                              "/oauth2/authorize?client_id=%s&scope=%s", app, scopes),
                  200);
    discard_received(w);
    return app;
}

static const char *integration_of(struct world *w, const char *app)
{
    return TEXT(
        w, "%lld",
        (long long)world_number(w, "select id from integrations where application_id = %s", app));
}

/* --- reading -------------------------------------------------------------------------- */

static void platform_integration_contains_all_fields(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);
    const char *id = follow(s.ada, s.guild, PLATFORM_A, "streamer");
    struct answer a = client_get(s.bob, INTEGRATIONS, s.guild);

    expect_status(a, 200);
    expect_json(a,
                "[{'id': '%s', 'name': 'Streamer', 'type': 'platform_a', 'enabled': true, "
                "'account': {'id': 'streamer', 'name': 'Streamer'}, 'syncing': false, "
                "'role_id': '%s', 'enable_emoticons': false, 'expire_behavior': 0, "
                "'expire_grace_period': 7, 'subscriber_count': 0, 'revoked': false, "
                "'user': {'id': '%s', 'username': 'ada'}}]",
                id, role_of(w, id), s.ada->id);
    expect(dom_at(a.json, "0.synced_at"));
    expect_absent(a, "0.application");
    expect_absent(a, "0.scopes");
    expect_absent(a, "0.guild_id");
    expect_absent(a, "0.role_connections_metadata");
}

static void integration_of_a_disabled_platform_is_not_enabled(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);

    follow(s.ada, s.guild, PLATFORM_A, "streamer");
    expect_json(client_get(s.ada, INTEGRATIONS, s.guild), "[{'enabled': true}]");
    expect_json(client_get(s.ada, "/users/@me/connections"), "[{'integrations': [{}]}]");
    world_config(w)->platform_a = "off";
    world_restart(w);
    expect_json(client_get(s.ada, INTEGRATIONS, s.guild), "[{'enabled': false}]");
    expect_json(client_get(s.ada, "/users/@me/connections"), "[{'integrations': []}]");
    world_config(w)->platform_a = "local";
    world_restart(w);
    expect_json(client_get(s.ada, INTEGRATIONS, s.guild), "[{'enabled': true}]");
}

static void bots_with_manage_guild_can_sync_and_change_integrations(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);
    const char *id = follow(s.ada, s.guild, PLATFORM_A, "streamer");
    const char *app = install_app(&s, "bot", "32");
    struct client *bot = application_bot(s.ada, app);

    expect_status(client_patch(bot, "{'expire_behavior': 1}", INTEGRATIONS "/%s", s.guild, id),
                  204);
    expect_status(client_post(bot, NULL, INTEGRATIONS "/%s/sync", s.guild, id), 204);
    world_sql(w, "update roles set permissions = 0 where guild_id = %s", s.guild);
    expect_error(client_post(bot, NULL, INTEGRATIONS "/%s/sync", s.guild, id), 403, 50013);
    expect_error(client_patch(bot, "{}", INTEGRATIONS "/%s", s.guild, id), 403, 50013);
}

static void bots_cannot_create_integrations(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);
    const char *app = install_app(&s, "bot", "8");
    struct client *bot = application_bot(s.ada, app);
    const char *id = answer_text(client_get(bot, INTEGRATIONS, s.guild), "0.id");

    expect_error(client_post(bot, "{'type': 'platform_a', 'id': 'x'}", INTEGRATIONS, s.guild), 403,
                 20001);
    expect_error(client_post(bot, NULL, "/guilds/%s/migrate-command-scope", s.guild), 403, 20001);
    expect_error(client_get(bot, "/channels/1/integrations"), 403, 20001);
    expect_error(client_delete(bot, "/channels/1/integrations/1"), 403, 20001);
    expect_status(client_delete(bot, INTEGRATIONS "/%s", s.guild, id), 204);
}

static void platform_b_integration_has_no_emoticons_field(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);

    link_new(s.ada, PLATFORM_B, "channel");
    follow(s.ada, s.guild, PLATFORM_B, "channel");
    struct answer a = client_get(s.ada, INTEGRATIONS, s.guild);
    expect_json(a, "[{'type': 'platform_b', 'revoked': false}]");
    expect_absent(a, "0.enable_emoticons");
}

static void app_integration_contains_all_fields(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);
    const char *app = install_app(&s, "bot", "0");
    struct answer a = client_get(s.ada, INTEGRATIONS, s.guild);

    expect_json(a,
                "[{'id': '%s', 'name': 'Dice', 'type': 'service', 'enabled': true, "
                "'account': {'id': '%s', 'name': 'Dice'}, "
                "'scopes': ['bot', 'applications.commands'], 'user': {'id': '%s'}, "
                "'application': {'id': '%s', 'name': 'Dice', 'description': '', 'icon': null, "
                "'type': null, 'summary': '', 'is_verified': false, 'is_discoverable': false, "
                "'is_monetized': false, 'bot': {'id': '%s'}}}]",
                integration_of(w, app), app, s.ada->id, app, app);
    static const char *const none[] = { "syncing",
                                        "role_id",
                                        "revoked",
                                        "expire_behavior",
                                        "enable_emoticons",
                                        "synced_at",
                                        "role_connections_metadata" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        expect_absent(a, TEXT(w, "0.%s", none[i]));
    expect_absent(a, "0.application.role_connections_verification_url");
}

static enum err add_subscription(struct tx *tx, void *arg)
{
    bool made;

    return insert_guild_subscription_integration(tx, id_of(arg), &made);
}

static void guild_subscription_integration_cannot_be_changed(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);

    for (int i = 0; i < 2; i++)
        expect(store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                              world_arena(w), add_subscription,
                                              (void *)s.guild) == OK);
    struct answer a = client_get(s.ada, INTEGRATIONS, s.guild);
    expect_json(a,
                "[{'name': 'Server Subscriptions', 'type': 'guild_subscription', 'enabled': true, "
                "'account': {'id': '%s', 'name': 'The Guild'}}]",
                s.guild);
    expect_absent(a, "0.user");
    expect_absent(a, "0.scopes");
    expect_absent(a, "0.syncing");
    const char *id = answer_text(a, "0.id");
    expect_error(client_delete(s.ada, INTEGRATIONS "/%s", s.guild, id), 400, 50163);
    expect_invalid(client_post(s.ada, NULL, INTEGRATIONS "/%s/sync", s.guild, id), "",
                   "INTEGRATION_TYPE_INVALID");
    expect_invalid(client_patch(s.ada, "{}", INTEGRATIONS "/%s", s.guild, id), "",
                   "INTEGRATION_TYPE_INVALID");
    expect_nothing_received(w);
}

static void integrations_contain_role_connection_metadata_if_requested(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);
    const char *app = install_app(&s, "bot", "0");

    follow(s.ada, s.guild, PLATFORM_A, "streamer");
    struct answer a =
        client_get(s.ada, INTEGRATIONS "?include_role_connections_metadata=true", s.guild);
    expect_json(a, "[{'role_connections_metadata': [], "
                   "'application': {'role_connections_verification_url': null}}, {}]");
    expect_absent(a, "1.role_connections_metadata");
    expect_status(
        client_put(s.ada, "[{'type': 2, 'key': 'rolls', 'name': 'Rolls', 'description': 'Dice'}]",
                   "/applications/%s/role-connections/metadata", app),
        200);
    expect_json(client_get(s.ada, INTEGRATIONS "?include_role_connections_metadata=1", s.guild),
                "[{'role_connections_metadata': [{'type': 2, 'key': 'rolls', 'name': 'Rolls', "
                "'description': 'Dice'}]}, {}]");
    expect_invalid(client_get(s.ada, INTEGRATIONS "?include_role_connections_metadata=x", s.guild),
                   "include_role_connections_metadata", "BOOLEAN_TYPE_CONVERT");
    expect_invalid(client_get(s.ada, INTEGRATIONS "?has_commands=x", s.guild), "has_commands",
                   "BOOLEAN_TYPE_CONVERT");
}

#define ADD_COMMAND                                                                       \
    "insert into commands (id, application_id, guild_id, type, name, version, contexts, " \
    "integration_types, plain) values (%llu, %s, %s, 1, 'roll', 1, 1, %d, '{}')"

static void has_commands_filters_integrations_with_commands(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);
    const char *app = install_app(&s, "bot", "0");
    unsigned long long id = snowflake_new();

    follow(s.ada, s.guild, PLATFORM_A, "streamer");
    expect(client_get(s.ada, INTEGRATIONS "?has_commands=true", s.guild).json->count == 0);
    /* A global command for user installs only. */
    world_sql(w, ADD_COMMAND, id, app, "0", 2);
    expect(client_get(s.ada, INTEGRATIONS "?has_commands=true", s.guild).json->count == 0);
    world_sql(w, "update commands set integration_types = 3");
    expect_json(client_get(s.ada, INTEGRATIONS "?has_commands=true", s.guild),
                "[{'type': 'service'}]");
    /* A command of another guild, then one of this guild. */
    world_sql(w, "update commands set guild_id = 77");
    expect(client_get(s.ada, INTEGRATIONS "?has_commands=true", s.guild).json->count == 0);
    world_sql(w, "update commands set guild_id = %s", s.guild);
    expect_json(client_get(s.ada, INTEGRATIONS "?has_commands=true", s.guild), "[{}]");
    world_sql(w, "update integrations set scopes = '[\"bot\"]' where application_id = %s", app);
    expect(client_get(s.ada, INTEGRATIONS "?has_commands=true", s.guild).json->count == 0);
    expect(client_get(s.ada, INTEGRATIONS "?has_commands=false", s.guild).json->count == 2);
}

/* --- permissions ---------------------------------------------------------------------- */

static void integration_routes_require_manage_guild(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);
    struct client *zoe = world_client(w, "zoe");
    const char *id = follow(s.ada, s.guild, PLATFORM_A, "streamer");
    const char *other = found_guild(s.ada, "Other");

    expect_error(client_get(s.eve, INTEGRATIONS, s.guild), 403, 50013);
    expect_error(client_post(s.eve, "{}", INTEGRATIONS, s.guild), 403, 50013);
    expect_error(client_post(s.eve, NULL, INTEGRATIONS "/%s/sync", s.guild, id), 403, 50013);
    expect_error(client_patch(s.eve, "{'expire_behavior': 9}", INTEGRATIONS "/%s", s.guild, id),
                 403, 50013);
    expect_error(client_delete(s.eve, INTEGRATIONS "/%s", s.guild, id), 403, 50013);
    expect_error(client_post(s.eve, NULL, "/guilds/%s/migrate-command-scope", s.guild), 403, 50013);
    expect_error(client_get(zoe, INTEGRATIONS, s.guild), 403, 50001);
    expect_error(client_get(zoe, INTEGRATIONS, "77"), 404, 10004);
    /* An integration of another guild is unknown. */
    expect_error(client_delete(s.ada, INTEGRATIONS "/%s", other, id), 404, 10005);
    expect_error(client_post(s.ada, NULL, INTEGRATIONS "/%s/sync", other, id), 404, 10005);
    expect_error(client_patch(s.ada, "{}", INTEGRATIONS "/77", s.guild), 404, 10005);
    expect_nothing_received(w);
}

/* --- creating ------------------------------------------------------------------------- */

static void creating_an_integration_creates_a_role_and_sends_events(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);

    expect_status(
        client_post(s.ada, "{'type': 'platform_a', 'id': 'streamer'}", INTEGRATIONS, s.guild), 204);
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_ROLE_CREATE",
                    "{'guild_id': '%s', 'role': {'name': 'Streamer Subscriber', 'managed': true, "
                    "'hoist': false, 'permissions': '0', 'position': 1, 'tags': {}}}",
                    s.guild);
    expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}",
                    s.guild);
    expect_received(w, MANAGERS(s.guild), "INTEGRATION_CREATE",
                    "{'guild_id': '%s', 'type': 'platform_a', 'syncing': false, 'enabled': true}",
                    s.guild);
    const struct dom *made = world_last_event(w, "INTEGRATION_CREATE");
    expect(!dom_at(made, "user"));
    const struct dom *role = world_last_event(w, "GUILD_ROLE_CREATE");
    expect(str_eq(dom_at(role, "role.tags.integration_id")->text, dom_at(made, "id")->text));
    expect(str_eq(dom_at(role, "role.id")->text, dom_at(made, "role_id")->text));
    expect_received(
        w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 80, 'user_id': '%s'}", s.ada->id);
    /* The first sync starts by itself. */
    expect_number(w, 1, "select count(*) from integrations where syncing = 0 and round = 1");
    expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{}");
    expect_received(w, MANAGERS(s.guild), "INTEGRATION_UPDATE", "{'syncing': true}");
    expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{}");
    expect_received(w, MANAGERS(s.guild), "INTEGRATION_UPDATE", "{'syncing': false}");
    expect_nothing_received(w);
    /* A second request changes nothing. */
    expect_status(
        client_post(s.ada, "{'type': 'platform_a', 'id': 'streamer'}", INTEGRATIONS, s.guild), 204);
    expect_nothing_received(w);
}

static void creating_an_integration_requires_the_callers_connection(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);
    const char *body = "{'type': 'platform_a', 'id': 'streamer'}";

    /* Knowing the id of another user's account is not enough. */
    expect_error(client_post(s.bob, body, INTEGRATIONS, s.guild), 404, 10017);
    expect_error(
        client_post(s.ada, "{'type': 'platform_b', 'id': 'streamer'}", INTEGRATIONS, s.guild), 404,
        10017);
    world_sql(w, "update connections set verified = 0");
    expect_error(client_post(s.ada, body, INTEGRATIONS, s.guild), 404, 10017);
    world_sql(w, "update connections set verified = 1, revoked = 1");
    expect_error(client_post(s.ada, body, INTEGRATIONS, s.guild), 400, 40012);
    world_sql(w, "update connections set revoked = 0");
    world_sql(w, "update platform_account set has_programme = 0");
    expect_error(client_post(s.ada, body, INTEGRATIONS, s.guild), 400, 50147);
    world_sql(w, "delete from platform_account");
    expect_error(client_post(s.ada, body, INTEGRATIONS, s.guild), 400, 50147);
    expect_nothing_received(w);
    expect(store_count(w, "select count(*) from integrations where type <> 'service'") == 0);
}

static void creating_an_integration_requires_platform_type_and_id(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);

    expect_invalid(client_post(s.ada, "{'id': 'x'}", INTEGRATIONS, s.guild), "type",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(s.ada, "{'type': 'platform_a'}", INTEGRATIONS, s.guild), "id",
                   "BASE_TYPE_REQUIRED");
    static const char *const types[] = { "service", "guild_subscription", "platform_c", "" };
    for (size_t i = 0; i < 4; i++)
        expect_invalid(client_post(s.ada, TEXT(w, "{'type': '%s', 'id': 'x'}", types[i]),
                                   INTEGRATIONS, s.guild),
                       "type", "BASE_TYPE_CHOICES");
    expect_invalid(client_post(s.ada, "{'type': 'platform_a', 'id': ''}", INTEGRATIONS, s.guild),
                   "id", "BASE_TYPE_BAD_LENGTH");
    expect_error(client_post(s.ada, TEXT(w, "{'type': 'platform_a', 'id': '%0128d'}", 1),
                             INTEGRATIONS, s.guild),
                 404, 10017);
    expect_invalid(client_post(s.ada, TEXT(w, "{'type': 'platform_a', 'id': '%0129d'}", 1),
                               INTEGRATIONS, s.guild),
                   "id", "BASE_TYPE_BAD_LENGTH");
}

static void insert_integrations(struct world *w, const char *guild, int count)
{
    for (int i = 0; i < count; i++)
        world_sql(w,
                  "insert into integrations (id, guild_id, type, name, account_id, created_at) "
                  "values (%llu, %s, 'platform_b', 'x', 'x%d', 1)",
                  (unsigned long long)snowflake_new(), guild, i);
}

static void guild_is_limited_to_50_integrations(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);
    const char *body = "{'type': 'platform_a', 'id': 'streamer'}";

    insert_integrations(w, s.guild, 50);
    expect_error(client_post(s.ada, body, INTEGRATIONS, s.guild), 400, 30068);
    expect(client_get(s.ada, INTEGRATIONS, s.guild).json->count == 50);
    world_sql(w, "delete from integrations where account_id = 'x7'");
    expect_status(client_post(s.ada, body, INTEGRATIONS, s.guild), 204);
    expect(client_get(s.ada, INTEGRATIONS, s.guild).json->count == 50);
}

static void long_integration_role_name_is_truncated(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *guild = found_guild(ada, "The Guild");
    char name[201];

    /* 89 characters of two bytes each, and more. */
    for (int i = 0; i < 100; i++)
        memcpy(name + 2 * i, i < 89 ? "\u00e9" : "\u00fc", 3);
    make_account(w, PLATFORM_A, "long", name);
    link_account(ada, PLATFORM_A, "long");
    follow(ada, guild, PLATFORM_A, "long");
    name[2 * 89] = '\0';
    expect_json(client_get(ada, "/guilds/%s/roles", guild), "[{}, {'name': '%s Subscriber'}]",
                name);
}

static void integration_has_no_role_at_the_role_limit(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);

    for (int i = 0; i < 248; i++)
        world_sql(w,
                  "insert into roles (id, guild_id, name, permissions, position) "
                  "values (%llu, %s, 'x', 0, 1)",
                  (unsigned long long)snowflake_new(), s.guild);
    expect(world_number(w, "select count(*) from roles where guild_id = %s", s.guild) == 250);
    const char *id = follow(s.ada, s.guild, PLATFORM_A, "streamer");
    expect_json(client_get(s.ada, INTEGRATIONS, s.guild), "[{'id': '%s', 'role_id': null}]", id);
}

static void creating_a_revoked_integration_again_enables_it(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);
    const char *id = follow(s.ada, s.guild, PLATFORM_A, "streamer");

    world_sql(w, "update integrations set enabled = 0, revoked_at = 5 where id = %s", id);
    expect_status(
        client_post(s.ada, "{'type': 'platform_a', 'id': 'streamer'}", INTEGRATIONS, s.guild), 204);
    expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{}");
    expect_received(w, MANAGERS(s.guild), "INTEGRATION_UPDATE",
                    "{'id': '%s', 'enabled': true, 'revoked': false}", id);
}

/* --- changing ------------------------------------------------------------------------- */

static void changing_an_integration_sends_integration_update(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);
    const char *id = follow(s.ada, s.guild, PLATFORM_A, "streamer");

    expect_status(client_patch(s.bob,
                               "{'expire_behavior': 1, 'expire_grace_period': 30, "
                               "'enable_emoticons': true}",
                               INTEGRATIONS "/%s", s.guild, id),
                  204);
    expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}",
                    s.guild);
    expect_received(
        w, MANAGERS(s.guild), "INTEGRATION_UPDATE",
        "{'id': '%s', 'guild_id': '%s', 'expire_behavior': 1, 'expire_grace_period': 30, "
        "'enable_emoticons': true}",
        id, s.guild);
    expect_received(
        w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 81, 'target_id': '%s'}", id);
    /* Unchanged fields send no event. */
    expect_status(client_patch(s.bob, "{'expire_behavior': 1, 'expire_grace_period': null}",
                               INTEGRATIONS "/%s", s.guild, id),
                  204);
    expect_status(client_patch(s.bob, "{}", INTEGRATIONS "/%s", s.guild, id), 204);
    expect_nothing_received(w);
    expect_json(client_get(s.bob, INTEGRATIONS, s.guild),
                "[{'expire_behavior': 1, 'expire_grace_period': 30, 'enable_emoticons': true}]");
}

static void expire_grace_period_accepts_only_1_3_7_14_or_30_days(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);
    const char *id = follow(s.ada, s.guild, PLATFORM_A, "streamer");
    static const int good[] = { 1, 3, 7, 14, 30 }, bad[] = { 0, 2, 4, 6, 8, 13, 15, 29, 31, -1 };

    for (size_t i = 0; i < 5; i++)
        expect_status(client_patch(s.ada, TEXT(w, "{'expire_grace_period': %d}", good[i]),
                                   INTEGRATIONS "/%s", s.guild, id),
                      204);
    for (size_t i = 0; i < 10; i++)
        expect_invalid(client_patch(s.ada, TEXT(w, "{'expire_grace_period': %d}", bad[i]),
                                    INTEGRATIONS "/%s", s.guild, id),
                       "expire_grace_period", "BASE_TYPE_CHOICES");
    expect_invalid(client_patch(s.ada, "{'expire_behavior': 2}", INTEGRATIONS "/%s", s.guild, id),
                   "expire_behavior", "BASE_TYPE_CHOICES");
    expect_invalid(
        client_patch(s.ada, "{'enable_emoticons': 'x'}", INTEGRATIONS "/%s", s.guild, id),
        "enable_emoticons", "BOOLEAN_TYPE_CONVERT");
}

static void enable_emoticons_is_ignored_for_platform_b(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);

    link_new(s.ada, PLATFORM_B, "channel");
    const char *id = follow(s.ada, s.guild, PLATFORM_B, "channel");
    expect_status(
        client_patch(s.ada, "{'enable_emoticons': true}", INTEGRATIONS "/%s", s.guild, id), 204);
    expect_nothing_received(w);
}

static void app_integrations_cannot_be_changed_or_synced(struct world *w)
{
    struct test_integration_guild s = create_integration_guild(w);
    const char *id = integration_of(w, install_app(&s, "bot", "0"));

    expect_invalid(client_patch(s.ada, "{'expire_behavior': 1}", INTEGRATIONS "/%s", s.guild, id),
                   "", "INTEGRATION_TYPE_INVALID");
    expect_invalid(client_post(s.ada, NULL, INTEGRATIONS "/%s/sync", s.guild, id), "",
                   "INTEGRATION_TYPE_INVALID");
    expect_nothing_received(w);
}

const struct test integrations_tests[] = {
    TEST(platform_integration_contains_all_fields),
    TEST(integration_of_a_disabled_platform_is_not_enabled),
    TEST(bots_with_manage_guild_can_sync_and_change_integrations),
    TEST(bots_cannot_create_integrations),
    TEST(platform_b_integration_has_no_emoticons_field),
    TEST(app_integration_contains_all_fields),
    TEST(guild_subscription_integration_cannot_be_changed),
    TEST(integrations_contain_role_connection_metadata_if_requested),
    TEST(has_commands_filters_integrations_with_commands),
    TEST(integration_routes_require_manage_guild),
    TEST(creating_an_integration_creates_a_role_and_sends_events),
    TEST(creating_an_integration_requires_the_callers_connection),
    TEST(creating_an_integration_requires_platform_type_and_id),
    TEST(guild_is_limited_to_50_integrations),
    TEST(integration_has_no_role_at_the_role_limit),
    TEST(long_integration_role_name_is_truncated),
    TEST(creating_a_revoked_integration_again_enables_it),
    TEST(changing_an_integration_sends_integration_update),
    TEST(expire_grace_period_accepts_only_1_3_7_14_or_30_days),
    TEST(enable_emoticons_is_ignored_for_platform_b),
    TEST(app_integrations_cannot_be_changed_or_synced),
    { 0 },
};
