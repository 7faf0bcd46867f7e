/* announcement_channels.h - announcement channels: publish (crosspost) messages to channels that
 * follow. A follower is a webhook of type 2 in such a channel. An announcement channel may have
 * many followers, so jobs copy a published message, its edits and its deletion in batches. The
 * folder owns the table crossposts and may use webhooks/ and the folders below it. Start with
 * message_copies.c. */
#ifndef PLATFORM_ANNOUNCEMENT_CHANNELS_ANNOUNCEMENT_CHANNELS_H
#define PLATFORM_ANNOUNCEMENT_CHANNELS_ANNOUNCEMENT_CHANNELS_H

#include "api/route.h"

extern const struct domain announcement_channels_domain;

#endif
