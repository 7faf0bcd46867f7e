/* write_gif.c - stores a new or replaced GIF in the catalogue. */
#include "gifs/internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/files/file_rows.h"
#include "base/clock.h"

static const char FIND[] = "select n, media from gifs where id = $1";
static const char PUT_GIF[] =
    "insert into gifs (n, id, title, description, tags, source, media, created_at) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (n) do update set title = $3, "
    "description = $4, tags = $5, source = $6, media = $7, created_at = $8";
static const char PUT_SCORE[] =
    "insert into gif_scores (n, locale, language, rating, weight) values ($1, $2, $3, $4, $5) "
    "on conflict (n) do update set locale = $2, language = $3, rating = $4, weight = $5";
static const char DELETE_TAGS[] = "delete from gif_tags where gif = $1";
static const char PUT_TAG[] =
    "insert into gif_tags (tag, gif) values ($1, $2) on conflict (tag, gif) do nothing";

/* --- files ---------------------------------------------------------------------------- */

static const char MARK_FILE_DELETED[] = "update files set gone = 1 where name = $1";

static enum err write_gif_file(struct tx *tx, struct store *store, const char *name,
                               struct str bytes)
{
    char digest[BLOB_DIGEST_SIZE];
    enum err e = blob_put(store, name, bytes);

    blob_compute_digest(bytes, digest);
    return e ? e
             : file_insert_row(tx, &(struct new_file_row){ .id = snowflake_new(),
                                                           .name = name,
                                                           .digest = digest,
                                                           .size = (int64_t)bytes.n });
}

static void mark_blob_committed(void *store, const char *name)
{
    if (str_starts_with(str_of(name), STR("gifs/")))
        blob_mark_row_committed(store, name);
}

void mark_gif_blobs_committed(struct store *store)
{
    blobs_list_uncommitted(store, 0, mark_blob_committed, store);
}

static enum err write_gif_files(struct tx *tx, struct store *store, int64_t n,
                                const struct list *files, const struct gif_media_sizes *before)
{
    const struct gif_file *f = files->items;
    struct gif_media_sizes gone = *before;
    char name[64];
    enum err e = OK;

    for (size_t i = 0; i < files->count && !e; i++) {
        gone.of[f[i].format].width = 0;
        format_gif_blob_name(name, n, f[i].format);
        e = write_gif_file(tx, store, name, f[i].bytes);
    }
    for (int i = 0; i < GIF_FORMAT_COUNT && !e; i++) {
        if (!gone.of[i].width)
            continue;
        format_gif_blob_name(name, n, (enum gif_format)i);
        e = tx_exec(tx, MARK_FILE_DELETED, BIND(v_text(str_of(name))), NULL);
    }
    return e;
}

static struct gif_media_sizes collect_sizes_of_gif_files(const struct list *files)
{
    const struct gif_file *f = files->items;
    struct gif_media_sizes m = { 0 };

    for (size_t i = 0; i < files->count; i++)
        m.of[f[i].format] = f[i].size;
    return m;
}

/* --- rows ----------------------------------------------------------------------------- */

static struct str format_tags_of_gif(struct arena *a, const struct imported_gif *d, bool json)
{
    const struct str *tags = d->tags.items;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, 64 * 1024);
    if (json)
        json_begin_array(&j);
    for (size_t i = 0; i < d->tags.count; i++) {
        if (json)
            json_write_text(&j, tags[i]);
        else
            buf_printf(&out, "%.*s ", STR_ARGS(tags[i]));
    }
    if (json)
        json_end_array(&j);
    return buf_move_to_arena(&out, a);
}

static enum err write_gif_tags(struct tx *tx, int64_t n, const struct imported_gif *d)
{
    const struct str *tags = d->tags.items;
    enum err e = tx_exec(tx, DELETE_TAGS, BIND(v_int(n)), NULL);

    for (size_t i = 0; i < d->tags.count && !e; i++) {
        struct str tag = normalize_search_text(tx_arena(tx), tags[i]);

        if (tag.n)
            e = tx_exec(tx, PUT_TAG, BIND(v_text(tag), v_int(n)), NULL);
    }
    return e;
}

static enum err write_gif_score(struct tx *tx, int64_t n, const struct imported_gif *d)
{
    struct str known = locale_find_supported(d->locale);
    struct str locale = known.p ? known : d->locale;

    return tx_exec(tx, PUT_SCORE,
                   BIND(v_int(n), v_text(locale),
                        v_text(str_lower(tx_arena(tx), get_language_of_locale(locale))),
                        v_int(parse_gif_rating(d->rating)), v_real(d->weight)),
                   NULL);
}

static enum err write_gif_row(struct tx *tx, int64_t n, struct str id, const struct imported_gif *d,
                              const struct gif_media_sizes *media)
{
    int64_t made = d->created_at.given == GIVEN ? d->created_at.value : clock_us();

    return tx_exec(tx, PUT_GIF,
                   BIND(v_int(n), v_text(id), v_text(d->title), v_text(d->description),
                        v_text(format_tags_of_gif(tx_arena(tx), d, true)), v_text(d->url),
                        v_text(format_gif_media_sizes(tx_arena(tx), media)), v_int(made)),
                   NULL);
}

enum err write_imported_gif(struct tx *tx, struct store *store, const struct imported_gif *d,
                            const struct list *files, bool *ret_new)
{
    struct gif_media_sizes media = collect_sizes_of_gif_files(files), before = { 0 };
    int64_t n = (int64_t)snowflake_new();
    struct rows row;
    bool found = false;
    enum err e = tx_one(tx, FIND, BIND(v_text(d->id)), &row, &found);

    if (!e && found) {
        n = row_int(&row, 0);
        before = parse_gif_media_sizes(row_text(&row, 1));
    }
    struct str id = d->id.n ? d->id : str_printf(tx_arena(tx), "%" PRId64, n);
    if (!e)
        e = write_gif_files(tx, store, n, files, &before);
    if (!e)
        e = write_gif_row(tx, n, id, d, &media);
    if (!e)
        e = write_gif_score(tx, n, d);
    if (!e)
        e = write_gif_tags(tx, n, d);
    if (!e)
        e = gif_full_text_index_write_entry(tx, store_engine_name(store), n, d->title,
                                            format_tags_of_gif(tx_arena(tx), d, false),
                                            d->description);
    *ret_new = !found;
    return e;
}

/* --- tag counts ----------------------------------------------------------------------- */

static const char DELETE_TAG_COUNTS[] = "delete from gif_tag_counts";
static const char COUNT_TAGS[] =
    "insert into gif_tag_counts (cap, tag, initial, gifs, best) "
    "select $1, tag, substr(tag, 1, 1), gifs, gif from (select t.tag, t.gif, "
    "count(*) over (partition by t.tag) as gifs, row_number() over "
    "(partition by t.tag order by s.weight desc, t.gif) as place "
    "from gif_tags t join gif_scores s on s.n = t.gif where s.rating <= $2) tags where place = 1";

enum err recount_gif_tags(struct tx *tx)
{
    enum err e = tx_exec(tx, DELETE_TAG_COUNTS, NO_BIND, NULL);

    for (int64_t cap = 0; cap < 4 && !e; cap++)
        e = tx_exec(tx, COUNT_TAGS, BIND(v_int(cap), v_int(cap)), NULL);
    return e;
}
