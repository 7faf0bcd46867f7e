/* join.c - subscribers join a guild through its integration, and leave it when they remove the
 * connection. */
#include "apps.h"
#include "platforms.h"

/* Ada owns the guild with an integration of her "streamer"; bob subscribes but is no member. */
struct join_guild {
    struct client *ada, *bob;
    const char *guild, *id, *role;
};

static struct join_guild create_join_guild(struct world *w)
{
    struct join_guild s = { world_client(w, "ada"), world_client(w, "bob") };

    s.guild = found_guild(s.ada, "The Guild");
    link_new(s.ada, PLATFORM_A, "streamer");
    link_new(s.bob, PLATFORM_A, "bob");
    expect_event(s.bob, "USER_CONNECTIONS_UPDATE", "{}");
    subscribe(w, PLATFORM_A, "streamer", "bob");
    s.id = follow(s.ada, s.guild, PLATFORM_A, "streamer");
    s.role = role_of(w, s.id);
    return s;
}

#define JOIN "/integrations/%s/join"

static void joining_through_an_integration_gives_its_role(struct world *w)
{
    struct join_guild s = create_join_guild(w);

    expect_status(client_post(s.bob, NULL, JOIN, s.id), 204);
    expect_event(s.bob, "GUILD_CREATE", "{'id': '%s', 'name': 'The Guild'}", s.guild);
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_MEMBER_ADD",
                    "{'guild_id': '%s', 'user': {'id': '%s'}, 'roles': ['%s']}", s.guild, s.bob->id,
                    s.role);
    expect_received(w, system_viewers(w, s.guild), "MESSAGE_CREATE",
                    "{'type': 7, 'content': '', 'mentions': [], 'author': {'id': '%s'}}",
                    s.bob->id);
    expect_nothing_received(w);
    expect(has_role(s.guild, s.bob, s.role));
    /* A second join changes nothing, but restores a lost role. */
    expect_status(client_post(s.bob, NULL, JOIN, s.id), 204);
    expect_nothing_received(w);
    expect_silence(s.bob);
    world_sql(w, "delete from member_roles");
    expect_status(client_post(s.bob, NULL, JOIN, s.id), 204);
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_MEMBER_UPDATE",
                    "{'roles': ['%s']}", s.role);
    expect_silence(s.bob);
}

static void joining_through_an_integration_checks_new_subscriptions(struct world *w)
{
    struct join_guild s = create_join_guild(w);
    struct client *eve = world_client(w, "eve");

    link_new(eve, PLATFORM_A, "eve");
    expect_error(client_post(eve, NULL, JOIN, s.id), 403, 50001);
    subscribe(w, PLATFORM_A, "streamer", "eve"); /* after the last sync */
    expect_status(client_post(eve, NULL, JOIN, s.id), 204);
    expect(has_role(s.guild, eve, s.role));
    expect_json(client_get(eve, "/users/@me/connections"), "[{'integrations': [{'id': '%s'}]}]",
                s.id);
}

static void invalid_integration_joins_are_refused(struct world *w)
{
    struct join_guild s = create_join_guild(w);
    struct client *zoe = world_client(w, "zoe");
    const char *app = make_application(s.ada, "Dice");

    expect_status(client_post(s.ada, TEXT(w, "{'authorize': true, 'guild_id': '%s'}", s.guild),
                              "/oauth2/authorize?client_id=%s&scope=applications.commands", app),
                  200);
    discard_received(w);
    const char *service = TEXT(
        w, "%lld", (long long)store_count(w, "select id from integrations where type = 'service'"));

    expect_error(client_post(s.bob, NULL, JOIN, "77"), 404, 10005);
    expect_error(client_post(s.bob, NULL, JOIN, "x"), 404, 10005);
    expect_error(client_post(s.bob, NULL, JOIN, "99999999999999999999"), 404, 10005);
    expect_error(client_post(s.bob, NULL, JOIN, service), 404, 10005);
    expect_error(client_post(s.bob, NULL, JOIN, "platform_a-partners"), 404, 10005);
    expect_error(client_post(zoe, NULL, JOIN, s.id), 404, 10017);
    expect_error(client_post(world_bot(w, "robot"), NULL, JOIN, s.id), 403, 20001);
    world_sql(w, "update connections set verified = 0 where id = 'bob'");
    expect_error(client_post(s.bob, NULL, JOIN, s.id), 404, 10017);
    world_sql(w, "update connections set verified = 1, revoked = 1 where id = 'bob'");
    expect_error(client_post(s.bob, NULL, JOIN, s.id), 400, 40012);
    world_sql(w, "update connections set revoked = 0");
    world_sql(w, "update integrations set enabled = 0");
    expect_error(client_post(s.bob, NULL, JOIN, s.id), 403, 40006);
    world_sql(w, "update integrations set enabled = 1, revoked_at = 5");
    expect_error(client_post(s.bob, NULL, JOIN, s.id), 403, 40006);
    world_sql(w, "update integrations set revoked_at = null");
    world_sql(w, "insert into bans (guild_id, user_id) values (%s, %s)", s.guild, s.bob->id);
    expect_error(client_post(s.bob, NULL, JOIN, s.id), 403, 40007);
    world_sql(w, "delete from bans");
    world_sql(w, "update guilds set member_count = 500000 where id = %s", s.guild);
    expect_error(client_post(s.bob, NULL, JOIN, s.id), 400, 30019);
    expect_nothing_received(w);
    expect(!is_member(s.guild, s.bob));
}

static void integration_join_counts_towards_the_limit_of_100_guilds(struct world *w)
{
    struct join_guild s = create_join_guild(w);

    for (int i = 0; i < 100; i++) {
        unsigned long long id = snowflake_new();

        world_sql(w, "insert into guilds (id, name, owner_id) values (%llu, 'x', %s)", id,
                  s.ada->id);
        world_sql(w, "insert into members (guild_id, user_id, joined_at) values (%llu, %s, 1)", id,
                  s.bob->id);
    }
    expect_error(client_post(s.bob, NULL, JOIN, s.id), 400, 30001);
}

static void owner_of_the_integrated_account_joins_without_subscriber_role(struct world *w)
{
    struct join_guild s = create_join_guild(w);
    const char *other = found_guild(s.bob, "Other");

    /* Bob's guild follows ada's account, which she gave to him and got back. */
    link_account(s.bob, PLATFORM_A, "streamer");
    const char *id = follow(s.bob, other, PLATFORM_A, "streamer");
    link_account(s.ada, PLATFORM_A, "streamer");
    expect_number(w, 0, "select count(*) from integrations where revoked_at is not null");
    expect_status(client_post(s.ada, NULL, JOIN, id), 204);
    expect(is_member(other, s.ada) && !has_role(other, s.ada, role_of(w, id)));
}

static void removing_the_connection_leaves_guilds_joined_through_it(struct world *w)
{
    struct join_guild s = create_join_guild(w);

    expect_status(client_post(s.bob, NULL, JOIN, s.id), 204);
    expect_event(s.bob, "GUILD_CREATE", "{}");
    discard_received(w);
    expect_status(client_delete(s.bob, "/users/@me/connections/platform_a/bob"), 204);
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_MEMBER_REMOVE",
                    "{'user': {'id': '%s'}}", s.bob->id);
    expect_event(s.bob, "GUILD_DELETE", "{'id': '%s'}", s.guild);
    expect_event(s.bob, "USER_CONNECTIONS_UPDATE", "{'user_id': '%s'}", s.bob->id);
    expect_nothing_received(w);
    expect(!is_member(s.guild, s.bob));
}

static void removing_the_connection_keeps_members_who_joined_otherwise(struct world *w)
{
    struct join_guild s = create_join_guild(w);

    put_member(s.guild, s.bob);
    expect_status(client_post(s.bob, NULL, JOIN, s.id), 204);
    expect_status(client_delete(s.bob, "/users/@me/connections/platform_a/bob"), 204);
    expect(is_member(s.guild, s.bob));
}

static void removing_the_connection_keeps_the_guild_owner(struct world *w)
{
    struct join_guild s = create_join_guild(w);

    expect_status(client_post(s.bob, NULL, JOIN, s.id), 204);
    world_sql(w, "update guilds set owner_id = %s where id = %s", s.bob->id, s.guild);
    expect_status(client_delete(s.bob, "/users/@me/connections/platform_a/bob"), 204);
    expect(is_member(s.guild, s.bob));
}

static void removing_one_of_two_subscribed_connections_keeps_member(struct world *w)
{
    struct join_guild s = create_join_guild(w);
    const char *other = found_guild(s.bob, "Other");

    /* Ada joins bob's guild as owner of the followed account. */
    link_account(s.bob, PLATFORM_A, "streamer");
    const char *id = follow(s.bob, other, PLATFORM_A, "streamer");
    link_account(s.ada, PLATFORM_A, "streamer");
    expect_number(w, 0, "select count(*) from integrations where revoked_at is not null");
    expect_status(client_post(s.ada, NULL, JOIN, id), 204);
    link_new(s.ada, PLATFORM_A, "second");
    expect_status(client_delete(s.ada, "/users/@me/connections/platform_a/second"), 204);
    expect(is_member(other, s.ada));
    /* A single subscribed connection of two is enough. */
    expect_status(client_post(s.bob, NULL, JOIN, s.id), 204);
    link_new(s.bob, PLATFORM_A, "bob2");
    subscribe(w, PLATFORM_A, "streamer", "bob2");
    sync_now(s.ada, s.guild, s.id);
    expect_status(client_delete(s.bob, "/users/@me/connections/platform_a/bob"), 204);
    expect(is_member(s.guild, s.bob));
    expect_status(client_delete(s.bob, "/users/@me/connections/platform_a/bob2"), 204);
    expect(!is_member(s.guild, s.bob));
    expect_status(client_delete(s.ada, "/users/@me/connections/platform_a/streamer"), 204);
    expect(!is_member(other, s.ada));
}

/* --- partners ------------------------------------------------------------------------- */

static void configure_partner_platform(struct config *c)
{
    c->partners_guild = "4242";
    c->partners_account = "house:The House";
}

/* Creates ada's guild as the partners guild. */
static struct client *create_partners_guild(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    world_sql(w, "insert into guilds (id, name, owner_id) values (4242, 'Partners', %s)", ada->id);
    world_sql(w, "insert into roles (id, guild_id, name) values (4242, 4242, '@everyone')");
    world_sql(w, "insert into members (guild_id, user_id, joined_at) values (4242, %s, 1)",
              ada->id);
    return ada;
}

static void link_connection_of_partner_platform(struct client *c, const char *account)
{
    link_new(c, PLATFORM_A, account);
    make_partner(c->world, account, account);
    expect_status(client_post(c, NULL, "/users/@me/connections/platform_a/%s/refresh", account),
                  204);
}

static void removing_the_last_partner_connection_leaves_partners_guild(struct world *w)
{
    struct client *bob = world_client(w, "bob");

    create_partners_guild(w);
    link_connection_of_partner_platform(bob, "bob");
    link_connection_of_partner_platform(bob, "bobby");
    expect_status(client_post(bob, NULL, JOIN, "platform_a-partners"), 204);
    expect_status(client_delete(bob, "/users/@me/connections/platform_a/bob"), 204);
    expect(is_member("4242", bob)); /* the other account is a partner, too */
    link_new(bob, PLATFORM_A, "plain");
    expect_status(client_delete(bob, "/users/@me/connections/platform_a/plain"), 204);
    expect(is_member("4242", bob));
    discard_received(w);
    expect_status(client_delete(bob, "/users/@me/connections/platform_a/bobby"), 204);
    expect_received(w, audience_of_guild(4242), "GUILD_MEMBER_REMOVE", "{'user': {'id': '%s'}}",
                    bob->id);
    expect(!is_member("4242", bob));
}

static void removing_partner_connection_keeps_member_who_joined_earlier(struct world *w)
{
    struct client *ada = create_partners_guild(w), *bob = world_client(w, "bob");

    link_connection_of_partner_platform(bob, "bob");
    put_member("4242", bob);
    expect_status(client_post(bob, NULL, JOIN, "platform_a-partners"), 204);
    expect_status(client_delete(bob, "/users/@me/connections/platform_a/bob"), 204);
    expect(is_member("4242", bob));
    link_connection_of_partner_platform(ada, "ada");
    world_sql(w, "update members set join_source = 2 where user_id = %s", ada->id);
    expect_status(client_delete(ada, "/users/@me/connections/platform_a/ada"), 204);
    expect(is_member("4242", ada)); /* the owner stays */
}

static void join_source_records_joins_through_an_integration(struct world *w)
{
    struct join_guild s = create_join_guild(w);

    expect_status(client_post(s.bob, NULL, JOIN, s.id), 204);
    expect(world_number(w, "select join_source from members where user_id = %s", s.bob->id) == 2);
    expect(world_number(w, "select join_source from members where guild_id = %s and user_id = %s",
                        s.guild, s.ada->id) == 0);
}

static void users_with_a_partner_connection_can_join_the_partners_guild(struct world *w)
{
    struct client *ada = create_partners_guild(w), *bob = world_client(w, "bob");

    link_new(bob, PLATFORM_A, "bob");
    expect_error(client_post(bob, NULL, JOIN, "platform_a-partners"), 403, 50001);
    expect_json(client_get(bob, "/users/@me/connections"), "[{'integrations': []}]");
    make_partner(w, "bob", "Bob");
    expect_status(client_post(bob, NULL, "/users/@me/connections/platform_a/bob/refresh"), 204);
    expect_json(client_get(bob, "/users/@me/connections"),
                "[{'integrations': [{'id': 'platform_a-partners', 'type': 'platform_a', "
                "'account': {'id': 'house', 'name': 'The House'}, "
                "'guild': {'id': '4242', 'name': 'Partners', 'icon': null}}]}]");
    expect_status(client_post(bob, NULL, JOIN, "platform_a-partners"), 204);
    expect(is_member("4242", bob));
    /* The integration is listed nowhere. */
    expect(client_get(ada, INTEGRATIONS, "4242").json->count == 0);
    expect_error(client_post(ada, NULL, JOIN, "platform_a-partners"), 404, 10017);
}

const struct test integrations_join_tests[] = {
    TEST(joining_through_an_integration_gives_its_role),
    TEST(joining_through_an_integration_checks_new_subscriptions),
    TEST(invalid_integration_joins_are_refused),
    TEST(integration_join_counts_towards_the_limit_of_100_guilds),
    TEST(owner_of_the_integrated_account_joins_without_subscriber_role),
    TEST(removing_the_connection_leaves_guilds_joined_through_it),
    TEST(removing_the_connection_keeps_members_who_joined_otherwise),
    TEST(removing_the_connection_keeps_the_guild_owner),
    TEST(removing_one_of_two_subscribed_connections_keeps_member),
    TEST(join_source_records_joins_through_an_integration),
    TEST_WITH(users_with_a_partner_connection_can_join_the_partners_guild,
              configure_partner_platform),
    TEST_WITH(removing_the_last_partner_connection_leaves_partners_guild,
              configure_partner_platform),
    TEST_WITH(removing_partner_connection_keeps_member_who_joined_earlier,
              configure_partner_platform),
    { 0 },
};
