/* exported_tables.c - SQL of the exported tables, and their output as JSON. */
#include <string.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "json/write.h"
#include "platform/exports/internal.h"
#include "platform/messages/uploads.h"

/* The tables of an export. Hashes, tokens and data of other users that this user cannot see are not
 * exported. */
const struct exported_table exported_table_list[] = {
    { "account",
      "&id\t$username\t$global_name\t$email\t$phone\t$bio\t$pronouns\t$theme_colors\t$locale\t$date_of_birth\t#premium_type\t"
      "?verified\t?mfa_enabled",
      SQL_TEXT(
          "select id, username, global_name, email, phone, bio, pronouns, theme_colors, locale, date_of_birth, premium_type, "
          "verified, mfa_enabled from users where id = $1 and id > $2 limit $3"),
      NULL },
    { "settings", "&user_id\t$document",
      SQL_TEXT(
          "select user_id, document from user_settings where user_id = $1 and user_id > $2 limit $3"),
      NULL },
    { "settings_protos", "#type\t$settings",
      SQL_TEXT("select type, settings from settings_protos where user_id = $1 and type > $2 "
               "order by type limit $3"),
      NULL },
    /* The page cursor is created_at, which several sessions may share. A page therefore includes
     * all sessions that have the timestamp of its last one. */
    { "sessions", "@created_at\t#kind\t$client\t@last_used_at",
      SQL_TEXT("select created_at, kind, client, last_used_at from tokens where user_id = $1 and "
               "created_at > $2 and created_at <= (select max(created_at) from (select created_at "
               "from tokens where user_id = $1 and created_at > $2 order by created_at limit $3) "
               "page) order by created_at"),
      NULL },
    { "relationships", "&user_id\t#type\t$nickname\t$note",
      SQL_TEXT("select target_id, type, nickname, note from relationships where user_id = $1 and "
               "target_id > $2 order by target_id limit $3"),
      NULL },
    { "notes", "&user_id\t$note",
      SQL_TEXT("select target_id, note from notes where user_id = $1 and target_id > $2 "
               "order by target_id limit $3"),
      NULL },
    { "saved_messages", "&message_id\t&channel_id\t@saved_at\t@due_at",
      SQL_TEXT("select message_id, channel_id, saved_at, due_at from saved_messages where "
               "user_id = $1 and message_id > $2 order by message_id limit $3"),
      NULL },
    { "connections", "#n\t$type\t$id\t$name",
      SQL_TEXT("select 1, type, id, name from connections where user_id = $1 and $2 < 1 limit $3"),
      NULL },
    { "guilds", "&guild_id\t$name\t$nick\t$bio\t@joined_at",
      SQL_TEXT(
          "select m.guild_id, g.name, m.nick, m.bio, m.joined_at from members m join guilds g on "
          "g.id = m.guild_id where m.user_id = $1 and m.guild_id > $2 order by m.guild_id limit $3"),
      NULL },
    { "channels", "&channel_id\t$nick",
      SQL_TEXT("select channel_id, nick from recipients where user_id = $1 and channel_id > $2 "
               "order by channel_id limit $3"),
      NULL },
    { "applications", "&id\t$name\t$description",
      SQL_TEXT(
          "select id, name, description from applications where owner_id = $1 and removed = 0 and "
          "id > $2 order by id limit $3"),
      NULL },
    { "messages", "&id\t&channel_id\t$content\t$embeds\t@edited_at",
      SQL_TEXT("select m.id, m.channel_id, m.content, m.embeds, m.edited_at from (select id from "
               "authored_messages where author_id = $1 and id > $2 order by id limit $3) a "
               "join messages m on m.id = a.id order by m.id"),
      NULL },
    { "avatars", "&id\t$hash",
      SQL_TEXT(
          "select id, avatar from users where id = $1 and id > $2 and avatar is not null limit $3"),
      "avatars" },
    { "banners", "&id\t$hash",
      SQL_TEXT(
          "select id, banner from users where id = $1 and id > $2 and banner is not null limit $3"),
      "banners" },
    /* The page cursor is the message id. A page therefore includes all attachments of its last
     * message. */
    { "attachments", "&message_id\t$filename\t&id",
      SQL_TEXT(
          "select m.id, a.filename, case when a.file_id = 0 then a.id else a.file_id end "
          "from (select id from authored_messages where author_id = $1 and id > $2 and exists (select "
          "1 from messages w where w.id = authored_messages.id and w.attachment_count > 0) "
          "order by id limit $3) m join attachments a on a.message_id = m.id order by m.id, a.id"),
      "attachment" },
    { "reports", "&id\t&message_id\t$reason\t$comment\t@closed_at",
      SQL_TEXT(
          "select id, message_id, reason, comment, closed_at from reports where reporter_id = $1 and "
          "id > $2 order by id limit $3"),
      NULL },
};

int exported_table_count(void)
{
    return (int)COUNT_OF(exported_table_list);
}

/* --- writing rows as JSON ------------------------------------------------------------ */

static void write_cell_json(struct json_writer *j, char kind, const struct rows *r, int column)
{
    char text[TIMESTAMP_TEXT_SIZE];

    if (row_column_is_null(r, column)) {
        json_write_null(j);
    } else if (kind == '&') {
        json_write_id(j, row_id(r, column));
    } else if (kind == '#') {
        json_write_int(j, row_int(r, column));
    } else if (kind == '?') {
        json_write_bool(j, row_bool(r, column));
    } else if (kind == '@') {
        timestamp_format(row_int(r, column), text);
        json_write_text(j, str_of(text));
    } else {
        json_write_text(j, row_text(r, column));
    }
}

static void write_row_json(struct buf *out, const struct exported_table *part, const struct rows *r)
{
    struct str columns = str_of(part->columns);
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    for (int column = 0; columns.n; column++) {
        struct str name = str_cut(&columns, '\t');
        char kind = *name.p;

        json_write_key(&j, str_skip_bytes(name, 1));
        write_cell_json(&j, kind, r, column);
    }
    json_end_object(&j);
    buf_add_char(out, '\n');
}

enum err data_export_write_table_page(struct call *call, const struct exported_table *part,
                                      snowflake user_id, int64_t after, int64_t limit,
                                      struct buf *out, int64_t *ret_last, bool *ret_ended)
{
    enum { PAGE_TEXT = 512 * 1024 }; /* A page ends after this many bytes of JSON. */
    struct rows rows;
    int64_t count = 0;
    enum err e =
        tx_query(call->tx, part->sql, BIND(v_id(user_id), v_int(after), v_int(limit)), &rows);

    *ret_last = after;
    if (e)
        return e;
    for (; out->n < PAGE_TEXT && rows_next(&rows); count++) {
        write_row_json(out, part, &rows);
        *ret_last = row_int(&rows, 0);
    }
    *ret_ended = out->n < PAGE_TEXT && count < limit;
    return rows_end(&rows);
}

static void set_export_file_names(struct call *call, const struct exported_table *part,
                                  const struct rows *r, struct exported_file *ret)
{
    char blob[64];

    if (strcmp(part->blob_of, "attachment") != 0) {
        ret->blob = str_dup_cstring(
            call->arena, str_printf(call->arena, "%s/%llu/%.*s", part->blob_of,
                                    (unsigned long long)row_id(r, 0), STR_ARGS(row_text(r, 1))));
        ret->name = str_dup_cstring(call->arena, str_printf(call->arena, "files/%s", part->name));
        return;
    }
    /* The export names the file by its id, because file names of users are untrusted. */
    attachment_blob_name(row_id(r, 2), blob);
    ret->blob = str_dup_cstring(call->arena, str_of(blob));
    ret->name = str_dup_cstring(call->arena, str_printf(call->arena, "files/%llu/%llu",
                                                        (unsigned long long)row_id(r, 0),
                                                        (unsigned long long)row_id(r, 2)));
}

enum err data_export_list_files(struct call *call, const struct exported_table *part,
                                snowflake user_id, int64_t after, int64_t limit, struct list *ret,
                                int64_t *ret_last, int64_t *ret_rows)
{
    enum { MOST_FILES = 200 };
    struct exported_file *files = arena_array(call->arena, struct exported_file, MOST_FILES);
    struct rows rows;
    size_t count = 0;
    enum err e =
        tx_query(call->tx, part->sql, BIND(v_id(user_id), v_int(after), v_int(limit)), &rows);

    *ret_last = after;
    *ret_rows = 0;
    if (e)
        return e;
    while (count < MOST_FILES && rows_next(&rows)) {
        set_export_file_names(call, part, &rows, &files[count++]);
        *ret_last = row_int(&rows, 0);
        ++*ret_rows;
    }
    *ret = (struct list){ .items = files, .count = count };
    return rows_end(&rows);
}
