/* callbacks.c - the first response of an app to an interaction. */
#include "test_interaction.h"
#include "files.h"

#include <stdio.h>

#define MESSAGES "/channels/%s/messages"

/* --- messages ------------------------------------------------------------------------- */

static void message_callback_creates_the_response_message(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s, .nonce = "\"n-1\"", .name = "weather now");

    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'Sunny', 'tts': false}}");
    expect_event(s.ada, "INTERACTION_SUCCESS", "{'id': '%s', 'nonce': 'n-1'}", ask.id);
    expect_channel_event(
        &s.room, "MESSAGE_CREATE",
        "{'content': 'Sunny', 'type': 20, 'flags': 0, 'author': {'id': '%s', 'bot': "
        "true}, 'webhook_id': '%s', 'application_id': '%s', 'guild_id': '%s', "
        "'nonce': 'n-1', 'interaction': {'id': '%s', 'type': 2, 'name': 'weather "
        "now', 'user': {'id': '%s', 'username': 'ada'}, 'member': {'roles': []}}, "
        "'interaction_metadata': {'id': '%s', 'type': 2, 'user': {'id': '%s'}, "
        "'authorizing_integration_owners': {'0': '%s'}, 'name': 'weather now', "
        "'command_type': 1}}",
        s.application, s.application, s.application, s.test_guild.id, ask.id, s.ada->id, ask.id,
        s.ada->id, s.test_guild.id);
    expect(!dom_at(world_last_event(w, "MESSAGE_CREATE"), "member"));
    expect(!dom_at(world_last_event(w, "MESSAGE_CREATE"), "interaction.member.user"));
    expect_channel_silence(&s.room);
    expect_silence(s.ada);
    expect_silence(s.bob);

    struct answer a = client_get(s.bob, MESSAGES, s.test_guild.channel);
    expect_json(a, "[{'content': 'Sunny', 'type': 20, 'interaction': {'name': 'weather now'}}]");
    expect_absent(a, "0.nonce");
}

/* Clients wait for INTERACTION_SUCCESS first. */
static void interaction_success_is_sent_before_message_create(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);
    size_t i = 0;

    while (world_event(w, i))
        i++;
    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'Sunny'}}");
    expect(world_event(w, i) == EVENT_INTERACTION_SUCCESS);
    expect(world_event(w, i + 1) == EVENT_MESSAGE_CREATE);
    expect(world_event(w, i + 2) == EVENT_NONE);
}

static void context_menu_response_contains_its_target(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct answer said = client_post(s.bob, "{'content': 'Hello'}", MESSAGES, s.test_guild.channel);
    const char *target = answer_text(said, "id");
    struct test_interaction on_user = INTERACTION(&s, .command_type = 2, .name = "Wave",
                                                  .target = s.bob->id),
                            on_message = INTERACTION(&s, .command_type = 3, .name = "Quote",
                                                     .target = target);

    s.room = world_channel_events(w, s.test_guild.channel);
    interaction_answered(&on_user, "{'type': 4, 'data': {'content': 'One'}}");
    expect_channel_event(&s.room, "MESSAGE_CREATE",
                         "{'type': 23, 'interaction': {'name': 'Wave'}, 'interaction_metadata': "
                         "{'command_type': 2, 'target_user': {'id': '%s', 'username': 'bob'}}}",
                         s.bob->id);
    expect(!dom_at(world_last_event(w, "MESSAGE_CREATE"), "message_reference"));
    interaction_answered(&on_message, "{'type': 4, 'data': {'content': 'Two'}}");
    expect_channel_event(
        &s.room, "MESSAGE_CREATE",
        "{'type': 23, 'message_reference': {'message_id': '%s', 'channel_id': '%s', "
        "'guild_id': '%s'}, 'referenced_message': {'content': 'Hello'}, "
        "'interaction_metadata': {'command_type': 3, 'target_message_id': '%s'}}",
        target, s.test_guild.channel, s.test_guild.id, target);
}

static void component_response_is_a_reply_to_its_message(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *message = test_bot_message(&s);
    struct test_interaction ask = INTERACTION(&s, .type = 3, .message = message);

    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'Good'}}");
    expect_channel_event(&s.room, "MESSAGE_CREATE",
                         "{'type': 19, 'message_reference': {'message_id': '%s'}, "
                         "'referenced_message': {'content': 'Choose'}, 'interaction_metadata': "
                         "{'type': 3, 'interacted_message_id': '%s'}}",
                         message, message);
    expect(!dom_at(world_last_event(w, "MESSAGE_CREATE"), "interaction"));
}

static void modal_response_has_the_type_of_its_opening_interaction(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *message = test_bot_message(&s);
    struct test_interaction command = INTERACTION(&s, .name = "form"),
                            press = INTERACTION(&s, .type = 3, .message = message);
    struct test_interaction first = INTERACTION(&s, .type = 5, .opener = command.id,
                                                .command_type = 1, .name = "form"),
                            second =
                                INTERACTION(&s, .type = 5, .opener = press.id, .message = message);

    interaction_answered(&first, "{'type': 4, 'data': {'content': 'One'}}");
    expect_channel_event(
        &s.room, "MESSAGE_CREATE",
        "{'type': 20, 'interaction_metadata': {'id': '%s', 'type': 5, "
        "'triggering_interaction_metadata': {'id': '%s', 'type': 2, 'name': 'form', "
        "'command_type': 1, 'user': {'id': '%s'}}}}",
        first.id, command.id, s.ada->id);
    expect(!dom_at(world_last_event(w, "MESSAGE_CREATE"), "interaction_metadata.name"));
    interaction_answered(&second, "{'type': 4, 'data': {'content': 'Two'}}");
    expect_channel_event(&s.room, "MESSAGE_CREATE",
                         "{'type': 19, 'message_reference': {'message_id': '%s'}, "
                         "'interaction_metadata': {'type': 5, 'triggering_interaction_metadata': "
                         "{'id': '%s', 'type': 3, 'interacted_message_id': '%s'}}}",
                         message, press.id, message);
}

static void response_of_an_app_without_bot_shows_the_apps_name(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);

    world_sql(w, "update applications set bot_id = null where id = %s", s.application);
    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'Sunny'}}");
    expect_channel_event(&s.room, "MESSAGE_CREATE",
                         "{'author': {'id': '%s', 'username': 'Weather', 'discriminator': '0000', "
                         "'bot': true}, 'webhook_id': '%s'}",
                         s.application, s.application);
}

static void responses_mention_users_but_not_roles_by_default(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *role = test_guild_role(&s.test_guild, 1, 0);
    struct test_interaction plain = INTERACTION(&s), wish = INTERACTION(&s),
                            quiet = INTERACTION(&s);

    world_sql(w, "update roles set mentionable = 1 where id = %s", role);
    expect_status(interaction_answer(&plain, "", "{'type': 4, 'data': {'content': '<@%s> <@&%s>'}}",
                                     s.bob->id, role),
                  204);
    expect_channel_event(&s.room, "MESSAGE_CREATE",
                         "{'mentions': [{'id': '%s'}], 'mention_roles': []}", s.bob->id);
    expect_status(
        interaction_answer(&wish, "",
                           "{'type': 4, 'data': {'content': '<@%s> <@&%s>', 'allowed_mentions': "
                           "{'parse': ['roles']}}}",
                           s.bob->id, role),
        204);
    expect_channel_event(&s.room, "MESSAGE_CREATE", "{'mentions': [], 'mention_roles': ['%s']}",
                         role);
    /* Without the bot's permissions, @everyone and TTS have no effect. */
    world_sql(w, "update roles set permissions = %llu where id = %s",
              (unsigned long long)(PERMISSION(VIEW_CHANNEL) | PERMISSION(SEND_MESSAGES)),
              s.test_guild.id);
    expect_status(interaction_answer(&quiet, "",
                                     "{'type': 4, 'data': {'content': '@everyone', 'tts': true, "
                                     "'allowed_mentions': {'parse': ['everyone']}}}"),
                  204);
    expect_channel_event(&s.room, "MESSAGE_CREATE", "{'mention_everyone': false, 'tts': false}");
}

static void response_mentions_everyone_with_the_bots_permission(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);

    test_guild_give(&s.test_guild, s.bot,
                    test_guild_role(&s.test_guild, 1,
                                    PERMISSION(VIEW_CHANNEL) | PERMISSION(SEND_MESSAGES) |
                                        PERMISSION(MENTION_EVERYONE) |
                                        PERMISSION(SEND_TTS_MESSAGES)));
    interaction_answered(&ask, "{'type': 4, 'data': {'content': '@everyone', 'tts': true, "
                               "'allowed_mentions': {'parse': ['everyone']}}}");
    expect_channel_event(&s.room, "MESSAGE_CREATE", "{'mention_everyone': true, 'tts': true}");
}

static void app_can_respond_without_access_to_the_channel(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);

    world_sql(w, "delete from member_roles where user_id = %s", s.application);
    world_sql(w, "delete from members where user_id = %s", s.application);
    world_sql(w, "update roles set permissions = 0 where id = %s", s.test_guild.id);
    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'Sunny'}}");
    expect_channel_event(&s.room, "MESSAGE_CREATE", "{'content': 'Sunny'}");
}

static void response_can_contain_files(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s), other = INTERACTION(&s);
    const struct upload files[] = { { "files[0]", "a.txt", STR("hello") }, { 0 } };

    struct answer a =
        client_upload(ask.app, "POST",
                      "{'type': 4, 'data': {'attachments': [{'id': 0, 'description': 'A file'}]}}",
                      files, "/interactions/%s/%s/callback?with_response=true", ask.id, ask.token);
    expect_status(a, 200);
    expect_json(a, "{'resource': {'message': {'attachments': [{'filename': 'a.txt', 'size': 5, "
                   "'description': 'A file'}]}}}");
    a = client_upload(other.app, "POST", "{'type': 4, 'data': {'attachments': [{'id': 5}]}}", files,
                      "/interactions/%s/%s/callback", other.id, other.token);
    expect_invalid(a, "data.attachments.0.id", "ATTACHMENT_NOT_FOUND");
    a = client_upload(other.app, "POST", "{'type': 4}", files, "/interactions/%s/%s/callback",
                      other.id, other.token);
    expect_status(a, 204);
    expect_files(w, "attachments", 2);
}

static void files_of_a_deferred_response_are_not_stored(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);
    const struct upload files[] = { { "files[0]", "a.txt", STR("hello") }, { 0 } };

    expect_status(client_upload(ask.app, "POST", "{'type': 5}", files,
                                "/interactions/%s/%s/callback", ask.id, ask.token),
                  204);
    expect_files(w, "", 0);
    expect(world_number(w, "select count(*) from files") == 0);
}

/* --- who may respond, and when -------------------------------------------------------- */

static void callback_requires_the_interactions_token(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s), other = INTERACTION(&s),
                            crossed = { ask.app, ask.id, other.token, NULL },
                            made_up = { ask.app, "99", other.token, NULL },
                            broken = { ask.app, ask.id, "aW50ZXJhY3Rpb246MTIz", NULL };
    const char *body = "{'type': 4, 'data': {'content': 'x'}}";

    expect_error(interaction_answer(&crossed, "", "%s", body), 404, 10062);
    expect_error(interaction_answer(&made_up, "", "%s", body), 404, 10062);
    expect_error(interaction_answer(&broken, "", "%s", body), 404, 10062);
    /* The Authorization header is ignored. */
    ask.app = s.bob;
    expect_status(interaction_answer(&ask, "", "%s", body), 204);
    other.app = world_client_with(w, "Bot nonsense");
    expect_status(interaction_answer(&other, "", "%s", body), 204);
}

static void second_callback_is_400_40060(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);

    interaction_answered(&ask, "{'type': 5}");
    expect_error(interaction_answer(&ask, "", "{'type': 4, 'data': {'content': 'x'}}"), 400, 40060);
    expect_error(interaction_answer(&ask, "", "{'type': 99}"), 400, 40060);
    world_wait(w, 60);
    expect_error(interaction_answer(&ask, "", "{'type': 4, 'data': {'content': 'x'}}"), 400, 40060);
}

static void callback_after_three_seconds_is_404_10062(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction late = INTERACTION(&s, .age = 3.001),
                            soon = INTERACTION(&s, .age = 2.5), waited = INTERACTION(&s),
                            failed = INTERACTION(&s);
    const char *body = "{'type': 4, 'data': {'content': 'x'}}";

    expect_error(interaction_answer(&late, "", "%s", body), 404, 10062);
    expect_status(interaction_answer(&soon, "", "%s", body), 204);
    world_sql(w, "update interactions set state = 2 where id = %s", failed.id);
    expect_error(interaction_answer(&failed, "", "%s", body), 404, 10062);
    world_wait(w, 3.001);
    expect_error(interaction_answer(&waited, "", "%s", body), 404, 10062);
}

/* --- refused responses ---------------------------------------------------------------- */

static void refused_callback_can_be_sent_again(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);
    char body[4000];

    expect_error(interaction_answer(&ask, "", "{'type': 4}"), 400, 50006);
    expect_error(interaction_answer(&ask, "", "{'type': 4, 'data': {'content': ' '}}"), 400, 50006);
    expect_invalid(interaction_answer(&ask, "", "{}"), "type", "BASE_TYPE_REQUIRED");
    expect_invalid(interaction_answer(&ask, "", "{'type': 2}"), "type", "BASE_TYPE_CHOICES");
    expect_invalid(interaction_answer(&ask, "", "{'type': 10}"), "type", "BASE_TYPE_CHOICES");
    expect_invalid(interaction_answer(&ask, "", "{'type': 4, 'data': 5}"), "data",
                   "MODEL_TYPE_CONVERT");
    snprintf(body, sizeof body, "{'type': 4, 'data': {'content': '%02001d'}}", 1);
    expect_invalid(interaction_answer(&ask, "", "%s", body), "data.content",
                   "BASE_TYPE_MAX_LENGTH");
    expect_invalid(interaction_answer(&ask, "", "{'type': 4, 'data': {'embeds': [{}]}}"),
                   "data.embeds.0.description", "BASE_TYPE_REQUIRED");
    expect_invalid(
        interaction_answer(&ask, "",
                           "{'type': 4, 'data': {'flags': 32768, 'content': 'x', 'components': "
                           "[{'type': 10, 'content': 'y'}]}}"),
        "data.content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2");
    expect_invalid(
        interaction_answer(&ask, "",
                           "{'type': 4, 'data': {'components': [{'type': 1, 'components': "
                           "[{'type': 4, 'custom_id': 'a', 'style': 1, 'label': 'x'}]}]}}"),
        "data.components.0.components.0.type", "BASE_TYPE_CHOICES");
    expect_invalid(
        interaction_answer(&ask, "",
                           "{'type': 4, 'data': {'flags': 32768, 'components': [{'type': 17, "
                           "'components': [{'type': 4, 'custom_id': 'a', 'style': 1, 'label': "
                           "'x'}]}]}}"),
        "data.components.0.components.0.type", "BASE_TYPE_CHOICES");
    expect_invalid(interaction_answer(&ask, "?with_response=maybe", "{'type': 5}"), "with_response",
                   "BOOLEAN_TYPE_CONVERT");
    expect_channel_silence(&s.room);
    expect_silence(s.ada);
    snprintf(body, sizeof body, "{'type': 4, 'data': {'content': '%02000d'}}", 1);
    interaction_answered(&ask, body);
}

/* The callback types that each interaction type accepts. */
static void interaction_type_determines_the_allowed_callback_types(struct world *w)
{
    static const struct {
        int type, takes[6];
        bool message;
    } rows[] = {
        { 2, { 4, 5, 9 }, false }, { 3, { 4, 5, 6, 7, 9 }, true }, { 4, { 8 }, false },
        { 5, { 4, 5 }, false },    { 5, { 4, 5, 6, 7 }, true },
    };
    static const char *const data =
        "'data': {'content': 'x', 'choices': [], 'custom_id': 'c', 'title': 't', 'components': []}";
    struct test_bot s = world_test_bot(w);
    const char *message = test_bot_message(&s);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int type = 1; type <= 12; type++) {
            struct test_interaction ask = INTERACTION(&s, .type = rows[i].type, .focused_type = 3,
                                                      .message = rows[i].message ? message : NULL);
            bool taken = false;

            for (int n = 0; n < 6; n++)
                taken = taken || rows[i].takes[n] == type;
            if (type == 9) /* modals have other components */
                expect_invalid(interaction_answer(&ask, "", "{'type': 9, %s}", data),
                               "data.components", "BASE_TYPE_BAD_LENGTH");
            else if (taken)
                expect_status(interaction_answer(&ask, "", "{'type': %d, %s}", type, data), 204);
            else
                expect_invalid(interaction_answer(&ask, "", "{'type': %d, %s}", type, data), "type",
                               "BASE_TYPE_CHOICES");
        }
    }
}

/* --- activities ----------------------------------------------------------------------- */

static void launch_activity_callback_requires_an_embedded_app(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction plain = INTERACTION(&s), embedded = INTERACTION(&s),
                            only =
                                INTERACTION(&s, .command_type = 4, .handler = 3, .name = "launch");

    expect_invalid(interaction_answer(&plain, "", "{'type': 12}"), "type", "BASE_TYPE_CHOICES");
    world_sql(w, "update applications set flags = 131072 where id = %s", s.application);
    struct answer a = interaction_answer(&embedded, "?with_response=1", "{'type': 12}");
    expect_status(a, 200);
    expect_json(a, "{'interaction': {'activity_instance_id': '%s'}, 'resource': {'type': 12}}",
                answer_text(a, "resource.activity_instance.id"));
    expect_absent(a, "resource.message");
    expect_event(s.ada, "INTERACTION_SUCCESS", "{'id': '%s', 'nonce': null}", embedded.id);
    expect_invalid(interaction_answer(&only, "", "{'type': 4, 'data': {'content': 'x'}}"), "type",
                   "BASE_TYPE_CHOICES");
    interaction_answered(&only, "{'type': 12}");
    expect_channel_silence(&s.room);
}

const struct test callbacks_tests[] = {
    TEST(message_callback_creates_the_response_message),
    TEST(interaction_success_is_sent_before_message_create),
    TEST(context_menu_response_contains_its_target),
    TEST(component_response_is_a_reply_to_its_message),
    TEST(modal_response_has_the_type_of_its_opening_interaction),
    TEST(response_of_an_app_without_bot_shows_the_apps_name),
    TEST(responses_mention_users_but_not_roles_by_default),
    TEST(response_mentions_everyone_with_the_bots_permission),
    TEST(app_can_respond_without_access_to_the_channel),
    TEST(response_can_contain_files),
    TEST(files_of_a_deferred_response_are_not_stored),
    TEST(callback_requires_the_interactions_token),
    TEST(second_callback_is_400_40060),
    TEST(callback_after_three_seconds_is_404_10062),
    TEST(refused_callback_can_be_sent_again),
    TEST(interaction_type_determines_the_allowed_callback_types),
    TEST(launch_activity_callback_requires_an_embedded_app),
    { 0 },
};
