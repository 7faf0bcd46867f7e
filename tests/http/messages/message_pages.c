/* message_pages.c - a page of messages shows each message exactly as GET of that message. */
#include "apps.h"
#include "channel_events.h"
#include "test_guild.h"

#define MESSAGES  "/channels/%s/messages"
#define MESSAGE   MESSAGES "/%s"
#define REACTION  MESSAGE "/reactions/%%F0%%9F%%91%%8D/@me"
#define FIRE      MESSAGE "/reactions/%%F0%%9F%%94%%A5/@me"
#define WITH_TEXT "select count(*) from messages where id = %s and shown is not null"

/* Expects that a page with only this message has the bytes of the single message. */
static void expect_page_equals_single_message_at(const char *file, int line, struct client *c,
                                                 const char *channel, const char *id)
{
    struct answer alone = client_get(c, MESSAGE, channel, id);
    struct answer page = client_get(c, MESSAGES "?around=%s&limit=1", channel, id);
    const char *wanted = TEXT(c->world, "[%.*s]", STR_ARGS(alone.body));

    if (alone.status != 200 || !str_is(page.body, wanted))
        fail_test(file, line, "a page shows %.*s, not %s", STR_ARGS(page.body), wanted);
}
#define expect_page_alike(c, channel, id) \
    expect_page_equals_single_message_at(__FILE__, __LINE__, c, channel, id)

static bool has_cached_json(struct world *w, const char *id)
{
    return world_number(w, WITH_TEXT, id) == 1;
}

static const char *send_message(struct client *c, const char *channel, const char *json)
{
    struct answer a = client_post(c, json, MESSAGES, channel);

    expect_status(a, 200);
    return answer_text(a, "id");
}

static void message_page_shows_edits_and_other_changes(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *c = v.channel;
    const char *m = send_message(bob, c, "{'content': 'say \\\"hi\\\"\\n', 'nonce': 'n1'}");

    expect(has_cached_json(w, m));
    expect_page_alike(ada, c, m);
    expect_status(client_patch(bob, "{'content': 'edited'}", MESSAGE, c, m), 200);
    expect_page_alike(ada, c, m);
    expect_json(client_get(ada, MESSAGES, c), "[{'content': 'edited'}]");
    expect_status(client_put(ada, NULL, "/channels/%s/pins/%s", c, m), 204);
    expect_page_alike(bob, c, m);
    expect_json(client_get(ada, MESSAGES "?before=%s&limit=1", c, "9000000000000000000"),
                "[{'type': 6, 'message_reference': {'message_id': '%s'}}]", m);
    expect_json(client_get(bob, MESSAGES "?around=%s&limit=1", c, m), "[{'pinned': true}]");
    expect_status(client_patch(ada, "{'flags': 4}", MESSAGE, c, m), 200);
    expect_page_alike(bob, c, m);
    expect_json(client_get(bob, MESSAGES "?around=%s&limit=1", c, m), "[{'flags': 4}]");
    expect(has_cached_json(w, m));
}

static void message_page_contains_the_callers_own_reactions(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *c = v.channel, *m = send_message(ada, c, "{'content': 'x'}");

    expect_status(client_put(bob, NULL, REACTION, c, m), 204);
    expect_json(client_get(bob, MESSAGES, c), "[{'reactions': [{'count': 1, 'me': true}]}]");
    expect_json(client_get(ada, MESSAGES, c), "[{'reactions': [{'count': 1, 'me': false}]}]");
    expect_page_alike(bob, c, m);
    expect_page_alike(ada, c, m);
    expect_status(client_put(ada, NULL, REACTION, c, m), 204);
    expect_page_alike(ada, c, m);
    expect_status(client_delete(bob, REACTION, c, m), 204);
    expect_json(client_get(bob, MESSAGES, c), "[{'reactions': [{'count': 1, 'me': false}]}]");
    expect_status(client_delete(ada, REACTION, c, m), 204);
    expect_absent(client_get(ada, MESSAGES, c), "0.reactions");
    expect(has_cached_json(w, m));
}

/* Expects that a page cached for one caller has the correct bytes for each other caller, newest
 * message first. */
static void expect_message_pages_for_all_users(struct client *const *people, size_t count,
                                               const char *channel, const char *const *messages)
{
    struct world *w = people[0]->world;

    for (size_t i = 0; i < 2 * count; i++) {
        struct client *c = people[i % count];
        const char *wanted = "";

        for (; *messages; messages++)
            ;
        while (messages[-1]) {
            struct answer alone = client_get(c, MESSAGE, channel, *--messages);

            expect_status(alone, 200);
            wanted = TEXT(w, "%s%s%.*s", wanted, *wanted ? "," : "", STR_ARGS(alone.body));
        }
        struct answer page = client_get(c, MESSAGES, channel);
        if (!str_is(page.body, TEXT(w, "[%s]", wanted)))
            fail_test(__FILE__, __LINE__, "a page shows %.*s, not [%s]", STR_ARGS(page.body),
                      wanted);
    }
}

static void cached_message_page_marks_reactions_per_caller(struct world *w)
{
    enum { PEOPLE = 6 };
    struct client *ada = world_client(w, "ada"), *people[PEOPLE];
    struct test_guild v = world_test_guild(w, ada);
    const char *c = v.channel, *all[] = { NULL,
                                          send_message(ada, c, "{'content': 'few'}"),
                                          send_message(ada, c, "{'content': 'many'}"),
                                          send_message(ada, c, "{'content': 'none'}"),
                                          send_message(ada, c, "{'content': 'burst'}"),
                                          NULL };

    for (int i = 0; i < PEOPLE; i++) {
        people[i] = i ? world_client(w, TEXT(w, "person%d", i)) : ada;
        if (i)
            test_guild_add(&v, people[i]);
        expect_status(client_put(people[i], NULL, REACTION, c, all[2]), 204);
        if (i < 2)
            expect_status(client_put(people[i], NULL, REACTION, c, all[1]), 204);
    }
    expect_message_pages_for_all_users(people, PEOPLE, c, all + 1);
    expect_status(client_put(people[1], NULL, FIRE, c, all[1]), 204);
    expect_status(client_put(people[5], NULL, FIRE, c, all[2]), 204);
    expect_status(client_put(people[4], NULL, REACTION "?type=1", c, all[4]), 204);
    expect_status(client_put(people[4], NULL, FIRE, c, all[4]), 204);
    expect_message_pages_for_all_users(people, PEOPLE, c, all + 1);
    expect_status(client_delete(people[1], REACTION, c, all[1]), 204);
    expect_status(client_delete(people[2], REACTION, c, all[2]), 204);
    expect_message_pages_for_all_users(people, PEOPLE, c, all + 1);
}

static void message_page_contains_current_user_names(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *c = v.channel, *m = send_message(bob, c, "{'content': 'mine'}");
    const char *to_bob = send_message(ada, c, TEXT(w, "{'content': 'to <@%s>'}", bob->id));

    expect(!has_cached_json(w, to_bob));
    expect_status(client_patch(bob, "{'global_name': 'Robert'}", "/users/@me"), 200);
    expect_json(client_get(ada, MESSAGES, c),
                "[{'mentions': [{'global_name': 'Robert'}]}, {'author': {'global_name': "
                "'Robert'}}]");
    expect_page_alike(ada, c, m);
    expect_page_alike(ada, c, to_bob);
}

static void message_page_contains_current_replies_polls_and_files(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *c = v.channel, *m = send_message(ada, c, "{'content': 'first'}");
    const char *answer = send_message(
        bob, c, TEXT(w, "{'content': 'x', 'message_reference': {'message_id': '%s'}}", m));
    const char *poll =
        send_message(ada, c,
                     "{'poll': {'question': {'text': 'Which?'}, 'answers': "
                     "[{'poll_media': {'text': 'one'}}, {'poll_media': {'text': 'two'}}]}}");
    static const struct upload file[] = { { "files[0]", "a.txt", STR_INIT("hello") }, { 0 } };
    const char *files = answer_text(client_upload(ada, "POST", NULL, file, MESSAGES, c), "id");

    expect_status(client_patch(ada, "{'content': 'changed'}", MESSAGE, c, m), 200);
    expect_json(client_get(bob, MESSAGES "?around=%s&limit=1", c, answer),
                "[{'referenced_message': {'content': 'changed'}}]");
    expect_page_alike(bob, c, answer);
    expect_status(
        client_put(bob, "{'answer_ids': [2]}", "/channels/%s/polls/%s/answers/@me", c, poll), 204);
    expect_page_alike(bob, c, poll);
    expect_page_alike(ada, c, poll);
    expect_json(client_get(bob, MESSAGES "?around=%s&limit=1", c, files),
                "[{'attachments': [{'filename': 'a.txt', 'size': 5}]}]");
    expect_status(client_delete(ada, MESSAGE, c, m), 204);
    expect_json(client_get(bob, MESSAGES "?around=%s&limit=1", c, answer),
                "[{'referenced_message': null}]");
    expect(!has_cached_json(w, answer) && !has_cached_json(w, poll) && !has_cached_json(w, files));
}

static void message_page_contains_the_messages_thread(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *c = v.channel, *m = send_message(ada, c, "{'content': 'topic'}");

    expect_status(client_post(ada, "{'name': 'talk'}", MESSAGE "/threads", c, m), 201);
    expect_json(client_get(ada, MESSAGES "?around=%s&limit=1", c, m),
                "[{'flags': 32, 'thread': {'name': 'talk', 'message_count': 0}}]");
    send_message(ada, m, "{'content': 'inside'}");
    expect_page_alike(ada, c, m);
    expect_json(client_get(ada, MESSAGES "?around=%s&limit=1", c, m),
                "[{'thread': {'message_count': 1}}]");
    expect_status(client_delete(ada, "/channels/%s", m), 200);
    expect_absent(client_get(ada, MESSAGES "?around=%s&limit=1", c, m), "0.thread");
    expect_page_alike(ada, c, m);
    expect(has_cached_json(w, m));
}

static void message_page_contains_webhook_and_bot_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct client *bot = application_bot(ada, make_application(ada, "helper"));
    test_guild_add(&v, bot);
    const char *c = v.channel;
    struct answer hook = client_post(ada, "{'name': 'hook'}", "/channels/%s/webhooks", c);
    struct answer sent = client_post(world_anonymous(w), "{'content': 'x', 'username': 'robot'}",
                                     "/webhooks/%s/%s?wait=true", answer_text(hook, "id"),
                                     answer_text(hook, "token"));
    const char *by_hook = answer_text(sent, "id");
    const char *by_bot = send_message(
        bot, c,
        "{'embeds': [{'title': 'x'}], 'components': [{'type': 1, 'components': [{'type': 2, "
        "'style': 1, 'label': 'press', 'custom_id': 'p'}]}]}");

    expect(has_cached_json(w, by_hook) && has_cached_json(w, by_bot));
    expect_page_alike(ada, c, by_hook);
    expect_page_alike(ada, c, by_bot);
    expect_json(client_get(ada, MESSAGES, c),
                "[{'embeds': [{'title': 'x'}]}, {'author': {'username': 'robot', 'bot': true}}]");
}

/* Rows without cached JSON, from older versions or other writers, are among the others. */
static void messages_without_cached_json_are_listed_correctly(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *c = v.channel, *ids[5];

    for (int i = 0; i < 5; i++)
        ids[i] = send_message(ada, c, TEXT(w, "{'content': 'number %d'}", i));
    struct answer before = client_get(ada, MESSAGES, c);
    world_sql(w, "update messages set shown = null where id in (%s, %s)", ids[1], ids[3]);
    struct answer after = client_get(ada, MESSAGES, c);
    expect(str_eq(before.body, after.body));
    after = client_get(ada, MESSAGES "?after=%s&limit=2", c, ids[1]);
    expect_json(after, "[{'content': 'number 3'}, {'content': 'number 2'}]");
    after = client_get(ada, MESSAGES "?around=%s&limit=3", c, ids[2]);
    expect_json(after,
                "[{'content': 'number 3'}, {'content': 'number 2'}, {'content': 'number 1'}]");
    expect_status(client_patch(ada, "{'content': 'new'}", MESSAGE, c, ids[1]), 200);
    expect(has_cached_json(w, ids[1]));
}

const struct test message_pages_tests[] = {
    TEST(message_page_shows_edits_and_other_changes),
    TEST(message_page_contains_the_callers_own_reactions),
    TEST(cached_message_page_marks_reactions_per_caller),
    TEST(message_page_contains_current_user_names),
    TEST(message_page_contains_current_replies_polls_and_files),
    TEST(message_page_contains_the_messages_thread),
    TEST(message_page_contains_webhook_and_bot_messages),
    TEST(messages_without_cached_json_are_listed_correctly),
    { 0 },
};
