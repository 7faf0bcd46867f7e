/* request_checks.c - errors of POST /interactions, in the order of the checks. */
#include "test_commands.h"

#include "channels.h"

#define INVALID     "INTERACTION_APPLICATION_COMMAND_INVALID"
#define VERSION     "INTERACTION_APPLICATION_COMMAND_INVALID_VERSION"
#define PERMISSIONS "INTERACTION_APPLICATION_COMMAND_INVALID_PERMISSIONS"

/* --- body ----------------------------------------------------------------------------- */

static void invalid_interaction_bodies_are_refused_first(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    static const struct {
        const char *body, *path, *code;
    } cases[] = {
        { "{}", "type", "BASE_TYPE_REQUIRED" },
        { "{}", "application_id", "BASE_TYPE_REQUIRED" },
        { "{}", "channel_id", "BASE_TYPE_REQUIRED" },
        { "{}", "data", "BASE_TYPE_REQUIRED" },
        { "{'type': 1}", "type", "BASE_TYPE_CHOICES" },
        { "{'type': 6}", "type", "BASE_TYPE_CHOICES" },
        { "{'type': 2, 'data': {}}", "data.id", "BASE_TYPE_REQUIRED" },
        { "{'type': 2, 'data': {}}", "data.name", "BASE_TYPE_REQUIRED" },
        { "{'type': 4, 'data': {}}", "data.version", "BASE_TYPE_REQUIRED" },
        { "{'type': 3, 'data': {}}", "message_id", "BASE_TYPE_REQUIRED" },
        { "{'type': 3, 'data': {}}", "data.custom_id", "BASE_TYPE_REQUIRED" },
        { "{'type': 3, 'data': {}}", "data.component_type", "BASE_TYPE_REQUIRED" },
        { "{'type': 5, 'data': {}}", "data.id", "BASE_TYPE_REQUIRED" },
        { "{'type': 5, 'data': {}}", "data.components", "BASE_TYPE_REQUIRED" },
        { "{'data': []}", "data", "MODEL_TYPE_CONVERT" },
        { "{'data': {'options': {}}}", "data.options", "LIST_TYPE_CONVERT" },
        { "{'data': {'options': [{'type': 3}]}}", "data.options.0.name", "BASE_TYPE_REQUIRED" },
        { "{'nonce': '01234567890123456789012345'}", "nonce", "NONCE_TYPE_INVALID" },
        { "{'nonce': 1.5}", "nonce", "NONCE_TYPE_INVALID" },
        { "{'nonce': []}", "nonce", "NONCE_TYPE_INVALID" },
        { "{'channel_id': 'x'}", "channel_id", "NUMBER_TYPE_COERCE" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_invalid(client_post(s.bob, cases[i].body, "/interactions"), cases[i].path,
                       cases[i].code);
    expect_error(client_post(s.bob, "{", "/interactions"), 400, 50109);
}

static void only_users_can_create_interactions(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *roll_id = make_global_command(&s, "%s", "");

    expect_error(roll(&s, s.bot, roll_id, "%s", ""), 403, 20001);
    expect_error(roll(&s, world_anonymous(w), roll_id, "%s", ""), 401, 0);
    expect(interactions_received(&s) == 0);
}

/* --- channel -------------------------------------------------------------------------- */

static struct answer invoke_in_channel(struct test_commands *s, struct client *by,
                                       const char *channel, const char *guild,
                                       const char *application, const char *command)
{
    return client_post(by,
                       TEXT(s->world,
                            "{'type': 2, 'application_id': '%s', 'channel_id': '%s'%s%s%s, 'data': "
                            "{'id': '%s', 'version': '%s', 'name': 'roll'}}",
                            application, channel, guild ? ", 'guild_id': '" : "",
                            guild ? guild : "", guild ? "'" : "", command, command),
                       "/interactions");
}

static void interaction_channel_must_exist_and_be_visible(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "%s", ""), *channel = s.test_guild.channel,
               *guild = s.test_guild.id;
    struct client *cat = world_client(w, "cat");

    /* The channel is checked before application and command. */
    expect_error(invoke_in_channel(&s, s.bob, "404", guild, "404", "404"), 404, 10003);
    expect_error(invoke_in_channel(&s, cat, channel, guild, "404", "404"), 403, 50001);
    expect_error(invoke_in_channel(&s, s.bob, channel, "404", "404", "404"), 404, 10004);
    expect_invalid(invoke_in_channel(&s, s.bob, channel, NULL, "404", "404"), "guild_id",
                   "BASE_TYPE_REQUIRED");
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, allow, deny) values "
              "(%s, %s, 1, 0, %llu)",
              channel, s.bob->id, BITS(PERMISSION(VIEW_CHANNEL)));
    expect_error(invoke_in_channel(&s, s.bob, channel, guild, s.application, id), 403, 50001);
    expect_status(invoke_in_channel(&s, s.ada, channel, guild, s.application, id), 204);
    /* Categories have no messages. */
    const char *category = make_channel(s.ada, guild, "{'name': 'Rooms', 'type': 4}");
    expect_error(invoke_in_channel(&s, s.ada, category, guild, s.application, id), 400, 50008);
    /* A private channel has no guild. */
    struct answer dm =
        client_post(s.ada, TEXT(w, "{'recipient_id': '%s'}", s.application), "/users/@me/channels");
    expect_error(invoke_in_channel(&s, s.ada, answer_text(dm, "id"), guild, s.application, id), 404,
                 10004);
}

static void interaction_application_and_command_must_exist(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "%s", ""), *channel = s.test_guild.channel,
               *guild = s.test_guild.id;
    const char *other = make_application(s.ada, "Other");
    const char *elsewhere = make_global_command(&s, "'guild_id': '%s'", channel);

    expect_error(invoke_in_channel(&s, s.bob, channel, guild, "404", id), 404, 10002);
    expect_invalid(invoke_in_channel(&s, s.bob, channel, guild, s.application, "404"), "data",
                   INVALID);
    expect_invalid(invoke_in_channel(&s, s.bob, channel, guild, other, id), "data", INVALID);
    expect_invalid(invoke_in_channel(&s, s.bob, channel, guild, s.application, elsewhere), "data",
                   INVALID);
}

/* --- outdated commands ---------------------------------------------------------------- */

static void outdated_command_version_or_name_is_refused(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "%s", "");
    static const char *const outdated[] = {
        "'version': '1', 'name': 'roll'",
        "'version': '%s', 'name': 'rolls'",
        "'version': '%s', 'name': 'roll', 'type': 2",
    };

    for (size_t i = 0; i < sizeof outdated / sizeof *outdated; i++) {
        const char *data =
            i ? TEXT(w, "'version': '%s', %s", id, strchr(outdated[i], ',') + 2) : outdated[i];
        struct answer a = invoke(&s, s.bob, "", "'id': '%s', %s", id, data);

        expect_invalid(a, "data", VERSION);
        expect_json(a, "{'errors': {'data': {'_errors': [{'message': 'This command is outdated, "
                       "please try again in a few minutes'}]}}}");
    }
    /* The version is checked before permissions. */
    world_sql(w, "delete from integrations where guild_id = %s", s.test_guild.id);
    expect_invalid(invoke(&s, s.bob, "", "'id': '%s', 'version': '1', 'name': 'roll'", id), "data",
                   VERSION);
    expect(interactions_received(&s) == 0);
}

/* --- permissions ---------------------------------------------------------------------- */

static void insert_command_permission_row(struct test_commands *s, const char *target,
                                          const char *entity, int type, int yes)
{
    world_sql(s->world,
              "insert into command_permissions (guild_id, target_id, entity_id, type, "
              "application_id, permission, position) values (%s, %s, %s, %d, %s, %d, 0)",
              s->test_guild.id, target, entity, type, s->application, yes);
}

static void command_permissions_decide_about_an_invocation(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "%s", ""),
               *nobodys = make_global_command(&s, "'default_member_permissions': '0'"),
               *managers = make_global_command(&s, "'default_member_permissions': '8192'");

    insert_command_permission_row(&s, id, s.bob->id, 2, 0);
    expect_invalid(roll(&s, s.bob, id, "%s", ""), "data", PERMISSIONS);
    expect_status(roll(&s, s.ada, id, "%s", ""), 204);
    expect_invalid(roll(&s, s.bob, nobodys, "%s", ""), "data", PERMISSIONS);
    expect_status(roll(&s, s.ada, nobodys, "%s", ""), 204);
    insert_command_permission_row(&s, nobodys, s.bob->id, 2, 1);
    expect_status(roll(&s, s.bob, nobodys, "%s", ""), 204);
    /* Default permissions are checked in the channel. */
    expect_invalid(roll(&s, s.bob, managers, "%s", ""), "data", PERMISSIONS);
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, allow, deny) values "
              "(%s, %s, 1, %llu, 0)",
              s.test_guild.channel, s.bob->id, BITS(PERMISSION(MANAGE_MESSAGES)));
    expect_status(roll(&s, s.bob, managers, "%s", ""), 204);
}

static void invocation_requires_channel_permissions(struct world *w)
{
    static const uint64_t needed[] = { PERMISSION(USE_APPLICATION_COMMANDS),
                                       PERMISSION(SEND_MESSAGES) };
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "%s", "");

    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        world_sql(w,
                  "insert into overwrites (channel_id, target_id, type, allow, deny) values "
                  "(%s, %s, 1, 0, %llu)",
                  s.test_guild.channel, s.bob->id, BITS(needed[i]));
        expect_invalid(roll(&s, s.bob, id, "%s", ""), "data", PERMISSIONS);
        world_sql(w, "delete from overwrites where channel_id = %s", s.test_guild.channel);
    }
    expect_status(roll(&s, s.bob, id, "%s", ""), 204);
}

static void nsfw_command_requires_an_adult_and_an_nsfw_channel(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "'nsfw': true");

    expect_invalid(roll(&s, s.ada, id, "%s", ""), "data", PERMISSIONS);
    world_sql(w, "update users set date_of_birth = '1990-01-01' where id = %s", s.ada->id);
    expect_invalid(roll(&s, s.ada, id, "%s", ""), "data", PERMISSIONS);
    world_sql(w, "update channels set nsfw = 1 where id = %s", s.test_guild.channel);
    expect_status(roll(&s, s.ada, id, "%s", ""), 204);
    expect_invalid(roll(&s, s.bob, id, "%s", ""), "data", PERMISSIONS);
}

/* --- targets -------------------------------------------------------------------------- */

static struct answer invoke_context_menu(struct test_commands *s, const char *id, int type,
                                         const char *target)
{
    return invoke(s, s->bob, "", "'id': '%s', 'version': '%s', 'name': 'roll', 'type': %d%s", id,
                  id, type, target ? TEXT(s->world, ", 'target_id': '%s'", target) : "");
}

static void context_menu_target_must_exist_in_the_channel(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *user = make_global_command(&s, "'type': 2, 'description': ''"),
               *message = make_global_command(&s, "'type': 3, 'description': ''");
    struct answer said =
        client_post(s.ada, "{'content': 'Look'}", "/channels/%s/messages", s.test_guild.channel);
    const char *elsewhere = make_channel(s.ada, s.test_guild.id, "{'name': 'other'}");
    struct answer other =
        client_post(s.ada, "{'content': 'There'}", "/channels/%s/messages", elsewhere);

    expect_invalid(invoke_context_menu(&s, user, 2, NULL), "data.target_id", "BASE_TYPE_REQUIRED");
    expect_error(invoke_context_menu(&s, user, 2, "404"), 404, 10013);
    expect_error(invoke_context_menu(&s, message, 3, "404"), 404, 10008);
    expect_error(invoke_context_menu(&s, message, 3, answer_text(other, "id")), 404, 10008);
    expect_status(invoke_context_menu(&s, message, 3, answer_text(said, "id")), 204);
    expect_status(invoke_context_menu(&s, user, 2, s.ada->id), 204);
}

const struct test interactions_request_checks_tests[] = {
    TEST(invalid_interaction_bodies_are_refused_first),
    TEST(only_users_can_create_interactions),
    TEST(interaction_channel_must_exist_and_be_visible),
    TEST(interaction_application_and_command_must_exist),
    TEST(outdated_command_version_or_name_is_refused),
    TEST(command_permissions_decide_about_an_invocation),
    TEST(invocation_requires_channel_permissions),
    TEST(nsfw_command_requires_an_adult_and_an_nsfw_channel),
    TEST(context_menu_target_must_exist_in_the_channel),
    { 0 },
};
