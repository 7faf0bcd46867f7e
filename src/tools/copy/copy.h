/* copy.h - copies a guild from another server, the source server: downloads an archive of the
 * guild, and imports the archive into this server.
 *
 * An archive is a folder with JSON lines and files (docs/MOVE-HERE.md). The subfolders, from the
 * lowest layer to the highest (scripts/check-layers):
 *
 * archive/    the folder on the disk; exports of other programs that become archives source/
 * requests to the other server, within its rate limits download/   fills an archive from the other
 * server convert/    lines of an archive as entries of world files import/     imports these
 * entries, here or into a running server follow/     keeps the copy up to date, and posts back what
 * is written here
 *
 * claims.c sends the people of a copied guild the codes with which they claim their accounts. Owns
 * no table; may use every folder. An interrupted run of any part can be repeated: a download
 * continues after its last complete step, and an import finds existing objects by their ids. Start
 * with copy_guild.c, the commands. */
#ifndef TOOLS_COPY_COPY_H
#define TOOLS_COPY_COPY_H

#include "store/store.h"
#include "tools/copy/archive/archive.h"
#include "tools/copy/source/source.h"

struct claim_code_sending_options {
    struct guild_copy_source *source;
    struct guild_archive *archive;
    struct store *store;
    const char *address; /* address of this server, for the link in the message */
    const char *running; /* data folder of the running server; NULL if no server runs */
};
/* Sends a claim code to each member with a placeholder account who has not received one. */
enum guild_copy_result send_claim_codes_to_members(
    const struct claim_code_sending_options *options);

#endif
