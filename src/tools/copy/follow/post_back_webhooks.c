/* post_back_webhooks.c - the webhooks of the bot on the source server, and messages that they post.
 *
 * The tokens of the webhooks are only in memory, because the bot can read them again. */
#include "tools/copy/follow/post_back.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/channel.h"

static const char WEBHOOK_NAME[] = "Guildhall mirror";

static char marker; /* value of sets */

struct channel_query {
    snowflake id, parent;
    int64_t type;
    bool found;
};

static enum err read_type_and_parent_of_channel(struct tx *tx, void *arg)
{
    struct channel_query *q = arg;
    struct rows row;
    enum err e = tx_one(tx, "select type, parent_id from channels where id = $1", BIND(v_id(q->id)),
                        &row, &q->found);

    if (e || !q->found)
        return e;
    q->type = row_int(&row, 0);
    q->parent = row_column_is_null(&row, 1) ? 0 : row_id(&row, 1);
    return OK;
}

static bool add_webhook(struct source_guild_poster *b, struct str webhook)
{
    struct own_webhook *w = arena_alloc(b->names, sizeof *w);
    struct arena *arena = arena_new_small();

    w->id = json_member_get_id(webhook, "id");
    snprintf(w->token, sizeof w->token, "%.*s",
             STR_ARGS(json_member_get_text(arena, webhook, "token")));
    map_set_value(&b->webhooks, json_member_get_id(webhook, "channel_id"), w);
    arena_free(arena);
    return guild_copy_record_skipped_webhook(&b->follow->skipped, b->follow->archive, w->id);
}

bool source_guild_poster_read_webhooks(struct source_guild_poster *b)
{
    struct guild_follower *f = b->follow;
    struct arena *arena = arena_new();
    struct buf out;
    char path[100];
    bool ok = true;

    buf_init(&out, SIZE_MAX);
    snprintf(path, sizeof path, "/guilds/%" PRIu64 "/webhooks", f->options->download->guild);
    if (source_server_connection_send_request(&f->connection, "GET", path, (struct str){ 0 },
                                              &out) != COPY_OK) {
        fprintf(stderr,
                "guildhall: the bot may not read the webhooks of the other side (%s); it needs "
                "Manage Webhooks to post back\n",
                f->connection.reason);
        ok = false;
    }
    struct list items = ok ? json_array_get_items(arena, buf_as_str(&out)) : (struct list){ 0 };
    for (size_t i = 0; i < items.count && ok; i++) {
        struct str w = ((struct str *)items.items)[i];

        if (str_is(json_member_get_text(arena, w, "name"), WEBHOOK_NAME) &&
            json_member_get_id(json_member_get_raw_text(w, "user"), "id") == f->bot &&
            json_member_get_text(arena, w, "token").n)
            ok = add_webhook(b, w);
    }
    buf_clear(&out);
    arena_free(arena);
    return ok;
}

void source_guild_poster_report_refused_channel(struct source_guild_poster *b, snowflake channel,
                                                const char *why)
{
    char what[100];

    if (map_set_value(&b->refused, channel, &marker))
        return;
    snprintf(what, sizeof what, "posting back to channel %" PRIu64, channel);
    guild_archive_add_report_line(b->follow->archive, what, why);
}

/* Returns the bot's webhook of a channel. If there is none, creates one. Returns NULL if the bot
 * may not do that. */
static const struct own_webhook *find_or_create_webhook(struct source_guild_poster *b,
                                                        snowflake channel)
{
    struct guild_follower *f = b->follow;
    const struct own_webhook *w = map_find_value(&b->webhooks, channel);
    struct buf out;
    char path[100];

    if (w || map_find_value(&b->refused, channel))
        return w;
    buf_init(&out, SIZE_MAX);
    snprintf(path, sizeof path, "/channels/%" PRIu64 "/webhooks", channel);
    if (source_server_connection_send_request(
            &f->connection, "POST", path, STR("{\"name\":\"Guildhall mirror\"}"), &out) == COPY_OK)
        add_webhook(b, buf_as_str(&out));
    else
        source_guild_poster_report_refused_channel(b, channel, f->connection.reason);
    buf_clear(&out);
    return map_find_value(&b->webhooks, channel);
}

const struct own_webhook *source_guild_poster_write_webhook_path(struct source_guild_poster *b,
                                                                 snowflake channel, snowflake id,
                                                                 char path[500])
{
    struct channel_query q = { .id = channel };
    char thread[60] = "", message[40] = "";

    if (!follow_run_read_transaction(b->follow, read_type_and_parent_of_channel, &q) || !q.found)
        return NULL;
    bool is_thread = channel_is_thread(q.type);
    const struct own_webhook *w = find_or_create_webhook(b, is_thread ? q.parent : channel);
    if (!w)
        return NULL;
    if (is_thread)
        snprintf(thread, sizeof thread, "&thread_id=%" PRIu64, channel);
    if (id)
        snprintf(message, sizeof message, "/messages/%" PRIu64, id);
    snprintf(path, 500, "/webhooks/%" PRIu64 "/%s%s?wait=true%s", w->id, w->token, message, thread);
    return w;
}

static enum guild_copy_result send_webhook_message(struct source_guild_poster *b, snowflake channel,
                                                   struct str body, snowflake *ret)
{
    struct guild_follower *f = b->follow;
    struct buf out;
    char path[500];

    *ret = 0;
    if (!source_guild_poster_write_webhook_path(b, channel, 0, path))
        return COPY_REFUSED;
    buf_init(&out, SIZE_MAX);
    f->connection.no_repeat = true;
    enum guild_copy_result result =
        source_server_connection_send_request(&f->connection, "POST", path, body, &out);
    f->connection.no_repeat = false;
    if (result == COPY_OK)
        *ret = json_member_get_id(buf_as_str(&out), "id");
    buf_clear(&out);
    return result;
}

enum guild_copy_result source_guild_poster_send(struct source_guild_poster *b, snowflake channel,
                                                struct str body, snowflake *ret)
{
    struct channel_query q = { .id = channel };
    enum guild_copy_result result = send_webhook_message(b, channel, body, ret);

    if (result != COPY_REFUSED || b->follow->connection.status != 404 ||
        !follow_run_read_transaction(b->follow, read_type_and_parent_of_channel, &q) || !q.found)
        return result;
    map_remove_value(&b->webhooks, channel_is_thread(q.type) ? q.parent : channel);
    return send_webhook_message(b, channel, body, ret);
}
