/* voice_state.h - voice states, voice servers, and calls in private channels. */
#ifndef MODEL_VOICE_STATE_H
#define MODEL_VOICE_STATE_H

#include "model/member.h"

struct voice_state {
    struct opt_id guild_id;   /* null in calls; absent in GUILD_CREATE */
    struct opt_id channel_id; /* null if the user left */
    snowflake user_id;
    const struct member *member; /* NULL in calls and in GUILD_CREATE */
    struct str session_id;
    struct opt_int connected_at; /* seconds */
    bool deaf, mute, self_deaf, self_mute, self_stream, self_video, suppress;
    struct opt_int request_to_speak_timestamp;

    /* The members below are not part of the JSON object. */
    uint64_t session; /* number of the gateway session, for audience_of_session */
    int64_t node, active_at;
    int64_t requested_again_at; /* when the connected client requested its channel again, or 0 */
    struct str region, salt;
    bool live;     /* whether a voice gateway connection of the user is open */
    bool priority; /* whether the user is a priority speaker */
    /* Values from the client: VOICE_STATE_CLIENT_FLAGS, VOICE_PLATFORM_DESKTOP, … */
    struct opt_int flags, platform;
};

/* Flag bits that clients set: clips are enabled; the user may be recorded in clips; viewers may
 * record clips. */
enum { VOICE_STATE_CLIENT_FLAGS = 7 };
enum { VOICE_PLATFORM_DESKTOP, VOICE_PLATFORM_MOBILE };

enum { VOICE_SALT_BYTES = 16 };
/* The part of a voice state that the relay's thread needs. It contains no pointers. */
struct relay_voice_state {
    snowflake guild_id, user_id; /* guild_id is 0 in calls; user_id is 0 if the room is removed */
    snowflake channel_id;        /* 0 if the user is disconnected */
    snowflake room_id; /* room whose participants receive the media: a channel or a stream */
    /* Random bytes; new bytes make older tokens and connections invalid. */
    unsigned char salt[VOICE_SALT_BYTES];
    bool may_send_audio, may_receive_audio;
    bool may_send_video;
    bool priority;                  /* whether the user is a priority speaker */
    struct opt_int flags, platform; /* same as in struct voice_state */
    bool stage;                     /* whether the channel is a stage; only set if `claim` is set */
    uint64_t claim; /* number of the voice connection that this voice state authenticates, or 0 */
};
/* The voice state changes of a transaction, in order, as a list for the relay. */
struct voice_state_change {
    struct voice_state_change *next;
    struct relay_voice_state state;
};

/* Voice server that a client connects to. */
struct voice_server {
    struct str token;
    struct opt_id guild_id;   /* null in private calls */
    struct opt_id channel_id; /* only in private calls */
    /* Host and path, without scheme; null if no voice server is available. */
    struct opt_str endpoint;
};

/* Status text of a voice channel, and since when it is in use. */
struct voice_channel_status {
    snowflake id, guild_id;
    struct opt_str status;
    struct opt_int voice_start_time; /* time since which the channel is in use, in seconds; null if
                                      * the channel is empty */
};

/* A call in a private channel. */
struct voice_call {
    snowflake channel_id, message_id;
    struct str region;
    struct list ringing;          /* snowflakes */
    struct opt_list voice_states; /* struct voice_state; only in CALL_CREATE */
};
struct voice_call_delete_event {
    snowflake channel_id;
};

/* Return the guild (0 in calls) or the channel (0 if disconnected) of a voice state. */
static inline snowflake voice_state_get_guild_id(const struct voice_state *s)
{
    return s->guild_id.given == GIVEN ? s->guild_id.value : 0;
}
static inline snowflake voice_state_get_channel_id(const struct voice_state *s)
{
    return s->channel_id.given == GIVEN ? s->channel_id.value : 0;
}

/* Converts a voice state for the relay. The salt is all zeros if the state has none. */
struct relay_voice_state relay_voice_state_from_voice_state(const struct voice_state *s);

extern const struct schema voice_state_schema, voice_server_schema;
extern const struct schema voice_call_schema; /* payload of CALL_CREATE and CALL_UPDATE */
extern const struct schema voice_call_delete_event_schema; /* payload of CALL_DELETE */
extern const struct type type_voice_state, type_voice_states;

#endif
