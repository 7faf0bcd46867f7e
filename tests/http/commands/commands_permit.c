/* commands_permit.c - who may use a command where, with all that the verdict depends on. */
#include <stdio.h>

#include "channels.h"
#include "test_commands.h"

#define REFUSED "INTERACTION_APPLICATION_COMMAND_INVALID_PERMISSIONS"

static struct answer roll_at(struct test_commands *s, struct client *by, const char *id,
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
    expect_status(roll_at(s, by, command, channel, (s)->test_guild.id), 204)
#define expect_may_not(s, by, command, channel) \
    expect_invalid(roll_at(s, by, command, channel, (s)->test_guild.id), "data", REFUSED)

enum { ROLE = 1, USER = 2, CHANNEL = 3 };

/* A row of a command, or of the application; the one there was before goes. */
static void row(struct test_commands *s, const char *target, const char *entity, int type, bool may)
{
    world_sql(s->world, "delete from command_permissions where target_id = %s and entity_id = %s",
              target, entity);
    world_sql(s->world,
              "insert into command_permissions (guild_id, target_id, entity_id, type, "
              "application_id, permission, position) values (%s, %s, %s, %d, %s, %d, 0)",
              s->test_guild.id, target, entity, type, s->application, may);
}

static void overwrite(struct test_commands *s, const char *channel, uint64_t allow, uint64_t deny)
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

static void rows_for_channels_close_and_open_commands(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "%s", ""), *here = s.test_guild.channel;
    const char *there = make_channel(s.ada, s.test_guild.id, "{'name': 'there'}");
    const char *all = TEXT(w, "%llu", BITS(id_of(s.test_guild.id) - 1));

    row(&s, id, here, CHANNEL, false);
    expect_may_not(&s, s.bob, id, here);
    expect_may(&s, s.bob, id, there);
    expect_may(&s, s.ada, id, here); /* the owner */
    /* No row for a person lifts it. */
    row(&s, id, s.bob->id, USER, true);
    expect_may_not(&s, s.bob, id, here);
    /* All channels but one. */
    row(&s, id, all, CHANNEL, false);
    row(&s, id, here, CHANNEL, true);
    expect_may(&s, s.bob, id, here);
    expect_may_not(&s, s.bob, id, there);
    /* The command's rows come before the application's. */
    row(&s, s.application, here, CHANNEL, false);
    row(&s, s.application, there, CHANNEL, true);
    expect_may(&s, s.bob, id, here);
    expect_may_not(&s, s.bob, id, there);
    world_sql(w, "delete from command_permissions where target_id = %s", id);
    expect_may_not(&s, s.bob, id, here);
    expect_may(&s, s.bob, id, there);
}

static void rows_for_roles_say_who_may_use_commands(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "'default_member_permissions': '8192'");
    const char *here = s.test_guild.channel, *everyone = s.test_guild.id;
    const char *one = test_guild_role(&s.test_guild, 1, 0),
               *two = test_guild_role(&s.test_guild, 2, 0);

    test_guild_give(&s.test_guild, s.bob, one);
    test_guild_give(&s.test_guild, s.bob, two);
    expect_may_not(&s, s.bob, id, here);
    /* The application's rows do not lift what the command asks for, its own do. */
    row(&s, s.application, one, ROLE, true);
    expect_may_not(&s, s.bob, id, here);
    row(&s, id, everyone, ROLE, true);
    expect_may(&s, s.bob, id, here);
    /* Roles come before everyone; one that may is enough. */
    row(&s, id, one, ROLE, false);
    expect_may_not(&s, s.bob, id, here);
    row(&s, id, two, ROLE, true);
    expect_may(&s, s.bob, id, here);
    row(&s, id, s.bob->id, USER, false);
    expect_may_not(&s, s.bob, id, here);
    expect_may(&s, s.ada, id, here);
}

static void threads_follow_their_channel_in_rows_of_commands(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "%s", ""),
               *adults = make_global_command(&s, "'nsfw': true");
    const char *thread = make_thread(&s);

    expect_may(&s, s.bob, id, thread);
    row(&s, id, s.test_guild.channel, CHANNEL, false);
    expect_may_not(&s, s.bob, id, thread);
    world_sql(w, "delete from command_permissions");
    /* What counts in a thread is the right to speak in threads. */
    overwrite(&s, s.test_guild.channel, 0, PERMISSION(SEND_MESSAGES));
    expect_may_not(&s, s.bob, id, s.test_guild.channel);
    expect_may(&s, s.bob, id, thread);
    world_sql(w, "update overwrites set deny = %llu", BITS(PERMISSION(SEND_MESSAGES_IN_THREADS)));
    expect_may_not(&s, s.bob, id, thread);
    world_sql(w, "delete from overwrites");
    /* A channel for adults has threads for adults. */
    world_sql(w, "update users set date_of_birth = '1990-01-01'");
    expect_may_not(&s, s.ada, adults, thread);
    world_sql(w, "update channels set nsfw = 1 where id = %s", s.test_guild.channel);
    expect_may(&s, s.ada, adults, thread);
    /* Nobody uses commands in what is archived. */
    expect_status(client_patch(s.ada, "{'archived': true}", "/channels/%s", thread), 200);
    snprintf(s.test_guild.channel, sizeof s.test_guild.channel, "%s", thread);
    expect_error(roll(&s, s.ada, id, "%s", ""), 400, 50083);
}

static void members_in_time_out_use_no_commands(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    struct client *cleo = world_client(w, "cleo");
    const char *id = make_global_command(&s, "%s", ""), *here = s.test_guild.channel;

    row(&s, id, s.bob->id, USER, true);
    world_sql(w, "update members set timed_out_until = 4102444800000000");
    expect_may_not(&s, s.bob, id, here);
    expect_may(&s, s.ada, id, here);
    /* Administrators stay free, of rows too. */
    test_guild_add_with(&s.test_guild, cleo, 3, PERMISSION(ADMINISTRATOR));
    world_sql(w, "update members set timed_out_until = 4102444800000000");
    row(&s, id, cleo->id, USER, false);
    row(&s, id, here, CHANNEL, false);
    expect_may(&s, cleo, id, here);
}

static void an_app_of_ones_own_needs_no_right_to_send(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "'integration_types': [1]"),
               *here = s.test_guild.channel;

    install_on(&s, s.bob);
    overwrite(&s, here, 0, PERMISSION(SEND_MESSAGES));
    expect_may(&s, s.bob, id, here);
    world_sql(w, "update overwrites set deny = %llu", BITS(PERMISSION(USE_APPLICATION_COMMANDS)));
    expect_may_not(&s, s.bob, id, here);
}

/* Whether the guild has the app or not: what it says holds for everything that is used there. */
static void a_guilds_rules_hold_for_apps_of_ones_own(struct world *w)
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
        row(&s, latched, s.bob->id, USER, true);
        expect_may(&s, s.bob, latched, here);
        row(&s, id, s.bob->id, USER, false);
        expect_may_not(&s, s.bob, id, here);
        world_sql(w, "delete from command_permissions");
        row(&s, s.application, s.test_guild.id, ROLE, false);
        expect_may_not(&s, s.bob, id, here);
        world_sql(w, "delete from command_permissions");
        row(&s, id, here, CHANNEL, false);
        expect_may_not(&s, s.bob, id, here);
        world_sql(w, "delete from integrations");
    }
}

static void age_restricted_commands_in_private_are_for_the_bots_own_channel(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "'nsfw': true");
    const char *own = talk_to(s.bob, s.bot->id);

    install_on(&s, s.bob);
    make_friends(s.ada, s.bob);
    const char *other = talk_to(s.bob, s.ada->id);
    world_sql(w, "update users set date_of_birth = '1990-01-01'");
    expect_invalid(roll_at(&s, s.bob, id, own, NULL), "data", REFUSED);
    expect_status(client_patch(s.bob, "{'view_nsfw_commands': true}", "/users/@me/settings"), 200);
    expect_status(roll_at(&s, s.bob, id, own, NULL), 204);
    expect_invalid(roll_at(&s, s.bob, id, other, NULL), "data", REFUSED);
    world_sql(w, "update users set date_of_birth = '2020-01-01'");
    expect_invalid(roll_at(&s, s.bob, id, own, NULL), "data", REFUSED);
}

const struct test commands_permit_tests[] = {
    TEST(rows_for_channels_close_and_open_commands),
    TEST(rows_for_roles_say_who_may_use_commands),
    TEST(threads_follow_their_channel_in_rows_of_commands),
    TEST(members_in_time_out_use_no_commands),
    TEST(an_app_of_ones_own_needs_no_right_to_send),
    TEST(a_guilds_rules_hold_for_apps_of_ones_own),
    TEST(age_restricted_commands_in_private_are_for_the_bots_own_channel),
    { 0 },
};
