/* message_content.c - which bots get the content of messages, in events and in answers. */
#include "model/message_content.h"

#include "json/read.h"
#include "json/write.h"
#include "model/ids.h"

bool content_is_hidden(const struct content_reader *reader, bool in_guild, snowflake author_id,
                       const snowflake *mentioned, size_t count)
{
    if (!reader->bot || reader->granted || !in_guild || author_id == reader->id)
        return false;
    for (size_t i = 0; i < count; i++)
        if (mentioned[i] == reader->id)
            return false;
    return true;
}

/* --- emptying a message --------------------------------------------------------------- */

/* The empty value of a member that holds content; p == NULL: it holds none. */
static struct str empty_value(struct str key)
{
    if (str_is(key, "content") || str_is(key, "matched_content"))
        return STR("\"\"");
    if (str_is(key, "embeds") || str_is(key, "attachments") || str_is(key, "components"))
        return STR("[]");
    return (struct str){ 0 };
}

enum { LONGEST_MESSAGE = 4 * 1024 * 1024 };

/* Forwarded messages: [{"message": …}]. */
static struct str snapshots_emptied(struct str snapshots, struct arena *arena)
{
    struct json_reader r;
    struct str key, message;
    struct buf out;

    buf_init(&out, LONGEST_MESSAGE);
    json_reader_init(&r, snapshots, arena);
    json_enter(&r);
    while (json_next_item(&r)) {
        json_enter(&r);
        while (json_next_member(&r, &key) && json_skip(&r, &message)) {
            buf_add_lit(&out, "[{\"message\":");
            message_emptied(message, arena, &out);
            buf_add_lit(&out, "}]");
        }
    }
    return buf_take(&out, arena);
}

static struct str emptied_text(struct str message, struct arena *arena)
{
    struct buf out;

    if (str_is(message, "null"))
        return message;
    buf_init(&out, LONGEST_MESSAGE);
    message_emptied(message, arena, &out);
    return buf_take(&out, arena);
}

void message_emptied(struct str message, struct arena *arena, struct buf *out)
{
    struct json_reader r;
    struct json j = json_to(out);
    struct str key, raw;

    json_reader_init(&r, message, arena);
    json_enter(&r);
    json_object(&j);
    while (json_next_member(&r, &key)) {
        struct str empty = empty_value(key);

        if (!json_skip(&r, &raw))
            break;
        if (str_is(key, "poll"))
            continue;
        json_key_text(&j, key);
        if (str_is(key, "message_snapshots"))
            raw = snapshots_emptied(raw, arena);
        else if (str_is(key, "referenced_message"))
            raw = emptied_text(raw, arena);
        json_raw(&j, empty.p ? empty : raw);
    }
    json_object_end(&j);
}

/* --- messages in answers -------------------------------------------------------------- */

/* The id of a user object that comes next; 0: it has none. */
static snowflake next_user_id(struct json_reader *r)
{
    struct str key, raw, text;
    snowflake id = 0;

    if (json_peek(r) != JSON_OBJECT) {
        json_skip(r, &raw);
        return 0;
    }
    json_enter(r);
    while (json_next_member(r, &key))
        if (str_is(key, "id") && json_peek(r) == JSON_STRING) {
            if (json_take_string(r, &text) && !snowflake_parse(text, &id))
                id = 0;
        } else if (!json_skip(r, &raw)) {
            break;
        }
    return id;
}

struct str message_for_reader(struct str message, const struct content_reader *reader,
                              struct arena *arena)
{
    struct list mentioned = { 0 };
    snowflake author_id = 0;
    struct json_reader r;
    struct str key, raw;

    json_reader_init(&r, message, arena);
    json_enter(&r);
    while (json_next_member(&r, &key)) {
        if (str_is(key, "author")) {
            author_id = next_user_id(&r);
        } else if (str_is(key, "mentions") && json_peek(&r) == JSON_ARRAY) {
            json_enter(&r);
            while (json_next_item(&r))
                ids_add(arena, &mentioned, next_user_id(&r));
        } else if (!json_skip(&r, &raw)) {
            break;
        }
    }
    return content_is_hidden(reader, true, author_id, mentioned.items, mentioned.count)
               ? emptied_text(message, arena)
               : message;
}
