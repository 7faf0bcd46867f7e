/* components.c - buttons and menus below a message. */
#include "platform/messages/internal.h"

#include "base/utf8.h"
#include "platform/messages/component_parts.h"

enum { MOST_ROWS = 5, MOST_IN_ROW = 5, MOST_IN_ALL = 40, MOST_TEXT = 4000 };

enum component_type {
    ACTION_ROW = 1,
    BUTTON = 2,
    STRING_SELECT = 3,
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
};

enum button_style { BUTTON_LINK = 5, BUTTON_PREMIUM = 6 };

static const struct choice component_types[] = {
    { ACTION_ROW, NULL, "ACTION_ROW", "Buttons side by side, or a menu" },
    { BUTTON, NULL, "BUTTON", "Button" },
    { STRING_SELECT, NULL, "STRING_SELECT", "Menu of texts" },
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
    { 0 },
};

struct component {
    int64_t type;
    struct opt_int id, style, min_values, max_values, spacing, accent_color;
    struct opt_str custom_id, label, url, placeholder, content, description;
    struct opt_id sku_id;
    struct opt_bool disabled, required, spoiler, divider;
    struct opt_list options, components, channel_types, default_values, items;
    struct opt_object emoji, accessory, media, file;
};

static const struct type type_component_type = { .kind = KIND_INT, .choices = component_types };
static const struct type type_custom_id = { .kind = KIND_STRING, .min = 1, .max = 100 };
static const struct type type_label = { .kind = KIND_STRING, .max = 80 };
static const struct type type_placeholder = { .kind = KIND_STRING, .max = 150 };
static const struct type type_style = { .kind = KIND_INT, .min = 1, .max = 6 };
static const struct type type_min_values = { .kind = KIND_INT, .min = 0, .max = 25 };
static const struct type type_max_values = { .kind = KIND_INT, .min = 1, .max = 25 };
static const struct type type_display_text = { .kind = KIND_STRING, .min = 1, .max = MOST_TEXT };
static const struct type type_spacing = { .kind = KIND_INT, .min = 1, .max = 2 };
static const struct type type_channel_types = { .kind = KIND_ARRAY, .of = &type_count };

static const struct schema component_schema;
static const struct type type_component = { .kind = KIND_OBJECT, .schema = &component_schema };
const struct type type_components_in = { .kind = KIND_ARRAY,
                                         .max = MOST_IN_ALL,
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
    MAYBE(required, type_bool),
    MAYBE(components, type_components_in),
    MAYBE(accessory, type_component),
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

static void require(struct form *form, const struct place *here, const char *key, bool there)
{
    struct place at = place_key(here, str_of(key));

    if (!there && !form_failed_at(form, &at))
        form_fail(form, &at, FORM_REQUIRED);
}

static void check_button(struct form *form, const struct place *here, const struct component *c)
{
    struct place url = place_key(here, STR("url"));

    require(form, here, "style", c->style.given == GIVEN);
    if (c->style.given != GIVEN)
        return;
    if (c->style.value == BUTTON_PREMIUM) {
        require(form, here, "sku_id", c->sku_id.given == GIVEN);
        return;
    }
    require(form, here, "label", c->label.given == GIVEN || c->emoji.given == GIVEN);
    if (c->style.value == BUTTON_LINK) {
        require(form, here, "url", c->url.given == GIVEN);
    } else {
        require(form, here, "custom_id", c->custom_id.given == GIVEN);
        if (c->url.given == GIVEN)
            form_fail(form, &url, "BUTTON_COMPONENT_INVALID_URL", "Only link buttons have a url.");
    }
}

static bool is_select(int64_t type)
{
    return type == STRING_SELECT || (type >= USER_SELECT && type <= CHANNEL_SELECT);
}

static void check_row(struct form *form, const struct place *here, const struct component *c)
{
    const struct component *in = c->components.value.items;
    struct place list = place_key(here, STR("components"));
    size_t count = c->components.value.count, width = 0;

    if (form_failed_at(form, &list))
        return;
    require(form, here, "components", count > 0);
    for (size_t i = 0; i < count; i++) {
        struct place item = place_index(&list, i), at = place_key(&item, STR("type"));

        width += is_select(in[i].type) ? MOST_IN_ROW : 1;
        if (in[i].type != BUTTON && !is_select(in[i].type))
            form_fail(form, &at, FORM_CHOICES, "Value must be one of (2, 3, 5, 6, 7, 8).");
    }
    if (width > MOST_IN_ROW)
        form_fail(form, &list, "COMPONENT_LAYOUT_WIDTH_EXCEEDED",
                  "A row holds five buttons or one menu.");
}

static void check_component(struct form *form, const struct place *here, const void *object)
{
    const struct component *c = object;

    if (c->type == ACTION_ROW)
        check_row(form, here, c);
    else if (c->type == BUTTON)
        check_button(form, here, c);
    else if (is_select(c->type))
        require(form, here, "custom_id", c->custom_id.given == GIVEN);
    if (c->type == STRING_SELECT)
        require(form, here, "options", c->options.given == GIVEN);
    if (c->type == SECTION || c->type == CONTAINER)
        require(form, here, "components", c->components.value.count > 0);
    if (c->type == SECTION)
        require(form, here, "accessory", c->accessory.given == GIVEN);
    if (c->type == TEXT_DISPLAY)
        require(form, here, "content", c->content.given == GIVEN);
    if (c->type == THUMBNAIL)
        require(form, here, "media", c->media.given == GIVEN);
    if (c->type == MEDIA_GALLERY)
        require(form, here, "items", c->items.given == GIVEN);
    if (c->type == FILE_DISPLAY)
        require(form, here, "file", c->file.given == GIVEN);
}

static const struct schema component_schema = {
    .name = "Component",
    .size = sizeof(struct component),
    .fields = component_fields,
    .check = check_component,
    .doc = "A button, a menu, or what holds them; which fields it has depends on its type.",
};

/* --- all of a message ---------------------------------------------------------------------- */

struct seen {
    struct form *form;
    struct str custom_ids[MOST_IN_ALL];
    size_t count, custom_id_count, characters;
};

static void look_at(struct seen *seen, const struct place *here, const struct component *c);

static void look_at_list(struct seen *seen, const struct place *list, const struct list *components)
{
    for (size_t i = 0; i < components->count; i++) {
        struct place item = place_index(list, i);

        look_at(seen, &item, &((const struct component *)components->items)[i]);
    }
}

static void look_at(struct seen *seen, const struct place *here, const struct component *c)
{
    struct place below = place_key(here, STR("components"));
    struct place beside = place_key(here, STR("accessory"));
    struct place custom_id = place_key(here, STR("custom_id"));

    if (++seen->count > MOST_IN_ALL)
        return;
    if (c->content.given == GIVEN)
        seen->characters += utf8_length(c->content.value);
    if (c->custom_id.given == GIVEN) {
        for (size_t i = 0; i < seen->custom_id_count; i++)
            if (str_eq(seen->custom_ids[i], c->custom_id.value))
                form_fail(seen->form, &custom_id, "COMPONENT_CUSTOM_ID_DUPLICATED",
                          "Component custom id cannot be duplicated");
        seen->custom_ids[seen->custom_id_count++] = c->custom_id.value;
    }
    look_at_list(seen, &below, &c->components.value);
    if (c->accessory.value)
        look_at(seen, &beside, c->accessory.value);
}

static bool stands_alone(int64_t type, bool v2)
{
    return type == ACTION_ROW || (v2 && type >= SECTION && type != THUMBNAIL);
}

void components_check(struct form *form, const struct place *here,
                      const struct opt_list *components, bool v2)
{
    struct place list = place_key(here, STR("components"));
    const struct component *c = components->value.items;
    struct seen seen = { .form = form };

    if (components->given != GIVEN || form_failed_at(form, &list))
        return;
    if (!v2 && components->value.count > MOST_ROWS)
        form_fail(form, &list, FORM_BAD_LENGTH, 1LL, (long long)MOST_ROWS);
    for (size_t i = 0; i < components->value.count; i++) {
        struct place item = place_index(&list, i), at = place_key(&item, STR("type"));

        if (!stands_alone(c[i].type, v2))
            form_fail(form, &at, FORM_CHOICES,
                      v2 ? "Value must be one of (1, 9, 10, 12, 13, 14, 17)."
                         : "Value must be one of (1,).");
    }
    look_at_list(&seen, &list, &components->value);
    if (seen.count > MOST_IN_ALL)
        form_fail(form, &list, FORM_MAX_LENGTH, (long long)MOST_IN_ALL);
    if (seen.characters > MOST_TEXT)
        form_fail(form, &list, "COMPONENT_TEXT_TOO_LONG", "Texts are 4000 characters together.");
}

/* --- keeping them ------------------------------------------------------------------------------
 */

struct ids {
    int64_t used[MOST_IN_ALL], next;
    size_t count;
};

static void visit(struct list *components, struct ids *ids,
                  void (*each)(struct ids *, struct component *))
{
    for (size_t i = 0; i < components->count; i++) {
        struct component *c = &((struct component *)components->items)[i];
        struct list beside = { c->accessory.value, c->accessory.value ? 1 : 0 };

        each(ids, c);
        visit(&c->components.value, ids, each);
        visit(&beside, ids, each);
    }
}

static void note_id(struct ids *ids, struct component *c)
{
    if (c->id.given == GIVEN && c->id.value && ids->count < MOST_IN_ALL)
        ids->used[ids->count++] = c->id.value;
}

static void give_id(struct ids *ids, struct component *c)
{
    if (c->id.given == GIVEN && c->id.value)
        return;
    for (size_t i = 0; i < ids->count; i++) {
        if (ids->used[i] == ids->next) {
            ids->next++;
            i = SIZE_MAX; /* from the start again */
        }
    }
    c->id = given_int(ids->next++);
}

static void leave_out_nulls(struct ids *unused, struct component *c)
{
    (void)unused;
    drop_nulls(&component_schema, c);
    for (size_t i = 0; i < c->options.value.count; i++)
        drop_nulls(&option_schema, (struct component_option *)c->options.value.items + i);
    for (size_t i = 0; i < c->items.value.count; i++)
        drop_nulls(&gallery_schema, (struct gallery_item *)c->items.value.items + i);
}

struct str components_text(struct arena *arena, struct list *components)
{
    struct ids ids = { .next = 1 };

    visit(components, &ids, leave_out_nulls);
    visit(components, &ids, note_id);
    visit(components, &ids, give_id);
    return encoded(arena, &type_components_in, components);
}
