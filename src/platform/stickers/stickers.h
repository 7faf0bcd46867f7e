/* stickers.h - pictures of guilds that messages show, larger than emoji.
 *
 * This folder owns their rows, who may use which, the routes and the address of the files. It
 * stands below messages/, which keep with them what they show. Begin with rows.c. */
#ifndef PLATFORM_STICKERS_STICKERS_H
#define PLATFORM_STICKERS_STICKERS_H

#include "model/sticker.h"
#include "platform/emojis/emojis.h"

/* The oldest first, without .user. struct sticker */
enum err guild_stickers(struct tx *tx, snowflake guild_id, struct list *ret);
void guild_stickers_prefetch(struct tx *tx, snowflake guild_id);
/* ERR_UNKNOWN_STICKER. */
enum err sticker_find(struct tx *tx, snowflake id, struct sticker *ret);

/* ERR_INVALID_STICKER: there is none; ERR_STICKER_FORBIDDEN: not for this account there. */
enum err sticker_use(struct tx *tx, const struct emoji_user *who, snowflake id,
                     struct sticker *ret);

extern const struct naming sticker_naming; /* in world files */
extern const struct domain stickers_domain;
extern const struct domain sticker_files_domain; /* /stickers, at the root */
extern const struct world_parts stickers_world;

#endif
