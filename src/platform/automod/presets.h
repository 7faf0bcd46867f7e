/* presets.h - words that come with the server's configuration. */
#ifndef PLATFORM_AUTOMOD_PRESETS_H
#define PLATFORM_AUTOMOD_PRESETS_H

#include "json/schema.h"

/* struct str; empty where the file has none. */
const struct list *automod_preset(int64_t preset);

#endif
