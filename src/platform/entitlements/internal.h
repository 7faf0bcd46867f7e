/* internal.h - declarations shared by the files of entitlements/. */
#ifndef PLATFORM_ENTITLEMENTS_INTERNAL_H
#define PLATFORM_ENTITLEMENTS_INTERNAL_H

#include "api/hooks.h"
#include "platform/applications/applications.h"
#include "platform/entitlements/entitlements.h"

/* --- schema.c ------------------------------------------------------------------------- */

enum entitlement_owner_type { OWNER_GUILD = 1, OWNER_USER = 2 };

struct entitlement_create_request {
    snowflake sku_id, owner_id;
    int64_t owner_type;
};
struct entitlements_query {
    struct opt_id user_id, guild_id, before, after;
    struct list sku_ids;
    int64_t limit;
    bool exclude_ended, exclude_deleted, only_active, exclude_consumed;
};
struct subscriptions_query {
    struct opt_id user_id, before, after;
    int64_t limit;
};

extern const struct type entitlement_create_body;
extern const struct schema entitlements_query_schema, user_entitlements_query_schema,
    subscriptions_query_schema;

/* --- rows.c --------------------------------------------------------------------------- */

enum err application_skus_list(struct tx *tx, snowflake application_id, struct list *ret);
/* Finds a SKU. Returns ERR_UNKNOWN_SKU if it does not exist. */
enum err sku_find(struct tx *tx, snowflake id, struct sku *ret);
/* Finds an application's entitlement. ERR_UNKNOWN_ENTITLEMENT if there is none or it was removed.
 */
enum err entitlement_find(struct tx *tx, snowflake application_id, snowflake id,
                          struct entitlement *ret);
/* Lists entitlements, oldest first. If q has only `before`, lists the last entitlements before that
 * id. */
enum err entitlements_list(struct tx *tx, snowflake application_id,
                           const struct entitlements_query *q, struct list *ret);
/* *ret is true if the owner of e already has an unconsumed entitlement to the same SKU. */
enum err owner_has_unconsumed_entitlement(struct tx *tx, const struct entitlement *e, bool *ret);
enum err entitlement_insert(struct tx *tx, const struct entitlement *e);
enum err entitlement_update(struct tx *tx, const struct entitlement *e);
/* Lists a user's entitlements to a subscription SKU, oldest first, including removed ones. */
enum err subscription_entitlements_list(struct tx *tx, snowflake sku_id, snowflake user_id,
                                        const struct subscriptions_query *q, struct list *ret);
enum err subscription_entitlement_find(struct tx *tx, snowflake sku_id, snowflake id,
                                       bool *ret_found, struct entitlement *ret);

/* --- subscriptions.c ------------------------------------------------------------------ */

/* Emits a subscription event to the application's bot. Does nothing if the entitlement is not to a
 * subscription SKU. */
void emit_event_of_application_subscription(struct call *call, enum event what, snowflake bot_id,
                                            const struct entitlement *e);
enum err list_subscriptions(struct call *call);
enum err get_subscription(struct call *call);

/* --- account_deletion.c ------------------------------------------------------------------- */

struct deletion_step_limits;
enum err entitlements_delete_of_account(struct call *call, snowflake user_id,
                                        struct deletion_step_limits *step);

#endif
