/* command.c - JSON schemas of application commands and their permissions. */
#include "model/command.h"

#include "model/application.h"
#include "model/channel.h"

enum { LOCALES = 34 };

static const struct enum_choice command_types[] = {
    { .value = COMMAND_CHAT_INPUT, .name = "CHAT_INPUT", .doc = "Typed after a slash" },
    { .value = COMMAND_USER, .name = "USER", .doc = "In the context menu of a user" },
    { .value = COMMAND_MESSAGE, .name = "MESSAGE", .doc = "In the context menu of a message" },
    { .value = COMMAND_ENTRY_POINT, .name = "PRIMARY_ENTRY_POINT", .doc = "Launches the app" },
    { 0 },
};
static const struct enum_choice handlers[] = {
    { .value = COMMAND_APP_HANDLER, .name = "APP_HANDLER", .doc = "The app responds" },
    { .value = COMMAND_LAUNCH_ACTIVITY,
      .name = "DISCORD_LAUNCH_ACTIVITY",
      .doc = "The activity is launched without asking the app" },
    { .value = COMMAND_APP_HANDLER_LAUNCH,
      .name = "APP_HANDLER_LAUNCH_ACTIVITY",
      .doc = "The app responds by launching its activity" },
    { 0 },
};
static const struct enum_choice option_types[] = {
    { .value = OPTION_SUB_COMMAND, .name = "SUB_COMMAND", .doc = "Contains options" },
    { .value = OPTION_SUB_COMMAND_GROUP, .name = "SUB_COMMAND_GROUP", .doc = "Sub-commands" },
    { .value = OPTION_STRING, .name = "STRING", .doc = "Text" },
    { .value = OPTION_INTEGER, .name = "INTEGER", .doc = "A whole number within 2^53" },
    { .value = OPTION_BOOLEAN, .name = "BOOLEAN", .doc = "Yes or no" },
    { .value = OPTION_USER, .name = "USER", .doc = "A user" },
    { .value = OPTION_CHANNEL, .name = "CHANNEL", .doc = "A channel" },
    { .value = OPTION_ROLE, .name = "ROLE", .doc = "A role" },
    { .value = OPTION_MENTIONABLE, .name = "MENTIONABLE", .doc = "A user or a role" },
    { .value = OPTION_NUMBER, .name = "NUMBER", .doc = "A number within 2^53" },
    { .value = OPTION_ATTACHMENT, .name = "ATTACHMENT", .doc = "A file" },
    { 0 },
};
static const struct enum_choice contexts[] = {
    { .value = CONTEXT_GUILD, .name = "GUILD", .doc = "In guilds" },
    { .value = CONTEXT_BOT_DM, .name = "BOT_DM", .doc = "In direct channels with the app's bot" },
    { .value = CONTEXT_PRIVATE_CHANNEL,
      .name = "PRIVATE_CHANNEL",
      .doc = "Other private channels" },
    { 0 },
};
static const struct enum_choice integration_types[] = {
    { .value = INSTALL_GUILD, .name = "GUILD_INSTALL", .doc = "The app is installed to a guild" },
    { .value = INSTALL_USER, .name = "USER_INSTALL", .doc = "The app is installed to a user" },
    { 0 },
};
/* All channel types except 6-9, which Discord has removed. */
static const struct enum_choice channel_types[] = {
    { .value = CHANNEL_TEXT, .name = "GUILD_TEXT", .doc = "Text" },
    { .value = CHANNEL_DM, .name = "DM", .doc = "Direct" },
    { .value = CHANNEL_VOICE, .name = "GUILD_VOICE", .doc = "Voice" },
    { .value = CHANNEL_GROUP, .name = "GROUP_DM", .doc = "Group" },
    { .value = CHANNEL_CATEGORY, .name = "GUILD_CATEGORY", .doc = "Category" },
    { .value = CHANNEL_ANNOUNCEMENT, .name = "GUILD_NEWS", .doc = "Announcements" },
    { .value = CHANNEL_ANNOUNCEMENT_THREAD, .name = "NEWS_THREAD", .doc = "Announcement thread" },
    { .value = CHANNEL_THREAD, .name = "PUBLIC_THREAD", .doc = "Thread" },
    { .value = CHANNEL_PRIVATE_THREAD, .name = "PRIVATE_THREAD", .doc = "Private thread" },
    { .value = CHANNEL_STAGE, .name = "GUILD_STAGE_VOICE", .doc = "Stage" },
    { .value = 14, .name = "GUILD_DIRECTORY", .doc = "Directory" },
    { .value = CHANNEL_FORUM, .name = "GUILD_FORUM", .doc = "Forum" },
    { .value = 16, .name = "GUILD_MEDIA", .doc = "Media" },
    { 0 },
};

const struct type type_command_type = { .kind = KIND_INT, .choices = command_types };
const struct type type_command_handler = { .kind = KIND_INT, .choices = handlers };
/* Any integer is valid for this type: validate_options.c reports unknown option types. */
const struct type type_option_type = { .kind = KIND_INT,
                                       .flags = TYPE_LOOSE_ENUM,
                                       .choices = option_types };
const struct type type_command_name = {
    .kind = KIND_STRING, .min = 1, .max = 32, .doc = "Command name"
};
const struct type type_command_description = {
    .kind = KIND_STRING, .doc = "Description: 1-100 characters; empty for USER and MESSAGE commands"
};
const struct type type_option_name = {
    .kind = KIND_STRING, .min = 1, .max = 100, .doc = "Option name; in effect 1-32 characters"
};
const struct type type_option_description = {
    .kind = KIND_STRING, .min = 1, .max = 100, .doc = "Description of the option"
};
const struct type type_choice_name = {
    .kind = KIND_STRING, .min = 1, .max = 100, .doc = "Name of the choice"
};
const struct type type_choice_value = {
    .kind = KIND_RAW,
    .doc = "A string of at most 100 characters or a number, depending on the option's type"
};
/* Type of a field with localizations. The keys are locales; values are validated like the text that
 * they replace. */
const struct type type_localizations = { .kind = KIND_MAP,
                                         .flags = TYPE_NULL_NONE,
                                         .max = LOCALES,
                                         .of = &type_text,
                                         .doc = "Translations by locale" };
static const struct type type_context = { .kind = KIND_INT, .choices = contexts };
const struct type type_command_contexts = { .kind = KIND_ARRAY, .min = 1, .of = &type_context };
static const struct type type_integration_type = { .kind = KIND_INT, .choices = integration_types };
const struct type type_command_integration_types = { .kind = KIND_ARRAY,
                                                     .min = 1,
                                                     .of = &type_integration_type };
static const struct type type_channel_type = { .kind = KIND_INT, .choices = channel_types };
const struct type type_channel_types = { .kind = KIND_ARRAY, .of = &type_channel_type };

static bool is_file_type_or_extension(struct str s)
{
    if (str_is(s, "image") || str_is(s, "video") || str_is(s, "audio"))
        return true;
    for (size_t i = 1; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] == '.' || s.p[i] == '/')
            return false;
    return s.n > 1 && s.p[0] == '.';
}
static const struct string_rule file_type_rule = { is_file_type_or_extension, FORM_REGEX };
static const struct type type_file_type = {
    .kind = KIND_STRING,
    .flags = TYPE_LOWER,
    .min = 1,
    .max = 32,
    .rule = &file_type_rule,
    .doc = "image, video, audio, or an extension with its dot",
};
const struct type type_file_types = { .kind = KIND_ARRAY,
                                      .max = COMMAND_MAX_FILE_TYPES,
                                      .of = &type_file_type };
const struct type type_entered_length = { .kind = KIND_INT, .min = 0, .max = COMMAND_MAX_LENGTH };
const struct type type_entered_number = { .kind = KIND_REAL, .flags = TYPE_SAFE_INT };

/* The localizations of a command, and the fields that replace them if a response has only one
 * language. */
/* clang-format off */
#define DICTIONARY(type_, member_)                                                                 \
    { FIELD(type_, member_), .type = &type_localizations, .flags = OPTIONAL | NULLABLE }
#define LOCALIZED(type_, localized_, default_)                                                     \
    { FIELD(type_, localized_), .type = &type_text, .flags = OPTIONAL,                             \
      .doc = "Text in the reader's language; only in lists" },                                     \
    { FIELD(type_, default_), .type = &type_text, .flags = OPTIONAL,                               \
      .doc = "Original text, if the text in the reader's language replaced it; only in indexes" }

#define CHOICE_NAME { FIELD(struct command_choice, name), .type = &type_choice_name }
#define CHOICE_NAMES DICTIONARY(struct command_choice, name_localizations)
#define CHOICE_VALUE { FIELD(struct command_choice, value), .type = &type_choice_value }
/* clang-format on */

static const struct field choice_fields[] = {
    CHOICE_NAME,  CHOICE_NAMES, LOCALIZED(struct command_choice, name_localized, name_default),
    CHOICE_VALUE, { 0 },
};
static const struct schema command_choice_schema = {
    .name = "ApplicationCommandOptionChoice",
    .size = sizeof(struct command_choice),
    .fields = choice_fields,
    .doc = "A value that can be chosen for an option.",
};
static const struct type type_command_choice = { .kind = KIND_OBJECT,
                                                 .schema = &command_choice_schema };
static const struct type type_choices = { .kind = KIND_ARRAY,
                                          .max = COMMAND_MAX_CHOICES,
                                          .of = &type_command_choice };

static const struct field choice_plain_fields[] = { CHOICE_NAME, CHOICE_VALUE, { 0 } };
static const struct schema choice_plain_schema = {
    .size = sizeof(struct command_choice),
    .fields = choice_plain_fields,
};
static const struct type type_choice_plain = { .kind = KIND_OBJECT,
                                               .schema = &choice_plain_schema };
static const struct type type_choices_plain = { .kind = KIND_ARRAY, .of = &type_choice_plain };

static const struct type type_options, type_options_stored, type_options_unlocalized;

/* clang-format off */
#define OPTION_NAME                                                                                \
    { FIELD(struct command_option, type), .type = &type_option_type },                             \
    { FIELD(struct command_option, name), .type = &type_option_name }
#define OPTION_DESCRIPTION                                                                         \
    { FIELD(struct command_option, description), .type = &type_option_description }
#define OPTION_REST(options_, choices_)                                                            \
    { FIELD(struct command_option, required), .type = &type_bool, .flags = OPTIONAL },             \
    { FIELD(struct command_option, choices), .type = &choices_, .flags = OPTIONAL },               \
    { FIELD(struct command_option, options), .type = &options_, .flags = OPTIONAL },               \
    { FIELD(struct command_option, channel_types), .type = &type_channel_types,                    \
      .flags = OPTIONAL },                                                                         \
    { FIELD(struct command_option, min_value), .type = &type_entered_number, .flags = OPTIONAL },  \
    { FIELD(struct command_option, max_value), .type = &type_entered_number, .flags = OPTIONAL },  \
    { FIELD(struct command_option, min_length), .type = &type_entered_length,                      \
      .flags = OPTIONAL },                                                                         \
    { FIELD(struct command_option, max_length), .type = &type_entered_length,                      \
      .flags = OPTIONAL },                                                                         \
    { FIELD(struct command_option, autocomplete), .type = &type_bool, .flags = OPTIONAL }
/* clang-format on */

static const struct field option_fields[] = {
    OPTION_NAME,
    DICTIONARY(struct command_option, name_localizations),
    LOCALIZED(struct command_option, name_localized, name_default),
    OPTION_DESCRIPTION,
    DICTIONARY(struct command_option, description_localizations),
    LOCALIZED(struct command_option, description_localized, description_default),
    OPTION_REST(type_options, type_choices),
    { 0 },
};
static const struct schema command_option_schema = {
    .name = "ApplicationCommandOption",
    .size = sizeof(struct command_option),
    .fields = option_fields,
    .doc = "A parameter of a command, or a sub-command.",
};
static const struct type type_command_option = { .kind = KIND_OBJECT,
                                                 .schema = &command_option_schema };
static const struct type type_options = { .kind = KIND_ARRAY,
                                          .max = COMMAND_MAX_OPTIONS,
                                          .of = &type_command_option };

static const struct field option_stored_fields[] = {
    OPTION_NAME,
    DICTIONARY(struct command_option, name_localizations),
    OPTION_DESCRIPTION,
    DICTIONARY(struct command_option, description_localizations),
    OPTION_REST(type_options_stored, type_choices),
    { FIELD(struct command_option, file_types), .type = &type_file_types, .flags = OPTIONAL },
    { 0 },
};
static const struct schema option_stored_schema = {
    .size = sizeof(struct command_option),
    .fields = option_stored_fields,
};
static const struct type type_option_stored = { .kind = KIND_OBJECT,
                                                .schema = &option_stored_schema };
static const struct type type_options_stored = { .kind = KIND_ARRAY, .of = &type_option_stored };

static const struct field option_plain_fields[] = {
    OPTION_NAME,
    OPTION_DESCRIPTION,
    OPTION_REST(type_options_unlocalized, type_choices_plain),
    { 0 },
};
static const struct schema option_plain_schema = {
    .size = sizeof(struct command_option),
    .fields = option_plain_fields,
};
static const struct type type_option_plain = { .kind = KIND_OBJECT,
                                               .schema = &option_plain_schema };
static const struct type type_options_unlocalized = { .kind = KIND_ARRAY,
                                                      .of = &type_option_plain };

static const struct type type_flag = { .kind = KIND_BOOL };
static const struct type type_permission_map = { .kind = KIND_MAP, .of = &type_flag };
static const struct field index_permissions_fields[] = {
    { FIELD(struct command_index_permissions, user), .type = &type_bool, .flags = OPTIONAL,
      .doc = "The row for the reader's account" },
    { FIELD(struct command_index_permissions, roles), .type = &type_permission_map,
      .flags = OPTIONAL, .doc = "Rows for the reader's roles" },
    { FIELD(struct command_index_permissions, channels), .type = &type_permission_map,
      .flags = OPTIONAL, .doc = "Rows for channels" },
    { 0 },
};
static const struct schema index_permissions_schema = {
    .name = "ApplicationCommandIndexPermissions",
    .size = sizeof(struct command_index_permissions),
    .fields = index_permissions_fields,
    .doc = "Permission rows that apply to the reader of an index.",
};
const struct type type_command_index_permissions = { .kind = KIND_OBJECT,
                                                     .schema = &index_permissions_schema };

/* clang-format off */
#define COMMAND_BEGIN                                                                              \
    { FIELD(struct command, id), .type = &type_id },                                               \
    { FIELD(struct command, application_id), .type = &type_id },                                   \
    { FIELD(struct command, version), .type = &type_id, .doc = "Changes with each update" },       \
    { FIELD(struct command, default_member_permissions), .type = &type_permissions,                \
      .flags = NULLABLE },                                                                         \
    { FIELD(struct command, type), .type = &type_command_type },                                   \
    { FIELD(struct command, name), .type = &type_command_name }
#define COMMAND_DESCRIPTION                                                                        \
    { FIELD(struct command, description), .type = &type_command_description }
#define COMMAND_REST(options_)                                                                     \
    { FIELD(struct command, guild_id), .type = &type_id, .flags = OPTIONAL },                      \
    { FIELD(struct command, dm_permission), .type = &type_bool, .flags = OPTIONAL | DEPRECATED,    \
      .doc = "Global commands only" },                                                             \
    { FIELD(struct command, contexts), .type = &type_command_contexts,                             \
      .flags = OPTIONAL | NULLABLE, .doc = "Global commands only" },                               \
    { FIELD(struct command, integration_types), .type = &type_command_integration_types,           \
      .flags = OPTIONAL, .doc = "Global commands only" },                                          \
    { FIELD(struct command, options), .type = &options_, .flags = OPTIONAL },                      \
    { FIELD(struct command, nsfw), .type = &type_bool },                                           \
    { FIELD(struct command, handler), .type = &type_command_handler, .flags = OPTIONAL,            \
      .doc = "Entry points only" }
/* clang-format on */

static const struct field command_fields[] = {
    COMMAND_BEGIN,
    DICTIONARY(struct command, name_localizations),
    LOCALIZED(struct command, name_localized, name_default),
    COMMAND_DESCRIPTION,
    DICTIONARY(struct command, description_localizations),
    LOCALIZED(struct command, description_localized, description_default),
    COMMAND_REST(type_options),
    { FIELD(struct command, global_popularity_rank), .type = &type_int, .flags = OPTIONAL,
      .doc = "Only in indexes: rank by use among the application's commands; 1 is used most" },
    { FIELD(struct command, permissions), .type = &type_command_index_permissions,
      .flags = OPTIONAL, .doc = "Only in indexes of guilds" },
    { 0 },
};
static const struct schema command_schema = {
    .name = "ApplicationCommand",
    .size = sizeof(struct command),
    .fields = command_fields,
    .doc = "A command of an application.",
};
const struct type type_command = { .kind = KIND_OBJECT, .schema = &command_schema };
const struct type type_commands = { .kind = KIND_ARRAY, .of = &type_command };

static const struct field command_stored_fields[] = {
    COMMAND_BEGIN,
    DICTIONARY(struct command, name_localizations),
    COMMAND_DESCRIPTION,
    DICTIONARY(struct command, description_localizations),
    COMMAND_REST(type_options_stored),
    { 0 },
};
static const struct schema command_stored_schema = {
    .size = sizeof(struct command),
    .fields = command_stored_fields,
};
const struct type type_command_stored = { .kind = KIND_OBJECT, .schema = &command_stored_schema };

static const struct field command_plain_fields[] = {
    COMMAND_BEGIN,
    COMMAND_DESCRIPTION,
    COMMAND_REST(type_options_unlocalized),
    { 0 },
};
static const struct schema command_plain_schema = {
    .size = sizeof(struct command),
    .fields = command_plain_fields,
};
const struct type type_command_unlocalized = { .kind = KIND_OBJECT,
                                               .schema = &command_plain_schema };

static const struct enum_choice permission_types[] = {
    { .value = COMMAND_PERMISSION_ROLE, .name = "ROLE", .doc = "A role, or everyone" },
    { .value = COMMAND_PERMISSION_USER, .name = "USER", .doc = "A member" },
    { .value = COMMAND_PERMISSION_CHANNEL, .name = "CHANNEL", .doc = "A channel, or all" },
    { 0 },
};
static const struct type type_permission_type = { .kind = KIND_INT, .choices = permission_types };

static const struct field permission_fields[] = {
    { FIELD(struct command_permission, id), .type = &type_id,
      .doc = "Role, user or channel; the guild's id: everyone; the guild's id minus one: all "
             "channels" },
    { FIELD(struct command_permission, type), .type = &type_permission_type },
    { FIELD(struct command_permission, permission), .type = &type_bool },
    { 0 },
};
static const struct schema command_permission_schema = {
    .name = "ApplicationCommandPermission",
    .size = sizeof(struct command_permission),
    .fields = permission_fields,
    .doc = "Whether a role, user or channel may use a command.",
};
const struct type type_command_permission = { .kind = KIND_OBJECT,
                                              .schema = &command_permission_schema };
const struct type type_permission_rows = { .kind = KIND_ARRAY,
                                           .max = 100,
                                           .of = &type_command_permission };

static const struct field permissions_fields[] = {
    { FIELD(struct command_permissions, id), .type = &type_id,
      .doc = "Id of a command, or of the application for all its commands" },
    { FIELD(struct command_permissions, application_id), .type = &type_id },
    { FIELD(struct command_permissions, guild_id), .type = &type_id },
    { FIELD(struct command_permissions, permissions), .type = &type_permission_rows },
    { 0 },
};
const struct schema command_permissions_schema = {
    .name = "GuildApplicationCommandPermissions",
    .size = sizeof(struct command_permissions),
    .fields = permissions_fields,
    .doc = "Which roles, users and channels of a guild may use a command.",
};
const struct type type_command_permissions = { .kind = KIND_OBJECT,
                                               .schema = &command_permissions_schema };
const struct type type_command_permissions_list = { .kind = KIND_ARRAY,
                                                    .of = &type_command_permissions };
