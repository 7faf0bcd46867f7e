/* channels.h - channels of guilds and private ones. */
#ifndef PLATFORM_CHANNELS_CHANNELS_H
#define PLATFORM_CHANNELS_CHANNELS_H

#include "model/guild.h"
#include "platform/platform.h"

/* ERR_UNKNOWN_CHANNEL. With overwrites; recipients are for channel_load_recipients. */
enum err channel_find(struct tx *tx, snowflake id, struct channel *ret);
/* The others of a private channel, as `viewer` sees it. */
enum err channel_load_recipients(struct tx *tx, struct channel *c, snowflake viewer);
bool channel_is_recipient(struct tx *tx, snowflake channel_id, snowflake user_id,
                          enum err *ret_error);

/* All channels of a guild with their overwrites; threads apart. */
enum err guild_channels(struct tx *tx, snowflake guild_id, struct list *ret_channels,
                        struct list *ret_threads);
/* Writes a new channel with its overwrites; announces nothing. */
enum err channel_insert(struct tx *tx, const struct channel *c);

/* The direct channel of two accounts, made when there is none. *ret_new says which. */
enum err direct_channel(struct tx *tx, snowflake a, snowflake b, struct channel *ret,
                        bool *ret_new);

/* Whom an event about this channel is for: viewers in a guild, else its people. */
struct subject to_channel_viewers(const struct channel *c);

extern const struct domain channels_domain;

#endif
