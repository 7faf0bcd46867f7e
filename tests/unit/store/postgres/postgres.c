/* postgres.c - tests outages of PostgreSQL, and exclusive and shared access to it. */
#include "unit/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/backup/backup.h"
#include "store/postgres/postgres.h"
#include "support/postgres.h"
#include "support/stores.h"
#include "support/test_work.h"

/* Ends every connection of the store, but no connection of other tests on the same server. */
static void terminate_store_connections(struct fixture *f)
{
    test_postgres_do(f->postgres, "select count(pg_terminate_backend(pid)) from pg_stat_activity "
                                  "where application_name = current_setting('application_name') "
                                  "and pid <> pg_backend_pid()");
}

static void terminated_connection_is_replaced(void **state)
{
    struct fixture *f = *state;

    counter_make(f);
    for (int i = 0; i < 3; i++) {
        terminate_store_connections(f);
        no_error(store_do(f->store, "update counter set n = n + 1"));
    }
    assert_int_equal(store_number(f->store, "select n from counter"), 3);
    assert_true(store_is_reachable(f->store));
}

/* Simulates an outage: the store uses a role that is then forbidden to log in and allowed again. */
struct guest {
    struct fixture *f;
    char role[32], where[512];
};

static void guest_do(struct guest *g, const char *fmt)
{
    char sql[128];

    snprintf(sql, sizeof sql, fmt, g->role, g->role); /* the role occurs once or twice */
    test_postgres_do(g->f->postgres, sql);
}

static void reopen_store_as_new_postgres_role(struct guest *g, struct fixture *f)
{
    g->f = f;
    snprintf(g->role, sizeof g->role, "guest_%ld", (long)getpid());
    snprintf(g->where, sizeof g->where, "%s user=%s", f->postgres, g->role);
    guest_do(g, "create role %s login superuser");
    store_close(f->store);
    f->options.postgres = g->where;
    f->options.workers = 2;
    no_error(store_open(&f->options, &f->store));
    counter_make(f);
}

static void close_store_and_drop_role(struct guest *g)
{
    store_close(g->f->store);
    g->f->store = NULL;
    guest_do(g, "drop owned by %s cascade; drop role %s");
}

static bool becomes_ready(struct store *s, bool expected)
{
    for (int i = 0; i < 6000 && store_is_reachable(s) != expected; i++)
        usleep(10000);
    return store_is_reachable(s) == expected;
}

static void transactions_time_out_while_the_database_is_unavailable(void **state)
{
    struct fixture *f = *state;
    struct guest g;

    reopen_store_as_new_postgres_role(&g, f);
    assert_true(store_is_reachable(f->store));
    guest_do(&g, "alter role %s nologin");
    terminate_store_connections(f);
    int64_t start = clock_monotonic_ns();
    assert_int_equal(store_do(f->store, "update counter set n = n + 1"), ERR_UNAVAILABLE);
    assert_in_range((clock_monotonic_ns() - start) / 1000000, 4900, 30000);
    assert_true(becomes_ready(f->store, false)); /* the other worker noticed by itself */

    guest_do(&g, "alter role %s login");
    assert_true(becomes_ready(f->store, true));
    no_error(store_do(f->store, "update counter set n = n + 1"));
    assert_int_equal(store_number(f->store, "select n from counter"), 1);
    close_store_and_drop_role(&g);
}

static void store_open_fails_immediately_without_a_database(void **state)
{
    struct fixture *f = *state;
    struct store *s = NULL;

    f->options.postgres = "host=/nowhere dbname=nothing";
    assert_int_equal(store_open(&f->options, &s), ERR_UNAVAILABLE);
    assert_null(s);
}

static enum err fail_with_full_disk(struct work_item *w, struct tx *tx)
{
    (void)w;
    return tx_exec(tx, "select leave_full()", NO_BIND, NULL);
}

static void full_disk_of_the_database_is_reported(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *one = test_works_new(1, &finished);

    test_postgres_do(f->postgres, "create function leave_full() returns bigint language plpgsql as "
                                  "$$ begin raise 'no room' using errcode = '53100'; end $$");
    one->work.run = fail_with_full_disk;
    store_submit_work_item(f->store, &one->work);
    wait_for(&finished);
    assert_int_equal(one->result, ERR_STORAGE_FULL);
    test_works_free(one, 1);
    sem_destroy(&finished);
}

static enum err sleep_too_long(struct work_item *w, struct tx *tx)
{
    enum err e = add_to_counter(w, tx);

    if (!e)
        e = tx_exec(tx, "set local statement_timeout = '20ms'", NO_BIND, NULL);
    return e ? e : tx_exec(tx, "select pg_sleep(30)", NO_BIND, NULL);
}

static void statement_above_the_time_limit_is_cancelled(void **state)
{
    struct fixture *f = *state;
    struct store_stats before, after;
    sem_t finished;
    struct test_work *one = test_works_new(1, &finished);

    counter_make(f);
    store_read_stats(f->store, &before);
    one->work.run = sleep_too_long;
    store_submit_work_item(f->store, &one->work);
    wait_for(&finished);
    store_read_stats(f->store, &after);
    assert_int_equal(one->result, ERR_UNAVAILABLE);
    assert_int_equal(after.retries, before.retries);
    assert_int_equal(store_number(f->store, "select n from counter"), 0);
    assert_int_equal(store_number(f->store, "select count(*) from pg_settings where "
                                            "name in ('statement_timeout', 'lock_timeout', "
                                            "'idle_in_transaction_session_timeout') and "
                                            "cast(setting as bigint) between 1 and 10000"),
                     3);
    test_works_free(one, 1);
    sem_destroy(&finished);
}

static void tool_and_server_exclude_each_other(void **state)
{
    struct fixture *f = *state;
    struct store *tool, *second = NULL;
    struct store_options as_tool = f->options;

    as_tool.serves = false;
    no_error(store_open(&as_tool, &tool));
    assert_int_equal(store_lock_exclusive(tool), ERR_UNAVAILABLE);
    store_close(f->store);
    no_error(store_lock_exclusive(tool));
    assert_int_equal(store_open(&f->options, &second), ERR_UNAVAILABLE);
    store_close(tool);
    no_error(store_open(&f->options, &f->store));
}

/* Opens the store as the given node. */
static enum err open_node(struct fixture *f, unsigned node, bool shared, struct store **ret)
{
    struct store_options options = f->options;

    options.shared = shared;
    snowflake_set_node(node);
    enum err e = store_open(&options, ret);
    snowflake_set_node(0);
    return e;
}

static void nodes_share_a_database_only_if_all_set_the_shared_option(void **state)
{
    struct fixture *f = *state;
    struct store *one = NULL, *two = NULL;

    assert_int_equal(open_node(f, 1, true, &one), ERR_UNAVAILABLE); /* node 0 runs exclusively */
    store_close(f->store);
    no_error(open_node(f, 1, true, &one));
    no_error(open_node(f, 2, true, &two));
    assert_int_equal(node_number_of_process_identity(store_process_identity(two)), 2);
    assert_int_equal(open_node(f, 2, true, &f->store), ERR_UNAVAILABLE);
    assert_int_equal(open_node(f, 3, false, &f->store), ERR_UNAVAILABLE);
    store_close(one);
    store_close(two);
    no_error(store_open(&f->options, &f->store));
}

struct registration {
    struct postgres pool;
    struct postgres_conn conn;
    pthread_t thread;
    bool succeeded;
};

static void *register_as_server(void *arg)
{
    struct registration *r = arg;

    r->succeeded = postgres_conn_register_server(&r->conn, &r->pool);
    return NULL;
}

static const char COUNT_WAITING_SERVERS[] =
    "select count(*) from pg_locks where not granted and locktype = 'advisory' and classid = "
    "7166182 and objid::bigint = hashtext(current_schema())::bigint & 4294967295";

/* A tool has the lock that both wait for, after each has found that there is no other server. */
static void servers_that_connect_at_the_same_time_do_not_both_serve(void **state)
{
    struct fixture *f = *state;
    struct store_options as_tool = f->options;
    static struct registration both[2];
    struct store *tool;

    as_tool.serves = false;
    store_close(f->store);
    no_error(store_open(&as_tool, &tool));
    no_error(store_lock_exclusive(tool));
    for (int i = 0; i < 2; i++) {
        both[i].pool.identity = postgres_identity_new(true);
        assert_true(postgres_conn_open(&both[i].conn, f->options.postgres, false));
        pthread_create(&both[i].thread, NULL, register_as_server, &both[i]);
    }
    for (int tries = 0; test_postgres_do(f->postgres, COUNT_WAITING_SERVERS) != 2; tries++) {
        assert_in_range(tries, 0, 2000);
        usleep(1000);
    }
    store_close(tool);
    for (int i = 0; i < 2; i++)
        pthread_join(both[i].thread, NULL);
    for (int i = 0; i < 2; i++)
        postgres_conn_close(&both[i].conn);
    no_error(store_open(&f->options, &f->store));
    assert_false(both[0].succeeded && both[1].succeeded);
}

static enum err save(struct store *s, const char *path, struct backup_report *ret)
{
    static const char *const no_keys[] = { NULL };

    return backup_create(s, &(struct backup_options){ .path = path, .keys = no_keys }, ret);
}

static void postgres_backup_contains_no_rows(void **state)
{
    struct fixture *f = *state;

    struct backup_report report;
    char path[128];

    snprintf(path, sizeof path, "%s/saved", f->folder);
    no_error(save(f->store, path, &report));
    assert_false(report.has_rows);
    no_error(backup_check(path, &report));
    no_error(store_check_integrity(f->store));
    assert_string_equal(store_engine_name(f->store), "postgres");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(terminated_connection_is_replaced),
        store_test(transactions_time_out_while_the_database_is_unavailable),
        store_test(store_open_fails_immediately_without_a_database),
        store_test(full_disk_of_the_database_is_reported),
        store_test(statement_above_the_time_limit_is_cancelled),
        store_test(tool_and_server_exclude_each_other),
        store_test(nodes_share_a_database_only_if_all_set_the_shared_option),
        store_test(servers_that_connect_at_the_same_time_do_not_both_serve),
        store_test(postgres_backup_contains_no_rows),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_postgres("store/postgres", tests);
}
