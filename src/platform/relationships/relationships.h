/* relationships.h - friends, requests, blocks; friends in games; people one might know. */
#ifndef PLATFORM_RELATIONSHIPS_RELATIONSHIPS_H
#define PLATFORM_RELATIONSHIPS_RELATIONSHIPS_H

#include "api/api.h"

extern const struct domain relationships_domain;      /* /users/@me/relationships */
extern const struct domain game_relationships_domain; /* /users/@me/game-relationships */
extern const struct domain friend_suggestions_domain; /* /friend-suggestions */
extern const struct world_parts relationships_world;

#endif
