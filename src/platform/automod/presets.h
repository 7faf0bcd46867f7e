/* presets.h - keyword lists of the AutoMod presets. */
#ifndef PLATFORM_AUTOMOD_PRESETS_H
#define PLATFORM_AUTOMOD_PRESETS_H

#include "json/schema.h"

/* Returns a list of struct str; empty if the presets file has no keywords for this preset. */
const struct list *automod_preset_keywords(int64_t preset);

#endif
