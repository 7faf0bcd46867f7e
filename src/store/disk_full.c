/* disk_full.c - detects a full disk, and when there is space again. */
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/internal.h"

#define SECOND INT64_C(1000000000)

enum {
    LOG_INTERVAL_S = 10,
    /* Time after which a full disk counts as usable again if statvfs reports free space. Only a
     * write shows whether a quota or a remote disk is full. But while this server reports that it
     * is not ready, a load balancer sends it no writes. So the server reports that it is ready
     * after this time, and tries. */
    FULL_RETRY_S = 10,
    MIN_FREE_BYTES = 1024 * 1024,
};

bool disk_full_message_may_be_logged(void)
{
    static _Atomic int64_t again_at;
    int64_t now = clock_monotonic_ns(), at = again_at;

    return now >= at &&
           atomic_compare_exchange_strong(&again_at, &at, now + LOG_INTERVAL_S * SECOND);
}

static bool disk_has_free_space(const struct store *s)
{
    struct statvfs disk;

    return statvfs(s->folder, &disk) != 0 ||
           (uint64_t)disk.f_bavail * disk.f_frsize >= MIN_FREE_BYTES;
}

void store_set_disk_full(struct store *s)
{
    if (!atomic_exchange(&s->full_since, clock_monotonic_ns()))
        log_error("store: the disk of '%s' or of the database is full: writes fail with "
                  "status 507, reads still work; free some disk space",
                  s->folder);
}

void store_clear_disk_full(struct store *s)
{
    if (s->full_since && disk_has_free_space(s) && atomic_exchange(&s->full_since, 0))
        log_info("store: the disk has free space again; writes are accepted");
}

bool store_disk_is_full(struct store *s)
{
    int64_t since = s->full_since;

    return since &&
           (clock_monotonic_ns() - since < FULL_RETRY_S * SECOND || !disk_has_free_space(s));
}
