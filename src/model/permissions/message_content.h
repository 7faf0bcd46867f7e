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
    bool bot;
    /* Events: the session has the MESSAGE_CONTENT intent. Answers: the application has one of
     * the flags. Always true for people. */
    bool granted;
};

/* Bots without the grant get the content of messages in guilds only if they wrote them or are
 * mentioned in them. */
bool content_is_hidden(const struct content_reader *reader, bool in_guild, snowflake author_id,
                       const snowflake *mentioned, size_t count);

/* Appends a message's JSON with content, embeds, attachments and components empty, and without
 * its poll. The messages that it forwards or answers are treated alike. */
void message_emptied(struct str message, struct arena *arena, struct buf *out);

/* The same as text, for a message as answers show it, if the content is hidden from
 * the reader; else the message as it is, or own_message_for_reader. */
struct str message_for_reader(struct str message, bool in_guild,
                              const struct content_reader *reader, struct arena *arena);

/* A message that the reader wrote. The message that it answers has content only if the reader would
 * get that message, too; forwarded messages, whose authors are not named, have none, also in a
 * private channel. Else a bot could read every message by answering or forwarding it. */
struct str own_message_for_reader(struct str message, bool in_guild,
                                  const struct content_reader *reader, struct arena *arena);

#endif
