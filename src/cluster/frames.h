/* frames.h - encodes what one transaction sends to other nodes: events, revocations, voice
 * changes.
 *
 * The log and NATS carry the same bytes. Events are identified by name; a node skips events that
 * only a newer version knows. Routing fields are copied as raw structs, so nodes with another
 * struct layout cannot run together (FRAME_FORMAT). */
#ifndef CLUSTER_FRAMES_H
#define CLUSTER_FRAMES_H

#include "base/arena.h"
#include "model/events/events.h"
#include "model/events/event_routing.h"
#include "model/voice_state.h"
#include "net/address.h"

enum {
    FRAME_VERSION = 3,
    FRAME_FORMAT = FRAME_VERSION << 16 | (int)sizeof(struct event_routing),
};

/* A revoked credential, or a range of addresses that is banned or unbanned. Earlier versions decode
 * a range as an application that does not exist. */
struct revocation_record {
    struct revocation_record *next;
    enum { ADDRESSES_NONE, ADDRESSES_BANNED, ADDRESSES_LIFTED } addresses;
    struct network network; /* only set with `addresses` */
    snowflake account;
    bool one; /* only this session, not all sessions */
    unsigned char session[8];
    bool applications_only; /* only credentials of applications, not logins of the account */
    snowflake application;  /* all credentials of this application instead; 0: none */
};

/* A request for a session of another node, or the reply. */
struct session_move {
    enum session_move_kind { MOVE_REQUEST, MOVE_RELEASED, MOVE_REFUSED } kind;
    uint32_t from, to; /* identities of the two nodes */
    uint64_t number;
    char id[33]; /* session_id, as the client knows it */
};

struct frame {
    uint32_t origin; /* identity of the node that committed the frame */
    struct emitted_event *announced;
    struct revocation_record *revocations;
    const struct session_move *move; /* or NULL */
    const struct voice_change *voices;
};

/* Returns whether other nodes need the frame: a frame with transient events only is not written
 * to the log. */
bool frame_needs_log(const struct frame *f);
/* The result is in the arena. */
struct str frame_encode(const struct frame *f, struct arena *arena);
/* Returns false for invalid bytes or another version. The result is in the arena and points into
 * bytes. */
bool frame_decode(struct str bytes, struct arena *arena, struct frame *ret);

#endif
