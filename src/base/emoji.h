/* emoji.h - recognises Unicode emoji. */
#ifndef BASE_EMOJI_H
#define BASE_EMOJI_H

#include <stdbool.h>

#include "base/str.h"

/* Returns true if the text is exactly one emoji of at most 128 bytes. Skin tones, joined emoji,
 * flags and keycaps are allowed. */
bool is_emoji(struct str text);
/* Returns true for a single regional indicator (half of a flag), which users type as a letter. */
bool is_single_regional_indicator(struct str text);

#endif
