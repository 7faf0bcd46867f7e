/* command.h - application commands (slash, user, message), their options and permissions. */
#ifndef MODEL_COMMAND_H
#define MODEL_COMMAND_H

#include "model/fields/types.h"

enum command_type {
    COMMAND_CHAT_INPUT = 1,
    COMMAND_USER = 2,
    COMMAND_MESSAGE = 3,
    COMMAND_ENTRY_POINT = 4,
};
enum command_handler {
    COMMAND_APP_HANDLER = 1,
    COMMAND_LAUNCH_ACTIVITY = 2,
    COMMAND_APP_HANDLER_LAUNCH = 3, /* the app must respond by launching its activity */
};
enum command_option_type {
    OPTION_SUB_COMMAND = 1,
    OPTION_SUB_COMMAND_GROUP = 2,
    OPTION_STRING = 3,
    OPTION_INTEGER = 4,
    OPTION_BOOLEAN = 5,
    OPTION_USER = 6,
    OPTION_CHANNEL = 7,
    OPTION_ROLE = 8,
    OPTION_MENTIONABLE = 9,
    OPTION_NUMBER = 10,
    OPTION_ATTACHMENT = 11,
};
/* Context in which a command can be used; context n is bit n of command_get_context_bits. */
enum command_context { CONTEXT_GUILD = 0, CONTEXT_BOT_DM = 1, CONTEXT_PRIVATE_CHANNEL = 2 };

enum {
    COMMAND_MAX_OPTIONS = 25, /* maximum per nesting level */
    COMMAND_MAX_CHOICES = 25,
    COMMAND_MAX_FILE_TYPES = 10,
    COMMAND_MAX_CHARACTERS = 8000,
    COMMAND_MAX_LENGTH = 6000, /* upper limit of an option's max_length */
    /* Maximum JSON size with all localizations, in bytes: of one command, and of all commands of a
     * scope (global, or one guild). Discord documents no such limit, but 8000 characters in 34
     * languages can be 5 MB. */
    COMMAND_MAX_BYTES = 1024 * 1024,
    COMMANDS_MAX_BYTES = 4 * 1024 * 1024,
};

/* Struct fields …_localizations are lists of struct string_pair (locale, text). They are ABSENT in
 * a response with the texts of only one language, and null if the command has no localizations. In
 * lists of commands, …_localized is the text in the reader's language. In command indexes that text
 * is in the main field (for example, name), and the original text is in …_default. */
struct command_choice {
    struct str name;
    struct opt_list name_localizations;
    struct opt_str name_localized, name_default;
    /* Value of the choice: JSON string or number, in the format of json/write.h. */
    struct str value;
};

struct command_option {
    int64_t type;
    struct str name, description;
    struct opt_list name_localizations, description_localizations;
    struct opt_str name_localized, name_default, description_localized, description_default;
    struct opt_bool required, autocomplete;
    struct opt_list choices;       /* struct command_choice */
    struct opt_list options;       /* struct command_option */
    struct opt_list channel_types; /* int64_t */
    struct opt_real min_value, max_value;
    struct opt_int min_length, max_length;
    struct opt_list file_types; /* file types (struct str) that the option accepts; stored, but not
                                 * sent in responses */
};

/* A permission entry of a command that applies to the user who requests a command index. The client
 * evaluates the entries to show or hide the command. */
struct command_index_permission {
    struct str id;
    bool permission;
};
struct command_index_permissions {
    struct opt_bool user;
    struct opt_list roles, channels; /* struct command_index_permission */
};

struct command {
    snowflake id, application_id, version;
    struct opt_id guild_id; /* ABSENT for a global command */
    int64_t type;
    struct str name, description; /* description is empty for USER and MESSAGE commands */
    struct opt_list name_localizations, description_localizations;
    struct opt_str name_localized, name_default, description_localized, description_default;
    struct opt_list options; /* options of the command (struct command_option); ABSENT if the
                              * command has none */
    /* Permissions that a member needs to use the command. null: everyone may use the command; 0:
     * administrators only. */
    struct opt_id default_member_permissions;
    bool nsfw;
    /* Struct fields that only global commands have. */
    struct opt_bool dm_permission;
    struct opt_list contexts, integration_types; /* int64_t, ascending; contexts may be null */
    struct opt_int handler;                      /* only for entry point commands */
    /* Struct fields that are set only in command indexes. */
    struct opt_int global_popularity_rank;
    const struct command_index_permissions *permissions;
};

extern const struct type type_command, type_commands;
/* JSON types of the two database columns that store a command. type_command_stored has all fields,
 * including those that responses omit. type_command_unlocalized has no localizations. */
extern const struct type type_command_stored, type_command_unlocalized;
/* Types of JSON fields that are the same in request bodies and in command objects. */
extern const struct type type_command_type, type_command_name, type_command_description,
    type_option_type, type_option_name, type_option_description, type_choice_name,
    type_choice_value, type_localizations, type_command_handler, type_command_contexts,
    type_command_integration_types, type_channel_types, type_file_types, type_entered_length,
    type_entered_number;
extern const struct type type_command_index_permissions, type_permission_rows;

/* --- permissions ---------------------------------------------------------------------- */

enum command_permission_type {
    COMMAND_PERMISSION_ROLE = 1,
    COMMAND_PERMISSION_USER = 2,
    COMMAND_PERMISSION_CHANNEL = 3,
};

/* Whether a role, user or channel may use a command. The id of the guild stands for everyone, the
 * id of the guild minus 1 for all channels. */
struct command_permission {
    snowflake id;
    int64_t type;
    bool permission;
};
struct command_permissions {
    /* Id of the command; id of the application if the entry is for all its commands. */
    snowflake id;
    snowflake application_id, guild_id;
    struct list permissions; /* struct command_permission */
};

extern const struct schema command_permissions_schema;
extern const struct type type_command_permission, type_command_permissions,
    type_command_permissions_list;

/* --- properties of a command ---------------------------------------------------------- */

/* Returns a set of bits: bit n is set if the command can be used in context n (enum
 * command_context). */
unsigned command_get_context_bits(const struct command *k);
unsigned command_get_integration_type_bits(const struct command *k);

/* Finds the text for a locale in a list of localizations. If there is none, tries a related locale:
 * en-US and en-GB replace each other, es-ES replaces es-419. Returns false if no text is found. */
bool localizations_find_text(const struct opt_list *dictionary, struct str locale, struct str *ret);

/* command_localize replaces the localizations of a command by the text of one locale.
 * COMMAND_FORM_LIST adds this text as …_localized. COMMAND_FORM_INDEX puts it in place of the
 * original text. */
enum command_localization_placement { COMMAND_FORM_LIST, COMMAND_FORM_INDEX };
void command_localize(struct command *k, struct str locale,
                      enum command_localization_placement form);
void command_choice_localize(struct command_choice *c, struct str locale,
                             enum command_localization_placement form);

/* Returns the bit of a locale in a set of locales, or 0 if the locale is not supported. */
uint64_t locale_get_bit(struct str locale);
/* Supported two-letter locales: one bit per second letter, indexed by the first letter. */
extern const uint32_t supported_locale_letters[26];
static inline bool locale_is_supported(struct str locale)
{
    if (locale.n == 2) {
        unsigned a = (unsigned char)locale.p[0] - 'a', b = (unsigned char)locale.p[1] - 'a';

        if (a < 26 && b < 26)
            return supported_locale_letters[a] >> b & 1;
    }
    return locale_get_bit(locale) != 0;
}
uint64_t command_locale_bits(const struct command *k);
/* Returns the bits of all locales whose text a reader with this locale may get. */
uint64_t locale_fallback_bits(struct str locale);

/* Return true if the value of a choice equals a text or a number. */
bool command_choice_equals_text(const struct command_choice *c, struct str text);
bool command_choice_equals_number(const struct command_choice *c, double number);

#endif
