/* media.c - what a file is, told by its first bytes and by its name. */
#include "platform/messages/internal.h"

#include "base/mem.h"

enum { LONGEST_NAME = 100 };

/* --- names ------------------------------------------------------------------------- */

static bool is_safe(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

static struct str extension(struct str name)
{
    const char *dot = name.n ? memrchr(name.p, '.', name.n) : NULL;

    return dot ? str_from(name, (size_t)(dot - name.p)) : STR("");
}

/* The end of a name says what it is, so it is the middle that gives way. */
static struct str shortened(struct arena *a, struct str name)
{
    struct str end = extension(name);

    if (name.n <= LONGEST_NAME)
        return name;
    if (end.n > LONGEST_NAME / 2)
        end.n = 0;
    return STR_CONCAT(a, str_slice(name.p, LONGEST_NAME - end.n), end);
}

struct str safe_filename(struct arena *a, struct str name)
{
    char *out = str_dupz(a, name);
    size_t n = 0;

    for (size_t i = 0; i < name.n; i++) {
        if (is_safe(name.p[i]))
            out[n++] = name.p[i];
        else if ((name.p[i] & 0xc0) != 0x80) /* a character is one underscore */
            out[n++] = '_';
    }
    struct str safe = str_slice(out, n);
    while (safe.n && safe.p[0] == '.')
        safe = str_from(safe, 1);
    return safe.n ? shortened(a, safe) : STR("file");
}

/* --- pictures ------------------------------------------------------------------------ */

static uint32_t byte_at(struct str b, size_t i)
{
    return i < b.n ? (unsigned char)b.p[i] : 0;
}

static uint32_t big16(struct str b, size_t i)
{
    return byte_at(b, i) << 8 | byte_at(b, i + 1);
}

static uint32_t big32(struct str b, size_t i)
{
    return big16(b, i) << 16 | big16(b, i + 2);
}

static uint32_t little16(struct str b, size_t i)
{
    return byte_at(b, i) | byte_at(b, i + 1) << 8;
}

static uint32_t little24(struct str b, size_t i)
{
    return little16(b, i) | byte_at(b, i + 2) << 16;
}

static void size_of_png(struct str b, struct media *m)
{
    m->width = big32(b, 16);
    m->height = big32(b, 20);
}

static void size_of_gif(struct str b, struct media *m)
{
    m->width = little16(b, 6);
    m->height = little16(b, 8);
}

/* Segments follow each other until the one that begins a frame. */
static void size_of_jpeg(struct str b, struct media *m)
{
    size_t at = 2;

    while (at + 9 < b.n && byte_at(b, at) == 0xff) {
        uint32_t marker = byte_at(b, at + 1);
        bool frame =
            marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;

        if (frame) {
            m->height = big16(b, at + 5);
            m->width = big16(b, at + 7);
            return;
        }
        at += marker == 0xff ? 1 : 2 + (size_t)big16(b, at + 2);
    }
}

static void size_of_webp(struct str b, struct media *m)
{
    struct str kind = str_slice(b.p + 12, 4);

    if (str_is(kind, "VP8 ")) {
        m->width = little16(b, 26) & 0x3fff;
        m->height = little16(b, 28) & 0x3fff;
    } else if (str_is(kind, "VP8L")) {
        uint32_t bits = little24(b, 21) | byte_at(b, 24) << 24;

        m->width = (bits & 0x3fff) + 1;
        m->height = (bits >> 14 & 0x3fff) + 1;
    } else if (str_is(kind, "VP8X")) {
        m->width = little24(b, 24) + 1;
        m->height = little24(b, 27) + 1;
    }
}

static bool begins(struct str b, const char *magic, size_t n)
{
    return b.n >= n && memcmp(b.p, magic, n) == 0;
}

static bool look_at_picture(struct str b, struct media *m)
{
    if (begins(b, "\x89PNG\r\n\x1a\n", 8) && b.n >= 24) {
        m->type = "image/png";
        size_of_png(b, m);
    } else if (begins(b, "\xff\xd8\xff", 3)) {
        m->type = "image/jpeg";
        size_of_jpeg(b, m);
    } else if ((begins(b, "GIF87a", 6) || begins(b, "GIF89a", 6)) && b.n >= 10) {
        m->type = "image/gif";
        size_of_gif(b, m);
    } else if (begins(b, "RIFF", 4) && b.n >= 30 && memcmp(b.p + 8, "WEBP", 4) == 0) {
        m->type = "image/webp";
        size_of_webp(b, m);
    } else {
        return false;
    }
    return true;
}

/* --- everything else -------------------------------------------------------------------- */

struct file_kind {
    const char *extension, *type;
    bool safe; /* may be shown in a page's place */
};

static const struct file_kind kinds[] = {
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
    { ".wav", "audio/wav", true },
    { ".flac", "audio/flac", true },
    { ".mp4", "video/mp4", true },
    { ".webm", "video/webm", true },
    { ".mov", "video/quicktime", true },
};

struct media media_of(struct str filename, struct str bytes)
{
    struct media m = { .type = "application/octet-stream" };
    struct str end = extension(filename);

    if (look_at_picture(bytes, &m))
        return m;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (str_eq_nocase(end, str_of(kinds[i].extension)))
            m.type = kinds[i].type;
    return m;
}

bool media_is_safe(struct str type)
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
