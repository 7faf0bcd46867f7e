/* post_back.h - posts messages of this server on the source server, with webhooks of the bot. For
 * the files of this folder.
 *
 * post_back.c applies events of this server. posted_messages.c knows what was posted and what came
 * from the source server, post_back_body.c writes webhook messages, post_back_webhooks.c sends
 * them, post_back_missed.c finds what was missed while the command did not run. */
#ifndef TOOLS_COPY_FOLLOW_POST_BACK_H
#define TOOLS_COPY_FOLLOW_POST_BACK_H

#include "tools/copy/follow/follow.h"

struct own_webhook {
    snowflake id;
    char token[200];
};
struct posted_message_ids {
    snowflake here, there, channel;
};

struct source_guild_poster {
    struct guild_follower *follow;
    struct source_server_connection here; /* to this side */
    struct arena *names;
    struct map webhooks; /* channel to struct own_webhook */
    /* Channels in which the bot may not post; each is reported once. */
    struct map refused;
    struct map by_here, by_there; /* struct posted_message_ids */
    struct map expected_messages, expected_reactions;
    struct guild_archive_line_file posted;
    bool is_open;         /* .posted */
    snowflake unanswered; /* id on this server of a message whose request got no answer */
};

/* --- posted_messages.c: what was posted, and what came from the source server ---------- */

void source_guild_poster_read_posted_messages(struct source_guild_poster *b);
/* Opens the list of posted messages, to which messages are added. */
bool source_guild_poster_open_posted_message_list(struct source_guild_poster *b);
/* Records that message `here` of this server was posted as message `there` on the source server.
 * `there` is 0 if it was deleted on the source server. */
bool source_guild_poster_record_posted_message(struct source_guild_poster *b, snowflake here,
                                               snowflake there, snowflake channel);
uint64_t source_guild_poster_reaction_key(snowflake message, snowflake user, struct str emoji,
                                          bool added);
/* Returns whether the archive has the message, so that it came from the source server. */
bool source_guild_poster_archive_has_message(const struct source_guild_poster *b, snowflake channel,
                                             snowflake id);
/* Returns whether the account is a placeholder account. Nobody can log in to it, so its actions
 * were copied from the source server. */
bool source_guild_poster_user_is_placeholder(const struct source_guild_poster *b, snowflake user);

/* --- post_back_webhooks.c -------------------------------------------------------------- */

/* Finds the webhooks that the bot created in earlier runs. */
bool source_guild_poster_read_webhooks(struct source_guild_poster *b);
void source_guild_poster_report_refused_channel(struct source_guild_poster *b, snowflake channel,
                                                const char *why);
/* Writes the path of a webhook message; id 0 means a new message. Returns the webhook, or NULL if
 * there is none. */
const struct own_webhook *source_guild_poster_write_webhook_path(struct source_guild_poster *b,
                                                                 snowflake channel, snowflake id,
                                                                 char path[500]);
/* Sends a new message with the channel's webhook. If the webhook was deleted on the source server,
 * creates it again, once. */
enum guild_copy_result source_guild_poster_send(struct source_guild_poster *b, snowflake channel,
                                                struct str body, snowflake *ret);

/* --- post_back_body.c ------------------------------------------------------------------ */

/* Returns the request body for a message. Returns "" if no part of the message can be posted. */
struct str source_guild_poster_write_body(struct source_guild_poster *b, struct arena *arena,
                                          struct str message, bool edit);

/* --- post_back.c, post_back_missed.c --------------------------------------------------- */

bool source_guild_poster_post_message(struct source_guild_poster *b, struct str message);
/* Writes which message is being posted; `here` is 0 if none is. */
bool source_guild_poster_record_post_in_progress(struct source_guild_poster *b, snowflake here,
                                                 snowflake channel, struct str body);
/* Searches the source server for messages whose request got no answer: they may have been posted
 * nevertheless. */
bool source_guild_poster_find_interrupted_posts(struct source_guild_poster *b);
/* Posts the messages that were written on this server while no events were received. */
bool source_guild_poster_post_missed_messages(struct source_guild_poster *b, struct str d);

#endif
