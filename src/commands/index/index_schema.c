/* index_schema.c - schemas of command indexes. */
#include "commands/index/index.h"

static const struct field config_fields[] = {
    { FIELD(struct activity_config, supported_platforms), .type = &type_texts },
    { 0 },
};
static const struct schema config_schema = {
    .name = "PartialEmbeddedActivityConfig",
    .size = sizeof(struct activity_config),
    .fields = config_fields,
    .doc = "Where an application can be launched.",
};
static const struct type type_config = { .kind = KIND_OBJECT, .schema = &config_schema };

static const struct field application_fields[] = {
    { FIELD(struct command_index_application, id), .type = &type_id },
    { FIELD(struct command_index_application, name), .type = &type_application_name },
    { FIELD(struct command_index_application, description), .type = &type_application_description },
    { FIELD(struct command_index_application, icon), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct command_index_application, permissions), .type = &type_command_index_permissions,
      .flags = OPTIONAL },
    { FIELD(struct command_index_application, bot), .type = &type_partial_user, .flags = OPTIONAL,
      .doc = "In the index of an application" },
    { FIELD(struct command_index_application, bot_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct command_index_application, flags), .type = &type_permissions,
      .doc = "Application flags, as text" },
    { FIELD(struct command_index_application, embedded_activity_config), .type = &type_config,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema application_schema_of_index = {
    .name = "CommandIndexApplication",
    .size = sizeof(struct command_index_application),
    .fields = application_fields,
    .doc = "An application whose commands are in an index.",
};
static const struct type type_application_of_index = { .kind = KIND_OBJECT,
                                                       .schema = &application_schema_of_index };
const struct type type_index_applications = { .kind = KIND_ARRAY,
                                              .of = &type_application_of_index };

/* Describes the reply, for the OpenAPI document and for tests. index_routes.c writes the reply
 * without this struct. */
struct command_index {
    struct list applications, application_commands;
    snowflake version;
};

static const struct field index_fields[] = {
    { FIELD(struct command_index, applications), .type = &type_index_applications },
    { FIELD(struct command_index, application_commands), .type = &type_commands },
    { FIELD(struct command_index, version), .type = &type_id,
      .doc = "When something in the index last changed" },
    { 0 },
};
static const struct schema index_schema = {
    .name = "ApplicationCommandIndex",
    .size = sizeof(struct command_index),
    .fields = index_fields,
    .doc = "Commands that can be used somewhere, and the applications they belong to.",
};
const struct type command_index_reply = { .kind = KIND_OBJECT, .schema = &index_schema };
