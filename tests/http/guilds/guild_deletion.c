/* guild_deletion.c - large guilds and channels are deleted in steps and are invisible from the
 * start. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/deletion.h"
#include "apps.h"
#include "base/clock.h"
#include "base/timestamp.h"
#include "files.h"
#include "gateway_conn.h"
#include "platforms.h"
#include "channel_events.h"
#include "test_guild.h"
#include "model/fields/rows.h"
#include "store/store.h"

#define NUMBERS(count) \
    " with recursive n (i) as (select 1 union all select i + 1 from n where i < " #count ") "

enum { MANY = 6000 }; /* messages of insert_messages: some twenty steps */

/* Inserts messages of a user in a channel, written an hour ago. */
static void insert_messages(struct world *w, struct client *c, const char *channel)
{
    unsigned long long first = snowflake_from_ms(clock_us() / 1000 - 3600 * 1000);

    world_sql(w,
              "insert into messages (id, channel_id, author_id)" NUMBERS(
                  6000) "select %llu + i, %s, %s from n",
              first, channel, c->id);
}

static int64_t count_write_transactions(struct world *w)
{
    return world_counter(w, "guildhall_store_writes_total");
}

static void expect_deletion_job_finished(struct world *w)
{
    expect_number(w, 0, "select count(*) from jobs where kind like '%-leftovers'");
}

/* --- steps ---------------------------------------------------------------------------- */

static void large_guild_is_deleted_in_batches(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada), other = world_test_guild(w, ada);

    insert_messages(w, ada, v.channel);
    world_sql(w, "insert into bans (guild_id, user_id)" NUMBERS(2000) "select %s, i from n", v.id);
    world_sql(w,
              "insert into member_sanctions (guild_id, user_id, mute, deaf) values (%s, %s, 1, 0)",
              v.id, ada->id);
    client_post(ada, "{'content': 'stays'}", "/channels/%s/messages", other.channel);
    int64_t before = count_write_transactions(w);
    expect_status(client_delete(ada, "/guilds/%s", v.id), 204);
    expect_error(client_get(ada, "/guilds/%s", v.id), 404, 10004);
    expect_guild_event(&v, 0, "GUILD_DELETE", "{'id': '%s'}", v.id);
    expect_number(w, 1, "select count(*) from guilds");
    expect_deletion_job_finished(w);
    expect(count_write_transactions(w) - before >= (MANY + 2000) / DELETION_ROWS);
    expect_number(w, 1, "select count(*) from messages");
    expect_number(w, 1, "select count(*) from channels");
    expect_number(w, 0, "select count(*) from bans");
    expect_number(w, 0, "select count(*) from member_sanctions");
    expect_number(w, 1, "select count(*) from roles");
    expect_guild_silence(&v);
}

static void large_channel_is_deleted_in_batches(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    insert_messages(w, ada, v.channel);
    int64_t before = count_write_transactions(w);
    expect_status(client_delete(ada, "/channels/%s", v.channel), 200);
    expect_error(client_get(ada, "/channels/%s", v.channel), 404, 10003);
    expect_number(w, 0, "select count(*) from channels");
    expect_deletion_job_finished(w);
    expect(count_write_transactions(w) - before >= MANY / DELETION_ROWS);
    expect_number(w, 0, "select count(*) from messages");
    expect_short_writes("channel-leftovers", 15);
}

/* Each thread takes a dozen statements, even if it is empty. */
static void many_archived_threads_are_deleted_in_small_batches(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    world_sql(w,
              "insert into channels (id, guild_id, parent_id, type, name, thread_archived)" NUMBERS(
                  800) "select i, %s, %s, 11, 'old', 1 from n",
              v.id, v.channel);
    world_sql(w,
              "insert into messages (id, channel_id, author_id)" NUMBERS(
                  800) "select 5000 + i, i, %s from n",
              ada->id);
    int64_t before = count_write_transactions(w);
    expect_status(client_delete(ada, "/channels/%s", v.channel), 200);
    expect_number(w, 0, "select count(*) from channels");
    expect_deletion_job_finished(w);
    expect_number(w, 0, "select count(*) from messages");
    expect(count_write_transactions(w) - before >= 800 * 12 / DELETION_ROWS);
}

static void insert_command_index_version(struct world *w, const char *id)
{
    world_sql(w, "insert into command_indexes (id, version) values (%s, 1)", id);
}

static void deleting_guild_channel_or_app_deletes_its_index_version(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada), u = world_test_guild(w, ada);
    struct answer app = client_post(ada, "{'name': 'App'}", "/applications");

    insert_command_index_version(w, v.id);
    insert_command_index_version(w, v.channel);
    insert_command_index_version(w, u.channel);
    insert_command_index_version(w, answer_text(app, "id"));
    expect_status(client_delete(ada, "/guilds/%s", v.id), 204);
    expect_status(client_delete(ada, "/channels/%s", u.channel), 200);
    expect_status(client_post(ada, NULL, "/applications/%s/delete", answer_text(app, "id")), 204);
    expect_number(w, 0, "select count(*) from command_indexes where version = 1");
}

static void deletion_of_guild_and_channel_continues_after_a_restart(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada), u = world_test_guild(w, ada);

    insert_messages(w, ada, v.channel);
    expect_status(client_delete(ada, "/guilds/%s", v.id), 204);
    expect_status(client_delete(ada, "/channels/%s", u.channel), 200);
    world_restart(w);
    expect_number(w, 1, "select count(*) from guilds");
    expect_deletion_job_finished(w);
    expect_number(w, 0, "select count(*) from messages");
    expect_number(w, 0, "select count(*) from channels");
}

static void deleting_a_channel_deletes_active_and_archived_threads(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    client_post(ada, "{'name': 'open'}", "/channels/%s/threads", v.channel);
    world_sql(w,
              "insert into channels (id, guild_id, type, parent_id, thread_archived)" NUMBERS(
                  700) "select i, %s, 11, %s, 1 from n",
              v.id, v.channel);
    insert_messages(w, ada, "77");
    struct answer other = client_post(ada, "{'name': 'other'}", "/guilds/%s/channels", v.id);
    struct answer stays =
        client_post(ada, "{'name': 'kept'}", "/channels/%s/threads", answer_text(other, "id"));
    expect_status(client_delete(ada, "/channels/%s", v.channel), 200);
    expect_status(client_get(ada, "/channels/%s", answer_text(stays, "id")), 200);
    expect_status(client_delete(ada, "/channels/%s", answer_text(other, "id")), 200);
    expect_error(client_get(ada, "/channels/77"), 404, 10003);
    expect_json(client_get(ada, "/guilds/%s/threads/active", v.id), "{'threads': []}");
    expect_number(w, 0, "select count(*) from channels");
    expect_number(w, 0, "select count(*) from messages");
}

/* More messages than one step deletes, each with a poll, reactions and jobs. */
static void deleting_a_channel_deletes_its_polls_reactions_and_jobs(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    for (int i = 0; i < 25; i++) {
        struct answer a = client_post(
            ada,
            "{'poll': {'question': {'text': '?'}, 'answers': [{'poll_media': {'text': 'a'}}, "
            "{'poll_media': {'text': 'b'}}], 'duration': 700}}",
            "/channels/%s/messages", v.channel);
        const char *id = answer_text(a, "id");

        client_put(ada, "", "/channels/%s/messages/%s/reactions/%%F0%%9F%%91%%8D/@me", v.channel,
                   id);
        client_put(ada, "{'answer_ids': [1]}", "/channels/%s/polls/%s/answers/@me", v.channel, id);
    }
    expect_status(
        client_post(ada, "{'name': 'aside', 'type': 11}", "/channels/%s/threads", v.channel), 201);
    expect_number(w, 25, "select count(*) from poll_votes");
    expect_number(w, 25, "select count(*) from reaction_users");
    expect_number(w, 26, "select count(*) from jobs where kind in ('poll-end', 'archive_thread')");
    expect_status(client_delete(ada, "/channels/%s", v.channel), 200);
    expect_deletion_job_finished(w);
    expect_number(w, 0,
                  "select (select count(*) from polls) + (select count(*) from poll_votes) + "
                  "(select count(*) from poll_voters) + (select count(*) from poll_counts)");
    expect_number(w, 0,
                  "select (select count(*) from reactions) + (select count(*) from "
                  "reaction_users) + (select count(*) from reaction_lanes)");
    expect_number(w, 0, "select count(*) from jobs where kind in ('poll-end', 'archive_thread')");
}

/* Inserts rows as an earlier version left them: more than a step deletes, of deleted messages
 * and reactions. */
static void insert_orphaned_poll_and_reaction_rows(struct world *w)
{
    world_sql(w, "insert into polls (message_id, question, answers, expires_at, "
                 "allow_multiselect) values (5, '{}', '[]', 0, 0)");
    world_sql(w, "insert into poll_votes (message_id, answer_id, user_id)" NUMBERS(
                     700) "select 5, 1, i from n");
    world_sql(w, "insert into poll_voters (message_id, user_id, answers)" NUMBERS(
                     700) "select 5, i, 1 from n");
    world_sql(w, "insert into poll_counts (message_id, answer_id, lane, votes) "
                 "values (5, 1, 0, 700), (6, 1, 0, 1)");
    world_sql(w, "insert into reactions (id, message_id, emoji_key, name) values "
                 "(900, 5, 'x', 'x'), (901, 0, 'x', 'x')");
    world_sql(w, "insert into reaction_lanes (message_id, lane, counts) values (5, 0, '')");
    world_sql(w, "insert into reaction_users (reaction_id, burst, user_id)" NUMBERS(
                     700) "select 900, 0, i from n");
    world_sql(w, "insert into reaction_users (reaction_id, burst, user_id) values "
                 "(901, 0, 1), (902, 0, 1)");
    world_sql(w, "insert into jobs (kind, key, due, data) values ('message-orphans', 0, 0, '')");
}

/* Rows of message 901 belong to another job. */
static void orphaned_poll_and_reaction_rows_are_deleted_in_batches(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a =
        client_post(ada,
                    "{'poll': {'question': {'text': '?'}, 'answers': [{'poll_media': {'text': "
                    "'a'}}, {'poll_media': {'text': 'b'}}], 'duration': 700}}",
                    "/channels/%s/messages", v.channel);
    const char *id = answer_text(a, "id");

    client_put(ada, "", "/channels/%s/messages/%s/reactions/%%F0%%9F%%91%%8D/@me", v.channel, id);
    client_put(ada, "{'answer_ids': [1]}", "/channels/%s/polls/%s/answers/@me", v.channel, id);
    insert_orphaned_poll_and_reaction_rows(w);
    world_restart(w);
    expect_number(w, 0, "select count(*) from jobs where kind = 'message-orphans'");
    expect_number(w, 1, "select count(*) from polls");
    expect_number(w, 1, "select count(*) from poll_votes");
    expect_number(w, 1, "select count(*) from poll_voters");
    expect_number(w, 1, "select count(*) from poll_counts");
    expect_number(w, 2, "select count(*) from reactions");
    expect_number(w, 0, "select count(*) from reaction_lanes where message_id = 5");
    expect_number(w, 2, "select count(*) from reaction_users");
    expect_json(client_get(ada, "/channels/%s/messages/%s", v.channel, id),
                "{'reactions': [{'count': 1, 'me': true}]}");
}

static void deleting_a_guild_deletes_jobs_of_its_scheduled_events(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    int64_t now = clock_us();
    char start[40], end[40];

    timestamp_format(now + INT64_C(86400000000), start);
    timestamp_format(now + INT64_C(90000000000), end);
    expect_status(client_post(ada,
                              TEXT(w,
                                   "{'name': 'fair', 'privacy_level': 2, 'entity_type': 3, "
                                   "'scheduled_start_time': '%s', 'scheduled_end_time': '%s', "
                                   "'entity_metadata': {'location': 'here'}}",
                                   start, end),
                              "/guilds/%s/scheduled-events", v.id),
                  200);
    expect_number(w, 1, "select count(*) from jobs where kind = 'scheduled-event'");
    expect_status(client_delete(ada, "/guilds/%s", v.id), 204);
    expect_deletion_job_finished(w);
    expect_number(w, 0, "select count(*) from jobs where kind = 'scheduled-event'");
}

static void deleting_a_category_keeps_its_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = client_post(ada, "{'name': 'c', 'type': 4}", "/guilds/%s/channels", v.id);

    world_sql(w, "update channels set parent_id = %s where id = %s", answer_text(a, "id"),
              v.channel);
    expect_status(client_delete(ada, "/channels/%s", answer_text(a, "id")), 200);
    expect_json(client_get(ada, "/channels/%s", v.channel), "{'parent_id': null}");
    expect_number(w, 1, "select count(*) from channels");
}

static void deleting_a_guild_deletes_all_its_rows_and_files(struct world *w)
{
    static const struct upload file[] = { { "files[0]", "a.txt", STR_INIT("a") }, { 0 } };
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);

    client_patch(ada, "{'icon': '" PNG "', 'splash': '" PNG "'}", "/guilds/%s", v.id);
    client_patch(bob, "{'avatar': '" PNG "', 'banner': '" PNG "'}", "/guilds/%s/members/@me", v.id);
    client_post(ada, "{'icon': '" PNG "'}", "/guilds/%s/roles", v.id);
    client_post(ada, "{'name': 'Post', 'avatar': '" PNG "'}", "/channels/%s/webhooks", v.channel);
    client_post(ada, "{}", "/channels/%s/invites", v.channel);
    client_upload(ada, "POST", NULL, file, "/channels/%s/messages", v.channel);
    expect_files(w, "", 7);
    expect_status(client_delete(ada, "/guilds/%s", v.id), 204);
    expect_files(w, "", 0);
    expect_number(w, 0, "select count(*) from files");
    expect_deletion_job_finished(w);
    expect(world_number(w,
                        "select (select count(*) from guilds) + (select count(*) from members) + "
                        "(select count(*) from member_roles) + (select count(*) from roles) + "
                        "(select count(*) from invites) + (select count(*) from webhooks) + "
                        "(select count(*) from attachments) + "
                        "(select count(*) from audit_log)") == 0);
}

/* --- every table ---------------------------------------------------------------------- */

/* Columns of the tables with a guild_id: table, column, type, whether a row needs a value. */
static const char COLUMNS_SQLITE[] =
    "select m.name, c.name, lower(c.type), c.\"notnull\" = 1 and c.dflt_value is null or c.pk > 0 "
    "from sqlite_master m join pragma_table_info(m.name) c where m.type = 'table' and exists "
    "(select 1 from pragma_table_info(m.name) g where g.name = 'guild_id') order by m.name, c.cid";
static const char COLUMNS_POSTGRES[] =
    "select cast(table_name as text), cast(column_name as text), cast(data_type as text), case "
    "when is_nullable = 'NO' and column_default is null then 1 else 0 end from "
    "information_schema.columns c where table_schema = current_schema() and exists (select 1 from "
    "information_schema.columns g where g.table_schema = c.table_schema and g.table_name = "
    "c.table_name and g.column_name = 'guild_id') order by table_name, ordinal_position";

struct guild_column {
    struct str table, name, type;
    bool needed;
};

static void read_guild_column(const struct rows *r, void *ret)
{
    *(struct guild_column *)ret =
        (struct guild_column){ row_text(r, 0), row_text(r, 1), row_text(r, 2), row_bool(r, 3) };
}

struct guild_columns {
    bool is_sqlite;
    struct list all;
};

static enum err read_guild_columns(struct tx *tx, void *arg)
{
    struct guild_columns *c = arg;

    return tx_read_list(tx, c->is_sqlite ? SQL(COLUMNS_SQLITE) : SQL(COLUMNS_POSTGRES), NO_BIND,
                        sizeof(struct guild_column), read_guild_column, &c->all);
}

/* Tables whose rows the guild's deletion does not delete: a line "-- deletion: guild_id" in a
 * migration gives the reason, or others create them. */
static bool is_deleted_with_guild(struct str table)
{
    static const char *const others[] = {
        "authorization_codes", "integration_members", "interactions", "members", "member_names",
        "mention_notes",       "read_states",         "reports",      "streams", "thread_members"
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_is(table, others[i]))
            return false;
    return true;
}

struct guild_ids {
    const char *guild, *channel, *user, *application, *role, *bytes;
};

static const char *column_value(const struct guild_column *c, const struct guild_ids *ids)
{
    const struct {
        const char *column, *id;
    } known[] = { { "guild_id", ids->guild },
                  { "channel_id", ids->channel },
                  { "user_id", ids->user },
                  { "application_id", ids->application },
                  { "role_id", ids->role } };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_is(c->name, known[i].column))
            return known[i].id;
    if (str_is(c->type, "bytea"))
        return ids->bytes;
    return str_is(c->type, "text") ? "'7'" : "7";
}

/* Inserts a row into each of the tables. Returns the number of tables. */
static int insert_into_tables(struct world *w, const struct list *columns,
                              const struct guild_ids *ids)
{
    const struct guild_column *c = columns->items, *end = c + columns->count;
    int tables = 0;

    while (c < end) {
        struct str table = c->table;
        char names[1000] = "", values[1000] = "";

        for (; c < end && str_eq(c->table, table); c++) {
            size_t n = strlen(names), m = strlen(values);

            if (!c->needed && !str_is(c->name, "guild_id"))
                continue;
            snprintf(names + n, sizeof names - n, "%s%.*s", n ? ", " : "", STR_ARGS(c->name));
            snprintf(values + m, sizeof values - m, "%s%s", m ? ", " : "", column_value(c, ids));
        }
        if (!is_deleted_with_guild(table))
            continue;
        world_sql(w, "insert into %.*s (%s) values (%s) on conflict do nothing", STR_ARGS(table),
                  names, values);
        expect(world_number(w, "select count(*) from %.*s where guild_id = %s", STR_ARGS(table),
                            ids->guild) > 0);
        tables++;
    }
    return tables;
}

static void deleting_a_guild_deletes_its_rows_in_every_table(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *role = test_guild_role(&v, 1, 0);
    struct answer app = client_post(ada, "{'name': 'App'}", "/applications");
    struct guild_columns columns = { .is_sqlite = !world_config(w)->store };
    struct guild_ids ids = { v.id,    v.channel,
                             ada->id, answer_text(app, "id"),
                             role,    columns.is_sqlite ? "x'37'" : "'7'" };

    expect(store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_READ,
                                          world_arena(w), read_guild_columns, &columns) == OK);
    expect(insert_into_tables(w, &columns.all, &ids) > 25);
    expect_status(client_delete(ada, "/guilds/%s", v.id), 204);
    expect_deletion_job_finished(w);
    const struct guild_column *c = columns.all.items;
    for (size_t i = 0; i < columns.all.count; i++)
        if (str_is(c[i].name, "guild_id") &&
            world_number(w, "select count(*) from %.*s where guild_id = %s", STR_ARGS(c[i].table),
                         v.id))
            fail_test(__FILE__, __LINE__, "rows of the guild are left in %.*s",
                      STR_ARGS(c[i].table));
    expect_number(w, 0, "select count(*) from guilds");
}

static void empty_group_is_deleted_with_its_icon(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_post(ada, "{'recipients': []}", "/users/@me/channels");

    client_patch(ada, "{'icon': '" PNG "'}", "/channels/%s", answer_text(a, "id"));
    expect_files(w, "", 1);
    expect_status(client_delete(ada, "/channels/%s", answer_text(a, "id")), 200);
    expect_files(w, "", 0);
    expect_number(w, 0, "select count(*) from channels");
}

static void role_of_2000_members_is_deleted_in_batches(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *role = test_guild_add_with(&v, bob, 2, PERMISSION(MANAGE_CHANNELS));

    world_sql(w, "insert into users (id, username)" NUMBERS(2000) "select i, 'u' || i from n");
    world_sql(
        w,
        "insert into members (guild_id, user_id, joined_at)" NUMBERS(2000) "select %s, i, 0 from n",
        v.id);
    world_sql(w,
              "insert into member_roles (guild_id, user_id, role_id)" NUMBERS(
                  2000) "select %s, i, %s from n",
              v.id, role);
    int64_t before = count_write_transactions(w);
    expect_status(client_delete(ada, "/guilds/%s/roles/%s", v.id, role), 204);
    expect_error(client_get(ada, "/guilds/%s/roles/%s", v.id, role), 404, 10011);
    expect_error(client_post(bob, "{'name': 'x'}", "/guilds/%s/channels", v.id), 403, 50013);
    expect_number(w, 0, "select count(*) from member_roles");
    expect_number(w, 1, "select count(*) from roles");
    expect_deletion_job_finished(w);
    expect(count_write_transactions(w) - before >= 2000 / DELETION_ROWS);
}

static void role_being_deleted_is_unknown_to_all_routes(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *role = test_guild_add_with(&v, bob, 2, PERMISSION(MANAGE_CHANNELS));

    world_sql(w, "update roles set position = -1, permissions = 0 where id = %s", role);
    expect_error(client_get(ada, "/guilds/%s/roles/%s", v.id, role), 404, 10011);
    expect_error(client_post(bob, "{'name': 'x'}", "/guilds/%s/channels", v.id), 403, 50013);
    expect_status(client_post(ada, "{'name': 'new'}", "/guilds/%s/roles", v.id), 200);
    expect(world_number(w, "select position from roles where id = %s", role) == -1);
    world_sql(w, "insert into jobs (kind, key, due, data) values ('role-leftovers', %s, 0, '')",
              role);
    world_restart(w);
    expect_number(w, 0, "select count(*) from roles where position < 0");
}

/* --- during the deletion -------------------------------------------------------------- */

static void guild_being_deleted_is_unknown_to_all_routes(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer hook = client_post(ada, "{'name': 'Post'}", "/channels/%s/webhooks", v.channel),
                  invite = client_post(ada, "{}", "/channels/%s/invites", v.channel),
                  thread = client_post(ada, "{'name': 'aside'}", "/channels/%s/threads", v.channel);
    const char *id = answer_text(hook, "id"), *token = answer_text(hook, "token");

    /* State of the rows after the first deletion step. */
    world_sql(w, "update guilds set removed = 1 where id = %s", v.id);
    world_sql(w, "update channels set type = -1 where id = %s", v.channel);
    expect_error(client_get(ada, "/guilds/%s", v.id), 404, 10004);
    expect_error(client_delete(ada, "/guilds/%s", v.id), 404, 10004);
    expect_error(client_get(ada, "/channels/%s", v.channel), 404, 10003);
    expect_error(client_get(ada, "/channels/%s", answer_text(thread, "id")), 404, 10003);
    expect_error(
        client_post(ada, "{'content': 'x'}", "/channels/%s/messages", answer_text(thread, "id")),
        404, 10003);
    expect_error(client_get(ada, "/webhooks/%s", id), 404, 10015);
    expect_error(client_post(world_anonymous(w), "{'content': 'x'}", "/webhooks/%s/%s", id, token),
                 404, 10015);
    expect_error(client_get(ada, "/invites/%s", answer_text(invite, "code")), 404, 10006);
    expect_json(client_get(ada, "/users/@me/guilds"), "[]");
    struct gateway_conn *g = conn_open(ada, "v=10&encoding=json");
    expect_op(g, 10);
    conn_identify(g, "");
    expect_dispatch(g, "READY", "{'guilds': []}");
    conn_kill(g);

    /* The job completes the deletion. */
    world_sql(w, "insert into jobs (kind, key, due, data) values ('guild-leftovers', %s, 0, '')",
              v.id);
    world_restart(w);
    expect_number(w, 0, "select count(*) from guilds");
    expect_number(w, 0, "select count(*) from channels");
}

static void channel_being_deleted_is_unknown_to_all_routes(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer invite = client_post(ada, "{}", "/channels/%s/invites", v.channel);

    world_sql(w, "update channels set type = -1, guild_id = null where id = %s", v.channel);
    expect_error(client_get(ada, "/channels/%s", v.channel), 404, 10003);
    expect_error(client_post(ada, "{'content': 'x'}", "/channels/%s/messages", v.channel), 404,
                 10003);
    expect_error(client_get(ada, "/invites/%s", answer_text(invite, "code")), 404, 10006);
    expect_json(client_get(ada, "/guilds/%s/channels", v.id), "[]");
    world_sql(w, "insert into jobs (kind, key, due, data) values ('channel-leftovers', %s, 0, '')",
              v.channel);
    world_restart(w);
    expect_number(w, 0, "select count(*) from channels");
    expect_number(w, 0, "select count(*) from invites");
}

/* --- bans ----------------------------------------------------------------------------- */

static void ban_deletes_messages_in_batches_with_bulk_delete_events(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada), other = world_test_guild(w, ada);
    unsigned long long now = snowflake_from_ms(clock_us() / 1000 - 60 * 1000);
    test_guild_add(&v, bob);

    world_sql(w,
              "insert into messages (id, channel_id, author_id)" NUMBERS(
                  950) "select %llu + i, case when i %% 3 = 0 then %s else %s end, %s from n",
              now, other.channel, v.channel, bob->id);
    world_sql(w, "insert into messages (id, channel_id, author_id) values (%llu, %s, %s)",
              now + 5000, v.channel, ada->id);
    client_connect(ada);
    expect_status(
        client_put(ada, "{'delete_message_seconds': 3600}", "/guilds/%s/bans/%s", v.id, bob->id),
        204);
    expect_event(ada, "GUILD_BAN_ADD", "{}");
    expect_event(ada, "GUILD_MEMBER_REMOVE", "{}");
    expect_number(w, 317, "select count(*) from messages");
    expect_number(w, 0, "select count(*) from jobs where kind = 'message-purge'");
    expect(world_number(w, "select count(*) from messages where channel_id = %s", other.channel) ==
           316);
    /* A step reads 200 messages, two thirds of them are in the guild, an event has at most 100. */
    bool audited = false;
    for (int events = 0; events < 9; events++) {
        if (!audited && events == 2) {
            expect_event(ada, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
            audited = true;
        }
        expect_event(ada, "MESSAGE_DELETE_BULK", "{'channel_id': '%s'}", v.channel);
    }
    expect_silence(ada);
}

static void bulk_ban_deletes_messages_of_all_banned_users(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");
    struct test_guild v = world_test_guild(w, ada);
    unsigned long long now = snowflake_from_ms(clock_us() / 1000 - 60 * 1000);

    world_sql(w,
              "insert into messages (id, channel_id, author_id)" NUMBERS(
                  600) "select %llu + i, %s, case when i %% 2 = 0 then %s else %s end from n",
              now, v.channel, bob->id, cleo->id);
    expect_status(client_post(ada,
                              TEXT(w, "{'user_ids': ['%s', '%s'], 'delete_message_seconds': 3600}",
                                   bob->id, cleo->id),
                              "/guilds/%s/bulk-ban", v.id),
                  200);
    expect_number(w, 0, "select count(*) from messages");
    expect_number(w, 0, "select count(*) from jobs where kind = 'message-purge'");
}

const struct test guild_deletion_tests[] = {
    TEST(large_guild_is_deleted_in_batches),
    TEST(large_channel_is_deleted_in_batches),
    TEST(many_archived_threads_are_deleted_in_small_batches),
    TEST(deleting_guild_channel_or_app_deletes_its_index_version),
    TEST(deletion_of_guild_and_channel_continues_after_a_restart),
    TEST(deleting_a_channel_deletes_active_and_archived_threads),
    TEST(deleting_a_channel_deletes_its_polls_reactions_and_jobs),
    TEST(orphaned_poll_and_reaction_rows_are_deleted_in_batches),
    TEST(deleting_a_guild_deletes_jobs_of_its_scheduled_events),
    TEST(deleting_a_category_keeps_its_channels),
    TEST(deleting_a_guild_deletes_all_its_rows_and_files),
    TEST(deleting_a_guild_deletes_its_rows_in_every_table),
    TEST(empty_group_is_deleted_with_its_icon),
    TEST(role_of_2000_members_is_deleted_in_batches),
    TEST(role_being_deleted_is_unknown_to_all_routes),
    TEST(guild_being_deleted_is_unknown_to_all_routes),
    TEST(channel_being_deleted_is_unknown_to_all_routes),
    TEST(ban_deletes_messages_in_batches_with_bulk_delete_events),
    TEST(bulk_ban_deletes_messages_of_all_banned_users),
    { 0 },
};
