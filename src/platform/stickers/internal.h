/* internal.h - what the files of stickers/ share. */
#ifndef PLATFORM_STICKERS_INTERNAL_H
#define PLATFORM_STICKERS_INTERNAL_H

#include "platform/stickers/stickers.h"

enum { STICKER_MAX_BYTES = 512 * 1024 };

enum err sticker_insert(struct tx *tx, const struct sticker *s);
/* Its name, description and tags. */
enum err sticker_update(struct tx *tx, const struct sticker *s);
/* With its file. */
enum err sticker_delete(struct call *call, const struct sticker *s);
/* Adds who brought them. */
enum err stickers_load_users(struct tx *tx, struct list *stickers);

/* --- routes.c ------------------------------------------------------------------------- */

/* {sticker.id}: of the guild in the path, where there is one. */
enum err sticker_of_path(struct call *call, struct sticker *ret);

/* --- guild_stickers.c: what the table names -------------------------------------------- */

extern const struct type sticker_draft_body, sticker_patch_body;
enum err prepare_create_guild_sticker(struct call *call);
enum err create_guild_sticker(struct call *call);
enum err may_change_sticker(struct call *call); /* in .admit */
enum err modify_guild_sticker(struct call *call);
enum err delete_guild_sticker(struct call *call);
enum err stickers_show_in_guild(struct call *call, struct guild *g);
enum err stickers_prefetch_in_guild(struct call *call, snowflake guild_id);
/* Adds who brought them, for those who could bring one. */
enum err stickers_dress(struct call *call, struct list *stickers);
enum err sticker_reply(struct call *call, struct sticker *sticker);

/* --- formats.c: what a file is -------------------------------------------------------- */

struct sticker_file {
    enum sticker_format format;
    const char *extension;
};
/* ERR_INVALID_ASSET: none of the formats; ERR_STICKER_LARGE: too wide or high;
 * ERR_STICKER_LONG: it moves for too long. */
enum err sticker_file_look(struct arena *arena, struct str bytes, struct sticker_file *ret);

#endif
