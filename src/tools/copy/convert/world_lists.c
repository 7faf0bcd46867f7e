/* world_lists.c - converts the other lists of a guild to entries of world files: members, bans,
 * emoji, stickers, sounds, events, rules, webhooks and invites. */
#include "tools/copy/convert/world_members.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"

/* --- people ------------------------------------------------------------------------ */

bool write_world_member(struct guild_copy_conversion *c, struct arena *arena, struct str member,
                        struct buf *out)
{
    static const struct json_member_renaming names[] = {
        { "nick", NULL },
        { "joined_at", NULL },
        { "premium_since", NULL },
        { "flags", NULL },
        { "mute", NULL },
        { "deaf", NULL },
        { "pending", NULL },
        { "communication_disabled_until", "timed_out_until" },
        { "avatar", NULL },
        { "banner", NULL },
        { 0 },
    };
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    write_user_reference(c, arena, &j, "user", json_member_get_raw_text(member, "user"), 0);
    copy_json_members(&j, member, names);
    write_world_file_references(c, arena, &j, "roles", &c->known.roles,
                                json_member_get_raw_text(member, "roles"));
    json_end_object(&j);
    return true;
}

bool write_world_ban(struct guild_copy_conversion *c, struct arena *arena, struct str ban,
                     struct buf *out)
{
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    write_user_reference(c, arena, &j, "user", json_member_get_raw_text(ban, "user"), 0);
    copy_json_members(&j, ban, (const struct json_member_renaming[]){ { "reason", NULL }, { 0 } });
    json_end_object(&j);
    return true;
}

/* --- emoji, stickers, sounds ------------------------------------------------------- */

static void write_uploader_of_expression(struct guild_copy_conversion *c, struct arena *arena,
                                         struct json_writer *j, struct str object)
{
    struct str user = json_member_get_raw_text(object, "user");

    if (user.n)
        write_user_reference(c, arena, j, "by", user, 0);
}

bool write_world_emoji(struct guild_copy_conversion *c, struct arena *arena, struct str emoji,
                       struct buf *out)
{
    static const struct json_member_renaming names[] = {
        { "id", NULL }, { "name", NULL }, { "animated", NULL }, { 0 }
    };
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    copy_json_members(&j, emoji, names);
    write_world_file_references(c, arena, &j, "roles", &c->known.roles,
                                json_member_get_raw_text(emoji, "roles"));
    write_uploader_of_expression(c, arena, &j, emoji);
    write_archive_file_as_data_uri(c, arena, &j, "image", "image/png", "emojis",
                                   json_member_get_id(emoji, "id"));
    json_end_object(&j);
    return true;
}

bool write_world_sticker(struct guild_copy_conversion *c, struct arena *arena, struct str sticker,
                         struct buf *out)
{
    static const char *const formats[] = { NULL, "png", "apng", "lottie", "gif" };
    static const struct json_member_renaming names[] = {
        { "id", NULL }, { "name", NULL }, { "tags", NULL }, { 0 }
    };
    struct json_writer j = json_writer_to_buf(out);
    struct str description = json_member_get_raw_text(sticker, "description");

    json_begin_object(&j);
    copy_json_members(&j, sticker, names);
    if (description.n > 2) /* not "" */
        write_json_member_raw(&j, "description", description);
    write_json_word_for_number(&j, "format", formats, COUNT_OF(formats),
                               json_member_int(sticker, "format_type"));
    write_uploader_of_expression(c, arena, &j, sticker);
    write_archive_file_as_data_uri(c, arena, &j, "image", "image/png", "stickers",
                                   json_member_get_id(sticker, "id"));
    json_end_object(&j);
    return true;
}

bool write_world_sound(struct guild_copy_conversion *c, struct arena *arena, struct str sound,
                       struct buf *out)
{
    static const struct json_member_renaming names[] = {
        { "sound_id", "id" }, { "name", NULL }, { "volume", NULL }, { 0 }
    };
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    copy_json_members(&j, sound, names);
    if (json_member_get_id(sound, "emoji_id"))
        write_world_file_reference(c, &j, "emoji", &c->known.emojis,
                                   json_member_get_id(sound, "emoji_id"));
    else
        write_json_member_raw(&j, "unicode_emoji", json_member_get_raw_text(sound, "emoji_name"));
    write_uploader_of_expression(c, arena, &j, sound);
    write_archive_file_as_data_uri(c, arena, &j, "sound", "audio/mpeg", "sounds",
                                   json_member_get_id(sound, "sound_id"));
    json_end_object(&j);
    return true;
}

/* --- other lists ------------------------------------------------------------------- */

static bool write_user_of_scheduled_event(void *arg, struct str line, int64_t next_offset,
                                          struct arena *arena)
{
    struct json_item_per_line_writer *r = arg;
    struct str user = json_member_get_raw_text(line, "user");
    snowflake id = json_member_get_id(user, "id");

    (void)next_offset;
    add_user_to_world_file(r->conversion, arena, user);
    if (id)
        json_write_id(r->j, id);
    return true;
}

bool write_world_event(struct guild_copy_conversion *c, struct arena *arena, struct str event,
                       struct buf *out)
{
    static const char *const states[] = { NULL, "scheduled", "active", "completed", "canceled" };
    static const struct json_member_renaming names[] = {
        { "id", NULL },
        { "name", NULL },
        { "scheduled_start_time", NULL },
        { "scheduled_end_time", NULL },
        { "description", NULL },
        { "recurrence_rule", NULL },
        { "image", NULL },
        { 0 },
    };
    struct json_writer j = json_writer_to_buf(out);
    struct json_item_per_line_writer r = { c, &j };
    char name[100];

    json_begin_object(&j);
    copy_json_members(&j, event, names);
    write_world_file_reference(c, &j, "channel", &c->known.channels,
                               json_member_get_id(event, "channel_id"));
    write_json_member_raw(
        &j, "location",
        json_member_get_raw_text(json_member_get_raw_text(event, "entity_metadata"), "location"));
    write_json_word_for_number(&j, "status", states, COUNT_OF(states),
                               json_member_int(event, "status"));
    write_user_reference(c, arena, &j, "by", json_member_get_raw_text(event, "creator"),
                         json_member_get_id(event, "creator_id"));
    if (c->people) {
        snprintf(name, sizeof name, "scheduled_event_users/%" PRIu64 ".jsonl",
                 json_member_get_id(event, "id"));
        json_write_name(&j, "users");
        json_begin_array(&j);
        guild_archive_for_each_line(c->archive, name, 0, write_user_of_scheduled_event, &r);
        json_end_array(&j);
    }
    json_end_object(&j);
    return true;
}

bool write_world_automod_rule(struct guild_copy_conversion *c, struct arena *arena, struct str rule,
                              struct buf *out)
{
    static const struct json_member_renaming names[] = {
        { "id", NULL },
        { "name", NULL },
        { "trigger_type", NULL },
        { "trigger_metadata", NULL },
        { "actions", NULL },
        { "enabled", NULL },
        { 0 },
    };
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    copy_json_members(&j, rule, names);
    write_user_reference(c, arena, &j, "by", (struct str){ 0 },
                         json_member_get_id(rule, "creator_id"));
    write_world_file_references(c, arena, &j, "exempt_roles", &c->known.roles,
                                json_member_get_raw_text(rule, "exempt_roles"));
    write_world_file_references(c, arena, &j, "exempt_channels", &c->known.channels,
                                json_member_get_raw_text(rule, "exempt_channels"));
    json_end_object(&j);
    return true;
}

/* Converts a webhook, if it was created for incoming messages. All other webhooks belong to apps or
 * to followed channels, and are not copied. */
bool write_world_webhook(struct guild_copy_conversion *c, struct arena *arena, struct str webhook,
                         struct buf *out)
{
    struct json_writer j = json_writer_to_buf(out);
    struct str name = json_member_get_raw_text(webhook, "name"),
               user = json_member_get_raw_text(webhook, "user");

    if (json_member_int(webhook, "type") != 1 ||
        !guild_copy_id_is_known(&c->known.channels, json_member_get_id(webhook, "channel_id")))
        return false;
    json_begin_object(&j);
    copy_json_members(
        &j, webhook,
        (const struct json_member_renaming[]){ { "id", NULL }, { "avatar", NULL }, { 0 } });
    write_json_member_raw(&j, "name", name.n ? name : STR("\"Webhook\""));
    write_world_file_reference(c, &j, "channel", &c->known.channels,
                               json_member_get_id(webhook, "channel_id"));
    if (user.n)
        write_user_reference(c, arena, &j, "by", user, 0);
    json_end_object(&j);
    return true;
}

bool write_world_invite(struct guild_copy_conversion *c, struct arena *arena, struct str invite,
                        struct buf *out)
{
    static const struct json_member_renaming names[] = {
        { "code", NULL },
        { "max_age", NULL },
        { "max_uses", NULL },
        { "uses", NULL },
        { "temporary", NULL },
        { "created_at", NULL },
        { 0 },
    };
    snowflake channel = json_member_get_id(json_member_get_raw_text(invite, "channel"), "id");
    struct str inviter = json_member_get_raw_text(invite, "inviter");
    struct json_writer j = json_writer_to_buf(out);

    if (!guild_copy_id_is_known(&c->known.channels, channel))
        return false;
    json_begin_object(&j);
    copy_json_members(&j, invite, names);
    write_world_file_reference(c, &j, "channel", &c->known.channels, channel);
    if (inviter.n)
        write_user_reference(c, arena, &j, "by", inviter, 0);
    json_end_object(&j);
    return true;
}
