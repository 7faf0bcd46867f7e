/* world_files.c - commands in world files. */
#include <string.h>

#include "platform/worlds/worlds.h"
#include "test_guild.h"
#include "test_app.h"

/* Writes a world file with an app in a guild and its global and guild commands. JSON has single
 * quotes, as in all tests. */
static struct str write_world_file(struct world *w, const char *global, const char *local)
{
    struct str s = str_printf(
        world_arena(w),
        "{'users': [{'id': '7', 'username': 'ada'}], 'applications': [{'id': '10', 'name': "
        "'Helper', 'owner': 'ada', 'bot': 'helper', 'flags': 565248, 'integration_types_config': "
        "{'0': {}}, 'commands': %s}], 'guilds': [{'id': '20', 'name': 'Here', 'owner': 'ada', "
        "'members': [{'user': 'helper'}], 'channels': [{'name': 'hall'}], 'applications': [{'application': 'Helper', 'commands': "
        "%s}]}]}",
        global, local);

    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\'')
            ((char *)s.p)[i] = '"';
    return s;
}

static enum err import_world_file_text(struct world *w, struct str text,
                                       struct world_file_import_report *ret)
{
    struct world_file_import_options options = { .domains = guildhall_domains,
                                                 .auth = guildhall_get_auth(world_server(w)),
                                                 .password_cost = { .ops = 1,
                                                                    .memory = 1024 * 1024 },
                                                 .tokens = true };

    return world_file_import(guildhall_get_store(world_server(w)), &options, text, world_arena(w),
                             ret);
}

/* Imports the world file and returns a client for the owner. */
static struct client *import_as_ada(struct world *w, const char *global, const char *local)
{
    struct world_file_import_report report;

    if (import_world_file_text(w, write_world_file(w, global, local), &report))
        fail_test(__FILE__, __LINE__, "%.*s", STR_ARGS(report.problems));
    const struct imported_account_token *t = report.tokens.items;
    return world_client_with(w, str_dup_cstring(world_arena(w), t[0].token));
}

#define expect_refused(w, global, local, lines) \
    expect_import_refused_at(__FILE__, __LINE__, w, global, local, lines)

static void expect_import_refused_at(const char *file, int line, struct world *w,
                                     const char *global, const char *local, const char *lines)
{
    int64_t before = world_number(w, "select count(*) from commands");
    struct world_file_import_report report;

    if (!import_world_file_text(w, write_world_file(w, global, local), &report))
        fail_test(file, line, "the file was not refused");
    if (!str_is(report.problems, lines))
        fail_test(file, line, "the problems are:\n%.*s", STR_ARGS(report.problems));
    if (world_number(w, "select count(*) from commands") != before)
        fail_test(file, line, "something of it was written");
}

static struct str export_world(struct world *w)
{
    struct world_file_progress progress = { 0 };
    struct buf out;
    bool importable;

    buf_init(&out, SIZE_MAX);
    expect(!world_file_export(guildhall_get_store(world_server(w)), guildhall_domains, &progress,
                              &out, &importable));
    expect(importable && progress.total > 0 && progress.done > 0);
    struct str text = str_dup(world_arena(w), buf_str(&out));
    buf_clear(&out);
    return text;
}

static void world_file_commands_are_registered(struct world *w)
{
    struct client *ada = import_as_ada(
        w,
        "[{'name': 'roll', 'description': 'd', 'options': [{'type': 4, 'name': 'sides', "
        "'description': 'd', 'choices': [{'name': 'Six', 'value': 6}]}]}, {'type': 3, "
        "'name': 'Keep it'}]",
        "[{'id': '31', 'name': 'here', 'description': 'd', 'default_member_permissions': '8'}]");

    expect_json(client_get(ada, "/applications/10/commands"),
                "[{'type': 1, 'name': 'roll', 'integration_types': [0], 'contexts': null, "
                "'options': [{'name': 'sides', 'choices': [{'name': 'Six', 'value': 6}]}]}, "
                "{'type': 3, 'name': 'Keep it', 'description': ''}]");
    expect_json(client_get(ada, "/applications/10/guilds/20/commands"),
                "[{'id': '31', 'guild_id': '20', 'default_member_permissions': '8'}]");
    expect_json(client_get(ada, "/guilds/20/application-command-index"),
                "{'applications': [{'id': '10'}], 'application_commands': [{'name': 'roll', "
                "'global_popularity_rank': 1}, {'name': 'Keep it'}, {'id': '31'}]}");
    expect(world_number(w, "select flags from applications") == 565248 + (1 << 23));
}

static void importing_a_world_file_again_updates_its_commands(struct world *w)
{
    import_as_ada(w, "[{'name': 'a', 'description': 'd'}, {'name': 'b', 'description': 'd'}]",
                  "[]");
    int64_t versions = world_number(w, "select sum(version) from commands");
    struct str before = export_world(w);

    /* The same file again changes nothing. */
    import_as_ada(w, "[{'name': 'a', 'description': 'd'}, {'name': 'b', 'description': 'd'}]",
                  "null");
    expect(world_number(w, "select sum(version) from commands") == versions);
    expect(world_number(w, "select flags from applications") == 565248 + (1 << 23));
    expect(str_eq(before, export_world(w)));

    /* Listed scopes are replaced as a whole; others stay. */
    int64_t a = world_number(w, "select id from commands where name = 'a'");
    int64_t b = world_number(w, "select id from commands where name = 'b'");
    world_sql(w,
              "insert into command_permissions (guild_id, target_id, entity_id, type, "
              "application_id, permission, position) values (20, %lld, 20, 1, 10, 1, 0), "
              "(20, %lld, 20, 1, 10, 1, 0)",
              (long long)a, (long long)b);
    struct client *ada = import_as_ada(
        w, TEXT(w, "[{'id': '%lld', 'name': 'c', 'description': 'new'}]", (long long)a), "[]");
    expect_json(client_get(ada, "/applications/10/commands"),
                "[{'id': '%lld', 'name': 'c', 'description': 'new'}, {'name': 'b'}]", (long long)a);
    expect(world_number(w, "select sum(version) from commands") > versions);
    /* Permissions of a renamed command are deleted. */
    expect(world_number(w, "select count(*) from command_permissions") == 1);
    expect(world_number(w, "select target_id from command_permissions") == b);
}

static void invalid_commands_of_a_world_file_are_refused(struct world *w)
{
    import_as_ada(w, "[{'id': '30', 'name': 'a', 'description': 'd'}]", "[]");
    expect_refused(w, "[{'name': 'Up', 'description': 'd'}, {'name': 'x'}]",
                   "[{'type': 4, 'name': 'x'}]",
                   "applications.0.commands.0.name: Command name is invalid\n"
                   "applications.0.commands.1.description: This field is required\n"
                   "guilds.0.applications.0.commands.0.type: Value must be one of (1, 2, 3).\n");
    expect_refused(w, "{}", "[]",
                   "applications.0.commands: Only iterables may be used in a ListType\n");
    expect_refused(w, "[{'name': 'x', 'description': 'd', 'integration_types': [1]}]", "[]",
                   "applications.0.commands.0.integration_types.0: Installation context is not "
                   "supported by the application\n");
    expect_refused(w, "[{'name': 'x', 'description': 'd'}, {'name': 'x', 'description': 'e'}]",
                   "[]", "applications.0.commands.1: Application command names must be unique\n");
    expect_refused(w, "[{'id': '40', 'name': 'a', 'description': 'd'}]", "[]",
                   "applications.0.commands.0.name: there is a command 'a' with another id\n");
    expect_refused(w, "[{'id': '30', 'type': 2, 'name': 'a'}]", "[]",
                   "applications.0.commands.0.id: this id belongs to a command of another type\n");
    expect_refused(w, "[]", "[{'id': '30', 'name': 'x', 'description': 'd'}]",
                   "guilds.0.applications.0.commands.0.id: this id belongs to something else\n");
    expect_refused(w, "[{'id': '10', 'name': 'x', 'description': 'd'}]", "[]",
                   "applications.0.commands.0.id: this id belongs to something else\n");
}

static const char *write_menu_commands(struct world *w, int count)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    for (int i = 0; i < count; i++)
        buf_printf(&out, "%s{'type': 2, 'name': 'm%d'}", i ? "," : "[", i);
    buf_add_lit(&out, "]");
    const char *text = str_dup_cstring(world_arena(w), buf_str(&out));
    buf_clear(&out);
    return text;
}

static void world_file_commands_obey_the_command_limits(struct world *w)
{
    expect_refused(w, write_menu_commands(w, 16), "[]",
                   "applications.0.commands.15: Maximum number of application commands reached "
                   "(15)\n");
    import_as_ada(w, write_menu_commands(w, 15), write_menu_commands(w, 15));
    expect_refused(w, "[{'type': 2, 'name': 'more'}]", "[]",
                   "applications.0.commands.0: Maximum number of application commands reached "
                   "(15)\n");
}

static void exported_commands_have_the_form_of_registration(struct world *w)
{
    import_as_ada(
        w,
        "[{'name': 'all', 'name_localizations': {'fr': 'tout'}, 'description': 'd', 'nsfw': "
        "true, 'dm_permission': false, 'default_member_permissions': '0', 'options': [{'type': "
        "1, 'name': 'sub', 'description': 'd', 'options': [{'type': 11, 'name': 'file', "
        "'description': 'd', 'required': true, 'file_types': ['.png']}, {'type': 10, "
        "'name': 'n', 'description': 'd', 'min_value': 0.5, 'max_value': 3}]}]}]",
        "[{'type': 2, 'name': 'Menu'}]");
    struct dom *d = dom_parse(world_arena(w), export_world(w));
    const char *id =
        TEXT(w, "%lld", (long long)world_number(w, "select id from commands where type = 1"));
    struct answer a = { .client = world_anonymous(w),
                        .json = dom_at(d, "applications.0.commands"),
                        .call = "the export" };

    expect_json(a,
                "[{'id': '%s', 'name': 'all', 'name_localizations': {'fr': 'tout'}, 'description': "
                "'d', 'nsfw': true, 'dm_permission': false, 'default_member_permissions': '0', "
                "'integration_types': [0], 'options': [{'type': 1, 'name': 'sub', 'options': "
                "[{'type': 11, 'required': true, 'file_types': ['.png']}, {'type': 10, "
                "'min_value': 0.5, 'max_value': 3}]}]}]",
                id);
    for (const char *const *key = (const char *const[]){ "0.version", "0.contexts", "0.type",
                                                         "0.description_localizations",
                                                         "0.options.0.name_localizations", NULL };
         *key; key++)
        expect_absent(a, *key);
    expect(dom_at(d, "guilds.0.applications.0.commands")->count == 1);
}

const struct test commands_world_files_tests[] = {
    TEST(world_file_commands_are_registered),
    TEST(importing_a_world_file_again_updates_its_commands),
    TEST(invalid_commands_of_a_world_file_are_refused),
    TEST(world_file_commands_obey_the_command_limits),
    TEST(exported_commands_have_the_form_of_registration),
    { 0 },
};
