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
    /* In events: whether the session has the intent MESSAGE_CONTENT. In responses: whether the
     * application has a flag of APPLICATION_MESSAGE_CONTENT. Always true for users. */
    bool granted;
};

/* Author and mentions of a message. */
struct message_author_and_mentions {
    snowflake author_id;
    /* Application that sent the message as an interaction response or by a webhook, or 0. */
    snowflake application_id;
    const snowflake *mentioned;
    size_t mentioned_count;
};

/* Returns whether the content must be hidden from the reader. It is hidden if all of this is true:
 * the reader is a bot that is not `granted`; the message is in a guild; neither the bot nor a
 * webhook of its application wrote the message; the message does not mention the bot. */
bool message_content_is_hidden(const struct message_content_reader *reader, bool in_guild,
                               const struct message_author_and_mentions *from);

/* Appends the JSON of a message without its content: content, embeds, attachments and components
 * are empty, and the poll is omitted. The content of messages that this message forwards or replies
 * to is also removed. */
void append_message_without_content(struct str message, struct arena *arena, struct buf *out);

/* Returns the message without content if its content is hidden from the reader. Otherwise returns
 * the result of build_message_json_with_readable_references. */
struct str build_message_json_for_reader(struct str message, bool in_guild,
                                         const struct message_content_reader *reader,
                                         struct arena *arena);

/* Returns the JSON of a message whose content the reader may get. The question is which content the
 * referenced message has. If a user wrote the message, the referenced message retains its content,
 * because that user shows it to the bot. If a bot or webhook wrote the message, the referenced
 * message has content only if the reader may get it directly; a bot could otherwise read every
 * message by replying to it. Forwarded messages retain their content, because a bot can forward
 * only messages whose content it may get. */
struct str build_message_json_with_readable_references(struct str message, bool in_guild,
                                                       const struct message_content_reader *reader,
                                                       struct arena *arena);

#endif
