/* disk.c - replaces SQLite's system calls: writes and syncs fail on request. */
#include <errno.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "faults.h"

static atomic_int now, left;

void disk_fails(enum fault fault, int after)
{
    left = after;
    now = fault;
}

/* Returns whether this call shall fail. */
static bool fails(bool sync)
{
    int fault = now;

    if (fault == FAULT_NONE || sync != (fault == FAULT_SYNC) || atomic_fetch_sub(&left, 1) > 1)
        return false;
    errno = fault == FAULT_FULL ? ENOSPC : EIO;
    return true;
}

static ssize_t write_or_fail(int fd, const void *bytes, size_t n)
{
    return fails(false) ? -1 : write(fd, bytes, n);
}

static ssize_t pwrite_or_fail(int fd, const void *bytes, size_t n, off_t at)
{
    return fails(false) ? -1 : pwrite(fd, bytes, n, at);
}

/* Replaces the fdatasync that SQLite calls, which its table of system calls does not contain. */
int fdatasync(int fd)
{
    return fails(true) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

void disk_prepare(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    int set = 0;

    set += vfs->xSetSystemCall(vfs, "write", (sqlite3_syscall_ptr)write_or_fail) == SQLITE_OK;
    set += vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)pwrite_or_fail) == SQLITE_OK;
    set += vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)pwrite_or_fail) == SQLITE_OK;
    if (!set)
        abort();
}
