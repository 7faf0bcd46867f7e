/* ignore_nickname.c - ignoring users, nicknames, declining many requests, and effects of blocks. */
#include "people.h"

#include "apps.h"
#include "channels.h"
#include "gateway_conn.h"

#define THEM RELATIONSHIPS "/%s"

enum { NOTHING = -1, NONE = 0, FRIEND = 1, BLOCKED = 2, INCOMING = 3, OUTGOING = 4 };

static void unignore(struct client *a, struct client *b)
{
    expect_status(client_delete(a, THEM "/ignore", b->id), 204);
}

/* --- ignoring ------------------------------------------------------------------------- */

static void ignoring_a_user_without_relationship_creates_type_0(struct world *w)
{
    struct people p = world_people(w);

    expect_status(client_put(p.ada, NULL, THEM "/ignore", p.bob->id), 204);
    expect_event(p.ada, "RELATIONSHIP_ADD",
                 "{'id': '%s', 'type': 0, 'user': {'username': 'bob'}, 'user_ignored': true, "
                 "'nickname': null}",
                 p.bob->id);
    expect_status(client_put(p.ada, NULL, THEM "/ignore", p.bob->id), 204);
    expect_silence(p.ada);
    struct answer a = client_get(p.ada, RELATIONSHIPS);
    expect_json(a, "[{'id': '%s', 'type': 0, 'user_ignored': true}]", p.bob->id);
    expect(dom_at(a.json, "0.since") != NULL);
    expect_absent(a, "0.is_spam_request");
    expect_absent(a, "0.stranger_request");
    expect_absent(a, "0.origin_application_id");
    expect(type_of(p.bob, p.ada) == NOTHING);

    unignore(p.ada, p.bob);
    expect_event(p.ada, "RELATIONSHIP_REMOVE", "{'id': '%s', 'type': 0}", p.bob->id);
    unignore(p.ada, p.bob);
    expect_silence(p.ada);
    expect_silence(p.bob);
    expect(type_of(p.ada, p.bob) == NOTHING);
}

static void ignoring_does_not_change_the_relationship_type(struct world *w)
{
    struct people p = world_people(w);
    const int types[] = { FRIEND, INCOMING, OUTGOING, BLOCKED };

    introduce(p.ada, p.bob);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i] == FRIEND)
            ask_and_accept(p.ada, p.bob);
        else if (types[i] == INCOMING)
            ask_friend(p.bob, p.ada);
        else if (types[i] == OUTGOING)
            ask_friend(p.ada, p.bob);
        else
            block_user(p.ada, p.bob);
        expect_status(client_put(p.ada, NULL, THEM "/ignore", p.bob->id), 204);
        expect_event(p.ada, "RELATIONSHIP_UPDATE",
                     "{'id': '%s', 'type': %d, 'user_ignored': true, 'nickname': null}", p.bob->id,
                     types[i]);
        expect(type_of(p.ada, p.bob) == types[i]);
        unignore(p.ada, p.bob);
        expect_event(p.ada, "RELATIONSHIP_UPDATE", "{'type': %d, 'user_ignored': false}", types[i]);
        expect_silence(p.ada);
        expect_silence(p.bob);
        expect_status(client_delete(p.ada, THEM, p.bob->id), 204);
        discard_received(w);
    }
}

static void ignoring_oneself_or_an_unknown_user_is_refused(struct world *w)
{
    struct people p = world_people(w);

    expect_error(client_put(p.ada, NULL, THEM "/ignore", p.ada->id), 400, 50038);
    expect_error(client_delete(p.ada, THEM "/ignore", p.ada->id), 400, 50038);
    expect_error(client_put(p.ada, NULL, RELATIONSHIPS "/1/ignore"), 404, 10013);
    expect_error(client_delete(p.ada, RELATIONSHIPS "/1/ignore"), 404, 10013);
}

static void ignoring_persists_when_the_relationship_ends(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    ask_and_accept(p.ada, p.bob);
    ignore_them(p.ada, p.bob);
    ignore_them(p.bob, p.ada);
    expect_status(client_delete(p.ada, THEM, p.bob->id), 204);
    expect_relationship(p.ada, "REMOVE", p.bob, FRIEND);
    expect_event(p.ada, "RELATIONSHIP_ADD", "{'type': 0, 'user_ignored': true}");
    expect_relationship(p.bob, "REMOVE", p.ada, FRIEND);
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'type': 0, 'user_ignored': true}");
    expect_silence(p.ada);
    expect_silence(p.bob);
    expect(type_of(p.ada, p.bob) == NONE && type_of(p.bob, p.ada) == NONE);
    /* Deleting a missing relationship changes nothing. */
    expect_status(client_delete(p.ada, THEM, p.bob->id), 204);
    expect_silence(p.ada);
    /* A block keeps the ignored flags of both users. */
    ask_and_accept(p.ada, p.bob);
    expect_status(client_put(p.ada, "{'type': 2}", THEM, p.bob->id), 204);
    expect_event(p.ada, "RELATIONSHIP_ADD", "{'type': 2, 'user_ignored': true}");
    expect_relationship(p.bob, "REMOVE", p.ada, FRIEND);
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'type': 0, 'user_ignored': true}");
}

static void friend_request_of_an_ignored_user_sends_no_notification(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    ignore_them(p.bob, p.ada);
    client_connect(p.bob);
    client_put(p.ada, NULL, THEM, p.bob->id);
    struct answer a = client_get(p.bob, RELATIONSHIPS);
    expect_json(a, "[{'type': 3, 'user_ignored': true, 'is_spam_request': false}, {'type': 1}]");
    expect_unnoticed(p.bob, p.ada, "'user_ignored': true");
    expect(store_count(w, "select count(*) from relationships where ignored = 1") == 1);
    /* A user who ignores another may still send a request. */
    expect_status(client_delete(p.bob, THEM, p.ada->id), 204);
    discard_received(w);
    expect_relationship(p.bob, "REMOVE", p.ada, INCOMING);
    expect_relationship(p.bob, "ADD", p.ada, NONE);
    expect_status(client_put(p.bob, NULL, THEM, p.ada->id), 204);
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'type': 4, 'user_ignored': true}");
    expect_event(p.ada, "RELATIONSHIP_ADD", "{'type': 3, 'should_notify': true}");
}

/* --- nicknames ------------------------------------------------------------------------ */

static void friend_nickname_is_stored_and_sent(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    ask_and_accept(p.ada, p.bob);
    expect_status(client_patch(p.ada, "{'nickname': ' Bo '}", THEM, p.bob->id), 204);
    expect_event(p.ada, "RELATIONSHIP_UPDATE", "{'id': '%s', 'type': 1, 'nickname': 'Bo'}",
                 p.bob->id);
    expect_silence(p.ada);
    expect_silence(p.bob);
    expect_json(client_get(p.ada, RELATIONSHIPS), "[{'nickname': 'Bo'}, {'nickname': null}]");
    expect_json(client_get(p.bob, RELATIONSHIPS), "[{'nickname': null}, {'nickname': null}]");
    expect_status(client_patch(p.ada, "{}", THEM, p.bob->id), 204);
    expect_silence(p.ada);
    expect_status(client_patch(p.ada, "{'nickname': null}", THEM, p.bob->id), 204);
    expect_event(p.ada, "RELATIONSHIP_UPDATE", "{'nickname': null}");
}

static void friend_nickname_is_limited_to_32_characters(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    ask_and_accept(p.ada, p.bob);
    expect_status(
        client_patch(p.ada, "{'nickname': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}", THEM, p.bob->id),
        204);
    expect_event(p.ada, "RELATIONSHIP_UPDATE", "{'nickname': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}");
    expect_invalid(
        client_patch(p.ada, "{'nickname': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}", THEM, p.bob->id),
        "nickname", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_patch(p.ada, "{'nickname': ''}", THEM, p.bob->id), "nickname",
                   "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_patch(p.ada, "{'nickname': '  '}", THEM, p.bob->id), "nickname",
                   "BASE_TYPE_BAD_LENGTH");
    expect_silence(p.ada);
    expect_json(client_get(p.ada, RELATIONSHIPS),
                "[{'nickname': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}, {}]");
}

static void nickname_requires_a_friendship_and_ends_with_it(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    expect_error(client_patch(p.ada, "{'nickname': 'Bo'}", THEM, p.bob->id), 400, 80006);
    expect_error(client_patch(p.ada, "{'nickname': null}", THEM, p.bob->id), 400, 80006);
    expect_status(client_patch(p.ada, "{}", THEM, p.bob->id), 204);
    expect_error(client_patch(p.ada, "{}", RELATIONSHIPS "/1"), 404, 10013);
    ask_friend(p.ada, p.bob);
    expect_error(client_patch(p.ada, "{'nickname': 'Bo'}", THEM, p.bob->id), 400, 80006);
    ask_friend(p.bob, p.ada);
    expect_status(client_patch(p.ada, "{'nickname': 'Bo'}", THEM, p.bob->id), 204);
    block_user(p.ada, p.bob);
    expect_error(client_patch(p.ada, "{'nickname': 'Bo'}", THEM, p.bob->id), 400, 80006);
    expect_json(client_get(p.ada, RELATIONSHIPS), "[{'type': 2, 'nickname': null}, {}]");
    expect_status(client_delete(p.ada, THEM, p.bob->id), 204);
    ask_and_accept(p.ada, p.bob);
    expect_json(client_get(p.ada, RELATIONSHIPS), "[{'type': 1, 'nickname': null}, {}]");
}

/* --- declining many requests ---------------------------------------------------------- */

/* Requests to ada: one of a spammer, one of an ignored user, one of an ignored spammer, a plain
 * one, and one that she sent. */
struct request_set {
    struct client *ada, *spam, *ignored, *both, *plain, *asked;
};

static struct request_set create_requests(struct world *w)
{
    struct request_set c = { world_client(w, "ada"), NULL, NULL, NULL, NULL, NULL };

    c.ignored = world_client(w, "ignored");
    c.plain = world_client(w, "plain");
    c.asked = world_client(w, "asked");
    world_wait(w, 2 * 24 * 3600);
    c.spam = world_client(w, "spam");
    c.both = world_client(w, "both");
    ignore_them(c.ada, c.ignored);
    ignore_them(c.ada, c.both);
    ask_friend(c.spam, c.ada);
    ask_friend(c.ignored, c.ada);
    ask_friend(c.both, c.ada);
    ask_friend(c.plain, c.ada);
    ask_friend(c.ada, c.asked);
    return c;
}

static struct answer decline_requests(struct client *c, const char *query, const char *json)
{
    return client_request(c, "DELETE", TEXT(c->world, "/api/v10" RELATIONSHIPS "%s", query),
                          "Content-Type: application/json\r\n", str_of(json));
}

static void all_incoming_requests_can_be_declined_at_once(struct world *w)
{
    struct request_set c = create_requests(w);

    expect_status(client_delete(c.ada, RELATIONSHIPS), 204);
    /* In order of id; ignored users stay ignored. */
    expect_relationship(c.ada, "REMOVE", c.ignored, INCOMING);
    expect_relationship(c.ada, "ADD", c.ignored, NONE);
    expect_relationship(c.ada, "REMOVE", c.plain, INCOMING);
    expect_relationship(c.ada, "REMOVE", c.spam, INCOMING);
    expect_relationship(c.ada, "REMOVE", c.both, INCOMING);
    expect_relationship(c.ada, "ADD", c.both, NONE);
    expect_silence(c.ada);
    expect_relationship(c.spam, "REMOVE", c.ada, OUTGOING);
    expect_relationship(c.plain, "REMOVE", c.ada, OUTGOING);
    expect_silence(c.plain);
    expect_silence(c.asked);
    expect(type_of(c.ada, c.asked) == OUTGOING);
    expect(type_of(c.plain, c.ada) == NOTHING);
    expect_status(client_delete(c.ada, RELATIONSHIPS), 204);
    expect_silence(c.ada);
}

static void spam_requests_can_be_declined_alone(struct world *w)
{
    const char *queries[] = { "", "?only_spam=true", "?filters=1", "?relationship_type=3" };
    const char *bodies[] = { "{\"filters\":[1]}", "", "", "{\"filters\":[1,1]}" };
    struct request_set c = create_requests(w);

    for (size_t i = 0; i < 4; i++) {
        expect_status(decline_requests(c.ada, queries[i], bodies[i]), 204);
        expect(type_of(c.ada, c.spam) == NOTHING);
        expect(type_of(c.ada, c.both) == NONE);
        expect(type_of(c.ada, c.plain) == INCOMING);
        expect(type_of(c.ada, c.ignored) == INCOMING);
        ask_friend(c.spam, c.ada);
        ask_friend(c.both, c.ada);
    }
}

static void decline_filters_are_combined_with_and(struct world *w)
{
    struct request_set c = create_requests(w);

    expect_status(decline_requests(c.ada, "", "{\"filters\":[1,2]}"), 204);
    expect(type_of(c.ada, c.both) == NONE);
    expect(type_of(c.ada, c.spam) == INCOMING && type_of(c.ada, c.ignored) == INCOMING);
    ask_friend(c.both, c.ada);
    expect_status(decline_requests(c.ada, "?filters=1&filters=2", ""), 204);
    expect(type_of(c.ada, c.spam) == INCOMING && type_of(c.ada, c.both) == NONE);
    ask_friend(c.both, c.ada);
    expect_status(decline_requests(c.ada, "?only_spam=1", "{\"filters\":[2]}"), 204);
    expect(type_of(c.ada, c.spam) == INCOMING && type_of(c.ada, c.both) == NONE);
    expect_status(decline_requests(c.ada, "", "{\"filters\":[2]}"), 204);
    expect(type_of(c.ada, c.ignored) == NONE && type_of(c.ada, c.plain) == INCOMING);
    expect_status(decline_requests(c.ada, "", "{\"filters\":[]}"), 204);
    expect(type_of(c.ada, c.plain) == NOTHING);
}

static void unknown_decline_filters_are_refused(struct world *w)
{
    struct request_set c = create_requests(w);

    expect_invalid(decline_requests(c.ada, "", "{\"filters\":[1,3]}"), "filters.1",
                   "BASE_TYPE_CHOICES");
    expect_invalid(decline_requests(c.ada, "?filters=0", ""), "filters.0", "BASE_TYPE_CHOICES");
    expect_invalid(decline_requests(c.ada, "?relationship_type=1", ""), "relationship_type",
                   "BASE_TYPE_CHOICES");
    expect_invalid(decline_requests(c.ada, "", "{\"filters\":1}"), "filters", "LIST_TYPE_CONVERT");
    expect(type_of(c.ada, c.spam) == INCOMING);
}

/* --- effects of blocks and friendships ------------------------------------------------ */

static void block_prevents_direct_messages_in_both_directions(struct world *w)
{
    struct people p = world_people(w);
    struct answer a =
        client_post(p.ada, TEXT(w, "{'recipient_id': '%s'}", p.bob->id), "/users/@me/channels");
    const char *channel = answer_text(a, "id"), *hello = "{'content': 'hello'}";

    befriend(p.ada, p.bob);
    expect_status(client_post(p.bob, hello, "/channels/%s/messages", channel), 200);
    expect_status(client_post(p.ada, hello, "/channels/%s/messages", channel), 200);
    block_user(p.ada, p.bob);
    expect_error(client_post(p.ada, hello, "/channels/%s/messages", channel), 403, 50007);
    expect_error(client_post(p.bob, hello, "/channels/%s/messages", channel), 403, 50007);
    expect_error(client_post(p.bob, NULL, "/channels/%s/typing", channel), 403, 50007);
    expect_status(client_get(p.ada, "/channels/%s/messages", channel), 200);
    expect_status(
        client_post(p.ada, TEXT(w, "{'recipient_id': '%s'}", p.bob->id), "/users/@me/channels"),
        200);
    expect_status(client_delete(p.ada, THEM, p.bob->id), 204);
    ignore_them(p.ada, p.bob);
    expect_status(client_post(p.bob, hello, "/channels/%s/messages", channel), 200);
}

static void only_friends_can_be_added_to_groups(struct world *w)
{
    struct people p = world_people(w);
    const char *body =
        TEXT(w, "{'recipients': ['%s', '%s']}", p.bob->id, introduce(p.ada, p.bob)->id);

    ask_and_accept(p.ada, p.bob);
    const char *group = answer_text(client_post(p.ada, body, "/users/@me/channels"), "id");
    expect_error(client_put(p.ada, NULL, "/channels/%s/recipients/%s", group, p.eve->id), 403,
                 20037);
    ask_and_accept(p.ada, p.eve);
    block_user(p.eve, p.ada);
    expect_error(client_put(p.ada, NULL, "/channels/%s/recipients/%s", group, p.eve->id), 403,
                 20037);
}

static void friend_invite_respects_blocks_and_removes_suggestions(struct world *w)
{
    struct people p = world_people(w);
    const char *code = answer_text(client_post(p.ada, "{}", "/users/@me/invites"), "code");

    block_user(p.ada, p.bob);
    expect_error(client_post(p.bob, "{}", "/invites/%s", code), 404, 10006);
    expect_status(client_delete(p.ada, THEM, p.bob->id), 204);
    ask_friend(p.ada, p.bob);
    store_write(w,
                "insert into friend_suggestions (user_id, suggested_id, source, score) values "
                "($1, $2, 'mutual', 3)",
                BIND(v_client(p.ada), v_client(p.bob)));
    expect_status(client_post(p.bob, "{}", "/invites/%s", code), 200);
    expect_relationship(p.bob, "ADD", p.ada, FRIEND);
    expect_event(p.ada, "RELATIONSHIP_ADD", "{'type': 1, 'should_notify': true}");
    expect_notice(p.ada, ACCEPTED, p.bob);
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", p.bob->id);
    expect_silence(p.ada);
    expect(type_of(p.ada, p.bob) == FRIEND && type_of(p.bob, p.ada) == FRIEND);
    expect_error(client_post(p.ada, "{}", "/invites/%s", code), 400, 50096);
}

static void profile_requires_friendship_request_or_suggestion(struct world *w)
{
    struct people p = world_people(w);

    expect_error(client_get(p.ada, "/users/%s/profile", p.bob->id), 403, 50001);
    store_write(w,
                "insert into friend_suggestions (user_id, suggested_id, source, score) values "
                "($1, $2, 'mutual', 3)",
                BIND(v_client(p.ada), v_client(p.bob)));
    expect_status(client_get(p.ada, "/users/%s/profile", p.bob->id), 200);
    expect_error(client_get(p.bob, "/users/%s/profile", p.ada->id), 403, 50001);
    ask_friend(p.ada, p.bob);
    expect_status(client_get(p.bob, "/users/%s/profile", p.ada->id), 200);
    expect_error(client_get(p.ada, "/users/%s/profile", p.bob->id), 403, 50001);
    block_user(p.bob, p.ada);
    expect_error(client_get(p.ada, "/users/%s/profile", p.bob->id), 403, 50001);
}

/* --- cached list ---------------------------------------------------------------------- */

static void cached_relationship_list_is_updated_by_changes(struct world *w)
{
    struct people p = world_people(w);

    ask_and_accept(p.ada, p.bob);
    expect_json(client_get(p.ada, RELATIONSHIPS), "[{'nickname': null, 'type': 1}]");
    expect_status(client_patch(p.ada, "{'nickname': 'bobby'}", THEM, p.bob->id), 204);
    expect_json(client_get(p.ada, RELATIONSHIPS), "[{'nickname': 'bobby'}]");
    expect_json(client_get(p.bob, RELATIONSHIPS), "[{'id': '%s', 'nickname': null}]", p.ada->id);
    expect_status(client_patch(p.bob, "{'global_name': 'Robert'}", "/users/@me"), 200);
    expect_json(client_get(p.ada, RELATIONSHIPS), "[{'user': {'global_name': 'Robert'}}]");
    expect_status(client_put(p.eve, "{'confirm_stranger_request': true}", THEM, p.ada->id), 204);
    expect(type_of(p.ada, p.eve) == INCOMING && type_of(p.eve, p.ada) == OUTGOING);
    expect_status(client_delete(p.ada, THEM, p.eve->id), 204);
    expect(type_of(p.ada, p.eve) == NOTHING && type_of(p.eve, p.ada) == NOTHING);
    block_user(p.bob, p.ada);
    expect(type_of(p.ada, p.bob) == NOTHING && type_of(p.bob, p.ada) == BLOCKED);
    ignore_them(p.ada, p.bob);
    expect_json(client_get(p.ada, RELATIONSHIPS), "[{'type': 0, 'user_ignored': true}]");
    world_restart(w);
    expect_json(client_get(p.ada, RELATIONSHIPS), "[{'type': 0, 'user_ignored': true}]");
}

static void relationship_changes_share_a_rate_limit(struct world *w)
{
    struct people p = world_people(w);

    for (int i = 0; i < 8; i++) {
        expect_status(client_put(p.ada, NULL, THEM "/ignore", p.bob->id), 204);
        expect_status(client_delete(p.ada, THEM "/ignore", p.bob->id), 204);
        expect_status(client_patch(p.ada, "{}", THEM, p.bob->id), 204);
    }
    for (int i = 0; i < 6; i++)
        expect_status(client_delete(p.ada, THEM, p.bob->id), 204);
    expect_status(client_delete(p.ada, THEM, p.bob->id), 429);
    expect_status(client_put(p.ada, NULL, THEM "/ignore", p.eve->id), 429);
    expect_status(client_patch(p.ada, "{}", THEM, p.eve->id), 429);
    /* Other users are not affected, and blocking is not limited. */
    expect_status(client_put(p.ada, "{'type': 2}", THEM, p.bob->id), 204);
    expect_status(client_delete(p.bob, THEM, p.ada->id), 204);
    world_wait(w, 61);
    expect_status(client_delete(p.ada, THEM, p.bob->id), 204);
}

const struct test relationships_ignore_nickname_tests[] = {
    TEST(ignoring_a_user_without_relationship_creates_type_0),
    TEST(ignoring_does_not_change_the_relationship_type),
    TEST(ignoring_oneself_or_an_unknown_user_is_refused),
    TEST(ignoring_persists_when_the_relationship_ends),
    TEST(friend_request_of_an_ignored_user_sends_no_notification),
    TEST(friend_nickname_is_stored_and_sent),
    TEST(friend_nickname_is_limited_to_32_characters),
    TEST(nickname_requires_a_friendship_and_ends_with_it),
    TEST(all_incoming_requests_can_be_declined_at_once),
    TEST(spam_requests_can_be_declined_alone),
    TEST(decline_filters_are_combined_with_and),
    TEST(unknown_decline_filters_are_refused),
    TEST(block_prevents_direct_messages_in_both_directions),
    TEST(only_friends_can_be_added_to_groups),
    TEST(friend_invite_respects_blocks_and_removes_suggestions),
    TEST(profile_requires_friendship_request_or_suggestion),
    TEST(cached_relationship_list_is_updated_by_changes),
    TEST_WITH(relationship_changes_share_a_rate_limit, buckets_only),
    { 0 },
};
