/* world_guild.c - converts a guild and its roles to entries of world files. */
#include "tools/copy/world_members.h"

bool write_world_guild(struct copy_conversion *c, struct arena *arena, struct str guild,
                       struct buf *out)
{
    static const struct member_name names[] = {
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

    json_begin_object(&j);
    copy_members(&j, guild, names);
    write_user(c, arena, &j, "owner", (struct str){ 0 }, json_member_id(guild, "owner_id"));
    write_reference(c, &j, "afk_channel", &c->known.channels,
                    json_member_id(guild, "afk_channel_id"));
    write_reference(c, &j, "system_channel", &c->known.channels,
                    json_member_id(guild, "system_channel_id"));
    write_reference(c, &j, "rules_channel", &c->known.channels,
                    json_member_id(guild, "rules_channel_id"));
    write_reference(c, &j, "public_updates_channel", &c->known.channels,
                    json_member_id(guild, "public_updates_channel_id"));
    write_reference(c, &j, "safety_alerts_channel", &c->known.channels,
                    json_member_id(guild, "safety_alerts_channel_id"));
    json_end_object(&j);
    return true;
}

bool write_world_role(struct copy_conversion *c, struct arena *arena, struct str role,
                      struct buf *out)
{
    static const struct member_name names[] = {
        { "id", NULL },
        { "name", NULL },
        { "permissions", NULL },
        { "color", NULL },
        { "position", NULL },
        { "hoist", NULL },
        { "mentionable", NULL },
        { "managed", NULL },
        { "flags", NULL },
        { "unicode_emoji", NULL },
        { 0 },
    };
    static const struct member_name colors[] = { { "secondary_color", NULL },
                                                 { "tertiary_color", NULL },
                                                 { 0 } };
    struct json_writer j = json_writer_to_buf(out);
    snowflake bot = json_member_id(json_member_raw(role, "tags"), "bot_id");

    json_begin_object(&j);
    copy_members(&j, role, names);
    copy_members(&j, json_member_raw(role, "colors"), colors);
    if (bot)
        write_user(c, arena, &j, "bot", (struct str){ 0 }, bot);
    json_end_object(&j);
    return true;
}
