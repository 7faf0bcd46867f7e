/* search.h - finding messages by their words and by what is known of them.
 *
 * A message is indexed as a set of marks: its words, folded, and marks that begin with '_' for
 * its guild, channel, author and whatever else a search may ask for. So every filter is a question
 * to the index, and no search reads messages that it does not show, except to see how far words
 * stand apart. FTS5 and tsvector get the same marks and find the same.
 *
 * Triggers note each message that is new or changed in `message_unindexed`; a job indexes them
 * many at a time (indexing.c). A search looks at the noted ones itself, so it finds a message
 * as soon as it is written; when there are too many of them it says 202. Begin with document.c. */
#ifndef PLATFORM_SEARCH_SEARCH_H
#define PLATFORM_SEARCH_SEARCH_H

#include "platform/messages/messages.h"

extern const struct domain search_domain;

/* At the start: nobody has asked for the index to be brought up to date. */
void search_begin(void);

#endif
