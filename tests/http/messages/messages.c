/* messages.c - sending, reading, editing and deleting messages. */
#include <stdio.h>
#include <stdlib.h>

#include "apps.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "channel_events.h"
#include "test_guild.h"

#define MESSAGES "/channels/%s/messages"
#define MESSAGE  "/channels/%s/messages/%s"

/* Writes {'content': 'xxx…'} of n characters. */
static const char *long_content(struct world *w, size_t n)
{
    struct buf b;

    buf_init(&b, 100000);
    buf_add_lit(&b, "{'content': '");
    for (size_t i = 0; i < n; i++)
        buf_add_lit(&b, "\xc3\xa4");
    buf_add_lit(&b, "'}");
    const char *text = str_dup_cstring(world_arena(w), buf_as_str(&b));
    buf_clear(&b);
    return text;
}

/* --- sending -------------------------------------------------------------------------- */

static void sent_message_is_returned_announced_and_readable(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    struct channel_events room = world_channel_events(w, v.channel);

    struct answer a =
        client_post(bob, "{'content': ' hello ', 'nonce': 'n1'}", MESSAGES, v.channel);
    expect_status(a, 200);
    expect_json(
        a,
        "{'channel_id': '%s', 'content': 'hello', 'author': {'id': '%s', 'username': 'bob', "
        "'discriminator': '0'}, 'edited_timestamp': null, 'tts': false, "
        "'mention_everyone': false, 'mentions': [], 'mention_roles': [], 'attachments': [], "
        "'embeds': [], 'pinned': false, 'type': 0, 'flags': 0, 'components': [], "
        "'nonce': 'n1'}",
        v.channel, bob->id);
    expect(answer_text(a, "timestamp") != NULL);
    expect_absent(a, "guild_id");
    expect_absent(a, "member");
    expect_absent(a, "webhook_id");
    expect_absent(a, "referenced_message");
    expect_channel_event(&room, "MESSAGE_CREATE",
                         "{'id': '%s', 'content': 'hello', 'nonce': 'n1', 'guild_id': '%s', "
                         "'channel_type': 0, 'member': {'roles': [], 'nick': null}}",
                         answer_text(a, "id"), v.id);
    expect_channel_silence(&room);
    expect_silence(ada);

    const char *id = answer_text(a, "id");
    a = client_get(ada, MESSAGE, v.channel, id);
    expect_json(a, "{'id': '%s', 'content': 'hello'}", id);
    expect_absent(a, "nonce");
    expect_json(client_get(ada, "/channels/%s", v.channel), "{'last_message_id': '%s'}", id);
}

static void message_content_is_limited_to_2000_characters(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    expect_status(client_post(ada, long_content(w, 2000), MESSAGES, v.channel), 200);
    expect_invalid(client_post(ada, long_content(w, 2001), MESSAGES, v.channel), "content",
                   "BASE_TYPE_MAX_LENGTH");
}

static void empty_messages_are_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct channel_events room = world_channel_events(w, v.channel);

    expect_error(client_post(ada, "{}", MESSAGES, v.channel), 400, 50006);
    expect_error(client_post(ada, "{'content': '  '}", MESSAGES, v.channel), 400, 50006);
    expect_error(client_post(ada, "{'content': null, 'embeds': []}", MESSAGES, v.channel), 400,
                 50006);
    /* Embeds of users do not count. */
    expect_error(client_post(ada, "{'embeds': [{'title': 'x'}]}", MESSAGES, v.channel), 400, 50006);
    expect_channel_silence(&room);
}

static void send_permission_is_checked_before_the_body(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);

    expect_error(client_post(eve, "{'content': 'x'}", MESSAGES, v.channel), 403, 50001);
    expect_error(client_post(eve, "{'content': 'x'}", MESSAGES, "1"), 404, 10003);
    test_guild_take_right(&v, PERMISSION(SEND_MESSAGES));
    expect_error(client_post(bob, "{'content': 5}", MESSAGES, v.channel), 403, 50013);
    expect_error(client_post(bob, NULL, "/channels/%s/typing", v.channel), 403, 50013);
    expect_status(client_post(ada, "{'content': 'x'}", MESSAGES, v.channel), 200);
    test_guild_take_right(&v, PERMISSION(VIEW_CHANNEL));
    expect_error(client_post(bob, "{'content': 'x'}", MESSAGES, v.channel), 403, 50001);
    expect_error(client_get(bob, MESSAGES, v.channel), 403, 50001);
}

static void expect_status_of_sent_message(struct client *who, const struct test_guild *v,
                                          int status)
{
    expect_status(client_post(who, "{'content': 'x'}", MESSAGES, v->channel), status);
    expect_status(client_get(who, MESSAGES "?limit=1", v->channel), status == 404 ? 404 : 200);
}

/* Cached permissions are used only while they are valid. */
static void sending_uses_the_current_permissions_at_each_message(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *overwrite = "/channels/%s/permissions/%s", *member = "/guilds/%s/members/%s";
    char until[TIMESTAMP_TEXT_SIZE];

    test_guild_add(&v, bob);
    expect_status_of_sent_message(bob, &v, 200);
    expect_status(client_put(ada, "{'type': 1, 'deny': '2048'}", overwrite, v.channel, bob->id),
                  204);
    expect_status_of_sent_message(bob, &v, 403);
    expect_status(client_delete(ada, overwrite, v.channel, bob->id), 204);
    expect_status_of_sent_message(bob, &v, 200);
    timestamp_format(clock_us() + INT64_C(3600000000), until);
    expect_status(
        client_patch(ada,
                     str_printf(world_arena(w), "{'communication_disabled_until': '%s'}", until).p,
                     member, v.id, bob->id),
        200);
    expect_status_of_sent_message(bob, &v, 403);
    expect_status(
        client_patch(ada, "{'communication_disabled_until': null}", member, v.id, bob->id), 200);
    expect_status_of_sent_message(bob, &v, 200);
    expect_status(client_patch(ada, "{'rate_limit_per_user': 600}", "/channels/%s", v.channel),
                  200);
    expect_status_of_sent_message(bob, &v, 200);
    expect_status(client_post(bob, "{'content': 'x'}", MESSAGES, v.channel), 429);
    expect_status(client_patch(ada, "{'rate_limit_per_user': 0}", "/channels/%s", v.channel), 200);
    expect_status(client_patch(bob, "{'global_name': 'Robert'}", "/users/@me"), 200);
    expect_json(client_post(bob, "{'content': 'x'}", MESSAGES, v.channel),
                "{'author': {'global_name': 'Robert'}}");
    test_guild_take_right(&v, PERMISSION(SEND_MESSAGES));
    expect_status_of_sent_message(bob, &v, 403);
    test_guild_give(&v, bob, test_guild_role(&v, 1, PERMISSION(SEND_MESSAGES)));
    expect_status_of_sent_message(bob, &v, 200);
    expect_status(client_delete(ada, member, v.id, bob->id), 204);
    expect_error(client_post(bob, "{'content': 'x'}", MESSAGES, v.channel), 403, 50001);
    expect_error(client_get(bob, MESSAGES, v.channel), 403, 50001);
    expect_status(client_delete(ada, "/channels/%s", v.channel), 200);
    expect_status_of_sent_message(ada, &v, 404);
}

static void categories_and_forums_refuse_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    world_sql(w, "insert into channels (id, guild_id, type, name) values (90001, %s, 4, 'c')",
              v.id);
    world_sql(w, "insert into channels (id, guild_id, type, name) values (90002, %s, 15, 'f')",
              v.id);
    expect_error(client_post(ada, "{'content': 'x'}", MESSAGES, "90001"), 400, 50008);
    expect_error(client_post(ada, "{'content': 'x'}", MESSAGES, "90002"), 400, 40058);
    expect_error(client_post(ada, NULL, "/channels/90002/typing"), 400, 40058);
}

static void tts_messages_require_send_tts_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    struct channel_events room = world_channel_events(w, v.channel);

    test_guild_take_right(&v, PERMISSION(SEND_TTS_MESSAGES));
    expect_error(client_post(bob, "{'content': 'x', 'tts': true}", MESSAGES, v.channel), 403,
                 50013);
    expect_status(client_post(bob, "{'content': 'x', 'tts': false}", MESSAGES, v.channel), 200);
    struct answer a = client_post(ada, "{'content': 'x', 'tts': true}", MESSAGES, v.channel);
    expect_json(a, "{'tts': true}");
    expect_channel_event(&room, "MESSAGE_CREATE", "{'tts': false}");
    expect_channel_event(&room, "MESSAGE_CREATE", "{'tts': true}");
    expect_status(client_patch(ada, "{'content': 'y'}", MESSAGE, v.channel, answer_text(a, "id")),
                  200);
    expect_channel_event(&room, "MESSAGE_UPDATE", "{'tts': false}");
}

static void message_nonce_is_returned_as_sent(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    expect_json(
        client_post(ada, "{'content': 'x', 'nonce': 123456789012345678}", MESSAGES, v.channel),
        "{'nonce': 123456789012345678}");
    expect_json(client_post(ada, "{'content': 'x', 'nonce': '1234567890123456789012345'}", MESSAGES,
                            v.channel),
                "{'nonce': '1234567890123456789012345'}");
    expect_invalid(client_post(ada, "{'content': 'x', 'nonce': '12345678901234567890123456'}",
                               MESSAGES, v.channel),
                   "nonce", "NONCE_TYPE_INVALID");
    expect_invalid(client_post(ada, "{'content': 'x', 'nonce': []}", MESSAGES, v.channel), "nonce",
                   "NONCE_TYPE_INVALID");
    expect_absent(client_post(ada, "{'content': 'x', 'nonce': null}", MESSAGES, v.channel),
                  "nonce");
}

static void enforce_nonce_sends_a_repeated_message_once(struct world *w)
{
    static const char body[] = "{'content': 'x', 'nonce': 'once', 'enforce_nonce': true}";
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);

    struct answer a = client_post(ada, body, MESSAGES, v.channel);
    expect_status(a, 200);
    const char *id = answer_text(a, "id");
    struct channel_events room = world_channel_events(w, v.channel);
    expect_json(client_post(ada, body, MESSAGES, v.channel), "{'id': '%s', 'nonce': 'once'}", id);
    expect_channel_silence(&room);
    /* A nonce is not enforced without enforce_nonce, for another user, or after five minutes. */
    a = client_post(ada, "{'content': 'x', 'nonce': 'once'}", MESSAGES, v.channel);
    expect(strcmp(answer_text(a, "id"), id) != 0);
    a = client_post(bob, body, MESSAGES, v.channel);
    expect(strcmp(answer_text(a, "id"), id) != 0);
    world_wait(w, 301);
    a = client_post(ada, body, MESSAGES, v.channel);
    expect(strcmp(answer_text(a, "id"), id) != 0);
}

static void reply_contains_the_referenced_message(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *first = say_text(ada, v.channel, "first");
    char body[300];

    snprintf(body, sizeof body, "{'content': 're', 'message_reference': {'message_id': '%s'}}",
             first);
    struct answer a = client_post(bob, body, MESSAGES, v.channel);
    expect_json(a,
                "{'type': 19, 'message_reference': {'type': 0, 'message_id': '%s', 'channel_id': "
                "'%s', 'guild_id': '%s'}, 'referenced_message': {'id': '%s', 'content': 'first', "
                "'author': {'id': '%s'}}, 'mentions': [{'id': '%s'}]}",
                first, v.channel, v.id, first, ada->id, ada->id);
    const char *reply = answer_text(a, "id");
    snprintf(body, sizeof body,
             "{'content': 're', 'message_reference': {'message_id': '%s', 'channel_id': '%s'}, "
             "'allowed_mentions': {'parse': []}}",
             reply, v.channel);
    a = client_post(bob, body, MESSAGES, v.channel);
    expect_json(a, "{'type': 19, 'mentions': []}");
    expect_absent(a, "referenced_message.referenced_message");

    expect_status(client_delete(ada, MESSAGE, v.channel, first), 204);
    expect_json(client_get(bob, MESSAGE, v.channel, reply),
                "{'type': 19, 'referenced_message': null}");
}

static void reply_requires_an_existing_readable_message(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *first = say_text(ada, v.channel, "first");
    char body[300];

    expect_invalid(client_post(bob, "{'content': 'x', 'message_reference': {'message_id': '77'}}",
                               MESSAGES, v.channel),
                   "message_reference", "REPLIES_UNKNOWN_MESSAGE");
    expect_invalid(
        client_post(bob, "{'content': 'x', 'message_reference': {}}", MESSAGES, v.channel),
        "message_reference.message_id", "BASE_TYPE_REQUIRED");
    struct answer a = client_post(bob,
                                  "{'content': 'x', 'message_reference': {'message_id': '77', "
                                  "'fail_if_not_exists': false}}",
                                  MESSAGES, v.channel);
    expect_json(a, "{'type': 0}");
    expect_absent(a, "message_reference");
    snprintf(body, sizeof body,
             "{'content': 'x', 'message_reference': {'message_id': '%s', 'channel_id': '77'}}",
             first);
    expect_invalid(client_post(bob, body, MESSAGES, v.channel), "message_reference",
                   "REPLIES_UNKNOWN_MESSAGE");
    test_guild_take_right(&v, PERMISSION(READ_MESSAGE_HISTORY));
    snprintf(body, sizeof body, "{'content': 'x', 'message_reference': {'message_id': '%s'}}",
             first);
    expect_error(client_post(bob, body, MESSAGES, v.channel), 403, 160002);
}

static void slow_mode_limits_messages_of_members(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *helper = world_bot(w, "helper");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    test_guild_add(&v, helper);

    world_sql(w, "update channels set rate_limit_per_user = 30 where id = %s", v.channel);
    const char *first = say_text(bob, v.channel, "one");
    struct answer a = client_post(bob, "{'content': 'two'}", MESSAGES, v.channel);
    expect_error(a, 429, 20016);
    expect_json(a, "{'global': false, 'message': 'This action cannot be performed due to slowmode "
                   "rate limit'}");
    expect(str_is(answer_header(a, "Retry-After"), "30"));
    expect(str_is(answer_header(a, "X-RateLimit-Scope"), "user"));
    /* Deleting the message does not end the wait. */
    expect_status(client_delete(bob, MESSAGE, v.channel, first), 204);
    expect_status(client_post(bob, "{'content': 'two'}", MESSAGES, v.channel), 429);
    /* The typing route returns the time to wait. */
    a = client_post(bob, NULL, "/channels/%s/typing", v.channel);
    expect_status(a, 200);
    double left = strtod(answer_text(a, "message_send_cooldown_ms"), NULL);
    expect(left > 0 && left <= 30000);
    expect_status(client_post(ada, NULL, "/channels/%s/typing", v.channel), 204);
    expect_status(client_post(helper, NULL, "/channels/%s/typing", v.channel), 204);
    /* Refused messages do not count; owners and bots are exempt. */
    say_text(ada, v.channel, "one");
    say_text(ada, v.channel, "two");
    say_text(helper, v.channel, "one");
    say_text(helper, v.channel, "two");
    world_wait(w, 31);
    expect_status(client_post(bob, NULL, "/channels/%s/typing", v.channel), 204);
    expect_error(client_post(bob, "{}", MESSAGES, v.channel), 400, 50006);
    say_text(bob, v.channel, "three");
}

static void typing_sends_typing_start(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct channel_events room = world_channel_events(w, v.channel);

    expect_status(client_post(ada, NULL, "/channels/%s/typing", v.channel), 204);
    expect_channel_event(
        &room, "TYPING_START",
        "{'channel_id': '%s', 'guild_id': '%s', 'user_id': '%s', 'member': {'user': "
        "{'id': '%s'}}}",
        v.channel, v.id, ada->id, ada->id);
    expect_channel_silence(&room);
}

/* --- reading -------------------------------------------------------------------------- */

static void message_pages_are_newest_first(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *id[6];
    char text[8];

    for (int i = 0; i < 6; i++) {
        snprintf(text, sizeof text, "m%d", i);
        id[i] = say_text(ada, v.channel, text);
    }
    expect_json(client_get(ada, MESSAGES, v.channel),
                "[{'content': 'm5'}, {'content': 'm4'}, {'content': 'm3'}, {'content': 'm2'}, "
                "{'content': 'm1'}, {'content': 'm0'}]");
    expect_json(client_get(ada, MESSAGES "?limit=2", v.channel),
                "[{'content': 'm5'}, {'content': 'm4'}]");
    expect_json(client_get(ada, MESSAGES "?limit=2&before=%s", v.channel, id[3]),
                "[{'content': 'm2'}, {'content': 'm1'}]");
    expect_json(client_get(ada, MESSAGES "?limit=2&after=%s", v.channel, id[1]),
                "[{'content': 'm3'}, {'content': 'm2'}]");
    expect_json(client_get(ada, MESSAGES "?limit=3&around=%s", v.channel, id[3]),
                "[{'content': 'm4'}, {'content': 'm3'}, {'content': 'm2'}]");
    /* around takes precedence over before, and before over after. */
    expect_json(client_get(ada, MESSAGES "?limit=1&after=%s&before=%s", v.channel, id[4], id[2]),
                "[{'content': 'm1'}]");
    expect_json(client_get(ada, MESSAGES "?limit=1&around=%s&before=%s", v.channel, id[4], id[2]),
                "[{'content': 'm4'}]");
    expect_status(client_get(ada, MESSAGES "?limit=100", v.channel), 200);
    expect_invalid(client_get(ada, MESSAGES "?limit=101", v.channel), "limit", "NUMBER_TYPE_MAX");
    expect_invalid(client_get(ada, MESSAGES "?limit=0", v.channel), "limit", "NUMBER_TYPE_MIN");
    expect_invalid(client_get(ada, MESSAGES "?before=x", v.channel), "before",
                   "NUMBER_TYPE_COERCE");
}

static void message_page_has_50_messages_by_default(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    for (int i = 1; i <= 51; i++)
        world_sql(w, "insert into messages (id, channel_id, author_id) values (%d, %s, %s)", i,
                  v.channel, ada->id);
    struct answer a = client_get(ada, MESSAGES, v.channel);
    expect(a.json->count == 50);
    expect_json(client_get(ada, MESSAGE, v.channel, "51"), "{'id': '51'}");
}

static void reading_messages_requires_read_message_history(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *id = say_text(ada, v.channel, "x");

    expect_json(client_get(bob, MESSAGE, v.channel, id), "{'id': '%s'}", id);
    expect_error(client_get(bob, MESSAGE, v.channel, "77"), 404, 10008);
    test_guild_take_right(&v, PERMISSION(READ_MESSAGE_HISTORY));
    struct answer a = client_get(bob, MESSAGES, v.channel);
    expect_status(a, 200);
    expect(a.json->count == 0);
    expect_error(client_get(bob, MESSAGE, v.channel, id), 403, 50013);
    expect_error(client_get(bob, MESSAGE, v.channel, "77"), 404, 10008);
}

static void ephemeral_messages_are_not_listed_in_the_channel(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    world_sql(w,
              "insert into messages (id, channel_id, author_id, flags, ephemeral_for) "
              "values (5, %s, %s, 64, %s)",
              v.channel, ada->id, ada->id);
    expect(client_get(ada, MESSAGES, v.channel).json->count == 0);
    expect_error(client_get(ada, MESSAGE, v.channel, "5"), 404, 10008);
    expect_invalid(client_post(ada, "{'content': 'x', 'message_reference': {'message_id': '5'}}",
                               MESSAGES, v.channel),
                   "message_reference", "REPLIES_UNKNOWN_MESSAGE");
}

/* --- changing ------------------------------------------------------------------------- */

static void only_the_author_can_edit_message_content(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *id = say_text(bob, v.channel, "before");
    struct channel_events room = world_channel_events(w, v.channel);
    char body[100];

    snprintf(body, sizeof body, "{'content': 'after <@%s>'}", ada->id);
    struct answer a = client_patch(bob, body, MESSAGE, v.channel, id);
    expect_status(a, 200);
    expect_json(a, "{'id': '%s', 'content': 'after <@%s>', 'mentions': [{'id': '%s'}]}", id,
                ada->id, ada->id);
    expect(answer_text(a, "edited_timestamp") != NULL);
    expect_channel_event(
        &room, "MESSAGE_UPDATE",
        "{'id': '%s', 'content': 'after <@%s>', 'guild_id': '%s', 'author': {'id': "
        "'%s'}, 'member': {'roles': []}, 'channel_type': 0}",
        id, ada->id, v.id, bob->id);
    expect_json(client_get(bob, MESSAGE, v.channel, id), "{'content': 'after <@%s>'}", ada->id);
    expect_error(client_patch(bob, "{'content': ''}", MESSAGE, v.channel, id), 400, 50006);
    expect_error(client_patch(bob, "{'content': null}", MESSAGE, v.channel, id), 400, 50006);
    expect_json(client_patch(bob, "{}", MESSAGE, v.channel, id), "{'content': 'after <@%s>'}",
                ada->id);
}

static void moderators_can_edit_only_flags_of_others_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    test_guild_add_with(&v, eve, 1, PERMISSION(MANAGE_MESSAGES));
    const char *id = say_text(bob, v.channel, "x");

    expect_error(client_patch(ada, "{'content': 'y'}", MESSAGE, v.channel, id), 403, 50005);
    expect_error(client_patch(eve, "{'flags': 4, 'content': 'y'}", MESSAGE, v.channel, id), 403,
                 50005);
    struct answer a = client_patch(eve, "{'flags': 4}", MESSAGE, v.channel, id);
    expect_json(a, "{'flags': 4, 'edited_timestamp': null}");
    expect_json(client_patch(eve, "{'flags': 8256}", MESSAGE, v.channel, id), "{'flags': 0}");
    const char *own = say_text(ada, v.channel, "x");
    expect_error(client_patch(bob, "{'flags': 4}", MESSAGE, v.channel, own), 403, 50005);
    expect_error(client_patch(bob, "{'flags': 'x'}", MESSAGE, v.channel, own), 403, 50005);
    expect_error(client_patch(bob, "{'flags': 4}", MESSAGE, v.channel, "77"), 404, 10008);

    /* System messages cannot be edited. */
    expect_status(client_put(ada, NULL, "/channels/%s/pins/%s", v.channel, own), 204);
    const char *pinned = answer_text(client_get(ada, MESSAGES "?limit=1", v.channel), "0.id");
    expect_error(client_patch(eve, "{'flags': 4}", MESSAGE, v.channel, pinned), 403, 50021);
    expect_error(client_patch(bob, "{'flags': 4}", MESSAGE, v.channel, pinned), 403, 50005);
}

/* --- deleting ------------------------------------------------------------------------- */

static void messages_are_deleted_by_author_or_with_manage_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    test_guild_add(&v, eve);
    const char *one = say_text(bob, v.channel, "one"), *two = say_text(bob, v.channel, "two");
    struct channel_events room = world_channel_events(w, v.channel);

    expect_error(client_delete(eve, MESSAGE, v.channel, one), 403, 50013);
    expect_status(client_delete(bob, MESSAGE, v.channel, one), 204);
    expect_channel_event(&room, "MESSAGE_DELETE",
                         "{'id': '%s', 'channel_id': '%s', 'guild_id': '%s'}", one, v.channel,
                         v.id);
    expect(world_number(w, "select count(*) from audit_log where action = 72") == 0);
    expect_status(client_delete(ada, MESSAGE, v.channel, two), 204);
    expect_channel_event(&room, "MESSAGE_DELETE", "{'id': '%s'}", two);
    expect(world_number(w, "select count(*) from audit_log where action = 72 and target_id = %s",
                        bob->id) == 1);
    expect_error(client_delete(ada, MESSAGE, v.channel, two), 404, 10008);
}

static const char *write_bulk_delete(struct world *w, const char *const *ids, size_t count)
{
    struct buf b;

    buf_init(&b, 100000);
    buf_add_lit(&b, "{'messages': [");
    for (size_t i = 0; i < count; i++)
        buf_printf(&b, "%s'%s'", i ? "," : "", ids[i]);
    buf_add_lit(&b, "]}");
    const char *text = str_dup_cstring(world_arena(w), buf_as_str(&b));
    buf_clear(&b);
    return text;
}

static void bulk_delete_removes_2_to_100_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *ids[101];

    ids[0] = say_text(bob, v.channel, "a");
    ids[1] = say_text(ada, v.channel, "b");
    ids[2] = ids[0];
    const char *remaining = say_text(ada, v.channel, "c");
    struct channel_events room = world_channel_events(w, v.channel);

    expect_error(client_post(bob, "{}", MESSAGES "/bulk-delete", v.channel), 403, 50013);
    expect_error(client_post(ada, write_bulk_delete(w, ids, 0), MESSAGES "/bulk-delete", v.channel),
                 400, 50016);
    expect_error(client_post(ada, write_bulk_delete(w, ids, 1), MESSAGES "/bulk-delete", v.channel),
                 400, 50016);
    expect_status(
        client_post(ada, write_bulk_delete(w, ids, 3), MESSAGES "/bulk-delete", v.channel), 204);
    expect_channel_event(&room, "MESSAGE_DELETE_BULK",
                         "{'ids': ['%s', '%s'], 'channel_id': '%s', 'guild_id': '%s'}", ids[0],
                         ids[1], v.channel, v.id);
    expect_channel_silence(&room);
    expect_json(client_get(ada, MESSAGES, v.channel), "[{'id': '%s'}]", remaining);
    for (size_t i = 0; i < 101; i++)
        ids[i] = remaining;
    expect_error(
        client_post(ada, write_bulk_delete(w, ids, 101), MESSAGES "/bulk-delete", v.channel), 400,
        50016);
    expect_status(
        client_post(ada, write_bulk_delete(w, ids, 100), MESSAGES "/bulk-delete", v.channel), 204);
}

static void bulk_delete_refuses_messages_older_than_two_weeks(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *ids[2];

    ids[0] = say_text(ada, v.channel, "a");
    ids[1] = say_text(ada, v.channel, "b");
    world_wait(w, 14 * 86400 + 5);
    expect_error(client_post(ada, write_bulk_delete(w, ids, 2), MESSAGES "/bulk-delete", v.channel),
                 400, 50034);
    expect_json(client_get(ada, MESSAGES, v.channel), "[{'id': '%s'}, {'id': '%s'}]", ids[1],
                ids[0]);
    ids[0] = say_text(ada, v.channel, "a");
    ids[1] = say_text(ada, v.channel, "b");
    world_wait(w, 14 * 86400 - 60);
    expect_status(
        client_post(ada, write_bulk_delete(w, ids, 2), MESSAGES "/bulk-delete", v.channel), 204);
}

static void group_system_messages_cannot_be_deleted(struct world *w)
{
    static const int undeletable[] = { 1, 2, 3, 4, 5, 21 };
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *ids[8];

    for (size_t i = 0; i < 6; i++) {
        ids[i] = say_text(bob, v.channel, "x");
        world_sql(w, "update messages set type = %d where id = %s", undeletable[i], ids[i]);
        expect_error(client_delete(ada, MESSAGE, v.channel, ids[i]), 403, 50021);
        expect_error(client_delete(bob, MESSAGE, v.channel, ids[i]), 403, 50021);
    }
    ids[6] = say_text(bob, v.channel, "x");
    world_sql(w, "update messages set type = 7 where id = %s", ids[6]);
    ids[7] = say_text(bob, v.channel, "x");
    world_sql(w, "update messages set type = 6 where id = %s", ids[7]);
    struct channel_events room = world_channel_events(w, v.channel);
    /* Bulk delete skips them. */
    expect_status(
        client_post(ada, write_bulk_delete(w, ids, 7), MESSAGES "/bulk-delete", v.channel), 204);
    expect_channel_event(&room, "MESSAGE_DELETE_BULK", "{'ids': ['%s']}", ids[6]);
    expect(client_get(ada, MESSAGES, v.channel).json->count == 7);
    expect_status(client_delete(bob, MESSAGE, v.channel, ids[7]), 204);
}

/* --- bots without the message content flag -------------------------------------------- */

#define NO_CONTENT "{'content': '', 'embeds': [], 'attachments': [], 'components': []}"

static void rest_hides_content_from_bots_without_the_content_flag(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *app = make_application(ada, "reader");
    struct client *bot = application_bot(ada, app);

    test_guild_add(&v, bot);
    world_sql(w, "update applications set flags = 0 where id = %s", app);
    const char *text = say_text(ada, v.channel, "secret"),
               *called = say_text(ada, v.channel, TEXT(w, "<@%s> look", bot->id)),
               *own = say_text(bot, v.channel, "mine");
    struct answer a = client_post(
        ada, TEXT(w, "{'content': 'again', 'message_reference': {'message_id': '%s'}}", text),
        MESSAGES, v.channel);
    expect_status(a, 200);
    a = client_post(ada,
                    "{'poll': {'question': {'text': 'q'}, 'answers': [{'poll_media': {'text': "
                    "'a'}}], 'duration': 1}}",
                    MESSAGES, v.channel);
    const char *poll = answer_text(a, "id");
    expect_status(client_put(ada, "", "/channels/%s/pins/%s", v.channel, text), 204);

    for (int i = 0; i < 2; i++) { /* the second time from a cached page */
        a = client_get(bot, MESSAGES "?limit=5&before=%s&after=0", v.channel, poll);
        expect_json(a,
                    "[{'content': '', 'referenced_message': " NO_CONTENT "}, {'content': "
                    "'mine'}, {'content': '<@%s> look'}, " NO_CONTENT "]",
                    bot->id);
        expect_json(client_get(ada, MESSAGES "?limit=1&before=%s", v.channel, called),
                    "[{'content': 'secret'}]");
        expect_json(client_get(bot, MESSAGES "?limit=1&before=%s", v.channel, called),
                    "[{'content': '', 'author': {'id': '%s'}}]", ada->id);
    }
    expect_json(client_get(bot, MESSAGE, v.channel, text), NO_CONTENT);
    expect_json(client_get(bot, MESSAGE, v.channel, own), "{'content': 'mine'}");
    expect_absent(client_get(bot, MESSAGE, v.channel, poll), "poll");
    expect_json(client_get(bot, "/channels/%s/pins", v.channel), "[" NO_CONTENT "]");
    expect_json(client_get(bot, "/channels/%s/messages/pins", v.channel),
                "{'items': [{'message': " NO_CONTENT "}]}");
    /* Private channels are exempt. */
    a = client_post(ada, TEXT(w, "{'recipient_id': '%s'}", bot->id), "/users/@me/channels");
    const char *dm = answer_text(a, "id");
    say_text(ada, dm, "between us");
    expect_json(client_get(bot, MESSAGES, dm), "[{'content': 'between us'}]");

    for (int flag = 18; flag <= 19; flag++) {
        world_sql(w, "update applications set flags = %d where id = %s", 1 << flag, app);
        expect_json(client_get(bot, MESSAGE, v.channel, text), "{'content': 'secret'}");
        expect_json(client_get(bot, MESSAGES "?limit=1&before=%s", v.channel, called),
                    "[{'content': 'secret'}]");
        expect_json(client_get(bot, "/channels/%s/pins", v.channel), "[{'content': 'secret'}]");
    }
    expect(dom_at(client_get(bot, MESSAGE, v.channel, poll).json, "poll"));
}

static void replies_and_forwards_hide_content_without_the_flag(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *app = make_application(ada, "reader");
    struct client *bot = application_bot(ada, app);

    test_guild_add_with(&v, bot, 1, PERMISSION(ADMINISTRATOR));
    world_sql(w, "update applications set flags = 0 where id = %s", app);
    const char *secret = say_text(ada, v.channel, "secret"),
               *own = say_text(bot, v.channel, "mine");
    const char *reply = "{'content': 'yes <@%s>', 'message_reference': {'message_id': '%s'}}";
    const char *forwarded =
        "{'message_reference': {'type': 1, 'message_id': '%s', 'channel_id': '%s'}}";
    const char *forward = TEXT(w, forwarded, secret, v.channel);
    struct gateway_conn *g = conn_session(bot, "v=10&encoding=json", "'intents': 512");

    struct answer a = client_post(bot, TEXT(w, reply, bot->id, secret), MESSAGES, v.channel);
    const char *id = answer_text(a, "id");
    expect_json(a, "{'content': 'yes <@%s>', 'referenced_message': " NO_CONTENT "}", bot->id);
    expect_dispatch(g, "MESSAGE_CREATE", "{'id': '%s', 'referenced_message': " NO_CONTENT "}", id);
    expect_json(client_get(bot, MESSAGE, v.channel, id), "{'referenced_message': " NO_CONTENT "}");
    expect_json(client_patch(bot, "{'content': 'no'}", MESSAGE, v.channel, id),
                "{'content': 'no', 'referenced_message': " NO_CONTENT "}");
    expect_dispatch(g, "MESSAGE_UPDATE", "{'referenced_message': " NO_CONTENT "}");
    expect_json(client_get(ada, MESSAGE, v.channel, id),
                "{'referenced_message': {'content': 'secret'}}");

    a = client_post(bot, TEXT(w, reply, bot->id, own), MESSAGES, v.channel);
    expect_json(a, "{'referenced_message': {'content': 'mine'}}");
    expect_dispatch(g, "MESSAGE_CREATE", "{'referenced_message': {'content': 'mine'}}");

    /* A message without readable content cannot be forwarded, not even to a private channel. */
    a = client_post(bot, TEXT(w, "{'recipient_id': '%s'}", ada->id), "/users/@me/channels");
    const char *dm = answer_text(a, "id");
    struct gateway_conn *private = conn_session(bot, "v=10&encoding=json", "'intents': 4096");
    expect_error(client_post(bot, forward, MESSAGES, v.channel), 403, 160014);
    expect_error(client_post(bot, forward, MESSAGES, dm), 403, 160014);
    const char *readable[] = { own, say_text(ada, v.channel, TEXT(w, "<@%s> look", bot->id)) };
    expect_dispatch(g, "MESSAGE_CREATE", "{'id': '%s'}", readable[1]);
    for (size_t i = 0; i < COUNT_OF(readable); i++) {
        a = client_post(bot, TEXT(w, forwarded, readable[i], v.channel), MESSAGES, v.channel);
        const char *text = i ? TEXT(w, "<@%s> look", bot->id) : "mine";
        expect_json(a, "{'message_snapshots': [{'message': {'content': '%s'}}]}", text);
        expect_dispatch(g, "MESSAGE_CREATE",
                        "{'message_snapshots': [{'message': {'content': '%s'}}]}", text);
        expect_json(client_get(bot, MESSAGE, v.channel, answer_text(a, "id")),
                    "{'message_snapshots': [{'message': {'content': '%s'}}]}", text);
    }
    /* A user who forwards a message to the bot reveals its content. */
    expect_status(client_post(ada, forward, MESSAGES, dm), 200);
    expect_dispatch(private, "MESSAGE_CREATE",
                    "{'message_snapshots': [{'message': {'content': 'secret'}}]}");
    const char *words = say_text(ada, dm, "between us");
    expect_json(client_post(bot, TEXT(w, reply, bot->id, words), MESSAGES, dm),
                "{'referenced_message': {'content': 'between us'}}");

    a = client_post(bot, "{'name': 'thread'}", MESSAGE "/threads", v.channel, secret);
    expect_status(a, 201);
    expect_json(client_get(bot, MESSAGES, answer_text(a, "id")),
                "[{'type': 21, 'referenced_message': " NO_CONTENT "}]");

    world_sql(w, "update applications set flags = %d where id = %s", 1 << 19, app);
    expect_json(client_post(bot, TEXT(w, reply, bot->id, secret), MESSAGES, v.channel),
                "{'referenced_message': {'content': 'secret'}}");
}

/* A bot replies to a message and mentions the other, which would get the content of both. */
static void reply_mentioning_another_bot_hides_the_referenced_content(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *apps[] = { make_application(ada, "one"), make_application(ada, "two") };
    struct client *one = application_bot(ada, apps[0]), *two = application_bot(ada, apps[1]);

    test_guild_add_with(&v, one, 1, PERMISSION(ADMINISTRATOR));
    test_guild_add_with(&v, two, 2, PERMISSION(ADMINISTRATOR));
    for (size_t i = 0; i < COUNT_OF(apps); i++)
        world_sql(w, "update applications set flags = 0 where id = %s", apps[i]);
    const char *secret = say_text(ada, v.channel, "secret"),
               *seen = say_text(ada, v.channel, TEXT(w, "<@%s> look", two->id));
    const char *reply = "{'content': 'yes <@%s>', 'message_reference': {'message_id': '%s'}}";
    struct gateway_conn *g = conn_session(two, "v=10&encoding=json", "'intents': 512"),
                        *with = conn_session(ada, "v=10&encoding=json", "");

    struct answer a = client_post(one, TEXT(w, reply, two->id, secret), MESSAGES, v.channel);
    const char *id = answer_text(a, "id");
    expect_dispatch(g, "MESSAGE_CREATE",
                    "{'id': '%s', 'content': 'yes <@%s>', 'referenced_message': " NO_CONTENT "}",
                    id, two->id);
    expect_dispatch(with, "MESSAGE_CREATE", "{'referenced_message': {'content': 'secret'}}");
    expect_json(client_get(two, MESSAGE, v.channel, id),
                "{'content': 'yes <@%s>', 'referenced_message': " NO_CONTENT "}", two->id);
    expect_json(client_get(two, MESSAGES "?limit=1", v.channel),
                "[{'referenced_message': " NO_CONTENT "}]");

    /* A message that mentions the reading bot is visible to it, also in replies of others. */
    a = client_post(one, TEXT(w, reply, two->id, seen), MESSAGES, v.channel);
    expect_dispatch(g, "MESSAGE_CREATE", "{'referenced_message': {'content': '<@%s> look'}}",
                    two->id);
    expect_json(client_get(two, MESSAGE, v.channel, answer_text(a, "id")),
                "{'referenced_message': {'content': '<@%s> look'}}", two->id);

    /* A user's reply that mentions the bot reveals the referenced message. */
    a = client_post(ada, TEXT(w, reply, two->id, secret), MESSAGES, v.channel);
    expect_dispatch(g, "MESSAGE_CREATE", "{'referenced_message': {'content': 'secret'}}");
    expect_json(client_get(two, MESSAGE, v.channel, answer_text(a, "id")),
                "{'referenced_message': {'content': 'secret'}}");
}

static void bots_without_the_flag_can_read_their_own_webhook_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *apps[] = { make_application(ada, "one"), make_application(ada, "two") };
    struct client *bots[] = { application_bot(ada, apps[0]), application_bot(ada, apps[1]) };
    struct gateway_conn *g[2];

    for (int i = 0; i < 2; i++) {
        test_guild_add_with(&v, bots[i], i + 1, PERMISSION(ADMINISTRATOR));
        world_sql(w, "update applications set flags = 0 where id = %s", apps[i]);
        g[i] = conn_session(bots[i], "v=10&encoding=json", "'intents': 512");
    }
    struct answer hook =
        client_post(bots[0], "{'name': 'hook'}", "/channels/%s/webhooks", v.channel);
    struct answer a = client_post(ada, "{'content': 'from the hook'}", "/webhooks/%s/%s?wait=true",
                                  answer_text(hook, "id"), answer_text(hook, "token"));
    const char *id = answer_text(a, "id");
    expect_dispatch(g[0], "MESSAGE_CREATE", "{'id': '%s', 'content': 'from the hook'}", id);
    expect_dispatch(g[1], "MESSAGE_CREATE", "{'id': '%s', 'content': ''}", id);
    expect_json(client_get(bots[0], MESSAGE, v.channel, id), "{'content': 'from the hook'}");
    expect_json(client_get(bots[1], MESSAGE, v.channel, id), NO_CONTENT);
}

const struct test messages_tests[] = {
    TEST(sent_message_is_returned_announced_and_readable),
    TEST(message_content_is_limited_to_2000_characters),
    TEST(empty_messages_are_refused),
    TEST(send_permission_is_checked_before_the_body),
    TEST(sending_uses_the_current_permissions_at_each_message),
    TEST(categories_and_forums_refuse_messages),
    TEST(tts_messages_require_send_tts_messages),
    TEST(message_nonce_is_returned_as_sent),
    TEST(enforce_nonce_sends_a_repeated_message_once),
    TEST(reply_contains_the_referenced_message),
    TEST(reply_requires_an_existing_readable_message),
    TEST(slow_mode_limits_messages_of_members),
    TEST(group_system_messages_cannot_be_deleted),
    TEST(typing_sends_typing_start),
    TEST(message_pages_are_newest_first),
    TEST(message_page_has_50_messages_by_default),
    TEST(reading_messages_requires_read_message_history),
    TEST(ephemeral_messages_are_not_listed_in_the_channel),
    TEST(only_the_author_can_edit_message_content),
    TEST(moderators_can_edit_only_flags_of_others_messages),
    TEST(messages_are_deleted_by_author_or_with_manage_messages),
    TEST(bulk_delete_removes_2_to_100_messages),
    TEST(bulk_delete_refuses_messages_older_than_two_weeks),
    TEST(rest_hides_content_from_bots_without_the_content_flag),
    TEST(replies_and_forwards_hide_content_without_the_flag),
    TEST(reply_mentioning_another_bot_hides_the_referenced_content),
    TEST(bots_without_the_flag_can_read_their_own_webhook_messages),
    { 0 },
};
