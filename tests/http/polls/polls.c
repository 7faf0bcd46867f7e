/* polls.c - polls: creating, voting, events and expiry. */
#include <pthread.h>

#include "gateway_conn.h"
#include "guilds.h"
#include "channel_events.h"
#include "test_guild.h"
#include "waits.h"

#define MESSAGES "/channels/%s/messages"
#define MESSAGE  MESSAGES "/%s"
#define POLL     "/channels/%s/polls/%s"
#define OWN      POLL "/answers/@me"

#define QUESTION "'question': {'text': 'Which?'}"
#define ANSWERS  "'answers': [{'poll_media': {'text': 'one'}}, {'poll_media': {'text': 'two'}}]"
#define ASK      "{'poll': {" QUESTION ", " ANSWERS "}}"

/* Guild of ada with bob, and a poll of ada. */
struct poll_test {
    struct client *ada, *bob;
    struct test_guild v;
    const char *message;
    struct channel_events room;
};

static struct poll_test create_poll(struct world *w, const char *body)
{
    struct poll_test b = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };

    b.v = world_test_guild(w, b.ada);
    test_guild_add(&b.v, b.bob);
    b.message = answer_text(client_post(b.ada, body, MESSAGES, b.v.channel), "id");
    b.room = world_channel_events(w, b.v.channel);
    return b;
}

static struct answer put_vote(struct poll_test *b, struct client *c, const char *ids)
{
    return client_put(c, TEXT(b->v.world, "{'answer_ids': [%s]}", ids), OWN, b->v.channel,
                      b->message);
}

static struct answer get_poll_message(struct poll_test *b, struct client *c)
{
    return client_get(c, MESSAGE, b->v.channel, b->message);
}

/* --- creating ------------------------------------------------------------------------- */

static void message_can_contain_a_poll(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add_with(&v, bob, 1, PERMISSION(VIEW_CHANNEL) | PERMISSION(SEND_MESSAGES));
    struct channel_events room = world_channel_events(w, v.channel);
    struct answer a = client_post(
        ada,
        "{'poll': {" QUESTION ", 'answers': [{'poll_media': {'text': ' one '}}, {'poll_media': "
        "{'text': 'two', 'emoji': {'name': '\xf0\x9f\x94\xa5'}}}], 'duration': 2}}",
        MESSAGES, v.channel);
    const char *as_shown =
        "{'type': 0, 'content': '', 'poll': {'question': {'text': 'Which?'}, 'answers': "
        "[{'answer_id': 1, 'poll_media': {'text': 'one'}}, {'answer_id': 2, 'poll_media': {'text': "
        "'two', 'emoji': {'id': null, 'name': '\xf0\x9f\x94\xa5'}}}], 'allow_multiselect': false, "
        "'layout_type': 1, 'results': {'is_finalized': false, 'answer_counts': [{'id': 1, "
        "'count': 0, 'me_voted': false}, {'id': 2, 'count': 0, 'me_voted': false}]}}}";

    expect_json(a, "%s", as_shown);
    expect_absent(a, "poll.answers.0.poll_media.emoji");
    expect_channel_event(&room, "MESSAGE_CREATE", "%s", as_shown);
    expect_json(client_get(bob, MESSAGE, v.channel, answer_text(a, "id")), "%s", as_shown);
    expect_json(client_get(ada, MESSAGES, v.channel), "[%s]", as_shown);
}

static void invalid_polls_are_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    static const struct {
        const char *poll, *at, *code;
    } wrong[] = {
        { "{" ANSWERS "}", "poll.question", "BASE_TYPE_REQUIRED" },
        { "{" QUESTION ", 'answers': []}", "poll.answers", "BASE_TYPE_BAD_LENGTH" },
        { "{'question': {'text': ''}, " ANSWERS "}", "poll.question.text", "BASE_TYPE_BAD_LENGTH" },
        { "{" QUESTION ", 'answers': [{'poll_media': {}}]}", "poll.answers.0.poll_media.text",
          "BASE_TYPE_REQUIRED" },
        { "{" QUESTION ", " ANSWERS ", 'duration': 0}", "poll.duration", "NUMBER_TYPE_MIN" },
        { "{" QUESTION ", " ANSWERS ", 'duration': 769}", "poll.duration", "NUMBER_TYPE_MAX" },
        { "{" QUESTION ", " ANSWERS ", 'layout_type': 2}", "poll.layout_type",
          "BASE_TYPE_CHOICES" },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_invalid(
            client_post(ada, TEXT(w, "{'poll': %s}", wrong[i].poll), MESSAGES, v.channel),
            wrong[i].at, wrong[i].code);
    expect_status(client_post(ada, "{'poll': {" QUESTION ", " ANSWERS ", 'duration': 768}}",
                              MESSAGES, v.channel),
                  200);
    expect_error(client_post(ada,
                             "{'poll': {" QUESTION ", 'answers': [{'poll_media': {'text': 'x', "
                             "'emoji': {'id': '5'}}}]}}",
                             MESSAGES, v.channel),
                 400, 520004);
    expect_error(client_post(ada,
                             "{'poll': {" QUESTION ", 'answers': [{'poll_media': {'text': 'x', "
                             "'emoji': {'name': 'fire'}}}]}}",
                             MESSAGES, v.channel),
                 400, 520004);
    expect_status(client_post(ada, "{'content': 'x', 'poll': null}", MESSAGES, v.channel), 200);
}

static void polls_require_the_send_polls_permission(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              BITS(PERMISSION(VIEW_CHANNEL) | PERMISSION(SEND_MESSAGES)), v.id);
    expect_error(client_post(bob, ASK, MESSAGES, v.channel), 403, 50013);
    expect_status(client_post(ada, ASK, MESSAGES, v.channel), 200);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              BITS(PERMISSION(VIEW_CHANNEL) | PERMISSION(SEND_MESSAGES) | PERMISSION(SEND_POLLS)),
              v.id);
    expect_status(client_post(bob, ASK, MESSAGES, v.channel), 200);
}

static void poll_message_content_cannot_be_edited(struct world *w)
{
    struct poll_test b = create_poll(w, ASK);

    expect_error(client_patch(b.ada, "{'content': 'x'}", MESSAGE, b.v.channel, b.message), 400,
                 520003);
    expect_error(client_patch(b.ada, ASK, MESSAGE, b.v.channel, b.message), 400, 520003);
    expect_status(client_patch(b.ada, "{'flags': 4}", MESSAGE, b.v.channel, b.message), 200);
    const char *plain =
        answer_text(client_post(b.ada, "{'content': 'x'}", MESSAGES, b.v.channel), "id");
    expect_error(client_patch(b.ada, ASK, MESSAGE, b.v.channel, plain), 400, 520003);
}

static void webhooks_can_send_polls(struct world *w)
{
    struct poll_test b = create_poll(w, "{'content': 'x'}");
    struct answer hook =
        client_post(b.ada, "{'name': 'hook'}", "/channels/%s/webhooks", b.v.channel);
    struct answer a = client_post(world_anonymous(w), ASK, "/webhooks/%s/%s?wait=true",
                                  answer_text(hook, "id"), answer_text(hook, "token"));

    expect_json(a, "{'poll': {" QUESTION "}}");
    b.message = answer_text(a, "id");
    expect_status(put_vote(&b, b.bob, "1"), 204);
    expect_error(client_post(b.ada, NULL, POLL "/expire", b.v.channel, b.message), 403, 50013);
    world_wait(w, 24 * 3600 + 1);
    expect_soon(world_number(w, "select count(*) from messages where type = 46") == 1);
    expect_json(client_get(b.ada, MESSAGES "?limit=1", b.v.channel),
                "[{'type': 46, 'author': {'username': 'hook'}, 'mentions': []}]");
}

/* --- voting --------------------------------------------------------------------------- */

static void vote_is_counted_and_sends_an_event(struct world *w)
{
    struct poll_test b = create_poll(w, ASK);

    expect_status(put_vote(&b, b.bob, "2"), 204);
    expect_channel_event(
        &b.room, "MESSAGE_POLL_VOTE_ADD",
        "{'user_id': '%s', 'channel_id': '%s', 'message_id': '%s', 'guild_id': '%s', "
        "'answer_id': 2}",
        b.bob->id, b.v.channel, b.message, b.v.id);
    expect_channel_silence(&b.room);
    expect_json(get_poll_message(&b, b.bob),
                "{'poll': {'results': {'answer_counts': [{'count': 0}, "
                "{'id': 2, 'count': 1, 'me_voted': true}]}}}");
    expect_json(get_poll_message(&b, b.ada),
                "{'poll': {'results': {'answer_counts': [{}, {'count': 1, 'me_voted': false}]}}}");
    /* The same vote again changes nothing; another answer replaces the first. */
    expect_status(put_vote(&b, b.bob, "2"), 204);
    expect_channel_silence(&b.room);
    expect_status(put_vote(&b, b.bob, "1"), 204);
    expect_channel_event(&b.room, "MESSAGE_POLL_VOTE_REMOVE", "{'answer_id': 2}");
    expect_channel_event(&b.room, "MESSAGE_POLL_VOTE_ADD", "{'answer_id': 1}");
    expect_json(get_poll_message(&b, b.bob),
                "{'poll': {'results': {'answer_counts': [{'count': 1, "
                "'me_voted': true}, {'count': 0, 'me_voted': false}]}}}");
    expect_status(put_vote(&b, b.bob, ""), 204);
    expect_channel_event(&b.room, "MESSAGE_POLL_VOTE_REMOVE", "{'answer_id': 1}");
    expect_channel_silence(&b.room);
    expect_invalid(put_vote(&b, b.bob, "1, 2"), "answer_ids", "POLL_SINGLE_ANSWER");
    expect_invalid(put_vote(&b, b.bob, "3"), "answer_ids.0", "POLL_ANSWER_UNKNOWN");
    expect_invalid(put_vote(&b, b.bob, "0"), "answer_ids.0", "POLL_ANSWER_UNKNOWN");
}

static void multiselect_poll_accepts_several_answers(struct world *w)
{
    struct poll_test b =
        create_poll(w, "{'poll': {" QUESTION ", " ANSWERS ", 'allow_multiselect': true}}");

    expect_status(put_vote(&b, b.bob, "2, 1, 2"), 204);
    expect_channel_event(&b.room, "MESSAGE_POLL_VOTE_ADD", "{'answer_id': 1}");
    expect_channel_event(&b.room, "MESSAGE_POLL_VOTE_ADD", "{'answer_id': 2}");
    expect_status(put_vote(&b, b.bob, "2"), 204);
    expect_channel_event(&b.room, "MESSAGE_POLL_VOTE_REMOVE", "{'answer_id': 1}");
    expect_channel_silence(&b.room);
    expect_json(get_poll_message(&b, b.bob),
                "{'poll': {'results': {'answer_counts': [{'count': 0}, "
                "{'count': 1, 'me_voted': true}]}}}");
}

static void voting_requires_a_user_with_message_history_access(struct world *w)
{
    struct poll_test b = create_poll(w, ASK);
    struct client *bot = world_bot(w, "robot"), *eve = world_client(w, "eve");
    const char *plain =
        answer_text(client_post(b.ada, "{'content': 'x'}", MESSAGES, b.v.channel), "id");

    test_guild_add(&b.v, bot);
    expect_error(put_vote(&b, bot, "1"), 403, 20001);
    expect_error(put_vote(&b, eve, "1"), 403, 50001);
    expect_error(client_put(b.bob, "{'answer_ids': [1]}", OWN, b.v.channel, plain), 400, 520006);
    expect_error(client_get(b.bob, POLL "/answers/1", b.v.channel, plain), 400, 520006);
    expect_error(client_post(b.ada, NULL, POLL "/expire", b.v.channel, plain), 400, 520006);
    expect_status(client_put(b.ada, "{'type': 2}", "/users/@me/relationships/%s", b.bob->id), 204);
    expect_error(put_vote(&b, b.bob, "1"), 403, 520000);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              BITS(PERMISSION(VIEW_CHANNEL)), b.v.id);
    expect_error(put_vote(&b, b.bob, "1"), 403, 50013);
}

static void voters_of_an_answer_are_listed_in_pages(struct world *w)
{
    struct poll_test b = create_poll(w, ASK);

    put_vote(&b, b.ada, "1");
    put_vote(&b, b.bob, "1");
    struct answer a = client_get(b.bob, POLL "/answers/1", b.v.channel, b.message);
    expect_json(a, "{'users': [{'id': '%s', 'username': 'ada'}, {'username': 'bob'}]}", b.ada->id);
    a = client_get(b.bob, POLL "/answers/1?limit=1", b.v.channel, b.message);
    expect_absent(a, "users.1");
    a = client_get(b.bob, POLL "/answers/1?after=%s", b.v.channel, b.message, b.ada->id);
    expect_json(a, "{'users': [{'username': 'bob'}]}");
    expect_absent(a, "users.1");
    expect_json(client_get(b.bob, POLL "/answers/2", b.v.channel, b.message), "{'users': []}");
    expect_invalid(client_get(b.bob, POLL "/answers/3", b.v.channel, b.message), "answer_id",
                   "POLL_ANSWER_UNKNOWN");
    expect_invalid(client_get(b.bob, POLL "/answers/0", b.v.channel, b.message), "answer_id",
                   "POLL_ANSWER_UNKNOWN");
}

static void poll_vote_events_require_the_poll_intent(struct world *w)
{
    struct poll_test b = create_poll(w, ASK);
    struct client *one = world_bot(w, "one"), *two = world_bot(w, "two");
    struct gateway_conn *with_intent, *without_intent;

    test_guild_add(&b.v, one);
    test_guild_add(&b.v, two);
    with_intent = conn_session(one, "v=10&encoding=json", "'intents': 16777216");
    without_intent = conn_session(two, "v=10&encoding=json", "'intents': 512");
    expect_status(put_vote(&b, b.bob, "1"), 204);
    expect_dispatch(with_intent, "MESSAGE_POLL_VOTE_ADD", "{'user_id': '%s', 'answer_id': 1}",
                    b.bob->id);
    expect_quiet(without_intent);
    /* Without the message content intent the poll is omitted. */
    expect_status(client_post(b.ada, ASK, MESSAGES, b.v.channel), 200);
    const struct dom *d = expect_dispatch(without_intent, "MESSAGE_CREATE", "{'content': ''}");
    expect(!dom_at(d, "poll"));
    expect_quiet(with_intent);
}

/* --- many voters ---------------------------------------------------------------------- */

enum { PEOPLE = 10, VOTERS = 2000 };

struct voter {
    struct client *client;
    const char *channel, *message;
    int status;
};

static void *vote_repeatedly(void *arg)
{
    struct voter *v = arg;

    v->client->arena = arena_new();
    for (int i = 0; i < 4; i++) {
        v->status = client_put(v->client, i % 2 ? "{'answer_ids': [2]}" : "{'answer_ids': [1]}",
                               OWN, v->channel, v->message)
                        .status;
        if (v->status != 204)
            break;
    }
    arena_free(v->client->arena);
    v->client->arena = NULL;
    return NULL;
}

static void concurrent_votes_are_all_counted(struct world *w)
{
    struct poll_test b = create_poll(w, ASK);
    struct voter all[PEOPLE];
    pthread_t threads[PEOPLE];

    for (int i = 0; i < PEOPLE; i++) {
        all[i] =
            (struct voter){ world_client(w, TEXT(w, "person%d", i)), b.v.channel, b.message, 0 };
        test_guild_add(&b.v, all[i].client);
    }
    for (int i = 0; i < PEOPLE; i++)
        expect(pthread_create(&threads[i], NULL, vote_repeatedly, &all[i]) == 0);
    for (int i = 0; i < PEOPLE; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PEOPLE; i++)
        expect(all[i].status == 204);
    expect_json(get_poll_message(&b, b.ada),
                "{'poll': {'results': {'answer_counts': [{'count': 0}, {'count': %d}]}}}", PEOPLE);
    expect(world_number(w, "select count(*) from poll_votes") == PEOPLE);
}

static int64_t count_poll_rows(struct world *w)
{
    return world_number(w, "select (select count(*) from polls) + (select count(*) from "
                           "poll_counts) + (select count(*) from poll_voters) + (select count(*) "
                           "from poll_votes)");
}

static void expect_poll_rows_deleted(struct world *w)
{
    expect_soon((world_wait(w, 1), count_poll_rows(w) == 0));
}

/* Inserts votes of so many deleted accounts. */
static void insert_poll_votes(struct poll_test *b)
{
    struct world *w = b->v.world;

    world_sql(w,
              "insert into poll_voters (message_id, user_id, answers) with recursive n(i) as "
              "(select 1 union all select i + 1 from n where i < %d) select %s, i, 1 from n",
              VOTERS, b->message);
    world_sql(w, "insert into poll_votes (message_id, answer_id, user_id) select message_id, 1, "
                 "user_id from poll_voters");
    world_sql(w,
              "insert into poll_counts (message_id, answer_id, lane, votes) values "
              "(%s, 1, 99, %d)",
              b->message, VOTERS);
}

static void deleting_a_message_deletes_its_poll(struct world *w)
{
    struct poll_test b = create_poll(w, ASK);

    insert_poll_votes(&b);
    expect_json(get_poll_message(&b, b.ada),
                "{'poll': {'results': {'answer_counts': [{'count': %d}, {}]}}}", VOTERS);
    expect_status(client_delete(b.ada, MESSAGE, b.v.channel, b.message), 204);
    expect_poll_rows_deleted(w);
    expect_soon(world_number(w, "select count(*) from jobs where kind like 'poll%%'") == 0);
    expect_absent(client_get(b.ada, MESSAGES, b.v.channel), "0");
}

static void deleting_a_channel_deletes_its_polls(struct world *w)
{
    struct poll_test b = create_poll(w, ASK);

    insert_poll_votes(&b);
    expect_status(client_delete(b.ada, "/channels/%s", b.v.channel), 200);
    expect_poll_rows_deleted(w);
    expect_soon(world_number(w, "select count(*) from messages") == 0);
    world_wait(w, 24 * 3600 + 1);
    world_settle(w);
    expect(world_number(w, "select count(*) from messages") == 0);
}

/* --- expiry --------------------------------------------------------------------------- */

static void only_the_author_can_end_a_poll_early(struct world *w)
{
    struct poll_test b = create_poll(w, ASK);

    put_vote(&b, b.bob, "2");
    expect_channel_event(&b.room, "MESSAGE_POLL_VOTE_ADD", "{}");
    expect_error(client_post(b.bob, NULL, POLL "/expire", b.v.channel, b.message), 403, 50013);
    struct answer a = client_post(b.ada, NULL, POLL "/expire", b.v.channel, b.message);
    expect_json(a,
                "{'id': '%s', 'edited_timestamp': null, 'poll': {'results': {'is_finalized': "
                "true, 'answer_counts': [{'count': 0}, {'count': 1}]}}}",
                b.message);
    expect_channel_event(&b.room, "MESSAGE_UPDATE",
                         "{'id': '%s', 'poll': {'results': "
                         "{'is_finalized': true}}}",
                         b.message);
    expect_channel_event(
        &b.room, "MESSAGE_CREATE",
        "{'type': 46, 'author': {'id': '%s'}, 'mentions': [{'id': '%s'}], 'message_reference': "
        "{'type': 0, 'channel_id': '%s', 'message_id': '%s', 'guild_id': '%s'}, 'embeds': "
        "[{'type': 'poll_result', 'fields': [{'name': 'poll_question_text', 'value': 'Which?', "
        "'inline': false}, {'name': 'victor_answer_votes', 'value': '1'}, {'name': 'total_votes', "
        "'value': '1'}, {'name': 'victor_answer_id', 'value': '2'}, {'name': "
        "'victor_answer_text', 'value': 'two'}]}]}",
        b.ada->id, b.ada->id, b.v.channel, b.message, b.v.id);
    expect_channel_silence(&b.room);
    expect_error(put_vote(&b, b.bob, "1"), 400, 520001);
    expect_error(client_post(b.ada, NULL, POLL "/expire", b.v.channel, b.message), 400, 520001);
    expect(world_number(w, "select count(*) from jobs where kind = 'poll-end'") == 0);
    /* Later changes of the counts have no effect. */
    world_sql(w, "update poll_counts set votes = 7");
    expect_json(get_poll_message(&b, b.ada),
                "{'poll': {'results': {'answer_counts': [{'count': 0}, "
                "{'count': 1}]}}}");
}

static void poll_ends_at_its_expiry_with_a_result_message(struct world *w)
{
    struct poll_test b = create_poll(w, "{'poll': {" QUESTION ", " ANSWERS ", 'duration': 1}}");

    put_vote(&b, b.bob, "2");
    put_vote(&b, b.ada, "1");
    world_wait(w, 3599);
    expect_status(put_vote(&b, b.bob, "2"), 204);
    world_wait(w, 2);
    expect_error(put_vote(&b, b.bob, "1"), 400, 520001);
    expect_soon(world_number(w, "select count(*) from messages where type = 46") == 1);
    /* A tie has no winner. */
    struct answer a = client_get(b.ada, MESSAGES "?limit=1", b.v.channel);
    expect_json(a, "[{'type': 46, 'embeds': [{'fields': [{}, {'value': '1'}, {'value': '2'}]}]}]");
    expect_absent(a, "0.embeds.0.fields.3");
    expect_json(get_poll_message(&b, b.ada), "{'poll': {'results': {'is_finalized': true}}}");
}

const struct test polls_tests[] = {
    TEST(message_can_contain_a_poll),
    TEST(invalid_polls_are_refused),
    TEST(polls_require_the_send_polls_permission),
    TEST(poll_message_content_cannot_be_edited),
    TEST(webhooks_can_send_polls),
    TEST(vote_is_counted_and_sends_an_event),
    TEST(multiselect_poll_accepts_several_answers),
    TEST(voting_requires_a_user_with_message_history_access),
    TEST(voters_of_an_answer_are_listed_in_pages),
    TEST(poll_vote_events_require_the_poll_intent),
    TEST(concurrent_votes_are_all_counted),
    TEST(deleting_a_message_deletes_its_poll),
    TEST(deleting_a_channel_deletes_its_polls),
    TEST(only_the_author_can_end_a_poll_early),
    TEST(poll_ends_at_its_expiry_with_a_result_message),
    { 0 },
};
