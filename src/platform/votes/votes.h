/* votes.h - votes in polls, and the end of polls. One row contains all answers of a voter, so
 * concurrent votes of one account wait for each other. Votes are counted per counter shard; a
 * finished poll stores its final counts. Owns no table. May include webhooks/ and lower layers.
 * Start with vote_route.c. */
#ifndef PLATFORM_VOTES_VOTES_H
#define PLATFORM_VOTES_VOTES_H

#include "platform/messages/messages.h"

extern const struct domain polls_domain;
extern const struct world_file_fields polls_world;

#endif
