/* folder.c - serves web files from a folder during development, so a reload shows saved changes.
 *
 * Disk reads block the event loop, so this mode is not for production. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "web/internal.h"

enum { MAX_FILE_BYTES = 4 * 1024 * 1024, READ_BYTES = 16 * 1024 };

static const struct {
    const char *ending, *type;
} types[] = {
    { ".css", "text/css; charset=utf-8" },
    { ".html", "text/html; charset=utf-8" },
    { ".js", "text/javascript; charset=utf-8" },
    { ".json", "application/json" },
    { ".svg", "image/svg+xml" },
};

static bool content_type_of_name(struct str name, struct str *ret_type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct str ending = str_of(types[i].ending);

        if (name.n > ending.n && str_eq(str_skip_bytes(name, name.n - ending.n), ending)) {
            *ret_type = str_of(types[i].type);
            return true;
        }
    }
    return false;
}

static bool read_file_content(const char *path, struct buf *out)
{
    char piece[READ_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;

    if (fd < 0)
        return false;
    while ((n = read(fd, piece, sizeof piece)) > 0)
        buf_add(out, piece, (size_t)n);
    close(fd);
    return n == 0 && !buf_is_full(out);
}

/* Replaces the placeholder @BUNDLE@ by "dev". In embedded files it is replaced by the hash of the
 * bundle. */
static struct str replace_bundle_hash(struct arena *arena, struct str text)
{
    static const char mark[] = "@BUNDLE@";
    struct buf out;

    buf_init(&out, MAX_FILE_BYTES);
    for (;;) {
        const char *at = text.n ? memmem(text.p, text.n, mark, sizeof mark - 1) : NULL;

        if (!at)
            break;
        buf_add(&out, text.p, (size_t)(at - text.p));
        buf_add_lit(&out, "dev");
        text = str_skip_bytes(text, (size_t)(at - text.p) + sizeof mark - 1);
    }
    buf_add_str(&out, text);
    return buf_move_to_arena(&out, arena);
}

bool reply_with_web_file_of_folder(struct call *call, const char *folder,
                                   const struct web_lookup_result *found)
{
    struct str type, path = str_printf(call->arena, "%s/%.*s", folder, STR_ARGS(found->name));
    struct buf text;

    if (!content_type_of_name(found->name, &type))
        return false;
    buf_init(&text, MAX_FILE_BYTES);
    if (!read_file_content(str_dup_cstring(call->arena, path), &text)) {
        buf_clear(&text);
        return false;
    }
    struct str body = buf_move_to_arena(&text, call->arena);
    call_set_status(call, found->status);
    call_add_header(call, "Cache-Control", STR("no-store"));
    call_reply_with_text(
        call, type,
        str_starts_with(type, STR("text/html")) ? replace_bundle_hash(call->arena, body) : body);
    return true;
}
