/* memory_limit.h - determines how much memory the process may use: RAM, cgroup, RLIMIT_AS. */
#ifndef MEMORY_LIMIT_H
#define MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if there is enough address space to start. If not, logs an error. */
bool has_enough_address_space(void);

/* Returns how many bytes all request bodies may use together. `mib` is the configured limit in MiB;
 * 0 means that the limit is derived from the available memory. */
int64_t memory_budget_for_request_bodies(int64_t mib);

#endif
