/* world_welcome.c - import and export of welcome screens in world files (JSON data sets). */
#include "model/welcome.h"
#include "platform/emojis/world.h"
#include "platform/guilds/guilds.h"
#include "platform/onboarding/internal.h"
#include "platform/worlds/import_export.h"

/* --- schema --------------------------------------------------------------------------- */

struct world_welcome_channel {
    struct str channel, description;
    struct opt_str emoji;
};
struct world_welcome_screen {
    struct opt_bool enabled;
    struct opt_str description;
    struct opt_list channels; /* struct world_welcome_channel */
};

static const struct type type_welcome_text = { .kind = KIND_STRING, .min = 1, .max = 50 };
static const struct type type_welcome_description = { .kind = KIND_STRING, .max = 140 };
static const struct field welcome_channel_fields[] = {
    MUST(struct world_welcome_channel, channel, type_world_ref),
    MUST(struct world_welcome_channel, description, type_welcome_text),
    MAYBE(struct world_welcome_channel, emoji, type_world_ref),
    { 0 },
};
WORLD_LIST(welcome_channel, welcome_channel_fields, NULL, 0, 5);
static const struct field welcome_screen_fields[] = {
    MAYBE(struct world_welcome_screen, enabled, type_bool),
    MAYBE(struct world_welcome_screen, description, type_welcome_description),
    MAYBE(struct world_welcome_screen, channels, world_welcome_channel_list),
    { 0 },
};

WORLD_SINGLE(welcome_screen, welcome_screen_fields, NULL);

/* --- welcome screens ------------------------------------------------------------------ */

static enum err import_welcome_channel(struct world_file_importer *im,
                                       const struct world_welcome_channel *in, snowflake guild,
                                       const struct json_path *at, struct welcome_channel *ret)
{
    struct json_path channel_at = json_path_key(at, STR("channel")),
                     emoji_at = json_path_key(at, STR("emoji"));
    struct world_emoji_ref emoji = { 0 };
    enum err e = world_file_resolve_reference(im, &channel_naming, guild, in->channel, &channel_at,
                                              &ret->channel_id);

    if (!e)
        e = world_file_resolve_emoji_ref(im, guild, &in->emoji, &emoji_at, &emoji);
    ret->description = in->description;
    ret->emoji_id = emoji.id;
    ret->emoji_name = emoji.name;
    return e;
}

static enum err import_welcome_screen(struct world_file_importer *im, const void *entry,
                                      const struct json_path *at, snowflake guild)
{
    const struct world_welcome_screen *in = entry;
    struct json_path all = json_path_key(at, STR("channels"));
    unsigned before = im->form->problems;
    struct list channels = { 0 };
    enum err e = OK;

    const struct world_welcome_channel *c = in->channels.value.items;
    for (size_t i = 0; !e && i < in->channels.value.count; i++) {
        struct json_path here = json_path_index(&all, i);

        e = import_welcome_channel(
            im, &c[i], guild, &here,
            list_append(im->arena, &channels, sizeof(struct welcome_channel)));
    }
    if (e || im->form->problems != before)
        return e;
    struct welcome_screen_row row = { .screen = { .description = in->description,
                                                  .welcome_channels = channels },
                                      .enabled = in->enabled.value };
    e = welcome_screen_save_row(im->tx, guild, &row);
    if (e || !in->enabled.value)
        return e;
    return guild_add_feature_without_event(im->tx, guild, "WELCOME_SCREEN_ENABLED");
}

static enum err export_welcome_screen(struct world_file_exporter *ex, struct opt_object *ret)
{
    struct world_welcome_screen *out = arena_alloc(tx_arena(ex->tx), sizeof *out);
    struct welcome_screen_row row;
    enum err e = welcome_screen_read_row(ex->tx, ex->guild, &row);

    if (e || !row.known)
        return e;
    const struct welcome_channel *c = row.screen.welcome_channels.items;
    *out = (struct world_welcome_screen){ .enabled = opt_true_or_absent(row.enabled),
                                          .description =
                                              export_optional_text(row.screen.description) };
    for (size_t i = 0; i < row.screen.welcome_channels.count; i++) {
        struct opt_str to = world_file_export_reference(ex->tx, &ex->channels, c[i].channel_id);

        if (to.given == GIVEN)
            *(struct world_welcome_channel *)export_add_list_item(
                ex->tx, &out->channels,
                sizeof(struct world_welcome_channel)) = (struct world_welcome_channel){
                .channel = to.value,
                .description = c[i].description,
                .emoji = world_file_format_emoji_reference(ex->tx, c[i].emoji_id, c[i].emoji_name),
            };
    }
    *ret = (struct opt_object){ GIVEN, out };
    return OK;
}

const struct world_file_fields welcome_world = { (const struct world_file_field[]){
    { "guild", "welcome_screen", &world_welcome_screen_type, .order = 180,
      .import = import_welcome_screen, .export_object = export_welcome_screen },
    { 0 },
} };
