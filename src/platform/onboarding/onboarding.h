/* onboarding.h - what newcomers of a guild are asked, and the roles that their answers give them.
 *
 * A guild's questions are one row: they are written together and read together. With 75,000 ids at
 * most they are checked and encoded between transactions (change.c). Begin with routes.c. */
#ifndef PLATFORM_ONBOARDING_ONBOARDING_H
#define PLATFORM_ONBOARDING_ONBOARDING_H

#include "platform/guilds/guilds.h"

extern const struct domain onboarding_domain;

#endif
