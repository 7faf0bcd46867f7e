/* component_members.h - JSON schemas of the objects inside components: options, emoji, media. */
#ifndef PLATFORM_MESSAGE_PARTS_COMPONENT_MEMBERS_H
#define PLATFORM_MESSAGE_PARTS_COMPONENT_MEMBERS_H

#include "platform/message_parts/component.h"
#include "platform/message_parts/embed.h"

struct component_default_value {
    snowflake id;
    struct str type;
};
struct component_media {
    struct str url;
};
struct media_gallery_item {
    const struct component_media *media;
    struct opt_str description;
    struct opt_bool spoiler;
};

extern const struct schema component_schema, option_schema, gallery_schema;
extern const struct type type_component_emoji, type_options, type_defaults, type_component_media,
    type_gallery, type_about;

#endif
