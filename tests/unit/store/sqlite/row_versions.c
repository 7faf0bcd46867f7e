/* row_versions.c - tests which rows are reported as changed since a read. */
#include "unit/unit.h"

#include <pthread.h>

#include "base/log.h"
#include "support/stores.h"
#include "support/test_work.h"

struct stored_read {
    struct snapshot_version seen; /* version at the first read */
    bool again, user, other;
};

static bool has_changed(struct tx *tx, const struct snapshot_version *since, snowflake user)
{
    uint16_t slot = row_version_slot(VERSIONED_USERS, user);

    return !tx_row_version_slots_are_unchanged(tx, since, &slot, 1);
}

static enum err read_changed_rows(struct tx *tx, void *arg)
{
    struct stored_read *read_step = arg;

    if (!read_step->again)
        return tx_get_snapshot_version(tx, &read_step->seen) ? OK : ERR_INTERNAL;
    read_step->user = has_changed(tx, &read_step->seen, 7);
    read_step->other = has_changed(tx, &read_step->seen, 8);
    return OK;
}

static enum err fail_after_change(struct tx *tx, void *arg)
{
    (void)arg;
    no_error(tx_exec(tx, "update users set bio = 'x' where id = 7", NO_BIND, NULL));
    return ERR_BAD_REQUEST;
}

static enum err mark_row_7_changed(struct tx *tx, void *arg)
{
    (void)arg;
    tx_mark_row_changed(tx, VERSIONED_USERS, 7);
    return OK;
}

static enum err expect_no_snapshot_version(struct tx *tx, void *arg)
{
    struct snapshot_version seen;

    (void)arg;
    assert_false(tx_get_snapshot_version(tx, &seen));
    return OK;
}

static struct stored_read read_changes_since(struct fixture *f, const char *sql)
{
    struct stored_read read_step = { .again = false };

    no_error(
        store_run_transaction_and_wait(f->store, STORE_READ, NULL, read_changed_rows, &read_step));
    if (sql)
        no_error(store_do(f->store, sql));
    read_step.again = true;
    no_error(
        store_run_transaction_and_wait(f->store, STORE_READ, NULL, read_changed_rows, &read_step));
    return read_step;
}

static void rows_changed_since_an_earlier_read_are_detected(void **state)
{
    struct fixture *f = *state;
    struct stored_read read_step =
        read_changes_since(f, "insert into users (id, username) values (7, 'seven')");

    assert_true(read_step.user && !read_step.other);
    read_step = read_changes_since(f, NULL);
    assert_false(read_step.user);
    read_step = read_changes_since(f, "insert into users (id, username) values (8, 'eight')");
    assert_true(!read_step.user && read_step.other);
    read_step = read_changes_since(f, "update users set bio = 'x'");
    assert_true(read_step.user && read_step.other);
    read_step = read_changes_since(f, "delete from users where id = 7");
    assert_true(read_step.user && !read_step.other);
    read_step = read_changes_since(f, "insert into guilds (id, name, owner_id) values (7, 'x', 8)");
    assert_true(!read_step.user && !read_step.other);
}

static void row_versions_change_by_explicit_call_and_by_bulk_update(void **state)
{
    struct fixture *f = *state;
    struct stored_read read_step = { .again = false };

    no_error(
        store_run_transaction_and_wait(f->store, STORE_READ, NULL, read_changed_rows, &read_step));
    store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, fail_after_change, NULL);
    no_error(store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, mark_row_7_changed, NULL));
    read_step.again = true;
    no_error(
        store_run_transaction_and_wait(f->store, STORE_READ, NULL, read_changed_rows, &read_step));
    assert_true(read_step.user && !read_step.other);
    no_error(store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, expect_no_snapshot_version,
                                            NULL));
    read_step = read_changes_since(
        f, "insert into users (id, username) with recursive n(i) as (select 1000 "
           "union all select i + 1 from n where i < 4000) select i, i from n");
    assert_true(!read_step.user && !read_step.other);
    read_step = read_changes_since(f, NULL);
    assert_true(!read_step.user && !read_step.other);
}

struct snapshot_read {
    struct fixture *f;
    int64_t users;
};

static void *add_user_without_server(void *arg)
{
    struct fixture *f = arg;

    no_error(store_do(f->store, "insert into users (id, username) values (9, 'nine')"));
    return NULL;
}

/* Cached pages are compared with tx_get_snapshot_version, so rows that are read after it must not
 * be newer. */
static enum err read_after_seen(struct tx *tx, void *arg)
{
    struct snapshot_read *read_step = arg;
    struct snapshot_version seen;
    struct rows row;
    pthread_t thread;
    bool found;

    assert_true(tx_get_snapshot_version(tx, &seen));
    pthread_create(&thread, NULL, add_user_without_server, read_step->f);
    pthread_join(thread, NULL);
    enum err e = tx_one(tx, "select count(*) from users", NO_BIND, &row, &found);
    read_step->users = e ? -1 : row_int(&row, 0);
    return e;
}

static void snapshot_version_and_later_reads_share_one_snapshot(void **state)
{
    struct snapshot_read read_step = { .f = *state };

    no_error(store_run_transaction_and_wait(read_step.f->store, STORE_READ, NULL, read_after_seen,
                                            &read_step));
    assert_int_equal(read_step.users, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(rows_changed_since_an_earlier_read_are_detected),
        store_test(row_versions_change_by_explicit_call_and_by_bulk_update),
        store_test(snapshot_version_and_later_reads_share_one_snapshot),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_sqlite("store/row_versions", tests);
}
