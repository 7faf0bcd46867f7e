/* connections.c - connected accounts of other platforms, and integrations they give access to. */
#include "apps.h"
#include "gateway_conn.h"
#include "platforms.h"

#include <string.h>

#include "waits.h"

#define MINE "/users/@me/connections"

/* --- linking -------------------------------------------------------------------------- */

static void connection_is_created_with_a_code_and_sends_an_event(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    make_account(w, PLATFORM_A, "a1", "Ada on A");
    struct answer a = client_get(ada, "/connections/platform_a/authorize");
    expect_status(a, 200);
    const char *url = answer_text(a, "url");
    expect(strstr(url, "/connections/platform_a/link?state="));
    const char *state = strstr(url, "state=") + 6, *code = link_code(w, PLATFORM_A, "a1");
    a = client_post(ada, TEXT(w, "{'code': '%s', 'state': '%s'}", code, state),
                    "/connections/platform_a/callback");
    expect_status(a, 200);
    expect_json(a, "{'id': 'a1', 'type': 'platform_a', 'name': 'Ada on A', 'verified': true, "
                   "'revoked': false, 'visibility': 1, 'metadata_visibility': 1, "
                   "'friend_sync': false, 'show_activity': true, 'two_way_link': false, "
                   "'integrations': []}");
    expect_absent(a, "access_token");
    expect_event(ada, "USER_CONNECTIONS_UPDATE", "{'user_id': '%s'}", ada->id);
    expect_silence(ada);
    expect_json(client_get(ada, MINE), "[{'id': 'a1', 'integrations': []}]");
    /* Code and state can be used once. */
    expect_error(client_post(ada, TEXT(w, "{'code': '%s', 'state': '%s'}", code, state),
                             "/connections/platform_a/callback"),
                 400, 50012);
    expect_error(
        client_post(ada,
                    TEXT(w, "{'code': '%s', 'state': '%s'}", code, link_state(ada, "platform_a")),
                    "/connections/platform_a/callback"),
        400, 50147);
}

static void connection_state_is_bound_to_user_and_expires(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    const char *state = link_state(ada, "platform_a");

    make_account(w, PLATFORM_A, "a1", "x");
    make_account(w, PLATFORM_B, "a1", "x");
    const char *code = link_code(w, PLATFORM_A, "a1");
    const char *body = TEXT(w, "{'code': '%s', 'state': '%s'}", code, state);
    expect_error(client_post(eve, body, "/connections/platform_a/callback"), 400, 50012);
    expect_error(client_post(ada, body, "/connections/platform_b/callback"), 400, 50012);
    expect_error(
        client_post(ada, "{'code': 'x', 'state': 'y'}", "/connections/platform_a/callback"), 400,
        50012);
    world_wait(w, 601);
    expect_error(client_post(ada, body, "/connections/platform_a/callback"), 400, 50012);
    /* The refused requests above did not use up the code. */
    body = TEXT(w, "{'code': '%s', 'state': '%s'}", code, link_state(ada, "platform_a"));
    world_wait(w, 599);
    expect_status(client_post(ada, body, "/connections/platform_a/callback"), 200);
}

static void connection_code_expires_after_a_day(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    make_account(w, PLATFORM_A, "a1", "x");
    const char *code = link_code(w, PLATFORM_A, "a1");
    world_wait(w, 86401);
    expect_error(
        client_post(ada,
                    TEXT(w, "{'code': '%s', 'state': '%s'}", code, link_state(ada, "platform_a")),
                    "/connections/platform_a/callback"),
        400, 50147);
    expect(client_get(ada, MINE).json->count == 0);
}

static void unknown_platform_in_connection_paths_is_404_10010(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");

    expect_error(client_get(ada, "/connections/service/authorize"), 404, 10010);
    expect_error(client_post(ada, "{'code': 'a', 'state': 'b'}", "/connections/x/callback"), 404,
                 10010);
    expect_error(client_delete(ada, MINE "/x/y"), 404, 10010);
    expect_error(client_delete(ada, MINE "/platform_a/y"), 404, 10017);
    expect_error(client_patch(ada, "{'visibility': 9}", MINE "/platform_a/y"), 404, 10017);
    expect_error(client_post(ada, NULL, MINE "/platform_a/y/refresh"), 404, 10017);
    expect_invalid(client_post(ada, "{}", "/connections/platform_a/callback"), "code",
                   "BASE_TYPE_REQUIRED");
    expect_error(client_get(bot, "/connections/platform_a/authorize"), 403, 20001);
    expect_error(client_get(bot, MINE), 403, 20001);
}

static void user_is_limited_to_50_connections(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 49; i++)
        world_sql(w,
                  "insert into connections (user_id, type, id, name, created_at) values "
                  "(%s, 'platform_b', 'b%d', 'x', 1)",
                  ada->id, i);
    link_new(ada, PLATFORM_A, "a50");
    make_account(w, PLATFORM_A, "a51", "x");
    const char *code = link_code(w, PLATFORM_A, "a51");
    expect_error(
        client_post(ada,
                    TEXT(w, "{'code': '%s', 'state': '%s'}", code, link_state(ada, "platform_a")),
                    "/connections/platform_a/callback"),
        400, 30009);
    /* An existing connection may be linked again. */
    link_account(ada, PLATFORM_A, "a50");
    expect(client_get(ada, MINE).json->count == 50);
}

static void connection_moves_to_the_user_who_linked_it_last(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    link_new(ada, PLATFORM_A, "shared");
    expect_event(ada, "USER_CONNECTIONS_UPDATE", "{}");
    link_account(bob, PLATFORM_A, "shared");
    expect_event(ada, "USER_CONNECTIONS_UPDATE", "{'user_id': '%s'}", ada->id);
    expect_event(bob, "USER_CONNECTIONS_UPDATE", "{'user_id': '%s'}", bob->id);
    expect(client_get(ada, MINE).json->count == 0);
    expect_json(client_get(bob, MINE), "[{'id': 'shared'}]");
}

static void connection_can_be_created_on_the_link_page(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    const char *state = link_state(ada, "platform_a");

    make_account(w, PLATFORM_A, "a1", "Ada");
    const char *page = TEXT(w, "/connections/platform_a/link?state=%s", state);
    struct answer a = client_request(nobody, "GET", page, "", STR(""));
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "text/html; charset=utf-8"));
    expect(answer_header(a, "Content-Security-Policy").p);
    /* The page shows the account that will get the connection. */
    expect(strstr(a.body.p, "<strong>ada</strong>") && strstr(a.body.p, state));

    const char *form = "Content-Type: application/x-www-form-urlencoded\r\n";
    struct str wrong = str_printf(world_arena(w), "state=%s&code=nonsense", state);
    a = client_request(nobody, "POST", "/connections/platform_a/link", form, wrong);
    expect_status(a, 400);
    expect(strstr(a.body.p, "Unknown code"));
    struct str right =
        str_printf(world_arena(w), "state=%s&code=+%s", state, link_code(w, PLATFORM_A, "a1"));
    a = client_request(nobody, "POST", "/connections/platform_a/link", form, right);
    expect_status(a, 200);
    expect(strstr(a.body.p, "Connected"));
    expect_event(ada, "USER_CONNECTIONS_UPDATE", "{'user_id': '%s'}", ada->id);
    expect_json(client_get(ada, MINE), "[{'id': 'a1'}]");
    expect_status(client_request(nobody, "GET", page, "", STR("")), 400);
    expect_status(client_request(nobody, "POST", "/connections/platform_a/link", form, right), 400);
    expect_status(client_request(nobody, "GET", "/connections/x/link", "", STR("")), 404);
}

/* The page escapes values from the query. */
static void connection_link_page_escapes_html(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    struct answer a =
        client_request(nobody, "GET",
                       TEXT(w, "/connections/platform_a/link?state=%s&code=%%22%%3E%%3Cscript%%3E",
                            link_state(ada, "platform_a")),
                       "", STR(""));

    expect_status(a, 200);
    expect(!strstr(a.body.p, "<script>") && strstr(a.body.p, "&quot;&gt;&lt;script&gt;"));
}

/* --- use of connections --------------------------------------------------------------- */

static void changing_a_connection_sends_an_event(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    link_new(ada, PLATFORM_A, "a1");
    expect_event(ada, "USER_CONNECTIONS_UPDATE", "{}");
    expect_json(client_patch(ada,
                             "{'visibility': 0, 'metadata_visibility': 0, 'show_activity': false}",
                             MINE "/platform_a/a1"),
                "{'id': 'a1', 'visibility': 0, 'metadata_visibility': 0, 'show_activity': false}");
    expect_event(ada, "USER_CONNECTIONS_UPDATE", "{'user_id': '%s'}", ada->id);
    expect_json(client_get(ada, MINE), "[{'visibility': 0, 'show_activity': false}]");
    expect_invalid(client_patch(ada, "{'visibility': 2}", MINE "/platform_a/a1"), "visibility",
                   "NUMBER_TYPE_MAX");
    expect_invalid(client_patch(ada, "{'visibility': -1}", MINE "/platform_a/a1"), "visibility",
                   "NUMBER_TYPE_MIN");
    expect_silence(ada);
}

static void refreshing_a_connection_updates_name_and_revoked(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    link_new(ada, PLATFORM_A, "a1");
    make_account(w, PLATFORM_A, "a1", "New Name");
    expect_status(client_post(ada, NULL, MINE "/platform_a/a1/refresh"), 204);
    expect_json(client_get(ada, MINE), "[{'name': 'New Name', 'revoked': false}]");
    world_sql(w, "delete from platform_account");
    expect_status(client_post(ada, NULL, MINE "/platform_a/a1/refresh"), 204);
    expect_json(client_get(ada, MINE), "[{'name': 'New Name', 'revoked': true}]");
}

static void bearer_token_lists_connections_without_integrations(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct client *app = world_token(w, ada, CALLER_BEARER, "connections", 0);

    link_new(ada, PLATFORM_A, "a1");
    struct answer a = client_get(app, MINE);
    expect_json(a, "[{'id': 'a1'}]");
    expect_absent(a, "0.integrations");
    expect_error(client_get(world_token(w, ada, CALLER_BEARER, "identify", 0), MINE), 403, 50026);
}

static void ready_contains_connected_accounts(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    link_new(ada, PLATFORM_A, "a1");
    struct gateway_conn *g = conn_open(ada, "v=10&encoding=json");
    expect_op(g, 10);
    conn_identify(g, "'intents': 0");
    expect_dispatch(g, "READY",
                    "{'connected_accounts': [{'id': 'a1', 'type': 'platform_a', "
                    "'integrations': []}]}");
}

static void friend_sync_reads_the_platforms_friends(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    make_account(w, PLATFORM_A, "bob", "Bob");
    link_new(ada, PLATFORM_A, "a1");
    acquaint(w, PLATFORM_A, "a1", "bob");
    world_settle(w);
    expect(store_count(w, "select count(*) from connection_friends") == 0);
    expect_status(client_patch(ada, "{'friend_sync': true}", MINE "/platform_a/a1"), 200);
    expect_number(w, 1, "select count(*) from connection_friends where friend_id = 'bob'");
    expect_number(w, 0, "select count(*) from jobs where kind = 'connection-friends'");
    world_sql(w, "delete from platform_friend");
    expect_status(client_post(ada, NULL, MINE "/platform_a/a1/refresh"), 204);
    expect_number(w, 0, "select count(*) from connection_friends");
    acquaint(w, PLATFORM_A, "a1", "bob");
    expect_status(client_post(ada, NULL, MINE "/platform_a/a1/refresh"), 204);
    expect_number(w, 1, "select count(*) from connection_friends");
    expect_status(client_patch(ada, "{'friend_sync': false}", MINE "/platform_a/a1"), 200);
    expect(store_count(w, "select count(*) from connection_friends") == 0);
}

/* A refresh requested while an earlier one ends is not lost. */
static void every_connection_refresh_reads_the_current_friends(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    make_account(w, PLATFORM_A, "bob", "Bob");
    link_new(ada, PLATFORM_A, "a1");
    expect_status(client_patch(ada, "{'friend_sync': true}", MINE "/platform_a/a1"), 200);
    for (int i = 0; i < 4; i++) {
        acquaint(w, PLATFORM_A, "a1", "bob");
        expect_status(client_post(ada, NULL, MINE "/platform_a/a1/refresh"), 204);
        expect_number(w, 1, "select count(*) from connection_friends");
        world_sql(w, "delete from platform_friend");
        expect_status(client_post(ada, NULL, MINE "/platform_a/a1/refresh"), 204);
        expect_number(w, 0, "select count(*) from connection_friends");
    }
}

/* Ada and bob are friends on the platform, and ada gets a suggestion. */
static void expect_bob_in_friend_suggestions(struct client *ada, struct client *bob)
{
    expect_status(client_patch(ada, "{'friend_sync': true}", MINE "/platform_a/a1"), 200);
    expect_number(ada->world, 1,
                  "select count(*) from friend_suggestions where source = 'platform_a'");
    expect_event(ada, "USER_CONNECTIONS_UPDATE", "{}");
    expect_event(ada, "FRIEND_SUGGESTION_CREATE",
                 "{'suggested_user': {'id': '%s'}, 'reasons': [{'type': 1, 'platform': "
                 "'platform_a', 'platform_type': 'platform_a', 'name': 'bob'}]}",
                 bob->id);
    expect_event(ada, "NOTIFICATION_CENTER_ITEM_CREATE",
                 "{'type': 'friend_suggestion_created', 'other_user': {'id': '%s'}}", bob->id);
    expect_silence(ada);
    expect_silence(bob);
}

static void friend_sync_creates_and_removes_friend_suggestions(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");

    link_new(ada, PLATFORM_A, "a1");
    link_new(bob, PLATFORM_A, "b1");
    link_new(eve, PLATFORM_A, "e1");
    expect_status(client_patch(bob, "{'friend_sync': true}", MINE "/platform_a/b1"), 200);
    expect_number(w, 0, "select count(*) from jobs where kind = 'connection-friends'");
    acquaint(w, PLATFORM_A, "a1", "b1");
    acquaint(w, PLATFORM_A, "a1", "e1"); /* without friend_sync */
    discard_received(w);
    expect_bob_in_friend_suggestions(ada, bob);

    expect_status(client_patch(ada, "{'friend_sync': false}", MINE "/platform_a/a1"), 200);
    expect_event(ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", bob->id);
    expect_event(ada, "USER_CONNECTIONS_UPDATE", "{}");
    expect_json(client_get(ada, "/friend-suggestions"), "[]");

    /* Bob disables friend_sync. */
    expect_bob_in_friend_suggestions(ada, bob);
    expect_status(client_patch(bob, "{'friend_sync': false}", MINE "/platform_a/b1"), 200);
    expect_event(ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", bob->id);
    expect_silence(ada);
    expect_status(client_patch(bob, "{'friend_sync': true}", MINE "/platform_a/b1"), 200);
    expect_number(w, 1, "select count(*) from friend_suggestions");
    expect_number(w, 0, "select count(*) from jobs where kind = 'connection-friends'");
    expect_status(client_patch(ada, "{'friend_sync': false}", MINE "/platform_a/a1"), 200);
    discard_received(w);

    expect_bob_in_friend_suggestions(ada, bob);
    expect_status(client_delete(ada, MINE "/platform_a/a1"), 204);
    expect_event(ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", bob->id);
    expect_event(ada, "USER_CONNECTIONS_UPDATE", "{}");
    expect_silence(ada);
    expect(store_count(w, "select count(*) from friend_suggestions") == 0);
}

static void linking_a_connection_gives_subscriber_roles_at_once(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *guild = found_guild(ada, "The Guild");

    put_member(guild, bob);
    link_new(ada, PLATFORM_A, "streamer");
    subscribe(w, PLATFORM_A, "streamer", "bob");
    const char *id = follow(ada, guild, PLATFORM_A, "streamer");
    expect(!has_role(guild, bob, role_of(w, id)));
    link_new(bob, PLATFORM_A, "bob");
    expect_received(w, audience_of_guild(id_of(guild)), "GUILD_MEMBER_UPDATE", "{'roles': ['%s']}",
                    role_of(w, id));
    expect_nothing_received(w); /* the integration itself has not changed */
    expect(has_role(guild, bob, role_of(w, id)));
    expect_json(client_get(bob, MINE),
                "[{'integrations': [{'id': '%s', 'type': 'platform_a', "
                "'account': {'id': 'streamer', 'name': 'ada'}, "
                "'guild': {'id': '%s', 'name': 'The Guild', 'icon': null}}]}]",
                id, guild);
    /* The account that is followed could join, too. */
    expect_json(client_get(ada, MINE), "[{'integrations': [{'id': '%s'}]}]", id);
    world_sql(w, "update integrations set enabled = 0");
    expect_json(client_get(bob, MINE), "[{'integrations': []}]");
}

static void connection_types_are_listed(struct world *w)
{
    expect_json(client_get(world_client(w, "ada"), "/connections"),
                "{'platform_a': {'enabled': true}, 'platform_b': {'enabled': true}}");
    expect_error(client_get(world_bot(w, "robot"), "/connections"), 403, 20001);
    expect_error(client_get(world_anonymous(w), "/connections"), 401, 0);
}

const struct test connections_tests[] = {
    TEST(connection_types_are_listed),
    TEST(connection_is_created_with_a_code_and_sends_an_event),
    TEST(connection_state_is_bound_to_user_and_expires),
    TEST(connection_code_expires_after_a_day),
    TEST(unknown_platform_in_connection_paths_is_404_10010),
    TEST(user_is_limited_to_50_connections),
    TEST(connection_moves_to_the_user_who_linked_it_last),
    TEST(connection_can_be_created_on_the_link_page),
    TEST(connection_link_page_escapes_html),
    TEST(changing_a_connection_sends_an_event),
    TEST(refreshing_a_connection_updates_name_and_revoked),
    TEST(bearer_token_lists_connections_without_integrations),
    TEST(ready_contains_connected_accounts),
    TEST(friend_sync_reads_the_platforms_friends),
    TEST(every_connection_refresh_reads_the_current_friends),
    TEST(friend_sync_creates_and_removes_friend_suggestions),
    TEST(linking_a_connection_gives_subscriber_roles_at_once),
    { 0 },
};
