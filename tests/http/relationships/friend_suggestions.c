/* friend_suggestions.c - friend suggestions from contacts, mutual friends and connections. */
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

static void set_phone(struct client *c, const char *number)
{
    store_write(c->world, "update users set phone = $2 where id = $1",
                BIND(v_client(c), v_text(str_of(number))));
}

static void allow_discovery_by_phone(struct client *c)
{
    expect_status(client_patch(c, "{'friend_discovery_flags': 2}", "/users/@me/settings"), 200);
}

/* All users have phone numbers and can be found by them. */
static struct people create_users_with_phones(struct world *w)
{
    struct people p = world_people(w);

    set_phone(p.ada, ADA);
    set_phone(p.bob, BOB);
    set_phone(p.eve, EVE);
    allow_discovery_by_phone(p.ada);
    allow_discovery_by_phone(p.bob);
    allow_discovery_by_phone(p.eve);
    discard_received(w);
    return p;
}

static struct answer upload_contacts(struct client *c, const char *entries, const char *more)
{
    return client_put(c, TEXT(c->world, "{'friend_list_entries': [%s]%s}", entries, more), ENTRIES);
}

#define ENTRY(number) "{'friend_id': '" number "'}"

static size_t count_suggestions(struct client *c)
{
    return client_get(c, SUGGESTIONS).json->count;
}

/* --- contacts ------------------------------------------------------------------------- */

static void uploaded_contacts_create_friend_suggestions(struct world *w)
{
    struct people p = create_users_with_phones(w);
    struct answer a =
        upload_contacts(p.ada, "{'friend_id': '" BOB "', 'name': 'Bobby'}, " ENTRY("+4930123456"),
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
    /* The same contacts again send no event; without bob his suggestion is removed. */
    upload_contacts(p.ada, ENTRY(BOB), "");
    expect_silence(p.ada);
    expect_json(upload_contacts(p.ada, ENTRY(EVE), ", 'background': true"),
                "{'bulk_add_token': null, 'friend_suggestions': []}");
    expect_event(p.ada, "FRIEND_SUGGESTION_CREATE", "{'suggested_user': {'id': '%s'}}", p.eve->id);
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", p.bob->id);
    expect_silence(p.ada);
}

static void contact_upload_requires_a_phone_and_valid_numbers(struct world *w)
{
    struct people p = world_people(w);

    expect_error(upload_contacts(p.ada, ENTRY(BOB), ""), 403, 20021);
    expect_error(client_put(p.ada, "{'name': 'mine'}", CONTACTS), 403, 20021);
    set_phone(p.ada, ADA);
    expect_invalid(upload_contacts(p.ada, ENTRY(BOB) ", " ENTRY("0301234567"), ""),
                   "friend_list_entries.1.friend_id", "PHONE_NUMBER_INVALID");
    expect_invalid(upload_contacts(p.ada, ENTRY(BOB), ", 'allowed_in_suggestions': 3"),
                   "allowed_in_suggestions", "BASE_TYPE_CHOICES");
    expect_invalid(client_put(p.ada, "{}", ENTRIES), "friend_list_entries", "BASE_TYPE_REQUIRED");
    expect_status(upload_contacts(p.ada, ENTRY(BOB), ""), 200);
    expect_error(client_get(world_bot(w, "robot"), SUGGESTIONS), 403, 20001);
}

static void phone_numbers_of_contacts_are_stored_as_digests(struct world *w)
{
    struct people p = create_users_with_phones(w);

    upload_contacts(p.ada, ENTRY(BOB) ", " ENTRY(BOB), "");
    expect(store_count(w, "select count(*) from contacts") == 1);
    expect(store_count(w, "select count(*) from contacts where length(digest) = 32") == 1);
}

/* Uploads the numbers +1555010000 + from … to - 1, each with a name. */
static struct answer upload_contact_range(struct client *c, int from, int to, const char *name)
{
    const char *entries = "";

    for (int i = from; i < to; i++)
        entries = TEXT(c->world, "%s%s{'friend_id': '+1555010%03d', 'name': '%s'}", entries,
                       i > from ? ", " : "", i, name);
    return upload_contacts(c, entries, "");
}

/* More contacts than one statement writes; a later upload replaces the earlier one. */
static void contact_upload_replaces_all_earlier_contacts(struct world *w)
{
    struct people p = create_users_with_phones(w);

    set_phone(p.bob, "+1555010037");
    set_phone(p.eve, "+1555010005");
    expect_json(upload_contact_range(p.ada, 0, 40, "old"),
                "{'friend_suggestions': [{'contact_names': ['old']}, {'contact_names': ['old']}]}");
    expect(store_count(w, "select count(*) from contacts") == 40);
    expect_json(upload_contact_range(p.ada, 20, 61, "new"),
                "{'friend_suggestions': [{'suggested_user': {'username': 'bob'}, "
                "'contact_names': ['new']}]}");
    expect(store_count(w, "select count(*) from contacts") == 41);
    expect(store_count(w, "select count(*) from contacts where name = 'new'") == 41);
    expect_json(upload_contacts(p.ada, "", ""), "{'friend_suggestions': []}");
    expect(store_count(w, "select count(*) from contacts") == 0);
}

static void contacts_connection_has_a_name_and_sync_setting(struct world *w)
{
    struct people p = create_users_with_phones(w);

    expect_json(client_get(p.ada, ENTRIES "/settings"), "{'allowed_in_suggestions': 2}");
    upload_contacts(p.ada, ENTRY(BOB), ", 'allowed_in_suggestions': 1");
    expect_json(client_get(p.ada, ENTRIES "/settings"), "{'allowed_in_suggestions': 1}");
    discard_received(w);
    expect_json(client_put(p.ada, "{'name': 'Ada L'}", CONTACTS),
                "{'type': 'contacts', 'name': 'Ada L', 'verified': true, 'friend_sync': true}");
    expect_event(p.ada, "USER_CONNECTIONS_UPDATE", "{'user_id': '%s'}", p.ada->id);
    expect_json(client_put(p.ada, "{'name': 'Ada L', 'friend_sync': false}", CONTACTS),
                "{'friend_sync': false}");
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", p.bob->id);
    expect_event(p.ada, "USER_CONNECTIONS_UPDATE", "{}");
    expect_silence(p.ada);
    expect_error(upload_contacts(p.ada, ENTRY(BOB), ""), 403, 40034);
    expect(store_count(w, "select count(*) from contacts") == 0);
    expect_invalid(client_put(p.ada, "{'name': ''}", CONTACTS), "name", "BASE_TYPE_BAD_LENGTH");
    /* Other users see the connection's name. */
    client_put(p.ada, "{'name': 'Ada L', 'friend_sync': true}", CONTACTS);
    upload_contacts(p.ada, "", "");
    expect_json(upload_contacts(p.bob, ENTRY(ADA), ""),
                "{'friend_suggestions': [{'reasons': [{'name': 'Ada L'}]}]}");
}

static void discovery_settings_decide_who_gets_a_suggestion(struct world *w)
{
    struct people p = create_users_with_phones(w);

    /* Eve wants to be suggested only to users in her contacts. */
    upload_contacts(p.eve, ENTRY(BOB), ", 'allowed_in_suggestions': 1");
    upload_contacts(p.ada, ENTRY(EVE), "");
    expect(count_suggestions(p.ada) == 0);
    upload_contacts(p.bob, ENTRY(EVE), "");
    expect(count_suggestions(p.bob) == 1);
    /* Without the discovery flag nobody is found. */
    client_patch(p.bob, "{'friend_discovery_flags': 4}", "/users/@me/settings");
    upload_contacts(p.ada, ENTRY(BOB), "");
    expect(count_suggestions(p.ada) == 0);
    client_patch(p.bob, "{'friend_discovery_flags': 6}", "/users/@me/settings");
    upload_contacts(p.ada, ENTRY(BOB), "");
    expect(count_suggestions(p.ada) == 1);
}

static void users_with_the_callers_number_are_suggested_on_request(struct world *w)
{
    struct people p = create_users_with_phones(w);

    upload_contacts(p.bob, ENTRY(ADA), "");
    upload_contacts(p.eve, ENTRY(ADA), ", 'allowed_in_suggestions': 1");
    discard_received(w);
    upload_contacts(p.ada, "", "");
    expect(count_suggestions(p.ada) == 0);
    struct answer a = upload_contacts(p.ada, "", ", 'add_reverse_friend_suggestions': true");
    expect_json(a,
                "{'friend_suggestions': [{'suggested_user': {'id': '%s'}, "
                "'from_suggested_user_contacts': true, 'reasons': [{'platform': 'contacts'}]}]}",
                p.bob->id);
    expect_event(p.ada, "FRIEND_SUGGESTION_CREATE", "{'from_suggested_user_contacts': true}");
    expect_silence(p.ada);
}

static void changed_discovery_settings_remove_suggestions(struct world *w)
{
    struct people p = create_users_with_phones(w);
    const char *gone = "FRIEND_SUGGESTION_DELETE",
               *reverse = ", 'add_reverse_friend_suggestions': true";

    upload_contacts(p.bob, ENTRY(ADA) ", " ENTRY(EVE), "");
    upload_contacts(p.ada, "", reverse);
    upload_contacts(p.eve, ENTRY(BOB), "");
    discard_received(w);
    expect(count_suggestions(p.ada) == 1 && count_suggestions(p.eve) == 1);
    /* Bob allows only users in his contacts, and Eve is no longer in them. */
    upload_contacts(p.bob, ENTRY(ADA), "");
    expect_silence(p.eve);
    upload_contacts(p.bob, ENTRY(ADA), ", 'allowed_in_suggestions': 1");
    expect_event(p.eve, gone, "{'suggested_user_id': '%s'}", p.bob->id);
    expect_event(p.ada, gone, "{'suggested_user_id': '%s'}", p.bob->id);
    expect_silence(p.ada);
    expect(count_suggestions(p.ada) == 0 && count_suggestions(p.eve) == 0);

    upload_contacts(p.ada, ENTRY(BOB), "");
    expect(count_suggestions(p.ada) == 1);
    discard_received(w);
    upload_contacts(p.bob, ENTRY(ADA), ", 'allowed_in_suggestions': 1");
    expect_silence(p.ada);
    client_patch(p.bob, "{'friend_discovery_flags': 0}", "/users/@me/settings");
    expect_event(p.ada, gone, "{'suggested_user_id': '%s'}", p.bob->id);
    expect(count_suggestions(p.ada) == 0);
}

static void disabling_contact_sync_removes_suggestions(struct world *w)
{
    struct people p = create_users_with_phones(w);

    upload_contacts(p.bob, ENTRY(ADA), "");
    upload_contacts(p.ada, "", ", 'add_reverse_friend_suggestions': true");
    discard_received(w);
    client_put(p.bob, "{'name': 'Bob'}", CONTACTS);
    expect(count_suggestions(p.ada) == 1);
    client_put(p.bob, "{'name': 'Bob', 'friend_sync': false}", CONTACTS);
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", p.bob->id);
    expect_silence(p.ada);
    expect(count_suggestions(p.ada) == 0);
}

static void blocked_ignored_and_disabled_users_are_not_suggested(struct world *w)
{
    struct people p = create_users_with_phones(w);
    struct client *zoe = world_client(w, "zoe");

    set_phone(zoe, "+15550103");
    allow_discovery_by_phone(zoe);
    block_user(p.bob, p.ada);
    ignore_them(p.ada, p.eve);
    client_patch(zoe, "{'friend_source_flags': {'all': false}}", "/users/@me/settings");
    upload_contacts(p.ada, ENTRY(ADA) ", " ENTRY(BOB) ", " ENTRY(EVE) ", " ENTRY("+15550103"), "");
    expect(count_suggestions(p.ada) == 0);
    expect_status(client_delete(p.bob, RELATIONSHIPS "/%s", p.ada->id), 204);
    ask_friend(p.ada, p.bob);
    upload_contacts(p.ada, ENTRY(BOB), "");
    expect(count_suggestions(p.ada) == 0);
    client_patch(zoe, "{'friend_source_flags': {'mutual_guilds': true}}", "/users/@me/settings");
    store_write(w, "update users set disabled = 1 where id = $1", BIND(v_client(zoe)));
    upload_contacts(p.ada, ENTRY("+15550103"), "");
    expect(count_suggestions(p.ada) == 0);
    store_write(w, "update users set disabled = 0 where id = $1", BIND(v_client(zoe)));
    upload_contacts(p.ada, ENTRY("+15550103"), "");
    expect(count_suggestions(p.ada) == 1);
}

/* --- removal -------------------------------------------------------------------------- */

static void dismissed_suggestion_does_not_return_for_180_days(struct world *w)
{
    struct people p = create_users_with_phones(w);

    upload_contacts(p.ada, ENTRY(BOB), "");
    discard_received(w);
    expect_status(client_delete(p.ada, SUGGESTIONS "/%s", p.bob->id), 204);
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '%s'}", p.bob->id);
    expect_status(client_delete(p.ada, SUGGESTIONS "/%s", p.bob->id), 204);
    expect_error(client_delete(p.ada, SUGGESTIONS "/1"), 404, 10013);
    expect_silence(p.ada);
    expect_silence(p.bob);
    world_wait(w, 179.0 * 24 * 3600);
    upload_contacts(p.ada, ENTRY(BOB), "");
    expect(count_suggestions(p.ada) == 0);
    world_wait(w, 2.0 * 24 * 3600);
    upload_contacts(p.ada, ENTRY(BOB), "");
    expect(count_suggestions(p.ada) == 1);
}

static void friend_request_or_block_removes_the_suggestion(struct world *w)
{
    struct people p = create_users_with_phones(w);
    const char *gone = "FRIEND_SUGGESTION_DELETE";

    upload_contacts(p.ada, ENTRY(BOB), "");
    upload_contacts(p.bob, ENTRY(ADA), "");
    discard_received(w);
    /* The request removes the sender's suggestion; the other one's stays until they are friends. */
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

    upload_contacts(p.ada, ENTRY(EVE), "");
    upload_contacts(p.eve, ENTRY(ADA), "");
    discard_received(w);
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

static void friend_suggestions_are_limited_to_the_100_best(struct world *w)
{
    struct people p = create_users_with_phones(w);

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
    upload_contacts(p.ada, ENTRY(BOB), "");
    expect_event(p.ada, "FRIEND_SUGGESTION_CREATE", "{'suggested_user': {'id': '%s'}}", p.bob->id);
    expect_event(p.ada, "FRIEND_SUGGESTION_DELETE", "{'suggested_user_id': '1001'}");
    expect_silence(p.ada);
    struct answer a = client_get(p.ada, SUGGESTIONS);
    expect(a.json->count == 100);
    expect(str_is(dom_at(a.json, "0.suggested_user.id")->text, p.bob->id));
    expect(str_is(dom_at(a.json, "1.suggested_user.id")->text, "1100"));
    expect(str_is(dom_at(a.json, "99.suggested_user.id")->text, "1002"));
}

/* --- suggestions of the daily job ----------------------------------------------------- */

/* Expects this number of suggestions after the daily job. */
static void expect_suggestions_after_a_day(struct client *c, size_t count)
{
    world_wait(c->world, 25 * 3600);
    world_settle(c->world);
    expect(count_suggestions(c) == count);
}

static void users_with_three_mutual_friends_are_suggested(struct world *w)
{
    struct people p = world_people(w);
    struct client *last = world_client(w, "third");

    introduce(p.ada, p.bob);
    befriend(p.ada, p.eve);
    befriend(p.bob, p.eve);
    ask_and_accept(p.ada, last);
    expect_suggestions_after_a_day(p.ada, 0);
    befriend(p.bob, last);
    expect_suggestions_after_a_day(p.ada, 1);
    expect_json(client_get(p.ada, SUGGESTIONS),
                "[{'suggested_user': {'id': '%s'}, 'reasons': [], 'mutual_friends_count': 3}]",
                p.bob->id);
    expect_event(p.ada, "FRIEND_SUGGESTION_CREATE", "{'suggested_user': {'id': '%s'}}", p.bob->id);
    expect_notice(p.ada, "friend_suggestion_created", p.bob);
    expect_silence(p.ada);
    /* Ending a friendship removes the reason. */
    expect_status(client_delete(p.ada, RELATIONSHIPS "/%s", last->id), 204);
    expect_suggestions_after_a_day(p.ada, 0);
}

static void insert_connection(struct client *c, const char *id, int sync)
{
    store_write(c->world,
                "insert into connections (user_id, type, id, name, friend_sync, created_at) values "
                "($1, 'twitch', $2, $3, $4, 0)",
                BIND(v_client(c), v_text(str_of(id)), v_text(str_of(TEXT(c->world, "%s_tv", id))),
                     v_int(sync)));
}

static void friends_on_a_connected_platform_are_suggested(struct world *w)
{
    struct people p = world_people(w);

    insert_connection(p.ada, "a1", 1);
    insert_connection(p.bob, "b1", 1);
    insert_connection(p.eve, "e1", 0);
    store_write(w,
                "insert into connection_friends (user_id, type, id, friend_id) values ($1, "
                "'twitch', 'a1', 'b1'), ($1, 'twitch', 'a1', 'e1')",
                BIND(v_client(p.ada)));
    ask_and_accept(p.ada, world_client(w, "zoe"));
    expect_suggestions_after_a_day(p.ada, 1);
    expect_json(client_get(p.ada, SUGGESTIONS),
                "[{'suggested_user': {'id': '%s'}, 'reasons': [{'type': 1, 'platform': 'twitch', "
                "'platform_type': 'twitch', 'name': 'b1_tv'}]}]",
                p.bob->id);
    store_write(w, "update connections set friend_sync = 0 where user_id = $1",
                BIND(v_client(p.bob)));
    expect_suggestions_after_a_day(p.ada, 0);
}

static void disabled_users_are_not_listed_as_suggestions(struct world *w)
{
    struct people p = create_users_with_phones(w);
    const char *disable = "update users set disabled = $2 where id = $1";

    expect_status(upload_contacts(p.ada, ENTRY(BOB) ", " ENTRY(EVE), ""), 200);
    expect(count_suggestions(p.ada) == 2);
    store_write(w, disable, BIND(v_client(p.bob), v_int(1)));
    expect_json(client_get(p.ada, SUGGESTIONS), "[{'suggested_user': {'id': '%s'}}]", p.eve->id);
    expect(count_suggestions(p.ada) == 1);
    store_write(w, disable, BIND(v_client(p.bob), v_int(0)));
    expect(count_suggestions(p.ada) == 2);
}

/* --- bulk requests -------------------------------------------------------------------- */

static struct answer bulk_add_friends(struct client *c, const char *token, const char *ids)
{
    return client_post(c, TEXT(c->world, "{'token': '%s', 'user_ids': [%s]}", token, ids), BULK);
}

static void bulk_add_sends_friend_requests_to_suggested_users(struct world *w)
{
    struct people p = create_users_with_phones(w);
    struct client *zoe = world_client(w, "zoe");

    client_patch(p.bob, "{'friend_source_flags': {'mutual_friends': true}}", "/users/@me/settings");
    const char *token =
        answer_text(upload_contacts(p.ada, ENTRY(BOB) ", " ENTRY(EVE), ""), "bulk_add_token");
    ask_friend(p.eve, p.ada);
    struct answer a = bulk_add_friends(
        p.ada, token,
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
    /* A pending request counts as successful, an existing friend does not. */
    a = bulk_add_friends(p.ada, token, TEXT(w, "'%s', '%s'", p.bob->id, p.eve->id));
    expect_json(a, "{'failed_requests': ['%s'], 'successful_requests': ['%s']}", p.eve->id,
                p.bob->id);
    expect_silence(p.ada);
}

static void bulk_add_token_is_bound_to_its_user_for_15_minutes(struct world *w)
{
    struct people p = create_users_with_phones(w);
    const char *token = answer_text(upload_contacts(p.ada, ENTRY(BOB), ""), "bulk_add_token");
    const char *bob = TEXT(w, "'%s'", p.bob->id);

    expect_error(bulk_add_friends(p.ada, "nonsense", bob), 404, 10012);
    expect_error(bulk_add_friends(p.eve, token, bob), 404, 10012);
    expect_invalid(bulk_add_friends(p.ada, token, ""), "user_ids", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_post(p.ada, "{}", BULK), "token", "BASE_TYPE_REQUIRED");
    world_wait(w, 14 * 60);
    expect_status(bulk_add_friends(p.ada, token, bob), 200);
    world_wait(w, 61);
    expect_error(bulk_add_friends(p.ada, token, bob), 404, 10012);
    expect(store_count(w, "select count(*) from bulk_add_tokens where length(digest) = 32") == 1);
}

static void bulk_add_is_limited_to_1000_users(struct world *w)
{
    struct people p = create_users_with_phones(w);
    const char *token = answer_text(upload_contacts(p.ada, ENTRY(BOB), ""), "bulk_add_token");
    struct buf ids;

    buf_init(&ids, 1 << 20);
    for (int i = 1; i <= 1000; i++)
        buf_printf(&ids, "%s'%d'", i > 1 ? ", " : "", i);
    const char *most = TEXT(w, "%.*s", (int)ids.n, ids.p);
    buf_clear(&ids);
    expect_invalid(bulk_add_friends(p.ada, token, TEXT(w, "%s, '1001'", most)), "user_ids",
                   "BASE_TYPE_BAD_LENGTH");
    expect_status(bulk_add_friends(p.ada, token, most), 200);
}

static void bulk_add_has_a_separate_rate_limit(struct world *w)
{
    struct people p = create_users_with_phones(w);
    const char *token = answer_text(upload_contacts(p.ada, ENTRY(BOB), ""), "bulk_add_token");
    const char *bob = TEXT(w, "'%s'", p.bob->id);

    expect_status(bulk_add_friends(p.ada, token, bob), 200);
    expect_status(bulk_add_friends(p.ada, token, bob), 200);
    expect_status(bulk_add_friends(p.ada, token, bob), 429);
    expect_status(client_put(p.ada, NULL, RELATIONSHIPS "/%s", p.eve->id), 204);
}

const struct test friend_suggestions_tests[] = {
    TEST(uploaded_contacts_create_friend_suggestions),
    TEST(contact_upload_requires_a_phone_and_valid_numbers),
    TEST(phone_numbers_of_contacts_are_stored_as_digests),
    TEST(contact_upload_replaces_all_earlier_contacts),
    TEST(contacts_connection_has_a_name_and_sync_setting),
    TEST(discovery_settings_decide_who_gets_a_suggestion),
    TEST(users_with_the_callers_number_are_suggested_on_request),
    TEST(changed_discovery_settings_remove_suggestions),
    TEST(disabling_contact_sync_removes_suggestions),
    TEST(blocked_ignored_and_disabled_users_are_not_suggested),
    TEST(dismissed_suggestion_does_not_return_for_180_days),
    TEST(friend_request_or_block_removes_the_suggestion),
    TEST(friend_suggestions_are_limited_to_the_100_best),
    TEST(users_with_three_mutual_friends_are_suggested),
    TEST(friends_on_a_connected_platform_are_suggested),
    TEST(disabled_users_are_not_listed_as_suggestions),
    TEST(bulk_add_sends_friend_requests_to_suggested_users),
    TEST(bulk_add_token_is_bound_to_its_user_for_15_minutes),
    TEST(bulk_add_is_limited_to_1000_users),
    TEST_WITH(bulk_add_has_a_separate_rate_limit, buckets_only),
    { 0 },
};
