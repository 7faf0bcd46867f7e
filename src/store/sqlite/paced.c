/* paced.c - paces the disk writes of checkpoints. A checkpoint writes thousands of pages and syncs
 * them at the end, and a commit during that sync would wait for all of it. So the copier syncs
 * after every few pages and then pauses for as long as the sync took, as backups do
 * (backup/paced.h). */
#include "base/clock.h"
#include "store/backup/paced.h"
#include "store/sqlite/sqlite.h"

static struct sqlite_methods methods;
static _Thread_local int written; /* bytes since the last sync */
static _Atomic bool has_to_hurry;

static int write_paced(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    int code = methods.usual->xWrite(file, bytes, count, at);

    written += count;
    if (code != SQLITE_OK || written < PACED_BYTES || has_to_hurry)
        return code;
    written = 0;
    int64_t began = clock_mono();
    code = methods.usual->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
    int64_t ms = (clock_mono() - began) / (1000 * 1000);
    sqlite3_sleep(ms < PACED_PAUSE_MS ? (int)ms : PACED_PAUSE_MS);
    return code;
}

void sqlite_pace_hurry(bool hurry)
{
    has_to_hurry = hurry;
}

static void change_to_paced(sqlite3_io_methods *to)
{
    to->xWrite = write_paced;
}

void sqlite_conn_pace(struct sqlite_conn *c)
{
    sqlite3_file *file = NULL;

    if (sqlite3_file_control(c->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK)
        sqlite_methods_change(&methods, file, change_to_paced);
}
