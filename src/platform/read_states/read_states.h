/* read_states.h - how far people have read, and what calls them.
 *
 * A state has a row once somebody acknowledged it or wrote there. Nothing is written for those
 * whom a message calls: it notes whom (`mention_notes`), and how many of those a person has not
 * read is counted when a session begins; in private channels the messages themselves are counted.
 * Clients go on counting by the same rules. Bots have no states. Begin with states.c. */
#ifndef PLATFORM_READ_STATES_READ_STATES_H
#define PLATFORM_READ_STATES_READ_STATES_H

#include "platform/messages/messages.h"

extern const struct domain read_states_domain;

/* The key "read_state" of READY. entries: with entries, partial and version; others: also states
 * that are not of channels. */
enum err ready_read_states(struct tx *tx, snowflake user_id, bool entries, bool others,
                           struct json *out);

#endif
