/* rules.h - what asking for a channel leads to, row by row. */
#ifndef VOICE_RULES_H
#define VOICE_RULES_H

#include <stdbool.h>

enum voice_outcome {
    VOICE_IGNORED,
    VOICE_LEAVES,
    VOICE_CHANGES,    /* only what it lets be heard and seen */
    VOICE_REJOINS,    /* the same, and is told again where its voice is */
    VOICE_TAKES_OVER, /* from another session of the account, or server of the session */
    VOICE_MOVES,      /* to another channel of the guild */
    VOICE_JOINS,      /* and leaves where the account was before */
};

struct voice_facts {
    bool leaves;       /* no channel was named */
    bool present;      /* the account is in voice, where the order is about */
    bool own;          /* by this session */
    bool here;         /* which joined at this server: what another held ends with that one */
    bool open;         /* the channel exists, is one for voice, and may be entered */
    bool full;         /* for this account */
    bool same_place;   /* the account is in this guild, or in this private channel */
    bool same_channel; /* and in this very channel */
    bool live;         /* with a voice socket */
};

/* The first row that matches. */
enum voice_outcome voice_decide(const struct voice_facts *f);

#endif
