/* reaction.h - emoji that people put under a message. */
#ifndef MODEL_REACTION_H
#define MODEL_REACTION_H

#include "model/member.h"

/* As it was when the message first got it. */
struct reaction_emoji {
    struct opt_id id; /* null: of Unicode */
    struct str name;
    struct opt_bool animated;
};
struct reaction_details {
    int64_t normal, burst;
};
/* What is shown of an emoji under a message; it is written from the text that the message's
 * row has, see reaction_text.h. */
struct reaction {
    const struct reaction_emoji *emoji;
    int64_t count;
    const struct reaction_details *count_details;
    bool me, me_burst;
    struct list burst_colors; /* always empty */
};

/* One that the caller has put under a message. */
struct own_reaction {
    snowflake message_id, reaction_id;
    bool burst;
};
/* Those under messages of a channel from one to another, the newest message first. */
struct own_reactions {
    snowflake channel_id, first, last;
    struct list list; /* struct own_reaction; the listener's */
};

/* What all of the events carry some of. */
struct reaction_event {
    struct opt_id user_id, message_author_id, guild_id;
    snowflake channel_id, message_id;
    const struct member *member; /* with .user */
    const struct reaction_emoji *emoji;
    bool burst;
    int64_t type;
    struct opt_list burst_colors;
};

extern const struct type type_reactions; /* text, see reaction_text.h */
extern const struct type type_reaction_emoji;
extern const struct schema reaction_added_schema;         /* MESSAGE_REACTION_ADD */
extern const struct schema reaction_removed_schema;       /* MESSAGE_REACTION_REMOVE */
extern const struct schema reaction_emoji_removed_schema; /* MESSAGE_REACTION_REMOVE_EMOJI */
extern const struct schema reactions_removed_schema;      /* MESSAGE_REACTION_REMOVE_ALL */

#endif
