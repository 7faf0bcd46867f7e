/* index.h - command indexes: lists of the commands available in a guild, for an account, of an
 * application or in a private channel. Start with index_routes.c. */
#ifndef COMMANDS_INDEX_H
#define COMMANDS_INDEX_H

#include "commands/index/bundle.h"
#include "commands/internal.h"

/* --- index_schema.c ------------------------------------------------------------------- */

struct activity_config {
    struct list supported_platforms; /* struct str */
};
struct command_index_application {
    snowflake id;
    struct str name, description;
    struct opt_str icon;
    const struct command_index_permissions *permissions;
    const struct user *bot;
    struct opt_id bot_id;
    uint64_t flags;
    const struct activity_config *embedded_activity_config;
    bool active; /* a global command was used recently */
    /* Id of the last change of the app or of its commands, or 0; not sent to clients. */
    snowflake version;
};
extern const struct type type_index_applications;

/* --- index_rows.c --------------------------------------------------------------------- */

/* The kind of a command index decides which applications the index lists. */
enum command_index_kind { INDEX_GUILD, INDEX_USER, INDEX_APPLICATION, INDEX_GROUP };

struct command_use_count {
    snowflake command_id;
    int64_t uses;
};

/* Reads the applications of an index. key is the id of a guild, account, application or channel. */
enum err read_command_index_applications(struct tx *tx, enum command_index_kind kind, snowflake key,
                                         struct list *ret);
/* Iterate over the bundles of the index's applications: global commands, then commands of the
 * guild. A bundle is valid until the next bundle is read. */
enum err read_command_index_bundles(struct tx *tx, enum command_index_kind kind, snowflake key,
                                    struct rows *ret);
bool command_index_bundles_read_next(struct rows *rows, struct command_bundle *ret,
                                     enum err *ret_error);
/* Reads recent uses of global commands (struct command_use_count). */
enum err read_command_use_counts(struct tx *tx, enum command_index_kind kind, snowflake key,
                                 struct list *ret);
/* Ranks the commands of a bundle by uses: rank 1 has the most uses. Of two commands with equal
 * uses, the older command is first. */
void rank_commands_by_use(const struct command_bundle *b, const struct list *uses, int64_t *ranks);
/* Reads the version of an index. *ret is the id of the last change of the index or of its
 * applications, or version_key if nothing has changed. *ret_own is the id of the last change of the
 * index itself, or 0. */
enum err read_command_index_version(struct tx *tx, snowflake version_key,
                                    const struct list *applications, snowflake *ret_own,
                                    snowflake *ret);

/* --- index_member_filter.c: filters a guild's index for a member ---------------------- */

struct command_index_member {
    struct tx *tx;
    const struct member_access *member_access;
    bool adult;
    struct list targets;         /* ids (snowflake) of the targets of the permission rows, sorted */
    struct list rows;            /* struct command_permission, parallel to targets */
    struct list channel_classes; /* struct channel_permission_class, without duplicates */
};

enum err read_command_index_member(struct tx *tx, const struct member_access *s, bool adult,
                                   struct command_index_member *ret);
/* Returns the permission rows (struct command_permission) of a command or application in the guild.
 */
struct list find_command_index_permission_rows(const struct command_index_member *r,
                                               snowflake target_id);
/* Returns whether the command is allowed in at least one channel of the guild. All fields of q
 * except those about the channel must be set. */
bool command_is_allowed_in_any_channel(const struct command_index_member *r,
                                       struct command_permission_input *q);
/* Returns the permission rows of a command or application that concern the member, as the index
 * sends them; NULL if there are none. */
const struct command_index_permissions *find_command_permissions_that_concern_member(
    const struct command_index_member *r, snowflake target_id);

/* --- index_channels.c ----------------------------------------------------------------- */

/* A class of channels or threads in which the member has the same command permissions. */
struct channel_permission_class {
    uint64_t permissions; /* permissions of the member */
    /* Channel id; for a Discord thread, id of its parent; 0 if no row names a channel. */
    snowflake channel_id;
    bool nsfw, thread;
};
/* Reads the classes of the channels in which the member may use commands. If by_channel is set, a
 * permission row names a channel, so each channel is its own class. */
enum err read_channel_permission_classes(struct tx *tx, const struct member_access *s,
                                         bool by_channel, struct list *ret);

/* --- index_routes.c ------------------------------------------------------------------- */

/* Data that is needed to write the commands of an index reply. */
struct command_index_request {
    struct call *call;
    enum command_index_kind kind;
    /* key: id of the index. version_key: id with which the index version is stored, or 0 for key.
     */
    snowflake key, version_key;
    struct command_permission_input check; /* template; each command adds its fields */
    struct str locale;
    uint64_t locales;                          /* locales of the caller, as a bit set */
    const struct command_index_member *member; /* INDEX_GUILD only */
    const struct user *bot;                    /* INDEX_APPLICATION only */
    struct user user;                          /* the caller */
    struct list applications;                  /* struct command_index_application */
    struct list uses;                          /* struct command_use_count */
    snowflake own_version, version;
    struct json_writer json; /* the reply */
};

/* --- index_cache_key.c --------------------------------------------------------------------- */

/* Computes the key of a cached reply: a digest of all data that the reply depends on, including the
 * index versions, which every change of a command increments (invalidate_command_index). Returns
 * false if this data is too long. */
bool compute_command_index_cache_key(const struct command_index_request *v,
                                     struct result_cache_key *ret);

#endif
