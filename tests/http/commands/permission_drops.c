/* permission_drops.c - permissions of a command in very many guilds are deleted in steps, and
 * are ignored from the start. */
#include "apps.h"
#include "dom.h"
#include "platforms.h"
#include "waits.h"
#include "test_app.h"

enum { GUILDS = 1000 };

#define NUMBERS "with recursive n (i) as (select 1 union all select i + 1 from n where i < %d) "
#define DROPPING                                                                                \
    "select (select count(*) from permission_drops) + (select count(*) from jobs where kind = " \
    "'permission-drops')"

static void insert_guilds_with_the_application(struct test_app *s)
{
    world_sql(s->world,
              "insert into guilds (id, name, owner_id) " NUMBERS "select i, 'g', %s from n", GUILDS,
              s->ada->id);
}

/* Denies the command to everyone in all of these guilds. */
static void insert_command_denials_in_all_guilds(struct test_app *s, const char *command)
{
    world_sql(s->world,
              "insert into command_permissions (guild_id, target_id, entity_id, type, "
              "application_id, permission, position) " NUMBERS
              "select i, %s, i, 1, %s, 0, 0 from n",
              GUILDS, command, s->app);
}

static int64_t count_permission_rows(struct world *w)
{
    return store_count(w, "select count(*) from command_permissions");
}

/* Expects that no step handled more guilds than its limit. */
static void expect_deletion_runs_in_short_steps(struct world *w)
{
    expect_number(w, 0, DROPPING);
    expect(count_permission_rows(w) == 0);
    expect_short_writes("permission-drops", 15);
}

static void renaming_a_command_deletes_its_permissions_in_batches(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");

    insert_guilds_with_the_application(&s);
    insert_command_denials_in_all_guilds(&s, id);
    size_t events_before = world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE);
    expect_status(client_patch(s.bot, "{'name': 'pong'}", "%s/%s", s.global, id), 200);
    expect_deletion_runs_in_short_steps(w);
    /* Each guild gets one event and a new index version. */
    expect(world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE) ==
           events_before + GUILDS);
    expect(world_number(w, "select count(*) from command_indexes where id <= %d", GUILDS) ==
           GUILDS);
}

static void deleting_a_command_deletes_its_permissions_in_batches(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");

    insert_guilds_with_the_application(&s);
    insert_command_denials_in_all_guilds(&s, id);
    size_t events_before = world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE);
    expect_status(client_delete(s.bot, "%s/%s", s.global, id), 204);
    expect_deletion_runs_in_short_steps(w);
    expect(world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE) == events_before);
}

/* All commands of the request share one limit of rows per transaction. */
static void bulk_overwrite_deletes_permissions_of_removed_commands(struct world *w)
{
    struct test_app s = world_test_app(w);
    static const char *const names[] = { "a", "b", "c" };
    const char *ids[3];

    insert_guilds_with_the_application(&s);
    for (size_t i = 0; i < 3; i++) {
        ids[i] =
            make_command(s.bot, s.global, TEXT(w, "{'name': '%s', 'description': 'd'}", names[i]));
        insert_command_denials_in_all_guilds(&s, ids[i]);
    }
    size_t events_before = world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE);
    expect_status(client_put(s.bot,
                             TEXT(w, "[{'id': '%s', 'name': 'z', 'description': 'd'}]", ids[2]),
                             "%s", s.global),
                  200);
    expect_deletion_runs_in_short_steps(w);
    expect(world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE) ==
           events_before + GUILDS);
    expect_short_writes("overwrite_commands", 15);
}

/* --- before the rows are deleted ------------------------------------------------------ */

/* State between two steps: rows of the first round are marked for deletion. */
static void mark_permissions_deleted(struct test_app *s, const char *command)
{
    world_sql(s->world,
              "insert into permission_drops (target_id, application_id, round, told) "
              "values (%s, %s, 1, 1)",
              command, s->app);
}

static void insert_permission_deletion_job(struct world *w, const char *command)
{
    world_sql(w, "insert into jobs (kind, key, due, data) values ('permission-drops', %s, 0, '')",
              command);
}

static size_t count_index_commands(struct client *c, const char *guild)
{
    struct answer a = client_get(c, "/guilds/%s/application-command-index", guild);

    expect_status(a, 200);
    return dom_at(a.json, "application_commands")->count;
}

static void permissions_marked_for_deletion_are_ignored(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0);
    const char *id = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");
    const char *path = TEXT(w, "%s/%s/permissions", s.local, id);
    const char *deny =
        TEXT(w, "{'permissions': [{'id': '%s', 'type': 1, 'permission': false}]}", s.guild);

    expect_status(client_put(s.ada, deny, "%s", path), 200);
    expect(count_index_commands(bob, s.guild) == 0);
    mark_permissions_deleted(&s, id);
    expect_error(client_get(s.ada, "%s", path), 404, 10066);
    expect_json(client_get(s.ada, "%s/permissions", s.local), "[]");
    world_sql(w, "delete from command_indexes"); /* as the step that renamed the command did */
    expect(count_index_commands(bob, s.guild) == 1);

    /* Permissions set in the meantime apply, and remain when the others are deleted. */
    expect_status(client_put(s.ada, deny, "%s", path), 200);
    expect_json(client_get(s.ada, "%s", path), "{'permissions': [{'permission': false}]}");
    expect_json(client_get(s.ada, "%s/permissions", s.local), "[{'id': '%s'}]", id);
    expect(count_index_commands(bob, s.guild) == 0);
    insert_guilds_with_the_application(&s);
    insert_command_denials_in_all_guilds(&s, id);
    size_t events_before = world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE);
    insert_permission_deletion_job(w, id);
    world_restart(w); /* the job's row is all that remains after a crash */
    expect_number(w, 0, DROPPING);
    expect(count_permission_rows(w) == 1);
    expect(world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE) ==
           events_before + GUILDS);
    expect_json(client_get(s.ada, "%s", path), "{'permissions': [{'permission': false}]}");

    /* Renaming the command again deletes these permissions, too. */
    expect_status(client_patch(s.bot, "{'name': 'pong'}", "%s/%s", s.global, id), 200);
    expect(count_permission_rows(w) == 0);
}

/* A second change also deletes permissions that were set after the first. */
static void second_deletion_includes_permissions_set_after_the_first(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");

    insert_guilds_with_the_application(&s);
    insert_command_denials_in_all_guilds(&s, id);
    mark_permissions_deleted(&s, id);
    expect_status(client_put(s.ada,
                             TEXT(w,
                                  "{'permissions': [{'id': '%s', 'type': 1, 'permission': "
                                  "false}]}",
                                  s.guild),
                             "%s/%s/permissions", s.local, id),
                  200);
    expect(world_number(w, "select round from command_permissions where guild_id = %s", s.guild) ==
           1);
    expect_status(client_delete(s.bot, "%s/%s", s.global, id), 204);
    expect_json(client_get(s.ada, "%s/permissions", s.local), "[]");
    expect_deletion_runs_in_short_steps(w);
}

static void deleting_an_application_ends_its_permission_deletions(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");

    insert_guilds_with_the_application(&s);
    insert_command_denials_in_all_guilds(&s, id);
    expect_status(client_patch(s.bot, "{'name': 'pong'}", "%s/%s", s.global, id), 200);
    expect_status(client_post(s.ada, NULL, "/applications/%s/delete", s.app), 204);
    expect_number(w, 0, "select count(*) from applications");
    expect_deletion_runs_in_short_steps(w);
}

const struct test commands_permission_drops_tests[] = {
    TEST(renaming_a_command_deletes_its_permissions_in_batches),
    TEST(deleting_a_command_deletes_its_permissions_in_batches),
    TEST(bulk_overwrite_deletes_permissions_of_removed_commands),
    TEST(permissions_marked_for_deletion_are_ignored),
    TEST(second_deletion_includes_permissions_set_after_the_first),
    TEST(deleting_an_application_ends_its_permission_deletions),
    { 0 },
};
