/* effect_rules.h - what an effect in voice may be. */
#ifndef VOICE_EFFECT_RULES_H
#define VOICE_EFFECT_RULES_H

#include <stdbool.h>

#include "base/str.h"

enum effect_animation { EFFECT_PREMIUM = 0, EFFECT_BASIC = 1 };
enum { EFFECT_MAX_PREMIUM = 20 };

/* One emoji as Unicode has it: with a skin tone, joined from several, a flag or a keycap;
 * nothing else around it. */
bool is_emoji(struct str text);

#endif
