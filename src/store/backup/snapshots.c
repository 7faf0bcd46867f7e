/* snapshots.c - named backups in the data folder, and their restore.
 *
 * A restore takes effect at one moment: the rename of the restored folder to ".restored". Before
 * the rename nothing has changed. After the rename, the next start on the data folder completes the
 * exchange of files, however often the exchange was interrupted. */
#include "store/backup/snapshots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store/backup/backup.h"
#include "store/backup/write_pacing.h"
#include "store/folder.h"

enum { MAX_NAME_LENGTH = 64 };

#define SNAPSHOT_FOLDER         "snapshots"
#define SNAPSHOT_SUFFIX         ".backup"
#define BEFORE_RESTORE_NAME     "before-restore"
#define PARTIAL_RESTORE_FOLDER  ".restoring" /* may contain an incomplete restore */
#define COMPLETE_RESTORE_FOLDER ".restored"
#define REPLACED_BLOBS_FOLDER   ".replaced"

const char *const snapshot_key_files[] = { "pepper.key", "cert.pem", "key.pem", NULL };

/* Serializes snapshot commands, because two commands with the same snapshot name would write the
 * same file. */
static pthread_mutex_t snapshot_lock = PTHREAD_MUTEX_INITIALIZER;
/* Name of the requested snapshot; written before SNAPSHOT_SIGNAL is sent, read after the signal. */
static char requested_name[MAX_NAME_LENGTH + 1];
static bool restore_is_requested; /* whether a restore was requested; written before SNAPSHOT_SIGNAL
                                   * is sent, read after the signal */
static bool snapshots_are_quick;  /* set before the server starts */
static int restores_requested, restores_done; /* numbers; written while no server runs */

void snapshots_set_pauses_and_syncs_disabled(bool quick)
{
    snapshots_are_quick = quick;
}

static bool snapshot_name_is_valid(struct str name)
{
    static const char allowed_chars[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        "-_.";

    if (!name.n || name.n > MAX_NAME_LENGTH || name.p[0] == '.')
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!memchr(allowed_chars, name.p[i], sizeof allowed_chars - 1))
            return false;
    return true;
}

static bool join_path_of_folder_and_name(const char *folder, const char *name, char out[PATH_MAX])
{
    return snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

static bool build_snapshot_path(const char *folder, struct str name, char out[PATH_MAX])
{
    return snprintf(out, PATH_MAX, "%s/" SNAPSHOT_FOLDER "/%.*s" SNAPSHOT_SUFFIX, folder,
                    STR_ARGS(name)) < PATH_MAX;
}

/* Checks the name and creates the snapshot folder. On failure writes an error message to out. */
static bool create_folder_and_build_snapshot_path(const char *folder, struct str name,
                                                  char path[PATH_MAX], struct buf *out)
{
    char own[PATH_MAX];

    if (!snapshot_name_is_valid(name)) {
        buf_printf(out,
                   "error: the name of a snapshot has 1 to %d letters, digits, dashes, dots and "
                   "underscores, and does not begin with a dot\n",
                   MAX_NAME_LENGTH);
        return false;
    }
    if (!join_path_of_folder_and_name(folder, SNAPSHOT_FOLDER, own) ||
        !build_snapshot_path(folder, name, path) || (mkdir(own, 0700) != 0 && errno != EEXIST)) {
        buf_add_lit(out, "error: cannot create the folder for snapshots in the data folder\n");
        return false;
    }
    return true;
}

/* Refuses PostgreSQL before anything is changed. After a move to PostgreSQL old snapshots stay in
 * the folder, and their blobs must not replace the current ones. */
static bool require_sqlite_for_snapshots(struct store *store, struct buf *out)
{
    if (strcmp(store_engine_name(store), "postgres") != 0)
        return true;
    buf_add_lit(out, "error: snapshots need SQLite; on PostgreSQL copy the database, or use "
                     "pg_dump\n");
    return false;
}

static void lock_snapshots(void)
{
    pthread_mutex_lock(&snapshot_lock);
    write_pacing_set_disabled(snapshots_are_quick);
}

static void unlock_snapshots(void)
{
    write_pacing_set_disabled(false);
    pthread_mutex_unlock(&snapshot_lock);
}

static void create_snapshot_while_locked(struct store *store, const char *folder, struct str name,
                                         struct buf *out)
{
    struct backup_report report;
    char path[PATH_MAX];

    if (!require_sqlite_for_snapshots(store, out) ||
        !create_folder_and_build_snapshot_path(folder, name, path, out))
        return;
    struct backup_options options = { .path = path, .keys = snapshot_key_files, .replace = true };
    if (backup_create(store, &options, &report)) {
        buf_add_lit(out, "error: the snapshot could not be written; see the server's log\n");
        return;
    }
    buf_printf(out, "saved the snapshot '%.*s': %lld files, %lld bytes\n", STR_ARGS(name),
               (long long)report.files, (long long)report.bytes);
}

void snapshot_create(struct store *store, const char *folder, struct str name, struct buf *out)
{
    lock_snapshots();
    create_snapshot_while_locked(store, folder, name, out);
    unlock_snapshots();
}

static void visit_snapshot_file(int folder, const char *file,
                                void (*notify)(void *arg, const struct listed_snapshot *s),
                                void *arg)
{
    struct stat st;
    struct str name = str_of(file);
    size_t n = sizeof SNAPSHOT_SUFFIX - 1;

    if (name.n <= n || !str_is(str_skip_bytes(name, name.n - n), SNAPSHOT_SUFFIX) ||
        fstatat(folder, file, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    name.n -= n;
    notify(arg, &(struct listed_snapshot){ name, st.st_size, st.st_mtime * INT64_C(1000000) });
}

void snapshot_list(const char *folder, void (*notify)(void *arg, const struct listed_snapshot *s),
                   void *arg)
{
    char own[PATH_MAX];
    struct dirent **entries = NULL;
    int fd = join_path_of_folder_and_name(folder, SNAPSHOT_FOLDER, own)
                 ? open(own, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                 : -1;
    int n = fd >= 0 ? scandirat(fd, ".", &entries, NULL, alphasort) : 0;

    for (int i = 0; i < n; i++) {
        visit_snapshot_file(fd, entries[i]->d_name, notify, arg);
        free(entries[i]);
    }
    free(entries);
    if (fd >= 0)
        close(fd);
}

void snapshot_delete(const char *folder, struct str name, struct buf *out)
{
    char path[PATH_MAX];

    if (!create_folder_and_build_snapshot_path(folder, name, path, out))
        return;
    if (unlink(path) != 0)
        buf_printf(out, "error: there is no snapshot '%.*s'\n", STR_ARGS(name));
}

/* --- requesting a restore ------------------------------------------------------------- */

static void request_restore_while_locked(struct store *store, const char *folder, struct str name,
                                         struct buf *out)
{
    struct backup_report report;
    char path[PATH_MAX];

    if (!require_sqlite_for_snapshots(store, out) ||
        !create_folder_and_build_snapshot_path(folder, name, path, out))
        return;
    if (access(path, R_OK) != 0) {
        buf_printf(out, "error: there is no snapshot '%.*s'\n", STR_ARGS(name));
        return;
    }
    /* A "damaged" mark means that the server's data already had a damaged file when the snapshot
     * was made; the snapshot itself is intact. */
    if (backup_check(path, &report) && (report.lost || !report.damaged)) {
        buf_add_lit(out, "error: the snapshot is damaged\n");
        return;
    }
    if (!str_is(name, BEFORE_RESTORE_NAME)) {
        size_t start = out->n;

        create_snapshot_while_locked(store, folder, STR(BEFORE_RESTORE_NAME), out);
        if (str_starts_with(str_slice(out->p + start, out->n - start), STR("error")))
            return;
        buf_reset(out);
    }
    snprintf(requested_name, sizeof requested_name, "%.*s", STR_ARGS(name));
    restore_is_requested = true;
    if (str_is(name, BEFORE_RESTORE_NAME))
        buf_printf(out, "restoring '%s'; the current data is not saved\n", requested_name);
    else
        buf_printf(out,
                   "restoring '%s'; the current data is saved as the snapshot '" BEFORE_RESTORE_NAME
                   "'\n",
                   requested_name);
    kill(getpid(), SNAPSHOT_SIGNAL);
}

void snapshot_check_and_request_restore(struct store *store, const char *folder, struct str name,
                                        struct buf *out)
{
    lock_snapshots();
    request_restore_while_locked(store, folder, name, out);
    unlock_snapshots();
}

void snapshot_get_restore_counts(int *ret_tried, int *ret_restored)
{
    *ret_tried = restores_requested;
    *ret_restored = restores_done;
}

/* --- the exchange of files ------------------------------------------------------------ */

static bool remove_file_in_folder(const char *folder, const char *name)
{
    char path[PATH_MAX];

    return join_path_of_folder_and_name(folder, name, path) &&
           (unlink(path) == 0 || errno == ENOENT);
}

/* Moves one restored file or folder into the data folder. A folder cannot be renamed over another
 * one, so the old blobs are moved to REPLACED_BLOBS_FOLDER first. The WAL files of the old database
 * are deleted before it is replaced. */
static bool move_restored_file_or_folder(const char *folder, const char *name)
{
    char from[PATH_MAX], to[PATH_MAX], old_blobs[PATH_MAX];

    if (!join_path_of_folder_and_name(folder, COMPLETE_RESTORE_FOLDER, from) ||
        !join_path_of_folder_and_name(folder, name, to) ||
        !join_path_of_folder_and_name(folder, REPLACED_BLOBS_FOLDER, old_blobs) ||
        strlen(from) + 1 + strlen(name) >= sizeof from)
        return false;
    strcat(strcat(from, "/"), name);
    if (strcmp(name, "guildhall.db") == 0 && !(remove_file_in_folder(folder, "guildhall.db-wal") &&
                                               remove_file_in_folder(folder, "guildhall.db-shm")))
        return false;
    if (strcmp(name, "blobs") == 0 &&
        !(folder_delete_recursively(old_blobs) && (rename(to, old_blobs) == 0 || errno == ENOENT)))
        return false;
    return rename(from, to) == 0;
}

static int is_not_dot_or_dot_dot(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static bool move_all_restored_files(const char *folder, const char *whole)
{
    struct dirent **entries = NULL;
    int n = scandir(whole, &entries, is_not_dot_or_dot_dot, alphasort);
    bool ok = n >= 0;

    for (int i = 0; i < n; i++) {
        ok = ok && move_restored_file_or_folder(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

bool snapshot_finish_interrupted_restore(const char *folder)
{
    char half[PATH_MAX], whole[PATH_MAX], old_blobs[PATH_MAX];

    if (!join_path_of_folder_and_name(folder, PARTIAL_RESTORE_FOLDER, half) ||
        !join_path_of_folder_and_name(folder, COMPLETE_RESTORE_FOLDER, whole) ||
        !join_path_of_folder_and_name(folder, REPLACED_BLOBS_FOLDER, old_blobs))
        return false;
    bool ok = folder_delete_recursively(half);
    if (ok && access(whole, F_OK) == 0)
        ok = move_all_restored_files(folder, whole) && sync_folder_to_disk(folder) &&
             rmdir(whole) == 0;
    if (ok && folder_delete_recursively(old_blobs))
        return true;
    log_error("snapshots: cannot move the restored files into '%s': %s", folder, strerror(errno));
    return false;
}

static bool restore_requested_snapshot(const char *folder)
{
    char path[PATH_MAX], half[PATH_MAX], whole[PATH_MAX], blobs[PATH_MAX];
    struct backup_report report;

    if (!restore_is_requested)
        return false;
    restore_is_requested = false;
    restores_requested++;
    if (!build_snapshot_path(folder, str_of(requested_name), path) ||
        !join_path_of_folder_and_name(folder, PARTIAL_RESTORE_FOLDER, half) ||
        !join_path_of_folder_and_name(half, "blobs", blobs) ||
        !join_path_of_folder_and_name(folder, COMPLETE_RESTORE_FOLDER, whole) ||
        !folder_delete_recursively(half))
        return false;
    /* Create the blob folder even if there are no blobs, so that it replaces the current folder. */
    if (backup_restore(path, half, false, &report) ||
        (mkdir(blobs, 0700) != 0 && errno != EEXIST) || !sync_folder_to_disk(half) ||
        rename(half, whole) != 0 || !sync_folder_to_disk(folder)) {
        log_error("snapshots: the snapshot '%s' was not restored; no data has changed",
                  requested_name);
        folder_delete_recursively(half);
        return false;
    }
    if (!snapshot_finish_interrupted_restore(folder))
        return false;
    restores_done++;
    log_info("restored the snapshot '%s'", requested_name);
    return true;
}

bool snapshot_run_requested_restore(const char *folder)
{
    write_pacing_set_disabled(snapshots_are_quick);
    bool ok = restore_requested_snapshot(folder);
    write_pacing_set_disabled(false);
    return ok;
}
