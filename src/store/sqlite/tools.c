/* tools.c - backup and integrity check of an SQLite database. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "store/backup/write_pacing.h"
#include "store/sqlite/sqlite.h"

/* Number of pages that a copy writes between two syncs. */
enum { PAGES_PER_STEP = PACING_FLUSH_BYTES / 4096 };

static enum err log_copy_error(int code)
{
    log_error("store: cannot copy the database for the backup: %s", sqlite3_errstr(code));
    return (code & 0xff) == SQLITE_FULL ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

/* Copies the connection's snapshot a few pages at a time, so that the server's commits do not wait
 * for the whole copy. */
static enum err copy_database_pages(sqlite3 *from, sqlite3 *to, int fd)
{
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
    int code = b ? SQLITE_OK : sqlite3_errcode(to);

    while (code == SQLITE_OK) {
        code = sqlite3_backup_step(b, PAGES_PER_STEP);
        if (code == SQLITE_OK && !flush_file_and_pause(fd, PACING_FLUSH_BYTES))
            code = errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR;
    }
    if (b)
        sqlite3_backup_finish(b);
    return code == SQLITE_DONE ? OK : log_copy_error(code);
}

/* Begins a snapshot, so that later commits are not part of the copy. */
static enum err begin_sqlite_snapshot(sqlite3 *from)
{
    int code = sqlite3_exec(from, "begin; select count(*) from sqlite_schema", NULL, NULL, NULL);

    return code == SQLITE_OK ? OK : log_copy_error(code);
}

static enum err read_snapshot_size(sqlite3 *from, int64_t *ret)
{
    static const char sql[] = "select c.page_count * s.page_size from pragma_page_count() c, "
                              "pragma_page_size() s";
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(from, sql, -1, &stmt, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    if (code == SQLITE_ROW)
        *ret = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return code == SQLITE_ROW ? OK : log_copy_error(code);
}

static enum err copy_snapshot_to_destination(sqlite3 *from,
                                             const struct database_copy_destination *location,
                                             int64_t size)
{
    struct embedded_database *into = NULL;
    sqlite3 *to = NULL;
    enum err e = embedded_database_open(location->fd, location->offset, 0, &into, &to);

    if (!e)
        e = copy_database_pages(from, to, location->fd);
    if (sqlite3_close(to) != SQLITE_OK && !e)
        e = ERR_UNAVAILABLE;
    if (!e && embedded_database_size(into) != size) {
        log_error(
            "store: the copy of the database for the backup has a wrong size; run the backup again");
        e = ERR_INTERNAL;
    }
    embedded_database_close(into);
    return e;
}

/* Runs quick_check on the copy. quick_check reads every page and row at half the cost of
 * integrity_check, which also checks the indexes. Checking the original database would hold the
 * snapshot longer. */
static bool copy_is_undamaged(const struct database_copy_destination *location, int64_t size)
{
    struct embedded_database *into = NULL;
    sqlite3 *db = NULL;
    bool sound = !embedded_database_open(location->fd, location->offset, size, &into, &db) &&
                 sqlite_run_integrity_pragma(db, "pragma quick_check");

    sqlite3_close(db);
    embedded_database_close(into);
    return sound;
}

enum err sqlite_copy_database(struct store *s, reserve_copy_destination_fn *location, void *arg,
                              bool *ret_damaged)
{
    struct sqlite_conn *from = NULL;
    struct database_copy_destination to;
    int64_t size = 0;
    enum err e = sqlite_conn_open(((struct sqlite *)s)->path, &from);

    if (!e)
        e = begin_sqlite_snapshot(from->db);
    if (!e)
        e = read_snapshot_size(from->db, &size);
    if (!e)
        e = location(arg, size, &to);
    if (!e)
        e = copy_snapshot_to_destination(from->db, &to, size);
    sqlite_conn_close(from);
    if (!e)
        *ret_damaged = !copy_is_undamaged(&to, size);
    return e;
}

/* Runs a pragma that checks the database and returns one row per fault, or the row "ok". */
bool sqlite_run_integrity_pragma(sqlite3 *db, const char *pragma)
{
    sqlite3_stmt *stmt = NULL;
    bool clean = sqlite3_prepare_v2(db, pragma, -1, &stmt, NULL) == SQLITE_OK;
    int code = SQLITE_ERROR;

    while (clean && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *fault = (const char *)sqlite3_column_text(stmt, 0);

        if (fault && strcmp(fault, "ok") == 0)
            continue;
        log_error("store: the database is damaged: the check '%s' found: %s", pragma,
                  fault ? fault : "a row");
        clean = false;
        break;
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        log_error("store: the database check '%s' could not run: %s", pragma, sqlite3_errmsg(db));
        clean = false;
    }
    sqlite3_finalize(stmt);
    return clean;
}

enum err sqlite_check_integrity(struct store *s)
{
    struct sqlite_conn *c;
    uint64_t corruptions = sqlite_count_corruptions();
    enum err e = sqlite_conn_open(((struct sqlite *)s)->path, &c);

    if (e)
        return sqlite_count_corruptions() > corruptions ? ERR_INTERNAL : e;
    if (!sqlite_run_integrity_pragma(c->db, "pragma integrity_check") ||
        !sqlite_run_integrity_pragma(c->db, "pragma foreign_key_check"))
        e = ERR_INTERNAL;
    sqlite_conn_close(c);
    return e;
}
