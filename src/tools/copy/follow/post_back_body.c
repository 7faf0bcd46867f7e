/* post_back_body.c - writes a message of this server as the body of a webhook message for the
 * source server. */
#include "tools/copy/follow/post_back.h"

#include <inttypes.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { MAX_CONTENT = 2000, MAX_USERNAME = 80, QUOTED = 80 };

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
    struct str author = json_member_get_raw_text(message, "author"),
               name =
                   json_member_get_text(arena, json_member_get_raw_text(message, "member"), "nick");

    if (!name.n)
        name = json_member_get_text(arena, author, "global_name");
    return name.n ? name : json_member_get_text(arena, author, "username");
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
    struct str answered = json_member_get_raw_text(message, "referenced_message");

    if (!answered.n || json_member_int(message, "type") != 19)
        return;
    struct str text = json_member_get_text(arena, answered, "content"), line = str_cut(&text, '\n');
    buf_printf(out, "-# \xe2\x86\xaa %.*s: %.*s\n",
               STR_ARGS(choose_webhook_name_of_author(arena, answered)),
               STR_ARGS(truncate_text_to_message_limit(line, QUOTED)));
}

static void append_links_of_attachments(struct arena *arena, struct str message, struct buf *out)
{
    struct list files =
        json_array_get_items(arena, json_member_get_raw_text(message, "attachments"));
    struct list stickers =
        json_array_get_items(arena, json_member_get_raw_text(message, "sticker_items"));

    for (size_t i = 0; i < files.count; i++)
        buf_printf(out, "\n%.*s",
                   STR_ARGS(json_member_get_text(arena, ((struct str *)files.items)[i], "url")));
    for (size_t i = 0; i < stickers.count; i++)
        buf_printf(
            out, "\n[%.*s]",
            STR_ARGS(json_member_get_text(arena, ((struct str *)stickers.items)[i], "name")));
}

static struct str write_content_of_posted_message(struct arena *arena, struct str message)
{
    struct buf out;

    buf_init(&out, 64 * 1024);
    append_quote_of_replied_message(arena, message, &out);
    buf_add_str(&out, json_member_get_text(arena, message, "content"));
    append_links_of_attachments(arena, message, &out);
    struct str text = str_trim(str_dup(arena, buf_as_str(&out)));
    buf_clear(&out);
    return truncate_text_to_message_limit(text, MAX_CONTENT);
}

static void write_author_of_posted_message(struct source_guild_poster *b, struct arena *arena,
                                           struct str message, struct json_writer *j)
{
    struct str author = json_member_get_raw_text(message, "author"),
               avatar = json_member_get_text(arena, author, "avatar");
    const char *url = b->follow->options->public_url;

    json_write_name(j, "username");
    json_write_text(j, make_webhook_username(arena, choose_webhook_name_of_author(arena, message)));
    if (!url || !avatar.n)
        return;
    json_write_name(j, "avatar_url");
    json_write_text(j, str_printf(arena, "%s/avatars/%" PRIu64 "/%.*s.png", url,
                                  json_member_get_id(author, "id"), STR_ARGS(avatar)));
}

struct str source_guild_poster_write_body(struct source_guild_poster *b, struct arena *arena,
                                          struct str message, bool edit)
{
    struct str author = json_member_get_raw_text(message, "author"),
               content = write_content_of_posted_message(arena, message),
               embeds = json_member_get_raw_text(message, "embeds");
    bool has_embeds = embeds.n > 2 && (json_member_is_true(author, "bot") ||
                                       json_member_get_raw_text(message, "webhook_id").n);
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
