/* message_content.h - which bots get the content of messages, in events and in answers. */
#ifndef MODEL_MESSAGE_CONTENT_H
#define MODEL_MESSAGE_CONTENT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/snowflake.h"
#include "base/str.h"

/* Flags of an application that grant the content: GATEWAY_MESSAGE_CONTENT and ..._LIMITED. */
enum { APPLICATION_MESSAGE_CONTENT = 1 << 18 | 1 << 19 };

/* Somebody who receives a message. */
struct content_reader {
    snowflake id;
    snowflake application_id; /* of a bot; 0 for people */
    bool bot;
    /* Events: the session has the MESSAGE_CONTENT intent. Answers: the application has one of
     * the flags. Always true for people. */
    bool granted;
};

/* Who wrote a message, and whom it mentions. */
struct content_origin {
    snowflake author_id;
    snowflake application_id; /* answers to interactions, messages of an application's webhook */
    const snowflake *mentioned;
    size_t mentioned_count;
};

/* Bots without the grant get the content of messages in guilds only if they or webhooks of their
 * application wrote them, or if they are mentioned in them. */
bool content_is_hidden(const struct content_reader *reader, bool in_guild,
                       const struct content_origin *from);

/* Appends a message's JSON with content, embeds, attachments and components empty, and without
 * its poll. The messages that it forwards or answers are treated alike. */
void message_emptied(struct str message, struct arena *arena, struct buf *out);

/* The same as text, for a message as answers show it, if the content is hidden from
 * the reader; else visible_message_for_reader. */
struct str message_for_reader(struct str message, bool in_guild,
                              const struct content_reader *reader, struct arena *arena);

/* A message whose content the reader gets. If a person wrote it, the reader gets the message that
 * it answers, too: that person shows it to the bot. If a bot or a webhook wrote it, the message
 * that it answers has content only if the reader would get that message by itself. Otherwise one
 * bot, or two that mention each other, could read every message by answering it. Forwarded messages
 * keep their content: a bot can forward only messages whose content it gets. */
struct str visible_message_for_reader(struct str message, bool in_guild,
                                      const struct content_reader *reader, struct arena *arena);

#endif
