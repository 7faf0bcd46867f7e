/* internal.h - functions shared by the files of commands/. */
#ifndef COMMANDS_INTERNAL_H
#define COMMANDS_INTERNAL_H

#include "commands/commands.h"
#include "store/kept.h"

/* --- schema.c: bodies and queries ----------------------------------------------------- */

/* Body of create and modify, and item of a bulk overwrite. */
struct command_patch {
    struct opt_id id; /* bulk overwrites only */
    struct opt_int type, handler;
    struct opt_str name, description;
    struct opt_list name_localizations, description_localizations; /* struct pair */
    struct opt_list options;                                       /* struct command_option */
    struct opt_id default_member_permissions;
    struct opt_bool dm_permission, nsfw;
    struct opt_list integration_types, contexts; /* int64_t */
};
struct commands_query {
    bool with_localizations;
};
struct permissions_body {
    struct list permissions; /* struct command_permission */
};
struct embedded_body {
    bool embedded;
};

extern const struct schema commands_query_schema;
extern const struct type command_body, guild_command_body, command_patch_body,
    guild_command_patch_body, commands_body, guild_commands_body, permissions_body, embedded_body;

/* --- check.c, options_check.c, siblings.c, localizations.c, size.c -------------------- */

/* Reports every problem of a command, after command_apply. */
void command_check(struct form *form, const struct place *here, const struct command *k);
/* The same for a list of options: of a command (inside is 0), a sub-command or a group. */
void options_check(struct form *form, const struct place *here, const struct list *options,
                   int64_t inside);
/* Reports an option with the name of an earlier sibling. words: the result of option_words for the
 * list; NULL if no two names are equal. */
const uint64_t *option_words(struct arena *arena, const struct list *options);
void option_name_check(struct form *form, const struct place *here, const struct command_option *o,
                       size_t index, const uint64_t *words);
/* Removes errors in fields that are ignored for the option's type. */
void options_forget_foreign(struct form *form, const struct place *here,
                            const struct list *options);
/* Checks the locales of a dictionary, which is a field of the object at here. */
void localizations_check(struct form *form, const struct place *here, struct str field,
                         const struct opt_list *dictionary);
static inline bool locales_are_known(const struct list *dictionary) /* struct pair */
{
    const struct pair *p = dictionary->items;

    for (size_t i = 0; i < dictionary->count; i++)
        if (!locale_is_ours(p[i].key))
            return false;
    return true;
}
/* Checks all names except those of context menu commands. */
void name_rule_check(struct form *form, const struct place *at, struct str name);
/* Does it have more than COMMAND_MOST_CHARACTERS, as Discord counts them? */
bool command_is_too_large(struct arena *arena, const struct command *k);

/* The value of a choice as text; a number as it was written. */
struct str choice_text(struct arena *arena, const struct command_choice *c);

/* --- draft.c: builds commands from bodies --------------------------------------------- */

/* An empty command, global (0) or of a guild. */
struct command command_blank(snowflake guild_id);
/* Applies a body: absent fields stay, null sets the default. */
void command_apply(struct arena *arena, struct command *k, const struct command_patch *in);
/* Converts to the normal form that is stored: drops fields that do not apply, sorts sets. */
void command_tidy(struct arena *arena, struct command *k);

/* --- rows.c --------------------------------------------------------------------------- */

/* A stored command: its columns and its undecoded definition. */
struct command_row {
    snowflake id, application_id, guild_id, version;
    int64_t type;
    struct str name, definition;
};

/* Read struct command_row, with definitions if whole: all of one scope (0: global) sorted by id;
 * the one with a name; the one with an id. */
enum err command_rows(struct tx *tx, snowflake application_id, snowflake guild_id, bool whole,
                      struct list *ret);
enum err command_rows_named(struct tx *tx, snowflake application_id, snowflake guild_id,
                            int64_t type, struct str name, bool whole, struct list *ret);
enum err command_rows_by_id(struct tx *tx, snowflake id, bool whole, struct list *ret);
/* Reads the columns only: no localizations, no options. ERR_UNKNOWN_COMMAND also if it belongs to
 * another application. */
enum err command_glance(struct tx *tx, snowflake application_id, snowflake command_id,
                        struct command *ret);
enum err command_read(struct arena *arena, struct str definition, struct command *ret);

/* The encoded columns of a command. */
struct command_texts {
    struct str definition, plain;
    int64_t locales;
    bool hidden; /* the definition has fields that are never sent */
};

/* ERR_INVALID_FORM_BODY, reported at the path here, if it has more than COMMAND_MOST_BYTES. Takes
 * some milliseconds for that many. */
enum err command_encode(struct arena *arena, const struct command *k, struct form *form,
                        const struct place *here, struct command_texts *ret);
/* Texts of an unchanged command, for command_shown only. */
struct command_texts command_texts_kept(const struct command *k, const struct command_row *row);
/* The JSON of a command for a reply. */
struct str command_shown(struct arena *arena, const struct command *k,
                         const struct command_texts *texts);
enum err command_insert(struct tx *tx, const struct command *k, const struct command_texts *texts);
enum err command_update(struct tx *tx, const struct command *k, const struct command_texts *texts);
/* Frees its name for another command of the same bulk overwrite. */
enum err command_unname(struct tx *tx, snowflake id);
enum err command_delete_row(struct tx *tx, snowflake id);
/* Does k equal the stored row, except for the version? */
bool command_is_kept(struct arena *arena, const struct command *k, const struct command_row *row);

/* --- digests.c ------------------------------------------------------------------------ */

enum { COMMANDS_DIGEST = 16 };
void commands_digest(const struct call *call, const void *p, size_t n,
                     unsigned char ret[COMMANDS_DIGEST]);

/* --- lists.c -------------------------------------------------------------------------- */

/* Caches the reply, which depends on all commands of the scope (ids), for kept_find_text on the
 * same thread. */
void commands_keep_text(struct call *call, const struct kept_key *key, const struct list *ids);
/* JSON texts (struct str) of a scope's commands sorted by id, in all languages; skips unreadable
 * ones. */
enum err commands_shown(struct tx *tx, snowflake application_id, snowflake guild_id,
                        struct list *ret);

/* --- drafts.c: prepares changes before the transaction -------------------------------- */

/* A command ready to be written. */
struct command_draft {
    struct command command; /* with its id and version */
    struct command_texts texts;
    const struct command_row *old; /* row that it replaces; NULL: new command */
    bool changed;
};

struct command_drafts;

/* Callbacks of one type of change: create, modify, bulk overwrite. */
struct command_change {
    /* Reads the rows that it replaces (struct command_row). */
    enum err (*find)(struct call *call, bool whole, struct list *ret);
    /* Fills in items from the body and the rows. Runs without a transaction. */
    enum err (*make)(struct call *call, struct command_drafts *d);
};

/* State that is passed between the stages of a call. */
struct command_drafts {
    const struct command_change *change;
    struct list rows;         /* struct command_row, as the look stage read them */
    unsigned installs;        /* integration_type bits of the app at that time */
    bool made;                /* items were built before the transaction */
    bool counted;             /* by commands_count_write */
    struct known_body *known; /* for the recall stage */
    struct command_draft *items;
    size_t count;
};

/* Call in prepare. If look is set or the body is long, the draft is built before the
 * transaction. */
void drafts_prepare(struct call *call, const struct command_change *change, bool look);
/* Bits of integration_type that an application supports. */
unsigned installs_of(const struct application *a);
/* Call in the handler: builds the drafts, or verifies that those built before are still valid. */
enum err drafts_settle(struct call *call, struct command_drafts **ret);
/* Sets id and version and encodes the texts; expects d->old. ERR_INVALID_FORM_BODY. */
enum err draft_finish(struct call *call, struct command_draft *d, const struct place *here);

/* --- register.c ----------------------------------------------------------------------- */

/* Sets missing installation contexts of a global command to those of the application; rejects
 * contexts that the application does not support. */
enum err command_fit(struct form *form, const struct place *here, const struct application *a,
                     struct command *k, const struct command_patch *in);

/* --- limits.c ------------------------------------------------------------------------- */

/* Maximum number of commands of a type in a scope, and the error beyond it. */
int64_t most_commands(int64_t type);
enum err most_commands_error(int64_t type);
/* Checks that one more command of a type fits; else most_commands_error. */
enum err commands_check_room(struct tx *tx, snowflake application_id, snowflake guild_id,
                             int64_t type);
/* Records new ids (snowflakes) for the daily limit; ERR_MAX_DAILY_COMMANDS. */
enum err count_creates(struct tx *tx, snowflake application_id, snowflake guild_id,
                       const snowflake *ids, size_t count);

/* --- changes.c: effects of a change --------------------------------------------------- */

/* Call after commands of a scope changed: rewrites the bundle and invalidates indexes.
 * ERR_INVALID_FORM_BODY, reported at the path here, if the scope has too many bytes. */
enum err commands_settle(struct tx *tx, struct form *form, const struct place *here,
                         const struct application *a, snowflake guild_id);
/* The same, and sends the index update event to the guilds concerned. */
enum err commands_changed(struct call *call, const struct application *a, snowflake guild_id);
/* Sends the index update event to a guild. */
void commands_tell_guild(struct call *call, snowflake guild_id);
extern const struct job_kind command_news_job;

/* --- permit.c, permissions.c ---------------------------------------------------------- */

/* Permission rows of a target in a guild (struct command_permission), in the order supplied. */
enum err permissions_of(struct tx *tx, snowflake guild_id, snowflake target_id, struct list *ret);
/* Sends the event to all bots of the guild and to members with MANAGE_GUILD. */
void permissions_announce(struct call *call, const struct command_permissions *p);

/* --- installed.c ---------------------------------------------------------------------- */

/* Each sets its bit of integration_type if the app is installed for commands: in the guild, in one
 * of the user's guilds, on the account. The last one sets *ret for a group DM. */
enum err installed_in_guild(struct tx *tx, snowflake application_id, snowflake guild_id,
                            unsigned *installed);
enum err installed_in_guilds_of(struct tx *tx, snowflake application_id, snowflake user_id,
                                unsigned *installed);
enum err installed_on_account(struct tx *tx, snowflake application_id, snowflake user_id,
                              unsigned *installed);
enum err installed_in_group(struct tx *tx, snowflake application_id, snowflake channel_id,
                            bool *ret);
/* Has the user enabled age-restricted commands in direct channels with apps? */
enum err wants_adult_commands(struct tx *tx, snowflake user_id, bool *ret);

/* --- uses.c --------------------------------------------------------------------------- */

/* Only uses after this day count for ranks. */
int64_t ranked_since(void);
extern const struct job_kind command_uses_job;

/* --- access.c ------------------------------------------------------------------------- */

/* Resolve {app_guild.id}, a guild with the application, and {command.id}, a command of the
 * application, in the path's guild if there is one. */
enum err resolve_app_guild(struct call *call);
enum err resolve_command(struct call *call);
enum err admit_list_commands(struct call *call);

/* --- handlers ------------------------------------------------------------------------- */

enum err list_commands(struct call *call);
enum err get_command(struct call *call);
enum err prepare_create_command(struct call *call);
enum err create_command(struct call *call);
enum err prepare_modify_command(struct call *call);
enum err modify_command(struct call *call);
enum err delete_command(struct call *call);
enum err recall_commands(struct call *call);
enum err recall_guild_commands(struct call *call);
enum err prepare_overwrite_commands(struct call *call);
enum err overwrite_commands(struct call *call);
/* Counts against the caller's rate limit for command writes in all guilds. */
enum err commands_count_write(struct call *call);

enum err list_command_permissions(struct call *call);
enum err get_command_permissions(struct call *call);
enum err modify_command_permissions(struct call *call);
enum err admit_read_permissions(struct call *call);
enum err admit_modify_permissions(struct call *call);

enum err prefetch_guild_command_index(struct call *call);
enum err get_guild_command_index(struct call *call);
enum err prefetch_user_command_index(struct call *call);
enum err get_user_command_index(struct call *call);
enum err get_application_command_index(struct call *call);
enum err get_channel_command_index(struct call *call);

enum err set_embedded(struct call *call);

extern const struct type command_index_reply; /* schema of all indexes */

#endif
