/* incoming_webhooks.c - scope webhook.incoming: a webhook is created with the token. */
#include <string.h>

#include "consents.h"
#include "guilds.h"
#include "test_guild.h"

#define ASK \
    AUTHORIZE "?client_id=%s&response_type=code&redirect_uri=" BACK "&scope=webhook.incoming"

static const char *create_channel(struct client *c, const char *guild, const char *type)
{
    struct answer a = client_post(c, TEXT(c->world, "{'name': 'news', 'type': %s}", type),
                                  "/guilds/%s/channels", guild);

    expect_status(a, 201);
    return answer_text(a, "id");
}

static struct answer authorize_webhook(struct client *c, const char *app, const char *channel)
{
    return client_post(
        c, TEXT(c->world, "{'authorize': true, 'webhook_channel_id': '%s'}", channel), ASK, app);
}

static void webhook_incoming_scope_creates_a_webhook_with_the_token(struct world *w)
{
    struct consent s = world_consent(w);
    const char *channel = create_channel(s.bob, s.guild, "0");

    expect_json(client_get(s.bob, ASK, s.app), "{'guilds': [{'id': '%s'}]}", s.guild);
    struct answer a = authorize_webhook(s.bob, s.app, channel);
    expect_status(a, 200);
    discard_received(w);
    a = exchange(&s, url_part(a, "code"));
    expect_json(a,
                "{'scope': 'webhook.incoming', 'webhook': {'type': 1, 'application_id': '%s', "
                "'name': 'App', 'avatar': null, 'guild_id': '%s', 'channel_id': '%s'}}",
                s.app, s.guild, channel);
    expect_absent(a, "webhook.user");
    expect_received(
        w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 50}");
    expect_received(w,
                    audience_of_members_with_permission(id_of(s.guild), id_of(channel),
                                                        PERMISSION(MANAGE_WEBHOOKS)),
                    "WEBHOOKS_UPDATE", "{'channel_id': '%s'}", channel);
    const char *id = answer_text(a, "webhook.id"), *token = answer_text(a, "webhook.token");
    expect(strstr(answer_text(a, "webhook.url"), TEXT(w, "/api/webhooks/%s/%s", id, token)));

    /* The webhook belongs to the user and the app, and can send messages. */
    expect_json(client_get(s.bob, "/channels/%s/webhooks", channel),
                "[{'id': '%s', 'user': {'id': '%s'}, 'application_id': '%s'}]", id, s.bob->id,
                s.app);
    expect_json(
        client_post(s.nobody, "{'content': 'ding'}", "/webhooks/%s/%s?wait=true", id, token),
        "{'author': {'username': 'App'}, 'application_id': '%s'}", s.app);
    expect_json(client_get(s.bob, "/guilds/%s/audit-logs?action_type=50", s.guild),
                "{'audit_log_entries': [{'user_id': '%s', 'target_id': '%s'}]}", s.bob->id, id);
    /* Refreshing the token creates no webhook. */
    a = client_form(s.nobody, TOKEN,
                    "grant_type=refresh_token&refresh_token=%s&client_id=%s&client_secret=%s",
                    answer_text(a, "refresh_token"), s.app, s.secret);
    expect_status(a, 200);
    expect_absent(a, "webhook");
    expect(world_number(w, "select count(*) from webhooks") == 1);
}

static void webhook_incoming_requires_a_channel_and_manage_webhooks(struct world *w)
{
    struct consent s = world_consent(w);
    struct client *cleo = world_client(w, "cleo"), *dan = world_client(w, "dan");
    const char *channel = create_channel(s.bob, s.guild, "0"),
               *group = create_channel(s.bob, s.guild, "4");
    const char *role = make_role(s.bob, s.guild, "{'name': 'hooks', 'permissions': '536870912'}");

    put_member(s.guild, cleo);
    expect_invalid(client_post(s.bob, "{'authorize': true}", ASK, s.app), "webhook_channel_id",
                   "BASE_TYPE_REQUIRED");
    expect_error(authorize_webhook(s.bob, s.app, "77"), 404, 10003);
    expect_error(authorize_webhook(s.bob, s.app, group), 400, 50024);
    expect_error(authorize_webhook(cleo, s.app, channel), 403, 50013);
    expect_error(authorize_webhook(dan, s.app, channel), 403, 50001);
    put_role_on(s.guild, cleo, role);
    struct answer a = authorize_webhook(cleo, s.app, channel);
    expect_status(a, 200);
    /* A user who has lost the permission gets neither webhook nor token. */
    expect_status(client_delete(s.bob, "/guilds/%s/roles/%s", s.guild, role), 204);
    expect_json(exchange(&s, url_part(a, "code")), "{'error': 'invalid_grant'}");
    expect(world_number(w, "select count(*) from webhooks") == 0);
    for (int i = 0; i < 15; i++)
        world_sql(w,
                  "insert into webhooks (id, guild_id, channel_id, name, salt) values (%d, %s, %s, "
                  "'x', '')",
                  100 + i, s.guild, channel);
    expect_error(authorize_webhook(s.bob, s.app, channel), 400, 30007);
    expect_status(client_post(s.bob, "{'authorize': false}", ASK, s.app), 200);
}

static struct answer authorize_bot_and_webhook(struct client *c, const char *app, const char *guild,
                                               const char *channel)
{
    return client_post(c,
                       TEXT(c->world,
                            "{'authorize': true, 'guild_id': '%s', 'webhook_channel_id': '%s'}",
                            guild, channel),
                       AUTHORIZE "?client_id=%s&response_type=code&redirect_uri=" BACK
                                 "&scope=bot%%20webhook.incoming",
                       app);
}

/* If the webhook cannot be created, the bot is not added and the code is not used up. */
static void bot_is_not_added_when_the_webhook_cannot_be_created(struct world *w)
{
    struct consent s = world_consent(w);
    const char *channel = create_channel(s.bob, s.guild, "0");

    expect_status(
        client_patch(s.ada, "{'bot_require_code_grant': true}", "/applications/%s", s.app), 200);
    struct answer a = authorize_bot_and_webhook(s.bob, s.app, s.guild, channel);
    expect_status(a, 200);
    expect_status(client_delete(s.bob, "/channels/%s", channel), 200);
    expect_json(exchange(&s, url_part(a, "code")), "{'error': 'invalid_grant'}");
    expect_error(client_get(s.bob, "/guilds/%s/members/%s", s.guild, s.app), 404, 10007);
}

static void webhook_channel_must_be_in_the_bots_guild(struct world *w)
{
    struct consent s = world_consent(w);
    const char *channel = create_channel(s.bob, s.guild, "0"), *other = found_guild(s.bob, "Other");

    expect_invalid(authorize_bot_and_webhook(s.bob, s.app, other, channel), "webhook_channel_id",
                   "CHANNEL_INVALID");
    /* An app name that is not allowed for webhooks is replaced. */
    expect_status(client_patch(s.ada, "{'name': 'Clyde'}", "/applications/%s", s.app), 200);
    expect_json(exchange(&s, url_part(authorize_webhook(s.bob, s.app, channel), "code")),
                "{'webhook': {'name': 'Webhook'}}");
}

static void webhook_incoming_requires_the_authorization_code_grant(struct world *w)
{
    struct consent s = world_consent(w);

    expect_status(client_patch(s.ada, "{'flags': 256}", "/applications/%s", s.app), 200);
    expect_invalid(client_get(s.bob,
                              AUTHORIZE "?client_id=%s&response_type=token&redirect_uri=" BACK
                                        "&scope=webhook.incoming",
                              s.app),
                   "scope", "ENUM_TYPE_COERCE");
    expect_invalid(client_get(s.bob, AUTHORIZE "?client_id=%s&scope=webhook.incoming", s.app),
                   "response_type", "BASE_TYPE_REQUIRED");
    expect_json(client_form(s.nobody, TOKEN,
                            "grant_type=client_credentials&scope=webhook.incoming&client_id=%s&"
                            "client_secret=%s",
                            s.app, s.secret),
                "{'error': 'invalid_scope'}");
}

/* A leaked code also leaks the webhook's token. */
static void reusing_an_authorization_code_deletes_its_webhook(struct world *w)
{
    struct consent s = world_consent(w);
    const char *channel = create_channel(s.bob, s.guild, "0"),
               *next = create_channel(s.bob, s.guild, "0");
    const char *unused_code = url_part(authorize_webhook(s.bob, s.app, channel), "code");
    const char *code = url_part(authorize_webhook(s.bob, s.app, channel), "code");
    struct answer a = exchange(&s, code);
    const char *id = answer_text(a, "webhook.id"), *token = answer_text(a, "webhook.token");

    const char *other = answer_text(exchange(&s, unused_code), "webhook.id");
    expect_status(client_patch(s.bob, TEXT(w, "{'channel_id': '%s'}", next), "/webhooks/%s", id),
                  200);
    discard_received(w);
    expect_json(exchange(&s, code), "{'error': 'invalid_grant'}");
    expect_error(client_get(s.nobody, "/webhooks/%s/%s", id, token), 404, 10015);
    expect_received(
        w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 52}");
    expect_received(w,
                    audience_of_members_with_permission(id_of(s.guild), id_of(next),
                                                        PERMISSION(MANAGE_WEBHOOKS)),
                    "WEBHOOKS_UPDATE", "{'channel_id': '%s'}", next);
    expect_json(client_get(s.bob, "/guilds/%s/audit-logs?action_type=52", s.guild),
                "{'audit_log_entries': [{'user_id': '%s', 'target_id': '%s'}]}", s.bob->id, id);
    expect_json(client_get(s.bob, "/guilds/%s/webhooks", s.guild), "[{'id': '%s'}]", other);
    expect(world_number(w, "select count(*) from webhooks") == 1);
    /* A third use has nothing to revoke. */
    expect_json(exchange(&s, code), "{'error': 'invalid_grant'}");
}

const struct test incoming_webhooks_tests[] = {
    TEST(webhook_incoming_scope_creates_a_webhook_with_the_token),
    TEST(webhook_incoming_requires_a_channel_and_manage_webhooks),
    TEST(bot_is_not_added_when_the_webhook_cannot_be_created),
    TEST(webhook_channel_must_be_in_the_bots_guild),
    TEST(webhook_incoming_requires_the_authorization_code_grant),
    TEST(reusing_an_authorization_code_deletes_its_webhook),
    { 0 },
};
