/* document.c - converts a message to its search terms. */
#include "platform/search/internal.h"

#include <sodium.h>

#include "json/number.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "model/fields/types.h"
#include "model/text/words.h"

/* --- terms ---------------------------------------------------------------------------- */

struct str mark_of_id(struct arena *a, char kind, snowflake id)
{
    char text[22] = { '_', kind };
    size_t n = 2 + number_digits(id, text + 2);

    return str_dup(a, str_slice(text, n));
}

struct str mark_of_word(struct arena *a, char kind, struct str word)
{
    char begin[2] = { '_', kind };

    return STR_CONCAT(a, str_slice(begin, sizeof begin), word);
}

struct str mark_of_name(struct arena *a, char kind, struct str name)
{
    unsigned char digest[crypto_generichash_BYTES_MIN];
    struct str low = str_lower(a, name), hex;

    crypto_generichash(digest, sizeof digest, (const unsigned char *)low.p, low.n, NULL, 0);
    hex = str_hex(a, digest, sizeof digest);
    return mark_of_word(a, kind, hex);
}

static void mark_add(struct arena *a, struct search_document *d, struct str mark)
{
    *(struct str *)list_add(a, &d->marks, sizeof mark) = mark;
}

static void mark_add_ids(struct arena *a, struct search_document *d, char kind, struct str json)
{
    struct list ids = column_list(a, &type_ids, json);

    for (size_t i = 0; i < ids.count; i++)
        mark_add(a, d, mark_of_id(a, kind, ((const snowflake *)ids.items)[i]));
}

static void mark_add_words(struct arena *a, struct search_document *d, char kind, struct str text)
{
    struct list words = words_split(a, words_normal(a, text), false);
    const struct str *w = words.items;

    for (size_t i = 0; i < words.count; i++)
        mark_add(a, d, kind ? mark_of_word(a, kind, w[i]) : w[i]);
}

/* --- links ---------------------------------------------------------------------------- */

static size_t link_at(struct str text)
{
    return str_starts(text, STR("https://")) ? 8 : str_starts(text, STR("http://")) ? 7 : 0;
}

static bool ends_host(char c)
{
    return (unsigned char)c <= ' ' || strchr("/:?#<>()\"'|*`", c);
}

static void mark_add_links(struct arena *a, struct search_document *d, struct str text)
{
    bool found = false;

    for (; text.n; text = str_from(text, 1)) {
        size_t scheme = text.p[0] == 'h' ? link_at(text) : 0, n = 0;
        struct str host = str_from(text, scheme);

        while (scheme && n < host.n && !ends_host(host.p[n]))
            n++;
        if (!n)
            continue;
        mark_add(a, d, mark_of_name(a, 'h', str_slice(host.p, n)));
        found = true;
    }
    if (found)
        mark_add(a, d, STR("_haslink"));
}

/* --- embeds and files ----------------------------------------------------------------- */

struct embed_source {
    struct opt_str name;
};
struct embed_facts {
    struct opt_str type;
    const struct embed_source *provider;
};
static const struct field source_fields[] = {
    { FIELD(struct embed_source, name), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema source_schema = { .size = sizeof(struct embed_source),
                                             .fields = source_fields };
static const struct type type_source = { .kind = KIND_OBJECT, .schema = &source_schema };
static const struct field facts_fields[] = {
    { FIELD(struct embed_facts, type), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct embed_facts, provider), .type = &type_source, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema facts_schema = { .size = sizeof(struct embed_facts),
                                            .fields = facts_fields };
static const struct type type_facts = { .kind = KIND_OBJECT, .schema = &facts_schema };
static const struct type type_embed_facts = { .kind = KIND_ARRAY, .of = &type_facts };

/* Maps an embed type to the name that the search API uses. */
static const char *embed_kind(struct str type)
{
    return str_is(type, "gifv") ? "gif" : str_is(type, "rich") ? "article" : NULL;
}

static void mark_add_embeds(struct arena *a, struct search_document *d, struct str json)
{
    struct list embeds = column_list(a, &type_embed_facts, json);
    const struct embed_facts *e = embeds.items;

    for (size_t i = 0; i < embeds.count; i++) {
        struct str type = e[i].type.value;
        const char *kind = embed_kind(type);

        mark_add(a, d, STR("_hasembed"));
        mark_add(a, d, mark_of_word(a, 't', kind ? str_of(kind) : str_lower(a, type)));
        if (str_is(type, "image") || str_is(type, "video"))
            mark_add(a, d, STR_CONCAT(a, STR("_has"), type));
        if (e[i].provider && e[i].provider->name.given == GIVEN)
            mark_add(a, d, mark_of_name(a, 'v', e[i].provider->name.value));
    }
}

static const char FILES_OF[] =
    "select filename, content_type from attachments where message_id = $1 and snapshot = 0";

static void mark_add_file(struct arena *a, struct search_document *d, struct str name,
                          struct str type)
{
    struct str extension = { 0 };

    mark_add(a, d, STR("_hasfile"));
    if (str_starts(type, STR("image/")))
        mark_add(a, d, STR("_hasimage"));
    if (str_starts(type, STR("video/")))
        mark_add(a, d, STR("_hasvideo"));
    if (str_starts(type, STR("audio/")))
        mark_add(a, d, STR("_hassound"));
    mark_add_words(a, d, 'n', name);
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '.')
            extension = str_from(name, i + 1);
    if (extension.n)
        mark_add(a, d, mark_of_name(a, 'x', extension));
}

static enum err mark_add_files(struct tx *tx, struct search_document *d)
{
    struct rows rows;
    enum err e = tx_query(tx, FILES_OF, BIND(v_id(d->id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        mark_add_file(tx_arena(tx), d, row_text(&rows, 0), row_text(&rows, 1));
    return rows_end(&rows);
}

/* --- documents ------------------------------------------------------------------------ */

#define NOTED_COLUMNS                                                                        \
    "select m.id, m.channel_id, c.guild_id, c.type, c.parent_id, m.author_id, u.bot, "       \
    "m.webhook_name, m.content, m.embeds, m.attachment_count, m.mentions, m.mention_roles, " \
    "m.mention_everyone, m.pinned, m.reference_message_id, r.author_id, m.polled, "          \
    "m.sticker_items, case when m.snapshot is null then 0 else 1 end "                       \
    "from (select message_id from message_unindexed order by message_id "
#define NOTED_TABLES                                                                  \
    " limit $1) q join messages m on m.id = q.message_id "                            \
    "join channels c on c.id = m.channel_id left join users u on u.id = m.author_id " \
    "left join messages r on r.id = m.reference_message_id order by m.id "

static const char NOTED_OLDEST[] = NOTED_COLUMNS "asc" NOTED_TABLES "asc";
static const char NOTED_NEWEST[] = NOTED_COLUMNS "desc" NOTED_TABLES "desc";

struct noted_message {
    struct search_document document;
    int64_t files;
};

static void mark_add_place(struct arena *a, struct search_document *d, const struct rows *r)
{
    int64_t type = row_int(r, 3);

    mark_add(a, d, mark_of_id(a, 'c', row_id(r, 1)));
    if (channel_is_private(type))
        return;
    mark_add(a, d, mark_of_id(a, 'g', row_id(r, 2)));
    if (!channel_is_thread(type))
        return;
    mark_add(a, d, mark_of_id(a, 'p', row_id(r, 4)));
    if (type == CHANNEL_PRIVATE_THREAD)
        mark_add(a, d, STR("_private"));
}

static void mark_add_people(struct arena *a, struct search_document *d, const struct rows *r)
{
    mark_add(a, d, mark_of_id(a, 'a', row_id(r, 5)));
    if (!row_null(r, 7))
        mark_add(a, d, STR("_webhook"));
    else if (row_bool(r, 6))
        mark_add(a, d, STR("_bot"));
    mark_add_ids(a, d, 'm', row_text(r, 11));
    mark_add_ids(a, d, 'r', row_text(r, 12));
    if (row_bool(r, 13))
        mark_add(a, d, STR("_everyone"));
    if (!row_null(r, 15))
        mark_add(a, d, mark_of_id(a, 'w', row_id(r, 15)));
    if (!row_null(r, 16))
        mark_add(a, d, mark_of_id(a, 's', row_id(r, 16)));
}

static void read_noted(const struct rows *r, void *ret)
{
    struct arena *a = tx_arena(r->tx);
    struct noted_message *n = ret;
    struct search_document *d = &n->document;

    *n = (struct noted_message){ .document = { .id = row_id(r, 0) }, .files = row_int(r, 10) };
    mark_add_place(a, d, r);
    mark_add_people(a, d, r);
    if (row_bool(r, 14))
        mark_add(a, d, STR("_pinned"));
    if (row_bool(r, 17))
        mark_add(a, d, STR("_haspoll"));
    if (!row_null(r, 18))
        mark_add(a, d, STR("_hassticker"));
    if (row_bool(r, 19))
        mark_add(a, d, STR("_hassnapshot"));
    mark_add_words(a, d, 0, row_text(r, 8));
    mark_add_links(a, d, row_text(r, 8));
    mark_add_embeds(a, d, row_text(r, 9));
}

enum err documents_unindexed(struct tx *tx, bool newest, int64_t limit, struct list *ret)
{
    struct list noted = { 0 };
    enum err e = tx_list(tx, newest ? SQL(NOTED_NEWEST) : SQL(NOTED_OLDEST), BIND(v_int(limit)),
                         sizeof(struct noted_message), read_noted, &noted);

    *ret = (struct list){ 0 };
    for (size_t i = 0; !e && i < noted.count; i++) {
        struct noted_message *n = &((struct noted_message *)noted.items)[i];

        if (n->files)
            e = mark_add_files(tx, &n->document);
        *(struct search_document *)list_add(tx_arena(tx), ret, sizeof n->document) = n->document;
    }
    return e;
}
