/* journal.c - which event each session was told last: written. */
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

/* Room on the disk is taken before it is written to: a mapped page that has none kills. */
enum { SLOTS_AT_ONCE = 256 };

struct ledger {
    char *path;
    int fd;
    struct ledger_head *head; /* the whole file */
    pthread_mutex_t lock;     /* of what follows */
    uint32_t *free;           /* slots that were used and are not any more */
    uint32_t free_count, used, roomy;
    bool full; /* and that was said */
};

/* --- the file ------------------------------------------------------------------------- */

static char *ledger_path(const char *folder, uint32_t identity)
{
    size_t n = strlen(folder) + LEDGER_NAME;
    char *path = mem_resize(NULL, n);

    snprintf(path, n, "%s/ledger-%" PRIu32, folder, identity);
    return path;
}

static bool ledger_map(struct ledger *l)
{
    size_t size = ledger_offset(LEDGER_SLOTS);
    int failed = ftruncate(l->fd, 0) != 0 || ftruncate(l->fd, (off_t)size) != 0 ? errno : 0;
    void *at;

    if (!failed)
        failed = posix_fallocate(l->fd, 0, (off_t)ledger_offset(0));
    if (failed) {
        errno = failed;
        return false;
    }
    at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd, 0);
    if (at == MAP_FAILED)
        return false;
    l->head = at;
    ledger_boot(l->head->boot);
    atomic_store(&l->head->magic, LEDGER_MAGIC);
    return true;
}

struct ledger *ledger_open(const char *folder, uint32_t identity)
{
    struct ledger *l = mem_new(sizeof *l);

    mkdir(folder, 0700); /* it may be there */
    l->path = ledger_path(folder, identity);
    l->fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    pthread_mutex_init(&l->lock, NULL);
    l->free = mem_new(LEDGER_SLOTS * sizeof *l->free);
    if (l->fd >= 0 && flock(l->fd, LOCK_EX | LOCK_NB) == 0 && ledger_map(l))
        return l;
    log_warn("gateway: %s: %s; sessions will not outlive a server that is killed", l->path,
             strerror(errno));
    ledger_close(l);
    return NULL;
}

void ledger_close(struct ledger *l)
{
    if (!l)
        return;
    if (l->head)
        munmap(l->head, ledger_offset(LEDGER_SLOTS));
    if (l->head) /* else it may be somebody else's */
        unlink(l->path);
    if (l->fd >= 0)
        close(l->fd);
    pthread_mutex_destroy(&l->lock);
    mem_free(l->free);
    mem_free(l->path);
    mem_free(l);
}

_Atomic uint64_t *ledger_hub(struct ledger *l, unsigned hub)
{
    return l && hub < LEDGER_HUBS ? &l->head->hubs[hub].position : NULL;
}

/* --- slots ---------------------------------------------------------------------------- */

static struct ledger_slot *slot_at(struct ledger *l, uint32_t i)
{
    return (struct ledger_slot *)((char *)l->head + ledger_offset(i));
}

static uint32_t slot_index(struct ledger *l, const struct ledger_slot *slot)
{
    return (uint32_t)(((const char *)slot - (const char *)l->head - ledger_offset(0)) /
                      LEDGER_SLOT);
}

/* With the lock. False: the disk has no room. */
static bool make_roomy(struct ledger *l)
{
    if (l->used < l->roomy)
        return true;
    if (l->used == LEDGER_SLOTS || posix_fallocate(l->fd, (off_t)ledger_offset(l->used),
                                                   (off_t)SLOTS_AT_ONCE * LEDGER_SLOT) != 0) {
        if (!l->full)
            log_warn("gateway: %s has no room; some sessions will not outlive a server that is "
                     "killed",
                     l->path);
        l->full = true;
        return false;
    }
    l->roomy += SLOTS_AT_ONCE;
    return true;
}

static struct ledger_slot *slot_take(struct ledger *l)
{
    struct ledger_slot *slot = NULL;

    pthread_mutex_lock(&l->lock);
    if (l->free_count)
        slot = slot_at(l, l->free[--l->free_count]);
    else if (make_roomy(l))
        slot = slot_at(l, l->used++);
    pthread_mutex_unlock(&l->lock);
    return slot;
}

static void slot_fill(struct ledger_slot *slot, const struct session *s)
{
    memset(slot, 0, sizeof *slot);
    slot->user_id = s->caller.id;
    slot->caller_kind = (uint64_t)s->caller.kind;
    slot->presences = s->presences;
    slot->intents = s->intents;
    slot->shard_id = s->shard_id;
    slot->shard_count = s->shard_count;
    slot->client_kind = s->kind;
    slot->capabilities = s->capabilities;
    slot->large_threshold = s->large_threshold;
    session_id_write(s, slot->id);
    memcpy(slot->client, session_client(s), strlen(session_client(s)) + 1);
    slot->first = s->seq;
    slot->base = s->seen;
    slot->hub = LEDGER_AWAY;
    slot->seq = s->seq;
}

void ledger_take(struct session *s)
{
    struct ledger *l = s->hub->gateway->ledger;

    if (!l || s->ledger || !(s->ledger = slot_take(l)))
        return;
    slot_fill(s->ledger, s);
    ledger_note_presence(s);
    ledger_note_errands(s);
    atomic_store(&l->head->numbers[slot_index(l, s->ledger)], s->number);
    ledger_copies_mark_whole(s);
}

void ledger_drop(struct session *s)
{
    struct ledger *l = s->hub->gateway->ledger;

    ledger_copies_end(s);
    if (!s->ledger)
        return;
    uint32_t slot = slot_index(l, s->ledger);
    atomic_store(&l->head->numbers[slot], 0);
    pthread_mutex_lock(&l->lock);
    l->free[l->free_count++] = slot;
    pthread_mutex_unlock(&l->lock);
    s->ledger = NULL;
}

/* --- what changes --------------------------------------------------------------------- */

void ledger_settle(struct session *s)
{
    struct ledger_slot *slot = s->ledger;

    if (!slot)
        return;
    if (s->hub->position > slot->base)
        slot->base = s->hub->position;
    if (s->hub->ledger_at)
        atomic_store(&slot->hub, loop_index(s->hub->loop));
    ledger_copies_mark_whole(s);
}

void ledger_unsettle(struct session *s)
{
    struct ledger_slot *slot = s->ledger;

    if (!slot)
        return;
    if (s->hub->position > slot->base)
        slot->base = s->hub->position;
    atomic_store(&slot->hub, LEDGER_AWAY);
    ledger_copies_write_now(s);
}

/* One that is too long leaves the slot torn: its client begins anew rather than be shown as
 * somebody who does nothing. */
void ledger_note_presence(struct session *s)
{
    struct ledger_slot *slot = s->ledger;
    struct str activities = session_activities(s);

    if (!slot)
        return;
    ledger_copies_mark_whole(s);
    atomic_store(&slot->torn, 1);
    slot->status = s->status;
    slot->presence_ms = session_presence_ms(s);
    if (activities.n > sizeof slot->presence)
        return;
    slot->presence_n = (uint32_t)activities.n;
    if (activities.n)
        memcpy(slot->presence, activities.p, activities.n);
    atomic_store(&slot->torn, 0);
}

/* Member lists are answers that go on: which ones, is noted nowhere. */
void ledger_note_errands(struct session *s)
{
    if (!s->ledger)
        return;
    atomic_store(&s->ledger->errands, session_errand_count(s) + !links_empty(&s->lists));
    ledger_copies_mark_whole(s);
}
