/* checkpoint_pacing.c - tests that a checkpoint has only few unsynced bytes at a time. */
#include "unit/unit.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "store/backup/write_pacing.h"
#include "store/sqlite/sqlite.h"

enum { PAGE = 4096, ROWS = 1500 };

/* Bytes written since the last sync, and their maximum so far. */
static atomic_size_t unsynced, most;

static ssize_t write_and_count(int fd, const void *bytes, size_t n, off_t at)
{
    size_t now = atomic_fetch_add(&unsynced, n) + n;

    if (now > most)
        most = now;
    return pwrite(fd, bytes, n, at);
}

/* Seconds by which each sync advances the clock, and their sum. */
static time_t sync_seconds, moved_seconds;
static int longest_pause; /* microseconds */

/* Replaces the fdatasync that SQLite calls, which its table of system calls does not contain. */
int fdatasync(int fd)
{
    unsynced = 0;
    moved_seconds += sync_seconds;
    return (int)syscall(SYS_fdatasync, fd);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    int result = (int)syscall(SYS_clock_gettime, id, t);

    t->tv_sec += moved_seconds;
    return result;
}

static int record_pause_without_sleeping(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    if (us > longest_pause)
        longest_pause = us;
    return us;
}

static struct sqlite_conn *open_database(const char *folder)
{
    char path[200];
    struct sqlite_conn *c = NULL;

    snprintf(path, sizeof path, "%s/guildhall.db", folder);
    assert_int_equal(sqlite_conn_open(path, &c), OK);
    return c;
}

static void fill_log(struct sqlite_conn *c)
{
    assert_int_equal(sqlite_conn_run(c, "pragma wal_autocheckpoint = 0"), SQLITE_OK);
    assert_int_equal(sqlite_conn_run(c, "create table t (b)"), SQLITE_OK);
    assert_int_equal(sqlite_conn_run(c, "insert into t with recursive n (i) as (select 1 union all "
                                        "select i + 1 from n where i < 1500) "
                                        "select zeroblob(3000) from n"),
                     SQLITE_OK);
}

static void copy_log(struct sqlite_conn *c)
{
    int pages = 0, copied = 0;

    unsynced = most = 0;
    assert_int_equal(
        sqlite3_wal_checkpoint_v2(c->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &copied),
        SQLITE_OK);
    assert_true(pages >= ROWS);
    assert_int_equal(copied, pages);
}

static void checkpoint_syncs_after_a_small_number_of_bytes(void **state)
{
    char folder[] = "/tmp/guildhall-paced-XXXXXX", command[100];

    (void)state;
    assert_non_null(mkdtemp(folder));
    struct sqlite_conn *writer = open_database(folder), *copier = open_database(folder);
    fill_log(writer);
    sqlite_conn_enable_write_pacing(copier);
    copy_log(copier);
    assert_true(most >= PACING_FLUSH_BYTES && most <= PACING_FLUSH_BYTES + PAGE);
    /* The limit belongs to the connection, not to the file. */
    assert_int_equal(sqlite_conn_run(writer, "delete from t"), SQLITE_OK);
    assert_int_equal(sqlite_conn_run(writer, "drop table t"), SQLITE_OK);
    fill_log(writer);
    copy_log(writer);
    assert_true(most > ROWS / 2 * PAGE);
    sqlite_conn_close(copier);
    sqlite_conn_close(writer);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void checkpoint_pauses_are_bounded_on_a_slow_disk(void **state)
{
    char folder[] = "/tmp/guildhall-paced-XXXXXX", command[100];

    (void)state;
    assert_non_null(mkdtemp(folder));
    struct sqlite_conn *c = open_database(folder);
    fill_log(c);
    sqlite_conn_enable_write_pacing(c);
    sync_seconds = 900;
    copy_log(c);
    sync_seconds = 0;
    assert_int_equal(longest_pause, PACING_MAX_PAUSE_MS * 1000);
    sqlite_conn_close(c);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoint_syncs_after_a_small_number_of_bytes),
        cmocka_unit_test(checkpoint_pauses_are_bounded_on_a_slow_disk),
    };
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)write_and_count);
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)write_and_count);
    vfs->xSleep = record_pause_without_sleeping;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
