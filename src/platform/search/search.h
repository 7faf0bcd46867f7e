/* search.h - full-text search of messages. A message is indexed as a set of terms: its words, and
 * terms with the prefix '_' for the other filters. SQLite's FTS5 and PostgreSQL's tsvector get the
 * same terms. A job indexes new messages (indexing.c); a search also scans the messages that are
 * not indexed yet. Owns the table message_index. May include invites/ and lower layers. Start with
 * document.c. */
#ifndef PLATFORM_SEARCH_SEARCH_H
#define PLATFORM_SEARCH_SEARCH_H

#include "platform/messages/messages.h"

extern const struct domain search_domain;

/* Resets the process-wide schedule of the indexing job. Call it when a server starts. */
void reset_message_indexing_schedule(void);

#endif
