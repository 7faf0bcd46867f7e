/* users_guilds.c - listing and leaving the caller's guilds, and the audit log. */
#include "base/clock.h"
#include "guilds.h"
#include "test_guild.h"

/* --- the caller's guilds -------------------------------------------------------------- */

static void users_guild_list_contains_the_callers_permissions(struct world *w)
{
    struct server_loop p = world_home(w, PERMISSION(MANAGE_GUILD) | PERMISSION(KICK_MEMBERS));
    const char *own = found_guild(p.bob, "Own");
    struct answer a = client_get(p.bob, "/users/@me/guilds");

    expect_json(a,
                "[{'id': '%s', 'name': 'The Guild', 'icon': null, 'owner': false, 'permissions': "
                "'%llu', 'features': []}, {'id': '%s', 'name': 'Own', 'owner': true, "
                "'permissions': '%llu'}]",
                p.guild,
                (unsigned long long)(PERMISSIONS_DEFAULT | PERMISSION(MANAGE_GUILD) |
                                     PERMISSION(KICK_MEMBERS)),
                own, (unsigned long long)PERMISSIONS_ALL);
    expect_absent(a, "0.approximate_member_count");
    expect_json(client_get(p.bob, "/users/@me/guilds?with_counts=true"),
                "[{'approximate_member_count': 2, 'approximate_presence_count': 0}, "
                "{'approximate_member_count': 1}]");
    expect_json(client_get(world_bot(w, "helper"), "/users/@me/guilds"), "[]");
    expect_error(client_get(world_anonymous(w), "/users/@me/guilds"), 401, 0);
}

static void guild_list_shows_reduced_permissions_during_a_timeout(struct world *w)
{
    struct server_loop p = world_home(w, PERMISSION(MANAGE_GUILD));
    struct client *bob = p.bob;

    world_sql(w, "update members set timed_out_until = %s where user_id = %s", "9000000000000000",
              bob->id);
    expect_json(client_get(bob, "/users/@me/guilds"), "[{'permissions': '%llu'}]",
                BITS(PERMISSION(VIEW_CHANNEL) | PERMISSION(READ_MESSAGE_HISTORY)));
    world_sql(w, "update members set timed_out_until = 5 where user_id = %s", bob->id);
    expect_json(client_get(bob, "/users/@me/guilds"), "[{'permissions': '%llu'}]",
                BITS(PERMISSIONS_DEFAULT | PERMISSION(MANAGE_GUILD)));
}

static void bearer_token_lists_guilds_with_the_guilds_scope(struct world *w)
{
    struct server_loop p = world_home(w, 0);

    expect_json(client_get(world_token(w, p.bob, CALLER_BEARER, "guilds", 60), "/users/@me/guilds"),
                "[{'id': '%s'}]", p.guild);
    expect_error(
        client_get(world_token(w, p.bob, CALLER_BEARER, "identify", 60), "/users/@me/guilds"), 403,
        50026);
}

static void users_guild_list_supports_pages(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *ids[5];

    for (int i = 0; i < 5; i++)
        ids[i] = found_guild(ada, "Home");
    expect_json(client_get(ada, "/users/@me/guilds?limit=2"), "[{'id': '%s'}, {'id': '%s'}]",
                ids[0], ids[1]);
    expect_json(client_get(ada, "/users/@me/guilds?limit=2&after=%s", ids[1]),
                "[{'id': '%s'}, {'id': '%s'}]", ids[2], ids[3]);
    expect_json(client_get(ada, "/users/@me/guilds?limit=2&before=%s", ids[4]),
                "[{'id': '%s'}, {'id': '%s'}]", ids[2], ids[3]);
    expect_json(client_get(ada, "/users/@me/guilds?before=%s&after=%s", ids[1], ids[3]),
                "[{'id': '%s'}]", ids[0]);
    expect_json(client_get(ada, "/users/@me/guilds?after=%s", ids[4]), "[]");
    expect_invalid(client_get(ada, "/users/@me/guilds?limit=0"), "limit", "NUMBER_TYPE_MIN");
    expect_invalid(client_get(ada, "/users/@me/guilds?limit=201"), "limit", "NUMBER_TYPE_MAX");
    expect_status(client_get(ada, "/users/@me/guilds?limit=200"), 200);
}

static void leaving_a_guild_sends_member_remove_and_guild_delete(struct world *w)
{
    struct server_loop p = world_home(w, 0);

    expect_status(client_delete(p.bob, "/users/@me/guilds/%s", p.guild), 204);
    expect_received(w, audience_of_guild(id_of(p.guild)), "GUILD_MEMBER_REMOVE",
                    "{'guild_id': '%s', 'user': {'id': '%s'}}", p.guild, p.bob->id);
    expect_nothing_received(w);
    expect_event(p.bob, "GUILD_DELETE", "{'id': '%s'}", p.guild);
    expect_silence(p.bob);
    expect_silence(p.ada);
    expect_error(client_get(p.bob, "/guilds/%s", p.guild), 403, 50001);
    expect_error(client_delete(p.bob, "/users/@me/guilds/%s", p.guild), 403, 50001);
    expect_json(client_get(p.ada, "/guilds/%s?with_counts=1", p.guild),
                "{'approximate_member_count': 1}");
}

static void guild_owner_cannot_leave_the_guild(struct world *w)
{
    struct server_loop p = world_home(w, 0);

    expect_error(client_delete(p.ada, "/users/@me/guilds/%s", p.guild), 400, 50055);
    expect_error(client_delete(p.ada, "/users/@me/guilds/1"), 404, 10004);
    expect_nothing_received(w);
    expect_status(client_get(p.ada, "/guilds/%s", p.guild), 200);
}

/* --- the audit log -------------------------------------------------------------------- */

static void guild_changes_are_in_the_audit_log_with_reason(struct world *w)
{
    struct server_loop p = world_home(w, PERMISSION(VIEW_AUDIT_LOG) | PERMISSION(MANAGE_GUILD));

    expect_status(client_request(p.ada, "PATCH", TEXT(w, "/api/v10/guilds/%s", p.guild),
                                 "Content-Type: application/json\r\n"
                                 "X-Audit-Log-Reason: a%20b/c %zz\r\n",
                                 STR("{\"name\": \"One\"}")),
                  200);
    expect_status(client_patch(p.bob, "{'name': 'Two'}", "/guilds/%s", p.guild), 200);
    struct answer a = client_get(p.bob, "/guilds/%s/audit-logs", p.guild);
    expect_json(a,
                "{'audit_log_entries': [{'action_type': 1, 'user_id': '%s', 'target_id': '%s'}, "
                "{'action_type': 1, 'user_id': '%s'}, {'action_type': 30, 'target_id': '%s'}], "
                "'users': [{'id': '%s'}, {'id': '%s'}], 'webhooks': [], 'integrations': [], "
                "'threads': [], 'application_commands': [], 'guild_scheduled_events': [], "
                "'auto_moderation_rules': []}",
                p.bob->id, p.guild, p.ada->id, p.role, p.bob->id, p.ada->id);
    expect_absent(a, "audit_log_entries.0.reason");
    expect_json(
        client_get(p.bob, "/guilds/%s/audit-logs?action_type=1&user_id=%s", p.guild, p.ada->id),
        "{'audit_log_entries': [{'user_id': '%s', 'reason': 'a b/c %%zz'}]}", p.ada->id);
}

static const char *created_id(struct answer a)
{
    expect(a.status == 200 || a.status == 201);
    return answer_text(a, "id");
}

static void audit_log_contains_the_objects_its_entries_refer_to(struct world *w)
{
    struct server_loop p = world_home(w, PERMISSION(VIEW_AUDIT_LOG));
    const char *g = p.guild;
    const char *channel =
        created_id(client_post(p.ada, "{'name': 'hall'}", "/guilds/%s/channels", g));
    const char *hook =
        created_id(client_post(p.ada, "{'name': 'post'}", "/channels/%s/webhooks", channel));
    const char *thread = created_id(
        client_post(p.ada, "{'name': 'side', 'type': 11}", "/channels/%s/threads", channel));
    const char *rule = created_id(
        client_post(p.ada,
                    "{'name': 'cats', 'event_type': 1, 'trigger_type': 1, 'trigger_metadata': "
                    "{'keyword_filter': ['cat']}, 'actions': [{'type': 1}]}",
                    "/guilds/%s/auto-moderation/rules", g));
    const char *event = created_id(client_post(
        p.ada,
        "{'name': 'walk', 'privacy_level': 2, 'entity_type': 3, 'entity_metadata': {'location': "
        "'park'}, 'scheduled_start_time': '2028-01-01T10:00:00Z', 'scheduled_end_time': "
        "'2028-01-01T11:00:00Z'}",
        "/guilds/%s/scheduled-events", g));
    world_sql(w,
              "insert into integrations (id, guild_id, type, name, account_id, user_id, "
              "created_at) values (77, %s, 'platform_a', 'Ada', 'a1', %s, 0)",
              g, p.ada->id);
    world_sql(w,
              "insert into audit_log (id, guild_id, user_id, target_id, action, changes) values "
              "(78, %s, %s, 77, 80, '[]')",
              g, p.ada->id);

    struct answer a = client_get(p.bob, "/guilds/%s/audit-logs", g);
    expect_json(
        a,
        "{'webhooks': [{'id': '%s', 'name': 'post'}], 'threads': [{'id': '%s', 'type': 11}], "
        "'auto_moderation_rules': [{'id': '%s', 'name': 'cats'}], 'guild_scheduled_events': "
        "[{'id': '%s', 'name': 'walk'}], 'integrations': [{'id': '77', 'name': 'Ada', "
        "'account': {'id': 'a1'}}]}",
        hook, thread, rule, event);
    expect_absent(a, "webhooks.0.token");
    expect_absent(a, "webhooks.0.url");

    expect_status(client_delete(p.ada, "/webhooks/%s", hook), 204);
    expect_json(client_get(p.bob, "/guilds/%s/audit-logs?action_type=52", g),
                "{'audit_log_entries': [{'target_id': '%s'}], 'webhooks': [], 'threads': []}",
                hook);
}

static void audit_log_reason_is_url_decoded_once_and_limited_to_512(struct world *w)
{
    struct server_loop p = world_home(w, 0);
    const char *path = TEXT(w, "/api/v10/guilds/%s", p.guild);
    const char *head = "Content-Type: application/json\r\nX-Audit-Log-Reason: ";

    expect_status(
        client_request(p.ada, "PATCH", path, TEXT(w, "%s%s\r\n", head, "t%C3%A4t%2520"), STR("{}")),
        200);
    expect_status(client_request(p.ada, "PATCH", path, TEXT(w, "%s%0512d\r\n", head, 1), STR("{}")),
                  200);
    expect_invalid(
        client_request(p.ada, "PATCH", path, TEXT(w, "%s%0513d\r\n", head, 1), STR("{}")), "reason",
        "BASE_TYPE_MAX_LENGTH");
    expect_json(client_get(p.ada, "/guilds/%s/audit-logs?action_type=1&after=0", p.guild),
                "{'audit_log_entries': [{'reason': 't\xc3\xa4t%%20'}, {'reason': '%0512d'}]}", 1);
}

static void invalid_percent_escapes_in_a_reason_are_stored(struct world *w)
{
    struct server_loop p = world_home(w, 0);
    const char *path = TEXT(w, "/api/v10/guilds/%s", p.guild);
    static const struct {
        const char *sent, *stored;
    } cases[] = {
        { "100% a/b%20c", "100% a/b c" }, /* some libraries do not encode spaces and slashes */
        { "%zz%41%4", "%zzA%4" },
        { "a%", "a%" },
        { "%ff", "%ff" }, /* invalid UTF-8 */
        { "a%00b", "a%00b" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_status(client_request(p.ada, "PATCH", path,
                                     TEXT(w,
                                          "Content-Type: application/json\r\n"
                                          "X-Audit-Log-Reason: %s\r\n",
                                          cases[i].sent),
                                     STR("{}")),
                      200);
        expect_json(client_get(p.ada, "/guilds/%s/audit-logs?limit=1", p.guild),
                    "{'audit_log_entries': [{'reason': '%s'}]}", cases[i].stored);
    }
    expect_invalid(client_request(p.ada, "PATCH", path,
                                  "Content-Type: application/json\r\n"
                                  "X-Audit-Log-Reason: \xff\r\n",
                                  STR("{}")),
                   "reason", "STRING_TYPE_CONVERT");
}

/* Libraries read these fields unconditionally. */
static void audit_log_entries_contain_options_of_their_action(struct world *w)
{
    struct server_loop p = world_home(w, PERMISSION(VIEW_CHANNEL));
    struct audience auditors =
        audience_of_members_with_permission(id_of(p.guild), 0, PERMISSION(VIEW_AUDIT_LOG));
    const char *c =
        answer_text(client_post(p.ada, "{'name': 'x'}", "/guilds/%s/channels", p.guild), "id");
    const char *said[3];

    for (int i = 0; i < 3; i++)
        said[i] =
            answer_text(client_post(p.bob, "{'content': 'x'}", "/channels/%s/messages", c), "id");
    expect_status(client_put(p.ada, "{'type': 1}", "/channels/%s/permissions/%s", c, p.bob->id),
                  204);
    expect_status(client_put(p.ada, "{'type': 0}", "/channels/%s/permissions/%s", c, p.guild), 204);
    expect_status(client_delete(p.ada, "/channels/%s/permissions/%s", c, p.guild), 204);
    expect_status(client_delete(p.ada, "/channels/%s/messages/%s", c, said[0]), 204);
    expect_status(client_post(p.ada, TEXT(w, "{'messages': ['%s', '%s']}", said[1], said[2]),
                              "/channels/%s/messages/bulk-delete", c),
                  204);
    const char *code = answer_text(
        client_post(p.ada, "{'max_age': 60, 'max_uses': 2}", "/channels/%s/invites", c), "code");
    discard_received(w);
    expect_status(client_delete(p.ada, "/invites/%s", code), 200);
    expect_received(
        w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "{'action_type': 42, 'target_id': null, 'changes': [{'key': 'code', 'old_value': "
        "'%s'}, {'key': 'channel_id', 'old_value': '%s'}, {'key': 'inviter_id', "
        "'old_value': '%s'}, {'key': 'uses', 'old_value': 0}, {'key': 'max_uses', "
        "'old_value': 2}, {'key': 'max_age', 'old_value': 60}, {'key': 'temporary', "
        "'old_value': false}]}",
        code, c, p.ada->id);

    struct answer a = client_get(p.ada, "/guilds/%s/audit-logs?limit=7", p.guild);
    expect_json(a,
                "{'audit_log_entries': [{'action_type': 42}, {'action_type': 40, 'changes': "
                "[{'key': 'code', 'new_value': '%s'}, {'key': 'channel_id'}, {'key': "
                "'inviter_id'}, {'key': 'uses'}, {'key': 'max_uses'}, {'key': 'max_age', "
                "'new_value': 60}, {'key': 'temporary'}]}, "
                "{'action_type': 73, 'target_id': '%s', 'options': {'count': '2'}}, "
                "{'action_type': 72, 'target_id': '%s', 'options': {'channel_id': '%s', 'count': "
                "'1'}}, "
                "{'action_type': 15, 'options': {'id': '%s', 'type': '0', 'role_name': "
                "'@everyone'}}, {'action_type': 13, 'options': {'id': '%s', 'type': '0'}}, "
                "{'action_type': 13, 'options': {'id': '%s', 'type': '1'}}]}",
                code, c, p.bob->id, c, p.guild, p.guild, p.bob->id);
    expect_absent(a, "audit_log_entries.0.options");
    expect_absent(a, "audit_log_entries.1.changes.0.old_value");
    expect_absent(a, "audit_log_entries.6.options.role_name");
}

static void audit_log_supports_pages_and_requires_view_audit_log(struct world *w)
{
    struct server_loop p = world_home(w, 0);

    for (int i = 0; i < 4; i++)
        expect_status(client_patch(p.ada, "{}", "/guilds/%s", p.guild), 200);
    struct answer all = client_get(p.ada, "/guilds/%s/audit-logs?action_type=1", p.guild);
    const char *id[4];
    for (int i = 0; i < 4; i++)
        id[i] = answer_text(all, TEXT(w, "audit_log_entries.%d.id", i));

    expect_json(client_get(p.ada, "/guilds/%s/audit-logs?limit=2&before=%s", p.guild, id[0]),
                "{'audit_log_entries': [{'id': '%s'}, {'id': '%s'}]}", id[1], id[2]);
    expect_json(client_get(p.ada, "/guilds/%s/audit-logs?limit=2&after=%s", p.guild, id[3]),
                "{'audit_log_entries': [{'id': '%s'}, {'id': '%s'}]}", id[2], id[1]);
    expect_invalid(client_get(p.ada, "/guilds/%s/audit-logs?limit=0", p.guild), "limit",
                   "NUMBER_TYPE_MIN");
    expect_invalid(client_get(p.ada, "/guilds/%s/audit-logs?limit=101", p.guild), "limit",
                   "NUMBER_TYPE_MAX");
    expect_status(client_get(p.ada, "/guilds/%s/audit-logs?limit=100", p.guild), 200);
    expect_error(client_get(p.bob, "/guilds/%s/audit-logs", p.guild), 403, 50013);
    expect_error(client_get(world_client(w, "cleo"), "/guilds/%s/audit-logs", p.guild), 403, 50001);
}

/* Two entries older than 45 days are deleted with each new entry; one of 44 days stays. */
static void audit_log_entries_older_than_45_days_are_deleted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    int64_t day = 86400000, now = clock_us() / 1000;

    for (int i = 0; i < 3; i++)
        world_sql(w, "insert into audit_log (id, guild_id, action) values (%llu, %s, 1)",
                  (unsigned long long)snowflake_from_ms(now - 46 * day) + (unsigned)i, v.id);
    world_sql(w, "insert into audit_log (id, guild_id, action) values (%llu, %s, 1)",
              (unsigned long long)snowflake_from_ms(now - 44 * day), v.id);
    expect_status(client_post(ada, "{'name': 'a'}", "/guilds/%s/roles", v.id), 200);
    expect(world_number(w, "select count(*) from audit_log") == 3);
    expect_status(client_post(ada, "{'name': 'b'}", "/guilds/%s/roles", v.id), 200);
    expect_status(client_post(ada, "{'name': 'c'}", "/guilds/%s/roles", v.id), 200);
    expect(world_number(w, "select count(*) from audit_log") == 4);
}

const struct test users_guilds_tests[] = {
    TEST(users_guild_list_contains_the_callers_permissions),
    TEST(guild_list_shows_reduced_permissions_during_a_timeout),
    TEST(bearer_token_lists_guilds_with_the_guilds_scope),
    TEST(users_guild_list_supports_pages),
    TEST(leaving_a_guild_sends_member_remove_and_guild_delete),
    TEST(guild_owner_cannot_leave_the_guild),
    TEST(guild_changes_are_in_the_audit_log_with_reason),
    TEST(audit_log_contains_the_objects_its_entries_refer_to),
    TEST(audit_log_reason_is_url_decoded_once_and_limited_to_512),
    TEST(invalid_percent_escapes_in_a_reason_are_stored),
    TEST(audit_log_entries_contain_options_of_their_action),
    TEST(audit_log_supports_pages_and_requires_view_audit_log),
    TEST(audit_log_entries_older_than_45_days_are_deleted),
    { 0 },
};
