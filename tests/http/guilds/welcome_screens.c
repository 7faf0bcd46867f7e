/* welcome_screens.c - welcome screens of guilds. */
#include "guilds.h"
#include "test_guild.h"

#define SCREEN "/guilds/%s/welcome-screen"

static const char *create_text_channel(struct client *c, const char *guild)
{
    return answer_text(client_post(c, "{'name': 'rules'}", "/guilds/%s/channels", guild), "id");
}

static void welcome_screen_can_be_set_shown_and_disabled(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    const char *channel = create_text_channel(h.ada, h.guild), *code;
    struct audience auditors =
        audience_of_members_with_permission(id_of(h.guild), 0, PERMISSION(VIEW_AUDIT_LOG));

    expect_error(client_get(h.ada, SCREEN, h.guild), 404, 10069);
    discard_received(w);
    expect_json(client_patch(h.ada,
                             TEXT(w,
                                  "{'description': 'Hello', 'enabled': true, 'welcome_channels': "
                                  "[{'channel_id': '%s', 'description': 'Read', 'emoji_name': "
                                  "'\xf0\x9f\x94\xa5'}]}",
                                  channel),
                             SCREEN, h.guild),
                "{'description': 'Hello', 'welcome_channels': [{'channel_id': '%s', 'description': "
                "'Read', 'emoji_id': null, 'emoji_name': '\xf0\x9f\x94\xa5'}]}",
                channel);
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 1}");
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_UPDATE",
                    "{'features': ['WELCOME_SCREEN_ENABLED']}");
    expect_nothing_received(w);
    expect_json(client_get(h.bob, SCREEN, h.guild), "{'description': 'Hello'}");
    code = answer_text(client_post(h.ada, "{}", "/channels/%s/invites", channel), "code");
    expect_json(client_get(world_anonymous(w), "/invites/%s", code),
                "{'guild': {'welcome_screen': {'welcome_channels': [{'channel_id': '%s'}]}}}",
                channel);
    /* A disabled screen is visible to managers only and absent from invites. */
    expect_status(client_patch(h.ada, "{'enabled': false, 'description': null}", SCREEN, h.guild),
                  200);
    expect_error(client_get(h.bob, SCREEN, h.guild), 403, 50013);
    expect_json(client_get(h.ada, SCREEN, h.guild), "{'description': null}");
    expect_absent(client_get(h.ada, "/invites/%s", code), "guild.welcome_screen");
    expect_json(client_get(h.ada, "/guilds/%s", h.guild), "{'features': []}");
    expect_status(client_delete(h.ada, "/channels/%s", channel), 200);
    expect_json(client_get(h.ada, SCREEN, h.guild), "{'welcome_channels': []}");
}

static void invalid_welcome_screens_are_refused(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    const char *channel = create_text_channel(h.ada, h.guild);

    expect_error(client_patch(h.bob, "{}", SCREEN, h.guild), 403, 50013);
    expect_invalid(client_patch(h.ada, TEXT(w, "{'description': '%0141d'}", 0), SCREEN, h.guild),
                   "description", "BASE_TYPE_MAX_LENGTH");
    expect_invalid(client_patch(h.ada,
                                "{'welcome_channels': [{'channel_id': '5', 'description': "
                                "'x'}]}",
                                SCREEN, h.guild),
                   "welcome_channels.0.channel_id", "BASE_TYPE_CHOICES");
    expect_invalid(client_patch(h.ada,
                                TEXT(w,
                                     "{'welcome_channels': [{'channel_id': '%s', 'description': "
                                     "'x', 'emoji_id': '5'}]}",
                                     channel),
                                SCREEN, h.guild),
                   "welcome_channels.0.emoji_id", "BASE_TYPE_CHOICES");
    expect_invalid(client_patch(h.ada,
                                TEXT(w,
                                     "{'welcome_channels': [{'channel_id': '%s', "
                                     "'description': '%051d'}]}",
                                     channel, 0),
                                SCREEN, h.guild),
                   "welcome_channels.0.description", "BASE_TYPE_BAD_LENGTH");
    expect(world_number(w, "select count(*) from guild_welcome_screens") == 0);
}

const struct test welcome_screens_tests[] = {
    TEST(welcome_screen_can_be_set_shown_and_disabled),
    TEST(invalid_welcome_screens_are_refused),
    { 0 },
};
