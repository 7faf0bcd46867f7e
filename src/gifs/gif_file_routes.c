/* gif_file_routes.c - serves the files and HTML pages of GIFs, below /gifs and outside of /api. */
#include "gifs/internal.h"

#include <inttypes.h>
#include <stdio.h>

/* The blob name has the GIF's number instead of its id, because an id may have characters that are
 * not allowed in file names. The number also distributes the files over folders. */
void format_gif_blob_name(char out[64], int64_t n, enum gif_format format)
{
    snprintf(out, 64, "gifs/%02x/%" PRId64 ".%.*s", (unsigned)((uint64_t)n >> 22 & 0xff), n,
             STR_ARGS(gif_formats[format].word));
}

/* --- page names ----------------------------------------------------------------------- */

enum { MAX_SLUG = 48 };

struct str format_gif_page_name(struct arena *a, struct str title, struct str id)
{
    char slug[MAX_SLUG];
    size_t n = 0;

    for (size_t i = 0; i < title.n && n < MAX_SLUG - 1; i++) {
        char c = title.p[i];

        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            slug[n++] = c;
        else if (n && slug[n - 1] != '-')
            slug[n++] = '-';
    }
    while (n && slug[n - 1] == '-')
        n--;
    return STR_CONCAT(a, n ? str_slice(slug, n) : STR("gif"), STR("-"), id);
}

/* --- SQL ------------------------------------------------------------------------------ */

static const char FIND_GIF[] = "select g.n, g.id, g.title, g.source, g.media from gifs g "
                               "join gif_scores s on s.n = g.n where g.id = $1 and s.rating <= $2";

static enum err read_gif_row(struct call *call, struct str id, struct rows *ret)
{
    return tx_one_or(call->tx, FIND_GIF, BIND(v_text(id), v_int(gif_get_config()->cap)),
                     ERR_NOT_FOUND, ret);
}

/* --- files ---------------------------------------------------------------------------- */

/* GET /gifs/{gif.name}/{gif.file} */
static enum err get_gif_file(struct call *call)
{
    struct str extension = call_get_path_text(call, "gif.file"), word = str_cut(&extension, '.');
    enum gif_format format;
    struct rows row;
    char name[64];
    int64_t size;
    int fd;

    if (!find_gif_format(word, &format) || !str_eq(extension, gif_formats[format].extension))
        return ERR_NOT_FOUND;
    enum err e = read_gif_row(call, call_get_path_text(call, "gif.name"), &row);
    if (e)
        return e;
    /* A file that is not in the last import is about to be deleted, so it is not served. */
    if (!parse_gif_media_sizes(row_text(&row, 4)).of[format].width)
        return ERR_NOT_FOUND;
    format_gif_blob_name(name, row_int(&row, 0), format);
    e = call_open_blob(call, name, &fd, &size);
    if (e)
        return e;
    call_add_header(call, "Cache-Control", STR("public, max-age=86400"));
    return call_reply_with_file_range(call, gif_formats[format].type, fd, size);
}

/* --- pages ---------------------------------------------------------------------------- */

static void write_gif_page_html(struct buf *out, const struct rows *row)
{
    struct gif_media_sizes media = parse_gif_media_sizes(row_text(row, 4));
    enum gif_format f = choose_gif_format(&media, GIF_GIF);
    bool video = str_starts_with(gif_formats[f].type, STR("video/"));
    struct str source = row_text(row, 3);

    buf_add_lit(out, "<!doctype html>\n<meta charset=\"utf-8\">\n<title>");
    buf_add_html_escaped(out, row_text(row, 2));
    buf_printf(out, "</title>\n<%s src=\"/gifs/%.*s/%.*s.%.*s\" width=\"%u\" height=\"%u\"%s\n",
               video ? "video" : "img", STR_ARGS(row_text(row, 1)), STR_ARGS(gif_formats[f].word),
               STR_ARGS(gif_formats[f].extension), media.of[f].width, media.of[f].height,
               video ? " autoplay loop muted></video>" : " alt=\"\">");
    if (source.n) {
        buf_add_lit(out, "<p><a rel=\"noreferrer\" href=\"");
        buf_add_html_escaped(out, source);
        buf_add_lit(out, "\">Source</a>\n");
    }
}

/* Finds the GIF of an HTML page. The id follows one of the dashes in the page name. A GIF matches
 * only if its title and id result in the same page name. */
static enum err find_gif_by_page_name(struct call *call, struct str page, struct rows *ret)
{
    for (struct str id = page; id.n;) {
        str_cut(&id, '-');
        if (!id.n || page.n > MAX_SLUG + 65)
            break;
        enum err e = read_gif_row(call, id, ret);
        if (e && e != ERR_NOT_FOUND)
            return e;
        if (!e && str_eq(format_gif_page_name(call->arena, row_text(ret, 2), id), page))
            return OK;
    }
    return ERR_NOT_FOUND;
}

/* GET /gifs/{gif.name} */
static enum err get_gif_page(struct call *call)
{
    struct rows row;
    struct buf page;
    enum err e = find_gif_by_page_name(call, call_get_path_text(call, "gif.name"), &row);

    if (e)
        return e;
    buf_init(&page, 64 * 1024);
    write_gif_page_html(&page, &row);
    call_add_header(call, "Content-Security-Policy",
                    STR("default-src 'none'; img-src 'self'; media-src 'self'"));
    return call_reply_with_buf(call, STR("text/html; charset=utf-8"), &page);
}

static const struct path_resolver resolvers[] = {
    { .name = "gif.name",
      .field = "gif_id",
      .is_text = true,
      .doc = "A GIF's id; for pages, preceded by the words of its title." },
    { .name = "gif.file", .field = "file", .is_text = true, .doc = "A format and its extension." },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/gifs/{gif.name}/{gif.file}",
        .name = "get_gif_file",
        .doc = "A GIF in one of its formats.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_READ,
        .handle = get_gif_file,
    },
    {
        .method = GET,
        .path = "/gifs/{gif.name}",
        .name = "get_gif_page",
        .doc = "A page that shows a GIF.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_READ,
        .handle = get_gif_page,
    },
    { 0 },
};

const struct domain gif_files_domain = {
    .name = "GIF files",
    .doc = "Files and pages of GIFs, at the root, without credentials.",
    .routes = routes,
    .resolvers = resolvers,
};
