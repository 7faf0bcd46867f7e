/* io.h - file I/O helpers. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdbool.h>

#include "base/str.h"

/* Writes all bytes to fd, with several calls if needed. Returns false and sets errno on failure. */
bool write_all_bytes(int fd, struct str bytes);

#endif
