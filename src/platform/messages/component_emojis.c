/* component_emojis.c - checks the emoji and SKUs that the components of a message use. */
#include "platform/messages/internal.h"

#include "api/hooks.h"
#include "base/emoji.h"
#include "platform/emojis/emojis.h"

struct emoji_check_state {
    struct call *call;
    struct emoji_use_context who;
    enum err error; /* error of the store, if reading an emoji or SKU failed */
};

static void refuse_component_emoji(struct emoji_check_state *w, const struct json_path *here,
                                   const char *key)
{
    struct json_path at = json_path_key(here, str_of(key));

    form_add_error(&w->call->form, &at, "BUTTON_COMPONENT_INVALID_EMOJI", "Invalid emoji");
}

/* If the emoji is given by id, sets its name to the current name of the emoji. */
static void resolve_component_emoji(struct emoji_check_state *w, const struct json_path *up,
                                    struct opt_object *given)
{
    struct json_path here = json_path_key(up, STR("emoji"));
    struct component_emoji *in = given->value;
    struct emoji emoji;

    if (given->given != GIVEN || w->error)
        return;
    if (in->id.given != GIVEN) {
        if (in->name.given != GIVEN || !is_emoji(in->name.value))
            refuse_component_emoji(w, &here, "name");
        return;
    }
    enum err e = emoji_find_usable(w->call->tx, &w->who, in->id.value, &emoji);
    if (e == ERR_UNKNOWN_EMOJI) {
        refuse_component_emoji(w, &here, "id");
    } else if (e) {
        w->error = e;
    } else {
        in->name = opt_str_or_null(emoji.name);
        in->animated = opt_bool_present(emoji.animated);
    }
}

/* Adds a form error if a premium button offers a SKU that is not of the application that sends the
 * message. */
static void check_premium_button_sku(struct emoji_check_state *w, const struct json_path *here,
                                     const struct component *c)
{
    struct json_path at = json_path_key(here, STR("sku_id"));
    struct premium_button offer = { c->sku_id.value, w->who.application_id };

    if (c->type != BUTTON || c->style.value != BUTTON_PREMIUM || w->error)
        return;
    enum err e = hook_sku_button_check(w->call, &offer);
    if (e == ERR_UNKNOWN_SKU)
        form_add_error(&w->call->form, &at, "BUTTON_COMPONENT_INVALID_SKU", "Unknown SKU.");
    else
        w->error = e;
}

static void check_emojis_of_component_list(struct emoji_check_state *w,
                                           const struct json_path *here,
                                           const struct list *components);

static void check_emojis_of_component(struct emoji_check_state *w, const struct json_path *here,
                                      struct component *c)
{
    struct json_path inside = json_path_key(here, STR("components")),
                     accessory_path = json_path_key(here, STR("accessory")),
                     within = json_path_key(here, STR("component")),
                     options = json_path_key(here, STR("options"));

    check_premium_button_sku(w, here, c);
    resolve_component_emoji(w, here, &c->emoji);
    for (size_t i = 0; i < c->options.value.count; i++) {
        struct json_path at = json_path_index(&options, i);

        resolve_component_emoji(w, &at,
                                &((struct component_option *)c->options.value.items)[i].emoji);
    }
    check_emojis_of_component_list(w, &inside, &c->components.value);
    if (c->accessory.value)
        check_emojis_of_component(w, &accessory_path, c->accessory.value);
    if (c->component.value)
        check_emojis_of_component(w, &within, c->component.value);
}

static void check_emojis_of_component_list(struct emoji_check_state *w,
                                           const struct json_path *here,
                                           const struct list *components)
{
    for (size_t i = 0; i < components->count; i++) {
        struct json_path at = json_path_index(here, i);

        check_emojis_of_component(w, &at, &((struct component *)components->items)[i]);
    }
}

struct emoji_use_context emoji_use_context_of_sender(const struct message_sender *from)
{
    const struct channel *c = from->channel;

    return (struct emoji_use_context){ .user_id = from->user_id,
                                       .application_id = from->application_id,
                                       .guild_id =
                                           channel_is_private(c->type) ? 0 : c->guild_id.value,
                                       .permissions = from->perms };
}

enum err components_resolve_emojis(struct call *call, const struct message_sender *from,
                                   const struct json_path *here, const struct list *components)
{
    struct json_path list = json_path_key(here, STR("components"));
    struct emoji_check_state w = {
        .call = call,
        .who = emoji_use_context_of_sender(from),
    };

    if (!from->may_use_embeds || from->without_components || !components->count)
        return OK;
    check_emojis_of_component_list(&w, &list, components);
    if (w.error)
        return w.error;
    return form_has_errors(&call->form) ? ERR_INVALID_FORM_BODY : OK;
}
