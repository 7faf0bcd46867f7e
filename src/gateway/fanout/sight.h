/* sight.h - channels that come into view for somebody, or go out of it. */
#ifndef GATEWAY_FANOUT_SIGHT_H
#define GATEWAY_FANOUT_SIGHT_H

#include "gateway/fanout/delivery.h"
#include "model/permissions/rights.h"

struct changed_channel;
struct place_rule;
struct sight_report;

/* Before an event changes rights in a guild; NULL when it cannot change who views what. */
struct sight_report *sight_begin(const struct delivery *d);
/* After the event was told to who sits there: tells what it sees more now, or less. False:
 * there is more to tell, when the turn is over or a look at the store has ended. */
bool sight_tell(struct sight_report *s, const struct delivery *d, struct seat *seat);
/* Whether it is in the middle of that. */
bool sight_is_telling(const struct sight_report *s, const struct seat *seat);
void sight_free(struct sight_report *s); /* accepts NULL */

/* What decides over what somebody can view now, and whether it shows a channel. */
struct rights_of sight_rights(const struct seat *seat);
bool sight_shows(const struct rights_of *who, const struct place_rule *p);
/* Whether who sees a channel of this type now may have to be told of threads there. */
bool sight_may_have_threads(int64_t type);

/* --- changed_channel.c ---------------------------------------------------------------- */

/* Before a channel is changed; NULL when it is seen by the same people after it. */
struct changed_channel *changed_channel_begin(const struct delivery *d);
/* Tells those who could not see it before that it was made, and those who cannot any more
 * that it is gone. False: it saw, or did not see it, before and after. */
bool changed_channel_tell(struct changed_channel *c, const struct delivery *d, struct seat *seat);
void changed_channel_free(struct changed_channel *c); /* accepts NULL */

#endif
