/* archive.h - the folder of an archive: lists of JSON lines, files, the journal and the report.
 *
 * A line is an object as the source server's API returned it (docs/MOVE-HERE.md). The journal
 * contains the steps of a download that are done. A file, or a page of a list, is stored completely
 * or not at all, so that a download can continue after its process was killed. chat_export.c and
 * data_package.c convert messages in other formats and write them to an archive. */
#ifndef TOOLS_COPY_ARCHIVE_ARCHIVE_H
#define TOOLS_COPY_ARCHIVE_ARCHIVE_H

#include <pthread.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/snowflake.h"

struct guild_archive {
    char folder[1024];
    pthread_mutex_t lock;
    struct map done; /* names of the steps that are done, by hash of the name */
    struct arena *names;
    int journal, not_taken; /* files; -1 if closed */
    bool resumed;           /* an earlier run did not finish */
    int64_t not_taken_count;
};

/* Opens an archive for a download. No other process may use it meanwhile. */
bool guild_archive_open(struct guild_archive *a, const char *folder);
void guild_archive_close(struct guild_archive *a);
/* Clears the journal at the end of a download. The next download then reads all lists again, but
 * only new messages. */
bool guild_archive_clear_journal(struct guild_archive *a);
bool guild_archive_download_step_is_done(struct guild_archive *a, const char *step);
bool guild_archive_mark_download_step_done(struct guild_archive *a, const char *step);
/* Adds a line to the report: what could not be copied, and why. */
void guild_archive_add_report_line(struct guild_archive *a, const char *what, const char *why);
void guild_archive_format_path(const struct guild_archive *a, char ret[1200], const char *format,
                               ...) __attribute__((format(printf, 3, 4)));
/* Creates the folders of a path. */
bool guild_archive_make_folders(const char *path);
/* Replaces the contents of a file by lines. The file is replaced completely or not at all. */
bool guild_archive_write_lines(const struct guild_archive *a, const char *name, struct str lines);

/* A file of lines to which pages are appended. If a crash cut off a page, the next open removes
 * everything after the last complete line. */
struct guild_archive_line_file {
    int fd;
    snowflake last; /* id in the last line; 0 if there are no lines */
};
/* Opens a list. `id` is the name of the field with the id in each line; it is "user" if the id is
 * that of the object's user. */
bool guild_archive_line_file_open(const struct guild_archive *a, const char *name, const char *id,
                                  struct guild_archive_line_file *ret);
bool guild_archive_line_file_append(struct guild_archive_line_file *l, struct str lines);
/* Finds the first line whose id is at least `since`. Sets ret_offset to the offset of this line, or
 * to the end of the file. Sets ret_before to the id in the line before it, or to 0. */
bool guild_archive_line_file_find_offset_of_id(const struct guild_archive_line_file *l,
                                               snowflake since, off_t *ret_offset,
                                               snowflake *ret_before);
/* Removes all lines from this offset on. */
bool guild_archive_line_file_truncate(struct guild_archive_line_file *l, off_t offset);
void guild_archive_line_file_close(struct guild_archive_line_file *l);

/* Reads a file line by line from an offset. The function `found` gets each line; it returns false
 * to stop. `arena` is cleared after each line. A missing file counts as empty. Returns false if the
 * file cannot be read. */
typedef bool guild_archive_line_callback(void *arg, struct str line, int64_t next_offset,
                                         struct arena *arena);
bool guild_archive_for_each_line(const struct guild_archive *a, const char *name, int64_t offset,
                                 guild_archive_line_callback *found, void *arg);
int64_t guild_archive_count_lines(const struct guild_archive *a, const char *name);

/* --- skipped.c: messages of the archive that are not imported --- */

/* Messages of an archive that must not be imported: those that were deleted after the archive was
 * read, and those that were posted from this server. */
struct guild_copy_skipped_ids {
    struct map ids, webhooks;
};
void guild_copy_skipped_ids_read(const struct guild_archive *a, struct guild_copy_skipped_ids *ret);
void guild_copy_skipped_ids_clear(struct guild_copy_skipped_ids *s);
bool guild_copy_skipped_ids_contain_message(const struct guild_copy_skipped_ids *s,
                                            struct str message);
bool guild_copy_skipped_ids_contain_webhook(const struct guild_copy_skipped_ids *s,
                                            snowflake webhook);
/* Records ids in the archive. */
bool guild_copy_record_skipped_message(struct guild_copy_skipped_ids *s, struct guild_archive *a,
                                       snowflake id);
bool guild_copy_record_skipped_webhook(struct guild_copy_skipped_ids *s, struct guild_archive *a,
                                       snowflake webhook);

/* --- chat_export.c --- */

/* Returns the guild id of a file that DiscordChatExporter wrote. If the file is of another kind,
 * prints a problem and returns 0. */
snowflake chat_export_read_guild_id(const char *path);
/* Adds the messages of an exported file to the archive. Skips messages that are older than the last
 * one in the archive. */
bool chat_export_convert_to_archive(struct guild_archive *archive, const char *path);

/* --- data_package.c --- */

/* Returns whether the path is the folder of a personal data package with messages. */
bool path_is_data_package_folder(const char *path);
/* Returns the id of the person to whom the package belongs. If it has none, prints a problem and
 * returns 0. */
snowflake data_package_read_user_id(const char *folder);
/* Prints the guilds of a package, with the number of channels and messages of each. */
bool data_package_print_guilds(const char *folder);
/* Replaces the archive's messages by those that the person wrote in a guild. */
bool data_package_convert_to_archive(struct guild_archive *archive, const char *folder,
                                     snowflake guild);

#endif
