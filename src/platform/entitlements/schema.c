/* schema.c - JSON schemas of entitlement and subscription bodies and queries. */
#include "platform/entitlements/internal.h"

#include "model/fields/types.h"

static const struct enum_choice owners[] = {
    { OWNER_GUILD, NULL, "GUILD", "A guild" },
    { OWNER_USER, NULL, "USER", "Somebody" },
    { 0 },
};
static const struct type type_owner = { .kind = KIND_INT, .choices = owners };

static const struct field draft_fields[] = {
    { FIELD(struct entitlement_create_request, sku_id), .type = &type_id },
    { FIELD(struct entitlement_create_request, owner_id), .type = &type_id },
    { FIELD(struct entitlement_create_request, owner_type), .type = &type_owner },
    { 0 },
};
static const struct schema draft_schema = {
    .name = "TestEntitlement",
    .size = sizeof(struct entitlement_create_request),
    .fields = draft_fields,
    .doc = "A test entitlement.",
};
const struct type entitlement_create_body = { .kind = KIND_OBJECT, .schema = &draft_schema };

static const struct type type_page = { .kind = KIND_INT, .min = 1, .max = 100 };
static const struct type type_sku_ids = { .kind = KIND_ARRAY, .max = 100, .of = &type_id };

#define PAGE_FIELDS(struct_, fallback_)                                                       \
    { FIELD(struct_, user_id), .type = &type_id, .flags = OPTIONAL },                         \
        { FIELD(struct_, before), .type = &type_id, .flags = OPTIONAL },                      \
        { FIELD(struct_, after), .type = &type_id, .flags = OPTIONAL },                       \
    {                                                                                         \
        FIELD(struct_, limit), .type = &type_page, .flags = OPTIONAL, .fallback = (fallback_) \
    }

static const struct field list_fields[] = {
    PAGE_FIELDS(struct entitlements_query, 100),
    { FIELD(struct entitlements_query, sku_ids), .type = &type_sku_ids, .flags = OPTIONAL },
    { FIELD(struct entitlements_query, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct entitlements_query, exclude_ended), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct entitlements_query, exclude_deleted), .type = &type_bool, .flags = OPTIONAL,
      .fallback = 1 },
    { FIELD(struct entitlements_query, only_active), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Only active entitlements" },
    { 0 },
};
const struct schema entitlements_query_schema = {
    .name = "EntitlementsQuery",
    .size = sizeof(struct entitlements_query),
    .fields = list_fields,
    .doc = "Selects entitlements.",
};

static const struct field own_fields[] = {
    { FIELD(struct entitlements_query, sku_ids), .type = &type_sku_ids, .flags = OPTIONAL },
    { FIELD(struct entitlements_query, exclude_consumed), .type = &type_bool, .flags = OPTIONAL,
      .fallback = 1 },
    { 0 },
};
const struct schema user_entitlements_query_schema = {
    .name = "OwnEntitlementsQuery",
    .size = sizeof(struct entitlements_query),
    .fields = own_fields,
    .doc = "Selects entitlements of the account.",
};

static const struct field subscriptions_fields[] = {
    PAGE_FIELDS(struct subscriptions_query, 50),
    { 0 },
};
const struct schema subscriptions_query_schema = {
    .name = "SubscriptionsQuery",
    .size = sizeof(struct subscriptions_query),
    .fields = subscriptions_fields,
    .doc = "Selects subscriptions; bots must name a user.",
};
