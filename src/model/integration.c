/* integration.c - JSON schemas of integrations and of role connection metadata. */
#include "model/integration.h"

void integration_set_displayed_type(struct integration *i)
{
    i->displayed_type = integration_get_displayed_type(i->type);
    /* The operator may configure the platform's real name as the type that clients get. Client
     * libraries require enable_emoticons in every integration of that type. */
    if (str_is(i->type, "platform_b"))
        i->enable_emoticons =
            (struct opt_bool){ str_eq(i->displayed_type, i->type) ? ABSENT : GIVEN, false };
}

static bool is_metadata_key(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') ||
              s.p[i] == '_'))
            return false;
    return true;
}

static const struct enum_choice metadata_types[] = {
    { .value = 1, .name = "INTEGER_LESS_THAN_OR_EQUAL", .doc = "At most the guild's number" },
    { .value = 2, .name = "INTEGER_GREATER_THAN_OR_EQUAL", .doc = "At least the guild's number" },
    { .value = 3, .name = "INTEGER_EQUAL", .doc = "Equal to the guild's number" },
    { .value = 4, .name = "INTEGER_NOT_EQUAL", .doc = "Not equal to the guild's number" },
    { .value = 5,
      .name = "DATETIME_LESS_THAN_OR_EQUAL",
      .doc = "At most N days ago, where N is the guild's number" },
    { .value = 6,
      .name = "DATETIME_GREATER_THAN_OR_EQUAL",
      .doc = "At least N days ago, where N is the guild's number" },
    { .value = 7, .name = "BOOLEAN_EQUAL", .doc = "Equal to the guild's number, which is 1 or 0" },
    { .value = 8,
      .name = "BOOLEAN_NOT_EQUAL",
      .doc = "Not equal to the guild's number, which is 1 or 0" },
    { 0 },
};
static const struct string_rule key_rule = { is_metadata_key, FORM_REGEX };
static const struct type type_metadata_type = { .kind = KIND_INT, .choices = metadata_types };
static const struct type type_metadata_key = {
    .kind = KIND_STRING, .min = 1, .max = 50, .rule = &key_rule, .doc = "a-z, 0-9 and _"
};
static const struct type type_metadata_name = { .kind = KIND_STRING, .min = 1, .max = 100 };
static const struct type type_metadata_description = { .kind = KIND_STRING, .min = 1, .max = 200 };
static const struct type type_names = { .kind = KIND_MAP, .max = 40, .of = &type_metadata_name };
static const struct type type_descriptions = { .kind = KIND_MAP,
                                               .max = 40,
                                               .of = &type_metadata_description };
static const struct field metadata_fields[] = {
    { FIELD(struct role_connection_metadata, type), .type = &type_metadata_type },
    { FIELD(struct role_connection_metadata, key), .type = &type_metadata_key },
    { FIELD(struct role_connection_metadata, name), .type = &type_metadata_name },
    { FIELD(struct role_connection_metadata, name_localizations), .type = &type_names,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct role_connection_metadata, description), .type = &type_metadata_description },
    { FIELD(struct role_connection_metadata, description_localizations), .type = &type_descriptions,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema metadata_schema = {
    .name = "RoleConnectionMetadata",
    .size = sizeof(struct role_connection_metadata),
    .fields = metadata_fields,
    .doc = "A value that an app can report about its users.",
};
static const struct type type_metadata = { .kind = KIND_OBJECT, .schema = &metadata_schema };
const struct type type_role_connections_metadata = { .kind = KIND_ARRAY,
                                                     .max = 5,
                                                     .of = &type_metadata };

static const struct field account_fields[] = {
    { FIELD(struct integration_account, id), .type = &type_text },
    { FIELD(struct integration_account, name), .type = &type_text },
    { 0 },
};
static const struct schema account_schema = {
    .name = "IntegrationAccount",
    .size = sizeof(struct integration_account),
    .fields = account_fields,
    .doc = "The account behind an integration.",
};
const struct type type_integration_account = { .kind = KIND_OBJECT, .schema = &account_schema };

static const struct enum_choice behaviors[] = {
    { .value = EXPIRE_REMOVE_ROLE, .name = "REMOVE_ROLE", .doc = "Remove the subscriber role" },
    { .value = EXPIRE_KICK, .name = "KICK", .doc = "Remove the member from the guild" },
    { 0 },
};
static const struct type type_behavior = { .kind = KIND_INT, .choices = behaviors };

/* clang-format off */
#define COMMON_FIELDS(application_)                                                                \
    { FIELD(struct integration, id), .type = &type_id },                                           \
    { FIELD(struct integration, name), .type = &type_text },                                       \
    { FIELD_AS(struct integration, displayed_type, "type"), .type = &type_text },                            \
    { FIELD(struct integration, enabled), .type = &type_bool },                                    \
    { FIELD(struct integration, account), .type = &type_integration_account },                     \
    { FIELD(struct integration, syncing), .type = &type_bool, .flags = OPTIONAL },                 \
    { FIELD(struct integration, role_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },        \
    { FIELD(struct integration, enable_emoticons), .type = &type_bool, .flags = OPTIONAL },        \
    { FIELD(struct integration, expire_behavior), .type = &type_behavior, .flags = OPTIONAL },     \
    { FIELD(struct integration, expire_grace_period), .type = &type_count, .flags = OPTIONAL,      \
      .doc = "Days" },                                                                             \
    { FIELD(struct integration, synced_at), .type = &type_time, .flags = OPTIONAL },               \
    { FIELD(struct integration, subscriber_count), .type = &type_count, .flags = OPTIONAL },       \
    { FIELD(struct integration, revoked), .type = &type_bool, .flags = OPTIONAL },                 \
    { FIELD(struct integration, application), .type = &(application_), .flags = OPTIONAL },        \
    { FIELD(struct integration, scopes), .type = &type_texts, .flags = OPTIONAL }
/* clang-format on */

static const struct field event_fields[] = {
    COMMON_FIELDS(type_integration_application),
    { FIELD(struct integration, guild_id), .type = &type_id },
    { 0 },
};
const struct schema integration_event_schema = {
    .name = "IntegrationEvent",
    .size = sizeof(struct integration),
    .fields = event_fields,
    .doc = "An integration that was added or changed.",
};

static const struct field listed_fields[] = {
    COMMON_FIELDS(type_integration_application),
    { FIELD(struct integration, user), .type = &type_partial_user, .flags = OPTIONAL,
      .doc = "Account that added the integration" },
    { 0 },
};
static const struct schema listed_schema = {
    .name = "Integration",
    .size = sizeof(struct integration),
    .fields = listed_fields,
    .doc = "An app or an account of another platform in a guild.",
};
static const struct type type_integration = { .kind = KIND_OBJECT, .schema = &listed_schema };
const struct type type_integrations = { .kind = KIND_ARRAY, .of = &type_integration };

static const struct field described_fields[] = {
    COMMON_FIELDS(type_application_with_verification),
    { FIELD(struct integration, role_connections_metadata), .type = &type_role_connections_metadata,
      .flags = OPTIONAL },
    { FIELD(struct integration, user), .type = &type_partial_user, .flags = OPTIONAL,
      .doc = "Account that added the integration" },
    { 0 },
};
static const struct schema described_schema = {
    .name = "DescribedIntegration",
    .size = sizeof(struct integration),
    .fields = described_fields,
    .doc = "An integration with the role connection metadata of its app.",
};
static const struct type type_described = { .kind = KIND_OBJECT, .schema = &described_schema };
const struct type type_integrations_with_metadata = { .kind = KIND_ARRAY, .of = &type_described };

static const struct field integration_delete_fields[] = {
    { FIELD(struct integration_delete_event, id), .type = &type_id },
    { FIELD(struct integration_delete_event, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct integration_delete_event, channel_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct integration_delete_event, application_id), .type = &type_id, .flags = OPTIONAL },
    { 0 },
};
const struct schema integration_delete_event_schema = {
    .name = "IntegrationGone",
    .size = sizeof(struct integration_delete_event),
    .fields = integration_delete_fields,
    .doc = "An integration that was removed.",
};
