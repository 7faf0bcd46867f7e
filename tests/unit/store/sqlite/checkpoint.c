/* checkpoint.c - tests that the write-ahead log is checkpointed and restarted while others read. */
#include "unit/unit.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "net/loop.h"
#include "store/sqlite/sqlite.h"
#include "support/stores.h"
#include "support/test_work.h"

static int64_t file_size(struct fixture *f, const char *name)
{
    char path[128];
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return stat(path, &st) == 0 ? st.st_size : -1;
}

/* A restarted log has another salt in bytes 16 to 19 of its header. */
static uint32_t number_of_log(struct fixture *f)
{
    char path[128];
    uint32_t number = 0;

    snprintf(path, sizeof path, "%s/guildhall.db-wal", f->folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &number, sizeof number, 16), sizeof number);
    close(fd);
    return number;
}

static void make_filler(struct fixture *f)
{
    no_error(store_do(f->store, "create table filler (id integer primary key, b bytea)"));
    no_error(store_do(f->store, "insert into filler values (1, zeroblob(2000000))"));
}

/* Writes without a pause until the log was restarted three times. Another thread copies the log,
 * so its length is unknown. */
static void write_until_wal_restarts_three_times(struct fixture *f)
{
    int afresh = 0;

    make_filler(f);
    uint32_t number = number_of_log(f);
    for (int i = 0; i < 1000 && afresh < 3; i++) { /* 500 pages each */
        no_error(store_do(f->store, "update filler set b = randomblob(2000000)"));
        afresh += number_of_log(f) != number;
        number = number_of_log(f);
    }
    assert_int_equal(afresh, 3);
}

static void assert_wal_file_is_short(struct fixture *f)
{
    enum { PAGE = 4096 + 24, HUGE_PAGES = 40000 };

    assert_in_range(file_size(f, "guildhall.db-wal"), 1, (HUGE_PAGES + 1000) * PAGE);
}

static void write_ahead_log_size_is_bounded(void **state)
{
    struct fixture *f = *state;

    write_until_wal_restarts_three_times(f);
    assert_wal_file_is_short(f);
}

/* Opens a read transaction, as a backup does. */
static sqlite3 *hold_snapshot(struct fixture *f)
{
    char path[128];
    sqlite3 *db = NULL;

    snprintf(path, sizeof path, "%s/guildhall.db", f->folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "begin; select count(*) from filler", NULL, NULL, NULL),
                     SQLITE_OK);
    return db;
}

static void long_wal_after_a_backup_is_restarted(void **state)
{
    struct fixture *f = *state;

    make_filler(f);
    sqlite3 *reader = hold_snapshot(f);
    for (int i = 0; i < 20; i++)
        no_error(store_do(f->store, "update filler set b = randomblob(2000000)"));
    uint32_t number = number_of_log(f);
    assert_true(file_size(f, "guildhall.db-wal") > 9000 * 4096);
    sqlite3_close(reader);
    for (int i = 0; i < 1000 && number_of_log(f) == number; i++)
        no_error(store_do(f->store, "update filler set b = randomblob(2000000)"));
    assert_int_not_equal(number_of_log(f), number);
}

static void writer_does_not_wait_for_a_backup_that_reads_the_wal(void **state)
{
    struct fixture *f = *state;
    struct sqlite *q = (struct sqlite *)f->store;

    make_filler(f);
    sqlite3 *reader = hold_snapshot(f);
    for (int i = 0; i < 90; i++) /* 45,000 pages */
        no_error(store_do(f->store, "update filler set b = randomblob(2000000)"));
    sqlite_writer_stop(q);
    assert_true(q->log.pages > 40000);
    assert_int_equal(q->log.waited, 0);
    sqlite3_close(reader);
}

static struct store *turning;

static void on_loop_iteration_end(struct loop *l, void *arg)
{
    (void)arg;
    store_release_snapshot_of_loop_iteration(turning, l);
}

static enum err read_something(struct work_item *w, struct tx *tx)
{
    struct rows r;
    bool found;

    (void)w;
    return tx_one(tx, "select count(*) from users", NO_BIND, &r, &found);
}

static void submit_read_on_loop(struct loop *l, void *arg)
{
    struct test_work *one = arg;

    one->work.mode = STORE_READ;
    one->work.loop = l;
    one->work.run = read_something;
    store_submit_work_item(turning, &one->work);
}

static void idle_event_loop_does_not_prevent_a_wal_restart(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *one = test_works_new(1, &finished);

    turning = f->store;
    struct loops *loops = loops_start(1, on_loop_iteration_end, NULL);
    loop_run_function_and_wait(loops_get_loop_at(loops, 0), submit_read_on_loop, one);
    wait_for(&finished);
    assert_int_equal(one->result, OK);
    write_until_wal_restarts_three_times(f);
    assert_wal_file_is_short(f);
    loops_stop(loops);
    test_works_free(one, 1);
    sem_destroy(&finished);
}

static void idle_writer_checkpoints_the_wal(void **state)
{
    struct fixture *f = *state;

    make_filler(f);
    for (int i = 0; i < 3000 && file_size(f, "guildhall.db") < 2000000; i++)
        usleep(20000);
    assert_true(file_size(f, "guildhall.db") >= 2000000);
}

static void store_close_leaves_only_the_database_file(void **state)
{
    struct fixture *f = *state;

    counter_make(f);
    assert_int_equal(store_number(f->store, "select n from counter"), 0);
    store_close(f->store);
    f->store = NULL;
    assert_true(file_size(f, "guildhall.db") > 0);
    assert_int_equal(file_size(f, "guildhall.db-wal"), -1);
    assert_int_equal(file_size(f, "guildhall.db-shm"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(write_ahead_log_size_is_bounded),
        store_test(long_wal_after_a_backup_is_restarted),
        store_test(writer_does_not_wait_for_a_backup_that_reads_the_wal),
        store_test(idle_event_loop_does_not_prevent_a_wal_restart),
        store_test(idle_writer_checkpoints_the_wal),
        store_test(store_close_leaves_only_the_database_file),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_sqlite("store/sqlite_log", tests);
}
