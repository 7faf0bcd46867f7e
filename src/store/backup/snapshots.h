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

/* The server's key and its self-signed certificate, which are saved with the rows. */
extern const char *const snapshot_keys[];

/* These write a message for people to out: what was done, or "error: " and the reason. They block;
 * call them from any thread that may. */
void snapshot_make(struct store *store, const char *folder, struct str name, struct buf *out);
void snapshot_drop(const char *folder, struct str name, struct buf *out);
/* Checks the snapshot, saves the current data, and sends SNAPSHOT_SIGNAL to the process. */
void snapshot_ask_back(struct store *store, const char *folder, struct str name, struct buf *out);

/* Lists all snapshots by name. */
struct snapshot {
    struct str name;
    int64_t bytes, made_at_us;
};
void snapshot_each(const char *folder, void (*tell)(void *arg, const struct snapshot *s),
                   void *arg);

/* Number of restores that were requested, and that succeeded, in this process. */
void snapshot_count(int *ret_tried, int *ret_restored);

/* Restores the requested snapshot while no server runs on the folder. False: it failed, was logged,
 * and nothing has changed. */
bool snapshot_bring_back(const char *folder);
/* Call it before a server starts: completes an interrupted exchange. */
bool snapshot_settle(const char *folder);

#endif
