/* sticker.h - stickers of guilds. */
#ifndef MODEL_STICKER_H
#define MODEL_STICKER_H

#include "model/user.h"

enum sticker_format { STICKER_PNG = 1, STICKER_APNG, STICKER_LOTTIE, STICKER_GIF };
enum { STICKER_OF_GUILD = 2, MESSAGE_MAX_STICKERS = 3 };

struct sticker {
    snowflake id, guild_id;
    struct str name, tags;
    struct opt_str description;
    int64_t type, format_type;
    bool available;
    const struct user *user; /* user who uploaded the sticker; if NULL, not in the JSON */

    /* The members below are not part of the JSON object. */
    snowflake user_id;    /* uploader; 0 if unknown */
    struct opt_str image; /* hash of the image file */
};

/* The fields of a sticker that a message contains. */
struct sticker_item {
    snowflake id;
    struct str name;
    int64_t format_type;
};

struct guild_stickers_event {
    snowflake guild_id;
    struct list stickers; /* struct sticker */
};

extern const struct schema guild_stickers_event_schema; /* payload of GUILD_STICKERS_UPDATE */
extern const struct type type_sticker, type_stickers, type_sticker_items;
extern const struct type type_sticker_name, type_sticker_tags, type_sticker_description;

#endif
