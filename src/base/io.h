/* io.h - bytes to and from files. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdbool.h>

#include "base/str.h"

/* Writes all of it. False: see errno. */
bool write_all(int fd, struct str bytes);

#endif
