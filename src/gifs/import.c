/* import.c - imports a file of GIFs into the catalogue, in one transaction. */
#include "gifs/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { MAX_FILE = 20 * 1024 * 1024 };

struct gif_import_run {
    struct store *store;
    const struct gifs_import *in;
    struct gifs_report *report;
    struct arena *outer; /* lives as long as the import */
    struct arena *arena; /* reset after each row */
    struct buf *files;   /* contents of the row's files */
    size_t row;
};

static bool import_refuse(struct gif_import_run *im, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static bool import_refuse(struct gif_import_run *im, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (im->in->problem)
        im->in->problem(im->in->problem_arg, im->row, str_of(text));
    return false;
}

/* --- files ---------------------------------------------------------------------------- */

static bool is_inside(struct str path)
{
    if (path.n == 0 || path.p[0] == '/')
        return false;
    while (path.n)
        if (str_is(str_cut(&path, '/'), ".."))
            return false;
    return true;
}

static bool read_file(struct gif_import_run *im, struct str path, struct buf *out)
{
    char name[PATH_MAX], piece[16384];
    ssize_t n = 0;

    if (!is_inside(path) || memchr(path.p, '\0', path.n))
        return import_refuse(im, "'%.*s' is not a path inside the import's folder", STR_FMT(path));
    if (snprintf(name, sizeof name, "%s/%.*s", im->in->folder, STR_FMT(path)) >= PATH_MAX)
        return import_refuse(im, "the path of the file is too long");
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && !buf_full(out) && (n = read(fd, piece, sizeof piece)) > 0)
        buf_add(out, piece, (size_t)n);
    int code = errno;
    if (fd >= 0)
        close(fd);
    if (fd < 0 || n < 0)
        return import_refuse(im, "cannot read '%s': %s", name, strerror(code));
    return true;
}

static bool get_file(struct gif_import_run *im, struct str where, struct buf *out)
{
    const char *problem = "URLs can be downloaded only by the command guildhall gifs import";

    if (!str_starts(where, STR("https://")) && !str_starts(where, STR("http://")))
        return read_file(im, where, out);
    if (!im->in->fetch ||
        !im->in->fetch(im->in->fetch_arg, str_dupz(im->arena, where), out, &problem))
        return import_refuse(im, "cannot download '%.*s': %s", STR_FMT(where), problem);
    return true;
}

/* Checks the type and size of a file. If the file does not state its size, that of the row is
 * used. */
static bool look_at_file(struct gif_import_run *im, const struct gif_draft *d, struct str where,
                         struct gif_file *f)
{
    if (!gif_probe(f->bytes, f->format, &f->size))
        return import_refuse(im, "'%.*s' is not a %.*s file", STR_FMT(where),
                             STR_FMT(gif_formats[f->format].extension));
    if (!f->size.width || !f->size.height)
        f->size = (struct gif_size){ (uint32_t)d->width.value, (uint32_t)d->height.value };
    if (!f->size.width || !f->size.height || f->size.width > UINT16_MAX ||
        f->size.height > UINT16_MAX)
        return import_refuse(im, "'%.*s' does not state its width and height, and the row has none",
                             STR_FMT(where));
    return true;
}

static bool get_files(struct gif_import_run *im, const struct gif_draft *d, struct list *ret)
{
    const struct pair *media = d->media.items;

    *ret = (struct list){ 0 };
    for (size_t i = 0; i < d->media.count; i++) {
        struct gif_file *f = list_add(im->arena, ret, sizeof *f);
        struct buf *bytes = &im->files[i];

        buf_reset(bytes);
        gif_format_find(media[i].key, &f->format);
        if (!get_file(im, media[i].value, bytes))
            return false;
        if (buf_full(bytes))
            return import_refuse(im, "'%.*s' is larger than 20 MiB", STR_FMT(media[i].value));
        f->bytes = buf_str(bytes);
        if (!look_at_file(im, d, media[i].value, f))
            return false;
    }
    return true;
}

/* --- rows ----------------------------------------------------------------------------- */

static void refuse_form(struct gif_import_run *im, const struct form *form)
{
    struct buf text;
    struct json j = json_to(&text);

    buf_init(&text, 1024 * 1024); /* a form has a limited number of problems */
    if (form_failed(form))
        form_write(form, &j);
    else
        buf_add_lit(&text, "the row is not valid JSON");
    import_refuse(im, "%.*s", STR_FMT(buf_str(&text)));
    buf_clear(&text);
}

static enum err import_row(struct gif_import_run *im, struct tx *tx, const struct gif_draft *d)
{
    struct list files;
    bool made;

    if (!get_files(im, d, &files)) {
        im->report->refused++;
        return OK;
    }
    enum err e = gif_put(tx, im->store, d, &files, &made);
    im->report->made += !e && made;
    im->report->renewed += !e && !made;
    return e;
}

static enum err import_all(struct tx *tx, void *arg)
{
    struct gif_import_run *im = arg;
    struct draft_reader reader;
    struct gif_draft *draft;
    struct form form;
    enum err e = OK;

    *im->report = (struct gifs_report){ 0 };
    draft_reader_init(&reader, im->in->text, im->outer);
    for (im->row = 1; !e && draft_next(&reader, im->arena, &form, &draft); im->row++) {
        if (draft) {
            e = import_row(im, tx, draft);
        } else {
            refuse_form(im, &form);
            im->report->refused++;
        }
        /* Free the row's memory, so that a large catalogue does not accumulate it; no query result
         * is open here. */
        arena_reset(im->arena);
    }
    return e ? e : gifs_count_tags(tx);
}

enum err gifs_import(struct store *store, const struct gifs_import *in, struct gifs_report *ret)
{
    struct buf files[GIF_FORMAT_COUNT + 1];
    struct gif_import_run im = { store, in, ret, arena_new(), arena_new(), files, 0 };

    for (int i = 0; i <= GIF_FORMAT_COUNT; i++)
        buf_init(&files[i], MAX_FILE);
    enum err e = store_run(store, STORE_WRITE, im.arena, import_all, &im);
    if (!e)
        gif_files_settle(store);
    for (int i = 0; i <= GIF_FORMAT_COUNT; i++)
        buf_clear(&files[i]);
    arena_free(im.arena);
    arena_free(im.outer);
    return e;
}
