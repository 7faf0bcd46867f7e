/* archive.h - the folder of an archive: lists of JSON lines, files, the journal and the report.
 *
 * A line is an object as the other server's interface returned it (docs/MOVE-HERE.md). The journal
 * says which steps of a download are done. A file or a page of a list is there completely or not at
 * all, so a run that was killed can continue. chat_export.c and data_package.c write messages of
 * other formats to an archive. */
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
    struct map done; /* hash of a step's name to its name */
    struct arena *names;
    int journal, not_taken; /* files; -1 if closed */
    bool resumed;           /* an earlier run did not finish */
    int64_t not_taken_count;
};

/* Opens an archive for a download. Another process must not use it. */
bool guild_archive_open(struct guild_archive *a, const char *folder);
void guild_archive_close(struct guild_archive *a);
/* Ends the journal: the next run reads all lists again, and only new messages. */
bool guild_archive_finish(struct guild_archive *a);
bool guild_archive_step_is_done(struct guild_archive *a, const char *step);
bool guild_archive_mark_step_done(struct guild_archive *a, const char *step);
/* Adds a line to the report: what could not be taken, and why. */
void guild_archive_add_report_line(struct guild_archive *a, const char *what, const char *why);
void guild_archive_format_path(const struct guild_archive *a, char ret[1200], const char *format,
                               ...) __attribute__((format(printf, 3, 4)));
/* Creates the folders of a path. */
bool guild_archive_make_folders(const char *path);
/* Replaces a file by lines, completely or not at all. */
bool guild_archive_write_lines(const struct guild_archive *a, const char *name, struct str lines);

/* A list of lines that grows page by page. A page that was cut off by a crash is removed at its
 * last complete line. */
struct guild_archive_list {
    int fd;
    snowflake last; /* id of the last line; 0 if the list is empty */
};
/* `id` is the member with the id, or "user" for objects with a user. */
bool guild_archive_list_open(const struct guild_archive *a, const char *name, const char *id,
                             struct guild_archive_list *ret);
bool guild_archive_list_append(struct guild_archive_list *l, struct str lines);
/* Finds the first line whose id is `since` or greater. *ret_offset is its offset, or the end of the
 * file; *ret_before is the id of the line before, or 0. */
bool guild_archive_list_find(const struct guild_archive_list *l, snowflake since, off_t *ret_offset,
                             snowflake *ret_before);
/* Removes the lines from an offset on. */
bool guild_archive_list_truncate(struct guild_archive_list *l, off_t offset);
void guild_archive_list_close(struct guild_archive_list *l);

/* Reads a file line by line from an offset; found returns false to stop. arena is cleared after
 * each line. A missing file has no lines. Returns false if the file cannot be read. */
typedef bool guild_archive_line_function(void *arg, struct str line, int64_t next_offset,
                                         struct arena *arena);
bool guild_archive_for_each_line(const struct guild_archive *a, const char *name, int64_t offset,
                                 guild_archive_line_function *found, void *arg);
int64_t guild_archive_count_lines(const struct guild_archive *a, const char *name);

/* --- skipped.c: messages of the archive that are not imported --- */

/* Messages that were deleted after they were read, and messages that were posted from here. */
struct copy_skipped {
    struct map ids, webhooks;
};
void copy_skipped_read(const struct guild_archive *a, struct copy_skipped *ret);
void copy_skipped_clear(struct copy_skipped *s);
bool copy_skipped_contains(const struct copy_skipped *s, struct str message);
bool copy_skipped_contains_webhook(const struct copy_skipped *s, snowflake webhook);
/* Records ids in the archive. */
bool copy_skip_message(struct copy_skipped *s, struct guild_archive *a, snowflake id);
bool copy_skip_webhook(struct copy_skipped *s, struct guild_archive *a, snowflake webhook);

/* --- chat_export.c --- */

/* Returns the id of the guild of an export of DiscordChatExporter; prints a problem and returns 0
 * if the file is none. */
snowflake chat_export_read_guild(const char *path);
/* Adds the messages of an export to the archive, except those before the last one that it has. */
bool chat_export_convert(struct guild_archive *archive, const char *path);

/* --- data_package.c --- */

/* Returns whether a path is a folder with the messages of a data package. */
bool data_package_is_folder(const char *path);
/* Returns the id of the person; prints a problem and returns 0 if the package has none. */
snowflake data_package_read_user(const char *folder);
/* Prints the guilds of a package with the numbers of their channels and messages. */
bool data_package_print_guilds(const char *folder);
/* Replaces the lines of the archive by the messages that the person wrote in a guild. */
bool data_package_convert(struct guild_archive *archive, const char *folder, snowflake guild);

#endif
