/* discovery.c - the public list of guilds: who sees a guild, its entry, search, and joining. */
#include <string.h>

#include "apps.h"
#include "base/mem.h"
#include "guilds.h"
#include "people.h"
#include "test_guild.h"
#include "waits.h"

#define METADATA "/guilds/%s/discovery-metadata"
#define CATEGORY "/guilds/%s/discovery-categories/%s"
#define JOIN     "/guilds/%s/members/@me?lurker=false"

static void make_guild_discoverable(struct client *manager, const char *guild, bool on)
{
    expect_status(client_patch(manager, on ? "{'features': ['DISCOVERABLE']}" : "{'features': []}",
                               "/guilds/%s", guild),
                  200);
}

static int64_t count_listed(struct client *c, const char *query)
{
    struct answer a = client_get(c, "/discoverable-guilds%s", query);

    expect_status(a, 200);
    return (int64_t)dom_at(a.json, "guilds")->count;
}

static void only_guilds_that_opted_in_are_listed(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    const char *guild = found_guild(ada, "Home");

    found_guild(ada, "Private");
    expect_json(client_get(eve, "/discoverable-guilds"),
                "{'guilds': [], 'total': 0, 'limit': 30, 'offset': 0}");
    expect_json(client_get(eve, "/discoverable-guilds?guild_ids=%s", guild), "{'guilds': []}");
    make_guild_discoverable(ada, guild, true);
    expect_json(client_get(eve, "/discoverable-guilds"),
                "{'guilds': [{'id': '%s', 'name': 'Home', 'icon': null, 'description': null, "
                "'banner': null, 'splash': null, 'discovery_splash': null, 'features': "
                "['DISCOVERABLE'], 'vanity_url_code': null, 'preferred_locale': 'en-US', "
                "'premium_subscription_count': 0, 'approximate_member_count': 1, "
                "'approximate_presence_count': 0, 'auto_removed': false, 'primary_category_id': 0, "
                "'keywords': null, 'is_published': false}], 'total': 1}",
                guild);
    expect(count_listed(eve, TEXT(w, "?guild_ids=%s,5", guild)) == 1);
    expect_status(client_get(world_anonymous(w), "/discoverable-guilds"), 401);
    expect_error(client_get(world_bot(w, "robot"), "/discoverable-guilds"), 403, 20001);
    expect_status(client_get(world_bot(w, "robot"), "/discoverable-guilds/search?query=home"), 200);

    make_guild_discoverable(ada, guild, false);
    expect(count_listed(eve, "") == 0);
    make_guild_discoverable(ada, guild, true);
    expect_status(client_delete(ada, "/guilds/%s", guild), 204);
    expect(count_listed(eve, "") == 0);
    expect(count_listed(eve, TEXT(w, "?guild_ids=%s", guild)) == 0);
}

static void discovery_list_has_pages_categories_and_search(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    const char *one = found_guild(ada, "Chess Club"), *two = found_guild(ada, "Choir"),
               *three = found_guild(ada, "Garden");

    make_guild_discoverable(ada, one, true);
    make_guild_discoverable(ada, two, true);
    make_guild_discoverable(ada, three, true);
    expect_status(client_put(eve, "{}", JOIN, two), 200);
    expect_status(
        client_patch(ada, "{'primary_category_id': 2, 'keywords': ['Bach']}", METADATA, two), 200);
    expect_status(client_put(ada, "", CATEGORY, three, "19"), 204);
    expect_status(client_patch(ada, "{'description': 'Openings and endgames'}", "/guilds/%s", one),
                  200);

    expect_json(client_get(eve, "/discoverable-guilds?limit=1"),
                "{'guilds': [{'id': '%s', 'approximate_member_count': 2, 'keywords': ['Bach'], "
                "'primary_category_id': 2}], 'total': 3, 'limit': 1, 'offset': 0}",
                two);
    expect_json(client_get(eve, "/discoverable-guilds?limit=2&offset=2"),
                "{'guilds': [{'id': '%s'}], 'total': 3, 'offset': 2}", one);
    expect_json(client_get(eve, "/discoverable-guilds?categories=2&categories=19"),
                "{'guilds': [{'id': '%s'}, {'id': '%s'}], 'total': 2}", two, three);
    expect(count_listed(eve, "?categories=7") == 0);
    char many[8 * 51] = "?categories=7"; /* 50 categories */
    for (int i = 1; i < 50; i++)
        strcat(many, ",7");
    expect(count_listed(eve, many) == 0);
    strcat(many, ",7");
    expect_status(client_get(eve, "/discoverable-guilds%s", many), 400);
    static const struct {
        const char *query;
        int guild;
    } searches[] = { { "query=CHESS", 0 },   { "query=endgame", 0 },
                     { "query=bach", 1 },    { "query=choir&category_id=2", 1 },
                     { "query=garden", 2 },  { "query=choir&category_id=3", -1 },
                     { "query=nothing", -1 } };
    const char *const guilds[] = { one, two, three };
    for (size_t i = 0; i < COUNT_OF(searches); i++) {
        struct answer a = client_get(eve, "/discoverable-guilds/search?%s", searches[i].query);

        if (searches[i].guild < 0)
            expect_json(a, "{'guilds': [], 'total': 0, 'limit': 24}");
        else
            expect_json(a, "{'guilds': [{'id': '%s'}], 'total': 1}", guilds[searches[i].guild]);
    }
    expect_invalid(client_get(eve, "/discoverable-guilds/search"), "query", "BASE_TYPE_REQUIRED");
    expect_invalid(client_get(eve, "/discoverable-guilds?limit=49"), "limit", "NUMBER_TYPE_MAX");
    expect_invalid(client_get(eve, "/discoverable-guilds?offset=3000"), "offset",
                   "NUMBER_TYPE_MAX");
}

static void managers_can_change_the_discovery_entry_with_audit(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    struct client *eve = world_client(w, "eve");
    struct audience auditors =
        audience_of_members_with_permission(id_of(h.guild), 0, PERMISSION(VIEW_AUDIT_LOG));

    expect_json(client_get(h.bob, METADATA, h.guild),
                "{'guild_id': '%s', 'primary_category_id': 0, 'keywords': null, "
                "'emoji_discoverability_enabled': true, 'partner_actioned_timestamp': null, "
                "'partner_application_timestamp': null, 'is_published': false, "
                "'reasons_to_join': [], 'social_links': null, 'about': null, 'category_ids': []}",
                h.guild);
    discard_received(w);
    expect_json(client_patch(h.bob,
                             "{'primary_category_id': 1, 'keywords': ['Go', 'Chess'], "
                             "'is_published': true, 'about': 'Games', 'social_links': "
                             "['https://example.org'], 'reasons_to_join': [{'reason': 'Fun'}]}",
                             METADATA, h.guild),
                "{'primary_category_id': 1, 'keywords': ['Go', 'Chess'], 'is_published': true, "
                "'about': 'Games', 'reasons_to_join': [{'reason': 'Fun'}]}");
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 1, 'user_id': '%s', 'target_id': '%s'}", h.bob->id, h.guild);
    expect_nothing_received(w);
    struct answer log = client_get(h.ada, "/guilds/%s/audit-logs?limit=1", h.guild);
    expect(strcmp(answer_text(log, "audit_log_entries.0.changes.0.key"), "primary_category_id") ==
           0);

    static const char *const ids[] = { "14", "15", "16", "17", "18" };
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        expect_status(client_put(h.bob, "", CATEGORY, h.guild, ids[i]), 204);
    expect_status(client_put(h.bob, "", CATEGORY, h.guild, "14"), 204);
    expect_error(client_put(h.bob, "", CATEGORY, h.guild, "19"), 400, 30030);
    expect_error(client_put(h.bob, "", CATEGORY, h.guild, "99"), 404, 10059);
    expect_error(client_put(h.bob, "", CATEGORY, h.guild, "x"), 404, 10059);
    expect_status(client_delete(h.bob, CATEGORY, h.guild, "15"), 204);
    /* The whole entry is replaced, but subcategories have routes of their own. */
    expect_json(
        client_patch(h.bob, "{}", METADATA, h.guild),
        "{'primary_category_id': 0, 'keywords': null, 'is_published': false, 'about': null, "
        "'reasons_to_join': [], 'category_ids': [16, 17, 18, 14]}");
    expect(store_count(w, "select count(*) from guild_discovery") == 1);

    static const struct {
        const char *body, *field, *code;
    } wrong[] = {
        { "{'primary_category_id': 14}", "primary_category_id", "BASE_TYPE_CHOICES" },
        { "{'primary_category_id': -1}", "primary_category_id", "BASE_TYPE_CHOICES" },
        { "{'keywords': ['1234567890123456789012345678901']}", "keywords.0",
          "BASE_TYPE_BAD_LENGTH" },
        { "{'keywords': ['1','2','3','4','5','6','7','8','9','10','11']}", "keywords",
          "BASE_TYPE_MAX_LENGTH" },
        { "{'reasons_to_join': [{}]}", "reasons_to_join.0.reason", "BASE_TYPE_REQUIRED" },
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        expect_invalid(client_patch(h.bob, wrong[i].body, METADATA, h.guild), wrong[i].field,
                       wrong[i].code);
    expect_error(client_get(eve, METADATA, h.guild), 403, 50001);
    expect_error(client_patch(eve, "{}", METADATA, h.guild), 403, 50001);
    world_sql(w, "update roles set permissions = 0 where guild_id = %s", h.guild);
    expect_error(client_get(h.bob, METADATA, h.guild), 403, 50013);
    expect_error(client_patch(h.bob, "{}", METADATA, h.guild), 403, 50013);
    expect_error(client_put(h.bob, "", CATEGORY, h.guild, "14"), 403, 50013);
    expect_error(client_delete(h.bob, CATEGORY, h.guild, "14"), 403, 50013);
    expect_status(client_delete(h.ada, "/guilds/%s", h.guild), 204);
    world_settle(w);
    expect(store_count(w, "select count(*) from guild_discovery") == 0);
}

static void people_join_discoverable_guilds_only(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve"),
                  *bob = world_client(w, "bob");
    const char *guild = found_guild(ada, "Home");

    expect_error(client_put(eve, "{}", JOIN, guild), 404, 10004);
    make_guild_discoverable(ada, guild, true);
    expect_status(client_put(world_anonymous(w), "{}", JOIN, guild), 401);
    expect_error(client_put(world_bot(w, "robot"), "{}", JOIN, guild), 403, 20001);
    expect_invalid(client_put(eve, "{}", "/guilds/%s/members/@me?lurker=true", guild), "lurker",
                   "BASE_TYPE_CHOICES");
    discard_received(w);
    struct answer a = client_put(eve, "{}", JOIN, guild);
    expect_status(a, 200);
    expect(strcmp(answer_text(a, "id"), guild) == 0 && answer_text(a, "roles.0.id"));
    expect_received(w, audience_of_guild(id_of(guild)), "GUILD_MEMBER_ADD",
                    "{'user': {'id': '%s'}}", eve->id);
    discard_received(w); /* the welcome message */
    expect_status(client_put(eve, "{}", JOIN, guild), 204);
    expect_nothing_received(w);

    /* A banned account sees the public list, but cannot join. */
    expect_status(client_put(ada, "{}", "/guilds/%s/bans/%s", guild, eve->id), 204);
    expect(count_listed(eve, "") == 1);
    expect_error(client_put(eve, "{}", JOIN, guild), 403, 40007);
    expect_status(client_patch(ada, "{'features': ['DISCOVERABLE', 'INVITES_DISABLED']}",
                               "/guilds/%s", guild),
                  200);
    expect_error(client_put(bob, "{}", JOIN, guild), 403, 40069);
    make_guild_discoverable(ada, guild, false);
    expect_error(client_put(bob, "{}", JOIN, guild), 404, 10004);
    expect_status(client_put(ada, "{}", JOIN, guild), 204);
    expect_status(client_delete(ada, "/guilds/%s", guild), 204);
    expect_error(client_put(bob, "{}", JOIN, guild), 404, 10004);
}

static void joining_discoverable_guilds_is_rate_limited(struct world *w)
{
    struct client *eve = world_client(w, "eve");
    const char *guild = found_guild(world_client(w, "ada"), "Home");

    for (int i = 0; i < 10; i++)
        expect_error(client_put(eve, "{}", JOIN, guild), 404, 10004);
    expect_status(client_put(eve, "{}", JOIN, guild), 429);
}

static void discovery_categories_and_terms_can_be_read(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer all = client_get(ada, "/discovery/categories"),
                  primary = client_get(ada, "/discovery/categories?primary_only=true");

    expect(strcmp(answer_text(all, "1.name"), "Gaming") == 0);
    expect(all.json->count > primary.json->count && primary.json->count == 14);
    expect_json(client_get(ada, "/discovery/valid-term?term=chess"), "{'valid': true}");
    expect_json(client_get(ada, "/discovery/valid-term?term=%s", "1234567890123456789012345678901"),
                "{'valid': false}");
    expect_json(client_get(ada, "/discovery/valid-term?term="), "{'valid': false}");
    expect_invalid(client_get(ada, "/discovery/valid-term"), "term", "BASE_TYPE_REQUIRED");
    expect_status(client_get(world_anonymous(w), "/discovery/categories"), 401);
}

const struct test discovery_tests[] = {
    TEST(only_guilds_that_opted_in_are_listed),
    TEST(discovery_list_has_pages_categories_and_search),
    TEST(managers_can_change_the_discovery_entry_with_audit),
    TEST(people_join_discoverable_guilds_only),
    TEST_WITH(joining_discoverable_guilds_is_rate_limited, buckets_only),
    TEST(discovery_categories_and_terms_can_be_read),
    { 0 },
};
