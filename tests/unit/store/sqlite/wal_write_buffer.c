/* wal_write_buffer.c - tests that a commit writes its pages to the log with few system calls. */
#include "unit/unit.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "store/sqlite/sqlite.h"
#include "support/stores.h"
#include "support/test_work.h"

static atomic_int pieces;

static ssize_t count_pieces(int fd, const void *bytes, size_t n, off_t at)
{
    pieces++;
    return pwrite(fd, bytes, n, at);
}

static void count_write_to_wal_file(bool count)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    sqlite3_syscall_ptr call = count ? (sqlite3_syscall_ptr)count_pieces : NULL;

    vfs->xSetSystemCall(vfs, "pwrite", call);
    vfs->xSetSystemCall(vfs, "pwrite64", call);
}

enum { PAGES = 100, FEW = 20 };
static const char make_filler[] = "create table filler (id integer primary key, b bytea)";
static const char fill[] = "insert into filler (b) with recursive n (i) as (select 1 union all "
                           "select i + 1 from n where i < 100) select randomblob(3000) from n";
static const char sum_filler[] = "select sum(length(b)) from filler";

static void commit_is_written_with_few_system_calls(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, make_filler));
    pieces = 0;
    count_write_to_wal_file(true);
    no_error(store_do(f->store, fill));
    count_write_to_wal_file(false);
    assert_in_range(pieces, 1, FEW);
    assert_int_equal(store_number(f->store, sum_filler), PAGES * 3000);
}

/* --- commits that do not end with a sync ------------------------------------------------ */

static void run_sql(sqlite3 *db, const char *sql)
{
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

/* Reads the sum on another connection immediately after the commit. */
static int64_t sum_seen(const char *where)
{
    sqlite3 *db;
    sqlite3_stmt *s;

    assert_int_equal(sqlite3_open_v2(where, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sum_filler, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t sum = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return sum;
}

/* Returns the number of writes of a commit to a database with these settings. */
static int pieces_of(const struct fixture *f, const char *how, const char *settings)
{
    struct sqlite_conn c = { 0 };
    char where[160];

    snprintf(where, sizeof where, "file:%s/other.db?%s", f->folder, how);
    assert_int_equal(sqlite3_open_v2(where, &c.db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                                     NULL),
                     SQLITE_OK);
    run_sql(c.db, "pragma journal_mode = wal");
    run_sql(c.db, settings);
    run_sql(c.db, "drop table if exists filler");
    run_sql(c.db, make_filler);
    wal_write_buffer_begin(&c);
    pieces = 0;
    count_write_to_wal_file(true);
    run_sql(c.db, fill);
    count_write_to_wal_file(false);
    assert_int_equal(sum_seen(where), PAGES * 3000);
    wal_write_buffer_end();
    sqlite3_close(c.db);
    return pieces;
}

static void writes_are_not_combined_if_commits_do_not_end_with_a_sync(void **state)
{
    const struct fixture *f = *state;

    assert_in_range(pieces_of(f, "psow=1", "pragma synchronous = full"), 1, FEW);
    assert_true(pieces_of(f, "psow=1", "pragma synchronous = normal") > PAGES);
    assert_true(pieces_of(f, "psow=1", "pragma synchronous = off") > PAGES);
}

/* In this mode SQLite pads the last sector after the sync. */
static void writes_are_not_combined_if_commits_write_after_the_sync(void **state)
{
    assert_true(pieces_of(*state, "psow=0", "pragma synchronous = full") > PAGES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(commit_is_written_with_few_system_calls),
        store_test(writes_are_not_combined_if_commits_do_not_end_with_a_sync),
        store_test(writes_are_not_combined_if_commits_write_after_the_sync),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_sqlite("store/sqlite_gather", tests);
}
