/* components.c - use of buttons, select menus and modals. */
#include "test_commands.h"

#include "channels.h"
#include "waits.h"

#define FAILED "COMPONENT_VALIDATION_FAILED"

/* --- buttons -------------------------------------------------------------------------- */

/* Sends a message of the bot with these components. */
static const char *send_components(struct test_commands *s, const char *components)
{
    struct answer a =
        client_post(s->bot, TEXT(s->world, "{'content': 'Choose', 'components': [%s]}", components),
                    "/channels/%s/messages", s->test_guild.channel);

    expect_status(a, 200);
    return answer_text(a, "id");
}

static struct answer use_component(struct test_commands *s, struct client *by, const char *message,
                                   const char *data)
{
    return invoke(s, by, TEXT(s->world, "'type': 3, 'message_id': '%s'", message), "%s", data);
}

static const char BUTTONS[] =
    "{'type': 1, 'components': [{'type': 2, 'style': 1, 'label': 'Go', 'custom_id': 'go'}, {'type': "
    "2, 'style': 2, 'label': 'No', 'custom_id': 'no', 'disabled': true}, {'type': 2, 'style': 5, "
    "'label': 'Link', 'url': 'https://a.example'}]}";

static void pressing_a_button_sends_an_interaction_to_the_app(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *m = send_components(&s, BUTTONS);

    expect_status(use_component(&s, s.bob, m, "'component_type': 2, 'custom_id': 'go'"), 204);
    const struct dom *d = last_interaction(&s);
    expect_dom(
        &s, d,
        "{'type': 3, 'context': 0, 'authorizing_integration_owners': {'0': '%s'}, 'data': "
        "{'custom_id': 'go', 'component_type': 2, 'id': 2}, 'message': {'id': '%s', 'content': "
        "'Choose', 'channel_id': '%s', 'components': [{'type': 1}]}, 'member': {'user': {'id': "
        "'%s'}}}",
        s.test_guild.id, m, s.test_guild.channel, s.bob->id);
    expect(!dom_at(d, "data.values") && !dom_at(d, "data.resolved"));
    /* `type` is the deprecated name of component_type. */
    expect_status(use_component(&s, s.bob, m, "'type': 2, 'custom_id': 'go'"), 204);
}

static void unknown_or_disabled_components_are_refused(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *m = send_components(&s, BUTTONS);
    const char *press = "'component_type': 2, 'custom_id': 'go'";

    expect_error(use_component(&s, s.bob, "404", press), 404, 10008);
    expect_invalid(use_component(&s, s.bob, m, "'component_type': 2, 'custom_id': 'other'"),
                   "data.custom_id", FAILED);
    expect_invalid(use_component(&s, s.bob, m, "'component_type': 2, 'custom_id': 'no'"),
                   "data.custom_id", FAILED);
    expect_invalid(use_component(&s, s.bob, m, "'component_type': 3, 'custom_id': 'go'"),
                   "data.component_type", FAILED);
    /* Another author's message does not belong to the app. */
    const char *said = answer_text(
        client_post(s.ada, "{'content': 'Hi'}", "/channels/%s/messages", s.test_guild.channel),
        "id");
    expect_error(use_component(&s, s.bob, said, press), 404, 10008);
    const char *other = make_application(s.ada, "Other");
    struct test_commands theirs = s;
    theirs.application = other;
    expect_error(use_component(&theirs, s.bob, m, press), 404, 10008);
    expect(interactions_received(&s) == 0);
}

/* VIEW_CHANNEL is enough. */
static void components_can_be_used_with_view_channel_only(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *m = send_components(&s, BUTTONS);

    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, allow, deny) values "
              "(%s, %s, 1, 0, %llu)",
              s.test_guild.channel, s.bob->id,
              BITS(PERMISSION(SEND_MESSAGES) | PERMISSION(USE_APPLICATION_COMMANDS)));
    expect_status(use_component(&s, s.bob, m, "'component_type': 2, 'custom_id': 'go'"), 204);
}

/* --- menus ---------------------------------------------------------------------------- */

static void select_menu_accepts_only_its_offered_values(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *m =
        send_components(&s, "{'type': 1, 'components': [{'type': 3, 'custom_id': 'pick', "
                            "'min_values': 1, 'max_values': 2, 'options': [{'label': 'A', 'value': "
                            "'a'}, {'label': 'B', 'value': 'b'}, {'label': 'C', 'value': 'c'}]}]}");
    static const char *const wrong[] = { "[]", "['a', 'b', 'c']", "['x']", "['a', 'a']" };

    expect_status(use_component(&s, s.bob, m,
                                "'component_type': 3, 'custom_id': 'pick', 'values': ['c', 'a']"),
                  204);
    expect_dom(&s, last_interaction(&s),
               "{'data': {'custom_id': 'pick', 'component_type': 3, 'values': ['c', 'a']}}");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_invalid(
            use_component(
                &s, s.bob, m,
                TEXT(w, "'component_type': 3, 'custom_id': 'pick', 'values': %s", wrong[i])),
            "data.values", FAILED);
}

static void select_menu_with_min_values_0_accepts_no_value(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *m = send_components(
        &s, "{'type': 1, 'components': [{'type': 5, 'custom_id': 'any', 'min_values': "
            "0}]}, {'type': 1, 'components': [{'type': 5, 'custom_id': 'one', "
            "'required': false}]}");

    expect_status(
        use_component(&s, s.bob, m, "'component_type': 5, 'custom_id': 'any', 'values': []"), 204);
    expect_dom(&s, last_interaction(&s), "{'data': {'values': []}}");
    expect(!dom_at(last_interaction(&s), "data.resolved"));
    /* The field required applies to modals only. */
    expect_invalid(
        use_component(&s, s.bob, m, "'component_type': 5, 'custom_id': 'one', 'values': []"),
        "data.values", FAILED);
}

static void entity_select_menus_contain_resolved_objects(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *role = make_role(s.ada, s.test_guild.id, "{'name': 'Crew'}");
    const char *m = send_components(
        &s, "{'type': 1, 'components': [{'type': 5, 'custom_id': 'u', 'max_values': "
            "2}]}, {'type': 1, 'components': [{'type': 6, 'custom_id': 'r'}]}, "
            "{'type': 1, 'components': [{'type': 7, 'custom_id': 'm', 'max_values': "
            "2}]}, {'type': 1, 'components': [{'type': 8, 'custom_id': 'c', "
            "'channel_types': [0]}]}");

    expect_status(
        use_component(&s, s.bob, m,
                      TEXT(w, "'component_type': 5, 'custom_id': 'u', 'values': ['%s', '%s']",
                           s.ada->id, s.bob->id)),
        204);
    expect_dom(
        &s, last_interaction(&s),
        "{'data': {'component_type': 5, 'values': ['%s', '%s'], 'resolved': {'users': {'%s': "
        "{'username': 'ada'}}, 'members': {'%s': {'roles': []}}}}}",
        s.ada->id, s.bob->id, s.ada->id, s.bob->id);
    expect_status(
        use_component(&s, s.bob, m,
                      TEXT(w, "'component_type': 6, 'custom_id': 'r', 'values': ['%s']", role)),
        204);
    expect_dom(&s, last_interaction(&s),
               "{'data': {'resolved': {'roles': {'%s': {'name': 'Crew'}}}}}", role);
    expect_status(
        use_component(&s, s.bob, m,
                      TEXT(w, "'component_type': 7, 'custom_id': 'm', 'values': ['%s', '%s']", role,
                           s.ada->id)),
        204);
    expect_dom(&s, last_interaction(&s),
               "{'data': {'resolved': {'roles': {'%s': {}}, 'users': {'%s': {}}}}}", role,
               s.ada->id);
    expect_status(use_component(&s, s.bob, m,
                                TEXT(w, "'component_type': 8, 'custom_id': 'c', 'values': ['%s']",
                                     s.test_guild.channel)),
                  204);
    expect_dom(&s, last_interaction(&s),
               "{'data': {'resolved': {'channels': {'%s': {'type': 0}}}}}", s.test_guild.channel);
    expect_invalid(use_component(&s, s.bob, m,
                                 TEXT(w, "'component_type': 6, 'custom_id': 'r', 'values': ['%s']",
                                      s.ada->id)),
                   "data.values", FAILED);
    expect_invalid(
        use_component(&s, s.bob, m, "'component_type': 5, 'custom_id': 'u', 'values': ['404']"),
        "data.values", FAILED);
}

/* --- components of responses ---------------------------------------------------------- */

static const char *respond_to_last_interaction(struct test_commands *s, const char *json)
{
    const struct dom *d = last_interaction(s);
    struct answer a = client_post(world_anonymous(s->world), json,
                                  "/interactions/%s/%s/callback?with_response=true",
                                  dom_text(s, d, "id"), dom_text(s, d, "token"));

    expect_status(a, 200);
    return a.json && dom_at(a.json, "resource.message.id") ? answer_text(a, "resource.message.id")
                                                           : "";
}

/* The owners are the same as for the command, also when another user presses the button. */
static void button_interaction_has_the_commands_authorizing_integration_owners(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "'integration_types': [1]");

    install_on(&s, s.bob);
    expect_status(roll(&s, s.bob, id, "%s", ""), 204);
    const char *m = respond_to_last_interaction(
        &s, TEXT(w, "{'type': 4, 'data': {'content': 'Choose', 'components': [%s]}}", BUTTONS));
    expect_status(use_component(&s, s.ada, m, "'component_type': 2, 'custom_id': 'go'"), 204);
    const struct dom *d = last_interaction(&s);
    expect_dom(&s, d,
               "{'authorizing_integration_owners': {'1': '%s'}, 'member': {'user': {'id': '%s'}}}",
               s.bob->id, s.ada->id);
    expect(!dom_at(d, "authorizing_integration_owners.0"));
}

static void components_of_ephemeral_messages_need_the_same_user(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "%s", "");

    expect_status(roll(&s, s.bob, id, "%s", ""), 204);
    const char *m = respond_to_last_interaction(
        &s, TEXT(w, "{'type': 4, 'data': {'content': 'Choose', 'flags': 64, 'components': [%s]}}",
                 BUTTONS));
    const char *press = "'component_type': 2, 'custom_id': 'go'";

    expect_error(use_component(&s, s.ada, m, press), 404, 10008);
    world_wait(w, 14 * 60);
    expect_status(use_component(&s, s.bob, m, press), 204);
    expect_dom(&s, last_interaction(&s), "{'message': {'id': '%s', 'flags': 64}}", m);
    /* Each use extends the message's lifetime. */
    world_wait(w, 14 * 60);
    expect_status(use_component(&s, s.bob, m, press), 204);
    world_wait(w, 16 * 60);
    world_settle(w);
    expect_error(use_component(&s, s.bob, m, press), 404, 10008);
}

const struct test interactions_components_tests[] = {
    TEST(pressing_a_button_sends_an_interaction_to_the_app),
    TEST(unknown_or_disabled_components_are_refused),
    TEST(components_can_be_used_with_view_channel_only),
    TEST(select_menu_accepts_only_its_offered_values),
    TEST(select_menu_with_min_values_0_accepts_no_value),
    TEST(entity_select_menus_contain_resolved_objects),
    TEST(button_interaction_has_the_commands_authorizing_integration_owners),
    TEST(components_of_ephemeral_messages_need_the_same_user),
    { 0 },
};
