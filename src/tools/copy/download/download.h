/* download.h - fills an archive from another server.
 *
 * download.c reads the lists of a guild, then its OS threads share the channels:
 * download_messages.c reads pages of messages, file_queue.c reads their files. Each step that is
 * done is recorded in the journal of the archive. A later run repeats the steps that are not in the
 * journal. */
#ifndef TOOLS_COPY_DOWNLOAD_DOWNLOAD_H
#define TOOLS_COPY_DOWNLOAD_DOWNLOAD_H

#include "tools/copy/archive/archive.h"
#include "tools/copy/source/source.h"

struct copy_download_options {
    snowflake guild;
    int64_t max_file_bytes, workers;
    snowflake read_again_since; /* messages with at least this id are read again */
    /* Kinds of data to read; people: members, bans, and users who reacted or voted. */
    bool files, reaction_users, people;
};

/* Downloads the archive of a guild. Returns COPY_OK even if some objects were refused; the report
 * lists them. */
enum copy_result copy_download_guild(struct copy_source *source, struct guild_archive *archive,
                                     const struct copy_download_options *options);
/* Downloads the files of one message: its attachments, and the picture of its author. */
enum copy_result copy_download_message_files(struct copy_connection *c,
                                             struct guild_archive *archive,
                                             const struct copy_download_options *options,
                                             struct str message);
/* Prints what a download would read. */
enum copy_result copy_print_estimate(struct copy_source *source,
                                     const struct copy_download_options *options);

#endif
