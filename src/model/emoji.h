/* emoji.h - custom emoji of guilds and applications. */
#ifndef MODEL_EMOJI_H
#define MODEL_EMOJI_H

#include "model/user.h"

struct emoji {
    snowflake id;
    struct str name;
    struct list roles;       /* items: snowflake of a role; if empty, everyone may use the emoji */
    const struct user *user; /* user who uploaded the emoji; if NULL, not in the JSON */
    bool require_colons, managed, animated, available;

    /* The members below are not part of the JSON object. */
    /* Owner of the emoji: a guild or an application; the other id is 0. */
    snowflake guild_id, application_id;
    snowflake user_id;    /* uploader; 0 if unknown */
    struct opt_str image; /* hash of the image file */
};

struct guild_emojis_event {
    snowflake guild_id;
    struct list emojis; /* struct emoji */
};

extern const struct schema guild_emojis_event_schema; /* payload of GUILD_EMOJIS_UPDATE */
extern const struct type type_emoji, type_emojis, type_emoji_name;

#endif
