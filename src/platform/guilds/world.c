/* world.c - import and export of guilds in world files (JSON data sets), and the table of the lists
 * that a guild contains. */
#include "platform/guilds/world.h"

#include "base/mem.h"
#include "model/guild.h"
#include "model/permissions/permissions.h"
#include "platform/guilds/internal.h"

static const struct type type_mfa_level = { .kind = KIND_INT, .min = 0, .max = 1 };

static const struct type type_filter_level = { .kind = KIND_INT, .min = 0, .max = 2 };

static const struct field guild_fields[] = {
    MAYBE(struct world_guild, id, type_id),
    MUST(struct world_guild, name, type_guild_name),
    MUST(struct world_guild, owner, type_world_ref),
    MAYBE(struct world_guild, description, type_text),
    MAYBE(struct world_guild, features, type_raw),
    MAYBE(struct world_guild, preferred_locale, type_locale),
    MAYBE(struct world_guild, afk_timeout, type_count),
    MAYBE(struct world_guild, system_channel_flags, type_count),
    MAYBE(struct world_guild, verification_level, type_count),
    MAYBE(struct world_guild, default_message_notifications, type_count),
    MAYBE(struct world_guild, explicit_content_filter, type_filter_level),
    MAYBE(struct world_guild, mfa_level, type_mfa_level),
    MAYBE(struct world_guild, premium_progress_bar_enabled, type_bool),
    WORLD_FILE_FIELD("roles"),
    WORLD_FILE_FIELD("channels"),
    WORLD_FILE_FIELD("members"),
    WORLD_FILE_FIELD("bans"),
    WORLD_FILE_FIELD("applications"),
    WORLD_FILE_FIELD("integrations"),
    WORLD_FILE_FIELD("emojis"),
    WORLD_FILE_FIELD("sounds"),
    WORLD_FILE_FIELD("stickers"),
    WORLD_FILE_FIELD("automod"),
    WORLD_FILE_FIELD("webhooks"),
    WORLD_FILE_FIELD("invites"),
    WORLD_FILE_FIELD("join_requests"),
    WORLD_FILE_FIELD("scheduled_events"),
    WORLD_FILE_FIELD("stages"),
    WORLD_FILE_FIELD("welcome_screen"),
    WORLD_FILE_FIELD("widget"),
    WORLD_FILE_FIELD("member_form"),
    WORLD_FILE_FIELD("onboarding"),
    WORLD_FILE_FIELD("template"),
    MAYBE(struct world_guild, vanity_code, type_vanity_code),
    MAYBE(struct world_guild, vanity_uses, type_count),
    MAYBE(struct world_guild, afk_channel, type_world_ref),
    MAYBE(struct world_guild, system_channel, type_world_ref),
    MAYBE(struct world_guild, rules_channel, type_world_ref),
    MAYBE(struct world_guild, public_updates_channel, type_world_ref),
    MAYBE(struct world_guild, safety_alerts_channel, type_world_ref),
    MAYBE(struct world_guild, icon, type_world_name),
    MAYBE(struct world_guild, banner, type_world_name),
    MAYBE(struct world_guild, splash, type_world_name),
    MAYBE(struct world_guild, discovery_splash, type_world_name),
    { 0 },
};

static void validate_world_guild(struct form *form, const struct json_path *here,
                                 const void *object)
{
    world_file_check_string_list(form, here, "features",
                                 &((const struct world_guild *)object)->features);
}

WORLD_OBJECT(guild, guild_fields, validate_world_guild);

/* --- import from a world file -------------------------------------------------------- */

static enum err insert_guild_with_everyone_role(struct world_file_importer *im,
                                                const struct world_guild *in, snowflake id,
                                                snowflake owner)
{
    struct role everyone = {
        .id = id, .guild_id = id, .name = STR("@everyone"), .permissions = PERMISSIONS_DEFAULT
    };
    enum err e = guild_insert(im->tx, &(struct guild){ .id = id,
                                                       .name = in->name,
                                                       .owner_id = owner,
                                                       .afk_timeout = 300,
                                                       .preferred_locale = STR("en-US") });

    return e ? e : role_insert(im->tx, &everyone);
}

/* Applies the fields of a world file to a guild. Fields that the file omits are not changed. */
static void apply_world_guild(struct world_file_importer *im, const struct world_guild *in,
                              struct guild *g)
{
    WORLD_SET_IF_GIVEN(g->afk_timeout, in->afk_timeout);
    WORLD_SET_IF_GIVEN(g->system_channel_flags, in->system_channel_flags);
    WORLD_SET_IF_GIVEN(g->verification_level, in->verification_level);
    WORLD_SET_IF_GIVEN(g->default_message_notifications, in->default_message_notifications);
    WORLD_SET_IF_GIVEN(g->explicit_content_filter, in->explicit_content_filter);
    WORLD_SET_IF_GIVEN(g->mfa_level, in->mfa_level);
    g->name = in->name;
    WORLD_SET_OPT_IF_GIVEN(g->description, in->description);
    if (in->features.given == GIVEN)
        g->features = json_remove_white_space(im->arena, in->features.value);
    WORLD_SET_IF_GIVEN(g->preferred_locale, in->preferred_locale);
    WORLD_SET_IF_GIVEN(g->premium_progress_bar_enabled, in->premium_progress_bar_enabled);
}

/* Resolves the guild settings that name channels of the guild. */
static enum err import_guild_channel_settings(struct world_file_importer *im, const void *entry,
                                              const struct json_path *up, snowflake id)
{
    const struct world_guild *in = entry;
    struct guild g;
    const struct {
        const char *name;
        const struct opt_str *from;
        struct opt_id *to;
    } channels[] = {
        { "afk_channel", &in->afk_channel, &g.afk_channel_id },
        { "system_channel", &in->system_channel, &g.system_channel_id },
        { "rules_channel", &in->rules_channel, &g.rules_channel_id },
        { "public_updates_channel", &in->public_updates_channel, &g.public_updates_channel_id },
        { "safety_alerts_channel", &in->safety_alerts_channel, &g.safety_alerts_channel_id },
    };
    enum err e = guild_find(im->tx, id, &g);

    for (size_t i = 0; i < COUNT_OF(channels) && !e; i++) {
        snowflake channel = 0;

        e = world_file_resolve_optional_reference(im, &channel_naming, id, channels[i].from, up,
                                                  channels[i].name, &channel);
        if (channel)
            *channels[i].to = opt_id_or_null(channel);
    }
    return e ? e : guild_update(im->tx, &g);
}

static enum err import_guild_pictures(struct world_file_importer *im, const struct world_guild *in,
                                      struct guild *g)
{
    enum err e = world_file_import_archived_picture(im, "icons", g->id, &in->icon, &g->icon);

    if (!e)
        e = world_file_import_archived_picture(im, "banners", g->id, &in->banner, &g->banner);
    if (!e)
        e = world_file_import_archived_picture(im, "splashes", g->id, &in->splash, &g->splash);
    return e ? e
             : world_file_import_archived_picture(im, "discovery-splashes", g->id,
                                                  &in->discovery_splash, &g->discovery_splash);
}

static enum err import_guild(struct world_file_importer *im, const void *entry,
                             const struct json_path *at, snowflake unused)
{
    const struct world_guild *g = entry;
    struct json_path owner_at = json_path_key(at, STR("owner"));
    unsigned before = im->form->problems;
    snowflake id = 0, owner = 0;
    enum err e =
        world_file_find_existing_object(im, &guild_naming, unused, g->id, g->name, at, &id);

    if (!e)
        e = world_file_resolve_reference(im, &user_naming, 0, g->owner, &owner_at, &owner);
    if (e || im->form->problems != before)
        return e;
    count(im, COUNT_GUILDS, !id);
    if (!id) {
        id = g->id.given == GIVEN ? g->id.value : snowflake_new_guild_id();
        e = insert_guild_with_everyone_role(im, g, id, owner);
    }
    struct guild made;
    if (!e)
        e = guild_find(im->tx, id, &made);
    if (e)
        return e;
    apply_world_guild(im, g, &made);
    if (!im->options->files) /* an import of a copied guild does not change the owner */
        made.owner_id = owner;
    e = import_guild_pictures(im, g, &made);
    if (!e)
        e = guild_update(im->tx, &made);
    im->guild = id;
    return e ? e : world_file_import_fields(im, "guild", entry, at, id);
}

/* --- export to a world file ---------------------------------------------------------- */

static const char ALL_GUILDS[] =
    "select g.id, g.name, u.username, g.description, g.features, g.preferred_locale, "
    "g.afk_timeout, g.system_channel_flags, g.verification_level, g.default_message_notifications, "
    "g.explicit_content_filter, g.premium_progress_bar_enabled, g.afk_channel_id, "
    "g.system_channel_id, g.rules_channel_id, g.public_updates_channel_id, "
    "g.safety_alerts_channel_id, g.vanity_code, g.vanity_uses, g.mfa_level from guilds g "
    "join users u on u.id = g.owner_id where g.removed = 0 order by g.id";

/* Ids of the channels in a guild's settings. The export replaces them with names after the channels
 * were read. */
struct named_channel_ids {
    snowflake channels[5];
};

static void world_guild_from_row(const struct rows *r, struct world_guild *g,
                                 struct named_channel_ids *p)
{
    *g = (struct world_guild){
        .id = { GIVEN, row_id(r, 0) },
        .name = row_text(r, 1),
        .owner = row_text(r, 2),
        .description = export_nondefault_text(r, 3, NULL),
        .features = export_nondefault_text(r, 4, "[]"),
        .preferred_locale = export_nondefault_text(r, 5, "en-US"),
        .afk_timeout = export_nondefault_int(r, 6, 300),
        .system_channel_flags = export_nondefault_int(r, 7, 0),
        .verification_level = export_nondefault_int(r, 8, 0),
        .default_message_notifications = export_nondefault_int(r, 9, 0),
        .explicit_content_filter = export_nondefault_int(r, 10, 0),
        .premium_progress_bar_enabled = export_nondefault_bool(r, 11, false),
        .vanity_code = export_nondefault_text(r, 17, NULL),
        .vanity_uses = export_nondefault_int(r, 18, 0),
        .mfa_level = export_nondefault_int(r, 19, 0),
    };
    for (int i = 0; i < 5; i++)
        p->channels[i] = row_id(r, 12 + i);
}

static enum err export_fields_of_guild(struct world_file_exporter *ex, struct world_guild *g,
                                       const struct named_channel_ids *p)
{
    struct opt_str *const to[] = { &g->afk_channel, &g->system_channel, &g->rules_channel,
                                   &g->public_updates_channel, &g->safety_alerts_channel };

    ex->guild = g->id.value;
    enum err e = world_file_export_read_names(ex);
    if (!e)
        e = world_file_export_fields(ex, "guild", ex->guild, g, 1);
    for (size_t i = 0; i < COUNT_OF(to); i++)
        *to[i] = world_file_export_reference(ex->tx, &ex->channels, p->channels[i]);
    return e;
}

static enum err export_guilds(struct world_file_exporter *ex, struct opt_list *ret)
{
    size_t size = world_file_entry_size(ex->format, "guild");
    struct list pointed = { 0 };
    struct rows r;
    enum err e = tx_query(ex->tx, ALL_GUILDS, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r))
        world_guild_from_row(
            &r, world_file_entry_add(ex, "guild", ret),
            list_append(tx_arena(ex->tx), &pointed, sizeof(struct named_channel_ids)));
    e = rows_end(&r);
    const struct named_channel_ids *points = pointed.items;
    char *entry = ret->value.items;
    for (size_t i = 0; points && i < ret->value.count && !e; i++, entry += size)
        e = export_fields_of_guild(ex, (struct world_guild *)(void *)entry, &points[i]);
    return e;
}

const struct world_file_fields guilds_world = { (const struct world_file_field[]){
    { NULL, "guilds", &world_guild_list, "guild", 40, .import = import_guild,
      .export = export_guilds },
    /* These settings refer to channels, so they are imported after the channels. */
    { "guild", .order = 170, .import = import_guild_channel_settings },
    { 0 },
} };
