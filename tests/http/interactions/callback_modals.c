/* callback_modals.c - modals as interaction responses. */
#include "test_interaction.h"

#include <stdio.h>

#define NAME_FIELD \
    "{'type': 1, 'components': [{'type': 4, 'custom_id': 'name', 'style': 1, 'label': 'Name'}]}"

static void modal_callback_reaches_the_invoking_user(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s, .nonce = "\"n\"");

    interaction_answered(
        &ask,
        "{'type': 9, 'data': {'custom_id': 'form', 'title': 'A form', 'components': "
        "[" NAME_FIELD ", {'type': 18, 'label': 'Pick', 'component': {'type': 3, 'custom_id': "
        "'pick', 'options': [{'label': 'A', 'value': 'a'}]}}, {'type': 10, 'content': "
        "'Words'}]}}");
    expect_event(s.ada, "INTERACTION_SUCCESS", "{'id': '%s', 'nonce': 'n'}", ask.id);
    expect_event(
        s.ada, "INTERACTION_MODAL_CREATE",
        "{'id': '%s', 'channel_id': '%s', 'custom_id': 'form', 'title': 'A form', 'nonce': "
        "'n', 'application': {'id': '%s', 'name': 'Weather', 'bot': {'id': '%s'}}, "
        "'components': [{'type': 1, 'id': 1, 'components': [{'type': 4, 'id': 2, "
        "'custom_id': 'name', 'label': 'Name'}]}, {'type': 18, 'id': 3, 'component': {'id': "
        "4, 'custom_id': 'pick'}}, {'type': 10, 'id': 5}]}",
        ask.id, s.test_guild.channel, s.application, s.application);
    expect_silence(s.ada);
    expect_channel_silence(&s.room);
    expect(world_number(w,
                        "select count(*) from interactions where id = %s and modal like "
                        "'%%\"custom_id\":\"form\"%%'",
                        ask.id) == 1);
    /* There is no original message, but followups are allowed. */
    expect_error(
        client_get(ask.app, "/webhooks/%s/%s/messages/@original", ask.application, ask.token), 404,
        10008);
    expect_json(client_post(ask.app, "{'content': 'x'}", FOLLOW), "{'type': 20}");
}

/* Expects that a modal with these components is refused with this error. */
static void expect_modal_callback_refused(struct test_bot *s, const char *components,
                                          const char *path, const char *code)
{
    struct test_interaction ask = INTERACTION(s);

    expect_invalid(
        interaction_answer(&ask, "",
                           "{'type': 9, 'data': {'custom_id': 'f', 'title': 't', 'components': "
                           "%s}}",
                           components),
        path, code);
    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'x'}}");
}

static void modal_requires_custom_id_title_and_components(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);

    expect_invalid(interaction_answer(&ask, "", "{'type': 9}"), "data", "BASE_TYPE_REQUIRED");
    expect_invalid(interaction_answer(&ask, "", "{'type': 9, 'data': {}}"), "data.custom_id",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(interaction_answer(&ask, "", "{'type': 9, 'data': {}}"), "data.title",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(interaction_answer(&ask, "", "{'type': 9, 'data': {}}"), "data.components",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(interaction_answer(&ask, "",
                                      "{'type': 9, 'data': {'custom_id': '%0101d', 'title': 't', "
                                      "'components': [" NAME_FIELD "]}}",
                                      1),
                   "data.custom_id", "BASE_TYPE_MAX_LENGTH");
    expect_invalid(interaction_answer(&ask, "",
                                      "{'type': 9, 'data': {'custom_id': 'f', 'title': '%046d', "
                                      "'components': [" NAME_FIELD "]}}",
                                      1),
                   "data.title", "BASE_TYPE_MAX_LENGTH");
    expect_invalid(interaction_answer(&ask, "",
                                      "{'type': 9, 'data': {'custom_id': '', 'title': 't', "
                                      "'components': [" NAME_FIELD "]}}"),
                   "data.custom_id", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(interaction_answer(&ask, "",
                                      "{'type': 9, 'data': {'custom_id': 'f', 'title': '', "
                                      "'components': [" NAME_FIELD "]}}"),
                   "data.title", "BASE_TYPE_BAD_LENGTH");
    expect_status(
        interaction_answer(&ask, "",
                           "{'type': 9, 'data': {'custom_id': '%0100d', 'title': '%045d', "
                           "'components': [" NAME_FIELD "]}}",
                           1, 1),
        204);
}

/* Concord sends all fields of a modal with every callback. */
static void message_callback_may_have_empty_modal_fields(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);

    expect_status(interaction_answer(&ask, "",
                                     "{'type': 4, 'data': {'content': 'x', 'custom_id': '', "
                                     "'title': ''}}"),
                  204);
}

static void invalid_modal_components_are_refused(struct world *w)
{
    static const char *const text = "{'type': 10, 'content': 'x'}";
    struct test_bot s = world_test_bot(w);

    expect_modal_callback_refused(&s, "[]", "data.components", "BASE_TYPE_BAD_LENGTH");
    expect_modal_callback_refused(
        &s, TEXT(w, "[%s, %s, %s, %s, %s, %s]", text, text, text, text, text, text),
        "data.components", "BASE_TYPE_BAD_LENGTH");
    expect_modal_callback_refused(&s, "[{'type': 2, 'style': 1, 'label': 'x', 'custom_id': 'c'}]",
                                  "data.components.0.type", "BASE_TYPE_CHOICES");
    expect_modal_callback_refused(&s, "[{'type': 1, 'components': []}]",
                                  "data.components.0.components", "BASE_TYPE_BAD_LENGTH");
    expect_modal_callback_refused(
        &s,
        "[{'type': 1, 'components': [{'type': 2, 'style': 1, 'label': 'x', 'custom_id': 'c'}]}]",
        "data.components.0.components.0.type", "BASE_TYPE_CHOICES");
    expect_modal_callback_refused(
        &s, "[{'type': 1, 'components': [{'type': 4, 'style': 1, 'custom_id': 'c'}]}]",
        "data.components.0.components.0.label", "BASE_TYPE_REQUIRED");
    expect_modal_callback_refused(
        &s, "[{'type': 1, 'components': [{'type': 4, 'style': 1, 'label': 'x'}]}]",
        "data.components.0.components.0.custom_id", "BASE_TYPE_REQUIRED");
    expect_modal_callback_refused(
        &s, "[{'type': 1, 'components': [{'type': 4, 'label': 'x', 'custom_id': 'c'}]}]",
        "data.components.0.components.0.style", "BASE_TYPE_REQUIRED");
    expect_modal_callback_refused(
        &s,
        "[{'type': 1, 'components': [{'type': 4, 'style': 3, 'label': 'x', 'custom_id': 'c'}]}]",
        "data.components.0.components.0.style", "BASE_TYPE_CHOICES");
    expect_modal_callback_refused(
        &s,
        "[{'type': 1, 'components': [{'type': 4, 'style': 1, 'label': 'x', 'custom_id': 'c', "
        "'max_length': 4001}]}]",
        "data.components.0.components.0.max_length", "NUMBER_TYPE_MAX");
    expect_modal_callback_refused(
        &s,
        "[{'type': 1, 'components': [{'type': 4, 'style': 1, 'label': 'x', 'custom_id': 'c', "
        "'min_length': 5, 'max_length': 4}]}]",
        "data.components.0.components.0.min_length", "BASE_TYPE_INVALID");
    expect_modal_callback_refused(&s, "[{'type': 18, 'label': 'x'}]", "data.components.0.component",
                                  "BASE_TYPE_REQUIRED");
    expect_modal_callback_refused(
        &s, "[{'type': 18, 'component': {'type': 4, 'style': 1, 'custom_id': 'c'}}]",
        "data.components.0.label", "BASE_TYPE_REQUIRED");
    expect_modal_callback_refused(
        &s, "[{'type': 18, 'label': 'x', 'component': {'type': 10, 'content': 'x'}}]",
        "data.components.0.component.type", "BASE_TYPE_CHOICES");
    expect_modal_callback_refused(&s, "[" NAME_FIELD ", " NAME_FIELD "]",
                                  "data.components.1.components.0.custom_id",
                                  "COMPONENT_CUSTOM_ID_DUPLICATED");
}

#define PICK(emoji)                                                                           \
    "{'type': 18, 'label': 'Pick', 'component': {'type': 3, 'custom_id': 'pick', 'options': " \
    "[{'label': 'A', 'value': 'a', 'emoji': " emoji "}]}}"
#define PICK_AT "data.components.0.component.options.0.emoji."

static void modal_emojis_must_be_usable_by_the_app(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);

    world_sql(w, "insert into emojis (id, guild_id, name, animated) values (71, %s, 'here', 1)",
              s.test_guild.id);
    interaction_answered(
        &ask, "{'type': 9, 'data': {'custom_id': 'form', 'title': 'A form', 'components': "
              "[" PICK("{'id': '71', 'name': 'other'}") "]}}");
    expect_event(s.ada, "INTERACTION_SUCCESS", "{'id': '%s'}", ask.id);
    expect_event(
        s.ada, "INTERACTION_MODAL_CREATE",
        "{'components': [{'component': {'options': [{'emoji': {'id': '71', 'name': 'here', "
        "'animated': true}}]}}]}");
    expect_modal_callback_refused(&s, "[" PICK("{'id': '79'}") "]", PICK_AT "id",
                                  "BUTTON_COMPONENT_INVALID_EMOJI");
    expect_modal_callback_refused(&s, "[" PICK("{'name': 'fire'}") "]", PICK_AT "name",
                                  "BUTTON_COMPONENT_INVALID_EMOJI");
}

const struct test callback_modals_tests[] = {
    TEST(modal_callback_reaches_the_invoking_user),
    TEST(modal_requires_custom_id_title_and_components),
    TEST(message_callback_may_have_empty_modal_fields),
    TEST(invalid_modal_components_are_refused),
    TEST(modal_emojis_must_be_usable_by_the_app),
    { 0 },
};
