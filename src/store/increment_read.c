/* increment_read.c - a backup of a folder, read again. */
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/log.h"
#include "store/increment_internal.h"

static enum err choose_number(struct increment *i, int64_t number)
{
    enum err e = catalogue_ask(i, "select max(number) from backups where ?1 = 0 or number = ?1",
                               number, 0, &i->number);

    if (!e && !i->number) {
        log_error("backup: '%s' has no backup%s", i->folder, number ? " of that number" : "");
        e = ERR_BAD_REQUEST;
    }
    return e;
}

enum err increment_open(const char *folder, int64_t number, struct increment **ret)
{
    enum err e = increment_new(folder, ret);

    if (!e)
        e = increment_lock(*ret, LOCK_SH);
    if (!e)
        e = catalogue_open(*ret, SQLITE_OPEN_READWRITE);
    if (!e)
        e = catalogue_check_format(*ret, false);
    if (!e)
        e = choose_number(*ret, number);
    if (!e)
        e = catalogue_prepare(*ret,
                              "select name, size, parts from files where first <= ?1 and "
                              "last >= ?1 order by name",
                              &(*ret)->walk);
    if (!e)
        sqlite3_bind_int64((*ret)->walk, 1, (*ret)->number);
    return e;
}

enum err increment_next(struct increment *i, struct archive_entry *ret, bool *ret_more)
{
    int code = sqlite3_step(i->walk);

    *ret_more = code == SQLITE_ROW;
    if (code != SQLITE_ROW)
        return code == SQLITE_DONE ? OK : catalogue_failed(i);
    const char *name = (const char *)sqlite3_column_text(i->walk, 0);
    ret->size = sqlite3_column_int64(i->walk, 1);
    if (!name || strlen(name) >= sizeof ret->name)
        return increment_damaged(i, "a name is too long:", name ? name : "");
    strcpy(ret->name, name);
    return OK;
}

enum err increment_take(struct increment *i, const struct archive_entry *entry, int fd)
{
    const unsigned char *parts = sqlite3_column_blob(i->walk, 2);
    int n = sqlite3_column_bytes(i->walk, 2);
    int64_t size = 0;

    for (int at = 0; at + INCREMENT_SUM <= n; at += INCREMENT_SUM) {
        ssize_t got = increment_read_object(i, parts + at);

        if (got < 0)
            return ERR_BAD_REQUEST;
        if (fd >= 0 && !increment_write_all(fd, i->piece, (size_t)got))
            return increment_failed("write", entry->name);
        size += got;
    }
    if (size != entry->size)
        return increment_damaged(i, "pieces are missing of", entry->name);
    i->files++;
    i->bytes += size;
    return OK;
}

/* --- checking all --------------------------------------------------------------------- */

static enum err check_object(struct increment *i, const char *path, const unsigned char *sum)
{
    (void)path;
    return increment_read_object(i, sum) < 0 ? ERR_BAD_REQUEST : OK;
}

static enum err check_part(struct increment *i, const char *name, const unsigned char *sum)
{
    char path[INCREMENT_PATH];

    increment_object_path(i, sum, path, sizeof path);
    return access(path, R_OK) == 0 ? OK : increment_damaged(i, "a piece is missing of", name);
}

enum err increment_check_all(struct increment *i)
{
    int64_t faults = 0;
    enum err e = catalogue_ask(i,
                               "select count(*) from pragma_integrity_check "
                               "where integrity_check <> 'ok'",
                               0, 0, &faults);

    if (!e && faults)
        e = increment_damaged(i, "it has faults:", "catalogue.db");
    if (!e)
        e = increment_walk_objects(i, check_object);
    if (!e)
        e = increment_walk_parts(i, check_part);
    return e;
}
