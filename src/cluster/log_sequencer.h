/* log_sequencer.h - delivers the log entries of all nodes in the order of their positions.
 *
 * Each thread that has a log entry offers it to the sequencer: the thread that committed it, the
 * NATS thread, and the thread that reads the log. An entry is delivered when every earlier position
 * was delivered or is known to be aborted. Duplicates are ignored.
 *
 * If only the address of an entry is known (log_address.h) and this node does not need the entry,
 * the sequencer skips the entry when all earlier positions were handled. If this node needs the
 * entry, its position counts as missing until the entry is offered. */
#ifndef CLUSTER_LOG_SEQUENCER_H
#define CLUSTER_LOG_SEQUENCER_H

#include "cluster/log_address.h"

struct log_sequencer;

/* Functions that receive the log entries in the order of their positions. They are called one at a
 * time, with the sequencer's lock held, on the thread that made the last offer. */
struct log_entry_sink {
    void *arg;
    void (*deliver)(void *arg, int64_t position, const struct log_entry *f);
    /* Returns whether this node needs the log entry with this address. */
    bool (*needs)(void *arg, const struct log_entry_address *a);
    /* Called instead of deliver() for a log entry that this node does not need. */
    void (*pass_over)(void *arg, int64_t position, const struct log_entry_address *a);
};

struct log_sequencer *log_sequencer_new(const struct log_entry_sink *sink, int64_t next);
void log_sequencer_free(struct log_sequencer *l); /* accepts NULL */

/* Offers a log entry. If bytes.n is 0, the position was aborted. frame is the decoded entry, or
 * NULL. If earlier entries are missing, the bytes are copied. If the position is too far ahead, the
 * entry is ignored and must be offered again. */
void log_sequencer_offer_entry(struct log_sequencer *l, int64_t position, struct str bytes,
                               const struct log_entry *frame);
/* Offers a log entry that came through NATS. If it cannot be decoded, its position counts as
 * missing until the same entry was read from the log and offered. */
void log_sequencer_offer_entry_from_nats(struct log_sequencer *l, int64_t position,
                                         struct str bytes);
/* Offers the address of a committed log entry that came through NATS. bytes is the entry itself, or
 * empty. The sink must have the functions `needs` and `pass_over`. */
void log_sequencer_offer_address_of_entry(struct log_sequencer *l, int64_t position,
                                          const struct log_entry_address *a, struct str bytes);
/* Treats all missing positions up to `last` as aborted. Returns the number of these positions.
 * Stops at a position whose address was offered: its entry was committed and must still be read. */
uint64_t log_sequencer_abort_missing(struct log_sequencer *l, int64_t last);

/* Position of a delivered log entry, and a hash of its bytes, for comparison with the log. */
struct delivered_log_entry {
    int64_t position;
    uint64_t hash;
};
enum { DELIVERED_ENTRIES_RECORDED = 64 };
/* Turns on the list of delivered and skipped log entries. Must be called before the first offer. */
void log_sequencer_enable_delivered_list(struct log_sequencer *l);
/* Writes the last delivered log entries to an array, in order, and returns their number. */
size_t log_sequencer_list_delivered_entries(
    struct log_sequencer *l, struct delivered_log_entry out[DELIVERED_ENTRIES_RECORDED]);

/* Returns the number of log entries that could not be decoded and were skipped; they make the node
 * not ready (cluster_is_ready). */
uint64_t log_sequencer_unreadable_count(const struct log_sequencer *l);
/* Returns the log position that will be delivered next. */
int64_t log_sequencer_next_position(struct log_sequencer *l);
/* Returns the greatest position offered so far. If it is below log_sequencer_next_position, no log
 * entry is waiting. */
int64_t log_sequencer_greatest_position(struct log_sequencer *l);

#endif
