/* full_text_index.c - full-text index of GIFs: FTS5 on SQLite, tsvector on PostgreSQL. This is the
 * only file of the folder with different SQL per database. Words are split and case-folded before
 * they are stored or searched, so that both databases find the same GIFs. */
#include "gifs/internal.h"

#include "base/utf8.h"

/* MOST_MATCHES limits how many matches are ranked, because a single letter matches most of a
 * catalogue. */
enum { MOST_MATCHES = 20000, MOST_WORDS = 16 };

static bool store_engine_is_sqlite(const char *engine)
{
    return str_is(str_of(engine), "sqlite");
}

/* Searches on SQLite. The text score weighs the title by 3, tags by 4, and the description by 1. */
static const char SEARCH_FTS5[] =
    "select s.n, -bm25(gif_index, 3.0, 4.0, 1.0), s.heat, s.weight, "
    "case when s.locale = '*' or s.locale = $3 then 0 when s.language = $4 then 1 else 2 end "
    "from gif_index cross join gif_scores s on s.n = gif_index.rowid "
    "where gif_index match $1 and s.rating <= $2 limit $5";
static const char SEARCH_TSVECTOR[] =
    "select s.n, ts_rank('{0, 0.25, 0.75, 1}', i.words, q.q), s.heat, s.weight, "
    "case when s.locale = '*' or s.locale = $3 then 0 when s.language = $4 then 1 else 2 end "
    "from (select cast(cast($1 as text) as tsquery) as q) q, gif_index i "
    "join gif_scores s on s.n = i.n "
    "where i.words @@ q.q and s.rating <= $2 limit $5";

/* Builds the full-text query: "cat"* AND … on SQLite, 'cat':* & … on PostgreSQL. The words contain
 * only letters and digits. */
static struct str build_full_text_query(struct arena *a, const struct list *words,
                                        enum gif_search_word_match match, bool sqlite)
{
    const struct str *w = words->items;
    size_t count = words->count < MOST_WORDS ? words->count : MOST_WORDS;
    const char *quote = sqlite ? "\"" : "'", *prefix = sqlite ? "*" : ":*";
    const char *all = sqlite ? " AND " : " & ", *any = sqlite ? " OR " : " | ";
    struct buf text;

    buf_init(&text, 64 * 1024);
    for (size_t i = 0; i < count; i++) {
        const char *before = i == 0 ? "" : match == MATCH_ALL ? all : any;

        buf_printf(&text, "%s%s%.*s%s%s", before, quote, STR_ARGS(w[i]), quote,
                   i + 1 == words->count ? prefix : "");
    }
    return buf_move_to_arena(&text, a);
}

enum err gif_full_text_index_search(const struct gif_request *w, const struct list *words,
                                    enum gif_search_word_match match, struct rows *ret)
{
    struct call *call = w->call;
    bool sqlite = store_engine_is_sqlite(store_engine_name(api_get_options(call->api)->store));
    struct str text = build_full_text_query(call->arena, words, match, sqlite);

    return tx_query(call->tx, sqlite ? SQL(SEARCH_FTS5) : SQL(SEARCH_TSVECTOR),
                    BIND(v_text(text), v_int(w->cap), v_text(w->locale), v_text(w->language),
                         v_int(MOST_MATCHES)),
                    ret);
}

/* --- rows by number ------------------------------------------------------------------- */

static const char READ_GIFS_SQLITE[] = "select n, id, title, media from gifs "
                                       "where n in (select value from json_each($1))";
static const char READ_GIFS_POSTGRES[] = "select n, id, title, media from gifs "
                                         "where n = any (cast(cast($1 as text) as bigint[]))";

enum err read_gif_rows(struct call *call, const struct gif_search_hit *hits, size_t count,
                       struct rows *ret)
{
    bool sqlite = store_engine_is_sqlite(store_engine_name(api_get_options(call->api)->store));
    struct buf list;

    buf_init(&list, 64 * 1024);
    buf_add_char(&list, sqlite ? '[' : '{');
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_add_char(&list, ',');
        buf_add_i64(&list, hits[i].n);
    }
    buf_add_char(&list, sqlite ? ']' : '}');
    struct str text = buf_move_to_arena(&list, call->arena);
    return tx_query(call->tx, sqlite ? SQL(READ_GIFS_SQLITE) : SQL(READ_GIFS_POSTGRES),
                    BIND(v_text(text)), ret);
}

static const char DELETE_FTS5[] = "delete from gif_index where rowid = $1";
static const char PUT_FTS5[] =
    "insert into gif_index (rowid, title, tags, description) values ($1, $2, $3, $4)";
static const char PUT_TSVECTOR[] =
    "insert into gif_index (n, words) values ($1, cast(cast($2 as text) as tsvector)) "
    "on conflict (n) do update set words = excluded.words";

static struct str join_normalized_words(struct arena *a, struct str text)
{
    struct list words = split_into_search_words(a, normalize_search_text(a, text), false);
    const struct str *w = words.items;
    struct buf out;

    buf_init(&out, 256 * 1024);
    for (size_t i = 0; i < words.count; i++)
        buf_printf(&out, "%s%.*s", i ? " " : "", STR_ARGS(w[i]));
    return buf_move_to_arena(&out, a);
}

/* Appends the words of a text as tsvector lexemes: each is 'word':position with a weight letter. */
static void append_lexemes(struct arena *a, struct buf *out, struct str text, char weight, int *at)
{
    struct list words = split_into_search_words(a, normalize_search_text(a, text), false);
    const struct str *w = words.items;

    for (size_t i = 0; i < words.count; i++)
        buf_printf(out, "'%.*s':%d%c ", STR_ARGS(w[i]), *at < 16383 ? ++*at : *at, weight);
}

static enum err write_tsvector(struct tx *tx, int64_t n, struct str title, struct str tags,
                               struct str description)
{
    struct arena *a = tx_arena(tx);
    struct buf text;
    int at = 0;

    buf_init(&text, 256 * 1024);
    append_lexemes(a, &text, tags, 'A', &at);
    append_lexemes(a, &text, title, 'B', &at);
    append_lexemes(a, &text, description, 'C', &at);
    return tx_exec(tx, PUT_TSVECTOR, BIND(v_int(n), v_text(buf_move_to_arena(&text, a))), NULL);
}

enum err gif_full_text_index_write_entry(struct tx *tx, const char *engine, int64_t n,
                                         struct str title, struct str tags, struct str description)
{
    struct arena *a = tx_arena(tx);

    if (!store_engine_is_sqlite(engine))
        return write_tsvector(tx, n, title, tags, description);
    enum err e = tx_exec(tx, DELETE_FTS5, BIND(v_int(n)), NULL);
    if (e)
        return e;
    return tx_exec(tx, PUT_FTS5,
                   BIND(v_int(n), v_text(join_normalized_words(a, title)),
                        v_text(join_normalized_words(a, tags)),
                        v_text(join_normalized_words(a, description))),
                   NULL);
}
