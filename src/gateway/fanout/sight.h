/* sight.h - CHANNEL_CREATE and CHANNEL_DELETE for channels that users gain or lose. */
#ifndef GATEWAY_FANOUT_SIGHT_H
#define GATEWAY_FANOUT_SIGHT_H

#include "gateway/fanout/delivery.h"
#include "model/permissions/rights.h"

struct changed_channel;
struct place_rule;
struct sight_report;

/* Call before an event changes the view; NULL: it cannot change who views which channel. */
struct sight_report *sight_begin(const struct delivery *d);
/* Call after the event was sent to the seat: sends the channels that it gained or lost. False:
 * there is more to send, in a later iteration or after a store read. */
bool sight_tell(struct sight_report *s, const struct delivery *d, struct seat *seat);
/* Whether sight_tell has not finished this seat. */
bool sight_is_telling(const struct sight_report *s, const struct seat *seat);
void sight_free(struct sight_report *s); /* accepts NULL */

/* The seat's current permissions, and whether these include viewing a channel. */
struct rights_of sight_rights(const struct seat *seat);
bool sight_shows(const struct rights_of *who, const struct place_rule *p);
/* Whether a session that gains a channel of this type may need its threads. */
bool sight_may_have_threads(int64_t type);

/* --- changed_channel.c ---------------------------------------------------------------- */

/* Call before the channel changes in the view; NULL: its viewers stay the same. */
struct changed_channel *changed_channel_begin(const struct delivery *d);
/* Sends CHANNEL_CREATE to sessions that gain the channel and CHANNEL_DELETE to those that lose it.
 * False: nothing changes for this session. */
bool changed_channel_tell(struct changed_channel *c, const struct delivery *d, struct seat *seat);
void changed_channel_free(struct changed_channel *c); /* accepts NULL */

#endif
