/* message_content.c - hides the content of messages from bots without MESSAGE_CONTENT. */
#include "model/permissions/message_content.h"

#include <string.h>

#include "json/read.h"
#include "json/write.h"
#include "model/fields/ids.h"

static bool reader_owns_message(const struct message_content_reader *reader,
                                const struct message_author_and_mentions *from)
{
    return from->author_id == reader->id ||
           (reader->application_id && from->application_id == reader->application_id);
}

bool message_content_is_hidden(const struct message_content_reader *reader, bool in_guild,
                               const struct message_author_and_mentions *from)
{
    if (!reader->bot || reader->granted || !in_guild || reader_owns_message(reader, from))
        return false;
    for (size_t i = 0; i < from->mentioned_count; i++)
        if (from->mentioned[i] == reader->id)
            return false;
    return true;
}

/* Returns the empty value that replaces a field with message content; NULL pointer for other
 * fields. */
static struct str get_empty_value_of_content_field(struct str key)
{
    if (str_is(key, "content") || str_is(key, "matched_content"))
        return STR("\"\"");
    if (str_is(key, "embeds") || str_is(key, "attachments") || str_is(key, "components"))
        return STR("[]");
    return (struct str){ 0 };
}

enum { MAX_MESSAGE_BYTES = 4 * 1024 * 1024 };

static struct str strip_message_content(struct str message, struct arena *arena)
{
    struct buf out;

    if (str_is(message, "null"))
        return message;
    buf_init(&out, MAX_MESSAGE_BYTES);
    append_message_without_content(message, arena, &out);
    return buf_move_to_arena(&out, arena);
}

/* Removes the content of forwarded messages. `snapshots` is the JSON [{"message": …}, …]. */
static struct str strip_snapshots_content(struct str snapshots, struct arena *arena)
{
    struct json_reader r;
    struct str key, message;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, MAX_MESSAGE_BYTES);
    json_reader_init(&r, snapshots, arena);
    json_enter_container(&r);
    json_begin_array(&j);
    while (json_next_item(&r)) {
        json_enter_container(&r);
        json_begin_object(&j);
        while (json_next_member(&r, &key) && json_skip_value(&r, &message)) {
            json_write_escaped_key(&j, key);
            json_write_raw(&j, str_is(key, "message") ? strip_message_content(message, arena)
                                                      : message);
        }
        json_end_object(&j);
    }
    json_end_array(&j);
    return buf_move_to_arena(&out, arena);
}

void append_message_without_content(struct str message, struct arena *arena, struct buf *out)
{
    struct json_reader r;
    struct json_writer j = json_writer_to_buf(out);
    struct str key, raw;

    json_reader_init(&r, message, arena);
    json_enter_container(&r);
    json_begin_object(&j);
    while (json_next_member(&r, &key)) {
        struct str empty = get_empty_value_of_content_field(key);

        if (!json_skip_value(&r, &raw))
            break;
        if (str_is(key, "poll"))
            continue;
        json_write_escaped_key(&j, key);
        if (str_is(key, "message_snapshots"))
            raw = strip_snapshots_content(raw, arena);
        else if (str_is(key, "referenced_message"))
            raw = strip_message_content(raw, arena);
        json_write_raw(&j, empty.p ? empty : raw);
    }
    json_end_object(&j);
}

static snowflake read_id_or_zero(struct json_reader *r)
{
    struct str text;
    snowflake id = 0;

    if (json_peek_kind(r) != JSON_STRING)
        json_skip_value(r, &text);
    else if (json_read_string(r, &text) && !snowflake_parse(text, &id))
        id = 0;
    return id;
}

/* Reads a user object. Returns its id, and sets *ret_bot to whether it is a bot or a webhook. */
static snowflake read_user_object_id(struct json_reader *r, bool *ret_bot)
{
    struct str key, raw;
    snowflake id = 0;

    *ret_bot = false;
    if (json_peek_kind(r) != JSON_OBJECT) {
        json_skip_value(r, &raw);
        return 0;
    }
    json_enter_container(r);
    while (json_next_member(r, &key))
        if (str_is(key, "id"))
            id = read_id_or_zero(r);
        else if (!json_skip_value(r, &raw))
            break;
        else if (str_is(key, "bot"))
            *ret_bot = str_is(raw, "true");
    return id;
}

/* Reads author and mentions of a message. Sets *ret_bot to true if a bot or webhook is the
 * author. */
static struct message_author_and_mentions read_author_and_mentions(struct str message,
                                                                   struct arena *arena,
                                                                   bool *ret_bot)
{
    struct message_author_and_mentions from = { 0 };
    struct list mentioned = { 0 };
    struct json_reader r;
    struct str key, raw;
    bool other;

    *ret_bot = false;
    json_reader_init(&r, message, arena);
    json_enter_container(&r);
    while (json_next_member(&r, &key)) {
        if (str_is(key, "author")) {
            from.author_id = read_user_object_id(&r, ret_bot);
        } else if (str_is(key, "application_id")) {
            from.application_id = read_id_or_zero(&r);
        } else if (str_is(key, "mentions") && json_peek_kind(&r) == JSON_ARRAY) {
            json_enter_container(&r);
            while (json_next_item(&r))
                id_list_add(arena, &mentioned, read_user_object_id(&r, &other));
        } else if (!json_skip_value(&r, &raw)) {
            break;
        }
    }
    from.mentioned = mentioned.items;
    from.mentioned_count = mentioned.count;
    return from;
}

struct str build_message_json_for_reader(struct str message, bool in_guild,
                                         const struct message_content_reader *reader,
                                         struct arena *arena)
{
    bool by_bot;
    struct message_author_and_mentions from = read_author_and_mentions(message, arena, &by_bot);

    return message_content_is_hidden(reader, in_guild, &from)
               ? strip_message_content(message, arena)
               : build_message_json_with_readable_references(message, in_guild, reader, arena);
}

/* Returns whether the message has the field referenced_message. Quotation marks inside JSON strings
 * are escaped, so the searched text cannot be part of a string. */
static bool contains_referenced_message(struct str message)
{
    static const char QUOTED_REPLY[] = "\"referenced_message\":{";

    return memmem(message.p, message.n, QUOTED_REPLY, sizeof QUOTED_REPLY - 1);
}

struct str build_message_json_with_readable_references(struct str message, bool in_guild,
                                                       const struct message_content_reader *reader,
                                                       struct arena *arena)
{
    bool by_bot;
    struct json_reader r;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    struct str key, raw;

    if (!reader->bot || reader->granted || !contains_referenced_message(message))
        return message;
    read_author_and_mentions(message, arena, &by_bot);
    if (!by_bot)
        return message;
    buf_init(&out, MAX_MESSAGE_BYTES);
    json_reader_init(&r, message, arena);
    json_enter_container(&r);
    json_begin_object(&j);
    while (json_next_member(&r, &key) && json_skip_value(&r, &raw)) {
        json_write_escaped_key(&j, key);
        if (str_is(key, "referenced_message") && !str_is(raw, "null"))
            raw = build_message_json_for_reader(raw, in_guild, reader, arena);
        json_write_raw(&j, raw);
    }
    json_end_object(&j);
    return buf_move_to_arena(&out, arena);
}
