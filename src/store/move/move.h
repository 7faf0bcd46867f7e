/* move.h - a whole world from one database into another: SQLite and PostgreSQL, either way.
 *
 * Tables and their columns are those that the database itself names, so a new table needs
 * nothing here. Rows are streamed in the order of their keys and written some thousands at a
 * time; how far a table is stands in the target, in the same transaction as the rows, so a move
 * that was killed goes on where it was. Then every table of the target is read again and compared
 * with what was read from the source: number of rows and the sum of their digests. Files are
 * compared byte by byte.
 *
 * The source is only read. As long as a move is not at its end no server starts on the target. */
#ifndef STORE_MOVE_H
#define STORE_MOVE_H

#include "store/store.h"

struct move_place {
    const char *folder;   /* rows of SQLite, files and keys */
    const char *postgres; /* rows, when not NULL */
    bool blobs_inside;    /* and files */
};

struct move_options {
    struct move_place from, to;
    const char *const *keys; /* names of files in the folder that go along, ended by NULL */
    /* Told how far it is: of the rows, each of which is written and compared, then of the files. */
    void (*tell)(void *arg, const char *what, int64_t done, int64_t total);
    void *arg;
    /* Makes anew what only the target's engine can: called when all rows are there. */
    enum err (*rebuild)(struct store *to);
};

struct move_report {
    int64_t tables, rows, files, bytes;
    bool resumed;    /* an earlier run had done a part of it */
    bool files_stay; /* both places have the same folder */
    bool was_done;   /* the target has had the world since an earlier run; nothing was done */
};

/* Logs a sentence when it cannot: a place is in use, holds another world, or has tables of
 * another version. */
enum err move_world(const struct move_options *o, struct move_report *ret);

#endif
