/* journal_read.c - reads journals of dead processes. */
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

static bool journal_slot_can_resume_from_seq(const struct journal_slot *slot, uint64_t seq)
{
    return !slot->is_incomplete && !slot->tasks && seq >= slot->first && seq <= slot->seq &&
           slot->seq - seq < JOURNAL_SENT_MAX && slot->presence_n <= sizeof slot->presence;
}

/* Sets *ret to the number of the first event in the event log that the client has not read; 0 if
 * there is none. All earlier events were sent or do not concern the session. Returns false if the
 * client has not read a response to a request: responses are not in the event log and cannot be
 * sent again. */
static bool find_first_event_after_seq(const struct journal_slot *slot, uint64_t seq, uint64_t *ret)
{
    *ret = 0;
    for (uint64_t i = seq + 1; i <= slot->seq; i++) {
        uint64_t delivered_to = slot->sent[i % JOURNAL_SENT_MAX];

        if (delivered_to == NUMBER_RESPONSE)
            return false;
        if (delivered_to != NUMBER_TRANSIENT && !*ret)
            *ret = delivered_to;
    }
    return true;
}

uint64_t journal_slot_last_sent_event(const struct journal_slot *slot, uint64_t hub_position)
{
    uint64_t seen = slot->base;

    if (slot->loop_get_index != JOURNAL_IN_TRANSIT && hub_position > seen)
        seen = hub_position;
    for (size_t i = 0; i < JOURNAL_SENT_MAX; i++)
        if (i != (slot->seq + 1) % JOURNAL_SENT_MAX && slot->sent[i] > seen)
            seen = slot->sent[i];
    return seen;
}

bool journal_slot_find_last_event_before_seq(const struct journal_slot *slot, uint64_t hub_position,
                                             uint64_t seq, uint64_t *ret)
{
    uint64_t unread;

    if (!journal_slot_can_resume_from_seq(slot, seq) ||
        !find_first_event_after_seq(slot, seq, &unread))
        return false;
    *ret = unread ? unread - 1 : journal_slot_last_sent_event(slot, hub_position);
    return true;
}

static bool read_all_bytes_at_offset(int fd, void *to, size_t n, size_t offset)
{
    return pread(fd, to, n, (off_t)offset) == (ssize_t)n;
}

static int open_journal_file(const char *folder, uint32_t identity)
{
    char name[JOURNAL_NAME_BYTES];
    int dir = open(folder, O_DIRECTORY | O_RDONLY | O_CLOEXEC), fd = -1;

    snprintf(name, sizeof name, "ledger-%" PRIu32, identity);
    if (dir >= 0)
        fd = openat(dir, name, O_RDWR | O_CLOEXEC);
    if (dir >= 0)
        close(dir);
    return fd;
}

void read_kernel_boot_id(char out[JOURNAL_BOOT_ID])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    memset(out, 0, JOURNAL_BOOT_ID);
    if (fd >= 0 && read(fd, out, JOURNAL_BOOT_ID - 1) < 0)
        memset(out, 0, JOURNAL_BOOT_ID);
    if (fd >= 0)
        close(fd);
}

/* Returns whether the file was written since the last boot. The kernel writes memory-mapped pages
 * to disk in any order, so a crash of the machine leaves an inconsistent file. */
static bool journal_is_from_this_boot(int fd)
{
    char then[JOURNAL_BOOT_ID], now[JOURNAL_BOOT_ID];

    read_kernel_boot_id(now);
    return read_all_bytes_at_offset(fd, then, sizeof then,
                                    offsetof(struct journal_file_header, boot)) &&
           memcmp(then, now, sizeof now) == 0;
}

/* Returns whether the journal file may be deleted. A crash leaves no timestamp, so the time counts
 * from when another process first found the owner of the file dead. */
static bool journal_is_outdated(int fd, int64_t now_ms)
{
    int64_t gone_ms = 0;
    off_t at = offsetof(struct journal_file_header, gone_ms);

    /* The read fails if the journal file was just created: it is empty and not locked yet. */
    if (!read_all_bytes_at_offset(fd, &gone_ms, sizeof gone_ms, (size_t)at))
        return false;
    if (gone_ms)
        return now_ms - gone_ms > SESSION_EXPIRY_MS;
    return pwrite(fd, &now_ms, sizeof now_ms, at) != (ssize_t)sizeof now_ms;
}

/* Finds the slot of a session in a journal file. Returns false if the file does not have it. */
static bool find_journal_slot_of_session(int fd, struct arena *arena, uint64_t number,
                                         uint32_t *ret)
{
    size_t size = JOURNAL_SLOTS_MAX * sizeof(uint64_t);
    uint64_t *numbers = arena_alloc(arena, size);

    if (!read_all_bytes_at_offset(fd, numbers, size, offsetof(struct journal_file_header, numbers)))
        return false;
    for (uint32_t i = 0; i < JOURNAL_SLOTS_MAX; i++)
        if (numbers[i] == number) {
            *ret = i;
            return true;
        }
    return false;
}

static bool read_journal_entry(int fd, uint64_t number, uint64_t seq, struct arena *arena,
                               struct found_journal_session *ret)
{
    uint64_t position = 0;
    uint32_t slot;

    if (!find_journal_slot_of_session(fd, arena, number, &slot))
        return false;
    ret->slot = arena_alloc(arena, sizeof *ret->slot);
    if (!read_all_bytes_at_offset(fd, ret->slot, sizeof *ret->slot, journal_slot_offset(slot)))
        return false;
    if (ret->slot->loop_get_index < JOURNAL_LOOPS_MAX &&
        !read_all_bytes_at_offset(fd, &position, sizeof position,
                                  offsetof(struct journal_file_header, loops) +
                                      ret->slot->loop_get_index *
                                          sizeof(struct journal_loop_record)))
        return false;
    return journal_slot_find_last_event_before_seq(ret->slot, position, seq, &ret->seen);
}

/* Reads the session from a journal file. An unreliable file is treated as missing, because another
 * node may have a replica of it. */
static enum journal_find_result read_session_from_journal(int fd, uint64_t number, uint64_t seq,
                                                          struct arena *arena,
                                                          struct found_journal_session *ret)
{
    bool outdated = journal_is_outdated(fd, clock_ms());
    uint64_t magic;

    if (!read_all_bytes_at_offset(fd, &magic, sizeof magic, 0) || magic != JOURNAL_MAGIC ||
        !journal_is_from_this_boot(fd))
        return JOURNAL_UNKNOWN;
    return !outdated && read_journal_entry(fd, number, seq, arena, ret) ? JOURNAL_FOUND
                                                                        : JOURNAL_INSUFFICIENT;
}

enum journal_find_result journal_find_session(const char *folder, uint32_t identity,
                                              uint64_t number, uint64_t seq, struct arena *arena,
                                              struct found_journal_session *ret)
{
    enum journal_find_result answer = JOURNAL_OWNER_ALIVE;
    int fd = open_journal_file(folder, identity);

    if (fd < 0)
        return JOURNAL_UNKNOWN;
    if (flock(fd, LOCK_SH | LOCK_NB) == 0)
        answer = read_session_from_journal(fd, number, seq, arena, ret);
    close(fd);
    return answer;
}

static void delete_journal_if_outdated(int dir, const char *name, int64_t now_ms,
                                       struct arena *arena, struct list *ret)
{
    uint64_t identity;
    int fd;

    if (!str_starts_with(str_of(name), STR("ledger-")) ||
        !str_to_u64(str_skip_bytes(str_of(name), 7), &identity))
        return;
    fd = openat(dir, name, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0 && journal_is_outdated(fd, now_ms))
        unlinkat(dir, name, 0);
    else
        id_list_add(arena, ret, identity);
    if (fd >= 0)
        close(fd);
}

void delete_outdated_journals(const char *folder, int64_t now_ms, struct arena *arena,
                              struct list *ret)
{
    DIR *dir = opendir(folder);

    for (struct dirent *d; dir && (d = readdir(dir));)
        delete_journal_if_outdated(dirfd(dir), d->d_name, now_ms, arena, ret);
    if (dir)
        closedir(dir);
}
