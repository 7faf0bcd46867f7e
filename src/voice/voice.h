/* voice.h - voice regions. */
#ifndef VOICE_VOICE_H
#define VOICE_VOICE_H

#include "api/api.h"

extern const struct domain voice_domain;

/* Sets the regions from the operator's words, "main:Main, eu:Europe"; the first is
 * the optimal one. False with *ret_problem when they make no sense. Before loops
 * start. */
bool voice_set_regions(struct str list, const char **ret_problem);

#endif
