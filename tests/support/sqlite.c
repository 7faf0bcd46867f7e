/* sqlite.c - creates an empty SQLite database for a test. */
#include "support/sqlite.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "store/store.h"

enum { MOST_BYTES = 64 * 1024 * 1024 };

static struct buf empty; /* the file of a database that was migrated and closed */

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

static int open_database(const char *folder, int flags)
{
    char path[256];

    snprintf(path, sizeof path, "%s/guildhall.db", folder);
    return open(path, flags | O_CLOEXEC, 0600);
}

static bool read_database(const char *folder)
{
    int fd = open_database(folder, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : 1;

    buf_init(&empty, MOST_BYTES);
    while (n > 0) {
        n = read(fd, buf_reserve(&empty, 65536), 65536);
        empty.n += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    return n == 0 && empty.n;
}

static bool make_database(void)
{
    char folder[] = "/tmp/guildhall-empty-XXXXXX";
    struct store *store;

    if (!mkdtemp(folder))
        return false;
    struct store_options options = { .folder = folder, .no_sync = true, .readers = 1 };
    bool ok = store_open(&options, &store) == OK;
    if (ok) {
        store_close(store); /* leaves everything in one file */
        ok = read_database(folder);
    }
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return ok;
}

bool test_sqlite_put(const char *folder)
{
    if (!empty.n && !make_database())
        return false;
    int fd = open_database(folder, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0)
        return false;
    bool ok = write(fd, empty.p, empty.n) == (ssize_t)empty.n;
    return close(fd) == 0 && ok;
}

void test_sqlite_end(void)
{
    buf_clear(&empty);
}
