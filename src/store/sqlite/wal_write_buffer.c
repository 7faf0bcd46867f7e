/* wal_write_buffer.c - combines the WAL writes of a commit into one system call.
 *
 * SQLite writes each page of a commit, and its 24-byte header, with a separate call: about a
 * hundred calls for sixteen messages. The writer's WAL file buffers consecutive writes until a sync
 * or a read. Buffering is safe: other connections see a commit only after its sync, and the sync
 * reports a failed write. Where a commit does not end with a sync, nothing is buffered. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

/* Size of the buffer in bytes. SQLite's VFS writes less than 128 KiB per call. */
enum { WAL_BUFFER_SIZE = 127 * 1024 };

struct wal_write_buffer {
    sqlite3_file *file;
    sqlite3_int64 at;
    int count;
    char bytes[WAL_BUFFER_SIZE];
};

static struct replaced_file_methods methods;
/* Buffer of the writer thread, the only thread that uses the writer's files. */
static _Thread_local struct wal_write_buffer *thread_buffer;

static int flush_wal_write_buffer(sqlite3_file *file)
{
    struct wal_write_buffer *g = thread_buffer;

    if (!g || g->file != file || !g->count)
        return SQLITE_OK;
    int count = g->count;
    g->count = 0;
    return methods.original->xWrite(file, g->bytes, count, g->at);
}

static int write_to_wal_buffer(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    struct wal_write_buffer *g = thread_buffer;

    if (!g || g->file != file)
        return methods.original->xWrite(file, bytes, count, at);
    if (g->count && (at != g->at + g->count || count > WAL_BUFFER_SIZE - g->count)) {
        int code = flush_wal_write_buffer(file);

        if (code != SQLITE_OK)
            return code;
    }
    if (count > WAL_BUFFER_SIZE)
        return methods.original->xWrite(file, bytes, count, at);
    if (!g->count)
        g->at = at;
    memcpy(g->bytes + g->count, bytes, (size_t)count);
    g->count += count;
    return SQLITE_OK;
}

static int flush_wal_buffer_and_sync(sqlite3_file *file, int flags)
{
    int code = flush_wal_write_buffer(file);

    return code == SQLITE_OK ? methods.original->xSync(file, flags) : code;
}

static int flush_wal_buffer_and_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at)
{
    int code = flush_wal_write_buffer(file);

    return code == SQLITE_OK ? methods.original->xRead(file, bytes, count, at) : code;
}

static int flush_wal_buffer_and_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = flush_wal_write_buffer(file);

    return code == SQLITE_OK ? methods.original->xTruncate(file, size) : code;
}

static int flush_wal_buffer_and_get_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    int code = flush_wal_write_buffer(file);

    return code == SQLITE_OK ? methods.original->xFileSize(file, ret) : code;
}

static int read_pragma_number(void *arg, int count, char **texts, char **names)
{
    (void)count, (void)names;
    *(int *)arg = texts[0] ? atoi(texts[0]) : 0;
    return 0;
}

/* Returns whether each commit ends with a sync. Without syncs nothing may be buffered, because
 * readers could miss pages that are still in the buffer. */
static bool commits_are_synced(struct sqlite_conn *c)
{
    enum { FULL = 2 };
    int level = 0;

    return sqlite3_exec(c->db, "pragma main.synchronous", read_pragma_number, &level, NULL) ==
               SQLITE_OK &&
           level >= FULL;
}

/* Returns whether the sync is the last write of a commit. SQLite pads the WAL to the end of a
 * sector after the sync, unless the file has the property POWERSAFE_OVERWRITE. SQLite reads the
 * property from the database file, not from the WAL. */
static bool sync_is_last_write_of_commit(struct sqlite_conn *c)
{
    sqlite3_file *file = NULL;

    return sqlite3_file_control(c->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
           file && file->pMethods &&
           file->pMethods->xDeviceCharacteristics(file) & SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static void install_wal_buffer_methods(sqlite3_io_methods *to)
{
    to->xWrite = write_to_wal_buffer;
    to->xSync = flush_wal_buffer_and_sync;
    to->xRead = flush_wal_buffer_and_read;
    to->xTruncate = flush_wal_buffer_and_truncate;
    to->xFileSize = flush_wal_buffer_and_get_size;
}

void wal_write_buffer_begin(struct sqlite_conn *c)
{
    sqlite3_file *file = NULL;

    if (!commits_are_synced(c) || !sync_is_last_write_of_commit(c) ||
        sqlite3_file_control(c->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK ||
        !file || !file->pMethods ||
        !replace_file_methods(&methods, file, install_wal_buffer_methods))
        return;
    /* Do not zero the bytes: a page that no commit needs takes no memory. */
    thread_buffer = mem_resize(NULL, sizeof *thread_buffer);
    thread_buffer->file = file;
    thread_buffer->count = 0;
}

/* Removes the write buffer. Bytes that are still in the buffer belong to no commit. */
void wal_write_buffer_end(void)
{
    if (!thread_buffer)
        return;
    flush_wal_write_buffer(thread_buffer->file);
    thread_buffer->file->pMethods = methods.original;
    mem_free(thread_buffer);
    thread_buffer = NULL;
}
