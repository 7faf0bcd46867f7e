/* effects.h - voice channel effects: types and lookups shared by effects.c and effect_sounds.c. */
#ifndef VOICE_EFFECTS_H
#define VOICE_EFFECTS_H

#include "platform/emojis/emojis.h"
#include "voice/internal.h"

enum voice_effect_animation { EFFECT_PREMIUM = 0, EFFECT_BASIC = 1 };
enum { EFFECT_MAX_PREMIUM = 20 };

struct voice_effect_emoji {
    struct opt_id id;
    struct opt_str name;
    bool animated;
};

static inline struct voice_effect_emoji voice_effect_emoji_from_emoji(const struct emoji *e)
{
    return (struct voice_effect_emoji){ opt_id_or_null(e->id), opt_str_or_null(e->name),
                                        e->animated };
}

struct voice_effect_sound {
    snowflake id;
    bool built_in; /* the sound is a default sound of Discord, which has a small id */
    double volume;
    const struct voice_effect_emoji *emoji; /* NULL without an emoji */
};

/* Finds the caller's custom call sound for the path's channel, or returns ERR_UNKNOWN_SOUND. */
enum err find_custom_call_sound(struct call *call, struct voice_effect_sound *ret);
/* Finds a soundboard sound. `source` is the guild id that the request names for the sound, or 0.
 * Returns ERR_UNKNOWN_SOUND or ERR_MISSING_PERMISSIONS on failure. */
enum err find_soundboard_sound(struct call *call, snowflake id, snowflake source,
                               struct voice_effect_sound *ret);

#endif
