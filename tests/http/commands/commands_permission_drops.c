/* commands_permission_drops.c - permissions of a command in very many guilds go in steps, and
 * nobody sees them meanwhile. */
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

static void found_many_guilds(struct test_app *s)
{
    world_sql(s->world,
              "insert into guilds (id, name, owner_id) " NUMBERS "select i, 'g', %s from n", GUILDS,
              s->ada->id);
}

/* Nobody may use it in any of them. */
static void deny_in_many_guilds(struct test_app *s, const char *command)
{
    world_sql(s->world,
              "insert into command_permissions (guild_id, target_id, entity_id, type, "
              "application_id, permission, position) " NUMBERS
              "select i, %s, i, 1, %s, 0, 0 from n",
              GUILDS, command, s->app);
}

static int64_t rows_left(struct world *w)
{
    return store_count(w, "select count(*) from command_permissions");
}

/* No step took more guilds than there is room for: then as many jobs have run. */
static void expect_short_steps(struct world *w)
{
    expect_number(w, 0, DROPPING);
    expect(rows_left(w) == 0);
    expect_short_writes("permission-drops", 15);
}

static void a_renamed_command_leaves_its_guilds_in_steps(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");

    found_many_guilds(&s);
    deny_in_many_guilds(&s, id);
    size_t told = world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE);
    expect_status(client_patch(s.bot, "{'name': 'pong'}", "%s/%s", s.global, id), 200);
    expect_short_steps(w);
    /* Each of them hears of it once, and has another index. */
    expect(world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE) == told + GUILDS);
    expect(world_number(w, "select count(*) from command_indexes where id <= %d", GUILDS) ==
           GUILDS);
}

static void a_deleted_command_leaves_its_guilds_in_steps(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");

    found_many_guilds(&s);
    deny_in_many_guilds(&s, id);
    size_t told = world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE);
    expect_status(client_delete(s.bot, "%s/%s", s.global, id), 204);
    expect_short_steps(w);
    expect(world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE) == told);
}

/* What several have in common is how many rows one transaction may take. */
static void commands_that_a_list_leaves_out_share_the_first_step(struct world *w)
{
    struct test_app s = world_test_app(w);
    static const char *const names[] = { "a", "b", "c" };
    const char *ids[3];

    found_many_guilds(&s);
    for (size_t i = 0; i < 3; i++) {
        ids[i] =
            make_command(s.bot, s.global, TEXT(w, "{'name': '%s', 'description': 'd'}", names[i]));
        deny_in_many_guilds(&s, ids[i]);
    }
    size_t told = world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE);
    expect_status(client_put(s.bot,
                             TEXT(w, "[{'id': '%s', 'name': 'z', 'description': 'd'}]", ids[2]),
                             "%s", s.global),
                  200);
    expect_short_steps(w);
    expect(world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE) == told + GUILDS);
    expect_short_writes("overwrite_commands", 15);
}

/* --- before they are gone ------------------------------------------------------------- */

/* As it is between two steps: rows of the first round are on their way out. */
static void mark_rows(struct test_app *s, const char *command)
{
    world_sql(s->world,
              "insert into permission_drops (target_id, application_id, round, told) "
              "values (%s, %s, 1, 1)",
              command, s->app);
}

static void set_job(struct world *w, const char *command)
{
    world_sql(w, "insert into jobs (kind, key, due, data) values ('permission-drops', %s, 0, '')",
              command);
}

static size_t index_length(struct client *c, const char *guild)
{
    struct answer a = client_get(c, "/guilds/%s/application-command-index", guild);

    expect_status(a, 200);
    return dom_at(a.json, "application_commands")->count;
}

static void rows_that_are_about_to_go_are_not_seen(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0);
    const char *id = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");
    const char *path = TEXT(w, "%s/%s/permissions", s.local, id);
    const char *deny =
        TEXT(w, "{'permissions': [{'id': '%s', 'type': 1, 'permission': false}]}", s.guild);

    expect_status(client_put(s.ada, deny, "%s", path), 200);
    expect(index_length(bob, s.guild) == 0);
    mark_rows(&s, id);
    expect_error(client_get(s.ada, "%s", path), 404, 10066);
    expect_json(client_get(s.ada, "%s/permissions", s.local), "[]");
    world_sql(w, "delete from command_indexes"); /* as the step that renamed it did */
    expect(index_length(bob, s.guild) == 1);

    /* What is set meanwhile counts, and stays when the others are gone. */
    expect_status(client_put(s.ada, deny, "%s", path), 200);
    expect_json(client_get(s.ada, "%s", path), "{'permissions': [{'permission': false}]}");
    expect_json(client_get(s.ada, "%s/permissions", s.local), "[{'id': '%s'}]", id);
    expect(index_length(bob, s.guild) == 0);
    found_many_guilds(&s);
    deny_in_many_guilds(&s, id);
    size_t told = world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE);
    set_job(w, id);
    world_restart(w); /* the job's row is all that a killed process leaves */
    expect_number(w, 0, DROPPING);
    expect(rows_left(w) == 1);
    expect(world_count_events(w, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE) == told + GUILDS);
    expect_json(client_get(s.ada, "%s", path), "{'permissions': [{'permission': false}]}");

    /* Another name, and they go like the others. */
    expect_status(client_patch(s.bot, "{'name': 'pong'}", "%s/%s", s.global, id), 200);
    expect(rows_left(w) == 0);
}

/* A change that comes while an earlier one is under way covers what was set between the two. */
static void a_second_change_covers_what_came_after_the_first(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");

    found_many_guilds(&s);
    deny_in_many_guilds(&s, id);
    mark_rows(&s, id);
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
    expect_short_steps(w);
}

static void an_application_that_goes_takes_its_marks_along(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");

    found_many_guilds(&s);
    deny_in_many_guilds(&s, id);
    expect_status(client_patch(s.bot, "{'name': 'pong'}", "%s/%s", s.global, id), 200);
    expect_status(client_post(s.ada, NULL, "/applications/%s/delete", s.app), 204);
    expect_number(w, 0, "select count(*) from applications");
    expect_short_steps(w);
}

const struct test commands_permission_drops_tests[] = {
    TEST(a_renamed_command_leaves_its_guilds_in_steps),
    TEST(a_deleted_command_leaves_its_guilds_in_steps),
    TEST(commands_that_a_list_leaves_out_share_the_first_step),
    TEST(rows_that_are_about_to_go_are_not_seen),
    TEST(a_second_change_covers_what_came_after_the_first),
    TEST(an_application_that_goes_takes_its_marks_along),
    { 0 },
};
