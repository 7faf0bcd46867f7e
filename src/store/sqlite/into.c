/* into.c - SQLite VFS that stores a database inside a section of an open file.
 *
 * A backup is one file that contains the database. A separate copy would write the rows twice, to
 * a disk that the server needs meanwhile. This VFS maps the database file to an offset of the
 * backup file. No other process opens it, so locks do nothing. An incomplete backup is discarded,
 * so there is no journal. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

struct sqlite_into {
    sqlite3_vfs vfs; /* opens one file only */
    char name[32];   /* unique name of the VFS */
    int fd;
    int64_t base, size;
};

struct into_file {
    sqlite3_file file; /* base class; must be the first member */
    struct sqlite_into *into;
};

static struct sqlite_into *into_of(sqlite3_file *file)
{
    return ((struct into_file *)file)->into;
}

/* --- file methods --------------------------------------------------------------------- */

static int into_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static int into_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at)
{
    const struct sqlite_into *i = into_of(file);
    int64_t there = i->size - at < count ? i->size - at : count;

    if (there > 0 && pread(i->fd, bytes, (size_t)there, i->base + at) != there)
        return SQLITE_IOERR_READ;
    /* Header bytes 18 and 19 of the copy say WAL mode; report rollback-journal mode. */
    if (at == 0 && there >= 20)
        memset((char *)bytes + 18, 1, 2);
    if (there == count)
        return SQLITE_OK;
    there = there > 0 ? there : 0;
    memset((char *)bytes + there, 0, (size_t)(count - there));
    return SQLITE_IOERR_SHORT_READ;
}

static int into_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    struct sqlite_into *i = into_of(file);

    for (int n = 0; n < count;) {
        ssize_t done =
            pwrite(i->fd, (const char *)bytes + n, (size_t)(count - n), i->base + at + n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
        n += (int)done;
    }
    if (at + count > i->size)
        i->size = at + count;
    return SQLITE_OK;
}

static int into_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    into_of(file)->size = size;
    return SQLITE_OK;
}

static int into_sync(sqlite3_file *file, int flags)
{
    (void)file, (void)flags; /* the backup file is synced when it is complete */
    return SQLITE_OK;
}

static int into_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    *ret = into_of(file)->size;
    return SQLITE_OK;
}

static int into_lock(sqlite3_file *file, int level)
{
    (void)file, (void)level;
    return SQLITE_OK;
}

static int into_is_reserved(sqlite3_file *file, int *ret)
{
    (void)file;
    *ret = 0;
    return SQLITE_OK;
}

static int into_control(sqlite3_file *file, int word, void *arg)
{
    (void)file, (void)word, (void)arg;
    return SQLITE_NOTFOUND;
}

static int into_nothing(sqlite3_file *file)
{
    (void)file;
    return 0; /* 0: default sector size and no special properties */
}

static const sqlite3_io_methods into_methods = {
    .iVersion = 1,
    .xClose = into_close,
    .xRead = into_read,
    .xWrite = into_write,
    .xTruncate = into_truncate,
    .xSync = into_sync,
    .xFileSize = into_size,
    .xLock = into_lock,
    .xUnlock = into_lock,
    .xCheckReservedLock = into_is_reserved,
    .xFileControl = into_control,
    .xSectorSize = into_nothing,
    .xDeviceCharacteristics = into_nothing,
};

/* --- VFS methods ---------------------------------------------------------------------- */

static int into_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *ret_flags)
{
    (void)name;
    file->pMethods = NULL;
    if (!(flags & SQLITE_OPEN_MAIN_DB))
        return SQLITE_CANTOPEN;
    file->pMethods = &into_methods;
    ((struct into_file *)file)->into = vfs->pAppData;
    if (ret_flags)
        *ret_flags = flags;
    return SQLITE_OK;
}

static int into_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs, (void)name, (void)sync;
    return SQLITE_OK;
}

/* Reports that no journal or WAL file exists. */
static int into_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
    (void)vfs, (void)name, (void)flags;
    *ret = 0;
    return SQLITE_OK;
}

static int into_path(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
    (void)vfs;
    sqlite3_snprintf(size, ret, "%s", name);
    return SQLITE_OK;
}

static struct sqlite_into *into_new(int fd, int64_t base)
{
    struct sqlite_into *i = mem_new(sizeof *i);

    *i = (struct sqlite_into){ .vfs = *sqlite3_vfs_find(NULL), .fd = fd, .base = base };
    snprintf(i->name, sizeof i->name, "into-%p", (void *)i);
    i->vfs.pNext = NULL;
    i->vfs.zName = i->name;
    i->vfs.pAppData = i;
    i->vfs.szOsFile = sizeof(struct into_file);
    i->vfs.xOpen = into_open;
    i->vfs.xDelete = into_delete;
    i->vfs.xAccess = into_access;
    i->vfs.xFullPathname = into_path;
    return i;
}

enum err sqlite_into_open(int fd, int64_t base, int64_t size, struct sqlite_into **ret,
                          sqlite3 **ret_db)
{
    int flags = size ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    static const char settings[] = "pragma journal_mode = off; pragma synchronous = off";
    struct sqlite_into *i = into_new(fd, base);

    i->size = size;
    *ret = i;
    *ret_db = NULL;
    if (sqlite3_vfs_register(&i->vfs, 0) == SQLITE_OK &&
        sqlite3_open_v2("rows", ret_db, flags, i->name) == SQLITE_OK &&
        sqlite3_exec(*ret_db, settings, NULL, NULL, NULL) == SQLITE_OK)
        return OK;
    log_error("store: cannot open the database inside the backup: %s", sqlite3_errmsg(*ret_db));
    return ERR_UNAVAILABLE;
}

int64_t sqlite_into_size(const struct sqlite_into *i)
{
    return i->size;
}

void sqlite_into_close(struct sqlite_into *i)
{
    if (!i)
        return;
    sqlite3_vfs_unregister(&i->vfs);
    mem_free(i);
}
