/* automod.c - texts and names that break rules, and what follows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "platform/guilds/guilds.h"
#include "test_guild.h"

#define RULES "/guilds/%s/auto-moderation/rules"
#define SAY   "/channels/%s/messages"

/* A guild of ada's with bob, whose writing is looked at. */
struct yard {
    struct test_guild v;
    struct client *ada, *bob;
    char alerts[24];
};

static struct yard open_yard(struct world *w)
{
    struct yard y = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };

    y.v = world_test_guild(w, y.ada);
    test_guild_add(&y.v, y.bob);
    struct answer a =
        client_post(y.ada, "{'name': 'alerts', 'type': 0}", "/guilds/%s/channels", y.v.id);
    snprintf(y.alerts, sizeof y.alerts, "%s", answer_text(a, "id"));
    return y;
}

static const char *rule(struct yard *y, int trigger, const char *metadata, const char *actions)
{
    struct answer a =
        client_post(y->ada,
                    TEXT(y->v.world,
                         "{'name': 'Rule', 'event_type': %d, 'trigger_type': %d, 'enabled': true, "
                         "'trigger_metadata': %s, 'actions': [%s]}",
                         trigger == 6 ? 2 : 1, trigger, metadata, actions),
                    RULES, y->v.id);

    expect_status(a, 200);
    forget_told(y->v.world);
    return answer_text(a, "id");
}

static struct answer say(struct client *c, struct yard *y, const char *text)
{
    return client_post(c, TEXT(y->v.world, "{'content': '%s'}", text), SAY, y->v.channel);
}

#define BLOCK "{'type': 1}"

static void a_blocked_message_is_nowhere(struct world *w)
{
    struct yard y = open_yard(w);
    const char *id = rule(&y, 1, "{'keyword_filter': ['cat', 'do*', '*mouse*']}", BLOCK);
    struct answer a = say(y.bob, &y, "a Cat!");

    expect_error(a, 400, 200000);
    expect_told(w, to_entitled(id_of(y.v.id), 0, PERMISSION(VIEW_AUDIT_LOG)),
                "GUILD_AUDIT_LOG_ENTRY_CREATE",
                "{'action_type': 143, 'user_id': '%s', 'target_id': '%s', 'options': "
                "{'auto_moderation_rule_name': 'Rule', 'auto_moderation_rule_trigger_type': '1', "
                "'channel_id': '%s'}}",
                y.bob->id, y.bob->id, y.v.channel);
    expect_told(w, to_entitled(id_of(y.v.id), 0, PERMISSION(MANAGE_GUILD)),
                "AUTO_MODERATION_ACTION_EXECUTION",
                "{'guild_id': '%s', 'action': {'type': 1, 'metadata': {}}, 'rule_id': '%s', "
                "'rule_trigger_type': 1, 'user_id': '%s', 'channel_id': '%s', "
                "'content': 'a Cat!', 'matched_keyword': 'cat', 'matched_content': 'Cat'}",
                y.v.id, id, y.bob->id, y.v.channel);
    expect(!dom_at(world_last_event(w, "AUTO_MODERATION_ACTION_EXECUTION"), "message_id"));
    expect_nothing_told(w);
    expect_error(say(y.bob, &y, "dogs"), 400, 200000);
    expect_error(say(y.bob, &y, "dormice"), 400, 200000);
    expect_error(say(y.bob, &y, "dormouses"), 400, 200000);
    expect_status(say(y.bob, &y, "cats"), 200);
    expect_status(say(y.ada, &y, "cat"), 200); /* who manages the guild is not looked at */
    expect(world_number(w, "select count(*) from messages where channel_id = %s", y.v.channel) ==
           2);
    world_restart(w); /* nothing is compiled any more */
    expect_error(say(y.bob, &y, "cat"), 400, 200000);
    expect_status(client_patch(y.ada, "{'enabled': false}", RULES "/%s", y.v.id, id), 200);
    expect_status(say(y.bob, &y, "cat"), 200);
}

static void polls_are_looked_at(struct world *w)
{
    static const char *const polls[] = {
        "{'poll': {'question': {'text': 'A cat?'}, 'answers': [{'poll_media': {'text': 'x'}}]}}",
        ("{'poll': {'question': {'text': 'Who?'}, 'answers': [{'poll_media': {'text': 'x'}}, "
         "{'poll_media': {'text': 'the cat'}}]}}"),
        "{'poll': {'question': {'text': 'Who?'}, 'answers': [{'poll_media': {'text': 'x'}}]}}",
    };
    struct yard y = open_yard(w);

    rule(&y, 1, "{'keyword_filter': ['cat']}", BLOCK);
    expect_error(client_post(y.bob, polls[0], SAY, y.v.channel), 400, 200000);
    expect_error(client_post(y.bob, polls[1], SAY, y.v.channel), 400, 200000);
    expect_status(client_post(y.bob, polls[2], SAY, y.v.channel), 200);
}

static void edits_are_looked_at_too(struct world *w)
{
    struct yard y = open_yard(w);
    struct answer a = say(y.bob, &y, "fine");
    const char *id = answer_text(a, "id");

    rule(&y, 1, "{'regex_patterns': ['c[a4]t+']}", BLOCK);
    expect_error(client_patch(y.bob, "{'content': 'c4tt'}", SAY "/%s", y.v.channel, id), 400,
                 200000);
    expect_json(client_get(y.ada, SAY "/%s", y.v.channel, id), "{'content': 'fine'}");
    expect_status(client_patch(y.bob, "{'content': 'ct'}", SAY "/%s", y.v.channel, id), 200);
}

static void an_alert_tells_a_channel(struct world *w)
{
    struct yard y = open_yard(w);

    rule(&y, 1, "{'keyword_filter': ['cat']}",
         TEXT(w, "{'type': 2, 'metadata': {'channel_id': '%s'}}", y.alerts));
    struct answer a = say(y.bob, &y, "one cat");
    expect_status(a, 200);
    expect_told(w, to_viewers(id_of(y.v.id), id_of(y.v.channel)), "MESSAGE_CREATE",
                "{'content': 'one cat'}");
    expect_told(w, to_viewers(id_of(y.v.id), id_of(y.alerts)), "MESSAGE_CREATE",
                "{'type': 24, 'author': {'id': '%s'}, 'content': '', 'embeds': [{'type': "
                "'auto_moderation_message', 'description': 'one cat', 'fields': [{'name': "
                "'rule_name', 'value': 'Rule'}, {'name': 'channel_id', 'value': '%s'}, {'name': "
                "'decision_id'}, {'name': 'decision_outcome', 'value': 'flagged'}, {'name': "
                "'keyword', 'value': 'cat'}, {'name': 'keyword_matched_content', 'value': 'cat'}, "
                "{'name': 'flagged_message_id', 'value': '%s'}]}]}",
                y.bob->id, y.v.channel, answer_text(a, "id"));
    const char *alert =
        str_dupz(world_arena(w), dom_at(world_last_event(w, "MESSAGE_CREATE"), "id")->text);
    expect_told(w, to_entitled(id_of(y.v.id), 0, PERMISSION(VIEW_AUDIT_LOG)),
                "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 144}");
    expect_told(w, to_entitled(id_of(y.v.id), 0, PERMISSION(MANAGE_GUILD)),
                "AUTO_MODERATION_ACTION_EXECUTION",
                "{'action': {'type': 2, 'metadata': {'channel_id': '%s'}}, 'message_id': '%s', "
                "'alert_system_message_id': '%s'}",
                y.alerts, answer_text(a, "id"), alert);
    expect_nothing_told(w);
    /* It is not bob's to delete, nor anybody's to change. */
    expect_error(client_delete(y.bob, SAY "/%s", y.alerts, alert), 403, 50013);
    expect_error(client_patch(y.ada, "{'flags': 4}", SAY "/%s", y.alerts, alert), 403, 50021);
    expect_status(client_delete(y.ada, SAY "/%s", y.alerts, alert), 204);
}

static void a_timeout_and_a_block_go_together(struct world *w)
{
    struct yard y = open_yard(w);

    rule(&y, 5, "{'mention_total_limit': 1}",
         "{'type': 1}, {'type': 3, 'metadata': {'duration_seconds': 60}}");
    expect_status(say(y.bob, &y, "<@1> <@1> <@!1>"), 200);
    expect_error(say(y.bob, &y, "<@1> and <@&1>"), 400, 200000);
    expect_json(client_get(y.ada, "/guilds/%s/audit-logs?limit=2", y.v.id),
                "{'audit_log_entries': [{'action_type': 143}, {'action_type': 145}]}");
    struct answer a = client_get(y.ada, "/guilds/%s/members/%s", y.v.id, y.bob->id);
    expect(answer_text(a, "communication_disabled_until"));
    expect_error(say(y.bob, &y, "hello"), 403, 50013);
    world_wait(w, 61);
    expect_status(say(y.bob, &y, "hello"), 200);
}

static void the_fifth_of_the_same_within_ten_seconds_is_spam(struct world *w)
{
    struct yard y = open_yard(w);

    rule(&y, 3, "{}", BLOCK);
    for (int i = 0; i < 4; i++)
        expect_status(say(y.bob, &y, i % 2 ? "Again" : "again"), 200);
    expect_status(say(y.bob, &y, "else"), 200);
    expect_error(say(y.bob, &y, "again"), 400, 200000);
    world_wait(w, 11);
    expect_status(say(y.bob, &y, "again"), 200);
    expect(world_number(w, "select count(*) from automod_echoes") == 1);
}

static void some_roles_and_channels_are_exempt(struct world *w)
{
    struct yard y = open_yard(w);
    struct client *eve = world_client(w, "eve");
    const char *role = test_guild_add_with(&y.v, eve, 1, 0);
    const char *id = rule(&y, 1, "{'keyword_filter': ['cat']}", BLOCK);
    struct answer a =
        client_post(y.ada, "{'name': 'thread', 'type': 11}", "/channels/%s/threads", y.alerts);
    const char *thread = answer_text(a, "id");

    expect_error(client_post(y.bob, "{'content': 'cat'}", SAY, thread), 400, 200000);
    expect_status(
        client_patch(y.ada,
                     TEXT(w, "{'exempt_roles': ['%s'], 'exempt_channels': ['%s']}", role, y.alerts),
                     RULES "/%s", y.v.id, id),
        200);
    expect_status(say(eve, &y, "cat"), 200);
    expect_error(say(y.bob, &y, "cat"), 400, 200000);
    expect_status(client_post(y.bob, "{'content': 'cat'}", SAY, y.alerts), 200);
    expect_status(client_post(y.bob, "{'content': 'cat'}", SAY, thread), 200);
    /* Bots are not looked at, and neither are webhooks. */
    struct client *bot = world_bot(w, "robot");
    test_guild_add(&y.v, bot);
    expect_status(say(bot, &y, "cat"), 200);
    a = client_post(y.ada, "{'name': 'hook'}", "/channels/%s/webhooks", y.v.channel);
    expect_status(client_post(world_stranger(w), "{'content': 'cat'}", "/webhooks/%s/%s",
                              answer_text(a, "id"), answer_text(a, "token")),
                  204);
}

static void titles_of_posts_are_looked_at(struct world *w)
{
    struct yard y = open_yard(w);
    struct answer a =
        client_post(y.ada, "{'name': 'forum', 'type': 15}", "/guilds/%s/channels", y.v.id);
    const char *forum = answer_text(a, "id");

    rule(&y, 1, "{'keyword_filter': ['cat']}", BLOCK);
    expect_error(client_post(y.bob, "{'name': 'my cat', 'message': {'content': 'x'}}",
                             "/channels/%s/threads", forum),
                 400, 200001);
    expect_error(client_post(y.bob, "{'name': 'mine', 'message': {'content': 'cat'}}",
                             "/channels/%s/threads", forum),
                 400, 200000);
    expect_status(client_post(y.bob, "{'name': 'mine', 'message': {'content': 'x'}}",
                              "/channels/%s/threads", forum),
                  201);
}

static void names_are_refused_and_quarantined(struct world *w)
{
    struct yard y = open_yard(w);
    const char *me = TEXT(w, "/guilds/%s/members/@me", y.v.id);

    rule(&y, 6, "{'keyword_filter': ['bad*']}",
         TEXT(w, "{'type': 4}, {'type': 2, 'metadata': {'channel_id': '%s'}}", y.alerts));
    expect_error(client_patch(y.bob, "{'nick': 'Badman'}", "%s", me), 400, 200000);
    expect_json(client_get(y.ada, "/guilds/%s/members/%s", y.v.id, y.bob->id), "{'nick': null}");
    expect_status(client_patch(y.bob, "{'nick': 'Goodman'}", "%s", me), 200);
    /* A moderator of the guild may. */
    expect_status(
        client_patch(y.ada, "{'nick': 'badman'}", "/guilds/%s/members/%s", y.v.id, y.bob->id), 200);
    expect_error(say(y.bob, &y, "hello"), 400, 200000);
    expect_json(client_get(y.ada, "/guilds/%s/members/%s", y.v.id, y.bob->id), "{'flags': 128}");
    expect_error(say(y.bob, &y, "hello"), 403, 50013);
    expect_status(client_patch(y.bob, "{'nick': 'Bob'}", "%s", me), 200);
    expect_json(client_get(y.ada, "/guilds/%s/members/%s", y.v.id, y.bob->id), "{'flags': 0}");
    expect_status(say(y.bob, &y, "hello"), 200);
    /* Who comes with such a name is quarantined at once, until the account has another. */
    struct client *bad = world_client(w, "badger");
    struct answer a = client_post(y.ada, "{}", "/channels/%s/invites", y.v.channel);
    expect_status(client_post(bad, "{}", "/invites/%s", answer_text(a, "code")), 200);
    expect_json(client_get(y.ada, "/guilds/%s/members/%s", y.v.id, bad->id), "{'flags': 128}");
    expect_error(say(bad, &y, "hello"), 403, 50013);
    expect_json(client_get(y.ada, SAY "?limit=1", y.alerts),
                "[{'type': 24, 'embeds': [{'fields': [{}, {}, {}, {}, {}, {'name': "
                "'quarantine_user'}, {'name': 'quarantine_event', 'value': 'guild_join'}]}]}]");
}

static void long_texts_and_many_patterns_are_looked_at_elsewhere(struct world *w)
{
    struct yard y = open_yard(w);
    char text[2001];

    memset(text, 'a', 2000);
    text[2000] = 0;
    rule(&y, 1, "{'regex_patterns': ['(a?){200}b', 'a{500}$']}", BLOCK);
    expect_error(say(y.bob, &y, text), 400, 200000);
    text[1999] = '.';
    expect_status(say(y.bob, &y, text), 200);
}

/* Six rules of a thousand words that all end at each letter: the writer must not be held. */
static void words_that_end_everywhere_are_looked_at_elsewhere(struct world *w)
{
    struct yard y = open_yard(w);
    char text[2001], *words = arena_alloc(world_arena(w), 1000 * 40), *end = words;

    memset(text, 'a', 2000);
    text[2000] = 0;
    for (int i = 0; i < 1000; i++)
        end += sprintf(end, "%s'%.*s'", i ? ", " : "", 1 + i % 30, text);
    for (int i = 0; i < 6; i++)
        rule(&y, 1, TEXT(w, "{'keyword_filter': [%s]}", words), BLOCK);
    expect_status(say(y.bob, &y, text), 200);
    text[30] = ' ';
    expect_error(say(y.bob, &y, text), 400, 200000);
}

static void write_words(struct config *config)
{
    static const char name[] = "/tmp/guildhall-words-XXXXXX";
    static char path[sizeof name];

    memcpy(path, name, sizeof name); /* of the try before nothing is left to fill in */
    FILE *f = fdopen(mkstemp(path), "w");
    fputs("# words\n[profanity]\ndarn\n\n[slurs]\n*rat*\n", f);
    fclose(f);
    config->automod_words = path;
}

static void presets_are_the_words_of_a_file(struct world *w)
{
    struct yard y = open_yard(w);

    rule(&y, 4, "{'presets': [1, 3], 'allow_list': ['karat*']}", BLOCK);
    expect_error(say(y.bob, &y, "Darn it"), 400, 200000);
    expect_error(say(y.bob, &y, "pirate"), 400, 200000);
    expect_status(say(y.bob, &y, "karate"), 200);
    remove(world_config(w)->automod_words);
}

static void content_is_for_bots_that_asked_for_it(struct world *w)
{
    struct yard y = open_yard(w);
    struct client *bot = world_bot(w, "robot");

    test_guild_add_with(&y.v, bot, 1, PERMISSION(MANAGE_GUILD));
    rule(&y, 1, "{'keyword_filter': ['cat']}", BLOCK);
    struct gateway_conn *blind = conn_session(bot, "v=10&encoding=json", "'intents': 2097152");
    struct gateway_conn *reads = conn_session(bot, "v=10&encoding=json", "'intents': 2129920");
    struct gateway_conn *person = conn_session(y.ada, "v=10&encoding=json", "");

    expect_error(say(y.bob, &y, "a cat"), 400, 200000);
    expect_dispatch(blind, "AUTO_MODERATION_ACTION_EXECUTION",
                    "{'content': '', 'matched_content': '', 'matched_keyword': 'cat'}");
    expect_dispatch(reads, "AUTO_MODERATION_ACTION_EXECUTION",
                    "{'content': 'a cat', 'matched_content': 'cat'}");
    expect_dispatch(person, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 143}");
    expect_quiet(person);
}

const struct test automod_tests[] = {
    TEST(a_blocked_message_is_nowhere),
    TEST(polls_are_looked_at),
    TEST(edits_are_looked_at_too),
    TEST(an_alert_tells_a_channel),
    TEST(a_timeout_and_a_block_go_together),
    TEST(the_fifth_of_the_same_within_ten_seconds_is_spam),
    TEST(some_roles_and_channels_are_exempt),
    TEST(titles_of_posts_are_looked_at),
    TEST(names_are_refused_and_quarantined),
    TEST(long_texts_and_many_patterns_are_looked_at_elsewhere),
    TEST(words_that_end_everywhere_are_looked_at_elsewhere),
    TEST_WITH(presets_are_the_words_of_a_file, write_words),
    TEST(content_is_for_bots_that_asked_for_it),
    { 0 },
};
