/* voice_state.h - somebody in voice, and calls in private channels. */
#ifndef MODEL_VOICE_STATE_H
#define MODEL_VOICE_STATE_H

#include "model/member.h"

struct voice_state {
    struct opt_id guild_id;   /* null in private calls; absent inside a gateway guild */
    struct opt_id channel_id; /* null: left */
    snowflake user_id;
    const struct member *member; /* NULL in private calls and inside a gateway guild */
    struct str session_id;
    struct opt_int connected_at; /* seconds */
    bool deaf, mute, self_deaf, self_mute, self_stream, self_video, suppress;
    struct opt_int request_to_speak_timestamp;

    /* Not shown to anybody. */
    uint64_t session; /* for to_session */
    int64_t node, active_at;
    int64_t asked_at; /* when its session asked for the channel that it has a socket for, or 0 */
    struct str region, salt;
    bool live;                      /* a voice socket is open */
    bool priority;                  /* has PRIORITY_SPEAKER in its channel */
    struct opt_int flags, platform; /* of its client: VOICE_FLAGS, VOICE_DESKTOP or VOICE_MOBILE */
};

/* What clients may say of themselves: they keep clips, may be recorded, let viewers keep clips. */
enum { VOICE_FLAGS = 7 };
enum { VOICE_DESKTOP, VOICE_MOBILE };

/* What carries voice has to know of somebody, flat: a post may take it to another thread. */
enum { VOICE_SALT = 16 };
struct voice_fact {
    snowflake guild_id, user_id; /* guild_id 0: in a private call; a stream has its own. user_id 0:
                                  * the room is gone, whose people follow one by one */
    snowflake channel_id;        /* 0: gone */
    snowflake room_id;           /* who hears it: the channel, or those of a stream */
    unsigned char salt[VOICE_SALT]; /* another one: tokens and connections of before are void */
    bool speaks, hears;             /* may be heard, and may hear */
    bool films;                     /* its video may be seen */
    bool priority;                  /* may be heard over the others */
    struct opt_int flags, platform; /* as the state has them */
    uint64_t claim; /* number of the connection that was found good with it, or 0: of the server
                     * whose transaction it was (relay/relay.h) */
};
/* What a transaction says of people in voice, in its order. */
struct noted_voice {
    struct noted_voice *next;
    struct voice_fact fact;
};

/* Where a voice connection goes. */
struct voice_server {
    struct str token;
    struct opt_id guild_id;   /* null in private calls */
    struct opt_id channel_id; /* private calls only */
    struct opt_str endpoint;  /* host and path, without scheme; null: none now */
};

/* What a voice channel of a guild tells of itself. */
struct voice_room {
    snowflake id, guild_id;
    struct opt_str status;
    struct opt_int voice_start_time; /* seconds; null: nobody is there */
};

/* A call in a private channel. */
struct voice_call {
    snowflake channel_id, message_id;
    struct str region;
    struct list ringing;          /* snowflakes */
    struct opt_list voice_states; /* struct voice_state; CALL_CREATE alone */
};
struct voice_call_gone {
    snowflake channel_id;
};

/* The guild of a state, 0 in private calls, and its channel, 0 when it was left. */
static inline snowflake voice_guild(const struct voice_state *s)
{
    return s->guild_id.given == GIVEN ? s->guild_id.value : 0;
}
static inline snowflake voice_channel(const struct voice_state *s)
{
    return s->channel_id.given == GIVEN ? s->channel_id.value : 0;
}

/* As the state says; the salt of one that has none is zeros. */
struct voice_fact voice_fact_of(const struct voice_state *s);

extern const struct schema voice_state_schema, voice_server_schema;
extern const struct schema voice_call_schema;      /* CALL_CREATE, CALL_UPDATE */
extern const struct schema voice_call_gone_schema; /* CALL_DELETE */
extern const struct type type_voice_state, type_voice_states;

#endif
