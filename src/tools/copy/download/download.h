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

struct guild_download_options {
    snowflake guild;
    int64_t max_file_bytes, workers;
    snowflake read_again_since; /* messages with at least this id are read again */
    /* Kinds of data to read; people: members, bans, and users who reacted or voted. */
    bool files, reaction_users, people;
};

/* Fills the archive. Returns COPY_OK also if some objects were refused; they are in the report. */
enum guild_copy_result download_guild_to_archive(struct guild_copy_source *source,
                                                 struct guild_archive *archive,
                                                 const struct guild_download_options *options);
/* Reads the files of one message: attachments, and the picture of the author. */
enum guild_copy_result download_files_of_message(struct source_server_connection *c,
                                                 struct guild_archive *archive,
                                                 const struct guild_download_options *options,
                                                 struct str message);
/* Prints what a download would read. */
enum guild_copy_result print_guild_download_estimate(struct guild_copy_source *source,
                                                     const struct guild_download_options *options);

#endif
