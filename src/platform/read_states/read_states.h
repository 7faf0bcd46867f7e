/* read_states.h - read states of channels, and mention counts. A new message does not write a row
 * per recipient: its mentions are stored once (`mention_notes`), and READY counts the unread ones.
 * In private channels, READY counts all unread messages. Bots have no read states. Owns the tables
 * of read states and mentions. May include invites/ and lower layers. Start with acks.c. */
#ifndef PLATFORM_READ_STATES_READ_STATES_H
#define PLATFORM_READ_STATES_READ_STATES_H

#include "platform/messages/messages.h"

extern const struct domain read_states_domain;

/* Writes the READY field "read_state": an object with entries if `entries` is true, else an array.
 * If `others` is true, includes read states that do not belong to channels. */
enum err write_ready_read_states(struct tx *tx, snowflake user_id, bool entries, bool others,
                                 struct json_writer *out);

#endif
