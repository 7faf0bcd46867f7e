/* memory_limit.h - how much memory the process may use: RAM, cgroup, RLIMIT_AS. */
#ifndef MEMORY_LIMIT_H
#define MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* Available bytes: the minimum of RAM, memory.max of the cgroup, and RLIMIT_AS minus mapped
 * memory. */
int64_t memory_available(void);

/* Is there enough address space to start? False is logged. */
bool memory_suffices(void);

/* Bytes for all request bodies together; mib 0: as much as the memory allows. */
int64_t memory_for_bodies(int64_t mib);

#endif
