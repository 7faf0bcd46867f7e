/* frames.h - what one transaction tells other servers, as bytes.
 *
 * The same bytes lie in the log and travel between servers. Events go by their names: one that
 * a server does not know, because a newer one tells it, is left out. Facts go as they are, so
 * servers that lay them out in another way do not run side by side (FRAME_FORMAT). */
#ifndef CLUSTER_FRAMES_H
#define CLUSTER_FRAMES_H

#include "base/arena.h"
#include "model/events/events.h"
#include "model/events/facts.h"
#include "model/voice_state.h"
#include "net/address.h"

enum {
    FRAME_VERSION = 3,
    FRAME_FORMAT = FRAME_VERSION << 16 | (int)sizeof(struct facts),
};

/* A credential that is no longer good, or a range of addresses that is banned or is not any more.
 * Servers of earlier versions read a range as an application that does not exist. */
struct forgotten {
    struct forgotten *next;
    enum { ADDRESSES_NONE, ADDRESSES_BANNED, ADDRESSES_LIFTED } addresses;
    struct network network; /* with addresses alone */
    snowflake account;
    bool one; /* that session, not all */
    unsigned char session[8];
    bool of_apps;          /* not what the account itself logged in with */
    snowflake application; /* instead: all that this one holds; 0: none */
};

/* A session that one server wants from another, or that is there for it. */
struct session_move {
    enum session_move_kind { MOVE_ASK, MOVE_GIVEN, MOVE_GONE } kind;
    uint32_t from, to; /* identities of the two servers */
    uint64_t number;
    char id[33]; /* of the session, as its client knows it */
};

struct frame {
    uint32_t origin; /* identity of the server whose commit it is */
    struct announcement *announced;
    struct forgotten *forgotten;
    const struct session_move *move; /* or NULL */
    const struct noted_voice *voices;
};

/* Whether others have to hear of it at all: what only fleeting events would say is not kept. */
bool frame_is_needed(const struct frame *f);
/* The bytes lie in the arena. */
struct str frame_encode(const struct frame *f, struct arena *arena);
/* False: they are not such bytes, or of another version. What is returned lives in the arena
 * and refers to the bytes. */
bool frame_decode(struct str bytes, struct arena *arena, struct frame *ret);

#endif
