/* gather.c - combines the WAL writes of a commit into one system call.
 *
 * SQLite writes each page of a commit, and its 24-byte header, with a separate call: about a
 * hundred calls for sixteen messages. The writer's WAL file buffers consecutive writes until a sync
 * or a read. That is safe: other connections see a commit only after its sync, and a failed write
 * is reported by the sync. Where a commit does not end with a sync, nothing is buffered. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

enum { GATHERED = 127 * 1024 }; /* SQLite writes less than 128 KiB at a time */

struct log_piece {
    sqlite3_file *file;
    sqlite3_int64 at;
    int count;
    char bytes[GATHERED];
};

static struct sqlite_methods methods;
/* Buffer of the writer thread, the only thread that uses the writer's files. */
static _Thread_local struct log_piece *own;

static int gather_flush(sqlite3_file *file)
{
    struct log_piece *g = own;

    if (!g || g->file != file || !g->count)
        return SQLITE_OK;
    int count = g->count;
    g->count = 0;
    return methods.usual->xWrite(file, g->bytes, count, g->at);
}

static int gather_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    struct log_piece *g = own;

    if (!g || g->file != file)
        return methods.usual->xWrite(file, bytes, count, at);
    if (g->count && (at != g->at + g->count || count > GATHERED - g->count)) {
        int code = gather_flush(file);

        if (code != SQLITE_OK)
            return code;
    }
    if (count > GATHERED)
        return methods.usual->xWrite(file, bytes, count, at);
    if (!g->count)
        g->at = at;
    memcpy(g->bytes + g->count, bytes, (size_t)count);
    g->count += count;
    return SQLITE_OK;
}

static int gather_sync(sqlite3_file *file, int flags)
{
    int code = gather_flush(file);

    return code == SQLITE_OK ? methods.usual->xSync(file, flags) : code;
}

static int gather_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at)
{
    int code = gather_flush(file);

    return code == SQLITE_OK ? methods.usual->xRead(file, bytes, count, at) : code;
}

static int gather_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = gather_flush(file);

    return code == SQLITE_OK ? methods.usual->xTruncate(file, size) : code;
}

static int gather_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    int code = gather_flush(file);

    return code == SQLITE_OK ? methods.usual->xFileSize(file, ret) : code;
}

static int note_number(void *arg, int count, char **texts, char **names)
{
    (void)count, (void)names;
    *(int *)arg = texts[0] ? atoi(texts[0]) : 0;
    return 0;
}

/* Whether commits end with a sync. If they do not, readers would miss the buffered pages. */
static bool commits_are_synced(struct sqlite_conn *c)
{
    enum { FULL = 2 };
    int level = 0;

    return sqlite3_exec(c->db, "pragma main.synchronous", note_number, &level, NULL) == SQLITE_OK &&
           level >= FULL;
}

/* Whether nothing follows the sync of a commit. Without this property SQLite pads the WAL to the
 * end of a sector after the sync. SQLite takes the property from the database file, not from the
 * WAL. */
static bool sync_is_the_end(struct sqlite_conn *c)
{
    sqlite3_file *file = NULL;

    return sqlite3_file_control(c->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
           file && file->pMethods &&
           file->pMethods->xDeviceCharacteristics(file) & SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static void change_to_gathering(sqlite3_io_methods *to)
{
    to->xWrite = gather_write;
    to->xSync = gather_sync;
    to->xRead = gather_read;
    to->xTruncate = gather_truncate;
    to->xFileSize = gather_size;
}

void sqlite_gather_begin(struct sqlite_conn *c)
{
    sqlite3_file *file = NULL;

    if (!commits_are_synced(c) || !sync_is_the_end(c) ||
        sqlite3_file_control(c->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK ||
        !file || !file->pMethods || !sqlite_methods_change(&methods, file, change_to_gathering))
        return;
    own = mem_new(sizeof *own);
    own->file = file;
}

/* Bytes that are still in the buffer were never committed. */
void sqlite_gather_end(void)
{
    if (!own)
        return;
    gather_flush(own->file);
    own->file->pMethods = methods.usual;
    mem_free(own);
    own = NULL;
}
