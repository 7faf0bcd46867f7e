/* store_sqlite_gather.c - what a commit appends to the log is written in one piece. */
#include "unit.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/log.h"
#include "store/sqlite.h"
#include "support/stores.h"
#include "support/works.h"

static atomic_int pieces;

static ssize_t count_pieces(int fd, const void *bytes, size_t n, off_t at)
{
    pieces++;
    return pwrite(fd, bytes, n, at);
}

static void a_commit_is_written_in_few_pieces(void **state)
{
    struct fixture *f = *state;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    no_error(store_do(f->store, "create table filler (id integer primary key, b bytea)"));
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)count_pieces);
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)count_pieces);
    pieces = 0;
    no_error(store_do(f->store, "insert into filler (b) with recursive n (i) as (select 1 union "
                                "all select i + 1 from n where i < 100) select randomblob(3000) "
                                "from n"));
    int counted = pieces;
    vfs->xSetSystemCall(vfs, "pwrite", NULL);
    vfs->xSetSystemCall(vfs, "pwrite64", NULL);
    assert_true(counted > 0 && counted < 20); /* of a hundred pages */
    assert_int_equal(store_number(f->store, "select sum(length(b)) from filler"), 300000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(a_commit_is_written_in_few_pieces),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_sqlite("store/sqlite_gather", tests);
}
