/* onboarding.h - what newcomers of a guild are asked, and the roles that their answers give them.
 *
 * A guild's questions are one row: they are written together and read together. With 75,000 ids at
 * most they are checked and encoded between transactions (change.c). The welcome screen, which
 * newcomers see first, is here too (welcome.c). Begin with routes.c. */
#ifndef PLATFORM_ONBOARDING_ONBOARDING_H
#define PLATFORM_ONBOARDING_ONBOARDING_H

#include "platform/guilds/guilds.h"

struct welcome_screen;
/* The welcome screen as newcomers see it; NULL: there is none, or it is not enabled. */
enum err welcome_screen_shown(struct tx *tx, snowflake guild_id, const struct welcome_screen **ret);

extern const struct domain onboarding_domain;
extern const struct domain welcome_domain; /* the welcome screen */

#endif
