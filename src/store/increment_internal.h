/* increment_internal.h - what the files of backups in a folder share. */
#ifndef STORE_INCREMENT_INTERNAL_H
#define STORE_INCREMENT_INTERNAL_H

#include <limits.h>
#include <sqlite3.h>

#include "store/increment.h"
#include "store/internal.h"

enum {
    INCREMENT_SUM = crypto_generichash_BYTES,
    INCREMENT_SUM_TEXT = 2 * INCREMENT_SUM + 1,
    INCREMENT_MOST = 1024 * 1024, /* bytes of a piece … */
    INCREMENT_ROWS = 64 * 1024,   /* … and of one of the database */
    INCREMENT_WAITING = 16,       /* pieces that are synced together */
    INCREMENT_PATH = PATH_MAX + INCREMENT_SUM_TEXT + 32,
};

struct increment {
    char folder[PATH_MAX];
    int lock;
    sqlite3 *db;
    sqlite3_stmt *find, *stay, *add, *walk;
    int64_t number;
    int64_t files, bytes, written;
    char *piece;
    struct buf parts; /* sums of the pieces of one file */
    /* Pieces that were written and have no name yet. */
    int waiting_fds[INCREMENT_WAITING], waiting;
    unsigned char waiting_sums[INCREMENT_WAITING][INCREMENT_SUM];
};

/* --- increment_catalogue.c ------------------------------------------------------------ */

/* Each logs, and returns what it means. */
enum err increment_failed(const char *verb, const char *path);
enum err increment_damaged(const struct increment *i, const char *what, const char *name);
enum err catalogue_failed(struct increment *i);

enum err increment_new(const char *folder, struct increment **ret);
/* how: of flock. */
enum err increment_lock(struct increment *i, int how);
enum err catalogue_open(struct increment *i, int flags);
enum err catalogue_check_format(struct increment *i, bool may_be_new);

enum err catalogue_do(struct increment *i, const char *sql);
/* One statement with up to two numbers; *ret (may be NULL): its first column. */
enum err catalogue_ask(struct increment *i, const char *sql, int64_t a, int64_t b, int64_t *ret);
enum err catalogue_prepare(struct increment *i, const char *sql, sqlite3_stmt **ret);
/* A statement without rows whose values are bound. */
enum err catalogue_step(struct increment *i, sqlite3_stmt *stmt);

/* --- increment_pieces.c --------------------------------------------------------------- */

void increment_object_path(const struct increment *i, const unsigned char *sum, char *out,
                           size_t size);
bool increment_write_all(int fd, const char *p, size_t n);
/* Cuts a file into pieces and writes those that are new; i->parts has their sums. */
enum err increment_keep_pieces(struct increment *i, const char *name, int fd, int64_t size);
/* Syncs those that wait and gives them their names; without it they are lost. */
enum err increment_name_pieces(struct increment *i);
void increment_drop_waiting(struct increment *i);
/* Into i->piece; its length, or -1 after a line in the log. */
ssize_t increment_read_object(struct increment *i, const unsigned char *sum);

typedef enum err object_found(struct increment *i, const char *path, const unsigned char *sum);
/* Each piece that lies in the folder, with its path. */
enum err increment_walk_objects(struct increment *i, object_found *found);
/* Each piece of each file of all backups, with the file's name. */
enum err increment_walk_parts(struct increment *i, object_found *found);

#endif
