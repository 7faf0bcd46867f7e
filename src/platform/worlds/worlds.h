/* worlds.h - whole worlds at once: read from a file, and written to one.
 *
 * A world file is JSON that a person can write: accounts, guilds with roles,
 * channels and members, apps, friendships, a few messages. Things refer to each
 * other by name, or by id. docs/world-files.md describes it. */
#ifndef PLATFORM_WORLDS_WORLDS_H
#define PLATFORM_WORLDS_WORLDS_H

#include "api/auth/auth.h"
#include "json/schema.h"
#include "store/store.h"

/* What an import met: made anew, or there before and brought up to date. */
struct world_count {
    const char *what; /* "users"; NULL ends a list */
    int64_t made, known;
};
enum { WORLD_COUNTS = 10 };

/* A credential for an account of the file. */
struct world_token {
    struct str username, token;
    bool bot;
};

/* What of a file belongs to domains above this folder, which bring the way in and out. A
 * part without one is left out. */
struct world_scope {
    snowflake application_id, guild_id; /* 0: everywhere */
};
struct world_parts {
    /* A JSON list of commands. What is wrong with it is noted in form, at or below `at`. */
    enum err (*import_commands)(struct tx *tx, struct world_scope scope, struct str json,
                                struct form *form, const struct place *at,
                                struct world_count *count);
    /* *ret is not written where there are none. */
    enum err (*export_commands)(struct tx *tx, struct world_scope scope, struct opt_str *ret);
};

struct world_options {
    const struct world_parts *parts;
    struct auth *auth;
    unsigned long long password_ops; /* what hashing a password costs */
    size_t password_memory;
    bool tokens; /* a fresh token for each account of the file; a bot's old one ends */
};

struct world_report {
    struct world_count counts[WORLD_COUNTS];
    struct list tokens;  /* struct world_token */
    struct str problems; /* a line each: "guilds.0.owner: there is no user 'ada'" */
};

/* Reads a world file into the store, in one transaction: all of it or, with
 * problems, nothing. What is there already, by id or by name, is brought up to
 * date, so that importing twice changes nothing the second time. ERR_INVALID_JSON and
 * ERR_INVALID_FORM_BODY: see problems. The report is in the arena. */
enum err world_import(struct store *store, const struct world_options *options, struct str text,
                      struct arena *arena, struct world_report *ret);

/* Whether a text could be such a file; what is wrong with it, a line each. Names that lead
 * nowhere are found by the import alone. */
enum err world_check(struct str text, struct arena *arena, struct str *ret_problems);

/* A file that is imported as soon as no server runs: an import tells no session of what it does,
 * so a server that is handed one stops first, and starts again in the same process. */
void world_import_later(struct str text); /* a copy, instead of one that waits */
bool world_import_waits(void);
/* Reads the file that waits, while nobody else uses the store, and notes what became of it; or
 * notes that nobody could read it. */
void world_import_waiting(struct store *store, const struct world_options *options);
void world_import_given_up(void);
/* What became of the last one, as JSON: {"number": 0} when there was none in this process. */
void world_last_import(struct buf *out);

/* Writes the world as a file that imports to the same world. *ret_importable is
 * false when it is larger than an import reads. */
enum err world_export(struct store *store, const struct world_parts *parts, struct buf *out,
                      bool *ret_importable);

/* The file that `guildhall demo` begins with. */
extern const char world_demo[];

/* Where its tour goes; 0 when that is gone. */
struct demo_places {
    snowflake guild, channel;
};
enum err world_demo_places(struct store *store, struct demo_places *ret);

/* Is there no account yet? */
enum err world_is_empty(struct store *store, bool *ret);

/* A token for an account, which takes the place of those given out for the same
 * purpose before. *ret_found: whether there is such an account. */
struct token_request {
    struct auth *auth;
    struct str username, purpose;
    bool lasts; /* the same token each time */
    bool found, bot;
    char token[256];
};
enum err world_give_token(struct store *store, struct token_request *request);

#endif
