/* schema.c - JSON schemas of bodies and queries of application commands. */
#include "commands/internal.h"

/* Dictionary of localizations. Keys with the value null are ignored, because client libraries send
 * null to remove a localization. */
#define DICTIONARY_OF(type_)                                                     \
    {                                                                            \
        .kind = KIND_MAP, .flags = TYPE_NULL_NONE, .of = &type_, .max = LOCALES, \
        .doc = "Translations by locale"                                          \
    }

enum { LOCALES = 34 };

static const struct type command_names = DICTIONARY_OF(type_command_name);
static const struct type command_descriptions = DICTIONARY_OF(type_command_description);
static const struct type option_names = DICTIONARY_OF(type_option_name);
static const struct type option_descriptions = DICTIONARY_OF(type_option_description);
static const struct type choice_names = DICTIONARY_OF(type_choice_name);

static const struct field choice_fields[] = {
    { FIELD(struct command_choice, name), .type = &type_choice_name },
    { FIELD(struct command_choice, name_localizations), .type = &choice_names,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct command_choice, value), .type = &type_choice_value },
    { 0 },
};
static const struct schema choice_schema = {
    .name = "ApplicationCommandOptionChoiceBody",
    .size = sizeof(struct command_choice),
    .fields = choice_fields,
    .doc = "A value that can be chosen for an option.",
};
static const struct type choice_body = { .kind = KIND_OBJECT, .schema = &choice_schema };
static const struct type choice_bodies = { .kind = KIND_ARRAY,
                                           .max = COMMAND_MAX_CHOICES,
                                           .of = &choice_body };

static const struct type option_bodies;

static const struct field option_fields[] = {
    { FIELD(struct command_option, type), .type = &type_option_type },
    { FIELD(struct command_option, name), .type = &type_option_name },
    { FIELD(struct command_option, name_localizations), .type = &option_names,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct command_option, description), .type = &type_option_description },
    { FIELD(struct command_option, description_localizations), .type = &option_descriptions,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct command_option, required), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct command_option, choices), .type = &choice_bodies, .flags = OPTIONAL,
      .doc = "STRING, INTEGER and NUMBER only" },
    { FIELD(struct command_option, options), .type = &option_bodies, .flags = OPTIONAL,
      .doc = "SUB_COMMAND and SUB_COMMAND_GROUP only" },
    { FIELD(struct command_option, channel_types), .type = &type_channel_types, .flags = OPTIONAL,
      .doc = "CHANNEL only" },
    { FIELD(struct command_option, min_value), .type = &type_entered_number, .flags = OPTIONAL,
      .doc = "INTEGER and NUMBER only" },
    { FIELD(struct command_option, max_value), .type = &type_entered_number, .flags = OPTIONAL,
      .doc = "INTEGER and NUMBER only" },
    { FIELD(struct command_option, min_length), .type = &type_entered_length, .flags = OPTIONAL,
      .doc = "STRING only" },
    { FIELD(struct command_option, max_length), .type = &type_entered_length, .flags = OPTIONAL,
      .doc = "STRING only" },
    { FIELD(struct command_option, autocomplete), .type = &type_bool, .flags = OPTIONAL,
      .doc = "STRING, INTEGER and NUMBER only, without choices" },
    { FIELD(struct command_option, file_types), .type = &type_file_types, .flags = OPTIONAL,
      .doc = "ATTACHMENT only; never shown" },
    { 0 },
};
static const struct schema option_schema = {
    .name = "ApplicationCommandOptionBody",
    .size = sizeof(struct command_option),
    .fields = option_fields,
    .doc = "An option of a command, or a sub-command.",
};
static const struct type option_body = { .kind = KIND_OBJECT, .schema = &option_schema };
static const struct type option_bodies = { .kind = KIND_ARRAY,
                                           .max = COMMAND_MAX_OPTIONS,
                                           .of = &option_body };

/* Types of guild commands: all but entry points, which can only be global. */
static const struct enum_choice guild_types[] = {
    { .value = COMMAND_CHAT_INPUT, .name = "CHAT_INPUT", .doc = "Typed after a slash" },
    { .value = COMMAND_USER, .name = "USER", .doc = "In the menu of a user" },
    { .value = COMMAND_MESSAGE, .name = "MESSAGE", .doc = "In the menu of a message" },
    { 0 },
};
static const struct type guild_command_type = { .kind = KIND_INT, .choices = guild_types };

/* clang-format off */
#define ID_FIELD                                                                                   \
    { FIELD(struct command_patch, id), .type = &type_id, .flags = OPTIONAL,                        \
      .doc = "Id of an existing command to rename" }
#define TYPE_FIELD(type_)                                                                          \
    { FIELD(struct command_patch, type), .type = &type_, .flags = OPTIONAL,                        \
      .doc = "CHAT_INPUT by default" }
#define NAME_FIELD(flags_)                                                                         \
    { FIELD(struct command_patch, name), .type = &type_command_name, .flags = flags_ }
#define COMMON_FIELDS                                                                              \
    { FIELD(struct command_patch, name_localizations), .type = &command_names,                     \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct command_patch, description), .type = &type_command_description,                 \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct command_patch, description_localizations), .type = &command_descriptions,       \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct command_patch, options), .type = &option_bodies,                                \
      .flags = OPTIONAL | NULLABLE, .doc = "CHAT_INPUT only" },                                    \
    { FIELD(struct command_patch, default_member_permissions), .type = &type_permissions,          \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct command_patch, nsfw), .type = &type_bool, .flags = OPTIONAL | NULLABLE }
#define GLOBAL_FIELDS                                                                              \
    { FIELD(struct command_patch, dm_permission), .type = &type_bool,                              \
      .flags = OPTIONAL | NULLABLE | DEPRECATED },                                                 \
    { FIELD(struct command_patch, integration_types), .type = &type_command_integration_types,     \
      .flags = OPTIONAL | NULLABLE, .doc = "Those of the application by default" },                \
    { FIELD(struct command_patch, contexts), .type = &type_command_contexts,                       \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct command_patch, handler), .type = &type_command_handler,                         \
      .flags = OPTIONAL | NULLABLE, .doc = "Entry points only" }
/* clang-format on */

/* Removes errors in option fields that do not apply to the option's type. All other checks run
 * later, because they need the stored command. */
static void check_command_patch(struct form *form, const struct json_path *here, const void *object)
{
    const struct command_patch *in = object;
    struct json_path options = json_path_key(here, STR("options"));

    remove_errors_in_inapplicable_option_fields(form, &options, &in->options.value);
}

/* Checks a new command, after absent fields got their defaults. */
static void check_new_command(struct form *form, const struct json_path *here, const void *object)
{
    struct command k = new_empty_command(0);

    check_command_patch(form, here, object);
    apply_command_patch(form->arena, &k, object);
    validate_command(form, here, &k);
}

static const struct field create_fields[] = {
    TYPE_FIELD(type_command_type), NAME_FIELD(0), COMMON_FIELDS, GLOBAL_FIELDS, { 0 }
};
static const struct schema create_schema = {
    .name = "ApplicationCommandCreate",
    .size = sizeof(struct command_patch),
    .fields = create_fields,
    .check = check_new_command,
    .doc = "A new global command.",
};
const struct type command_body = { .kind = KIND_OBJECT, .schema = &create_schema };

static const struct field guild_create_fields[] = {
    TYPE_FIELD(guild_command_type), NAME_FIELD(0), COMMON_FIELDS, { 0 }
};
static const struct schema guild_create_schema = {
    .name = "GuildApplicationCommandCreate",
    .size = sizeof(struct command_patch),
    .fields = guild_create_fields,
    .check = check_new_command,
    .doc = "A new command of a guild.",
};
const struct type guild_command_body = { .kind = KIND_OBJECT, .schema = &guild_create_schema };

static const struct field command_patch_fields[] = {
    NAME_FIELD(OPTIONAL), COMMON_FIELDS, GLOBAL_FIELDS, { 0 }
};
static const struct schema command_patch_schema = {
    .name = "ApplicationCommandPatch",
    .size = sizeof(struct command_patch),
    .fields = command_patch_fields,
    .check = check_command_patch,
    .doc = "Changes of a global command.",
};
const struct type command_patch_body = { .kind = KIND_OBJECT, .schema = &command_patch_schema };

static const struct field guild_command_patch_fields[] = { NAME_FIELD(OPTIONAL),
                                                           COMMON_FIELDS,
                                                           { 0 } };
static const struct schema guild_command_patch_schema = {
    .name = "GuildApplicationCommandPatch",
    .size = sizeof(struct command_patch),
    .fields = guild_command_patch_fields,
    .check = check_command_patch,
    .doc = "Changes of a command of a guild.",
};
const struct type guild_command_patch_body = { .kind = KIND_OBJECT,
                                               .schema = &guild_command_patch_schema };

static const struct field item_fields[] = { ID_FIELD,      TYPE_FIELD(type_command_type),
                                            NAME_FIELD(0), COMMON_FIELDS,
                                            GLOBAL_FIELDS, { 0 } };
static const struct schema item_schema = {
    .name = "ApplicationCommandOverwrite",
    .size = sizeof(struct command_patch),
    .fields = item_fields,
    .check = check_new_command,
    .doc = "One command of the new list of global commands.",
};
static const struct type item = { .kind = KIND_OBJECT, .schema = &item_schema };
const struct type commands_body = { .kind = KIND_ARRAY, .flags = TYPE_NULL_NONE, .of = &item };

static const struct field guild_item_fields[] = {
    ID_FIELD, TYPE_FIELD(guild_command_type), NAME_FIELD(0), COMMON_FIELDS, { 0 }
};
static const struct schema guild_item_schema = {
    .name = "GuildApplicationCommandOverwrite",
    .size = sizeof(struct command_patch),
    .fields = guild_item_fields,
    .check = check_new_command,
    .doc = "One command of the new list of a guild's commands.",
};
static const struct type guild_item = { .kind = KIND_OBJECT, .schema = &guild_item_schema };
const struct type guild_commands_body = { .kind = KIND_ARRAY,
                                          .flags = TYPE_NULL_NONE,
                                          .of = &guild_item };

static const struct field query_fields[] = {
    { FIELD(struct commands_query, with_localizations), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Include all localizations, not only the caller's" },
    { 0 },
};
const struct schema commands_query_schema = {
    .name = "ApplicationCommandsQuery",
    .size = sizeof(struct commands_query),
    .fields = query_fields,
    .doc = "How commands are listed.",
};

static const struct field permissions_fields[] = {
    { FIELD(struct command_permissions_body, permissions), .type = &type_permission_rows,
      .doc = "At most 10 new ones; an empty list resets the permissions" },
    { 0 },
};
static const struct schema permissions_schema = {
    .name = "ApplicationCommandPermissionsBody",
    .size = sizeof(struct command_permissions_body),
    .fields = permissions_fields,
    .doc = "All rows of a command in a guild.",
};
const struct type permissions_body = { .kind = KIND_OBJECT, .schema = &permissions_schema };

static const struct field embedded_fields[] = {
    { FIELD(struct embedded_activity_body, embedded), .type = &type_bool },
    { 0 },
};
static const struct schema embedded_schema = {
    .name = "SetEmbedded",
    .size = sizeof(struct embedded_activity_body),
    .fields = embedded_fields,
    .doc = "Whether an application can be launched.",
};
const struct type embedded_body = { .kind = KIND_OBJECT, .schema = &embedded_schema };
