/* folder.c - the folder that a store lives in. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/internal.h"

bool folder_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0)
        close(fd);
    return ok;
}

/* Makes one folder whose parent is there, and makes its name last. */
static bool make_one(const char *path, const char *parent)
{
    if (mkdir(path, 0700) == 0)
        return folder_sync(parent);
    return errno == EEXIST;
}

static bool make_all(char *path)
{
    char *slash = path[0] == '/' ? path + 1 : path;
    char parent[PATH_MAX] = "/";

    if (path[0] != '/')
        strcpy(parent, ".");
    while ((slash = strchr(slash, '/'))) {
        *slash = 0;
        if (*path && !make_one(path, parent))
            return false;
        strcpy(parent, path);
        *slash++ = '/';
    }
    return make_one(path, parent);
}

enum err folder_make(const char *path)
{
    struct stat st;
    char *copy = mem_dupz(path);
    size_t n = strlen(copy);

    while (n > 1 && copy[n - 1] == '/')
        copy[--n] = 0;
    bool ok = n && n < PATH_MAX && make_all(copy);
    mem_free(copy);
    if (!ok) {
        log_error("store: cannot make the folder '%s': %s", path, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        log_error("store: '%s' is not a folder", path);
        return ERR_UNAVAILABLE;
    }
    return OK;
}

enum err folder_lock(const char *path, int *ret)
{
    char file[PATH_MAX];

    if (snprintf(file, sizeof file, "%s/guildhall.lock", path) >= (int)sizeof file)
        return ERR_UNAVAILABLE;
    int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        log_error("store: cannot open '%s': %s", file, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        log_error("store: the folder '%s' is in use by another guildhall; stop that one "
                  "first or choose another folder",
                  path);
        close(fd);
        return ERR_UNAVAILABLE;
    }
    *ret = fd;
    return OK;
}
