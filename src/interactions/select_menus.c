/* select_menus.c - parses the selected values of a select menu, in a message or a modal. */
#include "interactions/invoke.h"

#include <inttypes.h>

const struct component *find_component_by_custom_id(const struct list *components,
                                                    struct str custom_id)
{
    const struct component *c = components->items, *found = NULL;

    for (size_t i = 0; !found && i < components->count; i++) {
        const struct component *inside[] = { c[i].accessory.value, c[i].component.value };

        if (c[i].custom_id.given == GIVEN && str_eq(c[i].custom_id.value, custom_id))
            return &c[i];
        found = find_component_by_custom_id(&c[i].components.value, custom_id);
        for (size_t j = 0; !found && j < 2; j++)
            if (inside[j])
                found =
                    find_component_by_custom_id(&(struct list){ (void *)inside[j], 1 }, custom_id);
    }
    return found;
}

static bool menu_has_option(const struct component *menu, struct str value)
{
    const struct component_option *o = menu->options.value.items;

    for (size_t i = 0; i < menu->options.value.count; i++)
        if (str_eq(o[i].value, value))
            return true;
    return false;
}

static enum err resolve_selected_id(struct call *call, const struct component *menu,
                                    struct str value, bool *ret_good)
{
    snowflake id;

    *ret_good = false;
    if (!snowflake_parse(value, &id))
        return OK;
    switch ((enum component_type)menu->type) {
    case USER_SELECT:
        return resolve_user_option(call, id, ret_good);
    case ROLE_SELECT:
        return resolve_role_option(call, id, ret_good);
    case CHANNEL_SELECT:
        return resolve_channel_option(call, id, &menu->channel_types.value, ret_good);
    default:
        return resolve_mentionable_option(call, id, ret_good);
    }
}

/* Replaces the number of an uploaded file by the attachment id. */
static bool accept_selected_file(struct call *call, struct str *value)
{
    struct submitted_interaction_file *file;
    uint64_t number;

    if (!str_to_u64(*value, &number) ||
        !accept_uploaded_interaction_file(call, number, &(struct list){ 0 }, &file))
        return false;
    *value = str_printf(call->arena, "%" PRIu64, file->stored.id);
    return true;
}

static enum err parse_menu_value(struct call *call, const struct component *menu, struct str *value,
                                 bool *ret_good)
{
    switch ((enum component_type)menu->type) {
    case STRING_SELECT:
    case RADIO_GROUP:
    case CHECKBOX_GROUP:
        *ret_good = menu_has_option(menu, *value);
        return OK;
    case FILE_UPLOAD:
        *ret_good = accept_selected_file(call, value);
        return OK;
    default:
        return resolve_selected_id(call, menu, *value, ret_good);
    }
}

/* Checks the number of selected values. In a modal, a component with required = false may have no
 * value. */
static bool is_value_count_allowed(const struct call *call, const struct component *menu,
                                   size_t count)
{
    bool modal = ((const struct interaction_request_body *)call->body)->type == INTERACTION_MODAL;
    int64_t n = (int64_t)count, options = (int64_t)menu->options.value.count;
    bool box = menu->type == CHECKBOX_GROUP;
    int64_t least = menu->min_values.given == GIVEN ? menu->min_values.value : 1;
    int64_t most = menu->max_values.given == GIVEN ? menu->max_values.value : box ? options : 1;
    bool optional = modal && menu->required.given == GIVEN && !menu->required.value;

    return (n >= least || (optional && n == 0)) && n <= most;
}

static bool is_duplicate_value(const struct str *values, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (str_eq(values[j], values[i]))
            return true;
    return false;
}

enum err parse_select_menu_values(struct call *call, const struct component *menu,
                                  const struct list *values, struct list *ret_values,
                                  bool *ret_good)
{
    const struct str *in = values->items;
    enum err e = OK;

    *ret_good = is_value_count_allowed(call, menu, values->count);
    for (size_t i = 0; !e && *ret_good && i < values->count; i++) {
        struct str *out = list_append(call->arena, ret_values, sizeof *out);

        *out = in[i];
        if (is_duplicate_value(in, i))
            *ret_good = false;
        else
            e = parse_menu_value(call, menu, out, ret_good);
    }
    return e;
}
