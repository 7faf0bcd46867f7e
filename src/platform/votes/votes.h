/* votes.h - people choose answers of polls, until these are over.
 *
 * What somebody chose is one row, so that of two votes of one account the later sees the
 * earlier; counts are kept for each lane of the store, so that a vote costs the same however
 * many there are. A poll that is over keeps the counts it had then. Begin with choose.c. */
#ifndef PLATFORM_VOTES_VOTES_H
#define PLATFORM_VOTES_VOTES_H

#include "platform/messages/messages.h"

extern const struct domain polls_domain;
extern const struct world_parts polls_world;

#endif
