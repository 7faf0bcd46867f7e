/* search.h - full-text search for messages. A message is indexed as a set of terms: its case-folded
 * words, and terms with the prefix '_' for its guild, channel, author and other filters. The index
 * evaluates every filter, so a search reads only the messages of its result, except to check word
 * order and distance. FTS5 and tsvector use the same terms and return the same results. Triggers
 * add each new or changed message to `message_unindexed`; a job indexes them in batches
 * (indexing.c). A search scans these messages itself, so it finds a message directly after its
 * commit. If too many are unindexed, the reply is 202. Start with document.c. */
#ifndef PLATFORM_SEARCH_SEARCH_H
#define PLATFORM_SEARCH_SEARCH_H

#include "platform/messages/messages.h"

extern const struct domain search_domain;

/* Resets the schedule of the indexing job; call at server start. */
void search_begin(void);

#endif
