/* embedded_database.c - tests the copying of a database into a part of another file. */
#include "unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/sqlite.h"

/* More pages than SQLite caches, so that some are written before the commit. */
enum { ROWS = 3000, BASE = 1237 };

static void database_do(sqlite3 *db, const char *sql)
{
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void fill_database_with_test_rows(const char *path, sqlite3 **ret)
{
    assert_int_equal(sqlite3_open(path, ret), SQLITE_OK);
    database_do(*ret,
                "pragma journal_mode = wal; create table t (n integer primary key, b);"
                "insert into t with recursive n (i) as (select 1 union all select i + 1 from n "
                "where i < 3000) select i, randomblob(3000) from n");
}

static void copy_all(sqlite3 *from, sqlite3 *to)
{
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");

    assert_non_null(b);
    while (sqlite3_backup_step(b, 32) == SQLITE_OK)
        continue;
    assert_int_equal(sqlite3_backup_finish(b), SQLITE_OK);
}

static int64_t database_query_number(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return n;
}

static void cut_out(const char *path, int64_t at, int64_t size, const char *to)
{
    char command[400];

    snprintf(command, sizeof command, "tail -c +%lld %s | head -c %lld >%s", (long long)at + 1,
             path, (long long)size, to);
    assert_int_equal(system(command), 0);
}

static void database_is_copied_into_the_middle_of_a_file(void **state)
{
    char folder[] = "/tmp/guildhall-into-XXXXXX", rows[100], file[100], back[100], head[BASE];
    struct embedded_database *into;
    sqlite3 *from, *to;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(rows, sizeof rows, "%s/rows", folder);
    snprintf(file, sizeof file, "%s/file", folder);
    snprintf(back, sizeof back, "%s/back", folder);
    fill_database_with_test_rows(rows, &from);
    int fd = open(file, O_RDWR | O_CREAT, 0600);
    memset(head, 'h', sizeof head);
    assert_int_equal(pwrite(fd, head, BASE, 0), BASE);
    assert_int_equal(embedded_database_open(fd, BASE, 0, &into, &to), OK);
    copy_all(from, to);
    sqlite3_close(to);
    int64_t size = embedded_database_size(into);
    embedded_database_close(into);
    sqlite3_close(from);

    assert_int_equal(pread(fd, head, BASE, 0), BASE);
    for (int i = 0; i < BASE; i++)
        assert_int_equal(head[i], 'h');
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, BASE + size);
    close(fd);
    cut_out(file, BASE, size, back);
    assert_int_equal(database_query_number(back, "pragma page_count") * 4096, size);
    assert_int_equal(database_query_number(back, "select count(*) from t where length(b) = 3000"),
                     ROWS);
    assert_int_equal(database_query_number(back, "select count(*) from pragma_integrity_check() "
                                                 "where integrity_check = 'ok'"),
                     1);
    snprintf(file, sizeof file, "rm -r %s", folder);
    assert_int_equal(system(file), 0);
}

static void copying_a_database_to_a_full_disk_fails(void **state)
{
    struct embedded_database *into;
    sqlite3 *to;
    int fd = open("/dev/full", O_RDWR);

    (void)state;
    if (fd < 0)
        skip();
    assert_int_equal(embedded_database_open(fd, 0, 0, &into, &to), OK);
    assert_int_equal(sqlite3_exec(to, "create table t (n)", NULL, NULL, NULL), SQLITE_FULL);
    sqlite3_close(to);
    embedded_database_close(into);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(database_is_copied_into_the_middle_of_a_file),
        cmocka_unit_test(copying_a_database_to_a_full_disk_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
