/* post_back.c - posts messages of this server on the source server, with webhooks of the bot.
 *
 * Only messages that people wrote on this server are posted. Messages that were copied from the
 * source server are recognised because their ids are in the archive. Messages that this file posted
 * on the source server are recognised by their webhook. In the archive, posted-messages.jsonl has
 * the ids of each posted message on both servers. posting.jsonl names the message whose request was
 * not answered yet, so that it is not posted twice if the process is killed. The tokens of the
 * webhooks are only in memory, because the bot can read them again. */
#include "tools/copy/follow/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "json/read.h"
#include "model/channel.h"
#include "model/message.h"

enum {
    MAX_CONTENT = 2000,
    MAX_USERNAME = 80,
    QUOTED = 80,
    MAX_EXPECTED = 2000,
    MESSAGES_PER_PAGE = 100,
};
static const char WEBHOOK_NAME[] = "Guildhall mirror";
static const char POSTED_FILE[] = "posted-messages.jsonl", POSTING_FILE[] = "posting.jsonl";

struct own_webhook {
    snowflake id;
    char token[200];
};
struct posted_message {
    snowflake here, there, channel;
};

struct source_guild_poster {
    struct guild_follower *follow;
    struct copy_connection here; /* to this side */
    struct arena *names;
    struct map webhooks; /* channel to struct own_webhook */
    /* Channels in which the bot may not post; each is reported once. */
    struct map refused;
    struct map by_here, by_there; /* struct posted_message */
    struct map expected_messages, expected_reactions;
    struct guild_archive_list posted;
    bool is_open;         /* .posted */
    snowflake unanswered; /* id on this server of a message whose request got no answer */
};

static char marker; /* value of sets */

/* --- what was posted ----------------------------------------------------------------- */

static void add_posted_message_to_map(struct source_guild_poster *b, snowflake here,
                                      snowflake there, snowflake channel)
{
    struct posted_message *p = map_find_value(&b->by_here, here);

    if (p)
        map_remove_value(&b->by_there, p->there);
    map_remove_value(&b->by_here, here);
    if (!there)
        return;
    p = arena_alloc(b->names, sizeof *p);
    *p = (struct posted_message){ here, there, channel };
    map_set_value(&b->by_here, here, p);
    map_set_value(&b->by_there, there, p);
}

static bool read_posted_message_of_journal_line(void *arg, struct str line, int64_t next_offset,
                                                struct arena *arena)
{
    (void)next_offset, (void)arena;
    add_posted_message_to_map(arg, json_member_id(line, "id"), json_member_id(line, "there"),
                              json_member_id(line, "channel"));
    return true;
}

/* Records that message `here` of this server was posted as message `there` on the source server.
 * `there` is 0 if it was deleted on the source server. */
static bool record_posted_message_in_journal(struct source_guild_poster *b, snowflake here,
                                             snowflake there, snowflake channel)
{
    char line[200];
    int n =
        snprintf(line, sizeof line,
                 "{\"id\":\"%" PRIu64 "\",\"there\":\"%" PRIu64 "\",\"channel\":\"%" PRIu64 "\"}\n",
                 here, there, channel);

    add_posted_message_to_map(b, here, there, channel);
    return guild_archive_list_append(&b->posted, str_slice(line, (size_t)n));
}

snowflake source_guild_poster_find_original(const struct source_guild_poster *b, snowflake id)
{
    const struct posted_message *p = map_find_value(&b->by_there, id);

    return p ? p->here : 0;
}

/* --- events that result from changes of the source server ----------------------------- */

/* Adds a key to a set of expected events. If the set is too large, clears it: the events of old
 * keys never came, because the command changed nothing. */
static void add_expected_change(struct map *set, uint64_t key)
{
    if (set->count >= MAX_EXPECTED) {
        map_clear(set);
        map_init(set);
    }
    map_set_value(set, key, &marker);
}

void source_guild_poster_expect_message(struct source_guild_poster *b, snowflake id)
{
    add_expected_change(&b->expected_messages, id);
}

static uint64_t reaction_key(snowflake message, snowflake user, struct str emoji, bool added)
{
    char text[300];
    int n = snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %d %.*s", message, user, added,
                     (int)(emoji.n > 200 ? 200 : emoji.n), emoji.p);

    return hash_str(str_slice(text, (size_t)n));
}

void source_guild_poster_expect_reaction(struct source_guild_poster *b, snowflake message,
                                         snowflake user, struct str emoji, bool added)
{
    add_expected_change(&b->expected_reactions, reaction_key(message, user, emoji, added));
}

struct archived_message_search {
    snowflake id;
    bool found;
};

static bool compare_first_line(void *arg, struct str line, int64_t next_offset, struct arena *arena)
{
    struct archived_message_search *s = arg;

    (void)next_offset, (void)arena;
    s->found = json_member_id(line, "id") == s->id;
    return false;
}

/* Returns whether the archive has the message, so that it came from the source server. */
static bool archive_has_message(const struct source_guild_poster *b, snowflake channel,
                                snowflake id)
{
    const struct guild_archive *a = b->follow->archive;
    struct archived_message_search s = { .id = id };
    struct guild_archive_list list;
    snowflake before;
    char name[100];
    off_t offset;

    snprintf(name, sizeof name, "messages/%" PRIu64 ".jsonl", channel);
    if (guild_archive_list_open(a, name, "id", &list) &&
        guild_archive_list_find(&list, id, &offset, &before))
        guild_archive_for_each_line(a, name, offset, compare_first_line, &s);
    guild_archive_list_close(&list);
    return s.found;
}

struct placeholder_query {
    snowflake user;
    bool found;
};

static enum err find_placeholder_of_user(struct tx *tx, void *arg)
{
    struct placeholder_query *q = arg;

    return tx_exists(tx, "select 1 from placeholder_accounts where user_id = $1",
                     BIND(v_id(q->user)), &q->found);
}

/* Returns whether the account is a placeholder account. Nobody can log in to it, so its actions
 * were copied from the source server. */
static bool user_is_placeholder(const struct source_guild_poster *b, snowflake user)
{
    struct placeholder_query q = { .user = user };

    return follow_run_query(b->follow, find_placeholder_of_user, &q) && q.found;
}

/* --- webhooks ------------------------------------------------------------------------ */

struct channel_query {
    snowflake id, parent;
    int64_t type;
    bool found;
};

static enum err read_channel(struct tx *tx, void *arg)
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

    w->id = json_member_id(webhook, "id");
    snprintf(w->token, sizeof w->token, "%.*s",
             STR_ARGS(json_member_text(arena, webhook, "token")));
    map_set_value(&b->webhooks, json_member_id(webhook, "channel_id"), w);
    arena_free(arena);
    return guild_copy_record_skipped_webhook(&b->follow->skipped, b->follow->archive, w->id);
}

/* Finds the webhooks that the bot created in earlier runs. */
static bool read_webhooks(struct source_guild_poster *b)
{
    struct guild_follower *f = b->follow;
    struct arena *arena = arena_new();
    struct buf out;
    char path[100];
    bool ok = true;

    buf_init(&out, SIZE_MAX);
    snprintf(path, sizeof path, "/guilds/%" PRIu64 "/webhooks", f->options->download->guild);
    if (copy_connection_send_request(&f->connection, "GET", path, (struct str){ 0 }, &out) !=
        COPY_OK) {
        fprintf(stderr,
                "guildhall: the bot may not read the webhooks of the other side (%s); it needs "
                "Manage Webhooks to post back\n",
                f->connection.reason);
        ok = false;
    }
    struct list items = ok ? json_array_items(arena, buf_as_str(&out)) : (struct list){ 0 };
    for (size_t i = 0; i < items.count && ok; i++) {
        struct str w = ((struct str *)items.items)[i];

        if (str_is(json_member_text(arena, w, "name"), WEBHOOK_NAME) &&
            json_member_id(json_member_raw(w, "user"), "id") == f->bot &&
            json_member_text(arena, w, "token").n)
            ok = add_webhook(b, w);
    }
    buf_clear(&out);
    arena_free(arena);
    return ok;
}

static void report_refused_channel(struct source_guild_poster *b, snowflake channel,
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
    if (copy_connection_send_request(&f->connection, "POST", path,
                                     STR("{\"name\":\"Guildhall mirror\"}"), &out) == COPY_OK)
        add_webhook(b, buf_as_str(&out));
    else
        report_refused_channel(b, channel, f->connection.reason);
    buf_clear(&out);
    return map_find_value(&b->webhooks, channel);
}

/* --- the body of a webhook message --------------------------------------------------- */

/* Returns the first characters of a text, without cutting a character. */
static struct str truncate_text_to_message_limit(struct str text, size_t characters)
{
    size_t n = 0;

    while (n < text.n && characters--) {
        uint32_t cp;
        size_t step = utf8_decode(str_skip_bytes(text, n), &cp);

        n += step ? step : 1;
    }
    return str_slice(text.p, n < text.n ? n : text.n);
}

static struct str choose_webhook_name_of_author(struct arena *arena, struct str message)
{
    struct str author = json_member_raw(message, "author"),
               name = json_member_text(arena, json_member_raw(message, "member"), "nick");

    if (!name.n)
        name = json_member_text(arena, author, "global_name");
    return name.n ? name : json_member_text(arena, author, "username");
}

/* Returns the username for a webhook message. Discord refuses usernames with certain words, so
 * these get a thin space. */
static struct str make_webhook_username(struct arena *arena, struct str name)
{
    static const char *const words[] = { "discord", "clyde" };

    name = truncate_text_to_message_limit(name, MAX_USERNAME - 4);
    for (size_t w = 0; w < COUNT_OF(words); w++) {
        size_t n = strlen(words[w]);

        for (size_t i = 0; i + n <= name.n; i++)
            if (strncasecmp(name.p + i, words[w], n) == 0) {
                name = str_printf(arena, "%.*s\xe2\x80\x8a%.*s", (int)(i + 1), name.p,
                                  STR_ARGS(str_skip_bytes(name, i + 1)));
                break;
            }
    }
    return name.n ? name : STR("Member");
}

/* Appends a quote of the message to which a message replies, because a webhook message cannot be a
 * reply on the source server. */
static void append_quote_of_replied_message(struct arena *arena, struct str message,
                                            struct buf *out)
{
    struct str answered = json_member_raw(message, "referenced_message");

    if (!answered.n || json_member_int(message, "type") != 19)
        return;
    struct str text = json_member_text(arena, answered, "content"), line = str_cut(&text, '\n');
    buf_printf(out, "-# \xe2\x86\xaa %.*s: %.*s\n",
               STR_ARGS(choose_webhook_name_of_author(arena, answered)),
               STR_ARGS(truncate_text_to_message_limit(line, QUOTED)));
}

static void append_links_of_attachments(struct arena *arena, struct str message, struct buf *out)
{
    struct list files = json_array_items(arena, json_member_raw(message, "attachments"));
    struct list stickers = json_array_items(arena, json_member_raw(message, "sticker_items"));

    for (size_t i = 0; i < files.count; i++)
        buf_printf(out, "\n%.*s",
                   STR_ARGS(json_member_text(arena, ((struct str *)files.items)[i], "url")));
    for (size_t i = 0; i < stickers.count; i++)
        buf_printf(out, "\n[%.*s]",
                   STR_ARGS(json_member_text(arena, ((struct str *)stickers.items)[i], "name")));
}

static struct str write_content_of_posted_message(struct arena *arena, struct str message)
{
    struct buf out;

    buf_init(&out, 64 * 1024);
    append_quote_of_replied_message(arena, message, &out);
    buf_add_str(&out, json_member_text(arena, message, "content"));
    append_links_of_attachments(arena, message, &out);
    struct str text = str_trim(str_dup(arena, buf_as_str(&out)));
    buf_clear(&out);
    return truncate_text_to_message_limit(text, MAX_CONTENT);
}

static void write_author_of_posted_message(struct source_guild_poster *b, struct arena *arena,
                                           struct str message, struct json_writer *j)
{
    struct str author = json_member_raw(message, "author"),
               avatar = json_member_text(arena, author, "avatar");
    const char *url = b->follow->options->public_url;

    json_write_name(j, "username");
    json_write_text(j, make_webhook_username(arena, choose_webhook_name_of_author(arena, message)));
    if (!url || !avatar.n)
        return;
    json_write_name(j, "avatar_url");
    json_write_text(j, str_printf(arena, "%s/avatars/%" PRIu64 "/%.*s.png", url,
                                  json_member_id(author, "id"), STR_ARGS(avatar)));
}

/* Returns the request body for a message. Returns "" if no part of the message can be posted. */
static struct str write_webhook_body(struct source_guild_poster *b, struct arena *arena,
                                     struct str message, bool edit)
{
    struct str author = json_member_raw(message, "author"),
               content = write_content_of_posted_message(arena, message),
               embeds = json_member_raw(message, "embeds");
    bool has_embeds = embeds.n > 2 && (json_member_is_true(author, "bot") ||
                                       json_member_raw(message, "webhook_id").n);
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    if (!content.n && !has_embeds)
        return (struct str){ 0 };
    buf_init(&out, 1024 * 1024);
    json_begin_object(&j);
    json_write_name(&j, "content");
    json_write_text(&j, content);
    if (!edit)
        write_author_of_posted_message(b, arena, message, &j);
    if (has_embeds) {
        json_write_name(&j, "embeds");
        json_write_raw(&j, embeds);
    }
    /* Webhook messages mention nobody: otherwise people would be notified on both servers, and
     * users of this server could notify everyone on the source server. */
    json_write_name(&j, "allowed_mentions");
    json_write_raw(&j, STR("{\"parse\":[]}"));
    json_end_object(&j);
    return buf_move_to_arena(&out, arena);
}

/* --- posting ------------------------------------------------------------------------- */

/* Writes the path of a webhook message; id 0 means a new message. Returns the webhook, or NULL if
 * there is none. */
static const struct own_webhook *write_webhook_path(struct source_guild_poster *b,
                                                    snowflake channel, snowflake id, char path[500])
{
    struct channel_query q = { .id = channel };
    char thread[60] = "", message[40] = "";

    if (!follow_run_query(b->follow, read_channel, &q) || !q.found)
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

/* Writes which message is being posted. */
static bool record_posting_in_progress(struct source_guild_poster *b, snowflake here,
                                       snowflake channel, struct str body)
{
    struct buf line;

    buf_init(&line, SIZE_MAX);
    if (here)
        buf_printf(&line, "{\"id\":\"%" PRIu64 "\",\"channel\":\"%" PRIu64 "\",\"content\":%.*s}\n",
                   here, channel, STR_ARGS(json_member_raw(body, "content")));
    bool ok = guild_archive_write_lines(b->follow->archive, POSTING_FILE, buf_as_str(&line));
    buf_clear(&line);
    return ok;
}

static enum guild_copy_result send_webhook_message(struct source_guild_poster *b, snowflake channel,
                                                   struct str body, snowflake *ret)
{
    struct guild_follower *f = b->follow;
    struct buf out;
    char path[500];

    *ret = 0;
    if (!write_webhook_path(b, channel, 0, path))
        return COPY_REFUSED;
    buf_init(&out, SIZE_MAX);
    f->connection.no_repeat = true;
    enum guild_copy_result result =
        copy_connection_send_request(&f->connection, "POST", path, body, &out);
    f->connection.no_repeat = false;
    if (result == COPY_OK)
        *ret = json_member_id(buf_as_str(&out), "id");
    buf_clear(&out);
    return result;
}

/* Sends a request with the channel's webhook. If the webhook was deleted on the source server,
 * creates it again, once. */
static enum guild_copy_result send_with_new_webhook(struct source_guild_poster *b,
                                                    snowflake channel, struct str body,
                                                    snowflake *ret)
{
    struct channel_query q = { .id = channel };
    enum guild_copy_result result = send_webhook_message(b, channel, body, ret);

    if (result != COPY_REFUSED || b->follow->connection.status != 404 ||
        !follow_run_query(b->follow, read_channel, &q) || !q.found)
        return result;
    map_remove_value(&b->webhooks, channel_is_thread(q.type) ? q.parent : channel);
    return send_webhook_message(b, channel, body, ret);
}

static bool message_is_posted_back(const struct source_guild_poster *b, struct str message)
{
    int64_t type = json_member_int(message, "type");
    snowflake id = json_member_id(message, "id"), channel = json_member_id(message, "channel_id");
    bool is_text = type == MESSAGE_DEFAULT || type == MESSAGE_REPLY || type == 20 || type == 23;

    return is_text && !(json_member_int(message, "flags") & 64) &&
           !map_find_value(&b->by_here, id) && !map_find_value(&b->expected_messages, id) &&
           !archive_has_message(b, channel, id);
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

struct posting_reader {
    struct source_guild_poster *back;
    bool ok;
};
static guild_archive_line_function find_interrupted_post;

/* Searches the source server for messages whose request got no answer: they may have been posted
 * nevertheless. */
static bool find_interrupted_posts(struct source_guild_poster *b)
{
    struct posting_reader r = { b, true };

    guild_archive_for_each_line(b->follow->archive, POSTING_FILE, 0, find_interrupted_post, &r);
    return r.ok;
}

static bool post_message_to_source_guild(struct source_guild_poster *b, struct str message)
{
    struct guild_follower *f = b->follow;
    snowflake id = json_member_id(message, "id"), channel = json_member_id(message, "channel_id"),
              there = 0;

    if (b->unanswered == id && !find_interrupted_posts(b))
        return false;
    if (!message_is_posted_back(b, message))
        return true;
    if (!live_import_knows_channel(f->import, channel)) {
        report_refused_channel(b, channel, "the channel is only on this side");
        return true;
    }
    struct arena *arena = arena_new();
    struct str body = write_webhook_body(b, arena, message, false);
    bool ok = !body.n || record_posting_in_progress(b, id, channel, body);
    if (body.n && ok) {
        enum guild_copy_result result = send_with_new_webhook(b, channel, body, &there);

        ok = end_posting_request(b, result, id) &&
             (result != COPY_OK || record_posted_message_in_journal(b, id, there, channel)) &&
             record_posting_in_progress(b, 0, 0, (struct str){ 0 });
        b->unanswered = ok ? 0 : id;
    }
    arena_free(arena);
    return ok;
}

static bool apply_message_create_to_source_guild(struct source_guild_poster *b, struct str d)
{
    snowflake id = json_member_id(d, "id");

    if (!post_message_to_source_guild(b, d))
        return false;
    if (id > b->follow->newest_here)
        b->follow->newest_here = id;
    return true;
}

static bool apply_message_update_to_source_guild(struct source_guild_poster *b, struct str d)
{
    const struct posted_message *p = map_find_value(&b->by_here, json_member_id(d, "id"));
    struct arena *arena;
    struct buf out;
    char path[500];

    if (!p || !json_member_raw(d, "edited_timestamp").n || !json_member_raw(d, "content").n)
        return true;
    arena = arena_new();
    buf_init(&out, SIZE_MAX);
    struct str body = write_webhook_body(b, arena, d, true);
    bool ok = true;
    if (body.n && write_webhook_path(b, p->channel, p->there, path))
        ok = end_posting_request(
            b, copy_connection_send_request(&b->follow->connection, "PATCH", path, body, &out),
            p->here);
    buf_clear(&out);
    arena_free(arena);
    return ok;
}

/* Deletes the posted copy of a message that was deleted on this server. Messages that were copied
 * from the source server stay there. */
static bool delete_posted_message_in_source_guild(struct source_guild_poster *b, snowflake here)
{
    const struct posted_message *p = map_find_value(&b->by_here, here);
    struct buf out;
    char path[500];

    if (!p)
        return true;
    bool ok = true;
    buf_init(&out, SIZE_MAX);
    if (write_webhook_path(b, p->channel, p->there, path)) {
        enum guild_copy_result result = copy_connection_send_request(
            &b->follow->connection, "DELETE", path, (struct str){ 0 }, &out);

        ok = b->follow->connection.status == 404 || end_posting_request(b, result, here);
    }
    buf_clear(&out);
    return ok && record_posted_message_in_journal(b, here, 0, p->channel);
}

static bool apply_message_delete_to_source_guild(struct source_guild_poster *b, struct str d)
{
    return delete_posted_message_in_source_guild(b, json_member_id(d, "id"));
}

static bool apply_bulk_delete_to_source_guild(struct source_guild_poster *b, struct str d)
{
    struct arena *arena = arena_new_small();
    struct list ids = json_array_items(arena, json_member_raw(d, "ids"));
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
    if (copy_connection_send_request(&b->here, "GET", path, (struct str){ 0 }, &out) == COPY_OK) {
        struct list users = json_array_items(arena, buf_as_str(&out));

        for (size_t i = 0; i < users.count && !found; i++)
            found = !user_is_placeholder(b, json_member_id(((struct str *)users.items)[i], "id"));
    }
    buf_clear(&out);
    return found;
}

/* Adds or removes a reaction on the source server. The bot reacts there with each emoji with which
 * people on this server react. */
static bool apply_reaction(struct source_guild_poster *b, struct str d, bool added)
{
    snowflake message = json_member_id(d, "message_id"), user = json_member_id(d, "user_id"),
              channel = json_member_id(d, "channel_id");
    const struct posted_message *p = map_find_value(&b->by_here, message);
    struct arena *arena = arena_new_small();
    struct str emoji = follow_format_emoji_of_reaction(arena, d);
    struct buf out;
    char path[700];
    bool ok = true;

    bool expected =
        map_remove_value(&b->expected_reactions, reaction_key(message, user, emoji, added)) != NULL;
    if (!expected && !user_is_placeholder(b, user) &&
        live_import_knows_channel(b->follow->import, channel) &&
        (added || !local_user_has_reaction(b, arena, channel, message, emoji))) {
        snprintf(path, sizeof path, "/channels/%" PRIu64 "/messages/%" PRIu64 "/reactions/%.*s/@me",
                 channel, p ? p->there : message, STR_ARGS(str_percent_encode(arena, emoji)));
        buf_init(&out, SIZE_MAX);
        enum guild_copy_result result = copy_connection_send_request(
            &b->follow->connection, added ? "PUT" : "DELETE", path, (struct str){ 0 }, &out);
        ok = (!added && result == COPY_REFUSED) || end_posting_request(b, result, message);
        buf_clear(&out);
    }
    arena_free(arena);
    return ok;
}

static bool apply_reaction_add(struct source_guild_poster *b, struct str d)
{
    return apply_reaction(b, d, true);
}

static bool apply_reaction_remove(struct source_guild_poster *b, struct str d)
{
    return apply_reaction(b, d, false);
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
        if (copy_connection_send_request(&b->here, "GET", path, (struct str){ 0 }, &out) ==
            COPY_OK) {
            struct list items = json_array_items(arena, buf_as_str(&out));

            n = items.count;
            for (size_t i = n; i > 0 && ok; i--)
                ok = post_message_to_source_guild(b, ((struct str *)items.items)[i - 1]);
            after = n ? json_member_id(((struct str *)items.items)[0], "id") : after;
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
    if (copy_connection_send_request(&b->here, "GET", path, (struct str){ 0 }, &out) == COPY_OK) {
        struct str body = buf_as_str(&out);
        struct list items = json_array_items(arena, *array ? json_member_raw(body, array) : body);

        for (size_t i = 0; i < items.count && ok; i++) {
            struct str channel = ((struct str *)items.items)[i];

            if (json_member_id(channel, "last_message_id") > after)
                ok = post_missed_messages(b, json_member_id(channel, "id"), after);
        }
    }
    buf_clear(&out);
    arena_free(arena);
    return ok;
}

static bool apply_ready_of_source_guild_poster(struct source_guild_poster *b, struct str d)
{
    snowflake after = b->follow->newest_here;

    (void)d;
    return post_missed_messages_of_list(b, "/channels", "", after) &&
           post_missed_messages_of_list(b, "/threads/active", "threads", after);
}

static const struct own_event {
    const char *name;
    bool (*apply)(struct source_guild_poster *b, struct str d);
} own_events[] = {
    { "READY", apply_ready_of_source_guild_poster },
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

/* Finds out whether a message whose request an earlier process did not complete was posted. */
static bool find_interrupted_post(void *arg, struct str line, int64_t next_offset,
                                  struct arena *arena)
{
    struct posting_reader *r = arg;
    struct source_guild_poster *b = r->back;
    snowflake here = json_member_id(line, "id"), channel = json_member_id(line, "channel");
    struct str content = json_member_text(arena, line, "content");
    struct buf out;
    char path[100];

    (void)next_offset;
    if (map_find_value(&b->by_here, here))
        return false;
    buf_init(&out, SIZE_MAX);
    snprintf(path, sizeof path, "/channels/%" PRIu64 "/messages?limit=50", channel);
    if (copy_connection_send_request(&b->follow->connection, "GET", path, (struct str){ 0 },
                                     &out) == COPY_OK) {
        struct list items = json_array_items(arena, buf_as_str(&out));

        for (size_t i = 0; i < items.count && r->ok; i++) {
            struct str m = ((struct str *)items.items)[i];
            snowflake there = json_member_id(m, "id");

            if (guild_copy_skipped_ids_contain_webhook(&b->follow->skipped,
                                                       json_member_id(m, "webhook_id")) &&
                !map_find_value(&b->by_there, there) &&
                str_eq(json_member_text(arena, m, "content"), content)) {
                r->ok = record_posted_message_in_journal(b, here, there, channel);
                break;
            }
        }
    } else {
        r->ok = b->follow->connection.status >= 400 && b->follow->connection.status < 500;
    }
    buf_clear(&out);
    return false;
}

struct source_guild_poster *source_guild_poster_new(struct guild_follower *f)
{
    struct source_guild_poster *b = mem_new(sizeof *b);
    struct map *const maps[] = { &b->webhooks, &b->refused,           &b->by_here,
                                 &b->by_there, &b->expected_messages, &b->expected_reactions };

    b->follow = f;
    b->names = arena_new();
    for (size_t i = 0; i < COUNT_OF(maps); i++)
        map_init(maps[i]);
    guild_archive_for_each_line(f->archive, POSTED_FILE, 0, read_posted_message_of_journal_line, b);
    b->is_open = guild_archive_list_open(f->archive, POSTED_FILE, "id", &b->posted);
    if (b->is_open && copy_connection_open(&b->here, f->options->here) && read_webhooks(b) &&
        find_interrupted_posts(b))
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
        guild_archive_list_close(&b->posted);
    copy_connection_close(&b->here);
    arena_free(b->names);
    mem_free(b);
}
