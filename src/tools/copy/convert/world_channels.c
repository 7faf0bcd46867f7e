/* world_channels.c - converts channels and Discord threads to entries of world files. */
#include "tools/copy/convert/world_members.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "model/channel.h"

static const char *const channel_type_words[] = {
    [CHANNEL_TEXT] = "text",
    [CHANNEL_VOICE] = "voice",
    [CHANNEL_CATEGORY] = "category",
    [CHANNEL_ANNOUNCEMENT] = "news",
    [CHANNEL_THREAD] = "thread",
    [CHANNEL_ANNOUNCEMENT_THREAD] = "news_thread",
    [CHANNEL_PRIVATE_THREAD] = "private_thread",
    [CHANNEL_STAGE] = "stage",
    [CHANNEL_FORUM] = "forum",
    [CHANNEL_MEDIA] = "media",
};

const char *get_world_file_name_of_channel_type(int64_t type)
{
    bool known = type >= 0 && (size_t)type < COUNT_OF(channel_type_words);

    return known ? channel_type_words[type] : NULL;
}

static void write_overwrites(struct guild_copy_conversion *c, struct arena *arena,
                             struct json_writer *j, struct str channel)
{
    static const struct json_member_renaming names[] = { { "allow", NULL },
                                                         { "deny", NULL },
                                                         { 0 } };
    struct str overwrites = json_member_get_raw_text(channel, "permission_overwrites");
    struct list items = json_array_get_items(arena, overwrites);

    /* Chat exports have no overwrites: then an existing channel retains its own. */
    if (!overwrites.n)
        return;
    json_write_name(j, "overwrites");
    json_begin_array(j);
    for (size_t i = 0; i < items.count; i++) {
        struct str overwrite = ((struct str *)items.items)[i];
        bool member = json_member_int(overwrite, "type") == 1;
        snowflake id = json_member_get_id(overwrite, "id");

        if (member ? !c->people : !guild_copy_id_is_known(&c->known.roles, id)) {
            c->omitted++;
            continue;
        }
        json_begin_object(j);
        if (member)
            write_user_reference(c, arena, j, "member", (struct str){ 0 }, id);
        else
            write_world_file_reference(c, j, "role", &c->known.roles, id);
        copy_json_members(j, overwrite, names);
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_forum_tags(struct guild_copy_conversion *c, struct arena *arena,
                             struct json_writer *j, struct str channel)
{
    static const struct json_member_renaming names[] = {
        { "id", NULL }, { "name", NULL }, { "moderated", NULL }, { 0 }
    };
    struct list items =
        json_array_get_items(arena, json_member_get_raw_text(channel, "available_tags"));

    if (!items.count)
        return;
    json_write_name(j, "tags");
    json_begin_array(j);
    for (size_t i = 0; i < items.count; i++) {
        json_begin_object(j);
        copy_json_members(j, ((struct str *)items.items)[i], names);
        write_emoji_reference(c, j, "emoji", ((struct str *)items.items)[i]);
        json_end_object(j);
    }
    json_end_array(j);
}

static bool write_thread_member(void *arg, struct str line, int64_t next_offset,
                                struct arena *arena)
{
    struct json_item_per_line_writer *r = arg;
    snowflake id = json_member_get_id(line, "user_id");

    (void)next_offset;
    add_user_id_to_world_file(r->conversion, arena, id);
    if (id)
        json_write_id(r->j, id);
    return true;
}

static void write_thread(struct guild_copy_conversion *c, struct arena *arena,
                         struct json_writer *j, struct str thread)
{
    static const struct json_member_renaming names[] = {
        { "archived", NULL },
        { "archive_timestamp", "archived_at" },
        { "auto_archive_duration", NULL },
        { "locked", NULL },
        { "invitable", NULL },
        { 0 },
    };
    struct json_item_per_line_writer r = { c, j };
    char name[100];

    copy_json_members(j, json_member_get_raw_text(thread, "thread_metadata"), names);
    write_user_reference(c, arena, j, "owner", (struct str){ 0 },
                         json_member_get_id(thread, "owner_id"));
    write_json_member_raw(j, "applied_tags", json_member_get_raw_text(thread, "applied_tags"));
    if (!c->people)
        return;
    snprintf(name, sizeof name, "thread_members/%" PRIu64 ".jsonl",
             json_member_get_id(thread, "id"));
    json_write_name(j, "people");
    json_begin_array(j);
    guild_archive_for_each_line(c->archive, name, 0, write_thread_member, &r);
    json_end_array(j);
}

bool write_world_channel(struct guild_copy_conversion *c, struct arena *arena, struct str channel,
                         struct buf *out)
{
    static const struct json_member_renaming names[] = {
        { "id", NULL },
        { "name", NULL },
        { "topic", NULL },
        { "position", NULL },
        { "nsfw", NULL },
        { "rate_limit_per_user", NULL },
        { "bitrate", NULL },
        { "user_limit", NULL },
        { "rtc_region", NULL },
        { "video_quality_mode", NULL },
        { "flags", NULL },
        { "default_auto_archive_duration", NULL },
        { "default_thread_rate_limit_per_user", NULL },
        { "default_sort_order", NULL },
        { "default_forum_layout", NULL },
        { "default_tag_setting", NULL },
        { 0 },
    };
    int64_t type = json_member_int(channel, "type");
    struct json_writer j = json_writer_to_buf(out);

    if (!get_world_file_name_of_channel_type(type))
        return false;
    json_begin_object(&j);
    copy_json_members(&j, channel, names);
    write_json_word_for_number(&j, "type", channel_type_words, COUNT_OF(channel_type_words), type);
    write_world_file_reference(c, &j, "parent", &c->known.channels,
                               json_member_get_id(channel, "parent_id"));
    if (channel_is_thread(type)) {
        write_thread(c, arena, &j, channel);
    } else {
        write_overwrites(c, arena, &j, channel);
        write_forum_tags(c, arena, &j, channel);
        write_emoji_reference(c, &j, "default_reaction",
                              json_member_get_raw_text(channel, "default_reaction_emoji"));
    }
    json_end_object(&j);
    return true;
}
