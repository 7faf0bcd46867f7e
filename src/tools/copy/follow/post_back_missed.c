/* post_back_missed.c - posts what was written on this server while the command did not run or had
 * no session, and finds out whether an interrupted request was carried out.
 *
 * posting.jsonl in the archive names the message whose request was not answered yet, so that it is
 * not posted twice if the process is killed. */
#include "tools/copy/follow/post_back.h"

#include <inttypes.h>
#include <stdio.h>

enum { MESSAGES_PER_PAGE = 100 };

static const char POSTING_FILE[] = "posting.jsonl";

bool source_guild_poster_record_post_in_progress(struct source_guild_poster *b, snowflake here,
                                                 snowflake channel, struct str body)
{
    struct buf line;

    buf_init(&line, SIZE_MAX);
    if (here)
        buf_printf(&line, "{\"id\":\"%" PRIu64 "\",\"channel\":\"%" PRIu64 "\",\"content\":%.*s}\n",
                   here, channel, STR_ARGS(json_member_get_raw_text(body, "content")));
    bool ok = guild_archive_write_lines(b->follow->archive, POSTING_FILE, buf_as_str(&line));
    buf_clear(&line);
    return ok;
}

struct posting_reader {
    struct source_guild_poster *back;
    bool ok;
};

/* Finds out whether a message whose request an earlier process did not complete was posted. */
static bool find_interrupted_post(void *arg, struct str line, int64_t next_offset,
                                  struct arena *arena)
{
    struct posting_reader *r = arg;
    struct source_guild_poster *b = r->back;
    snowflake here = json_member_get_id(line, "id"), channel = json_member_get_id(line, "channel");
    struct str content = json_member_get_text(arena, line, "content");
    struct buf out;
    char path[100];

    (void)next_offset;
    if (map_find_value(&b->by_here, here))
        return false;
    buf_init(&out, SIZE_MAX);
    snprintf(path, sizeof path, "/channels/%" PRIu64 "/messages?limit=50", channel);
    if (source_server_connection_send_request(&b->follow->connection, "GET", path,
                                              (struct str){ 0 }, &out) == COPY_OK) {
        struct list items = json_array_get_items(arena, buf_as_str(&out));

        for (size_t i = 0; i < items.count && r->ok; i++) {
            struct str m = ((struct str *)items.items)[i];
            snowflake there = json_member_get_id(m, "id");

            if (guild_copy_skipped_ids_contain_webhook(&b->follow->skipped,
                                                       json_member_get_id(m, "webhook_id")) &&
                !map_find_value(&b->by_there, there) &&
                str_eq(json_member_get_text(arena, m, "content"), content)) {
                r->ok = source_guild_poster_record_posted_message(b, here, there, channel);
                break;
            }
        }
    } else {
        r->ok = b->follow->connection.status >= 400 && b->follow->connection.status < 500;
    }
    buf_clear(&out);
    return false;
}

bool source_guild_poster_find_interrupted_posts(struct source_guild_poster *b)
{
    struct posting_reader r = { b, true };

    guild_archive_for_each_line(b->follow->archive, POSTING_FILE, 0, find_interrupted_post, &r);
    return r.ok;
}

/* --- a new session here -------------------------------------------------------------- */

/* Posts the messages of a channel that are newer than `after`, the last one that was handled. */
static bool post_missed_messages(struct source_guild_poster *b, snowflake channel, snowflake after)
{
    struct arena *arena = arena_new();
    bool ok = true;
    struct buf out;
    char path[200];
    size_t n;

    buf_init(&out, SIZE_MAX);
    do {
        n = 0;
        snprintf(path, sizeof path, "/channels/%" PRIu64 "/messages?limit=%d&after=%" PRIu64,
                 channel, MESSAGES_PER_PAGE, after);
        if (source_server_connection_send_request(&b->here, "GET", path, (struct str){ 0 }, &out) ==
            COPY_OK) {
            struct list items = json_array_get_items(arena, buf_as_str(&out));

            n = items.count;
            for (size_t i = n; i > 0 && ok; i--)
                ok = source_guild_poster_post_message(b, ((struct str *)items.items)[i - 1]);
            after = n ? json_member_get_id(((struct str *)items.items)[0], "id") : after;
        }
        arena_reset(arena);
    } while (ok && n >= MESSAGES_PER_PAGE);
    if (ok && after > b->follow->newest_here)
        b->follow->newest_here = after;
    buf_clear(&out);
    arena_free(arena);
    return ok;
}

static bool post_missed_messages_of_list(struct source_guild_poster *b, const char *format,
                                         const char *array, snowflake after)
{
    struct arena *arena = arena_new();
    struct buf out;
    char path[200];
    bool ok = true;

    buf_init(&out, SIZE_MAX);
    snprintf(path, sizeof path, "/guilds/%" PRIu64 "%s", b->follow->options->download->guild,
             format);
    if (source_server_connection_send_request(&b->here, "GET", path, (struct str){ 0 }, &out) ==
        COPY_OK) {
        struct str body = buf_as_str(&out);
        struct list items =
            json_array_get_items(arena, *array ? json_member_get_raw_text(body, array) : body);

        for (size_t i = 0; i < items.count && ok; i++) {
            struct str channel = ((struct str *)items.items)[i];

            if (json_member_get_id(channel, "last_message_id") > after)
                ok = post_missed_messages(b, json_member_get_id(channel, "id"), after);
        }
    }
    buf_clear(&out);
    arena_free(arena);
    return ok;
}

bool source_guild_poster_post_missed_messages(struct source_guild_poster *b, struct str d)
{
    snowflake after = b->follow->newest_here;

    (void)d;
    return post_missed_messages_of_list(b, "/channels", "", after) &&
           post_missed_messages_of_list(b, "/threads/active", "threads", after);
}
