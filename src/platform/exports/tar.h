/* tar.h - files one after the other, as tar reads them (POSIX ustar). */
#ifndef PLATFORM_EXPORTS_TAR_H
#define PLATFORM_EXPORTS_TAR_H

#include <stdbool.h>
#include <stdint.h>

enum { TAR_BLOCK = 512, TAR_NAME = 100 };

/* The block before a file's bytes. False: the name has 100 bytes or more, or the size does not
 * fit (8 GiB). */
bool tar_header(unsigned char out[TAR_BLOCK], const char *name, int64_t size, int64_t time_s);
/* How many zero bytes follow a file of this size. */
int64_t tar_padding(int64_t size);

#endif
