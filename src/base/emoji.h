/* emoji.h - recognises Unicode emoji. */
#ifndef BASE_EMOJI_H
#define BASE_EMOJI_H

#include <stdbool.h>

#include "base/str.h"

/* True for exactly one emoji (also with skin tone, joined from several, flag or keycap) of at most
 * 128 bytes. */
bool is_emoji(struct str text);
/* Returns true for a single regional indicator (half of a flag), which users type as a letter. */
bool is_single_regional_indicator(struct str text);

#endif
