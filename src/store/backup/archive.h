/* archive.h - the file format of backups: a sequence of files, each with its checksum.
 *
 *   guildhall backup 1\n
 *   file SIZE NAME\n  SIZE bytes  \nsum BLAKE2B\n      once per file
 *   damaged NAME\n                                 the file was damaged or missing when the backup
 *                                                  was made
 *   end FILES BYTES BLAKE2B\n
 *
 * A checksum is BLAKE2b-256 in hex: of the bytes of a file, and in the last line of all lines
 * before it, including the checksums. A file without a correct last line is not a complete backup.
 * At most ARCHIVE_BUFFER_SIZE bytes of a file are in memory. */
#ifndef STORE_ARCHIVE_H
#define STORE_ARCHIVE_H

#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/errors.h"

enum { ARCHIVE_NAME_MAX = 320, ARCHIVE_BUFFER_SIZE = 128 * 1024, ARCHIVE_CHECKSUM_SIZE = 65 };

struct archive {
    FILE *f;
    const char *path; /* path for log messages; the caller owns it */
    crypto_generichash_state lines;
    int64_t files, bytes;            /* totals so far */
    int64_t damaged;                 /* number of "damaged" lines so far */
    char sum[ARCHIVE_CHECKSUM_SIZE]; /* of the last file, in hex */
    int64_t unwritten;               /* bytes written since the last flush */
    int64_t room, room_at;           /* size and offset of a file that the caller writes itself */
    int64_t next_at; /* reading: offset after the last "file" line; -1 in a stream */
    char *piece;     /* copy buffer of ARCHIVE_BUFFER_SIZE bytes */
};

struct archive_entry {
    char name[ARCHIVE_NAME_MAX];
    int64_t size;
};

/* --- writing -------------------------------------------------------------------------- */

/* Creates the file with mode 0600; it must not exist. "-": standard output. Logs failures. */
enum err archive_create(struct archive *a, const char *path);
/* Adds size bytes of the descriptor, from its current offset. */
enum err archive_add_file(struct archive *a, const char *name, int fd, int64_t size);
/* For a file that the caller writes itself: archive_begin_file reserves size bytes at *ret_at of
 * the descriptor, archive_end_file computes their checksum. Nothing else may be added in between.
 */
enum err archive_begin_file(struct archive *a, const char *name, int64_t size, int *ret_fd,
                            int64_t *ret_at);
enum err archive_end_file(struct archive *a);
/* Adds a "damaged" line: the file was damaged or missing when the backup was made. */
enum err archive_mark_damaged(struct archive *a, const char *name);
/* Writes the last line and syncs the file. */
enum err archive_finish(struct archive *a);

/* --- reading -------------------------------------------------------------------------- */

/* Opens a backup for reading; "-": standard input. Logs an error if it does not exist or is no
 * backup. */
enum err archive_open(struct archive *a, const char *path);
/* Returns the next file; logs "damaged" lines before it. *ret_more is false at the end of an
 * undamaged archive. */
enum err archive_read_next_entry(struct archive *a, struct archive_entry *ret, bool *ret_more);
/* Writes the bytes of the file to the descriptor (-1: discards them) and compares the checksum.
 * ERR_FILE_DAMAGED: the checksum differs; the next file can still be read. */
enum err archive_extract(struct archive *a, const struct archive_entry *entry, int fd);

/* After an error: finds the next line that looks like the beginning of a file. False at the end of
 * the archive. The line may be part of the content of another file. */
bool archive_find_next_entry(struct archive *a, struct archive_entry *ret);

/* Accepts an archive that was never opened. */
void archive_close(struct archive *a);

#endif
