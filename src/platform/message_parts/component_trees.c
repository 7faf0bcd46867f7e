/* component_trees.c - rules across all components of a message, and their stored form. */
#include "platform/message_parts/component_parts.h"

#include "base/utf8.h"
#include "model/fields/rows.h"
#include "platform/message_parts/kept.h"

enum { MOST_ROWS = 5, MOST_IN_ROW = 5 };

struct seen {
    struct form *form;
    struct str custom_ids[COMPONENTS_MOST];
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
    struct place inside = place_key(here, STR("component"));
    struct place custom_id = place_key(here, STR("custom_id"));

    if (++seen->count > COMPONENTS_MOST)
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
    if (c->component.value)
        look_at(seen, &inside, c->component.value);
}

void components_check_all(struct form *form, const struct place *list,
                          const struct list *components)
{
    struct seen seen = { .form = form };

    look_at_list(&seen, list, components);
    if (seen.count > COMPONENTS_MOST)
        form_fail(form, list, FORM_MAX_LENGTH, (long long)COMPONENTS_MOST);
    if (seen.characters > COMPONENT_TEXT_MOST)
        form_fail(form, list, "COMPONENT_TEXT_TOO_LONG",
                  "All texts together must have at most 4000 characters.");
}

/* --- components of a message ------------------------------------------------------------ */

static void check_row(struct form *form, const struct place *here, const struct component *c)
{
    const struct component *in = c->components.value.items;
    struct place list = place_key(here, STR("components"));
    size_t count = c->components.value.count, width = 0;

    if (form_failed_at(form, &list))
        return;
    form_require(form, here, "components", count > 0);
    for (size_t i = 0; i < count; i++) {
        struct place item = place_index(&list, i), at = place_key(&item, STR("type"));

        width += component_is_select(in[i].type) ? MOST_IN_ROW : 1;
        if (in[i].type != BUTTON && !component_is_select(in[i].type))
            form_fail(form, &at, FORM_CHOICES, "Value must be one of (2, 3, 5, 6, 7, 8).");
    }
    if (width > MOST_IN_ROW)
        form_fail(form, &list, "COMPONENT_LAYOUT_WIDTH_EXCEEDED",
                  "An action row has at most five buttons or one menu.");
}

/* Input components are allowed in modals only. */
static void check_place(struct form *form, const struct place *here, const struct component *c)
{
    struct place at = place_key(here, STR("type"));

    if ((c->type == TEXT_INPUT || c->type > CONTAINER) && !form_failed_at(form, &at))
        form_fail(form, &at, FORM_CHOICES, "Components of this type are allowed in modals only.");
}

/* Action rows are at the top level or inside containers. */
static void check_list(struct form *form, const struct place *list, const struct list *components)
{
    const struct component *c = components->items;

    for (size_t i = 0; i < components->count; i++) {
        struct place item = place_index(list, i), below = place_key(&item, STR("components")),
                     beside = place_key(&item, STR("accessory"));

        check_place(form, &item, &c[i]);
        if (c[i].accessory.value)
            check_place(form, &beside, c[i].accessory.value);
        if (c[i].type == ACTION_ROW)
            check_row(form, &item, &c[i]);
        else
            check_list(form, &below, &c[i].components.value);
    }
}

static bool stands_alone(int64_t type, bool v2)
{
    return type == ACTION_ROW || (v2 && type >= SECTION && type <= CONTAINER && type != THUMBNAIL);
}

void components_check(struct form *form, const struct place *here,
                      const struct opt_list *components, bool v2)
{
    struct place list = place_key(here, STR("components"));
    const struct component *c = components->value.items;

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
    check_list(form, &list, &components->value);
    components_check_all(form, &list, &components->value);
}

/* --- stored form ------------------------------------------------------------------------ */

struct ids {
    int64_t used[COMPONENTS_MOST], next;
    size_t count;
};

static void component_trees_visit(struct list *components, struct ids *ids,
                                  void (*each)(struct ids *, struct component *))
{
    for (size_t i = 0; i < components->count; i++) {
        struct component *c = &((struct component *)components->items)[i];
        struct list beside = { c->accessory.value, c->accessory.value ? 1 : 0 };
        struct list inside = { c->component.value, c->component.value ? 1 : 0 };

        each(ids, c);
        component_trees_visit(&c->components.value, ids, each);
        component_trees_visit(&beside, ids, each);
        component_trees_visit(&inside, ids, each);
    }
}

static void note_id(struct ids *ids, struct component *c)
{
    if (c->id.given == GIVEN && c->id.value && ids->count < COMPONENTS_MOST)
        ids->used[ids->count++] = c->id.value;
}

static void give_id(struct ids *ids, struct component *c)
{
    if (c->id.given == GIVEN && c->id.value)
        return;
    for (size_t i = 0; i < ids->count; i++) {
        if (ids->used[i] == ids->next) {
            ids->next++;
            i = SIZE_MAX; /* The search restarts with the next number. */
        }
    }
    c->id = given_int(ids->next++);
}

static void leave_out_nulls(struct ids *unused, struct component *c)
{
    (void)unused;
    kept_drop_nulls(&component_schema, c);
    for (size_t i = 0; i < c->options.value.count; i++)
        kept_drop_nulls(&option_schema, (struct component_option *)c->options.value.items + i);
    for (size_t i = 0; i < c->items.value.count; i++)
        kept_drop_nulls(&gallery_schema, (struct gallery_item *)c->items.value.items + i);
}

struct str components_text(struct arena *arena, struct list *components)
{
    struct ids ids = { .next = 1 };

    component_trees_visit(components, &ids, leave_out_nulls);
    component_trees_visit(components, &ids, note_id);
    component_trees_visit(components, &ids, give_id);
    return kept_text(arena, &type_components_in, components);
}

struct list components_read(struct arena *arena, struct str text)
{
    return column_list(arena, &type_components_in, text);
}
