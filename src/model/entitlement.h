/* entitlement.h - SKUs that an application sells, and entitlements and subscriptions of users. */
#ifndef MODEL_ENTITLEMENT_H
#define MODEL_ENTITLEMENT_H

#include "json/schema.h"

enum sku_type { SKU_DURABLE = 2, SKU_CONSUMABLE = 3, SKU_SUBSCRIPTION = 5, SKU_GROUP = 6 };
enum { SKU_AVAILABLE = 1 << 2 };

struct sku {
    snowflake id, application_id;
    int64_t type, flags;
    struct str name, slug;
};

enum { ENTITLEMENT_OF_APPLICATION = 8 };

struct entitlement {
    snowflake id, sku_id, application_id, user_id;
    /* Guild that owns the entitlement; absent if the entitlement belongs to a user. */
    struct opt_id guild_id;
    int64_t type;
    bool deleted, consumed;
    struct opt_int starts_at, ends_at; /* microseconds; null means no limit */

    /* The members below are not part of the JSON object. */
    int64_t sku_type;
    bool test;
    struct opt_int deleted_at;
};

enum subscription_status { SUBSCRIPTION_ACTIVE, SUBSCRIPTION_INACTIVE, SUBSCRIPTION_ENDING };

struct subscription {
    snowflake id, user_id;
    struct list sku_ids, entitlement_ids; /* snowflakes */
    struct opt_list renewal_sku_ids;
    int64_t current_period_start, current_period_end, status;
    struct opt_int canceled_at;
};

extern const struct schema entitlement_schema, subscription_schema;
extern const struct type type_skus, type_entitlement, type_entitlements, type_subscription,
    type_subscriptions;

#endif
