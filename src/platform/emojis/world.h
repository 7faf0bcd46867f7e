/* world.h - emoji to which other objects of world files refer. */
#ifndef PLATFORM_EMOJIS_WORLD_H
#define PLATFORM_EMOJIS_WORLD_H

#include "platform/worlds/file.h"

/* A reference to a Unicode emoji, or to an emoji of the guild by name or id. */
struct emoji_shown {
    struct opt_id id; /* both null: no emoji */
    struct opt_str name;
    bool animated;
};
enum err refer_emoji(struct importing *im, snowflake guild, const struct opt_str *to,
                     const struct place *at, struct emoji_shown *ret);
struct opt_str shown_emoji(struct tx *tx, struct opt_id id, struct opt_str name);

#endif
