/* sqlite_paced.c - a connection whose pages go to the disk a little at a time.
 *
 * Copying the log writes thousands of pages and syncs them at the end. A commit of the writer
 * that meets that sync waits for all of it. So the copier's file syncs after every few pages and
 * then leaves the disk to others for as long as that took, as backups do (paced.h). SQLite has no
 * word for that, but every open file has its own table of functions. */
#include "base/clock.h"
#include "store/paced.h"
#include "store/sqlite.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const sqlite3_io_methods *usual; /* of all files that SQLite opens here */
static sqlite3_io_methods paced;        /* the same, but for one */
static _Thread_local int written;       /* since the last sync */
static _Atomic bool has_to_hurry;

static int write_paced(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    int code = usual->xWrite(file, bytes, count, at);

    written += count;
    if (code != SQLITE_OK || written < PACED_BYTES || has_to_hurry)
        return code;
    written = 0;
    int64_t began = clock_mono();
    code = usual->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
    int64_t ms = (clock_mono() - began) / (1000 * 1000);
    sqlite3_sleep(ms < PACED_PAUSE_MS ? (int)ms : PACED_PAUSE_MS);
    return code;
}

void sqlite_pace_hurry(bool hurry)
{
    has_to_hurry = hurry;
}

void sqlite_conn_pace(struct sqlite_conn *c)
{
    sqlite3_file *file = NULL;

    if (sqlite3_file_control(c->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK)
        return;
    pthread_mutex_lock(&lock);
    if (!usual) {
        usual = file->pMethods;
        paced = *usual;
        paced.xWrite = write_paced;
    }
    if (file->pMethods == usual)
        file->pMethods = &paced;
    pthread_mutex_unlock(&lock);
}
