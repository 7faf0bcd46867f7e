/* internal.h - what the files of commands/ share. */
#ifndef COMMANDS_INTERNAL_H
#define COMMANDS_INTERNAL_H

#include "commands/commands.h"
#include "store/kept.h"

/* --- schema.c: bodies and queries ----------------------------------------------------- */

/* New commands, changes, and the items of a bulk overwrite share it. */
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

/* Notes everything that is wrong with a command, as it would be kept. */
void command_check(struct form *form, const struct place *here, const struct command *k);
/* The same for a list of options: a command's (inside is 0) or that of a sub-command or a
 * group. */
void options_check(struct form *form, const struct place *here, const struct list *options,
                   int64_t inside);
/* Is an option called like one before it in its list? words: what option_words gave for the list,
 * which is NULL when no two of them are called the same. */
const uint64_t *option_words(struct arena *arena, const struct list *options);
void option_name_check(struct form *form, const struct place *here, const struct command_option *o,
                       size_t index, const uint64_t *words);
/* What was said of fields that mean nothing for an option's type is taken back. */
void options_forget_foreign(struct form *form, const struct place *here,
                            const struct list *options);
/* The keys of a dictionary that is a field of what stands here. */
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
/* The rule of all names but those in menus. */
void name_rule_check(struct form *form, const struct place *at, struct str name);
/* Has it more than COMMAND_MOST_CHARACTERS, as the interface counts them? */
bool command_is_too_large(struct arena *arena, const struct command *k);

/* The text of a choice's value, a number's as it is written. */
struct str choice_text(struct arena *arena, const struct command_choice *c);

/* --- draft.c: from bodies to commands ------------------------------------------------- */

/* A command without words, global or of a guild (0: global). */
struct command command_blank(snowflake guild_id);
/* Puts in what a body says: absent leaves alone, null is the default. */
void command_apply(struct arena *arena, struct command *k, const struct command_patch *in);
/* Brings it into the one form that is kept: what does not apply is left out, what has no
 * order is put into one. */
void command_tidy(struct arena *arena, struct command *k);

/* --- rows.c --------------------------------------------------------------------------- */

/* A command as its row has it: what decides without the definition, and the definition. */
struct command_row {
    snowflake id, application_id, guild_id, version;
    int64_t type;
    struct str name, definition;
};

/* struct command_row, with their definitions or with empty ones: of one scope (0: global), by
 * id; the one of a name; the one with an id. */
enum err command_rows(struct tx *tx, snowflake application_id, snowflake guild_id, bool whole,
                      struct list *ret);
enum err command_rows_named(struct tx *tx, snowflake application_id, snowflake guild_id,
                            int64_t type, struct str name, bool whole, struct list *ret);
enum err command_rows_by_id(struct tx *tx, snowflake id, bool whole, struct list *ret);
/* What the columns say of a command: no words, no options. ERR_UNKNOWN_COMMAND; also when it
 * is another application's. */
enum err command_glance(struct tx *tx, snowflake application_id, snowflake command_id,
                        struct command *ret);
enum err command_read(struct arena *arena, struct str definition, struct command *ret);

/* What is written of a command, besides its numbers. */
struct command_texts {
    struct str definition, plain;
    int64_t locales;
    bool hidden; /* the definition has parts that nobody is shown */
};

/* ERR_INVALID_FORM_BODY, noted here, when it has more than COMMAND_MOST_BYTES. Takes some
 * milliseconds for as many. */
enum err command_encode(struct arena *arena, const struct command *k, struct form *form,
                        const struct place *here, struct command_texts *ret);
/* Those of a command that is what its row has; only to be shown. */
struct command_texts command_texts_kept(const struct command *k, const struct command_row *row);
/* The command as an answer shows it. */
struct str command_shown(struct arena *arena, const struct command *k,
                         const struct command_texts *texts);
enum err command_insert(struct tx *tx, const struct command *k, const struct command_texts *texts);
enum err command_update(struct tx *tx, const struct command *k, const struct command_texts *texts);
/* Frees its name for another of the same bulk overwrite. */
enum err command_unname(struct tx *tx, snowflake id);
enum err command_delete_row(struct tx *tx, snowflake id);
/* Is what would be kept what is kept already? Versions do not count. */
bool command_is_kept(struct arena *arena, const struct command *k, const struct command_row *row);

/* --- digests.c ------------------------------------------------------------------------ */

enum { COMMANDS_DIGEST = 16 };
void commands_digest(const struct call *call, const void *p, size_t n,
                     unsigned char ret[COMMANDS_DIGEST]);

/* --- lists.c -------------------------------------------------------------------------- */

/* Keeps the answer, which is made of all commands of the scope (their ids), for a reader of the
 * same loop: kept_find_text. */
void commands_keep_text(struct call *call, const struct kept_key *key, const struct list *ids);
/* Texts (struct str) of a scope's commands by id, in all languages; without unreadable ones. */
enum err commands_shown(struct tx *tx, snowflake application_id, snowflake guild_id,
                        struct list *ret);

/* --- drafts.c: what a change comes to, found out before the transaction --------------- */

/* A command as it would be written. */
struct command_draft {
    struct command command; /* with its id and version */
    struct command_texts texts;
    const struct command_row *old; /* that it takes the place of; NULL: a new one */
    bool changed;
};

struct command_drafts;

/* One kind of change. */
struct command_change {
    /* The rows that it takes the place of (struct command_row). */
    enum err (*find)(struct call *call, bool whole, struct list *ret);
    /* Fills in items, from the body and the rows. No transaction. */
    enum err (*make)(struct call *call, struct command_drafts *d);
};

/* What the stages of these calls pass on. */
struct command_drafts {
    const struct command_change *change;
    struct list rows;         /* struct command_row, as they were when they were looked at */
    unsigned installs;        /* bits of integration_type that the application had then */
    bool made;                /* before the transaction */
    bool counted;             /* by commands_count_write */
    struct known_body *known; /* what recall goes by */
    struct command_draft *items;
    size_t count;
};

/* In prepare. A long body, or a change of what may be long, is looked at and made before the
 * transaction. */
void drafts_prepare(struct call *call, const struct command_change *change, bool look);
/* Bits of integration_type that an application has. */
unsigned installs_of(const struct application *a);
/* In the handler: they are as good as if they were made now. */
enum err drafts_settle(struct call *call, struct command_drafts **ret);
/* Numbers a draft, and makes its texts; old is set. ERR_INVALID_FORM_BODY. */
enum err draft_finish(struct call *call, struct command_draft *d, const struct place *here);

/* --- register.c ----------------------------------------------------------------------- */

/* Gives a global command the installation contexts of its application where the body names
 * none; refuses those that the application has not. */
enum err command_fit(struct form *form, const struct place *here, const struct application *a,
                     struct command *k, const struct command_patch *in);

/* --- limits.c ------------------------------------------------------------------------- */

/* How many of a type one scope may have, and the error of one more. */
int64_t most_commands(int64_t type);
enum err most_commands_error(int64_t type);
/* Is there room for one more of a type? most_commands_error otherwise. */
enum err commands_check_room(struct tx *tx, snowflake application_id, snowflake guild_id,
                             int64_t type);
/* Notes new ids; ERR_MAX_DAILY_COMMANDS. ids: snowflakes. */
enum err count_creates(struct tx *tx, snowflake application_id, snowflake guild_id,
                       const snowflake *ids, size_t count);

/* --- changes.c: what a change means for others ---------------------------------------- */

/* Commands of a scope changed: what is made from their rows is made anew, indexes move.
 * ERR_INVALID_FORM_BODY, noted here, when they are too many bytes together. */
enum err commands_settle(struct tx *tx, struct form *form, const struct place *here,
                         const struct application *a, snowflake guild_id);
/* The same, and those who can use them are told. */
enum err commands_changed(struct call *call, const struct application *a, snowflake guild_id);
/* Tells those in a guild that its index may be another. */
void commands_tell_guild(struct call *call, snowflake guild_id);
extern const struct job_kind command_news_job;

/* --- permit.c, permissions.c ---------------------------------------------------------- */

/* Rows of a target in a guild (struct command_permission), as they were supplied. */
enum err permissions_of(struct tx *tx, snowflake guild_id, snowflake target_id, struct list *ret);
/* To all bots of the guild, and to people who manage it. */
void permissions_announce(struct call *call, const struct command_permissions *p);

/* --- installed.c ---------------------------------------------------------------------- */

/* Each adds its bit of integration_type when an app's commands come to somebody that way: the
 * guild has it with the scope for commands, one of somebody's guilds has, the account has. */
enum err installed_in_guild(struct tx *tx, snowflake application_id, snowflake guild_id,
                            unsigned *installed);
enum err installed_in_guilds_of(struct tx *tx, snowflake application_id, snowflake user_id,
                                unsigned *installed);
enum err installed_on_account(struct tx *tx, snowflake application_id, snowflake user_id,
                              unsigned *installed);
enum err installed_in_group(struct tx *tx, snowflake application_id, snowflake channel_id,
                            bool *ret);
/* Did somebody ask for age-restricted commands in direct channels with apps? */
enum err wants_adult_commands(struct tx *tx, snowflake user_id, bool *ret);

/* --- uses.c --------------------------------------------------------------------------- */

/* Uses after this day count for ranks. */
int64_t ranked_since(void);
extern const struct job_kind command_uses_job;

/* --- access.c ------------------------------------------------------------------------- */

/* {app_guild.id}: a guild that the application is in. {command.id}: one of its commands,
 * in the guild where the path has one. */
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
/* Of one caller, wherever: how often it writes commands. */
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

extern const struct type command_index_reply; /* what all indexes are */

#endif
