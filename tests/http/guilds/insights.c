/* insights.c - statistics of a guild per day. */
#include <time.h>

#include "base/clock.h"
#include "channel_events.h"
#include "guilds.h"
#include "test_guild.h"
#include "waits.h"

#define INSIGHTS "/guilds/%s/analytics/"

/* Returns the time three days ago, so that the answer has four days. */
static const char *four_days(struct world *w)
{
    time_t then = (time_t)(clock_us() / 1000000 - 3 * 86400);
    struct tm day;
    char text[32];

    gmtime_r(&then, &day);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &day);
    return TEXT(w, "%s", text);
}

static void insights_count_joins_leaves_and_members_per_day(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *guild = answer_text(client_post(ada, "{'name': 'Hall'}", "/guilds"), "id");

    put_member(guild, bob);
    expect_status(client_delete(bob, "/users/@me/guilds/%s", guild), 204);
    world_sql(w, "update guild_days set joins = 2, leaves = 1 where guild_id = %s", guild);
    /* Two days ago 5 joined and 1 left; of the day between them there is no row. */
    world_sql(
        w,
        "insert into guild_days (guild_id, day, joins, leaves) select guild_id, day - 2, 5, 1 "
        "from guild_days where guild_id = %s",
        guild);
    world_sql(w, "update guilds set member_count = 20 where id = %s", guild);
    const char *since = four_days(w);
    expect_json(client_get(ada, INSIGHTS "growth-activation/membership?start=%s", guild, since),
                "[{'total_membership': 20}, {'total_membership': 19}, {'total_membership': 19}, "
                "{'total_membership': 15}]");
    expect_json(client_get(ada, INSIGHTS "growth-activation/joins?start=%s", guild, since),
                "[{'joins': 2}, {'joins': 0}, {'joins': 5}, {'joins': 0}]");
    expect_json(client_get(ada, INSIGHTS "growth-activation/leavers?start=%s", guild, since),
                "[{'leavers': 1, 'days_in_guild': 'all'}, {'leavers': 0}, {'leavers': 1}, "
                "{'leavers': 0}]");
    struct answer a = client_get(ada, INSIGHTS "growth-activation/joins", guild);
    expect(a.json->count == 28);
    /* Ranges: at most 120 days, none in the future, other intervals are empty. */
    a = client_get(ada, INSIGHTS "growth-activation/joins?start=2015-01-01T00:00:00Z", guild);
    expect(a.json->count == 120);
    expect_json(
        client_get(ada, INSIGHTS "growth-activation/joins?start=2999-01-01T00:00:00Z", guild),
        "[]");
    expect_json(client_get(ada, INSIGHTS "growth-activation/joins?interval=0", guild), "[]");
    expect_invalid(client_get(ada, INSIGHTS "growth-activation/joins?interval=9", guild),
                   "interval", "NUMBER_TYPE_MAX");
    expect_invalid(client_get(ada, INSIGHTS "growth-activation/joins?start=x", guild), "start",
                   "DATE_TIME_TYPE_PARSE");
}

static void joining_and_leaving_are_counted_on_the_day(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *guild = answer_text(client_post(ada, "{'name': 'Hall'}", "/guilds"), "id");
    const char *channel = answer_text(client_get(ada, "/guilds/%s", guild), "system_channel_id");
    const char *code = answer_text(client_post(ada, "{}", "/channels/%s/invites", channel), "code");

    expect(world_number(w, "select sum(joins) from guild_days where guild_id = %s", guild) == 1);
    expect_status(client_post(bob, "{}", "/invites/%s", code), 200);
    expect_status(client_delete(bob, "/users/@me/guilds/%s", guild), 204);
    expect(world_number(w, "select sum(joins) from guild_days where guild_id = %s", guild) == 2);
    expect(world_number(w, "select sum(leaves) from guild_days where guild_id = %s", guild) == 1);
    expect_status(client_delete(ada, "/guilds/%s", guild), 204);
    world_settle(w);
    expect(world_number(w, "select count(*) from guild_days where guild_id = %s", guild) == 0);
}

static void insights_count_messages_of_visible_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add_with(&v, bob, 1, PERMISSION(VIEW_GUILD_INSIGHTS));
    test_guild_add(&v, cleo);
    expect_json(client_get(ada, INSIGHTS "engagement/text-channels", v.id), "[]");
    for (int i = 0; i < 3; i++)
        say_text(i ? ada : bob, v.channel, "x");
    expect_json(client_get(bob, INSIGHTS "engagement/text-channels", v.id),
                "[{'channel_id': '%s', 'messages_sent': 3, 'communicators': 2}]", v.channel);
    expect_error(client_get(cleo, INSIGHTS "engagement/text-channels", v.id), 403, 50013);
    expect_error(client_get(cleo, INSIGHTS "growth-activation/membership", v.id), 403, 50013);
    expect_error(client_get(world_client(w, "dan"), INSIGHTS "growth-activation/joins", v.id), 403,
                 50001);
    /* A channel that Bob cannot view is not in his answer. */
    test_guild_take_right(&v, PERMISSION(VIEW_CHANNEL));
    expect_json(client_get(bob, INSIGHTS "engagement/text-channels", v.id), "[]");
    expect_json(client_get(ada, INSIGHTS "engagement/text-channels", v.id),
                "[{'messages_sent': 3}]");
}

const struct test insights_tests[] = {
    TEST(insights_count_joins_leaves_and_members_per_day),
    TEST(joining_and_leaving_are_counted_on_the_day),
    TEST(insights_count_messages_of_visible_channels),
    { 0 },
};
