/* game_relationships.c - game friends of applications. */
#include "people.h"

#include <stdlib.h>

#include "apps.h"

#define GAMES    "/users/@me/game-relationships"
#define SETTINGS "/users/@me/settings"

enum { NOTHING = -1, FRIEND = 1, INCOMING = 3, OUTGOING = 4 };

/* A game that ada, bob and eve have authorized, with access tokens of each of them. */
struct game_test {
    struct people p;
    const char *app;
    struct client *ada, *bob, *eve;
};

static struct game_test create_game_test(struct world *w)
{
    struct game_test t = { .p = world_people(w) };

    t.app = make_application(t.p.ada, "chess");
    struct client *people[] = { t.p.ada, t.p.bob, t.p.eve }, *apps[3];
    for (int i = 0; i < 3; i++) {
        grant_application(people[i], t.app);
        apps[i] = application_for(people[i], t.app, "relationships.read relationships.write");
    }
    t.ada = apps[0];
    t.bob = apps[1];
    t.eve = apps[2];
    discard_received(w);
    return t;
}

#define expect_game(c, event, other, type)                                                   \
    expect_event(c, "GAME_RELATIONSHIP_" event, "{'id': '%s', 'type': %d, 'user_id': '%s'}", \
                 (other)->id, type, (c)->id)

static void expect_no_gateway_events(const struct game_test *t)
{
    expect_silence(t->p.ada);
    expect_silence(t->p.bob);
    expect_silence(t->p.eve);
}

static int64_t game_relationship_type(struct client *c, const struct client *other)
{
    struct answer a = client_get(c, GAMES);

    expect_status(a, 200);
    for (size_t i = 0; i < a.json->count; i++)
        if (str_is(dom_at(&a.json->items[i], "id")->text, other->id))
            return strtoll(dom_at(&a.json->items[i], "type")->text.p, NULL, 10);
    return NOTHING;
}

/* --- requesting and accepting --------------------------------------------------------- */

static void game_friend_request_sends_events_to_both_users(struct world *w)
{
    struct game_test t = create_game_test(w);

    expect_status(client_put(t.ada, NULL, GAMES "/%s", t.p.bob->id), 204);
    expect_event(t.p.ada, "GAME_RELATIONSHIP_ADD",
                 "{'id': '%s', 'application_id': '%s', 'type': 4, 'user': {'username': 'bob'}, "
                 "'dm_access_type': 0, 'user_id': '%s'}",
                 t.p.bob->id, t.app, t.p.ada->id);
    expect_event(t.p.bob, "GAME_RELATIONSHIP_ADD",
                 "{'id': '%s', 'application_id': '%s', 'type': 3, 'user': {'username': 'ada'}, "
                 "'dm_access_type': 0, 'user_id': '%s'}",
                 t.p.ada->id, t.app, t.p.bob->id);
    expect_no_gateway_events(&t);
    /* A second request changes nothing; only bob can accept. */
    expect_status(client_put(t.ada, "{'type': -1}", GAMES "/%s", t.p.bob->id), 204);
    expect_status(client_post(t.ada, "{'username': 'bob'}", GAMES), 204);
    expect_error(client_put(t.ada, "{'type': 1}", GAMES "/%s", t.p.bob->id), 400, 80005);
    expect_no_gateway_events(&t);
    expect_status(client_put(t.bob, "{'type': 1}", GAMES "/%s", t.p.ada->id), 204);
    expect_game(t.p.bob, "ADD", t.p.ada, FRIEND);
    expect_game(t.p.ada, "ADD", t.p.bob, FRIEND);
    expect_notice(t.p.ada, "game_friend_request_accepted", t.p.bob);
    expect_no_gateway_events(&t);
    expect_error(client_put(t.ada, NULL, GAMES "/%s", t.p.bob->id), 400, 80007);
    expect_error(client_put(t.bob, "{'type': 1}", GAMES "/%s", t.p.ada->id), 400, 80007);
    expect_error(client_post(t.bob, "{'username': 'ada'}", GAMES), 400, 80007);
}

static void requesting_the_requester_accepts_a_game_friend_request(struct world *w)
{
    struct game_test t = create_game_test(w);

    expect_status(client_post(t.ada, "{'username': 'BOB'}", GAMES), 204);
    expect_status(client_post(t.bob, "{'username': 'ada'}", GAMES), 204);
    expect(game_relationship_type(t.p.ada, t.p.bob) == FRIEND &&
           game_relationship_type(t.p.bob, t.p.ada) == FRIEND);
    expect_status(client_put(t.eve, NULL, GAMES "/%s", t.p.bob->id), 204);
    expect_status(client_put(t.bob, NULL, GAMES "/%s", t.p.eve->id), 204);
    expect(game_relationship_type(t.p.eve, t.p.bob) == FRIEND);
}

static void game_friend_request_can_be_accepted_by_user_and_app_path(struct world *w)
{
    struct game_test t = create_game_test(w);

    expect_error(client_put(t.p.bob, NULL, GAMES "/%s/%s", t.p.ada->id, t.app), 400, 80005);
    expect_status(client_put(t.ada, NULL, GAMES "/%s", t.p.bob->id), 204);
    discard_received(w);
    expect_error(client_put(t.p.ada, NULL, GAMES "/%s/%s", t.p.bob->id, t.app), 400, 80005);
    expect_invalid(client_put(t.p.bob, "{'type': -1}", GAMES "/%s/%s", t.p.ada->id, t.app), "type",
                   "BASE_TYPE_CHOICES");
    expect_error(client_put(t.p.bob, NULL, GAMES "/%s/1", t.p.ada->id), 404, 10002);
    expect_error(client_put(t.p.bob, NULL, GAMES "/1/%s", t.app), 404, 10013);
    expect_error(client_put(t.bob, NULL, GAMES "/%s/%s", t.p.ada->id, t.app), 401, 0);
    expect_no_gateway_events(&t);
    expect_status(client_put(t.p.bob, "{'type': 1}", GAMES "/%s/%s", t.p.ada->id, t.app), 204);
    expect_game(t.p.bob, "ADD", t.p.ada, FRIEND);
    expect_game(t.p.ada, "ADD", t.p.bob, FRIEND);
    expect_notice(t.p.ada, "game_friend_request_accepted", t.p.bob);
    expect_error(client_put(t.p.bob, NULL, GAMES "/%s/%s", t.p.ada->id, t.app), 400, 80007);
    expect_no_gateway_events(&t);
}

static void game_requests_require_a_bearer_token_with_scope(struct world *w)
{
    struct game_test t = create_game_test(w);
    struct client *bot = application_bot(t.p.ada, t.app);
    struct client *reader = application_for(t.p.ada, t.app, "relationships.read");
    struct client *writer = application_for(t.p.ada, t.app, "relationships.write");

    expect_error(client_post(t.p.ada, "{'username': 'bob'}", GAMES), 403, 20062);
    expect_error(client_put(t.p.ada, NULL, GAMES "/%s", t.p.bob->id), 403, 20062);
    expect_error(client_delete(t.p.ada, GAMES "/%s", t.p.bob->id), 403, 20062);
    expect_error(client_get(bot, GAMES), 403, 20001);
    expect_error(client_put(bot, NULL, GAMES "/%s", t.p.bob->id), 403, 20001);
    expect_error(client_put(bot, NULL, GAMES "/%s/%s", t.p.bob->id, t.app), 403, 20001);
    expect_error(client_put(reader, NULL, GAMES "/%s", t.p.bob->id), 403, 50026);
    expect_error(client_get(writer, GAMES), 403, 50026);
    expect_no_gateway_events(&t);
}

static void invalid_game_friend_requests_are_refused(struct world *w)
{
    struct game_test t = create_game_test(w);
    struct client *bot = world_bot(w, "robot"), *zoe = world_client(w, "zoe");

    expect_error(client_post(t.ada, "{'username': 'nobody'}", GAMES), 400, 80004);
    expect_invalid(client_post(t.ada, "{}", GAMES), "username", "BASE_TYPE_REQUIRED");
    expect_error(client_put(t.ada, NULL, GAMES "/1"), 404, 10013);
    expect_error(client_put(t.ada, NULL, GAMES "/%s", t.p.ada->id), 400, 80003);
    expect_error(client_put(t.ada, NULL, GAMES "/%s", bot->id), 400, 80002);
    expect_error(client_put(t.ada, NULL, GAMES "/%s", zoe->id), 400, 80009);
    expect_invalid(client_put(t.ada, "{'type': 2}", GAMES "/%s", t.p.bob->id), "type",
                   "BASE_TYPE_CHOICES");
    block_user(t.p.bob, t.p.ada);
    expect_error(client_put(t.ada, NULL, GAMES "/%s", t.p.bob->id), 403, 80001);
    expect_error(client_put(t.bob, NULL, GAMES "/%s", t.p.ada->id), 403, 80001);
    expect_no_gateway_events(&t);
}

static void accepting_requires_both_users_to_have_the_game(struct world *w)
{
    struct game_test t = create_game_test(w);

    expect_status(client_put(t.ada, NULL, GAMES "/%s", t.p.bob->id), 204);
    discard_received(w);
    revoke_application(t.p.ada, t.app);
    expect_error(client_put(t.p.bob, NULL, GAMES "/%s/%s", t.p.ada->id, t.app), 400, 80011);
    /* The game does not list users who revoked it; users list their own. */
    expect(game_relationship_type(t.bob, t.p.ada) == NOTHING);
    expect(game_relationship_type(t.p.bob, t.p.ada) == INCOMING);
    grant_application(t.p.ada, t.app);
    revoke_application(t.p.bob, t.app);
    expect_error(client_put(t.p.bob, NULL, GAMES "/%s/%s", t.p.ada->id, t.app), 400, 80011);
    expect_no_gateway_events(&t);
}

static void game_relationships_of_two_apps_are_separate(struct world *w)
{
    struct game_test t = create_game_test(w);
    const char *other = make_application(t.p.ada, "go");

    grant_application(t.p.bob, other);
    struct client *go = application_for(t.p.ada, other, "relationships.read relationships.write");
    discard_received(w);
    expect_status(client_put(t.ada, NULL, GAMES "/%s", t.p.bob->id), 204);
    expect_status(client_put(go, NULL, GAMES "/%s", t.p.bob->id), 204);
    struct answer a = client_get(t.p.ada, GAMES);
    expect(a.json->count == 2);
    expect_json(a,
                "[{'application_id': '%s', 'user': {'username': 'bob'}}, {'application_id': "
                "'%s'}]",
                t.app, other);
    a = client_get(go, GAMES);
    expect_json(a, "[{'application_id': '%s', 'type': 4, 'user_id': '%s'}]", other, t.p.ada->id);
    expect_absent(a, "0.user");
    expect_error(client_put(t.p.bob, NULL, GAMES "/%s/%s", t.p.eve->id, other), 400, 80005);
    expect_status(client_delete(go, GAMES "/%s", t.p.bob->id), 204);
    expect(client_get(t.p.ada, GAMES).json->count == 1);
}

/* --- ending --------------------------------------------------------------------------- */

static void ending_a_game_friendship_sends_events_to_both_users(struct world *w)
{
    struct game_test t = create_game_test(w);

    expect_status(client_put(t.ada, NULL, GAMES "/%s", t.p.bob->id), 204);
    discard_received(w);
    const char *since = answer_text(client_get(t.p.ada, GAMES), "0.since");
    world_wait(w, 5);
    expect_status(client_delete(t.ada, GAMES "/%s", t.p.bob->id), 204);
    expect_event(t.p.ada, "GAME_RELATIONSHIP_REMOVE", "{'type': 4, 'since': '%s'}", since);
    expect_game(t.p.bob, "REMOVE", t.p.ada, INCOMING);
    expect_status(client_put(t.ada, NULL, GAMES "/%s", t.p.bob->id), 204);
    discard_received(w);
    expect_status(client_delete(t.p.bob, GAMES "/%s/%s", t.p.ada->id, t.app), 204);
    expect_game(t.p.bob, "REMOVE", t.p.ada, INCOMING);
    expect_game(t.p.ada, "REMOVE", t.p.bob, OUTGOING);
    expect_status(client_put(t.ada, NULL, GAMES "/%s", t.p.bob->id), 204);
    expect_status(client_put(t.bob, NULL, GAMES "/%s", t.p.ada->id), 204);
    discard_received(w);
    expect_status(client_delete(t.p.ada, GAMES "/%s/%s", t.p.bob->id, t.app), 204);
    expect_event(t.p.ada, "GAME_RELATIONSHIP_REMOVE",
                 "{'id': '%s', 'application_id': '%s', 'type': 1, 'dm_access_type': 0}",
                 t.p.bob->id, t.app);
    expect_game(t.p.bob, "REMOVE", t.p.ada, FRIEND);
    expect_status(client_delete(t.ada, GAMES "/%s", t.p.bob->id), 204);
    expect_status(client_delete(t.p.ada, GAMES "/%s/%s", t.p.bob->id, t.app), 204);
    expect_error(client_delete(t.p.ada, GAMES "/%s/1", t.p.bob->id), 404, 10002);
    expect_error(client_delete(t.ada, GAMES "/1"), 404, 10013);
    expect_no_gateway_events(&t);
    expect(store_count(w, "select count(*) from game_relationships") == 0);
}

static void blocking_ends_game_friendships_but_unfriending_does_not(struct world *w)
{
    struct game_test t = create_game_test(w);

    introduce(t.p.ada, t.p.bob);
    ask_and_accept(t.p.ada, t.p.bob);
    expect_status(client_put(t.ada, NULL, GAMES "/%s", t.p.bob->id), 204);
    expect_status(client_put(t.bob, NULL, GAMES "/%s", t.p.ada->id), 204);
    expect_status(client_put(t.eve, NULL, GAMES "/%s", t.p.ada->id), 204);
    expect_status(client_delete(t.p.ada, RELATIONSHIPS "/%s", t.p.bob->id), 204);
    expect(game_relationship_type(t.p.ada, t.p.bob) == FRIEND);
    discard_received(w);
    expect_status(client_put(t.p.bob, "{'type': 2}", RELATIONSHIPS "/%s", t.p.ada->id), 204);
    expect_relationship(t.p.bob, "ADD", t.p.ada, 2);
    expect_game(t.p.bob, "REMOVE", t.p.ada, FRIEND);
    expect_game(t.p.ada, "REMOVE", t.p.bob, FRIEND);
    expect_no_gateway_events(&t);
    expect(game_relationship_type(t.p.ada, t.p.bob) == NOTHING &&
           game_relationship_type(t.p.bob, t.p.ada) == NOTHING);
    expect(game_relationship_type(t.p.ada, t.p.eve) == INCOMING);
}

static void deleting_an_application_ends_its_game_friendships(struct world *w)
{
    struct game_test t = create_game_test(w);

    expect_status(client_put(t.eve, NULL, GAMES "/%s", t.p.bob->id), 204);
    discard_received(w);
    expect_status(client_post(t.p.ada, "{}", "/applications/%s/delete", t.app), 204);
    expect_event(t.p.bob, "USER_APPLICATION_REMOVE", "{}");
    expect_game(t.p.bob, "REMOVE", t.p.eve, INCOMING);
    expect_event(t.p.eve, "USER_APPLICATION_REMOVE", "{}");
    expect_game(t.p.eve, "REMOVE", t.p.bob, OUTGOING);
    expect(client_get(t.p.bob, GAMES).json->count == 0);
}

/* --- messages ------------------------------------------------------------------------- */

static void game_friend_dm_settings_decide_about_direct_messages(struct world *w)
{
    struct game_test t = create_game_test(w);
    const char *body = TEXT(w, "{'recipient_id': '%s'}", t.p.bob->id);
    const char *channel = answer_text(client_post(t.p.ada, body, "/users/@me/channels"), "id");
    const char *hello = "{'content': 'hello'}";

    expect_status(client_put(t.ada, NULL, GAMES "/%s", t.p.bob->id), 204);
    expect_status(client_put(t.bob, NULL, GAMES "/%s", t.p.ada->id), 204);
    expect_status(client_post(t.p.ada, hello, "/channels/%s/messages", channel), 200);
    client_patch(t.p.bob, "{'allow_game_friend_dms': false}", SETTINGS);
    expect_json(client_get(t.p.ada, GAMES), "[{'dm_access_type': 1}]");
    expect_json(client_get(t.p.bob, GAMES), "[{'dm_access_type': 0}]");
    expect_error(client_post(t.p.ada, hello, "/channels/%s/messages", channel), 403, 50251);
    expect_status(client_post(t.p.bob, hello, "/channels/%s/messages", channel), 200);
    client_patch(t.p.bob, "{'slayer_sdk_receive_dms_in_game': 3}", SETTINGS);
    expect_json(client_get(t.p.ada, GAMES), "[{'dm_access_type': 2}]");
    /* Users with another relation are not affected. */
    befriend(t.p.ada, t.p.bob);
    expect_status(client_post(t.p.ada, hello, "/channels/%s/messages", channel), 200);
}

static void game_friends_are_limited_per_user(struct world *w)
{
    struct game_test t = create_game_test(w);

    store_write(w,
                "insert into users (id, username) with recursive n(i) as (select "
                "cast($1 as bigint) union all select i + 1 from n where i < $2) "
                "select i, 'filler' || i from n",
                BIND(v_int(1001), v_int(11000)));
    store_write(w,
                "insert into game_relationships (user_id, target_id, application_id, type, since) "
                "select $1, id, $2, 1, 0 from users where id < 11000 and id > 1000",
                BIND(v_client(t.p.ada), v_id(id_of(t.app))));
    expect_status(client_put(t.ada, NULL, GAMES "/%s", t.p.bob->id), 204);
    expect_error(client_put(t.ada, NULL, GAMES "/%s", t.p.eve->id), 400, 30002);
    expect_error(client_put(t.eve, NULL, GAMES "/%s", t.p.ada->id), 400, 30002);
    expect_status(client_put(t.bob, NULL, GAMES "/%s", t.p.ada->id), 204);
}

const struct test game_relationships_tests[] = {
    TEST(game_friend_request_sends_events_to_both_users),
    TEST(requesting_the_requester_accepts_a_game_friend_request),
    TEST(game_friend_request_can_be_accepted_by_user_and_app_path),
    TEST(game_requests_require_a_bearer_token_with_scope),
    TEST(invalid_game_friend_requests_are_refused),
    TEST(accepting_requires_both_users_to_have_the_game),
    TEST(game_relationships_of_two_apps_are_separate),
    TEST(ending_a_game_friendship_sends_events_to_both_users),
    TEST(blocking_ends_game_friendships_but_unfriending_does_not),
    TEST(deleting_an_application_ends_its_game_friendships),
    TEST(game_friend_dm_settings_decide_about_direct_messages),
    TEST(game_friends_are_limited_per_user),
    { 0 },
};
