/* import.h - imports an archive as small world files.
 *
 * load.c divides the lines of the archive, converts them and imports each part in one transaction:
 * in this process, or through the control socket of a running server (running_server.c). */
#ifndef TOOLS_COPY_IMPORT_IMPORT_H
#define TOOLS_COPY_IMPORT_IMPORT_H

#include "platform/worlds/worlds.h"
#include "tools/copy/archive/archive.h"
#include "tools/copy/source/source.h"
#include "tools/tools.h"

struct copy_load_options {
    const struct config *config;
    struct store *store;
    struct guild_archive *archive;
    bool people;
    bool only_messages;  /* an existing guild and its channels are not changed */
    bool no_channels;    /* no channels are added to an existing guild */
    const char *running; /* data folder of the running server that imports; NULL: this process */
};
/* Imports an archive; continues where an earlier import of the archive ended. */
enum copy_result copy_load_archive(const struct copy_load_options *options);

/* --- running_server.c --- */

/* Returns whether a server runs on a data folder. */
bool running_server_is_reachable(const char *data);
/* Imports a world file like world_file_import; prints a problem that is not one of the file. */
enum err running_server_import(const char *data, const struct guild_archive *archive,
                               struct str text, struct arena *arena,
                               struct world_file_import_report *ret);
/* Sends the guild to the sessions of its members, as after an outage. */
bool running_server_refresh_guild(const char *data, snowflake guild);
/* *ret is empty if the account cannot be claimed. */
bool running_server_create_claim_code(const char *data, snowflake user_id, struct arena *arena,
                                      struct str *ret);

#endif
