/* entitlement.c - JSON schemas of SKUs, entitlements and subscriptions. */
#include "model/entitlement.h"

#include "model/fields/types.h"

static const struct enum_choice sku_types[] = {
    { SKU_DURABLE, NULL, "DURABLE", "One-time purchase that does not expire" },
    { SKU_CONSUMABLE, NULL, "CONSUMABLE", "Consumed once" },
    { SKU_SUBSCRIPTION, NULL, "SUBSCRIPTION", "Renewed periodically" },
    { SKU_GROUP, NULL, "SUBSCRIPTION_GROUP", "Contains subscription SKUs" },
    { 0 },
};
static const struct type type_sku_type = { .kind = KIND_INT, .choices = sku_types };

static const struct field sku_fields[] = {
    { FIELD(struct sku, id), .type = &type_id },
    { FIELD(struct sku, type), .type = &type_sku_type },
    { FIELD(struct sku, application_id), .type = &type_id },
    { FIELD(struct sku, name), .type = &type_text },
    { FIELD(struct sku, slug), .type = &type_text, .doc = "URL-friendly form of the name" },
    { FIELD(struct sku, flags), .type = &type_count },
    { 0 },
};
static const struct schema sku_schema = {
    .name = "Sku",
    .size = sizeof(struct sku),
    .fields = sku_fields,
    .doc = "A product of an application.",
};
static const struct type type_sku = { .kind = KIND_OBJECT, .schema = &sku_schema };
const struct type type_skus = { .kind = KIND_ARRAY, .of = &type_sku };

static const struct enum_choice entitlement_types[] = {
    { ENTITLEMENT_OF_APPLICATION, NULL, "APPLICATION_SUBSCRIPTION",
      "Entitlement for an SKU of an application" },
    { 0 },
};
static const struct type type_kind = { .kind = KIND_INT, .choices = entitlement_types };

static const struct field entitlement_fields[] = {
    { FIELD(struct entitlement, id), .type = &type_id },
    { FIELD(struct entitlement, sku_id), .type = &type_id },
    { FIELD(struct entitlement, application_id), .type = &type_id },
    { FIELD(struct entitlement, user_id), .type = &type_id,
      .doc = "Holder; for a guild's entitlement, the guild's owner when it was granted" },
    { FIELD(struct entitlement, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct entitlement, type), .type = &type_kind },
    { FIELD(struct entitlement, deleted), .type = &type_bool },
    { FIELD(struct entitlement, starts_at), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct entitlement, ends_at), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct entitlement, consumed), .type = &type_bool },
    { 0 },
};
const struct schema entitlement_schema = {
    .name = "Entitlement",
    .size = sizeof(struct entitlement),
    .fields = entitlement_fields,
    .doc = "A user or guild has access to an SKU of an application.",
};
const struct type type_entitlement = { .kind = KIND_OBJECT, .schema = &entitlement_schema };
const struct type type_entitlements = { .kind = KIND_ARRAY, .of = &type_entitlement };

static const struct enum_choice statuses[] = {
    { SUBSCRIPTION_ACTIVE, NULL, "ACTIVE", "The subscription is active" },
    { SUBSCRIPTION_INACTIVE, NULL, "INACTIVE", "The subscription has ended" },
    { SUBSCRIPTION_ENDING, NULL, "ENDING", "The subscription is active and will not be renewed" },
    { 0 },
};
static const struct type type_status = { .kind = KIND_INT, .choices = statuses };

static const struct field subscription_fields[] = {
    { FIELD(struct subscription, id), .type = &type_id },
    { FIELD(struct subscription, user_id), .type = &type_id },
    { FIELD(struct subscription, sku_ids), .type = &type_ids },
    { FIELD(struct subscription, entitlement_ids), .type = &type_ids },
    { FIELD(struct subscription, renewal_sku_ids), .type = &type_ids, .flags = NULLABLE },
    { FIELD(struct subscription, current_period_start), .type = &type_time },
    { FIELD(struct subscription, current_period_end), .type = &type_time },
    { FIELD(struct subscription, status), .type = &type_status },
    { FIELD(struct subscription, canceled_at), .type = &type_time, .flags = NULLABLE },
    { 0 },
};
const struct schema subscription_schema = {
    .name = "Subscription",
    .size = sizeof(struct subscription),
    .fields = subscription_fields,
    .doc = "A recurring purchase of an SKU by a user.",
};
const struct type type_subscription = { .kind = KIND_OBJECT, .schema = &subscription_schema };
const struct type type_subscriptions = { .kind = KIND_ARRAY, .of = &type_subscription };
