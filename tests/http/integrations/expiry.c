/* expiry.c - members whose subscription has ended. */
#include "apps.h"
#include "platforms.h"
#include "waits.h"

/* Ada owns the guild with an integration of her account "streamer"; bob is a member and no
 * longer subscribes. */
struct expiry_guild {
    struct client *ada, *bob;
    const char *guild, *id, *role;
};

static struct expiry_guild create_expiry_guild(struct world *w)
{
    struct expiry_guild s = { world_client(w, "ada"), world_client(w, "bob") };

    s.guild = found_guild(s.ada, "The Guild");
    put_member(s.guild, s.bob);
    link_new(s.ada, PLATFORM_A, "streamer");
    link_new(s.bob, PLATFORM_A, "bob");
    subscribe(w, PLATFORM_A, "streamer", "bob");
    s.id = follow(s.ada, s.guild, PLATFORM_A, "streamer");
    s.role = role_of(w, s.id);
    expect(has_role(s.guild, s.bob, s.role));
    return s;
}

static void end_platform_subscription_of_member(struct world *w, const struct expiry_guild *s)
{
    unsubscribe(w, PLATFORM_A, "streamer", "bob");
    sync_now(s->ada, s->guild, s->id);
    expect(store_count(w, "select count(*) from integration_members where lapsed_at > 0") == 1);
    discard_received(w);
}

/* Moves the clock by so many days; hourly syncs are disabled. */
static void advance_test_clock_by_days(struct world *w, double days)
{
    world_sql(w, "update jobs set due = due + 8640000000000 where kind = 'integration-sync'");
    world_wait(w, days * 86400);
    world_settle(w);
}

static void configure_kick_of_expired_subscribers(struct client *c, const struct expiry_guild *s)
{
    expect_status(client_patch(c, "{'expire_behavior': 1}", INTEGRATIONS "/%s", s->guild, s->id),
                  204);
    discard_received(c->world);
}

static void expired_subscription_removes_the_role_after_grace_period(struct world *w)
{
    struct expiry_guild s = create_expiry_guild(w);

    end_platform_subscription_of_member(w, &s);
    advance_test_clock_by_days(w, 6.9);
    expect(has_role(s.guild, s.bob, s.role));
    expect_nothing_received(w);
    advance_test_clock_by_days(w, 0.2);
    expect_number(w, 0, "select count(*) from member_roles");
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_MEMBER_UPDATE",
                    "{'user': {'id': '%s'}, 'roles': []}", s.bob->id);
    expect_received(
        w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 25, 'user_id': null, 'target_id': '%s'}",
        s.bob->id);
    expect_nothing_received(w);
    expect(is_member(s.guild, s.bob));
    expect(store_count(w, "select count(*) from integration_members where lapsed_at > 0") == 0);
}

static void shortened_grace_period_applies_to_expired_subscriptions(struct world *w)
{
    struct expiry_guild s = create_expiry_guild(w);

    end_platform_subscription_of_member(w, &s);
    advance_test_clock_by_days(w, 2);
    expect(has_role(s.guild, s.bob, s.role));
    expect_status(
        client_patch(s.ada, "{'expire_grace_period': 1}", INTEGRATIONS "/%s", s.guild, s.id), 204);
    world_wait(w, 901);
    expect_number(w, 0, "select count(*) from member_roles");
}

static void expired_subscription_kicks_members_if_so_configured(struct world *w)
{
    struct expiry_guild s = create_expiry_guild(w);

    end_platform_subscription_of_member(w, &s);
    configure_kick_of_expired_subscribers(s.ada, &s);
    advance_test_clock_by_days(w, 7.1);
    expect_number(w, 1, "select count(*) from members");
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_MEMBER_REMOVE",
                    "{'guild_id': '%s', 'user': {'id': '%s'}}", s.guild, s.bob->id);
    expect_event(s.bob, "GUILD_DELETE", "{'id': '%s'}", s.guild);
    expect_received(
        w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 20, 'user_id': null}");
    expect_nothing_received(w);
    expect(store_count(w, "select count(*) from integration_members") == 0);
}

static void expired_subscription_does_not_kick_guild_managers(struct world *w)
{
    struct expiry_guild s = create_expiry_guild(w);
    const char *role =
        make_role(s.ada, s.guild,
                  TEXT(w, "{'name': 'x', 'permissions': '%llu'}", BITS(PERMISSION(MANAGE_GUILD))));

    put_role_on(s.guild, s.bob, role);
    end_platform_subscription_of_member(w, &s);
    configure_kick_of_expired_subscribers(s.ada, &s);
    advance_test_clock_by_days(w, 7.1);
    expect_number(w, 1, "select count(*) from member_roles");
    expect(is_member(s.guild, s.bob) && !has_role(s.guild, s.bob, s.role));
}

static void expired_subscription_does_not_kick_the_guild_owner(struct world *w)
{
    struct expiry_guild s = create_expiry_guild(w);

    end_platform_subscription_of_member(w, &s);
    configure_kick_of_expired_subscribers(s.ada, &s);
    world_sql(w, "update guilds set owner_id = %s", s.bob->id);
    advance_test_clock_by_days(w, 7.1);
    expect_number(w, 0, "select count(*) from member_roles");
    expect(is_member(s.guild, s.bob));
}

static void member_who_subscribes_again_before_expiry_keeps_the_role(struct world *w)
{
    struct expiry_guild s = create_expiry_guild(w);

    end_platform_subscription_of_member(w, &s);
    subscribe(w, PLATFORM_A, "streamer", "bob");
    advance_test_clock_by_days(w, 7.1);
    expect_number(w, 0, "select count(*) from integration_members where lapsed_at > 0");
    expect(has_role(s.guild, s.bob, s.role));
    expect_nothing_received(w);
}

static void expiry_waits_while_the_integration_is_revoked_or_disabled(struct world *w)
{
    struct expiry_guild s = create_expiry_guild(w);

    end_platform_subscription_of_member(w, &s);
    world_sql(w, "update integrations set revoked_at = 1");
    advance_test_clock_by_days(w, 8);
    expect(has_role(s.guild, s.bob, s.role));
    world_sql(w, "update integrations set revoked_at = null, enabled = 0");
    advance_test_clock_by_days(w, 1);
    expect(has_role(s.guild, s.bob, s.role));
    expect_number(w, 0, "select count(*) from jobs where kind = 'integration-expiry'");
    expect_status(
        client_post(s.ada, "{'type': 'platform_a', 'id': 'streamer'}", INTEGRATIONS, s.guild), 204);
    advance_test_clock_by_days(w, 1);
    expect_number(w, 0, "select count(*) from member_roles");
}

static void removing_the_connection_expires_the_subscriber_role(struct world *w)
{
    struct expiry_guild s = create_expiry_guild(w);

    expect_status(client_delete(s.bob, "/users/@me/connections/platform_a/bob"), 204);
    expect(is_member(s.guild, s.bob) && has_role(s.guild, s.bob, s.role));
    expect(store_count(w, "select count(*) from integration_members where lapsed_at > 0") == 1);
    advance_test_clock_by_days(w, 7.1);
    expect_number(w, 0, "select count(*) from member_roles");
}

const struct test integrations_expiry_tests[] = {
    TEST(expired_subscription_removes_the_role_after_grace_period),
    TEST(shortened_grace_period_applies_to_expired_subscriptions),
    TEST(expired_subscription_kicks_members_if_so_configured),
    TEST(expired_subscription_does_not_kick_guild_managers),
    TEST(expired_subscription_does_not_kick_the_guild_owner),
    TEST(member_who_subscribes_again_before_expiry_keeps_the_role),
    TEST(expiry_waits_while_the_integration_is_revoked_or_disabled),
    TEST(removing_the_connection_expires_the_subscriber_role),
    { 0 },
};
