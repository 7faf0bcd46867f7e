/* index.c - full-text index of messages, on SQLite FTS5 or PostgreSQL tsvector. */
#include "platform/search/internal.h"

#include "api/api.h"
#include "model/fields/ids.h"

bool message_index_is_sqlite(const struct call *call)
{
    return str_is(str_of(store_engine_name(api_get_options(call->api)->store)), "sqlite");
}

/* --- searching ------------------------------------------------------------------------ */

#define FIND_FTS5                                                       \
    "select rowid from message_index where message_index match $1 and " \
    "rowid > $2 and rowid < $3 order by rowid "
#define FIND_TSVECTOR                                                                         \
    "select i.rowid from message_index i where i.words @@ cast(cast($1 as text) as tsquery) " \
    "and i.rowid > $2 and i.rowid < $3 order by i.rowid "

static const char NEWEST_FTS5[] = FIND_FTS5 "desc limit $4";
static const char OLDEST_FTS5[] = FIND_FTS5 "asc limit $4";
static const char NEWEST_TSVECTOR[] = FIND_TSVECTOR "desc limit $4";
static const char OLDEST_TSVECTOR[] = FIND_TSVECTOR "asc limit $4";

enum err message_index_find_terms(struct call *call, const struct search_terms *t,
                                  const struct search_id_range *r, struct list *ret)
{
    bool sqlite = message_index_is_sqlite(call);
    struct sql sql = sqlite ? (r->oldest ? SQL(OLDEST_FTS5) : SQL(NEWEST_FTS5))
                            : (r->oldest ? SQL(OLDEST_TSVECTOR) : SQL(NEWEST_TSVECTOR));

    return tx_read_ids(call->tx, sql,
                       BIND(v_text(search_terms_to_index_query(call->arena, t, sqlite)),
                            v_id(r->above), v_id(r->below), v_int(r->limit)),
                       ret);
}

/* --- reads by id ---------------------------------------------------------------------- */

static const char CONTENTS_SQLITE[] =
    "select id, content from messages where id in (select value from json_each($1))";
static const char CONTENTS_POSTGRES[] =
    "select id, content from messages where id = any (cast(cast($1 as text) as bigint[]))";

struct str format_ids_as_sql_search_parameter(struct arena *a, const snowflake *ids, size_t count,
                                              bool sqlite)
{
    struct buf list;

    buf_init(&list, 64 * 1024);
    buf_add_char(&list, sqlite ? '[' : '{');
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_add_char(&list, ',');
        buf_add_i64(&list, (int64_t)ids[i]);
    }
    buf_add_char(&list, sqlite ? ']' : '}');
    return buf_move_to_arena(&list, a);
}

enum err message_index_read_contents(struct call *call, const snowflake *ids, size_t count,
                                     struct rows *ret)
{
    bool sqlite = message_index_is_sqlite(call);
    struct str text = format_ids_as_sql_search_parameter(call->arena, ids, count, sqlite);

    return tx_query(call->tx, sqlite ? SQL(CONTENTS_SQLITE) : SQL(CONTENTS_POSTGRES),
                    BIND(v_text(text)), ret);
}

/* --- writes --------------------------------------------------------------------------- */

static const char DELETE_FTS5[] = "delete from message_index where rowid = $1";
static const char PUT_FTS5[] = "insert into message_index (rowid, words) values ($1, $2)";
static const char PUT_TSVECTOR[] =
    "insert into message_index (rowid, words) values ($1, cast(cast($2 as text) as tsvector)) "
    "on conflict (rowid) do update set words = excluded.words";

static struct str encode_document_terms(struct arena *a, const struct search_document *d,
                                        const struct list *long_terms, bool sqlite)
{
    const struct str *m = d->marks.items;
    struct str before = sqlite ? STR("") : STR("'"), after = sqlite ? STR(" ") : STR("' ");
    struct buf out;

    buf_init(&out, 1024 * 1024);
    for (size_t i = 0; i < d->marks.count; i++) {
        buf_add_str(&out, before);
        buf_add_str(&out, m[i]);
        int64_t list = last_posting_list_of_term(long_terms, m[i]);
        if (list) {
            buf_add_char(&out, '_');
            buf_add_i64(&out, list);
        }
        buf_add_str(&out, after);
    }
    return buf_move_to_arena(&out, a);
}

enum err message_index_save_documents(struct call *call, const struct search_document *d,
                                      const struct list *long_terms, bool replace)
{
    bool sqlite = message_index_is_sqlite(call);
    struct str text = encode_document_terms(call->arena, d, long_terms, sqlite);
    enum err e = sqlite ? message_index_count_terms(call, d) : OK;

    if (!e && sqlite && replace)
        e = tx_exec(call->tx, DELETE_FTS5, BIND(v_id(d->id)), NULL);
    return e ? e
             : tx_exec_deferred(call->tx, sqlite ? SQL(PUT_FTS5) : SQL(PUT_TSVECTOR),
                                BIND(v_id(d->id), v_text(text)));
}

/* --- progress ------------------------------------------------------------------------- */

static const char READ_PROGRESS[] = "select indexed_to from message_index_progress";
/* The row is found by its rowid, because an update of any number of rows begins a savepoint, at
 * which FTS5 writes a segment with what the transaction has indexed so far. */
#define THE_ROW "where rowid = (select max(rowid) from message_index_progress)"
static const char ADVANCE_PROGRESS[] =
    "update message_index_progress set indexed_to = max(indexed_to, $1) " THE_ROW;
static const char ADVANCE_PROGRESS_TO_NEWEST[] =
    "update message_index_progress set indexed_to = max(indexed_to, "
    "(select coalesce(max(id), 0) from messages)) " THE_ROW;

enum err message_index_read_progress(struct call *call, snowflake *ret)
{
    int64_t id = INT64_MAX;
    enum err e =
        message_index_is_sqlite(call) ? tx_read_int(call->tx, READ_PROGRESS, NO_BIND, &id) : OK;

    if (!e)
        *ret = (snowflake)id;
    return e;
}

enum err message_index_advance_progress(struct call *call, snowflake id)
{
    return message_index_is_sqlite(call) ? tx_exec(call->tx, ADVANCE_PROGRESS, BIND(v_id(id)), NULL)
                                         : OK;
}

enum err message_index_advance_progress_to_newest(struct call *call)
{
    return message_index_is_sqlite(call)
               ? tx_exec(call->tx, ADVANCE_PROGRESS_TO_NEWEST, NO_BIND, NULL)
               : OK;
}
