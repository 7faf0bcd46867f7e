/* voice_state.h - voice states, voice servers, and calls in private channels. */
#ifndef MODEL_VOICE_STATE_H
#define MODEL_VOICE_STATE_H

#include "model/member.h"

struct voice_state {
    struct opt_id guild_id;   /* null in calls; absent in GUILD_CREATE */
    struct opt_id channel_id; /* null: left */
    snowflake user_id;
    const struct member *member; /* NULL in calls and in GUILD_CREATE */
    struct str session_id;
    struct opt_int connected_at; /* seconds */
    bool deaf, mute, self_deaf, self_mute, self_stream, self_video, suppress;
    struct opt_int request_to_speak_timestamp;

    /* Not in the JSON. */
    uint64_t session; /* number for to_session */
    int64_t node, active_at;
    int64_t asked_at; /* when the client requested its channel again while connected; 0: not */
    struct str region, salt;
    bool live;                      /* a voice gateway connection is open */
    bool priority;                  /* has PRIORITY_SPEAKER in its channel */
    struct opt_int flags, platform; /* from the client: VOICE_FLAGS, VOICE_DESKTOP, … */
};

/* Flags that clients set: clips enabled, may be recorded in clips, viewers may record clips. */
enum { VOICE_FLAGS = 7 };
enum { VOICE_DESKTOP, VOICE_MOBILE };

/* The part of a voice state that the voice relay needs, without pointers, for another thread. */
enum { VOICE_SALT = 16 };
struct voice_fact {
    snowflake guild_id, user_id;    /* guild_id 0: call. user_id 0: the whole room is removed */
    snowflake channel_id;           /* 0: disconnected */
    snowflake room_id;              /* the channel, or the stream: who receives the media */
    unsigned char salt[VOICE_SALT]; /* a new one invalidates older tokens and connections */
    bool speaks, hears;             /* may send audio, may receive audio */
    bool films;                     /* may send video */
    bool priority;                  /* priority speaker */
    struct opt_int flags, platform; /* as the state has them */
    uint64_t claim; /* voice connection that it authenticates (relay_claim); 0: none */
};
/* The voice changes of a transaction, in order. */
struct noted_voice {
    struct noted_voice *next;
    struct voice_fact fact;
};

/* The voice server to connect to. */
struct voice_server {
    struct str token;
    struct opt_id guild_id;   /* null in private calls */
    struct opt_id channel_id; /* private calls only */
    struct opt_str endpoint;  /* host and path, without scheme; null: none now */
};

/* Status of a voice channel of a guild. */
struct voice_room {
    snowflake id, guild_id;
    struct opt_str status;
    struct opt_int voice_start_time; /* seconds; null: empty */
};

/* A call in a private channel. */
struct voice_call {
    snowflake channel_id, message_id;
    struct str region;
    struct list ringing;          /* snowflakes */
    struct opt_list voice_states; /* struct voice_state; only in CALL_CREATE */
};
struct voice_call_gone {
    snowflake channel_id;
};

/* The guild of a state, 0 in calls; its channel, 0 if disconnected. */
static inline snowflake voice_guild(const struct voice_state *s)
{
    return s->guild_id.given == GIVEN ? s->guild_id.value : 0;
}
static inline snowflake voice_channel(const struct voice_state *s)
{
    return s->channel_id.given == GIVEN ? s->channel_id.value : 0;
}

/* The salt is zeros if the state has none. */
struct voice_fact voice_fact_of(const struct voice_state *s);

extern const struct schema voice_state_schema, voice_server_schema;
extern const struct schema voice_call_schema;      /* CALL_CREATE, CALL_UPDATE */
extern const struct schema voice_call_gone_schema; /* CALL_DELETE */
extern const struct type type_voice_state, type_voice_states;

#endif
