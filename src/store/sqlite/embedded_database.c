/* embedded_database.c - SQLite VFS that stores a database inside a section of an open file.
 *
 * A backup is one file that contains the database. Without this VFS the backup would write the rows
 * twice: to a temporary copy, then to the backup file. The VFS maps the database file to an offset
 * of the backup file. No other process opens the file, so locks do nothing. An incomplete backup is
 * discarded, so there is no journal. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

struct embedded_database {
    sqlite3_vfs vfs; /* the VFS, which opens one file only */
    char name[32];   /* unique name of the VFS */
    int fd;
    int64_t base, size;
};

struct embedded_file {
    sqlite3_file file; /* SQLite's base struct for files; must be the first member */
    struct embedded_database *into;
};

static struct embedded_database *get_embedded_database_of_file(sqlite3_file *file)
{
    return ((struct embedded_file *)file)->into;
}

/* --- file methods --------------------------------------------------------------------- */

static int embedded_file_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static int embedded_file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at)
{
    const struct embedded_database *i = get_embedded_database_of_file(file);
    int64_t there = i->size - at < count ? i->size - at : count;

    if (there > 0 && pread(i->fd, bytes, (size_t)there, i->base + at) != there)
        return SQLITE_IOERR_READ;
    /* The database header says in bytes 18 and 19 that the database uses a WAL. Change these bytes,
     * because this VFS has no WAL. */
    if (at == 0 && there >= 20)
        memset((char *)bytes + 18, 1, 2);
    if (there == count)
        return SQLITE_OK;
    there = there > 0 ? there : 0;
    memset((char *)bytes + there, 0, (size_t)(count - there));
    return SQLITE_IOERR_SHORT_READ;
}

static int embedded_file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    struct embedded_database *i = get_embedded_database_of_file(file);

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

static int embedded_file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    get_embedded_database_of_file(file)->size = size;
    return SQLITE_OK;
}

static int embedded_file_sync(sqlite3_file *file, int flags)
{
    (void)file, (void)flags; /* nothing to do, because the backup file is synced when it is
                              * complete */
    return SQLITE_OK;
}

static int embedded_file_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    *ret = get_embedded_database_of_file(file)->size;
    return SQLITE_OK;
}

static int embedded_file_lock(sqlite3_file *file, int level)
{
    (void)file, (void)level;
    return SQLITE_OK;
}

static int embedded_file_check_reserved(sqlite3_file *file, int *ret)
{
    (void)file;
    *ret = 0;
    return SQLITE_OK;
}

static int embedded_file_control(sqlite3_file *file, int operation, void *arg)
{
    (void)file, (void)operation, (void)arg;
    return SQLITE_NOTFOUND;
}

static int embedded_file_no_properties(sqlite3_file *file)
{
    (void)file;
    return 0; /* no properties: default sector size and nothing special */
}

static const sqlite3_io_methods embedded_file_methods = {
    .iVersion = 1,
    .xClose = embedded_file_close,
    .xRead = embedded_file_read,
    .xWrite = embedded_file_write,
    .xTruncate = embedded_file_truncate,
    .xSync = embedded_file_sync,
    .xFileSize = embedded_file_size,
    .xLock = embedded_file_lock,
    .xUnlock = embedded_file_lock,
    .xCheckReservedLock = embedded_file_check_reserved,
    .xFileControl = embedded_file_control,
    .xSectorSize = embedded_file_no_properties,
    .xDeviceCharacteristics = embedded_file_no_properties,
};

/* --- VFS methods ---------------------------------------------------------------------- */

static int embedded_vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                             int *ret_flags)
{
    (void)name;
    file->pMethods = NULL;
    if (!(flags & SQLITE_OPEN_MAIN_DB))
        return SQLITE_CANTOPEN;
    file->pMethods = &embedded_file_methods;
    ((struct embedded_file *)file)->into = vfs->pAppData;
    if (ret_flags)
        *ret_flags = flags;
    return SQLITE_OK;
}

static int embedded_vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs, (void)name, (void)sync;
    return SQLITE_OK;
}

/* Reports for every file that it does not exist, so that SQLite uses no journal and no WAL. */
static int embedded_vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
    (void)vfs, (void)name, (void)flags;
    *ret = 0;
    return SQLITE_OK;
}

static int embedded_vfs_full_path(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
    (void)vfs;
    sqlite3_snprintf(size, ret, "%s", name);
    return SQLITE_OK;
}

static struct embedded_database *embedded_database_new(int fd, int64_t base)
{
    struct embedded_database *i = mem_new(sizeof *i);

    *i = (struct embedded_database){ .vfs = *sqlite3_vfs_find(NULL), .fd = fd, .base = base };
    snprintf(i->name, sizeof i->name, "into-%p", (void *)i);
    i->vfs.pNext = NULL;
    i->vfs.zName = i->name;
    i->vfs.pAppData = i;
    i->vfs.szOsFile = sizeof(struct embedded_file);
    i->vfs.xOpen = embedded_vfs_open;
    i->vfs.xDelete = embedded_vfs_delete;
    i->vfs.xAccess = embedded_vfs_access;
    i->vfs.xFullPathname = embedded_vfs_full_path;
    return i;
}

enum err embedded_database_open(int fd, int64_t base, int64_t size, struct embedded_database **ret,
                                sqlite3 **ret_db)
{
    int flags = size ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    static const char settings[] = "pragma journal_mode = off; pragma synchronous = off";
    struct embedded_database *i = embedded_database_new(fd, base);

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

int64_t embedded_database_size(const struct embedded_database *i)
{
    return i->size;
}

void embedded_database_close(struct embedded_database *i)
{
    if (!i)
        return;
    sqlite3_vfs_unregister(&i->vfs);
    mem_free(i);
}
