/* file_rows.c - iterates over the rows of `files`, and compares blobs with their rows. */
#include "store/blobs/file_rows.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/internal.h"
#include "store/backup/write_pacing.h"

enum { PAGE_ROWS = 256, READ_BUFFER_SIZE = 128 * 1024, DIGEST_MIGRATION = 92 };

struct file_row_page {
    snowflake after;
    bool has_digests;
    size_t count;
    struct file_row rows[PAGE_ROWS];
};

/* A read-only tool applies no migrations, so the table may not have the column `digest` yet. */
static const char HAS_DIGESTS[] = "select 1 from migrations where number = $1";
/* Old rows have size 0 if the size is unknown. */
static const char FIND_FILES[] =
    "select id, name, case when size > 0 or digest <> '' then size else -1 end, gone, digest "
    "from files where id > $1 order by id limit $2";
static const char FIND_OLD_FILES[] =
    "select id, name, case when size > 0 then size else -1 end, gone, '' from files "
    "where id > $1 order by id limit $2";

static enum err read_file_rows(struct tx *tx, void *arg)
{
    struct file_row_page *p = arg;
    const struct value values[] = { v_id(p->after), v_int(PAGE_ROWS) };
    struct rows r;
    enum err e = p->has_digests ? tx_query(tx, FIND_FILES, values, 2, &r)
                                : tx_query(tx, FIND_OLD_FILES, values, 2, &r);

    p->count = 0;
    if (e)
        return e;
    while (rows_next(&r))
        p->rows[p->count++] = (struct file_row){
            .id = row_id(&r, 0),
            .name = str_dup_cstring(tx_arena(tx), row_text(&r, 1)),
            .size = row_int(&r, 2),
            .gone = row_bool(&r, 3),
            .digest = str_dup_cstring(tx_arena(tx), row_text(&r, 4)),
        };
    return rows_end(&r);
}

static enum err read_whether_rows_have_digests(struct tx *tx, void *arg)
{
    struct file_row_page *p = arg;
    struct rows r;

    return tx_one(tx, HAS_DIGESTS, BIND(v_int(DIGEST_MIGRATION)), &r, &p->has_digests);
}

enum err file_rows_visit_all(struct store *s,
                             enum err (*found)(void *arg, const struct file_row *row), void *arg)
{
    struct file_row_page *p = mem_new(sizeof *p);
    struct arena *arena = arena_new();
    enum err e =
        store_run_transaction_and_wait(s, STORE_READ, arena, read_whether_rows_have_digests, p);

    while (!e) {
        arena_reset(arena);
        e = store_run_transaction_and_wait(s, STORE_READ, arena, read_file_rows, p);
        for (size_t i = 0; !e && i < p->count; i++)
            e = found(arg, &p->rows[i]);
        if (e || p->count < PAGE_ROWS)
            break;
        p->after = p->rows[p->count - 1].id;
    }
    arena_free(arena);
    mem_free(p);
    return e;
}

bool blob_matches_file_row(const struct file_row *row, int64_t size, const char *digest)
{
    if (size < 0)
        log_error("store: the file 'blobs/%s' is missing", row->name);
    else if (row->size >= 0 && row->size != size)
        log_error(
            "store: the stored file 'blobs/%s' has %lld bytes instead of %lld, so it is damaged",
            row->name, (long long)size, (long long)row->size);
    else if (row->digest[0] && strcmp(row->digest, digest) != 0)
        log_error("store: the file 'blobs/%s' differs from the uploaded file", row->name);
    else
        return true;
    return false;
}

/* Computes the digest of a file. Pauses after each buffer, so that the server can use the disk. */
static bool compute_digest_of_file(int fd, char piece[READ_BUFFER_SIZE], char ret[BLOB_DIGEST_SIZE])
{
    unsigned char digest[crypto_generichash_BYTES];
    crypto_generichash_state sum;
    ssize_t n = 1;

    crypto_generichash_init(&sum, NULL, 0, sizeof digest);
    while (n) {
        int64_t began = monotonic_ns();

        n = read(fd, piece, READ_BUFFER_SIZE);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            crypto_generichash_update(&sum, (unsigned char *)piece, (size_t)n);
        pause_for_as_long_as_work_took(began);
    }
    crypto_generichash_final(&sum, digest, sizeof digest);
    sodium_bin2hex(ret, BLOB_DIGEST_SIZE, digest, sizeof digest);
    return true;
}

struct file_check {
    struct store *store;
    struct blob_check_report report;
    char piece[READ_BUFFER_SIZE];
};

static enum err check_blob_of_row(void *arg, const struct file_row *row)
{
    struct file_check *c = arg;
    char digest[BLOB_DIGEST_SIZE] = "";
    int64_t size = -1;
    int fd = -1;

    if (row->gone)
        return OK;
    enum err e = blob_open_without_caching(c->store, row->name, &fd, &size);
    if (e && e != ERR_NOT_FOUND)
        return e;
    if (!e && row->digest[0] && row->size == size && !compute_digest_of_file(fd, c->piece, digest))
        e = ERR_UNAVAILABLE;
    if (fd >= 0)
        close(fd);
    c->report.files++;
    c->report.bytes += size > 0 ? size : 0;
    c->report.damaged += e == ERR_UNAVAILABLE || !blob_matches_file_row(row, size, digest);
    return OK;
}

enum err file_rows_compare_with_all_blobs(struct store *s, struct blob_check_report *ret)
{
    struct file_check *c = mem_new(sizeof *c);
    int lock = -1;
    enum err e = blobs_lock_deletion(s, &lock);

    c->store = s;
    if (!e)
        e = file_rows_visit_all(s, check_blob_of_row, c);
    *ret = c->report;
    if (lock >= 0)
        close(lock);
    mem_free(c);
    return e || !ret->damaged ? e : ERR_FILE_DAMAGED;
}
