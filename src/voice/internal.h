/* internal.h - queued opcodes of sessions and op 4, shared by the files of voice/. */
#ifndef VOICE_INTERNAL_H
#define VOICE_INTERNAL_H

#include "api/jobs/errand.h"
#include "base/links.h"
#include "voice/states.h"
#include "voice/voice.h"

/* --- orders.c: opcodes of sessions ---------------------------------------------------- */

/* A queued opcode of a session. The opcodes of a session run one after the other, in the order
 * received. */
struct session_order {
    struct caller caller;
    uint64_t session; /* session number, for to_session */
    struct str session_id;
    struct str address; /* address of the session's socket */
    enum client_kind client;
    const void *d; /* decoded payload, of the row's type */

    /* For joins: the channel, and whether the next VOICE_SERVER_UPDATE has to wait (rate limit). */
    snowflake place;  /* id of the rate limit: 0 for a user, the guild for a bot */
    snowflake target; /* channel to join; 0: leave */
    bool quiet;
    /* Set by run: VOICE_SERVER_UPDATE was sent, or is delayed. */
    bool told, owed;

    /* private to orders.c */
    const struct voice_opcode *row;
    struct voice *voice;
    struct loop *loop;
    struct arena *arena;
    struct link link;
    struct deadline later;
    struct post post;
};

/* A gateway opcode that this folder handles. */
struct voice_opcode {
    int op;
    const struct type *type; /* type of the payload */
    /* Runs inside a write transaction; may be repeated. */
    enum err (*run)(struct call *call, struct session_order *o);
    /* Sets place and target of a join; NULL: the opcode is no join. */
    void (*aim)(struct session_order *o);
};

extern const struct voice_opcode voice_command_rows[]; /* the last row has .type == NULL */

/* Call it when it is known whether a session has voice states after a restart (line_open). found
 * false: the session's queue is freed. */
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
/* Sends VOICE_SERVER_UPDATE again if the session is still in voice. */
enum err repeat_voice_server(struct call *call, struct session_order *o);

#endif
