/* copy.h - copies a guild from another server: downloads an archive, and imports an archive.
 *
 * An archive is a folder with JSON lines and files (docs/MOVE-HERE.md). Its lines are the objects
 * that the other server's interface returned. source.c sends requests within the rate limits,
 * archive.c writes lines and the journal, download.c and download_messages.c fill the archive,
 * world_*.c convert lines to entries of world files, load.c imports these. */
#ifndef TOOLS_COPY_COPY_H
#define TOOLS_COPY_COPY_H

#include <pthread.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/snowflake.h"
#include "json/read.h"
#include "json/write.h"
#include "platform/worlds/worlds.h"
#include "tools/tools.h"

/* --- json_members.c: members of JSON objects as text ----------------------------------- */

/* Returns the JSON text of a member; empty if it is absent or null. */
struct str json_member_raw(struct str object, const char *name);
/* Returns a string member without quotes and escapes; empty if it is absent or no string. */
struct str json_member_text(struct arena *arena, struct str object, const char *name);
/* Returns an id member, a string of digits; 0 if it is absent. */
snowflake json_member_id(struct str object, const char *name);
int64_t json_member_int(struct str object, const char *name);
bool json_member_is_true(struct str object, const char *name);
/* Lists the items of a JSON array as text (struct str). */
struct list json_array_items(struct arena *arena, struct str array);

/* --- source.c: requests to the other server -------------------------------------------- */

struct copy_source;

struct copy_source_options {
    const char *api, *cdn, *token; /* api: URL with version; token: of a bot */
    int64_t requests_per_second;
};
/* Counters of a run. Read them when no request is running. */
struct copy_source_counts {
    int64_t requests, rate_limited, retries, bytes;
};

enum copy_result {
    COPY_OK,
    COPY_REFUSED, /* the server refused the request: 4xx */
    COPY_FAILED,  /* no usable response after several attempts */
    COPY_STOPPED, /* the token is not valid, or the archive cannot be written: ends the run */
};

/* Prints a problem and returns NULL if the URL is not valid or libcurl is missing. */
struct copy_source *copy_source_new(const struct copy_source_options *options);
void copy_source_free(struct copy_source *s);
struct copy_source_counts copy_source_counts(const struct copy_source *s);

/* A connection of one thread. .reason is a sentence if the last request was not COPY_OK. */
struct copy_connection {
    struct copy_source *source;
    void *handle; /* CURL */
    int status;
    char reason[256];
};
bool copy_connection_open(struct copy_connection *c, struct copy_source *s);
void copy_connection_close(struct copy_connection *c);

/* Sends a request within the rate limits, and repeats it after 429, 5xx and lost connections.
 * `path` is below the interface's URL. out gets the body of the response. */
enum copy_result copy_request(struct copy_connection *c, const char *method, const char *path,
                              struct str body, struct buf *out);
/* Downloads a file to `path`, complete or not at all, from the address of the other server's files
 * with the path of `url`. Refuses files of more than max_bytes. */
enum copy_result copy_download_file(struct copy_connection *c, const char *url, const char *path,
                                    int64_t max_bytes);

/* --- archive.c: folder with lines, files, journal and report --------------------------- */

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
void guild_archive_report(struct guild_archive *a, const char *what, const char *why);
void guild_archive_path(const struct guild_archive *a, char ret[1200], const char *format, ...)
    __attribute__((format(printf, 3, 4)));
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

/* --- download.c ------------------------------------------------------------------------- */

struct copy_download_options {
    snowflake guild;
    int64_t max_file_bytes, workers;
    snowflake read_again_since;         /* messages from this id on are read again */
    bool files, reaction_users, people; /* people: members, bans and who reacted or voted */
};
/* State of a download that all threads share. */
struct copy_download {
    const struct copy_download_options *options;
    struct copy_source *source;
    struct guild_archive *archive;
    bool stopped, incomplete; /* incomplete: a step failed and is repeated by the next run */
    int64_t message_count;    /* messages of this run */
    int64_t file_count;
    pthread_mutex_t lock;
    struct list channels; /* struct copy_channel, with threads */
    size_t next_task;
    struct file_queue *files;
};
struct copy_channel {
    snowflake id, last_message_id;
    int64_t type, last_pin_at; /* last_pin_at: microseconds since 1970, 0 if unknown */
    double progress;
};

/* Fills the archive. Returns COPY_OK also if some objects were refused; they are in the report. */
enum copy_result copy_download_guild(struct copy_source *source, struct guild_archive *archive,
                                     const struct copy_download_options *options);
/* Prints what a download would read. */
enum copy_result copy_print_estimate(struct copy_source *source,
                                     const struct copy_download_options *options);

/* Returns whether a thread has ended the run. */
bool copy_download_is_stopped(struct copy_download *d);

/* --- download_messages.c ---------------------------------------------------------------- */

/* Reads the messages of a channel that the archive does not have yet, with their files. */
enum copy_result copy_download_messages(struct copy_download *d, struct copy_connection *c,
                                        struct copy_channel *channel);

/* --- file_queue.c: files that the threads of a download fetch ---------------------------- */

struct file_job {
    char url[1024];
    char name[300];          /* name in the archive */
    snowflake attachment_id; /* if not 0, an expired address is refreshed */
    struct file_batch *batch;
    struct file_job *next;
};
/* Files of one page of messages. */
struct file_batch {
    size_t pending;
    bool stopped;
};
struct file_queue *file_queue_new(void);
void file_queue_free(struct file_queue *q);
/* Adds a file unless the archive has it. Copies the job. */
void file_queue_add(struct copy_download *d, const struct file_job *job);
/* Fetches files until all files of the batch are there or refused. Any thread may call it. */
enum copy_result file_queue_finish_batch(struct copy_download *d, struct copy_connection *c,
                                         struct file_batch *batch);

/* --- world_*.c: objects of the interface as entries of world files ------------------------ */

/* Entries of a list of a world file. */
struct world_entries {
    struct buf text; /* entries, separated by commas */
    size_t *ends;    /* offset after each entry */
    size_t count, capacity;
};
void world_entries_clear(struct world_entries *e);
/* Ends an entry that was written to .text; the next one follows after a comma. */
void world_entries_end_entry(struct world_entries *e);

/* Ids that entries may refer to. */
struct copy_known_ids {
    struct map users, roles, channels, emojis;
};
struct copy_conversion {
    const struct guild_archive *archive;
    snowflake guild;
    bool people, welcome_screen_enabled;
    struct copy_known_ids known;
    struct world_entries users; /* accounts that the next import needs first */
    struct map queued;          /* ids of these accounts */
    struct map pinned_at;       /* id of a pinned message to the JSON of a time (struct str) */
    int64_t omitted;            /* references to objects that no longer exist */
};
/* Appends an entry. Returns false if the object is not copied. */
typedef bool world_entry_function(struct copy_conversion *c, struct arena *arena, struct str object,
                                  struct buf *out);
world_entry_function write_world_guild, write_world_role, write_world_channel, write_world_member,
    write_world_ban, write_world_emoji, write_world_sticker, write_world_sound, write_world_event,
    write_world_automod_rule, write_world_webhook, write_world_message, write_world_invite,
    write_world_welcome_screen, write_world_onboarding, write_world_widget;
/* Returns the type of a channel in world files; NULL if channels of this type are not copied. */
const char *world_channel_type(int64_t type);
/* Adds an account that an entry refers to; object is a user object of the interface. */
void queue_world_user(struct copy_conversion *c, struct arena *arena, struct str user);
bool is_known_id(const struct map *ids, snowflake id);
void add_known_id(struct map *ids, snowflake id);
/* Makes the queued accounts known, except those of which only the id is known. */
void mark_queued_users_known(struct copy_conversion *c);

/* --- load.c ------------------------------------------------------------------------------- */

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

/* --- running_server.c ---------------------------------------------------------------------- */

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

/* --- chat_export.c --------------------------------------------------------------------------- */

/* Returns the id of the guild of an export of DiscordChatExporter; prints a problem and returns 0
 * if the file is none. */
snowflake chat_export_read_guild(const char *path);
/* Adds the messages of an export to the archive, except those before the last one that it has. */
bool chat_export_convert(struct guild_archive *archive, const char *path);

/* --- data_package.c -------------------------------------------------------------------------- */

/* Returns whether a path is a folder with the messages of a data package. */
bool data_package_is_folder(const char *path);
/* Returns the id of the person; prints a problem and returns 0 if the package has none. */
snowflake data_package_read_user(const char *folder);
/* Prints the guilds of a package with the numbers of their channels and messages. */
bool data_package_print_guilds(const char *folder);
/* Replaces the lines of the archive by the messages that the person wrote in a guild. */
bool data_package_convert(struct guild_archive *archive, const char *folder, snowflake guild);

/* --- claims.c ------------------------------------------------------------------------------ */

struct copy_claim_options {
    struct copy_source *source;
    struct guild_archive *archive;
    struct store *store;
    const char *address; /* address of this server, for the link */
    const char *running; /* data folder of the running server; NULL if none runs */
};
/* Sends a claim code to each member with a placeholder account who has not received one. */
enum copy_result copy_send_claims(const struct copy_claim_options *options);

#endif
