/* entitlements.h - what applications offer, who has it, and the subscriptions that follow.
 *
 * Nothing is sold here: world files declare SKUs and entitlements, and applications grant some
 * to try things out. A subscription has no row of its own: it is what an entitlement of a
 * subscription's SKU looks like at some time (subscriptions.c). Begin with routes.c. */
#ifndef PLATFORM_ENTITLEMENTS_ENTITLEMENTS_H
#define PLATFORM_ENTITLEMENTS_ENTITLEMENTS_H

#include "api/call.h"
#include "model/entitlement.h"

/* What of an application is in force for somebody, and for the guild (0: none) they are in; at
 * most 100, the newest. */
enum err entitlements_in_force(struct tx *tx, snowflake application_id, snowflake user_id,
                               snowflake guild_id, struct list *ret);

extern const struct domain entitlements_domain;
extern const struct world_parts entitlements_world;

#endif
