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

/* --- formats.c: what a file is -------------------------------------------------------- */

struct sticker_file {
    enum sticker_format format;
    const char *extension;
};
/* ERR_INVALID_ASSET: none of the formats; ERR_STICKER_LARGE: too wide or high;
 * ERR_STICKER_LONG: it moves for too long. */
enum err sticker_file_look(struct arena *arena, struct str bytes, struct sticker_file *ret);

#endif
