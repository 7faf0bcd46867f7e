/* job.c - jobs that write an export, one page per step, and the job that deletes it. The job's row
 * has the position of the export: table, cursor, page, file length, and a checksum of the last
 * block. A crashed process may have written more bytes than the position says; they are truncated
 * before the next page. If this node does not have the file (nodes may have separate folders), the
 * export starts again. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "api/jobs/internal_call.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "platform/exports/internal.h"
#include "platform/exports/tar.h"

/* Limits of a page: rows, files, bytes. Rows are read on an event loop. Files may have any size and
 * are copied on the thread pool. */
enum { PAGE_ROWS = 100, PAGE_FILES = 4, PAGE_BYTES = 4 * 1024 * 1024, PIECE = 64 * 1024 };
enum { EXPORT_LEASE_MS = 10 * 60 * 1000, EXPORT_DAYS = 7 };

struct export_step {
    struct job job;
    /* Position of the export, as stored in the job's row. */
    int64_t part, after, page, length, last_block_checksum;
    /* Results of this step of the job. */
    snowflake id; /* 0 if the export was cancelled */
    bool part_ended;
    int64_t last;
    struct str text;
    struct list files;
    bool failed;
    bool restarts;
};

static enum err read_next_page_of_table(struct call *call, struct export_step *s)
{
    const struct exported_table *part = &exported_table_list[s->part];
    struct buf text;
    enum err e;

    if (part->blob_of) {
        int64_t rows;

        e = data_export_list_files(call, part, s->job.key, s->after, PAGE_FILES, &s->files,
                                   &s->last, &rows);
        s->part_ended = rows == 0;
        return e;
    }
    buf_init(&text, PAGE_BYTES);
    e = data_export_write_table_page(call, part, s->job.key, s->after, PAGE_ROWS, &text, &s->last,
                                     &s->part_ended);
    s->text = buf_move_to_arena(&text, call->arena);
    return e;
}

static enum err read_next_export_page(struct call *call)
{
    struct export_step *s = call_get_stage_data(call, "export_step");
    struct data_export row;
    enum err e = data_export_find(call, s->job.key, &row);

    s->id = !e && row.id && !row.ready ? row.id : 0;
    s->text = (struct str){ 0 };
    s->files = (struct list){ 0 };
    if (e || !s->id || s->part >= exported_table_count())
        return e;
    return read_next_page_of_table(call, s);
}

/* --- writing the file, on the thread pool -------------------------------------------- */

static bool write_zero_bytes(int fd, int64_t n)
{
    static const char zeros[2 * TAR_BLOCK];

    return write_all_bytes(fd, str_slice(zeros, (size_t)n));
}

static bool write_tar_header(int fd, const char *name, int64_t size)
{
    unsigned char header[TAR_BLOCK];

    return tar_write_header(header, name, size, clock_s()) &&
           write_all_bytes(fd, str_slice((const char *)header, sizeof header));
}

static bool copy_bytes(int to, int from, int64_t size)
{
    char piece[PIECE];

    while (size > 0) {
        ssize_t n = read(from, piece, size < PIECE ? (size_t)size : PIECE);

        if (n <= 0 || !write_all_bytes(to, str_slice(piece, (size_t)n)))
            return false;
        size -= n;
    }
    return true;
}

/* Appends a stored file to the tar file. Does nothing if the file has been deleted since its row
 * was read. */
static bool write_blob_to_tar(struct call *call, int fd, const struct exported_file *f)
{
    int from;
    int64_t size;

    if (blob_open(api_get_options(call->api)->store, f->blob, &from, &size) != OK)
        return true;
    bool done = write_tar_header(fd, f->name, size) && copy_bytes(fd, from, size) &&
                write_zero_bytes(fd, tar_padding_bytes(size));
    close(from);
    return done;
}

static bool write_page_to_tar(struct call *call, const struct export_step *s, int fd)
{
    const struct exported_file *files = s->files.items;
    char name[TAR_NAME];

    if (s->part >= exported_table_count()) /* end-of-archive marker */
        return write_zero_bytes(fd, 2 * TAR_BLOCK) && fsync(fd) == 0;
    for (size_t i = 0; i < s->files.count; i++)
        if (!write_blob_to_tar(call, fd, &files[i]))
            return false;
    if (!s->text.n)
        return true;
    snprintf(name, sizeof name, "%s-%04" PRId64 ".jsonl", exported_table_list[s->part].name,
             s->page + 1);
    return write_tar_header(fd, name, (int64_t)s->text.n) && write_all_bytes(fd, s->text) &&
           write_zero_bytes(fd, tar_padding_bytes((int64_t)s->text.n));
}

static int open_export_file(struct call *call, const struct export_step *s)
{
    if (mkdir(data_export_folder(call), 0700) != 0 && errno != EEXIST)
        return -1;
    return open(data_export_path(call, s->id), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

/* Returns the checksum of the last tar block before offset `length`; -1 if the file is shorter than
 * that. */
static int64_t checksum_last_tar_block(int fd, int64_t length)
{
    unsigned char block[TAR_BLOCK];

    if (length < TAR_BLOCK)
        return 0;
    if (pread(fd, block, sizeof block, length - TAR_BLOCK) != (ssize_t)sizeof block)
        return -1;
    return (int64_t)crc32(0, block, sizeof block);
}

static bool append_page_to_export_file(struct call *call, struct export_step *s, int fd)
{
    s->restarts = checksum_last_tar_block(fd, s->length) != s->last_block_checksum;
    if (s->restarts)
        return true;
    if (ftruncate(fd, s->length) != 0 || lseek(fd, 0, SEEK_END) < 0 ||
        !write_page_to_tar(call, s, fd))
        return false;
    s->length = lseek(fd, 0, SEEK_END);
    s->last_block_checksum = checksum_last_tar_block(fd, s->length);
    return true;
}

static enum err write_export_page_on_thread_pool(struct call *call)
{
    struct export_step *s = call_get_stage_data(call, "export_step");

    if (!s->id)
        return OK;
    int fd = open_export_file(call, s);
    s->failed = fd < 0 || !append_page_to_export_file(call, s, fd);
    if (s->failed)
        log_warn("export: cannot write the export of account %llu to '%s'; will retry",
                 (unsigned long long)s->job.key, data_export_path(call, s->id));
    if (fd >= 0)
        close(fd);
    return OK;
}

/* --- saving the job's position ------------------------------------------------------- */

static const char SET_READY[] =
    "update exports set ready = 1, bytes = $2, expires_at = $3 where user_id = $1 and ready = 0";

static enum err mark_export_ready(struct call *call, const struct export_step *s)
{
    int64_t until = clock_us() + EXPORT_DAYS * 86400 * INT64_C(1000000), changed = 0;
    enum err e = tx_exec(call->tx, SET_READY,
                         BIND(v_id(s->job.key), v_int(s->length), v_int(until)), &changed);

    if (!e && changed)
        e = job_schedule(call, &export_expiry_job, s->job.key, until, STR(""));
    return e ? e : job_finish(call, &s->job);
}

static struct str format_next_export_position(struct call *call, const struct export_step *s)
{
    if (s->restarts)
        return STR("0 0 0 0 0");
    if (s->part_ended)
        return str_printf(call->arena, "%" PRId64 " 0 0 %" PRId64 " %" PRId64, s->part + 1,
                          s->length, s->last_block_checksum);
    return str_printf(call->arena, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
                      s->part, s->last, s->page + 1, s->length, s->last_block_checksum);
}

static enum err save_export_progress(struct call *call)
{
    const struct export_step *s = call_get_stage_data(call, "export_step");
    bool held;

    if (!s->id)
        return job_finish(call, &s->job);
    if (s->failed) /* writing failed (full disk …): retry when the lease expires */
        return OK;
    if (!s->restarts && s->part >= exported_table_count())
        return mark_export_ready(call, s);
    return job_renew_lease(call, &s->job, clock_us(), format_next_export_position(call, s), &held);
}

static enum err schedule_export_page_read_and_write(struct call *call)
{
    call->read = read_next_export_page;
    call->compute = write_export_page_on_thread_pool;
    return OK;
}

static void start_export_job(struct api *api, struct loop *loop, const struct job *job)
{
    struct export_step s = { .job = *job };
    struct str rest = job->data;
    int64_t *const numbers[] = { &s.part, &s.after, &s.page, &s.length, &s.last_block_checksum };

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (!str_to_i64(str_cut(&rest, ' '), numbers[i]))
            *numbers[i] = 0;
    s.job.data = (struct str){ 0 };
    internal_call_start(api, loop,
                        &(struct internal_call){ .name = "export",
                                                 .store = ROUTE_STORE_WRITE,
                                                 .decode = schedule_export_page_read_and_write,
                                                 .run = save_export_progress,
                                                 .type = "export_step",
                                                 .data = &s,
                                                 .size = sizeof s });
}

const struct job_kind export_job = {
    .name = "export",
    .doc = "Writes the export of a user's data, page after page.",
    .start = start_export_job,
    .lease_ms = EXPORT_LEASE_MS,
};

/* --- cancelling an export ------------------------------------------------------------ */

static const char CANCEL_EXPORT[] =
    "update exports set ready = 1, expires_at = 0 where user_id = $1";

/* Cancels the export, so that it can no longer be downloaded. A job deletes the file later: a step
 * of the export may still be writing it. */
enum err data_exports_cancel_of_account(struct call *call, snowflake user_id,
                                        struct deletion_step_limits *step)
{
    int64_t changed = 0;
    enum err e = tx_exec(call->tx, CANCEL_EXPORT, BIND(v_id(user_id)), &changed);

    (void)step; /* unused: only one row is changed */
    if (e || !changed)
        return e;
    return job_schedule(call, &export_expiry_job, user_id,
                        clock_us() + EXPORT_LEASE_MS * INT64_C(1000), STR(""));
}

struct export_expiry {
    struct job job;
    snowflake id;
};

static enum err read_expired_export(struct call *call)
{
    struct export_expiry *x = call_get_stage_data(call, "export_expiry");
    struct data_export row;
    enum err e = data_export_find(call, x->job.key, &row);

    x->id = !e && row.ready && row.expires_at <= clock_us() ? row.id : 0;
    return e;
}

static enum err delete_export_file(struct call *call)
{
    const struct export_expiry *x = call_get_stage_data(call, "export_expiry");

    if (x->id && unlink(data_export_path(call, x->id)) != 0 && errno != ENOENT)
        log_warn("export: cannot delete the expired export file '%s'",
                 data_export_path(call, x->id));
    return OK;
}

static const char UNCOUNT_COPIES[] =
    "update file_owners set bytes = bytes - (select counted from exports where user_id = $1) "
    "where owner_id = $1 and exists (select 1 from exports where user_id = $1 and id = $2)";
static const char DELETE_EXPORT[] = "delete from exports where user_id = $1 and id = $2";

static enum err delete_export_row(struct call *call)
{
    const struct export_expiry *x = call_get_stage_data(call, "export_expiry");
    enum err e = tx_exec(call->tx, UNCOUNT_COPIES, BIND(v_id(x->job.key), v_id(x->id)), NULL);

    if (!e)
        e = tx_exec(call->tx, DELETE_EXPORT, BIND(v_id(x->job.key), v_id(x->id)), NULL);
    return e ? e : job_finish(call, &x->job);
}

static enum err schedule_export_file_deletion(struct call *call)
{
    call->read = read_expired_export;
    call->compute = delete_export_file;
    return OK;
}

static void start_export_expiry_job(struct api *api, struct loop *loop, const struct job *job)
{
    struct export_expiry x = { .job = *job };

    x.job.data = (struct str){ 0 };
    internal_call_start(api, loop,
                        &(struct internal_call){ .name = "export-expiry",
                                                 .store = ROUTE_STORE_WRITE,
                                                 .decode = schedule_export_file_deletion,
                                                 .run = delete_export_row,
                                                 .type = "export_expiry",
                                                 .data = &x,
                                                 .size = sizeof x });
}

const struct job_kind export_expiry_job = {
    .name = "export-expiry",
    .doc = "Deletes an expired export.",
    .start = start_export_expiry_job,
    .lease_ms = EXPORT_LEASE_MS,
};
