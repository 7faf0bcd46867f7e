/* png.c - encodes PNG images with two colours. */
#include "base/pictures/png.h"

#include <zlib.h>

#include "base/mem.h"

static void append_u32_big_endian(struct buf *out, uint32_t v)
{
    const char bytes[] = { (char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v };

    buf_add(out, bytes, sizeof bytes);
}

static void append_png_chunk(struct buf *out, const char *type, const void *data, size_t n)
{
    uLong crc = crc32(0, (const Bytef *)type, 4);

    append_u32_big_endian(out, (uint32_t)n);
    buf_add(out, type, 4);
    buf_add(out, data, n);
    append_u32_big_endian(out, (uint32_t)(n ? crc32(crc, data, (uInt)n) : crc));
}

void png_encode_two_colors(const struct png_image *p, struct buf *out)
{
    const unsigned char head[] = {
        0,
        0,
        (unsigned char)(p->width >> 8),
        (unsigned char)p->width,
        0,
        0,
        (unsigned char)(p->height >> 8),
        (unsigned char)p->height,
        1,
        3,
        0,
        0,
        0,
    };
    uLong size = (uLong)p->height * PNG_ROW_BYTES(p->width);
    uLongf n = compressBound(size);
    unsigned char *packed = mem_new(n);

    compress2(packed, &n, p->pixels, size, Z_BEST_COMPRESSION);
    buf_add(out, "\x89PNG\r\n\x1a\n", 8);
    append_png_chunk(out, "IHDR", head, sizeof head);
    append_png_chunk(out, "PLTE", p->colors, sizeof p->colors);
    append_png_chunk(out, "IDAT", packed, n);
    append_png_chunk(out, "IEND", "", 0);
    mem_free(packed);
}
