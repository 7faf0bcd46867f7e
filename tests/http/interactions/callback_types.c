/* callback_types.c - deferred and ephemeral responses, message updates, autocomplete choices,
 * modals. */
#include "test_interaction.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "waits.h"

#define MESSAGES "/channels/%s/messages"
#define MESSAGE  "/channels/%s/messages/%s"

/* --- with_response -------------------------------------------------------------------- */

static void callback_with_response_returns_the_created_resource(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *message = test_bot_message(&s);
    struct test_interaction four = INTERACTION(&s), five = INTERACTION(&s),
                            six = INTERACTION(&s, .type = 3, .message = message),
                            seven = INTERACTION(&s, .type = 3, .message = message),
                            eight = INTERACTION(&s, .type = 4, .focused_type = 3);

    struct answer a = interaction_answer(&four, "?with_response=true",
                                         "{'type': 4, 'data': {'content': 'Sunny'}}");
    expect_status(a, 200);
    expect_json(a,
                "{'interaction': {'id': '%s', 'type': 2, 'response_message_id': '%s', "
                "'response_message_loading': false, 'response_message_ephemeral': false, "
                "'channel_id': '%s', 'guild_id': '%s'}, 'resource': {'type': 4, 'message': "
                "{'content': 'Sunny', 'type': 20}}}",
                four.id, answer_text(a, "resource.message.id"), s.test_guild.channel,
                s.test_guild.id);

    a = interaction_answer(&five, "?with_response=1", "{'type': 5, 'data': {'flags': 64}}");
    expect_json(a, "{'interaction': {'response_message_loading': true, "
                   "'response_message_ephemeral': true}, 'resource': {'type': 5, 'message': "
                   "{'content': '', 'flags': 192}}}");

    a = interaction_answer(&six, "?with_response=True", "{'type': 6}");
    expect_json(a, "{'interaction': {'id': '%s', 'type': 3}}", six.id);
    expect_absent(a, "resource");
    expect_absent(a, "interaction.response_message_id");

    a = interaction_answer(&seven, "?with_response=true",
                           "{'type': 7, 'data': {'content': 'New'}}");
    expect_json(a,
                "{'interaction': {'response_message_id': '%s'}, 'resource': {'type': 7, "
                "'message': {'id': '%s', 'content': 'New'}}}",
                message, message);

    a = interaction_answer(&eight, "?with_response=true", "{'type': 8, 'data': {'choices': []}}");
    expect_status(a, 200);
    expect_absent(a, "resource");
    struct test_interaction last = INTERACTION(&s);
    expect_status(interaction_answer(&last, "?with_response=false", "{'type': 5}"), 204);
}

/* --- deferred responses --------------------------------------------------------------- */

static void deferred_response_creates_a_loading_message(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s, .nonce = "7");

    interaction_answered(&ask, "{'type': 5, 'data': {'content': 'not yet', 'flags': 4096}}");
    expect_event(s.ada, "INTERACTION_SUCCESS", "{'id': '%s', 'nonce': 7}", ask.id);
    expect_channel_event(&s.room, "MESSAGE_CREATE",
                         "{'content': '', 'flags': 128, 'type': 20, 'nonce': 7}");
    /* A deferred response that is never edited stays in this state. */
    world_wait(w, 1000);
    expect_json(client_get(s.bob, MESSAGES, s.test_guild.channel), "[{'flags': 128}]");
}

static void editing_the_original_completes_a_deferred_response(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);

    interaction_answered(&ask, "{'type': 5}");
    expect_channel_event(&s.room, "MESSAGE_CREATE", "{'flags': 128}");
    world_wait(w, 100);
    struct answer a =
        client_patch(ask.app, "{'content': 'Sunny', 'flags': 64}",
                     "/webhooks/%s/%s/messages/@original", ask.application, ask.token);
    expect_json(a, "{'content': 'Sunny', 'flags': 0, 'edited_timestamp': null, 'type': 20}");
    expect_channel_event(&s.room, "MESSAGE_UPDATE",
                         "{'content': 'Sunny', 'flags': 0, 'edited_timestamp': null}");
    a = client_patch(ask.app, "{'content': 'Rain'}", "/webhooks/%s/%s/messages/%%40original",
                     ask.application, ask.token);
    expect_status(a, 200);
    expect(dom_at(a.json, "edited_timestamp")->kind == JSON_STRING);
}

static void deferred_response_can_be_completed_with_a_poll(struct world *w)
{
    static const char poll[] = "{'poll': {'question': {'text': 'Which?'}, 'answers': "
                               "[{'poll_media': {'text': 'one'}}]}}";
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);

    interaction_answered(&ask, "{'type': 5}");
    expect_channel_event(&s.room, "MESSAGE_CREATE", "{'flags': 128}");
    struct answer a = client_patch(ask.app, poll, "/webhooks/%s/%s/messages/@original",
                                   ask.application, ask.token);
    expect_json(a, "{'flags': 0, 'poll': {'question': {'text': 'Which?'}}}");
    expect_channel_event(&s.room, "MESSAGE_UPDATE", "{'poll': {'question': {'text': 'Which?'}}}");
    a = client_patch(ask.app, poll, "/webhooks/%s/%s/messages/@original", ask.application,
                     ask.token);
    expect_error(a, 400, 520003);
    struct test_interaction other = INTERACTION(&s);
    interaction_answered(&other,
                         "{'type': 4, 'data': {'poll': {'question': {'text': 'Who?'}, 'answers': "
                         "[{'poll_media': {'text': 'one'}}]}}}");
    expect_channel_event(&s.room, "MESSAGE_CREATE", "{'poll': {'question': {'text': 'Who?'}}}");
}

/* The components flag is given with the edit, not with the deferral. */
static void deferred_response_can_be_completed_with_components_v2(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);
    struct answer a =
        interaction_answer(&ask, "?with_response=1", "{'type': 5, 'data': {'flags': 32768}}");

    expect_json(a, "{'resource': {'message': {'flags': 128}}}");
    a = client_patch(ask.app, "{'flags': 32768, 'components': [{'type': 10, 'content': 'Words'}]}",
                     "/webhooks/%s/%s/messages/@original", ask.application, ask.token);
    expect_json(a, "{'flags': 32768, 'content': '', 'components': [{'content': 'Words'}]}");
    expect_invalid(client_patch(ask.app, "{'content': 'x'}", "/webhooks/%s/%s/messages/@original",
                                ask.application, ask.token),
                   "content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2");
}

static void first_followup_completes_a_deferred_response(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s), secret = INTERACTION(&s);

    struct answer a = interaction_answer(&ask, "?with_response=true", "{'type': 5}");
    const char *id = answer_text(a, "resource.message.id");
    expect_channel_event(&s.room, "MESSAGE_CREATE", "{'flags': 128}");
    expect_error(client_post(ask.app, "{}", FOLLOW), 400, 50006);
    expect_error(client_post(ask.app, "{'content': null, 'flags': 4}", FOLLOW), 400, 50006);
    expect_channel_silence(&s.room);
    a = client_post(ask.app, "{'content': 'Sunny', 'flags': 64}", FOLLOW);
    expect_json(a, "{'id': '%s', 'content': 'Sunny', 'flags': 0, 'edited_timestamp': null}", id);
    expect_channel_event(&s.room, "MESSAGE_UPDATE", "{'id': '%s'}", id);
    a = client_post(ask.app, "{'content': 'More'}", FOLLOW);
    expect(strcmp(answer_text(a, "id"), id) != 0);
    expect_channel_event(&s.room, "MESSAGE_CREATE", "{'content': 'More'}");

    /* The deferral's ephemeral flag applies. */
    interaction_answered(&secret, "{'type': 5, 'data': {'flags': 64}}");
    ask = secret;
    a = client_post(ask.app, "{'content': 'For you'}", FOLLOW);
    expect_json(a, "{'content': 'For you', 'flags': 64}");
    expect_channel_silence(&s.room);
}

/* --- ephemeral responses -------------------------------------------------------------- */

static void ephemeral_response_is_visible_to_the_user_and_bot_only(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    client_post(s.bob, "{'content': 'before'}", MESSAGES, s.test_guild.channel);
    struct answer before = client_get(s.bob, "/channels/%s", s.test_guild.channel);
    struct test_interaction ask = INTERACTION(&s, .nonce = "\"n\"");
    s.room = world_channel_events(w, s.test_guild.channel);

    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'Psst', 'flags': 68}}");
    expect_event(s.ada, "INTERACTION_SUCCESS", "{}");
    expect_event(s.ada, "MESSAGE_CREATE",
                 "{'content': 'Psst', 'flags': 68, 'nonce': 'n', 'channel_id': '%s'}",
                 s.test_guild.channel);
    const struct dom *event = world_last_event(w, "MESSAGE_CREATE");
    expect(!dom_at(event, "guild_id") && !dom_at(event, "member"));
    expect_event(s.bot, "MESSAGE_CREATE", "{'content': 'Psst'}");
    expect_channel_silence(&s.room);
    expect_silence(s.ada);
    expect_silence(s.bob);

    const char *id = str_dup_cstring(world_arena(w), dom_at(event, "id")->text);
    struct answer a = client_get(s.ada, MESSAGES, s.test_guild.channel);
    expect_json(a, "[{'content': 'before'}]");
    expect_error(client_get(s.ada, MESSAGE, s.test_guild.channel, id), 404, 10008);
    expect_error(client_get(s.bot, MESSAGE, s.test_guild.channel, id), 404, 10008);
    expect_error(client_put(s.ada, NULL, "/channels/%s/pins/%s", s.test_guild.channel, id), 404,
                 10008);
    expect_error(client_delete(s.ada, MESSAGE, s.test_guild.channel, id), 404, 10008);
    expect_invalid(client_post(s.ada,
                               TEXT(w,
                                    "{'content': 'x', 'message_reference': {'message_id': "
                                    "'%s'}}",
                                    id),
                               MESSAGES, s.test_guild.channel),
                   "message_reference", "REPLIES_UNKNOWN_MESSAGE");
    expect_json(client_get(s.bob, "/channels/%s", s.test_guild.channel),
                "{'last_message_id': '%s'}", answer_text(before, "last_message_id"));
    expect_json(
        client_get(ask.app, "/webhooks/%s/%s/messages/@original", ask.application, ask.token),
        "{'content': 'Psst'}");
}

/* Counts messages after all due jobs have run. */
static int64_t count_messages(struct world *w)
{
    world_settle(w);
    return world_number(w, "select count(*) from messages");
}

static void ephemeral_response_is_deleted_after_15_minutes(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s), plain = INTERACTION(&s);

    interaction_answered(&plain, "{'type': 4, 'data': {'content': 'stays'}}");
    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'Psst', 'flags': 64}}");
    world_wait(w, 600);
    expect_status(client_patch(ask.app, "{'content': 'touched'}",
                               "/webhooks/%s/%s/messages/@original", ask.application, ask.token),
                  200);
    /* The message is deleted 15 minutes after the last edit, not after its creation. */
    world_wait(w, 800);
    expect(count_messages(w) == 2);
    s.room = world_channel_events(w, s.test_guild.channel);
    world_wait(w, 120);
    expect(count_messages(w) == 1);
    expect_json(client_get(s.bob, MESSAGES, s.test_guild.channel), "[{'content': 'stays'}]");
    expect_channel_silence(&s.room);
}

/* --- updates -------------------------------------------------------------------------- */

static void update_message_callback_edits_the_components_message(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *message = test_bot_message(&s);
    struct test_interaction ask = INTERACTION(&s, .type = 3, .message = message, .by = s.bob),
                            nothing = INTERACTION(&s, .type = 3, .message = message),
                            cleared = INTERACTION(&s, .type = 3, .message = message),
                            back = INTERACTION(&s, .type = 3, .message = message),
                            later = INTERACTION(&s, .type = 3, .message = message),
                            gone = INTERACTION(&s, .type = 3, .message = message);

    interaction_answered(&ask, "{'type': 7, 'data': {'content': 'Done', 'components': []}}");
    expect_event(s.bob, "INTERACTION_SUCCESS", "{'id': '%s'}", ask.id);
    expect_channel_event(&s.room, "MESSAGE_UPDATE",
                         "{'id': '%s', 'content': 'Done', 'components': [], 'type': 0}", message);
    expect_json(
        client_get(ask.app, "/webhooks/%s/%s/messages/@original", ask.application, ask.token),
        "{'id': '%s'}", message);
    interaction_answered(&nothing, "{'type': 7}");
    expect_channel_silence(&s.room);
    /* The callback is an edit: null removes a field, as discord.py expects. */
    interaction_answered(&cleared,
                         "{'type': 7, 'data': {'content': null, 'embeds': [{'title': 'T'}]}}");
    expect_channel_event(&s.room, "MESSAGE_UPDATE", "{'content': '', 'embeds': [{'title': 'T'}]}");
    interaction_answered(&back, "{'type': 7, 'data': {'content': 'Done', 'embeds': null}}");
    expect_channel_event(&s.room, "MESSAGE_UPDATE", "{'content': 'Done', 'embeds': []}");
    expect_invalid(interaction_answer(&gone, "", "{'type': 7, 'data': {'embeds': [{}]}}"),
                   "data.embeds.0.description", "BASE_TYPE_REQUIRED");
    expect_error(interaction_answer(&gone, "", "{'type': 7, 'data': {'content': ''}}"), 400, 50006);

    interaction_answered(&later, "{'type': 6}");
    expect_channel_silence(&s.room);
    struct answer a =
        client_patch(later.app, "{'content': 'Later'}", "/webhooks/%s/%s/messages/@original",
                     ask.application, later.token);
    expect_json(a, "{'id': '%s', 'content': 'Later'}", message);
    expect_channel_event(&s.room, "MESSAGE_UPDATE", "{'content': 'Later'}");

    expect_status(client_delete(s.ada, MESSAGE, s.test_guild.channel, message), 204);
    expect_error(interaction_answer(&gone, "", "{'type': 7, 'data': {'content': 'x'}}"), 404,
                 10008);
    interaction_answered(&gone, "{'type': 4, 'data': {'content': 'It is gone'}}");
    expect_channel_event(&s.room, "MESSAGE_DELETE", "{}");
    expect_channel_event(&s.room, "MESSAGE_CREATE", "{'type': 19, 'referenced_message': null}");
}

static void update_message_callback_edits_an_ephemeral_message(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction first = INTERACTION(&s);
    struct answer a = interaction_answer(&first, "?with_response=true",
                                         "{'type': 4, 'data': {'content': 'Psst', 'flags': 64}}");
    struct test_interaction ask =
        INTERACTION(&s, .type = 3, .message = answer_text(a, "resource.message.id"));

    a = interaction_answer(&ask, "?with_response=true", "{'type': 7, 'data': {'content': 'New'}}");
    expect_json(a, "{'interaction': {'response_message_ephemeral': true}, 'resource': "
                   "{'message': {'content': 'New', 'flags': 64}}}");
    expect_channel_silence(&s.room);
}

/* --- choices -------------------------------------------------------------------------- */

static void autocomplete_choices_are_sent_to_the_invoking_user(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s, .type = 4, .focused_type = 3, .nonce = "\"n\"",
                                              .locale = "en-GB"),
                            none = INTERACTION(&s, .type = 4, .focused_type = 3),
                            number = INTERACTION(&s, .type = 4, .focused_type = 10);

    interaction_answered(
        &ask, "{'type': 8, 'data': {'choices': [{'name': 'Color', 'value': 'c', "
              "'name_localizations': {'en-US': 'Colour', 'de': 'Farbe'}}, {'name': "
              "'Same', 'value': 's', 'name_localizations': {'en-GB': 'Same', 'en-US': "
              "'Other'}}, {'name': 'Plain', 'value': 'p', 'name_localizations': null}]}}");
    expect_event(
        s.ada, "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE",
        "{'nonce': 'n', 'choices': [{'name': 'Color', 'name_localized': 'Colour', "
        "'value': 'c'}, {'name': 'Same', 'value': 's'}, {'name': 'Plain', 'value': 'p'}]}");
    const struct dom *event = world_last_event(w, "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE");
    expect(!dom_at(event, "choices.0.name_localizations"));
    expect(!dom_at(event, "choices.1.name_localized") &&
           !dom_at(event, "choices.2.name_localized"));
    expect_silence(s.ada);
    interaction_answered(&none, "{'type': 8, 'data': {'choices': []}}");
    expect_event(s.ada, "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE",
                 "{'nonce': null, 'choices': []}");
    interaction_answered(&number,
                         "{'type': 8, 'data': {'choices': [{'name': 'Half', 'value': 0.5}]}}");
    expect_event(s.ada, "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE",
                 "{'choices': [{'value': 0.5}]}");
    expect_channel_silence(&s.room);
    /* Autocomplete has no message and no followups. */
    expect_error(client_post(ask.app, "{'content': 'x'}", FOLLOW), 404, 10015);
    expect_error(
        client_get(ask.app, "/webhooks/%s/%s/messages/@original", ask.application, ask.token), 404,
        10008);
}

static void invalid_autocomplete_choices_are_refused(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction text = INTERACTION(&s, .type = 4, .focused_type = 3),
                            whole = INTERACTION(&s, .type = 4, .focused_type = 4),
                            number = INTERACTION(&s, .type = 4, .focused_type = 10);
    char many[4000] = "", *at = many;

    expect_invalid(interaction_answer(&text, "", "{'type': 8}"), "data", "BASE_TYPE_REQUIRED");
    expect_invalid(interaction_answer(&text, "", "{'type': 8, 'data': {}}"), "data.choices",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(
        interaction_answer(&text, "", "{'type': 8, 'data': {'choices': [{'name': 'a'}]}}"),
        "data.choices.0.value", "BASE_TYPE_REQUIRED");
    expect_invalid(interaction_answer(
                       &text, "", "{'type': 8, 'data': {'choices': [{'name': '', 'value': 'a'}]}}"),
                   "data.choices.0.name", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(interaction_answer(
                       &text, "", "{'type': 8, 'data': {'choices': [{'name': 'a', 'value': 5}]}}"),
                   "data.choices.0.value", "STRING_TYPE_CONVERT");
    expect_invalid(
        interaction_answer(
            &text, "", "{'type': 8, 'data': {'choices': [{'name': 'a', 'value': '%0101d'}]}}", 1),
        "data.choices.0.value", "BASE_TYPE_MAX_LENGTH");
    expect_invalid(
        interaction_answer(&text, "",
                           "{'type': 8, 'data': {'choices': [{'name': 'a', 'value': 'a', "
                           "'name_localizations': {'xx': 'b'}}]}}"),
        "data.choices.0.name_localizations.xx", "BASE_TYPE_CHOICES");
    expect_invalid(
        interaction_answer(&text, "",
                           "{'type': 8, 'data': {'choices': [{'name': 'a', 'value': 'a', "
                           "'name_localizations': {'de': ''}}]}}"),
        "data.choices.0.name_localizations.de", "BASE_TYPE_BAD_LENGTH");
    for (int i = 0; i < 26; i++)
        at += sprintf(at, "%s{'name': 'a', 'value': 'a'}", i ? ", " : "");
    expect_invalid(interaction_answer(&text, "", "{'type': 8, 'data': {'choices': [%s]}}", many),
                   "data.choices", "BASE_TYPE_MAX_LENGTH");
    many[strlen(many) - strlen(", {'name': 'a', 'value': 'a'}")] = '\0';
    expect_status(interaction_answer(&text, "", "{'type': 8, 'data': {'choices': [%s]}}", many),
                  204);

    expect_invalid(
        interaction_answer(&whole, "",
                           "{'type': 8, 'data': {'choices': [{'name': 'a', 'value': 1.5}]}}"),
        "data.choices.0.value", "NUMBER_TYPE_COERCE");
    expect_invalid(
        interaction_answer(&whole, "",
                           "{'type': 8, 'data': {'choices': [{'name': 'a', 'value': '1'}]}}"),
        "data.choices.0.value", "NUMBER_TYPE_COERCE");
    /* Converted to double, the first and the third value equal the limit. */
    const char *const beyond[] = { "9007199254740993", "9007199254740994", "-9007199254740993" };
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        expect_invalid(
            interaction_answer(&whole, "",
                               "{'type': 8, 'data': {'choices': [{'name': 'a', 'value': %s}]}}",
                               beyond[i]),
            "data.choices.0.value", "NUMBER_TYPE_COERCE");
        expect_invalid(
            interaction_answer(&number, "",
                               "{'type': 8, 'data': {'choices': [{'name': 'a', 'value': %s}]}}",
                               beyond[i]),
            "data.choices.0.value", "NUMBER_TYPE_COERCE");
    }
    interaction_answered(&whole, "{'type': 8, 'data': {'choices': [{'name': 'a', 'value': "
                                 "9007199254740992}]}}");
    expect_invalid(
        interaction_answer(&number, "",
                           "{'type': 8, 'data': {'choices': [{'name': 'a', 'value': 1e300}]}}"),
        "data.choices.0.value", "NUMBER_TYPE_COERCE");
    interaction_answered(&number,
                         "{'type': 8, 'data': {'choices': [{'name': 'a', 'value': -1.5}]}}");
}

const struct test callback_types_tests[] = {
    TEST(callback_with_response_returns_the_created_resource),
    TEST(deferred_response_creates_a_loading_message),
    TEST(editing_the_original_completes_a_deferred_response),
    TEST(deferred_response_can_be_completed_with_a_poll),
    TEST(deferred_response_can_be_completed_with_components_v2),
    TEST(first_followup_completes_a_deferred_response),
    TEST(ephemeral_response_is_visible_to_the_user_and_bot_only),
    TEST(ephemeral_response_is_deleted_after_15_minutes),
    TEST(update_message_callback_edits_the_components_message),
    TEST(update_message_callback_edits_an_ephemeral_message),
    TEST(autocomplete_choices_are_sent_to_the_invoking_user),
    TEST(invalid_autocomplete_choices_are_refused),
    { 0 },
};
