/* store_blobs.c - blobs are whole, and stay inside their folder. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "support/stores.h"
#include "support/works.h"

static void assert_blob(struct store *s, const char *name, struct str expected)
{
    int fd;
    int64_t size;

    no_error(blob_open(s, name, &fd, &size));
    assert_int_equal(size, expected.n);
    char *bytes = mem_new(expected.n + 1);
    assert_int_equal(read(fd, bytes, expected.n + 1), expected.n);
    if (expected.n)
        assert_memory_equal(bytes, expected.p, expected.n);
    mem_free(bytes);
    close(fd);
}

static void a_blob_comes_back_whole(void **state)
{
    struct store *s = ((struct fixture *)*state)->store;
    size_t n = 3 << 20;
    char *big = mem_new(n);

    for (size_t i = 0; i < n; i++)
        big[i] = (char)(i * 7);
    no_error(blob_put(s, "avatars/1/a_b-c.png", STR("\0png\xff")));
    no_error(blob_put(s, "avatars/1/empty", STR("")));
    no_error(blob_put(s, "attachments/big", (struct str){ big, n }));
    assert_blob(s, "avatars/1/a_b-c.png", STR("\0png\xff"));
    assert_blob(s, "avatars/1/empty", STR(""));
    assert_blob(s, "attachments/big", (struct str){ big, n });

    no_error(blob_put(s, "avatars/1/a_b-c.png", STR("new")));
    assert_blob(s, "avatars/1/a_b-c.png", STR("new"));
    mem_free(big);
}

static void a_deleted_blob_is_not_there(void **state)
{
    struct store *s = ((struct fixture *)*state)->store;
    int fd;
    int64_t size;

    assert_int_equal(blob_open(s, "avatars/1/x", &fd, &size), ERR_NOT_FOUND);
    no_error(blob_put(s, "avatars/1/x", STR("x")));
    no_error(blob_delete(s, "avatars/1/x"));
    assert_int_equal(blob_open(s, "avatars/1/x", &fd, &size), ERR_NOT_FOUND);
    assert_int_equal(blob_delete(s, "avatars/1/x"), ERR_NOT_FOUND);
    /* A folder of blobs is none itself. */
    assert_int_equal(blob_open(s, "avatars/1", &fd, &size), ERR_NOT_FOUND);
}

static void names_that_lead_elsewhere_are_refused(void **state)
{
    struct store *s = ((struct fixture *)*state)->store;
    static const char *const names[] = {
        "",
        "x",
        "/x/y",
        "x/",
        "x//y",
        "../x",
        "x/../y",
        "x/..",
        "x/.",
        "x/.y",
        "x/Y",
        "x/y z",
        "x/y\\z",
        "x/\xc3\xa9",
        "x/y\n",
        "./x/y",
        "x/a:b",
        "x/~",
        "x/y/../../../../etc/passwd",
    };
    char longest[300];
    int fd;
    int64_t size;

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_int_equal(blob_put(s, names[i], STR("x")), ERR_NOT_FOUND);
        assert_int_equal(blob_open(s, names[i], &fd, &size), ERR_NOT_FOUND);
        assert_int_equal(blob_delete(s, names[i]), ERR_NOT_FOUND);
    }
    memset(longest, 'a', sizeof longest);
    longest[1] = '/';
    longest[255] = 0;
    no_error(blob_put(s, longest, STR("x")));
    longest[255] = 'a';
    longest[256] = 0;
    assert_int_equal(blob_put(s, longest, STR("x")), ERR_NOT_FOUND);
    no_error(blob_put(s, "x/y..z", STR("x"))); /* dots inside a name are fine */
}

static void a_half_written_blob_is_swept_away_at_start(void **state)
{
    struct fixture *f = *state;
    char part[128];

    snprintf(part, sizeof part, "%s/blobs/.part-1-1", f->folder);
    int fd = open(part, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    no_error(blob_put(f->store, "x/y", STR("kept")));
    store_close(f->store);
    no_error(store_open(&f->options, &f->store));
    /* Where nodes share the folder it may be another's that is being written. */
    assert_int_equal(access(part, F_OK) == 0, f->postgres != NULL);
    assert_blob(f->store, "x/y", STR("kept"));
}

static void count_name(void *arg, const char *name)
{
    assert_string_equal(name, "avatars/1/new");
    ++*(int *)arg;
}

static int unsettled(struct store *s, int64_t seconds)
{
    int count = 0;

    no_error(blobs_unsettled(s, seconds, count_name, &count));
    return count;
}

static void a_blob_is_noted_until_it_is_settled_or_deleted(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(unsettled(f->store, 0), 0);
    no_error(blob_put(f->store, "avatars/1/new", STR("x")));
    assert_int_equal(unsettled(f->store, 0), 1);
    assert_int_equal(unsettled(f->store, 60), 0);
    store_close(f->store);
    no_error(store_open(&f->options, &f->store));
    assert_int_equal(unsettled(f->store, 0), 1);
    no_error(blob_settle(f->store, "avatars/1/new"));
    no_error(blob_settle(f->store, "avatars/1/new"));
    assert_int_equal(unsettled(f->store, 0), 0);
    assert_blob(f->store, "avatars/1/new", STR("x"));
    no_error(blob_put(f->store, "avatars/1/new", STR("y")));
    no_error(blob_delete(f->store, "avatars/1/new"));
    assert_int_equal(unsettled(f->store, 0), 0);
}

/* --- in the database ------------------------------------------------------------------ */

/* On SQLite there is no such thing. */
static int open_inside(void **state)
{
    int failed = fixture_open(state);
    struct fixture *f = *state;

    if (failed || !f->postgres)
        return failed;
    store_close(f->store);
    f->options.blobs_inside = true;
    return store_open(&f->options, &f->store) != OK;
}

#define inside_test(f) cmocka_unit_test_setup_teardown(f, open_inside, fixture_close)

static void the_folder_is_a_cache_of_what_is_in_the_database(void **state)
{
    struct fixture *f = *state;
    char path[128];
    int fd;
    int64_t size;

    if (!f->postgres)
        return;
    snprintf(path, sizeof path, "%s/blobs/avatars/1/new", f->folder);
    no_error(blob_put(f->store, "avatars/1/new", STR("here")));
    assert_false(blob_is_near(f->store, "avatars/1/new"));
    assert_blob(f->store, "avatars/1/new", STR("here"));
    assert_true(blob_is_near(f->store, "avatars/1/new"));
    assert_int_equal(unlink(path), 0);
    assert_blob(f->store, "avatars/1/new", STR("here"));
    /* Another server deletes it: after a while that is noticed. */
    no_error(store_do(f->store, "delete from blobs"));
    assert_blob(f->store, "avatars/1/new", STR("here"));
    const struct timespec old[2] = { 0 };
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_false(blob_is_near(f->store, "avatars/1/new"));
    assert_int_equal(blob_open(f->store, "avatars/1/new", &fd, &size), ERR_NOT_FOUND);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void files_are_not_looked_for_in_the_wrong_place(void **state)
{
    struct fixture *f = *state;

    if (!f->postgres)
        return;
    no_error(blob_put(f->store, "avatars/1/new", STR("here")));
    store_close(f->store);
    f->store = NULL;
    f->options.blobs_inside = false;
    assert_int_equal(store_open(&f->options, &f->store), ERR_UNAVAILABLE);
    f->options.blobs_inside = true;
    no_error(store_open(&f->options, &f->store));
    no_error(store_do(f->store, "delete from blobs"));
    no_error(store_do(f->store, "insert into files (id, name, owner_id, size, created_at) "
                                "values (1, 'avatars/1/x', 1, 1, 1)"));
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(store_open(&f->options, &f->store), ERR_UNAVAILABLE);
    f->options.blobs_inside = false;
    no_error(store_open(&f->options, &f->store));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(a_blob_comes_back_whole),
        store_test(a_deleted_blob_is_not_there),
        store_test(names_that_lead_elsewhere_are_refused),
        store_test(a_half_written_blob_is_swept_away_at_start),
        store_test(a_blob_is_noted_until_it_is_settled_or_deleted),
        inside_test(a_blob_comes_back_whole),
        inside_test(a_deleted_blob_is_not_there),
        inside_test(names_that_lead_elsewhere_are_refused),
        inside_test(a_blob_is_noted_until_it_is_settled_or_deleted),
        inside_test(the_folder_is_a_cache_of_what_is_in_the_database),
        inside_test(files_are_not_looked_for_in_the_wrong_place),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_both("store/blobs", tests);
}
