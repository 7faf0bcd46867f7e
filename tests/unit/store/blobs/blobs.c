/* blobs.c - tests that blobs are stored completely and stay inside their folder. */
#include "unit/unit.h"

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
#include "store/internal.h"
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

static void blob_is_read_back_completely(void **state)
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

static void blob_check_compares_files_with_their_rows(void **state)
{
    struct store *s = ((struct fixture *)*state)->store;
    char digest[BLOB_DIGEST_SIZE], sql[300];
    struct blob_check_report r;

    blob_compute_digest(STR("hello"), digest);
    no_error(blob_put(s, "files/1/a", STR("hello")));
    snprintf(sql, sizeof sql,
             "insert into files (id, name, owner_id, size, created_at, digest) "
             "values (1, 'files/1/a', 0, 5, 0, '%s')",
             digest);
    no_error(store_do(s, sql));
    no_error(file_rows_compare_with_all_blobs(s, &r));
    assert_int_equal(r.files, 1);
    assert_int_equal(r.bytes, 5);

    no_error(blob_put(s, "files/1/a", STR("jello")));
    assert_int_equal(file_rows_compare_with_all_blobs(s, &r), ERR_FILE_DAMAGED);
    no_error(blob_put(s, "files/1/a", STR("hell")));
    assert_int_equal(file_rows_compare_with_all_blobs(s, &r), ERR_FILE_DAMAGED);
    no_error(blob_delete(s, "files/1/a"));
    assert_int_equal(file_rows_compare_with_all_blobs(s, &r), ERR_FILE_DAMAGED);
    assert_int_equal(r.damaged, 1);
    no_error(store_do(s, "update files set gone = 1"));
    no_error(file_rows_compare_with_all_blobs(s, &r));

    /* Rows of old versions have neither size nor digest. */
    no_error(store_do(s, "update files set gone = 0, size = 0, digest = ''"));
    no_error(blob_put(s, "files/1/a", STR("anything")));
    no_error(file_rows_compare_with_all_blobs(s, &r));
}

static void deleted_blob_is_not_found(void **state)
{
    struct store *s = ((struct fixture *)*state)->store;
    int fd;
    int64_t size;

    assert_int_equal(blob_open(s, "avatars/1/x", &fd, &size), ERR_NOT_FOUND);
    no_error(blob_put(s, "avatars/1/x", STR("x")));
    no_error(blob_delete(s, "avatars/1/x"));
    assert_int_equal(blob_open(s, "avatars/1/x", &fd, &size), ERR_NOT_FOUND);
    assert_int_equal(blob_delete(s, "avatars/1/x"), ERR_NOT_FOUND);
    /* A folder that contains blobs is not a blob. */
    assert_int_equal(blob_open(s, "avatars/1", &fd, &size), ERR_NOT_FOUND);
}

static void blob_names_outside_the_folder_are_refused(void **state)
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
    no_error(blob_put(s, "x/y..z", STR("x"))); /* dots inside a name are allowed */
}

static void partially_written_blob_is_deleted_at_start(void **state)
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
    /* If nodes share the folder, another node may be writing the file. */
    assert_int_equal(access(part, F_OK) == 0, f->postgres != NULL);
    assert_blob(f->store, "x/y", STR("kept"));
}

static void count_name(void *arg, const char *name)
{
    assert_string_equal(name, "avatars/1/new");
    ++*(int *)arg;
}

static int count_unconfirmed_blobs(struct store *s, int64_t seconds)
{
    int count = 0;

    no_error(blobs_list_uncommitted(s, seconds, count_name, &count));
    return count;
}

static void blob_is_listed_as_uncommitted_until_committed_or_deleted(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(count_unconfirmed_blobs(f->store, 0), 0);
    no_error(blob_put(f->store, "avatars/1/new", STR("x")));
    assert_int_equal(count_unconfirmed_blobs(f->store, 0), 1);
    assert_int_equal(count_unconfirmed_blobs(f->store, 60), 0);
    store_close(f->store);
    no_error(store_open(&f->options, &f->store));
    assert_int_equal(count_unconfirmed_blobs(f->store, 0), 1);
    no_error(blob_mark_row_committed(f->store, "avatars/1/new"));
    no_error(blob_mark_row_committed(f->store, "avatars/1/new"));
    assert_int_equal(count_unconfirmed_blobs(f->store, 0), 0);
    assert_blob(f->store, "avatars/1/new", STR("x"));
    no_error(blob_put(f->store, "avatars/1/new", STR("y")));
    no_error(blob_delete(f->store, "avatars/1/new"));
    assert_int_equal(count_unconfirmed_blobs(f->store, 0), 0);
}

/* --- in the database ------------------------------------------------------------------ */

static bool copy_is_cached(struct store *s, const char *name)
{
    int64_t size;
    int fd;
    bool near = blob_open_without_network(s, name, &fd, &size);

    if (near)
        close(fd);
    return near;
}

/* Blobs in the database exist only with PostgreSQL. */
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

static void cache_folder_has_copies_of_blobs_in_the_database(void **state)
{
    struct fixture *f = *state;
    char path[128];
    int fd;
    int64_t size;

    if (!f->postgres)
        return;
    snprintf(path, sizeof path, "%s/blob-cache/avatars/1/new", f->folder);
    no_error(blob_put(f->store, "avatars/1/new", STR("here")));
    assert_false(copy_is_cached(f->store, "avatars/1/new"));
    assert_blob(f->store, "avatars/1/new", STR("here"));
    assert_true(copy_is_cached(f->store, "avatars/1/new"));
    assert_int_equal(unlink(path), 0);
    assert_blob(f->store, "avatars/1/new", STR("here"));
    /* The node notices later that another node deleted the blob. */
    no_error(store_do(f->store, "delete from blobs"));
    assert_blob(f->store, "avatars/1/new", STR("here"));
    const struct timespec old[2] = { 0 };
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_false(copy_is_cached(f->store, "avatars/1/new"));
    assert_int_equal(blob_open(f->store, "avatars/1/new", &fd, &size), ERR_NOT_FOUND);
    assert_int_not_equal(access(path, F_OK), 0);
}

enum { COPIES = 8, COPY_BYTES = 1000 };

static void reopen_store_with_blob_cache(struct fixture *f, int64_t bytes)
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

/* Sets the last access of a copy back by `seconds`. Returns false if there is no copy. */
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

/* A background thread of the store deletes copies, so wait for the result. */
static void assert_cached_copies(struct fixture *f, const char *expected)
{
    char found[COPIES + 1];

    list_copies(f, found);
    for (int waited = 0; waited < 30000 && strcmp(found, expected) != 0; waited++) {
        usleep(1000);
        list_copies(f, found);
    }
    assert_string_equal(found, expected);
}

static void least_recently_opened_blob_copies_are_evicted(void **state)
{
    struct fixture *f = *state;
    char name[16], retained[128], other[128];

    if (!f->postgres)
        return;
    reopen_store_with_blob_cache(f, 4 * COPY_BYTES);
    for (int i = 0; i < COPIES; i++) {
        copy_name(i, name);
        no_error(blob_put(f->store, name, copy_bytes(i)));
    }
    for (int i = 0; i < 4; i++)
        open_copy(f, i);
    assert_cached_copies(f, "0123"); /* these copies fill the cache */
    assert_true(age_copy(f, 0, 500000));
    assert_true(age_copy(f, 1, 3000));
    assert_true(age_copy(f, 2, 300000));
    assert_true(age_copy(f, 3, 90));
    open_copy(f, 0); /* this access makes it recent */
    open_copy(f, 4);
    assert_cached_copies(f, "034"); /* an eighth of the cache is free again */
    open_copy(f, 5);
    assert_cached_copies(f, "0345");
    open_copy(f, 2); /* the evicted blob is read again */
    for (int i = 0; i < COPIES; i++)
        age_copy(f, i, 100);

    /* Copies of an earlier run count; files that are no copies are not deleted. */
    snprintf(retained, sizeof retained, "%s/blobs/x", f->folder);
    assert_int_equal(mkdir(retained, 0700), 0);
    snprintf(other, sizeof other, "%s/blobs/x/1", f->folder);
    assert_int_equal(close(open(other, O_CREAT | O_WRONLY, 0600)), 0);
    reopen_store_with_blob_cache(f, COPY_BYTES + COPY_BYTES / 2);
    open_copy(f, 7);
    assert_cached_copies(f, "7");
    assert_int_equal(access(other, F_OK), 0);
    /* A copy larger than the cache is served and not retained. */
    reopen_store_with_blob_cache(f, COPY_BYTES / 2);
    open_copy(f, 6);
    assert_cached_copies(f, "");
    snprintf(retained, sizeof retained, "%s/blob-cache/x", f->folder);
    for (int waited = 0; waited < 30000 && access(retained, F_OK) == 0; waited++)
        usleep(1000);
    assert_int_not_equal(access(retained, F_OK), 0); /* empty folders are deleted */
    open_copy(f, 6);
    /* Size 0: unlimited. */
    reopen_store_with_blob_cache(f, 0);
    for (int i = 0; i < COPIES; i++)
        open_copy(f, i);
    assert_cached_copies(f, "01234567");
}

/* --- concurrency ---------------------------------------------------------------------- */

enum { READERS = 4, ROUNDS = 40 };

struct copy_reader {
    pthread_t thread;
    struct fixture *fixture;
    int first;
    bool failed;
};

/* Each thread creates copies that the evictions of others delete. */
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

/* The store joins every eviction thread when it closes. */
static void blob_cache_eviction_is_safe_with_many_readers(void **state)
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
        reopen_store_with_blob_cache(f, COPY_BYTES / 2); /* every copy starts an eviction */
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
    assert_cached_copies(f, "");
}

static void store_refuses_to_open_with_the_wrong_blob_location(void **state)
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

/* The first page is full, and its names do not fit into the first block of an arena. */
static enum err read_full_page_and_fail(struct tx *tx, void *arg)
{
    struct stored_blob_page *p = arg;

    if (p->after[0])
        return ERR_UNAVAILABLE;
    for (p->count = 0; p->count < STORED_BLOBS_PER_PAGE; p->count++)
        p->blobs[p->count].name = memset(arena_alloc(p->arena, 200), 'a', 199);
    (void)tx;
    return OK;
}

static enum err ignore_blob(void *arg, const struct stored_blob *blob)
{
    (void)arg, (void)blob;
    return OK;
}

/* AddressSanitizer reports an access to a name of the freed page. */
static void failed_read_of_blob_page_does_not_use_the_page_before(void **state)
{
    struct store *s = ((struct fixture *)*state)->store;

    assert_int_equal(stored_blob_pages_visit(s, read_full_page_and_fail, -1, ignore_blob, NULL),
                     ERR_UNAVAILABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(blob_is_read_back_completely),
        store_test(blob_check_compares_files_with_their_rows),
        store_test(deleted_blob_is_not_found),
        store_test(blob_names_outside_the_folder_are_refused),
        store_test(partially_written_blob_is_deleted_at_start),
        store_test(blob_is_listed_as_uncommitted_until_committed_or_deleted),
        store_test(failed_read_of_blob_page_does_not_use_the_page_before),
        inside_test(blob_is_read_back_completely),
        inside_test(deleted_blob_is_not_found),
        inside_test(blob_names_outside_the_folder_are_refused),
        inside_test(blob_is_listed_as_uncommitted_until_committed_or_deleted),
        inside_test(cache_folder_has_copies_of_blobs_in_the_database),
        inside_test(least_recently_opened_blob_copies_are_evicted),
        inside_test(blob_cache_eviction_is_safe_with_many_readers),
        inside_test(store_refuses_to_open_with_the_wrong_blob_location),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_both("store/blobs", tests);
}
