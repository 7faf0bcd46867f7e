/* permissions.c - command permissions in guilds and who may change them. */
#include <stdlib.h>

#include "apps.h"
#include "base/buf.h"
#include "channels.h"
#include "gateway_conn.h"
#include "test_app.h"

#define MANAGERS (PERMISSION(MANAGE_GUILD) | PERMISSION(MANAGE_ROLES))
#define ROW      "{'permissions': [{'id': '%s', 'type': %d, 'permission': %s}]}"

/* Test app with a global command. */
struct permission_test {
    struct test_app s;
    const char *command, *path; /* path of its permissions */
};

static struct permission_test create_permission_test(struct world *w)
{
    struct permission_test b = { .s = world_test_app(w) };

    b.command = make_command(b.s.bot, b.s.global, "{'name': 'ping', 'description': 'd'}");
    b.path = TEXT(w, "%s/%s/permissions", b.s.local, b.command);
    return b;
}

static struct answer put_permission(struct client *c, struct permission_test *b, const char *id,
                                    int type, bool may)
{
    return client_put(c, TEXT(c->world, ROW, id, type, may ? "true" : "false"), "%s", b->path);
}

/* --- setting -------------------------------------------------------------------------- */

static void command_permissions_can_be_set_read_and_reset(struct world *w)
{
    struct permission_test b = create_permission_test(w);
    struct client *bob = test_app_member(&b.s, "bob", 0);
    const char *role = make_role(b.s.ada, b.s.guild, "{'name': 'r'}");
    const char *channel = make_channel(b.s.ada, b.s.guild, "{'name': 'c'}");
    snowflake guild = id_of(b.s.guild);
    const char *count_permission_rows =
        TEXT(w,
             "[{'id': '%s', 'type': 1, 'permission': true}, {'id': '%s', 'type': 2, "
             "'permission': false}, {'id': '%s', 'type': 3, 'permission': true}, "
             "{'id': '%llu', 'type': 3, 'permission': false}, {'id': '%s', "
             "'type': 1, 'permission': false}]",
             role, bob->id, channel, (unsigned long long)guild - 1, b.s.guild);

    expect_error(client_get(b.s.ada, "%s", b.path), 404, 10066);
    expect_json(client_get(b.s.ada, "%s/permissions", b.s.local), "[]");
    struct answer a =
        client_put(b.s.ada, TEXT(w, "{'permissions': %s}", count_permission_rows), "%s", b.path);
    expect_status(a, 200);
    const char *object = TEXT(w,
                              "{'id': '%s', 'application_id': '%s', 'guild_id': '%s', "
                              "'permissions': %s}",
                              b.command, b.s.app, b.s.guild, count_permission_rows);
    expect_json(a, "%s", object);
    expect_received(w, audience_of_members_with_permission(guild, 0, PERMISSION(MANAGE_GUILD)),
                    "APPLICATION_COMMAND_PERMISSIONS_UPDATE", "%s", object);
    expect_received(w, audience_of_guild(guild), "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "{}");
    expect_received(w, audience_of_members_with_permission(guild, 0, PERMISSION(VIEW_AUDIT_LOG)),
                    "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 121}");
    expect_json(client_get(b.s.bot, "%s", b.path), "%s", object);
    expect_json(client_get(b.s.bot, "%s/permissions", b.s.local), "[%s]", object);

    /* The same permissions again change nothing; an empty list resets them. */
    discard_received(w);
    expect_status(
        client_put(b.s.ada, TEXT(w, "{'permissions': %s}", count_permission_rows), "%s", b.path),
        200);
    expect_nothing_received(w);
    expect_json(client_put(b.s.ada, "{'permissions': []}", "%s", b.path), "{'permissions': []}");
    expect_received(w, audience_of_members_with_permission(guild, 0, PERMISSION(MANAGE_GUILD)),
                    "APPLICATION_COMMAND_PERMISSIONS_UPDATE", "{'permissions': []}");
    expect_error(client_get(b.s.ada, "%s", b.path), 404, 10066);
    expect_json(client_get(b.s.ada, "%s", b.s.global), "[{'version': '%s'}]", b.command);
}

static void application_permissions_apply_to_all_its_commands(struct world *w)
{
    struct permission_test b = create_permission_test(w);
    const char *path = TEXT(w, "%s/%s/permissions", b.s.local, b.s.app);

    expect_status(client_put(b.s.ada, TEXT(w, ROW, b.s.guild, 1, "false"), "%s", path), 200);
    expect_status(put_permission(b.s.ada, &b, b.s.guild, 1, true), 200);
    expect_json(client_get(b.s.bot, "%s/permissions", b.s.local),
                "[{'id': '%s', 'permissions': [{'permission': false}]}, {'id': '%s'}]", b.s.app,
                b.command);
    const char *local = make_command(b.s.bot, b.s.local, "{'name': 'x', 'description': 'd'}");
    expect_status(client_put(b.s.ada, TEXT(w, ROW, b.s.guild, 1, "false"), "%s/%s/permissions",
                             b.s.local, local),
                  200);
    expect_error(client_put(b.s.ada, "{'permissions': []}", "%s/1/permissions", b.s.local), 404,
                 10063);
    const char *other = found_guild(b.s.ada, "Elsewhere");
    install(b.s.ada, b.s.app, other, "bot");
    expect_error(client_put(b.s.ada, "{'permissions': []}",
                            "/applications/%s/guilds/%s/commands/%s/permissions", b.s.app, other,
                            local),
                 404, 10063);
}

static void permission_targets_must_be_in_the_guild(struct world *w)
{
    struct permission_test b = create_permission_test(w);
    struct client *eve = world_client(w, "eve");
    static const char TARGET[] = "APPLICATION_COMMAND_PERMISSIONS_TARGET_INVALID";
    const char *other = found_guild(b.s.ada, "Elsewhere");
    const char *role = make_role(b.s.ada, other, "{'name': 'r'}");
    const char *channel = make_channel(b.s.ada, other, "{'name': 'c'}");
    const char *own = make_channel(b.s.ada, b.s.guild, "{'name': 'c'}");
    const char *thread = answer_text(
        client_post(b.s.ada, "{'name': 't', 'type': 11}", "/channels/%s/threads", own), "id");
    unsigned long long all = (unsigned long long)id_of(b.s.guild) - 1;

    expect_invalid(put_permission(b.s.ada, &b, role, 1, true), "permissions.0", TARGET);
    expect_invalid(put_permission(b.s.ada, &b, eve->id, 2, true), "permissions.0", TARGET);
    expect_invalid(put_permission(b.s.ada, &b, channel, 3, true), "permissions.0", TARGET);
    expect_invalid(put_permission(b.s.ada, &b, thread, 3, true), "permissions.0", TARGET);
    expect_invalid(put_permission(b.s.ada, &b, b.s.guild, 2, true), "permissions.0", TARGET);
    expect_invalid(put_permission(b.s.ada, &b, b.s.guild, 3, true), "permissions.0", TARGET);
    expect_invalid(put_permission(b.s.ada, &b, TEXT(w, "%llu", all), 1, true), "permissions.0",
                   TARGET);
    expect_invalid(put_permission(b.s.ada, &b, own, 4, true), "permissions.0.type",
                   "BASE_TYPE_CHOICES");
    expect_invalid(client_put(b.s.ada, "{'permissions': [{'type': 1}]}", "%s", b.path),
                   "permissions.0.id", "BASE_TYPE_REQUIRED");
    expect_invalid(client_put(b.s.ada,
                              TEXT(w,
                                   "{'permissions': [{'id': %s, 'type': 3, 'permission': "
                                   "true}, {'id': '%s', 'type': 3, 'permission': false}]}",
                                   own, own),
                              "%s", b.path),
                   "permissions.1", "APPLICATION_COMMAND_PERMISSIONS_DUPLICATE");
    expect_status(client_put(b.s.ada,
                             TEXT(w,
                                  "{'permissions': [{'id': %s, 'type': 3, 'permission': "
                                  "true}]}",
                                  own),
                             "%s", b.path),
                  200);
}

/* Writes permission rows for these roles of the guild. */
static const char *write_permission_rows(struct permission_test *b, const char *const *roles,
                                         int from, int to)
{
    struct buf t;

    buf_init(&t, 1 << 20);
    for (int i = from; i < to; i++)
        buf_printf(&t, "%s{'id': '%s', 'type': 1, 'permission': true}", i > from ? "," : "",
                   roles[i]);
    buf_add_char(&t, '\0');
    const char *count_permission_rows = TEXT(b->s.world, "{'permissions': [%s]}", buf_as_str(&t).p);
    buf_clear(&t);
    return count_permission_rows;
}

static void one_request_adds_10_of_100_command_permissions(struct world *w)
{
    struct permission_test b = create_permission_test(w);
    const char *roles[101];

    for (int i = 0; i < 101; i++)
        roles[i] = make_role(b.s.ada, b.s.guild, "{'name': 'r'}");
    expect_invalid(client_put(b.s.ada, write_permission_rows(&b, roles, 0, 11), "%s", b.path),
                   "permissions", "APPLICATION_COMMAND_PERMISSIONS_LIMIT");
    for (int n = 10; n <= 100; n += 10)
        expect_status(client_put(b.s.ada, write_permission_rows(&b, roles, 0, n), "%s", b.path),
                      200);
    expect_invalid(client_put(b.s.ada, write_permission_rows(&b, roles, 0, 101), "%s", b.path),
                   "permissions", "BASE_TYPE_MAX_LENGTH");
    expect_status(client_put(b.s.ada, write_permission_rows(&b, roles, 1, 101), "%s", b.path), 200);
}

/* --- who may change permissions ------------------------------------------------------- */

static void command_permission_changes_require_manage_guild(struct world *w)
{
    struct permission_test b = create_permission_test(w);
    struct client *bob = test_app_member(&b.s, "bob", MANAGERS),
                  *eve = test_app_member(&b.s, "eve", PERMISSION(MANAGE_GUILD)),
                  *mod = test_app_member(&b.s, "mod", PERMISSION(MANAGE_ROLES)),
                  *far = world_client(w, "far");

    expect_error(client_put(b.s.bot, "{'permissions': []}", "%s", b.path), 403, 20001);
    expect_error(client_put(far, "{'permissions': []}", "%s", b.path), 403, 50001);
    expect_error(client_put(eve, "{'permissions': []}", "%s", b.path), 403, 50013);
    expect_error(client_put(mod, "{'permissions': []}", "%s", b.path), 403, 50013);
    expect_status(client_put(bob, "{'permissions': []}", "%s", b.path), 200);
    expect_error(client_get(mod, "%s", b.path), 403, 50013);
    expect_error(client_get(mod, "%s/permissions", b.s.local), 403, 50013);
    expect_error(client_get(eve, "%s", b.path), 404, 10066);
    expect_error(client_put(bob, "{'permissions': []}",
                            "/applications/%s/guilds/1/commands/%s/permissions", b.s.app,
                            b.command),
                 404, 10004);

    /* Managers who cannot use the command cannot change it: by its default, by a permission row. */
    expect_status(client_patch(b.s.bot, "{'default_member_permissions': '4'}", "%s/%s", b.s.global,
                               b.command),
                  200);
    expect_error(client_put(bob, "{'permissions': []}", "%s", b.path), 403, 50013);
    expect_status(put_permission(b.s.ada, &b, bob->id, 2, true), 200);
    expect_status(put_permission(bob, &b, bob->id, 2, true), 200);
    expect_status(put_permission(b.s.ada, &b, bob->id, 2, false), 200);
    expect_error(client_put(bob, "{'permissions': []}", "%s", b.path), 403, 50013);
    /* Permissions of the whole application have no such check. */
    expect_status(client_put(bob, "{'permissions': []}", "%s/%s/permissions", b.s.local, b.s.app),
                  200);
}

static void managers_can_change_permissions_of_lower_roles_only(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct ranks r = world_ranks(w, MANAGERS);
    struct client *low = world_client(w, "low"), *high = world_client(w, "high");
    struct permission_test b = { .s = s };

    install(r.ada, s.app, r.guild, "applications.commands");
    put_member(r.guild, low);
    put_member(r.guild, high);
    put_role_on(r.guild, high, r.high);
    b.command = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");
    b.path =
        TEXT(w, "/applications/%s/guilds/%s/commands/%s/permissions", s.app, r.guild, b.command);
    const char *channel = make_channel(r.ada, r.guild, "{'name': 'c'}");
    const char *all = TEXT(w, "%llu", (unsigned long long)id_of(r.guild) - 1);

    expect_status(put_permission(r.bob, &b, r.low, 1, true), 200);
    expect_status(put_permission(r.bob, &b, r.guild, 1, true), 200);
    expect_status(put_permission(r.bob, &b, r.bob->id, 2, true), 200);
    expect_status(put_permission(r.bob, &b, low->id, 2, true), 200);
    expect_error(put_permission(r.bob, &b, r.bobs, 1, true), 403, 50013);
    expect_error(put_permission(r.bob, &b, r.high, 1, true), 403, 50013);
    expect_error(put_permission(r.bob, &b, high->id, 2, true), 403, 50013);
    expect_error(put_permission(r.bob, &b, r.ada->id, 2, true), 403, 50013);
    expect_error(put_permission(r.bob, &b, channel, 3, true), 403, 50013);
    expect_error(put_permission(r.bob, &b, all, 3, true), 403, 50013);
    expect_status(put_permission(r.ada, &b, r.high, 1, true), 200);
    /* An existing row for a higher role may stay, but not be removed. */
    expect_status(put_permission(r.bob, &b, r.high, 1, true), 200);
    expect_error(client_put(r.bob, "{'permissions': []}", "%s", b.path), 403, 50013);
    expect_error(put_permission(r.bob, &b, r.high, 1, false), 403, 50013);
    expect_status(client_put(r.ada, "{'permissions': []}", "%s", b.path), 200);
    /* Rows for a channel require MANAGE_CHANNELS there; rows for all channels
     * require it in the guild. */
    expect_status(
        client_put(r.ada,
                   TEXT(w, "{'type': 1, 'allow': '%llu'}", BITS(PERMISSION(MANAGE_CHANNELS))),
                   "/channels/%s/permissions/%s", channel, r.bob->id),
        204);
    expect_status(put_permission(r.bob, &b, channel, 3, true), 200);
    expect_error(put_permission(r.bob, &b, all, 3, true), 403, 50013);
}

static void bearer_token_can_set_permissions_with_the_update_scope(struct world *w)
{
    struct permission_test b = create_permission_test(w);
    struct client *bob = test_app_member(&b.s, "bob", MANAGERS);
    const char *scope = "applications.commands.permissions.update";

    world_sql(w, "update tokens set application_id = %s where kind = 3", b.s.app);
    struct client *good = world_token(w, bob, CALLER_BEARER, scope, 0);
    struct client *weak = world_token(w, bob, CALLER_BEARER, "identify", 0);
    world_sql(w, "update tokens set application_id = %s where kind = 3", b.s.app);
    expect_status(client_put(good, TEXT(w, ROW, b.s.guild, 1, "true"), "%s", b.path), 200);
    expect_json(client_get(good, "%s", b.path), "{'id': '%s'}", b.command);
    expect_error(client_put(weak, "{'permissions': []}", "%s", b.path), 403, 50026);
    /* A token with the scope has no more permissions than its user. */
    struct client *member = test_app_member(&b.s, "eve", 0);
    struct client *plain = world_token(w, member, CALLER_BEARER, scope, 0);
    world_sql(w, "update tokens set application_id = %s where kind = 3", b.s.app);
    expect_error(client_get(plain, "%s", b.path), 403, 50013);
    expect_error(
        client_get(plain, "/applications/%s/guilds/%s/commands/permissions", b.s.app, b.s.guild),
        403, 50013);
    const char *other = make_application(b.s.ada, "Other");
    install(b.s.ada, other, b.s.guild, "applications.commands");
    expect_error(
        client_get(good, "/applications/%s/guilds/%s/commands/permissions", other, b.s.guild), 403,
        20012);
}

/* --- deletion of permissions ---------------------------------------------------------- */

static int64_t count_permission_rows(struct permission_test *b)
{
    return world_number(b->s.world, "select count(*) from command_permissions where %d = %d", 1, 1);
}

static void renaming_or_deleting_a_command_deletes_its_permissions(struct world *w)
{
    struct permission_test b = create_permission_test(w);
    snowflake guild = id_of(b.s.guild);

    expect_status(put_permission(b.s.ada, &b, b.s.guild, 1, true), 200);
    expect_status(client_patch(b.s.bot, "{'description': 'e'}", "%s/%s", b.s.global, b.command),
                  200);
    expect_status(client_post(b.s.bot, "{'name': 'ping', 'description': 'f'}", "%s", b.s.global),
                  200);
    expect(count_permission_rows(&b) == 1);
    discard_received(w);
    expect_status(client_patch(b.s.bot, "{'name': 'pong'}", "%s/%s", b.s.global, b.command), 200);
    expect_received(w, audience_of_members_with_permission(guild, 0, PERMISSION(MANAGE_GUILD)),
                    "APPLICATION_COMMAND_PERMISSIONS_UPDATE", "{'id': '%s', 'permissions': []}",
                    b.command);
    expect(count_permission_rows(&b) == 0);
    expect_status(put_permission(b.s.ada, &b, b.s.guild, 1, true), 200);
    expect_status(
        client_put(b.s.bot,
                   TEXT(w, "[{'id': '%s', 'name': 'pang', 'description': 'd'}]", b.command), "%s",
                   b.s.global),
        200);
    expect(count_permission_rows(&b) == 0);
    expect_status(put_permission(b.s.ada, &b, b.s.guild, 1, true), 200);
    expect_status(client_delete(b.s.bot, "%s/%s", b.s.global, b.command), 204);
    expect(count_permission_rows(&b) == 0);
}

static void deleting_a_role_channel_or_member_deletes_its_permissions(struct world *w)
{
    struct permission_test b = create_permission_test(w);
    struct client *bob = test_app_member(&b.s, "bob", 0);
    const char *role = make_role(b.s.ada, b.s.guild, "{'name': 'r'}");
    const char *channel = make_channel(b.s.ada, b.s.guild, "{'name': 'c'}");

    expect_status(put_permission(b.s.ada, &b, role, 1, true), 200);
    expect_status(client_delete(b.s.ada, "/guilds/%s/roles/%s", b.s.guild, role), 204);
    expect(count_permission_rows(&b) == 0);
    expect_status(put_permission(b.s.ada, &b, channel, 3, true), 200);
    expect_status(client_delete(b.s.ada, "/channels/%s", channel), 200);
    expect(count_permission_rows(&b) == 0);
    expect_status(put_permission(b.s.ada, &b, bob->id, 2, true), 200);
    expect_status(client_delete(b.s.ada, "/guilds/%s/members/%s", b.s.guild, bob->id), 204);
    expect(count_permission_rows(&b) == 0);
    /* Removing the app deletes its own permissions, but not those of its commands. */
    expect_status(put_permission(b.s.ada, &b, b.s.guild, 1, true), 200);
    expect_status(client_put(b.s.ada, TEXT(w, ROW, b.s.guild, 1, "false"), "%s/%s/permissions",
                             b.s.local, b.s.app),
                  200);
    world_sql(w, "update integrations set scopes = '[\"bot\"]' where guild_id = %s", b.s.guild);
    expect_status(client_delete(b.s.ada, "/guilds/%s/members/%s", b.s.guild, b.s.app), 204);
    expect(count_permission_rows(&b) == 1);
    expect(world_number(w, "select count(*) from command_permissions where target_id = %s",
                        b.command) == 1);
}

static void command_permission_changes_are_in_the_audit_log(struct world *w)
{
    struct permission_test b = create_permission_test(w);
    const char *body = TEXT(w, ROW, b.s.guild, 1, "true");
    struct answer a = client_request(
        b.s.ada, "PUT", TEXT(w, "/api/v10%s", b.path),
        "Content-Type: application/json\r\nX-Audit-Log-Reason: quiet%20please\r\n",
        str_of(TEXT(w, "{\"permissions\": [{\"id\": \"%s\", \"type\": 1, \"permission\": true}]}",
                    b.s.guild)));

    (void)body;
    expect_status(a, 200);
    expect_status(put_permission(b.s.ada, &b, b.s.guild, 1, false), 200);
    a = client_get(b.s.ada, "/guilds/%s/audit-logs?action_type=121", b.s.guild);
    expect_json(a,
                "{'audit_log_entries': [{'target_id': '%s', 'user_id': '%s', 'options': "
                "{'application_id': '%s'}, 'changes': [{'key': '%s', 'old_value': {'id': '%s', "
                "'type': 1, 'permission': true}, 'new_value': {'permission': false}}]}, "
                "{'reason': 'quiet please', 'changes': [{'new_value': {'permission': true}}]}], "
                "'application_commands': [{'id': '%s', 'name': 'ping'}]}",
                b.command, b.s.ada->id, b.s.app, b.s.guild, b.s.guild, b.command);
    expect_absent(a, "audit_log_entries.1.changes.0.old_value");
}

static void command_permissions_update_goes_to_bots_and_managers(struct world *w)
{
    struct permission_test b = create_permission_test(w);
    struct client *bob = test_app_member(&b.s, "bob", PERMISSION(MANAGE_GUILD)),
                  *eve = test_app_member(&b.s, "eve", 0), *far = world_client(w, "far");
    const char *second = make_application(b.s.ada, "Second");
    struct client *other = application_bot(b.s.ada, second);

    install(b.s.ada, second, b.s.guild, "bot");
    struct gateway_conn *own = conn_session(b.s.bot, "v=10&encoding=json", "'intents': 0");
    struct gateway_conn *bots = conn_session(other, "v=10&encoding=json", "'intents': 0");
    struct client *people[] = { bob, eve, far };
    for (size_t i = 0; i < 3; i++)
        client_connect(people[i]);
    expect_status(put_permission(b.s.ada, &b, b.s.guild, 1, true), 200);
    expect_dispatch(own, "APPLICATION_COMMAND_PERMISSIONS_UPDATE", "{'id': '%s'}", b.command);
    expect_quiet(own);
    expect_dispatch(bots, "APPLICATION_COMMAND_PERMISSIONS_UPDATE", "{'id': '%s'}", b.command);
    expect_quiet(bots);
    expect_event(bob, "APPLICATION_COMMAND_PERMISSIONS_UPDATE", "{'id': '%s'}", b.command);
    expect_event(bob, "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "{'guild_id': '%s'}", b.s.guild);
    expect_silence(bob);
    expect_event(eve, "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "{'guild_id': '%s'}", b.s.guild);
    expect_silence(eve);
    expect_silence(far);
}

static void permissions_field_is_required_and_may_be_empty(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.local, "{'name': 'x', 'description': 'd'}");
    const char *path = TEXT(w, "%s/%s/permissions", s.local, id);

    expect_invalid(client_put(s.ada, "{}", "%s", path), "permissions", "BASE_TYPE_REQUIRED");
    expect_invalid(client_put(s.ada, "{'permissions': null}", "%s", path), "permissions",
                   "BASE_TYPE_REQUIRED");
    expect_json(client_put(s.ada, "{'permissions': []}", "%s", path), "{'permissions': []}");
}

const struct test commands_permissions_tests[] = {
    TEST(permissions_field_is_required_and_may_be_empty),
    TEST(command_permissions_can_be_set_read_and_reset),
    TEST(application_permissions_apply_to_all_its_commands),
    TEST(permission_targets_must_be_in_the_guild),
    TEST(one_request_adds_10_of_100_command_permissions),
    TEST(command_permission_changes_require_manage_guild),
    TEST(managers_can_change_permissions_of_lower_roles_only),
    TEST(bearer_token_can_set_permissions_with_the_update_scope),
    TEST(renaming_or_deleting_a_command_deletes_its_permissions),
    TEST(deleting_a_role_channel_or_member_deletes_its_permissions),
    TEST(command_permission_changes_are_in_the_audit_log),
    TEST(command_permissions_update_goes_to_bots_and_managers),
    { 0 },
};
