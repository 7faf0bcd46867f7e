/* media.c - detects the media type of a file from its first bytes and its name. */
#include "platform/messages/internal.h"

#include "base/mem.h"
#include "base/pictures/pictures.h"

enum { LONGEST_NAME = 100 };

static bool is_filename_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

static struct str filename_extension(struct str name)
{
    const char *dot = name.n ? memrchr(name.p, '.', name.n) : NULL;

    return dot ? str_skip_bytes(name, (size_t)(dot - name.p)) : STR("");
}

/* Shortens a file name but retains its extension, which states the type. */
static struct str shorten_filename(struct arena *a, struct str name)
{
    struct str end = filename_extension(name);

    if (name.n <= LONGEST_NAME)
        return name;
    if (end.n > LONGEST_NAME / 2)
        end.n = 0;
    return STR_CONCAT(a, str_slice(name.p, LONGEST_NAME - end.n), end);
}

struct str sanitize_filename(struct arena *a, struct str name)
{
    char *out = str_dup_cstring(a, name);
    size_t n = 0;

    for (size_t i = 0; i < name.n; i++) {
        if (is_filename_character(name.p[i]))
            out[n++] = name.p[i];
        else if ((name.p[i] & 0xc0) != 0x80) /* first byte of a character */
            out[n++] = '_';
    }
    struct str safe = str_slice(out, n);
    while (safe.n && safe.p[0] == '.')
        safe = str_skip_bytes(safe, 1);
    return safe.n ? shorten_filename(a, safe) : STR("file");
}

/* --- detecting media types ----------------------------------------------------------- */

struct file_type {
    const char *extension, *type;
    bool safe; /* browsers may display this type inline */
};

static const struct file_type kinds[] = {
    { ".txt", "text/plain; charset=utf-8", true },
    { ".log", "text/plain; charset=utf-8", true },
    { ".md", "text/markdown; charset=utf-8", false },
    { ".csv", "text/csv; charset=utf-8", false },
    { ".json", "application/json", false },
    { ".html", "text/html; charset=utf-8", false },
    { ".xml", "application/xml", false },
    { ".svg", "image/svg+xml", false },
    { ".pdf", "application/pdf", false },
    { ".zip", "application/zip", false },
    { ".gz", "application/gzip", false },
    { ".mp3", "audio/mpeg", true },
    { ".ogg", "audio/ogg", true },
    { ".opus", "audio/ogg", true },
    { ".m4a", "audio/mp4", true },
    { ".weba", "audio/webm", true },
    { ".wav", "audio/wav", true },
    { ".flac", "audio/flac", true },
    { ".mp4", "video/mp4", true },
    { ".webm", "video/webm", true },
    { ".mov", "video/quicktime", true },
};

struct attachment_media_info media_detect_type(struct str filename, struct str bytes)
{
    struct attachment_media_info m = { .type = "application/octet-stream" };
    struct str end = filename_extension(filename);
    struct picture_properties picture;

    if (picture_detect_type(bytes, &picture))
        return (struct attachment_media_info){ picture.type, picture.width, picture.height };
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (str_eq_nocase(end, str_of(kinds[i].extension)))
            m.type = kinds[i].type;
    return m;
}

bool media_type_is_safe_inline(struct str type)
{
    static const char *const pictures[] = { "image/png", "image/jpeg", "image/gif", "image/webp" };

    for (size_t i = 0; i < COUNT_OF(pictures); i++)
        if (str_is(type, pictures[i]))
            return true;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (kinds[i].safe && str_is(type, kinds[i].type))
            return true;
    return false;
}
