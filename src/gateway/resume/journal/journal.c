/* journal.c - writes the journal of this process to its mapped file. */
#include "gateway/resume/journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/hub.h"
#include "gateway/resume/journal/journal_file.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"

/* Disk space is allocated before it is written to: a write to a mapped page without disk space
 * kills the process (SIGBUS). */
enum { SLOTS_AT_ONCE = 256 };

struct journal {
    char *path;
    int fd;
    struct journal_head *head; /* the mapped file */
    pthread_mutex_t lock;      /* protects the members below */
    uint32_t *free;            /* indexes of slots that are free again */
    uint32_t free_count, used, allocated;
    bool full; /* the disk is full, which was logged */
};

static char *journal_path(const char *folder, uint32_t identity)
{
    size_t n = strlen(folder) + JOURNAL_NAME;
    char *path = mem_resize(NULL, n);

    snprintf(path, n, "%s/ledger-%" PRIu32, folder, identity);
    return path;
}

static bool journal_map(struct journal *l)
{
    size_t size = journal_offset(JOURNAL_SLOTS);
    int failed = ftruncate(l->fd, 0) != 0 || ftruncate(l->fd, (off_t)size) != 0 ? errno : 0;
    void *at;

    if (!failed)
        failed = posix_fallocate(l->fd, 0, (off_t)journal_offset(0));
    if (failed) {
        errno = failed;
        return false;
    }
    at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd, 0);
    if (at == MAP_FAILED)
        return false;
    l->head = at;
    journal_boot_id(l->head->boot);
    atomic_store(&l->head->magic, JOURNAL_MAGIC);
    return true;
}

struct journal *journal_open(const char *folder, uint32_t identity)
{
    struct journal *l = mem_new(sizeof *l);

    mkdir(folder, 0700); /* fails if the folder exists */
    l->path = journal_path(folder, identity);
    l->fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    pthread_mutex_init(&l->lock, NULL);
    l->free = mem_new(JOURNAL_SLOTS * sizeof *l->free);
    if (l->fd >= 0 && flock(l->fd, LOCK_EX | LOCK_NB) == 0 && journal_map(l))
        return l;
    log_warn("gateway: cannot open the journal %s: %s; sessions will not survive a crash", l->path,
             strerror(errno));
    journal_close(l);
    return NULL;
}

void journal_close(struct journal *l)
{
    if (!l)
        return;
    if (l->head)
        munmap(l->head, journal_offset(JOURNAL_SLOTS));
    if (l->head) /* else another process may own the file */
        unlink(l->path);
    if (l->fd >= 0)
        close(l->fd);
    pthread_mutex_destroy(&l->lock);
    mem_free(l->free);
    mem_free(l->path);
    mem_free(l);
}

_Atomic uint64_t *journal_hub_position(struct journal *l, unsigned hub)
{
    return l && hub < JOURNAL_HUBS ? &l->head->hubs[hub].position : NULL;
}

static struct journal_slot *slot_at(struct journal *l, uint32_t i)
{
    return (struct journal_slot *)((char *)l->head + journal_offset(i));
}

static uint32_t slot_index(struct journal *l, const struct journal_slot *slot)
{
    return (uint32_t)(((const char *)slot - (const char *)l->head - journal_offset(0)) /
                      JOURNAL_SLOT);
}

/* Needs the lock. Returns false if the disk is full. */
static bool slots_allocate(struct journal *l)
{
    if (l->used < l->allocated)
        return true;
    if (l->used == JOURNAL_SLOTS || posix_fallocate(l->fd, (off_t)journal_offset(l->used),
                                                    (off_t)SLOTS_AT_ONCE * JOURNAL_SLOT) != 0) {
        if (!l->full)
            log_warn("gateway: %s has no room; some sessions will not outlive a server that is "
                     "killed",
                     l->path);
        l->full = true;
        return false;
    }
    l->allocated += SLOTS_AT_ONCE;
    return true;
}

static struct journal_slot *slot_take(struct journal *l)
{
    struct journal_slot *slot = NULL;

    pthread_mutex_lock(&l->lock);
    if (l->free_count)
        slot = slot_at(l, l->free[--l->free_count]);
    else if (slots_allocate(l))
        slot = slot_at(l, l->used++);
    pthread_mutex_unlock(&l->lock);
    return slot;
}

static void slot_fill(struct journal_slot *slot, const struct session *s)
{
    memset(slot, 0, sizeof *slot);
    slot->user_id = s->caller.id;
    slot->caller_kind = (uint64_t)s->caller.kind;
    slot->presences = s->presences;
    slot->intents = s->options.intents;
    slot->shard_id = s->options.shard_id;
    slot->shard_count = s->options.shard_count;
    slot->client_kind = s->presence.kind;
    slot->capabilities = s->options.capabilities;
    slot->large_threshold = s->large_threshold;
    session_id_write(s, slot->id);
    memcpy(slot->client, session_client(s), strlen(session_client(s)) + 1);
    slot->first = s->seq;
    slot->base = s->resume.seen;
    slot->hub = JOURNAL_IN_TRANSIT;
    slot->seq = s->seq;
}

void journal_begin(struct session *s)
{
    struct journal *l = s->hub->gateway->journal;

    if (!l || s->resume.slot || !(s->resume.slot = slot_take(l)))
        return;
    slot_fill(s->resume.slot, s);
    journal_note_presence(s);
    journal_note_errands(s);
    atomic_store(&l->head->numbers[slot_index(l, s->resume.slot)], s->number);
    replication_mark_all(s);
}

void journal_end(struct session *s)
{
    struct journal *l = s->hub->gateway->journal;

    replication_end_session(s);
    if (!s->resume.slot)
        return;
    uint32_t slot = slot_index(l, s->resume.slot);
    atomic_store(&l->head->numbers[slot], 0);
    pthread_mutex_lock(&l->lock);
    l->free[l->free_count++] = slot;
    pthread_mutex_unlock(&l->lock);
    s->resume.slot = NULL;
}

void journal_settle(struct session *s)
{
    struct journal_slot *slot = s->resume.slot;

    if (!slot)
        return;
    if (s->hub->position > slot->base)
        slot->base = s->hub->position;
    if (s->hub->resume.journal_position)
        atomic_store(&slot->hub, loop_index(s->hub->loop));
    replication_mark_all(s);
}

void journal_unsettle(struct session *s)
{
    struct journal_slot *slot = s->resume.slot;

    if (!slot)
        return;
    if (s->hub->position > slot->base)
        slot->base = s->hub->position;
    atomic_store(&slot->hub, JOURNAL_IN_TRANSIT);
    replication_send_now(s);
}

/* If the activities are too long, the slot stays marked as torn: after a crash the client has to
 * identify again, instead of being shown without activities. */
void journal_note_presence(struct session *s)
{
    struct journal_slot *slot = s->resume.slot;
    struct str activities = session_activities(s);

    if (!slot)
        return;
    replication_mark_all(s);
    atomic_store(&slot->torn, 1);
    slot->status = s->presence.status;
    slot->presence_ms = session_presence_ms(s);
    if (activities.n > sizeof slot->presence)
        return;
    slot->presence_n = (uint32_t)activities.n;
    if (activities.n)
        memcpy(slot->presence, activities.p, activities.n);
    atomic_store(&slot->torn, 0);
}

/* A member list counts as a running task, because the journal does not store its row ranges. */
void journal_note_errands(struct session *s)
{
    if (!s->resume.slot)
        return;
    atomic_store(&s->resume.slot->errands, session_errand_count(s) + !links_empty(&s->lists));
    replication_mark_all(s);
}
