/* component_trees.c - rules that involve several components of a message, and the stored JSON of
 * components. */
#include "platform/message_parts/component_members.h"

#include "base/utf8.h"
#include "model/fields/rows.h"
#include "platform/message_parts/column_json.h"

enum { MOST_ROWS = 5, MOST_IN_ROW = 5 };

struct tree_totals {
    struct form *form;
    struct str custom_ids[COMPONENTS_MOST];
    size_t count, custom_id_count, characters;
};

static void add_component_to_tree_totals(struct tree_totals *seen, const struct json_path *here,
                                         const struct component *c);

static void add_component_list_to_tree_totals(struct tree_totals *seen,
                                              const struct json_path *list,
                                              const struct list *components)
{
    for (size_t i = 0; i < components->count; i++) {
        struct json_path item = json_path_index(list, i);

        add_component_to_tree_totals(seen, &item,
                                     &((const struct component *)components->items)[i]);
    }
}

static void add_component_to_tree_totals(struct tree_totals *seen, const struct json_path *here,
                                         const struct component *c)
{
    struct json_path below = json_path_key(here, STR("components"));
    struct json_path accessory_path = json_path_key(here, STR("accessory"));
    struct json_path inside = json_path_key(here, STR("component"));
    struct json_path custom_id = json_path_key(here, STR("custom_id"));

    if (++seen->count > COMPONENTS_MOST)
        return;
    if (c->content.given == GIVEN)
        seen->characters += utf8_length(c->content.value);
    if (c->custom_id.given == GIVEN) {
        for (size_t i = 0; i < seen->custom_id_count; i++)
            if (str_eq(seen->custom_ids[i], c->custom_id.value))
                form_add_error(seen->form, &custom_id, "COMPONENT_CUSTOM_ID_DUPLICATED",
                               "Component custom id cannot be duplicated");
        seen->custom_ids[seen->custom_id_count++] = c->custom_id.value;
    }
    add_component_list_to_tree_totals(seen, &below, &c->components.value);
    if (c->accessory.value)
        add_component_to_tree_totals(seen, &accessory_path, c->accessory.value);
    if (c->component.value)
        add_component_to_tree_totals(seen, &inside, c->component.value);
}

void components_validate_limits(struct form *form, const struct json_path *list,
                                const struct list *components)
{
    struct tree_totals seen = { .form = form };

    add_component_list_to_tree_totals(&seen, list, components);
    if (seen.count > COMPONENTS_MOST)
        form_add_error(form, list, FORM_MAX_LENGTH, (long long)COMPONENTS_MOST);
    if (seen.characters > COMPONENT_TEXT_MOST)
        form_add_error(form, list, "COMPONENT_TEXT_TOO_LONG",
                       "All texts together must have at most 4000 characters.");
}

/* --- checks of the components of a message ------------------------------------------- */

static void check_action_row(struct form *form, const struct json_path *here,
                             const struct component *c)
{
    const struct component *in = c->components.value.items;
    struct json_path list = json_path_key(here, STR("components"));
    size_t count = c->components.value.count, width = 0;

    if (form_has_error_at_path(form, &list))
        return;
    form_add_error_if_field_missing(form, here, "components", count > 0);
    for (size_t i = 0; i < count; i++) {
        struct json_path item = json_path_index(&list, i), at = json_path_key(&item, STR("type"));

        width += component_is_select(in[i].type) ? MOST_IN_ROW : 1;
        if (in[i].type != BUTTON && !component_is_select(in[i].type))
            form_add_error(form, &at, FORM_CHOICES, "Value must be one of (2, 3, 5, 6, 7, 8).");
    }
    if (width > MOST_IN_ROW)
        form_add_error(form, &list, "COMPONENT_LAYOUT_WIDTH_EXCEEDED",
                       "An action row has at most five buttons or one menu.");
}

/* Adds a form error for component types that are allowed in modals only, such as text inputs. */
static void check_type_allowed_in_message(struct form *form, const struct json_path *here,
                                          const struct component *c)
{
    struct json_path at = json_path_key(here, STR("type"));

    if ((c->type == TEXT_INPUT || c->type > CONTAINER) && !form_has_error_at_path(form, &at))
        form_add_error(form, &at, FORM_CHOICES,
                       "Components of this type are allowed in modals only.");
}

/* Checks a list of components and their children. Action rows may be at the top level or in
 * containers. */
static void check_component_list(struct form *form, const struct json_path *list,
                                 const struct list *components)
{
    const struct component *c = components->items;

    for (size_t i = 0; i < components->count; i++) {
        struct json_path item = json_path_index(list, i),
                         below = json_path_key(&item, STR("components")),
                         accessory_path = json_path_key(&item, STR("accessory"));

        check_type_allowed_in_message(form, &item, &c[i]);
        if (c[i].accessory.value)
            check_type_allowed_in_message(form, &accessory_path, c[i].accessory.value);
        if (c[i].type == ACTION_ROW)
            check_action_row(form, &item, &c[i]);
        else
            check_component_list(form, &below, &c[i].components.value);
    }
}

static bool is_top_level_component_type(int64_t type, bool v2)
{
    return type == ACTION_ROW || (v2 && type >= SECTION && type <= CONTAINER && type != THUMBNAIL);
}

void message_components_validate(struct form *form, const struct json_path *here,
                                 const struct opt_list *components, bool v2)
{
    struct json_path list = json_path_key(here, STR("components"));
    const struct component *c = components->value.items;

    if (components->given != GIVEN || form_has_error_at_path(form, &list))
        return;
    if (!v2 && components->value.count > MOST_ROWS)
        form_add_error(form, &list, FORM_BAD_LENGTH, 1LL, (long long)MOST_ROWS);
    for (size_t i = 0; i < components->value.count; i++) {
        struct json_path item = json_path_index(&list, i), at = json_path_key(&item, STR("type"));

        if (!is_top_level_component_type(c[i].type, v2))
            form_add_error(form, &at, FORM_CHOICES,
                           v2 ? "Value must be one of (1, 9, 10, 12, 13, 14, 17)."
                              : "Value must be one of (1,).");
    }
    check_component_list(form, &list, &components->value);
    components_validate_limits(form, &list, &components->value);
}

/* --- JSON that is stored ------------------------------------------------------------- */

struct component_ids {
    int64_t used[COMPONENTS_MOST], next;
    size_t count;
};

static void for_each_component(struct list *components, struct component_ids *ids,
                               void (*each)(struct component_ids *, struct component *))
{
    for (size_t i = 0; i < components->count; i++) {
        struct component *c = &((struct component *)components->items)[i];
        struct list accessory_path = { c->accessory.value, c->accessory.value ? 1 : 0 };
        struct list inside = { c->component.value, c->component.value ? 1 : 0 };

        each(ids, c);
        for_each_component(&c->components.value, ids, each);
        for_each_component(&accessory_path, ids, each);
        for_each_component(&inside, ids, each);
    }
}

static void record_used_component_id(struct component_ids *ids, struct component *c)
{
    if (c->id.given == GIVEN && c->id.value && ids->count < COMPONENTS_MOST)
        ids->used[ids->count++] = c->id.value;
}

static void assign_component_id(struct component_ids *ids, struct component *c)
{
    if (c->id.given == GIVEN && c->id.value)
        return;
    for (size_t i = 0; i < ids->count; i++) {
        if (ids->used[i] == ids->next) {
            ids->next++;
            i = SIZE_MAX; /* the id is used: try the next one, from index 0 */
        }
    }
    c->id = opt_int_present(ids->next++);
}

static void mark_null_component_fields_absent(struct component_ids *unused, struct component *c)
{
    (void)unused;
    json_object_remove_null_fields(&component_schema, c);
    for (size_t i = 0; i < c->options.value.count; i++)
        json_object_remove_null_fields(&option_schema,
                                       (struct component_option *)c->options.value.items + i);
    for (size_t i = 0; i < c->items.value.count; i++)
        json_object_remove_null_fields(&gallery_schema,
                                       (struct media_gallery_item *)c->items.value.items + i);
}

struct str components_encode_json(struct arena *arena, struct list *components)
{
    struct component_ids ids = { .next = 1 };

    for_each_component(components, &ids, mark_null_component_fields_absent);
    for_each_component(components, &ids, record_used_component_id);
    for_each_component(components, &ids, assign_component_id);
    return encode_json_for_database_column(arena, &type_components_in, components);
}

struct list components_decode_json(struct arena *arena, struct str text)
{
    return json_column_decode_list(arena, &type_components_in, text);
}
