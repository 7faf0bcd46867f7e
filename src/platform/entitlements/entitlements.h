/* entitlements.h - SKUs of applications, entitlements of users and guilds, subscriptions. Nothing
 * is sold: world files declare SKUs and entitlements, and applications grant test entitlements.
 * Subscriptions have no rows: subscriptions.c derives a subscription from each entitlement to a
 * subscription SKU. The folder owns the tables skus and entitlements and may use invites/ and the
 * folders below it. Start with routes.c. */
#ifndef PLATFORM_ENTITLEMENTS_ENTITLEMENTS_H
#define PLATFORM_ENTITLEMENTS_ENTITLEMENTS_H

#include "api/call.h"
#include "model/entitlement.h"

/* Lists the newest 100 active entitlements to an application: those of a user, and those of a
 * guild. guild_id is 0 if the interaction is not in a guild. */
enum err entitlements_list_active(struct tx *tx, snowflake application_id, snowflake user_id,
                                  snowflake guild_id, struct list *ret);

extern const struct domain entitlements_domain;
extern const struct world_file_fields entitlements_world;

#endif
