/* rows.c - reads GIFs from the store as API objects. */
#include "gifs/internal.h"

#include "base/map.h"

static struct str build_file_url(const struct gif_request *w, struct str base, struct str id,
                                 enum gif_format f)
{
    return STR_CONCAT(w->call->arena, base, STR("/gifs/"), id, STR("/"), gif_formats[f].word,
                      STR("."), gif_formats[f].extension);
}

static void gif_from_row(const struct gif_request *w, struct str base, const struct rows *r,
                         struct gif *out)
{
    struct gif_media_sizes media = parse_gif_media_sizes(row_text(r, 3));
    enum gif_format src = choose_gif_format(&media, w->format);
    struct str id = row_text(r, 1), title = row_text(r, 2);

    *out = (struct gif){
        .n = row_int(r, 0),
        .id = id,
        .title = title,
        .url = STR_CONCAT(w->call->arena, base, STR("/gifs/"),
                          format_gif_page_name(w->call->arena, title, id)),
        .src = build_file_url(w, base, id, src),
        .gif_src = build_file_url(w, base, id, choose_gif_format(&media, GIF_GIF)),
        .preview = build_file_url(w, base, id, choose_gif_format(&media, GIF_PREVIEW)),
        .width = media.of[src].width,
        .height = media.of[src].height,
    };
}

enum err read_gif_objects(const struct gif_request *w, const struct gif_search_hit *hits,
                          size_t count, struct list *ret)
{
    struct gif *gifs = arena_array(w->call->arena, struct gif, count);
    struct str base = api_get_base_url(w->call, "http");
    struct map gif_by_number;
    struct rows rows;

    *ret = (struct list){ 0 };
    if (!count)
        return OK;
    enum err e = read_gif_rows(w->call, hits, count, &rows);
    if (e)
        return e;
    map_init(&gif_by_number);
    for (size_t i = 0; i < count; i++)
        map_set_value(&gif_by_number, (uint64_t)hits[i].n, &gifs[i]);
    while (rows_next(&rows))
        gif_from_row(w, base, &rows, map_find_value(&gif_by_number, row_id(&rows, 0)));
    map_clear(&gif_by_number);

    ret->items = gifs;
    for (size_t i = 0; i < count; i++)
        if (gifs[i].id.p)
            gifs[ret->count++] = gifs[i];
    return rows_end(&rows);
}
