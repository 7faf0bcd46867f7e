/* folder.c - serves web files from a folder during development, so a reload shows saved changes.
 *
 * Disk reads block the event loop, so this mode is not for production. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "web/internal.h"

enum { LONGEST_FILE = 4 * 1024 * 1024, PIECE = 16 * 1024 };

static const struct {
    const char *ending, *type;
} types[] = {
    { ".css", "text/css; charset=utf-8" },
    { ".html", "text/html; charset=utf-8" },
    { ".js", "text/javascript; charset=utf-8" },
    { ".json", "application/json" },
    { ".svg", "image/svg+xml" },
};

static bool type_of(struct str name, struct str *ret_type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct str ending = str_of(types[i].ending);

        if (name.n > ending.n && str_eq(str_from(name, name.n - ending.n), ending)) {
            *ret_type = str_of(types[i].type);
            return true;
        }
    }
    return false;
}

static bool read_all(const char *path, struct buf *out)
{
    char piece[PIECE];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;

    if (fd < 0)
        return false;
    while ((n = read(fd, piece, sizeof piece)) > 0)
        buf_add(out, piece, (size_t)n);
    close(fd);
    return n == 0 && !buf_full(out);
}

/* Replaces the placeholder of the bundle hash, which is always "dev" in this mode. */
static struct str with_bundle(struct arena *arena, struct str text)
{
    static const char mark[] = "@BUNDLE@";
    struct buf out;

    buf_init(&out, LONGEST_FILE);
    for (;;) {
        const char *at = text.n ? memmem(text.p, text.n, mark, sizeof mark - 1) : NULL;

        if (!at)
            break;
        buf_add(&out, text.p, (size_t)(at - text.p));
        buf_add_lit(&out, "dev");
        text = str_from(text, (size_t)(at - text.p) + sizeof mark - 1);
    }
    buf_add_str(&out, text);
    return buf_take(&out, arena);
}

bool web_read_file(struct call *call, const char *folder, const struct web_found *found)
{
    struct str type, path = str_printf(call->arena, "%s/%.*s", folder, STR_FMT(found->name));
    struct buf text;

    if (!type_of(found->name, &type))
        return false;
    buf_init(&text, LONGEST_FILE);
    if (!read_all(str_dupz(call->arena, path), &text)) {
        buf_clear(&text);
        return false;
    }
    struct str body = buf_take(&text, call->arena);
    call_set_status(call, found->status);
    call_add_header(call, "Cache-Control", STR("no-store"));
    call_reply_text(call, type,
                    str_starts(type, STR("text/html")) ? with_bundle(call->arena, body) : body);
    return true;
}
