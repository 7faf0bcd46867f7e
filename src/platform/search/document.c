/* document.c - converts a message to its search terms (a "document"). */
#include "platform/search/internal.h"

#include <sodium.h>

#include "base/mem.h"
#include "json/number.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "model/fields/types.h"
#include "model/text/search_words.h"

/* --- terms ---------------------------------------------------------------------------- */

struct str search_term_of_id(struct arena *a, char kind, snowflake id)
{
    char text[22] = { '_', kind };
    size_t n = 2 + format_decimal_digits(id, text + 2);

    return str_dup(a, str_slice(text, n));
}

struct str search_term_of_word(struct arena *a, char kind, struct str word)
{
    char begin[2] = { '_', kind };

    return STR_CONCAT(a, str_slice(begin, sizeof begin), word);
}

struct str search_term_of_name(struct arena *a, char kind, struct str name)
{
    unsigned char digest[crypto_generichash_BYTES_MIN];
    struct str low = str_lower(a, name), hex;

    crypto_generichash(digest, sizeof digest, (const unsigned char *)low.p, low.n, NULL, 0);
    hex = str_hex_encode(a, digest, sizeof digest);
    return search_term_of_word(a, kind, hex);
}

static void add_document_term(struct arena *a, struct search_document *d, struct str mark)
{
    *(struct str *)list_append(a, &d->marks, sizeof mark) = mark;
}

static void add_id_terms(struct arena *a, struct search_document *d, char kind, struct str json)
{
    struct list ids = json_column_decode_list(a, &type_ids, json);

    for (size_t i = 0; i < ids.count; i++)
        add_document_term(a, d, search_term_of_id(a, kind, ((const snowflake *)ids.items)[i]));
}

static void add_word_terms(struct arena *a, struct search_document *d, char kind, struct str text)
{
    struct list words = split_into_search_words(a, normalize_search_text(a, text), false);
    const struct str *w = words.items;

    for (size_t i = 0; i < words.count; i++)
        add_document_term(a, d, kind ? search_term_of_word(a, kind, w[i]) : w[i]);
}

/* --- links ---------------------------------------------------------------------------- */

static size_t url_scheme_length(struct str text)
{
    return str_starts_with(text, STR("https://"))  ? 8
           : str_starts_with(text, STR("http://")) ? 7
                                                   : 0;
}

static bool is_url_host_terminator(char c)
{
    return (unsigned char)c <= ' ' || strchr("/:?#<>()\"'|*`", c);
}

static void add_link_terms(struct arena *a, struct search_document *d, struct str text)
{
    bool found = false;

    for (; text.n; text = str_skip_bytes(text, 1)) {
        size_t scheme = text.p[0] == 'h' ? url_scheme_length(text) : 0, n = 0;
        struct str host = str_skip_bytes(text, scheme);

        while (scheme && n < host.n && !is_url_host_terminator(host.p[n]))
            n++;
        if (!n)
            continue;
        add_document_term(a, d, search_term_of_name(a, 'h', str_slice(host.p, n)));
        found = true;
    }
    if (found)
        add_document_term(a, d, STR("_haslink"));
}

/* --- embeds and files ----------------------------------------------------------------- */

struct embed_provider {
    struct opt_str name;
};
struct indexed_embed {
    struct opt_str type;
    const struct embed_provider *provider;
};
static const struct field source_fields[] = {
    { FIELD(struct embed_provider, name), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema source_schema = { .size = sizeof(struct embed_provider),
                                             .fields = source_fields };
static const struct type type_source = { .kind = KIND_OBJECT, .schema = &source_schema };
static const struct field indexed_embed_fields[] = {
    { FIELD(struct indexed_embed, type), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct indexed_embed, provider), .type = &type_source, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema indexed_embed_schema = { .size = sizeof(struct indexed_embed),
                                                    .fields = indexed_embed_fields };
static const struct type type_indexed_embed = { .kind = KIND_OBJECT,
                                                .schema = &indexed_embed_schema };
static const struct type type_indexed_embeds = { .kind = KIND_ARRAY, .of = &type_indexed_embed };

/* Returns the name that the search API uses for an embed type, or NULL: no filter finds the embed
 * then. The type of an imported embed may be any text, so it must not become a term itself. */
static const char *search_name_of_embed_type(struct str type)
{
    static const struct {
        const char *type, *name;
    } names[] = {
        { "rich", "article" }, { "article", "article" }, { "gifv", "gif" },    { "gif", "gif" },
        { "image", "image" },  { "video", "video" },     { "sound", "sound" },
    };

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_is(type, names[i].type))
            return names[i].name;
    return NULL;
}

static void add_embed_terms(struct arena *a, struct search_document *d, struct str json)
{
    struct list embeds = json_column_decode_list(a, &type_indexed_embeds, json);
    const struct indexed_embed *e = embeds.items;

    for (size_t i = 0; i < embeds.count; i++) {
        struct str type = str_lower(a, e[i].type.value);
        const char *name = search_name_of_embed_type(type);

        add_document_term(a, d, STR("_hasembed"));
        if (name)
            add_document_term(a, d, search_term_of_word(a, 't', str_of(name)));
        if (str_is(type, "image") || str_is(type, "video"))
            add_document_term(a, d, STR_CONCAT(a, STR("_has"), type));
        if (e[i].provider && e[i].provider->name.given == GIVEN)
            add_document_term(a, d, search_term_of_name(a, 'v', e[i].provider->name.value));
    }
}

#define READ_FILES \
    "select message_id, filename, content_type from attachments where snapshot = 0 and message_id "
static const char FILES_SQLITE[] = READ_FILES "in (select value from json_each($1)) "
                                              "order by message_id, id";
static const char FILES_POSTGRES[] = READ_FILES "= any (cast(cast($1 as text) as bigint[])) "
                                                "order by message_id, id";

struct indexed_file {
    struct str name, type;
};

static void add_file_terms(struct arena *a, struct search_document *d, const struct indexed_file *f)
{
    struct str name = f->name, type = f->type, extension = { 0 };

    add_document_term(a, d, STR("_hasfile"));
    if (str_starts_with(type, STR("image/")))
        add_document_term(a, d, STR("_hasimage"));
    if (str_starts_with(type, STR("video/")))
        add_document_term(a, d, STR("_hasvideo"));
    if (str_starts_with(type, STR("audio/")))
        add_document_term(a, d, STR("_hassound"));
    add_word_terms(a, d, 'n', name);
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '.')
            extension = str_skip_bytes(name, i + 1);
    if (extension.n)
        add_document_term(a, d, search_term_of_name(a, 'x', extension));
}

static struct search_document *find_document_of_message(const struct list *documents, snowflake id)
{
    for (size_t i = 0; i < documents->count; i++) {
        struct search_document *d = &((struct search_document *)documents->items)[i];

        if (d->id == id)
            return d;
    }
    return NULL;
}

/* Reads the attachments of the messages `ids` into the documents of these messages. */
static enum err read_files_of_documents(struct tx *tx, const struct list *ids,
                                        const struct list *documents)
{
    bool sqlite = !tx_queries_need_round_trips(tx);
    struct str text =
        format_ids_as_sql_search_parameter(tx_arena(tx), ids->items, ids->count, sqlite);
    struct search_document *d = NULL;
    struct rows rows;
    enum err e = ids->count ? tx_query(tx, sqlite ? SQL(FILES_SQLITE) : SQL(FILES_POSTGRES),
                                       BIND(v_text(text)), &rows)
                            : OK;

    if (e || !ids->count)
        return e;
    while (rows_next(&rows)) {
        if (!d || d->id != row_id(&rows, 0))
            d = find_document_of_message(documents, row_id(&rows, 0));
        if (d)
            *(struct indexed_file *)list_append(tx_arena(tx), &d->files,
                                                sizeof(struct indexed_file)) =
                (struct indexed_file){ .name = row_text(&rows, 1), .type = row_text(&rows, 2) };
    }
    return rows_end(&rows);
}

/* --- documents ------------------------------------------------------------------------ */

#define UNINDEXED_COLUMNS                                                                    \
    "select m.id, m.channel_id, c.guild_id, c.type, c.parent_id, m.author_id, u.bot, "       \
    "m.webhook_name, m.content, m.embeds, m.attachment_count, m.mentions, m.mention_roles, " \
    "m.mention_everyone, m.pinned, m.reference_message_id, r.author_id, m.polled, "          \
    "m.sticker_items, case when m.snapshot is null then 0 else 1 end "                       \
    "from ("
#define QUEUED "select message_id from message_unindexed "
#define QUEUED_OR_NEW                                                       \
    QUEUED "union select id from messages where ephemeral_for is null and " \
           "id > (select indexed_to from message_index_progress) "
#define UNINDEXED_TABLES                                                              \
    ") q join messages m on m.id = q.message_id "                                     \
    "join channels c on c.id = m.channel_id left join users u on u.id = m.author_id " \
    "left join messages r on r.id = m.reference_message_id order by m.id "

static const char READ_OLDEST_SQLITE[] =
    UNINDEXED_COLUMNS QUEUED_OR_NEW "order by message_id asc limit $1" UNINDEXED_TABLES "asc";
static const char READ_NEWEST_SQLITE[] =
    UNINDEXED_COLUMNS QUEUED_OR_NEW "order by message_id desc limit $1" UNINDEXED_TABLES "desc";
static const char READ_OLDEST_POSTGRES[] = UNINDEXED_COLUMNS QUEUED
    "order by message_id asc limit $1 for update skip locked" UNINDEXED_TABLES "asc";
static const char READ_NEWEST_POSTGRES[] =
    UNINDEXED_COLUMNS QUEUED "order by message_id desc limit $1" UNINDEXED_TABLES "desc";

struct unindexed_message {
    struct search_document document;
    int64_t files;
};

static void add_channel_terms(struct arena *a, struct search_document *d, const struct rows *r)
{
    int64_t type = row_int(r, 3);

    add_document_term(a, d, search_term_of_id(a, 'c', row_id(r, 1)));
    if (channel_is_private(type))
        return;
    add_document_term(a, d, search_term_of_id(a, 'g', row_id(r, 2)));
    if (!channel_is_thread(type))
        return;
    add_document_term(a, d, search_term_of_id(a, 'p', row_id(r, 4)));
    if (type == CHANNEL_PRIVATE_THREAD)
        add_document_term(a, d, STR("_private"));
}

static void add_user_terms(struct arena *a, struct search_document *d, const struct rows *r)
{
    add_document_term(a, d, search_term_of_id(a, 'a', row_id(r, 5)));
    if (!row_column_is_null(r, 7))
        add_document_term(a, d, STR("_webhook"));
    else if (row_bool(r, 6))
        add_document_term(a, d, STR("_bot"));
    add_id_terms(a, d, 'm', row_text(r, 11));
    add_id_terms(a, d, 'r', row_text(r, 12));
    if (row_bool(r, 13))
        add_document_term(a, d, STR("_everyone"));
    if (!row_column_is_null(r, 15))
        add_document_term(a, d, search_term_of_id(a, 'w', row_id(r, 15)));
    if (!row_column_is_null(r, 16))
        add_document_term(a, d, search_term_of_id(a, 's', row_id(r, 16)));
}

static void unindexed_message_from_row(const struct rows *r, void *ret)
{
    struct arena *a = tx_arena(r->tx);
    struct unindexed_message *n = ret;
    struct search_document *d = &n->document;

    *n = (struct unindexed_message){ .document = { .id = row_id(r, 0) }, .files = row_int(r, 10) };
    add_channel_terms(a, d, r);
    add_user_terms(a, d, r);
    if (row_bool(r, 14))
        add_document_term(a, d, STR("_pinned"));
    if (row_bool(r, 17))
        add_document_term(a, d, STR("_haspoll"));
    if (!row_column_is_null(r, 18))
        add_document_term(a, d, STR("_hassticker"));
    if (row_bool(r, 19))
        add_document_term(a, d, STR("_hassnapshot"));
    d->content = row_text(r, 8);
    d->embeds = row_text(r, 9);
}

void search_document_add_content_terms(struct arena *a, struct search_document *d)
{
    add_word_terms(a, d, 0, d->content);
    add_link_terms(a, d, d->content);
    add_embed_terms(a, d, d->embeds);
    for (size_t i = 0; i < d->files.count; i++)
        add_file_terms(a, d, &((const struct indexed_file *)d->files.items)[i]);
}

enum err read_unindexed_documents(struct tx *tx, enum unindexed_document_order order, int64_t limit,
                                  struct list *ret)
{
    struct list noted = { 0 }, with_files = { 0 };
    struct sql sql = order == UNINDEXED_NEWEST
                         ? (tx_queries_need_round_trips(tx) ? SQL(READ_NEWEST_POSTGRES)
                                                            : SQL(READ_NEWEST_SQLITE))
                         : (tx_queries_need_round_trips(tx) ? SQL(READ_OLDEST_POSTGRES)
                                                            : SQL(READ_OLDEST_SQLITE));
    enum err e = tx_read_list(tx, sql, BIND(v_int(limit)), sizeof(struct unindexed_message),
                              unindexed_message_from_row, &noted);

    *ret = (struct list){ 0 };
    for (size_t i = 0; !e && i < noted.count; i++) {
        struct unindexed_message *n = &((struct unindexed_message *)noted.items)[i];

        if (n->files)
            id_list_add(tx_arena(tx), &with_files, n->document.id);
        *(struct search_document *)list_append(tx_arena(tx), ret, sizeof n->document) = n->document;
    }
    return e ? e : read_files_of_documents(tx, &with_files, ret);
}
