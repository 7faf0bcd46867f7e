/* post_back.c - posts messages of this server on the source server, with webhooks of the bot.
 *
 * Only messages that people wrote on this server are posted: neither those that were copied from
 * the source server, nor those that this command posted there. */
#include "tools/copy/follow/post_back.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "json/read.h"
#include "model/message.h"

static bool message_must_be_posted_on_source_server(const struct source_guild_poster *b,
                                                    struct str message)
{
    int64_t type = json_member_int(message, "type");
    snowflake id = json_member_get_id(message, "id"),
              channel = json_member_get_id(message, "channel_id");
    bool is_text = type == MESSAGE_DEFAULT || type == MESSAGE_REPLY || type == 20 || type == 23;

    return is_text && !(json_member_int(message, "flags") & 64) &&
           !map_find_value(&b->by_here, id) && !map_find_value(&b->expected_messages, id) &&
           !source_guild_poster_archive_has_message(b, channel, id);
}

/* Handles the result of a request about a message of this server. Returns false if the request must
 * be sent again. */
static bool end_posting_request(struct source_guild_poster *b, enum guild_copy_result result,
                                snowflake id)
{
    char what[100];

    b->follow->source_failed |= result == COPY_FAILED;
    if (result == COPY_STOPPED)
        b->follow->result = COPY_STOPPED;
    if (result != COPY_REFUSED)
        return result == COPY_OK;

    snprintf(what, sizeof what, "posting back message %" PRIu64, id);
    guild_archive_add_report_line(b->follow->archive, what, b->follow->connection.reason);
    return true;
}

bool source_guild_poster_post_message(struct source_guild_poster *b, struct str message)
{
    struct guild_follower *f = b->follow;
    snowflake id = json_member_get_id(message, "id"),
              channel = json_member_get_id(message, "channel_id"), there = 0;

    if (b->unanswered == id && !source_guild_poster_find_interrupted_posts(b))
        return false;
    if (!message_must_be_posted_on_source_server(b, message))
        return true;
    if (!live_import_has_copied_channel(f->import, channel)) {
        source_guild_poster_report_refused_channel(b, channel, "the channel is only on this side");
        return true;
    }
    struct arena *arena = arena_new();
    struct str body = source_guild_poster_write_body(b, arena, message, false);
    bool ok = !body.n || source_guild_poster_record_post_in_progress(b, id, channel, body);
    if (body.n && ok) {
        enum guild_copy_result result = source_guild_poster_send(b, channel, body, &there);

        ok = end_posting_request(b, result, id) &&
             (result != COPY_OK ||
              source_guild_poster_record_posted_message(b, id, there, channel)) &&
             source_guild_poster_record_post_in_progress(b, 0, 0, (struct str){ 0 });
        b->unanswered = ok ? 0 : id;
    }
    arena_free(arena);
    return ok;
}

static bool apply_message_create_to_source_guild(struct source_guild_poster *b, struct str d)
{
    snowflake id = json_member_get_id(d, "id");

    if (!source_guild_poster_post_message(b, d))
        return false;
    if (id > b->follow->newest_here)
        b->follow->newest_here = id;
    return true;
}

static bool apply_message_update_to_source_guild(struct source_guild_poster *b, struct str d)
{
    const struct posted_message_ids *p = map_find_value(&b->by_here, json_member_get_id(d, "id"));
    struct arena *arena;
    struct buf out;
    char path[500];

    if (!p || !json_member_get_raw_text(d, "edited_timestamp").n ||
        !json_member_get_raw_text(d, "content").n)
        return true;
    arena = arena_new();
    buf_init(&out, SIZE_MAX);
    struct str body = source_guild_poster_write_body(b, arena, d, true);
    bool ok = true;
    if (body.n && source_guild_poster_write_webhook_path(b, p->channel, p->there, path))
        ok = end_posting_request(b,
                                 source_server_connection_send_request(&b->follow->connection,
                                                                       "PATCH", path, body, &out),
                                 p->here);
    buf_clear(&out);
    arena_free(arena);
    return ok;
}

/* Deletes the posted copy of a message that was deleted on this server. Messages that were copied
 * from the source server stay there. */
static bool delete_posted_message_in_source_guild(struct source_guild_poster *b, snowflake here)
{
    const struct posted_message_ids *p = map_find_value(&b->by_here, here);
    struct buf out;
    char path[500];

    if (!p)
        return true;
    bool ok = true;
    buf_init(&out, SIZE_MAX);
    if (source_guild_poster_write_webhook_path(b, p->channel, p->there, path)) {
        enum guild_copy_result result = source_server_connection_send_request(
            &b->follow->connection, "DELETE", path, (struct str){ 0 }, &out);

        ok = b->follow->connection.status == 404 || end_posting_request(b, result, here);
    }
    buf_clear(&out);
    return ok && source_guild_poster_record_posted_message(b, here, 0, p->channel);
}

static bool apply_message_delete_to_source_guild(struct source_guild_poster *b, struct str d)
{
    return delete_posted_message_in_source_guild(b, json_member_get_id(d, "id"));
}

static bool apply_bulk_delete_to_source_guild(struct source_guild_poster *b, struct str d)
{
    struct arena *arena = arena_new_small();
    struct list ids = json_array_get_items(arena, json_member_get_raw_text(d, "ids"));
    bool ok = true;

    for (size_t i = 0; i < ids.count && ok; i++) {
        int64_t id = 0;

        json_parse_int_text(((struct str *)ids.items)[i], &id);
        ok = delete_posted_message_in_source_guild(b, (snowflake)id);
    }
    arena_free(arena);
    return ok;
}

/* --- reactions ----------------------------------------------------------------------- */

/* Returns whether somebody on this server still has this reaction. Placeholder accounts do not
 * count. */
static bool local_user_has_reaction(struct source_guild_poster *b, struct arena *arena,
                                    snowflake channel, snowflake message, struct str emoji)
{
    struct buf out;
    char path[700];
    bool found = false;

    snprintf(path, sizeof path,
             "/channels/%" PRIu64 "/messages/%" PRIu64 "/reactions/%.*s?limit=100", channel,
             message, STR_ARGS(str_percent_encode(arena, emoji)));
    buf_init(&out, SIZE_MAX);
    if (source_server_connection_send_request(&b->here, "GET", path, (struct str){ 0 }, &out) ==
        COPY_OK) {
        struct list users = json_array_get_items(arena, buf_as_str(&out));

        for (size_t i = 0; i < users.count && !found; i++)
            found = !source_guild_poster_user_is_placeholder(
                b, json_member_get_id(((struct str *)users.items)[i], "id"));
    }
    buf_clear(&out);
    return found;
}

/* Adds or removes a reaction on the source server. The bot reacts there with each emoji with which
 * people on this server react. */
static bool apply_reaction_to_source_server(struct source_guild_poster *b, struct str d, bool added)
{
    snowflake message = json_member_get_id(d, "message_id"),
              user = json_member_get_id(d, "user_id"),
              channel = json_member_get_id(d, "channel_id");
    const struct posted_message_ids *p = map_find_value(&b->by_here, message);
    struct arena *arena = arena_new_small();
    struct str emoji = follow_format_emoji_of_reaction(arena, d);
    struct buf out;
    char path[700];
    bool ok = true;

    bool expected =
        map_remove_value(&b->expected_reactions,
                         source_guild_poster_reaction_key(message, user, emoji, added)) != NULL;
    if (!expected && !source_guild_poster_user_is_placeholder(b, user) &&
        live_import_has_copied_channel(b->follow->import, channel) &&
        (added || !local_user_has_reaction(b, arena, channel, message, emoji))) {
        snprintf(path, sizeof path, "/channels/%" PRIu64 "/messages/%" PRIu64 "/reactions/%.*s/@me",
                 channel, p ? p->there : message, STR_ARGS(str_percent_encode(arena, emoji)));
        buf_init(&out, SIZE_MAX);
        enum guild_copy_result result = source_server_connection_send_request(
            &b->follow->connection, added ? "PUT" : "DELETE", path, (struct str){ 0 }, &out);
        ok = (!added && result == COPY_REFUSED) || end_posting_request(b, result, message);
        buf_clear(&out);
    }
    arena_free(arena);
    return ok;
}

static bool apply_reaction_add(struct source_guild_poster *b, struct str d)
{
    return apply_reaction_to_source_server(b, d, true);
}

static bool apply_reaction_remove(struct source_guild_poster *b, struct str d)
{
    return apply_reaction_to_source_server(b, d, false);
}

/* --- events ------------------------------------------------------------------------- */

static const struct own_event {
    const char *name;
    bool (*apply)(struct source_guild_poster *b, struct str d);
} own_events[] = {
    { "READY", source_guild_poster_post_missed_messages },
    { "MESSAGE_CREATE", apply_message_create_to_source_guild },
    { "MESSAGE_UPDATE", apply_message_update_to_source_guild },
    { "MESSAGE_DELETE", apply_message_delete_to_source_guild },
    { "MESSAGE_DELETE_BULK", apply_bulk_delete_to_source_guild },
    { "MESSAGE_REACTION_ADD", apply_reaction_add },
    { "MESSAGE_REACTION_REMOVE", apply_reaction_remove },
};

bool source_guild_poster_apply_event(struct source_guild_poster *b,
                                     const struct followed_guild_event *e)
{
    for (size_t i = 0; i < COUNT_OF(own_events); i++)
        if (str_is(str_of(e->name), own_events[i].name))
            return own_events[i].apply(b, str_of(e->data));
    return true;
}

/* --- beginning ----------------------------------------------------------------------- */

struct source_guild_poster *source_guild_poster_new(struct guild_follower *f)
{
    struct source_guild_poster *b = mem_new(sizeof *b);
    struct map *const maps[] = { &b->webhooks, &b->refused,           &b->by_here,
                                 &b->by_there, &b->expected_messages, &b->expected_reactions };

    b->follow = f;
    b->names = arena_new();
    for (size_t i = 0; i < COUNT_OF(maps); i++)
        map_init(maps[i]);
    source_guild_poster_read_posted_messages(b);
    if (source_guild_poster_open_posted_message_list(b) &&
        source_server_connection_open(&b->here, f->options->here) &&
        source_guild_poster_read_webhooks(b) && source_guild_poster_find_interrupted_posts(b))
        return b;
    source_guild_poster_free(b);
    return NULL;
}

void source_guild_poster_free(struct source_guild_poster *b)
{
    if (!b)
        return;
    struct map *const maps[] = { &b->webhooks, &b->refused,           &b->by_here,
                                 &b->by_there, &b->expected_messages, &b->expected_reactions };

    for (size_t i = 0; i < COUNT_OF(maps); i++)
        map_clear(maps[i]);
    if (b->is_open)
        guild_archive_line_file_close(&b->posted);
    source_server_connection_close(&b->here);
    arena_free(b->names);
    mem_free(b);
}
