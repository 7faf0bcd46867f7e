/* emoji.h - the little pictures that guilds and applications bring along. */
#ifndef MODEL_EMOJI_H
#define MODEL_EMOJI_H

#include "model/user.h"

struct emoji {
    snowflake id;
    struct str name;
    struct list roles;       /* snowflakes; none: everybody may use it */
    const struct user *user; /* who brought it; NULL: not shown */
    bool require_colons, managed, animated, available;

    /* Not shown to anybody. */
    snowflake guild_id, application_id; /* whose it is: one of them is 0 */
    snowflake user_id;                  /* 0: not known */
    struct opt_str image;               /* the hash of its picture */
};

struct guild_emojis_event {
    snowflake guild_id;
    struct list emojis; /* struct emoji */
};

extern const struct schema emoji_schema;
extern const struct schema guild_emojis_event_schema; /* GUILD_EMOJIS_UPDATE */
extern const struct type type_emoji, type_emojis, type_emoji_name;

#endif
