/* index.h - indexes: which commands there are, for a guild, an account, an application or a
 * private channel. */
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
    bool active;       /* a global command was used lately */
    snowflake version; /* when its commands, or it itself, last changed; 0: never. Not shown */
};
extern const struct type type_index_applications;

/* --- index_rows.c --------------------------------------------------------------------- */

/* Whose applications the index shows. */
enum index_kind { INDEX_GUILD, INDEX_USER, INDEX_APPLICATION, INDEX_GROUP };

struct command_uses {
    snowflake command_id;
    int64_t uses;
};

/* key: the guild, account, application or channel. */
enum err index_applications(struct tx *tx, enum index_kind kind, snowflake key, struct list *ret);
/* All of it but the commands will be asked for, of an index whose place is its key. */
void index_prefetch(struct tx *tx, enum index_kind kind, snowflake key);
/* The global commands of these applications, in a guild each time followed by its own; each
 * bundle is there until the next. */
enum err index_bundles(struct tx *tx, enum index_kind kind, snowflake key, struct rows *ret);
bool index_bundles_next(struct rows *rows, struct bundle *ret, enum err *ret_error);
/* Of global commands that were used lately (struct command_uses). */
enum err index_uses(struct tx *tx, enum index_kind kind, snowflake key, struct list *ret);
/* The rank of each command of a bundle: the most used is 1, of two that are used alike the
 * older comes first. */
void index_ranks(const struct bundle *b, const struct list *uses, int64_t *ranks);
/* When the index of a place (guild, account, application, channel) or something of its
 * applications last changed; before that, the place itself. *ret_own: the index alone, or 0. */
enum err index_version(struct tx *tx, snowflake place, const struct list *applications,
                       snowflake *ret_own, snowflake *ret);

/* --- index_rules.c: what somebody sees of a guild's commands -------------------------- */

struct index_reader {
    struct tx *tx;
    const struct standing *standing;
    bool adult;
    struct list targets; /* snowflake: of each row of the guild, in their order */
    struct list rows;    /* struct command_permission, beside the targets */
    struct list places;  /* struct index_place: where commands might be used, each kind once */
};

enum err index_reader_load(struct tx *tx, const struct standing *s, bool adult,
                           struct index_reader *ret);
/* What it is going to ask. */
void index_reader_prefetch(struct tx *tx, snowflake guild_id, snowflake user_id);
/* Rows of a command or an application in the guild (struct command_permission). */
struct list index_rows_of(const struct index_reader *r, snowflake target_id);
/* Is there a channel in the guild where the question is answered with yes? It has everything
 * but the channel. */
bool index_usable(const struct index_reader *r, struct command_question *q);
/* What rows of a target say about the reader; NULL: there are none. */
const struct command_index_permissions *index_permissions(const struct index_reader *r,
                                                          snowflake target_id);

/* --- index_places.c ------------------------------------------------------------------- */

/* A channel of a guild, or a thread of it, as far as it matters to commands. */
struct index_place {
    uint64_t rights;      /* the reader's */
    snowflake channel_id; /* a thread's parent; 0: no row speaks of channels */
    bool nsfw, thread;
};
/* Those where the reader may view and use commands. Of places that are alike there is one. */
enum err index_places(struct tx *tx, const struct standing *s, bool by_channel, struct list *ret);
void index_places_prefetch(struct tx *tx, snowflake guild_id, snowflake user_id);

/* --- indexes.c ------------------------------------------------------------------------ */

/* What is the same for all commands of an answer. */
struct index_view {
    struct call *call;
    enum index_kind kind;
    snowflake key, place;        /* place: whose index it is; 0: the key's */
    struct command_question ask; /* of every command, with what it says of itself */
    struct str locale;
    uint64_t locales;                  /* whose words the reader gets */
    const struct index_reader *reader; /* of a guild's index */
    const struct user *bot;            /* of the one application */
    struct user user;                  /* who reads it */
    struct list applications;          /* struct index_application */
    struct list uses;                  /* struct command_uses */
    snowflake own_version, version;
    struct json json; /* the answer */
};

/* --- index_kept.c --------------------------------------------------------------------- */

/* Where an answer is kept that is made of the same: of all that its view says, and of the commands
 * of its applications, whose every change moves a version (command_index_move). False: that is too
 * much to be held against another. */
bool index_key(const struct index_view *v, struct kept_key *ret);

#endif
