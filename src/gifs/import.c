/* import.c - imports a file of GIFs into the catalogue, in one transaction. */
#include "gifs/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { MAX_FILE = 20 * 1024 * 1024 };

struct gif_import_state {
    struct store *store;
    const struct gifs_import *in;
    struct gifs_import_report *report;
    struct arena *outer; /* arena whose contents are freed at the end of the import */
    struct arena *arena; /* reset after each row */
    struct buf *files;   /* contents of the row's files */
    size_t row;
};

static bool refuse_import_row(struct gif_import_state *im, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static bool refuse_import_row(struct gif_import_state *im, const char *fmt, ...)
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

static bool is_path_inside_folder(struct str path)
{
    if (path.n == 0 || path.p[0] == '/')
        return false;
    while (path.n)
        if (str_is(str_cut(&path, '/'), ".."))
            return false;
    return true;
}

static bool read_import_file(struct gif_import_state *im, struct str path, struct buf *out)
{
    char name[PATH_MAX], piece[16384];
    ssize_t n = 0;

    if (!is_path_inside_folder(path) || memchr(path.p, '\0', path.n))
        return refuse_import_row(im, "'%.*s' is not a path inside the import's folder",
                                 STR_ARGS(path));
    if (snprintf(name, sizeof name, "%s/%.*s", im->in->folder, STR_ARGS(path)) >= PATH_MAX)
        return refuse_import_row(im, "the path of the file is too long");
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && !buf_is_full(out) && (n = read(fd, piece, sizeof piece)) > 0)
        buf_add(out, piece, (size_t)n);
    int code = errno;
    if (fd >= 0)
        close(fd);
    if (fd < 0 || n < 0)
        return refuse_import_row(im, "cannot read '%s': %s", name, strerror(code));
    return true;
}

static bool read_or_download_file(struct gif_import_state *im, struct str where, struct buf *out)
{
    const char *problem = "URLs can be downloaded only by the command guildhall gifs import";

    if (!str_starts_with(where, STR("https://")) && !str_starts_with(where, STR("http://")))
        return read_import_file(im, where, out);
    if (!im->in->fetch ||
        !im->in->fetch(im->in->fetch_arg, str_dup_cstring(im->arena, where), out, &problem))
        return refuse_import_row(im, "cannot download '%.*s': %s", STR_ARGS(where), problem);
    return true;
}

/* Checks the type and size of a file. If the file itself does not state its size, the size in the
 * import row is used. */
static bool check_file_type_and_size(struct gif_import_state *im, const struct imported_gif *d,
                                     struct str where, struct gif_file *f)
{
    if (!check_gif_file_format_and_read_size(f->bytes, f->format, &f->size))
        return refuse_import_row(im, "'%.*s' is not a %.*s file", STR_ARGS(where),
                                 STR_ARGS(gif_formats[f->format].extension));
    if (!f->size.width || !f->size.height)
        f->size = (struct gif_size){ (uint32_t)d->width.value, (uint32_t)d->height.value };
    if (!f->size.width || !f->size.height || f->size.width > UINT16_MAX ||
        f->size.height > UINT16_MAX)
        return refuse_import_row(im,
                                 "'%.*s' does not state its width and height, and the row has none",
                                 STR_ARGS(where));
    return true;
}

static bool read_files_of_import_row(struct gif_import_state *im, const struct imported_gif *d,
                                     struct list *ret)
{
    const struct string_pair *media = d->media.items;

    *ret = (struct list){ 0 };
    for (size_t i = 0; i < d->media.count; i++) {
        struct gif_file *f = list_append(im->arena, ret, sizeof *f);
        struct buf *bytes = &im->files[i];

        buf_reset(bytes);
        find_gif_format(media[i].key, &f->format);
        if (!read_or_download_file(im, media[i].value, bytes))
            return false;
        if (buf_is_full(bytes))
            return refuse_import_row(im, "'%.*s' is larger than 20 MiB", STR_ARGS(media[i].value));
        f->bytes = buf_as_str(bytes);
        if (!check_file_type_and_size(im, d, media[i].value, f))
            return false;
    }
    return true;
}

/* --- rows ----------------------------------------------------------------------------- */

static void refuse_row_with_form_errors(struct gif_import_state *im, const struct form *form)
{
    struct buf text;
    struct json_writer j = json_writer_to_buf(&text);

    /* This limit is never reached, because a form has a limited number of errors. */
    buf_init(&text, 1024 * 1024);
    if (form_has_errors(form))
        write_form_errors_json(form, &j);
    else
        buf_add_lit(&text, "the row is not valid JSON");
    refuse_import_row(im, "%.*s", STR_ARGS(buf_as_str(&text)));
    buf_clear(&text);
}

static enum err import_gif_row(struct gif_import_state *im, struct tx *tx,
                               const struct imported_gif *d)
{
    struct list files;
    bool made;

    if (!read_files_of_import_row(im, d, &files)) {
        im->report->refused++;
        return OK;
    }
    enum err e = write_imported_gif(tx, im->store, d, &files, &made);
    im->report->made += !e && made;
    im->report->renewed += !e && !made;
    return e;
}

static enum err import_all_rows(struct tx *tx, void *arg)
{
    struct gif_import_state *im = arg;
    struct gif_import_reader reader;
    struct imported_gif *draft;
    struct form form;
    enum err e = OK;

    *im->report = (struct gifs_import_report){ 0 };
    gif_import_reader_init(&reader, im->in->text, im->outer);
    for (im->row = 1; !e && gif_import_reader_next(&reader, im->arena, &form, &draft); im->row++) {
        if (draft) {
            e = import_gif_row(im, tx, draft);
        } else {
            refuse_row_with_form_errors(im, &form);
            im->report->refused++;
        }
        /* Free the memory of each row, so that a large catalogue does not fill the memory. No query
         * result is open here. */
        arena_reset(im->arena);
    }
    return e ? e : recount_gif_tags(tx);
}

enum err gifs_import(struct store *store, const struct gifs_import *in,
                     struct gifs_import_report *ret)
{
    struct buf files[GIF_FORMAT_COUNT + 1];
    struct gif_import_state im = { store, in, ret, arena_new(), arena_new(), files, 0 };

    for (int i = 0; i <= GIF_FORMAT_COUNT; i++)
        buf_init(&files[i], MAX_FILE);
    enum err e = store_run_transaction_and_wait(store, STORE_WRITE, im.arena, import_all_rows, &im);
    if (!e)
        mark_gif_blobs_committed(store);
    for (int i = 0; i <= GIF_FORMAT_COUNT; i++)
        buf_clear(&files[i]);
    arena_free(im.arena);
    arena_free(im.outer);
    return e;
}
