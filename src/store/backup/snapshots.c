/* snapshots.c - named backups in the data folder, and the switch to one of them.
 *
 * A restore takes effect at one moment: the rename of the restored folder to ".restored". Before it
 * nothing has changed. After it the next start on the data folder completes the exchange of files,
 * however often it was interrupted. */
#include "store/backup/snapshots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store/backup/backup.h"
#include "store/folder.h"

enum { MOST_NAME = 64 };

#define FOLDER       "snapshots"
#define SUFFIX       ".backup"
#define BEFORE       "before-restore"
#define NEW_FOLDER   ".restoring" /* may be incomplete */
#define WHOLE_FOLDER ".restored"
#define OLD_BLOBS    ".replaced"

const char *const snapshot_keys[] = { "pepper.key", "cert.pem", "key.pem", NULL };

/* Serializes all commands, because two commands with the same name would write the same file. */
static pthread_mutex_t orders = PTHREAD_MUTEX_INITIALIZER;
static char wanted[MOST_NAME + 1]; /* name of the snapshot; written before the signal is sent, read
                                    * after it */
static bool is_asked_back;         /* written before the signal is sent, read after it */
static int tried, restored;        /* written while no server runs */

static bool name_fits(struct str name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.";

    if (!name.n || name.n > MOST_NAME || name.p[0] == '.')
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!memchr(letters, name.p[i], sizeof letters - 1))
            return false;
    return true;
}

static bool path_in(const char *folder, const char *name, char out[PATH_MAX])
{
    return snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

static bool snapshot_path(const char *folder, struct str name, char out[PATH_MAX])
{
    return snprintf(out, PATH_MAX, "%s/" FOLDER "/%.*s" SUFFIX, folder, STR_FMT(name)) < PATH_MAX;
}

/* Checks the name and creates the snapshot folder. False: an error message was written to out. */
static bool take_name(const char *folder, struct str name, char path[PATH_MAX], struct buf *out)
{
    char own[PATH_MAX];

    if (!name_fits(name)) {
        buf_printf(out,
                   "error: the name of a snapshot has 1 to %d letters, digits, dashes, dots and "
                   "underscores, and does not begin with a dot\n",
                   MOST_NAME);
        return false;
    }
    if (!path_in(folder, FOLDER, own) || !snapshot_path(folder, name, path) ||
        (mkdir(own, 0700) != 0 && errno != EEXIST)) {
        buf_add_lit(out, "error: cannot create the folder for snapshots in the data folder\n");
        return false;
    }
    return true;
}

/* Refuses PostgreSQL before anything is changed. After a move to PostgreSQL old snapshots stay in
 * the folder, and their blobs must not replace the current ones. */
static bool has_rows_here(struct store *store, struct buf *out)
{
    if (strcmp(store_engine(store), "postgres") != 0)
        return true;
    buf_add_lit(out, "error: snapshots need SQLite; on PostgreSQL copy the database, or use "
                     "pg_dump\n");
    return false;
}

static void make_one(struct store *store, const char *folder, struct str name, struct buf *out)
{
    struct backup_report report;
    char path[PATH_MAX];

    if (!has_rows_here(store, out) || !take_name(folder, name, path, out))
        return;
    struct backup_options options = { .path = path, .keys = snapshot_keys, .replace = true };
    if (backup_make(store, &options, &report)) {
        buf_add_lit(out, "error: the snapshot could not be written; see the server's log\n");
        return;
    }
    buf_printf(out, "saved the snapshot '%.*s': %lld files, %lld bytes\n", STR_FMT(name),
               (long long)report.files, (long long)report.bytes);
}

void snapshot_make(struct store *store, const char *folder, struct str name, struct buf *out)
{
    pthread_mutex_lock(&orders);
    make_one(store, folder, name, out);
    pthread_mutex_unlock(&orders);
}

static void tell_of_file(int folder, const char *file,
                         void (*tell)(void *arg, const struct snapshot *s), void *arg)
{
    struct stat st;
    struct str name = str_of(file);
    size_t n = sizeof SUFFIX - 1;

    if (name.n <= n || !str_is(str_from(name, name.n - n), SUFFIX) ||
        fstatat(folder, file, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    name.n -= n;
    tell(arg, &(struct snapshot){ name, st.st_size, st.st_mtime * INT64_C(1000000) });
}

void snapshot_each(const char *folder, void (*tell)(void *arg, const struct snapshot *s), void *arg)
{
    char own[PATH_MAX];
    struct dirent **entries = NULL;
    int fd = path_in(folder, FOLDER, own) ? open(own, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int n = fd >= 0 ? scandirat(fd, ".", &entries, NULL, alphasort) : 0;

    for (int i = 0; i < n; i++) {
        tell_of_file(fd, entries[i]->d_name, tell, arg);
        free(entries[i]);
    }
    free(entries);
    if (fd >= 0)
        close(fd);
}

void snapshot_drop(const char *folder, struct str name, struct buf *out)
{
    char path[PATH_MAX];

    if (!take_name(folder, name, path, out))
        return;
    if (unlink(path) != 0)
        buf_printf(out, "error: there is no snapshot '%.*s'\n", STR_FMT(name));
}

/* --- requesting a restore ------------------------------------------------------------- */

static void ask_one_back(struct store *store, const char *folder, struct str name, struct buf *out)
{
    struct backup_report report;
    char path[PATH_MAX];

    if (!has_rows_here(store, out) || !take_name(folder, name, path, out))
        return;
    if (access(path, R_OK) != 0) {
        buf_printf(out, "error: there is no snapshot '%.*s'\n", STR_FMT(name));
        return;
    }
    /* A "damaged" mark means that the saved data had a damaged file; the snapshot itself is
     * intact. */
    if (backup_check(path, &report) && (report.lost || !report.damaged)) {
        buf_add_lit(out, "error: the snapshot is damaged\n");
        return;
    }
    if (!str_is(name, BEFORE)) {
        size_t start = out->n;

        make_one(store, folder, STR(BEFORE), out);
        if (str_starts(str_slice(out->p + start, out->n - start), STR("error")))
            return;
        buf_reset(out);
    }
    snprintf(wanted, sizeof wanted, "%.*s", STR_FMT(name));
    is_asked_back = true;
    if (str_is(name, BEFORE))
        buf_printf(out, "restoring '%s'; the current data is not saved\n", wanted);
    else
        buf_printf(out, "restoring '%s'; the current data is saved as the snapshot '" BEFORE "'\n",
                   wanted);
    kill(getpid(), SNAPSHOT_SIGNAL);
}

void snapshot_ask_back(struct store *store, const char *folder, struct str name, struct buf *out)
{
    pthread_mutex_lock(&orders);
    ask_one_back(store, folder, name, out);
    pthread_mutex_unlock(&orders);
}

void snapshot_count(int *ret_tried, int *ret_restored)
{
    *ret_tried = tried;
    *ret_restored = restored;
}

/* --- the exchange of files ------------------------------------------------------------ */

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    return remove(path);
}

static bool remove_all(const char *path)
{
    return nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT;
}

static bool remove_in(const char *folder, const char *name)
{
    char path[PATH_MAX];

    return path_in(folder, name, path) && (unlink(path) == 0 || errno == ENOENT);
}

/* Moves one restored file or folder into the data folder. A folder cannot be renamed over another
 * one, so the old blobs are moved to OLD_BLOBS first. The WAL files of the old database are deleted
 * before it is replaced. */
static bool put_in_place(const char *folder, const char *name)
{
    char from[PATH_MAX], to[PATH_MAX], aside[PATH_MAX];

    if (!path_in(folder, WHOLE_FOLDER, from) || !path_in(folder, name, to) ||
        !path_in(folder, OLD_BLOBS, aside) || strlen(from) + 1 + strlen(name) >= sizeof from)
        return false;
    strcat(strcat(from, "/"), name);
    if (strcmp(name, "guildhall.db") == 0 &&
        !(remove_in(folder, "guildhall.db-wal") && remove_in(folder, "guildhall.db-shm")))
        return false;
    if (strcmp(name, "blobs") == 0 &&
        !(remove_all(aside) && (rename(to, aside) == 0 || errno == ENOENT)))
        return false;
    return rename(from, to) == 0;
}

static int is_no_dot(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static bool exchange_all(const char *folder, const char *whole)
{
    struct dirent **entries = NULL;
    int n = scandir(whole, &entries, is_no_dot, alphasort);
    bool ok = n >= 0;

    for (int i = 0; i < n; i++) {
        ok = ok && put_in_place(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

bool snapshot_settle(const char *folder)
{
    char half[PATH_MAX], whole[PATH_MAX], aside[PATH_MAX];

    if (!path_in(folder, NEW_FOLDER, half) || !path_in(folder, WHOLE_FOLDER, whole) ||
        !path_in(folder, OLD_BLOBS, aside))
        return false;
    bool ok = remove_all(half);
    if (ok && access(whole, F_OK) == 0)
        ok = exchange_all(folder, whole) && folder_sync(folder) && rmdir(whole) == 0;
    if (ok && remove_all(aside))
        return true;
    log_error("snapshots: cannot move the restored files into '%s': %s", folder, strerror(errno));
    return false;
}

bool snapshot_bring_back(const char *folder)
{
    char path[PATH_MAX], half[PATH_MAX], whole[PATH_MAX], blobs[PATH_MAX];
    struct backup_report report;

    if (!is_asked_back)
        return false;
    is_asked_back = false;
    tried++;
    if (!snapshot_path(folder, str_of(wanted), path) || !path_in(folder, NEW_FOLDER, half) ||
        !path_in(half, "blobs", blobs) || !path_in(folder, WHOLE_FOLDER, whole) ||
        !remove_all(half))
        return false;
    /* The old blobs are replaced even if the snapshot contains no blobs. */
    if (backup_restore(path, half, false, &report) ||
        (mkdir(blobs, 0700) != 0 && errno != EEXIST) || !folder_sync(half) ||
        rename(half, whole) != 0 || !folder_sync(folder)) {
        log_error("snapshots: '%s' was not restored; no data has changed", wanted);
        remove_all(half);
        return false;
    }
    if (!snapshot_settle(folder))
        return false;
    restored++;
    log_info("restored the snapshot '%s'", wanted);
    return true;
}
