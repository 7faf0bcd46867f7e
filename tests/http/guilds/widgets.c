/* widgets.c - guild widgets. */
#include <string.h>

#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"

#define WIDGET "/guilds/%s/widget"

static void enabled_widget_shows_channels_and_online_members(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    struct audience auditors =
        audience_of_members_with_permission(id_of(h.guild), 0, PERMISSION(VIEW_AUDIT_LOG));
    struct answer a = client_get(h.ada, "/guilds/%s/channels", h.guild);
    const char *text = answer_text(a, "2.id"), *voice = answer_text(a, "3.id");

    expect_json(client_get(h.bob, WIDGET, h.guild), "{'enabled': false, 'channel_id': null}");
    expect_error(client_get(world_anonymous(w), WIDGET ".json", h.guild), 403, 50004);
    expect_error(client_get(world_anonymous(w), WIDGET ".png", h.guild), 403, 50004);
    discard_received(w);
    expect_json(client_patch(h.bob, TEXT(w, "{'enabled': true, 'channel_id': '%s'}", text), WIDGET,
                             h.guild),
                "{'enabled': true, 'channel_id': '%s'}", text);
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 40}");
    expect_received(w,
                    audience_of_members_with_permission(id_of(h.guild), id_of(text),
                                                        PERMISSION(MANAGE_CHANNELS)),
                    "INVITE_CREATE", "{'channel_id': '%s', 'max_age': 0}", text);
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 1}");
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_UPDATE",
                    "{'widget_enabled': true, 'widget_channel_id': '%s'}", text);
    expect_nothing_received(w);
    client_connect(h.ada);
    a = client_get(world_anonymous(w), WIDGET ".json", h.guild);
    expect_json(a,
                "{'id': '%s', 'name': 'The Guild', 'presence_count': 1, 'channels': [{'id': '%s', "
                "'name': 'General', 'position': 0}], 'members': [{'id': '0', 'username': 'ada', "
                "'discriminator': '0000', 'avatar': null, 'status': 'online'}]}",
                h.guild, voice);
    expect(strstr(answer_text(a, "instant_invite"), "/invite/"));
    expect(strstr(answer_text(a, "members.0.avatar_url"), "/embed/avatars/"));
    expect_absent(a, "members.0.channel_id");
    /* Channels hidden from @everyone are omitted. */
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, allow, deny) values (%s, %s, "
              "0, 0, %llu)",
              voice, h.guild, BITS(PERMISSION(CONNECT)));
    a = client_get(world_anonymous(w), WIDGET ".json", h.guild);
    expect_absent(a, "channels.0");
    a = client_get(world_anonymous(w), WIDGET ".png?style=banner1", h.guild);
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "image/png"));
    expect(!memcmp(a.body.p + 16, "\0\0\1\x40\0\0\0\x4c", 8));
    expect_invalid(client_get(world_anonymous(w), WIDGET ".png?style=x", h.guild), "style",
                   "BASE_TYPE_CHOICES");
}

static void invalid_widget_requests_are_refused(struct world *w)
{
    struct server_loop h = world_home(w, 0);

    expect_error(client_get(h.bob, WIDGET, h.guild), 403, 50013);
    expect_error(client_patch(h.bob, "{}", WIDGET, h.guild), 403, 50013);
    expect_error(client_get(world_anonymous(w), WIDGET ".json", "5"), 404, 10004);
    expect_invalid(client_patch(h.ada, "{'channel_id': '5'}", WIDGET, h.guild), "channel_id",
                   "BASE_TYPE_CHOICES");
}

/* The widget shows its invite to everyone: an invite that gives roles or more is not used. */
static void widget_does_not_use_invites_that_give_roles(struct world *w)
{
    struct ranks h = world_ranks(w, 0);
    const char *text = answer_text(client_get(h.ada, "/guilds/%s/channels", h.guild), "2.id");
    const char *more[] = { TEXT(w, "'role_ids': ['%s']", h.high), "'flags': 8", NULL }, *plain;

    world_sql(w, "update guilds set widget_enabled = 1, widget_channel_id = %s where id = %s", text,
              h.guild);
    for (size_t i = 0; more[i]; i++)
        expect_status(client_post(h.ada, TEXT(w, "{'max_age': 0, %s}", more[i]),
                                  "/channels/%s/invites", text),
                      200);
    plain = answer_text(
        client_post(h.ada, "{'max_age': 0, 'unique': true}", "/channels/%s/invites", text), "code");
    world_sql(w, "update invites set targets = '[\"5\"]' where code = '%s'", plain);
    expect_json(client_get(world_anonymous(w), WIDGET ".json", h.guild),
                "{'instant_invite': null}");
    plain = answer_text(
        client_post(h.ada, "{'max_age': 0, 'unique': true}", "/channels/%s/invites", text), "code");
    expect(strstr(
        answer_text(client_get(world_anonymous(w), WIDGET ".json", h.guild), "instant_invite"),
        plain));
}

const struct test widgets_tests[] = {
    TEST(enabled_widget_shows_channels_and_online_members),
    TEST(widget_does_not_use_invites_that_give_roles),
    TEST(invalid_widget_requests_are_refused),
    { 0 },
};
