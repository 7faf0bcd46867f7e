/* memory_limit.c - determines how much memory the process may use: RAM, cgroup, RLIMIT_AS. */
#include "server/memory_limit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

enum {
    /* Minimum address space in MiB of a server with one event loop: for thread stacks, and for 64
     * MiB per malloc arena. */
    MIN_ADDRESS_SPACE_MIB = 256,
    MAX_BODIES_MIB = 256,
    MIN_BODIES_MIB = 8,
    /* Memory that a request body needs, as a multiple of its size: its buffer may be twice as large
     * as the body, and decoding needs another buffer. */
    BODY_COPIES = 4
};
static const int64_t MIB = 1024 * 1024;

static int64_t read_number_from_file(const char *path)
{
    char text[32] = "";
    FILE *f = fopen(path, "re");

    if (f && !fgets(text, sizeof text, f))
        text[0] = '\0';
    if (f)
        fclose(f);
    return text[0] >= '0' && text[0] <= '9' ? strtoll(text, NULL, 10) : INT64_MAX;
}

/* Returns the lowest memory limit of the process's cgroup (version 2) and its ancestors. */
static int64_t read_cgroup_memory_limit(void)
{
    char line[PATH_MAX] = "", path[PATH_MAX + 64];
    FILE *f = fopen("/proc/self/cgroup", "re");
    int64_t least = INT64_MAX;

    while (f && fgets(line, sizeof line, f) && strncmp(line, "0::", 3) != 0)
        line[0] = '\0';
    if (f)
        fclose(f);
    line[strcspn(line, "\n")] = '\0';
    for (char *end = strrchr(line, '/'); end; end = strrchr(line, '/')) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", line + 3);
        int64_t limit = read_number_from_file(path);

        if (limit < least)
            least = limit;
        *end = '\0';
    }
    return least;
}

static int64_t address_space_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return INT64_MAX;
    return (int64_t)limit.rlim_cur;
}

/* Returns the available memory in bytes: the minimum of RAM, memory.max of the cgroup, and
 * RLIMIT_AS minus the address space already in use. */
static int64_t memory_available_bytes(void)
{
    int64_t page = sysconf(_SC_PAGESIZE), least = sysconf(_SC_PHYS_PAGES) * page;
    int64_t group = read_cgroup_memory_limit(), space = address_space_limit();

    if (group < least)
        least = group;
    if (space != INT64_MAX)
        space -= read_number_from_file("/proc/self/statm") * page;
    return space < least ? space : least;
}

bool has_enough_address_space(void)
{
    int64_t space = address_space_limit();

    if (space >= MIN_ADDRESS_SPACE_MIB * MIB)
        return true;
    log_error(
        "the address space is limited to %lld MiB, but the server needs %d MiB: raise the limit "
        "(ulimit -v, or LimitAS of the unit)",
        (long long)(space / MIB), MIN_ADDRESS_SPACE_MIB);
    return false;
}

int64_t memory_budget_for_request_bodies(int64_t mib)
{
    if (mib)
        return mib * MIB;
    mib = memory_available_bytes() / BODY_COPIES / MIB;
    if (mib >= MAX_BODIES_MIB)
        return MAX_BODIES_MIB * MIB;
    if (mib < MIN_BODIES_MIB)
        mib = MIN_BODIES_MIB;
    log_info(
        "memory is limited, so all request bodies together may use %lld MiB; set body-memory to "
        "change this",
        (long long)mib);
    return mib * MIB;
}
