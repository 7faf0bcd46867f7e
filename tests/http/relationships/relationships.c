/* relationships.c - requesting, accepting, blocking and ending relationships, and their events. */
#include "people.h"

#include "apps.h"
#include "gateway_conn.h"

enum { NOTHING = -1, IGNORED = 0, FRIEND = 1, BLOCKED = 2, INCOMING = 3, OUTGOING = 4 };

#define PUT_TYPE(type) "{'type': " #type ", 'confirm_stranger_request': true}"

static void expect_relationship_types(struct client *a, struct client *b, int64_t mine,
                                      int64_t theirs)
{
    expect(type_of(a, b) == mine);
    expect(type_of(b, a) == theirs);
}

static void expect_no_gateway_events_for_anyone(struct people *p)
{
    expect_silence(p->ada);
    expect_silence(p->bob);
    expect_silence(p->eve);
}

/* --- requesting ----------------------------------------------------------------------- */

static void friend_request_sends_relationship_add_to_both_users(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    expect_status(client_put(p.ada, "{'note': 'we met'}", RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_event(p.ada, "RELATIONSHIP_ADD",
                 "{'id': '%s', 'type': 4, 'user': {'id': '%s', 'username': 'bob'}, 'nickname': "
                 "null, 'user_ignored': false, 'stranger_request': false, "
                 "'is_stranger_request': false, 'origin_application_id': null, 'note': 'we met'}",
                 p.bob->id, p.bob->id);
    expect_event(
        p.bob, "RELATIONSHIP_ADD",
        "{'id': '%s', 'type': 3, 'user': {'id': '%s', 'username': 'ada'}, 'nickname': "
        "null, 'user_ignored': false, 'is_spam_request': false, 'stranger_request': false, "
        "'should_notify': true, 'note': 'we met'}",
        p.ada->id, p.ada->id);
    expect_event(p.bob, "NOTIFICATION_CENTER_ITEM_CREATE",
                 "{'type': 'friend_request_pending', 'body': 'ada wants to be your friend', "
                 "'bundle_id': 'friend_request_pending-%s', 'deeplink': '/users/%s', "
                 "'other_user': {'id': '%s', 'username': 'ada'}, 'acked': false, 'completed': "
                 "false, 'disable_action': false, 'guild_id': null, 'message': null}",
                 p.ada->id, p.ada->id, p.ada->id);
    expect_no_gateway_events_for_anyone(&p);
    expect(type_of(p.ada, p.bob) == OUTGOING);
    expect(type_of(p.bob, p.ada) == INCOMING);
    expect(type_of(p.eve, p.ada) == NOTHING);
}

static void friend_request_by_username_works_like_by_id(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    expect_status(client_post(p.ada, "{'username': ' BOB ', 'discriminator': null}", RELATIONSHIPS),
                  204);
    expect_relationship(p.ada, "ADD", p.bob, OUTGOING);
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'id': '%s', 'type': 3, 'should_notify': true}",
                 p.ada->id);
    expect_notice(p.bob, REQUESTED, p.ada);
    expect_status(client_post(p.ada, "{'username': 'bob', 'discriminator': '0'}", RELATIONSHIPS),
                  204);
    expect_no_gateway_events_for_anyone(&p);
    expect_status(client_post(p.bob, "{'username': 'ada', 'discriminator': 0}", RELATIONSHIPS),
                  204);
    expect_relationship_types(p.ada, p.bob, FRIEND, FRIEND);
}

static void repeated_friend_request_changes_nothing(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    expect_status(client_put(p.ada, "{'note': 'one'}", RELATIONSHIPS "/%s", p.bob->id), 204);
    discard_received(w);
    expect_status(client_put(p.ada, "{'note': 'two'}", RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_no_gateway_events_for_anyone(&p);
    expect_json(client_get(p.bob, RELATIONSHIPS), "[{'type': 3, 'note': 'one'}, {'type': 1}]");
}

static void friend_request_back_accepts_the_request(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    ask_friend(p.ada, p.bob);
    expect_status(client_put(p.bob, NULL, RELATIONSHIPS "/%s", p.ada->id), 204);
    expect_event(p.bob, "RELATIONSHIP_ADD",
                 "{'id': '%s', 'type': 1, 'user': {'username': 'ada'}, 'is_spam_request': false, "
                 "'stranger_request': false, 'origin_application_id': null, 'nickname': null}",
                 p.ada->id);
    expect_event(p.ada, "RELATIONSHIP_ADD", "{'id': '%s', 'type': 1, 'should_notify': true}",
                 p.bob->id);
    expect_notice(p.ada, ACCEPTED, p.bob);
    expect_no_gateway_events_for_anyone(&p);
    expect_relationship_types(p.ada, p.bob, FRIEND, FRIEND);
    expect_error(client_put(p.ada, NULL, RELATIONSHIPS "/%s", p.bob->id), 400, 80007);
    expect_error(client_put(p.bob, PUT_TYPE(1), RELATIONSHIPS "/%s", p.ada->id), 400, 80007);
    expect_error(client_post(p.ada, "{'username': 'bob'}", RELATIONSHIPS), 400, 80007);
    expect_no_gateway_events_for_anyone(&p);
}

static void only_the_requested_user_can_accept(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    expect_error(client_put(p.ada, PUT_TYPE(1), RELATIONSHIPS "/%s", p.bob->id), 400, 80005);
    ask_friend(p.ada, p.bob);
    expect_error(client_put(p.ada, PUT_TYPE(1), RELATIONSHIPS "/%s", p.bob->id), 400, 80005);
    expect_status(client_put(p.bob, PUT_TYPE(1), RELATIONSHIPS "/%s", p.ada->id), 204);
    expect_relationship(p.bob, "ADD", p.ada, FRIEND);
    expect_event(p.ada, "RELATIONSHIP_ADD", "{'type': 1, 'should_notify': true}");
    expect_notice(p.ada, ACCEPTED, p.bob);
    expect_no_gateway_events_for_anyone(&p);
    block_user(p.bob, p.eve);
    expect_error(client_put(p.bob, PUT_TYPE(1), RELATIONSHIPS "/%s", p.eve->id), 400, 80005);
    expect_error(client_put(p.eve, PUT_TYPE(1), RELATIONSHIPS "/%s", p.bob->id), 400, 80005);
    expect_no_gateway_events_for_anyone(&p);
}

/* --- blocking ------------------------------------------------------------------------- */

static void blocking_sends_an_event_only_to_the_blocking_user(struct world *w)
{
    struct people p = world_people(w);

    expect_status(client_put(p.ada, PUT_TYPE(2), RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_event(p.ada, "RELATIONSHIP_ADD",
                 "{'id': '%s', 'type': 2, 'user': {'id': '%s'}, 'nickname': null}", p.bob->id,
                 p.bob->id);
    expect_no_gateway_events_for_anyone(&p);
    expect_relationship_types(p.ada, p.bob, BLOCKED, NOTHING);
    struct answer a = client_get(p.ada, RELATIONSHIPS);
    expect_absent(a, "0.is_spam_request");
    expect_absent(a, "0.stranger_request");
    expect_absent(a, "0.origin_application_id");
    expect_status(client_put(p.ada, PUT_TYPE(2), RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_no_gateway_events_for_anyone(&p);

    expect_status(client_put(p.bob, PUT_TYPE(2), RELATIONSHIPS "/%s", p.ada->id), 204);
    expect_relationship(p.bob, "ADD", p.ada, BLOCKED);
    expect_no_gateway_events_for_anyone(&p);
    expect_relationship_types(p.ada, p.bob, BLOCKED, BLOCKED);
    expect_status(client_delete(p.ada, RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_relationship(p.ada, "REMOVE", p.bob, BLOCKED);
    expect_no_gateway_events_for_anyone(&p);
    expect_relationship_types(p.ada, p.bob, NOTHING, BLOCKED);
}

static void blocking_ends_friendships_and_requests(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    ask_and_accept(p.ada, p.bob);
    expect_status(client_put(p.ada, PUT_TYPE(2), RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_relationship(p.ada, "ADD", p.bob, BLOCKED);
    expect_relationship(p.bob, "REMOVE", p.ada, FRIEND);
    expect_status(client_delete(p.ada, RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_relationship(p.ada, "REMOVE", p.bob, BLOCKED);
    expect_no_gateway_events_for_anyone(&p);
    expect_relationship_types(p.ada, p.bob, NOTHING, NOTHING);

    ask_friend(p.ada, p.bob);
    expect_status(client_put(p.ada, PUT_TYPE(2), RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_relationship(p.ada, "ADD", p.bob, BLOCKED);
    expect_relationship(p.bob, "REMOVE", p.ada, INCOMING);
    expect_status(client_delete(p.ada, RELATIONSHIPS "/%s", p.bob->id), 204);
    discard_received(w);

    ask_friend(p.bob, p.ada);
    expect_status(client_put(p.ada, PUT_TYPE(2), RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_relationship(p.ada, "ADD", p.bob, BLOCKED);
    expect_relationship(p.bob, "REMOVE", p.ada, OUTGOING);
    expect_no_gateway_events_for_anyone(&p);
    expect_relationship_types(p.ada, p.bob, BLOCKED, NOTHING);
}

static void friend_requests_are_403_80001_across_a_block(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    block_user(p.ada, p.bob);
    expect_error(client_put(p.ada, NULL, RELATIONSHIPS "/%s", p.bob->id), 403, 80001);
    expect_error(client_put(p.bob, NULL, RELATIONSHIPS "/%s", p.ada->id), 403, 80001);
    expect_error(client_post(p.bob, "{'username': 'ada'}", RELATIONSHIPS), 403, 80001);
    block_user(p.bob, p.ada);
    expect_error(client_put(p.ada, NULL, RELATIONSHIPS "/%s", p.bob->id), 403, 80001);
    expect_no_gateway_events_for_anyone(&p);
}

static void bots_can_be_blocked_but_not_oneself(struct world *w)
{
    struct people p = world_people(w);
    struct client *bot = world_bot(w, "robot");

    expect_status(client_put(p.ada, PUT_TYPE(2), RELATIONSHIPS "/%s", bot->id), 204);
    expect_status(client_put(p.ada, NULL, RELATIONSHIPS "/%s/ignore", bot->id), 204);
    expect_error(client_put(p.ada, PUT_TYPE(2), RELATIONSHIPS "/%s", p.ada->id), 400, 50038);
    expect_error(client_put(p.ada, PUT_TYPE(2), RELATIONSHIPS "/1"), 404, 10013);
    /* The note is ignored for blocks. */
    char note[200];
    memset(note, 'x', sizeof note - 1);
    note[sizeof note - 1] = '\0';
    expect_status(client_put(p.ada, TEXT(w, "{'type': 2, 'note': '%s'}", note), RELATIONSHIPS "/%s",
                             p.bob->id),
                  204);
    /* Other fields are ignored, too. */
    expect_status(client_put(p.ada,
                             "{'type': 2, 'confirm_stranger_request': 3, 'note': ['x'], "
                             "'from_friend_suggestion': 'x'}",
                             RELATIONSHIPS "/%s", p.bob->id),
                  204);
}

/* --- ending --------------------------------------------------------------------------- */

static void deleting_a_relationship_removes_both_sides(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    ask_and_accept(p.ada, p.bob);
    expect_status(client_delete(p.ada, RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_relationship(p.ada, "REMOVE", p.bob, FRIEND);
    expect_relationship(p.bob, "REMOVE", p.ada, FRIEND);
    expect_relationship_types(p.ada, p.bob, NOTHING, NOTHING);

    ask_friend(p.ada, p.bob);
    expect_status(client_delete(p.bob, RELATIONSHIPS "/%s", p.ada->id), 204);
    expect_relationship(p.bob, "REMOVE", p.ada, INCOMING);
    expect_relationship(p.ada, "REMOVE", p.bob, OUTGOING);
    expect_relationship_types(p.ada, p.bob, NOTHING, NOTHING);

    ask_friend(p.ada, p.bob);
    expect_status(client_delete(p.ada, RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_relationship(p.ada, "REMOVE", p.bob, OUTGOING);
    expect_relationship(p.bob, "REMOVE", p.ada, INCOMING);
    expect_relationship_types(p.ada, p.bob, NOTHING, NOTHING);
    expect_no_gateway_events_for_anyone(&p);
}

static void deleting_a_missing_relationship_is_204(struct world *w)
{
    struct people p = world_people(w);

    expect_status(client_delete(p.ada, RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_error(client_delete(p.ada, RELATIONSHIPS "/1"), 404, 10013);
    expect_invalid(client_delete(p.ada, RELATIONSHIPS "/bob"), "user_id", "NUMBER_TYPE_COERCE");
    block_user(p.bob, p.ada);
    expect_status(client_delete(p.ada, RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_relationship_types(p.ada, p.bob, NOTHING, BLOCKED);
    expect_no_gateway_events_for_anyone(&p);
}

static void relationship_remove_event_contains_no_user(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    ask_and_accept(p.ada, p.bob);
    client_connect(p.ada);
    expect_status(client_delete(p.bob, RELATIONSHIPS "/%s", p.ada->id), 204);
    const struct dom *d = expect_dispatch(p.ada->gate, "RELATIONSHIP_REMOVE", "{'type': 1}");
    expect(!dom_at(d, "user") && dom_at(d, "nickname") && dom_at(d, "since"));
}

static void one_sided_relationship_rows_are_repaired(struct world *w)
{
    struct people p = world_people(w);
    const char *add = "insert into relationships (user_id, target_id, type) values ($1, $2, $3)";

    introduce(p.ada, p.bob);
    store_write(w, add, BIND(v_client(p.ada), v_client(p.bob), v_int(INCOMING)));
    expect_status(client_delete(p.ada, RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_relationship_types(p.ada, p.bob, NOTHING, NOTHING);
    store_write(w, add, BIND(v_client(p.ada), v_client(p.bob), v_int(OUTGOING)));
    ask_friend(p.bob, p.ada);
    expect_relationship_types(p.ada, p.bob, INCOMING, OUTGOING);
}

/* --- lists ---------------------------------------------------------------------------- */

static void relationship_list_is_ordered_by_user_id(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    ask_friend(p.eve, p.ada);
    block_user(p.ada, p.bob);
    struct answer a = client_get(p.ada, RELATIONSHIPS);
    expect_json(a,
                "[{'id': '%s', 'type': 2}, {'id': '%s', 'type': 3, 'stranger_request': true}, "
                "{'type': 1}]",
                p.bob->id, p.eve->id);
    expect_absent(a, "0.should_notify");
    expect_absent(a, "0.has_played_game");
    expect(str_is(dom_at(a.json, "1.since")->text, "") == false);
    expect_json(client_get(p.eve, RELATIONSHIPS), "[{'id': '%s', 'type': 4}]", p.ada->id);
}

static void relationship_list_omits_disabled_users(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    ask_and_accept(p.ada, p.bob);
    store_write(w, "update users set disabled = 1 where id = $1", BIND(v_client(p.bob)));
    expect(type_of(p.ada, p.bob) == NOTHING);
    store_write(w, "update users set disabled = 0 where id = $1", BIND(v_client(p.bob)));
    expect(type_of(p.ada, p.bob) == FRIEND);
}

static void ready_contains_relationships_and_suggestion_count(struct world *w)
{
    struct people p = world_people(w);
    const char *app = make_application(p.ada, "chess");

    introduce(p.ada, p.bob);
    ask_and_accept(p.ada, p.bob);
    ask_friend(p.eve, p.ada);
    grant_application(p.bob, app);
    struct client *chess = application_for(p.ada, app, "relationships.write");
    expect_status(client_put(chess, NULL, "/users/@me/game-relationships/%s", p.bob->id), 204);
    store_write(w,
                "insert into friend_suggestions (user_id, suggested_id, source, score) values "
                "($1, $2, 'mutual', 3)",
                BIND(v_client(p.ada), v_client(p.eve)));
    struct gateway_conn *g = conn_open(p.ada, "v=10&encoding=json");
    expect_op(g, 10);
    conn_identify(g, "");
    const struct dom *ready = expect_op(g, 0);
    expect(dom_at(ready, "d.relationships")->count == 3);
    expect(str_is(dom_at(ready, "d.relationships.0.user.username")->text, "bob"));
    expect(str_is(dom_at(ready, "d.relationships.1.type")->text, "3"));
    expect(str_is(dom_at(ready, "d.game_relationships.0.application_id")->text, app));
    expect(str_is(dom_at(ready, "d.friend_suggestion_count")->text, "1"));
}

static void accepting_a_request_sends_the_new_friends_presence(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    ask_friend(p.ada, p.bob);
    client_connect(p.ada);
    client_connect(p.eve);
    expect_status(client_put(p.bob, NULL, RELATIONSHIPS "/%s", p.ada->id), 204);
    expect_event(p.ada, "RELATIONSHIP_ADD", "{'type': 1}");
    expect_notice(p.ada, ACCEPTED, p.bob);
    expect_silence(p.ada); /* bob is offline */
    expect_relationship(p.bob, "ADD", p.ada, FRIEND);
    expect_event(p.bob, "PRESENCE_UPDATE",
                 "{'user': {'id': '%s'}, 'status': 'online', 'activities': [], 'client_status': "
                 "{'web': 'online'}}",
                 p.ada->id);
    expect_silence(p.bob);
    expect_silence(p.eve);
}

/* --- applications --------------------------------------------------------------------- */

static void bearer_token_lists_friends_with_has_played_game(struct world *w)
{
    struct people p = world_people(w);
    const char *app = make_application(p.ada, "chess");
    struct client *third = introduce(p.ada, p.bob);
    struct client *reader = application_for(p.ada, app, "relationships.read");

    ask_and_accept(p.ada, p.bob);
    ask_friend(p.eve, p.ada);
    grant_application(p.bob, app);
    struct answer a = client_get(reader, RELATIONSHIPS);
    expect_json(a,
                "[{'id': '%s', 'type': 1, 'has_played_game': true}, {'id': '%s', 'type': 1, "
                "'has_played_game': false}]",
                p.bob->id, third->id);
    block_user(p.ada, p.bob);
    expect_json(client_get(reader, RELATIONSHIPS), "[{'id': '%s'}]", third->id);
    expect_error(client_put(reader, NULL, RELATIONSHIPS "/%s", p.eve->id), 403, 50026);
    expect_error(client_post(reader, "{'username': 'eve'}", RELATIONSHIPS), 403, 50026);
    expect_error(client_put(reader, NULL, RELATIONSHIPS "/%s/ignore", p.eve->id), 401, 0);
    expect_error(client_patch(reader, "{}", RELATIONSHIPS "/%s", p.eve->id), 401, 0);
    expect_error(client_get(application_for(p.ada, app, "relationships.write"), RELATIONSHIPS), 403,
                 50026);
}

static void friend_request_by_an_app_stores_origin_application_id(struct world *w)
{
    struct people p = world_people(w);
    const char *app = make_application(p.ada, "chess");
    struct client *writer = application_for(p.ada, app, "relationships.write");

    introduce(p.ada, p.bob);
    expect_status(client_put(writer, NULL, RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'type': 3, 'origin_application_id': '%s'}", app);
    expect_json(client_get(p.bob, RELATIONSHIPS),
                "[{'type': 3, 'origin_application_id': '%s'}, {'type': 1}]", app);
    expect_status(client_put(p.bob, NULL, RELATIONSHIPS "/%s", p.ada->id), 204);
    expect_json(client_get(p.ada, RELATIONSHIPS),
                "[{'type': 1, 'origin_application_id': '%s'}, {'type': 1}]", app);
    expect_status(client_delete(writer, RELATIONSHIPS "/%s", p.bob->id), 204);
    expect_relationship_types(p.ada, p.bob, NOTHING, NOTHING);
}

const struct test relationships_tests[] = {
    TEST(friend_request_sends_relationship_add_to_both_users),
    TEST(friend_request_by_username_works_like_by_id),
    TEST(repeated_friend_request_changes_nothing),
    TEST(friend_request_back_accepts_the_request),
    TEST(only_the_requested_user_can_accept),
    TEST(blocking_sends_an_event_only_to_the_blocking_user),
    TEST(blocking_ends_friendships_and_requests),
    TEST(friend_requests_are_403_80001_across_a_block),
    TEST(bots_can_be_blocked_but_not_oneself),
    TEST(deleting_a_relationship_removes_both_sides),
    TEST(deleting_a_missing_relationship_is_204),
    TEST(relationship_remove_event_contains_no_user),
    TEST(one_sided_relationship_rows_are_repaired),
    TEST(relationship_list_is_ordered_by_user_id),
    TEST(relationship_list_omits_disabled_users),
    TEST(ready_contains_relationships_and_suggestion_count),
    TEST(accepting_a_request_sends_the_new_friends_presence),
    TEST(bearer_token_lists_friends_with_has_played_game),
    TEST(friend_request_by_an_app_stores_origin_application_id),
    { 0 },
};
