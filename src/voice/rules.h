/* rules.h - decision table for op 4: what a request for a voice channel leads to. */
#ifndef VOICE_RULES_H
#define VOICE_RULES_H

#include <stdbool.h>

enum voice_outcome {
    VOICE_IGNORED,
    VOICE_LEAVES,
    VOICE_CHANGES,    /* mute, deaf or video flags */
    VOICE_REJOINS,    /* the same, and VOICE_SERVER_UPDATE again */
    VOICE_TAKES_OVER, /* from another session, or from another node */
    VOICE_MOVES,      /* to another channel of the guild */
    VOICE_JOINS,      /* and leaves the previous channel */
};

struct voice_facts {
    bool leaves;       /* no channel was given */
    bool present;      /* the account is in voice (a bot: in that guild) */
    bool own;          /* with this session */
    bool here;         /* joined at this node; other nodes' states end with their lease */
    bool open;         /* the channel exists, is a voice channel, and may be entered */
    bool full;         /* for this account */
    bool same_place;   /* already in this guild, or in this private channel */
    bool same_channel; /* already in this channel */
    bool live;         /* with a voice socket */
};

/* Returns the outcome of the first matching rule. */
enum voice_outcome voice_decide(const struct voice_facts *f);

#endif
