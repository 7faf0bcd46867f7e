/* memory_limit.h - how much memory this process may use. */
#ifndef MEMORY_LIMIT_H
#define MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that are left: of the machine's memory, the cgroup's memory.max and RLIMIT_AS, whichever
 * leaves the least. What the process has mapped already counts against RLIMIT_AS. */
int64_t memory_available(void);

/* Whether there is enough address space to start; false after a line in the log. */
bool memory_suffices(void);

/* Bytes for bodies of requests; mib 0: as much as the memory allows. */
int64_t memory_for_bodies(int64_t mib);

#endif
