/* folder.c - creates, locks and syncs the data folder, and sets the owner of files in it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/backup/write_pacing.h"
#include "store/internal.h"

bool sync_folder_to_disk(const char *path)
{
    if (write_pacing_is_disabled())
        return true;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0)
        close(fd);
    return ok;
}

/* Creates a folder in an existing parent. Syncs the parent: the folder survives a power cut. */
static bool create_folder(const char *path, const char *parent)
{
    if (mkdir(path, 0700) == 0)
        return sync_folder_to_disk(parent);
    return errno == EEXIST;
}

static bool create_folder_with_parents(char *path)
{
    char *slash = path[0] == '/' ? path + 1 : path;
    char parent[PATH_MAX] = "/";

    if (path[0] != '/')
        strcpy(parent, ".");
    while ((slash = strchr(slash, '/'))) {
        *slash = 0;
        if (*path && !create_folder(path, parent))
            return false;
        strcpy(parent, path);
        *slash++ = '/';
    }
    return create_folder(path, parent);
}

enum err folder_create(const char *path)
{
    struct stat st;
    char *copy = mem_dup_cstring(path);
    size_t n = strlen(copy);

    while (n > 1 && copy[n - 1] == '/')
        copy[--n] = 0;
    bool ok = n && n < PATH_MAX && create_folder_with_parents(copy);
    mem_free(copy);
    if (!ok) {
        log_error("store: cannot create the folder '%s': %s", path, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        log_error("store: the data folder '%s' is not a folder; choose another one (--data)", path);
        return ERR_UNAVAILABLE;
    }
    return OK;
}

enum err lock_data_folder(const char *path, int *ret)
{
    char file[PATH_MAX];

    if (snprintf(file, sizeof file, "%s/guildhall.lock", path) >= (int)sizeof file)
        return ERR_UNAVAILABLE;
    int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        log_error("store: cannot open the lock file '%s': %s", file, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        log_error("store: the folder '%s' is in use by another guildhall process; stop that "
                  "process or choose another folder",
                  path);
        close(fd);
        return ERR_UNAVAILABLE;
    }
    *ret = fd;
    return OK;
}

int temporary_file_create(void)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/guildhall-XXXXXX", folder && *folder ? folder : "/var/tmp");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        log_error("store: cannot create '%s' for a copy of the database: %s; set TMPDIR to another "
                  "folder",
                  path, strerror(errno));
    else
        unlink(path);
    return fd;
}

static int remove_file_or_empty_folder(const char *path, const struct stat *st, int flag,
                                       struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    return remove(path);
}

bool folder_delete_recursively(const char *path)
{
    return nftw(path, remove_file_or_empty_folder, 32, FTW_DEPTH | FTW_PHYS) == 0 ||
           errno == ENOENT;
}

/* --- ownership ------------------------------------------------------------------------ */

static bool folder_owner_is_not_root(const char *folder, struct stat *ret)
{
    return geteuid() == 0 && stat(folder, ret) == 0 && ret->st_uid != 0;
}

bool folder_chown_file(const char *folder, int fd)
{
    struct stat st;

    return !folder_owner_is_not_root(folder, &st) || fchown(fd, st.st_uid, st.st_gid) == 0;
}

/* Sets the owner of all entries, recursively, without following symbolic links. Closes dir. */
static bool chown_entries(int dir, const struct stat *owner)
{
    DIR *d = fdopendir(dir);
    struct dirent *entry;
    bool ok = d != NULL;

    while (ok && (entry = readdir(d))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        ok = fchownat(dir, entry->d_name, owner->st_uid, owner->st_gid, AT_SYMLINK_NOFOLLOW) == 0;
        int below = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (ok && below >= 0)
            ok = chown_entries(below, owner);
        else if (below >= 0)
            close(below);
    }
    if (d)
        closedir(d);
    else
        close(dir);
    return ok;
}

bool folder_chown_all(const char *folder)
{
    struct stat st;

    if (!folder_owner_is_not_root(folder, &st))
        return true;
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir >= 0 && chown_entries(dir, &st);
}
