/* journal_read.c - what a process that is gone had told its sessions: read. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "gateway/resume/journal/journal_file.h"
#include "gateway/sessions/session.h"
#include "model/fields/ids.h"

/* --- the rule ------------------------------------------------------------------------- */

static bool slot_knows(const struct ledger_slot *slot, uint64_t seq)
{
    return !slot->torn && !slot->errands && seq >= slot->first && seq <= slot->seq &&
           slot->seq - seq < LEDGER_TOLD && slot->presence_n <= sizeof slot->presence;
}

/* What its client has not read and the log does not have cannot be told again. The first event
 * with a number among the unread says where the log goes on: whatever was before that was told,
 * or was not for the session. */
static bool first_unread(const struct ledger_slot *slot, uint64_t seq, uint64_t *ret)
{
    *ret = 0;
    for (uint64_t i = seq + 1; i <= slot->seq; i++) {
        uint64_t told = slot->told[i % LEDGER_TOLD];

        if (told == TOLD_ANSWER)
            return false;
        if (told != TOLD_FLEETING && !*ret)
            *ret = told;
    }
    return true;
}

uint64_t ledger_slot_read(const struct ledger_slot *slot, uint64_t hub_position)
{
    uint64_t seen = slot->base;

    if (slot->hub != LEDGER_AWAY && hub_position > seen)
        seen = hub_position;
    for (size_t i = 0; i < LEDGER_TOLD; i++)
        if (i != (slot->seq + 1) % LEDGER_TOLD && slot->told[i] > seen)
            seen = slot->told[i];
    return seen;
}

bool ledger_slot_seen(const struct ledger_slot *slot, uint64_t hub_position, uint64_t seq,
                      uint64_t *ret)
{
    uint64_t unread;

    if (!slot_knows(slot, seq) || !first_unread(slot, seq, &unread))
        return false;
    *ret = unread ? unread - 1 : ledger_slot_read(slot, hub_position);
    return true;
}

/* --- files ---------------------------------------------------------------------------- */

static bool read_at(int fd, void *to, size_t n, size_t offset)
{
    return pread(fd, to, n, (off_t)offset) == (ssize_t)n;
}

static int open_ledger(const char *folder, uint32_t identity)
{
    char name[LEDGER_NAME];
    int dir = open(folder, O_DIRECTORY | O_RDONLY | O_CLOEXEC), fd = -1;

    snprintf(name, sizeof name, "ledger-%" PRIu32, identity);
    if (dir >= 0)
        fd = openat(dir, name, O_RDWR | O_CLOEXEC);
    if (dir >= 0)
        close(dir);
    return fd;
}

void ledger_boot(char out[LEDGER_BOOT])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    memset(out, 0, LEDGER_BOOT);
    if (fd >= 0 && read(fd, out, LEDGER_BOOT - 1) < 0)
        memset(out, 0, LEDGER_BOOT);
    if (fd >= 0)
        close(fd);
}

/* Pages reach the disk in any order: when the machine itself went down they may be of different
 * moments, and nothing here can be relied on. */
static bool is_of_this_boot(int fd)
{
    char then[LEDGER_BOOT], now[LEDGER_BOOT];

    ledger_boot(now);
    return read_at(fd, then, sizeof then, offsetof(struct ledger_head, boot)) &&
           memcmp(then, now, sizeof now) == 0;
}

/* Whether the file may go. Nobody sees a process end: it counts from when it was first missed. */
static bool is_outdated(int fd, int64_t now_ms)
{
    int64_t gone_ms = 0;
    off_t at = offsetof(struct ledger_head, gone_ms);

    /* One that is just being made, before it is locked. */
    if (!read_at(fd, &gone_ms, sizeof gone_ms, (size_t)at))
        return false;
    if (gone_ms)
        return now_ms - gone_ms > AWAY_MS;
    return pwrite(fd, &now_ms, sizeof now_ms, at) != (ssize_t)sizeof now_ms;
}

/* False: it has no such session. */
static bool find_slot(int fd, struct arena *arena, uint64_t number, uint32_t *ret)
{
    size_t size = LEDGER_SLOTS * sizeof(uint64_t);
    uint64_t *numbers = arena_alloc(arena, size);

    if (!read_at(fd, numbers, size, offsetof(struct ledger_head, numbers)))
        return false;
    for (uint32_t i = 0; i < LEDGER_SLOTS; i++)
        if (numbers[i] == number) {
            *ret = i;
            return true;
        }
    return false;
}

static bool read_entry(int fd, uint64_t number, uint64_t seq, struct arena *arena,
                       struct ledger_entry *ret)
{
    uint64_t position = 0;
    uint32_t slot;

    if (!find_slot(fd, arena, number, &slot))
        return false;
    ret->slot = arena_alloc(arena, sizeof *ret->slot);
    if (!read_at(fd, ret->slot, sizeof *ret->slot, ledger_offset(slot)))
        return false;
    if (ret->slot->hub < LEDGER_HUBS &&
        !read_at(fd, &position, sizeof position,
                 offsetof(struct ledger_head, hubs) + ret->slot->hub * sizeof(struct ledger_place)))
        return false;
    return ledger_slot_seen(ret->slot, position, seq, &ret->seen);
}

/* One that cannot be relied on says nothing: another server may keep what it does not tell. */
static enum ledger_answer read_ledger(int fd, uint64_t number, uint64_t seq, struct arena *arena,
                                      struct ledger_entry *ret)
{
    bool outdated = is_outdated(fd, clock_ms());
    uint64_t magic;

    if (!read_at(fd, &magic, sizeof magic, 0) || magic != LEDGER_MAGIC || !is_of_this_boot(fd))
        return LEDGER_UNKNOWN;
    return !outdated && read_entry(fd, number, seq, arena, ret) ? LEDGER_FOUND : LEDGER_GONE;
}

enum ledger_answer ledger_find(const char *folder, uint32_t identity, uint64_t number, uint64_t seq,
                               struct arena *arena, struct ledger_entry *ret)
{
    enum ledger_answer answer = LEDGER_LIVES;
    int fd = open_ledger(folder, identity);

    if (fd < 0)
        return LEDGER_UNKNOWN;
    if (flock(fd, LOCK_SH | LOCK_NB) == 0)
        answer = read_ledger(fd, number, seq, arena, ret);
    close(fd);
    return answer;
}

/* --- what nobody needs any more ------------------------------------------------------- */

static void ledger_tidy(int dir, const char *name, int64_t now_ms, struct arena *arena,
                        struct list *ret)
{
    uint64_t identity;
    int fd;

    if (!str_starts(str_of(name), STR("ledger-")) ||
        !str_to_u64(str_from(str_of(name), 7), &identity))
        return;
    fd = openat(dir, name, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0 && is_outdated(fd, now_ms))
        unlinkat(dir, name, 0);
    else
        ids_add(arena, ret, identity);
    if (fd >= 0)
        close(fd);
}

void ledgers_tidy(const char *folder, int64_t now_ms, struct arena *arena, struct list *ret)
{
    DIR *dir = opendir(folder);

    for (struct dirent *d; dir && (d = readdir(dir));)
        ledger_tidy(dirfd(dir), d->d_name, now_ms, arena, ret);
    if (dir)
        closedir(dir);
}
