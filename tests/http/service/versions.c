/* versions.c - differences between the API versions, over REST and the gateway. */
#include "gateway_conn.h"
#include "test_guild.h"

#include <stdio.h>

#include "base/mem.h"

/* 70 characters each; two nested replacements make 343,000 bytes. */
#define DOTS   "......................................................................"
#define DASHES "----------------------------------------------------------------------"

static struct answer get_with_version(struct client *c, const char *version, const char *path)
{
    char full[160];

    snprintf(full, sizeof full, "/api/%s%s", version, path);
    return client_request(c, "GET", full, NULL, STR(""));
}

/* Inserts an application of the bot with these flags. */
static void insert_bot_application(struct world *w, const struct client *bot, int64_t flags)
{
    world_sql(w,
              "insert into applications (id, bot_id, owner_id, name, key_salt, verify_key, flags) "
              "values (%s, %s, %s, 'robot', '', '', %d)",
              bot->id, bot->id, bot->id, (int)flags);
}

static void versions_6_and_7_return_permissions_as_numbers(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild p = world_test_guild(w, ada);
    const char *high = test_guild_role(&p, 2, (UINT64_C(1) << 40) | 8);
    char path[80];

    expect_status(client_put(ada, "{'type': 0, 'allow': '64', 'deny': '0'}",
                             "/channels/%s/permissions/%s", p.channel, p.id),
                  204);
    snprintf(path, sizeof path, "/guilds/%s/roles/%s", p.id, high);
    static const char *const old[] = { "v6", "v7" }, *const now[] = { "v8", "v9", "v10" };
    for (size_t i = 0; i < COUNT_OF(old); i++)
        expect_json(get_with_version(ada, old[i], path),
                    "{'permissions': 8, 'permissions_new': '1099511627784'}");
    for (size_t i = 0; i < COUNT_OF(now); i++)
        expect_json(get_with_version(ada, now[i], path), "{'permissions': '1099511627784'}");
    snprintf(path, sizeof path, "/channels/%s", p.channel);
    expect_json(get_with_version(ada, "v7", path),
                "{'type': 0, 'permission_overwrites': [{'id': '%s', 'type': 'role', 'allow': 64, "
                "'allow_new': '64', 'deny': 0, 'deny_new': '0'}]}",
                p.id);
    expect_json(get_with_version(ada, "v8", path),
                "{'permission_overwrites': [{'id': '%s', 'type': 0, 'allow': '64'}]}", p.id);
}

static void empty_responses_have_a_content_type_up_to_version_8(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild p = world_test_guild(w, ada);
    char path[80];

    snprintf(path, sizeof path, "/api/v8/channels/%s/typing", p.channel);
    struct answer a = client_request(ada, "POST", path, NULL, STR(""));
    expect_status(a, 204);
    expect(str_is(answer_header(a, "Content-Type"), "text/html; charset=utf-8"));
    path[6] = '9';
    a = client_request(ada, "POST", path, NULL, STR(""));
    expect_status(a, 204);
    expect(!answer_header(a, "Content-Type").p);
}

static void gateway_versions_6_and_7_send_permissions_as_numbers(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild p = world_test_guild(w, ada);

    test_guild_add(&p, bot);
    insert_bot_application(w, bot, 0);
    expect_status(client_put(ada, "{'type': 0, 'allow': '64', 'deny': '0'}",
                             "/channels/%s/permissions/%s", p.channel, p.id),
                  204);
    struct gateway_conn *old = conn_session(bot, "v=6&encoding=json", "'compress': false");
    expect_dispatch(old, "GUILD_CREATE",
                    "{'channels': [{'permission_overwrites': [{'type': 'role', 'allow': 64}]}]}");
    struct gateway_conn *now = conn_session(bot, "v=8&encoding=json", "'intents': 1");
    expect_dispatch(now, "GUILD_CREATE",
                    "{'channels': [{'permission_overwrites': [{'type': 0, 'allow': '64'}]}]}");
    /* From version 8 on a bot without intents is refused; earlier ones receive all events. */
    struct gateway_conn *none = conn_open(bot, "v=8&encoding=json");
    expect_op(none, 10);
    conn_identify(none, "'compress': false");
    expect_close(none, 4013);
    expect_status(client_post(ada, "{'content': 'words'}", "/channels/%s/messages", p.channel),
                  200);
    expect_dispatch(old, "MESSAGE_CREATE", "{'content': ''}");
}

static void expect_numeric_permissions(struct client *bot)
{
    static const struct {
        const char *query, *identify;
    } forms[] = {
        { "v=7&encoding=json", "'compress': false" },
        { "v=7&encoding=json", "'compress': true" },
        { "v=7&encoding=json&compress=zlib-stream", "'compress': false" },
        { "v=7&encoding=json&compress=zstd-stream", "'compress': false" },
        { "v=7&encoding=etf", "'compress': false" },
        { "v=7&encoding=etf&compress=zstd-stream", "'compress': false" },
    };

    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct gateway_conn *g = conn_session(bot, forms[i].query, forms[i].identify);

        expect_dispatch(
            g, "GUILD_CREATE",
            "{'channels': [{'permission_overwrites': [{'type': 'role', 'allow': 64}]}]}");
        conn_close(g, 1000);
    }
}

static void old_gateway_versions_send_numbers_in_every_encoding(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild p = world_test_guild(w, ada);

    test_guild_add(&p, bot);
    insert_bot_application(w, bot, 0);
    expect_status(client_put(ada, "{'type': 0, 'allow': '64', 'deny': '0'}",
                             "/channels/%s/permissions/%s", p.channel, p.id),
                  204);
    expect_numeric_permissions(bot);
    /* A GUILD_CREATE of more than 256 KiB is encoded off the event loop. */
    world_sql(w,
              "update channels set topic = replace(replace('%s', '.', '%s'), '-', '%s') where id = "
              "%s",
              DOTS, DASHES, DOTS, p.channel);
    expect_numeric_permissions(bot);
}

static void before_version_10_message_content_needs_no_intent(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild p = world_test_guild(w, ada);

    test_guild_add(&p, bot);
    insert_bot_application(w, bot, 0);
    struct gateway_conn *without = conn_session(bot, "v=9&encoding=json", "'intents': 512");
    world_sql(w, "update applications set flags = %d where bot_id = %s", 1 << 19, bot->id);
    struct gateway_conn *nine = conn_session(bot, "v=9&encoding=json", "'intents': 512"),
                        *ten = conn_session(bot, "v=10&encoding=json", "'intents': 512");
    expect_status(client_post(ada, "{'content': 'words'}", "/channels/%s/messages", p.channel),
                  200);
    expect_dispatch(without, "MESSAGE_CREATE", "{'content': ''}");
    expect_dispatch(nine, "MESSAGE_CREATE", "{'content': 'words'}");
    expect_dispatch(ten, "MESSAGE_CREATE", "{'content': ''}");
}

static void up_to_version_9_ban_accepts_days_and_reason_in_query(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cyd = world_client(w, "cyd"), *dan = world_client(w, "dan");
    struct test_guild p = world_test_guild(w, ada);
    char path[160];

    test_guild_add(&p, bob);
    expect_status(client_post(bob, "{'content': 'x'}", "/channels/%s/messages", p.channel), 200);
    snprintf(path, sizeof path,
             "/api/v9/guilds/%s/bans/%s?reason=too%%20loud&delete_message_days=1", p.id, bob->id);
    expect_status(client_request(ada, "PUT", path, NULL, STR("")), 204);
    expect_json(client_get(ada, "/guilds/%s/bans/%s", p.id, bob->id), "{'reason': 'too loud'}");
    expect_json(client_get(ada, "/guilds/%s/audit-logs?limit=1", p.id),
                "{'audit_log_entries': [{'action_type': 22, 'reason': 'too loud'}]}");
    expect_json(client_get(ada, "/channels/%s/messages", p.channel), "[]");

    snprintf(path, sizeof path, "/api/v9/guilds/%s/bans/%s", p.id, cyd->id);
    expect_status(client_request(ada, "PUT", path, "Content-Type: application/json\r\n",
                                 STR("{\"reason\": \"spam\"}")),
                  204);
    expect_json(client_get(ada, "/guilds/%s/bans/%s", p.id, cyd->id), "{'reason': 'spam'}");

    snprintf(path, sizeof path, "/api/v10/guilds/%s/bans/%s?reason=late", p.id, dan->id);
    expect_status(client_request(ada, "PUT", path, NULL, STR("")), 204);
    expect_json(client_get(ada, "/guilds/%s/bans/%s", p.id, dan->id), "{'reason': null}");
}

static void plus_is_a_space_in_a_reason_in_the_query_but_not_in_the_header(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cyd = world_client(w, "cyd");
    struct test_guild p = world_test_guild(w, ada);
    char path[160];

    snprintf(path, sizeof path, "/api/v9/guilds/%s/bans/%s?reason=+too+loud%%2Bc%%zz+", p.id,
             bob->id);
    expect_status(client_request(ada, "PUT", path, NULL, STR("")), 204);
    expect_json(client_get(ada, "/guilds/%s/bans/%s", p.id, bob->id),
                "{'reason': ' too loud+c%%zz '}");
    snprintf(path, sizeof path, "/api/v9/guilds/%s/bans/%s", p.id, cyd->id);
    expect_status(client_request(ada, "PUT", path, "X-Audit-Log-Reason: too+loud%2B\r\n", STR("")),
                  204);
    expect_json(client_get(ada, "/guilds/%s/bans/%s", p.id, cyd->id), "{'reason': 'too+loud+'}");
}

const struct test versions_tests[] = {
    TEST(versions_6_and_7_return_permissions_as_numbers),
    TEST(empty_responses_have_a_content_type_up_to_version_8),
    TEST(gateway_versions_6_and_7_send_permissions_as_numbers),
    TEST(old_gateway_versions_send_numbers_in_every_encoding),
    TEST(before_version_10_message_content_needs_no_intent),
    TEST(up_to_version_9_ban_accepts_days_and_reason_in_query),
    TEST(plus_is_a_space_in_a_reason_in_the_query_but_not_in_the_header),
    { 0 },
};
