/* stickers.h - stickers of guilds.
 *
 * This folder owns the rows, the usage checks, the routes and the file URLs. It is below messages/,
 * which store a copy of the stickers that they show. Start with rows.c. */
#ifndef PLATFORM_STICKERS_STICKERS_H
#define PLATFORM_STICKERS_STICKERS_H

#include "model/sticker.h"
#include "platform/emojis/emojis.h"

/* Returns struct sticker, oldest first, without .user. */
enum err guild_stickers(struct tx *tx, snowflake guild_id, struct list *ret);
void guild_stickers_prefetch(struct tx *tx, snowflake guild_id);
/* ERR_UNKNOWN_STICKER. */
enum err sticker_find(struct tx *tx, snowflake id, struct sticker *ret);

/* ERR_INVALID_STICKER: unknown; ERR_STICKER_FORBIDDEN: this account may not use it there. */
enum err sticker_use(struct tx *tx, const struct emoji_user *who, snowflake id,
                     struct sticker *ret);

extern const struct naming sticker_naming; /* in world files */
extern const struct domain stickers_domain;
extern const struct domain sticker_files_domain; /* /stickers, at the root */
extern const struct world_parts stickers_world;

#endif
