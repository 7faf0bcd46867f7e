/* followups.c - messages of an app after its first response. */
#include "test_interaction.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MESSAGES "/channels/%s/messages"
#define SENT     "/webhooks/%s/%s/messages/%s"

static struct test_interaction answer_interaction(struct test_bot *s)
{
    struct test_interaction ask = INTERACTION(s);

    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'First'}}");
    expect_channel_event(&s->room, "MESSAGE_CREATE", "{'content': 'First'}");
    return ask;
}

/* --- valid followups ------------------------------------------------------------------ */

static void first_followup_is_a_reply_to_the_original_response(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = answer_interaction(&s);
    struct answer original = client_get(ask.app, SENT, ask.application, ask.token, "@original");
    const char *first = answer_text(original, "id");

    struct answer a = client_post(
        ask.app,
        "{'content': 'Second', 'username': 'x', 'avatar_url': 'nonsense', "
        "'thread_id': 5}",
        "/webhooks/%s/%s?wait=false&thread_id=1&with_components=true", ask.application, ask.token);
    expect_status(a, 200);
    expect_json(a,
                "{'content': 'Second', 'type': 19, 'author': {'id': '%s', 'username': 'weather'}, "
                "'webhook_id': '%s', 'application_id': '%s', 'message_reference': {'message_id': "
                "'%s', 'guild_id': '%s'}, 'referenced_message': {'content': 'First'}, "
                "'interaction_metadata': {'id': '%s', 'original_response_message_id': '%s'}}",
                s.application, s.application, s.application, first, s.test_guild.id, ask.id, first);
    expect_absent(a, "interaction");
    expect_absent(a, "nonce");
    expect_channel_event(&s.room, "MESSAGE_CREATE", "{'content': 'Second', 'guild_id': '%s'}",
                         s.test_guild.id);
    expect_channel_silence(&s.room);
    expect_json(client_get(ask.app, SENT, ask.application, ask.token, answer_text(a, "id")),
                "{'content': 'Second'}");
}

static void followups_can_be_edited_and_deleted_with_the_token(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = answer_interaction(&s);
    const struct upload files[] = { { "files[0]", "a.txt", STR("hello") }, { 0 } };

    struct answer a =
        client_post(ask.app, "{'content': 'Second', 'embeds': [{'title': 'T'}]}", FOLLOW);
    const char *id = answer_text(a, "id");
    expect_channel_event(&s.room, "MESSAGE_CREATE", "{'id': '%s'}", id);
    a = client_patch(ask.app, TEXT(w, "{'content': '<@%s>'}", s.bob->id), SENT, ask.application,
                     ask.token, id);
    expect_json(a, "{'embeds': [{'title': 'T'}], 'mentions': [{'id': '%s'}]}", s.bob->id);
    expect_channel_event(&s.room, "MESSAGE_UPDATE", "{'id': '%s', 'guild_id': '%s'}", id,
                         s.test_guild.id);
    a = client_patch(ask.app, "{'content': null}", SENT, ask.application, ask.token, id);
    expect_json(a, "{'content': '', 'mentions': [], 'embeds': [{'title': 'T'}]}");
    expect_channel_event(&s.room, "MESSAGE_UPDATE", "{}");
    expect_error(client_patch(ask.app, "{'embeds': null}", SENT, ask.application, ask.token, id),
                 400, 50006);
    a = client_upload(ask.app, "PATCH", "{'embeds': []}", files, SENT, ask.application, ask.token,
                      id);
    expect_json(a, "{'attachments': [{'filename': 'a.txt'}], 'embeds': []}");
    expect_channel_event(&s.room, "MESSAGE_UPDATE", "{}");
    a = client_patch(ask.app, "{'content': 'Third'}", SENT, ask.application, ask.token, id);
    expect_json(a, "{'content': 'Third', 'attachments': [{}]}");
    expect_channel_event(&s.room, "MESSAGE_UPDATE", "{}");
    a = client_patch(ask.app, "{'attachments': null}", SENT, ask.application, ask.token, id);
    expect_json(a, "{'content': 'Third', 'attachments': []}");
    expect_channel_event(&s.room, "MESSAGE_UPDATE", "{}");
    expect_status(client_delete(ask.app, SENT, ask.application, ask.token, id), 204);
    expect_channel_event(&s.room, "MESSAGE_DELETE",
                         "{'id': '%s', 'channel_id': '%s', 'guild_id': '%s'}", id,
                         s.test_guild.channel, s.test_guild.id);
    expect_error(client_get(ask.app, SENT, ask.application, ask.token, id), 404, 10008);
    expect_error(client_delete(ask.app, SENT, ask.application, ask.token, id), 404, 10008);

    expect_status(client_delete(ask.app, SENT, ask.application, ask.token, "@original"), 204);
    expect_channel_event(&s.room, "MESSAGE_DELETE", "{}");
    expect_error(
        client_patch(ask.app, "{'content': 'x'}", SENT, ask.application, ask.token, "@original"),
        404, 10008);
    expect_channel_silence(&s.room);
}

static void ephemeral_followups_are_accessible_with_the_token(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = answer_interaction(&s);

    expect_event(s.ada, "INTERACTION_SUCCESS", "{}");
    struct answer a = client_post(ask.app, "{'content': 'Psst', 'flags': 64}", FOLLOW);
    const char *id = answer_text(a, "id");
    expect_json(a, "{'flags': 64, 'referenced_message': {'content': 'First'}}");
    expect_event(s.ada, "MESSAGE_CREATE", "{'id': '%s'}", id);
    expect_event(s.bot, "MESSAGE_CREATE", "{'id': '%s'}", id);
    /* The ephemeral flag does not change. */
    a = client_patch(ask.app, "{'content': 'Psst!', 'flags': 0}", SENT, ask.application, ask.token,
                     id);
    expect_json(a, "{'content': 'Psst!', 'flags': 64}");
    expect_event(s.ada, "MESSAGE_UPDATE", "{'content': 'Psst!'}");
    expect_json(client_get(ask.app, SENT, ask.application, ask.token, id), "{'flags': 64}");
    expect_status(client_delete(ask.app, SENT, ask.application, ask.token, id), 204);
    expect_event(s.ada, "MESSAGE_DELETE", "{'id': '%s'}", id);
    expect(!dom_at(world_last_event(w, "MESSAGE_DELETE"), "guild_id"));
    a = client_patch(ask.app, "{'flags': 64}", SENT, ask.application, ask.token, "@original");
    expect_json(a, "{'flags': 0}");
    expect_silence(s.bob);
}

/* A public followup must not show the ephemeral message it replies to. */
static void public_followup_omits_the_ephemeral_referenced_message(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);

    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'secret', 'flags': 64}}");
    struct answer a = client_post(ask.app, "{'content': 'For all'}", FOLLOW);
    expect_json(a, "{'type': 19, 'referenced_message': null}");
    expect_channel_event(&s.room, "MESSAGE_CREATE", "{'referenced_message': null}");
    expect_json(client_get(s.bob, MESSAGES, s.test_guild.channel),
                "[{'referenced_message': null}]");
}

static void bots_can_edit_their_responses_through_the_channel(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = answer_interaction(&s);
    const char *id =
        answer_text(client_get(ask.app, SENT, ask.application, ask.token, "@original"), "id");

    expect_json(
        client_patch(s.bot, "{'content': 'Edited'}", MESSAGES "/%s", s.test_guild.channel, id),
        "{'content': 'Edited'}");
    expect_error(
        client_patch(s.bob, "{'content': 'Mine'}", MESSAGES "/%s", s.test_guild.channel, id), 403,
        50005);
    expect_status(client_delete(s.bot, MESSAGES "/%s", s.test_guild.channel, id), 204);
}

/* --- refused followups ---------------------------------------------------------------- */

static void followup_before_the_first_response_is_404_10015(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s), failed = INTERACTION(&s);

    world_sql(w, "update interactions set state = 2 where id = %s", failed.id);
    expect_error(client_post(ask.app, "{'content': 'x'}", FOLLOW), 404, 10015);
    expect_error(client_get(ask.app, SENT, ask.application, ask.token, "@original"), 404, 10015);
    expect_error(client_post(ask.app, "{'content': 'x'}", "/webhooks/%s/%s", failed.application,
                             failed.token),
                 404, 10015);
    expect_channel_silence(&s.room);
}

static void interaction_token_is_for_one_app_and_expires(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = answer_interaction(&s);
    const char *other = make_application(s.bob, "Other");
    char wrong[200];

    snprintf(wrong, sizeof wrong, "%.*sAAAA", (int)strlen(ask.token) - 4, ask.token);
    expect_error(client_post(ask.app, "{'content': 'x'}", "/webhooks/%s/%s", other, ask.token), 404,
                 10015);
    expect_error(
        client_post(ask.app, "{'content': 'x'}", "/webhooks/%s/%s", ask.application, wrong), 404,
        10015);
    expect_error(client_post(ask.app, "{'content': 'x'}", "/webhooks/%s/nonsense", ask.application),
                 404, 10015);
    expect_invalid(client_post(ask.app, "{'content': 'x'}", "/webhooks/x/%s", ask.token),
                   "application_id", "NUMBER_TYPE_COERCE");
    expect_invalid(client_get(ask.app, SENT, ask.application, ask.token, "x"), "message_id",
                   "NUMBER_TYPE_COERCE");
    world_wait(w, 895);
    expect_status(client_post(ask.app, "{'content': 'x'}", FOLLOW), 200);
    world_wait(w, 5.1);
    expect_error(client_post(ask.app, "{'content': 'x'}", FOLLOW), 401, 50027);
    expect_error(client_get(ask.app, SENT, ask.application, ask.token, "@original"), 401, 50027);
    /* The token is refused also when the interaction's row is deleted. */
    world_sql(w, "delete from interactions where id = %s", ask.id);
    expect_error(client_post(ask.app, "{'content': 'x'}", FOLLOW), 401, 50027);
}

static void token_gives_access_only_to_messages_of_its_interaction(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = answer_interaction(&s), other = answer_interaction(&s);
    const char *theirs =
        answer_text(client_get(other.app, SENT, other.application, other.token, "@original"), "id");
    const char *plain =
        answer_text(client_post(s.bot, "{'content': 'x'}", MESSAGES, s.test_guild.channel), "id");

    expect_error(client_get(ask.app, SENT, ask.application, ask.token, theirs), 404, 10008);
    expect_error(client_delete(ask.app, SENT, ask.application, ask.token, plain), 404, 10008);
    expect_error(client_get(ask.app, SENT, ask.application, ask.token, "99"), 404, 10008);
}

static void empty_or_invalid_followups_are_refused(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = answer_interaction(&s);
    char body[3000];

    expect_error(client_post(ask.app, "{}", FOLLOW), 400, 50006);
    snprintf(body, sizeof body, "{'content': '%02001d'}", 1);
    expect_invalid(client_post(ask.app, body, FOLLOW), "content", "BASE_TYPE_MAX_LENGTH");
    expect_invalid(client_post(ask.app, "{'components': [{'type': 2}]}", FOLLOW),
                   "components.0.style", "BASE_TYPE_REQUIRED");
    expect_channel_silence(&s.room);
}

/* --- user-installed apps -------------------------------------------------------------- */

static const char *user_install_owners(struct test_bot *s)
{
    return TEXT(s->world, "{\"1\":\"%s\"}", s->ada->id);
}

static void user_installed_apps_are_limited_to_five_followups(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s, .owners = user_install_owners(&s)),
                            both = INTERACTION(&s, .owners = TEXT(w, "{\"0\":\"%s\",\"1\":\"%s\"}",
                                                                  s.test_guild.id, s.ada->id));

    interaction_answered(&ask, "{'type': 5}");
    interaction_answered(&both, "{'type': 5}");
    expect_status(client_post(ask.app, "{'content': 'the answer'}", FOLLOW), 200);
    for (int i = 0; i < 5; i++)
        expect_status(client_post(ask.app, "{'content': 'more'}", FOLLOW), 200);
    expect_error(client_post(ask.app, "{'content': 'too much'}", FOLLOW), 400, 40094);
    expect_status(client_patch(ask.app, "{'content': 'edits go on'}", SENT, ask.application,
                               ask.token, "@original"),
                  200);
    for (int i = 0; i < 7; i++)
        expect_status(client_post(both.app, "{'content': 'more'}", "/webhooks/%s/%s",
                                  both.application, both.token),
                      200);
}

static void set_permissions_of_everyone_role(struct test_bot *s, uint64_t perms)
{
    world_sql(s->world, "update roles set permissions = %llu where id = %s",
              (unsigned long long)perms, s->test_guild.id);
}

static void expect_ephemeral_response_for_reason(struct test_bot *s, const char *data, int reason)
{
    struct test_interaction ask = INTERACTION(s, .by = s->bob, .owners = user_install_owners(s));
    struct answer a =
        interaction_answer(&ask, "?with_response=true", "{'type': 4, 'data': %s}", data);

    expect_status(a, 200);
    if (reason)
        expect_json(a,
                    "{'interaction': {'response_message_ephemeral': true}, 'resource': {'message': "
                    "{'flags': 64, 'interaction_metadata': {'ephemerality_reason': %d}}}}",
                    reason);
    else
        expect_json(a, "{'resource': {'message': {'flags': 0}}}");
    if (!reason)
        expect_absent(a, "resource.message.interaction_metadata.ephemerality_reason");
}

static void user_installed_app_response_is_ephemeral_if_user_cant_send(struct world *w)
{
    const uint64_t all = PERMISSION(VIEW_CHANNEL) | PERMISSION(USE_EXTERNAL_APPS) |
                         PERMISSION(SEND_MESSAGES) | PERMISSION(EMBED_LINKS);
    struct test_bot s = world_test_bot(w);

    set_permissions_of_everyone_role(&s, all);
    expect_ephemeral_response_for_reason(&s, "{'content': 'x'}", 0);
    expect_ephemeral_response_for_reason(&s, "{'embeds': [{'title': 'T'}]}", 0);
    set_permissions_of_everyone_role(&s, all & ~PERMISSION(EMBED_LINKS));
    expect_ephemeral_response_for_reason(&s, "{'content': 'x'}", 0);
    expect_ephemeral_response_for_reason(&s, "{'embeds': [{'title': 'T'}]}", 12);
    set_permissions_of_everyone_role(&s, all & ~PERMISSION(SEND_MESSAGES));
    expect_ephemeral_response_for_reason(&s, "{'content': 'x'}", 10);
    set_permissions_of_everyone_role(&s, all & ~PERMISSION(USE_EXTERNAL_APPS));
    expect_ephemeral_response_for_reason(&s, "{'content': 'x'}", 18);
    set_permissions_of_everyone_role(&s, all);
    world_sql(w, "update channels set rate_limit_per_user = 60 where id = %s",
              s.test_guild.channel);
    expect_ephemeral_response_for_reason(&s, "{'content': 'x'}", 0);
    expect_status(client_post(s.bob, "{'content': 'x'}", MESSAGES, s.test_guild.channel), 200);
    expect_ephemeral_response_for_reason(&s, "{'content': 'x'}", 4);
    world_wait(w, 61);
    expect_ephemeral_response_for_reason(&s, "{'content': 'x'}", 0);

    /* An app installed in the guild needs none of these permissions. */
    set_permissions_of_everyone_role(&s, PERMISSION(VIEW_CHANNEL));
    struct test_interaction ask = INTERACTION(&s, .by = s.bob);
    expect_json(
        interaction_answer(&ask, "?with_response=true", "{'type': 4, 'data': {'content': 'x'}}"),
        "{'resource': {'message': {'flags': 0}}}");
}

/* The deferred response was already public. */
static void editing_a_public_response_requires_the_users_permissions(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const struct upload files[] = { { "files[0]", "a.txt", STR("hello") }, { 0 } };
    struct test_interaction ask = INTERACTION(&s, .by = s.bob, .owners = user_install_owners(&s));

    set_permissions_of_everyone_role(&s, PERMISSION(VIEW_CHANNEL) | PERMISSION(USE_EXTERNAL_APPS) |
                                             PERMISSION(SEND_MESSAGES));
    interaction_answered(&ask, "{'type': 5}");
    expect_error(client_patch(ask.app, "{'embeds': [{'title': 'T'}]}", SENT, ask.application,
                              ask.token, "@original"),
                 403, 50013);
    expect_error(client_upload(ask.app, "PATCH", "{'content': 'x'}", files, SENT, ask.application,
                               ask.token, "@original"),
                 403, 50013);
    expect_status(client_patch(ask.app, "{'content': 'Plain'}", SENT, ask.application, ask.token,
                               "@original"),
                  200);
    set_permissions_of_everyone_role(&s, PERMISSION(VIEW_CHANNEL) | PERMISSION(USE_EXTERNAL_APPS) |
                                             PERMISSION(SEND_MESSAGES) | PERMISSION(EMBED_LINKS));
    expect_status(client_patch(ask.app, "{'embeds': [{'title': 'T'}]}", SENT, ask.application,
                               ask.token, "@original"),
                  200);
}

static void user_installed_app_files_are_ephemeral_without_attach_files(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const struct upload files[] = { { "files[0]", "a.txt", STR("hello") }, { 0 } };
    struct test_interaction ask = INTERACTION(&s, .by = s.bob, .owners = user_install_owners(&s));

    set_permissions_of_everyone_role(&s, PERMISSION(VIEW_CHANNEL) | PERMISSION(USE_EXTERNAL_APPS) |
                                             PERMISSION(SEND_MESSAGES));
    struct answer a =
        client_upload(ask.app, "POST", "{'type': 4}", files,
                      "/interactions/%s/%s/callback?with_response=true", ask.id, ask.token);
    expect_json(a, "{'resource': {'message': {'flags': 64, 'interaction_metadata': "
                   "{'ephemerality_reason': 11}}}}");
}

/* --- webhooks, and after a restart ---------------------------------------------------- */

static void webhooks_and_interaction_tokens_share_the_webhook_routes(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = answer_interaction(&s);
    struct answer hook =
        client_post(s.ada, "{'name': 'Post'}", "/channels/%s/webhooks", s.test_guild.channel);
    const char *id = answer_text(hook, "id"), *token = answer_text(hook, "token");

    struct answer a = client_post(ask.app, "{'content': 'Mail', 'username': 'Bob'}",
                                  "/webhooks/%s/%s?wait=true", id, token);
    expect_json(a, "{'author': {'username': 'Bob'}, 'webhook_id': '%s', 'type': 0}", id);
    expect_status(client_get(ask.app, SENT, id, token, answer_text(a, "id")), 200);
    expect_error(client_get(ask.app, SENT, ask.application, "nonsense", "@original"), 404, 10015);
    expect_error(client_get(ask.app, SENT, id, ask.token, "@original"), 404, 10015);
    /* An interaction token does not name a webhook. */
    expect_error(client_get(ask.app, "/webhooks/%s/%s", ask.application, ask.token), 404, 10015);
    expect_error(client_delete(ask.app, "/webhooks/%s/%s", ask.application, ask.token), 404, 10015);
    expect_json(client_get(s.ada, "/channels/%s/webhooks", s.test_guild.channel), "[{'id': '%s'}]",
                id);
}

static void acknowledged_interactions_survive_a_restart(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s), waiting = INTERACTION(&s);

    interaction_answered(&ask, "{'type': 5}");
    world_restart(w);
    ask.app = waiting.app = world_anonymous(w);
    expect_error(interaction_answer(&ask, "", "{'type': 5}"), 400, 40060);
    expect_json(client_patch(ask.app, "{'content': 'Sunny'}", SENT, ask.application, ask.token,
                             "@original"),
                "{'content': 'Sunny', 'flags': 0}");
    expect_status(client_post(ask.app, "{'content': 'More'}", FOLLOW), 200);
    world_wait(w, 900);
    expect_error(client_post(ask.app, "{'content': 'More'}", FOLLOW), 401, 50027);
    expect_error(interaction_answer(&waiting, "", "{'type': 5}"), 404, 10062);
}

const struct test followups_tests[] = {
    TEST(first_followup_is_a_reply_to_the_original_response),
    TEST(followups_can_be_edited_and_deleted_with_the_token),
    TEST(ephemeral_followups_are_accessible_with_the_token),
    TEST(public_followup_omits_the_ephemeral_referenced_message),
    TEST(bots_can_edit_their_responses_through_the_channel),
    TEST(followup_before_the_first_response_is_404_10015),
    TEST(interaction_token_is_for_one_app_and_expires),
    TEST(token_gives_access_only_to_messages_of_its_interaction),
    TEST(empty_or_invalid_followups_are_refused),
    TEST(user_installed_apps_are_limited_to_five_followups),
    TEST(user_installed_app_response_is_ephemeral_if_user_cant_send),
    TEST(editing_a_public_response_requires_the_users_permissions),
    TEST(user_installed_app_files_are_ephemeral_without_attach_files),
    TEST(webhooks_and_interaction_tokens_share_the_webhook_routes),
    TEST(acknowledged_interactions_survive_a_restart),
    { 0 },
};
