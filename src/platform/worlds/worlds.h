/* worlds.h - import and export of world files: JSON that a person can write, with accounts, guilds,
 * apps, friendships and messages, which refer to each other by name or id (docs/world-files.md).
 * Owns no table; may use store/, model/ and api/. Start with world_file_fields.h. */
#ifndef PLATFORM_WORLDS_WORLDS_H
#define PLATFORM_WORLDS_WORLDS_H

#include <stdatomic.h>

#include "api/auth/auth.h"
#include "json/schema.h"
#include "store/store.h"

struct domain;

/* Progress of an import or an export, which another thread may read. */
struct world_file_progress {
    const char *_Atomic what; /* unit, a string literal; NULL before the first */
    _Atomic int64_t done, total;
};

/* Starts to count another unit. Accepts NULL, like world_file_progress_add. */
static inline void world_file_progress_begin(struct world_file_progress *p, const char *what,
                                             int64_t total)
{
    if (!p)
        return;
    atomic_store(&p->done, 0);
    atomic_store(&p->total, total);
    atomic_store(&p->what, what);
}

static inline void world_file_progress_add(struct world_file_progress *p)
{
    if (p)
        atomic_fetch_add_explicit(&p->done, 1, memory_order_relaxed);
}

/* Number of imported objects of a type: created, or found and updated. */
struct imported_object_count {
    const char *what; /* name of the objects, such as "users"; NULL ends a list */
    int64_t made, known;
};
enum { WORLD_COUNTS = 10 };

/* A token of an account of the world file. */
struct imported_account_token {
    struct str username, token;
    bool bot;
};

struct world_file_import_options {
    const struct domain *const *domains; /* domains whose fields define the file format */
    struct auth *auth;
    struct password_cost password_cost;
    bool tokens;       /* issues a new token per account and revokes the old tokens of bots */
    const char *files; /* archive whose files the entries name by their ids or hashes, or NULL */
    struct world_file_progress *progress; /* or NULL */
};

struct world_file_import_report {
    struct imported_object_count counts[WORLD_COUNTS];
    struct list tokens;     /* struct imported_account_token */
    int64_t transaction_us; /* how long the transaction ran, in microseconds */
    struct str problems;    /* one error per line: "guilds.0.owner: there is no user 'ada'" */
};

/* Imports a world file in one transaction: all of the file or, on errors, nothing. Updates existing
 * objects, found by id or name, so an import is idempotent. ERR_INVALID_JSON and
 * ERR_INVALID_FORM_BODY with the errors in .problems. The report is allocated in the arena. */
enum err world_file_import(struct store *store, const struct world_file_import_options *options,
                           struct str text, struct arena *arena,
                           struct world_file_import_report *ret);

/* Validates a world file without the store; *ret_problems has one error per line. References to
 * missing objects are found only by an import. */
enum err world_file_validate(const struct domain *const *domains, struct str text,
                             struct arena *arena, struct str *ret_problems);

/* Queues a world file for import. An import sends no events to sessions, so the server stops first,
 * imports the file, and starts again in the same process. */
void world_file_import_enqueue(struct str text); /* copies the text; replaces a queued file */
bool world_file_import_is_queued(void);
/* Imports the queued file while nothing else uses the store, and records the result.
 * world_file_import_record_failure records a failure instead. */
void world_file_import_run_queued(struct store *store,
                                  const struct world_file_import_options *options);
void world_file_import_record_failure(void);
/* Writes the result of the last import as JSON; {"number": 0} if no import ran in this process. */
void write_last_world_file_import_json(struct buf *out);

/* Exports all data as a world file. *ret_importable is false if the file exceeds the size limit of
 * an import; the file may then be empty, because the export ends at the limit. */
enum err world_file_export(struct store *store, const struct domain *const *domains,
                           struct world_file_progress *progress, struct buf *out,
                           bool *ret_importable);

/* The world file that `guildhall demo` imports, as JSON. */
extern const char world_demo[];

/* Ids of the guild and channel that the demo opens; 0 if deleted. */
struct demo_ids {
    snowflake guild, channel;
};
enum err demo_ids_read(struct store *store, struct demo_ids *ret);

enum err store_has_no_accounts(struct store *store, bool *ret);

/* Issues a token for an account. The token replaces earlier tokens with the same purpose. .found is
 * set if the account exists. */
struct account_token_request {
    struct auth *auth;
    struct str username, purpose;
    bool lasts; /* each request returns the same token */
    bool found, bot;
    char token[256];
};
enum err issue_account_token(struct store *store, struct account_token_request *request);

#endif
