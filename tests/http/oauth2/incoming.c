/* incoming.c - the scope webhook.incoming: a webhook that comes with a token. */
#include <string.h>

#include "consents.h"
#include "guilds.h"
#include "test_guild.h"

#define ASK \
    AUTHORIZE "?client_id=%s&response_type=code&redirect_uri=" BACK "&scope=webhook.incoming"

static const char *make_place(struct client *c, const char *guild, const char *type)
{
    struct answer a = client_post(c, TEXT(c->world, "{'name': 'news', 'type': %s}", type),
                                  "/guilds/%s/channels", guild);

    expect_status(a, 201);
    return answer_text(a, "id");
}

static struct answer allow(struct client *c, const char *app, const char *channel)
{
    return client_post(
        c, TEXT(c->world, "{'authorize': true, 'webhook_channel_id': '%s'}", channel), ASK, app);
}

static void a_token_brings_a_webhook_along(struct world *w)
{
    struct consent s = world_consent(w);
    const char *channel = make_place(s.bob, s.guild, "0");

    expect_json(client_get(s.bob, ASK, s.app), "{'guilds': [{'id': '%s'}]}", s.guild);
    struct answer a = allow(s.bob, s.app, channel);
    expect_status(a, 200);
    forget_told(w);
    a = exchange(&s, url_part(a, "code"));
    expect_json(a,
                "{'scope': 'webhook.incoming', 'webhook': {'type': 1, 'application_id': '%s', "
                "'name': 'App', 'avatar': null, 'guild_id': '%s', 'channel_id': '%s'}}",
                s.app, s.guild, channel);
    expect_absent(a, "webhook.user");
    expect_told(w, to_entitled(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
                "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 50}");
    expect_told(w, to_entitled(id_of(s.guild), id_of(channel), PERMISSION(MANAGE_WEBHOOKS)),
                "WEBHOOKS_UPDATE", "{'channel_id': '%s'}", channel);
    const char *id = answer_text(a, "webhook.id"), *token = answer_text(a, "webhook.token");
    expect(strstr(answer_text(a, "webhook.url"), TEXT(w, "/api/webhooks/%s/%s", id, token)));

    /* It is the person's and the app's, and speaks. */
    expect_json(client_get(s.bob, "/channels/%s/webhooks", channel),
                "[{'id': '%s', 'user': {'id': '%s'}, 'application_id': '%s'}]", id, s.bob->id,
                s.app);
    expect_json(
        client_post(s.nobody, "{'content': 'ding'}", "/webhooks/%s/%s?wait=true", id, token),
        "{'author': {'username': 'App'}, 'application_id': '%s'}", s.app);
    expect_json(client_get(s.bob, "/guilds/%s/audit-logs?action_type=50", s.guild),
                "{'audit_log_entries': [{'user_id': '%s', 'target_id': '%s'}]}", s.bob->id, id);
    /* Refreshing brings no other one. */
    a = client_form(s.nobody, TOKEN,
                    "grant_type=refresh_token&refresh_token=%s&client_id=%s&client_secret=%s",
                    answer_text(a, "refresh_token"), s.app, s.secret);
    expect_status(a, 200);
    expect_absent(a, "webhook");
    expect(world_number(w, "select count(*) from webhooks") == 1);
}

static void a_webhook_needs_a_place_and_the_right(struct world *w)
{
    struct consent s = world_consent(w);
    struct client *cleo = world_client(w, "cleo"), *dan = world_client(w, "dan");
    const char *channel = make_place(s.bob, s.guild, "0"), *group = make_place(s.bob, s.guild, "4");
    const char *role = make_role(s.bob, s.guild, "{'name': 'hooks', 'permissions': '536870912'}");

    put_member(s.guild, cleo);
    expect_invalid(client_post(s.bob, "{'authorize': true}", ASK, s.app), "webhook_channel_id",
                   "BASE_TYPE_REQUIRED");
    expect_error(allow(s.bob, s.app, "77"), 404, 10003);
    expect_error(allow(s.bob, s.app, group), 400, 50024);
    expect_error(allow(cleo, s.app, channel), 403, 50013);
    expect_error(allow(dan, s.app, channel), 403, 50001);
    put_role_on(s.guild, cleo, role);
    struct answer a = allow(cleo, s.app, channel);
    expect_status(a, 200);
    /* Who lost it meanwhile gets none, and no token either. */
    expect_status(client_delete(s.bob, "/guilds/%s/roles/%s", s.guild, role), 204);
    expect_json(exchange(&s, url_part(a, "code")), "{'error': 'invalid_grant'}");
    expect(world_number(w, "select count(*) from webhooks") == 0);
    for (int i = 0; i < 15; i++)
        world_sql(w,
                  "insert into webhooks (id, guild_id, channel_id, name, salt) values (%d, %s, %s, "
                  "'x', '')",
                  100 + i, s.guild, channel);
    expect_error(allow(s.bob, s.app, channel), 400, 30007);
    expect_status(client_post(s.bob, "{'authorize': false}", ASK, s.app), 200);
}

static struct answer allow_both(struct client *c, const char *app, const char *guild,
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

/* A bot that had come without its webhook would stay, and its code would be used. */
static void where_no_webhook_can_be_no_bot_comes_either(struct world *w)
{
    struct consent s = world_consent(w);
    const char *channel = make_place(s.bob, s.guild, "0");

    expect_status(
        client_patch(s.ada, "{'bot_require_code_grant': true}", "/applications/%s", s.app), 200);
    struct answer a = allow_both(s.bob, s.app, s.guild, channel);
    expect_status(a, 200);
    expect_status(client_delete(s.bob, "/channels/%s", channel), 200);
    expect_json(exchange(&s, url_part(a, "code")), "{'error': 'invalid_grant'}");
    expect_error(client_get(s.bob, "/guilds/%s/members/%s", s.guild, s.app), 404, 10007);
}

static void the_webhook_comes_where_the_bot_does(struct world *w)
{
    struct consent s = world_consent(w);
    const char *channel = make_place(s.bob, s.guild, "0"), *other = found_guild(s.bob, "Other");

    expect_invalid(allow_both(s.bob, s.app, other, channel), "webhook_channel_id",
                   "CHANNEL_INVALID");
    /* A name that no webhook may have is not its application's way to it. */
    expect_status(client_patch(s.ada, "{'name': 'Clyde'}", "/applications/%s", s.app), 200);
    expect_json(exchange(&s, url_part(allow(s.bob, s.app, channel), "code")),
                "{'webhook': {'name': 'Webhook'}}");
}

static void webhooks_come_for_codes_alone(struct world *w)
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

/* Who copied a code has what came of it, too: the address to speak at. */
static void a_code_shown_twice_takes_its_webhook_back(struct world *w)
{
    struct consent s = world_consent(w);
    const char *channel = make_place(s.bob, s.guild, "0"), *next = make_place(s.bob, s.guild, "0");
    const char *kept = url_part(allow(s.bob, s.app, channel), "code");
    const char *code = url_part(allow(s.bob, s.app, channel), "code");
    struct answer a = exchange(&s, code);
    const char *id = answer_text(a, "webhook.id"), *token = answer_text(a, "webhook.token");

    const char *other = answer_text(exchange(&s, kept), "webhook.id");
    expect_status(client_patch(s.bob, TEXT(w, "{'channel_id': '%s'}", next), "/webhooks/%s", id),
                  200);
    forget_told(w);
    expect_json(exchange(&s, code), "{'error': 'invalid_grant'}");
    expect_error(client_get(s.nobody, "/webhooks/%s/%s", id, token), 404, 10015);
    expect_told(w, to_entitled(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
                "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 52}");
    expect_told(w, to_entitled(id_of(s.guild), id_of(next), PERMISSION(MANAGE_WEBHOOKS)),
                "WEBHOOKS_UPDATE", "{'channel_id': '%s'}", next);
    expect_json(client_get(s.bob, "/guilds/%s/audit-logs?action_type=52", s.guild),
                "{'audit_log_entries': [{'user_id': '%s', 'target_id': '%s'}]}", s.bob->id, id);
    expect_json(client_get(s.bob, "/guilds/%s/webhooks", s.guild), "[{'id': '%s'}]", other);
    expect(world_number(w, "select count(*) from webhooks") == 1);
    /* A third time there is nothing left to take. */
    expect_json(exchange(&s, code), "{'error': 'invalid_grant'}");
}

const struct test incoming_tests[] = {
    TEST(a_token_brings_a_webhook_along),
    TEST(a_webhook_needs_a_place_and_the_right),
    TEST(where_no_webhook_can_be_no_bot_comes_either),
    TEST(the_webhook_comes_where_the_bot_does),
    TEST(webhooks_come_for_codes_alone),
    TEST(a_code_shown_twice_takes_its_webhook_back),
    { 0 },
};
