/* effects.h - voice channel effects: types and lookups shared by effects.c and effect_sounds.c. */
#ifndef VOICE_EFFECTS_H
#define VOICE_EFFECTS_H

#include "platform/emojis/emojis.h"
#include "voice/internal.h"

enum effect_animation { EFFECT_PREMIUM = 0, EFFECT_BASIC = 1 };
enum { EFFECT_MAX_PREMIUM = 20 };

struct effect_emoji {
    struct opt_id id;
    struct opt_str name;
    bool animated;
};

static inline struct effect_emoji effect_emoji_of(const struct emoji *e)
{
    return (struct effect_emoji){ given_id(e->id), given_str(e->name), e->animated };
}

/* A sound that plays with an effect. */
struct effect_sound {
    snowflake id;
    bool built_in; /* a default sound, with a small id */
    double volume;
    const struct effect_emoji *emoji; /* NULL: none */
};

/* Finds the caller's custom call sound, for the channel of the path. ERR_UNKNOWN_SOUND: none. */
enum err call_sound_find(struct call *call, struct effect_sound *ret);
/* Finds a soundboard sound; source: the guild of the sound, or 0. ERR_UNKNOWN_SOUND,
 * ERR_MISSING_PERMISSIONS. */
enum err board_sound_find(struct call *call, snowflake id, snowflake source,
                          struct effect_sound *ret);

#endif
