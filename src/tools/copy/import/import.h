/* import.h - imports an archive as small world files.
 *
 * load.c and import_messages.c divide the lines of the archive into parts and convert them to world
 * files. import_entries.c imports each part in one transaction: in this process, or through the
 * control socket of a running server (running_server.c). */
#ifndef TOOLS_COPY_IMPORT_IMPORT_H
#define TOOLS_COPY_IMPORT_IMPORT_H

#include "platform/worlds/worlds.h"
#include "tools/copy/archive/archive.h"
#include "tools/copy/source/source.h"
#include "tools/tools.h"

struct guild_import_options {
    const struct config *config;
    struct store *store;
    struct guild_archive *archive;
    bool people;
    bool only_messages; /* do not change an existing guild and its channels */
    bool no_channels;   /* do not add channels to an existing guild */
    bool no_messages;   /* only the lists of the guild */
    /* Data folder of the running server that imports the archive; NULL: this process imports it. */
    const char *running;
};
/* Imports an archive; continues where an earlier import of the archive ended. */
enum guild_copy_result import_guild_archive(const struct guild_import_options *options);

/* --- live_import.c: imports single objects --- */

struct live_import;
enum live_import_result {
    LIVE_UNCHANGED,
    LIVE_CREATED,
    LIVE_EDITED,
    LIVE_UNPINNED,       /* unpin it with mirror-message */
    LIVE_UNKNOWN_CHANNEL /* the channel is not here */
};
/* Creates the state for importing single objects. `options` must stay valid. Returns NULL on
 * failure. */
struct live_import *live_import_new(const struct guild_import_options *options);
void live_import_free(struct live_import *i);
/* Imports a message. Returns false if the store or the server cannot be reached. */
bool live_import_message(struct live_import *i, struct str message, enum live_import_result *ret);
bool live_import_channel(struct live_import *i, struct str channel);
bool live_import_role(struct live_import *i, struct str role);
bool live_import_member(struct live_import *i, struct str member);
/* Returns whether a channel or Discord thread was copied. */
bool live_import_has_copied_channel(const struct live_import *i, snowflake id);

/* --- running_server.c --- */

/* Returns whether a server runs on this data folder. */
bool running_server_is_reachable(const char *data);
/* Imports a world file, like world_file_import, through the running server. Prints problems that
 * are not problems of the file. */
enum err running_server_import_world_file(const char *data, const struct guild_archive *archive,
                                          struct str text, struct arena *arena,
                                          struct world_file_import_report *ret);
/* Makes the running server send the guild to the sessions of its members again, as after an
 * outage. */
bool running_server_resend_guild_to_members(const char *data, snowflake guild);
/* Creates a claim code for a placeholder account. ret is empty if the account cannot be claimed. */
bool running_server_create_claim_code(const char *data, snowflake user_id, struct arena *arena,
                                      struct str *ret);

#endif
