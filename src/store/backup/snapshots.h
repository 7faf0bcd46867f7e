/* snapshots.h - worlds that are kept by name in the data folder, and brought back.
 *
 * A snapshot is a backup (store/backup/backup.h). It is made beside the running server. To bring
 * one back the server stops, its rows and files are exchanged, and it starts again in the same
 * process on the same port; sessions have to identify anew. What was there before is kept as
 * the snapshot "before-restore". Only rows in the folder itself, SQLite's, can be exchanged. */
#ifndef SNAPSHOTS_H
#define SNAPSHOTS_H

#include <signal.h>

#include "base/buf.h"
#include "store/store.h"

/* What the process is sent when it shall bring one back. */
enum { SNAPSHOT_SIGNAL = SIGUSR1 };

/* The server's key, and the certificate that it makes for itself: they go with the rows. */
extern const char *const snapshot_keys[];

/* Answers for people: what was done, or "error: " and a sentence why not. From any thread that
 * may wait. */
void snapshot_make(struct store *store, const char *folder, struct str name, struct buf *out);
void snapshot_drop(const char *folder, struct str name, struct buf *out);
/* Looks whether it is whole, keeps what is there, and sends the process SNAPSHOT_SIGNAL. */
void snapshot_ask_back(struct store *store, const char *folder, struct str name, struct buf *out);

/* Those that there are, by name. */
struct snapshot {
    struct str name;
    int64_t bytes, made_at_us;
};
void snapshot_each(const char *folder, void (*tell)(void *arg, const struct snapshot *s),
                   void *arg);

/* How often this process was asked, and how often it came to its end. */
void snapshot_count(int *ret_tried, int *ret_restored);

/* While no server runs on the folder: puts the one that was asked for in place of what is
 * there. False after a sentence in the log; then everything is as it was. */
bool snapshot_bring_back(const char *folder);
/* Before a server starts: ends an exchange that was broken off. */
bool snapshot_settle(const char *folder);

#endif
