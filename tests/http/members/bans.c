/* bans.c - banning and unbanning users. */
#include "test_guild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/snowflake.h"

#define AUDIT      PERMISSION(VIEW_AUDIT_LOG)
#define MODERATORS (PERMISSION(BAN_MEMBERS) | PERMISSION(VIEW_AUDIT_LOG))

static void banning_a_member_removes_the_member_and_sends_events(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *mod = world_client(w, "mod"),
                  *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add_with(&p, mod, 5, PERMISSION(BAN_MEMBERS));
    test_guild_add_with(&p, bob, 1, 0);
    char path[200];

    snprintf(path, sizeof path, "/api/v10/guilds/%s/bans/%s", p.id, bob->id);
    struct answer a = client_request(
        mod, "PUT", path, "Content-Type: application/json\r\nX-Audit-Log-Reason: too%20loud\r\n",
        STR("{\"delete_message_seconds\":60}"));
    expect_status(a, 204);
    expect_guild_event(&p, MODERATORS, "GUILD_BAN_ADD",
                       "{'guild_id': '%s', 'user': {'id': '%s'}, 'delete_message_secs': 60}", p.id,
                       bob->id);
    expect_guild_event(&p, 0, "GUILD_MEMBER_REMOVE", "{'guild_id': '%s', 'user': {'id': '%s'}}",
                       p.id, bob->id);
    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE",
                       "{'action_type': 22, 'reason': 'too loud', 'target_id': '%s'}", bob->id);
    expect_event(bob, "GUILD_DELETE", "{'id': '%s'}", p.id);
    expect_json(client_get(mod, "/guilds/%s/bans/%s", p.id, bob->id),
                "{'user': {'id': '%s', 'username': 'bob'}, 'reason': 'too loud'}", bob->id);
    expect_error(client_get(mod, "/guilds/%s/members/%s", p.id, bob->id), 404, 10007);
    /* A second ban changes nothing. */
    expect_status(client_put(mod, "{}", "/guilds/%s/bans/%s", p.id, bob->id), 204);
    expect_guild_silence(&p);
}

static void banning_requires_permission_and_a_higher_role(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *mod = world_client(w, "mod"),
                  *bob = world_client(w, "bob"), *eve = world_client(w, "eve");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add_with(&p, mod, 5, PERMISSION(BAN_MEMBERS));
    test_guild_add_with(&p, bob, 6, 0);

    expect_error(client_put(mod, "{}", "/guilds/%s/bans/%s", p.id, bob->id), 403, 50013);
    expect_error(client_put(mod, "{}", "/guilds/%s/bans/%s", p.id, ada->id), 403, 50013);
    expect_error(client_put(mod, "{}", "/guilds/%s/bans/@me", p.id), 400, 50038);
    expect_error(client_put(bob, "{}", "/guilds/%s/bans/%s", p.id, mod->id), 403, 50013);
    expect_error(client_put(eve, "{}", "/guilds/%s/bans/%s", p.id, mod->id), 403, 50001);
    expect_error(client_put(mod, "{}", "/guilds/%s/bans/5", p.id), 404, 10013);
    expect_invalid(
        client_put(mod, "{'delete_message_seconds': 604801}", "/guilds/%s/bans/%s", p.id, eve->id),
        "delete_message_seconds", "NUMBER_TYPE_MAX");
    expect_invalid(
        client_put(mod, "{'delete_message_seconds': -1}", "/guilds/%s/bans/%s", p.id, eve->id),
        "delete_message_seconds", "NUMBER_TYPE_MIN");
    expect_invalid(
        client_put(mod, "{'delete_message_days': 8}", "/guilds/%s/bans/%s", p.id, eve->id),
        "delete_message_days", "NUMBER_TYPE_MAX");
    expect_guild_silence(&p);

    /* A user who is not a member can be banned and gets no event. */
    expect_status(
        client_put(mod, "{'delete_message_seconds': 604800}", "/guilds/%s/bans/%s", p.id, eve->id),
        204);
    expect_guild_event(&p, MODERATORS, "GUILD_BAN_ADD", "{'user': {'id': '%s'}}", eve->id);
    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 22}");
    expect_guild_silence(&p);
    expect_silence(eve);
}

static void insert_message(struct world *w, struct test_guild *p, struct client *author,
                           double age_s, snowflake *ret)
{
    *ret = snowflake_from_ms(clock_ms() - (int64_t)(age_s * 1000)) | (snowflake_new() & 0x3fffff);
    world_insert_message(w, *ret, p->channel, author->id, "x");
}

static void ban_deletes_messages_of_delete_message_seconds(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada), other = world_test_guild(w, ada);
    snowflake old, late, latest, elsewhere, others;
    test_guild_add(&p, bob);
    insert_message(w, &p, bob, 7200, &old);
    insert_message(w, &p, bob, 3000, &late);
    insert_message(w, &p, bob, 10, &latest);
    insert_message(w, &other, bob, 10, &elsewhere);
    insert_message(w, &p, ada, 10, &others);

    expect_status(
        client_put(ada, "{'delete_message_seconds': 3600}", "/guilds/%s/bans/%s", p.id, bob->id),
        204);
    expect_guild_event(&p, MODERATORS, "GUILD_BAN_ADD", "{'delete_message_secs': 3600}");
    expect_guild_event(&p, 0, "GUILD_MEMBER_REMOVE", "{}");
    expect_guild_event(&p, 0, "MESSAGE_DELETE_BULK",
                       "{'ids': ['%llu', '%llu'], 'channel_id': '%s', 'guild_id': '%s'}",
                       (unsigned long long)late, (unsigned long long)latest, p.channel, p.id);
    expect(world_number(w, "select count(*) from messages where author_id = %s", bob->id) == 2);
    expect(world_number(w, "select count(*) from messages where author_id = %s", ada->id) == 1);
    expect_guild_silence(&other);
}

static void ban_accepts_delete_message_days(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    snowflake id;
    insert_message(w, &p, bob, 80000, &id);
    expect_status(
        client_put(ada, "{'delete_message_days': 1}", "/guilds/%s/bans/%s", p.id, bob->id), 204);
    expect_guild_event(&p, MODERATORS, "GUILD_BAN_ADD", "{'delete_message_secs': 86400}");
    expect(world_number(w, "select count(*) from messages where author_id = %s", bob->id) == 0);
}

static void unbanning_removes_the_ban_and_sends_an_event(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);

    expect_error(client_delete(ada, "/guilds/%s/bans/%s", p.id, bob->id), 404, 10026);
    expect_error(client_get(ada, "/guilds/%s/bans/%s", p.id, bob->id), 404, 10026);
    expect_status(client_put(ada, "{}", "/guilds/%s/bans/%s", p.id, bob->id), 204);
    expect_json(client_get(ada, "/guilds/%s/bans/%s", p.id, bob->id), "{'reason': null}");
    expect_guild_event(&p, MODERATORS, "GUILD_BAN_ADD", "{}");
    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_status(client_delete(ada, "/guilds/%s/bans/%s", p.id, bob->id), 204);
    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 23}");
    expect_guild_event(&p, MODERATORS, "GUILD_BAN_REMOVE",
                       "{'guild_id': '%s', 'user': {'id': '%s'}}", p.id, bob->id);
    expect_error(client_get(ada, "/guilds/%s/bans/%s", p.id, bob->id), 404, 10026);
}

static void bans_are_listed_by_user_id_in_pages(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *kim = world_client(w, "kim");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add(&p, world_client(w, "zoe"));

    client_put(ada, "{}", "/guilds/%s/bans/%s", p.id, kim->id);
    client_put(ada, "{}", "/guilds/%s/bans/%s", p.id, bob->id);
    client_put(ada, "{}", "/guilds/%s/bans/%s", p.id, eve->id);
    expect_json(client_get(ada, "/guilds/%s/bans", p.id),
                "[{'user': {'id': '%s'}}, {'user': {'id': '%s'}}, {'user': {'id': '%s'}}]", bob->id,
                eve->id, kim->id);
    expect_json(client_get(ada, "/guilds/%s/bans?limit=1&after=%s", p.id, bob->id),
                "[{'user': {'id': '%s'}}]", eve->id);
    expect_json(client_get(ada, "/guilds/%s/bans?limit=1&before=%s", p.id, kim->id),
                "[{'user': {'id': '%s'}}]", eve->id);
    expect_json(client_get(ada, "/guilds/%s/bans?before=%s", p.id, kim->id),
                "[{'user': {'id': '%s'}}, {'user': {'id': '%s'}}]", bob->id, eve->id);
    expect_invalid(client_get(ada, "/guilds/%s/bans?limit=1001", p.id), "limit", "NUMBER_TYPE_MAX");
    expect_error(client_get(world_client(w, "zoe"), "/guilds/%s/bans", p.id), 403, 50013);
}

static void bulk_ban_returns_banned_and_failed_users(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild p = world_test_guild(w, ada);
    char body[200];
    test_guild_add_with(&p, bob, 1, PERMISSION(BAN_MEMBERS));

    snprintf(body, sizeof body, "{'user_ids': ['%s', '%s', '%s', '5', '%s']}", bob->id, eve->id,
             eve->id, ada->id);
    expect_error(client_post(bob, body, "/guilds/%s/bulk-ban", p.id), 403, 50013);
    expect_json(client_post(ada, body, "/guilds/%s/bulk-ban", p.id),
                "{'banned_users': ['%s', '%s'], 'failed_users': ['5', '%s']}", bob->id, eve->id,
                ada->id);
    expect_error(client_post(ada, "{'user_ids': ['5']}", "/guilds/%s/bulk-ban", p.id), 400, 500000);
    expect_invalid(client_post(ada, "{'user_ids': []}", "/guilds/%s/bulk-ban", p.id), "user_ids",
                   "BASE_TYPE_BAD_LENGTH");
}

static void ban_with_a_reason_over_512_characters_is_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    char path[200], header[700] = "X-Audit-Log-Reason: ";

    snprintf(path, sizeof path, "/api/v10/guilds/%s/bans/%s", p.id, bob->id);
    memset(header + strlen(header), 'x', 513);
    strcat(header, "\r\n");
    expect_invalid(client_request(ada, "PUT", path, header, STR("")), "reason",
                   "BASE_TYPE_MAX_LENGTH");
    expect_error(client_get(ada, "/guilds/%s/bans/%s", p.id, bob->id), 404, 10026);
    expect_guild_silence(&p);
}

const struct test bans_tests[] = {
    TEST(banning_a_member_removes_the_member_and_sends_events),
    TEST(banning_requires_permission_and_a_higher_role),
    TEST(ban_deletes_messages_of_delete_message_seconds),
    TEST(ban_accepts_delete_message_days),
    TEST(unbanning_removes_the_ban_and_sends_an_event),
    TEST(bans_are_listed_by_user_id_in_pages),
    TEST(bulk_ban_returns_banned_and_failed_users),
    TEST(ban_with_a_reason_over_512_characters_is_refused),
    { 0 },
};
