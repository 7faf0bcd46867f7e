/* world.c - widgets of guilds, in and out of world files. */
#include "platform/widgets/widgets.h"
#include "platform/worlds/file.h"

struct world_widget {
    struct opt_bool enabled;
    struct opt_str channel;
};
static const struct field widget_fields[] = {
    MAYBE(struct world_widget, enabled, type_bool),
    MAYBE(struct world_widget, channel, type_world_ref),
    { 0 },
};

WORLD_SINGLE(widget, widget_fields, NULL);

static const char SAVE_WIDGET[] =
    "update guilds set widget_enabled = $2, widget_channel_id = $3 where id = $1";
static const char FIND_WIDGET[] =
    "select widget_enabled, widget_channel_id from guilds where id = $1 and "
    "(widget_enabled = 1 or widget_channel_id is not null)";

static enum err import_widget(struct importing *im, const void *entry, const struct place *at,
                              snowflake guild)
{
    const struct world_widget *in = entry;
    struct place channel_at = place_key(at, STR("channel"));
    snowflake channel;

    enum err e = refer_maybe(im, &channel_naming, guild, &in->channel, &channel_at, &channel);
    return e ? e
             : tx_exec(
                   im->tx, SAVE_WIDGET,
                   BIND(v_id(guild), v_int(in->enabled.value), channel ? v_id(channel) : v_null()),
                   NULL);
}

static enum err export_widget(struct exporting *ex, struct opt_object *ret)
{
    struct world_widget *out = arena_alloc(tx_arena(ex->tx), sizeof *out);
    struct rows r;
    bool found;
    enum err e = tx_one(ex->tx, FIND_WIDGET, BIND(v_id(ex->guild)), &r, &found);

    if (e || !found)
        return e;
    *out = (struct world_widget){
        .enabled = shown_bool(&r, 0, false),
        .channel = shown_reference(ex->tx, &ex->channels, row_id(&r, 1)),
    };
    *ret = (struct opt_object){ GIVEN, out };
    return OK;
}

const struct world_parts widgets_world = { (const struct world_part[]){
    { "guild", "widget", &world_widget_type, .order = 190, .import = import_widget,
      .export_object = export_widget },
    { 0 },
} };
