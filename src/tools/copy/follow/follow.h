/* follow.h - `copy-guild --follow`: keeps the copy of a guild up to date until the day of the move,
 * and posts what is written here on the other side.
 *
 * sessions.c receives the events of both sides and queues them. One thread takes them in order:
 * source_events.c changes this side, post_back.c the other side. The archive remains the record of
 * the other side: new messages are appended to it before they are imported, so its ids also say
 * which messages here came from there. follow.c runs the copy again when events were missed. */
#ifndef TOOLS_COPY_FOLLOW_FOLLOW_H
#define TOOLS_COPY_FOLLOW_FOLLOW_H

#include "tools/copy/archive/json_members.h"
#include "tools/copy/download/download.h"
#include "tools/copy/import/import.h"
#include "tools/wire/bot_session.h"

/* --- sessions.c: events of both sides ------------------------------------------------ */

enum follow_side { SIDE_SOURCE, SIDE_HERE, SIDES };
struct follow_event {
    enum follow_side side;
    char *name, *data; /* data: JSON */
    struct gateway_resume_point after;
    bool refused; /* data is a sentence: the gateway refuses the bot */
    struct follow_event *next;
};
struct follow_sessions;
struct follow_sessions *follow_sessions_new(snowflake guild);
/* Starts receiving the events of a side. */
bool follow_sessions_start(struct follow_sessions *f, enum follow_side side,
                           const struct bot_session_options *options,
                           const struct gateway_resume_point *from);
/* Ends all sessions; they can be resumed. */
void follow_sessions_free(struct follow_sessions *f);
/* Returns the next event, or NULL after a second. */
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
    snowflake bot;          /* account of the bot on the other side */
    struct gateway_resume_point points[SIDES];
    snowflake newest_here; /* newest message of this side that was handled */
    int64_t newest_event;  /* time of the last event of the other side, microseconds */
    bool lists_changed;    /* lists are read again after .read_lists_at */
    int64_t read_lists_at; /* clock_monotonic_ns */
    bool source_failed;    /* the other side did not answer: the event is tried again */
    bool here_runs;        /* the session of this side has been started */
    enum copy_result result;
};

struct copy_follow_options {
    const char *data; /* data folder of the running server */
    struct guild_archive *archive;
    struct copy_source *source;
    const struct copy_download_options *download;
    const struct copy_load_options *load;
    void (*after_copy)(void *arg); /* called after each copy of messages; may be NULL */
    void *after_copy_arg;
    struct copy_source *here; /* this side, with the token of a bot here; NULL: no posting back */
    const char *here_token, *source_token;
    const char *public_url; /* address of this server for pictures, or NULL */
};
/* Runs until the process is interrupted, or the other side refuses the bot. */
enum copy_result copy_follow(const struct copy_follow_options *options);

/* Waits until a server runs on the data folder. Returns false if the command is interrupted. */
bool follow_wait_for_server(struct copy_follow *f);
bool follow_is_interrupted(void);
/* Runs a command of the running server: a format for its words, separated by tabs. Returns false if
 * the server cannot be reached; a refused command is reported and counts as done. */
bool follow_command(struct copy_follow *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool follow_run_query(const struct copy_follow *f, enum err (*run)(struct tx *tx, void *arg),
                      void *arg);

/* --- source_events.c: changes on the other side -------------------------------------- */

/* Returns false if it must be tried again. */
bool follow_apply_source_event(struct copy_follow *f, const struct follow_event *e);

/* --- missing.c: objects that were deleted while no events were received -------------- */

struct archive_ids;
struct archive_ids *archive_ids_read(const struct guild_archive *a, snowflake messages_since);
void archive_ids_free(struct archive_ids *ids);
/* Deletes here what `before` has and the archive does not have any more. */
bool follow_delete_missing(struct copy_follow *f, const struct archive_ids *before);
/* Adds reactions to messages from the id `since` on that were here already. */
bool follow_add_missed_reactions(struct copy_follow *f, snowflake since);

/* --- post_back.c: messages of this side on the other side ---------------------------- */

struct post_back *post_back_new(struct copy_follow *f);
void post_back_free(struct post_back *b);
bool post_back_apply_event(struct post_back *b, const struct follow_event *e);
/* Returns the id of the message here that was posted as this message; 0 if it was not. */
snowflake post_back_find_original(const struct post_back *b, snowflake id);
/* Announce changes that this command makes here, so that their events are not posted back. */
void post_back_expect_message(struct post_back *b, snowflake id);
void post_back_expect_reaction(struct post_back *b, snowflake message, snowflake user,
                               struct str emoji, bool added);

/* Returns the emoji of a reaction event as characters or name:id; "-" if the event has none. */
struct str follow_emoji_text(struct arena *arena, struct str event);

#endif
