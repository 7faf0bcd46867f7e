/* download.c - fills an archive: lists of the guild, then messages and files. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "model/channel.h"
#include "platform/worlds/import_export.h"
#include "tools/copy/download/internal.h"
#include "tools/progress.h"

enum { MAX_WORKERS = 32, MEMBERS_PER_PAGE = 1000 };

static struct progress_output progress_meter;

/* --- steps ------------------------------------------------------------------------------- */

bool guild_download_is_stopped(struct guild_download *d)
{
    pthread_mutex_lock(&d->lock);
    bool stopped = d->stopped;
    pthread_mutex_unlock(&d->lock);
    return stopped;
}

/* Ends a step: refused objects are reported, failed steps are left to the next run. */
static enum guild_copy_result finish_download_step(struct guild_download *d,
                                                   const struct source_server_connection *c,
                                                   const char *step, enum guild_copy_result result)
{
    if (result == COPY_OK || result == COPY_REFUSED) {
        if (result == COPY_REFUSED)
            guild_archive_add_report_line(d->archive, step, c->reason);
        return guild_archive_mark_download_step_done(d->archive, step) ? COPY_OK : COPY_STOPPED;
    }
    guild_archive_add_report_line(d->archive, step, c->reason);
    pthread_mutex_lock(&d->lock);
    d->incomplete = true;
    d->stopped |= result == COPY_STOPPED;
    pthread_mutex_unlock(&d->lock);
    return result == COPY_STOPPED ? COPY_STOPPED : COPY_OK;
}

/* Appends JSON text as one line: white space between tokens is removed. */
static void append_line_of_object(struct buf *out, struct str json)
{
    bool quoted = false;

    for (size_t i = 0; i < json.n; i++) {
        char c = json.p[i];

        if (quoted && c == '\\') {
            buf_add(out, json.p + i++, 2);
            continue;
        }
        quoted ^= c == '"';
        if (quoted || (c != ' ' && c != '\n' && c != '\r' && c != '\t'))
            buf_add_char(out, c);
    }
    buf_add_char(out, '\n');
}

static size_t append_lines_of_array(struct buf *out, struct str array, bool reversed)
{
    struct arena *arena = arena_new();
    struct list items = json_array_get_items(arena, array);
    const struct str *item = items.items;

    for (size_t i = 0; i < items.count; i++)
        append_line_of_object(out, item[reversed ? items.count - 1 - i : i]);
    arena_free(arena);
    return items.count;
}

/* --- lists that one request returns ---------------------------------------------------------- */

/* Lists of a guild that one request returns. `array` is the field of the response with the array;
 * "" if the response is the array itself, NULL if the response is a single object. */
static const struct guild_list {
    const char *name, *path, *array;
} guild_lists[] = {
    { "guild", "/guilds/%" PRIu64 "?with_counts=true", NULL },
    { "channels", "/guilds/%" PRIu64 "/channels", "" },
    { "active_threads", "/guilds/%" PRIu64 "/threads/active", "threads" },
    { "emojis", "/guilds/%" PRIu64 "/emojis", "" },
    { "stickers", "/guilds/%" PRIu64 "/stickers", "" },
    { "sounds", "/guilds/%" PRIu64 "/soundboard-sounds", "items" },
    { "scheduled_events", "/guilds/%" PRIu64 "/scheduled-events", "" },
    { "automod", "/guilds/%" PRIu64 "/auto-moderation/rules", "" },
    { "webhooks", "/guilds/%" PRIu64 "/webhooks", "" },
    { "invites", "/guilds/%" PRIu64 "/invites", "" },
    { "welcome_screen", "/guilds/%" PRIu64 "/welcome-screen", NULL },
    { "onboarding", "/guilds/%" PRIu64 "/onboarding", NULL },
    { "widget", "/guilds/%" PRIu64 "/widget", NULL },
};

static enum guild_copy_result download_list_of_guild(struct guild_download *d,
                                                     struct source_server_connection *c,
                                                     const char *name, const char *path,
                                                     const char *array)
{
    struct buf body, lines;
    char file[200];

    buf_init(&body, SIZE_MAX);
    buf_init(&lines, SIZE_MAX);
    enum guild_copy_result result =
        source_server_connection_send_request(c, "GET", path, (struct str){ 0 }, &body);
    if (result == COPY_OK) {
        if (array)
            append_lines_of_array(&lines,
                                  *array ? json_member_get_raw_text(buf_as_str(&body), array)
                                         : buf_as_str(&body),
                                  false);
        else
            append_line_of_object(&lines, buf_as_str(&body));
        snprintf(file, sizeof file, "%s.jsonl", name);
        if (!guild_archive_write_lines(d->archive, file, buf_as_str(&lines)))
            result = COPY_STOPPED;
    }
    buf_clear(&body);
    buf_clear(&lines);
    return result;
}

/* Reads pages of objects that have a user, ordered by the user's id. If the list comes from an
 * earlier download that was completed, it is replaced; if that download was interrupted, the list
 * continues. */
static enum guild_copy_result download_user_pages(struct guild_download *d,
                                                  struct source_server_connection *c,
                                                  const char *name, const char *path_format)
{
    struct guild_archive_line_file list;
    enum guild_copy_result result;
    char file[200], begun[200], path[300];
    struct buf body, lines;
    size_t n;

    snprintf(file, sizeof file, "%s.jsonl", name);
    snprintf(begun, sizeof begun, "begin %s", name);
    if (!guild_archive_download_step_is_done(d->archive, begun) &&
        !(guild_archive_write_lines(d->archive, file, (struct str){ 0 }) &&
          guild_archive_mark_download_step_done(d->archive, begun)))
        return COPY_STOPPED;
    if (!guild_archive_line_file_open(d->archive, file, "user", &list))
        return COPY_STOPPED;
    buf_init(&body, SIZE_MAX);
    buf_init(&lines, SIZE_MAX);
    do {
        n = 0;
        snprintf(path, sizeof path, path_format, d->options->guild, MEMBERS_PER_PAGE, list.last);
        result = source_server_connection_send_request(c, "GET", path, (struct str){ 0 }, &body);
        if (result != COPY_OK)
            break;
        buf_reset(&lines);
        n = append_lines_of_array(&lines, buf_as_str(&body), false);
        snowflake before = list.last;
        if (n && !guild_archive_line_file_append(&list, buf_as_str(&lines)))
            result = COPY_STOPPED;
        guild_archive_line_file_close(&list);
        if (!guild_archive_line_file_open(d->archive, file, "user", &list))
            result = COPY_STOPPED;
        if (n && list.last <= before) /* the server ignores "after" */
            n = 0;
    } while (result == COPY_OK && n >= MEMBERS_PER_PAGE);
    buf_clear(&body);
    buf_clear(&lines);
    guild_archive_line_file_close(&list);
    return result;
}

static const struct user_list {
    const char *name, *path;
} user_lists[] = {
    { "members", "/guilds/%" PRIu64 "/members?limit=%d&after=%" PRIu64 },
    { "bans", "/guilds/%" PRIu64 "/bans?limit=%d&after=%" PRIu64 },
};

static enum guild_copy_result download_all_lists_of_guild(struct guild_download *d,
                                                          struct source_server_connection *c)
{
    enum guild_copy_result result = COPY_OK;
    char path[300];

    for (size_t i = 0; i < COUNT_OF(guild_lists) && result == COPY_OK; i++) {
        if (guild_archive_download_step_is_done(d->archive, guild_lists[i].name))
            continue;
        snprintf(path, sizeof path, guild_lists[i].path, d->options->guild);
        result = download_list_of_guild(d, c, guild_lists[i].name, path, guild_lists[i].array);
        if (i < 2 && result != COPY_OK) { /* nothing can be copied without these */
            fprintf(stderr, "guildhall: cannot read the guild: %s\n", c->reason);
            return COPY_STOPPED;
        }
        if (result == COPY_REFUSED && !guild_lists[i].array && c->status == 404)
            result = COPY_OK; /* the guild does not use this feature */
        result = finish_download_step(d, c, guild_lists[i].name, result);
    }
    for (size_t i = 0; i < COUNT_OF(user_lists) && d->options->people && result == COPY_OK; i++)
        if (!guild_archive_download_step_is_done(d->archive, user_lists[i].name))
            result = finish_download_step(
                d, c, user_lists[i].name,
                download_user_pages(d, c, user_lists[i].name, user_lists[i].path));
    return result;
}

/* --- archived threads -------------------------------------------------------------- */

/* Reads all pages of a list of archived Discord threads, newest first. If the download is
 * interrupted, it reads the whole list again, because the list is short compared with the
 * messages. */
static enum guild_copy_result download_archived_threads(struct guild_download *d,
                                                        struct source_server_connection *c,
                                                        snowflake channel, const char *kind)
{
    char name[100], file[120], path[400], before[80] = "", last_before[80];
    enum guild_copy_result result;
    struct buf body, lines;
    bool more;

    snprintf(name, sizeof name, "archived_threads/%" PRIu64 ".%s", channel, kind);
    if (guild_archive_download_step_is_done(d->archive, name))
        return COPY_OK;
    buf_init(&body, SIZE_MAX);
    buf_init(&lines, SIZE_MAX);
    do {
        struct arena *arena = arena_new_small();

        snprintf(path, sizeof path, "/channels/%" PRIu64 "/threads/archived/%s?limit=100%s%s",
                 channel, kind, *before ? "&before=" : "", before);
        result = source_server_connection_send_request(c, "GET", path, (struct str){ 0 }, &body);
        more = false;
        if (result == COPY_OK) {
            struct str threads = json_member_get_raw_text(buf_as_str(&body), "threads");
            struct list items = json_array_get_items(arena, threads);

            append_lines_of_array(&lines, threads, false);
            more = items.count && json_member_is_true(buf_as_str(&body), "has_more");
            if (more) {
                struct str last = ((struct str *)items.items)[items.count - 1];
                struct str time = json_member_get_text(
                    arena, json_member_get_raw_text(last, "thread_metadata"), "archive_timestamp");

                snprintf(last_before, sizeof last_before, "%s", before);
                snprintf(before, sizeof before, "%.*s", STR_ARGS(str_percent_encode(arena, time)));
                more = strcmp(before, last_before) != 0; /* else the server ignores "before" */
            }
        }
        arena_free(arena);
    } while (more);
    snprintf(file, sizeof file, "%s.jsonl", name);
    if (result == COPY_OK && !guild_archive_write_lines(d->archive, file, buf_as_str(&lines)))
        result = COPY_STOPPED;
    buf_clear(&body);
    buf_clear(&lines);
    return finish_download_step(d, c, name, result);
}

/* --- tasks in parallel ------------------------------------------------------------- */

typedef enum guild_copy_result channel_task(struct guild_download *d,
                                            struct source_server_connection *c,
                                            struct downloaded_channel *channel);
struct worker {
    struct guild_download *download;
    channel_task *task;
    struct source_server_connection connection;
    pthread_t thread;
    bool runs;
};

static void *run_download_tasks(void *arg)
{
    struct worker *w = arg;
    struct guild_download *d = w->download;

    for (;;) {
        pthread_mutex_lock(&d->lock);
        size_t i = d->next_task++;
        bool over = d->stopped || i >= d->channels.count;
        pthread_mutex_unlock(&d->lock);
        if (over)
            return NULL;
        w->task(d, &w->connection, &((struct downloaded_channel *)d->channels.items)[i]);
    }
}

/* Calls `task` for each channel, on several OS threads. */
static void for_each_channel(struct guild_download *d, channel_task *task)
{
    struct worker workers[MAX_WORKERS] = { 0 };
    size_t count = (size_t)d->options->workers;

    d->next_task = 0;
    for (size_t i = 0; i < count; i++) {
        struct worker *w = &workers[i];

        w->download = d;
        w->task = task;
        w->runs = source_server_connection_open(&w->connection, d->source) &&
                  pthread_create(&w->thread, NULL, run_download_tasks, w) == 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (workers[i].runs)
            pthread_join(workers[i].thread, NULL);
        source_server_connection_close(&workers[i].connection);
    }
}

static bool channel_may_have_threads(int64_t type)
{
    return type == CHANNEL_TEXT || type == CHANNEL_ANNOUNCEMENT || type == CHANNEL_FORUM ||
           type == CHANNEL_MEDIA;
}

static enum guild_copy_result download_archived_threads_task(struct guild_download *d,
                                                             struct source_server_connection *c,
                                                             struct downloaded_channel *channel)
{
    enum guild_copy_result result = COPY_OK;

    if (channel_may_have_threads(channel->type))
        result = download_archived_threads(d, c, channel->id, "public");
    if (result == COPY_OK && channel->type == CHANNEL_TEXT)
        result = download_archived_threads(d, c, channel->id, "private");
    return result;
}

/* Marks the channel as completely read, and prints the progress over all channels. */
static void print_download_progress(struct guild_download *d, struct downloaded_channel *finished)
{
    pthread_mutex_lock(&d->lock);
    finished->progress = 1;
    struct downloaded_channel *channels = d->channels.items;
    double sum = 0;
    for (size_t i = 0; i < d->channels.count; i++)
        sum += channels[i].progress;
    /* The source server does not state how many messages there are. So the total is estimated from
     * the times of the messages that were read. */
    double share = d->channels.count ? sum / (double)d->channels.count : 1;
    int64_t total = share > 0.001 ? (int64_t)((double)d->message_count / share) : 0;
    if (total)
        progress_print(&progress_meter, "messages", d->message_count, total);
    pthread_mutex_unlock(&d->lock);
}

static enum guild_copy_result download_messages_task(struct guild_download *d,
                                                     struct source_server_connection *c,
                                                     struct downloaded_channel *channel)
{
    char step[100], path[200];
    enum guild_copy_result result = COPY_OK;

    snprintf(step, sizeof step, "thread_members/%" PRIu64, channel->id);
    if (channel_is_thread(channel->type) && d->options->people &&
        !guild_archive_download_step_is_done(d->archive, step)) {
        snprintf(path, sizeof path, "/channels/%" PRIu64 "/thread-members", channel->id);
        result = finish_download_step(d, c, step, download_list_of_guild(d, c, step, path, ""));
    }
    snprintf(step, sizeof step, "messages/%" PRIu64, channel->id);
    if (result == COPY_OK && channel->type != CHANNEL_CATEGORY && channel->type != CHANNEL_FORUM &&
        channel->type != CHANNEL_MEDIA && !guild_archive_download_step_is_done(d->archive, step))
        result = finish_download_step(d, c, step, download_channel_messages(d, c, channel));
    print_download_progress(d, channel);
    return result;
}

/* --- the channels ------------------------------------------------------------------ */

struct channel_reader {
    struct guild_download *download;
    struct map seen;
};

static bool add_channel_line(void *arg, struct str line, int64_t next_offset, struct arena *arena)
{
    struct channel_reader *r = arg;
    snowflake id = json_member_get_id(line, "id");
    int64_t last_pin_at = 0;

    (void)next_offset;
    if (!id || map_set_value(&r->seen, id, r))
        return true;
    timestamp_parse(json_member_get_text(arena, line, "last_pin_timestamp"), &last_pin_at);
    *(struct downloaded_channel *)list_append(r->download->archive->names, &r->download->channels,
                                              sizeof(struct downloaded_channel)) =
        (struct downloaded_channel){ .id = id,
                                     .type = json_member_int(line, "type"),
                                     .last_message_id = json_member_get_id(line, "last_message_id"),
                                     .last_pin_at = last_pin_at };
    return true;
}

/* Lists the channels that the archive has. If `threads` is set, lists its Discord threads as
 * well. */
static void read_channels_of_archive(struct guild_download *d, bool threads)
{
    struct channel_reader r = { .download = d };
    char name[100];

    map_init(&r.seen);
    d->channels = (struct list){ 0 };
    guild_archive_for_each_line(d->archive, "channels.jsonl", 0, add_channel_line, &r);
    size_t parents = d->channels.count;
    if (threads)
        guild_archive_for_each_line(d->archive, "active_threads.jsonl", 0, add_channel_line, &r);
    for (size_t i = 0; threads && i < parents; i++) {
        snowflake id = ((struct downloaded_channel *)d->channels.items)[i].id;

        snprintf(name, sizeof name, "archived_threads/%" PRIu64 ".public.jsonl", id);
        guild_archive_for_each_line(d->archive, name, 0, add_channel_line, &r);
        snprintf(name, sizeof name, "archived_threads/%" PRIu64 ".private.jsonl", id);
        guild_archive_for_each_line(d->archive, name, 0, add_channel_line, &r);
    }
    map_clear(&r.seen);
}

/* --- users of scheduled events ----------------------------------------------------- */

struct event_reader {
    struct guild_download *download;
    struct source_server_connection *connection;
    enum guild_copy_result result;
};

static bool download_event_users(void *arg, struct str line, int64_t next_offset,
                                 struct arena *arena)
{
    struct event_reader *r = arg;
    struct guild_download *d = r->download;
    char step[100], file[120], path[300];
    snowflake id = json_member_get_id(line, "id"), last = 0, before;
    struct buf body, lines;
    size_t n;

    (void)next_offset;
    snprintf(step, sizeof step, "scheduled_event_users/%" PRIu64, id);
    if (guild_archive_download_step_is_done(d->archive, step))
        return true;
    buf_init(&body, SIZE_MAX);
    buf_init(&lines, SIZE_MAX);
    do {
        before = last;
        n = 0;
        snprintf(path, sizeof path,
                 "/guilds/%" PRIu64 "/scheduled-events/%" PRIu64 "/users?limit=100&after=%" PRIu64,
                 d->options->guild, id, last);
        r->result = source_server_connection_send_request(r->connection, "GET", path,
                                                          (struct str){ 0 }, &body);
        if (r->result != COPY_OK)
            break;
        struct list items = json_array_get_items(arena, buf_as_str(&body));
        n = append_lines_of_array(&lines, buf_as_str(&body), false);
        if (n)
            last = json_member_get_id(
                json_member_get_raw_text(((struct str *)items.items)[items.count - 1], "user"),
                "id");
    } while (n >= 100 && last > before);
    snprintf(file, sizeof file, "%s.jsonl", step);
    if (r->result == COPY_OK && !guild_archive_write_lines(d->archive, file, buf_as_str(&lines)))
        r->result = COPY_STOPPED;
    r->result = finish_download_step(d, r->connection, step, r->result);
    buf_clear(&body);
    buf_clear(&lines);
    return r->result == COPY_OK;
}

/* --- pictures of the lists --------------------------------------------------------- */

/* A list whose objects have pictures. `member` is the field with the hash of the picture; NULL if
 * the id is enough. .of is the description of the picture for the report. */
static const struct picture_row {
    const char *list, *member;
    /* In the format string, %1$s is the id, %2$s the hash, and %3$s the guild id. */
    const char *name, *url;
    enum { OF_OBJECT, OF_ACCOUNT, OF_MEMBER, OF_ROLE } of;
} picture_rows[] = {
    { "guild", "icon", "icons/%s/%s", "/icons/%s/%s", OF_OBJECT },
    { "guild", "banner", "banners/%s/%s", "/banners/%s/%s", OF_OBJECT },
    { "guild", "splash", "splashes/%s/%s", "/splashes/%s/%s", OF_OBJECT },
    { "guild", "discovery_splash", "discovery-splashes/%s/%s", "/discovery-splashes/%s/%s",
      OF_OBJECT },
    { "guild", "icon", "role-icons/%s/%s", "/role-icons/%s/%s", OF_ROLE },
    { "emojis", NULL, "emojis/%s", "/emojis/%s", OF_OBJECT },
    { "stickers", NULL, "stickers/%s", "/stickers/%s", OF_OBJECT },
    { "sounds", NULL, "sounds/%s", "/soundboard-sounds/%s", OF_OBJECT },
    { "scheduled_events", "image", "guild-events/%s/%s", "/guild-events/%s/%s", OF_OBJECT },
    { "webhooks", "avatar", "avatars/%s/%s", "/avatars/%s/%s", OF_OBJECT },
    { "members", "avatar", "avatars/%s/%s", "/avatars/%s/%s", OF_ACCOUNT },
    { "members", "avatar", "member-avatars/%s/%s", "/guilds/%3$s/users/%1$s/avatars/%2$s",
      OF_MEMBER },
    { "members", "banner", "member-banners/%s/%s", "/guilds/%3$s/users/%1$s/banners/%2$s",
      OF_MEMBER },
};

struct picture_reader {
    struct guild_download *download;
    struct source_server_connection *connection;
    const struct picture_row *row;
    struct file_download_batch batch;
    enum guild_copy_result result;
};

static const char *choose_extension(const struct picture_row *row, struct str object,
                                    struct str hash)
{
    int64_t format = json_member_int(object, "format_type");

    if (str_is(str_of(row->list), "sounds"))
        return "";
    if (str_starts_with(hash, STR("a_")) || json_member_is_true(object, "animated") || format == 4)
        return ".gif";
    return format == 3 ? ".json" : ".png";
}

static bool enqueue_picture_download(struct picture_reader *r, struct str object,
                                     struct arena *arena)
{
    const struct picture_row *row = r->row;
    struct str user = json_member_get_raw_text(object, "user");
    struct str owner = row->of == OF_ACCOUNT || row->of == OF_MEMBER ? user : object;
    struct str id = json_member_get_text(
        arena, owner, json_member_get_raw_text(owner, "sound_id").n ? "sound_id" : "id");
    struct str hash =
        row->member
            ? json_member_get_text(arena, row->of == OF_MEMBER ? object : owner, row->member)
            : STR("");
    struct file_download_job job = { .batch = &r->batch };
    char guild[24];
    snowflake number;

    /* Id and hash become part of a path, so neither may contain the name of another folder. */
    if (!snowflake_parse(id, &number) || id.n > 20 ||
        (row->member && !world_file_name_is_safe(hash)))
        return true;
    char *id_text = str_dup_cstring(arena, id), *hash_text = str_dup_cstring(arena, hash);
    /* The format strings are those of the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(guild, sizeof guild, "%" PRIu64, r->download->options->guild);
    snprintf(job.name, sizeof job.name, row->name, id_text, hash_text);
    int n = snprintf(job.url, sizeof job.url, row->url, id_text, hash_text, guild);
#pragma GCC diagnostic pop
    snprintf(job.url + n, sizeof job.url - (size_t)n, "%s", choose_extension(row, owner, hash));
    download_file_queue_add(r->download, &job);
    r->result = download_file_queue_finish_batch(r->download, r->connection, &r->batch);
    return r->result == COPY_OK;
}

static bool enqueue_picture_downloads_of_line(void *arg, struct str line, int64_t next_offset,
                                              struct arena *arena)
{
    struct picture_reader *r = arg;
    struct list roles = { 0 };

    (void)next_offset;
    if (r->row->of != OF_ROLE)
        return enqueue_picture_download(r, line, arena);
    roles = json_array_get_items(arena, json_member_get_raw_text(line, "roles"));
    for (size_t i = 0; i < roles.count; i++)
        if (!enqueue_picture_download(r, ((struct str *)roles.items)[i], arena))
            return false;
    return true;
}

static enum guild_copy_result download_pictures(struct guild_download *d,
                                                struct source_server_connection *c)
{
    struct picture_reader r = { .download = d, .connection = c };
    char file[100];

    for (size_t i = 0; i < COUNT_OF(picture_rows) && r.result == COPY_OK; i++) {
        r.row = &picture_rows[i];
        snprintf(file, sizeof file, "%s.jsonl", r.row->list);
        guild_archive_for_each_line(d->archive, file, 0, enqueue_picture_downloads_of_line, &r);
    }
    return r.result;
}

/* --- the whole download ------------------------------------------------------------ */

static enum guild_copy_result download_everything(struct guild_download *d,
                                                  struct source_server_connection *c)
{
    struct event_reader events = { .download = d, .connection = c };
    enum guild_copy_result result = download_all_lists_of_guild(d, c);

    if (result != COPY_OK)
        return result;
    if (d->options->people)
        guild_archive_for_each_line(d->archive, "scheduled_events.jsonl", 0, download_event_users,
                                    &events);
    if (events.result == COPY_STOPPED)
        return COPY_STOPPED;
    read_channels_of_archive(d, false);
    for_each_channel(d, download_archived_threads_task);
    if (d->stopped)
        return COPY_STOPPED;
    read_channels_of_archive(d, true);
    for_each_channel(d, download_messages_task);
    return d->stopped ? COPY_STOPPED : download_pictures(d, c);
}

enum guild_copy_result download_guild_to_archive(struct guild_copy_source *source,
                                                 struct guild_archive *archive,
                                                 const struct guild_download_options *options)
{
    struct guild_download d = {
        .options = options, .source = source, .archive = archive, .files = download_file_queue_new()
    };
    struct source_server_connection c;
    enum guild_copy_result result = COPY_FAILED;

    pthread_mutex_init(&d.lock, NULL);
    progress_begin(&progress_meter, "copy-guild");
    if (source_server_connection_open(&c, source))
        result = download_everything(&d, &c);
    progress_end(&progress_meter);
    if (result == COPY_STOPPED)
        fprintf(stderr, "guildhall: the copy has stopped: %s; run the command again to continue\n",
                c.reason[0] ? c.reason : "see not-taken.jsonl in the archive");
    printf("read %lld messages and %lld files into '%s'\n", (long long)d.message_count,
           (long long)d.file_count, archive->folder);
    if (result == COPY_OK && d.incomplete)
        result = COPY_FAILED;
    if (result == COPY_OK && !guild_archive_clear_journal(archive))
        result = COPY_STOPPED;
    source_server_connection_close(&c);
    download_file_queue_free(d.files);
    pthread_mutex_destroy(&d.lock);
    return result;
}

/* --- estimate ---------------------------------------------------------------------- */

static int64_t count_items(struct source_server_connection *c, struct buf *body,
                           const struct guild_list *l, snowflake guild)
{
    struct arena *arena = arena_new();
    int64_t count = -1;
    char path[300];

    snprintf(path, sizeof path, l->path, guild);
    if (source_server_connection_send_request(c, "GET", path, (struct str){ 0 }, body) == COPY_OK)
        count = (int64_t)json_array_get_items(
                    arena, *l->array ? json_member_get_raw_text(buf_as_str(body), l->array)
                                     : buf_as_str(body))
                    .count;
    arena_free(arena);
    return count;
}

enum guild_copy_result print_guild_download_estimate(struct guild_copy_source *source,
                                                     const struct guild_download_options *options)
{
    struct source_server_connection c;
    struct buf body;
    char path[300];

    if (!source_server_connection_open(&c, source))
        return COPY_FAILED;
    buf_init(&body, SIZE_MAX);
    snprintf(path, sizeof path, guild_lists[0].path, options->guild);
    enum guild_copy_result result =
        source_server_connection_send_request(&c, "GET", path, (struct str){ 0 }, &body);
    if (result == COPY_OK) {
        printf("%-18s %lld\n", "members",
               (long long)json_member_int(buf_as_str(&body), "approximate_member_count"));
        for (size_t i = 1; i < COUNT_OF(guild_lists); i++) {
            int64_t count =
                guild_lists[i].array ? count_items(&c, &body, &guild_lists[i], options->guild) : 0;

            if (count < 0)
                printf("%-18s not readable: %s\n", guild_lists[i].name, c.reason);
            else if (guild_lists[i].array)
                printf("%-18s %lld\n", guild_lists[i].name, (long long)count);
        }
        snprintf(path, sizeof path, "/guilds/%" PRIu64 "/messages/search?limit=1", options->guild);
        if (source_server_connection_send_request(&c, "GET", path, (struct str){ 0 }, &body) ==
            COPY_OK) {
            int64_t total = json_member_int(buf_as_str(&body), "total_results");

            printf("%-18s %lld, at least %lld requests\n", "messages", (long long)total,
                   (long long)total / 100 + 1);
        } else {
            printf("%-18s unknown: %s\n", "messages", c.reason);
        }
        snprintf(path, sizeof path, "/guilds/%" PRIu64 "/messages/search?limit=1&has=file",
                 options->guild);
        if (source_server_connection_send_request(&c, "GET", path, (struct str){ 0 }, &body) ==
            COPY_OK)
            printf("%-18s %lld messages\n", "with files",
                   (long long)json_member_int(buf_as_str(&body), "total_results"));
    } else {
        fprintf(stderr, "guildhall: cannot read the guild: %s\n", c.reason);
    }
    buf_clear(&body);
    source_server_connection_close(&c);
    return result;
}
