/* index.h - command indexes: the commands available in a guild, for an account, of an application
 * or in a private channel. Start with index_routes.c. */
#ifndef COMMANDS_INDEX_H
#define COMMANDS_INDEX_H

#include "commands/index/bundle.h"
#include "commands/internal.h"

/* --- index_schema.c ------------------------------------------------------------------- */

struct activity_config {
    struct list supported_platforms; /* struct str */
};
struct index_application {
    snowflake id;
    struct str name, description;
    struct opt_str icon;
    const struct command_index_permissions *permissions;
    const struct user *bot;
    struct opt_id bot_id;
    uint64_t flags;
    const struct activity_config *embedded_activity_config;
    bool active;       /* a global command was used recently */
    snowflake version; /* last change of the application or its commands; 0: never. Not sent */
};
extern const struct type type_index_applications;

/* --- index_rows.c --------------------------------------------------------------------- */

/* The kind of an index, which selects its applications. */
enum index_kind { INDEX_GUILD, INDEX_USER, INDEX_APPLICATION, INDEX_GROUP };

struct command_uses {
    snowflake command_id;
    int64_t uses;
};

/* Reads the applications of an index; key: id of the guild, account, application or channel. */
enum err index_applications(struct tx *tx, enum index_kind kind, snowflake key, struct list *ret);
/* Prefetches the rows of an index except the commands; for indexes whose version is stored under
 * their key. */
void index_prefetch(struct tx *tx, enum index_kind kind, snowflake key);
/* Iterate over the bundles of the index's applications: global commands, then those of the guild. A
 * bundle is valid until the next one is read. */
enum err index_bundles(struct tx *tx, enum index_kind kind, snowflake key, struct rows *ret);
bool index_bundles_next(struct rows *rows, struct bundle *ret, enum err *ret_error);
/* Reads recent uses of global commands (struct command_uses). */
enum err index_uses(struct tx *tx, enum index_kind kind, snowflake key, struct list *ret);
/* Ranks the commands of a bundle: the most used is 1; on a tie the older command comes first. */
void index_ranks(const struct bundle *b, const struct list *uses, int64_t *ranks);
/* *ret: the last change of the index or of its applications, or the key if there was none.
 * *ret_own: the last change of the index alone, or 0. */
enum err index_version(struct tx *tx, snowflake place, const struct list *applications,
                       snowflake *ret_own, snowflake *ret);

/* --- index_member_filter.c: filters a guild's index for a member ---------------------- */

struct index_reader {
    struct tx *tx;
    const struct standing *standing;
    bool adult;
    struct list targets; /* snowflake: target of each row, sorted */
    struct list rows;    /* struct command_permission, parallel to targets */
    struct list places;  /* struct index_place: distinct channel classes */
};

enum err index_reader_load(struct tx *tx, const struct standing *s, bool adult,
                           struct index_reader *ret);
/* Prefetches the queries of index_reader_load. */
void index_reader_prefetch(struct tx *tx, snowflake guild_id, snowflake user_id);
/* Returns the permission rows of a command or an application in the guild (struct
 * command_permission). */
struct list index_rows_of(const struct index_reader *r, snowflake target_id);
/* Returns true if the command is allowed in at least one channel of the guild. q is complete except
 * for the channel. */
bool index_usable(const struct index_reader *r, struct command_question *q);
/* Returns the permission rows of a target that concern the member, as the index shows them; NULL if
 * none. */
const struct command_index_permissions *index_permissions(const struct index_reader *r,
                                                          snowflake target_id);

/* --- index_channels.c ----------------------------------------------------------------- */

/* A class of channels or threads that are equal for command permissions. */
struct index_place {
    uint64_t rights;      /* permissions of the member */
    snowflake channel_id; /* for a thread: its parent; 0: no permission row names a channel */
    bool nsfw, thread;
};
/* Reads the channels in which the member may view and use commands, one per class. by_channel: some
 * permission row names a channel, so every channel is a class of its own. */
enum err index_places(struct tx *tx, const struct standing *s, bool by_channel, struct list *ret);
void index_places_prefetch(struct tx *tx, snowflake guild_id, snowflake user_id);

/* --- index_routes.c ------------------------------------------------------------------- */

/* The data of an index reply that all its commands share. */
struct index_view {
    struct call *call;
    enum index_kind kind;
    snowflake key, place;        /* version_key: id under which the version is stored; 0: key */
    struct command_question ask; /* template; each command adds its fields */
    struct str locale;
    uint64_t locales;                  /* locales that apply to the caller */
    const struct index_reader *reader; /* INDEX_GUILD only */
    const struct user *bot;            /* INDEX_APPLICATION only */
    struct user user;                  /* the caller */
    struct list applications;          /* struct index_application */
    struct list uses;                  /* struct command_uses */
    snowflake own_version, version;
    struct json json; /* the reply */
};

/* --- index_cache_key.c ---------------------------------------------------------------- */

/* Computes the key of a cached reply: a digest of the view and of the index versions, which every
 * change of a command increments (command_index_move). Returns false if the view is too large for a
 * key. */
bool index_key(const struct index_view *v, struct kept_key *ret);

#endif
