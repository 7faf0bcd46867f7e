/* search.h - full-text search. A message is indexed as a set of terms: its words, and terms with
 * the prefix '_' for other filters; FTS5 and tsvector use the same terms. A job indexes new
 * messages (indexing.c); a search scans messages that are not indexed yet. Owns the tables
 * message_index and message_unindexed. May include invites/ and lower layers. Start with
 * document.c. */
#ifndef PLATFORM_SEARCH_SEARCH_H
#define PLATFORM_SEARCH_SEARCH_H

#include "platform/messages/messages.h"

extern const struct domain search_domain;

/* Resets the schedule of the indexing job; call at server start. */
void reset_message_indexing_schedule(void);

#endif
