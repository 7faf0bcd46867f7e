/* voice.h - voice regions. */
#ifndef VOICE_VOICE_H
#define VOICE_VOICE_H

#include "api/api.h"

extern const struct domain voice_domain;

#endif
