/* internal.h - declarations shared by the files of stickers/. */
#ifndef PLATFORM_STICKERS_INTERNAL_H
#define PLATFORM_STICKERS_INTERNAL_H

#include "platform/stickers/stickers.h"

enum { STICKER_MAX_BYTES = 512 * 1024 };

enum err sticker_insert(struct tx *tx, const struct sticker *s);
/* Updates name, description and tags of a sticker. */
enum err sticker_update(struct tx *tx, const struct sticker *s);
/* Deletes the sticker's row and file. */
enum err sticker_delete(struct call *call, const struct sticker *s);
enum err read_sticker_uploaders(struct tx *tx, struct list *stickers);

/* --- routes.c ------------------------------------------------------------------------- */

/* Reads the sticker {sticker.id} of the path. If the path also has a guild, the sticker must belong
 * to it. */
enum err read_sticker_of_path(struct call *call, struct sticker *ret);

/* --- guild_stickers.c: handlers ------------------------------------------------------------ */

extern const struct type sticker_draft_body, sticker_patch_body;
enum err validate_sticker_upload(struct call *call);
enum err create_guild_sticker(struct call *call);
enum err check_change_sticker_permission(struct call *call); /* called as the route's .admit */
enum err modify_guild_sticker(struct call *call);
enum err delete_guild_sticker(struct call *call);
enum err read_stickers_into_guild(struct call *call, struct guild *g);
/* Sets the field .user (who uploaded the sticker) if the caller may create or manage stickers. */
enum err set_sticker_uploaders_if_permitted(struct call *call, struct list *stickers);
enum err reply_with_sticker(struct call *call, struct sticker *sticker);

/* --- formats.c: file formats ---------------------------------------------------------- */

struct sticker_file {
    enum sticker_format format;
    const char *extension;
};
/* Detects the format of a sticker file. Returns ERR_INVALID_ASSET if it is unknown,
 * ERR_STICKER_LARGE if the picture is too wide or high, ERR_STICKER_LONG if the animation is too
 * long. */
enum err sticker_file_detect(struct arena *arena, struct str bytes, struct sticker_file *ret);

#endif
