/* vanity.c - vanity URL codes of guilds. */
#include "guilds.h"
#include "test_guild.h"

#define VANITY "/guilds/%s/vanity-url"

static void insert_vanity_feature(struct world *w, const char *guild)
{
    world_sql(w, "update guilds set features = '[\"VANITY_URL\"]' where id = %s", guild);
}

static void vanity_code_can_be_set_used_and_removed(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    struct client *eve = world_client(w, "eve");
    struct audience auditors =
        audience_of_members_with_permission(id_of(h.guild), 0, PERMISSION(VIEW_AUDIT_LOG));

    insert_vanity_feature(w, h.guild);
    discard_received(w);
    expect_json(client_get(h.ada, VANITY, h.guild), "{'code': null, 'uses': 0}");
    expect_json(client_patch(h.ada, "{'code': 'Our-Place'}", VANITY, h.guild),
                "{'code': 'our-place', 'uses': 0}");
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 1, 'changes': [{'key': 'vanity_url_code', 'new_value': "
                    "'our-place'}]}");
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_UPDATE",
                    "{'vanity_url_code': 'our-place'}");
    expect_json(client_get(world_anonymous(w), "/invites/OUR-PLACE"),
                "{'code': 'our-place', 'type': 0, 'expires_at': null, 'guild': {'id': '%s'}, "
                "'channel': {'name': 'general'}}",
                h.guild);
    expect_absent(client_get(world_anonymous(w), "/invites/our-place"), "inviter");
    expect_json(client_post(eve, NULL, "/invites/our-place"), "{'new_member': true}");
    expect_json(client_post(eve, NULL, "/invites/our-place"), "{'new_member': false}");
    expect_json(client_get(h.ada, VANITY, h.guild), "{'code': 'our-place', 'uses': 1}");
    expect_error(client_delete(h.ada, "/invites/our-place"), 400, 50020);
    expect_json(client_patch(h.ada, "{'code': null}", VANITY, h.guild), "{'code': null}");
    expect_error(client_get(eve, "/invites/our-place"), 404, 10006);
}

/* Everyone can read the target of a vanity code. */
static void vanity_invite_shows_a_channel_visible_to_everyone(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    struct answer a = client_get(h.ada, "/guilds/%s/channels", h.guild);
    const char *general = answer_text(a, "2.id"), *open;

    insert_vanity_feature(w, h.guild);
    expect_status(client_patch(h.ada, "{'code': 'our-place'}", VANITY, h.guild), 200);
    expect_status(client_put(h.ada, "{'type': 0, 'deny': '1024'}", "/channels/%s/permissions/%s",
                             general, h.guild),
                  204);
    a = client_get(world_anonymous(w), "/invites/our-place");
    expect_json(a, "{'guild': {'id': '%s'}, 'channel': null}", h.guild);
    expect_json(client_post(world_client(w, "eve"), NULL, "/invites/our-place"),
                "{'new_member': true, 'channel': null}");
    open =
        answer_text(client_post(h.ada, "{'name': 'open'}", "/guilds/%s/channels", h.guild), "id");
    expect_json(client_get(world_anonymous(w), "/invites/our-place"), "{'channel': {'id': '%s'}}",
                open);
}

static void invalid_or_used_vanity_codes_are_refused(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_GUILD));
    const char *other = found_guild(h.bob, "Other"), *invite;
    struct answer a = client_get(h.ada, "/guilds/%s/channels", h.guild);

    expect_error(client_get(h.ada, VANITY, h.guild), 403, 50001);
    expect_error(client_patch(h.ada, "{'code': 'x1'}", VANITY, h.guild), 403, 50001);
    insert_vanity_feature(w, h.guild);
    insert_vanity_feature(w, other);
    expect_invalid(client_patch(h.ada, "{'code': 'x'}", VANITY, h.guild), "code",
                   "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_patch(h.ada, "{'code': 'a_b'}", VANITY, h.guild), "code",
                   "BASE_TYPE_CHOICES");
    expect_invalid(client_patch(h.ada, TEXT(w, "{'code': '%026d'}", 0), VANITY, h.guild), "code",
                   "BASE_TYPE_BAD_LENGTH");
    expect_status(client_patch(h.bob, "{'code': 'taken'}", VANITY, other), 200);
    expect_error(client_patch(h.ada, "{'code': 'TAKEN'}", VANITY, h.guild), 400, 50020);
    world_sql(w,
              "insert into invites (code, type, guild_id, channel_id, inviter_id, created_at, "
              "max_age, max_uses, uses, is_temporary) values ('abcdefgh', 0, %s, %s, %s, 1, 0, 0, "
              "0, 0)",
              h.guild, answer_text(a, "2.id"), h.ada->id);
    invite = "abcdefgh";
    expect_error(client_patch(h.ada, TEXT(w, "{'code': '%s'}", invite), VANITY, h.guild), 400,
                 50020);
    expect_status(client_delete(h.bob, "/guilds/%s", other), 204);
    expect_status(client_patch(h.ada, "{'code': 'taken'}", VANITY, h.guild), 200);
}

const struct test vanity_tests[] = {
    TEST(vanity_code_can_be_set_used_and_removed),
    TEST(vanity_invite_shows_a_channel_visible_to_everyone),
    TEST(invalid_or_used_vanity_codes_are_refused),
    { 0 },
};
