/* stickers.h - stickers of guilds. Owns the stickers' rows and files. Messages store a copy of the
 * stickers that they show. May include emojis/ and lower layers. Start with rows.c. */
#ifndef PLATFORM_STICKERS_STICKERS_H
#define PLATFORM_STICKERS_STICKERS_H

#include "model/sticker.h"
#include "platform/emojis/emojis.h"

/* Reads the stickers of a guild (struct sticker), oldest first, without .user. */
enum err guild_stickers_read(struct tx *tx, snowflake guild_id, struct list *ret);
/* Reads a sticker. Returns ERR_UNKNOWN_STICKER if it does not exist. */
enum err sticker_find(struct tx *tx, snowflake id, struct sticker *ret);

/* Reads a sticker that somebody wants to send. Returns ERR_INVALID_STICKER if it does not exist,
 * ERR_STICKER_FORBIDDEN if the sender may not use it. */
enum err sticker_find_usable(struct tx *tx, const struct emoji_use_context *who, snowflake id,
                             struct sticker *ret);

extern const struct world_file_name_lookup
    sticker_naming; /* finds stickers by name in world files */
extern const struct domain stickers_domain;
extern const struct domain sticker_files_domain; /* route /stickers/{file}, outside of /api */
extern const struct world_file_fields stickers_world;

#endif
