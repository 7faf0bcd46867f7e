/* modals.c - modals are opened, filled in and submitted. */
#include "test_commands.h"

#define FAILED "COMPONENT_VALIDATION_FAILED"

/* Answers the last interaction with a modal of these components; returns the interaction's id. */
static const char *open_modal(struct test_commands *s, const char *parts)
{
    const struct dom *d = last_interaction(s);
    const char *id = dom_text(s, d, "id");

    expect_status(client_post(world_anonymous(s->world),
                              TEXT(s->world,
                                   "{'type': 9, 'data': {'custom_id': 'form', 'title': 'Form', "
                                   "'components': [%s]}}",
                                   parts),
                              "/interactions/%s/%s/callback", id, dom_text(s, d, "token")),
                  204);
    return id;
}

static const char *invoke_and_open_modal(struct test_commands *s, const char *parts)
{
    const char *id = make_global_command(s, "%s", "");

    expect_status(roll(s, s->bob, id, "%s", ""), 204);
    return open_modal(s, parts);
}

static struct answer submit_modal(struct test_commands *s, struct client *by, const char *opener,
                                  const char *components)
{
    return invoke(s, by, "'type': 5", "'id': '%s', 'custom_id': 'form', 'components': [%s]", opener,
                  components);
}

static const char TEXTS[] =
    "{'type': 1, 'components': [{'type': 4, 'custom_id': 'name', 'style': 1, 'label': 'Name', "
    "'min_length': 2, 'max_length': 4}]}, {'type': 18, 'label': 'More', 'component': {'type': 4, "
    "'custom_id': 'more', 'style': 2, 'required': false}}";

static const char *write_name_input(struct test_commands *s, const char *name, const char *more)
{
    return TEXT(s->world,
                "{'type': 1, 'components': [{'type': 4, 'custom_id': 'name', 'value': '%s'}]}%s%s",
                name, *more ? ", " : "", more);
}

static void modal_submit_interaction_contains_the_submitted_values(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *opener = invoke_and_open_modal(&s, TEXTS);

    expect_status(
        submit_modal(&s, s.bob, opener,
                     write_name_input(&s, "Bob",
                                      "{'type': 18, 'component': {'type': 4, 'custom_id': 'more', "
                                      "'value': 'Lots'}}")),
        204);
    const struct dom *d = last_interaction(&s);
    expect_dom(
        &s, d,
        "{'type': 5, 'context': 0, 'authorizing_integration_owners': {'0': '%s'}, 'data': "
        "{'custom_id': 'form', 'components': [{'type': 1, 'id': 1, 'components': [{'type': 4, "
        "'id': 2, 'custom_id': 'name', 'value': 'Bob'}]}, {'type': 18, 'id': 3, 'component': "
        "{'type': 4, 'id': 4, 'custom_id': 'more', 'value': 'Lots'}}]}}",
        s.test_guild.id);
    expect(!dom_at(d, "message") && !dom_at(d, "data.resolved"));
    expect(strcmp(dom_text(&s, d, "id"), opener) != 0);
}

static void modal_can_be_submitted_once_by_its_user_within_15_minutes(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *opener = invoke_and_open_modal(&s, TEXTS),
               *filled = write_name_input(&s, "Bob", "");

    expect_error(submit_modal(&s, s.bob, "404", filled), 404, 10062);
    expect_error(submit_modal(&s, s.ada, opener, filled), 404, 10062);
    expect_status(submit_modal(&s, s.bob, opener, filled), 204);
    expect_error(submit_modal(&s, s.bob, opener, filled), 404, 10062);

    opener = invoke_and_open_modal(&s, TEXTS);
    world_wait(w, 14 * 60 + 58);
    expect_status(submit_modal(&s, s.bob, opener, filled), 204);
    opener = invoke_and_open_modal(&s, TEXTS);
    world_wait(w, 15 * 60 + 1);
    expect_error(submit_modal(&s, s.bob, opener, filled), 404, 10062);
    /* An interaction that was not answered with a modal. */
    expect_status(roll(&s, s.bob, make_global_command(&s, "%s", ""), "%s", ""), 204);
    const struct dom *d = last_interaction(&s);
    expect_error(submit_modal(&s, s.bob, dom_text(&s, d, "id"), filled), 404, 10062);
}

/* A client that repeats the submission with the same nonce gets no error. */
static void repeated_nonce_submits_a_modal_once(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *opener = invoke_and_open_modal(&s, TEXTS),
               *filled = write_name_input(&s, "Bob", "");

    for (int i = 0; i < 2; i++)
        expect_status(invoke(&s, s.bob, "'type': 5, 'nonce': 'n'",
                             "'id': '%s', 'custom_id': 'form', 'components': [%s]", opener, filled),
                      204);
    expect(interactions_received(&s) == 2);
    expect_error(invoke(&s, s.bob, "'type': 5, 'nonce': 'm'",
                        "'id': '%s', 'custom_id': 'form', 'components': [%s]", opener, filled),
                 404, 10062);
}

static void invalid_modal_text_inputs_are_refused(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *opener = invoke_and_open_modal(&s, TEXTS);

    expect_invalid(submit_modal(&s, s.bob, opener, ""), "data.components.0", "BASE_TYPE_REQUIRED");
    expect_invalid(submit_modal(&s, s.bob, opener, write_name_input(&s, "", "")),
                   "data.components.0", "BASE_TYPE_REQUIRED");
    expect_invalid(submit_modal(&s, s.bob, opener, write_name_input(&s, "B", "")),
                   "data.components.0", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(submit_modal(&s, s.bob, opener, write_name_input(&s, "Bobby", "")),
                   "data.components.0", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(
        submit_modal(&s, s.bob, opener,
                     "{'type': 1, 'components': [{'type': 4, 'custom_id': 'name', 'value': 5}]}"),
        "data.components.0", "STRING_TYPE_CONVERT");
    expect_invalid(
        submit_modal(&s, s.bob, opener,
                     write_name_input(&s, "Bob", "{'type': 4, 'custom_id': 'other', 'value': ''}")),
        "data", FAILED);
    expect_invalid(invoke(&s, s.bob, "'type': 5",
                          "'id': '%s', 'custom_id': 'x', 'components': [%s]", opener,
                          write_name_input(&s, "Bob", "")),
                   "data", FAILED);
    /* After a refusal the modal can be submitted again. */
    expect_status(submit_modal(&s, s.bob, opener, write_name_input(&s, "Bo", "")), 204);
    expect_dom(
        &s, last_interaction(&s),
        "{'data': {'components': [{'components': [{'value': 'Bo'}]}, {'component': {'value': "
        "''}}]}}");
}

static void modal_select_menus_are_submitted_with_resolved_objects(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *parts =
        "{'type': 18, 'label': 'Pick', 'component': {'type': 3, 'custom_id': 'pick', 'options': "
        "[{'label': 'A', 'value': 'a'}, {'label': 'B', 'value': 'b'}]}}, {'type': 18, 'label': 'Who', "
        "'component': {'type': 5, 'custom_id': 'who', 'required': false}}, {'type': 10, 'content': "
        "'Words'}";
    const char *opener = invoke_and_open_modal(&s, parts);

    expect_invalid(
        submit_modal(&s, s.bob, opener,
                     "{'type': 18, 'component': {'type': 3, 'custom_id': 'pick', 'values': "
                     "['x']}}"),
        "data.components.0", FAILED);
    expect_invalid(
        submit_modal(&s, s.bob, opener,
                     "{'type': 18, 'component': {'type': 5, 'custom_id': 'pick', 'values': "
                     "['a']}}"),
        "data.components.0", FAILED);
    expect_status(
        submit_modal(&s, s.bob, opener,
                     TEXT(w,
                          "{'type': 18, 'component': {'type': 3, 'custom_id': 'pick', 'values': "
                          "['b']}}, {'type': 18, 'component': {'type': 5, 'custom_id': 'who', "
                          "'values': ['%s']}}",
                          s.ada->id)),
        204);
    expect_dom(&s, last_interaction(&s),
               "{'data': {'components': [{'component': {'type': 3, 'custom_id': 'pick', 'values': "
               "['b']}}, {'component': {'type': 5, 'values': ['%s']}}, {'type': 10}], 'resolved': "
               "{'users': {'%s': {'username': 'ada'}}}}}",
               s.ada->id, s.ada->id);
}

static void modal_radio_groups_and_checkboxes_are_validated(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *parts =
        "{'type': 18, 'label': 'One', 'component': {'type': 21, 'custom_id': 'one', 'required': false, "
        "'options': [{'label': 'A', 'value': 'a'}, {'label': 'B', 'value': 'b'}]}}, {'type': 18, "
        "'label': 'Some', 'component': {'type': 22, 'custom_id': 'some', 'options': [{'label': 'C', "
        "'value': 'c'}, {'label': 'D', 'value': 'd'}]}}, {'type': 18, 'label': 'Yes', 'component': "
        "{'type': 23, 'custom_id': 'yes'}}";
    const char *opener = invoke_and_open_modal(&s, parts);
    static const char *const wrong[] = {
        "{'type': 22, 'custom_id': 'some', 'values': []}",
        "{'type': 22, 'custom_id': 'some', 'values': ['c', 'c']}",
        "{'type': 22, 'custom_id': 'some', 'values': ['c']}, {'type': 21, 'custom_id': 'one', "
        "'value': 'x'}",
        "{'type': 22, 'custom_id': 'some', 'values': ['c']}, {'type': 21, 'custom_id': 'one', "
        "'value': 5}",
        "{'type': 22, 'custom_id': 'some', 'values': ['c']}, {'type': 23, 'custom_id': 'yes', "
        "'value': 'on'}",
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_error(submit_modal(&s, s.bob, opener, wrong[i]), 400, 50035);
    expect_status(
        submit_modal(&s, s.bob, opener,
                     "{'type': 18, 'component': {'type': 22, 'custom_id': 'some', 'values': ['d', "
                     "'c']}}, {'type': 18, 'component': {'type': 23, 'custom_id': 'yes', 'value': "
                     "true}}"),
        204);
    expect_dom(
        &s, last_interaction(&s),
        "{'data': {'components': [{'component': {'type': 21, 'custom_id': 'one', 'value': null}}, "
        "{'component': {'type': 22, 'values': ['d', 'c']}}, {'component': {'type': 23, 'value': "
        "true}}]}}");
    opener = invoke_and_open_modal(&s, parts);
    expect_status(
        submit_modal(
            &s, s.bob, opener,
            "{'type': 22, 'custom_id': 'some', 'values': ['c']}, {'type': 21, 'custom_id': "
            "'one', 'value': 'b'}"),
        204);
    expect_dom(&s, last_interaction(&s),
               "{'data': {'components': [{'component': {'value': 'b'}}, {'component': {'values': "
               "['c']}}, {'component': {'value': false}}]}}");
}

static void modal_files_are_submitted_as_resolved_attachments(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *opener = invoke_and_open_modal(
        &s, "{'type': 18, 'label': 'File', 'component': {'type': 19, 'custom_id': 'file'}}");
    struct upload files[] = { { "files[0]", "a.txt", STR("hello") }, { 0 } };
    const char *json = TEXT(
        w,
        "{'type': 5, 'application_id': '%s', 'channel_id': '%s', 'guild_id': '%s', 'data': {'id': '%s', "
        "'custom_id': 'form', 'components': [{'type': 18, 'component': {'type': 19, 'custom_id': "
        "'file', 'values': ['0']}}], 'attachments': [{'id': '0', 'filename': 'a.txt'}]}}",
        s.application, s.test_guild.channel, s.test_guild.id, opener);

    expect_invalid(client_post(s.bob, json, "/interactions"), "data.components.0", FAILED);
    expect_status(client_upload(s.bob, "POST", json, files, "/interactions"), 204);
    const struct dom *d = last_interaction(&s);
    const char *id = dom_text(&s, d, "data.components.0.component.values.0");
    expect_dom(
        &s, d,
        "{'data': {'components': [{'component': {'type': 19}}], 'resolved': {'attachments': {'%s': "
        "{'id': '%s', 'filename': 'a.txt', 'size': 5, 'ephemeral': true}}}}}",
        id, id);
}

static void modal_opened_by_a_button_contains_the_message(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct answer a = client_post(s.bot,
                                  "{'content': 'Press', 'components': [{'type': 1, 'components': "
                                  "[{'type': 2, 'style': 1, 'label': 'Go', 'custom_id': 'go'}]}]}",
                                  "/channels/%s/messages", s.test_guild.channel);
    const char *m = answer_text(a, "id");

    expect_status(invoke(&s, s.bob, TEXT(w, "'type': 3, 'message_id': '%s'", m),
                         "'component_type': 2, 'custom_id': 'go'"),
                  204);
    const char *opener = open_modal(&s, TEXTS);
    expect_status(submit_modal(&s, s.bob, opener, write_name_input(&s, "Bob", "")), 204);
    expect_dom(&s, last_interaction(&s), "{'type': 5, 'message': {'id': '%s', 'content': 'Press'}}",
               m);
}

const struct test interactions_modals_tests[] = {
    TEST(modal_submit_interaction_contains_the_submitted_values),
    TEST(modal_can_be_submitted_once_by_its_user_within_15_minutes),
    TEST(repeated_nonce_submits_a_modal_once),
    TEST(invalid_modal_text_inputs_are_refused),
    TEST(modal_select_menus_are_submitted_with_resolved_objects),
    TEST(modal_radio_groups_and_checkboxes_are_validated),
    TEST(modal_files_are_submitted_as_resolved_attachments),
    TEST(modal_opened_by_a_button_contains_the_message),
    { 0 },
};
