/* tar.h - headers of tar archives (POSIX ustar). */
#ifndef PLATFORM_EXPORTS_TAR_H
#define PLATFORM_EXPORTS_TAR_H

#include <stdbool.h>
#include <stdint.h>

enum { TAR_BLOCK = 512, TAR_NAME = 100 };

/* Writes the header block of a file. Returns false if the name has 100 or more bytes, or the size
 * exceeds 8 GiB. */
bool tar_write_header(unsigned char out[TAR_BLOCK], const char *name, int64_t size, int64_t time_s);
/* Returns the number of zero bytes that must follow the content of a file of this size. */
int64_t tar_padding_bytes(int64_t size);

#endif
