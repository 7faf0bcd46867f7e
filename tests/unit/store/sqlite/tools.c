/* tools.c - tests backups of a database, and tools that read it. */
#include "unit/unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "store/backup/backup.h"
#include "store/internal.h"
#include "support/stores.h"
#include "support/test_work.h"

static struct str read_all(const char *path)
{
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t n = (size_t)ftell(file);
    char *p = malloc(n);
    rewind(file);
    assert_int_equal(fread(p, 1, n, file), n);
    fclose(file);
    return str_slice(p, n);
}

/* Writes the backup truncated at `at`, or with a changed byte there. */
static void write_damaged_copy(const char *path, struct str all, size_t at, bool cut)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    fwrite(all.p, 1, at, file);
    if (!cut) {
        fputc(all.p[at] ^ 1, file);
        fwrite(all.p + at + 1, 1, all.n - at - 1, file);
    }
    fclose(file);
}

static enum err save(struct store *s, const char *path, struct backup_report *ret)
{
    static const char *const no_keys[] = { NULL };

    return backup_create(s, &(struct backup_options){ .path = path, .keys = no_keys }, ret);
}

static void sqlite_backup_is_a_complete_database(void **state)
{
    struct fixture *f = *state;
    char folder[100], path[128];
    struct backup_report report;
    struct store *copy;

    counter_make(f);
    no_error(store_do(f->store, "update counter set n = 41"));
    snprintf(folder, sizeof folder, "%s/copy", f->folder);
    snprintf(path, sizeof path, "%s/saved", f->folder);
    no_error(save(f->store, path, &report));
    no_error(store_do(f->store, "update counter set n = 42"));
    assert_true(report.has_rows);

    no_error(backup_check(path, &report));
    no_error(backup_restore(path, folder, false, &report));
    assert_int_equal(backup_restore(path, folder, false, &report), ERR_BAD_REQUEST);
    no_error(store_open(&(struct store_options){ .folder = folder }, &copy));
    assert_int_equal(store_number(copy, "select n from counter"), 41);
    no_error(store_check_integrity(copy));
    store_close(copy);
    assert_int_equal(save(f->store, "/nowhere/at/all", &report), ERR_UNAVAILABLE);
}

static void backup_prevents_file_deletion_until_it_is_complete(void **state)
{
    struct fixture *f = *state;
    int lock;

    assert_false(blobs_deletion_is_locked(f->store));
    no_error(blobs_lock_deletion(f->store, &lock));
    assert_true(blobs_deletion_is_locked(f->store));
    close(lock);
    assert_false(blobs_deletion_is_locked(f->store));
}

static void damaged_backup_is_detected(void **state)
{
    struct fixture *f = *state;
    char path[128], bent[128];
    struct backup_report report;
    struct str all;

    counter_make(f);
    no_error(blob_put(f->store, "files/1/a.txt", STR("hello")));
    snprintf(path, sizeof path, "%s/saved", f->folder);
    snprintf(bent, sizeof bent, "%s/bent", f->folder);
    no_error(save(f->store, path, &report));
    all = read_all(path);
    for (size_t i = 0; i < all.n; i += i < 300 || all.n - i < 500 ? 1 : 9973) {
        write_damaged_copy(bent, all, i, true);
        assert_int_equal(backup_check(bent, &report), ERR_BAD_REQUEST);
        write_damaged_copy(bent, all, i, false);
        assert_int_equal(backup_check(bent, &report), ERR_BAD_REQUEST);
    }
    free((char *)all.p);
}

static void tool_can_read_the_database_of_a_running_server(void **state)
{
    struct fixture *f = *state;
    struct store *tool;

    counter_make(f);
    no_error(store_do(f->store, "update counter set n = 41"));
    no_error(
        store_open(&(struct store_options){ .folder = f->folder, .read_only_tool = true }, &tool));
    assert_int_equal(store_number(tool, "select n from counter"), 41);
    no_error(store_do(f->store, "update counter set n = 42"));
    assert_int_equal(store_number(tool, "select n from counter"), 42);
    no_error(store_check_integrity(tool));
    store_close(tool);
    no_error(store_do(f->store, "update counter set n = 43"));
    assert_int_equal(
        store_open(&(struct store_options){ .folder = "/nowhere", .read_only_tool = true }, &tool),
        ERR_UNAVAILABLE);
}

static void database_check_finds_rows_with_missing_foreign_keys(void **state)
{
    struct fixture *f = *state;
    char path[128];
    sqlite3 *db;

    no_error(store_check_integrity(f->store));
    store_close(f->store);
    /* Foreign keys are not enforced by default. */
    snprintf(path, sizeof path, "%s/guildhall.db", f->folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "insert into tokens (id, kind, user_id, digest, created_at)"
                                  " values (x'00', 1, 77, x'00', 0)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    no_error(store_open(&f->options, &f->store));
    assert_int_equal(store_check_integrity(f->store), ERR_INTERNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(sqlite_backup_is_a_complete_database),
        store_test(backup_prevents_file_deletion_until_it_is_complete),
        store_test(damaged_backup_is_detected),
        store_test(tool_can_read_the_database_of_a_running_server),
        store_test(database_check_finds_rows_with_missing_foreign_keys),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_sqlite("store/sqlite_tools", tests);
}
