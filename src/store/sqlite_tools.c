/* sqlite_tools.c - copies and checks of a whole SQLite database. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "store/paced.h"
#include "store/sqlite.h"

enum { COPIED_PAGES = PACED_BYTES / 4096 }; /* between two syncs of a copy */

/* --- backup --------------------------------------------------------------------------- */

static enum err copy_failed(int code)
{
    log_error("store: backup: %s", sqlite3_errstr(code));
    return (code & 0xff) == SQLITE_FULL ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

/* The snapshot of the connection, a few pages at a time: written in one go the copy would keep
 * the disk from the server's commits until all of it is there. */
static enum err copy_pages(sqlite3 *from, sqlite3 *to, int fd)
{
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
    int code = b ? SQLITE_OK : sqlite3_errcode(to);

    while (code == SQLITE_OK) {
        code = sqlite3_backup_step(b, COPIED_PAGES);
        if (code == SQLITE_OK && !paced_write_out(fd, PACED_BYTES))
            code = errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR;
    }
    if (b)
        sqlite3_backup_finish(b);
    return code == SQLITE_DONE ? OK : copy_failed(code);
}

/* Whatever is written meanwhile, this connection goes on seeing what is there now. */
static enum err hold_snapshot(sqlite3 *from)
{
    int code = sqlite3_exec(from, "begin; select count(*) from sqlite_schema", NULL, NULL, NULL);

    return code == SQLITE_OK ? OK : copy_failed(code);
}

/* The copy is read once and thrown away: it needs no journal. */
static enum err open_copy(const char *path, sqlite3 **ret, int *ret_fd)
{
    unlink(path);
    *ret_fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (*ret_fd < 0) {
        log_error("store: backup: cannot make '%s': %s", path, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    if (sqlite3_open(path, ret) == SQLITE_OK &&
        sqlite3_exec(*ret, "pragma journal_mode = off; pragma synchronous = off", NULL, NULL,
                     NULL) == SQLITE_OK)
        return OK;
    log_error("store: backup: cannot make '%s': %s", path, sqlite3_errmsg(*ret));
    return ERR_UNAVAILABLE;
}

enum err sqlite_backup(struct store *s, const char *path)
{
    struct sqlite_conn *from = NULL;
    sqlite3 *to = NULL;
    int fd = -1;
    enum err e = sqlite_conn_open(((struct sqlite *)s)->path, &from);

    if (!e)
        e = open_copy(path, &to, &fd);
    if (!e)
        e = hold_snapshot(from->db);
    if (!e)
        e = copy_pages(from->db, to, fd);
    if (sqlite3_close(to) != SQLITE_OK && !e)
        e = ERR_UNAVAILABLE;
    if (fd >= 0)
        close(fd);
    sqlite_conn_close(from);
    if (e)
        unlink(path);
    return e;
}

/* --- check ---------------------------------------------------------------------------- */

/* Rows of a pragma that finds faults; a row "ok" is none. */
static bool finds_nothing(struct sqlite_conn *c, const char *pragma)
{
    sqlite3_stmt *stmt = NULL;
    bool clean = sqlite3_prepare_v2(c->db, pragma, -1, &stmt, NULL) == SQLITE_OK;
    int code = SQLITE_ERROR;

    while (clean && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *fault = (const char *)sqlite3_column_text(stmt, 0);

        if (fault && strcmp(fault, "ok") == 0)
            continue;
        log_error("store: %s: %s", pragma, fault ? fault : "a row");
        clean = false;
    }
    if (clean && code != SQLITE_DONE) {
        log_error("store: %s: %s", pragma, sqlite3_errmsg(c->db));
        clean = false;
    }
    sqlite3_finalize(stmt);
    return clean;
}

enum err sqlite_check(struct store *s)
{
    struct sqlite_conn *c;
    enum err e = sqlite_conn_open(((struct sqlite *)s)->path, &c);

    if (e)
        return e;
    if (!finds_nothing(c, "pragma integrity_check") ||
        !finds_nothing(c, "pragma foreign_key_check"))
        e = ERR_INTERNAL;
    sqlite_conn_close(c);
    return e;
}
