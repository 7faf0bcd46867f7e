/* component_emojis.c - checks emoji and SKUs in components: may the sender use or offer them? */
#include "platform/messages/internal.h"

#include "api/hooks.h"
#include "base/emoji.h"
#include "platform/emojis/emojis.h"

struct emoji_walk {
    struct call *call;
    struct emoji_user who;
    enum err error; /* error of the store, if a read failed */
};

static void refuse_emoji(struct emoji_walk *w, const struct place *here, const char *key)
{
    struct place at = place_key(here, str_of(key));

    form_fail(&w->call->form, &at, "BUTTON_COMPONENT_INVALID_EMOJI", "Invalid emoji");
}

/* An emoji that is given by id is stored with its current name. */
static void take_emoji(struct emoji_walk *w, const struct place *up, struct opt_object *given)
{
    struct place here = place_key(up, STR("emoji"));
    struct component_emoji *in = given->value;
    struct emoji emoji;

    if (given->given != GIVEN || w->error)
        return;
    if (in->id.given != GIVEN) {
        if (in->name.given != GIVEN || !is_emoji(in->name.value))
            refuse_emoji(w, &here, "name");
        return;
    }
    enum err e = emoji_use(w->call->tx, &w->who, in->id.value, &emoji);
    if (e == ERR_UNKNOWN_EMOJI) {
        refuse_emoji(w, &here, "id");
    } else if (e) {
        w->error = e;
    } else {
        in->name = given_str(emoji.name);
        in->animated = given_bool(emoji.animated);
    }
}

/* A premium button may offer only SKUs of the sending application. */
static void check_offer(struct emoji_walk *w, const struct place *here, const struct component *c)
{
    struct place at = place_key(here, STR("sku_id"));
    struct sku_offer offer = { c->sku_id.value, w->who.application_id };

    if (c->type != BUTTON || c->style.value != BUTTON_PREMIUM || w->error)
        return;
    enum err e = hook_sku_offered(w->call, &offer);
    if (e == ERR_UNKNOWN_SKU)
        form_fail(&w->call->form, &at, "BUTTON_COMPONENT_INVALID_SKU", "Unknown SKU.");
    else
        w->error = e;
}

static void walk_components(struct emoji_walk *w, const struct place *here,
                            const struct list *components);

static void walk_component(struct emoji_walk *w, const struct place *here, struct component *c)
{
    struct place inside = place_key(here, STR("components")),
                 beside = place_key(here, STR("accessory")),
                 within = place_key(here, STR("component")),
                 options = place_key(here, STR("options"));

    check_offer(w, here, c);
    take_emoji(w, here, &c->emoji);
    for (size_t i = 0; i < c->options.value.count; i++) {
        struct place at = place_index(&options, i);

        take_emoji(w, &at, &((struct component_option *)c->options.value.items)[i].emoji);
    }
    walk_components(w, &inside, &c->components.value);
    if (c->accessory.value)
        walk_component(w, &beside, c->accessory.value);
    if (c->component.value)
        walk_component(w, &within, c->component.value);
}

static void walk_components(struct emoji_walk *w, const struct place *here,
                            const struct list *components)
{
    for (size_t i = 0; i < components->count; i++) {
        struct place at = place_index(here, i);

        walk_component(w, &at, &((struct component *)components->items)[i]);
    }
}

struct emoji_user sender_emojis(const struct sender *from)
{
    const struct channel *c = from->channel;

    return (struct emoji_user){ .user_id = from->user_id,
                                .application_id = from->application_id,
                                .guild_id = channel_is_private(c->type) ? 0 : c->guild_id.value,
                                .rights = from->rights };
}

enum err components_take_emojis(struct call *call, const struct sender *from,
                                const struct place *here, const struct list *components)
{
    struct place list = place_key(here, STR("components"));
    struct emoji_walk w = {
        .call = call,
        .who = sender_emojis(from),
    };

    if (!from->rich || from->bare || !components->count)
        return OK;
    walk_components(&w, &list, components);
    if (w.error)
        return w.error;
    return form_failed(&call->form) ? ERR_INVALID_FORM_BODY : OK;
}
