/* message_content.h - hides the content of messages from bots without MESSAGE_CONTENT. */
#ifndef MODEL_MESSAGE_CONTENT_H
#define MODEL_MESSAGE_CONTENT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/snowflake.h"
#include "base/str.h"

/* Application flags that allow reading message content: GATEWAY_MESSAGE_CONTENT and ..._LIMITED. */
enum { APPLICATION_MESSAGE_CONTENT = 1 << 18 | 1 << 19 };

/* The user or bot that receives a message. */
struct message_content_reader {
    snowflake id;
    snowflake application_id; /* application of a bot; 0 for users */
    bool bot;
    /* In events: whether the session has the MESSAGE_CONTENT intent. In responses: whether the
     * application has one of the flags above. Always true for users. */
    bool granted;
};

/* Author and mentions of a message. */
struct message_author_and_mentions {
    snowflake author_id;
    snowflake application_id; /* set for interaction responses and webhooks of an application */
    const snowflake *mentioned;
    size_t mentioned_count;
};

/* Returns true if the content must be hidden: the reader is a bot that is not `granted`, the
 * message is in a guild, neither the bot nor a webhook of its application wrote it, and it does not
 * mention the bot. */
bool message_content_is_hidden(const struct message_content_reader *reader, bool in_guild,
                               const struct message_author_and_mentions *from);

/* Appends the JSON of a message with empty content, embeds, attachments and components, and without
 * the poll. Also removes the content of messages that the message forwards or replies to. */
void append_message_without_content(struct str message, struct arena *arena, struct buf *out);

/* Returns the message without content if the content is hidden from the reader; otherwise the
 * result of visible_message_json_for_reader. */
struct str message_json_for_reader(struct str message, bool in_guild,
                                   const struct message_content_reader *reader,
                                   struct arena *arena);

/* Returns the JSON of a message whose content the reader may get. If a user wrote the message, the
 * referenced message retains its content, because that user shows it to the bot. If a bot or
 * webhook wrote the message, the referenced message has content only if the reader may get it
 * directly; otherwise a bot could read every message by replying to it. Forwarded messages retain
 * their content, because a bot can forward only messages whose content it may get. */
struct str visible_message_json_for_reader(struct str message, bool in_guild,
                                           const struct message_content_reader *reader,
                                           struct arena *arena);

#endif
