/* full_disk.c - tests SQLite on a full disk. Tests src/store/disk_full.c and
 * src/store/sqlite/writer.c. */
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/log.h"
#include "support/stores.h"
#include "support/test_work.h"

/* Moves the fixture to its own file system of 8 MiB. */
static bool move_to_small_disk(struct fixture *f)
{
    store_close(f->store);
    f->store = NULL;
    if (mount("tmpfs", f->folder, "tmpfs", 0, "size=18m") != 0) {
        printf("SKIP full disk: cannot mount a small one: %s\n", strerror(errno));
        return false;
    }
    no_error(store_open(&f->options, &f->store));
    no_error(store_do(f->store, "create table filler (id integer primary key, b bytea)"));
    return true;
}

/* Cleans up after tests that may use the small file system. */
static int leave_small_disk(void **state)
{
    struct fixture *f = *state;

    store_close(f->store);
    f->store = NULL;
    umount(f->folder);
    return fixture_close(state);
}

#define small_disk_test(f) cmocka_unit_test_setup_teardown(f, fixture_open, leave_small_disk)

static enum err add_filler(struct tx *tx, void *arg)
{
    (void)arg;
    return tx_exec(tx, "insert into filler (b) values (zeroblob(100000))", NO_BIND, NULL);
}

static void writes_on_a_full_disk_are_refused_until_space_is_free(void **state)
{
    struct fixture *f = *state;
    int64_t stored = 0;
    enum err e;
    /* More than half of the disk: the content of the log may need the same space once more. */
    static char ballast[10 << 20];

    if (!move_to_small_disk(f))
        return;
    no_error(blob_put(f->store, "test/ballast", (struct str){ ballast, sizeof ballast }));
    while ((e = store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, add_filler, NULL)) ==
           OK)
        assert_true(++stored < 100);
    assert_int_equal(e, ERR_STORAGE_FULL);
    assert_true(stored > 0);
    assert_int_equal(store_number(f->store, "select count(*) from filler"), stored);

    no_error(blob_delete(f->store, "test/ballast"));
    no_error(store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, add_filler, NULL));
    assert_int_equal(store_number(f->store, "select count(*) from filler"), stored + 1);
    no_error(store_check_integrity(f->store));
}

static void fill_disk_of_database(struct fixture *f)
{
    static const char page[4096];
    char path[128];

    snprintf(path, sizeof path, "%s/rest", f->folder);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    while (write(fd, page, sizeof page) > 0)
        ;
    assert_int_equal(errno, ENOSPC);
    close(fd);
}

/* The log is copied into the database, so that it has space again. */
static void full_disk_accepts_writes_that_need_no_space(void **state)
{
    struct fixture *f = *state;

    if (!move_to_small_disk(f))
        return;
    counter_make(f);
    store_close(f->store);
    no_error(store_open(&f->options, &f->store));
    no_error(store_do(f->store, "update counter set n = 1"));
    fill_disk_of_database(f);
    assert_int_equal(store_do(f->store, "update counter set n = 2"), ERR_STORAGE_FULL);
    no_error(store_do(f->store, "update counter set n = 3"));
    assert_int_equal(store_number(f->store, "select n from counter"), 3);
}

/* Writes too much for the disk and the cache: the transaction fails in the middle. */
static enum err fill_the_disk(struct work_item *w, struct tx *tx)
{
    enum err e = OK;

    (void)w;
    for (int i = 0; i < 200 && !e; i++)
        e = add_filler(tx, NULL);
    return e;
}

static void transaction_that_fills_the_disk_fails_alone(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = test_works_new(7, &finished);

    if (move_to_small_disk(f)) {
        counter_make(f);
        ones[1].answer = ERR_FORBIDDEN;
        ones[3].work.run = fill_the_disk;
        run_as_batch(f, ones, 7, &finished);
        assert_int_equal(ones[3].result, ERR_STORAGE_FULL);
        assert_int_equal(ones[1].result, ERR_FORBIDDEN);
        for (size_t i = 0; i < 7; i++)
            assert_true(i == 1 || i == 3 || ones[i].result == OK);
        assert_int_equal(store_number(f->store, "select n from counter"), 5);
        assert_int_equal(store_number(f->store, "select count(*) from filler"), 0);
    }
    test_works_free(ones, 7);
    sem_destroy(&finished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        small_disk_test(writes_on_a_full_disk_are_refused_until_space_is_free),
        small_disk_test(full_disk_accepts_writes_that_need_no_space),
        small_disk_test(transaction_that_fills_the_disk_fails_alone),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_sqlite("store/sqlite_full_disk", tests);
}
