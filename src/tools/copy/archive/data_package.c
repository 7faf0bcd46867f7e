/* data_package.c - converts the messages of a personal data package to lines of an archive.
 *
 * A package is a folder with account/user.json and two files for each channel in which the person
 * wrote: messages/cID/channel.json and messages/cID/messages.json. In newer packages the names of
 * folders begin with capital letters. A package has only messages of this person, and no
 * attachments. */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/channel.h"
#include "platform/worlds/import_export.h"
#include "tools/copy/archive/archive.h"
#include "tools/copy/archive/json_members.h"

struct package_message {
    snowflake id;
    struct str object;
};

struct data_package {
    struct guild_archive *archive; /* archive to write to; NULL if the guilds are only counted */
    snowflake guild;
    struct str user; /* object of the person */
    struct arena *arena;
    struct buf channels, guild_line;
    struct map counts;  /* id of a guild to struct guild_count */
    struct list guilds; /* struct guild_count pointers, in the order in which they were found */
    int64_t channel_count, message_count;
    bool failed;
};
struct guild_count {
    snowflake id;
    struct str name;
    int64_t channels, messages;
};

/* Maps a file into memory. It is in one of two folders, whose names differ only in the case of the
 * first letter. */
static bool map_package_file(const char *folder, const char *name, struct str *ret)
{
    char path[1300];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (map_world_file_into_memory(path, ret))
        return true;
    snprintf(path, sizeof path, "%s/%c%s", folder, name[0] - 'a' + 'A', name + 1);
    return map_world_file_into_memory(path, ret);
}

static DIR *open_messages_folder(const char *folder, char ret[1300])
{
    snprintf(ret, 1300, "%s/messages", folder);
    DIR *d = opendir(ret);
    if (d)
        return d;
    snprintf(ret, 1300, "%s/Messages", folder);
    return opendir(ret);
}

bool path_is_data_package_folder(const char *path)
{
    char folder[1300];
    DIR *d = open_messages_folder(path, folder);

    if (d)
        closedir(d);
    return d;
}

/* --- messages ------------------------------------------------------------------------------ */

static int compare_message_ids(const void *a, const void *b)
{
    snowflake x = ((const struct package_message *)a)->id,
              y = ((const struct package_message *)b)->id;

    return x < y ? -1 : x > y;
}

static struct list read_package_messages(struct arena *arena, struct str text)
{
    struct list items = json_array_get_items(arena, text), found = { 0 };

    for (size_t i = 0; i < items.count; i++) {
        struct str object = ((struct str *)items.items)[i];
        snowflake id = json_member_get_id(object, "ID");

        if (id)
            *(struct package_message *)list_append(arena, &found, sizeof(struct package_message)) =
                (struct package_message){ id, object };
    }
    if (found.count)
        qsort(found.items, found.count, sizeof(struct package_message), compare_message_ids);
    return found;
}

/* Appends a message. The package has no attachments, so a message without text is skipped. */
static void append_package_message(struct data_package *p, struct arena *arena, struct buf *lines,
                                   const struct package_message *m)
{
    struct json_writer j = json_writer_to_buf(lines);
    struct str content = json_member_get_text(arena, m->object, "Contents");
    char what[100];

    if (json_member_get_text(arena, m->object, "Attachments").n || !content.n) {
        snprintf(what, sizeof what, "%s %" PRIu64, content.n ? "files of message" : "message",
                 m->id);
        guild_archive_add_report_line(p->archive, what, "a data package contains no files");
    }
    if (!content.n)
        return;
    json_begin_object(&j);
    json_write_name(&j, "id");
    json_write_id(&j, m->id);
    json_write_name(&j, "type");
    json_write_int(&j, 0);
    json_write_name(&j, "content");
    json_write_text(&j, content);
    json_write_name(&j, "author");
    json_write_raw(&j, p->user);
    json_end_object(&j);
    buf_add_char(lines, '\n');
    p->message_count++;
}

static void convert_package_messages(struct data_package *p, snowflake channel, struct str text)
{
    struct arena *arena = arena_new();
    struct list messages = read_package_messages(arena, text);
    const struct package_message *m = messages.items;
    struct buf lines;
    char name[100];

    buf_init(&lines, SIZE_MAX);
    for (size_t i = 0; i < messages.count; i++)
        if (i == 0 || m[i].id != m[i - 1].id)
            append_package_message(p, arena, &lines, &m[i]);
    snprintf(name, sizeof name, "messages/%" PRIu64 ".jsonl", channel);
    p->failed |= !guild_archive_write_lines(p->archive, name, buf_as_str(&lines));
    buf_clear(&lines);
    arena_free(arena);
}

/* --- channels ------------------------------------------------------------------------------ */

/* Returns the type of a channel, which is a word in newer packages and a number in older ones. */
static int64_t parse_package_channel_type(struct arena *arena, struct str channel)
{
    static const struct {
        const char *word;
        int64_t type;
    } rows[] = {
        { "GUILD_VOICE", CHANNEL_VOICE },
        { "GUILD_NEWS", CHANNEL_ANNOUNCEMENT },
        { "GUILD_ANNOUNCEMENT", CHANNEL_ANNOUNCEMENT },
        { "GUILD_STAGE_VOICE", CHANNEL_STAGE },
        { "PUBLIC_THREAD", CHANNEL_THREAD },
        { "PRIVATE_THREAD", CHANNEL_PRIVATE_THREAD },
        { "NEWS_THREAD", CHANNEL_ANNOUNCEMENT_THREAD },
        { "ANNOUNCEMENT_THREAD", CHANNEL_ANNOUNCEMENT_THREAD },
    };
    struct str word = json_member_get_text(arena, channel, "type");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(word, rows[i].word))
            return rows[i].type;
    return json_member_int(channel, "type");
}

static void append_package_channel(struct data_package *p, struct str channel)
{
    struct json_writer j = json_writer_to_buf(&p->channels);
    struct str name = json_member_get_raw_text(channel, "name");

    json_begin_object(&j);
    json_write_name(&j, "id");
    json_write_id(&j, json_member_get_id(channel, "id"));
    json_write_name(&j, "type");
    json_write_int(&j, parse_package_channel_type(p->arena, channel));
    json_write_name(&j, "name");
    json_write_raw(&j, name.n > 2 ? name : STR("\"unnamed\""));
    json_end_object(&j);
    buf_add_char(&p->channels, '\n');
}

static void write_guild_line(struct data_package *p, struct str guild)
{
    struct json_writer j = json_writer_to_buf(&p->guild_line);
    struct str name = json_member_get_raw_text(guild, "name");

    if (p->guild_line.n)
        return;
    json_begin_object(&j);
    json_write_name(&j, "id");
    json_write_id(&j, p->guild);
    json_write_name(&j, "name");
    json_write_raw(&j, name.n > 2 ? name : STR("\"unnamed\""));
    json_write_name(&j, "owner_id");
    json_write_raw(&j, json_member_get_raw_text(p->user, "id"));
    json_end_object(&j);
    buf_add_char(&p->guild_line, '\n');
}

static void count_package_channel(struct data_package *p, struct str guild, struct str text)
{
    snowflake id = json_member_get_id(guild, "id");
    struct guild_count *count = map_find_value(&p->counts, id);
    struct arena *arena = arena_new();

    if (!count) {
        count = arena_alloc(p->arena, sizeof *count);
        *count = (struct guild_count){
            .id = id, .name = str_dup(p->arena, json_member_get_text(arena, guild, "name"))
        };
        map_set_value(&p->counts, id, count);
        *(struct guild_count **)list_append(p->arena, &p->guilds, sizeof count) = count;
    }
    count->channels++;
    count->messages += (int64_t)read_package_messages(arena, text).count;
    arena_free(arena);
}

/* Converts the messages in the folder of a channel. Direct messages belong to no guild and are
 * skipped. */
static void read_package_channel(struct data_package *p, const char *folder)
{
    struct str channel = { 0 }, messages = { 0 };
    char path[2048];

    snprintf(path, sizeof path, "%s/channel.json", folder);
    if (!map_world_file_into_memory(path, &channel))
        return;
    snprintf(path, sizeof path, "%s/messages.json", folder);
    struct str guild = json_member_get_raw_text(channel, "guild");
    snowflake id = json_member_get_id(guild, "id"), channel_id = json_member_get_id(channel, "id");
    if (id && channel_id && (!p->archive || id == p->guild)) {
        if (!map_world_file_into_memory(path, &messages)) {
            fprintf(stderr,
                    "guildhall: '%s' has no messages.json; request a new package, because older "
                    "ones have another format\n",
                    folder);
            p->failed = true;
        } else if (p->archive) {
            write_guild_line(p, guild);
            append_package_channel(p, channel);
            convert_package_messages(p, channel_id, messages);
            p->channel_count++;
        } else {
            count_package_channel(p, guild, messages);
        }
        unmap_world_file(messages);
    }
    unmap_world_file(channel);
}

/* Reads the person's account. Private fields, such as the email address, are not copied. */
static bool read_package_user(struct data_package *p, const char *folder)
{
    static const char *const names[] = { "id", "username", "global_name" };
    struct buf user;
    struct json_writer j = json_writer_to_buf(&user);
    struct str text;

    if (!map_package_file(folder, "account/user.json", &text)) {
        fprintf(stderr, "guildhall: '%s' is not a data package: it has no account/user.json\n",
                folder);
        return false;
    }
    buf_init(&user, 4096);
    json_begin_object(&j);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_member_get_raw_text(text, names[i]).n) {
            json_write_key(&j, str_of(names[i]));
            json_write_raw(&j, json_member_get_raw_text(text, names[i]));
        }
    json_end_object(&j);
    p->user = str_dup(p->arena, buf_as_str(&user));
    buf_clear(&user);
    unmap_world_file(text);
    if (!json_member_get_id(p->user, "id"))
        fprintf(stderr, "guildhall: the account/user.json of '%s' has no id\n", folder);
    return json_member_get_id(p->user, "id");
}

snowflake data_package_read_user_id(const char *folder)
{
    struct data_package p = { .arena = arena_new() };
    snowflake id = read_package_user(&p, folder) ? json_member_get_id(p.user, "id") : 0;

    arena_free(p.arena);
    return id;
}

static void print_package_guilds(const struct data_package *p)
{
    struct guild_count *const *guilds = p->guilds.items;

    for (size_t i = 0; i < p->guilds.count; i++)
        printf("%-20" PRIu64 " %6lld messages in %4lld channels  %.*s\n", guilds[i]->id,
               (long long)guilds[i]->messages, (long long)guilds[i]->channels,
               STR_ARGS(guilds[i]->name));
}

/* Reads the folders of all channels. If there is an archive, writes their messages to it. */
static bool read_all_package_channels(struct data_package *p, const char *folder)
{
    char messages[1300], path[1600];
    struct dirent *entry;

    p->arena = arena_new();
    map_init(&p->counts);
    buf_init(&p->channels, SIZE_MAX);
    buf_init(&p->guild_line, SIZE_MAX);
    DIR *d = open_messages_folder(folder, messages);
    p->failed = !d || !read_package_user(p, folder);
    while (!p->failed && (entry = readdir(d))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", messages, entry->d_name);
        read_package_channel(p, path);
    }
    if (d)
        closedir(d);
    if (!p->failed && p->archive && !p->guild_line.n) {
        fprintf(stderr, "guildhall: the package has no messages of this guild; --dry-run lists "
                        "the guilds that it has\n");
        p->failed = true;
    }
    if (!p->failed && p->archive)
        p->failed =
            !guild_archive_write_lines(p->archive, "channels.jsonl", buf_as_str(&p->channels)) ||
            !guild_archive_write_lines(p->archive, "guild.jsonl", buf_as_str(&p->guild_line));
    if (!p->failed && !p->archive)
        print_package_guilds(p);
    buf_clear(&p->channels);
    buf_clear(&p->guild_line);
    map_clear(&p->counts);
    arena_free(p->arena);
    return !p->failed;
}

bool data_package_print_guilds(const char *folder)
{
    struct data_package p = { 0 };

    return read_all_package_channels(&p, folder);
}

bool data_package_convert_to_archive(struct guild_archive *archive, const char *folder,
                                     snowflake guild)
{
    struct data_package p = { .archive = archive, .guild = guild };
    bool ok = read_all_package_channels(&p, folder);

    if (ok)
        printf("%s: %lld messages of %lld channels\n", folder, (long long)p.message_count,
               (long long)p.channel_count);
    return ok;
}
