/* access_checks.c - all inputs of the decision whether a member may use a command in a channel. */
#include <stdio.h>

#include "channels.h"
#include "test_commands.h"

#define REFUSED "INTERACTION_APPLICATION_COMMAND_INVALID_PERMISSIONS"

static struct answer invoke_roll_in(struct test_commands *s, struct client *by, const char *id,
                                    const char *channel, const char *guild)
{
    return client_post(by,
                       TEXT(s->world,
                            "{'type': 2, 'application_id': '%s', 'channel_id': '%s', %s"
                            "'data': {'id': '%s', 'version': '%s', 'name': 'roll', 'type': 1}}",
                            s->application, channel,
                            guild ? TEXT(s->world, "'guild_id': '%s', ", guild) : "", id, id),
                       "/interactions");
}

#define expect_may(s, by, command, channel) \
    expect_status(invoke_roll_in(s, by, command, channel, (s)->test_guild.id), 204)
#define expect_may_not(s, by, command, channel) \
    expect_invalid(invoke_roll_in(s, by, command, channel, (s)->test_guild.id), "data", REFUSED)

enum { ROLE = 1, USER = 2, CHANNEL = 3 };

/* Replaces a permission row of a command or application. */
static void set_command_permission_row(struct test_commands *s, const char *target,
                                       const char *entity, int type, bool may)
{
    world_sql(s->world, "delete from command_permissions where target_id = %s and entity_id = %s",
              target, entity);
    world_sql(s->world,
              "insert into command_permissions (guild_id, target_id, entity_id, type, "
              "application_id, permission, position) values (%s, %s, %s, %d, %s, %d, 0)",
              s->test_guild.id, target, entity, type, s->application, may);
}

static void insert_channel_overwrite_row(struct test_commands *s, const char *channel,
                                         uint64_t allow, uint64_t deny)
{
    world_sql(s->world,
              "insert into overwrites (channel_id, target_id, type, allow, deny) values "
              "(%s, %s, 1, %llu, %llu)",
              channel, s->bob->id, BITS(allow), BITS(deny));
}

static const char *make_thread(struct test_commands *s)
{
    struct answer a = client_post(s->ada, "{'name': 'side', 'type': 11}", "/channels/%s/threads",
                                  s->test_guild.channel);

    expect_status(a, 201);
    return answer_text(a, "id");
}

static void channel_permissions_of_commands_allow_or_deny_channels(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "%s", ""), *here = s.test_guild.channel;
    const char *there = make_channel(s.ada, s.test_guild.id, "{'name': 'there'}");
    const char *all = TEXT(w, "%llu", BITS(id_of(s.test_guild.id) - 1));

    set_command_permission_row(&s, id, here, CHANNEL, false);
    expect_may_not(&s, s.bob, id, here);
    expect_may(&s, s.bob, id, there);
    expect_may(&s, s.ada, id, here); /* the owner */
    /* A user permission does not override a channel permission. */
    set_command_permission_row(&s, id, s.bob->id, USER, true);
    expect_may_not(&s, s.bob, id, here);
    /* All channels but one. */
    set_command_permission_row(&s, id, all, CHANNEL, false);
    set_command_permission_row(&s, id, here, CHANNEL, true);
    expect_may(&s, s.bob, id, here);
    expect_may_not(&s, s.bob, id, there);
    /* Permissions of the command override those of the application. */
    set_command_permission_row(&s, s.application, here, CHANNEL, false);
    set_command_permission_row(&s, s.application, there, CHANNEL, true);
    expect_may(&s, s.bob, id, here);
    expect_may_not(&s, s.bob, id, there);
    world_sql(w, "delete from command_permissions where target_id = %s", id);
    expect_may_not(&s, s.bob, id, here);
    expect_may(&s, s.bob, id, there);
}

static void role_permissions_of_commands_override_everyone(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "'default_member_permissions': '8192'");
    const char *here = s.test_guild.channel, *everyone = s.test_guild.id;
    const char *one = test_guild_role(&s.test_guild, 1, 0),
               *two = test_guild_role(&s.test_guild, 2, 0);

    test_guild_give(&s.test_guild, s.bob, one);
    test_guild_give(&s.test_guild, s.bob, two);
    expect_may_not(&s, s.bob, id, here);
    /* Permissions of the application do not override the command's default; its own do. */
    set_command_permission_row(&s, s.application, one, ROLE, true);
    expect_may_not(&s, s.bob, id, here);
    set_command_permission_row(&s, id, everyone, ROLE, true);
    expect_may(&s, s.bob, id, here);
    /* Roles override @everyone; one allowing role is enough. */
    set_command_permission_row(&s, id, one, ROLE, false);
    expect_may_not(&s, s.bob, id, here);
    set_command_permission_row(&s, id, two, ROLE, true);
    expect_may(&s, s.bob, id, here);
    set_command_permission_row(&s, id, s.bob->id, USER, false);
    expect_may_not(&s, s.bob, id, here);
    expect_may(&s, s.ada, id, here);
}

static void threads_use_the_command_permissions_of_their_channel(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "%s", ""),
               *adults = make_global_command(&s, "'nsfw': true");
    const char *thread = make_thread(&s);

    expect_may(&s, s.bob, id, thread);
    set_command_permission_row(&s, id, s.test_guild.channel, CHANNEL, false);
    expect_may_not(&s, s.bob, id, thread);
    world_sql(w, "delete from command_permissions");
    /* In threads SEND_MESSAGES_IN_THREADS is required. */
    insert_channel_overwrite_row(&s, s.test_guild.channel, 0, PERMISSION(SEND_MESSAGES));
    expect_may_not(&s, s.bob, id, s.test_guild.channel);
    expect_may(&s, s.bob, id, thread);
    world_sql(w, "update overwrites set deny = %llu", BITS(PERMISSION(SEND_MESSAGES_IN_THREADS)));
    expect_may_not(&s, s.bob, id, thread);
    world_sql(w, "delete from overwrites");
    /* Threads of an age-restricted channel are age-restricted. */
    world_sql(w, "update users set date_of_birth = '1990-01-01'");
    expect_may_not(&s, s.ada, adults, thread);
    world_sql(w, "update channels set nsfw = 1 where id = %s", s.test_guild.channel);
    expect_may(&s, s.ada, adults, thread);
    /* Commands cannot be used in archived threads. */
    expect_status(client_patch(s.ada, "{'archived': true}", "/channels/%s", thread), 200);
    snprintf(s.test_guild.channel, sizeof s.test_guild.channel, "%s", thread);
    expect_error(roll(&s, s.ada, id, "%s", ""), 400, 50083);
}

static void timed_out_members_cannot_use_commands(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct client *cleo = world_client(w, "cleo");
    const char *id = make_global_command(&s, "%s", ""), *here = s.test_guild.channel;

    set_command_permission_row(&s, id, s.bob->id, USER, true);
    world_sql(w, "update members set timed_out_until = 4102444800000000");
    expect_may_not(&s, s.bob, id, here);
    expect_may(&s, s.ada, id, here);
    /* Administrators are exempt from time-outs and permission rows. */
    test_guild_add_with(&s.test_guild, cleo, 3, PERMISSION(ADMINISTRATOR));
    world_sql(w, "update members set timed_out_until = 4102444800000000");
    set_command_permission_row(&s, id, cleo->id, USER, false);
    set_command_permission_row(&s, id, here, CHANNEL, false);
    expect_may(&s, cleo, id, here);
}

static void user_installed_app_does_not_require_send_messages(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "'integration_types': [1]"),
               *here = s.test_guild.channel;

    install_on(&s, s.bob);
    insert_channel_overwrite_row(&s, here, 0, PERMISSION(SEND_MESSAGES));
    expect_may(&s, s.bob, id, here);
    world_sql(w, "update overwrites set deny = %llu", BITS(PERMISSION(USE_APPLICATION_COMMANDS)));
    expect_may_not(&s, s.bob, id, here);
}

/* The guild's permissions apply with and without the app in the guild. */
static void guild_command_permissions_apply_to_user_installed_apps(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "'integration_types': [1]");
    const char *latched =
        make_global_command(&s, "'integration_types': [0, 1], 'default_member_permissions': '0'");
    const char *here = s.test_guild.channel;

    install_on(&s, s.bob);
    install_on(&s, s.ada);
    for (int i = 0; i < 2; i++) {
        world_sql(w, "delete from command_permissions");
        expect_may(&s, s.bob, id, here);
        expect_may_not(&s, s.bob, latched, here);
        expect_may(&s, s.ada, latched, here); /* the owner */
        set_command_permission_row(&s, latched, s.bob->id, USER, true);
        expect_may(&s, s.bob, latched, here);
        set_command_permission_row(&s, id, s.bob->id, USER, false);
        expect_may_not(&s, s.bob, id, here);
        world_sql(w, "delete from command_permissions");
        set_command_permission_row(&s, s.application, s.test_guild.id, ROLE, false);
        expect_may_not(&s, s.bob, id, here);
        world_sql(w, "delete from command_permissions");
        set_command_permission_row(&s, id, here, CHANNEL, false);
        expect_may_not(&s, s.bob, id, here);
        world_sql(w, "delete from integrations");
    }
}

static void nsfw_command_outside_guilds_needs_a_dm_with_the_bot(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "'nsfw': true");
    const char *own = talk_to(s.bob, s.bot->id);

    install_on(&s, s.bob);
    make_friends(s.ada, s.bob);
    const char *other = talk_to(s.bob, s.ada->id);
    world_sql(w, "update users set date_of_birth = '1990-01-01'");
    expect_invalid(invoke_roll_in(&s, s.bob, id, own, NULL), "data", REFUSED);
    expect_status(client_patch(s.bob, "{'view_nsfw_commands': true}", "/users/@me/settings"), 200);
    expect_status(invoke_roll_in(&s, s.bob, id, own, NULL), 204);
    expect_invalid(invoke_roll_in(&s, s.bob, id, other, NULL), "data", REFUSED);
    world_sql(w, "update users set date_of_birth = '2020-01-01'");
    expect_invalid(invoke_roll_in(&s, s.bob, id, own, NULL), "data", REFUSED);
}

const struct test commands_access_checks_tests[] = {
    TEST(channel_permissions_of_commands_allow_or_deny_channels),
    TEST(role_permissions_of_commands_override_everyone),
    TEST(threads_use_the_command_permissions_of_their_channel),
    TEST(timed_out_members_cannot_use_commands),
    TEST(user_installed_app_does_not_require_send_messages),
    TEST(guild_command_permissions_apply_to_user_installed_apps),
    TEST(nsfw_command_outside_guilds_needs_a_dm_with_the_bot),
    { 0 },
};
