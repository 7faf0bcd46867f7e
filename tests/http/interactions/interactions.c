/* interactions.c - use of commands and the interactions sent to apps. */
#include <stdio.h>

#include "test_commands.h"

#include <stdlib.h>

#include "channels.h"
#include "gateway_conn.h"
#include "model/application.h"
#include "waits.h"

/* --- the payload ---------------------------------------------------------------------- */

static void command_invocation_is_sent_to_the_app_and_its_user_only(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");

    client_connect(s.ada);
    client_connect(s.bob);
    expect_status(invoke(&s, s.bob, "'nonce': '77'",
                         "'id': '%s', 'version': '%s', 'name': 'roll', 'type': 1", roll_id,
                         roll_id),
                  204);
    const struct dom *d = last_interaction(&s);
    expect_dom(&s, d,
               "{'application_id': '%s', 'type': 2, 'version': 1, 'channel_id': '%s', "
               "'guild_id': '%s', 'guild': {'id': '%s', 'features': [], 'locale': 'en-US'}, "
               "'guild_locale': 'en-US', 'locale': 'en-US', 'context': 0, "
               "'authorizing_integration_owners': {'0': '%s'}, 'entitlements': [], "
               "'entitlement_sku_ids': [], 'attachment_size_limit': 10485760, "
               "'data': {'id': '%s', 'name': 'roll', 'type': 1}}",
               s.application, s.test_guild.channel, s.test_guild.id, s.test_guild.id,
               s.test_guild.id, roll_id);
    expect_dom(
        &s, d,
        "{'channel': {'id': '%s', 'type': 0, 'guild_id': '%s', 'position': 0, 'topic': null, "
        "'nsfw': false, 'last_message_id': null, 'rate_limit_per_user': 0, "
        "'parent_id': null, 'last_pin_timestamp': null, 'flags': 0}}",
        s.test_guild.channel, s.test_guild.id);
    expect_dom(&s, d,
               "{'member': {'user': {'id': '%s', 'username': 'bob', 'discriminator': '0', "
               "'avatar': null, 'global_name': null}, 'roles': [], 'flags': 0, 'nick': null, "
               "'deaf': false, 'mute': false, 'pending': false}}",
               s.bob->id);
    static const char *const absent[] = { "user",           "message",
                                          "data.options",   "data.resolved",
                                          "data.guild_id",  "data.version",
                                          "data.target_id", "channel.permission_overwrites" };
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (dom_at(d, absent[i]))
            fail_test(__FILE__, __LINE__, "there is '%s'", absent[i]);
    expect_event(s.bob, "INTERACTION_CREATE", "{'id': '%s', 'nonce': '77'}", dom_text(&s, d, "id"));
    expect_silence(s.bob);
    expect_silence(s.ada);
}

/* Permissions in the channel, as clients read them. */
static void interaction_contains_permissions_in_the_channel(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");

    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, allow, deny) values "
              "(%s, %s, 1, 0, %llu)",
              s.test_guild.channel, s.bob->id, BITS(PERMISSION(EMBED_LINKS)));
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, allow, deny) values "
              "(%s, %s, 1, %llu, 0)",
              s.test_guild.channel, s.application, BITS(PERMISSION(MANAGE_MESSAGES)));
    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    const struct dom *d = last_interaction(&s);
    uint64_t mine = strtoull(dom_text(&s, d, "member.permissions"), NULL, 10);
    uint64_t apps = strtoull(dom_text(&s, d, "app_permissions"), NULL, 10);

    expect(mine & PERMISSION(SEND_MESSAGES) && !(mine & PERMISSION(EMBED_LINKS)));
    expect(apps & PERMISSION(EMBED_LINKS) && apps & PERMISSION(MANAGE_MESSAGES));
    expect(!(mine & PERMISSION(MANAGE_MESSAGES)));
    expect(strtoull(dom_text(&s, d, "channel.permissions"), NULL, 10) == mine);
}

static void app_permissions_without_a_bot_follow_everyone_overwrites(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");

    world_sql(w, "delete from members where user_id = %s", s.application);
    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    expect_dom(&s, last_interaction(&s), "{'app_permissions': '442368'}");
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, allow, deny) values "
              "(%s, %s, 0, 0, %llu)",
              s.test_guild.channel, s.test_guild.id, BITS(PERMISSION(ATTACH_FILES)));
    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    expect_dom(&s, last_interaction(&s), "{'app_permissions': '409600'}");
}

static void interaction_locale_comes_from_header_or_account(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "'name_localizations': {'de': 'wurf'}");
    struct str body = str_printf(
        world_arena(w),
        "{\"type\":2,\"application_id\":\"%s\",\"channel_id\":\"%s\",\"guild_id\":\"%s\","
        "\"data\":{\"id\":\"%s\",\"version\":\"%s\",\"name\":\"roll\"}}",
        s.application, s.test_guild.channel, s.test_guild.id, roll_id, roll_id);

    expect_status(client_request(s.bob, "POST", "/api/v9/interactions",
                                 "Content-Type: application/json\r\nX-Discord-Locale: de\r\n",
                                 body),
                  204);
    /* Names are not localized. */
    expect_dom(&s, last_interaction(&s), "{'locale': 'de', 'data': {'name': 'roll'}}");
    expect_status(client_patch(s.bob, "{'locale': 'ja'}", "/users/@me/settings"), 200);
    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    expect_dom(&s, last_interaction(&s), "{'locale': 'ja', 'guild_locale': 'en-US'}");
}

static void guild_command_interaction_contains_its_guild_id(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *mine = make_global_command(&s, "'guild_id': '%s'", s.test_guild.id);

    expect_status(roll(&s, s.bob, mine, "%s", ""), 204);
    expect_dom(&s, last_interaction(&s), "{'data': {'guild_id': '%s'}}", s.test_guild.id);
}

static void interaction_token_contains_a_long_random_part(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");
    char plain[200] = { 0 };
    size_t n;

    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    const struct dom *d = last_interaction(&s);
    expect(str_base64url_decode(dom_at(d, "token")->text, plain, sizeof plain - 1, &n));
    const char *begin = TEXT(w, "interaction:%s:", dom_text(&s, d, "id"));
    expect(strncmp(plain, begin, strlen(begin)) == 0);
    expect(n - strlen(begin) >= 40);
    expect(store_count(w, "select count(*) from interactions where state = 0") == 1);
}

/* --- contexts ------------------------------------------------------------------------- */

static struct answer invoke_roll_in(struct test_commands *s, struct client *by, const char *command,
                                    const char *channel)
{
    return client_post(
        by,
        TEXT(s->world,
             "{'type': 2, 'application_id': '%s', 'channel_id': '%s', 'data': {'id': "
             "'%s', 'version': '%s', 'name': 'roll'}}",
             s->application, channel, command, command),
        "/interactions");
}

static void command_in_the_bots_direct_channel_has_context_1(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");
    const char *dm = talk_to(s.bob, s.application);

    expect_status(invoke_roll_in(&s, s.bob, roll_id, dm), 204);
    const struct dom *d = last_interaction(&s);
    expect_dom(&s, d,
               "{'context': 1, 'user': {'id': '%s', 'username': 'bob'}, 'channel_id': '%s', "
               "'channel': {'id': '%s', 'type': 1, 'recipients': [{'id': '%s'}]}, "
               "'authorizing_integration_owners': {'0': '0'}, 'app_permissions': '442368'}",
               s.bob->id, dm, dm, s.application);
    expect(!dom_at(d, "member") && !dom_at(d, "guild") && !dom_at(d, "guild_id") &&
           !dom_at(d, "guild_locale"));
    /* Now the user has installed the app, too. */
    install_on(&s, s.bob);
    expect_status(invoke_roll_in(&s, s.bob, roll_id, dm), 204);
    expect_dom(&s, last_interaction(&s),
               "{'authorizing_integration_owners': {'0': '0', '1': '%s'}}", s.bob->id);
}

static void private_channels_require_a_user_installed_app(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");

    befriend(s.ada, s.bob);
    const char *dm = talk_to(s.bob, s.ada->id);
    expect_invalid(invoke_roll_in(&s, s.bob, roll_id, dm), "data",
                   "INTERACTION_APPLICATION_COMMAND_INVALID");
    install_on(&s, s.bob);
    expect_status(invoke_roll_in(&s, s.bob, roll_id, dm), 204);
    expect_dom(
        &s, last_interaction(&s),
        "{'context': 2, 'app_permissions': '180224', 'authorizing_integration_owners': {'1': "
        "'%s'}}",
        s.bob->id);
    expect(!dom_at(last_interaction(&s), "authorizing_integration_owners.0"));
    /* Bob has installed it, ada has not. */
    expect_invalid(invoke_roll_in(&s, s.ada, roll_id, dm), "data",
                   "INTERACTION_APPLICATION_COMMAND_INVALID");
}

static void command_contexts_and_integration_types_are_enforced(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *nowhere = make_global_command(&s, "'contexts': [1, 2]"),
               *theirs = make_global_command(&s, "'integration_types': [1]"),
               *old = make_global_command(&s, "'contexts': null, 'dm_permission': false");
    const char *dm = talk_to(s.bob, s.application);

    expect_invalid(roll(&s, s.bob, nowhere, "%s", ""), "data",
                   "INTERACTION_APPLICATION_COMMAND_INVALID");
    expect_invalid(roll(&s, s.bob, theirs, "%s", ""), "data",
                   "INTERACTION_APPLICATION_COMMAND_INVALID");
    install_on(&s, s.bob);
    expect_invalid(roll(&s, s.bob, nowhere, "%s", ""), "data",
                   "INTERACTION_APPLICATION_COMMAND_INVALID");
    expect_status(roll(&s, s.bob, theirs, "%s", ""), 204);
    expect_dom(&s, last_interaction(&s), "{'authorizing_integration_owners': {'1': '%s'}}",
               s.bob->id);
    expect_status(invoke_roll_in(&s, s.bob, nowhere, dm), 204);
    expect_status(roll(&s, s.bob, old, "%s", ""), 204);
    expect_invalid(invoke_roll_in(&s, s.bob, old, dm), "data",
                   "INTERACTION_APPLICATION_COMMAND_INVALID");
    /* The app is removed from the guild and not installed by the user. */
    world_sql(w, "delete from integrations where guild_id = %s", s.test_guild.id);
    expect_invalid(roll(&s, s.ada, old, "%s", ""), "data",
                   "INTERACTION_APPLICATION_COMMAND_INVALID");
}

/* --- nonces --------------------------------------------------------------------------- */

static void repeated_nonce_creates_one_interaction(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");
    const char *data = TEXT(w, "'id': '%s', 'version': '%s', 'name': 'roll'", roll_id, roll_id);

    for (int i = 0; i < 3; i++)
        expect_status(invoke(&s, s.bob, "'nonce': 5", "%s", data), 204);
    expect(interactions_received(&s) == 1);
    /* Another user, or another nonce, makes another interaction. */
    expect_status(invoke(&s, s.ada, "'nonce': 5", "%s", data), 204);
    expect_status(invoke(&s, s.bob, "'nonce': 6", "%s", data), 204);
    expect_status(invoke(&s, s.bob, "'nonce': 'ééééééééééééééééééééééééé'", "%s", data), 204);
    expect_status(invoke(&s, s.bob, "'nonce': null", "%s", data), 204);
    expect_status(invoke(&s, s.bob, "'nonce': null", "%s", data), 204);
    expect(interactions_received(&s) == 6);
    expect_invalid(invoke(&s, s.bob, "'nonce': 'ééééééééééééééééééééééééé6'", "%s", data), "nonce",
                   "NONCE_TYPE_INVALID");
    expect_invalid(invoke(&s, s.bob, "'nonce': 1.5", "%s", data), "nonce", "NONCE_TYPE_INVALID");
    expect_invalid(invoke(&s, s.bob, "'nonce': {}", "%s", data), "nonce", "NONCE_TYPE_INVALID");
    world_wait(w, 59);
    expect_status(invoke(&s, s.bob, "'nonce': 6", "%s", data), 204);
    expect(interactions_received(&s) == 6);
    world_wait(w, 2);
    expect_status(invoke(&s, s.bob, "'nonce': 6", "%s", data), 204);
    expect(interactions_received(&s) == 7);
}

/* A job counts the uses of an interval when the interactions of this interval time out. */
static void wait_until_uses_are_counted(struct world *w)
{
    world_wait(w, 4);
    world_settle(w);
}

static void invocations_count_for_the_commands_popularity(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");

    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    expect_status(roll(&s, s.ada, roll_id, "%s", ""), 204);
    expect(store_count(w, "select count(*) from command_uses") == 0);
    wait_until_uses_are_counted(w);
    expect(store_count(w, "select sum(uses) from command_uses") == 2);
    expect_status(roll(&s, s.ada, roll_id, "%s", ""), 204);
    wait_until_uses_are_counted(w);
    expect(store_count(w, "select sum(uses) from command_uses") == 3);
}

/* An app in thousands of guilds has tens of thousands of guild commands. */
static void counting_uses_does_not_read_all_commands_of_the_app(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");

    world_sql(w,
              "insert into commands (id, application_id, guild_id, type, name, version, contexts, "
              "integration_types, plain) with recursive n (i) as (select 1 union all select i + 1 "
              "from n where i < 50000) select i, %s, i, 1, 'a', 1, 0, 0, '{}' from n",
              s.application);
    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    wait_until_uses_are_counted(w);
    expect(store_count(w, "select sum(uses) from command_uses") == 1);
    expect_short_writes("interaction_deadlines", 3);
}

/* Expects this number of days with stored uses, after due jobs have run. */
static void expect_stored_days_of_command_use(struct world *w, int64_t days)
{
    static const char sql[] = "select count(*) from command_uses";

    wait_until_uses_are_counted(w);
    expect(store_count(w, sql) == days);
}

static void command_uses_are_deleted_after_30_days(struct world *w)
{
    enum { DAY_S = 24 * 60 * 60 };
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");

    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    world_wait(w, 10 * DAY_S);
    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    expect_status(roll(&s, s.ada, roll_id, "%s", ""), 204);
    expect_stored_days_of_command_use(w, 2);
    world_wait(w, 19 * DAY_S);
    expect_stored_days_of_command_use(w, 2); /* the first use was 29 days ago */
    world_wait(w, DAY_S);
    expect_stored_days_of_command_use(w, 1);
    world_wait(w, 9 * DAY_S);
    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204); /* the later uses expire on their own */
    expect_stored_days_of_command_use(w, 2);
    world_wait(w, DAY_S);
    expect_stored_days_of_command_use(w, 1);
    world_wait(w, 29 * DAY_S);
    expect_stored_days_of_command_use(w, 0);
    expect(store_count(w, "select count(*) from jobs where kind = 'command_uses'") == 0);
}

static bool application_is_active(struct test_commands *s)
{
    struct answer a = client_get(s->ada, "/applications/%s", s->application);

    expect_status(a, 200);
    return id_of(answer_text(a, "flags_new")) & APPLICATION_ACTIVE;
}

static void application_flag_active_is_set_while_commands_are_used(struct world *w)
{
    enum { DAY_S = 24 * 60 * 60 };
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");
    const char *mine = make_global_command(&s, "'guild_id': '%s'", s.test_guild.id);

    world_sql(w, "update commands set guild_id = %s where id = %s", s.test_guild.id, mine);
    expect_status(roll(&s, s.bob, mine, "%s", ""), 204); /* guild commands do not count */
    wait_until_uses_are_counted(w);
    expect(!application_is_active(&s));
    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    wait_until_uses_are_counted(w);
    expect(application_is_active(&s));
    /* Only owners of the application see the flag. */
    struct answer a = client_get(s.bob, "/applications/%s/public", s.application);
    expect_status(a, 200);
    expect(!(id_of(answer_text(a, "flags_new")) & APPLICATION_ACTIVE));
    a = client_get(s.bob, "/guilds/%s/application-command-index", s.test_guild.id);
    expect(!(id_of(answer_text(a, "applications.0.flags")) & APPLICATION_ACTIVE));

    world_wait(w, 20 * DAY_S);
    expect_status(roll(&s, s.bob, roll_id, "%s", ""), 204);
    wait_until_uses_are_counted(w);
    world_wait(w, 29 * DAY_S);
    expect_stored_days_of_command_use(w, 1);
    expect(application_is_active(&s));
    world_wait(w, DAY_S);
    expect_stored_days_of_command_use(w, 0);
    expect(!application_is_active(&s));
}

static void command_in_an_archived_thread_is_400_50083(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *command = make_global_command(&s, "%s", "");
    struct answer t = client_post(s.ada, "{'name': 'Thread', 'type': 11}", "/channels/%s/threads",
                                  s.test_guild.channel);

    snprintf(s.test_guild.channel, sizeof s.test_guild.channel, "%s", answer_text(t, "id"));
    expect_status(roll(&s, s.bob, command, "%s", ""), 204);
    expect_status(client_patch(s.ada, "{'archived': true}", "/channels/%s", s.test_guild.channel),
                  200);
    expect_error(roll(&s, s.bob, command, "%s", ""), 400, 50083);
}

const struct test interactions_tests[] = {
    TEST(command_invocation_is_sent_to_the_app_and_its_user_only),
    TEST(interaction_contains_permissions_in_the_channel),
    TEST(app_permissions_without_a_bot_follow_everyone_overwrites),
    TEST(interaction_locale_comes_from_header_or_account),
    TEST(guild_command_interaction_contains_its_guild_id),
    TEST(interaction_token_contains_a_long_random_part),
    TEST(command_in_the_bots_direct_channel_has_context_1),
    TEST(private_channels_require_a_user_installed_app),
    TEST(command_contexts_and_integration_types_are_enforced),
    TEST(repeated_nonce_creates_one_interaction),
    TEST(invocations_count_for_the_commands_popularity),
    TEST(counting_uses_does_not_read_all_commands_of_the_app),
    TEST(command_uses_are_deleted_after_30_days),
    TEST(application_flag_active_is_set_while_commands_are_used),
    TEST(command_in_an_archived_thread_is_400_50083),
    { 0 },
};
