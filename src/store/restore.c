/* restore.c - a backup read again: to look whether it is whole, or into an empty folder. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store/archive.h"
#include "store/backup.h"
#include "store/internal.h"

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n > m && strcmp(name + n - m, end) == 0;
}

static bool is_key_name(const char *name)
{
    return !strchr(name, '/') && name[0] != '.' &&
           (ends_with(name, ".key") || ends_with(name, ".pem"));
}

/* A backup may come from anywhere: it puts files where ours are, and nowhere else. */
static bool is_archive_name(const char *name)
{
    if (strcmp(name, "guildhall.db") == 0 || is_key_name(name))
        return true;
    if (strncmp(name, "blobs/.new/", 11) == 0)
        return is_note_name(name + 11);
    return strncmp(name, "blobs/", 6) == 0 && is_blob_name(name + 6);
}

/* Gives each file to take, which says where its bytes go. */
static enum err read_backup(const char *path,
                            enum err (*take)(struct archive *a, const struct archive_entry *entry,
                                             const char *folder),
                            const char *folder, struct backup_report *ret)
{
    struct archive a = { 0 };
    struct archive_entry entry;
    bool more = true, has_rows = false;
    enum err e = archive_open(&a, path);

    while (!e && more) {
        e = archive_next(&a, &entry, &more);
        if (e || !more)
            break;
        if (!is_archive_name(entry.name)) {
            log_error("backup: '%s' has a file that is none of ours: '%s'", path, entry.name);
            e = ERR_BAD_REQUEST;
            break;
        }
        has_rows |= strcmp(entry.name, "guildhall.db") == 0;
        e = take(&a, &entry, folder);
    }
    if (!e)
        *ret = (struct backup_report){ a.files, a.bytes, has_rows };
    archive_close(&a);
    return e;
}

static enum err take_nowhere(struct archive *a, const struct archive_entry *entry,
                             const char *folder)
{
    (void)folder;
    return archive_take(a, entry, -1);
}

enum err backup_check(const char *path, struct backup_report *ret)
{
    return read_backup(path, take_nowhere, NULL, ret);
}

/* --- restore -------------------------------------------------------------------------- */

static int open_in_folder(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd >= 0 || errno != ENOENT)
        return fd;
    char parent[PATH_MAX];
    strcpy(parent, path);
    *strrchr(parent, '/') = '\0';
    if (folder_make(parent))
        return -1;
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static enum err take_into_folder(struct archive *a, const struct archive_entry *entry,
                                 const char *folder)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", folder, entry->name) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    int fd = open_in_folder(path);
    if (fd < 0) {
        log_error("backup: cannot make '%s': %s", path, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    enum err e = archive_take(a, entry, fd);
    if (close(fd) != 0 && !e)
        e = ERR_UNAVAILABLE;
    return e;
}

static bool is_empty_folder(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *entry;
    bool empty = d != NULL;

    /* A file system of its own has a folder of its own. */
    while (d && empty && (entry = readdir(d)))
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                strcmp(entry->d_name, "lost+found") == 0;
    if (d)
        closedir(d);
    return empty;
}

static enum err begin_restore(const char *folder, char mark[PATH_MAX])
{
    enum err e = folder_make(folder);

    if (e)
        return e;
    if (!is_empty_folder(folder)) {
        log_error("backup: '%s' is not empty; restore into a folder that is", folder);
        return ERR_BAD_REQUEST;
    }
    if (snprintf(mark, PATH_MAX, "%s/%s", folder, RESTORE_MARK) >= PATH_MAX)
        return ERR_UNAVAILABLE;
    int fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || close(fd) != 0 || !folder_sync(folder)) {
        log_error("backup: cannot write to '%s': %s", folder, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    return OK;
}

/* One sync for all files instead of one each. */
static bool sync_everything(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && syncfs(fd) == 0;

    if (fd >= 0)
        close(fd);
    return ok;
}

enum err backup_restore(const char *path, const char *folder, struct backup_report *ret)
{
    char mark[PATH_MAX];
    enum err e = begin_restore(folder, mark);

    if (e)
        return e;
    e = read_backup(path, take_into_folder, folder, ret);
    if (!e && (!folder_give_all(folder) || !sync_everything(folder) || unlink(mark) != 0 ||
               !folder_sync(folder))) {
        log_error("backup: cannot write to '%s': %s", folder, strerror(errno));
        e = ERR_UNAVAILABLE;
    }
    if (e)
        log_error("backup: '%s' is not restored; empty it before the next try", folder);
    return e;
}
