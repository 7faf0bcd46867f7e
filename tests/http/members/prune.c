/* prune.c - pruning inactive members; member counts of roles, and roles for several members. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps.h"
#include "guilds.h"
#include "statements.h"
#include "test_guild.h"
#include "waits.h"

#define PRUNE "/guilds/%s/prune"

/* Makes all members inactive for a month. */
static void set_members_last_login_to_long_ago(struct world *w)
{
    world_sql(w, "update members set joined_at = joined_at - 2592000000001");
    world_sql(w, "update tokens set created_at = created_at - 2592000000001, last_used_at = null");
}

static void prune_counts_and_removes_inactive_members(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo"), *dan = world_client(w, "dan"),
                  *bot = world_bot(w, "robot");
    const char *guild = found_guild(ada, "Home");
    const char *role = make_role(ada, guild, "{'name': 'r'}");
    struct client *all[] = { bob, cleo, dan, bot };

    for (size_t i = 0; i < 4; i++)
        put_member(guild, all[i]);
    put_role_on(guild, dan, role);
    world_wait(w, 3600); /* wait until uses of tokens are recorded */
    world_settle(w);
    set_members_last_login_to_long_ago(w);
    expect_json(client_get(ada, PRUNE, guild), "{'pruned': 2}");
    expect_json(client_get(ada, PRUNE "?days=30&include_roles=%s", guild, role), "{'pruned': 3}");
    expect_json(client_get(ada, PRUNE "?include_roles=5,6", guild), "{'pruned': 2}");
    /* Using a token counts as activity. */
    expect_status(client_get(cleo, "/users/@me"), 200);
    world_wait(w, 3600);
    world_settle(w);
    expect_json(client_get(ada, PRUNE, guild), "{'pruned': 1}");

    discard_received(w);
    expect_json(client_post(ada, "{'days': 1}", PRUNE, guild), "{'pruned': 1}");
    expect_event(bob, "GUILD_DELETE", "{'id': '%s'}", guild);
    expect_received(w, audience_of_guild(id_of(guild)), "GUILD_MEMBER_REMOVE",
                    "{'user': {'id': '%s'}, 'guild_id': '%s'}", bob->id, guild);
    expect_received(
        w, audience_of_members_with_permission(id_of(guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "{'action_type': 21, 'target_id': null, 'user_id': '%s', 'options': "
        "{'delete_member_days': '1', 'members_removed': '1'}}",
        ada->id);
    expect_nothing_received(w);
    expect_error(client_get(ada, "/guilds/%s/members/%s", guild, bob->id), 404, 10007);
    expect_status(client_get(ada, "/guilds/%s/members/%s", guild, cleo->id), 200);
    expect_json(client_get(ada, "/guilds/%s?with_counts=true", guild),
                "{'approximate_member_count': 4}");
    expect_json(
        client_post(ada, TEXT(w, "{'include_roles': ['%s'], 'compute_prune_count': false}", role),
                    PRUNE, guild),
        "{'pruned': null}");
    /* Strings are accepted, as discord.py sends them. */
    expect_json(client_post(ada,
                            TEXT(w,
                                 "{'days': 30, 'include_roles': '%s, 7', 'compute_prune_count': "
                                 "'false'}",
                                 role),
                            PRUNE, guild),
                "{'pruned': null}");
    expect_invalid(client_post(ada, "{'include_roles': 'x'}", PRUNE, guild), "include_roles.0",
                   "NUMBER_TYPE_COERCE");
    expect_invalid(client_post(ada, "{'compute_prune_count': 'no'}", PRUNE, guild),
                   "compute_prune_count", "BOOLEAN_TYPE_CONVERT");
    expect_error(client_get(ada, "/guilds/%s/members/%s", guild, dan->id), 404, 10007);
}

static void pruning_60_members_runs_in_batches(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *guild = found_guild(ada, "Home");

    for (int i = 0; i < 60; i++) {
        char name[20];

        snprintf(name, sizeof name, "m%d", i);
        put_member(guild, world_client(w, name));
    }
    set_members_last_login_to_long_ago(w);
    expect_json(client_post(ada, "{}", PRUNE, guild), "{'pruned': 60}");
    world_settle(w);
    expect(store_count(w, TEXT(w, "select count(*) from members where guild_id = %s", guild)) == 1);
    expect(store_count(w, "select count(*) from audit_log where action = 21") == 1);
}

#define NUMBERS(count) \
    " with recursive n (i) as (select 0 union all select i + 1 from n where i < " #count " - 1) "

/* A step reads 500 members; the next step continues behind the last member read. */
static void prune_batches_skip_no_members(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *guild = found_guild(ada, "Home");

    world_sql(w,
              "insert into users (id, username)" NUMBERS(600) "select 1000 + i, 'm' || i from n");
    world_sql(w,
              "insert into members (guild_id, user_id, joined_at)" NUMBERS(
                  600) "select %s, 1000 + i, case when i in (9, 504) then 0 else 4102444800000000 "
                       "end from n",
              guild);
    expect_json(client_post(ada, "{}", PRUNE, guild), "{'pruned': 2}");
    world_settle(w);
    expect(store_count(w, "select count(*) from members where joined_at = 0") == 0);
}

static int64_t count_writes(struct world *w)
{
    struct answer a =
        client_request(world_anonymous(w), "GET", "/metrics", NULL, (struct str){ 0 });
    static const char name[] = "\nguildhall_store_writes_total ";
    const char *line = strstr(str_dup_cstring(world_arena(w), a.body), name);

    expect(line != NULL);
    return atoll(line + strlen(name));
}

/* Members have 100 roles that may be pruned and one that may not: steps with many roles read
 * fewer members. */
static void prune_with_100_roles_runs_in_small_batches(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *guild = found_guild(ada, "Home");
    char roles[2000];
    size_t n = 0;

    for (int i = 0; i < 100; i++)
        n += (size_t)snprintf(roles + n, sizeof roles - n, "%s'%d'", i ? "," : "", 5000 + i);
    world_sql(w,
              "insert into roles (id, guild_id, name, permissions, position)" NUMBERS(
                  101) "select 5000 + i, %s, 'r', 0, 1 from n",
              guild);
    world_sql(w, "insert into users (id, username)" NUMBERS(60) "select 1000 + i, 'm' || i from n");
    world_sql(w,
              "insert into members (guild_id, user_id, joined_at)" NUMBERS(
                  60) "select %s, 1000 + i, 0 from n",
              guild);
    for (int i = 0; i < 60; i += 20)
        world_sql(w,
                  "insert into member_roles (guild_id, user_id, role_id) select m.guild_id, "
                  "m.user_id, r.id from members m join roles r on r.guild_id = m.guild_id and "
                  "r.id >= 5000 and r.id <= 5100 where m.guild_id = %s and m.user_id >= %d and "
                  "m.user_id < %d",
                  guild, 1000 + i, 1020 + i);
    int64_t before = count_writes(w);
    expect_json(client_post(ada, TEXT(w, "{'include_roles': [%s]}", roles), PRUNE, guild),
                "{'pruned': 0}");
    world_settle(w);
    expect(count_writes(w) - before >= 5);
    expect(store_count(w, "select count(*) from members where joined_at = 0") == 60);
}

static void watch_sql_statements_of_store(struct config *config)
{
    if (!config->store)
        statements_watch();
}

/* With half a million members no table is scanned, and nothing is sorted or materialized. */
static void prune_count_uses_indexes_only(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *guild = found_guild(ada, "Home");

    for (int i = 0; i < 5; i++)
        put_member(guild, world_client(w, TEXT(w, "m%d", i)));
    set_members_last_login_to_long_ago(w);
    expect_json(client_get(ada, PRUNE, guild), "{'pruned': 5}");
    expect_json(client_post(ada, "{}", PRUNE, guild), "{'pruned': 5}");
    if (world_config(w)->store)
        return;
    struct statement_seen all = statements_seen("from members m cross join users u"),
                          step = statements_seen("order by user_id limit $9");
    expect(all.runs > 0 && all.scanned == 0 && all.sorted == 0 && all.indexed == 0);
    expect(step.runs > 0 && step.scanned <= 6 && step.indexed == 0);
}

static void pruning_requires_permissions_and_a_higher_role(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(KICK_MEMBERS) | PERMISSION(MANAGE_GUILD));
    struct client *low = world_client(w, "lo"), *high = world_client(w, "hi");

    put_member(r.guild, low);
    put_member(r.guild, high);
    put_role_on(r.guild, low, r.low);
    put_role_on(r.guild, high, r.high);
    set_members_last_login_to_long_ago(w);
    expect_json(client_get(r.bob, PRUNE "?include_roles=%s,%s,%s", r.guild, r.low, r.high, r.bobs),
                "{'pruned': 1}");
    expect_error(client_get(low, PRUNE, r.guild), 403, 50013);
    expect_error(client_post(low, "{}", PRUNE, r.guild), 403, 50013);
    expect_error(client_get(world_client(w, "eve"), PRUNE, r.guild), 403, 50001);
    expect_invalid(client_get(r.bob, PRUNE "?days=0", r.guild), "days", "NUMBER_TYPE_MIN");
    expect_invalid(client_get(r.bob, PRUNE "?days=31", r.guild), "days", "NUMBER_TYPE_MAX");
    expect_invalid(client_post(r.bob, "{'days': 31}", PRUNE, r.guild), "days", "NUMBER_TYPE_MAX");
    world_sql(w, "update guilds set features = '[\"PRUNE_REQUIRES_ADMIN\"]' where id = %s",
              r.guild);
    expect_error(client_post(r.bob, "{}", PRUNE, r.guild), 403, 50013);
    expect_status(client_get(r.ada, PRUNE, r.guild), 200);
}

static void configure_enabled_rate_limits(struct config *config)
{
    config->rate_limits = true;
}

static void guild_can_be_pruned_twice_a_minute(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *guild = found_guild(ada, "Home");

    put_member(guild, bob);
    for (int i = 0; i < 3; i++)
        expect_error(client_post(bob, "{}", PRUNE, guild), 403, 50013);
    expect_status(client_post(ada, "{}", PRUNE, guild), 200);
    expect_status(client_post(ada, "{}", PRUNE, guild), 200);
    expect_error(client_post(ada, "{}", PRUNE, guild), 400, 30040);
    world_wait(w, 61);
    expect_status(client_post(ada, "{}", PRUNE, guild), 200);
}

/* --- roles ---------------------------------------------------------------------------- */

static void role_is_added_to_several_members_or_to_none(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(MANAGE_ROLES));
    struct client *eve = world_client(w, "eve"), *kim = world_client(w, "kim");
    const char *both = TEXT(w, "{'member_ids': ['%s', '%s', '%s']}", eve->id, kim->id, eve->id);

#define ROLE_MEMBERS "/guilds/%s/roles/%s/members"
    put_member(r.guild, eve);
    put_member(r.guild, kim);
    expect_error(client_patch(eve, both, ROLE_MEMBERS, r.guild, r.low), 403, 50013);
    expect_error(client_patch(r.bob, both, ROLE_MEMBERS, r.guild, r.high), 403, 50013);
    expect_error(client_patch(r.bob, both, ROLE_MEMBERS, r.guild, r.guild), 400, 50028);
    expect_error(client_patch(r.bob, both, "/guilds/%s/roles/5/members", r.guild), 404, 10011);
    expect_invalid(client_patch(r.bob, "{'member_ids': []}", ROLE_MEMBERS, r.guild, r.low),
                   "member_ids", "BASE_TYPE_BAD_LENGTH");
    /* An unknown member, and one of a higher rank: nobody gets the role. */
    expect_error(client_patch(r.bob, TEXT(w, "{'member_ids': ['%s', '5']}", eve->id), ROLE_MEMBERS,
                              r.guild, r.low),
                 404, 10007);
    expect_error(client_patch(r.bob, TEXT(w, "{'member_ids': ['%s', '%s']}", eve->id, r.ada->id),
                              ROLE_MEMBERS, r.guild, r.low),
                 403, 50013);
    expect_json(client_get(r.ada, "/guilds/%s/roles/member-counts", r.guild), "{'%s': 0}", r.low);

    struct answer a = client_patch(r.bob, both, ROLE_MEMBERS, r.guild, r.low);
    expect_status(a, 200);
    expect_json(a, "{'%s': {'roles': ['%s'], 'user': {'username': 'eve'}}}", eve->id, r.low);
    expect_json(a, "{'%s': {'roles': ['%s'], 'user': {'username': 'kim'}}}", kim->id, r.low);
    expect(a.json->count == 2);
    expect(world_count_events(w, EVENT_GUILD_MEMBER_UPDATE) == 2);
    expect_json(client_get(r.ada, "/guilds/%s/roles/member-counts", r.guild), "{'%s': 2}", r.low);
    expect_status(client_patch(r.bob, both, ROLE_MEMBERS, r.guild, r.low), 200);
    expect(world_count_events(w, EVENT_GUILD_MEMBER_UPDATE) == 2);
}

static void role_member_counts_and_ids_are_listed(struct world *w)
{
    struct ranks r = world_ranks(w, 0);
    struct answer a = client_get(r.bob, "/guilds/%s/roles/member-counts", r.guild);

    expect_json(a, "{'%s': 0, '%s': 1, '%s': 0}", r.low, r.bobs, r.high);
    expect(a.json->count == 3);
    expect_json(client_get(r.ada, "/guilds/%s/roles/%s/member-ids", r.guild, r.bobs), "['%s']",
                r.bob->id);
    a = client_get(r.ada, "/guilds/%s/roles/%s/member-ids", r.guild, r.guild);
    expect(a.json->count == 0);
    expect_error(client_get(r.ada, "/guilds/%s/roles/5/member-ids", r.guild), 404, 10011);
    expect_error(client_get(world_client(w, "eve"), "/guilds/%s/roles/member-counts", r.guild), 403,
                 50001);
}

/* --- non-members ---------------------------------------------------------------------- */

static void guild_preview_is_public_only_for_discoverable_guilds(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    const char *guild = found_guild(ada, "Home");
    struct answer a = client_get(ada, "/guilds/%s/preview", guild);

    expect_json(a,
                "{'id': '%s', 'name': 'Home', 'icon': null, 'splash': null, 'description': null, "
                "'features': [], 'emojis': [], 'stickers': [], 'approximate_member_count': 1, "
                "'approximate_presence_count': 0}",
                guild);
    expect_json(client_get(ada, "/guilds/%s/basic", guild), "{'id': '%s', 'name': 'Home'}", guild);
    expect_absent(client_get(ada, "/guilds/%s/basic", guild), "approximate_member_count");
    expect_error(client_get(eve, "/guilds/%s/preview", guild), 404, 10004);
    expect_error(client_get(eve, "/guilds/%s/basic", guild), 404, 10004);
    expect_error(client_get(eve, "/guilds/5/preview"), 404, 10004);
    expect_status(client_patch(ada, "{'features': ['DISCOVERABLE']}", "/guilds/%s", guild), 200);
    expect_json(client_get(eve, "/guilds/%s/preview", guild), "{'name': 'Home'}");
    expect_status(client_get(eve, "/guilds/%s/basic", guild), 200);
    expect_error(client_get(eve, "/guilds/%s", guild), 403, 50001);
    expect_error(client_get(eve, "/users/@me/guilds/%s/member", guild), 404, 10004);
}

static void guilds_members_read_scope_gives_access_to_own_member(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *guild = found_guild(ada, "Home");
    struct client *app = world_token(w, ada, CALLER_BEARER, "guilds.members.read", 0);
    struct client *other = world_token(w, ada, CALLER_BEARER, "guilds", 0);

    expect_json(client_get(app, "/users/@me/guilds/%s/member", guild),
                "{'user': {'id': '%s'}, 'roles': []}", ada->id);
    expect_json(client_get(ada, "/users/@me/guilds/%s/member", guild), "{'user': {'id': '%s'}}",
                ada->id);
    expect_error(client_get(other, "/users/@me/guilds/%s/member", guild), 403, 50026);
    expect_error(client_get(app, "/users/@me/guilds/5/member"), 404, 10004);
    expect_error(client_get(world_bot(w, "robot"), "/users/@me/guilds/%s/member", guild), 403,
                 20001);
}

const struct test prune_tests[] = {
    TEST(prune_counts_and_removes_inactive_members),
    TEST(pruning_60_members_runs_in_batches),
    TEST(prune_batches_skip_no_members),
    TEST(prune_with_100_roles_runs_in_small_batches),
    TEST_WITH(prune_count_uses_indexes_only, watch_sql_statements_of_store),
    TEST(pruning_requires_permissions_and_a_higher_role),
    TEST_WITH(guild_can_be_pruned_twice_a_minute, configure_enabled_rate_limits),
    TEST(role_is_added_to_several_members_or_to_none),
    TEST(role_member_counts_and_ids_are_listed),
    TEST(guild_preview_is_public_only_for_discoverable_guilds),
    TEST(guilds_members_read_scope_gives_access_to_own_member),
    { 0 },
};
