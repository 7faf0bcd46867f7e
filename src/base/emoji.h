/* emoji.h - emoji as Unicode has them. */
#ifndef BASE_EMOJI_H
#define BASE_EMOJI_H

#include <stdbool.h>

#include "base/str.h"

/* One emoji: with a skin tone, joined from several, a flag or a keycap; nothing else around
 * it, and at most 128 bytes. */
bool is_emoji(struct str text);
/* Half of a flag, as people take it for a letter. */
bool is_lone_flag_letter(struct str text);

#endif
