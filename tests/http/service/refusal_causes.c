/* refusal_causes.c - causes of refusals in the traffic log, X-Guildhall-Cause, explanations of
 * permissions and of deliveries. Tests src/api/refusal_cause.c,
 * src/platform/channels/permission_explanation.c, src/interactions/refusal_causes.c and
 * src/admin/console/explain_*.c. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "statements.h"
#include "test_commands.h"
#include "test_interaction.h"

static void configure_workbench_with_controls(struct config *c)
{
    c->workbench = "on";
    c->traffic_mib = 1;
}

static struct answer console_get(struct world *w, const char *path)
{
    return client_request(world_anonymous(w), "GET", path, NULL, (struct str){ 0 });
}

/* Expects the hint of the newest record to contain each part; parts are separated by '|'. */
static void expect_hint_of_newest_record_at(int line, struct world *w, const char *filter,
                                            const char *parts, const char *docs)
{
    struct answer a =
        console_get(w, str_printf(world_arena(w), "/console/traffic?limit=1%s", filter).p);
    const char *hint = answer_text(a, "records.0.hint"), *shown = answer_text(a, "records.0.line");
    struct str rest = str_of(parts);

    while (rest.n) {
        struct str part = str_cut(&rest, '|');

        if (!memmem(hint, strlen(hint), part.p, part.n))
            fail_test(__FILE__, line, "no '%.*s' in: %s", STR_ARGS(part), hint);
    }
    expect(strstr(shown, hint) != NULL);
    if (*docs)
        expect(strcmp(answer_text(a, "records.0.docs"), docs) == 0);
}
#define expect_hint(w, filter, parts, code) \
    expect_hint_of_newest_record_at(__LINE__, (w), (filter), (parts), "docs/errors.md#" #code)

/* Denies a permission in the channel; type 0: of a role, 1: of a member. */
static void deny_permission_in_channel(struct test_bot *s, int type, const char *id,
                                       uint64_t denied)
{
    const char *json =
        TEXT(s->world, "{'type': %d, 'allow': '0', 'deny': '%llu'}", type, BITS(denied));

    expect_status(
        client_put(s->ada, json, "/channels/%s/permissions/%s", s->test_guild.channel, id), 204);
}

static void missing_permission_is_named_with_the_overwrite_that_took_it(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *channel = s.test_guild.channel;
    const char *role = test_guild_role(&s.test_guild, 1, 0);

    test_guild_give(&s.test_guild, s.bot, role);
    world_sql(w, "update roles set name = 'Muted' where id = %s", role);
    deny_permission_in_channel(&s, 0, role, PERMISSION(SEND_MESSAGES));
    struct answer a = client_post(s.bot, "{'content': 'x'}", "/channels/%s/messages", channel);
    expect_error(a, 403, 50013);
    expect(str_is(answer_header(a, "X-Guildhall-Cause"), "missing SEND_MESSAGES"));
    expect_hint(w, "",
                "lacks SEND_MESSAGES in #|the overwrite of Muted in #|denies|remove this deny",
                50013);
}

static void permission_in_a_thread_is_explained_by_its_parent(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *channel = s.test_guild.channel;
    const char *parent = answer_text(client_get(s.ada, "/channels/%s", channel), "name");
    const char *thread = answer_text(
        client_post(s.ada, "{'name': 'branch', 'type': 11}", "/channels/%s/threads", channel),
        "id");

    deny_permission_in_channel(&s, 0, s.test_guild.id, PERMISSION(SEND_MESSAGES_IN_THREADS));
    expect_error(client_post(s.bot, "{'content': 'x'}", "/channels/%s/messages", thread), 403,
                 50013);
    expect_hint(w, "", TEXT(w, "the overwrite of @everyone in #%s denies", parent), 50013);
}

static void refused_client_of_a_token_request_is_explained(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    struct answer a =
        client_request(nobody, "POST", "/api/v10/oauth2/token",
                       "Content-Type: application/x-www-form-urlencoded\r\n",
                       STR("grant_type=client_credentials&client_id=1&client_secret=wrong"));

    expect(a.status == 401);
    a = console_get(w, "/console/traffic?limit=1");
    expect(strstr(answer_text(a, "records.0.hint"), "client_id and client_secret"));
}

static void missing_permission_that_no_role_grants_names_the_roles(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *m = answer_text(
        client_post(s.ada, "{'content': 'x'}", "/channels/%s/messages", s.test_guild.channel),
        "id");
    struct answer a = client_delete(s.bot, "/channels/%s/messages/%s", s.test_guild.channel, m);

    expect_error(a, 403, 50013);
    expect(str_is(answer_header(a, "X-Guildhall-Cause"), "missing MANAGE_MESSAGES"));
    expect_hint(w, "", "none of its roles (@everyone|grants MANAGE_MESSAGES|allow it in the",
                50013);
}

static void hidden_channel_and_foreign_guild_are_explained(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *channel = s.test_guild.channel;

    deny_permission_in_channel(&s, 0, s.test_guild.id, PERMISSION(VIEW_CHANNEL));
    expect_error(client_get(s.bot, "/channels/%s/messages", channel), 403, 50001);
    expect_hint(w, "", "lacks VIEW_CHANNEL in #|the overwrite of @everyone", 50001);
    struct test_guild other = world_test_guild(w, s.bob);
    expect_error(client_get(s.bot, "/guilds/%s/channels", other.id), 403, 50001);
    expect_hint(w, "", "not a member of this server|client_id=", 50001);
}

static void refusals_by_rank_timeout_or_ownership_are_explained(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *high = test_guild_role(&s.test_guild, 5, 0);
    const char *own = test_guild_role(&s.test_guild, 2, PERMISSION(MANAGE_ROLES));

    test_guild_give(&s.test_guild, s.bot, own);
    world_sql(w, "update roles set name = 'Robots' where id = %s", own);
    struct answer a =
        client_put(s.bot, "", "/guilds/%s/members/%s/roles/%s", s.test_guild.id, s.bob->id, high);
    expect_error(a, 403, 50013);
    expect(str_is(answer_header(a, "X-Guildhall-Cause"), "rank"));
    expect_hint(w, "", "the highest role of|Robots, is not above|move the role up", 50013);
    a = client_delete(s.bob, "/guilds/%s", s.test_guild.id);
    expect_error(a, 403, 50013);
    expect(str_is(answer_header(a, "X-Guildhall-Cause"), "owner"));
    expect_hint(w, "", "only the owner", 50013);
    expect_status(
        client_patch(s.ada, "{'communication_disabled_until': '2099-01-01T00:00:00.000000+00:00'}",
                     "/guilds/%s/members/%s", s.test_guild.id, s.bob->id),
        400); /* at most 28 days */
    world_sql(w, "update members set timed_out_until = 4070908800000000 where user_id = %s",
              s.bob->id);
    expect_error(
        client_post(s.bob, "{'content': 'x'}", "/channels/%s/messages", s.test_guild.channel), 403,
        50013);
    expect_hint(w, "", "bob is timed out until 2099-01-01|remove the time-out", 50013);
}

static void refused_interaction_responses_are_explained(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *bot = str_printf(world_arena(w), "&user=%s", s.bot->id).p;
    struct test_interaction late = INTERACTION(&s, .age = 3.5), ask = INTERACTION(&s),
                            old = INTERACTION(&s, .age = 1000), open = INTERACTION(&s);

    expect_error(interaction_answer(&late, "", "{'type': 5}"), 404, 10062);
    expect_hint(w, bot, "ms too late (limit 3000 ms)|deferReply", 10062);
    interaction_answered(&ask, "{'type': 5}");
    expect_error(interaction_answer(&ask, "", "{'type': 5}"), 400, 40060);
    expect_hint(w, bot, "already answered with callback type 5|editReply", 40060);
    expect_error(client_post(world_anonymous(w), "{'content': 'x'}", "/webhooks/%s/%s",
                             open.application, open.token),
                 404, 10015);
    expect_hint(w, bot, "no response yet|deferReply", 10015);
    expect_error(client_post(world_anonymous(w), "{'content': 'x'}", "/webhooks/%s/%s",
                             old.application, old.token),
                 401, 50027);
    expect_hint(w, bot, "valid for 15 minutes|1000 s after", 50027);
    expect_error(client_post(world_anonymous(w), "{'type': 5}", "/interactions/%s/%s/callback",
                             open.id, ask.token),
                 404, 10062);
    expect_hint(w, "", "did not create the interaction with this token", 10062);
}

static void webhook_calls_are_recorded_for_the_application(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *role = test_guild_role(&s.test_guild, 1, PERMISSION(MANAGE_WEBHOOKS));

    test_guild_give(&s.test_guild, s.bot, role);
    struct answer hook =
        client_post(s.bot, "{'name': 'x'}", "/channels/%s/webhooks", s.test_guild.channel);
    expect_error(client_post(world_anonymous(w), "{'content': ''}", "/webhooks/%s/%s",
                             answer_text(hook, "id"), answer_text(hook, "token")),
                 400, 50006);
    expect_hint(w, str_printf(world_arena(w), "&user=%s&status=error", s.bot->id).p,
                "no content, embed", 50006);
}

static void invalid_field_is_explained_with_its_value(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    char text[2102] = { 0 };

    memset(text, 'a', 2100);
    expect_error(client_post(s.bot, TEXT(w, "{'content': '%s'}", text), "/channels/%s/messages",
                             s.test_guild.channel),
                 400, 50035);
    expect_hint(w, "", "correct the field content; |the value has 2100 characters: \"aaaa", 50035);
    expect_error(client_post(s.bot, "{'embeds': [{'title': 'x', 'color': -7}]}",
                             "/channels/%s/messages", s.test_guild.channel),
                 400, 50035);
    expect_hint(w, "", "correct the field embeds.0.color; the value is -7", 50035);
    expect_error(client_post(s.bot, "[]", "/channels/%s/messages", s.test_guild.channel), 400,
                 50035);
    expect_hint(w, "", "correct the body or its Content-Type", 50035);
    expect_error(client_patch(s.bob, "{'password': 5, 'new_password': 'abc'}", "/users/@me"), 400,
                 50035);
    struct answer a = console_get(w, "/console/traffic?limit=1");
    expect(!strstr(answer_text(a, "records.0.hint"), "the value"));
}

static void unknown_id_of_another_object_is_explained(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *channel = s.test_guild.channel;

    expect_error(client_get(s.bot, "/channels/%s/messages", s.test_guild.id), 404, 10003);
    expect_hint(w, "", "is the id of a guild (|), not of a channel; use the id of a channel",
                10003);
    expect_error(client_get(s.bot, "/guilds/%s/channels", channel), 404, 10004);
    expect_hint(w, "", "is the id of a channel (|), not of a guild", 10004);
    expect_error(client_get(s.bot, "/users/%s", channel), 404, 10013);
    expect_hint(w, "", "is the id of a channel (|), not of a user", 10013);
    expect_error(client_get(s.bot, "/channels/1572702099781714000/messages?limit=5"), 404, 10003);
    expect_hint(w, "", "1572702099781714000 is not the id of a channel|keep ids as strings", 10003);
    expect_error(client_get(s.bot, "/channels/1572702099781713924/messages"), 404, 10003);
    expect_hint(w, "", "The id is not that of a channel", 10003);
}

static void values_that_are_not_ids_are_explained(struct world *w)
{
    static const char *const cases[][2] = {
        { "undefined", "\"undefined\" is not snowflake" },
        { "NaN", "the variable with the id is not set" },
        { "general", "write the id, a number of 17 to 20 digits, not a name" },
        { "1.57e18", "keep ids as strings" },
        { "%7Bid%7D", "replace the placeholder" },
    };
    struct test_bot s = world_test_bot(w);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_error(client_get(s.bot, "/channels/%s/messages", cases[i][0]), 400, 50035);
        struct answer a = console_get(w, "/console/traffic?limit=1");
        expect(strstr(answer_text(a, "records.0.line"), cases[i][1]));
        expect(strstr(answer_text(a, "records.0.hint"), "correct the field channel_id; "));
    }
}

static void invalid_field_is_explained_with_what_to_write(struct world *w)
{
    static const char *const cases[][2] = {
        { "{'embeds': [{'title': 'x', 'url': 'www.example.com'}]}",
          "a complete URL with https://" },
        { "{'embeds': [{'title': 'x', 'color': '#ff0000'}]}", "such as 0xFF0000" },
        { "{'embeds': [{'title': 'x', 'timestamp': 'today'}]}", "toISOString" },
        { "{'embeds': [{'fields': [{'name': 'x'}]}]}", "add the field embeds.0.fields.0.value" },
        { "{'content': {}}", "correct the field content; the value is {}" },
        { "{'content': 'x', 'components': [{'type': 2, 'style': 1, 'label': 'x', 'custom_id': 'x'}]}",
          "into an action row (type 1)" },
    };
    struct test_bot s = world_test_bot(w);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_error(client_post(s.bot, cases[i][0], "/channels/%s/messages", s.test_guild.channel),
                     400, 50035);
        expect_hint(w, "", cases[i][1], 50035);
    }
}

static void wrong_credentials_and_methods_are_explained(struct world *w)
{
    static const char *const cases[][2] = {
        { "Bot undefined", "the variable with the token is not set" },
        { "Bot ", "the variable with the token is not set" },
        { "None", "the variable with the token is not set" },
        { "Bot \"abc\"", "contains quotes or spaces" },
        { "Bot Bot abc", "begins with \"Bot \" twice" },
        { "Bot abc", "no bot has this token" },
        { "abc", "for a bot's token, send" },
        { "Bearer abc", "a bot's token is sent as \"Bot TOKEN\"" },
    };
    struct test_bot s = world_test_bot(w);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str header = str_printf(world_arena(w), "Authorization: %s\r\n", cases[i][0]);

        expect_status(client_request(world_anonymous(w), "GET", "/api/v10/users/@me", header.p,
                                     (struct str){ 0 }),
                      401);
        expect_hint(w, "", cases[i][1], 401);
    }
    expect_status(client_post(s.bot, "{}", "/channels/%s", s.test_guild.channel), 405);
    expect_hint(w, "", "not with this HTTP method; use one of |GET|PATCH", 405);
}

/* Names may have 100 characters of four bytes; a cut in the middle would not be valid JSON. */
static void causes_with_long_names_are_valid_utf8(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    char name[401] = { 0 };

    for (int i = 0; i < 100; i++)
        memcpy(name + 4 * i, "\xf0\x9f\x98\x80", 4);
    for (int cut = 0; cut < 4; cut++) {
        const char *role = test_guild_role(&s.test_guild, 1, 0);

        test_guild_give(&s.test_guild, s.bot, role);
        world_sql(w, "update roles set name = '%.*s%s' where id = %s", cut, "abc", name + 12, role);
        world_sql(w, "update channels set name = '%s' where id = %s", name, s.test_guild.channel);
        deny_permission_in_channel(&s, 0, role, PERMISSION(SEND_MESSAGES));
        expect_error(
            client_post(s.bot, "{'content': 'x'}", "/channels/%s/messages", s.test_guild.channel),
            403, 50013);
        struct answer a = console_get(w, "/console/traffic?limit=1");
        expect(utf8_is_valid(a.body) && strstr(answer_text(a, "records.0.hint"), "SEND_MESSAGES"));
        expect_status(
            client_delete(s.ada, "/channels/%s/permissions/%s", s.test_guild.channel, role), 204);
    }
}

static void wrong_token_type_and_missing_intent_are_explained(struct world *w)
{
    struct test_bot s = world_test_bot(w);

    expect_error(client_get(s.bot, "/users/@me/relationships"), 403, 20001);
    expect_hint(w, "", "the token of a bot was sent|only tokens of users", 20001);
    world_sql(w, "update applications set flags = 0 where id = %s", s.application);
    expect_error(client_get(s.bot, "/guilds/%s/members", s.test_guild.id), 403, 50001);
    expect_hint(w, "", "privileged intent GUILD_MEMBERS", 50001);
    expect_error(client_get(s.bot, "/applications/%s/commands", s.ada->id), 404, 10002);
    expect_hint(w, "", "is the id of a user (ada), not of an application", 10002);
    struct test_guild other = world_test_guild(w, s.bob);
    expect_error(
        client_put(s.bot, "[]", "/applications/%s/guilds/%s/commands", s.application, other.id),
        403, 50001);
    expect_hint(w, "", "not installed in this server with the scope applications.commands", 50001);
    struct gateway_conn *g = conn_open(s.bot, "v=10&encoding=json");
    conn_read(g, 5000);
    conn_identify(g, "'intents': 33280");
    while (!conn_close_code(g))
        conn_read(g, 1000);
    expect(conn_close_code(g) == 4014);
    expect_hint(w, str_printf(world_arena(w), "&kind=closed&user=%s", s.bot->id).p,
                "asks for MESSAGE_CONTENT, which its application has not enabled", 4014);
}

static void malformed_gateway_messages_are_explained(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct gateway_conn *g = conn_open(s.bot, "v=10&encoding=json");

    expect_op(g, 10);
    conn_send(g, "{'op': 2, 'd': {'token': null, 'intents': 513, 'properties': {}}}");
    expect_close(g, 4002);
    expect_hint(w, "&kind=closed", "op 2: the token is missing|is the variable with the token set",
                4002);
    g = conn_open(s.bot, "v=10&encoding=msgpack");
    expect_close(g, 4002);
    expect_hint(w, "&kind=closed", "must be json or etf", 4002);
    g = conn_session(s.bot, "v=10&encoding=json", "'intents': 1");
    expect_dispatch(g, "GUILD_CREATE", "{}");
    conn_send(g, "{'op': 8, 'd': {'guild_id': '%s', 'query': '', 'limit': 0}}", s.test_guild.id);
    expect_dispatch(g, "GUILD_MEMBERS_CHUNK", "{'members': []}");
    expect_hint_of_newest_record_at(__LINE__, w, "&event=GUILD_MEMBERS_CHUNK",
                                    "needs the intent GUILD_MEMBERS (1 << 1)", "");
}

static void outdated_command_version_is_explained(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *command = make_global_command(&s, "%s", "");

    expect_status(roll(&s, s.ada, command, "%s", ""), 204);
    world_sql(w, "update commands set version = version + 1 where id = %s", command);
    expect_error(roll(&s, s.ada, command, "%s", ""), 400, 50035);
    expect_hint(w, "", "registered this command again since the client read it|fetch the command",
                50035);
}

static void enable_workbench_and_rate_limits(struct config *c)
{
    configure_workbench_with_controls(c);
    c->rate_limits = true;
}

static void refusal_by_a_rate_limit_names_bucket_and_mistake(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct answer a;

    do
        a = client_post(s.bot, "{'content': 'x'}", "/channels/%s/messages", s.test_guild.channel);
    while (a.status == 200);
    expect_status(a, 429);
    expect_hint(w, "", "the bucket '|calls per|did not wait|Retry-After", 429);
}

static void permission_is_explained_step_by_step(struct world *w)
{
    struct test_bot s = world_test_bot(w);

    deny_permission_in_channel(&s, 1, s.bob->id, PERMISSION(SEND_MESSAGES));
    struct answer a = console_get(
        w, str_printf(world_arena(w),
                      "/console/permissions?user=bob&permission=Send%%20Messages&channel=%s",
                      s.test_guild.channel)
               .p);
    expect_json(
        a,
        "{'permission': 'SEND_MESSAGES', 'allowed': false, 'user': {'id': '%s', 'name': "
        "'bob'}, 'channel': {'id': '%s'}, 'steps': [{'text': 'bob does not own the "
        "server', 'has': false}, {'text': 'the role @everyone grants SEND_MESSAGES', 'has': "
        "true}, {'has': false}]}",
        s.bob->id, s.test_guild.channel);
    expect(strstr(answer_text(a, "steps.2.text"), "the overwrite of the member bob in #"));
    expect(strstr(answer_text(a, "cause"), "bob lacks SEND_MESSAGES in #"));
    expect_absent(a, "steps.3");
    a = console_get(w, "/console/permissions?user=ada&permission=BAN_MEMBERS");
    expect_json(a, "{'allowed': true, 'cause': ''}");
    /* Long names of many roles are named too. */
    for (int i = 0; i < 12; i++) {
        const char *role = test_guild_role(&s.test_guild, 1, 0);

        test_guild_give(&s.test_guild, s.bob, role);
        world_sql(w, "update roles set name = '%0100d' where id = %s", i, role);
    }
    a = console_get(w, "/console/permissions?user=bob&permission=BAN_MEMBERS");
    expect_json(a, "{'allowed': false}");
    expect(strstr(answer_text(a, "cause"), "00000"));
    /* A name that is the id of another account does not hide that account. */
    world_sql(w, "update users set username = '%s' where id = %s", s.bob->id, s.ada->id);
    a = console_get(w, str_printf(world_arena(w),
                                  "/console/permissions?user=%s&permission=BAN_MEMBERS", s.bob->id)
                           .p);
    expect_json(a, "{'user': {'id': '%s'}}", s.bob->id);
    world_sql(w, "update users set username = 'ada' where id = %s", s.ada->id);
    expect_invalid(console_get(w, "/console/permissions?user=ada&permission=FLY"), "permission",
                   "BASE_TYPE_CHOICES");
    expect_invalid(console_get(w, "/console/permissions?user=nobody&permission=SPEAK"), "user",
                   "BASE_TYPE_CHOICES");
    expect_invalid(console_get(w, "/console/permissions?user=bob&permission=SPEAK&channel=none"),
                   "channel", "BASE_TYPE_CHOICES");
    expect_error(client_request(world_anonymous(w), "GET",
                                "/console/permissions?user=bob&permission=SPEAK",
                                "Origin: http://elsewhere.example\r\n", STR("")),
                 401, 0);
}

/* Reads the explanation of the delivery of a message to the bot. */
static struct answer explain_delivery(struct test_bot *s, const char *message)
{
    return console_get(s->world, str_printf(world_arena(s->world),
                                            "/console/delivery?user=%s&channel_id=%s&message_id=%s",
                                            s->bot->id, s->test_guild.channel, message)
                                     .p);
}

static void missing_delivery_is_explained_by_the_first_check_that_fails(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *m = answer_text(
        client_post(s.ada, "{'content': 'x'}", "/channels/%s/messages", s.test_guild.channel),
        "id");

    struct answer a = explain_delivery(&s, m);
    expect_json(a, "{'delivered': false, 'content': false, 'steps': [{'has': false}]}");
    expect(strstr(answer_text(a, "cause"), "it is not connected"));
    expect_absent(a, "steps.1");

    struct gateway_conn *g = conn_session(s.bot, "v=10&encoding=json", "'intents': 1");
    a = explain_delivery(&s, m);
    expect_json(a, "{'delivered': false, 'steps': [{'has': true}, {'has': true}, {'has': false}]}");
    expect(strstr(answer_text(a, "cause"), "no session has the intent GUILD_MESSAGES"));
    expect_hint_of_newest_record_at(__LINE__, w, "&event=READY",
                                    "this session gets no messages|(GUILDS)", "");
    conn_close(g, 1000);

    world_wait(w, 2);
    g = conn_session(s.bot, "v=10&encoding=json", "'intents': 513");
    a = explain_delivery(&s, m);
    expect_json(a, "{'delivered': false, 'content': false}");
    expect(strstr(answer_text(a, "cause"), "after the message was sent"));
    m = answer_text(
        client_post(s.ada, "{'content': 'x'}", "/channels/%s/messages", s.test_guild.channel),
        "id");
    expect_dispatch(g, "GUILD_CREATE", "{}");
    expect_dispatch(g, "MESSAGE_CREATE", "{'id': '%s', 'content': ''}", m);
    a = explain_delivery(&s, m);
    expect_json(a, "{'delivered': true, 'content': false}");
    expect(strstr(answer_text(a, "steps.4.text"), "MESSAGE_CREATE was sent to it at "));
    expect(strstr(answer_text(a, "cause"), "the intent MESSAGE_CONTENT"));
    deny_permission_in_channel(&s, 1, s.bot->id, PERMISSION(VIEW_CHANNEL));
    a = explain_delivery(&s, m);
    expect_json(a, "{'delivered': false, 'content': false}");
    expect(strstr(answer_text(a, "cause"), "lacks VIEW_CHANNEL in #"));
    expect_error(explain_delivery(&s, "1"), 404, 10008);
}

static void watch_sql_statements_of_store(struct config *c)
{
    (void)c;
    statements_watch();
}

static void watch_sql_statements_with_workbench(struct config *c)
{
    configure_workbench_with_controls(c);
    statements_watch();
}

/* Returns how often one refusal reads the names of the roles. */
static int role_reads_of_refusal(struct world *w)
{
    static const char READS_ROLES[] = "from roles where guild_id = $1 and position >= 0";
    struct test_bot s = world_test_bot(w);
    int before = statements_seen(READS_ROLES).runs;
    struct answer a = client_delete(s.bob, "/guilds/%s/members/%s", s.test_guild.id, s.bot->id);

    expect_error(a, 403, 50013);
    expect(str_is(answer_header(a, "X-Guildhall-Cause"), "missing KICK_MEMBERS"));
    return statements_seen(READS_ROLES).runs - before;
}

static void refusal_causes_are_not_computed_without_a_reader(struct world *w)
{
    expect(role_reads_of_refusal(w) == 0);
}

static void recorded_refusal_reads_the_roles_once(struct world *w)
{
    /* PostgreSQL is not measured. */
    expect(role_reads_of_refusal(w) <= 1);
    expect_hint(w, "", "bob lacks KICK_MEMBERS in the server", 50013);
}

const struct test refusal_causes_tests[] = {
    TEST_WITH(missing_permission_is_named_with_the_overwrite_that_took_it,
              configure_workbench_with_controls),
    TEST_WITH(missing_permission_that_no_role_grants_names_the_roles,
              configure_workbench_with_controls),
    TEST_WITH(hidden_channel_and_foreign_guild_are_explained, configure_workbench_with_controls),
    TEST_WITH(refusals_by_rank_timeout_or_ownership_are_explained,
              configure_workbench_with_controls),
    TEST_WITH(refused_interaction_responses_are_explained, configure_workbench_with_controls),
    TEST_WITH(webhook_calls_are_recorded_for_the_application, configure_workbench_with_controls),
    TEST_WITH(invalid_field_is_explained_with_its_value, configure_workbench_with_controls),
    TEST_WITH(unknown_id_of_another_object_is_explained, configure_workbench_with_controls),
    TEST_WITH(values_that_are_not_ids_are_explained, configure_workbench_with_controls),
    TEST_WITH(invalid_field_is_explained_with_what_to_write, configure_workbench_with_controls),
    TEST_WITH(wrong_credentials_and_methods_are_explained, configure_workbench_with_controls),
    TEST_WITH(causes_with_long_names_are_valid_utf8, configure_workbench_with_controls),
    TEST_WITH(wrong_token_type_and_missing_intent_are_explained, configure_workbench_with_controls),
    TEST_WITH(malformed_gateway_messages_are_explained, configure_workbench_with_controls),
    TEST_WITH(outdated_command_version_is_explained, configure_workbench_with_controls),
    TEST_WITH(refusal_by_a_rate_limit_names_bucket_and_mistake, enable_workbench_and_rate_limits),
    TEST_WITH(permission_is_explained_step_by_step, configure_workbench_with_controls),
    TEST_WITH(missing_delivery_is_explained_by_the_first_check_that_fails,
              configure_workbench_with_controls),
    TEST_WITH(permission_in_a_thread_is_explained_by_its_parent, configure_workbench_with_controls),
    TEST_WITH(refused_client_of_a_token_request_is_explained, configure_workbench_with_controls),
    TEST_WITH(refusal_causes_are_not_computed_without_a_reader, watch_sql_statements_of_store),
    TEST_WITH(recorded_refusal_reads_the_roles_once, watch_sql_statements_with_workbench),
    { 0 },
};
