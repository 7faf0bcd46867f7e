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
    const char *_Atomic what; /* counted unit, such as "messages"; NULL before the first */
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

static inline void world_file_progress_add(struct world_file_progress *p, int64_t done)
{
    if (p)
        atomic_fetch_add_explicit(&p->done, done, memory_order_relaxed);
}

/* Number of imported objects of a type: created, or found and updated. */
struct imported_object_count {
    const char *what; /* type of the objects, such as "users"; NULL ends the array */
    int64_t made, known;
};
enum { WORLD_COUNTS = 10 };

/* A token that an import issued for an account of the world file. */
struct imported_account_token {
    struct str username, token;
    bool bot;
};

struct world_file_import_options {
    const struct domain *const *domains; /* domains whose fields form the file format */
    struct auth *auth;
    struct password_cost password_cost;
    bool tokens;       /* whether to issue new tokens and revoke the old ones of bots */
    const char *files; /* path of the archive with the files that the entries name, or NULL */
    struct world_file_progress *progress; /* or NULL */
};

struct world_file_import_report {
    struct imported_object_count counts[WORLD_COUNTS];
    struct list tokens;     /* struct imported_account_token */
    int64_t transaction_us; /* how long the transaction ran, in microseconds */
    struct str
        problems; /* validation errors, one per line: "guilds.0.owner: there is no user 'ada'" */
};

/* Imports a world file in one transaction: the whole file or, on errors, nothing. Objects that
 * exist (by id or name) are updated, so importing a file again changes nothing. Returns
 * ERR_INVALID_JSON or ERR_INVALID_FORM_BODY, with the errors in .problems. The report is allocated
 * in the arena. */
enum err world_file_import(struct store *store, const struct world_file_import_options *options,
                           struct str text, struct arena *arena,
                           struct world_file_import_report *ret);

/* Validates a world file without a store. *ret_problems has one error per line. Does not detect
 * references to objects that do not exist; only an import does. */
enum err world_file_validate(const struct domain *const *domains, struct str text,
                             struct arena *arena, struct str *ret_problems);

/* Queues a world file for import. The server then stops, the same process imports the file, and the
 * server starts again: an import sends no gateway events, so sessions must not be open. */
void world_file_import_enqueue(struct str text); /* copies the text; replaces a queued file */
bool world_file_import_is_queued(void);
/* Imports the queued file and records the result. Call it while nothing else uses the store. If the
 * import cannot run, call world_file_import_record_failure instead. */
void world_file_import_run_queued(struct store *store,
                                  const struct world_file_import_options *options);
void world_file_import_record_failure(void);
/* Writes the result of the last import as JSON. It is {"number": 0} if this process has not run an
 * import. */
void write_last_world_file_import_json(struct buf *out);

/* Exports all data as a world file. *ret_importable is false if the file exceeds the size limit of
 * an import; the file may then be empty, because the export ends at the limit. */
enum err world_file_export(struct store *store, const struct domain *const *domains,
                           struct world_file_progress *progress, struct buf *out,
                           bool *ret_importable);

/* The world file that `guildhall demo` imports, as JSON. */
extern const char world_demo[];

/* Ids of the guild and channel that the demo opens; 0 if they were deleted. */
struct demo_guild_ids {
    snowflake guild, channel;
};
enum err demo_guild_ids_read(struct store *store, struct demo_guild_ids *ret);

enum err store_has_no_accounts(struct store *store, bool *ret);

/* Issues a token for an account and revokes earlier tokens with the same purpose. Sets .found if
 * the account exists. */
struct account_token_request {
    struct auth *auth;
    struct str username, purpose;
    bool lasts; /* each request returns the same token */
    bool found, bot;
    char token[256];
};
enum err issue_account_token(struct store *store, struct account_token_request *request);

#endif
