/* automod.c - messages and names that match auto moderation rules, and the actions taken. */
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

/* Guild of ada with bob as a member, whose messages are checked by AutoMod. */
struct automod_guild {
    struct test_guild v;
    struct client *ada, *bob;
    char alerts[24];
};

static struct automod_guild create_automod_guild(struct world *w)
{
    struct automod_guild g = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };

    g.v = world_test_guild(w, g.ada);
    test_guild_add(&g.v, g.bob);
    struct answer a =
        client_post(g.ada, "{'name': 'alerts', 'type': 0}", "/guilds/%s/channels", g.v.id);
    snprintf(g.alerts, sizeof g.alerts, "%s", answer_text(a, "id"));
    return g;
}

static const char *create_rule(struct automod_guild *g, int trigger, const char *metadata,
                               const char *actions)
{
    struct answer a =
        client_post(g->ada,
                    TEXT(g->v.world,
                         "{'name': 'Rule', 'event_type': %d, 'trigger_type': %d, 'enabled': true, "
                         "'trigger_metadata': %s, 'actions': [%s]}",
                         trigger == 6 ? 2 : 1, trigger, metadata, actions),
                    RULES, g->v.id);

    expect_status(a, 200);
    discard_received(g->v.world);
    return answer_text(a, "id");
}

static struct answer send_text(struct client *c, struct automod_guild *g, const char *text)
{
    return client_post(c, TEXT(g->v.world, "{'content': '%s'}", text), SAY, g->v.channel);
}

#define BLOCK "{'type': 1}"

static void blocked_message_is_not_stored_but_recorded_in_audit_log(struct world *w)
{
    struct automod_guild g = create_automod_guild(w);
    const char *id = create_rule(&g, 1, "{'keyword_filter': ['cat', 'do*', '*mouse*']}", BLOCK);
    struct answer a = send_text(g.bob, &g, "a Cat!");

    expect_error(a, 400, 200000);
    expect_received(
        w, audience_of_members_with_permission(id_of(g.v.id), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "{'action_type': 143, 'user_id': '%s', 'target_id': '%s', 'options': "
        "{'auto_moderation_rule_name': 'Rule', 'auto_moderation_rule_trigger_type': '1', "
        "'channel_id': '%s'}}",
        g.bob->id, g.bob->id, g.v.channel);
    expect_received(w,
                    audience_of_members_with_permission(id_of(g.v.id), 0, PERMISSION(MANAGE_GUILD)),
                    "AUTO_MODERATION_ACTION_EXECUTION",
                    "{'guild_id': '%s', 'action': {'type': 1, 'metadata': {}}, 'rule_id': '%s', "
                    "'rule_trigger_type': 1, 'user_id': '%s', 'channel_id': '%s', "
                    "'content': 'a Cat!', 'matched_keyword': 'cat', 'matched_content': 'Cat'}",
                    g.v.id, id, g.bob->id, g.v.channel);
    expect(!dom_at(world_last_event(w, "AUTO_MODERATION_ACTION_EXECUTION"), "message_id"));
    expect_nothing_received(w);
    expect_error(send_text(g.bob, &g, "dogs"), 400, 200000);
    expect_error(send_text(g.bob, &g, "dormice"), 400, 200000);
    expect_error(send_text(g.bob, &g, "dormouses"), 400, 200000);
    expect_status(send_text(g.bob, &g, "cats"), 200);
    expect_status(send_text(g.ada, &g, "cat"), 200); /* members with MANAGE_GUILD are exempt */
    expect(world_number(w, "select count(*) from messages where channel_id = %s", g.v.channel) ==
           2);
    world_restart(w); /* the compiled rules are cached */
    expect_error(send_text(g.bob, &g, "cat"), 400, 200000);
    expect_status(client_patch(g.ada, "{'enabled': false}", RULES "/%s", g.v.id, id), 200);
    expect_status(send_text(g.bob, &g, "cat"), 200);
}

static void keyword_rule_blocks_polls_with_matching_text(struct world *w)
{
    static const char *const polls[] = {
        "{'poll': {'question': {'text': 'A cat?'}, 'answers': [{'poll_media': {'text': 'x'}}]}}",
        ("{'poll': {'question': {'text': 'Who?'}, 'answers': [{'poll_media': {'text': 'x'}}, "
         "{'poll_media': {'text': 'the cat'}}]}}"),
        "{'poll': {'question': {'text': 'Who?'}, 'answers': [{'poll_media': {'text': 'x'}}]}}",
    };
    struct automod_guild g = create_automod_guild(w);

    create_rule(&g, 1, "{'keyword_filter': ['cat']}", BLOCK);
    expect_error(client_post(g.bob, polls[0], SAY, g.v.channel), 400, 200000);
    expect_error(client_post(g.bob, polls[1], SAY, g.v.channel), 400, 200000);
    expect_status(client_post(g.bob, polls[2], SAY, g.v.channel), 200);
}

static void keyword_rule_blocks_matching_message_edits(struct world *w)
{
    struct automod_guild g = create_automod_guild(w);
    struct answer a = send_text(g.bob, &g, "fine");
    const char *id = answer_text(a, "id");

    create_rule(&g, 1, "{'regex_patterns': ['c[a4]t+']}", BLOCK);
    expect_error(client_patch(g.bob, "{'content': 'c4tt'}", SAY "/%s", g.v.channel, id), 400,
                 200000);
    expect_json(client_get(g.ada, SAY "/%s", g.v.channel, id), "{'content': 'fine'}");
    expect_status(client_patch(g.bob, "{'content': 'ct'}", SAY "/%s", g.v.channel, id), 200);
}

static void alert_action_posts_a_message_of_type_24(struct world *w)
{
    struct automod_guild g = create_automod_guild(w);

    create_rule(&g, 1, "{'keyword_filter': ['cat']}",
                TEXT(w, "{'type': 2, 'metadata': {'channel_id': '%s'}}", g.alerts));
    struct answer a = send_text(g.bob, &g, "one cat");
    expect_status(a, 200);
    expect_received(w, audience_of_channel_viewers(id_of(g.v.id), id_of(g.v.channel)),
                    "MESSAGE_CREATE", "{'content': 'one cat'}");
    expect_received(
        w, audience_of_channel_viewers(id_of(g.v.id), id_of(g.alerts)), "MESSAGE_CREATE",
        "{'type': 24, 'author': {'id': '%s'}, 'content': '', 'embeds': [{'type': "
        "'auto_moderation_message', 'description': 'one cat', 'fields': [{'name': "
        "'rule_name', 'value': 'Rule'}, {'name': 'channel_id', 'value': '%s'}, {'name': "
        "'decision_id'}, {'name': 'decision_outcome', 'value': 'flagged'}, {'name': "
        "'keyword', 'value': 'cat'}, {'name': 'keyword_matched_content', 'value': 'cat'}, "
        "{'name': 'flagged_message_id', 'value': '%s'}]}]}",
        g.bob->id, g.v.channel, answer_text(a, "id"));
    const char *alert =
        str_dup_cstring(world_arena(w), dom_at(world_last_event(w, "MESSAGE_CREATE"), "id")->text);
    expect_received(
        w, audience_of_members_with_permission(id_of(g.v.id), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 144}");
    expect_received(w,
                    audience_of_members_with_permission(id_of(g.v.id), 0, PERMISSION(MANAGE_GUILD)),
                    "AUTO_MODERATION_ACTION_EXECUTION",
                    "{'action': {'type': 2, 'metadata': {'channel_id': '%s'}}, 'message_id': '%s', "
                    "'alert_system_message_id': '%s'}",
                    g.alerts, answer_text(a, "id"), alert);
    expect_nothing_received(w);
    /* Bob cannot delete the alert, and nobody can edit it. */
    expect_error(client_delete(g.bob, SAY "/%s", g.alerts, alert), 403, 50013);
    expect_error(client_patch(g.ada, "{'flags': 4}", SAY "/%s", g.alerts, alert), 403, 50021);
    expect_status(client_delete(g.ada, SAY "/%s", g.alerts, alert), 204);
}

static void automod_rule_with_block_and_timeout_applies_both(struct world *w)
{
    struct automod_guild g = create_automod_guild(w);

    create_rule(&g, 5, "{'mention_total_limit': 1}",
                "{'type': 1}, {'type': 3, 'metadata': {'duration_seconds': 60}}");
    expect_status(send_text(g.bob, &g, "<@1> <@1> <@!1>"), 200);
    expect_error(send_text(g.bob, &g, "<@1> and <@&1>"), 400, 200000);
    expect_json(client_get(g.ada, "/guilds/%s/audit-logs?limit=2", g.v.id),
                "{'audit_log_entries': [{'action_type': 143}, {'action_type': 145}]}");
    struct answer a = client_get(g.ada, "/guilds/%s/members/%s", g.v.id, g.bob->id);
    expect(answer_text(a, "communication_disabled_until"));
    expect_error(send_text(g.bob, &g, "hello"), 403, 50013);
    world_wait(w, 61);
    expect_status(send_text(g.bob, &g, "hello"), 200);
}

static void automod_blocks_the_fifth_equal_message_in_ten_seconds(struct world *w)
{
    struct automod_guild g = create_automod_guild(w);

    create_rule(&g, 3, "{}", BLOCK);
    for (int i = 0; i < 4; i++)
        expect_status(send_text(g.bob, &g, i % 2 ? "Again" : "again"), 200);
    expect_status(send_text(g.bob, &g, "else"), 200);
    expect_error(send_text(g.bob, &g, "again"), 400, 200000);
    world_wait(w, 11);
    expect_status(send_text(g.bob, &g, "again"), 200);
    expect(world_number(w, "select count(*) from automod_echoes") == 1);
}

static void automod_rule_skips_exempt_roles_and_channels(struct world *w)
{
    struct automod_guild g = create_automod_guild(w);
    struct client *eve = world_client(w, "eve");
    const char *role = test_guild_add_with(&g.v, eve, 1, 0);
    const char *id = create_rule(&g, 1, "{'keyword_filter': ['cat']}", BLOCK);
    struct answer a =
        client_post(g.ada, "{'name': 'thread', 'type': 11}", "/channels/%s/threads", g.alerts);
    const char *thread = answer_text(a, "id");

    expect_error(client_post(g.bob, "{'content': 'cat'}", SAY, thread), 400, 200000);
    expect_status(
        client_patch(g.ada,
                     TEXT(w, "{'exempt_roles': ['%s'], 'exempt_channels': ['%s']}", role, g.alerts),
                     RULES "/%s", g.v.id, id),
        200);
    expect_status(send_text(eve, &g, "cat"), 200);
    expect_error(send_text(g.bob, &g, "cat"), 400, 200000);
    expect_status(client_post(g.bob, "{'content': 'cat'}", SAY, g.alerts), 200);
    expect_status(client_post(g.bob, "{'content': 'cat'}", SAY, thread), 200);
    /* Bots and webhooks are exempt from AutoMod. */
    struct client *bot = world_bot(w, "robot");
    test_guild_add(&g.v, bot);
    expect_status(send_text(bot, &g, "cat"), 200);
    a = client_post(g.ada, "{'name': 'hook'}", "/channels/%s/webhooks", g.v.channel);
    expect_status(client_post(world_anonymous(w), "{'content': 'cat'}", "/webhooks/%s/%s",
                              answer_text(a, "id"), answer_text(a, "token")),
                  204);
}

static void keyword_rule_blocks_forum_posts_with_a_matching_title(struct world *w)
{
    struct automod_guild g = create_automod_guild(w);
    struct answer a =
        client_post(g.ada, "{'name': 'forum', 'type': 15}", "/guilds/%s/channels", g.v.id);
    const char *forum = answer_text(a, "id");

    create_rule(&g, 1, "{'keyword_filter': ['cat']}", BLOCK);
    expect_error(client_post(g.bob, "{'name': 'my cat', 'message': {'content': 'x'}}",
                             "/channels/%s/threads", forum),
                 400, 200001);
    expect_error(client_post(g.bob, "{'name': 'mine', 'message': {'content': 'cat'}}",
                             "/channels/%s/threads", forum),
                 400, 200000);
    expect_status(client_post(g.bob, "{'name': 'mine', 'message': {'content': 'x'}}",
                              "/channels/%s/threads", forum),
                  201);
}

static void member_profile_rule_refuses_nicks_and_quarantines_members(struct world *w)
{
    struct automod_guild g = create_automod_guild(w);
    const char *me = TEXT(w, "/guilds/%s/members/@me", g.v.id);

    create_rule(&g, 6, "{'keyword_filter': ['bad*']}",
                TEXT(w, "{'type': 4}, {'type': 2, 'metadata': {'channel_id': '%s'}}", g.alerts));
    expect_error(client_patch(g.bob, "{'nick': 'Badman'}", "%s", me), 400, 200000);
    expect_json(client_get(g.ada, "/guilds/%s/members/%s", g.v.id, g.bob->id), "{'nick': null}");
    expect_status(client_patch(g.bob, "{'nick': 'Goodman'}", "%s", me), 200);
    /* A moderator of the guild may set a matching nick. */
    expect_status(
        client_patch(g.ada, "{'nick': 'badman'}", "/guilds/%s/members/%s", g.v.id, g.bob->id), 200);
    expect_error(send_text(g.bob, &g, "hello"), 400, 200000);
    expect_json(client_get(g.ada, "/guilds/%s/members/%s", g.v.id, g.bob->id), "{'flags': 128}");
    expect_error(send_text(g.bob, &g, "hello"), 403, 50013);
    expect_status(client_patch(g.bob, "{'nick': 'Bob'}", "%s", me), 200);
    expect_json(client_get(g.ada, "/guilds/%s/members/%s", g.v.id, g.bob->id), "{'flags': 0}");
    expect_status(send_text(g.bob, &g, "hello"), 200);
    /* A member who joins with a matching name is quarantined until the account has another name. */
    struct client *bad = world_client(w, "badger");
    struct answer a = client_post(g.ada, "{}", "/channels/%s/invites", g.v.channel);
    expect_status(client_post(bad, "{}", "/invites/%s", answer_text(a, "code")), 200);
    expect_json(client_get(g.ada, "/guilds/%s/members/%s", g.v.id, bad->id), "{'flags': 128}");
    expect_error(send_text(bad, &g, "hello"), 403, 50013);
    expect_json(client_get(g.ada, SAY "?limit=1", g.alerts),
                "[{'type': 24, 'embeds': [{'fields': [{}, {}, {}, {}, {}, {'name': "
                "'quarantine_user'}, {'name': 'quarantine_event', 'value': 'guild_join'}]}]}]");
}

static void costly_automod_regex_blocks_a_matching_long_message(struct world *w)
{
    struct automod_guild g = create_automod_guild(w);
    char text[2001];

    memset(text, 'a', 2000);
    text[2000] = 0;
    create_rule(&g, 1, "{'regex_patterns': ['(a?){200}b', 'a{500}$']}", BLOCK);
    expect_error(send_text(g.bob, &g, text), 400, 200000);
    text[1999] = '.';
    expect_status(send_text(g.bob, &g, text), 200);
}

/* Six rules of 1,000 words match at every letter: the match must not block the write thread. */
static void automod_checks_6000_keywords_in_long_messages_fast(struct world *w)
{
    struct automod_guild g = create_automod_guild(w);
    char text[2001], *words = arena_alloc(world_arena(w), 1000 * 40), *end = words;

    memset(text, 'a', 2000);
    text[2000] = 0;
    for (int i = 0; i < 1000; i++)
        end += sprintf(end, "%s'%.*s'", i ? ", " : "", 1 + i % 30, text);
    for (int i = 0; i < 6; i++)
        create_rule(&g, 1, TEXT(w, "{'keyword_filter': [%s]}", words), BLOCK);
    expect_status(send_text(g.bob, &g, text), 200);
    text[30] = ' ';
    expect_error(send_text(g.bob, &g, text), 400, 200000);
}

static void write_word_list(struct config *config)
{
    static const char name[] = "/tmp/guildhall-words-XXXXXX";
    static char path[sizeof name];

    memcpy(path, name, sizeof name); /* mkstemp needs the XXXXXX again on each run */
    FILE *f = fdopen(mkstemp(path), "w");
    fputs("# words\n[profanity]\ndarn\n\n[slurs]\n*rat*\n", f);
    fclose(f);
    config->automod_words = path;
}

static void keyword_preset_rule_uses_the_configured_word_file(struct world *w)
{
    struct automod_guild g = create_automod_guild(w);

    create_rule(&g, 4, "{'presets': [1, 3], 'allow_list': ['karat*']}", BLOCK);
    expect_error(send_text(g.bob, &g, "Darn it"), 400, 200000);
    expect_error(send_text(g.bob, &g, "pirate"), 400, 200000);
    expect_status(send_text(g.bob, &g, "karate"), 200);
    remove(world_config(w)->automod_words);
}

static void automod_event_content_requires_message_content_intent(struct world *w)
{
    struct automod_guild g = create_automod_guild(w);
    struct client *bot = world_bot(w, "robot");

    test_guild_add_with(&g.v, bot, 1, PERMISSION(MANAGE_GUILD));
    create_rule(&g, 1, "{'keyword_filter': ['cat']}", BLOCK);
    struct gateway_conn *without_content =
        conn_session(bot, "v=10&encoding=json", "'intents': 2097152");
    struct gateway_conn *reads = conn_session(bot, "v=10&encoding=json", "'intents': 2129920");
    struct gateway_conn *person = conn_session(g.ada, "v=10&encoding=json", "");

    expect_error(send_text(g.bob, &g, "a cat"), 400, 200000);
    expect_dispatch(without_content, "AUTO_MODERATION_ACTION_EXECUTION",
                    "{'content': '', 'matched_content': '', 'matched_keyword': 'cat'}");
    expect_dispatch(reads, "AUTO_MODERATION_ACTION_EXECUTION",
                    "{'content': 'a cat', 'matched_content': 'cat'}");
    expect_dispatch(person, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 143}");
    expect_quiet(person);
}

const struct test automod_tests[] = {
    TEST(blocked_message_is_not_stored_but_recorded_in_audit_log),
    TEST(keyword_rule_blocks_polls_with_matching_text),
    TEST(keyword_rule_blocks_matching_message_edits),
    TEST(alert_action_posts_a_message_of_type_24),
    TEST(automod_rule_with_block_and_timeout_applies_both),
    TEST(automod_blocks_the_fifth_equal_message_in_ten_seconds),
    TEST(automod_rule_skips_exempt_roles_and_channels),
    TEST(keyword_rule_blocks_forum_posts_with_a_matching_title),
    TEST(member_profile_rule_refuses_nicks_and_quarantines_members),
    TEST(costly_automod_regex_blocks_a_matching_long_message),
    TEST(automod_checks_6000_keywords_in_long_messages_fast),
    TEST_WITH(keyword_preset_rule_uses_the_configured_word_file, write_word_list),
    TEST(automod_event_content_requires_message_content_intent),
    { 0 },
};
