/* journal.h - which event each session was told last, in a file that outlives its process.
 *
 * A client comes back with the number of the last event that it has read. When the process that
 * had its session was killed, the ledger says where that was in the log, and the log has what
 * follows. Every event that a session is told is noted before its bytes go to the socket, so no
 * client can have read more than is noted. The file is mapped: what was noted is there for
 * whoever opens it next, however the process ended. While the process lives it holds a lock on the
 * file; who can lock it knows that the process is gone.
 *
 * Where the ledger cannot tell exactly what a session is owed it says so, and the session is over
 * (op 9). */
#ifndef GATEWAY_RESUME_JOURNAL_JOURNAL_H
#define GATEWAY_RESUME_JOURNAL_JOURNAL_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/str.h"
#include "json/schema.h"

struct hub;
struct ledger;
struct news;
struct session;

enum {
    LEDGER_TOLD = 256,      /* one more than the unread events that a session can have */
    LEDGER_PRESENCE = 1536, /* bytes of activities; a session with more is not kept */
    LEDGER_SLOT = 4096,
    LEDGER_AWAY = 0xffffffff, /* instead of a hub: on its way between two */
};

/* What was told, when it was not an event with a number. */
enum { TOLD_FLEETING = 0, TOLD_ANSWER = 1 };

/* What stands in the file of one session. */
struct ledger_slot {
    /* As it identified. */
    uint64_t user_id, caller_kind, presences, intents, shard_id, shard_count, status, client_kind;
    int64_t capabilities, large_threshold, presence_ms;
    char id[40], client[64];
    /* What changes. */
    _Atomic uint32_t torn;    /* something here is being written */
    _Atomic uint32_t errands; /* what it is owed by these is noted nowhere */
    _Atomic uint32_t hub;     /* whose position is the session's too, or LEDGER_AWAY */
    uint32_t presence_n;
    uint64_t first;       /* what it was told up to this one is not known */
    uint64_t base;        /* it has been told everything up to this number that is not in `told` */
    _Atomic uint64_t seq; /* the last that was noted */
    char presence[LEDGER_PRESENCE];
    uint64_t told[LEDGER_TOLD]; /* numbers of events, by seq */
};

/* --- of this process ------------------------------------------------------------------ */

/* NULL: there will be none, which is logged. */
struct ledger *ledger_open(const char *folder, uint32_t identity);
/* Accepts NULL. Nobody needs it any more. */
void ledger_close(struct ledger *l);

/* From now on what the session is told is noted, as far as there is room. The first of these:
 * it is on its way to its hub. */
void ledger_take(struct session *s);
/* It has been told all that its hub has been through; or that may not be so from now on. */
void ledger_settle(struct session *s);
void ledger_unsettle(struct session *s);
void ledger_note_presence(struct session *s);
void ledger_note_errands(struct session *s);
void ledger_drop(struct session *s);
/* Where the position of a hub stands in the file; NULL: nowhere. */
_Atomic uint64_t *ledger_hub(struct ledger *l, unsigned hub);

/* What a session is told next. The process may be killed between any two of these lines: what
 * stands one beyond the last seq is then a number that does not count yet, or an old one that is
 * already in the base. */
static inline void ledger_note(struct ledger_slot *slot, uint64_t seq, uint64_t number)
{
    uint64_t next = slot->told[(seq + 1) % LEDGER_TOLD];

    if (next > slot->base)
        slot->base = next;
    slot->told[seq % LEDGER_TOLD] = number;
    atomic_store_explicit(&slot->seq, seq, memory_order_release);
}

/* --- of processes that are gone ------------------------------------------------------- */

enum ledger_answer {
    LEDGER_UNKNOWN, /* there is no such file here that could be relied on */
    LEDGER_LIVES,   /* the process does */
    LEDGER_SHORT,   /* it is silent, and what is kept of the session ends before, or begins after */
    LEDGER_UNFIT,   /* it is silent, and what is kept of the session is of no use */
    LEDGER_GONE,    /* it does not, and what it knew of the session was not enough */
    LEDGER_FOUND,
};

struct ledger_entry {
    struct ledger_slot *slot; /* in the arena */
    uint64_t seen;            /* the session was told, or was not to be told, all up to this one */
};

/* A session of such a process, whose client has read up to a seq. */
enum ledger_answer ledger_find(const char *folder, uint32_t identity, uint64_t number, uint64_t seq,
                               struct arena *arena, struct ledger_entry *ret);
/* All up to this event the session was told, or was not to be told, when it was last noted. */
uint64_t ledger_slot_read(const struct ledger_slot *slot, uint64_t hub_position);
/* The rule itself. False: nobody knows. */
bool ledger_slot_seen(const struct ledger_slot *slot, uint64_t hub_position, uint64_t seq,
                      uint64_t *ret);
/* Drops files of processes that are gone for longer than a session may be away; *ret has the
 * identities (snowflake) of the others. */
void ledgers_tidy(const char *folder, int64_t now_ms, struct arena *arena, struct list *ret);

#endif
