/* postgres.c - creates an empty PostgreSQL schema or database for a test. */
#include "support/postgres.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/postgres/libpq.h"
#include "store/store.h"
#include "support/postgres_kept.h"

static const char option[] = " options=-csearch_path=";
/* The application name lets a test end its own connections only. */
static const char named[] = " application_name=";

bool test_postgres_there(void)
{
    if (getenv("GUILDHALL_TEST_POSTGRES"))
        return true;
    printf("SKIP postgres: GUILDHALL_TEST_POSTGRES is not set\n");
    return false;
}

static void fail_loudly(const char *what, const char *why)
{
    fprintf(stderr, "test postgres: %s: %s\n", what, why);
    abort();
}

static PGconn *connect_as(const char *name, const char *where)
{
    const char *keys[] = { "dbname", name ? "application_name" : NULL, NULL };
    const char *values[] = { where, name, NULL };

    if (!load_libpq())
        abort();
    PGconn *c = pq.connectdbParams(keys, values, 1);
    if (pq.status(c) != CONNECTION_OK)
        fail_loudly("connect", pq.errorMessage(c));
    return c;
}

static long run_on(PGconn *c, const char *sql)
{
    PGresult *r = NULL, *next;

    pq.sendQuery(c, sql);
    while ((next = pq.getResult(c))) {
        pq.clear(r);
        r = next;
    }
    ExecStatusType status = pq.resultStatus(r);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_loudly(sql, pq.errorMessage(c));
    long n = pq.ntuples(r) && pq.nfields(r) ? strtol(pq.getvalue(r, 0, 0), NULL, 10) : 0;
    pq.clear(r);
    return n;
}

long test_postgres_do(const char *where, const char *sql)
{
    PGconn *c = connect_as(NULL, where);
    long n = run_on(c, sql);

    pq.finish(c);
    return n;
}

char *test_postgres_new(void)
{
    static atomic_uint made;
    const char *server = getenv("GUILDHALL_TEST_POSTGRES");
    char schema[64], sql[128];
    size_t room = strlen(server) + sizeof option + sizeof named + 2 * sizeof schema;
    char *where = mem_new(room);

    snprintf(schema, sizeof schema, "w_%ld_%u", (long)getpid(), atomic_fetch_add(&made, 1));
    snprintf(sql, sizeof sql, "create schema %s", schema);
    test_postgres_do(server, sql);
    snprintf(where, room, "%s%s%s%s%s", server, named, schema, option, schema);
    return where;
}

/* --- a database copied from a template ------------------------------------------------ */

static char model[64]; /* name of a template database that was migrated and closed */

static char *where_is(const char *database)
{
    const char *server = getenv("GUILDHALL_TEST_POSTGRES");
    size_t room = strlen(server) + 2 * strlen(database) + sizeof named + sizeof " dbname=";
    char *where = mem_new(room);

    /* If a keyword occurs twice, the last one counts. */
    snprintf(where, room, "%s dbname=%s%s%s", server, database, named, database);
    return where;
}

static void make_model(void)
{
    char folder[] = "/tmp/guildhall-model-XXXXXX", sql[128], clean[sizeof folder + 16];
    struct store *store = NULL;

    snprintf(model, sizeof model, "m_%ld", (long)getpid());
    snprintf(sql, sizeof sql, "create database %s", model);
    test_postgres_do(getenv("GUILDHALL_TEST_POSTGRES"), sql);
    char *where = where_is(model);
    struct store_options options = { .folder = folder, .postgres = where, .readers = 1 };
    if (!mkdtemp(folder) || store_open(&options, &store))
        fail_loudly("make a model", folder);
    store_close(store);
    mem_free(where);
    snprintf(clean, sizeof clean, "rm -rf '%s'", folder);
    if (system(clean))
        fail_loudly("remove", folder);
}

char *test_postgres_copy(void)
{
    static unsigned made;
    char database[64], sql[200];

    if (!*model)
        make_model();
    snprintf(database, sizeof database, "c_%ld_%u", (long)getpid(), made++);
    snprintf(sql, sizeof sql, "create database %s template %s", database, model);
    test_postgres_do(getenv("GUILDHALL_TEST_POSTGRES"), sql);
    return where_is(database);
}

static void drop_database(const char *name)
{
    char sql[128];

    snprintf(sql, sizeof sql, "drop database if exists %s with (force)", name);
    test_postgres_do(getenv("GUILDHALL_TEST_POSTGRES"), sql);
}

void test_postgres_drop(char *where)
{
    if (!where)
        return;
    drop_database(strstr(where, named) + sizeof named - 1);
    mem_free(where);
}

void test_postgres_drop_model(void)
{
    if (*model)
        drop_database(model);
    *model = '\0';
}

/* --- a reused schema ------------------------------------------------------------------ */

/* All tests use the same schema in turn, because creating its tables and connections takes
 * longer than most tests. */
static char *retained;
static PGconn *sweeper;

char *test_postgres_take(void)
{
    char *where = retained;

    if (!where) {
        where = test_postgres_new();
        postgres_keep_connections();
    }
    retained = NULL;
    return where;
}

/* Deletes rows table by table while triggers are off. A large table is truncated, because dead
 * rows slow down scans. As a function, each statement is planned once and not for each test. */
static const char make_sweep[] =
    "set session_replication_role = replica; "
    "set client_min_messages = error; "
    "do $$ declare t text; body text := ''; begin "
    "for t in select tablename from pg_tables where schemaname = current_schema() "
    "and tablename <> 'migrations' loop "
    "body := body || format('if pg_relation_size(%L) > 500000 then truncate %I cascade; "
    "elsif exists (select from %I) then delete from %I; end if; ', t, t, t, t); end loop; "
    "execute format('create function pg_temp.sweep() returns void language plpgsql as %L', "
    "'begin ' || body || 'end'); end $$";

void test_postgres_give(char *where)
{
    if (!sweeper) { /* another application name: tests end connections by the schema's name */
        sweeper = connect_as("sweeper", where);
        run_on(sweeper, make_sweep);
    }
    run_on(sweeper, "select pg_temp.sweep()");
    retained = where;
}

void test_postgres_end(void)
{
    if (sweeper)
        pq.finish(sweeper);
    sweeper = NULL;
    test_postgres_free(retained);
    retained = NULL;
    postgres_end_stored();
}

void test_postgres_free(char *where)
{
    char sql[128];

    if (!where)
        return;
    const char *schema = strstr(where, option) + sizeof option - 1;
    snprintf(sql, sizeof sql, "set client_min_messages = error; drop schema %s cascade", schema);
    test_postgres_do(getenv("GUILDHALL_TEST_POSTGRES"), sql);
    mem_free(where);
}
