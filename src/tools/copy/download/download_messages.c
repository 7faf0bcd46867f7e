/* download_messages.c - reads the messages of a channel page by page.
 *
 * A page is appended to the list of its channel after everything that belongs to its messages was
 * read: files, and users who reacted or voted. So a later run continues after the last line of the
 * list. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/timestamp.h"
#include "model/message.h"
#include "platform/worlds/import_export.h"
#include "tools/copy/download/internal.h"

enum { MESSAGES_PER_PAGE = 100, USERS_PER_PAGE = 100, MAX_USERS_PER_EMOJI = 5000 };

struct message_download {
    struct guild_download *download;
    struct source_server_connection *connection;
    snowflake channel;
    struct buf body, lines; /* response of a request; lines of the present page */
    /* Offset of the lines that the first page replaces; -1 if the first page is appended. */
    off_t read_again_from;
    enum guild_copy_result result;
};

/* --- users of reactions and of poll answers ----------------------------------------------- */

/* Appends the users that a paged list of the API returns. `array` is the field with the users; ""
 * if the response is the array. */
static void append_users_of_reaction_page(struct message_download *m, const char *path,
                                          const char *array, snowflake message)
{
    struct json_writer j = json_writer_to_buf(&m->lines);
    size_t n = 0, total = 0;
    snowflake last = 0;
    char page[900], what[200];

    json_begin_array(&j);
    do {
        struct arena *arena = arena_new_small();

        n = 0;
        snprintf(page, sizeof page, "%s%climit=%d&after=%" PRIu64, path,
                 strchr(path, '?') ? '&' : '?', USERS_PER_PAGE, last);
        m->result = source_server_connection_send_request(m->connection, "GET", page,
                                                          (struct str){ 0 }, &m->body);
        if (m->result == COPY_OK) {
            struct str body = buf_as_str(&m->body);
            struct list users =
                json_array_get_items(arena, *array ? json_member_get_raw_text(body, array) : body);

            n = users.count;
            for (size_t i = 0; i < n; i++)
                json_write_raw(&j, ((struct str *)users.items)[i]);
            last = n ? json_member_get_id(((struct str *)users.items)[n - 1], "id") : 0;
        }
        arena_free(arena);
        total += n;
    } while (n >= USERS_PER_PAGE && last && total < MAX_USERS_PER_EMOJI);
    json_end_array(&j);
    if (m->result == COPY_REFUSED || total >= MAX_USERS_PER_EMOJI) {
        snprintf(what, sizeof what, "users of a reaction or answer of message %" PRIu64, message);
        guild_archive_add_report_line(m->download->archive, what,
                                      m->result == COPY_REFUSED
                                          ? m->connection->reason
                                          : "only the first 5000 users are copied");
        m->result = COPY_OK;
    }
}

static void append_reaction_users(struct message_download *m, struct arena *arena,
                                  struct str message, snowflake id)
{
    struct list reactions =
        json_array_get_items(arena, json_member_get_raw_text(message, "reactions"));
    const struct str *items = reactions.items;
    char path[700];

    if (!reactions.count)
        return;
    buf_add_lit(&m->lines, ",\"reaction_users\":[");
    for (size_t i = 0; i < reactions.count && m->result == COPY_OK; i++) {
        struct str emoji = json_member_get_raw_text(items[i], "emoji");
        struct str name = json_member_get_text(arena, emoji, "name");
        snowflake emoji_id = json_member_get_id(emoji, "id");
        struct str key = emoji_id ? str_printf(arena, "%.*s:%" PRIu64,
                                               STR_ARGS(name.n ? name : STR("_")), emoji_id)
                                  : name;

        snprintf(path, sizeof path, "/channels/%" PRIu64 "/messages/%" PRIu64 "/reactions/%.*s",
                 m->channel, id, STR_ARGS(str_percent_encode(arena, key)));
        if (i)
            buf_add_char(&m->lines, ',');
        append_users_of_reaction_page(m, path, "", id);
    }
    buf_add_char(&m->lines, ']');
}

static void append_poll_voters(struct message_download *m, struct arena *arena, struct str message,
                               snowflake id)
{
    struct str poll = json_member_get_raw_text(message, "poll");
    struct list answers = json_array_get_items(arena, json_member_get_raw_text(poll, "answers"));
    const struct str *items = answers.items;
    char path[200];

    if (!answers.count)
        return;
    buf_add_lit(&m->lines, ",\"poll_voters\":[");
    for (size_t i = 0; i < answers.count && m->result == COPY_OK; i++) {
        snprintf(path, sizeof path, "/channels/%" PRIu64 "/polls/%" PRIu64 "/answers/%lld",
                 m->channel, id, (long long)json_member_int(items[i], "answer_id"));
        if (i)
            buf_add_char(&m->lines, ',');
        append_users_of_reaction_page(m, path, "users", id);
    }
    buf_add_char(&m->lines, ']');
}

/* --- files ------------------------------------------------------------------------------------ */

static void enqueue_attachment_downloads(struct message_download *m, struct arena *arena,
                                         struct str message, struct file_download_batch *batch)
{
    struct list attachments =
        json_array_get_items(arena, json_member_get_raw_text(message, "attachments"));
    const struct str *items = attachments.items;

    for (size_t i = 0; i < attachments.count; i++) {
        struct str url = json_member_get_text(arena, items[i], "url");
        struct file_download_job job = { .attachment_id = json_member_get_id(items[i], "id"),
                                         .batch = batch };

        if (!job.attachment_id || url.n >= sizeof job.url)
            continue;
        snprintf(job.url, sizeof job.url, "%.*s", STR_ARGS(url));
        snprintf(job.name, sizeof job.name, "attachments/%" PRIu64, job.attachment_id);
        download_file_queue_add(m->download, &job);
    }
}

static void enqueue_download_of_author_avatar(struct message_download *m, struct arena *arena,
                                              struct str message, struct file_download_batch *batch)
{
    struct str author = json_member_get_raw_text(message, "author"),
               hash = json_member_get_text(arena, author, "avatar");
    snowflake id = json_member_get_id(author, "id");
    struct file_download_job job = { .batch = batch };

    if (!world_file_name_is_safe(hash) || !m->download->options->people ||
        json_member_get_raw_text(message, "webhook_id").n)
        return;
    snprintf(job.name, sizeof job.name, "avatars/%" PRIu64 "/%.*s", id, STR_ARGS(hash));
    snprintf(job.url, sizeof job.url, "/avatars/%" PRIu64 "/%.*s.%s", id, STR_ARGS(hash),
             str_starts_with(hash, STR("a_")) ? "gif" : "png");
    download_file_queue_add(m->download, &job);
}

enum guild_copy_result download_files_of_message(struct source_server_connection *c,
                                                 struct guild_archive *archive,
                                                 const struct guild_download_options *options,
                                                 struct str message)
{
    struct guild_download d = { .options = options,
                                .source = c->source,
                                .archive = archive,
                                .files = download_file_queue_new() };
    struct message_download m = { .download = &d, .connection = c };
    struct arena *arena = arena_new_small();
    struct file_download_batch batch = { 0 };

    pthread_mutex_init(&d.lock, NULL);
    enqueue_attachment_downloads(&m, arena, message, &batch);
    enqueue_download_of_author_avatar(&m, arena, message, &batch);
    enum guild_copy_result result = download_file_queue_finish_batch(&d, c, &batch);
    pthread_mutex_destroy(&d.lock);
    download_file_queue_free(d.files);
    arena_free(arena);
    return result;
}

/* --- pages ------------------------------------------------------------------------- */

/* Appends a message as one line. Line breaks in the JSON of the API can only be between tokens,
 * never inside strings, so they can be removed. */
static void append_message_line(struct message_download *m, struct arena *arena, struct str message)
{
    snowflake id = json_member_get_id(message, "id");
    size_t start = m->lines.n;

    buf_add(&m->lines, message.p, message.n - 1);
    for (size_t i = start; i < m->lines.n; i++)
        if (m->lines.p[i] == '\n' || m->lines.p[i] == '\r')
            m->lines.p[i] = ' ';
    if (m->download->options->reaction_users && m->download->options->people) {
        append_reaction_users(m, arena, message, id);
        append_poll_voters(m, arena, message, id);
    }
    buf_add_lit(&m->lines, "}\n");
}

/* Reads the page after the message id `after`. The API returns a page newest first; the list is
 * stored oldest first. */
static size_t download_page_of_messages(struct message_download *m,
                                        struct guild_archive_line_file *list)
{
    struct arena *arena = arena_new();
    struct file_download_batch batch = { 0 };
    char path[200];
    size_t n = 0;

    snprintf(path, sizeof path, "/channels/%" PRIu64 "/messages?limit=%d&after=%" PRIu64,
             m->channel, MESSAGES_PER_PAGE, list->last);
    m->result = source_server_connection_send_request(m->connection, "GET", path, (struct str){ 0 },
                                                      &m->body);
    if (m->result == COPY_OK) {
        struct str page = str_dup(arena, buf_as_str(&m->body));
        struct list messages = json_array_get_items(arena, page);
        const struct str *items = messages.items;

        n = messages.count;
        if (n && json_member_get_id(items[0], "id") <= list->last) {
            snprintf(m->connection->reason, sizeof m->connection->reason,
                     "the server sends the same messages again");
            m->result = COPY_REFUSED;
            n = 0;
        }
        buf_reset(&m->lines);
        for (size_t i = 0; i < n; i++) {
            enqueue_attachment_downloads(m, arena, items[i], &batch);
            enqueue_download_of_author_avatar(m, arena, items[i], &batch);
        }
        for (size_t i = n; i > 0 && m->result == COPY_OK; i--)
            append_message_line(m, arena, items[i - 1]);
        enum guild_copy_result files =
            download_file_queue_finish_batch(m->download, m->connection, &batch);
        if (m->result == COPY_OK)
            m->result = files;
        if (m->result == COPY_OK && m->read_again_from >= 0 &&
            !guild_archive_line_file_truncate(list, m->read_again_from))
            m->result = COPY_STOPPED;
        if (m->result == COPY_OK && n &&
            !guild_archive_line_file_append(list, buf_as_str(&m->lines)))
            m->result = COPY_STOPPED;
        m->read_again_from = -1;
        if (m->result == COPY_OK && n)
            list->last = json_member_get_id(items[0], "id");
    }
    arena_free(arena);
    return m->result == COPY_OK ? n : 0;
}

static enum guild_copy_result download_pinned_messages(struct message_download *m)
{
    char path[200], name[100], before[120] = "", last_before[120];
    struct json_writer j = json_writer_to_buf(&m->lines);
    bool more;

    buf_reset(&m->lines);
    do {
        struct arena *arena = arena_new_small();

        snprintf(last_before, sizeof last_before, "%s", before);
        snprintf(path, sizeof path, "/channels/%" PRIu64 "/messages/pins?limit=50%s", m->channel,
                 before);
        m->result = source_server_connection_send_request(m->connection, "GET", path,
                                                          (struct str){ 0 }, &m->body);
        struct str body = buf_as_str(&m->body);
        struct list pins = json_array_get_items(arena, m->result == COPY_OK
                                                           ? json_member_get_raw_text(body, "items")
                                                           : (struct str){ 0 });
        for (size_t i = 0; i < pins.count; i++) {
            struct str pin = ((struct str *)pins.items)[i];

            j.comma = false;
            json_begin_object(&j);
            json_write_name(&j, "id");
            json_write_id(&j, json_member_get_id(json_member_get_raw_text(pin, "message"), "id"));
            json_write_name(&j, "pinned_at");
            json_write_raw(&j, json_member_get_raw_text(pin, "pinned_at"));
            json_end_object(&j);
            buf_add_char(&m->lines, '\n');
            snprintf(
                before, sizeof before, "&before=%.*s",
                STR_ARGS(str_percent_encode(arena, json_member_get_text(arena, pin, "pinned_at"))));
        }
        more = pins.count && json_member_is_true(body, "has_more") &&
               strcmp(before, last_before) != 0; /* else the server ignores "before" */
        arena_free(arena);
    } while (more);
    snprintf(name, sizeof name, "pins/%" PRIu64 ".jsonl", m->channel);
    if (m->result == COPY_OK && m->lines.n &&
        !guild_archive_write_lines(m->download->archive, name, buf_as_str(&m->lines)))
        m->result = COPY_STOPPED;
    return m->result;
}

static bool find_newest_pin(void *arg, struct str line, int64_t next_offset, struct arena *arena)
{
    int64_t *newest = arg, at;

    (void)next_offset;
    if (timestamp_parse(json_member_get_text(arena, line, "pinned_at"), &at) && at > *newest)
        *newest = at;
    return true;
}

/* Returns whether the archive has the newest pin of a channel. A pin can be added without a new
 * message. */
static bool has_newest_pin(const struct guild_archive *archive,
                           const struct downloaded_channel *channel)
{
    char name[100];
    int64_t newest = 0;

    snprintf(name, sizeof name, "pins/%" PRIu64 ".jsonl", channel->id);
    guild_archive_for_each_line(archive, name, 0, find_newest_pin, &newest);
    return newest >= channel->last_pin_at;
}

/* Updates the share of a channel that was read, from the time of its last message. */
static void update_download_progress(struct guild_download *d, struct downloaded_channel *channel,
                                     snowflake last, size_t n)
{
    double begin = (double)(channel->id >> 22), end = (double)(channel->last_message_id >> 22),
           now = (double)(last >> 22);

    pthread_mutex_lock(&d->lock);
    d->message_count += (int64_t)n;
    channel->progress = end > begin ? (now - begin) / (end - begin) : 0;
    if (channel->progress > 1)
        channel->progress = 1;
    if (channel->progress < 0)
        channel->progress = 0;
    pthread_mutex_unlock(&d->lock);
}

enum guild_copy_result download_channel_messages(struct guild_download *d,
                                                 struct source_server_connection *c,
                                                 struct downloaded_channel *channel)
{
    struct message_download m = { .download = d, .connection = c, .channel = channel->id };
    struct guild_archive_line_file list;
    char name[100], why[sizeof c->reason] = ""; /* why: the pins were refused */
    size_t n = 0;

    snprintf(name, sizeof name, "messages/%" PRIu64 ".jsonl", channel->id);
    if (!guild_archive_line_file_open(d->archive, name, "id", &list))
        return COPY_STOPPED;
    snowflake before = 0;
    off_t offset = 0, end = lseek(list.fd, 0, SEEK_END);
    if (!guild_archive_line_file_find_offset_of_id(&list, d->options->read_again_since, &offset,
                                                   &before))
        return COPY_STOPPED;
    m.read_again_from = offset < end ? offset : -1;
    /* If the newest message of the channel is already in the archive, no request is needed. */
    if (m.read_again_from < 0 && list.last && channel->last_message_id &&
        list.last >= channel->last_message_id && has_newest_pin(d->archive, channel)) {
        guild_archive_line_file_close(&list);
        return COPY_OK;
    }
    if (m.read_again_from >= 0)
        list.last = before;
    buf_init(&m.body, SIZE_MAX);
    buf_init(&m.lines, SIZE_MAX);
    if (download_pinned_messages(&m) == COPY_REFUSED) {
        snprintf(why, sizeof why, "%s", c->reason);
        m.result = COPY_OK;
    }
    if (m.result == COPY_OK) {
        do {
            n = download_page_of_messages(&m, &list);
            update_download_progress(d, channel, list.last, n);
        } while (n >= MESSAGES_PER_PAGE && m.result == COPY_OK && !guild_download_is_stopped(d));
    }
    if (m.result == COPY_OK && *why) {
        snprintf(name, sizeof name, "pins of %" PRIu64, channel->id);
        guild_archive_add_report_line(d->archive, name, why);
    }
    buf_clear(&m.body);
    buf_clear(&m.lines);
    guild_archive_line_file_close(&list);
    return m.result == COPY_OK && guild_download_is_stopped(d) ? COPY_FAILED : m.result;
}
