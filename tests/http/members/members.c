/* members.c - reading, changing, adding and removing members. */
#include "gateway_conn.h"
#include "platforms.h"
#include "test_guild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/auth/auth.h"
#include "base/clock.h"
#include "base/timestamp.h"

#define AUDIT PERMISSION(VIEW_AUDIT_LOG)

/* --- reading -------------------------------------------------------------------------- */

static void reading_a_member_requires_membership(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild p = world_test_guild(w, ada);
    const char *role = test_guild_add_with(&p, bob, 1, 0);

    struct answer a = client_get(ada, "/guilds/%s/members/%s", p.id, bob->id);
    expect_status(a, 200);
    expect_json(a,
                "{'user': {'id': '%s', 'username': 'bob'}, 'nick': null, 'avatar': null, 'roles': "
                "['%s'], 'deaf': false, 'mute': false, 'pending': false, 'flags': 0, "
                "'premium_since': null, 'communication_disabled_until': null}",
                bob->id, role);
    expect_absent(a, "guild_id");
    expect_json(client_get(bob, "/guilds/%s/members/@me", p.id),
                "{'user': {'id': '%s'}, 'permissions': '%llu'}", bob->id,
                (unsigned long long)PERMISSIONS_DEFAULT);
    expect_error(client_get(eve, "/guilds/%s/members/@me", p.id), 403, 50001);
    expect_error(client_get(ada, "/guilds/%s/members/%s", p.id, eve->id), 404, 10007);
    expect_error(client_get(eve, "/guilds/%s/members/%s", p.id, bob->id), 403, 50001);
    expect_error(client_get(ada, "/guilds/123/members/%s", bob->id), 404, 10004);
}

static void bots_list_members_by_user_id_in_pages(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct test_guild p = world_test_guild(w, ada);
    const char *role = test_guild_add_with(&p, bob, 1, 0);
    test_guild_add(&p, bot);

    struct answer a = client_get(bot, "/guilds/%s/members", p.id);
    expect_status(a, 200);
    expect(a.json->count == 1);
    expect_json(a, "[{'user': {'id': '%s'}, 'roles': []}]", ada->id);
    a = client_get(bot, "/guilds/%s/members?limit=1000&after=%s", p.id, ada->id);
    expect_json(a, "[{'user': {'id': '%s'}, 'roles': ['%s']}, {'user': {'id': '%s'}}]", bob->id,
                role, bot->id);
    expect_invalid(client_get(bot, "/guilds/%s/members?limit=0", p.id), "limit", "NUMBER_TYPE_MIN");
    expect_invalid(client_get(bot, "/guilds/%s/members?limit=1001", p.id), "limit",
                   "NUMBER_TYPE_MAX");
    expect_error(client_get(ada, "/guilds/%s/members", p.id), 403, 20002);
}

static void listing_members_requires_the_members_intent_flag(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add(&p, bot);

    world_sql(w, "update tokens set application_id = 77 where user_id = %s", bot->id);
    world_sql(w,
              "insert into applications (id, name, owner_id, bot_id, key_salt, verify_key, flags) "
              "values (77, 'app', %s, %s, '', '', 0)",
              ada->id, bot->id);
    expect_error(client_get(bot, "/guilds/%s/members", p.id), 403, 50001);
    world_sql(w, "update applications set flags = 32768 where id = 77");
    expect_status(client_get(bot, "/guilds/%s/members", p.id), 200);
}

static void member_search_matches_prefixes_of_names_and_nicks(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob_1"),
                  *eve = world_client(w, "eve");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add(&p, bob);
    test_guild_add(&p, eve);
    world_sql(w, "update members set nick = 'Bobbin' where user_id = %s", eve->id);

    struct answer a = client_get(ada, "/guilds/%s/members/search?query=BOB&limit=10", p.id);
    expect_json(a, "[{'user': {'id': '%s'}}, {'user': {'id': '%s'}, 'nick': 'Bobbin'}]", bob->id,
                eve->id);
    a = client_get(ada, "/guilds/%s/members/search?query=bob", p.id);
    expect(a.json->count == 1);
    a = client_get(ada, "/guilds/%s/members/search?query=bob_&limit=10", p.id);
    expect_json(a, "[{'user': {'id': '%s'}}]", bob->id);
    expect(client_get(ada, "/guilds/%s/members/search?query=%%25&limit=10", p.id).json->count == 0);
    expect(client_get(ada, "/guilds/%s/members/search?query=ob&limit=10", p.id).json->count == 0);
    expect_invalid(client_get(ada, "/guilds/%s/members/search", p.id), "query",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_get(ada, "/guilds/%s/members/search?query=a&limit=1001", p.id), "limit",
                   "NUMBER_TYPE_MAX");
}

static size_t count_found_members(struct client *c, const char *guild, const char *text)
{
    return client_get(c, "/guilds/%s/members/search?query=%s&limit=10", guild, text).json->count;
}

static void member_search_uses_current_names(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add(&p, bob);

    expect_status(client_patch(bob, "{'global_name': 'Zed'}", "/users/@me"), 200);
    expect(count_found_members(ada, p.id, "zed") == 1);
    expect_status(client_patch(bob, "{'global_name': 'Yan'}", "/users/@me"), 200);
    expect(count_found_members(ada, p.id, "zed") == 0 &&
           count_found_members(ada, p.id, "yan") == 1);
    expect_status(client_patch(bob, "{'global_name': null}", "/users/@me"), 200);
    expect(count_found_members(ada, p.id, "yan") == 0 &&
           count_found_members(ada, p.id, "bob") == 1);
    expect_status(client_patch(ada, "{'nick': 'Xena'}", "/guilds/%s/members/%s", p.id, bob->id),
                  200);
    expect(count_found_members(ada, p.id, "xe") == 1);
    expect_status(client_patch(ada, "{'nick': null}", "/guilds/%s/members/%s", p.id, bob->id), 200);
    expect(count_found_members(ada, p.id, "xe") == 0);
    expect_status(client_delete(bob, "/users/@me/guilds/%s", p.id), 204);
    expect(count_found_members(ada, p.id, "bob") == 0);
}

/* More guilds than one step of the job notifies. */
static void global_name_change_is_sent_to_450_guilds_in_batches(struct world *w)
{
    enum { GUILDS = 450 };
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add(&p, bob);

    for (int i = 1; i <= GUILDS; i++) {
        world_sql(w, "insert into guilds (id, name, owner_id) values (%d, 'g', %s)", i, ada->id);
        world_sql(w, "insert into members (guild_id, user_id, joined_at) values (%d, %s, 0)", i,
                  bob->id);
    }
    client_connect(ada);
    expect_status(client_patch(bob, "{'global_name': 'Zed'}", "/users/@me"), 200);
    expect_number(w, GUILDS + 1,
                  "select count(*) from member_names where kind = 1 and name = 'zed'");
    expect_number(w, 0, "select count(*) from jobs where kind = 'account-spread'");
    expect_event(ada, "GUILD_MEMBER_UPDATE", "{'guild_id': '%s', 'user': {'global_name': 'Zed'}}",
                 p.id);
    expect_silence(ada);
}

/* --- leaving and rejoining ------------------------------------------------------------ */

static void leave_and_rejoin_guild(struct client *owner, struct client *c, const char *guild,
                                   const char *channel)
{
    const char *code =
        answer_text(client_post(owner, "{}", "/channels/%s/invites", channel), "code");

    expect_status(client_delete(c, "/users/@me/guilds/%s", guild), 204);
    expect_status(client_post(c, "{}", "/invites/%s", code), 200);
}

static void timeout_mute_and_deaf_persist_after_rejoining(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add(&p, bob);

    int64_t until = clock_us() + INT64_C(3600) * 1000000;
    world_sql(w, "update members set timed_out_until = %lld, mute = 1, deaf = 1 where user_id = %s",
              (long long)until, bob->id);
    leave_and_rejoin_guild(ada, bob, p.id, p.channel);
    struct answer a = client_get(ada, "/guilds/%s/members/%s", p.id, bob->id);
    expect_json(a, "{'mute': true, 'deaf': true}");
    expect(dom_member(a.json, STR("communication_disabled_until"))->kind == JSON_STRING);
    expect_error(client_post(bob, "{'content': 'hi'}", "/channels/%s/messages", p.channel), 403,
                 50013);

    /* Expired or lifted sanctions are not restored. */
    world_sql(w, "update members set mute = 0, deaf = 0 where user_id = %s", bob->id);
    world_wait(w, 3601);
    leave_and_rejoin_guild(ada, bob, p.id, p.channel);
    expect_json(client_get(ada, "/guilds/%s/members/%s", p.id, bob->id),
                "{'mute': false, 'deaf': false, 'communication_disabled_until': null}");
    expect_status(client_post(bob, "{'content': 'hi'}", "/channels/%s/messages", p.channel), 200);
    expect(world_number(w, "select count(*) from member_sanctions") == 0);
}

/* --- nicks ---------------------------------------------------------------------------- */

static void changing_nicks_requires_manage_nicknames_and_a_higher_role(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *mod = world_client(w, "mod"),
                  *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add_with(&p, mod, 5, PERMISSION(MANAGE_NICKNAMES));
    const char *low = test_guild_add_with(&p, bob, 4, 0);

    struct answer a =
        client_patch(mod, "{'nick': '  Bobby '}", "/guilds/%s/members/%s", p.id, bob->id);
    expect_status(a, 200);
    expect_json(a, "{'nick': 'Bobby', 'user': {'id': '%s'}, 'roles': ['%s']}", bob->id, low);
    expect_guild_event(&p, 0, "GUILD_MEMBER_UPDATE",
                       "{'guild_id': '%s', 'nick': 'Bobby', 'user': {'id': '%s'}}", p.id, bob->id);
    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE",
                       "{'action_type': 24, 'target_id': '%s'}", bob->id);
    /* The same nick again changes nothing. */
    expect_status(client_patch(mod, "{'nick': 'Bobby'}", "/guilds/%s/members/%s", p.id, bob->id),
                  200);
    expect_guild_silence(&p);
    expect_json(client_patch(mod, "{'nick': null}", "/guilds/%s/members/%s", p.id, bob->id),
                "{'nick': null}");

    expect_error(client_patch(mod, "{'nick': 'x'}", "/guilds/%s/members/%s", p.id, ada->id), 403,
                 50013);
    expect_error(client_patch(bob, "{'nick': 'x'}", "/guilds/%s/members/%s", p.id, mod->id), 403,
                 50013);
    expect_invalid(client_patch(ada, "{'nick': '123456789012345678901234567890123'}",
                                "/guilds/%s/members/%s", p.id, bob->id),
                   "nick", "BASE_TYPE_MAX_LENGTH");
    expect_json(client_patch(ada, "{'nick': '12345678901234567890123456789012'}",
                             "/guilds/%s/members/%s", p.id, bob->id),
                "{'nick': '12345678901234567890123456789012'}");
}

static void members_with_equal_or_older_top_role_cannot_be_changed(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *mod = world_client(w, "mod"),
                  *bob = world_client(w, "bob"), *old = world_client(w, "old");
    struct test_guild p = world_test_guild(w, ada);
    const char *older = test_guild_add_with(&p, old, 5, 0);
    const char *own = test_guild_add_with(&p, mod, 5, PERMISSION(MANAGE_NICKNAMES));
    test_guild_add(&p, bob);

    /* The older of two roles at one position is higher. */
    expect(strcmp(older, own) < 0);
    expect_error(client_patch(mod, "{'nick': 'x'}", "/guilds/%s/members/%s", p.id, old->id), 403,
                 50013);
    test_guild_give(&p, bob, own);
    expect_error(client_patch(mod, "{'nick': 'x'}", "/guilds/%s/members/%s", p.id, bob->id), 403,
                 50013);
}

static void members_can_change_their_own_nick(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add(&p, bob);

    expect_json(client_patch(bob, "{'nick': 'B'}", "/guilds/%s/members/@me", p.id),
                "{'nick': 'B', 'user': {'id': '%s'}}", bob->id);
    expect_guild_event(&p, 0, "GUILD_MEMBER_UPDATE", "{'nick': 'B'}");
    expect_guild_silence(&p);
    expect_json(client_patch(bob, "{'nick': 'C'}", "/guilds/%s/members/@me/nick", p.id),
                "{'nick': 'C'}");
    expect_json(client_patch(bob, "{'nick': ''}", "/guilds/%s/members/%s", p.id, bob->id),
                "{'nick': null}");
    world_sql(w, "update roles set permissions = 0 where id = %s", p.id);
    expect_error(client_patch(bob, "{'nick': 'D'}", "/guilds/%s/members/@me", p.id), 403, 50013);
    expect_error(client_patch(bob, "{'nick': 'D'}", "/guilds/%s/members/@me/nick", p.id), 403,
                 50013);
    expect_error(client_patch(bob, "{'nick': 'D'}", "/guilds/%s/members/%s", p.id, bob->id), 403,
                 50013);
    expect_status(client_patch(bob, "{'bio': 'hello'}", "/guilds/%s/members/@me", p.id), 200);
}

static void guild_profile_can_be_changed_only_by_its_owner(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add(&p, bob);

    expect_json(client_patch(bob, "{'nick': 'B'}", "/guilds/%s/profile/@me", p.id),
                "{'nick': 'B', 'user': {'id': '%s'}}", bob->id);
    expect_guild_event(&p, 0, "GUILD_MEMBER_UPDATE", "{'nick': 'B'}");
    expect_json(client_patch(bob, "{'nick': 'C'}", "/guilds/%s/profile/%s", p.id, bob->id),
                "{'nick': 'C'}");
    expect_guild_event(&p, 0, "GUILD_MEMBER_UPDATE", "{'nick': 'C'}");
    expect_error(client_patch(ada, "{'nick': 'D'}", "/guilds/%s/profile/%s", p.id, bob->id), 403,
                 50013);
    expect_error(client_patch(ada, "{'nick': 'D'}", "/guilds/%s/profile/%s", p.id, eve->id), 404,
                 10007);
    expect_error(client_patch(eve, "{'nick': 'D'}", "/guilds/%s/profile/@me", p.id), 403, 50001);
    expect_guild_silence(&p);
}

static void member_avatar_and_banner_are_stored_and_served(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    struct test_guild p = world_test_guild(w, ada);
    char body[400], path[200];

    snprintf(body, sizeof body, "{'avatar': '%s', 'banner': '%s'}", PNG, PNG);
    struct answer a = client_patch(ada, body, "/guilds/%s/members/@me", p.id);
    expect_status(a, 200);
    snprintf(path, sizeof path, "/guilds/%s/users/%s/avatars/%s.png", p.id, ada->id,
             answer_text(a, "avatar"));
    struct answer picture = client_request(ada, "GET", path, "", STR(""));
    expect_status(picture, 200);
    expect(str_is(answer_header(picture, "Content-Type"), "image/png"));
    snprintf(path, sizeof path, "/guilds/%s/users/%s/banners/%s.png", p.id, ada->id,
             answer_text(a, "banner"));
    expect_status(client_request(ada, "GET", path, "", STR("")), 200);
    /* Images of non-members are not stored. */
    expect_error(client_patch(eve, body, "/guilds/%s/members/@me", p.id), 403, 50001);
    snprintf(path, sizeof path, "/guilds/%s/users/%s/avatars/%s.png", p.id, eve->id,
             answer_text(a, "avatar"));
    expect_status(client_request(ada, "GET", path, "", STR("")), 404);
    expect_invalid(client_request(ada, "GET", "/guilds/x/users/5/avatars/y.png", "", STR("")),
                   "guild_id", "NUMBER_TYPE_COERCE");
    a = client_patch(ada, "{'avatar': null}", "/guilds/%s/members/@me", p.id);
    expect_json(a, "{'avatar': null}");
    expect_invalid(client_patch(ada, "{'avatar': 'x'}", "/guilds/%s/members/@me", p.id), "avatar",
                   "IMAGE_INVALID");
}

/* --- roles ---------------------------------------------------------------------------- */

static void adding_a_role_requires_manage_roles_and_a_higher_role(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *mod = world_client(w, "mod"),
                  *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    const char *own = test_guild_add_with(&p, mod, 5, PERMISSION(MANAGE_ROLES));
    const char *low = test_guild_role(&p, 2, 0), *high = test_guild_role(&p, 6, 0),
               *managed = test_guild_role(&p, 1, 0);
    test_guild_add(&p, bob);
    world_sql(w, "update roles set managed = 1 where id = %s", managed);

    expect_status(client_put(mod, "{}", "/guilds/%s/members/%s/roles/%s", p.id, bob->id, low), 204);
    expect_guild_event(&p, 0, "GUILD_MEMBER_UPDATE", "{'roles': ['%s']}", low);
    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 25}");
    expect_status(client_put(mod, "{}", "/guilds/%s/members/%s/roles/%s", p.id, bob->id, low), 204);
    expect_guild_silence(&p);

    expect_error(client_put(mod, "{}", "/guilds/%s/members/%s/roles/%s", p.id, bob->id, high), 403,
                 50013);
    expect_error(client_put(mod, "{}", "/guilds/%s/members/%s/roles/%s", p.id, bob->id, own), 403,
                 50013);
    expect_error(client_put(mod, "{}", "/guilds/%s/members/%s/roles/%s", p.id, bob->id, managed),
                 400, 50028);
    expect_error(client_put(mod, "{}", "/guilds/%s/members/%s/roles/%s", p.id, bob->id, p.id), 400,
                 50028);
    expect_error(client_put(mod, "{}", "/guilds/%s/members/%s/roles/99", p.id, bob->id), 404,
                 10011);
    expect_error(client_put(bob, "{}", "/guilds/%s/members/%s/roles/%s", p.id, bob->id, low), 403,
                 50013);
    expect_error(client_put(mod, "{}", "/guilds/%s/members/%s/roles/%s", p.id, ada->id, low), 403,
                 50013);
    expect_guild_silence(&p);

    expect_status(client_delete(mod, "/guilds/%s/members/%s/roles/%s", p.id, bob->id, low), 204);
    expect_guild_event(&p, 0, "GUILD_MEMBER_UPDATE", "{'roles': []}");
    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 25}");
    expect_status(client_delete(mod, "/guilds/%s/members/%s/roles/%s", p.id, bob->id, low), 204);
    expect_guild_silence(&p);
    /* Members may remove their own lower roles. */
    test_guild_give(&p, mod, low);
    expect_status(client_delete(mod, "/guilds/%s/members/@me/roles/%s", p.id, low), 204);
}

static void patching_member_roles_checks_only_changed_roles(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *mod = world_client(w, "mod"),
                  *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add_with(&p, mod, 5, PERMISSION(MANAGE_ROLES));
    const char *low = test_guild_role(&p, 2, 0), *managed = test_guild_role(&p, 1, 0),
               *high = test_guild_role(&p, 6, 0);
    char body[200];

    test_guild_add(&p, bob);
    world_sql(w, "update roles set managed = 1 where id = %s", managed);
    test_guild_give(&p, bob, managed);
    /* A managed role that stays is no change. */
    snprintf(body, sizeof body, "{'roles': ['%s', '%s', '%s']}", low, managed, low);
    struct answer a = client_patch(mod, body, "/guilds/%s/members/%s", p.id, bob->id);
    expect_status(a, 200);
    expect(dom_at(a.json, "roles")->count == 2);
    expect_guild_event(&p, 0, "GUILD_MEMBER_UPDATE", "{'user': {'id': '%s'}}", bob->id);
    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 25}");
    expect_status(client_patch(mod, body, "/guilds/%s/members/%s", p.id, bob->id), 200);
    expect_guild_silence(&p);

    expect_error(client_patch(mod, "{'roles': []}", "/guilds/%s/members/%s", p.id, bob->id), 400,
                 50028);
    /* Roles of a higher member or of the owner cannot be removed. */
    struct client *cleo = world_client(w, "cleo");
    test_guild_add_with(&p, cleo, 5, PERMISSION(MANAGE_ROLES));
    test_guild_give(&p, cleo, test_guild_role(&p, 7, 0));
    snprintf(body, sizeof body, "{'roles': ['%s']}", low);
    expect_error(client_patch(mod, body, "/guilds/%s/members/%s", p.id, cleo->id), 403, 50013);
    test_guild_give(&p, ada, low);
    expect_error(client_patch(mod, "{'roles': []}", "/guilds/%s/members/%s", p.id, ada->id), 403,
                 50013);
    expect_guild_silence(&p);
    snprintf(body, sizeof body, "{'roles': ['%s', '%s']}", managed, high);
    expect_error(client_patch(mod, body, "/guilds/%s/members/%s", p.id, bob->id), 403, 50013);
    expect_error(client_patch(mod, "{'roles': ['5']}", "/guilds/%s/members/%s", p.id, bob->id), 404,
                 10011);
    expect_error(client_patch(bob, "{'roles': []}", "/guilds/%s/members/%s", p.id, bob->id), 403,
                 50013);
    expect_invalid(client_patch(mod, "{'roles': ['x']}", "/guilds/%s/members/%s", p.id, bob->id),
                   "roles.0", "NUMBER_TYPE_COERCE");
    expect_guild_silence(&p);
}

/* --- time-outs, voice, flags ---------------------------------------------------------- */

static struct answer put_member_into_timeout(struct client *c, struct test_guild *p,
                                             struct client *who, double days)
{
    char body[100], when[TIMESTAMP_TEXT_SIZE];

    timestamp_format(clock_us() + (int64_t)(days * 86400e6), when);
    snprintf(body, sizeof body, "{'communication_disabled_until': '%s'}", when);
    return client_patch(c, body, "/guilds/%s/members/%s", p->id, who->id);
}

static void time_out_requires_moderate_members_and_28_days_at_most(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *mod = world_client(w, "mod"),
                  *bob = world_client(w, "bob"), *admin = world_client(w, "ruler");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add_with(&p, mod, 5, PERMISSION(MODERATE_MEMBERS));
    test_guild_add_with(&p, admin, 1, PERMISSION(ADMINISTRATOR));
    test_guild_add(&p, bob);

    expect_status(put_member_into_timeout(mod, &p, bob, 27.9), 200);
    expect_guild_event(&p, 0, "GUILD_MEMBER_UPDATE", "{'user': {'id': '%s'}}", bob->id);
    expect_error(client_patch(bob, "{'nick': 'x'}", "/guilds/%s/members/@me", p.id), 403, 50013);
    world_wait(w, 28 * 86400);
    expect_status(client_patch(bob, "{'nick': 'x'}", "/guilds/%s/members/@me", p.id), 200);

    expect_invalid(put_member_into_timeout(mod, &p, bob, 28.1), "communication_disabled_until",
                   "NUMBER_TYPE_MAX");
    expect_error(put_member_into_timeout(mod, &p, admin, 1), 403, 50013);
    expect_error(put_member_into_timeout(mod, &p, ada, 1), 403, 50013);
    expect_error(put_member_into_timeout(mod, &p, mod, 1), 403, 50013);
    expect_error(put_member_into_timeout(bob, &p, mod, 1), 403, 50013);
    expect_status(put_member_into_timeout(mod, &p, bob, 1), 200);
    struct answer a = client_patch(mod, "{'communication_disabled_until': null}",
                                   "/guilds/%s/members/%s", p.id, bob->id);
    expect_json(a, "{'communication_disabled_until': null}");
    expect_invalid(client_patch(mod, "{'communication_disabled_until': 'soon'}",
                                "/guilds/%s/members/%s", p.id, bob->id),
                   "communication_disabled_until", "DATE_TIME_TYPE_PARSE");
}

static void members_not_in_voice_cannot_be_muted_or_moved(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *mod = world_client(w, "mod"),
                  *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add_with(&p, mod, 1,
                        PERMISSION(MUTE_MEMBERS) | PERMISSION(DEAFEN_MEMBERS) |
                            PERMISSION(MOVE_MEMBERS));
    test_guild_add(&p, bob);
    const char *const bodies[] = { "{'mute': true}", "{'deaf': true}", "{'channel_id': null}" };
    char body[100];

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        expect_error(client_patch(mod, bodies[i], "/guilds/%s/members/%s", p.id, bob->id), 400,
                     40032);
        expect_error(client_patch(bob, bodies[i], "/guilds/%s/members/%s", p.id, mod->id), 403,
                     50013);
    }
    snprintf(body, sizeof body, "{'channel_id': '%s'}", p.channel);
    expect_error(client_patch(mod, body, "/guilds/%s/members/%s", p.id, bob->id), 400, 50024);
    expect_error(client_patch(mod, "{'channel_id': '5'}", "/guilds/%s/members/%s", p.id, bob->id),
                 404, 10003);
    world_sql(w, "update channels set type = 2 where id = %s", p.channel);
    expect_error(client_patch(mod, body, "/guilds/%s/members/%s", p.id, bob->id), 400, 40032);
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, deny) values (%s, %s, 0, %llu)",
              p.channel, p.id, (unsigned long long)PERMISSION(CONNECT));
    expect_error(client_patch(mod, body, "/guilds/%s/members/%s", p.id, bob->id), 403, 50013);
}

static void only_the_bypass_verification_member_flag_can_be_set(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add(&p, bob);

    expect_json(client_patch(ada, "{'flags': 7}", "/guilds/%s/members/%s", p.id, bob->id),
                "{'flags': 4}");
    expect_error(client_patch(bob, "{'flags': 0}", "/guilds/%s/members/%s", p.id, bob->id), 403,
                 50013);
}

/* --- kicking -------------------------------------------------------------------------- */

static void kicking_a_member_requires_permission_and_a_higher_role(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *mod = world_client(w, "mod"),
                  *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    test_guild_add_with(&p, mod, 5, PERMISSION(KICK_MEMBERS));
    test_guild_add_with(&p, bob, 1, 0);

    expect_error(client_delete(bob, "/guilds/%s/members/%s", p.id, mod->id), 403, 50013);
    expect_error(client_delete(mod, "/guilds/%s/members/%s", p.id, ada->id), 403, 50013);
    expect_error(client_delete(mod, "/guilds/%s/members/%s", p.id, mod->id), 400, 50038);
    expect_error(client_delete(ada, "/guilds/%s/members/%s", p.id, ada->id), 400, 50038);
    expect_guild_silence(&p);

    expect_status(client_delete(mod, "/guilds/%s/members/%s", p.id, bob->id), 204);
    expect_guild_event(&p, 0, "GUILD_MEMBER_REMOVE",
                       "{'guild_id': '%s', 'user': {'id': '%s', 'username': 'bob'}}", p.id,
                       bob->id);
    expect_guild_event(&p, AUDIT, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 20}");
    expect_event(bob, "GUILD_DELETE", "{'id': '%s'}", p.id);
    expect_error(client_delete(mod, "/guilds/%s/members/%s", p.id, bob->id), 404, 10007);
    expect_error(client_get(bob, "/guilds/%s/members/%s", p.id, mod->id), 403, 50001);
    expect(world_number(w, "select member_count from guilds where id = %s", p.id) == 2);
    expect(world_number(w, "select count(*) from member_roles where user_id = %s", bob->id) == 0);
}

/* --- adding by apps ------------------------------------------------------------------- */

struct issue {
    struct world *world;
    struct token_to_issue grant;
    struct str token;
};

static enum err issue_token(struct tx *tx, void *arg)
{
    struct issue *i = arg;

    return auth_issue_token(guildhall_get_auth(world_server(i->world)), tx, &i->grant, &i->token);
}

/* Issues an access token of a user for application 77. */
static const char *issue_access_token(struct world *w, struct client *c, const char *scopes)
{
    struct issue i = { .world = w,
                       .grant = { .kind = CALLER_BEARER,
                                  .user_id = strtoull(c->id, NULL, 10),
                                  .application_id = 77,
                                  .scopes = str_of(scopes),
                                  .expires_at = clock_us() + 3600 * INT64_C(1000000) } };

    expect(!store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                           world_arena(w), issue_token, &i));
    return str_dup_cstring(world_arena(w), i.token);
}

static struct answer add_member(struct client *bot, struct test_guild *p, struct client *who,
                                const char *token, const char *more)
{
    char body[600];

    snprintf(body, sizeof body, "{'access_token': '%s'%s}", token, more);
    return client_put(bot, body, "/guilds/%s/members/%s", p->id, who->id);
}

static void bot_can_add_members_with_a_guilds_join_token(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot"),
                  *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    const char *low = test_guild_role(&p, 1, 0),
               *good = issue_access_token(w, bob, "identify guilds.join");
    char more[200];

    test_guild_add_with(&p, bot, 5, PERMISSION(CREATE_INSTANT_INVITE));
    world_sql(w, "update tokens set application_id = 77 where user_id = %s and kind = 2", bot->id);
    expect_error(add_member(bot, &p, bob, "nonsense", ""), 401, 50025);
    expect_error(add_member(bot, &p, bob, issue_access_token(w, ada, "guilds.join"), ""), 401,
                 50025);
    expect_error(add_member(bot, &p, bob, issue_access_token(w, bob, "identify"), ""), 403, 50026);
    expect_error(add_member(bot, &p, bob, good, ", 'nick': 'B'"), 403, 50013);
    expect_error(add_member(bot, &p, bob, good, ", 'mute': true"), 403, 50013);
    expect_error(add_member(bot, &p, bob, good, ", 'deaf': true"), 403, 50013);
    expect_error(add_member(bot, &p, bob, good, ", 'flags': 4"), 403, 50013);
    snprintf(more, sizeof more, ", 'nick': 'B', 'roles': ['%s']", low);
    expect_error(add_member(bot, &p, bob, good, more), 403, 50013);
    expect_error(add_member(ada, &p, bob, good, ""), 403, 20002);
    expect_invalid(client_put(bot, "{}", "/guilds/%s/members/%s", p.id, bob->id), "access_token",
                   "BASE_TYPE_REQUIRED");
    expect_error(client_put(bot, "{'access_token': 'x'}", "/guilds/%s/members/5", p.id), 404,
                 10013);

    test_guild_give(
        &p, bot, test_guild_role(&p, 4, PERMISSION(MANAGE_ROLES) | PERMISSION(MANAGE_NICKNAMES)));
    struct answer a = add_member(bot, &p, bob, good, more);
    expect_status(a, 201);
    expect_json(a, "{'nick': 'B', 'roles': ['%s'], 'user': {'id': '%s'}}", low, bob->id);
    expect_event(bob, "GUILD_CREATE", "{'id': '%s', 'member_count': 3, 'large': false}", p.id);
    expect_guild_event(&p, 0, "GUILD_MEMBER_ADD", "{'guild_id': '%s', 'nick': 'B'}", p.id);
    expect_status(add_member(bot, &p, bob, good, ""), 204);
    expect_guild_silence(&p);

    /* An empty nick is no nick. */
    struct client *cleo = world_client(w, "cleo");
    a = add_member(bot, &p, cleo, issue_access_token(w, cleo, "guilds.join"), ", 'nick': ''");
    expect_json(a, "{'nick': null, 'flags': 0}");
    struct client *dan = world_client(w, "dan");
    a = add_member(bot, &p, dan, issue_access_token(w, dan, "guilds.join"), ", 'flags': 4");
    expect_json(a, "{'flags': 4}");
    expect_json(client_get(ada, "/guilds/%s/members/%s", p.id, dan->id), "{'flags': 4}");
}

static void adding_a_member_with_another_apps_token_is_401_50025(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot"),
                  *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    const char *token = issue_access_token(w, bob, "guilds.join");

    test_guild_add_with(&p, bot, 5, PERMISSION(CREATE_INSTANT_INVITE));
    world_sql(w, "update tokens set application_id = 78 where user_id = %s and kind = 2", bot->id);
    expect_error(add_member(bot, &p, bob, token, ""), 401, 50025);
}

static void banned_users_or_expired_tokens_cannot_be_added(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot"),
                  *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);
    const char *token = issue_access_token(w, bob, "guilds.join");

    test_guild_add_with(&p, bot, 5, PERMISSION(CREATE_INSTANT_INVITE));
    world_sql(w, "update tokens set application_id = 77 where user_id = %s and kind = 2", bot->id);
    world_sql(w, "insert into bans (guild_id, user_id) values (%s, %s)", p.id, bob->id);
    expect_error(add_member(bot, &p, bob, token, ""), 403, 40007);
    world_sql(w, "delete from bans where guild_id = %s", p.id);
    world_wait(w, 3601);
    expect_error(add_member(bot, &p, bob, token, ""), 401, 50025);
}

static void join_request_list_of_a_guild_without_requests_is_empty(struct world *w)
{
    struct server_loop h = world_home(w, 0);

    expect_json(client_get(h.ada, "/guilds/%s/requests?status=SUBMITTED&limit=100", h.guild),
                "{'guild_join_requests': [], 'total': 0}");
    expect_error(client_get(h.bob, "/guilds/%s/requests", h.guild), 403, 50013);
    expect_invalid(client_get(h.ada, "/guilds/%s/requests?limit=101", h.guild), "limit",
                   "NUMBER_TYPE_MAX");
    expect_status(client_get(h.bob, "/guilds/%s/new-member-welcome", h.guild), 204);
    expect_error(client_get(world_client(w, "eve"), "/guilds/%s/new-member-welcome", h.guild), 403,
                 50001);
}

const struct test members_tests[] = {
    TEST(join_request_list_of_a_guild_without_requests_is_empty),
    TEST(reading_a_member_requires_membership),
    TEST(bots_list_members_by_user_id_in_pages),
    TEST(listing_members_requires_the_members_intent_flag),
    TEST(member_search_matches_prefixes_of_names_and_nicks),
    TEST(member_search_uses_current_names),
    TEST(global_name_change_is_sent_to_450_guilds_in_batches),
    TEST(timeout_mute_and_deaf_persist_after_rejoining),
    TEST(changing_nicks_requires_manage_nicknames_and_a_higher_role),
    TEST(members_with_equal_or_older_top_role_cannot_be_changed),
    TEST(members_can_change_their_own_nick),
    TEST(guild_profile_can_be_changed_only_by_its_owner),
    TEST(member_avatar_and_banner_are_stored_and_served),
    TEST(adding_a_role_requires_manage_roles_and_a_higher_role),
    TEST(patching_member_roles_checks_only_changed_roles),
    TEST(time_out_requires_moderate_members_and_28_days_at_most),
    TEST(members_not_in_voice_cannot_be_muted_or_moved),
    TEST(only_the_bypass_verification_member_flag_can_be_set),
    TEST(kicking_a_member_requires_permission_and_a_higher_role),
    TEST(bot_can_add_members_with_a_guilds_join_token),
    TEST(adding_a_member_with_another_apps_token_is_401_50025),
    TEST(banned_users_or_expired_tokens_cannot_be_added),
    { 0 },
};
