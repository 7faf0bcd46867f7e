/* world.c - import and export of widget settings in world files (JSON data sets). */
#include "platform/guilds/guilds.h"
#include "platform/widgets/widgets.h"
#include "platform/worlds/import_export.h"

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

static const char FIND_WIDGET[] =
    "select widget_enabled, widget_channel_id from guilds where id = $1 and "
    "(widget_enabled = 1 or widget_channel_id is not null)";

static enum err import_widget(struct world_file_importer *im, const void *entry,
                              const struct json_path *at, snowflake guild)
{
    const struct world_widget *in = entry;
    snowflake channel;

    enum err e = world_file_resolve_optional_reference(im, &channel_naming, guild, &in->channel, at,
                                                       "channel", &channel);
    return e ? e
             : guild_update_widget_settings(
                   im->tx, guild, in->enabled.value,
                   (struct opt_id){ channel ? GIVEN : GIVEN_NULL, channel });
}

static enum err export_widget(struct world_file_exporter *ex, struct opt_object *ret)
{
    struct world_widget *out = arena_alloc(tx_arena(ex->tx), sizeof *out);
    struct rows r;
    bool found;
    enum err e = tx_one(ex->tx, FIND_WIDGET, BIND(v_id(ex->guild)), &r, &found);

    if (e || !found)
        return e;
    *out = (struct world_widget){
        .enabled = export_nondefault_bool(&r, 0, false),
        .channel = world_file_export_reference(ex->tx, &ex->channels, row_id(&r, 1)),
    };
    *ret = (struct opt_object){ GIVEN, out };
    return OK;
}

const struct world_file_fields widgets_world = { (const struct world_file_field[]){
    { "guild", "widget", &world_widget_type, .order = 190, .import = import_widget,
      .export_object = export_widget },
    { 0 },
} };
