/* components.c - the component object, row by row. */
#include "platform/message_parts/component_parts.h"

static const struct choice component_types[] = {
    { ACTION_ROW, NULL, "ACTION_ROW", "Buttons side by side, or a menu" },
    { BUTTON, NULL, "BUTTON", "Button" },
    { STRING_SELECT, NULL, "STRING_SELECT", "Menu of texts" },
    { TEXT_INPUT, NULL, "TEXT_INPUT", "Text field" },
    { USER_SELECT, NULL, "USER_SELECT", "Menu of people" },
    { ROLE_SELECT, NULL, "ROLE_SELECT", "Menu of roles" },
    { MENTIONABLE_SELECT, NULL, "MENTIONABLE_SELECT", "Menu of people and roles" },
    { CHANNEL_SELECT, NULL, "CHANNEL_SELECT", "Menu of channels" },
    { SECTION, NULL, "SECTION", "Text with something beside it" },
    { TEXT_DISPLAY, NULL, "TEXT_DISPLAY", "Text" },
    { THUMBNAIL, NULL, "THUMBNAIL", "Small picture" },
    { MEDIA_GALLERY, NULL, "MEDIA_GALLERY", "Pictures" },
    { FILE_DISPLAY, NULL, "FILE", "File" },
    { SEPARATOR, NULL, "SEPARATOR", "Space between" },
    { CONTAINER, NULL, "CONTAINER", "Box around others" },
    { LABEL, NULL, "LABEL", "Words for something to fill in" },
    { FILE_UPLOAD, NULL, "FILE_UPLOAD", "Files to send" },
    { RADIO_GROUP, NULL, "RADIO_GROUP", "One of some" },
    { CHECKBOX_GROUP, NULL, "CHECKBOX_GROUP", "Any of some" },
    { CHECKBOX, NULL, "CHECKBOX", "Yes or no" },
    { 0 },
};

static const struct type type_component_type = { .kind = KIND_INT, .choices = component_types };
static const struct type type_custom_id = { .kind = KIND_STRING, .min = 1, .max = 100 };
static const struct type type_label = { .kind = KIND_STRING, .max = 80 };
static const struct type type_placeholder = { .kind = KIND_STRING, .max = 150 };
static const struct type type_style = { .kind = KIND_INT, .min = 1, .max = 6 };
static const struct type type_min_values = { .kind = KIND_INT, .min = 0, .max = 25 };
static const struct type type_max_values = { .kind = KIND_INT, .min = 1, .max = 25 };
static const struct type type_display_text = { .kind = KIND_STRING,
                                               .min = 1,
                                               .max = COMPONENT_TEXT_MOST };
static const struct type type_min_length = { .kind = KIND_INT, .min = 0, .max = 4000 };
static const struct type type_max_length = { .kind = KIND_INT, .min = 1, .max = 4000 };
static const struct type type_prefilled = { .kind = KIND_STRING, .max = 4000 };
static const struct type type_spacing = { .kind = KIND_INT, .min = 1, .max = 2 };
static const struct type type_channel_types = { .kind = KIND_ARRAY, .of = &type_count };

static const struct type type_component = { .kind = KIND_OBJECT, .schema = &component_schema };
const struct type type_components_in = { .kind = KIND_ARRAY,
                                         .max = COMPONENTS_MOST,
                                         .of = &type_component };

/* clang-format off */
#define MAYBE(member_, type_)                                                                      \
    { FIELD(struct component, member_), .type = &(type_), .flags = OPTIONAL | NULLABLE }
/* clang-format on */

static const struct field component_fields[] = {
    { FIELD(struct component, type), .type = &type_component_type },
    MAYBE(id, type_count),
    MAYBE(custom_id, type_custom_id),
    MAYBE(style, type_style),
    MAYBE(label, type_label),
    MAYBE(emoji, type_component_emoji),
    MAYBE(url, type_url),
    MAYBE(sku_id, type_id),
    MAYBE(disabled, type_bool),
    MAYBE(options, type_options),
    MAYBE(channel_types, type_channel_types),
    MAYBE(default_values, type_defaults),
    MAYBE(placeholder, type_placeholder),
    MAYBE(min_values, type_min_values),
    MAYBE(max_values, type_max_values),
    MAYBE(min_length, type_min_length),
    MAYBE(max_length, type_max_length),
    MAYBE(value, type_prefilled),
    MAYBE(required, type_bool),
    { FIELD_AS(struct component, is_default, "default"), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE },
    MAYBE(components, type_components_in),
    MAYBE(accessory, type_component),
    MAYBE(component, type_component),
    MAYBE(content, type_display_text),
    MAYBE(media, type_component_media),
    MAYBE(items, type_gallery),
    MAYBE(file, type_component_media),
    MAYBE(description, type_about),
    MAYBE(spoiler, type_bool),
    MAYBE(divider, type_bool),
    MAYBE(spacing, type_spacing),
    MAYBE(accent_color, type_color),
    { 0 },
};

/* --- one component -------------------------------------------------------------------- */

static void check_button(struct form *form, const struct place *here, const struct component *c)
{
    struct place url = place_key(here, STR("url"));

    form_require(form, here, "style", c->style.given == GIVEN);
    if (c->style.given != GIVEN)
        return;
    if (c->style.value == BUTTON_PREMIUM) {
        form_require(form, here, "sku_id", c->sku_id.given == GIVEN);
        return;
    }
    form_require(form, here, "label", c->label.given == GIVEN || c->emoji.given == GIVEN);
    if (c->style.value == BUTTON_LINK) {
        form_require(form, here, "url", c->url.given == GIVEN);
    } else {
        form_require(form, here, "custom_id", c->custom_id.given == GIVEN);
        if (c->url.given == GIVEN)
            form_fail(form, &url, "BUTTON_COMPONENT_INVALID_URL", "Only link buttons have a url.");
    }
}

bool component_is_select(int64_t type)
{
    return type == STRING_SELECT || (type >= USER_SELECT && type <= CHANNEL_SELECT);
}

static bool takes_input(int64_t type)
{
    return component_is_select(type) || type == TEXT_INPUT || type >= FILE_UPLOAD;
}

static void check_component(struct form *form, const struct place *here, const void *object)
{
    const struct component *c = object;

    if (c->type == BUTTON)
        check_button(form, here, c);
    else if (takes_input(c->type))
        form_require(form, here, "custom_id", c->custom_id.given == GIVEN);
    if (c->type == STRING_SELECT || c->type == RADIO_GROUP || c->type == CHECKBOX_GROUP)
        form_require(form, here, "options", c->options.given == GIVEN);
    if (c->type == SECTION || c->type == CONTAINER)
        form_require(form, here, "components", c->components.value.count > 0);
    if (c->type == SECTION)
        form_require(form, here, "accessory", c->accessory.given == GIVEN);
    if (c->type == LABEL)
        form_require(form, here, "component", c->component.given == GIVEN);
    if (c->type == TEXT_DISPLAY)
        form_require(form, here, "content", c->content.given == GIVEN);
    if (c->type == THUMBNAIL)
        form_require(form, here, "media", c->media.given == GIVEN);
    if (c->type == MEDIA_GALLERY)
        form_require(form, here, "items", c->items.given == GIVEN);
    if (c->type == FILE_DISPLAY)
        form_require(form, here, "file", c->file.given == GIVEN);
}

const struct schema component_schema = {
    .name = "Component",
    .size = sizeof(struct component),
    .fields = component_fields,
    .check = check_component,
    .doc = "A button, a menu, or what holds them; which fields it has depends on its type.",
};
