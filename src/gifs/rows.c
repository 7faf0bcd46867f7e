/* rows.c - reads GIFs from the store as API objects. */
#include "gifs/internal.h"

#include "base/map.h"

static struct str file_url(const struct gif_request *w, struct str base, struct str id,
                           enum gif_format f)
{
    return STR_CONCAT(w->call->arena, base, STR("/gifs/"), id, STR("/"), gif_formats[f].word,
                      STR("."), gif_formats[f].extension);
}

static void gif_show(const struct gif_request *w, struct str base, const struct rows *r,
                     struct gif *out)
{
    struct gif_media media = gif_media_read(row_text(r, 3));
    enum gif_format src = gif_media_choose(&media, w->format);
    struct str id = row_text(r, 1), title = row_text(r, 2);

    *out = (struct gif){
        .n = row_int(r, 0),
        .id = id,
        .title = title,
        .url = STR_CONCAT(w->call->arena, base, STR("/gifs/"),
                          gif_page_name(w->call->arena, title, id)),
        .src = file_url(w, base, id, src),
        .gif_src = file_url(w, base, id, gif_media_choose(&media, GIF_GIF)),
        .preview = file_url(w, base, id, gif_media_choose(&media, GIF_PREVIEW)),
        .width = media.of[src].width,
        .height = media.of[src].height,
    };
}

enum err gifs_show(const struct gif_request *w, const struct gif_hit *hits, size_t count,
                   struct list *ret)
{
    struct gif *gifs = arena_array(w->call->arena, struct gif, count);
    struct str base = api_url(w->call, "http");
    struct map places;
    struct rows rows;

    *ret = (struct list){ 0 };
    if (!count)
        return OK;
    enum err e = index_load(w->call, hits, count, &rows);
    if (e)
        return e;
    map_init(&places);
    for (size_t i = 0; i < count; i++)
        map_put(&places, (uint64_t)hits[i].n, &gifs[i]);
    while (rows_next(&rows))
        gif_show(w, base, &rows, map_get(&places, row_id(&rows, 0)));
    map_clear(&places);

    ret->items = gifs;
    for (size_t i = 0; i < count; i++)
        if (gifs[i].id.p)
            gifs[ret->count++] = gifs[i];
    return rows_end(&rows);
}
