/* increment_catalogue.c - the catalogue of backups in a folder: opening it, and asking it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/increment_internal.h"

enum { FORMAT = 1 };

/* --- what can go wrong ---------------------------------------------------------------- */

enum err increment_failed(const char *verb, const char *path)
{
    int code = errno;

    log_error("backup: cannot %s '%s': %s", verb, path, strerror(code));
    return code == ENOSPC || code == EDQUOT ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

enum err catalogue_failed(struct increment *i)
{
    int code = sqlite3_errcode(i->db);

    log_error("backup: the catalogue of '%s': %s", i->folder, sqlite3_errmsg(i->db));
    return (code & 0xff) == SQLITE_FULL ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

enum err increment_damaged(const struct increment *i, const char *what, const char *name)
{
    log_error("backup: '%s' is not whole: %s '%s'", i->folder, what, name);
    return ERR_BAD_REQUEST;
}

/* --- questions and commands ----------------------------------------------------------- */

enum err catalogue_do(struct increment *i, const char *sql)
{
    return sqlite3_exec(i->db, sql, NULL, NULL, NULL) == SQLITE_OK ? OK : catalogue_failed(i);
}

enum err catalogue_ask(struct increment *i, const char *sql, int64_t a, int64_t b, int64_t *ret)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(i->db, sql, -1, &stmt, NULL);

    if (code == SQLITE_OK) {
        /* A statement need not have both. */
        sqlite3_bind_int64(stmt, 1, a);
        sqlite3_bind_int64(stmt, 2, b);
        code = sqlite3_step(stmt);
    }
    if (ret)
        *ret = code == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    enum err e = code == SQLITE_ROW || code == SQLITE_DONE ? OK : catalogue_failed(i);
    sqlite3_finalize(stmt);
    return e;
}

enum err catalogue_prepare(struct increment *i, const char *sql, sqlite3_stmt **ret)
{
    return sqlite3_prepare_v2(i->db, sql, -1, ret, NULL) == SQLITE_OK ? OK : catalogue_failed(i);
}

enum err catalogue_step(struct increment *i, sqlite3_stmt *stmt)
{
    sqlite3_step(stmt);
    return sqlite3_reset(stmt) == SQLITE_OK ? OK : catalogue_failed(i);
}

/* --- opening and closing -------------------------------------------------------------- */

enum err increment_new(const char *folder, struct increment **ret)
{
    struct increment *i = mem_new(sizeof *i);

    *ret = i;
    i->lock = -1;
    i->piece = mem_new(INCREMENT_MOST + 1); /* one more shows that something follows */
    buf_init(&i->parts, SIZE_MAX);
    return snprintf(i->folder, sizeof i->folder, "%s", folder) < (int)sizeof i->folder - 128
               ? OK
               : ERR_UNAVAILABLE;
}

/* Backups also lie where nothing can be written: on another machine's disk, on a disc. */
static int open_lock(const char *path, int how)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 && how == LOCK_SH && (errno == EROFS || errno == EACCES))
        fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd;
}

enum err increment_lock(struct increment *i, int how)
{
    char path[PATH_MAX + 32];

    snprintf(path, sizeof path, "%s/lock", i->folder);
    i->lock = open_lock(path, how);
    if (i->lock < 0)
        return increment_failed("open", path);
    if (flock(i->lock, how | LOCK_NB) == 0)
        return OK;
    log_error("backup: another backup is at work in '%s'", i->folder);
    return ERR_UNAVAILABLE;
}

enum err catalogue_open(struct increment *i, int flags)
{
    char path[PATH_MAX + 32];

    snprintf(path, sizeof path, "%s/catalogue.db", i->folder);
    if (flags & SQLITE_OPEN_CREATE) {
        /* SQLite would let everybody read it. */
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

        if (fd < 0)
            return increment_failed("make", path);
        close(fd);
    }
    return sqlite3_open_v2(path, &i->db, flags, NULL) == SQLITE_OK ? OK : catalogue_failed(i);
}

enum err catalogue_check_format(struct increment *i, bool may_be_new)
{
    int64_t format = 0;
    enum err e = catalogue_ask(i, "pragma user_version", 0, 0, &format);

    if (!e && format != FORMAT && !(may_be_new && format == 0)) {
        log_error("backup: '%s' is no backup that this program knows", i->folder);
        e = ERR_BAD_REQUEST;
    }
    return e;
}

void increment_close(struct increment *i)
{
    if (!i)
        return;
    increment_drop_waiting(i);
    sqlite3_finalize(i->find);
    sqlite3_finalize(i->stay);
    sqlite3_finalize(i->add);
    sqlite3_finalize(i->walk);
    sqlite3_close(i->db);
    if (i->lock >= 0)
        close(i->lock);
    buf_clear(&i->parts);
    mem_free(i->piece);
    mem_free(i);
}

int64_t increment_number(const struct increment *i)
{
    return i->number;
}

void increment_count(const struct increment *i, int64_t *files, int64_t *bytes, int64_t *written)
{
    *files = i->files;
    *bytes = i->bytes;
    *written = i->written;
}
