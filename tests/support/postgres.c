/* postgres.c - an empty PostgreSQL for a test. */
#include "support/postgres.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/libpq.h"

static const char option[] = " options=-csearch_path=";
/* So that a test can end its own connections and nobody else's. */
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

    if (!libpq_load())
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

/* One schema serves one test after the other: making its tables takes longer than
 * most tests. So does one connection: a new one has to learn of all the tables first. */
static char *kept;
static PGconn *sweeper;

char *test_postgres_take(void)
{
    char *where = kept ? kept : test_postgres_new();

    kept = NULL;
    return where;
}

/* Rows go table by table; the order is nobody's business while rules are off. A table that
 * was large is made anew: it would be searched past all that is dead in it. */
static const char empty_all[] =
    "set session_replication_role = replica; "
    "set client_min_messages = error; "
    "do $$ declare t text; begin "
    "for t in select tablename from pg_tables where schemaname = current_schema() "
    "and tablename <> 'migrations' loop "
    "if pg_relation_size(t::regclass) > 500000 then execute format('truncate %I cascade', t); "
    "else execute format('delete from %I', t); end if; end loop; end $$";

void test_postgres_give(char *where)
{
    if (!sweeper) /* under a name of its own: tests end connections by the schema's */
        sweeper = connect_as("sweeper", where);
    run_on(sweeper, empty_all);
    kept = where;
}

void test_postgres_end(void)
{
    if (sweeper)
        pq.finish(sweeper);
    sweeper = NULL;
    test_postgres_free(kept);
    kept = NULL;
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
