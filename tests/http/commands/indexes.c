/* indexes.c - command indexes of guilds, channels, applications and accounts. */
#include <stdlib.h>

#include "apps.h"
#include "channels.h"
#include "waits.h"
#include "test_app.h"

#define PING "{'name': 'ping', 'description': 'd'}"

static struct answer get_guild_index(struct test_app *s, struct client *c)
{
    struct answer a = client_get(c, "/guilds/%s/application-command-index", s->guild);

    expect_status(a, 200);
    return a;
}

static size_t count_commands(struct answer a)
{
    const struct dom *d = dom_at(a.json, "application_commands");

    return d ? d->count : 0;
}

/* --- guilds --------------------------------------------------------------------------- */

static void guild_index_lists_commands_of_installed_applications(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0), *far = world_client(w, "far");
    const char *quiet = make_application(s.ada, "Quiet"), *away = make_application(s.ada, "Away");

    make_command(s.ada, TEXT(w, "/applications/%s/commands", away), PING);
    install(s.ada, quiet, s.guild, "applications.commands");
    const char *global = make_command(s.bot, s.global, PING);
    const char *local = make_command(s.bot, s.local, PING);
    make_command(s.bot, s.global, "{'type': 2, 'name': 'Wave'}");
    make_command(s.bot, s.global, "{'name': 'own', 'description': 'd', 'integration_types': [1]}");
    make_command(s.bot, s.global, "{'name': 'dm', 'description': 'd', 'contexts': [1, 2]}");

    struct answer a = get_guild_index(&s, bob);
    expect_json(a,
                "{'applications': [{'id': '%s', 'name': 'Helper', 'description': '', 'icon': null, "
                "'bot_id': '%s', 'flags': '8953856'}, {'id': '%s', 'name': 'Quiet'}], "
                "'application_commands': [{'id': '%s', 'application_id': '%s', 'type': 1, "
                "'name': 'ping', 'description': 'd', 'global_popularity_rank': 1, "
                "'dm_permission': true, 'contexts': null}, "
                "{'type': 2, 'name': 'Wave', 'global_popularity_rank': 2}, "
                "{'id': '%s', 'guild_id': '%s'}]}",
                s.app, s.app, quiet, global, s.app, local, s.guild);
    expect_absent(a, "applications.0.bot");
    expect_absent(a, "applications.0.permissions");
    expect_absent(a, "applications.0.embedded_activity_config");
    expect_absent(a, "application_commands.0.permissions");
    expect_absent(a, "application_commands.0.name_localizations");
    expect_absent(a, "application_commands.2.global_popularity_rank");

    expect_error(client_get(far, "/guilds/%s/application-command-index", s.guild), 403, 50001);
    expect_error(client_get(bob, "/guilds/1/application-command-index"), 404, 10004);
    expect_error(client_get(s.bot, "/guilds/%s/application-command-index", s.guild), 403, 20001);
    /* Unknown query parameters are ignored. */
    expect_status(client_get(bob, "/guilds/%s/application-command-index?type=1&limit=x", s.guild),
                  200);
}

static void guild_index_lists_only_commands_usable_in_some_channel(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", PERMISSION(KICK_MEMBERS)),
                  *boss = test_app_member(&s, "boss", PERMISSION(ADMINISTRATOR));
    const char *id = make_command(
        s.bot, s.local, "{'name': 'ban', 'description': 'd', 'default_member_permissions': '6'}");
    const char *path = TEXT(w, "%s/%s/permissions", s.local, id);
    const char *channel = make_channel(s.ada, s.guild, "{'name': 'c'}");
    const char *row = "{'permissions': [{'id': '%s', 'type': %d, 'permission': %s}]}";

    expect(count_commands(get_guild_index(&s, bob)) == 0);
    expect(count_commands(get_guild_index(&s, boss)) == 1);
    expect(count_commands(get_guild_index(&s, s.ada)) == 1);
    /* A channel overwrite that grants the permission makes the command usable there. */
    const char *overwrite = TEXT(w, "{'type': 1, 'allow': '%llu'}", BITS(PERMISSION(BAN_MEMBERS)));
    expect_status(client_put(s.ada, overwrite, "/channels/%s/permissions/%s", channel, bob->id),
                  204);
    expect(count_commands(get_guild_index(&s, bob)) == 1);
    /* The overwrite has no effect if the member cannot view the channel. */
    overwrite = TEXT(w, "{'type': 1, 'allow': '%llu', 'deny': '%llu'}",
                     BITS(PERMISSION(BAN_MEMBERS)), BITS(PERMISSION(VIEW_CHANNEL)));
    expect_status(client_put(s.ada, overwrite, "/channels/%s/permissions/%s", channel, bob->id),
                  204);
    expect(count_commands(get_guild_index(&s, bob)) == 0);
    expect_status(client_put(s.ada, TEXT(w, row, bob->id, 2, "true"), "%s", path), 200);
    expect(count_commands(get_guild_index(&s, bob)) == 1);
    expect_status(client_put(s.ada, TEXT(w, row, bob->id, 2, "false"), "%s", path), 200);
    expect(count_commands(get_guild_index(&s, bob)) == 0);
    expect_status(client_put(s.ada, "{'permissions': []}", "%s", path), 200);
    expect_status(client_patch(s.bot, "{'default_member_permissions': null}", "%s/%s", s.local, id),
                  200);
    expect(count_commands(get_guild_index(&s, bob)) == 1);
    expect_status(
        client_put(s.ada, TEXT(w, row, s.guild, 1, "false"), "%s/%s/permissions", s.local, s.app),
        200);
    expect(count_commands(get_guild_index(&s, bob)) == 0);
    expect_status(client_put(s.ada, "{'permissions': []}", "%s/%s/permissions", s.local, s.app),
                  200);
    expect_status(client_patch(s.bot, "{'default_member_permissions': '0'}", "%s/%s", s.local, id),
                  200);
    expect(count_commands(get_guild_index(&s, bob)) == 0);
    expect(count_commands(get_guild_index(&s, s.ada)) == 1);
}

static void guild_index_shows_permissions_that_apply_to_the_caller(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0);
    const char *role = make_role(s.ada, s.guild, "{'name': 'r'}"),
               *other = make_role(s.ada, s.guild, "{'name': 'o'}");
    const char *channel = make_channel(s.ada, s.guild, "{'name': 'c'}");
    const char *id = make_command(s.bot, s.global, PING);
    const char *all = TEXT(w, "%llu", (unsigned long long)id_of(s.guild) - 1);

    put_role_on(s.guild, bob, role);
    expect_status(
        client_put(s.ada,
                   TEXT(w,
                        "{'permissions': [{'id': '%s', 'type': 1, 'permission': false}, "
                        "{'id': '%s', 'type': 1, 'permission': true}, {'id': '%s', 'type': 2, "
                        "'permission': true}, {'id': '%s', 'type': 2, 'permission': false}, "
                        "{'id': '%s', 'type': 3, 'permission': true}, {'id': '%s', 'type': 3, "
                        "'permission': false}]}",
                        role, other, bob->id, s.ada->id, channel, all),
                   "%s/%s/permissions", s.local, id),
        200);
    expect_status(client_put(s.ada,
                             TEXT(w,
                                  "{'permissions': [{'id': '%s', 'type': 1, 'permission': "
                                  "true}]}",
                                  s.guild),
                             "%s/%s/permissions", s.local, s.app),
                  200);
    struct answer a = get_guild_index(&s, bob);
    expect_json(a,
                "{'applications': [{'permissions': {'roles': {'%s': true}}}], "
                "'application_commands': [{'permissions': {'user': true, 'roles': {'%s': false}, "
                "'channels': {'%s': true, '%s': false}}}]}",
                s.guild, role, channel, all);
    expect_absent(a, "applications.0.permissions.user");
    expect_absent(a, "applications.0.permissions.channels");
    expect_absent(a, TEXT(w, "application_commands.0.permissions.roles.%s", other));
    a = get_guild_index(&s, s.ada);
    expect_json(a, "{'application_commands': [{'permissions': {'user': false}}]}");
    expect_absent(a, "application_commands.0.permissions.roles");
}

/* A cached index is reused for callers who see the same commands, until a change. */
static void cached_guild_index_depends_on_locale_and_application(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0), *eve = test_app_member(&s, "eve", 0);

    make_command(s.bot, s.global,
                 "{'name': 'ping', 'description': 'd', 'description_localizations': {'de': 'e'}}");
    struct answer a = get_guild_index(&s, bob), b = get_guild_index(&s, eve);
    expect(str_eq(a.body, b.body));
    expect(str_eq(a.body, get_guild_index(&s, bob).body));
    expect_status(client_patch(bob, "{'locale': 'de'}", "/users/@me/settings"), 200);
    expect_json(get_guild_index(&s, bob), "{'application_commands': [{'description': 'e'}]}");
    expect(str_eq(a.body, get_guild_index(&s, eve).body));
    expect_status(client_patch(s.ada, "{'name': 'Renamed'}", "/applications/%s", s.app), 200);
    expect_json(get_guild_index(&s, eve), "{'applications': [{'name': 'Renamed'}]}");
    expect_status(client_patch(s.ada, "{'name': 'Again'}", "/applications/%s", s.app), 200);
    expect_json(get_guild_index(&s, eve), "{'applications': [{'name': 'Again'}]}");
    expect_json(get_guild_index(&s, bob), "{'applications': [{'name': 'Again'}]}");
}

static void nsfw_commands_are_listed_only_for_adults(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0);
    const char *bar = make_channel(s.ada, s.guild, "{'name': 'bar'}");

    make_command(s.bot, s.global, "{'name': 'beer', 'description': 'd', 'nsfw': true}");
    world_sql(w, "update channels set nsfw = 1 where id = %s", bar);
    expect(count_commands(get_guild_index(&s, bob)) == 0); /* bob's age is unknown */
    world_sql(w, "update users set date_of_birth = '2000-01-01' where id = %s", bob->id);
    expect(count_commands(get_guild_index(&s, bob)) == 1);
    world_sql(w, "update channels set nsfw = 0"); /* these commands need such a channel */
    expect(count_commands(get_guild_index(&s, bob)) == 0);
    world_sql(w, "update channels set nsfw = 1 where id = %s", bar);
    expect(count_commands(get_guild_index(&s, bob)) == 1);
    world_sql(w, "update users set date_of_birth = '2020-01-01' where id = %s", bob->id);
    expect(count_commands(get_guild_index(&s, bob)) == 0);
}

static void entry_point_command_is_listed_only_for_embedded_apps(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *path = TEXT(w, "/applications/%s/set-embedded", s.app);

    make_command(s.bot, s.global, "{'type': 4, 'name': 'go', 'description': 'd'}");
    expect(count_commands(get_guild_index(&s, s.ada)) == 0);
    expect_status(client_post(s.ada, "{'embedded': true}", "%s", path), 204);
    expect_json(get_guild_index(&s, s.ada),
                "{'applications': [{'embedded_activity_config': {'supported_platforms': ['web', "
                "'android', 'ios']}}], 'application_commands': [{'type': 4, 'handler': 1}]}");
}

/* --- popularity ----------------------------------------------------------------------- */

static void global_popularity_rank_orders_commands_by_recent_use(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *one = make_command(s.bot, s.global, "{'name': 'one', 'description': 'd'}");
    const char *two = make_command(s.bot, s.global, "{'name': 'two', 'description': 'd'}");
    const char *hidden = make_command(
        s.bot, s.global, "{'name': 'three', 'description': 'd', 'integration_types': [1]}");
    const char *ranks = "{'application_commands': [{'global_popularity_rank': %d}, "
                        "{'global_popularity_rank': %d}]}";

    expect_json(get_guild_index(&s, s.ada), ranks, 1, 2);
    use_command(&s, two);
    expect_json(get_guild_index(&s, s.ada), ranks, 2, 1);
    use_command(&s, one);
    expect_json(get_guild_index(&s, s.ada), ranks, 1, 2); /* equal use: the older command first */
    use_command(&s, two);
    for (int i = 0; i < 3; i++)
        use_command(&s, hidden);
    expect_json(get_guild_index(&s, s.ada), ranks, 3,
                2); /* ranked among all commands of the application */
    world_wait(w, 10 * 24 * 60 * 60);
    use_command(&s, one);
    world_wait(w, 25 * 24 * 60 * 60);
    expect_json(get_guild_index(&s, s.ada), ranks, 1, 2); /* old uses no longer count */
}

/* --- versions ------------------------------------------------------------------------- */

static snowflake read_command_index_version(struct answer a)
{
    return id_of(answer_text(a, "version"));
}

/* Expects that the index version has changed since last, or that it has not. */
#define expect_moved(last, a)                           \
    do {                                                \
        snowflake now_ = read_command_index_version(a); \
        expect(now_ > (last));                          \
        (last) = now_;                                  \
    } while (0)
#define expect_still(last, a) expect(read_command_index_version(a) == (last))

static void guild_index_version_changes_with_its_commands(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0);
    const char *empty = found_guild(s.ada, "Empty");
    const char *role = make_role(s.ada, s.guild, "{'name': 'r'}");

    expect_json(client_get(s.ada, "/guilds/%s/application-command-index", empty),
                "{'applications': [], 'application_commands': [], 'version': '%s'}", empty);
    snowflake last = read_command_index_version(get_guild_index(&s, bob));
    expect_still(last, get_guild_index(&s, bob));
    const char *global = make_command(s.bot, s.global, PING);
    expect_moved(last, get_guild_index(&s, bob));
    const char *local = make_command(s.bot, s.local, PING);
    expect_moved(last, get_guild_index(&s, bob));
    expect_status(client_patch(s.bot, "{'description': 'd'}", "%s/%s", s.local, local), 200);
    expect_still(last, get_guild_index(&s, bob));
    expect_status(client_put(s.bot, "[" PING "]", "%s", s.local), 200);
    expect_still(last, get_guild_index(&s, bob));
    expect_status(client_patch(s.bot, "{'description': 'e'}", "%s/%s", s.global, global), 200);
    expect_moved(last, get_guild_index(&s, bob));
    const char *body =
        TEXT(w, "{'permissions': [{'id': '%s', 'type': 1, 'permission': true}]}", role);
    expect_status(client_put(s.ada, body, "%s/%s/permissions", s.local, global), 200);
    expect_moved(last, get_guild_index(&s, bob));
    expect_status(client_put(s.ada, body, "%s/%s/permissions", s.local, global), 200);
    expect_still(last, get_guild_index(&s, bob));
    expect_status(client_delete(s.ada, "/guilds/%s/roles/%s", s.guild, role), 204);
    expect_moved(last, get_guild_index(&s, bob));
    expect_status(client_patch(s.ada, "{'tags': ['x']}", "/applications/%s", s.app), 200);
    expect_still(last, get_guild_index(&s, bob));
    expect_status(client_patch(s.ada, "{'name': 'Aide'}", "/applications/%s", s.app), 200);
    expect_moved(last, get_guild_index(&s, bob));
    const char *other = make_application(s.ada, "Other");
    expect_still(last, get_guild_index(&s, bob));
    install(s.ada, other, s.guild, "applications.commands");
    expect_moved(last, get_guild_index(&s, bob));
    expect_status(client_post(s.ada, NULL, "/applications/%s/delete", other), 204);
    expect_moved(last, get_guild_index(&s, bob));
    expect_status(client_delete(s.bot, "%s/%s", s.local, local), 204);
    expect_moved(last, get_guild_index(&s, bob));
}

/* --- accounts, applications, channels ------------------------------------------------- */

static void account_index_lists_commands_of_user_installed_apps(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = world_client(w, "bob");
    const char *path = "/users/@me/application-command-index";

    make_command(s.bot, s.local, PING);
    make_command(s.bot, s.global, "{'name': 'g', 'description': 'd', 'integration_types': [0]}");
    const char *id = make_command(s.bot, s.global,
                                  "{'name': 'u', 'description': 'd', 'integration_types': [1], "
                                  "'contexts': [2]}");
    expect_json(client_get(bob, "%s", path),
                "{'applications': [], 'application_commands': [], 'version': '%s'}", bob->id);
    install_on_account(bob, s.app);
    struct answer a = client_get(bob, "%s", path);
    expect_json(a,
                "{'applications': [{'id': '%s'}], 'application_commands': [{'id': '%s', "
                "'global_popularity_rank': 2}]}",
                s.app, id);
    snowflake last = read_command_index_version(a);
    expect(last > id_of(bob->id));
    make_command(s.bot, s.global, PING);
    expect_moved(last, client_get(bob, "%s", path));
    a = client_get(bob, "/oauth2/tokens");
    expect_status(client_delete(bob, "/oauth2/tokens/%s", answer_text(a, "0.id")), 204);
    a = client_get(bob, "%s", path);
    expect_json(a, "{'applications': [], 'application_commands': []}");
    expect_moved(last, a);
}

static void application_index_requires_an_authorization_of_the_caller(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = world_client(w, "bob");
    const char *path = TEXT(w, "/applications/%s/application-command-index", s.app);

    make_command(s.bot, s.local, PING);
    make_command(s.bot, s.global, "{'name': 'g', 'description': 'd', 'integration_types': [0]}");
    make_command(s.bot, s.global, "{'name': 'u', 'description': 'd', 'contexts': [2]}");
    expect_error(client_get(bob, "%s", path), 403, 50001);
    expect_error(client_get(s.ada, "%s", path), 403,
                 50001); /* owning the application is not enough */
    expect_error(client_get(bob, "/applications/1/application-command-index"), 404, 10002);
    install_on_account(bob, s.app);
    expect_json(client_get(bob, "%s", path),
                "{'applications': [{'id': '%s', 'bot_id': '%s', 'bot': {'id': '%s', "
                "'username': 'helper', 'bot': true}}], "
                "'application_commands': [{'name': 'g'}, {'name': 'u'}]}",
                s.app, s.app, s.app);
}

static struct answer get_channel_index(struct client *c, const char *channel)
{
    return client_get(c, "/channels/%s/application-command-index", channel);
}

static void direct_channel_index_lists_commands_of_its_bot(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0), *eve = world_client(w, "eve");
    const char *channel = talk_to(bob, s.app);

    make_command(s.bot, s.local, PING);
    const char *id = make_command(s.bot, s.global, PING);
    make_command(s.bot, s.global, "{'name': 'g', 'description': 'd', 'contexts': [0, 2]}");
    struct answer a = get_channel_index(bob, channel);
    expect_json(a, "{'applications': [{'id': '%s'}], 'application_commands': [{'id': '%s'}]}",
                s.app, id);
    snowflake last = read_command_index_version(a);
    make_command(s.bot, s.global, "{'name': 'b', 'description': 'd', 'contexts': [1]}");
    expect_moved(last, get_channel_index(bob, channel));
    expect_error(get_channel_index(eve, channel), 403, 50001);
    /* An app without the scope applications.commands has no commands. */
    world_sql(w, "update integrations set scopes = '[\"webhook.incoming\"]'");
    expect(count_commands(get_channel_index(bob, channel)) == 0);
    world_sql(w, "update integrations set scopes = '[\"applications.commands\"]'");
    expect(count_commands(get_channel_index(bob, channel)) == 2);
    /* An app that is installed nowhere has no usable commands. */
    expect_status(client_delete(bob, "/users/@me/guilds/%s", s.guild), 204);
    a = get_channel_index(bob, channel);
    expect_json(a, "{'applications': [{'id': '%s'}], 'application_commands': []}", s.app);
    install_on_account(bob, s.app);
    expect(count_commands(get_channel_index(bob, channel)) == 2);
}

static const char *create_guild_with_app(struct client *owner, const char *app, const char *scopes)
{
    const char *guild = found_guild(owner, "Another");

    install(owner, app, guild, scopes);
    return guild;
}

static void direct_channel_index_version_changes_with_app_installs(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = world_client(w, "bob");
    const char *channel = talk_to(s.ada, s.app);
    snowflake adas = read_command_index_version(get_channel_index(s.ada, channel));

    make_command(s.bot, s.global, PING);
    expect_moved(adas, get_channel_index(s.ada, channel));
    /* Ada has the app in two guilds, so adding it to one changes nothing for her. */
    const char *other = create_guild_with_app(s.ada, s.app, "applications.commands");
    expect_still(adas, get_channel_index(s.ada, channel));
    put_member(other, bob);
    channel = talk_to(bob, s.app);
    snowflake last = read_command_index_version(get_channel_index(bob, channel));
    expect(count_commands(get_channel_index(bob, channel)) == 1);

    /* Bob leaves the guild and joins again. */
    expect_status(client_delete(bob, "/users/@me/guilds/%s", other), 204);
    expect(count_commands(get_channel_index(bob, channel)) == 0);
    expect_moved(last, get_channel_index(bob, channel));
    put_member(other, bob);
    expect_moved(last, get_channel_index(bob, channel));

    /* The index depends on guild and user installs. */
    install_on_account(bob, s.app);
    expect_moved(last, get_channel_index(bob, channel));
    expect_status(client_delete(s.ada, "/guilds/%s/members/%s", other, bob->id), 204);
    expect_moved(last, get_channel_index(bob, channel));
    struct answer a = client_get(bob, "/oauth2/tokens");
    expect_status(client_delete(bob, "/oauth2/tokens/%s", answer_text(a, "0.id")), 204);
    expect_moved(last, get_channel_index(bob, channel));
    install_on_account(bob, s.app);
    expect_moved(last, get_channel_index(bob, channel));
    install_on_account(bob, s.app); /* installing again changes nothing */
    expect_still(last, get_channel_index(bob, channel));
    expect(count_commands(get_channel_index(bob, channel)) == 1);

    /* Installs of another app do not change this index. */
    const char *apart = make_application(s.ada, "Apart");
    application_bot(s.ada, apart);
    install_on_account(bob, apart);
    expect_still(last, get_channel_index(bob, channel));

    a = client_get(bob, "/oauth2/tokens");
    const char *first = answer_text(a, "0.application.id"), *id = answer_text(a, "0.id");
    if (strcmp(first, s.app) != 0)
        id = answer_text(a, "1.id");
    expect_status(client_delete(bob, "/oauth2/tokens/%s", id), 204);
    expect_moved(last, get_channel_index(bob, channel));
}

static void direct_channel_index_changes_when_a_guild_installs_the_app(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = world_client(w, "bob"), *eve = world_client(w, "eve");
    const char *guild = found_guild(s.ada, "Another");
    const char *bobs = talk_to(bob, s.app), *eves = talk_to(eve, s.app);

    make_command(s.bot, s.global, PING);
    put_member(guild, bob);
    snowflake last = read_command_index_version(get_channel_index(bob, bobs));
    snowflake others = read_command_index_version(get_channel_index(eve, eves));
    install(s.ada, s.app, guild, "applications.commands");
    expect(count_commands(get_channel_index(bob, bobs)) == 1);
    expect_moved(last, get_channel_index(bob, bobs));
    install(s.ada, s.app, guild, "applications.commands");
    expect_still(last, get_channel_index(bob, bobs));
    struct answer a = client_get(s.ada, "/guilds/%s/integrations", guild);
    expect_status(client_delete(s.ada, "/guilds/%s/integrations/%s", guild, answer_text(a, "0.id")),
                  204);
    expect(count_commands(get_channel_index(bob, bobs)) == 0);
    expect_moved(last, get_channel_index(bob, bobs));
    install(s.ada, s.app, guild, "bot");
    expect_moved(last, get_channel_index(bob, bobs));

    /* Removing the bot leaves the commands in the guild. */
    expect_status(client_delete(s.ada, "/guilds/%s/members/%s", guild, s.app), 204);
    expect(count_commands(get_channel_index(bob, bobs)) == 1);
    expect_still(last, get_channel_index(bob, bobs));

    expect_status(client_delete(s.ada, "/guilds/%s", guild), 204);
    expect(count_commands(get_channel_index(bob, bobs)) == 0);
    expect_moved(last, get_channel_index(bob, bobs));
    expect_still(others, get_channel_index(eve, eves)); /* a user who is in no guild with the app */
    expect_status(client_post(s.ada, NULL, "/applications/%s/delete", s.app), 204);
    expect_json(get_channel_index(eve, eves), "{'applications': []}");
    expect_moved(others, get_channel_index(eve, eves));
}

/* The bot's direct channels are updated page by page. */
static void direct_channel_indexes_of_a_popular_bot_update_in_batches(struct world *w)
{
    static const char NUMBERS[] =
        "with recursive n (i) as (select 0 union all select i + 1 from n where i < 119) ";
    struct test_app s = world_test_app(w);
    struct client *bob = world_client(w, "bob");
    const char *guild = found_guild(s.ada, "Another");
    const char *bobs = talk_to(bob, s.app);

    make_command(s.bot, s.global, PING);
    put_member(guild, bob);
    world_sql(w, "insert into users (id, username) %s select 1000 + i, 'many' || i from n",
              NUMBERS);
    world_sql(w, "insert into channels (id, type) %s select 1000 + i, 1 from n", NUMBERS);
    world_sql(
        w,
        "insert into recipients (channel_id, user_id, since) %s select 1000 + i, 1000 + i, 0 from n",
        NUMBERS);
    world_sql(
        w, "insert into recipients (channel_id, user_id, since) %s select 1000 + i, %s, 0 from n",
        NUMBERS, s.app);
    world_sql(
        w,
        "insert into direct_channels (low_id, high_id, channel_id) %s select 1000 + i, %s, 1000 + i "
        "from n",
        NUMBERS, s.app);
    snowflake last = read_command_index_version(get_channel_index(bob, bobs));
    install(s.ada, s.app, guild, "applications.commands");
    world_settle(w);
    expect_moved(last, get_channel_index(bob, bobs));
    expect_status(client_delete(s.ada, "/guilds/%s", guild), 204);
    world_settle(w);
    expect_moved(last, get_channel_index(bob, bobs));
}

static void account_index_version_changes_with_user_installs_only(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = world_client(w, "bob");
    const char *path = "/users/@me/application-command-index";
    const char *other = make_application(s.ada, "Other");

    install_on_account(bob, s.app);
    snowflake last = read_command_index_version(client_get(bob, "%s", path));
    install_on_account(bob, s.app);
    expect_still(last, client_get(bob, "%s", path));
    test_app_member(&s, "eve", 0);
    expect_still(last, client_get(bob, "%s", path));
    /* An authorization without the install scope changes nothing. */
    world_sql(w,
              "insert into authorizations (id, user_id, application_id, scopes, installed, "
              "created_at) values (77, %s, %s, '[\"identify\"]', 0, 0)",
              bob->id, other);
    expect_status(client_delete(bob, "/oauth2/tokens/77"), 204);
    expect_still(last, client_get(bob, "%s", path));
    world_sql(w,
              "insert into authorizations (id, user_id, application_id, scopes, installed, "
              "created_at) values (78, %s, %s, '[\"identify\"]', 0, 0)",
              bob->id, other);
    expect_status(client_post(s.ada, NULL, "/applications/%s/delete", other), 204);
    expect_still(last, client_get(bob, "%s", path));
    expect_status(client_post(s.ada, NULL, "/applications/%s/delete", s.app), 204);
    expect_moved(last, client_get(bob, "%s", path));
}

static void group_index_lists_commands_of_apps_added_to_the_group(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0), *eve = test_app_member(&s, "eve", 0);
    const char *direct = talk_to(bob, eve->id);
    const char *text_channel = make_channel(s.ada, s.guild, "{'name': 'c'}");

    make_friends(bob, eve);
    make_friends(bob, s.ada);
    expect_json(get_channel_index(bob, direct),
                "{'applications': [], 'application_commands': [], 'version': '%s'}", direct);
    expect_error(get_channel_index(bob, text_channel), 400, 50024);
    expect_error(get_channel_index(bob, "1"), 404, 10003);

    struct answer a = client_post(bob, TEXT(w, "{'recipients': ['%s', '%s']}", eve->id, s.ada->id),
                                  "/users/@me/channels");
    const char *group = answer_text(a, "id");
    const char *id =
        make_command(s.bot, s.global, "{'name': 'p', 'description': 'd', 'contexts': [2]}");
    make_command(s.bot, s.global, PING);
    make_command(
        s.bot, s.global,
        "{'name': 'never', 'description': 'd', 'contexts': [2], 'integration_types': [0]}");
    expect_json(get_channel_index(eve, group), "{'applications': [], 'version': '%s'}", group);
    world_sql(w,
              "insert into channel_integrations (id, channel_id, application_id, created_at) "
              "values (1, %s, %s, 0)",
              group, s.app);
    struct answer shown_now = get_channel_index(eve, group);
    expect_json(shown_now,
                "{'applications': [{'id': '%s'}], 'application_commands': [{'id': '%s'}]}", s.app,
                id);
    /* The commands disappear with the app. */
    snowflake last = read_command_index_version(shown_now);
    expect_status(client_post(s.ada, NULL, "/applications/%s/delete", s.app), 204);
    shown_now = get_channel_index(eve, group);
    expect_json(shown_now, "{'applications': [], 'application_commands': []}");
    expect_moved(last, shown_now);
}

const struct test commands_indexes_tests[] = {
    TEST(guild_index_lists_commands_of_installed_applications),
    TEST(guild_index_lists_only_commands_usable_in_some_channel),
    TEST(guild_index_shows_permissions_that_apply_to_the_caller),
    TEST(cached_guild_index_depends_on_locale_and_application),
    TEST(nsfw_commands_are_listed_only_for_adults),
    TEST(entry_point_command_is_listed_only_for_embedded_apps),
    TEST(global_popularity_rank_orders_commands_by_recent_use),
    TEST(guild_index_version_changes_with_its_commands),
    TEST(account_index_lists_commands_of_user_installed_apps),
    TEST(application_index_requires_an_authorization_of_the_caller),
    TEST(direct_channel_index_lists_commands_of_its_bot),
    TEST(direct_channel_index_version_changes_with_app_installs),
    TEST(direct_channel_index_changes_when_a_guild_installs_the_app),
    TEST(direct_channel_indexes_of_a_popular_bot_update_in_batches),
    TEST(account_index_version_changes_with_user_installs_only),
    TEST(group_index_lists_commands_of_apps_added_to_the_group),
    { 0 },
};
