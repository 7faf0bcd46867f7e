/* io.c - file I/O helpers. */
#include "base/io.h"

#include <errno.h>
#include <unistd.h>

bool write_all_bytes(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno != EINTR)
            return false;
        bytes = str_skip_bytes(bytes, n < 0 ? 0 : (size_t)n);
    }
    return true;
}
