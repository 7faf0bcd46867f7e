/* webhooks.c - creating, listing, changing, deleting and executing webhooks. */
#include <stdio.h>
#include <stdlib.h>

#include "apps.h"
#include "base/buf.h"
#include "guilds.h"
#include "channel_events.h"
#include "test_guild.h"

#define PIXEL                                                                             \
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+" \
    "M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

struct hook {
    const char *id, *token;
};

static struct hook create_test_webhook(struct client *c, const char *channel)
{
    struct answer a = client_post(c, "{'name': 'Post'}", "/channels/%s/webhooks", channel);

    expect_status(a, 200);
    return (struct hook){ answer_text(a, "id"), answer_text(a, "token") };
}

/* --- creating and listing ------------------------------------------------------------- */

static void creating_a_webhook_returns_its_token_and_sends_an_event(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    struct answer a = client_post(ada, "{'name': ' Post ', 'avatar': '" PIXEL "'}",
                                  "/channels/%s/webhooks", v.channel);
    expect_status(a, 200);
    expect_json(a,
                "{'type': 1, 'guild_id': '%s', 'channel_id': '%s', 'user': {'id': '%s'}, 'name': "
                "'Post', 'application_id': null}",
                v.id, v.channel, ada->id);
    expect(strlen(answer_text(a, "token")) == 68);
    expect(strstr(answer_text(a, "url"), answer_text(a, "token")) != NULL);
    expect_guild_event(&v, PERMISSION(VIEW_AUDIT_LOG), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                       "{'action_type': 50, 'target_id': '%s'}", answer_text(a, "id"));
    expect_guild_event(&v, PERMISSION(MANAGE_WEBHOOKS), "WEBHOOKS_UPDATE",
                       "{'guild_id': '%s', 'channel_id': '%s'}", v.id, v.channel);
    expect_guild_silence(&v);
    struct str path = str_printf(world_arena(w), "/avatars/%s/%s.png", answer_text(a, "id"),
                                 answer_text(a, "avatar"));
    expect_status(client_request(ada, "GET", path.p, NULL, (struct str){ 0 }), 200);
    const char *token = answer_text(a, "token");
    expect_json(client_get(ada, "/channels/%s/webhooks", v.channel), "[{'token': '%s'}]", token);
    expect_json(client_get(ada, "/guilds/%s/webhooks", v.id), "[{'token': '%s', 'user': {}}]",
                token);
    expect(world_number(w, "select count(*) from webhooks where cast(salt as text) like '%%%s%%'",
                        token) == 0);
}

/* The token permits writing, so it is returned only to callers who can view the channel. */
static void guild_webhook_list_omits_hidden_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *mod = world_client(w, "mod");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add_with(&v, mod, 3, PERMISSION(MANAGE_WEBHOOKS));
    create_test_webhook(ada, v.channel);
    expect(client_get(mod, "/guilds/%s/webhooks", v.id).json->count == 1);
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, deny) values (%s, %s, 1, %d)",
              v.channel, mod->id, (int)PERMISSION(VIEW_CHANNEL));
    expect(client_get(mod, "/guilds/%s/webhooks", v.id).json->count == 0);
    expect(client_get(ada, "/guilds/%s/webhooks", v.id).json->count == 1);
    world_sql(w, "update overwrites set deny = %d where target_id = %s",
              (int)PERMISSION(MANAGE_WEBHOOKS), mod->id);
    expect(client_get(mod, "/guilds/%s/webhooks", v.id).json->count == 0);
}

static void webhook_routes_require_manage_webhooks(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *mod = world_client(w, "mod");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    test_guild_add_with(&v, mod, 1, PERMISSION(MANAGE_WEBHOOKS));
    struct hook h = create_test_webhook(ada, v.channel);

    expect_error(client_post(bob, "{}", "/channels/%s/webhooks", v.channel), 403, 50013);
    expect_error(client_get(bob, "/channels/%s/webhooks", v.channel), 403, 50013);
    expect_error(client_get(bob, "/guilds/%s/webhooks", v.id), 403, 50013);
    expect_error(client_get(bob, "/webhooks/%s", h.id), 403, 50013);
    expect_error(client_patch(bob, "{'name': 5}", "/webhooks/%s", h.id), 403, 50013);
    expect_error(client_delete(bob, "/webhooks/%s", h.id), 403, 50013);
    expect_error(client_get(eve, "/webhooks/%s", h.id), 403, 50001);
    expect_error(client_get(eve, "/guilds/%s/webhooks", v.id), 403, 50001);
    expect_error(client_get(ada, "/webhooks/77"), 404, 10015);
    expect_status(client_get(mod, "/webhooks/%s", h.id), 200);
    expect_status(client_delete(mod, "/webhooks/%s", h.id), 204);
    expect_error(client_delete(mod, "/webhooks/%s", h.id), 404, 10015);
}

/* With the token route the caller's own credential is ignored, and the audit log names no user. */
static void webhook_changes_by_token_have_no_user_in_the_audit_log(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    struct hook h = create_test_webhook(ada, v.channel);

    expect_status(client_patch(bob, "{'name': 'mine'}", "/webhooks/%s/%s", h.id, h.token), 200);
    expect_status(client_delete(bob, "/webhooks/%s/%s", h.id, h.token), 204);
    expect_json(client_get(ada, "/guilds/%s/audit-logs?limit=2", v.id),
                "{'audit_log_entries': [{'action_type': 52, 'user_id': null}, {'action_type': 51, "
                "'user_id': null}]}");
}

/* A caller with the token acts for the app. */
static void token_of_an_apps_webhook_is_returned_to_the_app_only(struct world *w)
{
    struct client *ada = world_client(w, "ada"),
                  *bot = application_bot(ada, make_application(ada, "Helper")),
                  *other = application_bot(ada, make_application(ada, "Other")),
                  *others[] = { ada, other };
    struct test_guild v = world_test_guild(w, ada);
    struct answer a;

    test_guild_add_with(&v, bot, 1, PERMISSION(MANAGE_WEBHOOKS));
    test_guild_add_with(&v, other, 2, PERMISSION(MANAGE_WEBHOOKS));
    struct hook h = create_test_webhook(bot, v.channel);
    const char *own = TEXT(w, "{'id': '%s', 'token': '%s'}", h.id, h.token);

    expect_json(client_get(bot, "/webhooks/%s", h.id), "%s", own);
    expect_json(client_get(bot, "/channels/%s/webhooks", v.channel), "[%s]", own);
    expect_json(client_get(bot, "/guilds/%s/webhooks", v.id), "[%s]", own);
    expect_json(client_patch(bot, "{'name': 'New'}", "/webhooks/%s", h.id), "%s", own);
    expect_json(client_get(world_anonymous(w), "/webhooks/%s/%s", h.id, h.token), "%s", own);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct {
            struct answer a;
            const char *token, *url;
        } shown[] = {
            { client_get(others[i], "/webhooks/%s", h.id), "token", "url" },
            { client_patch(others[i], "{'name': 'N'}", "/webhooks/%s", h.id), "token", "url" },
            { client_get(others[i], "/channels/%s/webhooks", v.channel), "0.token", "0.url" },
            { client_get(others[i], "/guilds/%s/webhooks", v.id), "0.token", "0.url" },
        };

        for (size_t n = 0; n < sizeof shown / sizeof *shown; n++) {
            expect_status(shown[n].a, 200);
            expect_absent(shown[n].a, shown[n].token);
            expect_absent(shown[n].a, shown[n].url);
        }
    }
    a = client_get(ada, "/guilds/%s/audit-logs", v.id);
    expect_json(a, "{'webhooks': [{'id': '%s'}]}", h.id);
    expect_absent(a, "webhooks.0.token");
    expect_absent(a, "webhooks.0.url");
    /* A user's webhook token is returned to all who manage webhooks. */
    h = create_test_webhook(ada, v.channel);
    expect_json(client_get(other, "/webhooks/%s", h.id), "{'token': '%s'}", h.token);
}

static void invalid_webhook_names_are_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    char body[200];

    expect_invalid(client_post(ada, "{}", "/channels/%s/webhooks", v.channel), "name",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(ada, "{'name': ' '}", "/channels/%s/webhooks", v.channel), "name",
                   "BASE_TYPE_BAD_LENGTH");
    snprintf(body, sizeof body, "{'name': '%080d'}", 1);
    expect_status(client_post(ada, body, "/channels/%s/webhooks", v.channel), 200);
    snprintf(body, sizeof body, "{'name': '%081d'}", 1);
    expect_invalid(client_post(ada, body, "/channels/%s/webhooks", v.channel), "name",
                   "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_post(ada, "{'name': 'my Clyde'}", "/channels/%s/webhooks", v.channel),
                   "name", "USERNAME_INVALID_CONTAINS");
}

static void webhooks_are_limited_to_15_per_channel_and_1000_per_guild(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    for (int i = 0; i < 15; i++)
        create_test_webhook(ada, v.channel);
    expect_error(client_post(ada, "{'name': 'x'}", "/channels/%s/webhooks", v.channel), 400, 30007);
    world_sql(w, "insert into channels (id, guild_id, type, name) values (90001, %s, 0, 'b')",
              v.id);
    for (int i = 0; i < 985; i++)
        world_sql(w,
                  "insert into webhooks (id, guild_id, channel_id, name, salt) "
                  "values (%d, %s, %s, 'x', '')",
                  100 + i, v.id, v.channel);
    expect_error(client_post(ada, "{'name': 'x'}", "/channels/90001/webhooks"), 400, 30058);
    world_sql(w, "delete from webhooks where id = 100");
    expect_status(client_post(ada, "{'name': 'x'}", "/channels/90001/webhooks"), 200);
}

static void categories_and_direct_channels_cannot_have_webhooks(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    char body[100];

    world_sql(w, "insert into channels (id, guild_id, type, name) values (90001, %s, 4, 'c')",
              v.id);
    expect_error(client_post(ada, "{'name': 'x'}", "/channels/90001/webhooks"), 400, 50024);
    snprintf(body, sizeof body, "{'recipient_id': '%s'}", bob->id);
    struct answer a = client_post(ada, body, "/users/@me/channels");
    expect_error(client_post(ada, "{'name': 'x'}", "/channels/%s/webhooks", answer_text(a, "id")),
                 403, 50003);
}

/* --- with the token ------------------------------------------------------------------- */

static void webhook_token_is_enough_to_read_change_and_delete_it(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    struct test_guild v = world_test_guild(w, ada);
    struct hook h = create_test_webhook(ada, v.channel);

    struct answer a = client_get(nobody, "/webhooks/%s/%s", h.id, h.token);
    expect_status(a, 200);
    expect_json(a, "{'id': '%s', 'token': '%s', 'name': 'Post'}", h.id, h.token);
    expect_absent(a, "user");
    v = (struct test_guild){ .world = w, .arrivals = v.arrivals };
    a = client_patch(nobody, "{'name': 'Mail', 'channel_id': '77'}", "/webhooks/%s/%s", h.id,
                     h.token);
    expect_json(a, "{'name': 'Mail'}");
    expect_status(client_delete(nobody, "/webhooks/%s/%s", h.id, h.token), 204);
    expect_error(client_get(nobody, "/webhooks/%s/%s", h.id, h.token), 404, 10015);
}

static void wrong_webhook_token_is_401_50027(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    struct test_guild v = world_test_guild(w, ada);
    struct hook h = create_test_webhook(ada, v.channel),
                other = create_test_webhook(ada, v.channel);
    char *bad = str_dup_cstring(world_arena(w), str_of(h.token));

    bad[5] = bad[5] == 'A' ? 'B' : 'A';
    expect_error(client_get(nobody, "/webhooks/%s/%s", h.id, bad), 401, 50027);
    expect_error(client_get(nobody, "/webhooks/%s/%s", h.id, other.token), 401, 50027);
    expect_error(client_get(ada, "/webhooks/%s/x", h.id), 401, 50027);
    expect_error(client_delete(nobody, "/webhooks/%s/%s", h.id, bad), 401, 50027);
    expect_error(client_patch(nobody, "{'name': 5}", "/webhooks/%s/%s", h.id, bad), 401, 50027);
    expect_error(client_post(nobody, "{}", "/webhooks/%s/%s", h.id, bad), 401, 50027);
    expect_error(client_get(nobody, "/webhooks/%s/%s/messages/1", h.id, bad), 401, 50027);
    expect_error(client_get(nobody, "/webhooks/77/%s", h.token), 404, 10015);
    world_restart(w);
    expect_status(client_get(nobody, "/webhooks/%s/%s", h.id, h.token), 200);
}

static void webhook_can_be_renamed_and_moved_within_the_guild(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *mod = world_client(w, "mod");
    struct test_guild v = world_test_guild(w, ada), elsewhere = world_test_guild(w, ada);
    test_guild_add_with(&v, mod, 1, PERMISSION(MANAGE_WEBHOOKS));
    struct hook h = create_test_webhook(ada, v.channel);
    char body[100];

    world_sql(w, "insert into channels (id, guild_id, type, name) values (90001, %s, 0, 'b')",
              v.id);
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, deny) "
              "values (90001, %s, 1, %llu)",
              mod->id, (unsigned long long)PERMISSION(MANAGE_WEBHOOKS));
    expect_guild_event(&v, PERMISSION(VIEW_AUDIT_LOG), "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_guild_event(&v, PERMISSION(MANAGE_WEBHOOKS), "WEBHOOKS_UPDATE", "{}");
    expect_error(client_patch(mod, "{'channel_id': '90001'}", "/webhooks/%s", h.id), 403, 50013);
    snprintf(body, sizeof body, "{'channel_id': '%s'}", elsewhere.channel);
    expect_error(client_patch(ada, body, "/webhooks/%s", h.id), 404, 10003);
    expect_json(client_patch(ada, "{'channel_id': '90001', 'name': 'New', 'avatar': '" PIXEL "'}",
                             "/webhooks/%s", h.id),
                "{'channel_id': '90001', 'name': 'New', 'token': '%s'}", h.token);
    expect_guild_event(&v, PERMISSION(VIEW_AUDIT_LOG), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                       "{'action_type': 51}");
    expect_guild_event(&v, PERMISSION(MANAGE_WEBHOOKS), "WEBHOOKS_UPDATE", "{'channel_id': '%s'}",
                       v.channel);
    expect_guild_event(&v, PERMISSION(MANAGE_WEBHOOKS), "WEBHOOKS_UPDATE",
                       "{'channel_id': '90001'}");
    expect_json(client_patch(ada, "{'avatar': null}", "/webhooks/%s", h.id),
                "{'avatar': null, 'name': 'New'}");
}

/* --- executing ------------------------------------------------------------------------ */

static void executing_a_webhook_sends_a_message(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    struct test_guild v = world_test_guild(w, ada);
    struct hook h = create_test_webhook(ada, v.channel);
    struct channel_events room = world_channel_events(w, v.channel);

    expect_status(client_post(nobody, "{'content': 'ding'}", "/webhooks/%s/%s", h.id, h.token),
                  204);
    expect_channel_event(
        &room, "MESSAGE_CREATE",
        "{'content': 'ding', 'webhook_id': '%s', 'guild_id': '%s', 'author': {'id': "
        "'%s', 'username': 'Post', 'bot': true, 'discriminator': '0000'}}",
        h.id, v.id, h.id);
    struct answer a = client_post(nobody,
                                  "{'content': 'dong', 'username': 'Bell', 'avatar_url': "
                                  "'https://x.y/z.png', 'embeds': [{'title': 'T'}]}",
                                  "/webhooks/%s/%s?wait=true", h.id, h.token);
    expect_status(a, 200);
    expect_json(a,
                "{'author': {'username': 'Bell'}, 'embeds': [{'title': 'T'}], 'webhook_id': "
                "'%s'}",
                h.id);
    expect_absent(a, "member");
    expect_json(client_get(ada, "/channels/%s/messages", v.channel),
                "[{'author': {'username': 'Bell'}}, {'author': {'username': 'Post'}}]");
    /* The message has no user as author: it can be deleted with MANAGE_MESSAGES only. */
    expect_error(client_patch(ada, "{'content': 'x'}", "/channels/%s/messages/%s", v.channel,
                              answer_text(a, "id")),
                 403, 50005);
    expect_status(client_delete(ada, "/channels/%s/messages/%s", v.channel, answer_text(a, "id")),
                  204);
}

#define BUTTON_OF(style, what)                                                            \
    "'components': [{'type': 1, 'components': [{'type': 2, 'label': 'B', 'style': " style \
    ", " what "}]}]"
#define LINK  BUTTON_OF("5", "'url': 'https://x.y'")
#define PRESS BUTTON_OF("1", "'custom_id': 'b'")

static void webhooks_without_an_app_can_send_only_link_components(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    struct test_guild v = world_test_guild(w, ada);
    struct hook h = create_test_webhook(ada, v.channel);
    struct answer a = client_post(nobody, "{'content': 'x', " LINK "}", "/webhooks/%s/%s?wait=true",
                                  h.id, h.token);

    expect_json(a, "{'content': 'x', 'components': []}");
    a = client_post(nobody, "{'content': 'x', " LINK "}",
                    "/webhooks/%s/%s?wait=true&with_components=true", h.id, h.token);
    expect_json(a, "{'components': [{'components': [{'url': 'https://x.y'}]}]}");
    struct answer edited = client_patch(nobody, "{'components': []}",
                                        "/webhooks/%s/%s/messages/%s?with_components=true", h.id,
                                        h.token, answer_text(a, "id"));
    expect_json(edited, "{'components': []}");
    world_wait(w, 1);
    /* An edit without components also drops their flag. */
    expect_json(client_patch(nobody, "{'flags': 32768, " LINK "}", "/webhooks/%s/%s/messages/%s",
                             h.id, h.token, answer_text(a, "id")),
                "{'content': 'x', 'flags': 0, 'components': [], 'edited_timestamp': '%s'}",
                answer_text(edited, "edited_timestamp"));
    expect_invalid(client_post(nobody, "{'content': 'x', " PRESS "}",
                               "/webhooks/%s/%s?with_components=true", h.id, h.token),
                   "components", "BASE_TYPE_INVALID");
    expect_error(client_post(nobody, "{" LINK "}", "/webhooks/%s/%s", h.id, h.token), 400, 50006);
    world_sql(w, "update webhooks set application_id = 7 where id = %s", h.id);
    expect_json(client_post(nobody, "{'content': 'x', " PRESS "}", "/webhooks/%s/%s?wait=true",
                            h.id, h.token),
                "{'components': [{'components': [{'custom_id': 'b'}]}]}");
}

static void invalid_webhook_messages_are_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    struct test_guild v = world_test_guild(w, ada);
    struct hook h = create_test_webhook(ada, v.channel);
    char body[2100];

    expect_error(client_post(nobody, "{}", "/webhooks/%s/%s", h.id, h.token), 400, 50006);
    snprintf(body, sizeof body, "{'content': '%02001d'}", 1);
    expect_invalid(client_post(nobody, body, "/webhooks/%s/%s", h.id, h.token), "content",
                   "BASE_TYPE_MAX_LENGTH");
    expect_invalid(client_post(nobody, "{'content': 'x', 'username': 'Clyde'}", "/webhooks/%s/%s",
                               h.id, h.token),
                   "username", "USERNAME_INVALID_CONTAINS");
    snprintf(body, sizeof body, "{'content': 'x', 'username': '%081d'}", 1);
    expect_invalid(client_post(nobody, body, "/webhooks/%s/%s", h.id, h.token), "username",
                   "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_post(nobody, "{'content': 'x', 'avatar_url': 'x'}", "/webhooks/%s/%s",
                               h.id, h.token),
                   "avatar_url", "URL_TYPE_INVALID_URL");
    expect_json(client_post(nobody, "{'content': '@everyone', 'allowed_mentions': {'parse': []}}",
                            "/webhooks/%s/%s?wait=1", h.id, h.token),
                "{'mention_everyone': false}");
    expect_json(
        client_post(nobody, "{'content': '@everyone'}", "/webhooks/%s/%s?wait=1", h.id, h.token),
        "{'mention_everyone': true}");
    world_sql(w, "update channels set type = 15 where id = %s", v.channel);
    expect_error(client_post(nobody, "{'content': 'x'}", "/webhooks/%s/%s", h.id, h.token), 400,
                 220001);
}

static void webhook_can_send_to_threads_of_its_channel(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    struct test_guild v = world_test_guild(w, ada);
    struct hook h = create_test_webhook(ada, v.channel);

    world_sql(w,
              "insert into channels (id, guild_id, type, name, parent_id, owner_id) "
              "values (90001, %s, 11, 't', %s, %s)",
              v.id, v.channel, ada->id);
    world_sql(w,
              "insert into channels (id, guild_id, type, name, parent_id, owner_id) "
              "values (90002, %s, 11, 't', 1, %s)",
              v.id, ada->id);
    struct answer a = client_post(nobody, "{'content': 'x'}",
                                  "/webhooks/%s/%s?wait=true&thread_id=90001", h.id, h.token);
    expect_json(a, "{'channel_id': '90001'}");
    expect_error(
        client_post(nobody, "{'content': 'x'}", "/webhooks/%s/%s?thread_id=90002", h.id, h.token),
        404, 10003);
    expect_error(client_post(nobody, "{'content': 'x'}", "/webhooks/%s/%s?thread_id=%s", h.id,
                             h.token, v.channel),
                 404, 10003);
    const char *id = answer_text(a, "id");
    expect_error(client_get(nobody, "/webhooks/%s/%s/messages/%s", h.id, h.token, id), 404, 10008);
    expect_invalid(client_get(nobody, "/webhooks/%s/%s/messages/@original", h.id, h.token),
                   "message_id", "NUMBER_TYPE_COERCE");
    expect_status(
        client_get(nobody, "/webhooks/%s/%s/messages/%s?thread_id=90001", h.id, h.token, id), 200);
}

static void webhook_can_edit_and_delete_only_its_own_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    struct test_guild v = world_test_guild(w, ada);
    struct hook h = create_test_webhook(ada, v.channel),
                other = create_test_webhook(ada, v.channel);
    const struct upload file[] = { { "files[0]", "a.txt", STR_INIT("a") }, { 0 } };

    struct answer a = client_upload(nobody, "POST", "{'content': 'x'}", file,
                                    "/webhooks/%s/%s?wait=true", h.id, h.token);
    expect_json(a, "{'attachments': [{'filename': 'a.txt'}]}");
    const char *id = answer_text(a, "id");
    struct channel_events room = world_channel_events(w, v.channel);
    expect_json(client_get(nobody, "/webhooks/%s/%s/messages/%s", h.id, h.token, id),
                "{'content': 'x'}");
    expect_error(client_get(nobody, "/webhooks/%s/%s/messages/%s", other.id, other.token, id), 404,
                 10008);
    a = client_patch(nobody, "{'content': 'y', 'embeds': [{'title': 'T'}], 'attachments': []}",
                     "/webhooks/%s/%s/messages/%s", h.id, h.token, id);
    expect_json(a, "{'content': 'y', 'embeds': [{'title': 'T'}], 'attachments': [], 'author': "
                   "{'username': 'Post'}}");
    expect_channel_event(&room, "MESSAGE_UPDATE", "{'content': 'y'}");
    expect_status(client_delete(nobody, "/webhooks/%s/%s/messages/%s", h.id, h.token, id), 204);
    expect_channel_event(&room, "MESSAGE_DELETE", "{'id': '%s'}", id);
    expect_error(client_delete(nobody, "/webhooks/%s/%s/messages/%s", h.id, h.token, id), 404,
                 10008);
    a = client_post(ada, "{'content': 'mine'}", "/channels/%s/messages", v.channel);
    expect_error(
        client_delete(nobody, "/webhooks/%s/%s/messages/%s", h.id, h.token, answer_text(a, "id")),
        404, 10008);
}

static void configure_enabled_rate_limits(struct config *config)
{
    config->rate_limits = true;
}

static void each_webhook_has_a_rate_limit_of_its_own(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    struct test_guild v = world_test_guild(w, ada);
    struct hook h = create_test_webhook(ada, v.channel),
                other = create_test_webhook(ada, v.channel);

    /* More than the per-second limit of an address, but within the webhook's limit. */
    for (int i = 0; i < 25; i++) {
        expect_status(client_get(nobody, "/webhooks/%s/%s", h.id, h.token), 200);
        expect_status(client_get(nobody, "/webhooks/%s/%s", other.id, other.token), 200);
    }
    for (int i = 0; i < 25; i++)
        expect_status(client_get(nobody, "/webhooks/%s/%s", h.id, h.token), 200);
    expect_status(client_get(nobody, "/webhooks/%s/%s", h.id, h.token), 429);
    expect_status(client_get(nobody, "/webhooks/%s/%s", other.id, other.token), 200);
}

const struct test webhooks_tests[] = {
    TEST(creating_a_webhook_returns_its_token_and_sends_an_event),
    TEST(guild_webhook_list_omits_hidden_channels),
    TEST(webhook_routes_require_manage_webhooks),
    TEST(webhook_changes_by_token_have_no_user_in_the_audit_log),
    TEST(token_of_an_apps_webhook_is_returned_to_the_app_only),
    TEST(invalid_webhook_names_are_refused),
    TEST(webhooks_are_limited_to_15_per_channel_and_1000_per_guild),
    TEST(categories_and_direct_channels_cannot_have_webhooks),
    TEST(webhook_token_is_enough_to_read_change_and_delete_it),
    TEST(wrong_webhook_token_is_401_50027),
    TEST(webhook_can_be_renamed_and_moved_within_the_guild),
    TEST(executing_a_webhook_sends_a_message),
    TEST(webhooks_without_an_app_can_send_only_link_components),
    TEST(invalid_webhook_messages_are_refused),
    TEST(webhook_can_send_to_threads_of_its_channel),
    TEST(webhook_can_edit_and_delete_only_its_own_messages),
    TEST_WITH(each_webhook_has_a_rate_limit_of_its_own, configure_enabled_rate_limits),
    { 0 },
};
