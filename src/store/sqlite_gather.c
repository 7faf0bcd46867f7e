/* sqlite_gather.c - what a commit appends to the log goes to the kernel in one piece.
 *
 * SQLite writes each page of a commit by itself, and the 24 bytes before it, too: for sixteen
 * messages a hundred calls of the kernel, where one does. So the writer's file of the log puts
 * together what follows each other, until it is synced or read. Nobody else looks at it before
 * that: a commit is there for others only after its sync, and what failed to be written fails
 * there. Where there are no syncs (--no-sync) nothing is gathered. */
#include <string.h>

#include "base/mem.h"
#include "store/sqlite.h"

enum { GATHERED = 127 * 1024 }; /* SQLite writes less than 128 KiB at a time */

struct log_piece {
    sqlite3_file *file;
    sqlite3_int64 at;
    int count;
    char bytes[GATHERED];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const sqlite3_io_methods *usual; /* of all files that SQLite opens here */
static sqlite3_io_methods gathering;
/* The writer's thread is the only one that uses the writer's files while it runs. */
static _Thread_local struct log_piece *own;

static int gather_flush(sqlite3_file *file)
{
    struct log_piece *g = own;

    if (!g || g->file != file || !g->count)
        return SQLITE_OK;
    int count = g->count;
    g->count = 0;
    return usual->xWrite(file, g->bytes, count, g->at);
}

static int gather_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    struct log_piece *g = own;

    if (!g || g->file != file)
        return usual->xWrite(file, bytes, count, at);
    if (g->count && (at != g->at + g->count || count > GATHERED - g->count)) {
        int code = gather_flush(file);

        if (code != SQLITE_OK)
            return code;
    }
    if (count > GATHERED)
        return usual->xWrite(file, bytes, count, at);
    if (!g->count)
        g->at = at;
    memcpy(g->bytes + g->count, bytes, (size_t)count);
    g->count += count;
    return SQLITE_OK;
}

static int gather_sync(sqlite3_file *file, int flags)
{
    int code = gather_flush(file);

    return code == SQLITE_OK ? usual->xSync(file, flags) : code;
}

static int gather_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at)
{
    int code = gather_flush(file);

    return code == SQLITE_OK ? usual->xRead(file, bytes, count, at) : code;
}

static int gather_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = gather_flush(file);

    return code == SQLITE_OK ? usual->xTruncate(file, size) : code;
}

static int gather_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    int code = gather_flush(file);

    return code == SQLITE_OK ? usual->xFileSize(file, ret) : code;
}

void sqlite_gather_begin(struct sqlite_conn *c)
{
    sqlite3_file *file = NULL;

    if (sqlite3_file_control(c->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK ||
        !file || !file->pMethods)
        return;
    /* Else SQLite writes on, behind a sync, to the end of a sector, and no sync follows. */
    if (!(file->pMethods->xDeviceCharacteristics(file) & SQLITE_IOCAP_POWERSAFE_OVERWRITE))
        return;
    pthread_mutex_lock(&lock);
    if (!usual) {
        usual = file->pMethods;
        gathering = *usual;
        gathering.xWrite = gather_write;
        gathering.xSync = gather_sync;
        gathering.xRead = gather_read;
        gathering.xTruncate = gather_truncate;
        gathering.xFileSize = gather_size;
    }
    if (file->pMethods == usual) {
        file->pMethods = &gathering;
        own = mem_new(sizeof *own);
        own->file = file;
    }
    pthread_mutex_unlock(&lock);
}

/* What is left was never committed. */
void sqlite_gather_end(void)
{
    if (!own)
        return;
    gather_flush(own->file);
    own->file->pMethods = usual;
    mem_free(own);
    own = NULL;
}
