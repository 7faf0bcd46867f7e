/* scheduled_events.h - scheduled events of guilds, their exceptions and subscribers. Each scheduled
 * event has one job, which runs at its next automatic status change (status.c). voice/ opens and
 * closes stage channels through hooks. Owns the tables scheduled_events and scheduled_event_users.
 * May include threads/ and lower layers. Start with rules.c, then status.c. */
#ifndef PLATFORM_SCHEDULED_EVENTS_SCHEDULED_EVENTS_H
#define PLATFORM_SCHEDULED_EVENTS_SCHEDULED_EVENTS_H

#include "model/guild.h"
#include "model/scheduled_event.h"
#include "platform/accounts/accounts.h"

/* Adds to ret the guild's open scheduled events in channels that the viewer can see, with their
 * subscriber counts. */
enum err gateway_guild_add_scheduled_events(struct tx *tx, struct gateway_guild *ret);
/* Reads a scheduled event of a guild. Returns ERR_UNKNOWN_SCHEDULED_EVENT if the guild has no such
 * event. */
enum err scheduled_event_find(struct tx *tx, snowflake guild_id, snowflake id,
                              struct scheduled_event *ret);
enum err scheduled_event_insert(struct tx *tx, const struct scheduled_event *e);
/* Reads the scheduled events of a guild, oldest first. If `open` is true, omits those that are
 * completed or cancelled. */
enum err scheduled_events_read(struct tx *tx, snowflake guild_id, bool open, struct list *ret);

/* Validates a recurrence rule and records form errors at the JSON path `at`. */
void validate_recurrence_rule(struct form *form, const struct json_path *at,
                              const struct scheduled_event_recurrence *r);

extern const struct world_file_name_lookup
    event_naming; /* finds scheduled events by name in world files */
extern const struct domain scheduled_events_domain;
extern const struct world_file_fields scheduled_events_world;

#endif
