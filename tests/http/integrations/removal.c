/* removal.c - removing a platform integration with many subscribers. */
#include "platforms.h"

#include "apps.h"

/* Ada owns the guild with an integration of her "streamer"; 700 members have the role, and there
 * are more subscribers than one step removes. */
struct large_integration {
    struct client *ada;
    const char *guild, *id, *role;
};

static struct large_integration create_large_integration(struct world *w)
{
    struct large_integration s = { .ada = world_client(w, "ada") };
    long long me;

    s.guild = found_guild(s.ada, "The Guild");
    link_new(s.ada, PLATFORM_A, "streamer");
    s.id = follow(s.ada, s.guild, PLATFORM_A, "streamer");
    s.role = role_of(w, s.id);
    me = (long long)snowflake_new();
    world_sql(w,
              "with recursive n (i) as (select 1 union all select i + 1 from n where i < 700) "
              "insert into users (id, username) select %lld + i, 'user' || i from n",
              me);
    world_sql(w,
              "insert into members (guild_id, user_id, joined_at) select %s, id, 1 from users "
              "where id > %lld",
              s.guild, me);
    world_sql(w,
              "insert into member_roles (guild_id, user_id, role_id) select %s, id, %s from users "
              "where id > %lld",
              s.guild, s.role, me);
    world_sql(w,
              "insert into integration_members (integration_id, user_id, guild_id, lapsed_at) "
              "select %s, id, %s, 1 from users where id > %lld",
              s.id, s.guild, me);
    world_sql(w,
              "with recursive n (i) as (select 1 union all select i + 1 from n where i < 1200) "
              "insert into integration_subscribers (integration_id, subscriber_id, round) "
              "select %s, 's' || i, 1 from n",
              s.id);
    world_wait(w, 1); /* their ids have timestamps in the future */
    return s;
}

static int64_t count_remaining_rows(struct world *w)
{
    return store_count(w, "select (select count(*) from member_roles) + "
                          "(select count(*) from integration_subscribers) + "
                          "(select count(*) from integration_members)");
}

static void expect_integration_is_removed(struct world *w)
{
    expect_number(w, 0, "select count(*) from integrations");
    expect(count_remaining_rows(w) == 0);
    expect(store_count(w, "select count(*) from roles where managed = 1") == 0);
    expect(store_count(w, "select count(*) from jobs where kind like 'integration-%'") == 0);
}

static void large_integration_is_removed_in_batches(struct world *w)
{
    struct large_integration s = create_large_integration(w);

    expect_status(client_delete(s.ada, INTEGRATIONS "/%s", s.guild, s.id), 204);
    /* The removal is sent at once; the role is deleted once, when no member has it. */
    expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}",
                    s.guild);
    expect_received(w, MANAGERS(s.guild), "INTEGRATION_DELETE", "{'id': '%s', 'guild_id': '%s'}",
                    s.id, s.guild);
    expect_received(
        w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 82, 'target_id': '%s'}", s.id);
    expect_integration_is_removed(w);
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_ROLE_DELETE", "{'role_id': '%s'}",
                    s.role);
    expect_nothing_received(w);
    expect(store_count(w, "select count(*) from members") == 701);
}

/* State after a crash behind the first step; jobs wait for the test's clock. */
static void stop_server_during_integration_removal(struct world *w,
                                                   const struct large_integration *s)
{
    world_sql(w,
              "update integrations set type = 'removed', account_id = null, enabled = 0 "
              "where id = %s",
              s->id);
    world_sql(w, "delete from jobs where kind like 'integration-%%'");
    world_sql(w,
              "insert into jobs (kind, key, due, data) values ('integration-removal', %s, "
              "9000000000000000, '')",
              s->id);
    discard_received(w);
}

static void integration_being_removed_is_unknown_to_all_routes(struct world *w)
{
    struct large_integration s = create_large_integration(w);

    stop_server_during_integration_removal(w, &s);
    expect(client_get(s.ada, INTEGRATIONS, s.guild).json->count == 0);
    expect_error(client_delete(s.ada, INTEGRATIONS "/%s", s.guild, s.id), 404, 10005);
    expect_error(client_patch(s.ada, "{}", INTEGRATIONS "/%s", s.guild, s.id), 404, 10005);
    expect_error(client_post(s.ada, NULL, INTEGRATIONS "/%s/sync", s.guild, s.id), 404, 10005);
    expect_error(client_post(s.ada, NULL, "/integrations/%s/join", s.id), 404, 10005);
    expect_json(client_get(s.ada, "/users/@me/connections"), "[{'integrations': []}]");
    expect_nothing_received(w);
    /* The account can be followed again. */
    const char *again = follow(s.ada, s.guild, PLATFORM_A, "streamer");
    expect_json(client_get(s.ada, INTEGRATIONS, s.guild), "[{'id': '%s'}]", again);
    world_sql(w, "update jobs set due = 0 where kind = 'integration-removal'");
    world_restart(w);
    expect_number(w, 0, "select count(*) from integrations where type = 'removed'");
    expect(count_remaining_rows(w) == 0);
    expect_json(client_get(s.ada, INTEGRATIONS, s.guild), "[{'id': '%s'}]", again);
    expect(store_count(w, "select count(*) from roles where managed = 1") == 1);
}

static int install_app(struct world *w, const struct large_integration *s, const char *app)
{
    return client_post(s->ada, TEXT(w, "{'authorize': true, 'guild_id': '%s'}", s->guild),
                       "/oauth2/authorize?client_id=%s&scope=applications.commands", app)
        .status;
}

static void integration_being_removed_does_not_count_for_the_limit(struct world *w)
{
    struct large_integration s = create_large_integration(w);
    const char *app = make_application(s.ada, "App");

    stop_server_during_integration_removal(w, &s);
    world_sql(w,
              "with recursive n (i) as (select 1 union all select i + 1 from n where i < 48) "
              "insert into integrations (id, guild_id, type, name, created_at) "
              "select i, %s, 'guild_subscription', 'x', 1 from n",
              s.guild);
    follow(s.ada, s.guild, PLATFORM_A, "streamer");
    expect(install_app(w, &s, app) == 200);
    link_new(s.ada, PLATFORM_A, "another");
    expect_error(
        client_post(s.ada, "{'type': 'platform_a', 'id': 'another'}", INTEGRATIONS, s.guild), 400,
        30068);
    world_sql(w, "delete from integrations where id = 1");
    follow(s.ada, s.guild, PLATFORM_A, "another");
    expect(install_app(w, &s, make_application(s.ada, "Other")) == 400);
}

static void interrupted_integration_removal_continues_after_a_restart(struct world *w)
{
    struct large_integration s = create_large_integration(w);

    stop_server_during_integration_removal(w, &s);
    world_sql(w, "update jobs set due = 0 where kind = 'integration-removal'");
    world_restart(w);
    expect_integration_is_removed(w);
}

static void guild_can_be_deleted_during_an_integration_removal(struct world *w)
{
    struct large_integration s = create_large_integration(w);

    stop_server_during_integration_removal(w, &s);
    expect_status(client_delete(s.ada, "/guilds/%s", s.guild), 204);
    world_sql(w, "update jobs set due = 0 where kind = 'integration-removal'");
    world_restart(w);
    expect_number(w, 0, "select count(*) from jobs where kind = 'integration-removal'");
    expect_integration_is_removed(w);
}

const struct test integrations_removal_tests[] = {
    TEST(large_integration_is_removed_in_batches),
    TEST(integration_being_removed_is_unknown_to_all_routes),
    TEST(integration_being_removed_does_not_count_for_the_limit),
    TEST(interrupted_integration_removal_continues_after_a_restart),
    TEST(guild_can_be_deleted_during_an_integration_removal),
    { 0 },
};
