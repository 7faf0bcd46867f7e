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

struct backup_archive {
    FILE *f;
    const char *path; /* path of the archive, for log messages; owned by the caller */
    crypto_generichash_state lines;
    int64_t files, bytes;            /* totals of all files so far */
    int64_t damaged;                 /* number of "damaged" lines so far */
    char sum[ARCHIVE_CHECKSUM_SIZE]; /* BLAKE2b-256 of the last file, in hex */
    int64_t unwritten;               /* bytes written since the last flush to the disk */
    int64_t room, room_at; /* size and offset of the space reserved for a file that the caller
                            * writes (backup_archive_reserve_file) */
    int64_t next_at; /* when reading: offset in the archive after the last "file" line; -1 for a
                      * stream */
    char *piece;     /* copy buffer of ARCHIVE_BUFFER_SIZE bytes */
};

struct backup_archive_file_header {
    char name[ARCHIVE_NAME_MAX];
    int64_t size;
};

/* --- writing -------------------------------------------------------------------------- */

/* Creates the archive, mode 0600; the file must not exist. "-" is standard output. Logs
 * failures. */
enum err backup_archive_create(struct backup_archive *a, const char *path);
/* Adds a file to the archive: `size` bytes of the descriptor, from its current offset. */
enum err backup_archive_add_file(struct backup_archive *a, const char *name, int fd, int64_t size);
/* backup_archive_reserve_file reserves `size` bytes for a file that the caller writes itself, and
 * returns the descriptor and offset to write to. backup_archive_finish_reserved_file computes the
 * checksum of this file. Call no other archive function between the two. */
enum err backup_archive_reserve_file(struct backup_archive *a, const char *name, int64_t size,
                                     int *ret_fd, int64_t *ret_at);
enum err backup_archive_finish_reserved_file(struct backup_archive *a);
/* Adds a "damaged" line for a file that was damaged or missing when the backup was made. */
enum err backup_archive_mark_file_damaged(struct backup_archive *a, const char *name);
/* Writes the last line of the archive and syncs the archive to the disk. */
enum err backup_archive_finish(struct backup_archive *a);

/* --- reading -------------------------------------------------------------------------- */

/* Opens an archive for reading; the path "-" means standard input. Logs an error if the path does
 * not exist or is not a backup. */
enum err backup_archive_open(struct backup_archive *a, const char *path);
/* Reads the header of the next file, and logs the "damaged" lines before it. Sets *ret_more to
 * false if the correct last line of the archive was reached. */
enum err backup_archive_read_next_file_header(struct backup_archive *a,
                                              struct backup_archive_file_header *ret,
                                              bool *ret_more);
/* Writes the bytes of the file to fd, or discards them if fd is -1, and compares the checksum.
 * Returns ERR_FILE_DAMAGED if the checksum differs; then the next file can still be read. */
enum err backup_archive_extract_file(struct backup_archive *a,
                                     const struct backup_archive_file_header *entry, int fd);

/* Finds the next line that looks like the beginning of a file, to continue after a read error. The
 * line may be part of the content of another file. Returns false at the end of the archive. */
bool backup_archive_find_next_file_header(struct backup_archive *a,
                                          struct backup_archive_file_header *ret);

/* Closes the archive; does nothing if it was never opened. */
void backup_archive_close(struct backup_archive *a);

#endif
