/* main.c - tests the replies to clients while the store fails at one call after the other. Every
 * reply is a success, 503 or 507. Acknowledged writes exist, refused ones do not (unless a lost
 * commit makes that unknown), and afterwards everything works again. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels.h"
#include "faults.h"
#include "server/guildhall.h"
#include "internal.h"
#include "postgres.h"
#include "test_guild.h"
#include "waits.h"

enum { MOST = 400 };

/* --- requests while the store fails --------------------------------------------------- */

struct scene {
    struct world *world;
    struct client *ada;
    const char *guild, *channel;
    unsigned sent, refused;
    bool acknowledged[MOST];
};

static struct scene scene_new(struct world *w)
{
    struct scene s = { .world = w, .ada = world_client(w, "ada") };

    s.guild = found_guild(s.ada, "Hall");
    s.channel = make_channel(s.ada, s.guild, "{'name': 'a'}");
    return s;
}

static bool is_clean(struct answer a)
{
    if (a.status >= 200 && a.status < 300)
        return true;
    expect(a.status == 503 || a.status == 507);
    expect(a.json && dom_at(a.json, "message") && dom_at(a.json, "code"));
    return false;
}

static void send_all_requests(struct scene *s)
{
    unsigned n = s->sent++;

    expect(n < MOST);
    const char *content = str_printf(world_arena(s->world), "{'content': 'number %u'}", n).p;
    s->acknowledged[n] =
        is_clean(client_post(s->ada, content, "/channels/%s/messages", s->channel));
    s->refused += !s->acknowledged[n];
    const char *topic = str_printf(world_arena(s->world), "{'topic': 'topic %u'}", n).p;
    struct answer changed = client_patch(s->ada, topic, "/channels/%s", s->channel);
    struct answer found = client_get(s->ada, "/channels/%s", s->channel);
    if (is_clean(changed) && is_clean(found))
        expect_json(found, "{'topic': 'topic %u'}", n);
    is_clean(client_post(s->ada, "{'name': 'role'}", "/guilds/%s/roles", s->guild));
    is_clean(client_get(s->ada, "/guilds/%s/roles", s->guild));
}

/* --- afterwards ----------------------------------------------------------------------- */

static bool message_is_stored(struct scene *s, unsigned n)
{
    int64_t count =
        world_number(s->world, "select count(*) from messages where content = 'number %u'", n);

    expect(count <= 1);
    return count == 1;
}

/* maybe: a commit without a reply may have happened. */
static void expect_store_is_consistent(struct scene *s, bool maybe)
{
    for (unsigned i = 0; i < s->sent; i++) {
        bool there = message_is_stored(s, i);

        expect(there == s->acknowledged[i] || (there && maybe));
    }
    expect(s->refused > 0);
    unsigned refused = s->refused;
    send_all_requests(s);
    expect(s->refused == refused);
    expect(store_check_integrity(guildhall_get_store(s->world->server)) == OK);
}

/* --- SQLite --------------------------------------------------------------------------- */

static void send_requests_while_disk_fails(struct world *w, enum fault fault, int positions)
{
    struct scene s = scene_new(w);

    for (int after = 1; after <= positions; after++) {
        disk_fails(fault, after);
        send_all_requests(&s);
        disk_fails(FAULT_NONE, 0);
        send_all_requests(&s);
    }
    expect_store_is_consistent(&s, false);
}

static void full_disk_gives_clean_errors_at_every_write(struct world *w)
{
    send_requests_while_disk_fails(w, FAULT_FULL, 20);
}

static void failing_disk_writes_give_clean_errors(struct world *w)
{
    send_requests_while_disk_fails(w, FAULT_WRITE, 20);
}

static void failing_disk_syncs_give_clean_errors(struct world *w)
{
    send_requests_while_disk_fails(w, FAULT_SYNC, 5);
}

static void *commit_after_200_ms(void *db)
{
    usleep(200 * 1000);
    return (void *)(intptr_t)sqlite3_exec(db, "commit", NULL, NULL, NULL);
}

static void requests_wait_for_another_program_that_locks_the_database(struct world *w)
{
    struct scene s = scene_new(w);
    char path[200];
    pthread_t other;
    void *result;
    sqlite3 *db;

    snprintf(path, sizeof path, "%s/guildhall.db", world_folder(w));
    expect(sqlite3_open(path, &db) == SQLITE_OK);
    expect(sqlite3_exec(db, "begin immediate", NULL, NULL, NULL) == SQLITE_OK);
    expect(pthread_create(&other, NULL, commit_after_200_ms, db) == 0);
    send_all_requests(&s);
    pthread_join(other, &result);
    expect(!result && s.refused == 0);
    sqlite3_close(db);
}

/* --- PostgreSQL ----------------------------------------------------------------------- */

/* Trigger that fails when a message is committed. */
static const char BREAK[] =
    "create function break_commit() returns trigger language plpgsql as $$ begin %s; "
    "return null; end $$; create constraint trigger break_commit after insert on messages "
    "deferrable initially deferred for each row execute function break_commit()";
static const char MEND[] = "drop trigger break_commit on messages; drop function break_commit()";

static void send_requests_while_commits_fail(struct world *w, const char *how, bool maybe)
{
    char sql[600];

    struct scene s = scene_new(w);
    snprintf(sql, sizeof sql, BREAK, how);
    for (int round = 0; round < 3; round++) {
        test_postgres_do(w->schema, sql);
        send_all_requests(&s);
        send_all_requests(&s);
        test_postgres_do(w->schema, MEND);
        send_all_requests(&s);
    }
    expect_store_is_consistent(&s, maybe);
}

static void full_postgres_tablespace_gives_clean_errors(struct world *w)
{
    send_requests_while_commits_fail(w, "raise 'no room' using errcode = '53100'", false);
}

static void cancelled_postgres_statement_gives_clean_errors(struct world *w)
{
    send_requests_while_commits_fail(w, "raise 'too long' using errcode = '57014'", false);
}

static void connection_that_ends_during_a_commit_gives_clean_errors(struct world *w)
{
    send_requests_while_commits_fail(w, "perform pg_terminate_backend(pg_backend_pid())", true);
}

static void connections_that_end_between_requests_cause_no_errors(struct world *w)
{
    struct scene s = scene_new(w);

    for (int i = 0; i < 10; i++) {
        test_postgres_do(w->schema,
                         "select count(pg_terminate_backend(pid)) from pg_stat_activity "
                         "where application_name = current_schema() and pid <> pg_backend_pid()");
        send_all_requests(&s);
    }
    expect(s.refused == 0);
    for (unsigned i = 0; i < s.sent; i++)
        expect(message_is_stored(&s, i));
}

static const char NOT_IDLE[] = "select count(*) from pg_stat_activity where state <> 'idle' and "
                               "application_name = current_schema() and pid <> pg_backend_pid()";

/* An open transaction would hold its locks forever. */
static void failed_commits_leave_no_transaction_open(struct world *w)
{
    send_requests_while_commits_fail(w, "raise 'no room' using errcode = '53100'", false);
    expect_soon(test_postgres_do(w->schema, NOT_IDLE) == 0);
}

static const struct test sqlite_tests[] = {
    TEST(full_disk_gives_clean_errors_at_every_write),
    TEST(failing_disk_writes_give_clean_errors),
    TEST(failing_disk_syncs_give_clean_errors),
    TEST(requests_wait_for_another_program_that_locks_the_database),
    { 0 },
};

static const struct test postgres_tests[] = {
    TEST(full_postgres_tablespace_gives_clean_errors),
    TEST(cancelled_postgres_statement_gives_clean_errors),
    TEST(connection_that_ends_during_a_commit_gives_clean_errors),
    TEST(connections_that_end_between_requests_cause_no_errors),
    TEST(failed_commits_leave_no_transaction_open),
    { 0 },
};

/* SQLite and PostgreSQL fail in different ways. */
int main(int argc, char **argv)
{
    bool postgres = argc > 1 && strcmp(argv[1], "postgres") == 0;
    const struct suite suites[] = { { "faults", postgres ? postgres_tests : sqlite_tests }, { 0 } };

    disk_prepare();
    return run_tests(argc, argv, suites);
}
