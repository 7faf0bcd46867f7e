/* friend_requests.c - who may send friend requests to whom, and their limits. */
#include "people.h"

#include <stdio.h>
#include <stdlib.h>

#include "apps.h"
#include "gateway_conn.h"

#define THEM RELATIONSHIPS "/%s"

static void modify_user_settings_of_test_user(struct client *c, const char *json)
{
    expect_status(client_patch(c, json, "/users/@me/settings"), 200);
    discard_received(c->world);
}

static const char *repeat_letter(struct world *w, size_t n)
{
    char *text = arena_alloc(world_arena(w), n + 1);

    memset(text, 'x', n);
    return text;
}

/* Inserts relationships of one type with filler accounts; other_type 0: no row on the other
 * side. */
static void insert_relationships(struct client *c, int type, int other_type, int count)
{
    static int last = 1000;
    int first = last + 1;

    last += count;
    store_write(c->world,
                "insert into users (id, username, verified) with recursive n(i) as (select "
                "cast($1 as bigint) union all select i + 1 from n where i < $2) "
                "select i, 'filler' || i, 1 from n",
                BIND(v_int(first), v_int(last)));
    if (type)
        store_write(c->world,
                    "insert into relationships (user_id, target_id, type, since) select $1, id, "
                    "$2, id from users where id between $3 and $4",
                    BIND(v_client(c), v_int(type), v_int(first), v_int(last)));
    if (other_type)
        store_write(c->world,
                    "insert into relationships (user_id, target_id, type, since) select id, $1, "
                    "$2, id from users where id between $3 and $4",
                    BIND(v_client(c), v_int(other_type), v_int(first), v_int(last)));
}

/* Deletes one of the friendships. */
static void delete_one_friend(struct client *c)
{
    store_write(c->world,
                "delete from relationships where user_id = $1 and target_id = (select "
                "min(target_id) from relationships where user_id = $1 and type = 1)",
                BIND(v_client(c)));
}

/* --- recipients ----------------------------------------------------------------------- */

static void friend_request_to_an_unknown_name_is_400_80004(struct world *w)
{
    struct people p = world_people(w);

    expect_error(client_post(p.ada, "{'username': 'nobody'}", RELATIONSHIPS), 400, 80004);
    expect_error(client_post(p.ada, "{'username': 'bob', 'discriminator': 1234}", RELATIONSHIPS),
                 400, 80004);
    expect_error(client_post(p.ada, "{'username': 'bob#1234'}", RELATIONSHIPS), 400, 80004);
    expect_invalid(client_post(p.ada, "{}", RELATIONSHIPS), "username", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(p.ada, "{'username': ''}", RELATIONSHIPS), "username",
                   "BASE_TYPE_MIN_LENGTH");
    expect_invalid(client_post(p.ada, "{'username': 'bob', 'discriminator': 'x'}", RELATIONSHIPS),
                   "discriminator", "NUMBER_TYPE_COERCE");
    expect_error(client_put(p.ada, NULL, RELATIONSHIPS "/1"), 404, 10013);
    expect_silence(p.bob);
}

static void friend_request_by_legacy_tag_finds_the_user(struct world *w)
{
    struct people p = world_people(w);
    const char *add = "insert into legacy_tags (name, discriminator, user_id) values ($1, $2, $3)";

    store_write(w, add, BIND(v_text(STR("bobby")), v_int(42), v_client(p.bob)));
    expect_status(
        client_post(p.ada, "{'username': 'Bobby', 'discriminator': '0042'}", RELATIONSHIPS), 204);
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'id': '%s'}", p.ada->id);
    expect_status(client_post(p.ada, "{'username': 'bobby'}", RELATIONSHIPS), 204);
    store_write(w, add, BIND(v_text(STR("bobby")), v_int(43), v_client(p.eve)));
    expect_error(client_post(p.ada, "{'username': 'bobby'}", RELATIONSHIPS), 400, 80008);
    expect_status(client_post(p.ada, "{'username': 'bobby#0043'}", RELATIONSHIPS), 204);
    expect_event(p.eve, "RELATIONSHIP_ADD", "{'id': '%s'}", p.ada->id);
}

static void friend_request_to_oneself_bots_or_disabled_users_is_refused(struct world *w)
{
    struct people p = world_people(w);
    struct client *bot = world_bot(w, "robot");

    expect_error(client_put(p.ada, NULL, THEM, p.ada->id), 400, 80003);
    expect_error(client_post(p.ada, "{'username': 'ada'}", RELATIONSHIPS), 400, 80003);
    expect_error(client_put(p.ada, NULL, THEM, bot->id), 400, 80002);
    expect_error(client_post(p.ada, "{'username': 'robot'}", RELATIONSHIPS), 400, 80002);
    expect_error(client_put(bot, NULL, THEM, p.ada->id), 403, 20001);
    expect_error(client_get(bot, RELATIONSHIPS), 403, 20001);
    store_write(w, "update users set system = 1 where id = $1", BIND(v_client(p.eve)));
    expect_error(client_put(p.ada, NULL, THEM, p.eve->id), 400, 80002);
    store_write(w, "update users set disabled = 1 where id = $1", BIND(v_client(p.bob)));
    expect_error(client_put(p.ada, NULL, THEM, p.bob->id), 400, 80004);
    expect_error(client_post(p.ada, "{'username': 'bob'}", RELATIONSHIPS), 400, 80004);
}

static void unverified_or_quarantined_users_cannot_send_friend_requests(struct world *w)
{
    struct people p = world_people(w);

    store_write(w, "update users set verified = 0 where id = $1", BIND(v_client(p.ada)));
    expect_error(client_put(p.ada, NULL, THEM, p.bob->id), 403, 40002);
    store_write(w, "update users set verified = 1, flags = $2 where id = $1",
                BIND(v_client(p.ada), v_int(USER_QUARANTINED)));
    expect_error(client_put(p.ada, NULL, THEM, p.bob->id), 403, 340007);
    expect_silence(p.bob);
}

/* --- fields --------------------------------------------------------------------------- */

static void relationship_type_must_be_friend_block_or_minus_one(struct world *w)
{
    struct people p = world_people(w);
    const int wrong[] = { 0, 3, 4, 5, -2 };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_invalid(client_put(p.ada, TEXT(w, "{'type': %d}", wrong[i]), THEM, p.bob->id),
                       "type", "BASE_TYPE_CHOICES");
    expect_invalid(client_put(p.ada, "{'type': 'x'}", THEM, p.bob->id), "type",
                   "NUMBER_TYPE_COERCE");
    expect_status(client_put(p.ada, "{'type': -1}", THEM, p.bob->id), 204);
    expect_relationship(p.ada, "ADD", p.bob, 4);
}

static void friend_request_note_is_limited_to_120_characters(struct world *w)
{
    struct people p = world_people(w);
    const char *at_most = repeat_letter(w, 120), *too_long = repeat_letter(w, 121);

    expect_invalid(client_put(p.ada, TEXT(w, "{'note': '%s'}", too_long), THEM, p.bob->id), "note",
                   "BASE_TYPE_MAX_LENGTH");
    expect_invalid(
        client_post(p.ada, TEXT(w, "{'username': 'bob', 'note': '%s'}", too_long), RELATIONSHIPS),
        "note", "BASE_TYPE_MAX_LENGTH");
    expect_silence(p.bob);
    expect_status(client_put(p.ada, TEXT(w, "{'note': '%s'}", at_most), THEM, p.bob->id), 204);
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'note': '%s'}", at_most);
    expect_notice(p.bob, REQUESTED, p.ada);
    /* 120 characters are left. */
    expect_status(
        client_put(p.eve, TEXT(w, "{'note': '\\n\\n%s\\r\\n'}", at_most), THEM, p.bob->id), 204);
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'note': '%s'}", at_most);
    expect_status(client_put(p.bob, "{'note': 'a\\r\\nb'}", THEM, p.ada->id), 400);
    expect_status(client_put(p.ada, "{'note': 'a\\n\\nb'}", THEM, p.eve->id), 204);
    expect_event(p.eve, "RELATIONSHIP_ADD", "{'type': 4}");
    expect_event(p.eve, "RELATIONSHIP_ADD", "{'type': 3, 'note': 'a b'}");
    expect_notice(p.eve, REQUESTED, p.ada);
}

static void empty_friend_request_note_is_omitted(struct world *w)
{
    struct people p = world_people(w);

    expect_status(client_put(p.ada, "{'note': '\\n'}", THEM, p.bob->id), 204);
    expect_status(client_put(p.eve, "{'note': null}", THEM, p.bob->id), 204);
    struct answer a = client_get(p.bob, RELATIONSHIPS);
    expect_absent(a, "0.note");
    expect_absent(a, "1.note");
}

/* --- settings of the recipient -------------------------------------------------------- */

static void friend_source_flags_decide_who_may_send_requests(struct world *w)
{
    struct people p = world_people(w);
    const char *nobody = "{'friend_source_flags': {'all': false, 'mutual_friends': false, "
                         "'mutual_guilds': false}}";
    const char *friends = "{'friend_source_flags': {'mutual_friends': true}}";
    const char *guilds = "{'friend_source_flags': {'mutual_guilds': true}}";

    modify_user_settings_of_test_user(p.bob, nobody);
    introduce(p.ada, p.bob);
    const char *guild = found_guild(p.bob, "hall");
    put_member(guild, p.eve);
    expect_error(client_put(p.ada, NULL, THEM, p.bob->id), 403, 80000);
    expect_error(client_put(p.eve, NULL, THEM, p.bob->id), 403, 80000);
    modify_user_settings_of_test_user(p.bob, guilds);
    expect_error(client_put(p.ada, NULL, THEM, p.bob->id), 403, 80000);
    expect_status(client_put(p.eve, NULL, THEM, p.bob->id), 204);
    expect_status(client_delete(p.eve, THEM, p.bob->id), 204);
    modify_user_settings_of_test_user(p.bob, friends);
    expect_error(client_put(p.eve, NULL, THEM, p.bob->id), 403, 80000);
    expect_error(client_post(p.eve, "{'username': 'bob'}", RELATIONSHIPS), 403, 80000);
    expect_status(client_put(p.ada, NULL, THEM, p.bob->id), 204);
}

static void friend_source_flags_do_not_prevent_accepting(struct world *w)
{
    struct people p = world_people(w);

    introduce(p.ada, p.bob);
    ask_friend(p.ada, p.bob);
    modify_user_settings_of_test_user(p.ada, "{'friend_source_flags': {'all': false}}");
    expect_status(client_put(p.bob, NULL, THEM, p.ada->id), 204);
    expect_relationship(p.bob, "ADD", p.ada, 1);
}

static void suggested_users_can_be_sent_friend_requests(struct world *w)
{
    struct people p = world_people(w);
    const char *suggest = "insert into friend_suggestions (user_id, suggested_id, source, score) "
                          "values ($1, $2, 'contacts', 400)";

    modify_user_settings_of_test_user(p.bob, "{'friend_source_flags': {'mutual_friends': true}}");
    expect_error(client_put(p.ada, "{'from_friend_suggestion': true}", THEM, p.bob->id), 403,
                 80000);
    store_write(w, suggest, BIND(v_client(p.ada), v_client(p.bob)));
    expect_error(client_put(p.ada, NULL, THEM, p.bob->id), 403, 80000);
    expect_status(client_put(p.ada, "{'from_friend_suggestion': true}", THEM, p.bob->id), 204);
    expect_relationship(p.ada, "ADD", p.bob, 4);
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", p.bob->id);
    expect_silence(p.ada);
    /* The request of a suggested user has no `stranger_request`. */
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'stranger_request': false, 'should_notify': true}");
    expect_notice(p.bob, REQUESTED, p.ada);
    expect_silence(p.bob);
}

/* --- stranger_request, and spam requests ---------------------------------------------- */

static void accepting_a_stranger_request_requires_confirmation(struct world *w)
{
    struct people p = world_people(w);

    expect_status(client_put(p.ada, NULL, THEM, p.bob->id), 204);
    expect_event(p.bob, "RELATIONSHIP_ADD",
                 "{'type': 3, 'stranger_request': true, 'is_stranger_request': true, "
                 "'is_spam_request': false, 'should_notify': true}");
    expect_event(p.ada, "RELATIONSHIP_ADD", "{'type': 4, 'stranger_request': false}");
    expect_error(client_put(p.bob, NULL, THEM, p.ada->id), 400, 80013);
    expect_error(client_put(p.bob, "{'type': 1}", THEM, p.ada->id), 400, 80013);
    expect_silence(p.ada);
    expect(type_of(p.bob, p.ada) == 3);
    expect_status(
        client_put(p.bob, "{'type': 1, 'confirm_stranger_request': true}", THEM, p.ada->id), 204);
    expect_event(p.ada, "RELATIONSHIP_ADD", "{'type': 1, 'stranger_request': false}");
}

static void accepting_by_username_needs_no_confirmation(struct world *w)
{
    struct people p = world_people(w);

    ask_friend(p.ada, p.bob);
    expect_status(client_post(p.bob, "{'username': 'ada'}", RELATIONSHIPS), 204);
    expect_relationship(p.bob, "ADD", p.ada, 1);
}

static void friend_request_with_a_mutual_friend_is_no_stranger_request(struct world *w)
{
    struct people p = world_people(w);

    ask_friend(p.ada, p.bob);
    introduce(p.ada, p.bob);
    expect_status(client_put(p.bob, NULL, THEM, p.ada->id), 204);
    expect_relationship(p.bob, "ADD", p.ada, 1);
}

static void request_of_a_small_guilds_member_is_no_stranger_request(struct world *w)
{
    struct people p = world_people(w);
    const char *guild = found_guild(p.bob, "hall");
    const char *size = "update guilds set member_count = $2 where id = $1";

    put_member(guild, p.ada);
    put_member(guild, p.eve);
    store_write(w, size, BIND(v_id(id_of(guild)), v_int(200)));
    expect_status(client_put(p.ada, NULL, THEM, p.bob->id), 204);
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'stranger_request': false}");
    expect_notice(p.bob, REQUESTED, p.ada);
    store_write(w, size, BIND(v_id(id_of(guild)), v_int(201)));
    expect_status(client_put(p.eve, NULL, THEM, p.bob->id), 204);
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'stranger_request': true}");
}

static void request_of_a_new_unknown_account_is_marked_spam_and_not_notified(struct world *w)
{
    struct people p = world_people(w);
    struct client *newcomer = world_client(w, "newcomer"), *known = world_client(w, "known");

    introduce(known, p.bob);
    client_connect(p.bob);
    expect_status(client_put(newcomer, NULL, THEM, p.bob->id), 204);
    expect_unnoticed(p.bob, newcomer, "'is_spam_request': true, 'stranger_request': true");
    expect_silence(p.bob);
    expect_status(client_put(known, NULL, THEM, p.bob->id), 204);
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'is_spam_request': false, 'should_notify': true}");
    struct answer a = client_get(p.bob, RELATIONSHIPS);
    expect_json(a, "[{'is_spam_request': true}, {'is_spam_request': false}, {'type': 1}]");
}

static void request_of_a_flagged_spammer_sends_no_notification(struct world *w)
{
    struct people p = world_people(w);

    store_write(w, "update users set flags = $2 where id = $1",
                BIND(v_client(p.ada), v_int(USER_SPAMMER)));
    introduce(p.ada, p.bob);
    client_connect(p.bob);
    client_put(p.ada, NULL, THEM, p.bob->id);
    struct answer a = client_get(p.bob, RELATIONSHIPS);
    expect_json(a, "[{'type': 3, 'is_spam_request': true, 'stranger_request': false}, {}]");
    expect_unnoticed(p.bob, p.ada, "'is_spam_request': true");
    expect(store_count(w, "select count(*) from relationships where is_spam = 1") == 1);
}

static void twenty_unanswered_friend_requests_make_further_ones_spam(struct world *w)
{
    struct people p = world_people(w);
    const char *add = "insert into friend_requests (user_id, target_id, sent_at, accepted) "
                      "select $1, id, $2, 0 from users where username like 'filler%'";

    introduce(p.ada, p.bob);
    insert_relationships(p.eve, 0, 0, 19);
    store_write(w, add, BIND(v_client(p.ada), v_int(INT64_MAX / 2)));
    client_put(p.ada, NULL, THEM, p.bob->id);
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'is_spam_request': false}");
    client_delete(p.ada, THEM, p.bob->id);
    discard_received(w);
    /* Bob's request is the twentieth. */
    client_put(p.ada, NULL, THEM, p.bob->id);
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'is_spam_request': true}");
}

/* --- limits --------------------------------------------------------------------------- */

static void user_is_limited_to_1000_friends(struct world *w)
{
    struct people p = world_people(w);

    ask_friend(p.ada, p.bob);
    ask_friend(p.bob, p.eve);
    insert_relationships(p.bob, 1, 1, 1000);
    /* Neither bob nor the user he asked can accept; pending requests do not count. */
    expect_error(client_put(p.bob, "{'confirm_stranger_request': true}", THEM, p.ada->id), 400,
                 30002);
    expect_error(client_put(p.eve, "{'confirm_stranger_request': true}", THEM, p.bob->id), 400,
                 30002);
    expect_silence(p.bob);
    delete_one_friend(p.bob);
    expect_status(client_put(p.eve, "{'confirm_stranger_request': true}", THEM, p.bob->id), 204);
    expect_relationship(p.bob, "ADD", p.eve, 1);
    /* Bob cannot send further requests. */
    expect_error(client_put(p.bob, NULL, THEM, world_client(w, "zoe")->id), 400, 30002);
    delete_one_friend(p.bob);
    expect_status(client_put(p.bob, NULL, THEM, world_client(w, "zoe")->id), 204);
}

static void user_is_limited_to_1000_outgoing_friend_requests(struct world *w)
{
    struct people p = world_people(w);

    insert_relationships(p.ada, 4, 3, 999);
    expect_status(client_put(p.ada, NULL, THEM, p.bob->id), 204);
    expect_error(client_put(p.ada, NULL, THEM, p.eve->id), 400, 30002);
    expect_silence(p.eve);
}

static void full_incoming_list_drops_its_oldest_spam_request(struct world *w)
{
    struct people p = world_people(w);
    struct client *spammer = world_client(w, "spammer"), *other = world_client(w, "other");

    ask_friend(spammer, p.bob);
    world_wait(w, 1);
    ask_friend(other, p.bob);
    insert_relationships(p.bob, 3, 4, 998);
    expect_status(client_put(p.ada, NULL, THEM, p.bob->id), 204);
    expect_relationship(p.bob, "REMOVE", spammer, 3);
    expect_relationship(p.bob, "ADD", p.ada, 3);
    expect_notice(p.bob, REQUESTED, p.ada);
    expect_relationship(spammer, "REMOVE", p.bob, 4);
    expect_silence(p.bob);
    expect_silence(other);
    store_write(w, "update relationships set is_spam = 0 where is_spam = $1", BIND(v_int(1)));
    expect_error(client_put(p.eve, NULL, THEM, p.bob->id), 403, 80000);
    expect_silence(p.bob);
}

static void user_is_limited_to_5000_blocked_or_ignored_users(struct world *w)
{
    struct people p = world_people(w);

    insert_relationships(p.ada, 2, 0, 4999);
    expect_status(client_put(p.ada, "{'type': 2}", THEM, p.bob->id), 204);
    expect_error(client_put(p.ada, "{'type': 2}", THEM, p.eve->id), 400, 30059);
    expect_status(client_put(p.ada, "{'type': 2}", THEM, p.bob->id), 204);
    store_write(w, "update relationships set type = 0, ignored = 1 where type = $1",
                BIND(v_int(2)));
    expect_error(client_put(p.ada, NULL, THEM "/ignore", p.eve->id), 400, 30059);
    expect_status(client_put(p.ada, "{'type': 2}", THEM, p.eve->id), 204);
    expect_status(client_put(p.ada, NULL, THEM "/ignore", p.eve->id), 204);
}

/* --- rate limits ---------------------------------------------------------------------- */

/* Expects these values of the rate limit headers. */
static void expect_rate_limit_headers(struct answer a, int limit, int remaining)
{
    expect(atoi(answer_header(a, "X-RateLimit-Limit").p) == limit);
    expect(atoi(answer_header(a, "X-RateLimit-Remaining").p) == remaining);
}

static void friend_requests_by_name_and_by_id_share_a_rate_limit(struct world *w)
{
    struct people p = world_people(w);

    for (int i = 0; i < 5; i++) {
        struct answer a = client_put(p.ada, NULL, RELATIONSHIPS "/1");
        expect_error(a, 404, 10013);
        expect_rate_limit_headers(a, 10, 9 - 2 * i);
        a = client_post(p.ada, "{'username': 'nobody'}", RELATIONSHIPS);
        expect_error(a, 400, 80004);
        expect_rate_limit_headers(a, 10, 8 - 2 * i);
    }
    struct answer a = client_put(p.ada, NULL, RELATIONSHIPS "/1");
    expect_error(a, 429, 31001);
    expect_rate_limit_headers(a, 10, 0);
    expect(answer_header(a, "Retry-After").p != NULL);
    expect_error(client_post(p.ada, "{'username': 'bob'}", RELATIONSHIPS), 429, 31001);
    /* Blocking is not limited by it, nor are other users. */
    a = client_put(p.ada, "{'type': 2}", THEM, p.bob->id);
    expect_status(a, 204);
    expect(atoi(answer_header(a, "X-RateLimit-Limit").p) == 20);
    expect_error(client_put(p.eve, NULL, RELATIONSHIPS "/1"), 404, 10013);
    world_wait(w, 61);
    expect_error(client_put(p.ada, NULL, RELATIONSHIPS "/1"), 404, 10013);
}

static void friend_requests_are_limited_to_50_per_day(struct world *w)
{
    struct people p = world_people(w);

    for (int i = 0; i < 50; i++) {
        if (i % 10 == 0)
            world_wait(w, 61);
        expect_error(client_put(p.ada, NULL, RELATIONSHIPS "/1"), 404, 10013);
    }
    world_wait(w, 61);
    struct answer a = client_put(p.ada, NULL, RELATIONSHIPS "/1");
    expect_error(a, 429, 31001);
    expect_rate_limit_headers(a, 10, 9); /* this minute's limit; the daily one is reached */
    world_wait(w, 24 * 3600);
    expect_error(client_put(p.ada, NULL, RELATIONSHIPS "/1"), 404, 10013);
}

const struct test friend_requests_tests[] = {
    TEST(friend_request_to_an_unknown_name_is_400_80004),
    TEST(friend_request_by_legacy_tag_finds_the_user),
    TEST(friend_request_to_oneself_bots_or_disabled_users_is_refused),
    TEST(unverified_or_quarantined_users_cannot_send_friend_requests),
    TEST(relationship_type_must_be_friend_block_or_minus_one),
    TEST(friend_request_note_is_limited_to_120_characters),
    TEST(empty_friend_request_note_is_omitted),
    TEST(friend_source_flags_decide_who_may_send_requests),
    TEST(friend_source_flags_do_not_prevent_accepting),
    TEST(suggested_users_can_be_sent_friend_requests),
    TEST(accepting_a_stranger_request_requires_confirmation),
    TEST(accepting_by_username_needs_no_confirmation),
    TEST(friend_request_with_a_mutual_friend_is_no_stranger_request),
    TEST(request_of_a_small_guilds_member_is_no_stranger_request),
    TEST(request_of_a_new_unknown_account_is_marked_spam_and_not_notified),
    TEST(request_of_a_flagged_spammer_sends_no_notification),
    TEST(twenty_unanswered_friend_requests_make_further_ones_spam),
    TEST(user_is_limited_to_1000_friends),
    TEST(user_is_limited_to_1000_outgoing_friend_requests),
    TEST(full_incoming_list_drops_its_oldest_spam_request),
    TEST(user_is_limited_to_5000_blocked_or_ignored_users),
    TEST_WITH(friend_requests_by_name_and_by_id_share_a_rate_limit, buckets_only),
    TEST_WITH(friend_requests_are_limited_to_50_per_day, buckets_only),
    { 0 },
};
