/* rules.h - decision table for op 4: what a request for a voice channel leads to. */
#ifndef VOICE_RULES_H
#define VOICE_RULES_H

#include <stdbool.h>

enum voice_outcome {
    VOICE_IGNORED,
    VOICE_LEAVES,
    VOICE_CHANGES,    /* changes mute, deaf or video flags */
    VOICE_REJOINS,    /* changes flags, and sends VOICE_SERVER_UPDATE again */
    VOICE_TAKES_OVER, /* takes the voice state over from another session or node */
    VOICE_MOVES,      /* moves to another channel of the guild */
    VOICE_JOINS,      /* joins, after leaving the previous channel */
};

struct voice_facts {
    bool leaves;       /* the request names no channel */
    bool present;      /* the account is in voice (a bot: in that guild) */
    bool own;          /* the voice state belongs to this session */
    bool here;         /* the session joined at this node; states of other nodes end with their
                        * lease */
    bool open;         /* the channel exists, is a voice channel, and may be entered */
    bool full;         /* the channel is full for this account */
    bool same_place;   /* already in this guild, or in this private channel */
    bool same_channel; /* already in this channel */
    bool live;         /* connected with a voice socket */
};

/* Returns the outcome of the first matching rule. */
enum voice_outcome voice_decide(const struct voice_facts *f);

#endif
