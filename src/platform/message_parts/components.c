/* components.c - JSON schema of the component object. */
#include "platform/message_parts/component_members.h"

#include "base/mem.h"

static const struct enum_choice component_types[] = {
    { ACTION_ROW, NULL, "ACTION_ROW", "Buttons side by side, or a menu" },
    { BUTTON, NULL, "BUTTON", "Button" },
    { STRING_SELECT, NULL, "STRING_SELECT", "Menu of texts" },
    { TEXT_INPUT, NULL, "TEXT_INPUT", "Text field" },
    { USER_SELECT, NULL, "USER_SELECT", "Menu of people" },
    { ROLE_SELECT, NULL, "ROLE_SELECT", "Menu of roles" },
    { MENTIONABLE_SELECT, NULL, "MENTIONABLE_SELECT", "Menu of people and roles" },
    { CHANNEL_SELECT, NULL, "CHANNEL_SELECT", "Menu of channels" },
    { SECTION, NULL, "SECTION", "Text with an accessory" },
    { TEXT_DISPLAY, NULL, "TEXT_DISPLAY", "Text" },
    { THUMBNAIL, NULL, "THUMBNAIL", "Small picture" },
    { MEDIA_GALLERY, NULL, "MEDIA_GALLERY", "Pictures" },
    { FILE_DISPLAY, NULL, "FILE", "File" },
    { SEPARATOR, NULL, "SEPARATOR", "Space between" },
    { CONTAINER, NULL, "CONTAINER", "Box around others" },
    { LABEL, NULL, "LABEL", "Label of an input" },
    { FILE_UPLOAD, NULL, "FILE_UPLOAD", "Files to send" },
    { RADIO_GROUP, NULL, "RADIO_GROUP", "One choice of a list" },
    { CHECKBOX_GROUP, NULL, "CHECKBOX_GROUP", "Any choices of a list" },
    { CHECKBOX, NULL, "CHECKBOX", "Yes or no" },
    { 0 },
};

static const struct type type_component_type = { .kind = KIND_INT, .choices = component_types };
static const struct type type_custom_id = {
    .kind = KIND_STRING, .flags = TYPE_EMPTY_NONE, .min = 1, .max = 100
};
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

/* Bit set of the component types to which a field belongs. If a component has a field of other
 * types, the field is ignored, because client libraries send every field of their struct. */
#define OF(type_) (1u << (type_))
enum {
    OF_SELECTS = OF(STRING_SELECT) | OF(USER_SELECT) | OF(ROLE_SELECT) | OF(MENTIONABLE_SELECT) |
                 OF(CHANNEL_SELECT),
    OF_GROUPS = OF(RADIO_GROUP) | OF(CHECKBOX_GROUP),
    OF_INPUTS = OF_SELECTS | OF_GROUPS | OF(TEXT_INPUT) | OF(FILE_UPLOAD) | OF(CHECKBOX),
    OF_SEVERAL = OF_SELECTS | OF(FILE_UPLOAD) | OF(CHECKBOX_GROUP),
};

/* clang-format off */
#define COMPONENT_FIELDS(ROW)                                                                      \
    ROW(id, id, type_count, UINT32_MAX)                                                            \
    ROW(custom_id, custom_id, type_custom_id, OF(BUTTON) | OF_INPUTS)                              \
    ROW(style, style, type_style, OF(BUTTON) | OF(TEXT_INPUT))                                     \
    ROW(label, label, type_label, OF(BUTTON) | OF(TEXT_INPUT) | OF(LABEL))                         \
    ROW(emoji, emoji, type_component_emoji, OF(BUTTON))                                            \
    ROW(url, url, type_url, OF(BUTTON))                                                            \
    ROW(sku_id, sku_id, type_id, OF(BUTTON))                                                       \
    ROW(disabled, disabled, type_bool, OF(BUTTON) | OF_SELECTS)                                    \
    ROW(options, options, type_options, OF(STRING_SELECT) | OF_GROUPS)                             \
    ROW(channel_types, channel_types, type_channel_types, OF(CHANNEL_SELECT))                      \
    ROW(default_values, default_values, type_defaults, OF_SELECTS)                                 \
    ROW(placeholder, placeholder, type_placeholder, OF_SELECTS | OF(TEXT_INPUT))                   \
    ROW(min_values, min_values, type_min_values, OF_SEVERAL)                                       \
    ROW(max_values, max_values, type_max_values, OF_SEVERAL)                                       \
    ROW(min_length, min_length, type_min_length, OF(TEXT_INPUT))                                   \
    ROW(max_length, max_length, type_max_length, OF(TEXT_INPUT))                                   \
    ROW(value, value, type_prefilled, OF(TEXT_INPUT))                                              \
    ROW(required, required, type_bool, OF_INPUTS)                                                  \
    ROW(is_default, default, type_bool, OF(CHECKBOX))                                              \
    ROW(components, components, type_components_in, OF(ACTION_ROW) | OF(SECTION) | OF(CONTAINER))  \
    ROW(accessory, accessory, type_component, OF(SECTION))                                         \
    ROW(component, component, type_component, OF(LABEL))                                           \
    ROW(content, content, type_display_text, OF(TEXT_DISPLAY))                                     \
    ROW(media, media, type_component_media, OF(THUMBNAIL))                                         \
    ROW(items, items, type_gallery, OF(MEDIA_GALLERY))                                             \
    ROW(file, file, type_component_media, OF(FILE_DISPLAY))                                        \
    ROW(description, description, type_about, OF(THUMBNAIL) | OF(LABEL))                           \
    ROW(spoiler, spoiler, type_bool, OF(THUMBNAIL) | OF(FILE_DISPLAY) | OF(CONTAINER))             \
    ROW(divider, divider, type_bool, OF(SEPARATOR))                                                \
    ROW(spacing, spacing, type_spacing, OF(SEPARATOR))                                             \
    ROW(accent_color, accent_color, type_color, OF(CONTAINER))
#define FIELD_ROW(member_, name_, type_, of_)                                                      \
    { FIELD_AS(struct component, member_, #name_), .type = &(type_), .flags = OPTIONAL | NULLABLE },
#define OF_ROW(member_, name_, type_, of_) of_,
/* clang-format on */

static const struct field component_fields[] = {
    { FIELD(struct component, type), .type = &type_component_type },
    COMPONENT_FIELDS(FIELD_ROW){ 0 },
};
static const uint32_t field_component_types[] = { UINT32_MAX, COMPONENT_FIELDS(OF_ROW) };

static uint64_t applicable_fields(const void *object)
{
    const struct component *c = object;
    uint64_t counts = 0;

    if (c->type < ACTION_ROW || c->type > CHECKBOX)
        return UINT64_MAX;
    for (size_t i = 0; i < COUNT_OF(field_component_types); i++)
        counts |= (uint64_t)(field_component_types[i] >> c->type & 1) << i;
    return counts;
}

static void check_message_button(struct form *form, const struct json_path *here,
                                 const struct component *c)
{
    struct json_path url = json_path_key(here, STR("url"));

    form_add_error_if_field_missing(form, here, "style", c->style.given == GIVEN);
    if (c->style.given != GIVEN)
        return;
    if (c->style.value == BUTTON_PREMIUM) {
        form_add_error_if_field_missing(form, here, "sku_id", c->sku_id.given == GIVEN);
        return;
    }
    form_add_error_if_field_missing(form, here, "label",
                                    c->label.given == GIVEN || c->emoji.given == GIVEN);
    if (c->style.value == BUTTON_LINK) {
        form_add_error_if_field_missing(form, here, "url", c->url.given == GIVEN);
    } else {
        form_add_error_if_field_missing(form, here, "custom_id", c->custom_id.given == GIVEN);
        if (c->url.given == GIVEN)
            form_add_error(form, &url, "BUTTON_COMPONENT_INVALID_URL",
                           "Only link buttons can have a url.");
    }
}

bool component_is_select(int64_t type)
{
    return type == STRING_SELECT || (type >= USER_SELECT && type <= CHANNEL_SELECT);
}

static bool is_input_component(int64_t type)
{
    return component_is_select(type) || type == TEXT_INPUT || type >= FILE_UPLOAD;
}

static void check_message_component(struct form *form, const struct json_path *here,
                                    const void *object)
{
    const struct component *c = object;

    if (c->type == BUTTON)
        check_message_button(form, here, c);
    else if (is_input_component(c->type))
        form_add_error_if_field_missing(form, here, "custom_id", c->custom_id.given == GIVEN);
    if (c->type == STRING_SELECT || c->type == RADIO_GROUP || c->type == CHECKBOX_GROUP)
        form_add_error_if_field_missing(form, here, "options", c->options.given == GIVEN);
    if (c->type == SECTION || c->type == CONTAINER)
        form_add_error_if_field_missing(form, here, "components", c->components.value.count > 0);
    if (c->type == SECTION)
        form_add_error_if_field_missing(form, here, "accessory", c->accessory.given == GIVEN);
    if (c->type == LABEL)
        form_add_error_if_field_missing(form, here, "component", c->component.given == GIVEN);
    if (c->type == TEXT_DISPLAY)
        form_add_error_if_field_missing(form, here, "content", c->content.given == GIVEN);
    if (c->type == THUMBNAIL)
        form_add_error_if_field_missing(form, here, "media", c->media.given == GIVEN);
    if (c->type == MEDIA_GALLERY)
        form_add_error_if_field_missing(form, here, "items", c->items.given == GIVEN);
    if (c->type == FILE_DISPLAY)
        form_add_error_if_field_missing(form, here, "file", c->file.given == GIVEN);
}

const struct schema component_schema = {
    .name = "Component",
    .size = sizeof(struct component),
    .fields = component_fields,
    .check = check_message_component,
    .applicable_fields = applicable_fields,
    .doc = "A button, a select menu, or a container of components. The fields depend on the type.",
};
