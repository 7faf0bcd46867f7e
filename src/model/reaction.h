/* reaction.h - reactions to messages. */
#ifndef MODEL_REACTION_H
#define MODEL_REACTION_H

#include "model/member.h"

/* An emoji in a reaction. Its name is the one at its first use on the message. */
struct reaction_emoji {
    struct opt_id id; /* null for a Unicode emoji */
    struct str name;
    struct opt_bool animated;
};
struct reaction_count_details {
    int64_t normal, burst;
};
/* A reaction in a message object. Its JSON is encoded from the reaction text in the message's row
 * (reaction_text.h). */
struct reaction {
    const struct reaction_emoji *emoji;
    int64_t count;
    const struct reaction_count_details *count_details;
    bool me, me_burst;
    struct list burst_colors; /* always empty */
};

/* A single reaction of the user who makes the request, to one message. */
struct caller_reaction {
    snowflake message_id, reaction_id;
    bool burst;
};
/* Reactions of the user who makes the request to the messages `first` to `last` of a channel;
 * newest message first. */
struct caller_reactions {
    snowflake channel_id, first, last;
    struct list list; /* struct caller_reaction; filled by hook own_reactions_find */
};

/* The fields of all reaction events. Each kind of event has some of these fields. */
struct reaction_event {
    struct opt_id user_id, message_author_id, guild_id;
    snowflake channel_id, message_id;
    const struct member *member; /* includes .user */
    const struct reaction_emoji *emoji;
    bool burst;
    int64_t type;
    struct opt_list burst_colors;
};

extern const struct type type_reactions; /* its value is a text (reaction_text.h) */
extern const struct type type_reaction_emoji;
extern const struct schema reaction_added_schema;   /* MESSAGE_REACTION_ADD payload */
extern const struct schema reaction_removed_schema; /* MESSAGE_REACTION_REMOVE payload */
/* MESSAGE_REACTION_REMOVE_EMOJI payload. */
extern const struct schema reaction_emoji_removed_schema;
extern const struct schema reactions_removed_schema; /* MESSAGE_REACTION_REMOVE_ALL payload */

#endif
