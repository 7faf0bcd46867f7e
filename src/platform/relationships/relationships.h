/* relationships.h - friends, friend requests, blocks, game friends, friend suggestions, profiles.
 * Invariant: the two rows of a relationship form a legal pair (relationship_pairs.h). Owns the
 * tables of relationships, friend requests and suggestions. May include threads/ and lower layers.
 * Start with rules.c (the table of transitions), then friend_requests.c and routes.c. */
#ifndef PLATFORM_RELATIONSHIPS_RELATIONSHIPS_H
#define PLATFORM_RELATIONSHIPS_RELATIONSHIPS_H

#include "api/api.h"

extern const struct domain relationships_domain;      /* below /users/@me/relationships */
extern const struct domain game_relationships_domain; /* below /users/@me/game-relationships */
extern const struct domain friend_suggestions_domain; /* below /friend-suggestions */
extern const struct world_file_fields relationships_world;

#endif
