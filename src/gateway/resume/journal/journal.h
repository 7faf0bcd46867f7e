/* journal.h - the last events that each session was sent, in a file that survives a crash.
 *
 * A client resumes with the seq of the last event that it has read. After a crash of the owner node
 * the journal maps that seq to a position of the event log, which has the later events. Each event
 * is recorded before its bytes go to the socket, so no client can have read more than the journal
 * has. The file is memory-mapped, so it has every record, however the process ended. The process
 * locks the file while it runs: if another process can lock the file, its owner is dead.
 *
 * If the journal cannot tell exactly which events a session missed, the session is invalid (op 9).
 * The command-line option and the files are called ledger. */
#ifndef GATEWAY_RESUME_JOURNAL_JOURNAL_H
#define GATEWAY_RESUME_JOURNAL_JOURNAL_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/str.h"
#include "json/schema.h"

struct gateway_loop;
struct journal;
struct gateway_event;
struct session;

enum {
    /* number of events in journal_slot.sent; a client may have missed up to 255 */
    JOURNAL_SENT_MAX = 256,
    /* Maximum length of activities; sessions with longer activities are not recovered. */
    JOURNAL_PRESENCE_BYTES = 1536,
    JOURNAL_SLOT_BYTES = 4096,
    /* Value of journal_slot.loop_get_index while the session moves between two event loops. */
    JOURNAL_IN_TRANSIT = 0xffffffff,
};

/* Numbers recorded for dispatches that are not in the event log. NUMBER_TRANSIENT: the dispatch may
 * be lost. NUMBER_RESPONSE: the dispatch is the response to a request of the client. */
enum { NUMBER_TRANSIENT = 0, NUMBER_RESPONSE = 1 };

/* The record of one session in the journal file. */
struct journal_slot {
    /* The next fields, up to `client`, come from IDENTIFY. */
    uint64_t user_id, caller_kind, presences, intents, shard_id, shard_count, status, client_kind;
    int64_t capabilities, large_threshold, presence_ms;
    char id[40], client[64];
    /* The members from here on change. */
    /* set during a write, or if the activities are too long for the slot */
    _Atomic uint32_t is_incomplete;
    /* Number of running session tasks; dispatches of tasks are not in the event log. */
    _Atomic uint32_t tasks;
    /* Index of the loop whose event position applies to the session, or JOURNAL_IN_TRANSIT. */
    _Atomic uint32_t loop_get_index;
    uint32_t presence_n;
    uint64_t first;  /* seq of the first dispatch whose event number is in this journal slot */
    uint64_t base;   /* all events up to this number were sent to the client or are in `sent` */
    uint64_t guilds; /* XOR of journal_hash_guild of the session's guilds */
    _Atomic uint64_t seq; /* seq of the last recorded dispatch */
    char presence[JOURNAL_PRESENCE_BYTES];
    /* event numbers of the last dispatches; the index is seq modulo JOURNAL_SENT_MAX */
    uint64_t sent[JOURNAL_SENT_MAX];
};

/* --- the journal of this process ------------------------------------------------------ */

/* Creates the journal file of this process. Returns NULL on failure, and logs the reason. */
struct journal *journal_open(const char *folder, uint32_t identity);
/* Deletes the journal file, because no session needs it any more. Accepts NULL. */
void journal_close(struct journal *l);

/* Reserves a slot for the session, if the file has a free one. From now on the session's dispatches
 * are recorded. The slot begins in the state JOURNAL_IN_TRANSIT. */
void journal_add_session(struct session *s);
/* A loop's event position is the number of the last event that the loop has delivered. After
 * journal_set_session_loop the event position of the session's loop applies to the session. After
 * journal_set_session_in_transit, which must precede a move, no loop's position applies. */
void journal_set_session_loop(struct session *s);
void journal_set_session_in_transit(struct session *s);
void journal_record_presence(struct session *s);
void journal_record_session_tasks(struct session *s);
/* Records that the session has joined or left a guild. */
void journal_record_guild_change(struct session *s, snowflake guild_id);
void journal_remove_session(struct session *s);
/* Returns the address of a loop's event position in the journal file, or NULL without a journal. */
_Atomic uint64_t *journal_loop_position(struct journal *l, unsigned hub);

static inline uint64_t journal_hash_guild(snowflake guild_id)
{
    return hash_u64(guild_id);
}

/* Records a dispatch. The process may be killed between any two of these statements. The entry of
 * `sent` for the next seq then has a number that is not valid yet, or an old number that `base`
 * already includes. */
static inline void journal_record_dispatch(struct journal_slot *slot, uint64_t seq, uint64_t number)
{
    uint64_t next = slot->sent[(seq + 1) % JOURNAL_SENT_MAX];

    if (next > slot->base)
        slot->base = next;
    slot->sent[seq % JOURNAL_SENT_MAX] = number;
    atomic_store_explicit(&slot->seq, seq, memory_order_release);
}

/* --- journals of dead processes ------------------------------------------------------- */

enum journal_find_result {
    JOURNAL_UNKNOWN,     /* this machine has no reliable journal file of the node */
    JOURNAL_OWNER_ALIVE, /* the owner process is alive */
    /* the node does not reply, and the replica of its journal lacks the client's seq */
    JOURNAL_SEQ_MISSING,
    JOURNAL_UNUSABLE, /* the node does not reply, and the replica of its journal is unusable */
    /* The node's process is dead, but its journal is not sufficient to recover the session. */
    JOURNAL_INSUFFICIENT,
    JOURNAL_FOUND,
};

struct found_journal_session {
    struct journal_slot *slot; /* copy of the session's journal slot, in the arena */
    /* Number of an event: all events up to it were sent to the session or do not concern it. */
    uint64_t seen;
};

/* Finds a session in the journal of node `identity`, for a client that has read up to `seq`. */
enum journal_find_result journal_find_session(const char *folder, uint32_t identity,
                                              uint64_t number, uint64_t seq, struct arena *arena,
                                              struct found_journal_session *ret);
/* Returns the number of an event: all events up to it were sent or do not concern the session. */
uint64_t journal_slot_last_sent_event(const struct journal_slot *slot, uint64_t hub_position);
/* Sets *ret to the number of an event: a client that has read up to `seq` has all its events up to
 * that event. Returns false if the journal slot does not go back that far. */
bool journal_slot_find_last_event_before_seq(const struct journal_slot *slot, uint64_t hub_position,
                                             uint64_t seq, uint64_t *ret);
/* Deletes journal files of processes that have been dead for longer than a session can be resumed.
 * Sets *ret to the node identities (snowflake) of the remaining files. */
void delete_outdated_journals(const char *folder, int64_t now_ms, struct arena *arena,
                              struct list *ret);

#endif
