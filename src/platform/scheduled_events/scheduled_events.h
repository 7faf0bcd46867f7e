/* scheduled_events.h - what guilds plan, who wants to come, and what happens at its time.
 *
 * This folder owns events with their exceptions and people. Each open event has one job, at the
 * next moment at which something may happen by itself (status.c). A stage belongs to voice, which
 * is asked by hooks to open and close it. Begin with rules.c for times, with status.c for what an
 * event goes through. */
#ifndef PLATFORM_SCHEDULED_EVENTS_SCHEDULED_EVENTS_H
#define PLATFORM_SCHEDULED_EVENTS_SCHEDULED_EVENTS_H

#include "model/guild.h"
#include "model/scheduled_event.h"
#include "platform/accounts/accounts.h"

/* Open ones of a guild, of channels that are shown there, with how many want to come. */
enum err scheduled_events_show(struct tx *tx, struct gateway_guild *ret);
/* ERR_UNKNOWN_SCHEDULED_EVENT. */
enum err scheduled_event_find(struct tx *tx, snowflake guild_id, snowflake id,
                              struct scheduled_event *ret);
enum err scheduled_event_insert(struct tx *tx, const struct scheduled_event *e);
/* All of a guild, the oldest first. */
enum err scheduled_events_of(struct tx *tx, snowflake guild_id, bool open, struct list *ret);

/* Notes what is wrong about a rule that stands at that place. */
void recurrence_check(struct form *form, const struct place *at, const struct event_recurrence *r);

extern const struct naming event_naming; /* in world files */
extern const struct domain scheduled_events_domain;
extern const struct world_parts scheduled_events_world;

#endif
