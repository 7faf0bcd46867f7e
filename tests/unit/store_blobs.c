/* store_blobs.c - blobs are whole, and stay inside their folder. */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/blobs/file_rows.h"
#include "support/stores.h"
#include "support/test_work.h"

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

/* In the folder, and in PostgreSQL. */
static void a_check_compares_blobs_with_their_rows(void **state)
{
    struct store *s = ((struct fixture *)*state)->store;
    char digest[BLOB_DIGEST], sql[300];
    struct file_report r;

    blob_digest(STR("hello"), digest);
    no_error(blob_put(s, "files/1/a", STR("hello")));
    snprintf(sql, sizeof sql,
             "insert into files (id, name, owner_id, size, created_at, digest) "
             "values (1, 'files/1/a', 0, 5, 0, '%s')",
             digest);
    no_error(store_do(s, sql));
    no_error(file_rows_check(s, &r));
    assert_int_equal(r.files, 1);
    assert_int_equal(r.bytes, 5);

    no_error(blob_put(s, "files/1/a", STR("jello")));
    assert_int_equal(file_rows_check(s, &r), ERR_FILE_DAMAGED);
    no_error(blob_put(s, "files/1/a", STR("hell")));
    assert_int_equal(file_rows_check(s, &r), ERR_FILE_DAMAGED);
    no_error(blob_delete(s, "files/1/a"));
    assert_int_equal(file_rows_check(s, &r), ERR_FILE_DAMAGED);
    assert_int_equal(r.damaged, 1);
    no_error(store_do(s, "update files set gone = 1"));
    no_error(file_rows_check(s, &r));

    /* Rows of the first versions know neither size nor digest. */
    no_error(store_do(s, "update files set gone = 0, size = 0, digest = ''"));
    no_error(blob_put(s, "files/1/a", STR("anything")));
    no_error(file_rows_check(s, &r));
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

static bool copy_is_near(struct store *s, const char *name)
{
    int64_t size;
    int fd;
    bool near = blob_open_near(s, name, &fd, &size);

    if (near)
        close(fd);
    return near;
}

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

static void a_folder_has_copies_of_what_is_in_the_database(void **state)
{
    struct fixture *f = *state;
    char path[128];
    int fd;
    int64_t size;

    if (!f->postgres)
        return;
    snprintf(path, sizeof path, "%s/blob-cache/avatars/1/new", f->folder);
    no_error(blob_put(f->store, "avatars/1/new", STR("here")));
    assert_false(copy_is_near(f->store, "avatars/1/new"));
    assert_blob(f->store, "avatars/1/new", STR("here"));
    assert_true(copy_is_near(f->store, "avatars/1/new"));
    assert_int_equal(unlink(path), 0);
    assert_blob(f->store, "avatars/1/new", STR("here"));
    /* Another server deletes it: after a while that is noticed. */
    no_error(store_do(f->store, "delete from blobs"));
    assert_blob(f->store, "avatars/1/new", STR("here"));
    const struct timespec old[2] = { 0 };
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_false(copy_is_near(f->store, "avatars/1/new"));
    assert_int_equal(blob_open(f->store, "avatars/1/new", &fd, &size), ERR_NOT_FOUND);
    assert_int_not_equal(access(path, F_OK), 0);
}

enum { COPIES = 8, COPY_BYTES = 1000 };

static void reopen_with_cache_of(struct fixture *f, int64_t bytes)
{
    store_close(f->store);
    f->options.blob_cache = bytes;
    no_error(store_open(&f->options, &f->store));
}

static void copy_name(int i, char out[16])
{
    snprintf(out, 16, "x/%d", i);
}

static struct str copy_bytes(int i)
{
    static char bytes[COPY_BYTES];

    memset(bytes, 'a' + i, sizeof bytes);
    return (struct str){ bytes, sizeof bytes };
}

static void open_copy(struct fixture *f, int i)
{
    char name[16];

    copy_name(i, name);
    assert_blob(f->store, name, copy_bytes(i));
}

/* As if it had been opened so many seconds ago for the last time. False: there is none. */
static bool age_copy(struct fixture *f, int i, int seconds)
{
    const struct timespec times[2] = { { .tv_sec = time(NULL) - seconds },
                                       { .tv_nsec = UTIME_OMIT } };
    char path[128];

    snprintf(path, sizeof path, "%s/blob-cache/x/%d", f->folder, i);
    return utimensat(AT_FDCWD, path, times, 0) == 0;
}

static void list_copies(struct fixture *f, char found[COPIES + 1])
{
    char path[128];
    size_t n = 0;

    for (int i = 0; i < COPIES; i++) {
        snprintf(path, sizeof path, "%s/blob-cache/x/%d", f->folder, i);
        if (access(path, F_OK) == 0)
            found[n++] = (char)('0' + i);
    }
    found[n] = '\0';
}

/* A thread of the store deletes them. */
static void assert_copies(struct fixture *f, const char *expected)
{
    char found[COPIES + 1];

    list_copies(f, found);
    for (int waited = 0; waited < 30000 && strcmp(found, expected) != 0; waited++) {
        usleep(1000);
        list_copies(f, found);
    }
    assert_string_equal(found, expected);
}

static void copies_that_were_opened_longest_ago_make_room(void **state)
{
    struct fixture *f = *state;
    char name[16], kept[128], other[128];

    if (!f->postgres)
        return;
    reopen_with_cache_of(f, 4 * COPY_BYTES);
    for (int i = 0; i < COPIES; i++) {
        copy_name(i, name);
        no_error(blob_put(f->store, name, copy_bytes(i)));
    }
    for (int i = 0; i < 4; i++)
        open_copy(f, i);
    assert_copies(f, "0123"); /* they fill it */
    assert_true(age_copy(f, 0, 500000));
    assert_true(age_copy(f, 1, 3000));
    assert_true(age_copy(f, 2, 300000));
    assert_true(age_copy(f, 3, 90));
    open_copy(f, 0); /* it is in use again */
    open_copy(f, 4);
    assert_copies(f, "034"); /* an eighth is free again */
    open_copy(f, 5);
    assert_copies(f, "0345");
    open_copy(f, 2); /* what went is read anew */
    for (int i = 0; i < COPIES; i++)
        age_copy(f, i, 100);

    /* Copies of an earlier run are counted, too; files that are no copies are left alone. */
    snprintf(kept, sizeof kept, "%s/blobs/x", f->folder);
    assert_int_equal(mkdir(kept, 0700), 0);
    snprintf(other, sizeof other, "%s/blobs/x/1", f->folder);
    assert_int_equal(close(open(other, O_CREAT | O_WRONLY, 0600)), 0);
    reopen_with_cache_of(f, COPY_BYTES + COPY_BYTES / 2);
    open_copy(f, 7);
    assert_copies(f, "7");
    assert_int_equal(access(other, F_OK), 0);
    /* One that is larger than all of it is served and does not stay. */
    reopen_with_cache_of(f, COPY_BYTES / 2);
    open_copy(f, 6);
    assert_copies(f, "");
    snprintf(kept, sizeof kept, "%s/blob-cache/x", f->folder);
    for (int waited = 0; waited < 30000 && access(kept, F_OK) == 0; waited++)
        usleep(1000);
    assert_int_not_equal(access(kept, F_OK), 0); /* nor does an empty folder */
    open_copy(f, 6);
    /* 0: any. */
    reopen_with_cache_of(f, 0);
    for (int i = 0; i < COPIES; i++)
        open_copy(f, i);
    assert_copies(f, "01234567");
}

/* --- many at once --------------------------------------------------------------------- */

enum { READERS = 4, ROUNDS = 40 };

struct copy_reader {
    pthread_t thread;
    struct fixture *fixture;
    int first;
    bool failed;
};

/* Each brings copies that the others' sweeps delete. */
static void *bring_copies(void *arg)
{
    struct copy_reader *r = arg;
    char name[16];
    int64_t size;
    int fd;

    for (int i = 0; i < ROUNDS && !r->failed; i++) {
        copy_name((r->first + i) % COPIES, name);
        r->failed = blob_open(r->fixture->store, name, &fd, &size) || size != COPY_BYTES;
        if (!r->failed)
            close(fd);
    }
    return NULL;
}

/* Every sweep's thread is noted and waited for: a store that closes leaves none behind. */
static void copies_make_room_for_many_readers(void **state)
{
    struct fixture *f = *state;
    struct copy_reader readers[READERS];
    char name[16];

    if (!f->postgres)
        return;
    for (int i = 0; i < COPIES; i++) {
        copy_name(i, name);
        no_error(blob_put(f->store, name, copy_bytes(i)));
    }
    for (int round = 0; round < 3; round++) {
        reopen_with_cache_of(f, COPY_BYTES / 2); /* a sweep for each copy */
        for (int i = 0; i < READERS; i++) {
            readers[i] = (struct copy_reader){ .fixture = f, .first = i * 2 };
            assert_int_equal(pthread_create(&readers[i].thread, NULL, bring_copies, &readers[i]),
                             0);
        }
        for (int i = 0; i < READERS; i++) {
            pthread_join(readers[i].thread, NULL);
            assert_false(readers[i].failed);
        }
    }
    assert_copies(f, "");
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
        store_test(a_check_compares_blobs_with_their_rows),
        store_test(a_deleted_blob_is_not_there),
        store_test(names_that_lead_elsewhere_are_refused),
        store_test(a_half_written_blob_is_swept_away_at_start),
        store_test(a_blob_is_noted_until_it_is_settled_or_deleted),
        inside_test(a_blob_comes_back_whole),
        inside_test(a_deleted_blob_is_not_there),
        inside_test(names_that_lead_elsewhere_are_refused),
        inside_test(a_blob_is_noted_until_it_is_settled_or_deleted),
        inside_test(a_folder_has_copies_of_what_is_in_the_database),
        inside_test(copies_that_were_opened_longest_ago_make_room),
        inside_test(copies_make_room_for_many_readers),
        inside_test(files_are_not_looked_for_in_the_wrong_place),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_both("store/blobs", tests);
}
