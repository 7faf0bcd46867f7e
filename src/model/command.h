/* command.h - what people can ask an app to do. */
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
    COMMAND_APP_HANDLER_LAUNCH = 3, /* the app may only answer with a launch */
};
enum option_type {
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
/* Where a command is used; command_contexts gives a set of their bits. */
enum command_context { CONTEXT_GUILD = 0, CONTEXT_BOT_DM = 1, CONTEXT_PRIVATE_CHANNEL = 2 };

enum {
    COMMAND_MOST_OPTIONS = 25, /* on each level */
    COMMAND_MOST_CHOICES = 25,
    COMMAND_MOST_FILE_TYPES = 10,
    COMMAND_MOST_CHARACTERS = 8000,
    COMMAND_MOST_LENGTH = 6000, /* of a string that somebody enters */
    /* As JSON in all languages, in bytes: one command, and all of a scope together. The
     * interface knows neither; 8000 characters can be 5 MB in 34 languages. */
    COMMAND_MOST_BYTES = 1024 * 1024,
    COMMANDS_MOST_BYTES = 4 * 1024 * 1024,
};

/* Dictionaries (…_localizations) are lists of struct pair. In objects that are sent they
 * are ABSENT where only one language is shown, null where there are none. The words of a
 * reader's language are in …_localized in lists; in indexes they take the place of the
 * original, which is then in …_default. */
struct command_choice {
    struct str name;
    struct opt_list name_localizations;
    struct opt_str name_localized, name_default;
    struct str value; /* JSON: text or a number, as json/write.h writes it */
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
    struct opt_list file_types; /* struct str; kept, but shown to nobody */
};

/* What is said about the reader of an index; raw rows, not verdicts. */
struct command_rule {
    struct str id;
    bool permission;
};
struct command_index_permissions {
    struct opt_bool user;
    struct opt_list roles, channels; /* struct command_rule */
};

struct command {
    snowflake id, application_id, version;
    struct opt_id guild_id; /* ABSENT: a global command */
    int64_t type;
    struct str name, description; /* "" for USER and MESSAGE */
    struct opt_list name_localizations, description_localizations;
    struct opt_str name_localized, name_default, description_localized, description_default;
    struct opt_list options;                  /* struct command_option; ABSENT: none */
    struct opt_id default_member_permissions; /* null: everybody may, 0: nobody */
    bool nsfw;
    /* Global commands only. */
    struct opt_bool dm_permission;
    struct opt_list contexts, integration_types; /* int64_t, ascending; contexts may be null */
    struct opt_int handler;                      /* entry points only */
    /* In indexes only. */
    struct opt_int global_popularity_rank;
    const struct command_index_permissions *permissions;
};

extern const struct schema command_schema, command_option_schema, command_choice_schema;
extern const struct type type_command, type_commands, type_command_option, type_command_choice;
/* With everything that is kept, also what is not shown; and without words but the
 * original's. */
extern const struct type type_command_kept, type_command_plain;
/* Rules that bodies share with objects. */
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

/* id: a role, a user or a channel; the guild's for everyone, the guild's minus one for
 * all channels. */
struct command_permission {
    snowflake id;
    int64_t type;
    bool permission;
};
struct command_permissions {
    snowflake id; /* a command's, or the application's for all of them */
    snowflake application_id, guild_id;
    struct list permissions; /* struct command_permission */
};

extern const struct schema command_permission_schema, command_permissions_schema;
extern const struct type type_command_permission, type_command_permissions,
    type_command_permissions_list;

/* --- pure facts about commands -------------------------------------------------------- */

/* The bits of enum command_context where it can be used at all. A command whose groups are all
 * empty has none. */
unsigned command_contexts(const struct command *k);
/* Bits of enum integration_type. */
unsigned command_integration_types(const struct command *k);

/* The words of a dictionary for a reader; false: none. A locale falls back to a sister
 * (en-US and en-GB, es-419 to es-ES). */
bool localization_find(const struct opt_list *dictionary, struct str locale, struct str *ret);

/* Takes the dictionaries out of a command, its options and its choices, in place, and puts
 * the words of a reader in: as …_localized in lists, for the original in indexes. An empty
 * locale has no words. */
enum command_form { COMMAND_LISTED, COMMAND_INDEXED };
void command_localize(struct command *k, struct str locale, enum command_form form);
void choice_localize(struct command_choice *c, struct str locale, enum command_form form);

/* A locale's bit in a set; 0: not one of ours. command_locales: those it has words in. */
uint64_t locale_bit(struct str locale);
/* Whether it is one of ours. Nearly all are two letters: for the first, bits of the second. */
extern const uint32_t locale_letters[26];
static inline bool locale_is_ours(struct str locale)
{
    if (locale.n == 2) {
        unsigned a = (unsigned char)locale.p[0] - 'a', b = (unsigned char)locale.p[1] - 'a';

        if (a < 26 && b < 26)
            return locale_letters[a] >> b & 1;
    }
    return locale_bit(locale) != 0;
}
uint64_t command_locales(const struct command *k);
/* Locales whose words a reader of this one gets. */
uint64_t locale_reach(struct str locale);

/* Whether a choice stands for this text, or this number. */
bool choice_is_text(const struct command_choice *c, struct str text);
bool choice_is_number(const struct command_choice *c, double number);

#endif
