/* schema.c - schemas of requests and replies of integrations. */
#include "integrations/internal.h"

#include "model/fields/types.h"

static const struct field query_fields[] = {
    { FIELD(struct integrations_query, has_commands), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Only apps with commands" },
    { FIELD(struct integrations_query, include_role_connections_metadata), .type = &type_bool,
      .flags = OPTIONAL, .doc = "Include the role connection metadata of apps" },
    { 0 },
};
const struct schema integrations_query_schema = {
    .name = "IntegrationsQuery",
    .size = sizeof(struct integrations_query),
    .fields = query_fields,
    .doc = "Which integrations to list.",
};

/* Account id; also accepts a number, because discord.py sends one. */
static const struct type type_account_id = { .kind = KIND_STRING,
                                             .flags = TYPE_EITHER,
                                             .min = 1,
                                             .max = LONGEST_ACCOUNT_ID,
                                             .doc = "Account of the platform" };
static const struct field create_fields[] = {
    { FIELD(struct integration_create_request, type), .type = &type_platform },
    { FIELD(struct integration_create_request, id), .type = &type_account_id },
    { 0 },
};
static const struct schema create_schema = {
    .name = "IntegrationDraft",
    .size = sizeof(struct integration_create_request),
    .fields = create_fields,
    .doc = "The account to follow; the caller has connected it.",
};
const struct type integration_create_body = { .kind = KIND_OBJECT, .schema = &create_schema };

static const struct enum_choice behaviors[] = {
    { .value = EXPIRE_REMOVE_ROLE, .name = "REMOVE_ROLE", .doc = "Remove the subscriber role" },
    { .value = EXPIRE_KICK, .name = "KICK", .doc = "Remove the member from the guild" },
    { 0 },
};
static const struct enum_choice periods[] = {
    { .value = 1, .name = "1", .doc = "A day" },
    { .value = 3, .name = "3", .doc = "Three days" },
    { .value = 7, .name = "7", .doc = "A week" },
    { .value = 14, .name = "14", .doc = "Two weeks" },
    { .value = 30, .name = "30", .doc = "Thirty days" },
    { 0 },
};
static const struct type type_behavior = { .kind = KIND_INT, .choices = behaviors };
static const struct type type_period = { .kind = KIND_INT, .choices = periods, .doc = "Days" };
static const struct field patch_fields[] = {
    { FIELD(struct integration_patch, expire_behavior), .type = &type_behavior,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct integration_patch, expire_grace_period), .type = &type_period,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct integration_patch, enable_emoticons), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE, .doc = "Platform A only" },
    { 0 },
};
static const struct schema patch_schema = {
    .name = "IntegrationPatch",
    .size = sizeof(struct integration_patch),
    .fields = patch_fields,
    .doc = "What happens when a subscription ends.",
};
const struct type integration_patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

static const struct field migrated_fields[] = {
    { FIELD(struct migrated_integrations, integration_ids_with_app_commands), .type = &type_ids },
    { 0 },
};
static const struct schema migrated_schema = {
    .name = "MigratedIntegrations",
    .size = sizeof(struct migrated_integrations),
    .fields = migrated_fields,
    .doc = "Integrations that have commands now.",
};
const struct type migrated_reply = { .kind = KIND_OBJECT, .schema = &migrated_schema };

const struct type application_ids_reply = { .kind = KIND_MAP,
                                            .of = &type_ids,
                                            .doc = "Application ids by guild id" };
