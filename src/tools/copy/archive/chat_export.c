/* chat_export.c - converts the JSON that DiscordChatExporter writes to lines of an archive.
 *
 * Such a file has the messages of one channel, oldest first, and the names of its guild, of the
 * channel and of its parent. It has no roles, overwrites, members or owner. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/channel.h"
#include "model/message.h"
#include "platform/worlds/import_export.h"
#include "tools/copy/archive/archive.h"
#include "tools/copy/archive/json_members.h"

struct named_number {
    const char *name;
    int64_t value;
};
static const struct named_number channel_kinds[] = {
    { "GuildTextChat", CHANNEL_TEXT },       { "GuildVoiceChat", CHANNEL_VOICE },
    { "GuildNews", CHANNEL_ANNOUNCEMENT },   { "GuildNewsThread", CHANNEL_ANNOUNCEMENT_THREAD },
    { "GuildPublicThread", CHANNEL_THREAD }, { "GuildPrivateThread", CHANNEL_PRIVATE_THREAD },
    { "GuildStageVoice", CHANNEL_STAGE },    { NULL, 0 },
};
static const struct named_number message_kinds[] = {
    { "Default", MESSAGE_DEFAULT },
    { "RecipientAdd", MESSAGE_RECIPIENT_ADD },
    { "RecipientRemove", MESSAGE_RECIPIENT_REMOVE },
    { "Call", MESSAGE_CALL },
    { "ChannelNameChange", MESSAGE_CHANNEL_NAME_CHANGE },
    { "ChannelIconChange", MESSAGE_CHANNEL_ICON_CHANGE },
    { "ChannelPinnedMessage", MESSAGE_CHANNEL_PINNED_MESSAGE },
    { "GuildMemberJoin", MESSAGE_USER_JOIN },
    { "ThreadCreated", MESSAGE_THREAD_CREATED },
    { "Reply", MESSAGE_REPLY },
    { NULL, 0 },
};

static int64_t find_number(const struct named_number *rows, struct str name, int64_t otherwise)
{
    int64_t number;

    for (; rows->name; rows++)
        if (str_is(name, rows->name))
            return rows->value;
    return str_to_i64(name, &number) ? number : otherwise;
}

struct chat_export {
    struct guild_archive *archive;
    const char *path;
    struct str guild, channel;
    struct guild_archive_line_file list;
    struct buf lines;
    int64_t count, skipped;
    bool is_reversed, failed;
};

static void write_renamed_json_member(struct json_writer *j, const char *name, struct str object,
                                      const char *from)
{
    struct str raw = json_member_get_raw_text(object, from);

    if (!raw.n)
        return;
    json_write_key(j, str_of(name));
    json_write_raw(j, raw);
}

static void write_chat_user(struct json_writer *j, struct str user)
{
    json_begin_object(j);
    write_renamed_json_member(j, "id", user, "id");
    write_renamed_json_member(j, "username", user, "name");
    write_renamed_json_member(j, "global_name", user, "nickname");
    write_renamed_json_member(j, "bot", user, "isBot");
    json_end_object(j);
}

static void write_chat_users(struct json_writer *j, struct arena *arena, struct str users)
{
    struct list items = json_array_get_items(arena, users);

    json_begin_array(j);
    for (size_t i = 0; i < items.count; i++)
        write_chat_user(j, ((struct str *)items.items)[i]);
    json_end_array(j);
}

/* --- files --------------------------------------------------------------------------------- */

/* Returns whether an export can contain a file of this name. Exports contain no hidden files. */
static bool chat_export_name_is_saved_file(struct str name)
{
    bool in_folder = false;

    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '.' && (i == 0 || name.p[i - 1] == '/'))
            return false;
        in_folder = in_folder || (i > 0 && name.p[i] == '/');
    }
    return in_folder && name.p[0] != '/';
}

/* Copies a file that the exporter saved next to the export into the archive. */
static void copy_saved_file(struct chat_export *x, struct arena *arena, struct str url,
                            snowflake id)
{
    const char *slash = strrchr(x->path, '/');
    struct str folder = slash ? str_slice(x->path, (size_t)(slash - x->path) + 1) : STR(""), name,
               bytes;
    char to[100], what[100];

    snprintf(what, sizeof what, "file attachments/%" PRIu64, id);
    if (memmem(url.p, url.n, "://", 3)) {
        guild_archive_add_report_line(x->archive, what, "the export was made without files");
        return;
    }
    if (!str_percent_decode(arena, url, false, &name) || !chat_export_name_is_saved_file(name) ||
        !map_world_file_into_memory(str_dup_cstring(arena, STR_CONCAT(arena, folder, name)),
                                    &bytes)) {
        guild_archive_add_report_line(x->archive, what, "the file is not next to the export");
        return;
    }
    snprintf(to, sizeof to, "files/attachments/%" PRIu64, id);
    x->failed |= !guild_archive_write_lines(x->archive, to, bytes);
    unmap_world_file(bytes);
}

static void write_chat_attachments(struct chat_export *x, struct arena *arena,
                                   struct json_writer *j, struct str message)
{
    struct list items =
        json_array_get_items(arena, json_member_get_raw_text(message, "attachments"));

    json_write_name(j, "attachments");
    json_begin_array(j);
    for (size_t i = 0; i < items.count; i++) {
        struct str file = ((struct str *)items.items)[i];

        copy_saved_file(x, arena, json_member_get_text(arena, file, "url"),
                        json_member_get_id(file, "id"));
        json_begin_object(j);
        write_renamed_json_member(j, "id", file, "id");
        write_renamed_json_member(j, "filename", file, "fileName");
        write_renamed_json_member(j, "size", file, "fileSizeBytes");
        json_end_object(j);
    }
    json_end_array(j);
}

/* --- embeds ---------------------------------------------------------------------------------- */

static void write_object_of_embed(struct json_writer *j, struct str embed, const char *name,
                                  const char *url)
{
    struct str part = json_member_get_raw_text(embed, name);

    if (!part.n)
        return;
    json_write_key(j, str_of(name));
    json_begin_object(j);
    write_renamed_json_member(j, "name", part, "name");
    write_renamed_json_member(j, "text", part, "text");
    write_renamed_json_member(j, "url", part, json_member_get_raw_text(part, url).n ? url : "url");
    write_renamed_json_member(j, "icon_url", part, "iconCanonicalUrl");
    write_renamed_json_member(j, "width", part, "width");
    write_renamed_json_member(j, "height", part, "height");
    json_end_object(j);
}

static void write_chat_embed(struct json_writer *j, struct arena *arena, struct str embed)
{
    struct str color = json_member_get_text(arena, embed, "color");
    struct list fields = json_array_get_items(arena, json_member_get_raw_text(embed, "fields"));

    json_begin_object(j);
    json_write_name(j, "type");
    json_write_text(j, STR("rich"));
    if (json_member_get_text(arena, embed, "title").n)
        write_renamed_json_member(j, "title", embed, "title");
    if (json_member_get_text(arena, embed, "description").n)
        write_renamed_json_member(j, "description", embed, "description");
    write_renamed_json_member(j, "url", embed, "url");
    write_renamed_json_member(j, "timestamp", embed, "timestamp");
    if (color.n == 7) {
        json_write_name(j, "color");
        json_write_int(j, strtol(str_dup_cstring(arena, str_skip_bytes(color, 1)), NULL, 16));
    }
    write_object_of_embed(j, embed, "author", "url");
    write_object_of_embed(j, embed, "footer", "url");
    write_object_of_embed(j, embed, "thumbnail", "canonicalUrl");
    write_object_of_embed(j, embed, "image", "canonicalUrl");
    write_object_of_embed(j, embed, "video", "canonicalUrl");
    if (fields.count) {
        json_write_name(j, "fields");
        json_begin_array(j);
        for (size_t i = 0; i < fields.count; i++) {
            struct str field = ((struct str *)fields.items)[i];

            json_begin_object(j);
            write_renamed_json_member(j, "name", field, "name");
            write_renamed_json_member(j, "value", field, "value");
            write_renamed_json_member(j, "inline", field, "isInline");
            json_end_object(j);
        }
        json_end_array(j);
    }
    json_end_object(j);
}

/* --- messages ---------------------------------------------------------------------- */

static void write_chat_reactions(struct json_writer *j, struct arena *arena, struct str message)
{
    struct list items = json_array_get_items(arena, json_member_get_raw_text(message, "reactions"));
    const struct str *reactions = items.items;

    if (!items.count)
        return;
    json_write_name(j, "reactions");
    json_begin_array(j);
    for (size_t i = 0; i < items.count; i++) {
        struct str emoji = json_member_get_raw_text(reactions[i], "emoji");

        json_begin_object(j);
        json_write_name(j, "emoji");
        json_begin_object(j);
        if (json_member_get_id(emoji, "id"))
            write_renamed_json_member(j, "id", emoji, "id");
        write_renamed_json_member(j, "name", emoji, "name");
        json_end_object(j);
        json_end_object(j);
    }
    json_end_array(j);
    json_write_name(j, "reaction_users");
    json_begin_array(j);
    for (size_t i = 0; i < items.count; i++)
        write_chat_users(j, arena, json_member_get_raw_text(reactions[i], "users"));
    json_end_array(j);
}

static void append_chat_message(struct chat_export *x, struct arena *arena, struct str message)
{
    struct json_writer j = json_writer_to_buf(&x->lines);
    struct list embeds = json_array_get_items(arena, json_member_get_raw_text(message, "embeds"));
    struct str reference = json_member_get_raw_text(message, "reference");

    json_begin_object(&j);
    write_renamed_json_member(&j, "id", message, "id");
    json_write_name(&j, "type");
    json_write_int(&j, find_number(message_kinds, json_member_get_text(arena, message, "type"), 0));
    write_renamed_json_member(&j, "content", message, "content");
    write_renamed_json_member(&j, "edited_timestamp", message, "timestampEdited");
    write_renamed_json_member(&j, "pinned", message, "isPinned");
    json_write_name(&j, "author");
    write_chat_user(&j, json_member_get_raw_text(message, "author"));
    write_chat_attachments(x, arena, &j, message);
    json_write_name(&j, "embeds");
    json_begin_array(&j);
    for (size_t i = 0; i < embeds.count; i++)
        write_chat_embed(&j, arena, ((struct str *)embeds.items)[i]);
    json_end_array(&j);
    json_write_name(&j, "mentions");
    write_chat_users(&j, arena, json_member_get_raw_text(message, "mentions"));
    if (json_member_get_id(reference, "messageId")) {
        json_write_name(&j, "message_reference");
        json_begin_object(&j);
        write_renamed_json_member(&j, "message_id", reference, "messageId");
        write_renamed_json_member(&j, "channel_id", reference, "channelId");
        write_renamed_json_member(&j, "guild_id", reference, "guildId");
        json_end_object(&j);
    }
    write_chat_reactions(&j, arena, message);
    json_end_object(&j);
    buf_add_char(&x->lines, '\n');
}

static void convert_exported_messages(struct chat_export *x, struct json_reader *r)
{
    struct arena *arena = arena_new();
    snowflake before = 0;
    struct str message;

    json_enter_container(r);
    while (!x->failed && json_next_item(r) && json_skip_value(r, &message)) {
        snowflake id = json_member_get_id(message, "id");

        x->is_reversed |= id <= before;
        x->failed |= x->is_reversed;
        before = id;
        if (id <= x->list.last || x->failed) { /* an earlier export had it */
            x->skipped++;
            continue;
        }
        append_chat_message(x, arena, message);
        x->count++;
        x->failed |= !guild_archive_line_file_append(&x->list, buf_as_str(&x->lines));
        x->list.last = id;
        buf_reset(&x->lines);
        arena_reset(arena);
    }
    arena_free(arena);
}

/* --- guild and channel ------------------------------------------------------------- */

struct line_search {
    snowflake id;
    bool found;
};

static bool find_line_with_id(void *arg, struct str line, int64_t next_offset, struct arena *arena)
{
    struct line_search *s = arg;

    (void)next_offset, (void)arena;
    s->found = json_member_get_id(line, "id") == s->id;
    return !s->found;
}

/* Appends a line to a short list unless it has the id already. */
static void append_line_unless_id_exists(struct chat_export *x, const char *file, snowflake id,
                                         struct str line)
{
    struct line_search search = { .id = id };
    struct guild_archive_line_file list;

    guild_archive_for_each_line(x->archive, file, 0, find_line_with_id, &search);
    if (search.found)
        return;
    if (!guild_archive_line_file_open(x->archive, file, "id", &list) ||
        !guild_archive_line_file_append(&list, line))
        x->failed = true;
    guild_archive_line_file_close(&list);
}

static void add_channel_line(struct chat_export *x, const char *file, struct str id, int64_t type,
                             struct str name, struct str parent, struct str topic)
{
    struct json_writer j = json_writer_to_buf(&x->lines);
    int64_t number = 0;

    if (!json_parse_int_text(id, &number) || !number)
        return;
    buf_reset(&x->lines);
    json_begin_object(&j);
    json_write_name(&j, "id");
    json_write_raw(&j, id);
    json_write_name(&j, "type");
    json_write_int(&j, type);
    json_write_name(&j, "name");
    json_write_raw(&j, name.n > 2 ? name : STR("\"unnamed\""));
    json_write_name(&j, "parent_id");
    json_write_raw(&j, parent);
    json_write_name(&j, "topic");
    json_write_raw(&j, topic);
    json_end_object(&j);
    buf_add_char(&x->lines, '\n');
    append_line_unless_id_exists(x, file, (snowflake)number, buf_as_str(&x->lines));
    buf_reset(&x->lines);
}

/* Adds the guild, the channel and its parent. The export does not contain the owner: the author of
 * the first message becomes the owner, until the operator names another one. */
static void add_guild_and_channel(struct chat_export *x, struct arena *arena, struct str first)
{
    struct json_writer j = json_writer_to_buf(&x->lines);
    int64_t type =
        find_number(channel_kinds, json_member_get_text(arena, x->channel, "type"), CHANNEL_TEXT);
    struct str parent = json_member_get_raw_text(x->channel, "categoryId"),
               parent_name = json_member_get_raw_text(x->channel, "category");
    bool thread = channel_is_thread(type);

    json_begin_object(&j);
    write_renamed_json_member(&j, "id", x->guild, "id");
    write_renamed_json_member(&j, "name", x->guild, "name");
    write_renamed_json_member(&j, "owner_id", json_member_get_raw_text(first, "author"), "id");
    json_end_object(&j);
    buf_add_char(&x->lines, '\n');
    append_line_unless_id_exists(x, "guild.jsonl", json_member_get_id(x->guild, "id"),
                                 buf_as_str(&x->lines));
    add_channel_line(x, "channels.jsonl", parent, thread ? CHANNEL_TEXT : CHANNEL_CATEGORY,
                     parent_name, (struct str){ 0 }, (struct str){ 0 });
    add_channel_line(x, thread ? "active_threads.jsonl" : "channels.jsonl",
                     json_member_get_raw_text(x->channel, "id"), type,
                     json_member_get_raw_text(x->channel, "name"), parent,
                     json_member_get_raw_text(x->channel, "topic"));
}

snowflake chat_export_read_guild_id(const char *path)
{
    snowflake id = 0;
    struct str text;

    if (map_world_file_into_memory(path, &text)) {
        id = json_member_get_id(json_member_get_raw_text(text, "guild"), "id");
        unmap_world_file(text);
    }
    if (!id)
        fprintf(stderr,
                "guildhall: '%s' is not a JSON export of a guild's channel: it has no guild\n",
                path);
    return id;
}

/* Returns the first message of the export, whose author becomes the owner of a new guild. */
static struct str find_first_message_of_chat_export(struct arena *arena, struct str messages)
{
    struct json_reader r;
    struct str first = { 0 };

    json_reader_init(&r, messages, arena);
    if (messages.n && json_peek_kind(&r) == JSON_ARRAY) {
        json_enter_container(&r);
        if (json_next_item(&r))
            json_skip_value(&r, &first);
    }
    return first;
}

bool chat_export_convert_to_archive(struct guild_archive *archive, const char *path)
{
    struct chat_export x = { .archive = archive, .path = path, .list.fd = -1 };
    struct arena *arena = arena_new();
    struct json_reader r;
    struct str text;
    char name[100];

    if (!map_world_file_into_memory(path, &text)) {
        fprintf(stderr, "guildhall: cannot read '%s'\n", path);
        arena_free(arena);
        return false;
    }
    buf_init(&x.lines, SIZE_MAX);
    x.guild = json_member_get_raw_text(text, "guild");
    x.channel = json_member_get_raw_text(text, "channel");
    struct str messages = json_member_get_raw_text(text, "messages"),
               first = find_first_message_of_chat_export(arena, messages);
    snprintf(name, sizeof name, "messages/%" PRIu64 ".jsonl", json_member_get_id(x.channel, "id"));
    if (first.n) {
        add_guild_and_channel(&x, arena, first);
        x.failed |= !guild_archive_line_file_open(archive, name, "id", &x.list);
        json_reader_init(&r, messages, arena);
        r.values_max = UINT_MAX;
        if (!x.failed && json_peek_kind(&r) == JSON_ARRAY)
            convert_exported_messages(&x, &r);
    }
    if (x.is_reversed)
        fprintf(stderr, "guildhall: '%s' is not ordered by time; export it oldest first\n", path);
    printf("%s: %lld messages, %lld known\n", path, (long long)x.count, (long long)x.skipped);
    guild_archive_line_file_close(&x.list);
    buf_clear(&x.lines);
    unmap_world_file(text);
    arena_free(arena);
    return !x.failed;
}
