/* guild_mfa.c - guilds that require MFA for moderators. */
#include "apps.h"
#include "channels.h"
#include "guilds.h"
#include "test_guild.h"

#define MFA "/guilds/%s/mfa"

static void set_mfa(struct world *w, const struct client *c, bool on)
{
    world_sql(w, "update users set mfa_enabled = %d where id = %s", on, c->id);
}

/* Creates ada's guild with mfa_level 1; ada has MFA. */
static struct server_loop create_mfa_guild(struct world *w, uint64_t perms)
{
    struct server_loop h = world_home(w, perms);

    set_mfa(w, h.ada, true);
    expect_status(client_post(h.ada, "{'level': 1}", MFA, h.guild), 200);
    return h;
}

static void only_an_owner_with_mfa_can_set_the_guilds_mfa_level(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(ADMINISTRATOR));

    expect_error(client_post(h.bob, "{'level': 1}", MFA, h.guild), 403, 50013);
    expect_error(client_post(h.ada, "{'level': 1}", MFA, h.guild), 403, 60003);
    set_mfa(w, h.bob, true);
    set_mfa(w, h.ada, true);
    expect_error(client_post(h.bob, "{'level': 1}", MFA, h.guild), 403, 50013);
    expect_invalid(client_post(h.ada, "{}", MFA, h.guild), "level", "BASE_TYPE_REQUIRED");
    expect_error(client_post(h.ada, "{'level': 2}", MFA, h.guild), 400, 50017);
    expect_error(client_post(h.ada, "{'level': -1}", MFA, h.guild), 400, 50017);
    expect_json(client_get(h.ada, "/guilds/%s", h.guild), "{'mfa_level': 0}");

    struct answer a = client_post(h.ada, "{'level': 1}", MFA, h.guild);
    expect_status(a, 200);
    expect_json(a, "{'level': 1}");
    expect_json(client_get(h.ada, "/guilds/%s", h.guild), "{'mfa_level': 1}");
    expect_json(client_get(h.ada, "/guilds/%s/audit-logs?limit=1", h.guild),
                "{'audit_log_entries': [{'action_type': 1, 'changes': [{'key': 'mfa_level', "
                "'old_value': 0, 'new_value': 1}]}]}");
    expect(dom_at(world_last_event(w, "GUILD_UPDATE"), "mfa_level") != NULL);
    expect_status(client_post(h.ada, "{'level': 0}", MFA, h.guild), 200);
    expect_json(client_get(h.ada, "/guilds/%s", h.guild), "{'mfa_level': 0}");
}

static void moderators_without_mfa_cannot_moderate(struct world *w)
{
    struct server_loop h =
        create_mfa_guild(w, PERMISSION(MANAGE_ROLES) | PERMISSION(MANAGE_NICKNAMES) |
                                PERMISSION(MANAGE_MESSAGES) | PERMISSION(KICK_MEMBERS));
    struct client *eve = world_client(w, "eve");
    const char *channel = make_channel(h.ada, h.guild, "{'name': 'room'}");
    const char *said =
        answer_text(client_post(h.ada, "{'content': 'x'}", "/channels/%s/messages", channel), "id");

    put_member(h.guild, eve);
    /* Permissions of the route, and those that a handler checks. */
    expect_error(client_post(h.bob, "{}", "/guilds/%s/roles", h.guild), 403, 60003);
    expect_error(client_delete(h.bob, "/guilds/%s/members/%s", h.guild, eve->id), 403, 60003);
    expect_error(client_delete(h.bob, "/channels/%s/messages/%s", channel, said), 403, 60003);
    expect_error(client_patch(h.bob, "{'flags': 4}", "/channels/%s/messages/%s", channel, said),
                 403, 60003);
    /* Missing permissions are refused with the usual error; actions without MFA requirement are
     * allowed. */
    expect_error(client_put(h.bob, "{}", "/guilds/%s/bans/%s", h.guild, eve->id), 403, 50013);
    expect_error(client_post(eve, "{}", "/guilds/%s/roles", h.guild), 403, 50013);
    expect_status(client_patch(h.bob, "{'nick': 'E'}", "/guilds/%s/members/%s", h.guild, eve->id),
                  200);
    expect_status(client_post(h.bob, "{'content': 'y'}", "/channels/%s/messages", channel), 200);
    set_mfa(w, h.bob, true);
    expect_status(client_delete(h.bob, "/channels/%s/messages/%s", channel, said), 204);
    expect_status(client_delete(h.bob, "/guilds/%s/members/%s", h.guild, eve->id), 204);
    /* The owner needs MFA, too. */
    set_mfa(w, h.ada, false);
    expect_error(client_patch(h.ada, "{'name': 'New'}", "/guilds/%s", h.guild), 403, 60003);
    expect_error(client_post(h.ada, "{'level': 0}", MFA, h.guild), 403, 60003);
    expect_status(client_get(h.ada, "/channels/%s/messages", channel), 200);
}

/* The overwrite gives a permission in one channel only. */
static void moderation_by_overwrite_permissions_requires_mfa_too(struct world *w)
{
    struct server_loop h = create_mfa_guild(w, 0);
    const char *channel = make_channel(h.ada, h.guild, "{'name': 'room'}");

    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, allow, deny) values (%s, %s, "
              "1, %llu, 0)",
              channel, h.bob->id, BITS(PERMISSION(MANAGE_CHANNELS)));
    expect_error(client_delete(h.bob, "/channels/%s", channel), 403, 60003);
    expect_error(client_post(h.bob, "{'name': 'x'}", "/guilds/%s/channels", h.guild), 403, 50013);
    set_mfa(w, h.bob, true);
    expect_status(client_delete(h.bob, "/channels/%s", channel), 200);
}

/* Another permission than the withheld one is missing. */
static void request_lacking_other_permissions_is_50013_not_mfa_required(struct world *w)
{
    struct server_loop h =
        create_mfa_guild(w, PERMISSION(MANAGE_MESSAGES) | PERMISSION(MANAGE_NICKNAMES));
    const char *channel = make_channel(h.ada, h.guild, "{'name': 'room'}");

    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, allow, deny) values (%s, %s, "
              "1, 0, %llu)",
              channel, h.bob->id, BITS(PERMISSION(SEND_MESSAGES)));
    expect_error(client_post(h.bob, "{'content': 'y'}", "/channels/%s/messages", channel), 403,
                 50013);
    expect_error(client_patch(h.bob, "{'nick': 'A'}", "/guilds/%s/members/%s", h.guild, h.ada->id),
                 403, 50013);
    expect_error(client_patch(h.bob, "{'roles': []}", "/guilds/%s/members/%s", h.guild, h.ada->id),
                 403, 50013);
    expect_error(client_delete(h.bob, "/guilds/%s", h.guild), 403, 50013);
    expect_error(client_delete(h.bob, "/channels/%s", channel), 403, 50013);
}

/* The guild of a webhook, of an invite and of a body are not in the path. */
static void mfa_is_required_on_routes_without_a_guild_id_in_the_path(struct world *w)
{
    struct server_loop h =
        create_mfa_guild(w, PERMISSION(MANAGE_WEBHOOKS) | PERMISSION(MANAGE_GUILD));
    const char *channel = make_channel(h.ada, h.guild, "{'name': 'room'}");
    const char *app = make_application(h.bob, "Helper");
    const char *hook =
        answer_text(client_post(h.ada, "{'name': 'h'}", "/channels/%s/webhooks", channel), "id");
    const char *code =
        answer_text(client_post(h.ada, "{}", "/channels/%s/invites", channel), "code");
    const char *install = "/oauth2/authorize?client_id=%s&scope=bot";
    const char *here = TEXT(w, "{'authorize': true, 'guild_id': '%s'}", h.guild);

    expect_error(client_delete(h.bob, "/webhooks/%s", hook), 403, 60003);
    expect_error(client_delete(h.bob, "/invites/%s", code), 403, 60003);
    expect_error(client_post(h.bob, here, install, app), 403, 60003);
    set_mfa(w, h.bob, true);
    expect_status(client_delete(h.bob, "/webhooks/%s", hook), 204);
    expect_status(client_delete(h.bob, "/invites/%s", code), 200);
    expect_status(client_post(h.bob, here, install, app), 200);
}

/* A bot has no MFA: its owner's counts, or that of its team's owner. */
static void bot_needs_mfa_of_its_applications_owner(struct world *w)
{
    struct server_loop h = create_mfa_guild(w, 0);
    const char *app = make_application(h.bob, "Helper");
    struct client *bot = application_bot(h.bob, app);

    put_member(h.guild, bot);
    put_role_on(h.guild, bot,
                make_role(h.ada, h.guild, "{'name': 'r', 'permissions': '268435456'}"));
    expect_error(client_post(bot, "{}", "/guilds/%s/roles", h.guild), 403, 60003);
    set_mfa(w, h.bob, true);
    expect_status(client_post(bot, "{}", "/guilds/%s/roles", h.guild), 200);
    const char *team = make_team(h.ada, "Team");
    world_sql(w, "update applications set team_id = %s where id = %s", team, app);
    set_mfa(w, h.bob, false);
    expect_status(client_post(bot, "{}", "/guilds/%s/roles", h.guild), 200);
    set_mfa(w, h.ada, false);
    expect_error(client_post(bot, "{}", "/guilds/%s/roles", h.guild), 403, 60003);
}

const struct test guild_mfa_tests[] = {
    TEST(only_an_owner_with_mfa_can_set_the_guilds_mfa_level),
    TEST(moderators_without_mfa_cannot_moderate),
    TEST(moderation_by_overwrite_permissions_requires_mfa_too),
    TEST(request_lacking_other_permissions_is_50013_not_mfa_required),
    TEST(mfa_is_required_on_routes_without_a_guild_id_in_the_path),
    TEST(bot_needs_mfa_of_its_applications_owner),
    { 0 },
};
