/* internal.h - what the files of channels/ share. */
#ifndef PLATFORM_CHANNELS_INTERNAL_H
#define PLATFORM_CHANNELS_INTERNAL_H

#include "platform/channels/channels.h"

enum { CHANNEL_BITRATE = 64000 };

/* --- rows.c: channels in the store ---------------------------------------------------- */

enum err overwrite_put(struct tx *tx, snowflake channel_id, const struct overwrite *o);
enum err overwrites_replace(struct tx *tx, snowflake channel_id, const struct list *overwrites);

/* --- people.c: who is in a private channel ------------------------------------------------ */

enum err recipient_add(struct tx *tx, snowflake channel_id, snowflake user_id, bool closed);

#endif
