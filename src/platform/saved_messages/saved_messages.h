/* saved_messages.h - messages that a user has saved (bookmarks), with an optional time of a
 * reminder, which clients show. Invariant: the list contains a message only if the caller may read
 * it at that time. Owns the table saved_messages. May include messages/ and lower layers. Start
 * with routes.c. */
#ifndef PLATFORM_SAVED_MESSAGES_SAVED_MESSAGES_H
#define PLATFORM_SAVED_MESSAGES_SAVED_MESSAGES_H

#include "api/route.h"

extern const struct domain saved_messages_domain;

#endif
