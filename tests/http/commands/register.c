/* register.c - creating, reading, changing and deleting commands. */
#include <stdlib.h>

#include "apps.h"
#include "platforms.h"
#include "waits.h"
#include "test_app.h"

/* --- creating ------------------------------------------------------------------------- */

static void creating_a_command_returns_all_its_fields(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct answer a =
        client_post(s.bot, "{'name': 'ping', 'description': 'Answers'}", "%s", s.global);

    expect_status(a, 201);
    expect_json(a,
                "{'application_id': '%s', 'type': 1, 'name': 'ping', 'description': 'Answers', "
                "'name_localizations': null, 'description_localizations': null, "
                "'default_member_permissions': null, 'dm_permission': true, 'nsfw': false, "
                "'contexts': null, 'integration_types': [0, 1]}",
                s.app);
    expect_absent(a, "guild_id");
    expect_absent(a, "options");
    expect_absent(a, "handler");
    expect_absent(a, "name_localized");
    expect_absent(a, "global_popularity_rank");
    expect(strcmp(answer_text(a, "version"), answer_text(a, "id")) == 0);
    expect_json(client_get(s.bot, "%s/%s", s.global, answer_text(a, "id")),
                "{'id': '%s', 'name': 'ping', 'name_localizations': null, 'version': '%s'}",
                answer_text(a, "id"), answer_text(a, "version"));
}

static void guild_command_ignores_fields_of_global_commands(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct answer a = client_post(s.bot,
                                  "{'name': 'ping', 'description': 'Answers', 'contexts': [9], "
                                  "'dm_permission': 7, 'integration_types': 'x', 'handler': 9, "
                                  "'default_permission': true}",
                                  "%s", s.local);

    expect_status(a, 201);
    expect_json(a, "{'guild_id': '%s', 'nsfw': false, 'default_member_permissions': null}",
                s.guild);
    expect_absent(a, "contexts");
    expect_absent(a, "dm_permission");
    expect_absent(a, "integration_types");
    expect_absent(a, "handler");
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_APPLICATION_COMMAND_INDEX_UPDATE",
                    "{'guild_id': '%s'}", s.guild);
    expect_nothing_received(w);
}

static void command_is_stored_with_all_given_fields(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct answer a = client_post(
        s.bot,
        "{'type': 1, 'name': 'paint', 'description': 'Paints', 'nsfw': true, "
        "'default_member_permissions': 8, 'contexts': [2, 0, 2], 'integration_types': [1], "
        "'name_localizations': {'fr': 'peindre', 'de': 'malen'}, 'options': ["
        "{'type': 3, 'name': 'color', 'description': 'Which', 'required': true, 'choices': ["
        "{'name': 'Red', 'value': 'r', 'name_localizations': {'de': 'Rot'}}]},"
        "{'type': 10, 'name': 'size', 'description': 'How large', 'min_value': 0.5, "
        "'max_value': 20, 'autocomplete': false, 'required': null},"
        "{'type': 4, 'name': 'count', 'description': 'How many', 'choices': ["
        "{'name': 'One', 'value': 1.0}]},"
        "{'type': 3, 'name': 'title', 'description': 'Called', 'min_length': 0, "
        "'max_length': 6000, 'autocomplete': true, 'choices': []},"
        "{'type': 7, 'name': 'where', 'description': 'Where', 'channel_types': [0, 5]},"
        "{'type': 11, 'name': 'file', 'description': 'File', 'file_types': ['IMAGE', '.TXT']}]}",
        "%s", s.global);

    expect_status(a, 201);
    expect_json(a, "{'nsfw': true, 'default_member_permissions': '8', 'contexts': [0, 2], "
                   "'dm_permission': false, 'integration_types': [1], "
                   "'name_localizations': {'de': 'malen', 'fr': 'peindre'}, 'options': ["
                   "{'type': 3, 'name': 'color', 'required': true, 'name_localizations': null, "
                   "'description_localizations': null, 'choices': [{'name': 'Red', 'value': 'r', "
                   "'name_localizations': {'de': 'Rot'}}]},"
                   "{'min_value': 0.5, 'max_value': 20}, "
                   "{'choices': [{'value': 1, 'name_localizations': null}]},"
                   "{'min_length': 0, 'max_length': 6000, 'autocomplete': true},"
                   "{'channel_types': [0, 5]}, {'type': 11}]}");
    expect_absent(a, "options.1.autocomplete");
    expect_absent(a, "options.1.required");
    expect_absent(a, "options.3.choices");
    expect_absent(a, "options.5.file_types");
    struct answer b = client_get(s.bot, "%s/%s", s.global, answer_text(a, "id"));
    expect(str_eq(a.body, b.body));
    b = client_get(s.bot, "%s?with_localizations=true", s.global);
    expect(b.body.n == a.body.n + 2 && memcmp(b.body.p + 1, a.body.p, a.body.n) == 0);
}

static void fields_that_do_not_apply_to_the_type_are_dropped(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct answer a = client_post(
        s.bot,
        "{'name': 'x', 'description': 'd', 'handler': 2, 'options': ["
        "{'type': 5, 'name': 'a', 'description': 'd', 'min_value': 1, 'max_length': 2, "
        "'channel_types': [0], 'file_types': ['image'], 'options': [{'type': 77, 'name': 'Q Q', "
        "'description': 'd'}], 'choices': []}]}",
        "%s", s.global);

    expect_status(a, 201);
    expect_absent(a, "handler");
    expect_absent(a, "options.0.min_value");
    expect_absent(a, "options.0.max_length");
    expect_absent(a, "options.0.channel_types");
    expect_absent(a, "options.0.options");
    expect_absent(a, "options.0.choices");
    a = client_post(s.bot,
                    "{'name': 'y', 'description': 'd', 'options': [{'type': 1, 'name': 'a', "
                    "'description': 'd', 'required': false, 'options': []}]}",
                    "%s", s.global);
    expect_status(a, 201);
    expect_absent(a, "options.0.required");
    expect_absent(a, "options.0.options");
}

static void context_menu_command_has_only_a_name(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct answer a = client_post(s.bot,
                                  "{'type': 2, 'name': '  High Five ', 'description': '', "
                                  "'name_localizations': {'de': ' Einschlagen '}}",
                                  "%s", s.global);

    expect_status(a, 201);
    expect_json(a, "{'type': 2, 'name': 'High Five', 'description': '', "
                   "'description_localizations': null, "
                   "'name_localizations': {'de': 'Einschlagen'}}");
    expect_status(
        client_post(s.bot, "{'type': 3, 'name': 'High Five', 'description': null}", "%s", s.global),
        201);
    /* Commands of the same name and different type are separate. */
    expect_status(client_post(s.bot, "{'type': 2, 'name': 'High Five'}", "%s", s.global), 200);
    expect(store_count(w, "select count(*) from commands") == 2);
}

static void creating_a_command_with_an_existing_name_overwrites_it(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct answer a = client_post(s.bot,
                                  "{'name': 'ping', 'description': 'Answers', 'nsfw': true, "
                                  "'default_member_permissions': '0'}",
                                  "%s", s.global);
    const char *id = answer_text(a, "id"), *version = answer_text(a, "version");

    expect_json(a, "{'default_member_permissions': '0'}");
    a = client_post(s.bot, "{'name': 'ping', 'description': 'Speaks'}", "%s", s.global);
    expect_status(a, 200);
    expect_json(a,
                "{'id': '%s', 'description': 'Speaks', 'nsfw': false, "
                "'default_member_permissions': null}",
                id);
    expect(id_of(answer_text(a, "version")) > id_of(version));
    /* A guild command of the same name is another command. */
    expect_status(client_post(s.bot, "{'name': 'ping', 'description': 'd'}", "%s", s.local), 201);
    expect_json(client_get(s.bot, "%s", s.global), "[{'id': '%s'}]", id);
}

/* --- changing ------------------------------------------------------------------------- */

static void command_patch_changes_only_the_given_fields(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(
        s.bot, s.global,
        "{'name': 'ping', 'description': 'Answers', 'nsfw': true, "
        "'default_member_permissions': '16', 'contexts': [0, 1], 'integration_types': [0], "
        "'name_localizations': {'de': 'klopf'}, "
        "'options': [{'type': 5, 'name': 'loud', 'description': 'd'}]}");
    struct answer a =
        client_patch(s.bot, "{'description': 'Speaks', 'type': 2}", "%s/%s", s.global, id);

    expect_status(a, 200);
    expect_json(a, "{'type': 1, 'name': 'ping', 'description': 'Speaks', 'nsfw': true, "
                   "'default_member_permissions': '16', 'contexts': [0, 1], "
                   "'integration_types': [0], 'name_localizations': {'de': 'klopf'}, "
                   "'options': [{'name': 'loud'}]}");
    a = client_patch(s.bot,
                     "{'options': null, 'name_localizations': null, 'contexts': null, "
                     "'nsfw': null, 'integration_types': null, "
                     "'default_member_permissions': null, 'name': null}",
                     "%s/%s", s.global, id);
    expect_status(a, 200);
    expect_json(a, "{'name': 'ping', 'nsfw': false, 'default_member_permissions': null, "
                   "'contexts': null, 'integration_types': [0, 1], 'name_localizations': null}");
    expect_absent(a, "options");
}

static void dm_permission_adds_or_removes_the_bot_dm_context(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id =
        make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd', 'contexts': [0, 2]}");

    expect_json(client_patch(s.bot, "{'dm_permission': true}", "%s/%s", s.global, id),
                "{'contexts': [0, 1, 2], 'dm_permission': true}");
    expect_json(client_patch(s.bot, "{'dm_permission': false}", "%s/%s", s.global, id),
                "{'contexts': [0, 2], 'dm_permission': false}");
    expect_json(
        client_patch(s.bot, "{'dm_permission': true, 'contexts': [2]}", "%s/%s", s.global, id),
        "{'contexts': [2], 'dm_permission': false}");
    /* Without contexts dm_permission has its default. */
    expect_json(client_patch(s.bot, "{'contexts': null}", "%s/%s", s.global, id),
                "{'contexts': null, 'dm_permission': true}");
    expect_json(client_patch(s.bot, "{'contexts': [1]}", "%s/%s", s.global, id),
                "{'contexts': [1], 'dm_permission': true}");
    expect_json(client_patch(s.bot, "{'dm_permission': false}", "%s/%s", s.global, id),
                "{'contexts': [0], 'dm_permission': false}");
    expect_json(client_post(s.bot, "{'name': 'b', 'description': 'd', 'dm_permission': false}",
                            "%s", s.global),
                "{'contexts': null, 'dm_permission': false}");
    expect_json(client_post(s.bot, "{'name': 'c', 'description': 'd', 'dm_permission': null}", "%s",
                            s.global),
                "{'contexts': null, 'dm_permission': true}");
}

static void command_version_changes_only_with_its_definition(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *json = "{'name': 'ping', 'description': 'd', 'name_localizations': "
                       "{'fr': 'x', 'de': 'y'}, 'options': [{'type': 3, 'name': 'a', "
                       "'description': 'd', 'choices': [{'name': 'A', 'value': 'a'}]}]}";
    const char *same = "{'options': [{'choices': [{'value': '\\u0061', 'name': 'A'}], "
                       "'required': null, 'name': 'a', 'description': 'd', 'type': 3}], "
                       "'name_localizations': {'de': 'y', 'fr': 'x', 'it': null}, "
                       "'description': 'd', 'name': 'ping', 'nsfw': false, 'contexts': null}";
    struct answer a = client_post(s.bot, json, "%s", s.local);
    const char *id = answer_text(a, "id"), *version = answer_text(a, "version");

    discard_received(w);
    expect_json(client_post(s.bot, same, "%s", s.local), "{'version': '%s'}", version);
    expect_nothing_received(w);
    /* A PATCH without changes still sends the event. */
    expect_json(client_patch(s.bot, "{'description': 'd'}", "%s/%s", s.local, id),
                "{'version': '%s'}", version);
    expect_json(client_patch(s.bot, "{}", "%s/%s", s.local, id), "{'version': '%s'}", version);
    for (int i = 0; i < 2; i++)
        expect_received(w, audience_of_guild(id_of(s.guild)),
                        "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect_nothing_received(w);
    a = client_patch(s.bot, "{'description': 'e'}", "%s/%s", s.local, id);
    expect(id_of(answer_text(a, "version")) > id_of(version));
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_APPLICATION_COMMAND_INDEX_UPDATE",
                    "{'guild_id': '%s'}", s.guild);
}

static void renaming_a_command_to_an_existing_name_is_400_40041(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");

    make_command(s.bot, s.global, "{'name': 'pong', 'description': 'd'}");
    make_command(s.bot, s.global, "{'type': 2, 'name': 'pung'}");
    make_command(s.bot, s.local, "{'name': 'pang', 'description': 'd'}");
    expect_error(client_patch(s.bot, "{'name': 'pong'}", "%s/%s", s.global, id), 400, 40041);
    expect_status(client_patch(s.bot, "{'name': 'pung'}", "%s/%s", s.global, id), 200);
    expect_status(client_patch(s.bot, "{'name': 'pang'}", "%s/%s", s.global, id), 200);
    expect_status(client_patch(s.bot, "{'name': 'pang'}", "%s/%s", s.global, id), 200);
}

static void changed_command_is_validated_as_a_whole(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *menu = make_command(s.bot, s.global, "{'type': 2, 'name': 'Wave'}");
    const char *slash = make_command(s.bot, s.global, "{'name': 'wave', 'description': 'd'}");

    expect_invalid(client_patch(s.bot, "{'description': 'd'}", "%s/%s", s.global, menu),
                   "description", "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION_INVALID");
    expect_invalid(client_patch(s.bot, "{'name': 'Wave'}", "%s/%s", s.global, slash), "name",
                   "APPLICATION_COMMAND_INVALID_NAME");
    expect_invalid(client_patch(s.bot, "{'description': null}", "%s/%s", s.global, slash),
                   "description", "BASE_TYPE_REQUIRED");
    expect_status(client_patch(s.bot, "{'name': 'Wave Twice'}", "%s/%s", s.global, menu), 200);
    expect_invalid(client_patch(s.bot,
                                "{'options': [{'type': 3, 'name': 'A', 'description': 'd'}]}",
                                "%s/%s", s.global, slash),
                   "options.0.name", "APPLICATION_COMMAND_INVALID_NAME");
}

/* --- events --------------------------------------------------------------------------- */

static size_t count_index_events(struct world *w)
{
    return world_count_events(w, EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE);
}

/* Events follow the commit, whose rows may be visible earlier. */
static void expect_count_of_command_index_events(struct world *w, size_t count)
{
    world_settle(w);
    expect(count_index_events(w) == count);
}

/* An app may be in any number of guilds, and each gets the event. */
static void global_command_change_notifies_1300_guilds_in_batches(struct world *w)
{
    enum { GUILDS = 1300 };
    struct test_app s = world_test_app(w);
    size_t before = count_index_events(w);

    world_sql(w,
              "insert into guilds (id, name, owner_id) with recursive n (i) as (select 1 union all "
              "select i + 1 from n where i < %d) select i, 'g', %s from n",
              GUILDS, s.ada->id);
    world_sql(w,
              "insert into integrations (id, guild_id, type, name, application_id, created_at) "
              "select id, id, 'service', 'a', %s, 0 from guilds where id <= %d",
              s.app, GUILDS);
    make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");
    expect_count_of_command_index_events(w, before + GUILDS + 1);
    expect_number(w, 0, "select count(*) from jobs where kind = 'command_news'");
    world_wait(w, 2);
    make_command(s.bot, s.global, "{'name': 'pong', 'description': 'd'}");
    expect_count_of_command_index_events(w, before + 2 * (GUILDS + 1));
    expect_number(w, 0, "select count(*) from jobs where kind = 'command_news'");
}

/* --- deleting ------------------------------------------------------------------------- */

static void deleted_command_is_404_10063(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.local, "{'name': 'ping', 'description': 'd'}");

    expect_status(client_delete(s.bot, "%s/%s", s.local, id), 204);
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_APPLICATION_COMMAND_INDEX_UPDATE",
                    "{'guild_id': '%s'}", s.guild);
    expect_error(client_get(s.bot, "%s/%s", s.local, id), 404, 10063);
    expect_error(client_delete(s.bot, "%s/%s", s.local, id), 404, 10063);
    expect_error(client_patch(s.bot, "{}", "%s/%s", s.local, id), 404, 10063);
    expect_json(client_get(s.bot, "%s", s.local), "[]");
}

static void command_is_found_only_in_its_own_scope(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *global = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");
    const char *local = make_command(s.bot, s.local, "{'name': 'ping', 'description': 'd'}");
    const char *other = found_guild(s.ada, "Elsewhere");

    install(s.ada, s.app, other, "applications.commands");
    expect_error(client_get(s.bot, "%s/%s", s.global, local), 404, 10063);
    expect_error(client_get(s.bot, "%s/%s", s.local, global), 404, 10063);
    expect_error(
        client_delete(s.bot, "/applications/%s/guilds/%s/commands/%s", s.app, other, local), 404,
        10063);
    const char *app = make_application(s.ada, "Second");
    expect_error(client_get(s.ada, "/applications/%s/commands/%s", app, global), 404, 10063);
}

/* --- permissions ---------------------------------------------------------------------- */

static void registering_commands_requires_bot_or_developer_of_the_app(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *eve = world_client(w, "eve"), *dev = world_client(w, "dev"),
                  *reader = world_client(w, "reader");
    const char *json = "{'name': 'ping', 'description': 'd'}";
    const char *team = make_team(s.ada, "Crew");

    expect_error(client_post(eve, json, "%s", s.global), 403, 20012);
    expect_error(client_post(eve, json, "%s", s.local), 403, 20012);
    expect_error(client_get(eve, "%s", s.global), 403, 20012);
    expect_error(client_get(eve, "%s", s.local), 403, 20012);
    const char *other = make_application(eve, "Other");
    struct client *other_bot = application_bot(eve, other);
    expect_error(client_post(other_bot, json, "%s", s.global), 403, 20012);
    expect_error(client_put(other_bot, "[]", "%s", s.global), 403, 20012);
    expect_error(client_put(s.ada, "[]", "%s", s.global), 403, 20002);
    expect_error(client_post(s.ada, json, "/applications/1/commands"), 404, 10002);
    expect_status(client_post(s.ada, json, "%s", s.global), 201);

    join_team(s.ada, team, dev, "developer");
    join_team(s.ada, team, reader, "read_only");
    expect_status(
        client_post(s.ada, TEXT(w, "{'team_id': '%s'}", team), "/applications/%s/transfer", s.app),
        200);
    expect_status(client_post(dev, json, "%s", s.global), 200);
    expect_status(client_get(dev, "%s", s.local), 200);
    expect_error(client_post(reader, json, "%s", s.global), 403, 20012);
}

static void bearer_token_can_register_commands_of_its_application(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *json = "{'name': 'ping', 'description': 'd'}";
    const char *secret = application_secret(s.ada, s.app);
    struct answer a = client_form(world_anonymous(w), "/oauth2/token",
                                  "grant_type=client_credentials&scope=applications.commands."
                                  "update&client_id=%s&client_secret=%s",
                                  s.app, secret);
    struct client *bearer =
        world_client_with(w, TEXT(w, "Bearer %s", answer_text(a, "access_token")));

    expect_status(client_post(bearer, json, "%s", s.global), 201);
    expect_status(client_put(bearer, "[]", "%s", s.global), 200);
    expect_status(client_get(bearer, "%s", s.local), 200);
    const char *other = make_application(s.ada, "Other");
    expect_error(client_post(bearer, json, "/applications/%s/commands", other), 403, 20012);
    struct client *weak = world_token(w, s.ada, CALLER_BEARER, "identify", 0);
    expect_error(client_post(weak, json, "%s", s.global), 403, 50026);
}

static void users_with_a_direct_channel_can_list_the_bots_commands(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0);
    const char *id = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");

    expect_error(client_get(bob, "%s", s.global), 403, 20012);
    expect_status(client_post(bob, TEXT(w, "{'recipients': ['%s']}", s.app), "/users/@me/channels"),
                  200);
    expect_json(client_get(bob, "%s", s.global), "[{'id': '%s'}]", id);
    expect_error(client_get(bob, "%s", s.local), 403, 20012);
    expect_error(client_get(bob, "%s/%s", s.global, id), 403, 20012);
}

static void guild_commands_require_the_application_in_the_guild(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *json = "{'name': 'ping', 'description': 'd'}";
    const char *other = found_guild(s.ada, "Elsewhere");
    const char *path = TEXT(w, "/applications/%s/guilds/%s/commands", s.app, other);

    expect_error(client_post(s.bot, json, "%s", path), 403, 50001);
    expect_error(client_post(s.bot, json, "/applications/%s/guilds/1/commands", s.app), 404, 10004);
    install(s.ada, s.app, other, "applications.commands");
    expect_status(client_post(s.bot, json, "%s", path), 201); /* though its bot is not a member */
    expect_status(client_delete(s.ada, "/users/@me/guilds/%s", s.guild), 400);
}

static void reinstalling_an_app_restores_its_guild_commands(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.local, "{'name': 'ping', 'description': 'd'}");

    /* An app with only the bot scope is removed together with its bot. */
    world_sql(w, "update integrations set scopes = '[\"bot\"]' where guild_id = %s", s.guild);
    expect_status(client_delete(s.ada, "/guilds/%s/members/%s", s.guild, s.app), 204);
    expect_error(client_get(s.bot, "%s", s.local), 403, 50001);
    install(s.ada, s.app, s.guild, "applications.commands");
    expect_json(client_get(s.bot, "%s", s.local), "[{'id': '%s'}]", id);
    expect_status(client_delete(s.ada, "/guilds/%s", s.guild), 204);
    expect_number(w, 0, "select count(*) from commands");
}

static void bulk_editing_command_permissions_is_405(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct answer a = client_put(s.bot, "[]", "%s/permissions", s.local);

    expect_status(a, 405);
    expect_json(a, "{'message': '405: Method Not Allowed', 'code': 0}");
}

const struct test commands_register_tests[] = {
    TEST(creating_a_command_returns_all_its_fields),
    TEST(guild_command_ignores_fields_of_global_commands),
    TEST(command_is_stored_with_all_given_fields),
    TEST(fields_that_do_not_apply_to_the_type_are_dropped),
    TEST(context_menu_command_has_only_a_name),
    TEST(creating_a_command_with_an_existing_name_overwrites_it),
    TEST(command_patch_changes_only_the_given_fields),
    TEST(dm_permission_adds_or_removes_the_bot_dm_context),
    TEST(command_version_changes_only_with_its_definition),
    TEST(renaming_a_command_to_an_existing_name_is_400_40041),
    TEST(changed_command_is_validated_as_a_whole),
    TEST(deleted_command_is_404_10063),
    TEST(command_is_found_only_in_its_own_scope),
    TEST(registering_commands_requires_bot_or_developer_of_the_app),
    TEST(bearer_token_can_register_commands_of_its_application),
    TEST(users_with_a_direct_channel_can_list_the_bots_commands),
    TEST(guild_commands_require_the_application_in_the_guild),
    TEST(reinstalling_an_app_restores_its_guild_commands),
    TEST(bulk_editing_command_permissions_is_405),
    TEST(global_command_change_notifies_1300_guilds_in_batches),
    { 0 },
};
