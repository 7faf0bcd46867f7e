/* snapshots.h - named backups (snapshots) in the data folder.
 *
 * A snapshot is a backup (store/backup/backup.h), made while the server runs. To restore a
 * snapshot, the server stops, replaces its rows and files by those of the snapshot, and starts
 * again in the same process on the same port; clients must identify again. The previous data is
 * saved as the snapshot "before-restore". Only SQLite is supported. */
#ifndef SNAPSHOTS_H
#define SNAPSHOTS_H

#include <signal.h>

#include "base/buf.h"
#include "store/store.h"

/* Signal that makes the process restore the requested snapshot. */
enum { SNAPSHOT_SIGNAL = SIGUSR1 };

/* Names of the files with the server's key and certificate, which a snapshot includes. */
extern const char *const snapshot_key_files[];

/* Makes snapshots of this process quick: they do not limit their disk writes and do not sync. For
 * test servers only, because a power cut can destroy the restored data. */
void snapshots_set_pauses_and_syncs_disabled(bool quick);

/* The snapshot functions below write a message for the operator to out: the result, or "error: "
 * and the reason. They block, so call them on a thread that may block. */
void snapshot_create(struct store *store, const char *folder, struct str name, struct buf *out);
void snapshot_delete(const char *folder, struct str name, struct buf *out);
/* Checks the snapshot, saves the current data, and sends SNAPSHOT_SIGNAL to this process, which
 * then restores the snapshot. */
void snapshot_check_and_request_restore(struct store *store, const char *folder, struct str name,
                                        struct buf *out);

/* A snapshot that snapshot_list passes to its callback, in the order of names. */
struct listed_snapshot {
    struct str name;
    int64_t bytes, made_at_us;
};
void snapshot_list(const char *folder, void (*notify)(void *arg, const struct listed_snapshot *s),
                   void *arg);

/* Returns how many restores of snapshots this process has tried, and how many of them succeeded. */
void snapshot_get_restore_counts(int *ret_tried, int *ret_restored);

/* Restores the requested snapshot; call it while no server runs on the folder. On failure, logs the
 * reason, returns false, and has changed no data. */
bool snapshot_run_requested_restore(const char *folder);
/* Completes a restore that was interrupted; call it before a server starts. */
bool snapshot_finish_interrupted_restore(const char *folder);

#endif
