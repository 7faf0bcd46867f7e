/* increment_pieces.c - pieces of files in a folder, named by their digests. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "store/increment_internal.h"
#include "store/paced.h"

/* --- writing -------------------------------------------------------------------------- */

void increment_object_path(const struct increment *i, const unsigned char *sum, char *out,
                           size_t size)
{
    char text[INCREMENT_SUM_TEXT];

    sodium_bin2hex(text, sizeof text, sum, INCREMENT_SUM);
    snprintf(out, size, "%s/objects/%.2s/%s", i->folder, text, text + 2);
}

bool increment_write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static bool write_paced(int fd, const char *p, size_t n)
{
    bool ok = true;

    while (ok && n) {
        size_t most = n < PACED_BYTES ? n : PACED_BYTES;

        ok = increment_write_all(fd, p, most) && paced_write_out(fd, (int64_t)most);
        p += most;
        n -= most;
    }
    return ok;
}

static void part_path(const struct increment *i, int number, char *out, size_t size)
{
    snprintf(out, size, "%s/objects/.part-%d", i->folder, number);
}

void increment_drop_waiting(struct increment *i)
{
    while (i->waiting)
        close(i->waiting_fds[--i->waiting]);
}

enum err increment_name_pieces(struct increment *i)
{
    char part[PATH_MAX + 32], path[INCREMENT_PATH];

    if (!paced_sync(i->waiting_fds, i->waiting))
        return increment_failed("write to", i->folder);
    for (int n = 0; n < i->waiting; n++) {
        part_path(i, n, part, sizeof part);
        increment_object_path(i, i->waiting_sums[n], path, sizeof path);
        if (rename(part, path) != 0)
            return increment_failed("write", path);
    }
    increment_drop_waiting(i);
    return OK;
}

/* It gets its name with others, because a sync for each would hold up the server's. */
static enum err write_object(struct increment *i, const unsigned char *sum, size_t n)
{
    char part[PATH_MAX + 32];

    part_path(i, i->waiting, part, sizeof part);
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return increment_failed("make", part);
    memcpy(i->waiting_sums[i->waiting], sum, INCREMENT_SUM);
    i->waiting_fds[i->waiting++] = fd;
    if (!write_paced(fd, i->piece, n))
        return increment_failed("write", part);
    i->written += (int64_t)n;
    return i->waiting < INCREMENT_WAITING ? OK : increment_name_pieces(i);
}

static bool is_waiting(const struct increment *i, const unsigned char *sum)
{
    for (int n = 0; n < i->waiting; n++)
        if (memcmp(i->waiting_sums[n], sum, INCREMENT_SUM) == 0)
            return true;
    return false;
}

/* A piece that is there under its name was whole before it got it. */
static enum err keep_piece(struct increment *i, size_t n)
{
    unsigned char sum[INCREMENT_SUM];
    char path[INCREMENT_PATH];

    crypto_generichash(sum, sizeof sum, (const unsigned char *)i->piece, n, NULL, 0);
    buf_add(&i->parts, sum, sizeof sum);
    increment_object_path(i, sum, path, sizeof path);
    return is_waiting(i, sum) || access(path, F_OK) == 0 ? OK : write_object(i, sum, n);
}

/* Files never change, but a few pages of the database do in many places. */
static size_t piece_size(const char *name)
{
    return strcmp(name, "guildhall.db") == 0 ? INCREMENT_ROWS : INCREMENT_MOST;
}

/* As much as there is, up to a piece. */
static ssize_t read_piece(int fd, char *p, size_t most)
{
    size_t n = 0;

    while (n < most) {
        ssize_t got = read(fd, p + n, most - n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -1 : (ssize_t)n;
        n += (size_t)got;
    }
    return (ssize_t)n;
}

enum err increment_keep_pieces(struct increment *i, const char *name, int fd, int64_t size)
{
    int64_t piece = (int64_t)piece_size(name);
    enum err e = OK;

    for (int64_t left = size; !e && left > 0;) {
        size_t most = (size_t)(left < piece ? left : piece);

        if (read_piece(fd, i->piece, most) != (ssize_t)most) {
            log_error("backup: cannot read all of '%s'", name);
            return ERR_UNAVAILABLE;
        }
        e = keep_piece(i, most);
        left -= (int64_t)most;
    }
    return e;
}

/* --- reading -------------------------------------------------------------------------- */

ssize_t increment_read_object(struct increment *i, const unsigned char *sum)
{
    char path[INCREMENT_PATH];
    unsigned char got[INCREMENT_SUM];

    increment_object_path(i, sum, path, sizeof path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read_piece(fd, i->piece, INCREMENT_MOST + 1);
    if (fd >= 0)
        close(fd);
    if (n >= 0)
        crypto_generichash(got, sizeof got, (const unsigned char *)i->piece, (size_t)n, NULL, 0);
    if (n >= 0 && memcmp(got, sum, INCREMENT_SUM) == 0)
        return n;
    increment_damaged(i, n < 0 ? "it lacks" : "the bytes are not those that were saved in", path);
    return -1;
}

static enum err walk_objects_of(struct increment *i, const char *path, object_found *found)
{
    DIR *d = opendir(path);
    struct dirent *entry;
    enum err e = OK;

    if (!d)
        return increment_failed("read", path);
    while (!e && (entry = readdir(d))) {
        char object[PATH_MAX + 512], text[INCREMENT_SUM_TEXT];
        unsigned char sum[INCREMENT_SUM];
        size_t n = 0;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(object, sizeof object, "%s/%s", path, entry->d_name);
        snprintf(text, sizeof text, "%.2s%.62s", path + strlen(path) - 2, entry->d_name);
        if (sodium_hex2bin(sum, sizeof sum, text, strlen(text), NULL, &n, NULL) != 0 ||
            n != INCREMENT_SUM)
            e = increment_damaged(i, "there is something that is none of ours:", object);
        else
            e = found(i, object, sum);
    }
    closedir(d);
    return e;
}

enum err increment_walk_objects(struct increment *i, object_found *found)
{
    char path[PATH_MAX + 32];
    enum err e = OK;

    for (int n = 0; !e && n < 256; n++) {
        snprintf(path, sizeof path, "%s/objects/%02x", i->folder, n);
        e = walk_objects_of(i, path, found);
    }
    return e;
}

enum err increment_walk_parts(struct increment *i, object_found *found)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = catalogue_prepare(i, "select name, parts, size from files", &stmt);
    int code = SQLITE_DONE;

    while (!e && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        const unsigned char *parts = sqlite3_column_blob(stmt, 1);
        int64_t size = sqlite3_column_int64(stmt, 2), piece = (int64_t)piece_size(name);
        int n = sqlite3_column_bytes(stmt, 1);

        if (n != (size + piece - 1) / piece * INCREMENT_SUM)
            e = increment_damaged(i, "pieces are missing of", name);
        for (int at = 0; !e && at < n; at += INCREMENT_SUM)
            e = found(i, name, parts + at);
    }
    if (!e && code != SQLITE_DONE)
        e = catalogue_failed(i);
    sqlite3_finalize(stmt);
    return e;
}
