/* audit_changes.c - old and new values in audit log entries and their event. */
#include "gateway_conn.h"
#include "test_guild.h"

#include <stdio.h>

/* A bot that receives only GUILD_AUDIT_LOG_ENTRY_CREATE. */
struct audit_guild {
    struct client *ada, *bob;
    struct test_guild p;
    struct gateway_conn *log;
};

static struct audit_guild create_audit_guild(struct world *w)
{
    struct audit_guild a = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };
    struct client *bot = world_bot(w, "scribe");

    a.p = world_test_guild(w, a.ada);
    test_guild_add(&a.p, a.bob);
    test_guild_add_with(&a.p, bot, 9, PERMISSION(VIEW_AUDIT_LOG));
    a.log = conn_session(bot, "v=10&encoding=json", "'intents': 4");
    return a;
}

/* Checks the newest entry in the audit log and in the event. */
#define expect_changes(a, action, changes, ...)                                              \
    do {                                                                                     \
        expect_json(client_get((a)->ada, "/guilds/%s/audit-logs?limit=1", (a)->p.id),        \
                    "{'audit_log_entries': [{'action_type': %d, 'changes': " changes "}]}",  \
                    action, __VA_ARGS__);                                                    \
        expect_dispatch((a)->log, "GUILD_AUDIT_LOG_ENTRY_CREATE",                            \
                        "{'action_type': %d, 'changes': " changes "}", action, __VA_ARGS__); \
    } while (0)

static void guild_update_entries_contain_old_and_new_values(struct world *w)
{
    struct audit_guild a = create_audit_guild(w);

    expect_status(client_patch(a.ada,
                               "{'name': 'Yard', 'afk_timeout': 300, 'verification_level': 1, "
                               "'system_channel_flags': 4, 'description': null}",
                               "/guilds/%s", a.p.id),
                  200);
    expect_changes(&a, 1,
                   "[{'key': 'name', 'old_value': 'Hall', 'new_value': 'Yard'}, {'key': "
                   "'system_channel_flags', 'old_value': 0, 'new_value': 4}, {'key': "
                   "'verification_level', 'old_value': 0, 'new_value': %d}]",
                   1);
    expect_status(client_patch(a.ada, "{'enabled': true}", "/guilds/%s/widget", a.p.id), 200);
    expect_changes(&a, 1, "[{'key': 'widget_enabled', 'old_value': false, 'new_value': %s}]",
                   "true");
}

static void channel_entries_contain_old_and_new_values(struct world *w)
{
    struct audit_guild a = create_audit_guild(w);
    struct answer made = client_post(a.ada, "{'name': 'shed', 'type': 0, 'topic': 'Tools'}",
                                     "/guilds/%s/channels", a.p.id);

    expect_status(made, 201);
    expect_dispatch(a.log, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 10}");
    const char *id = answer_text(made, "id");
    expect_json(client_get(a.ada, "/guilds/%s/audit-logs?limit=1", a.p.id),
                "{'audit_log_entries': [{'action_type': 10, 'target_id': '%s'}]}", id);
    expect_status(
        client_patch(a.ada, "{'name': 'barn', 'topic': null, 'nsfw': true}", "/channels/%s", id),
        200);
    expect_changes(&a, 11,
                   "[{'key': 'name', 'old_value': 'shed', 'new_value': 'barn'}, {'key': 'topic', "
                   "'old_value': 'Tools'}, {'key': 'nsfw', 'old_value': false, 'new_value': %s}]",
                   "true");

    expect_status(client_put(a.ada, "{'type': 1, 'allow': '1024', 'deny': '0'}",
                             "/channels/%s/permissions/%s", id, a.bob->id),
                  204);
    expect_changes(&a, 13,
                   "[{'key': 'id', 'new_value': '%s'}, {'key': 'type', 'new_value': 1}, {'key': "
                   "'allow', 'new_value': '1024'}, {'key': 'deny', 'new_value': '0'}]",
                   a.bob->id);
    expect_status(client_put(a.ada, "{'type': 1, 'allow': '0', 'deny': '2048'}",
                             "/channels/%s/permissions/%s", id, a.bob->id),
                  204);
    expect_changes(&a, 14,
                   "[{'key': 'allow', 'old_value': '1024', 'new_value': '0'}, {'key': 'deny', "
                   "'old_value': '0', 'new_value': '%d'}]",
                   2048);
    /* Overwrites in a channel's body have separate entries. */
    expect_status(client_patch(a.ada, "{'permission_overwrites': []}", "/channels/%s", id), 200);
    expect_dispatch(a.log, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 11, 'changes': []}");
    expect_changes(&a, 15,
                   "[{'key': 'id', 'old_value': '%s'}, {'key': 'type', 'old_value': 1}, {'key': "
                   "'allow', 'old_value': '0'}, {'key': 'deny', 'old_value': '2048'}]",
                   a.bob->id);
    expect_status(client_delete(a.ada, "/channels/%s", id), 200);
    expect_dispatch(a.log, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 12, 'target_id': '%s'}",
                    id);
}

static void member_entries_contain_old_and_new_values(struct world *w)
{
    struct audit_guild a = create_audit_guild(w);
    const char *first = test_guild_role(&a.p, 2, 0), *second = test_guild_role(&a.p, 3, 0);
    char body[80];

    snprintf(body, sizeof body, "{'roles': ['%s']}", second);

    expect_status(client_patch(a.ada, "{'nick': 'Bo'}", "/guilds/%s/members/%s", a.p.id, a.bob->id),
                  200);
    expect_changes(&a, 24, "[{'key': 'nick', 'new_value': '%s'}]", "Bo");
    expect_status(client_patch(a.ada, "{'nick': null}", "/guilds/%s/members/%s", a.p.id, a.bob->id),
                  200);
    expect_changes(&a, 24, "[{'key': 'nick', 'old_value': '%s'}]", "Bo");

    expect_status(
        client_put(a.ada, "{}", "/guilds/%s/members/%s/roles/%s", a.p.id, a.bob->id, first), 204);
    expect_changes(&a, 25, "[{'key': '$add', 'new_value': [{'id': '%s'}]}]", first);
    expect_status(client_patch(a.ada, body, "/guilds/%s/members/%s", a.p.id, a.bob->id), 200);
    expect_changes(&a, 25,
                   "[{'key': '$add', 'new_value': [{'id': '%s'}]}, {'key': '$remove', 'new_value': "
                   "[{'id': '%s'}]}]",
                   second, first);
}

static void role_entries_contain_old_and_new_values(struct world *w)
{
    struct audit_guild a = create_audit_guild(w);
    struct answer made =
        client_post(a.ada, "{'name': 'Smith', 'permissions': '8'}", "/guilds/%s/roles", a.p.id);
    const char *id = answer_text(made, "id");

    expect_changes(&a, 30,
                   "[{'key': 'name', 'new_value': '%s'}, {'key': 'color', 'new_value': 0}, {'key': "
                   "'colors'}, {'key': 'permissions', 'new_value': '8'}, {'key': 'hoist', "
                   "'new_value': false}, {'key': 'mentionable', 'new_value': false}]",
                   "Smith");
    expect_status(client_patch(a.ada, "{'hoist': true, 'permissions': '0'}", "/guilds/%s/roles/%s",
                               a.p.id, id),
                  200);
    expect_changes(&a, 31,
                   "[{'key': 'permissions', 'old_value': '8', 'new_value': '0'}, {'key': 'hoist', "
                   "'old_value': false, 'new_value': %s}]",
                   "true");
    expect_status(client_delete(a.ada, "/guilds/%s/roles/%s", a.p.id, id), 204);
    expect_changes(&a, 32,
                   "[{'key': 'name', 'old_value': '%s'}, {'key': 'color', 'old_value': 0}, {'key': "
                   "'colors'}, {'key': 'permissions', 'old_value': '0'}, {'key': 'hoist', "
                   "'old_value': true}, {'key': 'mentionable', 'old_value': false}]",
                   "Smith");
}

static void webhook_entries_contain_old_and_new_values(struct world *w)
{
    struct audit_guild a = create_audit_guild(w);
    struct answer made =
        client_post(a.ada, "{'name': 'Bell'}", "/channels/%s/webhooks", a.p.channel);
    const char *id = answer_text(made, "id");

    expect_changes(&a, 50,
                   "[{'key': 'type', 'new_value': 1}, {'key': 'channel_id', 'new_value': '%s'}, "
                   "{'key': 'name', 'new_value': 'Bell'}]",
                   a.p.channel);
    expect_status(client_patch(a.ada, "{'name': 'Horn'}", "/webhooks/%s", id), 200);
    expect_changes(&a, 51, "[{'key': 'name', 'old_value': 'Bell', 'new_value': '%s'}]", "Horn");
    expect_status(client_delete(a.ada, "/webhooks/%s", id), 204);
    expect_changes(&a, 52,
                   "[{'key': 'type', 'old_value': 1}, {'key': 'channel_id', 'old_value': '%s'}, "
                   "{'key': 'name', 'old_value': 'Horn'}]",
                   a.p.channel);
}

const struct test audit_changes_tests[] = {
    TEST(guild_update_entries_contain_old_and_new_values),
    TEST(channel_entries_contain_old_and_new_values),
    TEST(member_entries_contain_old_and_new_values),
    TEST(role_entries_contain_old_and_new_values),
    TEST(webhook_entries_contain_old_and_new_values),
    { 0 },
};
