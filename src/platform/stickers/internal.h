/* internal.h - declarations shared by the files of stickers/. */
#ifndef PLATFORM_STICKERS_INTERNAL_H
#define PLATFORM_STICKERS_INTERNAL_H

#include "platform/stickers/stickers.h"

enum { STICKER_MAX_BYTES = 512 * 1024 };

enum err sticker_insert(struct tx *tx, const struct sticker *s);
/* Updates name, description and tags. */
enum err sticker_update(struct tx *tx, const struct sticker *s);
/* Also deletes its file. */
enum err sticker_delete(struct call *call, const struct sticker *s);
/* Fills .user with the uploaders. */
enum err stickers_load_users(struct tx *tx, struct list *stickers);

/* --- routes.c ------------------------------------------------------------------------- */

/* Reads {sticker.id}, in the guild of the path if it has one. */
enum err sticker_of_path(struct call *call, struct sticker *ret);

/* --- guild_stickers.c: handlers ------------------------------------------------------- */

extern const struct type sticker_draft_body, sticker_patch_body;
enum err prepare_create_guild_sticker(struct call *call);
enum err create_guild_sticker(struct call *call);
enum err may_change_sticker(struct call *call); /* in .admit */
enum err modify_guild_sticker(struct call *call);
enum err delete_guild_sticker(struct call *call);
enum err stickers_show_in_guild(struct call *call, struct guild *g);
enum err stickers_prefetch_in_guild(struct call *call, snowflake guild_id);
/* Fills the uploaders if the caller has a permission to create or manage stickers. */
enum err stickers_dress(struct call *call, struct list *stickers);
enum err sticker_reply(struct call *call, struct sticker *sticker);

/* --- formats.c: file formats ---------------------------------------------------------- */

struct sticker_file {
    enum sticker_format format;
    const char *extension;
};
/* ERR_INVALID_ASSET: unknown format; ERR_STICKER_LARGE: width or height; ERR_STICKER_LONG: duration
 * of the animation. */
enum err sticker_file_look(struct arena *arena, struct str bytes, struct sticker_file *ret);

#endif
