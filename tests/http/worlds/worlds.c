/* worlds.c - importing and exporting world files: accounts, guilds, messages, and errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "platform/worlds/import_export.h"
#include "schema_fault.h"
#include "test_guild.h"
#include "waits.h"
#include "world_files.h"

/* --- import --------------------------------------------------------------------------- */

static void world_file_schemas_match_their_structs(struct world *w)
{
    const char *fault = schema_fault(
        world_file_schema_type(world_file_format_of_domains(guildhall_domains))->schema,
        world_arena(w));

    if (fault)
        fail_test(__FILE__, __LINE__, "%s", fault);
}

static void world_file_import_creates_all_declared_objects(struct world *w)
{
    struct world_file_import_report r = world_file_here(
        w, "{'users': [{'username': 'Ada', 'global_name': 'Ada L', 'password': 'correct horse'}, "
           "{'username': 'bob'}], 'guilds': [{'name': 'Here', 'owner': 'ada', "
           "'system_channel': 'talk', 'roles': [{'name': 'high', 'permissions': 'ALL'}, "
           "{'name': 'low', 'permissions': ['VIEW_CHANNEL', 'SPEAK'], 'color': 255}, "
           "{'name': 'third', 'permissions': 2048}], 'members': [{'user': 'bob', 'nick': 'Bo', "
           "'roles': ['low', 'high']}], 'channels': [{'name': 'talk', 'parent': 'all'}, "
           "{'name': 'all', 'type': 'category'}, {'name': 'up', 'type': 'stage', 'overwrites': "
           "[{'role': 'low', 'deny': ['SPEAK']}, {'member': 'bob', 'allow': ['SPEAK']}]}]}], "
           "'later': {'unknown': ['keys', 'are', 'ignored']}}");

    expect(report_count(&r, "users")->made == 2 && report_count(&r, "guilds")->made == 1);
    expect(report_count(&r, "roles")->made == 3 && report_count(&r, "channels")->made == 3);
    expect(world_number(w, "select count(*) from users where username = 'ada'") == 1);
    /* The owner is a member without being listed. */
    expect(world_number(w, "select member_count from guilds") == 2);
    expect(world_number(
               w, "select count(*) from members m join guilds g on g.owner_id = m.user_id") == 1);
    /* The first listed role is the highest; permissions are given by name, by number, or as all. */
    expect(world_number(w, "select position from roles where name = 'high'") == 3);
    expect(world_number(w, "select position from roles where name = 'third'") == 1);
    expect(world_number(w, "select position from roles where name = '@everyone'") == 0);
    expect(world_number(w, "select count(*) from roles r join guilds g on g.id = r.id") == 1);
    expect(world_number(w, "select permissions from roles where name = 'low'") ==
           (1 << 10 | 1 << 21));
    expect(world_number(w, "select permissions from roles where name = 'third'") == 2048);
    expect(world_number(w, "select count(*) from member_roles") == 2);
    expect(world_number(w, "select count(*) from members where nick = 'Bo'") == 1);
    /* Parents may follow their children in the file. */
    expect(world_number(w, "select count(*) from channels c join channels p on p.id = c.parent_id "
                           "where c.name = 'talk' and p.name = 'all' and p.type = 4") == 1);
    expect(world_number(w, "select count(*) from guilds g join channels c "
                           "on c.id = g.system_channel_id where c.name = 'talk'") == 1);
    expect(world_number(w, "select type from channels where name = 'up'") == 13);
    expect(world_number(w, "select count(*) from overwrites o join roles r on r.id = o.target_id "
                           "where o.type = 0 and o.deny = 2097152 and o.allow = 0") == 1);
    expect(world_number(w, "select count(*) from overwrites o join users u on u.id = o.target_id "
                           "where o.type = 1 and o.allow = 2097152 and o.deny = 0") == 1);
}

static void password_of_a_world_file_can_be_used_to_log_in(struct world *w)
{
    world_file_here(w, "{'users': [{'username': 'ada', 'password': 'correct horse'}]}");

    expect_status(client_post(world_anonymous(w), "{'login': 'ada', 'password': 'correct horse'}",
                              "/auth/login"),
                  200);
    struct answer a = client_post(world_anonymous(w), "{'login': 'ada', 'password': 'wrong horse'}",
                                  "/auth/login");
    expect(a.status == 400);
}

static void import_returns_tokens_for_users_and_bots(struct world *w)
{
    static const char FILE_[] = "{'users': [{'username': 'ada'}], 'applications': "
                                "[{'name': 'Helper', 'owner': 'ada', 'bot': 'helper'}]}";
    struct world_file_import_report r = world_file_here(w, FILE_);
    const struct imported_account_token *t = r.tokens.items;
    char bot[300], again[300];

    expect(r.tokens.count == 2 && !t[0].bot && t[1].bot);
    struct client *ada = world_client_with(w, str_dup_cstring(world_arena(w), t[0].token));
    expect_json(client_get(ada, "/users/@me"), "{'username': 'ada'}");
    snprintf(bot, sizeof bot, "Bot %.*s", STR_ARGS(t[1].token));
    expect_json(client_get(world_client_with(w, bot), "/users/@me"),
                "{'username': 'helper', 'bot': true}");

    /* A second import replaces the bot's only token. */
    world_restart(w);
    r = world_file_here(w, FILE_);
    t = r.tokens.items;
    snprintf(again, sizeof again, "Bot %.*s", STR_ARGS(t[1].token));
    expect_status(client_get(world_client_with(w, again), "/users/@me"), 200);
    expect_status(client_get(world_client_with(w, bot), "/users/@me"), 401);
    expect(world_number(w, "select count(*) from tokens") == 2);
}

static void imported_application_has_its_bots_id_and_a_key(struct world *w)
{
    world_file_here(
        w, "{'users': [{'username': 'ada'}], 'applications': "
           "[{'name': 'Helper', 'owner': 'ada', 'bot': 'helper'}], 'guilds': "
           "[{'name': 'Here', 'owner': 'ada', 'roles': [{'name': 'Helper', 'bot': 'helper'}], "
           "'members': [{'user': 'helper', 'roles': ['Helper']}], "
           "'applications': [{'application': 'Helper', 'by': 'ada'}]}]}");

    expect(world_number(w, "select count(*) from applications a join users u on u.id = a.bot_id "
                           "where u.id = a.id and u.bot = 1 and length(a.verify_key) = 64") == 1);
    expect(world_number(w, "select count(*) from roles r join users u on u.id = r.bot_id "
                           "join integrations i on i.id = r.integration_id "
                           "where r.managed = 1") == 1);
    expect(world_number(w, "select count(*) from integrations i join applications a "
                           "on a.id = i.application_id where i.type = 'service'") == 1);
}

static void imported_friendships_have_rows_for_both_users(struct world *w)
{
    world_file_here(w,
                    "{'users': [{'username': 'ada'}, {'username': 'bob'}, {'username': 'cleo'}], "
                    "'relationships': [{'user': 'ada', 'target': 'bob', 'nickname': 'Bo'}, "
                    "{'user': 'ada', 'target': 'cleo', 'type': 'request'}, "
                    "{'user': 'bob', 'target': 'cleo', 'type': 'blocked'}]}");

    expect(world_number(w, "select count(*) from relationships") == 5);
    expect(world_number(w, "select count(*) from relationships where type = 1") == 2);
    expect(world_number(
               w, "select count(*) from relationships where type = 1 and nickname = 'Bo'") == 1);
    expect(world_number(w, "select count(*) from relationships r join users u on u.id = r.user_id "
                           "where r.type = 3 and u.username = 'cleo'") == 1);
    expect(world_number(w, "select count(*) from relationships r join users u on u.id = r.user_id "
                           "where r.type = 2 and u.username = 'bob'") == 1);
}

/* An imported block removes the other side's relationship, unless it is ignored. */
static void imported_block_ends_earlier_relationships(struct world *w)
{
    static const char *const before[] = {
        "{'user': 'ada', 'target': 'bob'}",
        "{'user': 'ada', 'target': 'bob', 'type': 'request'}",
        "{'user': 'bob', 'target': 'ada', 'type': 'request'}",
    };
    static const char people[] = "{'users': [{'username': 'ada'}, {'username': 'bob'}], "
                                 "'relationships': [";

    for (int i = 0; i < 3; i++) {
        world_file_here(w, str_printf(world_arena(w),
                                      "%s%s, {'user': 'ada', 'target': 'bob', 'type': 'blocked'}]}",
                                      people, before[i])
                               .p);
        expect(world_number(w, "select count(*) from relationships") == 1);
        expect(world_number(w, "select count(*) from relationships where type = 2") == 1);
    }
    world_file_here(w, "{'relationships': [{'user': 'bob', 'target': 'ada', 'type': 'blocked'}]}");
    expect(world_number(w, "select count(*) from relationships where type = 2") == 2);
    world_file_here(w, "{'relationships': [{'user': 'bob', 'target': 'ada'}]}");
    expect(world_number(w, "select count(*) from relationships where type = 1") == 2);
}

static void world_file_phone_numbers_are_imported_and_exported(struct world *w)
{
    world_file_here(w,
                    "{'users': [{'username': 'ada', 'phone': '+15550100'}, {'username': 'bob'}]}");
    world_file_here(w, "{'users': [{'username': 'ada'}]}");
    expect(world_number(w, "select count(*) from users where phone = '+15550100'") == 1);
    struct str out = world_exported(w, guildhall_get_store(world_server(w)));
    expect(memmem(out.p, out.n, "+15550100", 9) != NULL);
}

static void world_file_phone_numbers_must_be_unique(struct world *w)
{
    expect_file_refused(w,
                        "{'users': [{'username': 'ada', 'phone': '+15550100'}, {'username': 'bob', "
                        "'phone': '+15550100'}, {'username': 'cleo', 'phone': '12'}]}",
                        "users.2.phone: Must be a phone number such as +15550100.\n");
    expect_file_refused(w,
                        "{'users': [{'username': 'ada', 'phone': '+15550100'}, {'username': 'bob', "
                        "'phone': '+15550100'}]}",
                        "users.1.phone: '+15550100' already belongs to another account\n");
}

static void imported_messages_are_ordered_and_not_duplicated(struct world *w)
{
    static const char FILE_[] =
        "{'users': [{'username': 'ada'}, {'username': 'bob'}], 'directs': [{'people': "
        "['ada', 'bob'], 'messages': [{'author': 'ada', 'minutes_ago': 5, 'content': 'one'}, "
        "{'author': 'bob', 'minutes_ago': 5, 'content': 'two'}, "
        "{'author': 'bob', 'at': '2024-05-01T10:00:00Z', 'content': 'zero'}]}], "
        "'groups': [{'name': 'us', 'owner': 'bob', 'people': ['ada']}]}";
    world_file_here(w, FILE_);

    expect(world_number(w, "select count(*) from messages where content = 'zero' "
                           "and id = (select min(id) from messages)") == 1);
    expect(world_number(w, "select count(*) from channels c join messages m "
                           "on m.id = c.last_message_id where m.content = 'two'") == 1);
    expect(world_number(w, "select count(*) from recipients") == 4);
    expect(world_number(w, "select count(*) from direct_channels where low_id < high_id") == 1);

    struct world_file_import_report r = world_file_here(w, FILE_);
    expect(report_count(&r, "messages")->made == 0 && report_count(&r, "messages")->known == 3);
    expect(report_count(&r, "channels")->made == 0 && report_count(&r, "channels")->known == 2);
    expect(world_number(w, "select count(*) from messages") == 3);
}

static void importing_a_changed_world_file_updates_objects(struct world *w)
{
    world_file_here(
        w, "{'users': [{'username': 'ada', 'global_name': 'Ada', 'bio': 'kept'}], 'guilds': "
           "[{'name': 'Here', 'owner': 'ada', 'roles': [{'name': 'one', 'color': 1}], "
           "'members': [{'user': 'ada', 'roles': ['one']}]}]}");
    struct world_file_import_report r = world_file_here(
        w, "{'users': [{'username': 'ada', 'global_name': 'Countess'}], 'guilds': "
           "[{'name': 'Here', 'owner': 'ada', 'roles': [{'name': 'one', 'color': 2}, "
           "{'name': 'two'}], 'members': [{'user': 'ada', 'roles': ['two']}]}]}");

    expect(report_count(&r, "users")->made == 0 && report_count(&r, "users")->known == 1);
    expect(report_count(&r, "roles")->made == 1 && report_count(&r, "roles")->known == 1);
    expect(world_number(w, "select count(*) from users where global_name = 'Countess' "
                           "and bio = 'kept'") == 1);
    expect(world_number(w, "select color from roles where name = 'one'") == 2);
    expect(world_number(w, "select count(*) from member_roles mr join roles r on r.id = mr.role_id "
                           "where r.name = 'two'") == 1);
    expect(world_number(w, "select count(*) from member_roles") == 1);
    expect(world_number(w, "select member_count from guilds") == 1);
}

/* --- errors --------------------------------------------------------------------------- */

static void world_file_errors_name_the_json_path(struct world *w)
{
    expect_file_refused(
        w,
        "{'users': [{'username': 'a'}, {}], 'guilds': [{'name': 'Here', 'owner': 7, "
        "'roles': [{'name': 'one', 'permissions': ['FLY']}], 'channels': "
        "[{'name': 'talk', 'type': 'cinema'}]}]}",
        "users.0.username: Must be between 2 and 32 in length.\n"
        "users.1.username: This field is required\n"
        "guilds.0.roles.0.permissions: 'FLY' is not a permission.\n"
        "guilds.0.channels.0.type: Value must be one of ('text', 'voice', 'category', "
        "'news', 'news_thread', 'thread', 'private_thread', 'stage', 'forum', 'media').\n");
    expect_file_refused(w, "{'users': [{'username': 'ada'}",
                        "the file: line 1, column 31, at users.0: the text ends before it is "
                        "complete\n");
    expect_file_refused(w, "[]", "the file: Only dictionaries may be used in a ModelType\n");
}

static void unknown_names_in_a_world_file_are_all_reported(struct world *w)
{
    expect_file_refused(w,
                        "{'users': [{'username': 'ada'}], 'applications': [{'name': 'A', 'owner': "
                        "'zoe'}], 'guilds': [{'name': 'Here', 'owner': 'ada', "
                        "'afk_channel': 'nowhere', 'members': [{'user': 'bob'}, {'user': 'ada', "
                        "'roles': ['none']}], 'channels': [{'name': 'talk', 'parent': 'gone', "
                        "'overwrites': [{'role': 'none'}], 'messages': [{'author': 'bob', "
                        "'content': 'x'}]}]}], 'relationships': [{'user': 'ada', 'target': 'bob'}, "
                        "{'user': 'ada', 'target': 'ada'}]}",
                        "applications.0.owner: there is no user 'zoe'\n"
                        "guilds.0.members.0.user: there is no user 'bob'\n"
                        "guilds.0.members.1.roles.0: there is no role 'none'\n"
                        "guilds.0.channels.0.parent: there is no channel 'gone'\n"
                        "guilds.0.channels.0.overwrites.0.role: there is no role 'none'\n"
                        "guilds.0.channels.0.messages.0.author: there is no user 'bob'\n"
                        "guilds.0.afk_channel: there is no channel 'nowhere'\n"
                        "relationships.0.target: there is no user 'bob'\n"
                        "relationships.1.target: user and target must be different accounts\n");
}

static void json_fields_of_a_world_file_are_checked_by_type(struct world *w)
{
    expect_file_refused(
        w,
        "{'users': [{'username': 'ada'}], 'applications': [{'name': 'A', 'owner': "
        "'ada', 'tags': [1], 'install_params': []}], 'guilds': [{'name': 'Here', "
        "'owner': 'ada', 'features': 'all', 'channels': [{'name': 'c', 'overwrites': "
        "[{'allow': []}], 'messages': [{'author': 'ada', 'content': '', "
        "'embeds': ['x']}]}]}], 'groups': [{'people': ['ada']}]}",
        "applications.0.tags: Must be a list of strings.\n"
        "applications.0.install_params: Must be an object.\n"
        "guilds.0.channels.0.overwrites.0: An overwrite needs either a role or a member.\n"
        "guilds.0.channels.0.messages.0.embeds: Must be a list of objects.\n"
        "guilds.0.features: Must be a list of strings.\n");
}

static void world_file_bot_must_be_a_bot_of_one_application(struct world *w)
{
    expect_file_refused(w,
                        "{'users': [{'username': 'ada'}, {'username': 'helper', 'bot': true}], "
                        "'applications': [{'name': 'A', 'owner': 'ada', 'bot': 'ada'}, "
                        "{'name': 'B', 'owner': 'ada', 'bot': 'helper'}, "
                        "{'name': 'C', 'owner': 'ada', 'bot': 'helper', 'id': "
                        "'1000000000000000001'}]}",
                        "applications.0.bot: 'ada' is a person, not a bot\n"
                        "applications.2.bot: 'helper' is the bot of another app\n");
}

static void world_file_private_channels_require_valid_recipients(struct world *w)
{
    expect_file_refused(w,
                        "{'users': [{'username': 'ada'}], 'directs': [{'people': ['ada']}, "
                        "{'people': ['ada', 'ada']}], 'groups': [{'people': ['ada'], "
                        "'owner': 'ada'}, {'name': 'us', 'people': ['ada']}]}",
                        "directs.0.people: a direct channel needs exactly two different users\n"
                        "directs.1.people: a direct channel needs exactly two different users\n"
                        "groups.0: a group needs an owner, and a name or an id\n"
                        "groups.1: a group needs an owner, and a name or an id\n");
}

static void world_file_ids_of_other_objects_are_refused(struct world *w)
{
    struct world_file_import_report report;
    struct store *store = guildhall_get_store(world_server(w));

    world_file_here(
        w, "{'users': [{'username': 'ada', 'id': '1000000000000000001', 'email': 'a@b.c'}, "
           "{'username': 'bob'}], 'guilds': [{'name': 'Here', 'owner': 'ada', 'roles': "
           "[{'name': 'one', 'id': '1000000000000000002'}]}, {'name': 'Twin', 'id': "
           "'1000000000000000012', 'owner': 'bob'}, {'name': 'Twin', 'id': "
           "'1000000000000000014', 'owner': 'bob'}]}");
    enum err e = world_file_into(
        w, store,
        world_text(w, "{'users': [{'username': 'ada', 'id': '1000000000000000003'}, "
                      "{'username': 'bob', 'email': 'a@b.c'}, "
                      "{'username': 'bob', 'id': '1000000000000000001'}], 'guilds': "
                      "[{'name': 'There', 'owner': 'bob', 'roles': [{'name': 'one', "
                      "'id': '1000000000000000002'}]}, {'name': 'Twin', 'owner': 'bob'}]}"),
        false, &report);
    expect(e == ERR_INVALID_FORM_BODY);
    expect_same(report.problems,
                STR("users.0.id: there is a user 'ada' with another id\n"
                    "users.1.email: 'a@b.c' already belongs to another account\n"
                    "users.2.username: 'bob' already belongs to another account\n"
                    "guilds.0.roles.0.id: this id belongs to another guild's role\n"
                    "guilds.1.name: there are 2 guilds called 'Twin': give the id\n"));
    expect(world_number(w, "select count(*) from guilds") == 3);
}

/* --- export --------------------------------------------------------------------------- */

static void exported_world_imports_to_the_same_world(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct world_file_import_report report;

    world_file_here(w, world_demo);
    struct str first = world_exported_here(w);
    enum err e = world_file_into(w, other.store, first, false, &report);
    struct str second = e ? report.problems : world_exported(w, other.store);
    elsewhere_close(&other);
    expect_same(first, second);
    /* The export contains all objects and messages of the demo. */
    struct dom *d = dom_parse(world_arena(w), first);
    expect(dom_at(d, "users")->count == 7 && dom_at(d, "relationships")->count == 6);
    expect(dom_at(d, "guilds.0.channels")->count == 12 && dom_at(d, "guilds.0.roles")->count == 5);
    /* Its bot has all intents, and its app has commands, which sets a flag. */
    expect(world_number(w, "select flags from applications") == 565248 + (1 << 23));
    expect(dom_at(d, "applications.0.commands")->count == 6);
    expect(dom_at(d, "directs.0.messages")->count == 2 && dom_at(d, "groups.0.people")->count == 3);
}

static void imported_applications_have_all_intents_by_default(struct world *w)
{
    world_file_here(w, "{'users': [{'username': 'ada'}], 'applications': ["
                       "{'name': 'Some', 'owner': 'ada', 'bot': 'some'}, "
                       "{'name': 'None', 'owner': 'ada', 'bot': 'none', 'flags': 0}]}");
    expect(world_number(w, "select flags from applications where name = 'Some'") == 565248);
    expect(world_number(w, "select flags from applications where name = 'None'") == 0);

    /* Fields absent from the file keep their values. */
    world_file_here(w, "{'applications': [{'name': 'None', 'owner': 'ada'}]}");
    expect(world_number(w, "select flags from applications where name = 'None'") == 0);
}

static void importing_the_demo_twice_changes_nothing(struct world *w)
{
    world_file_here(w, world_demo);
    struct str first = world_exported_here(w);
    struct world_file_import_report r = world_file_here(w, world_demo);
    expect_same(first, world_exported_here(w));
    for (const struct imported_object_count *c = r.counts; c->what; c++)
        expect(c->made == 0);
}

static void objects_with_equal_names_are_exported_by_id(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct world_file_import_report report;

    world_file_here(
        w, "{'users': [{'username': 'ada'}], 'guilds': [{'name': 'Here', 'owner': 'ada', "
           "'roles': [{'name': 'twin', 'id': '1000000000000000001'}, {'name': 'twin', 'id': "
           "'1000000000000000002'}], 'members': [{'user': 'ada', 'roles': "
           "['1000000000000000002']}], 'channels': [{'name': 'c', 'type': 'category', 'id': "
           "'1000000000000000003'}, {'name': 'c', 'id': '1000000000000000004', 'parent': "
           "'1000000000000000003', 'overwrites': [{'role': '1000000000000000001', 'deny': "
           "'1024'}]}]}]}");
    struct str first = world_exported_here(w);
    struct dom *d = dom_parse(world_arena(w), first);
    expect(str_is(dom_at(d, "guilds.0.members.0.roles.0")->text, "1000000000000000002"));
    expect(str_is(dom_at(d, "guilds.0.channels.1.parent")->text, "1000000000000000003"));

    enum err e = world_file_into(w, other.store, first, false, &report);
    struct str second = e ? report.problems : world_exported(w, other.store);
    elsewhere_close(&other);
    expect_same(first, second);
}

static const char LEAVING_WORLD[] =
    "{'users': [{'id': '11', 'username': 'ada'}, {'id': '12', 'username': 'bob', 'deleting': true},"
    "   {'id': '13', 'username': 'cleo', 'disabled': true}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada', 'members': [{'user': 'bob'}, {'user': 'cleo'}],"
    "   'channels': [{'name': 'general', 'messages': [{'author': 'bob', 'content': 'so long'}]}]}]}";

/* Messages of an erased account stay: the export names its author. */
static void erased_accounts_are_exported_with_their_messages(struct world *w)
{
    world_file_here(w, LEAVING_WORLD);
    world_file_here(w, LEAVING_WORLD);
    expect(world_number(w, "select count(*) from jobs where kind = 'account-deletion'") == 1);
    expect(world_number(w, "select count(*) from users where id = 13 and disabled = 1") == 1);
    expect_round_trip(w);
    world_wait(w, 15 * 86400);
    world_settle(w);
    expect(world_number(w, "select count(*) from users where username = 'deleted_12'") == 1);
    expect_round_trip(w);
    struct dom *d = dom_parse(world_arena(w), world_exported_here(w));
    expect(dom_at(d, "users.1.deleting")->truth && !dom_at(d, "users.0.disabled"));
    expect(str_is(dom_at(d, "guilds.0.channels.0.messages.0.author")->text, "deleted_12"));
    expect(dom_at(d, "guilds.0.members")->count == 2); /* ada and cleo */
}

static void sounds_with_equally_named_emojis_are_exported_by_id(struct world *w)
{
    world_file_here(w,
                    "{'users': [{'username': 'ada'}], 'guilds': [{'name': 'Home', 'owner': 'ada', "
                    "'emojis': [{'id': '71', 'name': 'bell'}, {'id': '72', 'name': 'bell'}], "
                    "'sounds': [{'name': 'ring', 'emoji': '72'}]}]}");
    expect_round_trip(w);
}

const struct test worlds_tests[] = {
    TEST(world_file_schemas_match_their_structs),
    TEST(world_file_import_creates_all_declared_objects),
    TEST(password_of_a_world_file_can_be_used_to_log_in),
    TEST(import_returns_tokens_for_users_and_bots),
    TEST(imported_application_has_its_bots_id_and_a_key),
    TEST(imported_friendships_have_rows_for_both_users),
    TEST(imported_block_ends_earlier_relationships),
    TEST(world_file_phone_numbers_are_imported_and_exported),
    TEST(world_file_phone_numbers_must_be_unique),
    TEST(imported_messages_are_ordered_and_not_duplicated),
    TEST(importing_a_changed_world_file_updates_objects),
    TEST(world_file_errors_name_the_json_path),
    TEST(unknown_names_in_a_world_file_are_all_reported),
    TEST(json_fields_of_a_world_file_are_checked_by_type),
    TEST(world_file_bot_must_be_a_bot_of_one_application),
    TEST(world_file_private_channels_require_valid_recipients),
    TEST(world_file_ids_of_other_objects_are_refused),
    TEST(exported_world_imports_to_the_same_world),
    TEST(imported_applications_have_all_intents_by_default),
    TEST(importing_the_demo_twice_changes_nothing),
    TEST(objects_with_equal_names_are_exported_by_id),
    TEST(erased_accounts_are_exported_with_their_messages),
    TEST(sounds_with_equally_named_emojis_are_exported_by_id),
    { 0 },
};
