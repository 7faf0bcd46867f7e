/* callback_modals.c - forms that apps answer with. */
#include "test_interaction.h"

#include <stdio.h>

#define NAME_FIELD \
    "{'type': 1, 'components': [{'type': 4, 'custom_id': 'name', 'style': 1, 'label': 'Name'}]}"

static void a_modal_reaches_who_asked(struct world *w)
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
    /* There is no message behind it, but the app may say something. */
    expect_error(
        client_get(ask.app, "/webhooks/%s/%s/messages/@original", ask.application, ask.token), 404,
        10008);
    expect_json(client_post(ask.app, "{'content': 'x'}", FOLLOW), "{'type': 20}");
}

/* A modal with these components is refused at this place. */
static void refused(struct test_bot *s, const char *components, const char *path, const char *code)
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

static void modals_have_a_shape(struct world *w)
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
                   "data.custom_id", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(interaction_answer(&ask, "",
                                      "{'type': 9, 'data': {'custom_id': 'f', 'title': '%046d', "
                                      "'components': [" NAME_FIELD "]}}",
                                      1),
                   "data.title", "BASE_TYPE_BAD_LENGTH");
    expect_status(
        interaction_answer(&ask, "",
                           "{'type': 9, 'data': {'custom_id': '%0100d', 'title': '%045d', "
                           "'components': [" NAME_FIELD "]}}",
                           1, 1),
        204);
}

static void parts_of_modals_have_rules(struct world *w)
{
    static const char *const text = "{'type': 10, 'content': 'x'}";
    struct test_bot s = world_test_bot(w);

    refused(&s, "[]", "data.components", "BASE_TYPE_BAD_LENGTH");
    refused(&s, TEXT(w, "[%s, %s, %s, %s, %s, %s]", text, text, text, text, text, text),
            "data.components", "BASE_TYPE_BAD_LENGTH");
    refused(&s, "[{'type': 2, 'style': 1, 'label': 'x', 'custom_id': 'c'}]",
            "data.components.0.type", "BASE_TYPE_CHOICES");
    refused(&s, "[{'type': 1, 'components': []}]", "data.components.0.components",
            "BASE_TYPE_BAD_LENGTH");
    refused(
        &s,
        "[{'type': 1, 'components': [{'type': 2, 'style': 1, 'label': 'x', 'custom_id': 'c'}]}]",
        "data.components.0.components.0.type", "BASE_TYPE_CHOICES");
    refused(&s, "[{'type': 1, 'components': [{'type': 4, 'style': 1, 'custom_id': 'c'}]}]",
            "data.components.0.components.0.label", "BASE_TYPE_REQUIRED");
    refused(&s, "[{'type': 1, 'components': [{'type': 4, 'style': 1, 'label': 'x'}]}]",
            "data.components.0.components.0.custom_id", "BASE_TYPE_REQUIRED");
    refused(&s, "[{'type': 1, 'components': [{'type': 4, 'label': 'x', 'custom_id': 'c'}]}]",
            "data.components.0.components.0.style", "BASE_TYPE_REQUIRED");
    refused(
        &s,
        "[{'type': 1, 'components': [{'type': 4, 'style': 3, 'label': 'x', 'custom_id': 'c'}]}]",
        "data.components.0.components.0.style", "BASE_TYPE_CHOICES");
    refused(&s,
            "[{'type': 1, 'components': [{'type': 4, 'style': 1, 'label': 'x', 'custom_id': 'c', "
            "'max_length': 4001}]}]",
            "data.components.0.components.0.max_length", "NUMBER_TYPE_MAX");
    refused(&s,
            "[{'type': 1, 'components': [{'type': 4, 'style': 1, 'label': 'x', 'custom_id': 'c', "
            "'min_length': 5, 'max_length': 4}]}]",
            "data.components.0.components.0.min_length", "BASE_TYPE_INVALID");
    refused(&s, "[{'type': 18, 'label': 'x'}]", "data.components.0.component",
            "BASE_TYPE_REQUIRED");
    refused(&s, "[{'type': 18, 'component': {'type': 4, 'style': 1, 'custom_id': 'c'}}]",
            "data.components.0.label", "BASE_TYPE_REQUIRED");
    refused(&s, "[{'type': 18, 'label': 'x', 'component': {'type': 10, 'content': 'x'}}]",
            "data.components.0.component.type", "BASE_TYPE_CHOICES");
    refused(&s, "[" NAME_FIELD ", " NAME_FIELD "]", "data.components.1.components.0.custom_id",
            "COMPONENT_CUSTOM_ID_DUPLICATED");
}

#define PICK(emoji)                                                                           \
    "{'type': 18, 'label': 'Pick', 'component': {'type': 3, 'custom_id': 'pick', 'options': " \
    "[{'label': 'A', 'value': 'a', 'emoji': " emoji "}]}}"
#define PICK_AT "data.components.0.component.options.0.emoji."

static void emoji_of_modals_are_those_that_the_app_may_use(struct world *w)
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
    refused(&s, "[" PICK("{'id': '79'}") "]", PICK_AT "id", "BUTTON_COMPONENT_INVALID_EMOJI");
    refused(&s, "[" PICK("{'name': 'fire'}") "]", PICK_AT "name", "BUTTON_COMPONENT_INVALID_EMOJI");
}

const struct test callback_modals_tests[] = {
    TEST(a_modal_reaches_who_asked),
    TEST(modals_have_a_shape),
    TEST(parts_of_modals_have_rules),
    TEST(emoji_of_modals_are_those_that_the_app_may_use),
    { 0 },
};
