/* rules.h - decision table for op 4 (voice state update): the outcome of a client's request. */
#ifndef VOICE_RULES_H
#define VOICE_RULES_H

#include <stdbool.h>

enum voice_request_outcome {
    VOICE_OUTCOME_IGNORE,
    VOICE_OUTCOME_LEAVE,
    VOICE_OUTCOME_CHANGE_FLAGS, /* changes mute, deaf or video flags */
    VOICE_OUTCOME_REJOIN,       /* changes flags, and sends VOICE_SERVER_UPDATE again */
    /* takes the voice state over from another gateway session or node */
    VOICE_OUTCOME_TAKE_OVER,
    VOICE_OUTCOME_MOVE, /* the user moves to another channel of the guild */
    VOICE_OUTCOME_JOIN, /* joins, after leaving the previous channel */
};

struct voice_request_conditions {
    bool leaves; /* the request has no channel id */
    /* a user is in any voice channel; a bot is in a voice channel of the requested guild */
    bool present;
    bool own_session;  /* the voice state belongs to the gateway session that sent op 4 */
    bool on_this_node; /* the voice state was created on this node */
    /* The requested channel exists, is a voice channel, and the account may join it. */
    bool open;
    bool full;         /* the requested channel is full for this account */
    bool same_guild;   /* the account is already in the requested guild or private channel */
    bool same_channel; /* the account is already in the requested channel */
    bool live;         /* the client has a connection to the voice server */
};

/* Returns the outcome that the first matching rule of the table gives for the conditions. */
enum voice_request_outcome decide_voice_request_outcome(const struct voice_request_conditions *f);

#endif
