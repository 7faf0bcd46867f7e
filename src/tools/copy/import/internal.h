/* internal.h - state of an import, shared by the files of this folder. */
#ifndef TOOLS_COPY_IMPORT_INTERNAL_H
#define TOOLS_COPY_IMPORT_INTERNAL_H

#include "tools/copy/archive/json_members.h"
#include "tools/copy/convert/convert.h"
#include "tools/copy/import/import.h"

enum {
    /* Maximum number of entries of one import, and their maximum size in bytes; the import needs
     * several times that memory. */
    IMPORT_MAX_ENTRIES = 100,
    IMPORT_MAX_MEMBER_ENTRIES = 500,
    IMPORT_MAX_ENTRY_BYTES = 512 * 1024,
};

struct guild_archive_importer {
    const struct guild_import_options *options;
    struct world_file_progress *progress; /* counts bytes of the lines that were read; or NULL */
    struct world_file_import_options import;
    struct guild_copy_conversion conversion;
    struct buf guild_line; /* the guild in the archive */
    /* Fields of the guild that every world file must contain: id, name and owner. */
    struct buf guild;
    struct world_entries entries;
    struct buf before, after; /* text around the entries */
    const char *what;         /* for the report, such as "roles" */
    struct arena *arena;      /* cleared after each import */
    struct arena *names;      /* for .existing */
    struct map
        existing; /* id of a channel to struct existing_channel; see guild_archive_importer_open */
    struct guild_copy_skipped_ids skipped;
    bool guild_exists;
    size_t batch_entries; /* number of entries that are imported in one transaction */
    int64_t longest_us;   /* longest transaction of a running server */
    bool failed;
    int64_t refused, imported;
};
struct existing_channel {
    struct str name; /* JSON */
    int64_t type;
};

/* Opens an archive for import. If read_channels is set, .existing gets the channels that the guild
 * already has on this server. Returns false on failure or if the archive has no guild. Call
 * guild_archive_importer_close in any case. */
bool guild_archive_importer_open(struct guild_archive_importer *l,
                                 const struct guild_import_options *options, bool read_channels);
void guild_archive_importer_close(struct guild_archive_importer *l);
/* Records the ids of the roles, emojis and channels in the archive, which were imported before. */
void guild_archive_importer_read_known_ids(struct guild_archive_importer *l);
/* Begins a world file with messages of a channel. `channel` is an API object, or an object that has
 * only the id of an existing channel. Returns false if messages of this channel are not copied. The
 * channel's entry contains its type; without a type the channel would become a text channel. */
bool guild_archive_importer_begin_channel_messages(struct guild_archive_importer *l,
                                                   struct str channel);
void guild_archive_importer_add_entry(struct guild_archive_importer *l,
                                      world_file_entry_writer *write, struct arena *arena,
                                      struct str line);
/* Imports the entries that were collected. Imports the accounts to which they refer first. */
void guild_archive_importer_import_entries(struct guild_archive_importer *l);
/* Returns whether a channel must not be imported. Chat exports have only the names of channels, and
 * these names may be older than those on this server. */
bool guild_archive_importer_skips_channel(const struct guild_archive_importer *l,
                                          struct str channel);

typedef void guild_archive_thread_list_function(struct guild_archive_importer *l, const char *file,
                                                void *arg);
/* Calls `found` for each file that contains Discord threads. */
void guild_archive_importer_for_each_thread_list(struct guild_archive_importer *l,
                                                 guild_archive_thread_list_function *found,
                                                 void *arg);
/* Imports the messages of all channels and threads. */
void guild_archive_importer_import_messages(struct guild_archive_importer *l);
/* Compares the numbers of lines with the numbers of rows, and prints both. */
void guild_archive_importer_verify_counts(struct guild_archive_importer *l);

#endif
