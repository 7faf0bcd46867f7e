/* votes.h - votes in polls, and the end of polls. One row has all answers of a voter, which
 * serializes votes of one account. Counts are stored per counter shard (tx_counter_shard); a
 * finished poll stores its final counts. Start with choose.c. */
#ifndef PLATFORM_VOTES_VOTES_H
#define PLATFORM_VOTES_VOTES_H

#include "platform/messages/messages.h"

extern const struct domain polls_domain;
extern const struct world_parts polls_world;

#endif
