/* frames.h - what one transaction tells other servers, as bytes.
 *
 * The same bytes lie in the log and travel between servers. Events go by their names and
 * facts by their size, so a server that knows others refuses a frame instead of reading
 * something else into it. */
#ifndef CLUSTER_FRAMES_H
#define CLUSTER_FRAMES_H

#include "base/arena.h"
#include "model/events.h"
#include "model/voice_state.h"

/* A credential that is no longer good. */
struct forgotten {
    struct forgotten *next;
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
