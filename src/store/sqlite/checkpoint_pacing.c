/* checkpoint_pacing.c - limits the disk writes of checkpoints. A checkpoint writes thousands of
 * pages and syncs them at the end, and a commit during that sync would wait for all of it. So the
 * copier thread syncs after every few pages and then pauses for as long as the sync took. */
#include "base/clock.h"
#include "store/backup/write_pacing.h"
#include "store/sqlite/sqlite.h"

static struct replaced_file_methods methods;
static _Thread_local int written; /* bytes since the last sync */
static _Atomic bool pacing_is_disabled;

static int write_file_and_pause(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    int code = methods.original->xWrite(file, bytes, count, at);

    written += count;
    if (code != SQLITE_OK || written < PACING_FLUSH_BYTES || pacing_is_disabled)
        return code;
    written = 0;
    int64_t began = clock_monotonic_ns();
    code = methods.original->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
    int64_t ms = (clock_monotonic_ns() - began) / (1000 * 1000);
    sqlite3_sleep(ms < PACING_MAX_PAUSE_MS ? (int)ms : PACING_MAX_PAUSE_MS);
    return code;
}

void checkpoint_set_pacing_disabled(bool hurry)
{
    pacing_is_disabled = hurry;
}

static void install_paced_write(sqlite3_io_methods *to)
{
    to->xWrite = write_file_and_pause;
}

void sqlite_conn_enable_write_pacing(struct sqlite_conn *c)
{
    sqlite3_file *file = NULL;

    if (sqlite3_file_control(c->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK)
        replace_file_methods(&methods, file, install_paced_write);
}
