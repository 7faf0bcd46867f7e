/* worlds.h - import and export of world files: JSON that a person can write, with accounts, guilds,
 * apps, friendships and messages, which refer to each other by name or id (docs/world-files.md).
 * Start with parts.h. */
#ifndef PLATFORM_WORLDS_WORLDS_H
#define PLATFORM_WORLDS_WORLDS_H

#include "api/auth/auth.h"
#include "json/schema.h"
#include "store/store.h"

struct domain;

/* Counts of one kind of object: created, or already present and updated. */
struct world_count {
    const char *what; /* such as "users"; NULL ends a list */
    int64_t made, known;
};
enum { WORLD_COUNTS = 10 };

/* A token for an account of the file. */
struct world_token {
    struct str username, token;
    bool bot;
};

struct world_options {
    const struct domain *const *domains; /* domains whose parts define the format */
    struct auth *auth;
    unsigned long long password_ops; /* cost of password hashing */
    size_t password_memory;
    bool tokens; /* issue a new token per account and revoke a bot's old token */
};

struct world_report {
    struct world_count counts[WORLD_COUNTS];
    struct list tokens;  /* struct world_token */
    struct str problems; /* one error per line: "guilds.0.owner: there is no user 'ada'" */
};

/* Imports a world file in one transaction: either all of it or, on errors, nothing. Updates
 * existing objects, found by id or name, so an import is idempotent. ERR_INVALID_JSON and
 * ERR_INVALID_FORM_BODY: see .problems. The report is in the arena. */
enum err world_import(struct store *store, const struct world_options *options, struct str text,
                      struct arena *arena, struct world_report *ret);

/* Validates a world file without the store; *ret_problems has one error per line. Only an import
 * finds references without a target. */
enum err world_validate(const struct domain *const *domains, struct str text, struct arena *arena,
                        struct str *ret_problems);

/* Queues a file for import. An import sends no events to sessions, so the server stops first,
 * imports the file, and starts again in the same process. */
void world_import_enqueue(struct str text); /* copies the text; replaces a queued file */
bool world_import_is_queued(void);
/* Imports the queued file while nothing else uses the store, and records the result.
 * world_import_record_failure records a failure instead. */
void world_import_run_queued(struct store *store, const struct world_options *options);
void world_import_record_failure(void);
/* Writes the result of the last import as JSON; {"number": 0} if there was none in this process. */
void world_write_last_import_json(struct buf *out);

/* Exports the world as a file that imports to the same world. *ret_importable is false if the file
 * exceeds the import's size limit. */
enum err world_export(struct store *store, const struct domain *const *domains, struct buf *out,
                      bool *ret_importable);

/* The JSON text of the world that `guildhall demo` imports. */
extern const char world_demo[];

/* Ids of the guild and channel that the demo's tour opens; 0: deleted. */
struct demo_ids {
    snowflake guild, channel;
};
enum err world_read_demo_ids(struct store *store, struct demo_ids *ret);

/* Returns whether the store has no accounts. */
enum err world_is_empty(struct store *store, bool *ret);

/* Issues a token for an account. The token replaces earlier tokens of the same purpose. .found: the
 * account exists. */
struct token_request {
    struct auth *auth;
    struct str username, purpose;
    bool lasts; /* return the same token on each request */
    bool found, bot;
    char token[256];
};
enum err world_issue_account_token(struct store *store, struct token_request *request);

#endif
