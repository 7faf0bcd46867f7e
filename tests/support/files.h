/* files.h - counts the files that a test world stores. */
#ifndef TESTS_FILES_H
#define TESTS_FILES_H

#include "world.h"

/* Returns the number of stored files in an area ("attachments", "avatars"; "": all), and of
 * recorded files that have no row yet. */
int files_in(struct world *w, const char *area);
int file_notes(struct world *w);

/* Waits at most twenty seconds until there are `count` files and no recorded files without a
 * row. */
#define expect_files(w, area, count) expect_files_at(__FILE__, __LINE__, (w), (area), (count))
void expect_files_at(const char *file, int line, struct world *w, const char *area, int count);

/* Decompresses gzip data of at most 4 MiB into the world's arena. */
struct str unzip(struct world *w, struct str bytes);

#endif
