/* sticker.c - JSON schemas of stickers. */
#include "model/sticker.h"

#include "model/fields/types.h"

const struct type type_sticker_name = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .rule = &rule_visible_name, .min = 2, .max = 30
};
const struct type type_sticker_tags = { .kind = KIND_STRING,
                                        .flags = TYPE_TRIM,
                                        .min = 1,
                                        .max = 200,
                                        .doc = "The name of an emoji, by convention" };

static bool is_sticker_description(struct str s)
{
    return s.n != 1;
}
static const struct string_rule rule_description = { is_sticker_description, "BASE_TYPE_BAD_LENGTH",
                                                     "Must be between 2 and 100 in length." };
const struct type type_sticker_description = { .kind = KIND_STRING,
                                               .flags = TYPE_TRIM,
                                               .rule = &rule_description,
                                               .max = 100,
                                               .doc = "Empty, or 2-100 characters" };

static const struct enum_choice formats[] = {
    { STICKER_PNG, NULL, "PNG", "An image" },
    { STICKER_APNG, NULL, "APNG", "An animated image" },
    { STICKER_LOTTIE, NULL, "LOTTIE", "A vector animation" },
    { STICKER_GIF, NULL, "GIF", "An animated image" },
    { 0 },
};
static const struct type type_format = { .kind = KIND_INT, .choices = formats };

static const struct field sticker_fields[] = {
    { FIELD(struct sticker, id), .type = &type_id },
    { FIELD(struct sticker, name), .type = &type_sticker_name },
    { FIELD(struct sticker, description), .type = &type_sticker_description, .flags = NULLABLE },
    { FIELD(struct sticker, tags), .type = &type_sticker_tags },
    { FIELD(struct sticker, type), .type = &type_count, .doc = "2: sticker of a guild" },
    { FIELD(struct sticker, format_type), .type = &type_format },
    { FIELD(struct sticker, available), .type = &type_bool },
    { FIELD(struct sticker, guild_id), .type = &type_id },
    { FIELD(struct sticker, user), .type = &type_partial_user, .flags = OPTIONAL,
      .doc = "Uploader; only for members who may manage stickers" },
    { 0 },
};
static const struct schema sticker_schema = {
    .name = "Sticker",
    .size = sizeof(struct sticker),
    .fields = sticker_fields,
    .doc = "A sticker of a guild.",
};
const struct type type_sticker = { .kind = KIND_OBJECT, .schema = &sticker_schema };
const struct type type_stickers = { .kind = KIND_ARRAY, .of = &type_sticker };

static const struct field item_fields[] = {
    { FIELD(struct sticker_item, id), .type = &type_id },
    { FIELD(struct sticker_item, name), .type = &type_text },
    { FIELD(struct sticker_item, format_type), .type = &type_format },
    { 0 },
};
static const struct schema item_schema = {
    .name = "StickerItem",
    .size = sizeof(struct sticker_item),
    .fields = item_fields,
    .doc = "A sticker in a message.",
};
static const struct type type_item = { .kind = KIND_OBJECT, .schema = &item_schema };
const struct type type_sticker_items = { .kind = KIND_ARRAY, .of = &type_item };

static const struct field event_fields[] = {
    { FIELD(struct guild_stickers_event, guild_id), .type = &type_id },
    { FIELD(struct guild_stickers_event, stickers), .type = &type_stickers },
    { 0 },
};
const struct schema guild_stickers_event_schema = {
    .name = "GuildStickersEvent",
    .size = sizeof(struct guild_stickers_event),
    .fields = event_fields,
    .doc = "All stickers of a guild, after a change.",
};
