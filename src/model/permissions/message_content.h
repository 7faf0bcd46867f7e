/* message_content.h - hides the content of messages from bots without MESSAGE_CONTENT. */
#ifndef MODEL_MESSAGE_CONTENT_H
#define MODEL_MESSAGE_CONTENT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/snowflake.h"
#include "base/str.h"

/* Flags of an application that grant the content: GATEWAY_MESSAGE_CONTENT and ..._LIMITED. */
enum { APPLICATION_MESSAGE_CONTENT = 1 << 18 | 1 << 19 };

/* The recipient of a message. */
struct content_reader {
    snowflake id;
    snowflake application_id; /* of a bot; 0 for users */
    bool bot;
    /* Events: the session has the MESSAGE_CONTENT intent. Responses: the application has one of the
     * flags. Always true for users. */
    bool granted;
};

/* The author and the mentions of a message. */
struct content_origin {
    snowflake author_id;
    snowflake application_id; /* interaction responses, messages of an application's webhook */
    const snowflake *mentioned;
    size_t mentioned_count;
};

/* Without the grant, a bot gets the content of a guild message only if it or a webhook of its
 * application wrote it, or if it is mentioned. */
bool content_is_hidden(const struct content_reader *reader, bool in_guild,
                       const struct content_origin *from);

/* Appends the JSON of a message with empty content, embeds, attachments and components, and without
 * its poll. Messages that it forwards or replies to are treated in the same way. */
void message_emptied(struct str message, struct arena *arena, struct buf *out);

/* Returns the message without content if it is hidden from the reader; else
 * visible_message_for_reader. */
struct str message_for_reader(struct str message, bool in_guild,
                              const struct content_reader *reader, struct arena *arena);

/* For a message whose content the reader gets. If a user wrote it, the reader also gets the message
 * that it replies to, because that user shows it to the bot. If a bot or a webhook wrote it, the
 * message that it replies to has content only if the reader would get it directly. Otherwise one
 * bot, or two that mention each other, could read every message by replying to it. Forwarded
 * messages keep their content, because a bot can only forward messages whose content it gets. */
struct str visible_message_for_reader(struct str message, bool in_guild,
                                      const struct content_reader *reader, struct arena *arena);

#endif
