/* move.h - moves all data of a server between SQLite and PostgreSQL, in either direction, and its
 * files between the data folder, PostgreSQL and object storage.
 *
 * The tables and columns come from the databases themselves, so a new table needs no code here.
 * Rows are read in key order and written in batches of some thousands. The progress of a table is
 * saved in the target, in the same transaction as the rows, so a killed move continues where it
 * stopped. Then each table of the target is read again and compared with the source by row count
 * and sum of digests. Files are compared byte by byte.
 *
 * The source is only read. No server starts on the target before the move is complete. */
#ifndef STORE_MOVE_H
#define STORE_MOVE_H

#include "store/store.h"

struct data_move_location {
    const char *folder;   /* SQLite database, files and keys */
    const char *postgres; /* address of the PostgreSQL database with the rows; NULL means SQLite */
    bool blobs_inside;    /* whether the blobs are in the PostgreSQL database */
    const struct object_storage_options *objects; /* object storage with the blobs; NULL if the
                                                   * blobs are elsewhere */
};

struct data_move_options {
    struct data_move_location from, to;
    const char *const *keys; /* names of key files to copy; NULL ends the list */
    /* Reports progress, first in rows (each row is written, then compared), then in files. */
    void (*on_progress)(void *arg, const char *what, int64_t done, int64_t total);
    void *arg;
    /* Rebuilds those tables whose content depends on the target's engine; called after all rows
     * were copied. */
    enum err (*rebuild)(struct store *to);
};

struct data_move_report {
    int64_t tables, rows, files, bytes;
    bool resumed;    /* whether an earlier run had already copied some tables */
    bool files_stay; /* whether source and target have their files and keys in the same folder, so
                      * that none is copied */
    bool blobs_stay; /* whether source and target use the same bucket, so that only keys are
                      * copied */
    bool was_done;   /* whether an earlier run was complete, so that nothing was left to do */
};

/* Moves all data. Logs an error and fails if a database is in use, or has another schema version,
 * or if the target contains other data. */
enum err data_move_run(const struct data_move_options *o, struct data_move_report *ret);
/* Copies only the files to another location, and then stores this location in the database; o->from
 * and o->to have the same database. The files of the source are not deleted. */
enum err data_move_run_for_files_only(const struct data_move_options *o,
                                      struct data_move_report *ret);

#endif
