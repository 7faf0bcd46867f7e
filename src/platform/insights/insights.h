/* insights.h - statistics of a guild for members with VIEW_GUILD_INSIGHTS: members, joins, leaves
 * and messages per day. Owns no table: reads guild_days (platform/members) and messages. May
 * include messages/ and lower layers. Start with routes.c. */
#ifndef PLATFORM_INSIGHTS_INSIGHTS_H
#define PLATFORM_INSIGHTS_INSIGHTS_H

#include "api/route.h"

extern const struct domain insights_domain;

#endif
