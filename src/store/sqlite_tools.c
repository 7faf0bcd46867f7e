/* sqlite_tools.c - copies and checks of a whole SQLite database. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "store/sqlite.h"

/* --- backup --------------------------------------------------------------------------- */

/* All pages in one step: one snapshot, however much is written meanwhile. */
static enum err copy_pages(sqlite3 *from, sqlite3 *to)
{
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");

    if (b)
        sqlite3_backup_step(b, -1);
    int code = b ? sqlite3_backup_finish(b) : sqlite3_errcode(to);
    if (code == SQLITE_OK)
        return OK;
    log_error("store: backup: %s", sqlite3_errmsg(to));
    return (code & 0xff) == SQLITE_FULL ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

/* The copy is read once and thrown away: it needs neither a journal nor a sync of its own. */
static enum err open_copy(const char *path, sqlite3 **ret)
{
    unlink(path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0) {
        log_error("store: backup: cannot make '%s': %s", path, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    close(fd);
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
    enum err e = sqlite_conn_open(((struct sqlite *)s)->path, &from);

    if (!e)
        e = open_copy(path, &to);
    if (!e)
        e = copy_pages(from->db, to);
    if (sqlite3_close(to) != SQLITE_OK && !e)
        e = ERR_UNAVAILABLE;
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
