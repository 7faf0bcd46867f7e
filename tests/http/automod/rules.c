/* rules.c - creating, changing, deleting and validating auto moderation rules. */
#include <stdio.h>

#include "channels.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "model/fields/ids.h"
#include "platform/guilds/guilds.h"
#include "test_guild.h"

#define RULES "/guilds/%s/auto-moderation/rules"
#define RULE  RULES "/%s"
#define BLOCK "'actions': [{'type': 1}]"
#define WORDS                                                                           \
    "{'name': 'Cats', 'event_type': 1, 'trigger_type': 1, 'enabled': true, " BLOCK ", " \
    "'trigger_metadata': {'keyword_filter': ['cat']}}"

static struct audience manager_audience(const char *guild)
{
    return audience_of_members_with_permission(id_of(guild), 0, PERMISSION(MANAGE_GUILD));
}

static struct audience auditor_audience(const char *guild)
{
    return audience_of_members_with_permission(id_of(guild), 0, PERMISSION(VIEW_AUDIT_LOG));
}

static void automod_rule_can_be_created_changed_and_deleted(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    struct answer a = client_post(h.bob, WORDS, RULES, h.guild);
    const char *id;

    expect_status(a, 200);
    id = answer_text(a, "id");
    expect_json(a,
                "{'id': '%s', 'guild_id': '%s', 'creator_id': '%s', 'name': 'Cats', "
                "'event_type': 1, 'trigger_type': 1, 'enabled': true, 'exempt_roles': [], "
                "'exempt_channels': [], 'actions': [{'type': 1, 'metadata': {}}], "
                "'trigger_metadata': {'keyword_filter': ['cat'], 'regex_patterns': [], "
                "'allow_list': []}}",
                id, h.guild, h.bob->id);
    expect_absent(a, "trigger_metadata.presets");
    expect_absent(a, "trigger_metadata.mention_total_limit");
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 140, 'target_id': '%s', 'changes': [{'key': 'name', "
                    "'new_value': 'Cats'}, {}, {}, {}, {}, {}, {}, {'key': '$add_keyword_filter', "
                    "'new_value': ['cat']}]}",
                    id);
    expect_received(w, manager_audience(h.guild), "AUTO_MODERATION_RULE_CREATE", "{'id': '%s'}",
                    id);
    a = client_patch(h.bob,
                     "{'trigger_metadata': {'keyword_filter': ['dog'], 'allow_list': ['hot dog']}}",
                     RULE, h.guild, id);
    expect_json(a, "{'name': 'Cats', 'trigger_metadata': {'keyword_filter': ['dog']}}");
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 141, 'changes': [{'key': '$add_keyword_filter'}, "
                    "{'key': '$remove_keyword_filter', 'new_value': ['cat']}, "
                    "{'key': '$add_allow_list'}]}");
    expect_received(w, manager_audience(h.guild), "AUTO_MODERATION_RULE_UPDATE",
                    "{'id': '%s', 'trigger_metadata': {'allow_list': ['hot dog']}}", id);
    expect_json(client_get(h.bob, RULES, h.guild), "[{'id': '%s'}]", id);
    expect_json(client_get(h.bob, RULE, h.guild, id), "{'id': '%s'}", id);
    expect_status(client_delete(h.bob, RULE, h.guild, id), 204);
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 142}");
    expect_received(w, manager_audience(h.guild), "AUTO_MODERATION_RULE_DELETE", "{'id': '%s'}",
                    id);
    expect_nothing_received(w);
    expect_error(client_get(h.bob, RULE, h.guild, id), 404, 0);
    expect_error(client_patch(h.bob, "{}", RULE, h.guild, id), 404, 0);
    expect_error(client_delete(h.bob, RULE, h.guild, id), 404, 0);
    expect(world_number(w, "select automod_version from guilds where id = %s", h.guild) == 0);
}

static void automod_rule_routes_require_manage_guild(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MODERATE_MEMBERS));
    struct answer a = client_post(h.ada, WORDS, RULES, h.guild);
    const char *id = answer_text(a, "id"), *other = found_guild(h.ada, "Other");

    expect_error(client_get(h.bob, RULES, h.guild), 403, 50013);
    expect_error(client_get(h.bob, RULE, h.guild, id), 403, 50013);
    expect_error(client_post(h.bob, WORDS, RULES, h.guild), 403, 50013);
    expect_error(client_patch(h.bob, "{}", RULE, h.guild, id), 403, 50013);
    expect_error(client_delete(h.bob, RULE, h.guild, id), 403, 50013);
    expect_error(client_get(world_client(w, "eve"), RULES, h.guild), 403, 50001);
    expect_error(client_get(h.ada, RULE, other, id), 404, 0);
    world_sql(w, "update roles set permissions = %lld where id = %s",
              (long long)PERMISSION(MANAGE_GUILD), h.role);
    expect_error(client_patch(h.bob,
                              "{'actions': [{'type': 3, 'metadata': {'duration_seconds': "
                              "60}}]}",
                              RULE, h.guild, id),
                 403, 50013);
}

#define REFUSE(body, path, code) \
    expect_invalid(client_post(h.ada, body, RULES, h.guild), path, code)
#define OF(event, trigger, metadata, actions)                           \
    "{'name': 'x', 'event_type': " #event ", 'trigger_type': " #trigger \
    ", 'trigger_metadata': " metadata ", 'actions': " actions "}"

static void alert_action_requires_a_channel_visible_to_the_caller(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    const char *channel = answer_text(client_get(h.ada, "/guilds/%s/channels", h.guild), "2.id");
    const char *alert = TEXT(w, "[{'type': 2, 'metadata': {'channel_id': '%s'}}]", channel);
    const char *body = TEXT(w,
                            "{'name': 'x', 'event_type': 1, 'trigger_type': 1, "
                            "'trigger_metadata': {'keyword_filter': ['cat']}, 'actions': %s}",
                            alert),
               *id;

    expect_status(client_put(h.ada, "{'type': 0, 'deny': '1024'}", "/channels/%s/permissions/%s",
                             channel, h.guild),
                  204);
    expect_invalid(client_post(h.bob, body, RULES, h.guild), "actions.0.metadata.channel_id",
                   "BASE_TYPE_CHOICES");
    id = answer_text(client_post(h.ada, body, RULES, h.guild), "id");
    expect_invalid(client_patch(h.bob, TEXT(w, "{'actions': %s}", alert), RULE, h.guild, id),
                   "actions.0.metadata.channel_id", "BASE_TYPE_CHOICES");
    /* Unchanged actions are not checked again. */
    expect_status(client_patch(h.bob, "{'enabled': false}", RULE, h.guild, id), 200);
}

static void invalid_automod_rules_are_refused(struct world *w)
{
    struct server_loop h = world_home(w, 0);

    REFUSE("{'event_type': 1, 'trigger_type': 3, " BLOCK "}", "name", "BASE_TYPE_REQUIRED");
    REFUSE("{'name': 'x', 'event_type': 1, 'trigger_type': 1, " BLOCK "}", "trigger_metadata",
           "BASE_TYPE_REQUIRED");
    REFUSE(OF(1, 2, "{}", "[{'type': 1}]"), "trigger_type", "BASE_TYPE_CHOICES");
    REFUSE(OF(2, 1, "{}", "[{'type': 1}]"), "event_type", "BASE_TYPE_CHOICES");
    REFUSE(OF(1, 6, "{}", "[{'type': 4}]"), "event_type", "BASE_TYPE_CHOICES");
    REFUSE(OF(1, 1, "{}", "[]"), "actions", "BASE_TYPE_BAD_LENGTH");
    REFUSE(OF(1, 3, "{}", "[{'type': 3, 'metadata': {'duration_seconds': 5}}]"), "actions.0.type",
           "BASE_TYPE_CHOICES");
    REFUSE(OF(2, 6, "{}", "[{'type': 1}]"), "actions.0.type", "BASE_TYPE_CHOICES");
    REFUSE(OF(1, 1, "{}", "[{'type': 4}]"), "actions.0.type", "BASE_TYPE_CHOICES");
    REFUSE(OF(1, 1, "{}", "[{'type': 3}]"), "actions.0.metadata.duration_seconds",
           "BASE_TYPE_REQUIRED");
    REFUSE(OF(1, 1, "{}", "[{'type': 3, 'metadata': {'duration_seconds': 2419201}}]"),
           "actions.0.metadata.duration_seconds", "NUMBER_TYPE_MAX");
    REFUSE(OF(1, 1, "{}", "[{'type': 2}]"), "actions.0.metadata.channel_id", "BASE_TYPE_REQUIRED");
    REFUSE(OF(1, 1, "{}", "[{'type': 2, 'metadata': {'channel_id': '5'}}]"),
           "actions.0.metadata.channel_id", "BASE_TYPE_CHOICES");
    REFUSE(OF(1, 1, "{'regex_patterns': ['ok', '(a']}", "[{'type': 1}]"),
           "trigger_metadata.regex_patterns.1", "STRING_TYPE_REGEX");
    REFUSE(OF(1, 1, "{'presets': [1]}", "[{'type': 1}]"), "trigger_metadata.presets",
           "BASE_TYPE_CHOICES");
    REFUSE(OF(1, 4, "{}", "[{'type': 1}]"), "trigger_metadata.presets", "BASE_TYPE_REQUIRED");
    REFUSE(OF(1, 5, "{}", "[{'type': 1}]"), "trigger_metadata.mention_total_limit",
           "BASE_TYPE_REQUIRED");
    REFUSE(OF(1, 5, "{'mention_total_limit': 51}", "[{'type': 1}]"),
           "trigger_metadata.mention_total_limit", "NUMBER_TYPE_MAX");
    REFUSE(OF(1, 5, "{'mention_total_limit': 5, 'mention_raid_protection_enabled': 'often'}",
              "[{'type': 1}]"),
           "trigger_metadata.mention_raid_protection_enabled", "BOOLEAN_TYPE_CONVERT");
    struct answer a = client_post(h.ada, OF(1, 5, "{'mention_total_limit': 50}", "[{'type': 1}]"),
                                  RULES, h.guild);
    expect_json(a, "{'enabled': false, 'trigger_metadata': {'mention_total_limit': 50, "
                   "'mention_raid_protection_enabled': false}}");
    /* The field is stored because clients and backups send whole rules back. */
    a = client_patch(h.ada,
                     "{'trigger_metadata': {'mention_total_limit': 5, "
                     "'mention_raid_protection_enabled': true}}",
                     RULE, h.guild, answer_text(a, "id"));
    expect_json(a, "{'trigger_metadata': {'mention_raid_protection_enabled': true}}");
    expect_json(client_get(h.ada, RULE, h.guild, answer_text(a, "id")),
                "{'trigger_metadata': {'mention_total_limit': 5, "
                "'mention_raid_protection_enabled': true}}");
    expect_invalid(client_patch(h.ada, "{'trigger_type': 3}", RULE, h.guild, answer_text(a, "id")),
                   "trigger_type", "BASE_TYPE_CHOICES");
}

/* The pattern (.?){599}x compiles to 1,200 states. */
static void regex_patterns_of_a_guild_have_a_total_cost_limit(struct world *w)
{
    struct server_loop h = world_home(w, 0);

    REFUSE(OF(1, 1, "{'regex_patterns': ['a', '(.?){599}x']}", "[{'type': 1}]"),
           "trigger_metadata.regex_patterns.1", "STRING_TYPE_REGEX");
    struct answer a = client_post(
        h.ada, OF(1, 1, "{'regex_patterns': ['(.?){599}x']}", "[{'type': 1}]"), RULES, h.guild);
    const char *large = TEXT(w, "%s", answer_text(a, "id"));

    expect_status(a, 200);
    REFUSE(OF(1, 1, "{'regex_patterns': ['a']}", "[{'type': 1}]"),
           "trigger_metadata.regex_patterns.0", "STRING_TYPE_REGEX");
    /* A changed rule is not counted twice, and rules without patterns are always accepted. */
    expect_status(client_patch(h.ada, "{'name': 'y'}", RULE, h.guild, large), 200);
    expect_status(client_post(h.ada, WORDS, RULES, h.guild), 200);
    expect_status(client_patch(h.ada, "{'trigger_metadata': {'regex_patterns': ['(.?){9}x']}}",
                               RULE, h.guild, large),
                  200);
    expect_status(
        client_post(h.ada, OF(1, 1, "{'regex_patterns': ['a']}", "[{'type': 1}]"), RULES, h.guild),
        200);
}

static void guild_is_limited_to_six_keyword_rules_and_one_spam_rule(struct world *w)
{
    struct server_loop h = world_home(w, 0);

    for (int i = 0; i < 6; i++)
        expect_status(client_post(h.ada, WORDS, RULES, h.guild), 200);
    REFUSE(WORDS, "", "AUTO_MODERATION_MAX_RULES_OF_TYPE_EXCEEDED");
    expect_status(client_post(h.ada, OF(1, 3, "{}", "[{'type': 1}]"), RULES, h.guild), 200);
    REFUSE(OF(1, 3, "{}", "[{'type': 1}]"), "", "AUTO_MODERATION_MAX_RULES_OF_TYPE_EXCEEDED");
    expect_status(client_post(h.ada, OF(2, 6, "{'keyword_filter': ['x']}", "[{'type': 4}]"),
                              RULES "/validate", h.guild),
                  200);
    expect(world_number(w, "select count(*) from automod_rules") == 7);
}

static void deleted_roles_and_channels_are_removed_from_exemptions(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    struct answer a = client_post(h.ada, "{'name': 'kind'}", "/guilds/%s/roles", h.guild);
    const char *role = TEXT(w, "%s", answer_text(a, "id")), *channel, *rule;

    a = client_post(h.ada, "{'name': 'free', 'type': 0}", "/guilds/%s/channels", h.guild);
    channel = TEXT(w, "%s", answer_text(a, "id"));
    a = client_post(h.ada, WORDS, RULES, h.guild);
    rule = TEXT(w, "%s", answer_text(a, "id"));
    expect_status(client_patch(h.ada,
                               TEXT(w, "{'exempt_roles': ['5', '%s'], 'exempt_channels': ['%s']}",
                                    role, channel),
                               RULE, h.guild, rule),
                  200);
    discard_received(w);
    expect_status(client_delete(h.ada, "/guilds/%s/roles/%s", h.guild, role), 204);
    expect_received(w, auditor_audience(h.guild), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 32}");
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_ROLE_DELETE", "{'role_id': '%s'}",
                    role);
    expect_received(w, manager_audience(h.guild), "AUTO_MODERATION_RULE_UPDATE",
                    "{'exempt_roles': ['5'], 'exempt_channels': ['%s']}", channel);
    expect_status(client_delete(h.ada, "/channels/%s", channel), 200);
    expect_json(client_get(h.ada, RULE, h.guild, rule),
                "{'exempt_roles': ['5'], 'exempt_channels': [], 'trigger_metadata': "
                "{'keyword_filter': ['cat']}}");
}

static const char *write_1000_keywords(struct world *w, char letter)
{
    char *words = arena_alloc(world_arena(w), 1000 * 64), *end = words;

    for (int i = 0; i < 1000; i++)
        end += sprintf(end, "%s'%050d%c%03d'", i ? ", " : "", 0, letter, i);
    return words;
}

/* The audit log lists added and removed keywords, computed outside the write transaction. */
static void replacing_1000_keywords_is_recorded_in_the_audit_log(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    const char *some = write_1000_keywords(w, 'a'), *others = write_1000_keywords(w, 'b');
    struct answer a = client_post(h.ada,
                                  TEXT(w,
                                       "{'name': 'x', 'event_type': 1, 'trigger_type': 1, " BLOCK
                                       ", 'trigger_metadata': {'keyword_filter': [%s]}}",
                                       some),
                                  RULES, h.guild);
    const char *id = TEXT(w, "%s", answer_text(a, "id"));

    expect_status(a, 200);
    expect_status(
        client_patch(h.ada,
                     TEXT(w, "{'trigger_metadata': {'keyword_filter': [%s, 'new']}}", others), RULE,
                     h.guild, id),
        400);
    expect_status(client_patch(h.ada,
                               TEXT(w, "{'trigger_metadata': {'keyword_filter': [%s]}}", others),
                               RULE, h.guild, id),
                  200);
    a = client_get(h.ada, "/guilds/%s/audit-logs?action_type=141", h.guild);
    expect_json(a,
                "{'audit_log_entries': [{'changes': [{'key': '$add_keyword_filter', "
                "'new_value': [%s]}, {'key': '$remove_keyword_filter', 'new_value': [%s]}]}]}",
                others, some);
}

static void automod_rule_events_go_only_to_bots_with_manage_guild(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot"),
                  *meek = world_bot(w, "meek");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add_with(&v, bot, 1, PERMISSION(MANAGE_GUILD));
    test_guild_add(&v, meek);
    struct gateway_conn *person = conn_session(ada, "v=10&encoding=json", "");
    struct gateway_conn *boss = conn_session(bot, "v=10&encoding=json", "'intents': 1048576");
    struct gateway_conn *deaf = conn_session(meek, "v=10&encoding=json", "'intents': 1048576");

    expect_status(client_post(ada, WORDS, RULES, v.id), 200);
    expect_dispatch(boss, "AUTO_MODERATION_RULE_CREATE", "{'name': 'Cats'}");
    expect_quiet(boss);
    expect_quiet(deaf);
    expect_dispatch(person, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 140}");
    expect_quiet(person);
}

const struct test automod_rules_tests[] = {
    TEST(automod_rule_can_be_created_changed_and_deleted),
    TEST(automod_rule_routes_require_manage_guild),
    TEST(alert_action_requires_a_channel_visible_to_the_caller),
    TEST(invalid_automod_rules_are_refused),
    TEST(regex_patterns_of_a_guild_have_a_total_cost_limit),
    TEST(guild_is_limited_to_six_keyword_rules_and_one_spam_rule),
    TEST(deleted_roles_and_channels_are_removed_from_exemptions),
    TEST(replacing_1000_keywords_is_recorded_in_the_audit_log),
    TEST(automod_rule_events_go_only_to_bots_with_manage_guild),
    { 0 },
};
