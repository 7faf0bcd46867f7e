/* discovery.h - the public list of guilds that anybody with an account can find and join. A guild
 * is in the list while it has the feature DISCOVERABLE, which its managers add and remove with
 * PATCH /guilds/{guild.id}. The folder owns the table guild_discovery: category, keywords and texts
 * that the list shows for a guild. It may use members/ and lower layers. Start with listing.c. */
#ifndef PLATFORM_DISCOVERY_DISCOVERY_H
#define PLATFORM_DISCOVERY_DISCOVERY_H

#include "api/api.h"

extern const struct domain discovery_domain;

#endif
