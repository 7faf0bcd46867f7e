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

enum follow_side { SIDE_SOURCE, SIDE_HERE, SIDES };
struct follow_event {
    enum follow_side side;
    char *name, *data; /* data: JSON */
    struct gateway_resume_point after;
    bool refused; /* the gateway refuses the bot; `data` is a sentence */
    struct follow_event *next;
};
struct follow_sessions;
struct follow_sessions *follow_sessions_new(snowflake guild);
/* Starts to receive the events of one of the servers. */
bool follow_sessions_start(struct follow_sessions *f, enum follow_side side,
                           const struct bot_session_options *options,
                           const struct gateway_resume_point *from);
/* Closes the connections of all sessions. A later run can resume the sessions. */
void follow_sessions_free(struct follow_sessions *f);
/* Returns the next event, or NULL if there is none for a second. */
struct follow_event *follow_sessions_take(struct follow_sessions *f);
bool follow_sessions_are_empty(struct follow_sessions *f);
void follow_event_free(struct follow_event *e);

/* --- follow.c ------------------------------------------------------------------------ */

struct post_back;

struct copy_follow {
    const struct copy_follow_options *options;
    struct guild_archive *archive;
    struct copy_connection connection; /* to the other side */
    struct copy_download_options download_options;
    struct copy_load_options load;
    struct live_import *import;
    struct copy_skipped skipped;
    struct follow_sessions *sessions;
    struct post_back *back; /* NULL without posting back */
    snowflake bot;          /* user id of the bot on the source server */
    struct gateway_resume_point points[SIDES];
    snowflake newest_here; /* newest message of this server that was handled */
    /* Time of the last event from the source server, in microseconds since 1970. */
    int64_t newest_event;
    bool lists_changed;    /* lists are read again after .read_lists_at */
    int64_t read_lists_at; /* clock_monotonic_ns */
    bool source_failed;    /* the source server did not answer, so the event is tried again */
    bool here_runs;        /* the gateway session with this server was started */
    enum copy_result result;
};

struct copy_follow_options {
    const char *data; /* data folder of the running server */
    struct guild_archive *archive;
    struct copy_source *source;
    const struct copy_download_options *download;
    const struct copy_load_options *load;
    void (*after_copy)(void *arg); /* called each time after messages were copied; may be NULL */
    void *after_copy_arg;
    /* This server, with the token of a bot on it; NULL: messages are not posted on the source
     * server. */
    struct copy_source *here;
    const char *here_token, *source_token;
    /* Public address of this server, for URLs of pictures; NULL if there is none. */
    const char *public_url;
};
/* Runs until the process is interrupted, or until the source server refuses the bot. */
enum copy_result copy_follow(const struct copy_follow_options *options);

/* Waits until a server runs on this data folder. Returns false if the command is interrupted. */
bool follow_wait_for_server(struct copy_follow *f);
bool follow_is_interrupted(void);
/* Runs an operator command of the running server. `format` and its arguments are the words of the
 * command, separated by tabs. Returns false if the server cannot be reached. If the server refuses
 * the command, this is reported and true is returned. */
bool follow_command(struct copy_follow *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool follow_run_query(const struct copy_follow *f, enum err (*run)(struct tx *tx, void *arg),
                      void *arg);

/* --- source_events.c: changes on the source server ----------------------------------- */

/* Applies an event of the source server to this server. Returns false if it must be tried again. */
bool follow_apply_source_event(struct copy_follow *f, const struct follow_event *e);

/* --- missing.c: objects that were deleted on the source server while no events were received */

struct archive_ids;
struct archive_ids *archive_ids_read(const struct guild_archive *a, snowflake messages_since);
void archive_ids_free(struct archive_ids *ids);
/* Deletes the objects on this server that are in `before`, but no longer in the archive. */
bool follow_delete_missing(struct copy_follow *f, const struct archive_ids *before);
/* Adds missing reactions to the messages with at least the id `since` that were already on this
 * server. */
bool follow_add_missed_reactions(struct copy_follow *f, snowflake since);

/* --- post_back.c: posts messages of this server on the source server ----------------- */

struct post_back *post_back_new(struct copy_follow *f);
void post_back_free(struct post_back *b);
bool post_back_apply_event(struct post_back *b, const struct follow_event *e);
/* Returns the id of the message on this server that was posted as message `id` on the source
 * server; 0 if there is none. */
snowflake post_back_find_original(const struct post_back *b, snowflake id);
/* Announce a change that this command makes on this server. Its event is then not posted on the
 * source server. */
void post_back_expect_message(struct post_back *b, snowflake id);
void post_back_expect_reaction(struct post_back *b, snowflake message, snowflake user,
                               struct str emoji, bool added);

/* Returns the emoji of a reaction event as characters or as name:id. Returns "-" if the event has
 * no emoji. */
struct str follow_emoji_text(struct arena *arena, struct str event);

#endif
