/* internal.h - voice opcodes of gateway sessions; declarations that the files of voice/ share. */
#ifndef VOICE_INTERNAL_H
#define VOICE_INTERNAL_H

#include "api/jobs/internal_call.h"
#include "base/links.h"
#include "voice/states.h"
#include "voice/voice.h"

/* --- session_opcodes.c: opcodes of sessions ------------------------------------------- */

/* A queued opcode of a gateway session. The opcodes of a session run one at a time, in the order in
 * which they were received. */
struct session_opcode {
    struct caller caller;
    uint64_t session; /* session number, for audience_of_session */
    struct str session_id;
    struct str address; /* IP address of the session's client */
    enum client_kind client;
    const void *d; /* decoded payload, of the type voice_opcode_handler.type */

    /* Only for opcodes that join a channel. `quiet` is set if the rate limit delays
     * VOICE_SERVER_UPDATE. */
    snowflake rate_limit_id; /* key of the rate limit: 0 for a user, the guild id for a bot */
    snowflake target;        /* channel to join; 0 leaves voice */
    bool quiet;
    /* Results of voice_opcode_handler.run: VOICE_SERVER_UPDATE was sent; it must be sent later. */
    bool server_update_sent, server_update_delayed;

    /* private to session_opcodes.c */
    const struct voice_opcode_handler *row;
    struct voice_service *voice;
    struct loop *loop;
    struct arena *arena;
    struct list_link link;
    struct deadline delay;
    struct loop_message post;
};

/* A gateway opcode that voice/ handles. */
struct voice_opcode_handler {
    int op;
    const struct type *type; /* type of the payload */
    /* Handles the opcode in a write transaction, which the store may repeat. */
    enum err (*run)(struct call *call, struct session_opcode *o);
    /* Sets rate_limit_id and target. NULL for opcodes that join no channel. */
    void (*set_join_target)(struct session_opcode *o);
};

/* Table of voice opcodes; its last row has .type == NULL. */
extern const struct voice_opcode_handler voice_opcodes[];

/* Called when the reads are done that restore a resumed session's voice states from before a
 * restart. If found is false, frees the session's queue of opcodes. */
void session_opcodes_on_voice_states_restored(struct voice_service *v, uint64_t session,
                                              bool found);

static inline bool opcode_is_from_bot(const struct session_opcode *o)
{
    return o->caller.kind == CALLER_BOT;
}

/* --- join.c: op 4 --------------------------------------------------------------------- */

struct voice_state_request {
    struct opt_id guild_id, channel_id;
    bool self_mute, self_deaf, self_video;
    struct opt_str preferred_region;
    struct opt_list preferred_regions; /* struct str */
    struct opt_int flags;
};
extern const struct type type_voice_state_request;

enum err handle_voice_state_update_opcode(struct call *call, struct session_opcode *o);
void session_opcode_set_rate_limit_of_join(struct session_opcode *o);
/* Sends VOICE_SERVER_UPDATE again if the session is still in a voice channel. */
enum err resend_voice_server_update(struct call *call, struct session_opcode *o);

#endif
