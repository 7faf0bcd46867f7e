/* sight.h - CHANNEL_CREATE and CHANNEL_DELETE for channels that users gain or lose. */
#ifndef GATEWAY_FANOUT_SIGHT_H
#define GATEWAY_FANOUT_SIGHT_H

#include "gateway/fanout/delivery.h"
#include "model/permissions/rights.h"

struct changed_channel;
struct place_rule;
struct sight_report;

/* Call it before an event changes the view. Returns NULL if the event cannot change which
 * channels members can view. */
struct sight_report *sight_begin(const struct delivery *d);
/* Call it after the event was sent to the session: sends the channels that it gained or lost.
 * Returns false if there is more to send, in a later iteration or after a store read. */
bool sight_tell(struct sight_report *s, const struct delivery *d, struct seat *seat);
/* Returns whether sight_tell has not finished this session. */
bool sight_is_telling(const struct sight_report *s, const struct seat *seat);
void sight_free(struct sight_report *s); /* accepts NULL */

/* Returns the session's current roles and permissions in the guild, and whether these allow to
 * view a channel. */
struct rights_of sight_rights(const struct seat *seat);
bool sight_shows(const struct rights_of *who, const struct place_rule *p);
/* Returns whether a channel of this type can have threads. */
bool sight_may_have_threads(int64_t type);

/* --- changed_channel.c ---------------------------------------------------------------- */

/* Call it before the channel changes in the view. Returns NULL if the viewers of the channel
 * stay the same. */
struct changed_channel *changed_channel_begin(const struct delivery *d);
/* Sends CHANNEL_CREATE to a session that gains the channel and CHANNEL_DELETE to one that loses
 * it. Returns false if nothing changes for the session. */
bool changed_channel_tell(struct changed_channel *c, const struct delivery *d, struct seat *seat);
void changed_channel_free(struct changed_channel *c); /* accepts NULL */

#endif
