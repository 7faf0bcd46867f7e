/* component_members.c - JSON schemas of the members of components: options, emoji, media. */
#include "platform/message_parts/component_members.h"

static const struct type type_option_text = { .kind = KIND_STRING, .min = 1, .max = 100 };
static const struct type type_option_description = { .kind = KIND_STRING, .max = 100 };
const struct type type_about = { .kind = KIND_STRING, .max = 1024 };

static const struct field emoji_fields[] = {
    { FIELD(struct component_emoji, id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct component_emoji, name), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct component_emoji, animated), .type = &type_bool, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema component_emoji_schema = {
    .name = "ComponentEmoji",
    .size = sizeof(struct component_emoji),
    .fields = emoji_fields,
    .doc = "An emoji.",
};
const struct type type_component_emoji = { .kind = KIND_OBJECT, .schema = &component_emoji_schema };
static const struct field option_fields[] = {
    { FIELD(struct component_option, label), .type = &type_option_text },
    { FIELD(struct component_option, value), .type = &type_option_text },
    { FIELD(struct component_option, description), .type = &type_option_description,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct component_option, emoji), .type = &type_component_emoji,
      .flags = OPTIONAL | NULLABLE },
    { FIELD_AS(struct component_option, is_default, "default"), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
const struct schema option_schema = {
    .name = "ComponentOption",
    .size = sizeof(struct component_option),
    .fields = option_fields,
    .doc = "A choice in a menu.",
};
static const struct type type_option = { .kind = KIND_OBJECT, .schema = &option_schema };
const struct type type_options = { .kind = KIND_ARRAY, .min = 1, .max = 25, .of = &type_option };

static const struct enum_choice default_kinds[] = {
    { 0, "user", "USER", "A user" },
    { 0, "role", "ROLE", "A role" },
    { 0, "channel", "CHANNEL", "A channel" },
    { 0 },
};
static const struct type type_default_kind = { .kind = KIND_STRING, .choices = default_kinds };
static const struct field default_fields[] = {
    { FIELD(struct component_default_value, id), .type = &type_id },
    { FIELD(struct component_default_value, type), .type = &type_default_kind },
    { 0 },
};
static const struct schema default_schema = {
    .name = "ComponentDefault",
    .size = sizeof(struct component_default_value),
    .fields = default_fields,
    .doc = "A preselected value of a select menu.",
};
static const struct type type_default = { .kind = KIND_OBJECT, .schema = &default_schema };
const struct type type_defaults = { .kind = KIND_ARRAY, .max = 25, .of = &type_default };

static const struct field media_fields[] = {
    { FIELD(struct component_media, url), .type = &type_media_url },
    { 0 },
};
static const struct schema media_schema = {
    .name = "ComponentMedia",
    .size = sizeof(struct component_media),
    .fields = media_fields,
    .doc = "The URL of a picture or file.",
};
const struct type type_component_media = { .kind = KIND_OBJECT, .schema = &media_schema };
static const struct field gallery_fields[] = {
    { FIELD(struct media_gallery_item, media), .type = &type_component_media },
    { FIELD(struct media_gallery_item, description), .type = &type_about,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct media_gallery_item, spoiler), .type = &type_bool, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
const struct schema gallery_schema = {
    .name = "GalleryItem",
    .size = sizeof(struct media_gallery_item),
    .fields = gallery_fields,
    .doc = "A picture of a media gallery.",
};
static const struct type type_gallery_item = { .kind = KIND_OBJECT, .schema = &gallery_schema };
const struct type type_gallery = {
    .kind = KIND_ARRAY, .min = 1, .max = 10, .of = &type_gallery_item
};
