/* internal.h - structs and functions that the files of commands/ share. */
#ifndef COMMANDS_INTERNAL_H
#define COMMANDS_INTERNAL_H

#include "commands/commands.h"
#include "store/result_cache.h"

/* --- schema.c: bodies and queries ----------------------------------------------------- */

/* Body of the routes that create and modify a command. A bulk overwrite is a list of these. */
struct command_patch {
    struct opt_id id; /* set only in bulk overwrites */
    struct opt_int type, handler;
    struct opt_str name, description;
    struct opt_list name_localizations, description_localizations; /* struct string_pair */
    struct opt_list options;                                       /* struct command_option */
    struct opt_id default_member_permissions;
    struct opt_bool dm_permission, nsfw;
    struct opt_list integration_types, contexts; /* int64_t */
};
struct commands_query {
    bool with_localizations;
};
struct command_permissions_body {
    struct list permissions; /* struct command_permission */
};
struct embedded_activity_body {
    bool embedded;
};

extern const struct schema commands_query_schema;
extern const struct type command_body, guild_command_body, command_patch_body,
    guild_command_patch_body, commands_body, guild_commands_body, permissions_body, embedded_body;

/* --- validation of commands ----------------------------------------------------------- */

/* Adds all errors of a command to the form. Must be called after apply_command_patch. */
void validate_command(struct form *form, const struct json_path *here, const struct command *k);
/* Adds all errors in a list of options to the form. `inside` is the type of the sub-command or
 * group that has the list, or 0 if a command has it. */
void validate_command_options(struct form *form, const struct json_path *here,
                              const struct list *options, int64_t inside);
/* check_duplicate_option_name adds an error if an earlier option of the list has the same name.
 * name_hashes comes from hash_option_names, which returns NULL if all names differ. */
const uint64_t *hash_option_names(struct arena *arena, const struct list *options);
void check_duplicate_option_name(struct form *form, const struct json_path *here,
                                 const struct command_option *o, size_t index,
                                 const uint64_t *name_hashes);
/* Removes errors in fields that do not apply to the option's type. */
void remove_errors_in_inapplicable_option_fields(struct form *form, const struct json_path *here,
                                                 const struct list *options);
/* Checks the locales in a localization dictionary: the field `field` of the object at `here`. */
void validate_localizations(struct form *form, const struct json_path *here, struct str field,
                            const struct opt_list *dictionary);
static inline bool are_locales_supported(const struct list *dictionary) /* struct string_pair */
{
    const struct string_pair *p = dictionary->items;

    for (size_t i = 0; i < dictionary->count; i++)
        if (!locale_is_supported(p[i].key))
            return false;
    return true;
}
/* Checks the name of an option or of a command. The rules for context menu commands differ. */
void validate_command_name(struct form *form, const struct json_path *at, struct str name);
/* Returns whether the command has more than COMMAND_MAX_CHARACTERS, as Discord counts them. */
bool command_is_too_large(struct arena *arena, const struct command *k);

/* Returns the value of an option's choice as text. Numbers keep their notation. */
struct str command_choice_format_value(struct arena *arena, const struct command_choice *c);

/* --- build_command.c: builds commands from bodies ------------------------------------- */

/* Returns an empty command. guild_id 0 means a global command. */
struct command new_empty_command(snowflake guild_id);
/* Applies a request body to a command. A field that is absent in the body does not change the
 * command; null sets the field's default. */
void apply_command_patch(struct arena *arena, struct command *k, const struct command_patch *in);
/* Converts a command to its stored form: drops fields that do not apply, and sorts sets. */
void normalize_command(struct arena *arena, struct command *k);

/* --- rows.c --------------------------------------------------------------------------- */

/* A stored command: its columns and its undecoded definition. */
struct command_row {
    snowflake id, application_id, guild_id, version;
    int64_t type;
    struct str name, definition;
};

/* Read command rows (struct command_row), with their definitions if `whole` is set.
 * read_command_rows reads the rows of a guild, or the global rows if guild_id is 0, sorted by id.
 */
enum err read_command_rows(struct tx *tx, snowflake application_id, snowflake guild_id, bool whole,
                           struct list *ret);
enum err read_command_rows_by_name(struct tx *tx, snowflake application_id, snowflake guild_id,
                                   int64_t type, struct str name, bool whole, struct list *ret);
enum err read_command_row_by_id(struct tx *tx, snowflake id, bool whole, struct list *ret);
/* Reads a command without localizations and options. Returns ERR_UNKNOWN_COMMAND if the command
 * does not exist or belongs to another application. */
enum err read_command_columns(struct tx *tx, snowflake application_id, snowflake command_id,
                              struct command *ret);
enum err decode_command_definition(struct arena *arena, struct str definition, struct command *ret);

struct encoded_command {
    struct str definition, plain;
    int64_t locales;
    /* The definition has fields that replies never contain, so the reply has another JSON text. */
    bool hidden;
};

/* Encodes a command, which takes milliseconds for COMMAND_MAX_BYTES bytes. For a longer command,
 * adds an error at path `here` and returns ERR_INVALID_FORM_BODY. */
enum err encode_command(struct arena *arena, const struct command *k, struct form *form,
                        const struct json_path *here, struct encoded_command *ret);
/* Returns the stored texts of an unchanged command; only for build_command_reply_json. */
struct encoded_command encoded_command_from_row(const struct command *k,
                                                const struct command_row *row);
struct str build_command_reply_json(struct arena *arena, const struct command *k,
                                    const struct encoded_command *texts);
enum err insert_command(struct tx *tx, const struct command *k,
                        const struct encoded_command *texts);
enum err update_command(struct tx *tx, const struct command *k,
                        const struct encoded_command *texts);
/* Sets the command's name to a unique placeholder, so that another command of the same bulk
 * overwrite can have the name. */
enum err set_placeholder_name_of_command(struct tx *tx, snowflake id);
enum err delete_command_row(struct tx *tx, snowflake id);
/* Returns whether the command equals the stored row. Their versions are not compared. */
bool command_equals_row(struct arena *arena, const struct command *k,
                        const struct command_row *row);

/* --- digests.c ------------------------------------------------------------------------ */

enum { COMMANDS_DIGEST = 16 };
void compute_command_digest(const struct call *call, const void *p, size_t n,
                            unsigned char ret[COMMANDS_DIGEST]);

/* --- list_commands.c ------------------------------------------------------------------ */

/* Caches the reply on this OS thread (result_cache_find_text). `ids` are the ids of the commands on
 * which the reply depends. */
void cache_commands_reply(struct call *call, const struct result_cache_key *key,
                          const struct list *ids);
/* Reads the JSON texts (struct str) of the guild or global commands in all languages, sorted by id.
 * Skips unreadable rows. */
enum err read_commands_json(struct tx *tx, snowflake application_id, snowflake guild_id,
                            struct list *ret);

/* --- prepared_changes.c: prepares changes before the transaction ---------------------- */

/* A command that is validated and encoded, so that the transaction only has to write it. */
struct prepared_command {
    struct command command; /* id and version are set */
    struct encoded_command texts;
    /* Stored row that the command replaces; NULL for a new command. */
    const struct command_row *old;
    bool changed;
};

struct prepared_command_change;

/* Callbacks that differ between the three kinds of changes: create, modify and bulk overwrite. */
struct command_change_callbacks {
    /* Reads the rows that the change replaces (struct command_row). */
    enum err (*find)(struct call *call, bool whole, struct list *ret);
    /* Builds the prepared commands from the body and the rows. Runs without a transaction. */
    enum err (*make)(struct call *call, struct prepared_command_change *d);
};

/* A command change (create, modify or bulk overwrite), which each stage passes to the next. */
struct prepared_command_change {
    const struct command_change_callbacks *change;
    struct list rows;  /* struct command_row, as read in the READ stage */
    unsigned installs; /* integration_type bits of the app when the READ stage ran */
    bool made;         /* items were built before the transaction */
    bool counted;      /* count_command_write_against_rate_limit has counted the call */
    /* the cached body of an earlier overwrite that equals this body, or NULL */
    struct cached_bulk_overwrite_body *known;
    struct prepared_command *items;
    size_t count;
};

/* Called in the prepare stage: prepares the change before the transaction if read_first is set or
 * if the body is long. */
void prepare_command_change(struct call *call, const struct command_change_callbacks *change,
                            bool read_first);
/* Returns the bits of integration_type that an application supports. */
unsigned application_get_install_types(const struct application *a);
/* Called in the handler: prepares the change, or checks that a change prepared before the
 * transaction is still valid. */
enum err finish_preparing_command_change(struct call *call, struct prepared_command_change **ret);
/* Sets id and version of a command and encodes its texts. Before the call, set d->old to the row
 * that the command replaces, or NULL. Returns ERR_INVALID_FORM_BODY if the command is too large. */
enum err prepared_command_set_id_and_encode(struct call *call, struct prepared_command *d,
                                            const struct json_path *here);

/* --- create_command.c ----------------------------------------------------------------- */

/* Sets the installation contexts of a global command to those of the application if it has none.
 * Rejects installation contexts that the application does not support. */
enum err check_command_install_types(struct form *form, const struct json_path *here,
                                     const struct application *a, struct command *k,
                                     const struct command_patch *in);

/* --- limits.c ------------------------------------------------------------------------- */

/* Return the maximum number of guild or global commands of a type, and the error above it. */
int64_t max_commands_of_type(int64_t type);
enum err get_too_many_commands_error(int64_t type);
/* Checks that the guild, or the application for global commands, may have one more command of this
 * type. If not, returns get_too_many_commands_error. */
enum err check_command_count_limit(struct tx *tx, snowflake application_id, snowflake guild_id,
                                   int64_t type);
/* Records the ids of new commands. Returns ERR_MAX_DAILY_COMMANDS above the daily limit. */
enum err record_created_command_ids(struct tx *tx, snowflake application_id, snowflake guild_id,
                                    const snowflake *ids, size_t count);

/* --- change_effects.c: effects of a change -------------------------------------------- */

/* Called after a change of commands: rewrites the bundle and invalidates the indexes. If all
 * commands of the guild (or all global commands) together have too many bytes, adds an error at
 * path `here` and returns ERR_INVALID_FORM_BODY. */
enum err update_command_bundle_and_indexes(struct tx *tx, struct form *form,
                                           const struct json_path *here,
                                           const struct application *a, snowflake guild_id);
/* Calls update_command_bundle_and_indexes; emits the index update event to the app's guilds. */
enum err update_command_bundle_and_emit_index_update(struct call *call, const struct application *a,
                                                     snowflake guild_id);
void emit_command_index_update(struct call *call, snowflake guild_id);
extern const struct job_kind command_index_update_job;

/* --- check_permission.c, permissions.c ------------------------------------------------ */

/* Reads the permission rows (struct command_permission) of a command or application in a guild, in
 * the order of the client that set them. */
enum err read_command_permissions(struct tx *tx, snowflake guild_id, snowflake target_id,
                                  struct list *ret);
/* Emits the permissions event to all bots of the guild and to members with MANAGE_GUILD. */
void emit_command_permissions(struct call *call, const struct command_permissions *p);

/* --- installed.c ---------------------------------------------------------------------- */

/* Each of the first three functions adds a bit of integration_type to *installed if the app's
 * commands are installed: in the guild, in a guild of the user, on the account.
 * read_whether_app_is_in_group sets *ret to whether the app is installed in a group DM. */
enum err read_whether_app_is_in_guild(struct tx *tx, snowflake application_id, snowflake guild_id,
                                      unsigned *installed);
enum err read_whether_app_is_in_user_guilds(struct tx *tx, snowflake application_id,
                                            snowflake user_id, unsigned *installed);
enum err read_whether_app_is_installed_on_account(struct tx *tx, snowflake application_id,
                                                  snowflake user_id, unsigned *installed);
enum err read_whether_app_is_in_group(struct tx *tx, snowflake application_id, snowflake channel_id,
                                      bool *ret);
/* Reads whether the user has enabled age-restricted commands in DM channels with apps. */
enum err read_user_allows_age_restricted_commands(struct tx *tx, snowflake user_id, bool *ret);

/* --- use_counts.c --------------------------------------------------------------------- */

/* Returns the first day (days since 1970) whose uses of commands count for the popularity rank. */
int64_t command_ranking_start_day(void);
extern const struct job_kind command_uses_job;

/* --- path_resolvers.c ----------------------------------------------------------------- */

/* Resolve {app_guild.id} and {command.id}. {app_guild.id} is a guild that has the application.
 * {command.id} is a command in the guild of the path; without a guild, a global command. */
enum err resolve_guild_that_has_application(struct call *call);
enum err resolve_command(struct call *call);
enum err check_caller_may_list_commands(struct call *call);

/* --- handlers ------------------------------------------------------------------------- */

enum err list_commands(struct call *call);
enum err get_command(struct call *call);
enum err prepare_create_command(struct call *call);
enum err create_command(struct call *call);
enum err prepare_modify_command(struct call *call);
enum err modify_command(struct call *call);
enum err delete_command(struct call *call);
enum err reply_if_bulk_overwrite_body_is_cached(struct call *call);
enum err reply_if_guild_overwrite_body_is_cached(struct call *call);
enum err prepare_bulk_overwrite_of_commands(struct call *call);
enum err overwrite_commands(struct call *call);
/* Counts the call towards the caller's rate limit for command writes in all guilds. */
enum err count_command_write_against_rate_limit(struct call *call);

enum err list_command_permissions(struct call *call);
enum err get_command_permissions(struct call *call);
enum err modify_command_permissions(struct call *call);
enum err check_caller_may_read_command_permissions(struct call *call);
enum err check_caller_may_modify_command_permissions(struct call *call);

enum err get_guild_command_index(struct call *call);
enum err get_user_command_index(struct call *call);
enum err get_application_command_index(struct call *call);
enum err get_channel_command_index(struct call *call);

enum err set_embedded(struct call *call);

extern const struct type command_index_reply; /* reply schema of all indexes */

#endif
