/* snapshots.h - named backups (snapshots) in the data folder.
 *
 * A snapshot is a backup (store/backup/backup.h), made while the server runs. To restore one, the
 * server stops, its rows and files are exchanged, and it starts again in the same process on the
 * same port; clients must identify again. The previous data is saved as the snapshot
 * "before-restore". Only SQLite is supported. */
#ifndef SNAPSHOTS_H
#define SNAPSHOTS_H

#include <signal.h>

#include "base/buf.h"
#include "store/store.h"

/* Signal that makes the process restore the requested snapshot. */
enum { SNAPSHOT_SIGNAL = SIGUSR1 };

/* Names of the files with the server's key and its certificate, which a snapshot includes. */
extern const char *const snapshot_keys[];

/* These functions write a message for the operator to out: the result, or "error: " and the reason.
 * They block, so call them from a thread that may block. */
void snapshot_create(struct store *store, const char *folder, struct str name, struct buf *out);
void snapshot_delete(const char *folder, struct str name, struct buf *out);
/* Checks the snapshot, saves the current data, and sends SNAPSHOT_SIGNAL to this process, which
 * then restores the snapshot. */
void snapshot_request_restore(struct store *store, const char *folder, struct str name,
                              struct buf *out);

/* Calls a function for each snapshot, ordered by name. */
struct snapshot {
    struct str name;
    int64_t bytes, made_at_us;
};
void snapshot_list(const char *folder, void (*notify)(void *arg, const struct snapshot *s),
                   void *arg);

/* Returns how many restores were requested, and how many succeeded, in this process. */
void snapshot_count_restores(int *ret_tried, int *ret_restored);

/* Restores the requested snapshot while no server runs on the folder. False: it failed, the reason
 * was logged, and no data has changed. */
bool snapshot_restore_requested(const char *folder);
/* Completes an interrupted exchange of files; call it before a server starts. */
bool snapshot_complete_exchange(const char *folder);

#endif
