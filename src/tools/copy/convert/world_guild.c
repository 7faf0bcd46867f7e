/* world_guild.c - converts a guild, its roles and its settings to entries of world files. */
#include "tools/copy/convert/world_members.h"

bool write_world_guild(struct guild_copy_conversion *c, struct arena *arena, struct str guild,
                       struct buf *out)
{
    static const struct json_member_renaming names[] = {
        { "id", NULL },
        { "name", NULL },
        { "description", NULL },
        { "features", NULL },
        { "preferred_locale", NULL },
        { "afk_timeout", NULL },
        { "system_channel_flags", NULL },
        { "verification_level", NULL },
        { "default_message_notifications", NULL },
        { "explicit_content_filter", NULL },
        { "mfa_level", NULL },
        { "premium_progress_bar_enabled", NULL },
        { "icon", NULL },
        { "banner", NULL },
        { "splash", NULL },
        { "discovery_splash", NULL },
        { 0 },
    };
    struct json_writer j = json_writer_to_buf(out);

    struct str features = json_member_get_raw_text(guild, "features");

    c->welcome_screen_enabled =
        features.n && memmem(features.p, features.n, "\"WELCOME_SCREEN_ENABLED\"", 24);
    json_begin_object(&j);
    copy_json_members(&j, guild, names);
    write_user_reference(c, arena, &j, "owner", (struct str){ 0 },
                         json_member_get_id(guild, "owner_id"));
    write_world_file_reference(c, &j, "afk_channel", &c->known.channels,
                               json_member_get_id(guild, "afk_channel_id"));
    write_world_file_reference(c, &j, "system_channel", &c->known.channels,
                               json_member_get_id(guild, "system_channel_id"));
    write_world_file_reference(c, &j, "rules_channel", &c->known.channels,
                               json_member_get_id(guild, "rules_channel_id"));
    write_world_file_reference(c, &j, "public_updates_channel", &c->known.channels,
                               json_member_get_id(guild, "public_updates_channel_id"));
    write_world_file_reference(c, &j, "safety_alerts_channel", &c->known.channels,
                               json_member_get_id(guild, "safety_alerts_channel_id"));
    json_end_object(&j);
    return true;
}

bool write_world_role(struct guild_copy_conversion *c, struct arena *arena, struct str role,
                      struct buf *out)
{
    static const struct json_member_renaming names[] = {
        { "id", NULL },          { "name", NULL },
        { "permissions", NULL }, { "color", NULL },
        { "position", NULL },    { "hoist", NULL },
        { "mentionable", NULL }, { "managed", NULL },
        { "flags", NULL },       { "unicode_emoji", NULL },
        { "icon", NULL },        { 0 },
    };
    static const struct json_member_renaming colors[] = { { "secondary_color", NULL },
                                                          { "tertiary_color", NULL },
                                                          { 0 } };
    struct json_writer j = json_writer_to_buf(out);
    snowflake bot = json_member_get_id(json_member_get_raw_text(role, "tags"), "bot_id");

    json_begin_object(&j);
    copy_json_members(&j, role, names);
    copy_json_members(&j, json_member_get_raw_text(role, "colors"), colors);
    if (bot)
        write_user_reference(c, arena, &j, "bot", (struct str){ 0 }, bot);
    json_end_object(&j);
    return true;
}

/* --- welcome screen, onboarding, widget ------------------------------------------------- */

bool write_world_welcome_screen(struct guild_copy_conversion *c, struct arena *arena,
                                struct str screen, struct buf *out)
{
    static const struct json_member_renaming names[] = { { "description", NULL }, { 0 } };
    struct list channels =
        json_array_get_items(arena, json_member_get_raw_text(screen, "welcome_channels"));
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    copy_json_members(&j, screen, names);
    json_write_name(&j, "enabled");
    json_write_bool(&j, c->welcome_screen_enabled);
    json_write_name(&j, "channels");
    json_begin_array(&j);
    for (size_t i = 0; i < channels.count; i++) {
        struct str channel = ((struct str *)channels.items)[i];
        snowflake id = json_member_get_id(channel, "channel_id");

        if (!guild_copy_id_is_known(&c->known.channels, id)) {
            c->omitted++;
            continue;
        }
        json_begin_object(&j);
        write_world_file_reference(c, &j, "channel", &c->known.channels, id);
        copy_json_members(&j, channel, names);
        write_emoji_reference(c, &j, "emoji", channel);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_object(&j);
    return true;
}

static void write_onboarding_option(struct guild_copy_conversion *c, struct arena *arena,
                                    struct json_writer *j, struct str option)
{
    static const struct json_member_renaming names[] = {
        { "id", NULL }, { "title", NULL }, { "description", NULL }, { 0 }
    };
    struct str emoji = json_member_get_raw_text(option, "emoji");

    json_begin_object(j);
    copy_json_members(j, option, names);
    if (json_member_get_id(emoji, "id"))
        write_world_file_reference(c, j, "emoji", &c->known.emojis,
                                   json_member_get_id(emoji, "id"));
    else
        write_json_member_raw(j, "emoji", json_member_get_raw_text(emoji, "name"));
    write_world_file_references(c, arena, j, "roles", &c->known.roles,
                                json_member_get_raw_text(option, "role_ids"));
    write_world_file_references(c, arena, j, "channels", &c->known.channels,
                                json_member_get_raw_text(option, "channel_ids"));
    json_end_object(j);
}

bool write_world_onboarding(struct guild_copy_conversion *c, struct arena *arena,
                            struct str onboarding, struct buf *out)
{
    static const struct json_member_renaming settings[] = { { "enabled", NULL },
                                                            { "mode", NULL },
                                                            { 0 } };
    static const struct json_member_renaming names[] = {
        { "id", NULL },
        { "title", NULL },
        { "type", NULL },
        { "single_select", NULL },
        { "required", NULL },
        { "in_onboarding", NULL },
        { 0 },
    };
    struct list prompts =
        json_array_get_items(arena, json_member_get_raw_text(onboarding, "prompts"));
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    copy_json_members(&j, onboarding, settings);
    write_world_file_references(c, arena, &j, "default_channels", &c->known.channels,
                                json_member_get_raw_text(onboarding, "default_channel_ids"));
    json_write_name(&j, "prompts");
    json_begin_array(&j);
    for (size_t i = 0; i < prompts.count; i++) {
        struct str prompt = ((struct str *)prompts.items)[i];
        struct list options =
            json_array_get_items(arena, json_member_get_raw_text(prompt, "options"));

        json_begin_object(&j);
        copy_json_members(&j, prompt, names);
        json_write_name(&j, "options");
        json_begin_array(&j);
        for (size_t k = 0; k < options.count; k++)
            write_onboarding_option(c, arena, &j, ((struct str *)options.items)[k]);
        json_end_array(&j);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_object(&j);
    return true;
}

bool write_world_widget(struct guild_copy_conversion *c, struct arena *arena, struct str widget,
                        struct buf *out)
{
    struct json_writer j = json_writer_to_buf(out);

    (void)arena;
    json_begin_object(&j);
    copy_json_members(&j, widget,
                      (const struct json_member_renaming[]){ { "enabled", NULL }, { 0 } });
    write_world_file_reference(c, &j, "channel", &c->known.channels,
                               json_member_get_id(widget, "channel_id"));
    json_end_object(&j);
    return true;
}
