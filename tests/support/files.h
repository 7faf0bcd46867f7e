/* files.h - what a world has on its disk. */
#ifndef TESTS_FILES_H
#define TESTS_FILES_H

#include "world.h"

/* Files that are kept in an area ("attachments", "avatars"; "": all of them), and notes of
 * such that have no row yet. */
int files_in(struct world *w, const char *area);
int file_notes(struct world *w);

/* Waits, for twenty seconds at most, until there are so many and no notes. */
#define expect_files(w, area, count) expect_files_at(__FILE__, __LINE__, (w), (area), (count))
void expect_files_at(const char *file, int line, struct world *w, const char *area, int count);

/* What gzip made of it, at most 4 MiB, in the world's arena. */
struct str unzip(struct world *w, struct str bytes);

#endif
