/* follow.h - `copy-guild --follow`: updates the copy of a guild continuously until the day of the
 * move, and posts messages that are written on this server on the source server.
 *
 * sessions.c receives the gateway events of both servers and queues them. One OS thread handles
 * them in order: source_events.c changes this server, post_back.c changes the source server. The
 * archive is the record of the source server: a new message is appended to the archive before it is
 * imported. So the ids in the archive also tell which messages on this server came from the source
 * server. follow.c runs the copy again if events were missed. */
#ifndef TOOLS_COPY_FOLLOW_FOLLOW_H
#define TOOLS_COPY_FOLLOW_FOLLOW_H

#include "tools/copy/archive/json_members.h"
#include "tools/copy/download/download.h"
#include "tools/copy/import/import.h"
#include "tools/wire/bot_session.h"

/* --- sessions.c: events of the source server and of this server ----------------------- */

enum followed_guild_server { SIDE_SOURCE, SIDE_HERE, SIDES };
struct followed_guild_event {
    enum followed_guild_server side;
    char *name, *data; /* data: JSON */
    struct gateway_resume_point after;
    bool refused; /* the gateway refuses the bot; `data` is a sentence */
    struct followed_guild_event *next;
};
struct follow_sessions;
struct follow_sessions *follow_sessions_new(snowflake guild);
/* Starts to receive the events of one of the servers. */
bool follow_sessions_start(struct follow_sessions *f, enum followed_guild_server side,
                           const struct bot_session_options *options,
                           const struct gateway_resume_point *from);
/* Closes the connections of all sessions. A later run can resume the sessions. */
void follow_sessions_free(struct follow_sessions *f);
/* Returns the next event, or NULL if there is none for a second. */
struct followed_guild_event *follow_sessions_wait_for_event(struct follow_sessions *f);
bool follow_sessions_have_no_queued_event(struct follow_sessions *f);
void followed_guild_event_free(struct followed_guild_event *e);

/* --- follow.c ------------------------------------------------------------------------ */

struct source_guild_poster;

struct guild_follower {
    const struct guild_follower_options *options;
    struct guild_archive *archive;
    struct source_server_connection connection; /* to the other side */
    struct guild_download_options download_options;
    struct guild_import_options load;
    struct live_import *import;
    struct guild_copy_skipped_ids skipped;
    struct follow_sessions *sessions;
    struct source_guild_poster *back; /* NULL without posting back */
    snowflake bot;                    /* user id of the bot on the source server */
    struct gateway_resume_point points[SIDES];
    snowflake newest_here; /* newest message of this server that was handled */
    /* Time of the last event from the source server, in microseconds since 1970. */
    int64_t newest_event;
    bool lists_changed;    /* lists are read again after .read_lists_at */
    int64_t read_lists_at; /* clock_monotonic_ns */
    bool source_failed;    /* the source server did not answer, so the event is tried again */
    bool here_runs;        /* the gateway session with this server was started */
    enum guild_copy_result result;
};

struct guild_follower_options {
    const char *data; /* data folder of the running server */
    struct guild_archive *archive;
    struct guild_copy_source *source;
    const struct guild_download_options *download;
    const struct guild_import_options *load;
    void (*after_copy)(void *arg); /* called each time after messages were copied; may be NULL */
    void *after_copy_arg;
    /* This server, with the token of a bot on it; NULL: messages are not posted on the source
     * server. */
    struct guild_copy_source *here;
    const char *here_token, *source_token;
    /* Public address of this server, for URLs of pictures; NULL if there is none. */
    const char *public_url;
};
/* Runs until the process is interrupted, or until the source server refuses the bot. */
enum guild_copy_result follow_source_guild_until_interrupted(
    const struct guild_follower_options *options);

/* Waits until a server runs on this data folder. Returns false if the command is interrupted. */
bool follow_wait_until_server_runs(struct guild_follower *f);
bool follow_is_interrupted(void);
/* Runs an operator command of the running server. `format` and its arguments are the words of the
 * command, separated by tabs. Returns false if the server cannot be reached. If the server refuses
 * the command, this is reported and true is returned. */
bool follow_run_server_command(struct guild_follower *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool follow_run_read_transaction(const struct guild_follower *f,
                                 enum err (*run)(struct tx *tx, void *arg), void *arg);

/* --- source_events.c: changes on the source server ----------------------------------- */

/* Applies an event of the source server to this server. Returns false if it must be tried again. */
bool follow_apply_source_event(struct guild_follower *f, const struct followed_guild_event *e);

/* --- missing.c: objects that were deleted on the source server while no events were received */

struct guild_archive_ids;
struct guild_archive_ids *guild_archive_ids_read(const struct guild_archive *a,
                                                 snowflake messages_since);
void guild_archive_ids_free(struct guild_archive_ids *ids);
/* Deletes the objects on this server that are in `before`, but no longer in the archive. */
bool follow_delete_objects_missing_in_archive(struct guild_follower *f,
                                              const struct guild_archive_ids *before);
/* Adds missing reactions to the messages with at least the id `since` that were already on this
 * server. */
bool follow_add_missed_reactions(struct guild_follower *f, snowflake since);

/* --- post_back.c: posts messages of this server on the source server ----------------- */

struct source_guild_poster *source_guild_poster_new(struct guild_follower *f);
void source_guild_poster_free(struct source_guild_poster *b);
bool source_guild_poster_apply_event(struct source_guild_poster *b,
                                     const struct followed_guild_event *e);
/* Returns the id of the message on this server that was posted as message `id` on the source
 * server; 0 if there is none. */
snowflake source_guild_poster_find_original_message_id(const struct source_guild_poster *b,
                                                       snowflake id);
/* Announce a change that this command makes on this server. Its event is then not posted on the
 * source server. */
void source_guild_poster_ignore_event_of_message(struct source_guild_poster *b, snowflake id);
void source_guild_poster_ignore_event_of_reaction(struct source_guild_poster *b, snowflake message,
                                                  snowflake user, struct str emoji, bool added);

/* Returns the emoji of a reaction event as characters or as name:id. Returns "-" if the event has
 * no emoji. */
struct str follow_format_emoji_of_reaction(struct arena *arena, struct str event);

#endif
