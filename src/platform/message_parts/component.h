/* component.h - message components: buttons, selects, text inputs and their containers. One struct
 * is used for all component types; the type decides which members apply. The folder also has embeds
 * (embed.h) and the stored JSON of both (column_json.h). It owns no table and may use channels/ and
 * the folders below it. Start with components.c. */
#ifndef PLATFORM_MESSAGE_PARTS_COMPONENT_H
#define PLATFORM_MESSAGE_PARTS_COMPONENT_H

#include "json/schema.h"

enum component_type {
    ACTION_ROW = 1,
    BUTTON = 2,
    STRING_SELECT = 3,
    TEXT_INPUT = 4,
    USER_SELECT = 5,
    ROLE_SELECT = 6,
    MENTIONABLE_SELECT = 7,
    CHANNEL_SELECT = 8,
    SECTION = 9,
    TEXT_DISPLAY = 10,
    THUMBNAIL = 11,
    MEDIA_GALLERY = 12,
    FILE_DISPLAY = 13,
    SEPARATOR = 14,
    CONTAINER = 17,
    LABEL = 18,
    FILE_UPLOAD = 19,
    RADIO_GROUP = 21,
    CHECKBOX_GROUP = 22,
    CHECKBOX = 23,
};

enum button_style { BUTTON_LINK = 5, BUTTON_PREMIUM = 6 };

enum { COMPONENTS_MOST = 40, COMPONENT_TEXT_MOST = 4000 };

struct component_emoji {
    struct opt_id id;
    struct opt_str name;
    struct opt_bool animated;
};
struct component_option {
    struct str label, value;
    struct opt_str description;
    struct opt_object emoji;
    struct opt_bool is_default;
};

struct component {
    int64_t type;
    struct opt_int id, style, min_values, max_values, min_length, max_length, spacing, accent_color;
    struct opt_str custom_id, label, url, placeholder, content, description, value;
    struct opt_id sku_id;
    struct opt_bool disabled, required, spoiler, divider, is_default;
    struct opt_list options; /* struct component_option */
    struct opt_list components, channel_types, default_values, items;
    struct opt_object emoji, accessory, component, media, file;
};

extern const struct type type_components_in; /* array of struct component */

/* Returns whether the type is a select of strings, users, roles, mentionables or channels. */
bool component_is_select(int64_t type);

/* Checks limits over all components of a list and their children: unique custom_id, number of
 * components, total text length. list is the path of the list in the body. */
void components_validate_limits(struct form *form, const struct json_path *list,
                                const struct list *components);

/* Checks a message's components. v2 is true if the message has the flag IS_COMPONENTS_V2. here is
 * the path of the request body. */
void message_components_validate(struct form *form, const struct json_path *here,
                                 const struct opt_list *components, bool v2);

/* Encodes components as JSON for a database column. Assigns an id to each component that has
 * none. */
struct str components_encode_json(struct arena *arena, struct list *components);
/* Decodes components from the JSON of a database column. Returns an empty list if the JSON is
 * invalid. */
struct list components_decode_json(struct arena *arena, struct str text);

#endif
