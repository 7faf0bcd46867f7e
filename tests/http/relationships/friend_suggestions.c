/* friend_suggestions.c - people whom one might know, and where that comes from. */
#include "people.h"

#include <stdlib.h>

#include "apps.h"
#include "base/clock.h"
#include "waits.h"

#define SUGGESTIONS "/friend-suggestions"
#define CONTACTS    "/users/@me/connections/contacts/@me"
#define ENTRIES     CONTACTS "/external-friend-list-entries"
#define BULK        RELATIONSHIPS "/bulk"

#define ADA "+15550100"
#define BOB "+15550101"
#define EVE "+15550102"

static void give_phone(struct client *c, const char *number)
{
    store_write(c->world, "update users set phone = $2 where id = $1",
                BIND(v_client(c), v_text(str_of(number))));
}

static void be_found(struct client *c)
{
    expect_status(client_patch(c, "{'friend_discovery_flags': 2}", "/users/@me/settings"), 200);
}

/* All have numbers, and let themselves be found by them. */
static struct people with_phones(struct world *w)
{
    struct people p = world_people(w);

    give_phone(p.ada, ADA);
    give_phone(p.bob, BOB);
    give_phone(p.eve, EVE);
    be_found(p.ada);
    be_found(p.bob);
    be_found(p.eve);
    forget_told(w);
    return p;
}

static struct answer upload(struct client *c, const char *entries, const char *more)
{
    return client_put(c, TEXT(c->world, "{'friend_list_entries': [%s]%s}", entries, more), ENTRIES);
}

#define ENTRY(number) "{'friend_id': '" number "'}"

static size_t count_suggestions(struct client *c)
{
    return client_get(c, SUGGESTIONS).json->count;
}

/* --- address books -------------------------------------------------------------------- */

static void contacts_are_suggested(struct world *w)
{
    struct people p = with_phones(w);
    struct answer a =
        upload(p.ada, "{'friend_id': '" BOB "', 'name': 'Bobby'}, " ENTRY("+4930123456"),
               ", 'include_mutual_friends_count': true");

    expect_status(a, 200);
    expect_json(a,
                "{'friend_suggestions': [{'suggested_user': {'id': '%s', 'username': 'bob'}, "
                "'reasons': [{'type': 1, 'platform': 'contacts', 'platform_type': 'contacts', "
                "'name': 'bob'}], 'mutual_friends_count': 0, 'contact_names': ['Bobby']}]}",
                p.bob->id);
    expect(strlen(answer_text(a, "bulk_add_token")) > 20);
    expect_absent(a, "friend_suggestions.0.from_suggested_user_contacts");
    expect_event(p.ada, "FRIEND_SUGGESTION_CREATE",
                 "{'suggested_user': {'id': '%s'}, 'reasons': [{'platform': 'contacts'}]}",
                 p.bob->id);
    expect_silence(p.ada);
    expect_silence(p.bob);
    expect_json(client_get(p.ada, SUGGESTIONS), "[{'suggested_user': {'username': 'bob'}}]");
    expect(count_suggestions(p.bob) == 0);
    /* The same again is no news; a list without bob takes him back. */
    upload(p.ada, ENTRY(BOB), "");
    expect_silence(p.ada);
    expect_json(upload(p.ada, ENTRY(EVE), ", 'background': true"),
                "{'bulk_add_token': null, 'friend_suggestions': []}");
    expect_event(p.ada, "FRIEND_SUGGESTION_CREATE", "{'suggested_user': {'id': '%s'}}", p.eve->id);
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", p.bob->id);
    expect_silence(p.ada);
}

static void contact_upload_needs_a_phone_and_good_numbers(struct world *w)
{
    struct people p = world_people(w);

    expect_error(upload(p.ada, ENTRY(BOB), ""), 403, 20021);
    expect_error(client_put(p.ada, "{'name': 'mine'}", CONTACTS), 403, 20021);
    give_phone(p.ada, ADA);
    expect_invalid(upload(p.ada, ENTRY(BOB) ", " ENTRY("0301234567"), ""),
                   "friend_list_entries.1.friend_id", "PHONE_NUMBER_INVALID");
    expect_invalid(upload(p.ada, ENTRY(BOB), ", 'allowed_in_suggestions': 3"),
                   "allowed_in_suggestions", "BASE_TYPE_CHOICES");
    expect_invalid(client_put(p.ada, "{}", ENTRIES), "friend_list_entries", "BASE_TYPE_REQUIRED");
    expect_status(upload(p.ada, ENTRY(BOB), ""), 200);
    expect_error(client_get(world_bot(w, "robot"), SUGGESTIONS), 403, 20001);
}

static void numbers_of_others_are_not_kept(struct world *w)
{
    struct people p = with_phones(w);

    upload(p.ada, ENTRY(BOB) ", " ENTRY(BOB), "");
    expect(store_count(w, "select count(*) from contacts") == 1);
    expect(store_count(w, "select count(*) from contacts where length(digest) = 32") == 1);
}

/* Numbers +1555010000 + from … to - 1, each with a name. */
static struct answer upload_range(struct client *c, int from, int to, const char *name)
{
    const char *entries = "";

    for (int i = from; i < to; i++)
        entries = TEXT(c->world, "%s%s{'friend_id': '+1555010%03d', 'name': '%s'}", entries,
                       i > from ? ", " : "", i, name);
    return upload(c, entries, "");
}

/* More than go to the store at once; a later book replaces the earlier whole. */
static void a_long_address_book_replaces_the_one_before(struct world *w)
{
    struct people p = with_phones(w);

    give_phone(p.bob, "+1555010037");
    give_phone(p.eve, "+1555010005");
    expect_json(upload_range(p.ada, 0, 40, "old"),
                "{'friend_suggestions': [{'contact_names': ['old']}, {'contact_names': ['old']}]}");
    expect(store_count(w, "select count(*) from contacts") == 40);
    expect_json(upload_range(p.ada, 20, 61, "new"),
                "{'friend_suggestions': [{'suggested_user': {'username': 'bob'}, "
                "'contact_names': ['new']}]}");
    expect(store_count(w, "select count(*) from contacts") == 41);
    expect(store_count(w, "select count(*) from contacts where name = 'new'") == 41);
    expect_json(upload(p.ada, "", ""), "{'friend_suggestions': []}");
    expect(store_count(w, "select count(*) from contacts") == 0);
}

static void the_address_book_has_a_name_and_a_switch(struct world *w)
{
    struct people p = with_phones(w);

    expect_json(client_get(p.ada, ENTRIES "/settings"), "{'allowed_in_suggestions': 2}");
    upload(p.ada, ENTRY(BOB), ", 'allowed_in_suggestions': 1");
    expect_json(client_get(p.ada, ENTRIES "/settings"), "{'allowed_in_suggestions': 1}");
    forget_told(w);
    expect_json(client_put(p.ada, "{'name': 'Ada L'}", CONTACTS),
                "{'type': 'contacts', 'name': 'Ada L', 'verified': true, 'friend_sync': true}");
    expect_event(p.ada, "USER_CONNECTIONS_UPDATE", "{'user_id': '%s'}", p.ada->id);
    expect_json(client_put(p.ada, "{'name': 'Ada L', 'friend_sync': false}", CONTACTS),
                "{'friend_sync': false}");
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", p.bob->id);
    expect_event(p.ada, "USER_CONNECTIONS_UPDATE", "{}");
    expect_silence(p.ada);
    expect_error(upload(p.ada, ENTRY(BOB), ""), 403, 40034);
    expect(store_count(w, "select count(*) from contacts") == 0);
    expect_invalid(client_put(p.ada, "{'name': ''}", CONTACTS), "name", "BASE_TYPE_BAD_LENGTH");
    /* Its name is what others see of it. */
    client_put(p.ada, "{'name': 'Ada L', 'friend_sync': true}", CONTACTS);
    upload(p.ada, "", "");
    expect_json(upload(p.bob, ENTRY(ADA), ""),
                "{'friend_suggestions': [{'reasons': [{'name': 'Ada L'}]}]}");
}

static void people_say_who_hears_of_them(struct world *w)
{
    struct people p = with_phones(w);

    /* Eve wants to be suggested only to whom she has. */
    upload(p.eve, ENTRY(BOB), ", 'allowed_in_suggestions': 1");
    upload(p.ada, ENTRY(EVE), "");
    expect(count_suggestions(p.ada) == 0);
    upload(p.bob, ENTRY(EVE), "");
    expect(count_suggestions(p.bob) == 1);
    /* Without the setting nobody is found. */
    client_patch(p.bob, "{'friend_discovery_flags': 4}", "/users/@me/settings");
    upload(p.ada, ENTRY(BOB), "");
    expect(count_suggestions(p.ada) == 0);
    client_patch(p.bob, "{'friend_discovery_flags': 6}", "/users/@me/settings");
    upload(p.ada, ENTRY(BOB), "");
    expect(count_suggestions(p.ada) == 1);
}

static void those_who_have_the_caller_are_suggested_on_request(struct world *w)
{
    struct people p = with_phones(w);

    upload(p.bob, ENTRY(ADA), "");
    upload(p.eve, ENTRY(ADA), ", 'allowed_in_suggestions': 1");
    forget_told(w);
    upload(p.ada, "", "");
    expect(count_suggestions(p.ada) == 0);
    struct answer a = upload(p.ada, "", ", 'add_reverse_friend_suggestions': true");
    expect_json(a,
                "{'friend_suggestions': [{'suggested_user': {'id': '%s'}, "
                "'from_suggested_user_contacts': true, 'reasons': [{'platform': 'contacts'}]}]}",
                p.bob->id);
    expect_event(p.ada, "FRIEND_SUGGESTION_CREATE", "{'from_suggested_user_contacts': true}");
    expect_silence(p.ada);
}

static void whoever_changes_their_mind_is_taken_back(struct world *w)
{
    struct people p = with_phones(w);
    const char *gone = "FRIEND_SUGGESTION_DELETE",
               *reverse = ", 'add_reverse_friend_suggestions': true";

    upload(p.bob, ENTRY(ADA) ", " ENTRY(EVE), "");
    upload(p.ada, "", reverse);
    upload(p.eve, ENTRY(BOB), "");
    forget_told(w);
    expect(count_suggestions(p.ada) == 1 && count_suggestions(p.eve) == 1);
    /* Bob wants to be known only to whom he has, and has Eve no longer. */
    upload(p.bob, ENTRY(ADA), "");
    expect_silence(p.eve);
    upload(p.bob, ENTRY(ADA), ", 'allowed_in_suggestions': 1");
    expect_event(p.eve, gone, "{'suggested_user_id': '%s'}", p.bob->id);
    expect_event(p.ada, gone, "{'suggested_user_id': '%s'}", p.bob->id);
    expect_silence(p.ada);
    expect(count_suggestions(p.ada) == 0 && count_suggestions(p.eve) == 0);

    upload(p.ada, ENTRY(BOB), "");
    expect(count_suggestions(p.ada) == 1);
    forget_told(w);
    upload(p.bob, ENTRY(ADA), ", 'allowed_in_suggestions': 1");
    expect_silence(p.ada);
    client_patch(p.bob, "{'friend_discovery_flags': 0}", "/users/@me/settings");
    expect_event(p.ada, gone, "{'suggested_user_id': '%s'}", p.bob->id);
    expect(count_suggestions(p.ada) == 0);
}

static void who_has_no_address_book_any_more_is_taken_back(struct world *w)
{
    struct people p = with_phones(w);

    upload(p.bob, ENTRY(ADA), "");
    upload(p.ada, "", ", 'add_reverse_friend_suggestions': true");
    forget_told(w);
    client_put(p.bob, "{'name': 'Bob'}", CONTACTS);
    expect(count_suggestions(p.ada) == 1);
    client_put(p.bob, "{'name': 'Bob', 'friend_sync': false}", CONTACTS);
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", p.bob->id);
    expect_silence(p.ada);
    expect(count_suggestions(p.ada) == 0);
}

static void some_are_not_suggested(struct world *w)
{
    struct people p = with_phones(w);
    struct client *zoe = world_client(w, "zoe");

    give_phone(zoe, "+15550103");
    be_found(zoe);
    block_user(p.bob, p.ada);
    ignore_them(p.ada, p.eve);
    client_patch(zoe, "{'friend_source_flags': {'all': false}}", "/users/@me/settings");
    upload(p.ada, ENTRY(ADA) ", " ENTRY(BOB) ", " ENTRY(EVE) ", " ENTRY("+15550103"), "");
    expect(count_suggestions(p.ada) == 0);
    expect_status(client_delete(p.bob, RELATIONSHIPS "/%s", p.ada->id), 204);
    ask_friend(p.ada, p.bob);
    upload(p.ada, ENTRY(BOB), "");
    expect(count_suggestions(p.ada) == 0);
    client_patch(zoe, "{'friend_source_flags': {'mutual_guilds': true}}", "/users/@me/settings");
    store_write(w, "update users set disabled = 1 where id = $1", BIND(v_client(zoe)));
    upload(p.ada, ENTRY("+15550103"), "");
    expect(count_suggestions(p.ada) == 0);
    store_write(w, "update users set disabled = 0 where id = $1", BIND(v_client(zoe)));
    upload(p.ada, ENTRY("+15550103"), "");
    expect(count_suggestions(p.ada) == 1);
}

/* --- going ---------------------------------------------------------------------------- */

static void the_dismissed_stay_away_for_half_a_year(struct world *w)
{
    struct people p = with_phones(w);

    upload(p.ada, ENTRY(BOB), "");
    forget_told(w);
    expect_status(client_delete(p.ada, SUGGESTIONS "/%s", p.bob->id), 204);
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", p.bob->id);
    expect_status(client_delete(p.ada, SUGGESTIONS "/%s", p.bob->id), 204);
    expect_error(client_delete(p.ada, SUGGESTIONS "/1"), 404, 10013);
    expect_silence(p.ada);
    expect_silence(p.bob);
    world_wait(w, 179.0 * 24 * 3600);
    upload(p.ada, ENTRY(BOB), "");
    expect(count_suggestions(p.ada) == 0);
    world_wait(w, 2.0 * 24 * 3600);
    upload(p.ada, ENTRY(BOB), "");
    expect(count_suggestions(p.ada) == 1);
}

static void a_suggestion_ends_with_what_follows(struct world *w)
{
    struct people p = with_phones(w);
    const char *gone = "FRIEND_SUGGESTION_DELETE";

    upload(p.ada, ENTRY(BOB), "");
    upload(p.bob, ENTRY(ADA), "");
    forget_told(w);
    /* Whoever asks has followed it; the other's stays until they are friends. */
    client_put(p.ada, NULL, RELATIONSHIPS "/%s", p.bob->id);
    expect_relationship(p.ada, "ADD", p.bob, 4);
    expect_event(p.ada, gone, "{'suggested_user_id': '%s'}", p.bob->id);
    expect_relationship(p.bob, "ADD", p.ada, 3);
    expect_notice(p.bob, REQUESTED, p.ada);
    expect_silence(p.bob);
    client_put(p.bob, NULL, RELATIONSHIPS "/%s", p.ada->id);
    expect_relationship(p.bob, "ADD", p.ada, 1);
    expect_event(p.bob, gone, "{'suggested_user_id': '%s'}", p.ada->id);
    expect_relationship(p.ada, "ADD", p.bob, 1);
    expect_notice(p.ada, ACCEPTED, p.bob);
    expect_silence(p.ada);

    upload(p.ada, ENTRY(EVE), "");
    upload(p.eve, ENTRY(ADA), "");
    forget_told(w);
    client_put(p.ada, NULL, RELATIONSHIPS "/%s/ignore", p.eve->id);
    expect_relationship(p.ada, "ADD", p.eve, 0);
    expect_event(p.ada, gone, "{'suggested_user_id': '%s'}", p.eve->id);
    expect_silence(p.eve);
    client_put(p.ada, "{'type': 2}", RELATIONSHIPS "/%s", p.eve->id);
    expect_relationship(p.ada, "ADD", p.eve, 2);
    expect_event(p.eve, gone, "{'suggested_user_id': '%s'}", p.ada->id);
    expect_silence(p.ada);
    expect_silence(p.eve);
}

static void a_hundred_of_the_best_are_kept(struct world *w)
{
    struct people p = with_phones(w);

    store_write(w,
                "insert into users (id, username, verified) with recursive n(i) as (select "
                "cast($1 as bigint) union all select i + 1 from n where i < $2) "
                "select i, 'filler' || i, 1 from n",
                BIND(v_int(1001), v_int(1100)));
    store_write(w,
                "insert into friend_suggestions (user_id, suggested_id, source, score) "
                "select $1, id, 'mutual', id - 1000 from users where id between 1001 and 1100",
                BIND(v_client(p.ada)));
    expect(count_suggestions(p.ada) == 100);
    upload(p.ada, ENTRY(BOB), "");
    expect_event(p.ada, "FRIEND_SUGGESTION_CREATE", "{'suggested_user': {'id': '%s'}}", p.bob->id);
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '1001'}");
    expect_silence(p.ada);
    struct answer a = client_get(p.ada, SUGGESTIONS);
    expect(a.json->count == 100);
    expect(str_is(dom_at(a.json, "0.suggested_user.id")->text, p.bob->id));
    expect(str_is(dom_at(a.json, "1.suggested_user.id")->text, "1100"));
    expect(str_is(dom_at(a.json, "99.suggested_user.id")->text, "1002"));
}

/* --- what the server finds by itself -------------------------------------------------- */

/* A day later, when the server has looked around. */
static void expect_found(struct client *c, size_t count)
{
    world_wait(c->world, 25 * 3600);
    world_settle(c->world);
    expect(count_suggestions(c) == count);
}

static void friends_of_three_friends_are_suggested(struct world *w)
{
    struct people p = world_people(w);
    struct client *last = world_client(w, "third");

    introduce(p.ada, p.bob);
    befriend(p.ada, p.eve);
    befriend(p.bob, p.eve);
    ask_and_accept(p.ada, last);
    expect_found(p.ada, 0);
    befriend(p.bob, last);
    expect_found(p.ada, 1);
    expect_json(client_get(p.ada, SUGGESTIONS),
                "[{'suggested_user': {'id': '%s'}, 'reasons': [], 'mutual_friends_count': 3}]",
                p.bob->id);
    expect_event(p.ada, "FRIEND_SUGGESTION_CREATE", "{'suggested_user': {'id': '%s'}}", p.bob->id);
    expect_notice(p.ada, "friend_suggestion_created", p.bob);
    expect_silence(p.ada);
    /* Somebody who is a friend no more takes the reason along. */
    expect_status(client_delete(p.ada, RELATIONSHIPS "/%s", last->id), 204);
    expect_found(p.ada, 0);
}

static void connect_account(struct client *c, const char *id, int sync)
{
    store_write(c->world,
                "insert into connections (user_id, type, id, name, friend_sync, created_at) values "
                "($1, 'twitch', $2, $3, $4, 0)",
                BIND(v_client(c), v_text(str_of(id)), v_text(str_of(TEXT(c->world, "%s_tv", id))),
                     v_int(sync)));
}

static void friends_elsewhere_are_suggested(struct world *w)
{
    struct people p = world_people(w);

    connect_account(p.ada, "a1", 1);
    connect_account(p.bob, "b1", 1);
    connect_account(p.eve, "e1", 0);
    store_write(w,
                "insert into connection_friends (user_id, type, id, friend_id) values ($1, "
                "'twitch', 'a1', 'b1'), ($1, 'twitch', 'a1', 'e1')",
                BIND(v_client(p.ada)));
    ask_and_accept(p.ada, world_client(w, "zoe"));
    expect_found(p.ada, 1);
    expect_json(client_get(p.ada, SUGGESTIONS),
                "[{'suggested_user': {'id': '%s'}, 'reasons': [{'type': 1, 'platform': 'twitch', "
                "'platform_type': 'twitch', 'name': 'b1_tv'}]}]",
                p.bob->id);
    store_write(w, "update connections set friend_sync = 0 where user_id = $1",
                BIND(v_client(p.bob)));
    expect_found(p.ada, 0);
}

static void who_is_disabled_is_not_shown(struct world *w)
{
    struct people p = with_phones(w);
    const char *disable = "update users set disabled = $2 where id = $1";

    expect_status(upload(p.ada, ENTRY(BOB) ", " ENTRY(EVE), ""), 200);
    expect(count_suggestions(p.ada) == 2);
    store_write(w, disable, BIND(v_client(p.bob), v_int(1)));
    expect_json(client_get(p.ada, SUGGESTIONS), "[{'suggested_user': {'id': '%s'}}]", p.eve->id);
    expect(count_suggestions(p.ada) == 1);
    store_write(w, disable, BIND(v_client(p.bob), v_int(0)));
    expect(count_suggestions(p.ada) == 2);
}

/* --- asking many ---------------------------------------------------------------------- */

static struct answer bulk(struct client *c, const char *token, const char *ids)
{
    return client_post(c, TEXT(c->world, "{'token': '%s', 'user_ids': [%s]}", token, ids), BULK);
}

static void many_are_asked_at_once(struct world *w)
{
    struct people p = with_phones(w);
    struct client *zoe = world_client(w, "zoe");

    client_patch(p.bob, "{'friend_source_flags': {'mutual_friends': true}}", "/users/@me/settings");
    const char *token =
        answer_text(upload(p.ada, ENTRY(BOB) ", " ENTRY(EVE), ""), "bulk_add_token");
    ask_friend(p.eve, p.ada);
    struct answer a =
        bulk(p.ada, token,
             TEXT(w, "'%s', '%s', '%s', '%s', '1'", p.eve->id, zoe->id, p.bob->id, p.eve->id));
    expect_status(a, 200);
    expect_json(a, "{'failed_requests': ['%s', '1'], 'successful_requests': ['%s', '%s']}", zoe->id,
                p.eve->id, p.bob->id);
    expect_relationship(p.ada, "ADD", p.eve, 1);
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", p.eve->id);
    expect_relationship(p.ada, "ADD", p.bob, 4);
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", p.bob->id);
    expect_event(p.eve, "RELATIONSHIP_ADD", "{'type': 1, 'should_notify': true}");
    expect_event(p.bob, "RELATIONSHIP_ADD", "{'type': 3, 'stranger_request': false}");
    expect_silence(zoe);
    /* Who is asked already counts as asked, a friend does not. */
    a = bulk(p.ada, token, TEXT(w, "'%s', '%s'", p.bob->id, p.eve->id));
    expect_json(a, "{'failed_requests': ['%s'], 'successful_requests': ['%s']}", p.eve->id,
                p.bob->id);
    expect_silence(p.ada);
}

static void a_bulk_token_is_personal_and_short_lived(struct world *w)
{
    struct people p = with_phones(w);
    const char *token = answer_text(upload(p.ada, ENTRY(BOB), ""), "bulk_add_token");
    const char *bob = TEXT(w, "'%s'", p.bob->id);

    expect_error(bulk(p.ada, "nonsense", bob), 404, 10012);
    expect_error(bulk(p.eve, token, bob), 404, 10012);
    expect_invalid(bulk(p.ada, token, ""), "user_ids", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_post(p.ada, "{}", BULK), "token", "BASE_TYPE_REQUIRED");
    world_wait(w, 14 * 60);
    expect_status(bulk(p.ada, token, bob), 200);
    world_wait(w, 61);
    expect_error(bulk(p.ada, token, bob), 404, 10012);
    expect(store_count(w, "select count(*) from bulk_add_tokens where length(digest) = 32") == 1);
}

static void a_thousand_are_asked_at_once(struct world *w)
{
    struct people p = with_phones(w);
    const char *token = answer_text(upload(p.ada, ENTRY(BOB), ""), "bulk_add_token");
    struct buf ids;

    buf_init(&ids, 1 << 20);
    for (int i = 1; i <= 1000; i++)
        buf_printf(&ids, "%s'%d'", i > 1 ? ", " : "", i);
    const char *most = TEXT(w, "%.*s", (int)ids.n, ids.p);
    buf_clear(&ids);
    expect_invalid(bulk(p.ada, token, TEXT(w, "%s, '1001'", most)), "user_ids",
                   "BASE_TYPE_BAD_LENGTH");
    expect_status(bulk(p.ada, token, most), 200);
}

static void bulk_has_a_limit_of_its_own(struct world *w)
{
    struct people p = with_phones(w);
    const char *token = answer_text(upload(p.ada, ENTRY(BOB), ""), "bulk_add_token");
    const char *bob = TEXT(w, "'%s'", p.bob->id);

    expect_status(bulk(p.ada, token, bob), 200);
    expect_status(bulk(p.ada, token, bob), 200);
    expect_status(bulk(p.ada, token, bob), 429);
    expect_status(client_put(p.ada, NULL, RELATIONSHIPS "/%s", p.eve->id), 204);
}

const struct test friend_suggestions_tests[] = {
    TEST(contacts_are_suggested),
    TEST(contact_upload_needs_a_phone_and_good_numbers),
    TEST(numbers_of_others_are_not_kept),
    TEST(a_long_address_book_replaces_the_one_before),
    TEST(the_address_book_has_a_name_and_a_switch),
    TEST(people_say_who_hears_of_them),
    TEST(those_who_have_the_caller_are_suggested_on_request),
    TEST(whoever_changes_their_mind_is_taken_back),
    TEST(who_has_no_address_book_any_more_is_taken_back),
    TEST(some_are_not_suggested),
    TEST(the_dismissed_stay_away_for_half_a_year),
    TEST(a_suggestion_ends_with_what_follows),
    TEST(a_hundred_of_the_best_are_kept),
    TEST(friends_of_three_friends_are_suggested),
    TEST(friends_elsewhere_are_suggested),
    TEST(who_is_disabled_is_not_shown),
    TEST(many_are_asked_at_once),
    TEST(a_bulk_token_is_personal_and_short_lived),
    TEST(a_thousand_are_asked_at_once),
    TEST_WITH(bulk_has_a_limit_of_its_own, buckets_only),
    { 0 },
};
