/* probe_file.c - checks the file type of MP4, WebM and pictures, and reads their size. */
#include "gifs/internal.h"

#include "base/pictures/pictures.h"

static uint64_t read_big_endian(struct str b, size_t at, size_t n)
{
    uint64_t v = 0;

    for (size_t i = at; i < at + n; i++)
        v = v << 8 | (i < b.n ? (unsigned char)b.p[i] : 0);
    return v;
}

/* --- MP4: boxes with length and name -------------------------------------------------- */

static bool read_next_mp4_box(struct str *rest, struct str *ret_name, struct str *ret_body)
{
    uint64_t size = read_big_endian(*rest, 0, 4), head = 8;

    if (rest->n < 8)
        return false;
    if (size == 1) {
        size = read_big_endian(*rest, 8, 8);
        head = 16;
    } else if (size == 0) {
        size = rest->n;
    }
    if (size < head || size > rest->n)
        return false;
    *ret_name = str_slice(rest->p + 4, 4);
    *ret_body = str_slice(rest->p + head, size - head);
    *rest = str_skip_bytes(*rest, size);
    return true;
}

/* Reads the size of a video from the end of its track header (16.16 fixed point). */
static void read_mp4_track_size(struct str boxes, int depth, struct gif_size *ret)
{
    struct str name, body;

    while (!ret->width && read_next_mp4_box(&boxes, &name, &body)) {
        if (depth < 4 && (str_is(name, "moov") || str_is(name, "trak")))
            read_mp4_track_size(body, depth + 1, ret);
        else if (str_is(name, "tkhd") && body.n >= 84)
            *ret = (struct gif_size){ (uint32_t)read_big_endian(body, body.n - 8, 2),
                                      (uint32_t)read_big_endian(body, body.n - 4, 2) };
    }
}

static bool probe_mp4(struct str b, struct gif_size *ret)
{
    struct str name, body, rest = b;

    if (!read_next_mp4_box(&rest, &name, &body) || !str_is(name, "ftyp"))
        return false;
    read_mp4_track_size(b, 0, ret);
    return true;
}

/* --- WebM: elements with id and length ------------------------------------------------ */

/* Parses a variable-length integer of EBML. Returns its length, or 0 if it is malformed. */
static size_t parse_ebml_integer(struct str b, bool keep_mark, uint64_t *ret)
{
    unsigned char first = b.n ? (unsigned char)b.p[0] : 0;
    size_t n = 1;

    while (n <= 8 && !(first & 0x80 >> (n - 1)))
        n++;
    if (n > 8 || n > b.n)
        return 0;
    *ret = read_big_endian(b, 0, n);
    if (!keep_mark)
        *ret &= ~(UINT64_C(0x80) << (8 * (n - 1)) >> (n - 1));
    return n;
}

static void read_webm_size(struct str b, int depth, struct gif_size *ret)
{
    enum { SEGMENT = 0x18538067, TRACKS = 0x1654ae6b, TRACK = 0xae, VIDEO = 0xe0 };
    enum { WIDTH = 0xb0, HEIGHT = 0xba };
    uint64_t id, size;
    size_t n, m;

    while (b.n && (n = parse_ebml_integer(b, true, &id)) &&
           (m = parse_ebml_integer(str_skip_bytes(b, n), false, &size))) {
        struct str body = str_skip_bytes(b, n + m);

        if (size < body.n)
            body.n = size;
        if (depth < 6 && (id == SEGMENT || id == TRACKS || id == TRACK || id == VIDEO))
            read_webm_size(body, depth + 1, ret);
        else if (id == WIDTH && body.n <= 4)
            ret->width = (uint32_t)read_big_endian(body, 0, body.n);
        else if (id == HEIGHT && body.n <= 4)
            ret->height = (uint32_t)read_big_endian(body, 0, body.n);
        if (ret->width && ret->height)
            return;
        b = str_skip_bytes(b, n + m + body.n);
    }
}

static bool probe_webm(struct str b, struct gif_size *ret)
{
    if (!str_starts_with(b, STR("\x1a\x45\xdf\xa3")))
        return false;
    read_webm_size(b, 0, ret);
    return true;
}

bool check_gif_file_format_and_read_size(struct str bytes, enum gif_format format,
                                         struct gif_size *ret)
{
    struct str type = gif_formats[format].type;
    struct picture_properties picture;

    *ret = (struct gif_size){ 0 };
    if (str_is(type, "video/mp4"))
        return probe_mp4(bytes, ret);
    if (str_is(type, "video/webm"))
        return probe_webm(bytes, ret);
    if (!picture_detect_type(bytes, &picture) || !str_is(type, picture.type))
        return false;
    *ret = (struct gif_size){ picture.width, picture.height };
    return true;
}
