/* sqlite.c - tests the data folder of an SQLite database and its exclusive use. */
#include "unit/unit.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "support/stores.h"
#include "support/test_work.h"

static void data_folder_belongs_to_one_process(void **state)
{
    struct fixture *f = *state;
    struct store *second = NULL;

    assert_int_equal(store_open(&f->options, &second), ERR_UNAVAILABLE);
    assert_null(second);
    store_close(f->store);
    no_error(store_open(&f->options, &f->store));
}

static void database_files_are_readable_only_by_their_owner(void **state)
{
    static const char *const names[] = { "guildhall.db", "guildhall.db-wal", "guildhall.db-shm" };
    struct fixture *f = *state;

    counter_make(f);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char path[128];
        struct stat st;

        snprintf(path, sizeof path, "%s/%s", f->folder, names[i]);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 077, 0);
    }
}

static void missing_data_folders_are_created(void **state)
{
    struct fixture *f = *state;
    char deep[128];
    struct store *s;

    snprintf(deep, sizeof deep, "%s/a/b/c/", f->folder);
    no_error(store_open(&(struct store_options){ .folder = deep }, &s));
    store_close(s);
    snprintf(deep, sizeof deep, "%s/guildhall.db/x", f->folder);
    assert_int_equal(store_open(&(struct store_options){ .folder = deep }, &s), ERR_UNAVAILABLE);
}

static void file_that_is_not_a_database_is_refused(void **state)
{
    struct fixture *f = *state;
    char path[128];

    store_close(f->store);
    f->store = NULL;
    snprintf(path, sizeof path, "%s/guildhall.db", f->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 500; i++)
        fputs("not a database\n", file);
    fclose(file);
    assert_int_equal(store_open(&f->options, &f->store), ERR_UNAVAILABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(data_folder_belongs_to_one_process),
        store_test(database_files_are_readable_only_by_their_owner),
        store_test(missing_data_folders_are_created),
        store_test(file_that_is_not_a_database_is_refused),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_sqlite("store/sqlite", tests);
}
