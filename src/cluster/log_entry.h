/* log_entry.h - encodes log entries: the events, revocations and voice changes that one transaction
 * sends to other nodes.
 *
 * The log and NATS carry the same bytes. Events are identified by name, and a node skips events
 * that its version of the program does not know. Routing fields are copied as raw structs, so nodes
 * with different struct layouts cannot run together (LOG_ENTRY_FORMAT). */
#ifndef CLUSTER_LOG_ENTRY_H
#define CLUSTER_LOG_ENTRY_H

#include "base/arena.h"
#include "model/events/events.h"
#include "model/events/event_routing.h"
#include "model/voice_state.h"
#include "net/address.h"

enum {
    LOG_ENTRY_VERSION = 3,
    LOG_ENTRY_FORMAT = LOG_ENTRY_VERSION << 16 | (int)sizeof(struct event_routing),
};

/* A revoked credential, or an address range that is banned or unbanned. Earlier versions of the
 * program decode an address range as an application that does not exist. */
struct revocation_record {
    struct revocation_record *next;
    enum { ADDRESSES_NONE, ADDRESSES_BANNED, ADDRESSES_LIFTED } addresses;
    struct ip_network network; /* address range; only set if `addresses` is not ADDRESSES_NONE */
    snowflake account;
    bool one; /* true: revokes one session; false: revokes all sessions of the account */
    unsigned char session[8];
    /* true: revokes credentials of OAuth2 applications, but not logins of the account. */
    bool applications_only;
    /* If not 0, all credentials of this application are revoked, and nothing else. */
    snowflake application;
};

/* A message about the move of a session to another node: the request for it, or the reply. */
struct session_move_message {
    enum session_move_kind { MOVE_REQUEST, MOVE_RELEASED, MOVE_REFUSED } kind;
    uint32_t from, to; /* node that the session leaves, and node to which it moves */
    uint64_t number;
    char id[33]; /* session_id of the client */
};

struct log_entry {
    uint32_t origin; /* identity of the node that committed the log entry */
    struct emitted_event *announced;
    struct revocation_record *revocations;
    /* move of a session; NULL if the entry moves no session */
    const struct session_move_message *move;
    const struct voice_state_change *voices;
};

/* Returns whether the entry must be written to the event log. This is false for an entry that has
 * only transient events. */
bool log_entry_must_be_stored(const struct log_entry *f);
/* Encodes a log entry. The result is allocated in the arena. */
struct str log_entry_encode(const struct log_entry *f, struct arena *arena);
/* Decodes a log entry. Returns false if the bytes are invalid or have another format version. The
 * result is in the arena and points into `bytes`. */
bool log_entry_decode(struct str bytes, struct arena *arena, struct log_entry *ret);

#endif
