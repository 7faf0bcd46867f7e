/* log_address.h - the address of a log entry: the guilds and users whose sessions receive its
 * events.
 *
 * Through NATS every node receives the address of each log entry, but only nodes with sessions of
 * these guilds or users receive the entry itself. Entries with a revocation, a voice change, a
 * session move or too many audiences have no address, and are sent to all nodes. */
#ifndef CLUSTER_LOG_ADDRESS_H
#define CLUSTER_LOG_ADDRESS_H

#include "cluster/log_entry.h"

enum {
    LOG_ADDRESS_KEYS_MAX = 4,
    LOG_ADDRESS_MAX_BYTES = (3 + LOG_ADDRESS_KEYS_MAX) * 8,
    /* Number of NATS subjects of entries; a hash of the guild or user selects the subject. */
    LOG_PARTS = 512,
};

struct log_entry_address {
    unsigned count; /* number of keys */
    uint64_t keys[LOG_ADDRESS_KEYS_MAX];
    /* number of events in the entry; an event in a private channel counts once per recipient */
    uint64_t events;
    uint64_t hash; /* hash_str of the encoded entry */
};

/* Returns the key of an audience: its id, with the audience kind in the two highest bits, which
 * snowflakes do not use. */
static inline uint64_t log_address_key(enum audience_kind kind, snowflake id)
{
    return id | (uint64_t)kind << 62;
}

static inline enum audience_kind log_address_get_kind_of_key(uint64_t key)
{
    return (enum audience_kind)(key >> 62);
}

static inline snowflake log_address_get_id_of_key(uint64_t key)
{
    return key & (UINT64_MAX >> 2);
}

/* Computes the address of an entry; `bytes` is its encoded form. Returns false if all nodes need
 * the entry. */
bool log_address_from_entry(const struct log_entry *f, struct str bytes,
                            struct log_entry_address *ret);
/* Lists the parts to which an entry with this address is published, and returns their number. If
 * the address has a guild, its users are ignored, because most nodes with sessions of these users
 * also have sessions of the guild; other nodes read the entry from the log. */
unsigned log_address_list_nats_parts(const struct log_entry_address *a,
                                     unsigned out[LOG_ADDRESS_KEYS_MAX]);
unsigned log_address_get_nats_part_of_key(uint64_t key);

void log_address_append(const struct log_entry_address *a, struct buf *out);
/* Decodes an address at the beginning of *bytes and removes it from there. Returns false if the
 * bytes are invalid. */
bool log_address_decode(struct str *bytes, struct log_entry_address *ret);

/* The column `recipients` of a row of the log: the part of each key, so that a query can select
 * entries by parts (log_follower.c), then the address. Unlike the parts to which an entry is
 * published, these are the parts of all keys: a node that needs the entry finds one of its own
 * parts. */
enum {
    LOG_RECIPIENTS_PARTS = LOG_ADDRESS_KEYS_MAX, /* two bytes each, high byte first */
    LOG_RECIPIENTS_MAX_BYTES = 2 * LOG_RECIPIENTS_PARTS + LOG_ADDRESS_MAX_BYTES,
};
/* The result is in the arena. */
struct str log_recipients_encode(const struct log_entry_address *a, struct arena *arena);
bool log_recipients_decode(struct str bytes, struct log_entry_address *ret);

#endif
