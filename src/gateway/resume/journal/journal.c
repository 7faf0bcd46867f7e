/* journal.c - writes the journal of this process to a memory-mapped file. */
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
#include "gateway/sessions/gateway_loop.h"
#include "gateway/resume/journal/journal_file.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"

/* Disk space is allocated before it is written: a write to a mapped page without disk space kills
 * the process (SIGBUS). */
enum { SLOTS_ALLOCATED_AT_ONCE = 256 };

struct journal {
    char *path;
    int fd;
    struct journal_file_header *head; /* the mapped file */
    pthread_mutex_t lock;             /* protects the members below */
    /* indexes of journal slots that were used before and are free now */
    uint32_t *free;
    uint32_t free_count, used, allocated;
    bool full; /* the disk is full, which was already logged */
};

static char *journal_file_path(const char *folder, uint32_t identity)
{
    size_t n = strlen(folder) + JOURNAL_NAME_BYTES;
    char *path = mem_resize(NULL, n);

    snprintf(path, n, "%s/ledger-%" PRIu32, folder, identity);
    return path;
}

static bool journal_map_file(struct journal *l)
{
    size_t size = journal_slot_offset(JOURNAL_SLOTS_MAX);
    int failed = ftruncate(l->fd, 0) != 0 || ftruncate(l->fd, (off_t)size) != 0 ? errno : 0;
    void *at;

    if (!failed)
        failed = posix_fallocate(l->fd, 0, (off_t)journal_slot_offset(0));
    if (failed) {
        errno = failed;
        return false;
    }
    at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd, 0);
    if (at == MAP_FAILED)
        return false;
    l->head = at;
    read_kernel_boot_id(l->head->boot);
    atomic_store(&l->head->magic, JOURNAL_MAGIC);
    return true;
}

struct journal *journal_open(const char *folder, uint32_t identity)
{
    struct journal *l = mem_new(sizeof *l);

    mkdir(folder, 0700); /* fails if the folder exists already */
    l->path = journal_file_path(folder, identity);
    l->fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    pthread_mutex_init(&l->lock, NULL);
    l->free = mem_new(JOURNAL_SLOTS_MAX * sizeof *l->free);
    if (l->fd >= 0 && flock(l->fd, LOCK_EX | LOCK_NB) == 0 && journal_map_file(l))
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
        munmap(l->head, journal_slot_offset(JOURNAL_SLOTS_MAX));
    if (l->head) /* without a mapping, the journal file may belong to another process */
        unlink(l->path);
    if (l->fd >= 0)
        close(l->fd);
    pthread_mutex_destroy(&l->lock);
    mem_free(l->free);
    mem_free(l->path);
    mem_free(l);
}

_Atomic uint64_t *journal_loop_position(struct journal *l, unsigned hub)
{
    return l && hub < JOURNAL_LOOPS_MAX ? &l->head->loops[hub].position : NULL;
}

static struct journal_slot *journal_slot_at(struct journal *l, uint32_t i)
{
    return (struct journal_slot *)((char *)l->head + journal_slot_offset(i));
}

static uint32_t journal_slot_index(struct journal *l, const struct journal_slot *slot)
{
    return (uint32_t)(((const char *)slot - (const char *)l->head - journal_slot_offset(0)) /
                      JOURNAL_SLOT_BYTES);
}

/* Allocates disk space for journal slots. Needs the lock. Returns false if the disk is full. */
static bool journal_allocate_slots(struct journal *l)
{
    if (l->used < l->allocated)
        return true;
    if (l->used == JOURNAL_SLOTS_MAX ||
        posix_fallocate(l->fd, (off_t)journal_slot_offset(l->used),
                        (off_t)SLOTS_ALLOCATED_AT_ONCE * JOURNAL_SLOT_BYTES) != 0) {
        if (!l->full)
            log_warn("gateway: the journal %s is full; some sessions will not survive a crash",
                     l->path);
        l->full = true;
        return false;
    }
    l->allocated += SLOTS_ALLOCATED_AT_ONCE;
    return true;
}

static struct journal_slot *journal_acquire_slot(struct journal *l)
{
    struct journal_slot *slot = NULL;

    pthread_mutex_lock(&l->lock);
    if (l->free_count)
        slot = journal_slot_at(l, l->free[--l->free_count]);
    else if (journal_allocate_slots(l))
        slot = journal_slot_at(l, l->used++);
    pthread_mutex_unlock(&l->lock);
    return slot;
}

static void journal_record_all_guilds(struct journal_slot *slot, const struct session *s)
{
    const struct session_subscriptions *own = &s->subscriptions;

    slot->guilds = 0;
    for (uint32_t i = 0; i < own->count; i++)
        if (own->items[i]->topic->kind == AUDIENCE_GUILD)
            slot->guilds ^= journal_hash_guild(own->items[i]->topic->id);
}

/* While a session arrives, its subscriptions are not complete, so the slot keeps the former guilds
 * until journal_set_session_loop. */
void journal_record_guild_change(struct session *s, snowflake guild_id)
{
    if (!s->resume.slot || s->state == SESSION_ARRIVING || s->state == SESSION_RECOVERED)
        return;
    s->resume.slot->guilds ^= journal_hash_guild(guild_id);
    journal_replication_mark_session_unsent(s);
}

static void journal_slot_init(struct journal_slot *slot, const struct session *s)
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
    session_id_format(s, slot->id);
    memcpy(slot->client, session_get_client_name(s), strlen(session_get_client_name(s)) + 1);
    slot->first = s->seq;
    slot->base = s->resume.delivered_elsewhere;
    slot->loop_get_index = JOURNAL_IN_TRANSIT;
    slot->seq = s->seq;
    journal_record_all_guilds(slot, s);
}

void journal_add_session(struct session *s)
{
    struct journal *l = s->gateway_loop->gateway->journal;

    if (!l || s->resume.slot || !(s->resume.slot = journal_acquire_slot(l)))
        return;
    journal_slot_init(s->resume.slot, s);
    journal_record_presence(s);
    journal_record_session_tasks(s);
    atomic_store(&l->head->numbers[journal_slot_index(l, s->resume.slot)], s->number);
    journal_replication_mark_session_unsent(s);
}

void journal_remove_session(struct session *s)
{
    struct journal *l = s->gateway_loop->gateway->journal;

    journal_replication_record_session_end(s);
    if (!s->resume.slot)
        return;
    uint32_t slot = journal_slot_index(l, s->resume.slot);
    atomic_store(&l->head->numbers[slot], 0);
    pthread_mutex_lock(&l->lock);
    l->free[l->free_count++] = slot;
    pthread_mutex_unlock(&l->lock);
    s->resume.slot = NULL;
}

void journal_set_session_loop(struct session *s)
{
    struct journal_slot *slot = s->resume.slot;

    if (!slot)
        return;
    if (s->gateway_loop->position > slot->base)
        slot->base = s->gateway_loop->position;
    journal_record_all_guilds(slot, s);
    if (s->gateway_loop->resume.journal_position)
        atomic_store(&slot->loop_get_index, loop_get_index(s->gateway_loop->loop));
    journal_replication_mark_session_unsent(s);
}

void journal_set_session_in_transit(struct session *s)
{
    struct journal_slot *slot = s->resume.slot;

    if (!slot)
        return;
    if (s->gateway_loop->position > slot->base)
        slot->base = s->gateway_loop->position;
    atomic_store(&slot->loop_get_index, JOURNAL_IN_TRANSIT);
    journal_replication_send_session_now(s);
}

/* Records the activities of the session. If they are too long, the session's journal slot stays
 * marked as incomplete: after a crash the client must identify again. */
void journal_record_presence(struct session *s)
{
    struct journal_slot *slot = s->resume.slot;
    struct str activities = session_get_activities(s);

    if (!slot)
        return;
    journal_replication_mark_session_unsent(s);
    atomic_store(&slot->is_incomplete, 1);
    slot->status = s->presence.status;
    slot->presence_ms = session_presence_window_ms(s);
    if (activities.n > sizeof slot->presence)
        return;
    slot->presence_n = (uint32_t)activities.n;
    if (activities.n)
        memcpy(slot->presence, activities.p, activities.n);
    atomic_store(&slot->is_incomplete, 0);
}

/* Records the number of running tasks. The journal has no row ranges of member lists, so a session
 * with member list subscriptions is recorded like a session with a running task: it is not
 * recovered after a crash. */
void journal_record_session_tasks(struct session *s)
{
    if (!s->resume.slot)
        return;
    atomic_store(&s->resume.slot->tasks, session_count_tasks(s) + !linked_list_is_empty(&s->lists));
    journal_replication_mark_session_unsent(s);
}
