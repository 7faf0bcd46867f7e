/* application_deletion.c - deletion of applications, in steps and with all their rows. */
#include "apps.h"

#include <string.h>

#include "guilds.h"
#include "platforms.h"
#include "test_guild.h"
#include "waits.h"

#define APPS "/applications"

static void deleting_an_application_deletes_its_bot_and_integrations(struct world *w)
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
            channel = str_dup_cstring(world_arena(w), dom_at(&channels.json->items[i], "id")->text);
    expect_status(client_post(bot, "{'name': 'news'}", "/channels/%s/webhooks", channel), 200);
    discard_received(w);
    expect_status(client_post(ada, NULL, APPS "/%s/delete", id), 204);

    struct audience managers =
        audience_of_members_with_permission(id_of(guild), 0, PERMISSION(MANAGE_GUILD));
    struct audience all = audience_of_guild(id_of(guild));
    expect_received(w, managers, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", guild);
    expect_received(w, managers, "INTEGRATION_DELETE", "{'guild_id': '%s', 'application_id': '%s'}",
                    guild, id);
    expect_received(w, all, "GUILD_MEMBER_REMOVE", "{'guild_id': '%s', 'user': {'id': '%s'}}",
                    guild, id);
    expect_received(w,
                    audience_of_members_with_permission(id_of(guild), id_of(channel),
                                                        PERMISSION(MANAGE_WEBHOOKS)),
                    "WEBHOOKS_UPDATE", "{'guild_id': '%s', 'channel_id': '%s'}", guild, channel);
    expect_received(w, all, "GUILD_ROLE_DELETE", "{'guild_id': '%s'}", guild);
    expect_received(w, all, "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "{'guild_id': '%s'}", guild);
    expect_nothing_received(w);
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
    /* Messages of the deleted bot still have an author. */
    expect_json(client_get(ada, "/users/%s", id), "{'username': 'app', 'bot': true}");
}

/* Inserts an app with many guilds and users directly into the store. */
static void insert_app_in_many_guilds(struct world *w, const char *app)
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

static void expect_count_of_received_events(struct world *w, enum event event, size_t count)
{
    world_settle(w);
    expect(world_count_events(w, event) == count);
}

/* The test fails when one of the steps takes long. */
static void deleting_an_app_of_1000_guilds_runs_in_batches(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");
    struct client *bot = application_bot(ada, id);
    enum { COUNT = 1000 };

    insert_app_in_many_guilds(w, id);
    expect_status(client_post(bot, "{'name': 'ping', 'description': 'd'}", APPS "/%s/commands", id),
                  201);
    expect_status(client_post(ada, NULL, APPS "/%s/delete", id), 204);
    expect_error(client_get(bot, "/users/@me"), 401, 0);
    expect_error(client_get(ada, APPS "/%s", id), 404, 10002);
    expect_error(client_post(ada, NULL, APPS "/%s/delete", id), 404, 10002);
    expect_json(client_get(ada, APPS), "[]");
    expect_number(w, 0, "select count(*) from applications");
    expect_number(w, 0, "select count(*) from jobs where kind = 'application-leftovers'");
    expect_count_of_received_events(w, EVENT_INTEGRATION_DELETE, COUNT);
    expect_count_of_received_events(w, EVENT_GUILD_INTEGRATIONS_UPDATE, COUNT);
    expect_count_of_received_events(w, EVENT_GUILD_MEMBER_REMOVE, COUNT);
    expect_count_of_received_events(w, EVENT_USER_APPLICATION_REMOVE, COUNT);
    expect_count_of_received_events(w, EVENT_GAME_RELATIONSHIP_REMOVE, 499);
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

static void deleting_an_application_continues_after_a_restart(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");

    insert_app_in_many_guilds(w, id);
    expect_status(client_post(ada, NULL, APPS "/%s/delete", id), 204);
    world_restart(w);
    expect_number(w, 0, "select count(*) from applications");
    expect(store_count(w, "select count(*) from integrations") == 0);
    expect(store_count(w, "select count(*) from authorizations") == 0);
}

static void application_being_deleted_is_unknown_to_all_routes(struct world *w)
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
    /* State of the rows after the first deletion step. */
    world_sql(w, "update applications set removed = 1 where id = %s", id);
    world_restart(w);
    expect_error(client_get(bot, "/users/@me"), 401, 0);
    expect_error(client_get(ada, APPS "/%s", id), 404, 10002);
    expect_json(client_get(ada, APPS), "[]");
    expect_json(client_get(bob, "/oauth2/tokens"), "[]");
    expect_json(client_get(ada, "/guilds/%s/integrations", guild), "[]");
    expect_json(client_get(ada, "/users/@me/guilds/integration-application-ids"), "{'%s': []}",
                guild);
    expect_json(client_get(ada, "/guilds/%s/application-command-index", guild),
                "{'applications': [], 'application_commands': []}");
    expect_json(client_get(bob, "/users/@me/application-command-index"),
                "{'applications': [], 'application_commands': []}");
    expect_error(client_get(ada, "/oauth2/authorize?client_id=%s&scope=bot", id), 404, 10002);

    /* Kicking the bot in the meantime succeeds. */
    expect_status(client_delete(ada, "/guilds/%s/members/%s", guild, id), 204);
    world_sql(w,
              "insert into jobs (kind, key, due, data) values ('application-leftovers', %s, 0, "
              "'')",
              id);
    world_restart(w);
    expect_number(w, 0, "select count(*) from applications");
    expect(store_count(w, "select count(*) from authorizations") == 0);
}

extern const struct test application_deletion_tests[];
const struct test application_deletion_tests[] = {
    TEST(deleting_an_application_deletes_its_bot_and_integrations),
    TEST(deleting_an_app_of_1000_guilds_runs_in_batches),
    TEST(deleting_an_application_continues_after_a_restart),
    TEST(application_being_deleted_is_unknown_to_all_routes),
    { 0 },
};
