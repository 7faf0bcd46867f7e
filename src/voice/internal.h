/* internal.h - what the files of voice/ share. */
#ifndef VOICE_INTERNAL_H
#define VOICE_INTERNAL_H

#include "api/jobs/errand.h"
#include "base/links.h"
#include "voice/states.h"
#include "voice/voice.h"

/* --- orders.c: what sessions ask for -------------------------------------------------- */

/* Orders of one session are done one after the other, in the order they came. */
struct session_order {
    struct caller caller;
    uint64_t session; /* for to_session */
    struct str session_id;
    struct str address; /* of the session's socket */
    enum client_kind client;
    const void *d; /* of the row's type */

    /* Of what joins: where, and whether the session was told just now where its voice is,
     * so that it has to wait before it is told again. */
    snowflake place;  /* a person has one place (0), a bot one in each guild */
    snowflake target; /* the channel; 0: leaves */
    bool quiet;
    /* What came of it; written by run: VOICE_SERVER_UPDATE was sent, or would have been. */
    bool told, owed;

    /* orders.c's own */
    const struct voice_opcode *row;
    struct voice *voice;
    struct loop *loop;
    struct arena *arena;
    struct link link;
    struct deadline later;
    struct post post;
};

/* An opcode whose effect is ours. */
struct voice_opcode {
    int op;
    const struct type *type; /* of its data */
    /* Inside a write transaction; may run more than once. */
    enum err (*run)(struct call *call, struct session_order *o);
    /* NULL, or says place and target of what joins. */
    void (*aim)(struct session_order *o);
};

extern const struct voice_opcode voice_command_rows[]; /* end with .type == NULL */

/* It is known whether a session whose line was opened for that has something in voice. */
void voice_line_settle(struct voice *v, uint64_t session, bool found);

static inline bool order_is_bot(const struct session_order *o)
{
    return o->caller.kind == CALLER_BOT;
}

/* --- join.c: op 4 --------------------------------------------------------------------- */

struct voice_request {
    struct opt_id guild_id, channel_id;
    bool self_mute, self_deaf, self_video;
    struct opt_str preferred_region;
    struct opt_list preferred_regions; /* struct str */
    struct opt_int flags;
};
extern const struct type type_voice_request;

enum err update_voice_state(struct call *call, struct session_order *o);
void aim_voice_state(struct session_order *o);
/* Tells the session again where its voice is, if it is still there. */
enum err repeat_voice_server(struct call *call, struct session_order *o);

#endif
