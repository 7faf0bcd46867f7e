/* sync.c - subscriber roles of platform integrations follow the subscriptions. */
#include "platforms.h"

#include <string.h>

#include "apps.h"
#include "base/clock.h"
#include "statements.h"
#include "waits.h"

/* Ada owns the guild with an integration of her "streamer"; bob is a member and has connected
 * "bob". */
struct sync_guild {
    struct client *ada, *bob;
    const char *guild, *id, *role;
};

static struct sync_guild create_sync_guild(struct world *w)
{
    struct sync_guild s = { world_client(w, "ada"), world_client(w, "bob") };

    s.guild = found_guild(s.ada, "The Guild");
    put_member(s.guild, s.bob);
    link_new(s.ada, PLATFORM_A, "streamer");
    link_new(s.bob, PLATFORM_A, "bob");
    s.id = follow(s.ada, s.guild, PLATFORM_A, "streamer");
    s.role = role_of(w, s.id);
    return s;
}

static int64_t count_lapsed_members(struct world *w)
{
    return store_count(w, "select count(*) from integration_members where lapsed_at is not null");
}

/* --- sync ----------------------------------------------------------------------------- */

static void sync_gives_subscribers_the_integrations_role(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    subscribe(w, PLATFORM_A, "streamer", "bob");
    subscribe(w, PLATFORM_A, "streamer", "somebody-else");
    sync_now(s.ada, s.guild, s.id);
    expect_received(
        w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 81}");
    expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}",
                    s.guild);
    expect_received(w, MANAGERS(s.guild), "INTEGRATION_UPDATE",
                    "{'id': '%s', 'syncing': true, 'subscriber_count': 0}", s.id);
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_MEMBER_UPDATE",
                    "{'guild_id': '%s', 'user': {'id': '%s'}, 'roles': ['%s']}", s.guild, s.bob->id,
                    s.role);
    expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}",
                    s.guild);
    expect_received(w, MANAGERS(s.guild), "INTEGRATION_UPDATE",
                    "{'id': '%s', 'syncing': false, 'subscriber_count': 2, 'revoked': false}",
                    s.id);
    expect_nothing_received(w);
    expect(has_role(s.guild, s.bob, s.role) && !has_role(s.guild, s.ada, s.role));
    /* A second sync changes nothing. */
    sync_now(s.ada, s.guild, s.id);
    expect(world_last_event(w, "GUILD_MEMBER_UPDATE") != NULL);
    expect(store_count(w, "select count(*) from integration_subscribers") == 2);
}

static void watch_sql_statements_of_store(struct config *config)
{
    if (!config->store)
        statements_watch();
}

/* Counting half a million subscribers would block the only writer, so a read transaction does
 * it. */
static void subscribers_are_counted_in_a_read_transaction(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    subscribe(w, PLATFORM_A, "streamer", "bob");
    sync_now(s.ada, s.guild, s.id);
    expect(store_count(w, "select subscriber_count from integrations") == 1);
    if (world_config(w)->store)
        return;
    struct statement_seen counted = statements_seen("count(*) from integration_subscribers where"),
                          written = statements_seen("insert into integration_subscribers");
    expect(counted.runs > 0 && written.runs > 0);
    expect(!pthread_equal(counted.thread, written.thread));
    expect(counted.scanned == 0);
}

static void sync_is_rate_limited_to_once_per_minute(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    expect_status(client_post(s.ada, NULL, INTEGRATIONS "/%s/sync", s.guild, s.id), 204);
    expect_number(w, 1, "select count(*) from integrations where syncing = 0 and round = 2");
    struct answer a = client_post(s.ada, NULL, INTEGRATIONS "/%s/sync", s.guild, s.id);
    expect_status(a, 429);
    expect(str_is(answer_header(a, "X-RateLimit-Scope"), "shared"));
    expect_json(a, "{'message': 'The resource is being rate limited.', 'global': false}");
    world_wait(w, 58);
    expect_status(client_post(s.ada, NULL, INTEGRATIONS "/%s/sync", s.guild, s.id), 429);
    world_wait(w, 3);
    expect_status(client_post(s.ada, NULL, INTEGRATIONS "/%s/sync", s.guild, s.id), 204);
}

static void sync_request_during_a_sync_is_accepted_without_effect(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    world_sql(w, "update integrations set syncing = 1");
    discard_received(w);
    expect_status(client_post(s.ada, NULL, INTEGRATIONS "/%s/sync", s.guild, s.id), 204);
    expect_nothing_received(w);
    world_sql(w, "update integrations set syncing = 0, enabled = 0");
    expect_error(client_post(s.ada, NULL, INTEGRATIONS "/%s/sync", s.guild, s.id), 403, 40006);
    expect_nothing_received(w);
}

static void integrations_are_synced_every_hour(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    subscribe(w, PLATFORM_A, "streamer", "bob");
    world_wait(w, 3590);
    world_settle(w);
    expect(!has_role(s.guild, s.bob, s.role));
    world_wait(w, 320);
    expect_number(w, 1, "select count(*) from integrations where syncing = 0 and round = 2");
    expect(has_role(s.guild, s.bob, s.role));
}

static void sync_marks_members_who_no_longer_subscribe(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    subscribe(w, PLATFORM_A, "streamer", "bob");
    sync_now(s.ada, s.guild, s.id);
    unsubscribe(w, PLATFORM_A, "streamer", "bob");
    discard_received(w);
    sync_now(s.ada, s.guild, s.id);
    expect(has_role(s.guild, s.bob, s.role) && count_lapsed_members(w) == 1);
    expect(store_count(w, "select subscriber_count from integrations") == 0);
    expect(store_count(w, "select count(*) from integration_subscribers") == 0);
    int64_t since = store_count(w, "select lapsed_at from integration_members");
    world_wait(w, 100);
    sync_now(s.ada, s.guild, s.id);
    expect(store_count(w, "select lapsed_at from integration_members") == since);
    /* A member who subscribes again in time keeps the role. */
    subscribe(w, PLATFORM_A, "streamer", "bob");
    sync_now(s.ada, s.guild, s.id);
    expect(has_role(s.guild, s.bob, s.role) && count_lapsed_members(w) == 0);
}

static void sync_marks_members_whose_subscription_has_expired(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    subscribe(w, PLATFORM_A, "streamer", "bob");
    world_sql(w, "update platform_subscription set until = %lld",
              (long long)(clock_us() + INT64_C(1000000) * 1000));
    sync_now(s.ada, s.guild, s.id);
    expect(has_role(s.guild, s.bob, s.role) && count_lapsed_members(w) == 0);
    world_wait(w, 1001);
    sync_now(s.ada, s.guild, s.id);
    expect(count_lapsed_members(w) == 1);
}

static void sync_restores_a_removed_subscriber_role(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    subscribe(w, PLATFORM_A, "streamer", "bob");
    sync_now(s.ada, s.guild, s.id);
    world_sql(w, "delete from member_roles");
    sync_now(s.ada, s.guild, s.id);
    expect(has_role(s.guild, s.bob, s.role));
}

static void sync_ignores_revoked_and_unverified_connections(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);
    struct client *eve = world_client(w, "eve");

    link_new(eve, PLATFORM_A, "eve"); /* eve is not a member of the guild */
    subscribe(w, PLATFORM_A, "streamer", "bob");
    subscribe(w, PLATFORM_A, "streamer", "eve");
    world_sql(w, "update connections set revoked = 1 where user_id = %s", s.bob->id);
    sync_now(s.ada, s.guild, s.id);
    expect(store_count(w, "select count(*) from member_roles") == 0);
    world_sql(w, "update connections set revoked = 0, verified = 0 where user_id = %s", s.bob->id);
    sync_now(s.ada, s.guild, s.id);
    expect(store_count(w, "select count(*) from member_roles") == 0);
    world_sql(w, "update connections set verified = 1");
    sync_now(s.ada, s.guild, s.id);
    expect(has_role(s.guild, s.bob, s.role));
    expect(!is_member(s.guild, eve));
}

static void one_subscribed_connection_is_enough_for_the_subscriber_role(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    link_new(s.bob, PLATFORM_A, "bobs-other");
    subscribe(w, PLATFORM_A, "streamer", "bobs-other");
    sync_now(s.ada, s.guild, s.id);
    expect(has_role(s.guild, s.bob, s.role));
    unsubscribe(w, PLATFORM_A, "streamer", "bobs-other");
    subscribe(w, PLATFORM_A, "streamer", "bob");
    sync_now(s.ada, s.guild, s.id);
    expect(has_role(s.guild, s.bob, s.role) && count_lapsed_members(w) == 0);
}

static void sync_reads_all_pages_of_subscribers_and_members(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);
    long long me = (long long)snowflake_new();

    /* 1,200 subscribers and 700 members, 600 of whom subscribe. */
    world_sql(w, "with recursive n (i) as (select 1 union all select i + 1 from n where i < 1200) "
                 "insert into platform_subscription (type, account_id, subscriber_id, since) "
                 "select 'platform_a', 'streamer', 's' || i, 1 from n");
    world_sql(w,
              "with recursive n (i) as (select 1 union all select i + 1 from n where i < 700) "
              "insert into users (id, username) select %lld + i, 'user' || i from n",
              me);
    world_sql(w,
              "insert into members (guild_id, user_id, joined_at) select %s, id, 1 from users "
              "where id > %lld",
              s.guild, me);
    world_sql(w,
              "insert into connections (user_id, type, id, name, created_at) select id, "
              "'platform_a', 's' || (1800 - (id - %lld)), 'x', 1 from users where id > %lld",
              me, me);
    sync_now(s.ada, s.guild, s.id);
    expect(store_count(w, "select subscriber_count from integrations") == 1200);
    expect(store_count(w, "select count(*) from member_roles") == 101);
    world_sql(w,
              "update connections set id = 'x' || id where type = 'platform_a' and user_id > "
              "%lld",
              me);
    world_sql(w, "update connections set id = 's' || (user_id - %lld) where user_id > %lld", me,
              me);
    sync_now(s.ada, s.guild, s.id);
    expect(store_count(w, "select count(*) from member_roles") == 700);
    world_sql(w, "delete from platform_subscription where subscriber_id <> 's7'");
    sync_now(s.ada, s.guild, s.id);
    expect(count_lapsed_members(w) == 699);
    expect(store_count(w, "select count(*) from integration_subscribers") == 1);
}

/* --- failures ------------------------------------------------------------------------- */

static void removing_the_owners_connection_revokes_the_integration(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    subscribe(w, PLATFORM_A, "streamer", "bob");
    sync_now(s.ada, s.guild, s.id);
    discard_received(w);
    expect_status(client_delete(s.ada, "/users/@me/connections/platform_a/streamer"), 204);
    expect_received(w, MANAGERS(s.guild), "GUILD_INTEGRATIONS_UPDATE", "{}");
    expect_received(w, MANAGERS(s.guild), "INTEGRATION_UPDATE",
                    "{'id': '%s', 'revoked': true, "
                    "'enabled': true}",
                    s.id);
    expect_nothing_received(w);
    sync_now(s.ada, s.guild, s.id);
    expect_json(client_get(s.ada, INTEGRATIONS, s.guild),
                "[{'revoked': true, 'enabled': true, 'subscriber_count': 1}]");
    expect(has_role(s.guild, s.bob, s.role) && count_lapsed_members(w) == 0);
    /* The integration recovers when its owner connects again. */
    link_account(s.ada, PLATFORM_A, "streamer");
    expect_number(w, 1,
                  "select count(*) from integrations where revoked_at is null "
                  "and syncing = 0");
}

static void integration_revoked_for_30_days_is_disabled(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    expect_status(client_delete(s.ada, "/users/@me/connections/platform_a/streamer"), 204);
    world_wait(w, 29 * 86400);
    world_settle(w);
    expect(store_count(w, "select enabled from integrations") == 1);
    world_wait(w, 2 * 86400);
    expect_number(w, 0, "select enabled from integrations");
    expect_number(w, 0, "select count(*) from jobs where kind like 'integration-%'");
    expect_error(client_post(s.ada, NULL, INTEGRATIONS "/%s/sync", s.guild, s.id), 403, 40006);
}

static void integration_is_disabled_when_its_creator_is_deleted(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    world_sql(w, "update users set deleting = 1 where id = %s", s.ada->id);
    world_wait(w, 4000);
    expect_number(w, 0, "select enabled from integrations");
}

static void interrupted_sync_continues_after_a_restart(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    subscribe(w, PLATFORM_A, "streamer", "bob");
    /* State after a crash while members were processed. */
    world_sql(w, "update integrations set syncing = 1, round = 5");
    world_sql(w, "insert into integration_subscribers values (%s, 'bob', 5)", s.id);
    world_sql(w, "update jobs set due = %lld, data = '2 5 1 0 ' where kind = 'integration-sync'",
              (long long)(clock_us() + 60 * INT64_C(1000000)));
    world_restart(w);
    world_settle(w);
    expect(!has_role(s.guild, s.bob, s.role));
    world_wait(w, 61);
    expect_number(w, 1, "select count(*) from integrations where syncing = 0 and round = 5");
    expect(has_role(s.guild, s.bob, s.role));
    expect(store_count(w, "select subscriber_count from integrations") == 1);
}

static void integration_can_be_removed_while_its_sync_is_due(struct world *w)
{
    struct sync_guild s = create_sync_guild(w);

    expect_status(client_post(s.ada, NULL, INTEGRATIONS "/%s/sync", s.guild, s.id), 204);
    expect_status(client_delete(s.ada, INTEGRATIONS "/%s", s.guild, s.id), 204);
    world_settle(w);
    expect(store_count(w, "select count(*) from integrations") == 0);
    expect(store_count(w, "select count(*) from jobs where kind like 'integration-%'") == 0);
    expect(store_count(w, "select count(*) from integration_subscribers") == 0);
}

const struct test integrations_sync_tests[] = {
    TEST(sync_gives_subscribers_the_integrations_role),
    TEST_WITH(subscribers_are_counted_in_a_read_transaction, watch_sql_statements_of_store),
    TEST(sync_is_rate_limited_to_once_per_minute),
    TEST(sync_request_during_a_sync_is_accepted_without_effect),
    TEST(integrations_are_synced_every_hour),
    TEST(sync_marks_members_who_no_longer_subscribe),
    TEST(sync_marks_members_whose_subscription_has_expired),
    TEST(sync_restores_a_removed_subscriber_role),
    TEST(sync_ignores_revoked_and_unverified_connections),
    TEST(one_subscribed_connection_is_enough_for_the_subscriber_role),
    TEST(sync_reads_all_pages_of_subscribers_and_members),
    TEST(removing_the_owners_connection_revokes_the_integration),
    TEST(integration_revoked_for_30_days_is_disabled),
    TEST(integration_is_disabled_when_its_creator_is_deleted),
    TEST(interrupted_sync_continues_after_a_restart),
    TEST(integration_can_be_removed_while_its_sync_is_due),
    { 0 },
};
