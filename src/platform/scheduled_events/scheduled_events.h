/* scheduled_events.h - scheduled events of guilds, their exceptions and subscribers. Each event has
 * one job, scheduled for its next automatic status change (status.c). voice/ opens and closes
 * stages through hooks. Owns the tables scheduled_events and scheduled_event_users. May include
 * threads/ and lower layers. Start with rules.c, then status.c. */
#ifndef PLATFORM_SCHEDULED_EVENTS_SCHEDULED_EVENTS_H
#define PLATFORM_SCHEDULED_EVENTS_SCHEDULED_EVENTS_H

#include "model/guild.h"
#include "model/scheduled_event.h"
#include "platform/accounts/accounts.h"

/* Adds the guild's open events in visible channels, with their subscriber counts, to ret. */
enum err guild_add_scheduled_events(struct tx *tx, struct gateway_guild *ret);
/* Reads an event of a guild. Returns ERR_UNKNOWN_SCHEDULED_EVENT if it does not exist. */
enum err scheduled_event_find(struct tx *tx, snowflake guild_id, snowflake id,
                              struct scheduled_event *ret);
enum err scheduled_event_insert(struct tx *tx, const struct scheduled_event *e);
/* Reads the events of a guild, oldest first; only open ones if `open` is set. */
enum err scheduled_events_read(struct tx *tx, snowflake guild_id, bool open, struct list *ret);

/* Validates a recurrence rule and records form errors at the JSON path `at`. */
void validate_recurrence_rule(struct form *form, const struct json_path *at,
                              const struct scheduled_event_recurrence *r);

extern const struct world_file_name_lookup
    event_naming; /* lookup of events by name in world files */
extern const struct domain scheduled_events_domain;
extern const struct world_file_fields scheduled_events_world;

#endif
