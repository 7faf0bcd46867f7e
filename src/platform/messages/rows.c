/* rows.c - SQL of messages and attachments. */
#include "platform/messages/internal.h"

#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/accounts/users.h"
#include "platform/channels/deletion.h"

#define MESSAGE_COLUMNS                                                                 \
    "id, channel_id, author_id, type, content, edited_at, tts, mention_everyone, "      \
    "mentions, mention_roles, embeds, components, pinned, flags, webhook_id, "          \
    "webhook_name, webhook_avatar, application_id, interaction, interaction_metadata, " \
    "ephemeral_for, attachment_count, reference_message_id, reference_channel_id, "     \
    "reference_guild_id, pinned_at, call, position, reacted, "                          \
    "polled, sticker_items, snapshot, reactions"

static void decode_id_list(struct tx *tx, struct str json, struct list *ret)
{
    struct form form = { .arena = tx_arena(tx) };
    void *list;

    if (json.n <= 2)
        return; /* the JSON is "[]": most messages mention nobody */
    if (schema_decode(&type_ids, json, &form, &list) == OK)
        *ret = *(struct list *)list;
}

static struct str encode_id_list(struct tx *tx, const struct list *ids)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    if (!ids->count)
        return STR("[]"); /* most messages mention nobody */
    buf_init(&out, 64 * 1024);
    schema_encode(&j, &type_ids, ids);
    return buf_move_to_arena(&out, tx_arena(tx));
}

/* Mentions are stored as ids; show.c adds the users in the same order. */
static void decode_mentions(struct tx *tx, struct str json, struct list *ret)
{
    struct list ids = { 0 };

    decode_id_list(tx, json, &ids);
    for (size_t i = 0; i < ids.count; i++) {
        struct mentioned_user *m = list_append(tx_arena(tx), ret, sizeof *m);

        m->user.id = ((snowflake *)ids.items)[i];
    }
}

static struct str encode_mentions(struct tx *tx, const struct list *mentions)
{
    struct list ids = { 0 };

    for (size_t i = 0; i < mentions->count; i++)
        id_list_add(tx_arena(tx), &ids, ((struct mentioned_user *)mentions->items)[i].user.id);
    return encode_id_list(tx, &ids);
}

static struct opt_str optional_text_column(const struct rows *r, int column)
{
    return (struct opt_str){ row_column_is_null(r, column) ? ABSENT : GIVEN, row_text(r, column) };
}

static const struct message_reference *message_reference_from_row(const struct rows *r)
{
    if (row_column_is_null(r, 23))
        return NULL;
    struct message_reference *ref = arena_alloc(tx_arena(r->tx), sizeof *ref);
    *ref = (struct message_reference){
        .message_id = row_id_or_absent(r, 22),
        .channel_id = row_id(r, 23),
        .guild_id = row_id_or_absent(r, 24),
        .type = row_column_is_null(r, 31) ? REFERENCE_REPLY : REFERENCE_FORWARD,
    };
    return ref;
}

static void message_from_row(const struct rows *r, void *ret)
{
    struct message *m = ret;

    *m = (struct message){
        .id = row_id(r, 0),
        .channel_id = row_id(r, 1),
        .author_id = row_id(r, 2),
        .type = row_int(r, 3),
        .content = row_text(r, 4),
        .timestamp = snowflake_to_ms(row_id(r, 0)) * 1000,
        .edited_timestamp = row_optional_int(r, 5),
        .tts = row_bool(r, 6),
        .mention_everyone = row_bool(r, 7),
        .embeds = row_text(r, 10),
        .components = row_text(r, 11),
        .pinned = row_bool(r, 12),
        .flags = row_int(r, 13),
        .webhook_id = row_id_or_absent(r, 14),
        .webhook_name = row_optional_text(r, 15),
        .webhook_avatar = row_optional_text(r, 16),
        .application_id = row_id_or_absent(r, 17),
        .interaction = optional_text_column(r, 18),
        .interaction_metadata = optional_text_column(r, 19),
        .ephemeral_for = row_id(r, 20),
        .message_reference = message_reference_from_row(r),
        .pinned_at = row_int(r, 25),
        .call = optional_text_column(r, 26),
        .position = { row_column_is_null(r, 27) ? ABSENT : GIVEN, row_int(r, 27) },
        .reacted = row_int(r, 28),
        .polled = row_bool(r, 29),
        .sticker_items = optional_text_column(r, 30),
        .snapshot = optional_text_column(r, 31),
        .stored_reactions = optional_text_column(r, 32),
    };
    /* The messages row stores only the number of attachments. The attachment rows are read later,
     * if needed. */
    m->attachments.count = (size_t)row_int(r, 21);
    decode_mentions(r->tx, row_text(r, 8), &m->mentions);
    decode_id_list(r->tx, row_text(r, 9), &m->mention_roles);
}

static const char FIND_MESSAGE[] =
    "select " MESSAGE_COLUMNS " from messages where id = $1 and channel_id = $2";

enum err message_row_read(struct tx *tx, snowflake channel_id, snowflake id, struct message *ret,
                          bool *ret_found)
{
    return tx_find_first(tx, FIND_MESSAGE, BIND(v_id(id), v_id(channel_id)), message_from_row, ret,
                         ret_found);
}

static const char FIND_PUBLIC[] =
    "select " MESSAGE_COLUMNS " from messages where id = $1 and ephemeral_for is null and "
    "not" CHANNEL_BEING_DELETED("messages.channel_id");

enum err message_read_row_unless_ephemeral(struct tx *tx, snowflake id, struct message *ret,
                                           bool *ret_found)
{
    return tx_find_first(tx, FIND_PUBLIC, BIND(v_id(id)), message_from_row, ret, ret_found);
}

/* --- pages of a channel's messages ---------------------------------------------------- */

#define PAGE_COLUMNS "id, channel_id, author_id, shown, reacted, reactions"

#define OF_CHANNEL_BEFORE                                                              \
    " from messages where channel_id = $1 and id < $2 and ephemeral_for is null order" \
    " by id desc limit $3"
#define OF_CHANNEL_AFTER                                                               \
    " from messages where channel_id = $1 and id > $2 and ephemeral_for is null order" \
    " by id limit $3"
#define AUTHORS_OF(page_) \
    "select " PARTIAL_USER_COLUMNS " from users u where u.id in (select author_id" page_ ")"

static const char PAGE_BEFORE[] = "select " PAGE_COLUMNS OF_CHANNEL_BEFORE;
static const char PAGE_AFTER[] = "select " PAGE_COLUMNS OF_CHANNEL_AFTER;
static const char AUTHORS_BEFORE[] = AUTHORS_OF(OF_CHANNEL_BEFORE);
static const char AUTHORS_AFTER[] = AUTHORS_OF(OF_CHANNEL_AFTER);

/* A contiguous range of messages. A page of messages consists of one range, or of two if it is a
 * page around a message. */
struct page_range {
    bool newer; /* whether the range has messages newer than `from`, else older ones */
    snowflake from;
    int64_t limit;
};

/* Splits a page around a message into two ranges: the message and newer ones (half of the page,
 * rounded up), and older ones. Other pages have one range. */
static size_t split_message_page_into_ranges(const struct message_page_query *page,
                                             struct page_range ret[2])
{
    int64_t newer = (page->limit + 1) / 2;

    if (page->around) {
        ret[0] = (struct page_range){ true, page->around - 1, newer };
        ret[1] = (struct page_range){ false, page->around, page->limit - newer };
        return 2;
    }
    if (page->before || !page->after)
        ret[0] = (struct page_range){ false, page->before ? page->before : INT64_MAX, page->limit };
    else
        ret[0] = (struct page_range){ true, page->after, page->limit };
    return 1;
}

static void partial_message_from_row(const struct rows *r, void *ret)
{
    struct message *m = ret;

    *m = (struct message){
        .id = row_id(r, 0),
        .channel_id = row_id(r, 1),
        .author_id = row_id(r, 2),
        .cached_json = row_column_is_null(r, 3) ? (struct str){ 0 } : row_text(r, 3),
        .reacted = row_int(r, 4),
        .stored_reactions = optional_text_column(r, 5),
    };
}

static void reverse_message_order(struct list *l)
{
    struct message *m = l->items, swap;

    for (size_t i = 0, j = l->count; i + 1 < j; i++) {
        swap = m[i];
        m[i] = m[--j];
        m[j] = swap;
    }
}

/* Reads a range of messages, newest first. */
static enum err read_message_range(struct tx *tx, snowflake channel_id, const struct page_range *s,
                                   struct list *ret)
{
    *ret = (struct list){ 0 };
    list_reserve(tx_arena(tx), ret, sizeof(struct message), (size_t)s->limit);
    enum err e = tx_read_list(tx, s->newer ? SQL(PAGE_AFTER) : SQL(PAGE_BEFORE),
                              BIND(v_id(channel_id), v_id(s->from), v_int(s->limit)),
                              sizeof(struct message), partial_message_from_row, ret);
    if (s->newer)
        reverse_message_order(ret);
    return e;
}

static const char PAGE_WITHOUT_JSON[] =
    "select " MESSAGE_COLUMNS " from messages where channel_id = $1 and id between $2 and $3 and "
    "ephemeral_for is null and shown is null order by id desc";

/* Reads all columns of the messages without precomputed JSON, with one query, in the order of the
 * page of messages. */
static enum err read_messages_without_json(struct tx *tx, snowflake channel_id, struct list *page)
{
    struct message *m = page->items, *end = m + page->count, *last = end;
    struct rows rows;

    while (m < end && m->cached_json.p)
        m++;
    while (last > m && last[-1].cached_json.p)
        last--;
    if (m == end)
        return OK;
    enum err e = tx_query(tx, PAGE_WITHOUT_JSON,
                          BIND(v_id(channel_id), v_id(last[-1].id), v_id(m->id)), &rows);
    if (e)
        return e;
    while (rows_next(&rows)) {
        while (m < last && m->id > row_id(&rows, 0))
            m++;
        if (m < last && m->id == row_id(&rows, 0))
            message_from_row(&rows, m);
    }
    return rows_end(&rows);
}

enum err message_page_read(struct tx *tx, snowflake channel_id,
                           const struct message_page_query *page, struct list *ret)
{
    struct page_range stretches[2];
    size_t count = split_message_page_into_ranges(page, stretches);
    struct list older = { 0 };
    enum err e = read_message_range(tx, channel_id, &stretches[0], ret);

    if (!e && count > 1)
        e = read_message_range(tx, channel_id, &stretches[1], &older);
    for (size_t i = 0; !e && i < older.count; i++)
        *(struct message *)list_append(tx_arena(tx), ret, sizeof(struct message)) =
            ((struct message *)older.items)[i];
    return e ? e : read_messages_without_json(tx, channel_id, ret);
}

static void author_from_row(const struct rows *r, void *ret)
{
    partial_user_from_row(r, 0, ret);
}

enum err message_page_read_authors(struct tx *tx, snowflake channel_id,
                                   const struct message_page_query *page, struct list *ret)
{
    struct page_range s[2];
    size_t count = tx_queries_need_round_trips(tx) ? split_message_page_into_ranges(page, s) : 0;
    enum err e = OK;

    *ret = (struct list){ 0 };
    for (size_t i = 0; i < count && !e; i++)
        e = tx_read_list(tx, s[i].newer ? SQL(AUTHORS_AFTER) : SQL(AUTHORS_BEFORE),
                         BIND(v_id(channel_id), v_id(s[i].from), v_int(s[i].limit)),
                         sizeof(struct user), author_from_row, ret);
    return e;
}

static const char LAST_MESSAGE[] =
    "select " MESSAGE_COLUMNS " from messages where channel_id = $1 and "
    "ephemeral_for is null order by id desc limit 1";

enum err message_read_newest(struct tx *tx, snowflake channel_id, struct list *ret)
{
    return tx_read_list(tx, LAST_MESSAGE, BIND(v_id(channel_id)), sizeof(struct message),
                        message_from_row, ret);
}

#define PINNED " from messages where channel_id = $1 and pinned = 1"
static const char PINS[] = "select " MESSAGE_COLUMNS PINNED " order by id desc";
static const char PIN_AUTHORS[] = AUTHORS_OF(PINNED);

enum err messages_read_pinned(struct tx *tx, snowflake channel_id, struct list *ret,
                              struct list *ret_authors)
{
    enum err e = tx_read_list(tx, PINS, BIND(v_id(channel_id)), sizeof(struct message),
                              message_from_row, ret);

    *ret_authors = (struct list){ 0 };
    if (e || !tx_queries_need_round_trips(tx))
        return e;
    return tx_read_list(tx, PIN_AUTHORS, BIND(v_id(channel_id)), sizeof(struct user),
                        author_from_row, ret_authors);
}

static const char COUNT_PINS[] =
    "select count(*) from messages where channel_id = $1 and pinned = 1";

enum err message_count_pins(struct tx *tx, snowflake channel_id, int64_t *ret)
{
    return tx_read_int(tx, COUNT_PINS, BIND(v_id(channel_id)), ret);
}

static const char FIND_NONCE[] =
    "select id from messages where id in (select id from authored_messages where author_id = $1 "
    "and id > $2) and channel_id = $3 and nonce = $4 order by id limit 1";

enum err message_find_by_nonce(struct tx *tx, snowflake channel_id, snowflake author,
                               struct str nonce, snowflake since, snowflake *ret)
{
    return tx_read_id(tx, FIND_NONCE,
                      BIND(v_id(author), v_id(since), v_id(channel_id), v_text(nonce)), ret);
}

static struct value bind_precomputed_json(struct tx *tx, const struct message *m)
{
    struct str shown = message_precompute_json(tx_arena(tx), m);

    return shown.p ? v_text(shown) : v_null();
}

static const char ADD_MESSAGE[] =
    "insert into messages (id, channel_id, author_id, type, content, tts, mention_everyone, "
    "mentions, mention_roles, embeds, components, flags, nonce, webhook_id, webhook_name, "
    "webhook_avatar, application_id, interaction, interaction_metadata, ephemeral_for, "
    "attachment_count, reference_message_id, reference_channel_id, reference_guild_id, call, "
    "position, polled, sticker_items, snapshot, shown) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, "
    "$19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30)";

enum err message_insert(struct tx *tx, const struct message *m)
{
    const struct message_reference none = { 0 }, *ref = m->message_reference;
    bool refers = ref != NULL;

    if (!ref)
        ref = &none;
    enum err e = tx_exec_deferred(
        tx, ADD_MESSAGE,
        BIND(v_id(m->id), v_id(m->channel_id), v_id(m->author_id), v_int(m->type),
             v_text(m->content), v_int(m->tts), v_int(m->mention_everyone),
             v_text(encode_mentions(tx, &m->mentions)),
             v_text(encode_id_list(tx, &m->mention_roles)), v_text(m->embeds),
             v_text(m->components), v_int(m->flags), sql_value_of_optional_text(m->nonce),
             sql_value_of_optional_id(m->webhook_id), sql_value_of_optional_text(m->webhook_name),
             sql_value_of_optional_text(m->webhook_avatar),
             sql_value_of_optional_id(m->application_id),
             sql_value_of_optional_text(m->interaction),
             sql_value_of_optional_text(m->interaction_metadata),
             m->ephemeral_for ? v_id(m->ephemeral_for) : v_null(),
             v_int((int64_t)(m->attachments.count + m->snapshot_files.count)),
             sql_value_of_optional_id(ref->message_id), refers ? v_id(ref->channel_id) : v_null(),
             sql_value_of_optional_id(ref->guild_id), sql_value_of_optional_text(m->call),
             sql_value_of_optional_int(m->position), v_int(m->polled),
             sql_value_of_optional_text(m->sticker_items), sql_value_of_optional_text(m->snapshot),
             m->cached_json.p ? v_text(m->cached_json) : v_null()));

    if (!e)
        e = message_add_to_indexes_if_late(tx, m);
    for (size_t i = 0; !e && i < m->attachments.count; i++)
        e = attachment_insert(tx, m, &((struct attachment *)m->attachments.items)[i]);
    for (size_t i = 0; !e && i < m->snapshot_files.count; i++)
        e = attachment_insert(tx, m, &((struct attachment *)m->snapshot_files.items)[i]);
    return e;
}

static const char SAVE_MESSAGE[] =
    "update messages set content = $2, edited_at = $3, mention_everyone = $4, mentions = $5, "
    "mention_roles = $6, embeds = $7, components = $8, flags = $9, attachment_count = $10, "
    "pinned = $11, interaction_metadata = $12, pinned_at = $13, call = $14, polled = $15, "
    "shown = $16 where id = $1";

enum err message_update(struct tx *tx, const struct message *m)
{
    return tx_exec(
        tx, SAVE_MESSAGE,
        BIND(v_id(m->id), v_text(m->content), sql_value_of_optional_int(m->edited_timestamp),
             v_int(m->mention_everyone), v_text(encode_mentions(tx, &m->mentions)),
             v_text(encode_id_list(tx, &m->mention_roles)), v_text(m->embeds),
             v_text(m->components), v_int(m->flags),
             v_int((int64_t)(m->attachments.count + m->snapshot_files.count)), v_int(m->pinned),
             sql_value_of_optional_text(m->interaction_metadata),
             m->pinned_at ? v_int(m->pinned_at) : v_null(), sql_value_of_optional_text(m->call),
             v_int(m->polled), bind_precomputed_json(tx, m)),
        NULL);
}

enum err message_row_delete(struct tx *tx, snowflake id)
{
    return tx_exec(tx, "delete from messages where id = $1", BIND(v_id(id)), NULL);
}

/* --- rows of attachments ------------------------------------------------------------- */

#define FILE_COLUMNS       "id, filename, description, content_type, size, width, height"
#define ATTACHMENT_COLUMNS FILE_COLUMNS ", file_id, snapshot, title, duration_secs, waveform, flags"

static void attachment_from_row(const struct rows *r, void *ret)
{
    struct attachment *a = ret;

    *a = (struct attachment){
        .id = row_id(r, 0),
        .filename = row_text(r, 1),
        .description = optional_text_column(r, 2),
        .content_type = optional_text_column(r, 3),
        .size = row_int(r, 4),
        .width = row_int_or_absent(r, 5),
        .height = row_int_or_absent(r, 6),
        .file_id = row_id(r, 7),
        .snapshot = row_bool(r, 8),
        .title = optional_text_column(r, 9),
        .duration_secs = { row_column_is_null(r, 10) ? ABSENT : GIVEN, row_real(r, 10) },
        .waveform = optional_text_column(r, 11),
        .flags = { row_int(r, 12) ? GIVEN : ABSENT, row_int(r, 12) },
    };
}

static const char READ_ATTACHMENTS[] =
    "select " ATTACHMENT_COLUMNS " from attachments where message_id = $1 order by id";

enum err attachments_read(struct tx *tx, snowflake message_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, READ_ATTACHMENTS, BIND(v_id(message_id)), sizeof(struct attachment),
                        attachment_from_row, ret);
}

static const char ADD_ATTACHMENT[] =
    "insert into attachments (id, message_id, channel_id, filename, description, content_type, "
    "size, width, height, file_id, snapshot, title, duration_secs, waveform, flags) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) "
    "on conflict (id) do update set description = $5";

enum err attachment_insert(struct tx *tx, const struct message *m, const struct attachment *a)
{
    return tx_exec(tx, ADD_ATTACHMENT,
                   BIND(v_id(a->id), v_id(m->id), v_id(m->channel_id), v_text(a->filename),
                        sql_value_of_optional_text(a->description),
                        sql_value_of_optional_text(a->content_type), v_int(a->size),
                        sql_value_of_optional_int(a->width), sql_value_of_optional_int(a->height),
                        v_id(a->file_id ? a->file_id : a->id), v_int(a->snapshot),
                        sql_value_of_optional_text(a->title),
                        a->duration_secs.given == GIVEN ? v_real(a->duration_secs.value) : v_null(),
                        sql_value_of_optional_text(a->waveform), v_int(a->flags.value)),
                   NULL);
}

enum err attachment_row_delete(struct tx *tx, snowflake id)
{
    return tx_exec(tx, "delete from attachments where id = $1", BIND(v_id(id)), NULL);
}

static const char USED_ELSEWHERE[] =
    "select 1 from attachments where file_id = $1 and id <> $2 limit 1";

enum err attachment_delete_file_if_unshared(struct call *call, const struct attachment *a)
{
    snowflake file = a->file_id ? a->file_id : a->id;
    bool used = false;
    enum err e = tx_exists(call->tx, USED_ELSEWHERE, BIND(v_id(file), v_id(a->id)), &used);

    return e || used ? e : attachment_delete_file(call, file);
}

/* Finds the file of an attachment URL: an attachment of a message, or a file of a command option,
 * of a modal or of an application. */
static const char FIND_ATTACHMENT[] =
    "select " ATTACHMENT_COLUMNS " from attachments where id = $1 and channel_id = $2 union all "
    "select " FILE_COLUMNS
    ", id, 0, null, null, null, 0 from interaction_files where id = $1 and channel_id = $2 "
    "union all select file_id, filename, null, content_type, size, width, height, file_id, 0, null, "
    "null, null, 0 from cloud_uploads where file_id = $1 and place_id = $2 and place_id is not null";

enum err attachment_find(struct tx *tx, snowflake channel_id, snowflake id, struct attachment *ret)
{
    return tx_read_first(tx, FIND_ATTACHMENT, BIND(v_id(id), v_id(channel_id)), attachment_from_row,
                         ret, ERR_NOT_FOUND);
}
