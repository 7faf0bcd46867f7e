/* effects.h - what the files of effects share. */
#ifndef VOICE_EFFECTS_H
#define VOICE_EFFECTS_H

#include "voice/internal.h"

struct effect_emoji {
    struct opt_id id;
    struct opt_str name;
    bool animated;
};

/* A sound that plays with an effect. */
struct effect_sound {
    snowflake id;
    bool built_in; /* everywhere, with a small number for its id */
    double volume;
    const struct effect_emoji *emoji; /* NULL: none */
};

/* The caller's own, to be played in the channel of the path. ERR_UNKNOWN_SOUND when it
 * chose none, or one that is gone. */
enum err call_sound_find(struct call *call, struct effect_sound *ret);

/* An emoji of a guild; ERR_UNKNOWN_EMOJI. */
enum err emoji_find(struct tx *tx, snowflake id, struct effect_emoji *ret, snowflake *ret_guild_id);

#endif
