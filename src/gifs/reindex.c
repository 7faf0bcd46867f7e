/* reindex.c - rebuilds the full-text index of a catalogue that was moved from another database
 * engine. */
#include "gifs/internal.h"

enum { PAGE = 200 };

struct gif_reindex {
    const char *engine;
    int64_t behind; /* number of the last GIF that was indexed */
    size_t count;   /* number of GIFs in the page that was read last */
};

static const char PAGE_OF_GIFS[] =
    "select n, title, description from gifs where n > $1 order by n limit $2";
static const char TAGS_OF_GIF[] = "select tag from gif_tags where gif = $1 order by tag";

static enum err read_tags_of_gif(struct tx *tx, int64_t n, struct str *ret)
{
    struct buf out;
    struct rows r;
    enum err e = tx_query(tx, TAGS_OF_GIF, BIND(v_int(n)), &r);

    if (e)
        return e;
    buf_init(&out, 64 * 1024);
    while (rows_next(&r))
        buf_printf(&out, "%.*s ", STR_ARGS(row_text(&r, 0)));
    *ret = buf_move_to_arena(&out, tx_arena(tx));
    return rows_end(&r);
}

static enum err reindex_next_gifs(struct tx *tx, void *arg)
{
    struct gif_reindex *w = arg;
    int64_t last = w->behind;
    struct rows r;
    struct str tags;
    enum err e = tx_query(tx, PAGE_OF_GIFS, BIND(v_int(w->behind), v_int(PAGE)), &r);

    if (e)
        return e;
    w->count = 0;
    while (!e && rows_next(&r)) {
        last = row_int(&r, 0);
        e = read_tags_of_gif(tx, last, &tags);
        if (!e)
            e = gif_full_text_index_write_entry(tx, w->engine, last, row_text(&r, 1), tags,
                                                row_text(&r, 2));
        w->count++;
    }
    enum err ended = rows_end(&r);
    if (!e && !ended)
        w->behind = last;
    return e ? e : ended;
}

enum err gifs_rebuild_full_text_index(struct store *store)
{
    struct gif_reindex w = { .engine = store_engine_name(store), .count = PAGE };
    enum err e = OK;

    while (!e && w.count == PAGE)
        e = store_run_transaction_and_wait(store, STORE_WRITE, NULL, reindex_next_gifs, &w);
    return e;
}
