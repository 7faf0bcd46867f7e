/* application_emojis.c - emojis of applications, and which emojis components may use. */
#include "apps.h"
#include "files.h"
#include "platform/guilds/guilds.h"
#include "test_guild.h"

#define EMOJIS "/applications/%s/emojis"
#define EMOJI  EMOJIS "/%s"
#define ONE    "{'name': 'one', 'image': '" PNG "'}"

struct emoji_app {
    struct client *ada, *bot;
    const char *app;
};

static struct emoji_app create_app_with_bot(struct world *w)
{
    struct emoji_app s = { .ada = world_client(w, "ada") };

    s.app = make_application(s.ada, "Helper");
    s.bot = application_bot(s.ada, s.app);
    return s;
}

static void bot_can_create_list_and_delete_application_emojis(struct world *w)
{
    struct emoji_app s = create_app_with_bot(w);
    struct answer a = client_post(s.bot, ONE, EMOJIS, s.app);

    expect_status(a, 201);
    const char *id = answer_text(a, "id");
    expect_json(a,
                "{'id': '%s', 'name': 'one', 'roles': [], 'user': {'id': '%s'}, 'managed': false, "
                "'require_colons': true, 'animated': false, 'available': true}",
                id, s.app);
    a = client_post(s.ada, "{'name': 'two', 'image': '" PNG "'}", EMOJIS, s.app);
    expect_json(a, "{'user': {'id': '%s'}}", s.ada->id);
    expect_json(client_get(s.bot, EMOJIS, s.app), "{'items': [{'id': '%s'}, {'name': 'two'}]}", id);
    expect_json(client_patch(s.bot, "{'name': 'uno'}", EMOJI, s.app, id), "{'name': 'uno'}");
    expect_json(client_get(s.bot, EMOJI, s.app, id), "{'name': 'uno'}");
    expect_status(client_request(s.bot, "GET", TEXT(w, "/emojis/%s.png", id), "", STR("")), 200);
    expect_status(client_delete(s.bot, EMOJI, s.app, id), 204);
    expect_error(client_get(s.bot, EMOJI, s.app, id), 404, 10014);
    expect_files(w, "emojis", 1);
}

static void application_emoji_names_must_be_unique(struct world *w)
{
    struct emoji_app s = create_app_with_bot(w);

    expect_status(client_post(s.bot, ONE, EMOJIS, s.app), 201);
    expect_invalid(client_post(s.bot, ONE, EMOJIS, s.app), "name",
                   "APPLICATION_EMOJI_NAME_ALREADY_TAKEN");
    struct answer a = client_post(s.bot, "{'name': 'ONE', 'image': '" PNG "'}", EMOJIS, s.app);
    expect_status(a, 201);
    expect_invalid(client_patch(s.bot, "{'name': 'one'}", EMOJI, s.app, answer_text(a, "id")),
                   "name", "APPLICATION_EMOJI_NAME_ALREADY_TAKEN");
    expect_status(client_patch(s.bot, "{'name': 'ONE'}", EMOJI, s.app, answer_text(a, "id")), 200);
}

static void application_emojis_require_access_to_the_application(struct world *w)
{
    struct emoji_app s = create_app_with_bot(w);
    struct client *eve = world_client(w, "eve");
    const char *other = make_application(eve, "Other");
    struct client *robot = application_bot(eve, other);
    struct answer a = client_post(s.bot, ONE, EMOJIS, s.app);

    expect_error(client_get(robot, EMOJIS, s.app), 403, 20012);
    expect_error(client_post(eve, ONE, EMOJIS, s.app), 403, 20012);
    expect_error(client_delete(robot, EMOJI, s.app, answer_text(a, "id")), 403, 20012);
    expect_error(client_get(robot, EMOJI, other, answer_text(a, "id")), 404, 10014);
}

static void application_is_limited_to_2000_emojis(struct world *w)
{
    struct emoji_app s = create_app_with_bot(w);

    for (int i = 0; i < 1999; i++)
        world_sql(w,
                  "insert into application_emojis (id, application_id, name, user_id) "
                  "values (%d, %s, 'e%d', %s)",
                  1000 + i, s.app, i, s.app);
    expect_status(client_post(s.bot, ONE, EMOJIS, s.app), 201);
    struct answer a = client_post(s.bot, "{'name': 'two', 'image': '" PNG "'}", EMOJIS, s.app);
    expect_error(a, 400, 30008);
    expect_json(a, "{'message': 'Maximum number of emojis reached (2000)'}");
    a = client_get(s.bot, EMOJIS, s.app);
    expect(dom_at(a.json, "items.1999") && !dom_at(a.json, "items.2000"));
    expect_status(client_post(s.ada, NULL, "/applications/%s/delete", s.app), 204);
    expect_files(w, "emojis", 0);
}

/* --- components ----------------------------------------------------------------------- */

static const char *write_button(struct world *w, const char *emoji)
{
    return TEXT(w,
                "{'components': [{'type': 1, 'components': [{'type': 2, 'style': 1, "
                "'custom_id': 'a', 'emoji': %s}]}]}",
                emoji);
}

static const char *write_emoji_button(struct world *w, const char *id)
{
    return write_button(w, TEXT(w, "{'id': '%s'}", id));
}

#define AT_ID   "components.0.components.0.emoji.id"
#define AT_NAME "components.0.components.0.emoji.name"
#define INVALID "BUTTON_COMPONENT_INVALID_EMOJI"

static void component_emoji_must_be_usable_by_the_sender(struct world *w)
{
    struct emoji_app s = create_app_with_bot(w);
    struct test_guild v = world_test_guild(w, s.ada),
                      other = world_test_guild(w, world_client(w, "eve"));
    const char *role = test_guild_role(&v, 1, 0);
    struct answer own = client_post(s.bot, ONE, EMOJIS, s.app);

    test_guild_add(&v, s.bot);
    world_sql(w, "insert into emojis (id, guild_id, name, animated) values (71, %s, 'here', 1)",
              v.id);
    world_sql(w,
              "insert into emojis (id, guild_id, name, roles) values (72, %s, 'some', '[\"%s\"]')",
              v.id, role);
    world_sql(w, "insert into emojis (id, guild_id, name) values (73, %s, 'there')", other.id);

    struct answer a =
        client_post(s.bot, write_emoji_button(w, "71"), "/channels/%s/messages", v.channel);
    expect_json(a, "{'components': [{'components': [{'emoji': {'id': '71', 'name': 'here', "
                   "'animated': true}}]}]}");
    expect_status(client_post(s.bot, write_emoji_button(w, answer_text(own, "id")),
                              "/channels/%s/messages", v.channel),
                  200);
    expect_status(client_post(s.bot, write_button(w, "{'name': '\xf0\x9f\x94\xa5'}"),
                              "/channels/%s/messages", v.channel),
                  200);
    expect_invalid(
        client_post(s.bot, write_button(w, "{'name': 'fire'}"), "/channels/%s/messages", v.channel),
        AT_NAME, INVALID);
    expect_invalid(
        client_post(s.bot, write_emoji_button(w, "72"), "/channels/%s/messages", v.channel), AT_ID,
        INVALID);
    test_guild_give(&v, s.bot, role);
    expect_status(
        client_post(s.bot, write_emoji_button(w, "72"), "/channels/%s/messages", v.channel), 200);
    expect_invalid(
        client_post(s.bot, write_emoji_button(w, "73"), "/channels/%s/messages", v.channel), AT_ID,
        INVALID);
    test_guild_add(&other, s.bot);
    expect_status(
        client_post(s.bot, write_emoji_button(w, "73"), "/channels/%s/messages", v.channel), 200);
    expect_invalid(client_patch(s.bot, write_emoji_button(w, "79"), "/channels/%s/messages/%s",
                                v.channel, answer_text(a, "id")),
                   AT_ID, INVALID);
}

const struct test application_emojis_tests[] = {
    TEST(bot_can_create_list_and_delete_application_emojis),
    TEST(application_emoji_names_must_be_unique),
    TEST(application_emojis_require_access_to_the_application),
    TEST(application_is_limited_to_2000_emojis),
    TEST(component_emoji_must_be_usable_by_the_sender),
    { 0 },
};
