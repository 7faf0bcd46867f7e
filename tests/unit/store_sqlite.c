/* store_sqlite.c - the one writer: batches, full disks, the log, copies. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/loop.h"
#include "store/backup.h"
#include "store/sqlite.h"
#include "support/stores.h"
#include "support/works.h"

static uint64_t commits(struct fixture *f)
{
    struct store_stats stats;

    store_stats(f->store, &stats);
    return stats.commits;
}

static int64_t file_size(struct fixture *f, const char *name)
{
    char path[128];
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return stat(path, &st) == 0 ? st.st_size : -1;
}

/* --- batches -------------------------------------------------------------------------- */

static void works_that_wait_share_one_commit(void **state)
{
    enum { BATCH = 512 };
    struct fixture *f = *state;
    sem_t finished;
    struct one *ones = ones_new(BATCH + 1, &finished);

    counter_make(f);
    uint64_t before = commits(f);
    run_as_batch(f, ones, BATCH, &finished);
    assert_int_equal(commits(f) - before, 2); /* one is the work they waited for */

    before = commits(f);
    run_as_batch(f, ones, BATCH + 1, &finished);
    assert_int_equal(commits(f) - before, 3);
    assert_int_equal(store_number(f->store, "select n from counter"), 2 * BATCH + 1);
    ones_free(ones, BATCH + 1);
    sem_destroy(&finished);
}

static int times_run; /* on the writer's thread */

static enum err count_and_add(struct work *w, struct tx *tx)
{
    times_run++;
    return add_to_counter(w, tx);
}

static enum err look_and_refuse(struct work *w, struct tx *tx)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, "select n from counter", NO_BIND, &row, &found);

    (void)w;
    return e ? e : ERR_FORBIDDEN;
}

/* A batch is run anew, warily, only for one that fails after it has written. */
static void who_is_refused_before_writing_costs_the_others_nothing(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct one *ones = ones_new(5, &finished);

    counter_make(f);
    for (size_t i = 0; i < 5; i++)
        ones[i].work.run = i % 2 ? look_and_refuse : count_and_add;
    times_run = 0;
    run_as_batch(f, ones, 5, &finished);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(ones[i].result, i % 2 ? ERR_FORBIDDEN : OK);
    assert_int_equal(times_run, 3);
    assert_int_equal(store_number(f->store, "select n from counter"), 3);

    ones[2].answer = ERR_NOT_FOUND; /* after it has added */
    times_run = 0;
    run_as_batch(f, ones, 5, &finished);
    assert_int_equal(ones[2].result, ERR_NOT_FOUND);
    assert_int_equal(times_run, 5); /* the first two, and all of them */
    assert_int_equal(store_number(f->store, "select n from counter"), 5);

    times_run = 0;
    run_as_batch(f, ones, 5, &finished); /* with savepoints at once */
    assert_int_equal(times_run, 3);
    assert_int_equal(store_number(f->store, "select n from counter"), 7);
    ones_free(ones, 5);
    sem_destroy(&finished);
}

/* Passes as a statement, and fails when all is committed. */
static enum err break_commit(struct work *w, struct tx *tx)
{
    enum err e = tx_exec(tx, "pragma defer_foreign_keys = on", NO_BIND, NULL);

    (void)w;
    if (e)
        return e;
    return tx_exec(tx,
                   "insert into tokens (id, kind, user_id, digest, created_at) "
                   "values (x'00', 1, 77, x'00', 0)",
                   NO_BIND, NULL);
}

static void a_failed_commit_fails_its_batch_and_not_the_next(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct one *ones = ones_new(5, &finished);

    counter_make(f);
    ones[1].answer = ERR_FORBIDDEN;
    ones[2].work.run = break_commit;
    run_as_batch(f, ones, 5, &finished);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(ones[i].result, ERR_UNAVAILABLE);
    assert_int_equal(store_number(f->store, "select n from counter"), 0);

    ones[2].work.run = add_to_counter;
    run_as_batch(f, ones, 5, &finished);
    assert_int_equal(store_number(f->store, "select n from counter"), 4);
    ones_free(ones, 5);
    sem_destroy(&finished);
}

/* --- a full disk ---------------------------------------------------------------------- */

/* Gives the fixture a folder of its own on a file system of 8 MiB. */
static bool move_to_small_disk(struct fixture *f)
{
    store_close(f->store);
    f->store = NULL;
    if (mount("tmpfs", f->folder, "tmpfs", 0, "size=12m") != 0) {
        printf("SKIP full disk: cannot mount a small one: %s\n", strerror(errno));
        return false;
    }
    no_error(store_open(&f->options, &f->store));
    no_error(store_do(f->store, "create table filler (id integer primary key, b bytea)"));
    return true;
}

/* Clean-up of tests that may be on one. */
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

static void a_full_disk_is_refused_until_there_is_room(void **state)
{
    struct fixture *f = *state;
    int64_t stored = 0;
    enum err e;
    /* More than half: what is in the log may need the same room once more. */
    static char ballast[7 << 20];

    if (!move_to_small_disk(f))
        return;
    no_error(blob_put(f->store, "test/ballast", (struct str){ ballast, sizeof ballast }));
    while ((e = store_run(f->store, STORE_WRITE, NULL, add_filler, NULL)) == OK)
        assert_true(++stored < 100);
    assert_int_equal(e, ERR_STORAGE_FULL);
    assert_true(stored > 0);
    assert_int_equal(store_number(f->store, "select count(*) from filler"), stored);

    no_error(blob_delete(f->store, "test/ballast"));
    no_error(store_run(f->store, STORE_WRITE, NULL, add_filler, NULL));
    assert_int_equal(store_number(f->store, "select count(*) from filler"), stored + 1);
    no_error(store_check(f->store));
}

static void fill_the_rest(struct fixture *f)
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

/* What is in the log goes to where it belongs, and the log has room again. */
static void a_full_disk_still_takes_what_needs_no_more_room(void **state)
{
    struct fixture *f = *state;

    if (!move_to_small_disk(f))
        return;
    counter_make(f);
    store_close(f->store);
    no_error(store_open(&f->options, &f->store));
    no_error(store_do(f->store, "update counter set n = 1"));
    fill_the_rest(f);
    assert_int_equal(store_do(f->store, "update counter set n = 2"), ERR_STORAGE_FULL);
    no_error(store_do(f->store, "update counter set n = 3"));
    assert_int_equal(store_number(f->store, "select n from counter"), 3);
}

/* Too much for the disk and for the cache: the transaction ends in the middle. */
static enum err fill_the_disk(struct work *w, struct tx *tx)
{
    enum err e = OK;

    (void)w;
    for (int i = 0; i < 200 && !e; i++)
        e = add_filler(tx, NULL);
    return e;
}

static void one_work_that_fills_the_disk_fails_alone(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct one *ones = ones_new(7, &finished);

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
    ones_free(ones, 7);
    sem_destroy(&finished);
}

/* --- the log -------------------------------------------------------------------------- */

/* A log that is started afresh gets another number, in bytes 16 to 19 of its head. */
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

/* Without a pause, until the log was started afresh three times. It is copied beside the writer,
 * so nobody knows how long it is by then. */
static void write_much(struct fixture *f)
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

static void assert_log_is_short(struct fixture *f)
{
    enum { PAGE = 4096 + 24, HUGE_PAGES = 40000 };

    assert_in_range(file_size(f, "guildhall.db-wal"), 1, (HUGE_PAGES + 1000) * PAGE);
}

static void the_log_does_not_grow_without_end(void **state)
{
    struct fixture *f = *state;

    write_much(f);
    assert_log_is_short(f);
}

/* As a backup does. */
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

static void a_long_log_that_a_backup_left_is_started_afresh(void **state)
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

/* The writer would wait in vain, and everybody who writes with it. */
static void nobody_waits_for_a_backup_to_let_go_of_the_log(void **state)
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

static void end_turn(struct loop *l, void *arg)
{
    (void)arg;
    store_turn_end(turning, l);
}

static enum err read_something(struct work *w, struct tx *tx)
{
    struct rows r;
    bool found;

    (void)w;
    return tx_one(tx, "select count(*) from users", NO_BIND, &r, &found);
}

static void read_on_loop(struct loop *l, void *arg)
{
    struct one *one = arg;

    one->work.mode = STORE_READ;
    one->work.loop = l;
    one->work.run = read_something;
    store_submit(turning, &one->work);
}

/* A snapshot that outlived its turn would keep the log from starting afresh. */
static void a_loop_that_has_read_does_not_hold_up_the_log(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct one *one = ones_new(1, &finished);

    turning = f->store;
    struct loops *loops = loops_start(1, end_turn, NULL);
    loop_call(loops_at(loops, 0), read_on_loop, one);
    wait_for(&finished);
    assert_int_equal(one->result, OK);
    write_much(f);
    assert_log_is_short(f);
    loops_stop(loops);
    ones_free(one, 1);
    sem_destroy(&finished);
}

static void a_quiet_writer_empties_the_log(void **state)
{
    struct fixture *f = *state;

    make_filler(f);
    for (int i = 0; i < 3000 && file_size(f, "guildhall.db") < 2000000; i++)
        usleep(20000);
    assert_true(file_size(f, "guildhall.db") >= 2000000);
}

static void closing_leaves_one_file(void **state)
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

/* --- the folder ----------------------------------------------------------------------- */

static void a_folder_belongs_to_one_process(void **state)
{
    struct fixture *f = *state;
    struct store *second = NULL;

    assert_int_equal(store_open(&f->options, &second), ERR_UNAVAILABLE);
    assert_null(second);
    store_close(f->store);
    no_error(store_open(&f->options, &f->store));
}

static void nobody_else_may_read_the_files(void **state)
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

static void missing_folders_are_made(void **state)
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

static void a_file_that_is_no_database_is_refused(void **state)
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

/* --- backups -------------------------------------------------------------------------- */

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

/* Cut off there, or with another byte. */
static void write_bent(const char *path, struct str all, size_t at, bool cut)
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

/* --- tools ---------------------------------------------------------------------------- */

static const char *const no_keys[] = { NULL };

static void a_backup_is_a_whole_database(void **state)
{
    struct fixture *f = *state;
    char folder[100], path[128];
    struct backup_report report;
    struct store *copy;

    counter_make(f);
    no_error(store_do(f->store, "update counter set n = 41"));
    snprintf(folder, sizeof folder, "%s/copy", f->folder);
    snprintf(path, sizeof path, "%s/saved", f->folder);
    no_error(backup_make(f->store, path, no_keys, &report));
    no_error(store_do(f->store, "update counter set n = 42"));
    assert_true(report.has_rows);

    no_error(backup_check(path, &report));
    no_error(backup_restore(path, 0, folder, &report));
    assert_int_equal(backup_restore(path, 0, folder, &report), ERR_BAD_REQUEST);
    no_error(store_open(&(struct store_options){ .folder = folder }, &copy));
    assert_int_equal(store_number(copy, "select n from counter"), 41);
    no_error(store_check(copy));
    store_close(copy);
    assert_int_equal(backup_make(f->store, "/nowhere/at/all", no_keys, &report), ERR_UNAVAILABLE);
}

static void a_backup_holds_files_until_it_is_made(void **state)
{
    struct fixture *f = *state;
    int lock;

    assert_false(blobs_held(f->store));
    no_error(blobs_hold(f->store, &lock));
    assert_true(blobs_held(f->store));
    close(lock);
    assert_false(blobs_held(f->store));
}

/* Whatever is cut off or changed, it is not taken for a backup. */
static void a_damaged_backup_is_found_out(void **state)
{
    struct fixture *f = *state;
    char path[128], bent[128];
    struct backup_report report;
    struct str all;

    counter_make(f);
    no_error(blob_put(f->store, "files/1/a.txt", STR("hello")));
    snprintf(path, sizeof path, "%s/saved", f->folder);
    snprintf(bent, sizeof bent, "%s/bent", f->folder);
    no_error(backup_make(f->store, path, no_keys, &report));
    all = read_all(path);
    for (size_t i = 0; i < all.n; i += i < 300 || all.n - i < 500 ? 1 : 9973) {
        write_bent(bent, all, i, true);
        assert_int_equal(backup_check(bent, &report), ERR_BAD_REQUEST);
        write_bent(bent, all, i, false);
        assert_int_equal(backup_check(bent, &report), ERR_BAD_REQUEST);
    }
    free((char *)all.p);
}

static void a_tool_reads_beside_a_server_that_runs(void **state)
{
    struct fixture *f = *state;
    struct store *tool;

    counter_make(f);
    no_error(store_do(f->store, "update counter set n = 41"));
    no_error(store_open(&(struct store_options){ .folder = f->folder, .beside = true }, &tool));
    assert_int_equal(store_number(tool, "select n from counter"), 41);
    no_error(store_do(f->store, "update counter set n = 42"));
    assert_int_equal(store_number(tool, "select n from counter"), 42);
    no_error(store_check(tool));
    store_close(tool);
    no_error(store_do(f->store, "update counter set n = 43"));
    assert_int_equal(
        store_open(&(struct store_options){ .folder = "/nowhere", .beside = true }, &tool),
        ERR_UNAVAILABLE);
}

static void a_check_finds_rows_without_their_owner(void **state)
{
    struct fixture *f = *state;
    char path[128];
    sqlite3 *db;

    no_error(store_check(f->store));
    store_close(f->store);
    /* Foreign keys are off in a connection that does not ask for them. */
    snprintf(path, sizeof path, "%s/guildhall.db", f->folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "insert into tokens (id, kind, user_id, digest, created_at)"
                                  " values (x'00', 1, 77, x'00', 0)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    no_error(store_open(&f->options, &f->store));
    assert_int_equal(store_check(f->store), ERR_INTERNAL);
}

/* --- statements ----------------------------------------------------------------------- */

enum { MANY = 600 };
static char many_sql[MANY][40];

/* The cache overflows while a cursor is open on one of its statements. */
static enum err ask_many(struct tx *tx, void *arg)
{
    struct rows outer, r;
    bool found;

    (void)arg;
    no_error(tx_query(tx, "select 1 union select 2 order by 1", NO_BIND, &outer));
    assert_true(rows_next(&outer));
    for (int i = 0; i < MANY; i++) {
        no_error(tx_one(tx, many_sql[i], NO_BIND, &r, &found));
        assert_int_equal(row_int(&r, 0), i);
    }
    assert_true(rows_next(&outer));
    assert_int_equal(row_int(&outer, 0), 2);
    return rows_end(&outer);
}

static void more_queries_than_the_cache_holds_are_fine(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < MANY; i++)
        snprintf(many_sql[i], sizeof many_sql[i], "select %d", i);
    for (int round = 0; round < 2; round++)
        no_error(store_run(f->store, STORE_READ, NULL, ask_many, NULL));
    no_error(store_run(f->store, STORE_WRITE, NULL, ask_many, NULL));
}

/* --- rows that change ----------------------------------------------------------------- */

struct kept_look {
    struct tx_seen seen; /* of the first look */
    bool again, user, other;
};

static enum err look_for_changes(struct tx *tx, void *arg)
{
    struct kept_look *look = arg;

    if (!look->again)
        return tx_seen(tx, &look->seen) ? OK : ERR_INTERNAL;
    look->user = tx_row_changed(tx, &look->seen, NOTED_USERS, 7);
    look->other = tx_row_changed(tx, &look->seen, NOTED_USERS, 8);
    return OK;
}

static enum err fail_after_change(struct tx *tx, void *arg)
{
    (void)arg;
    no_error(tx_exec(tx, "update users set bio = 'x' where id = 7", NO_BIND, NULL));
    return ERR_BAD_REQUEST;
}

static enum err touch_seven(struct tx *tx, void *arg)
{
    (void)arg;
    tx_touch(tx, NOTED_USERS, 7);
    return OK;
}

static enum err cannot_see(struct tx *tx, void *arg)
{
    struct tx_seen seen;

    (void)arg;
    assert_false(tx_seen(tx, &seen));
    return OK;
}

static struct kept_look look_since(struct fixture *f, const char *sql)
{
    struct kept_look look = { .again = false };

    no_error(store_run(f->store, STORE_READ, NULL, look_for_changes, &look));
    if (sql)
        no_error(store_do(f->store, sql));
    look.again = true;
    no_error(store_run(f->store, STORE_READ, NULL, look_for_changes, &look));
    return look;
}

static void a_read_knows_which_rows_changed_since_another(void **state)
{
    struct fixture *f = *state;
    struct kept_look look = look_since(f, "insert into users (id, username) values (7, 'seven')");

    assert_true(look.user && !look.other);
    look = look_since(f, NULL);
    assert_false(look.user);
    look = look_since(f, "insert into users (id, username) values (8, 'eight')");
    assert_true(!look.user && look.other);
    look = look_since(f, "update users set bio = 'x'");
    assert_true(look.user && look.other);
    look = look_since(f, "delete from users where id = 7");
    assert_true(look.user && !look.other);
    look = look_since(f, "insert into guilds (id, name, owner_id) values (7, 'x', 8)");
    assert_true(!look.user && !look.other);
}

static void rows_are_touched_by_hand_and_by_many(void **state)
{
    struct fixture *f = *state;
    struct kept_look look = { .again = false };

    no_error(store_run(f->store, STORE_READ, NULL, look_for_changes, &look));
    store_run(f->store, STORE_WRITE, NULL, fail_after_change, NULL);
    no_error(store_run(f->store, STORE_WRITE, NULL, touch_seven, NULL));
    look.again = true;
    no_error(store_run(f->store, STORE_READ, NULL, look_for_changes, &look));
    assert_true(look.user && !look.other);
    no_error(store_run(f->store, STORE_WRITE, NULL, cannot_see, NULL));
    /* More than are noted one by one. */
    look = look_since(f, "insert into users (id, username) with recursive n(i) as (select 1000 "
                         "union all select i + 1 from n where i < 4000) select i, i from n");
    assert_true(look.user && look.other);
    look = look_since(f, NULL);
    assert_true(!look.user && !look.other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(works_that_wait_share_one_commit),
        store_test(who_is_refused_before_writing_costs_the_others_nothing),
        store_test(a_failed_commit_fails_its_batch_and_not_the_next),
        small_disk_test(a_full_disk_is_refused_until_there_is_room),
        small_disk_test(a_full_disk_still_takes_what_needs_no_more_room),
        small_disk_test(one_work_that_fills_the_disk_fails_alone),
        store_test(the_log_does_not_grow_without_end),
        store_test(a_long_log_that_a_backup_left_is_started_afresh),
        store_test(nobody_waits_for_a_backup_to_let_go_of_the_log),
        store_test(a_loop_that_has_read_does_not_hold_up_the_log),
        store_test(a_quiet_writer_empties_the_log),
        store_test(closing_leaves_one_file),
        store_test(a_folder_belongs_to_one_process),
        store_test(nobody_else_may_read_the_files),
        store_test(missing_folders_are_made),
        store_test(a_file_that_is_no_database_is_refused),
        store_test(a_backup_is_a_whole_database),
        store_test(a_backup_holds_files_until_it_is_made),
        store_test(a_damaged_backup_is_found_out),
        store_test(a_tool_reads_beside_a_server_that_runs),
        store_test(a_check_finds_rows_without_their_owner),
        store_test(more_queries_than_the_cache_holds_are_fine),
        store_test(a_read_knows_which_rows_changed_since_another),
        store_test(rows_are_touched_by_hand_and_by_many),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_sqlite("store/sqlite", tests);
}
