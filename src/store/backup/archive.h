/* archive.h - the one file of a backup: files one after the other, each with its sum.
 *
 *   guildhall backup 1\n
 *   file SIZE NAME\n  SIZE bytes  \nsum BLAKE2B\n      as often as there are files
 *   damaged NAME\n                                 of a file that was not sound, or missing, when
 *                                                  the backup was made
 *   end FILES BYTES BLAKE2B\n
 *
 * A sum is BLAKE2b-256 in hex: of a file's bytes, and at the end of all lines before it (the
 * sums are among them). What has no right end is no backup. Nothing is ever held in memory but
 * a piece of one file. */
#ifndef STORE_ARCHIVE_H
#define STORE_ARCHIVE_H

#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/errors.h"

enum { ARCHIVE_NAME = 320, ARCHIVE_PIECE = 128 * 1024, ARCHIVE_SUM = 65 };

struct archive {
    FILE *f;
    const char *path; /* the caller's, for messages */
    crypto_generichash_state lines;
    int64_t files, bytes;  /* so far */
    int64_t damaged;       /* marks so far */
    char sum[ARCHIVE_SUM]; /* of the last file, in hex */
    int64_t unwritten;     /* bytes that were not handed to the disk yet */
    int64_t room, room_at; /* of a file whose bytes somebody else writes */
    int64_t next_at;       /* reading: behind the last line of a file; -1 in a stream */
    char *piece;           /* ARCHIVE_PIECE bytes to copy through */
};

struct archive_entry {
    char name[ARCHIVE_NAME];
    int64_t size;
};

/* --- writing -------------------------------------------------------------------------- */

/* Makes the file, for its owner alone; it must not exist. "-": standard output. Logs. */
enum err archive_create(struct archive *a, const char *path);
/* size bytes of the descriptor, from where it stands. */
enum err archive_add(struct archive *a, const char *name, int fd, int64_t size);
/* The same of a file whose bytes the caller puts there: room for them, from *ret_at on in the
 * descriptor, and their sum when they are there. Nothing else may be added in between. */
enum err archive_begin(struct archive *a, const char *name, int64_t size, int *ret_fd,
                       int64_t *ret_at);
enum err archive_end(struct archive *a);
/* Marks a file as damaged; it may be missing. */
enum err archive_mark(struct archive *a, const char *name);
/* The end, on the disk. */
enum err archive_finish(struct archive *a);

/* --- reading -------------------------------------------------------------------------- */

/* "-": standard input. Logs what is wrong: no such file, or not a backup. */
enum err archive_open(struct archive *a, const char *path);
/* The next file, and a line in the log for each mark before it. *ret_more is false at an end that
 * is right. */
enum err archive_next(struct archive *a, struct archive_entry *ret, bool *ret_more);
/* Its bytes go to the descriptor (-1: nowhere) and are compared with their sum. ERR_FILE_DAMAGED:
 * they are others, and the next file can be read. */
enum err archive_take(struct archive *a, const struct archive_entry *entry, int fd);

/* After an error: the next line that looks as if a file followed. False at the end. What is found
 * may be the content of a file. */
bool archive_skip(struct archive *a, struct archive_entry *ret);

/* After each of both; accepts what was never opened. */
void archive_close(struct archive *a);

#endif
