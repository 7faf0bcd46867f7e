/* pictures.c - detects type, size and animation of image files by their bytes. */
#include "base/pictures/pictures.h"

#include <string.h>

static uint32_t byte_at_or_zero(struct str b, size_t i)
{
    return i < b.n ? (unsigned char)b.p[i] : 0;
}

static uint32_t read_big_endian_16(struct str b, size_t i)
{
    return byte_at_or_zero(b, i) << 8 | byte_at_or_zero(b, i + 1);
}

static uint32_t read_big_endian_32(struct str b, size_t i)
{
    return read_big_endian_16(b, i) << 16 | read_big_endian_16(b, i + 2);
}

static uint32_t read_little_endian_16(struct str b, size_t i)
{
    return byte_at_or_zero(b, i) | byte_at_or_zero(b, i + 1) << 8;
}

static uint32_t read_little_endian_24(struct str b, size_t i)
{
    return read_little_endian_16(b, i) | byte_at_or_zero(b, i + 2) << 16;
}

static void read_png_size(struct str b, struct picture_properties *m)
{
    m->width = read_big_endian_32(b, 16);
    m->height = read_big_endian_32(b, 20);
}

static void read_gif_size(struct str b, struct picture_properties *m)
{
    m->width = read_little_endian_16(b, 6);
    m->height = read_little_endian_16(b, 8);
}

/* Reads the size of a JPEG from its frame header (SOF marker). Skips the segments before it. */
static void read_jpeg_size(struct str b, struct picture_properties *m)
{
    size_t at = 2;

    while (at + 9 < b.n && byte_at_or_zero(b, at) == 0xff) {
        uint32_t marker = byte_at_or_zero(b, at + 1);
        bool frame =
            marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;

        if (frame) {
            m->height = read_big_endian_16(b, at + 5);
            m->width = read_big_endian_16(b, at + 7);
            return;
        }
        at += marker == 0xff ? 1 : 2 + (size_t)read_big_endian_16(b, at + 2);
    }
}

static void read_webp_size(struct str b, struct picture_properties *m)
{
    struct str kind = str_slice(b.p + 12, 4);

    if (str_is(kind, "VP8 ")) {
        m->width = read_little_endian_16(b, 26) & 0x3fff;
        m->height = read_little_endian_16(b, 28) & 0x3fff;
    } else if (str_is(kind, "VP8L")) {
        uint32_t bits = read_little_endian_24(b, 21) | byte_at_or_zero(b, 24) << 24;

        m->width = (bits & 0x3fff) + 1;
        m->height = (bits >> 14 & 0x3fff) + 1;
    } else if (str_is(kind, "VP8X")) {
        m->width = read_little_endian_24(b, 24) + 1;
        m->height = read_little_endian_24(b, 27) + 1;
    }
}

static bool has_magic_bytes(struct str b, const char *magic, size_t n)
{
    return b.n >= n && memcmp(b.p, magic, n) == 0;
}

bool picture_detect_type(struct str b, struct picture_properties *ret)
{
    struct picture_properties found = { 0 }, *m = &found;

    if (has_magic_bytes(b, "\x89PNG\r\n\x1a\n", 8) && b.n >= 24) {
        m->type = "image/png";
        read_png_size(b, m);
    } else if (has_magic_bytes(b, "\xff\xd8\xff", 3)) {
        m->type = "image/jpeg";
        read_jpeg_size(b, m);
    } else if ((has_magic_bytes(b, "GIF87a", 6) || has_magic_bytes(b, "GIF89a", 6)) && b.n >= 10) {
        m->type = "image/gif";
        read_gif_size(b, m);
    } else if (has_magic_bytes(b, "RIFF", 4) && b.n >= 30 && memcmp(b.p + 8, "WEBP", 4) == 0) {
        m->type = "image/webp";
        read_webp_size(b, m);
    } else {
        return false;
    }
    *ret = found;
    return true;
}

bool picture_is_avif(struct str b)
{
    return b.n >= 12 && memcmp(b.p + 4, "ftyp", 4) == 0 &&
           (memcmp(b.p + 8, "avif", 4) == 0 || memcmp(b.p + 8, "avis", 4) == 0);
}

/* Returns the size in bytes of a GIF colour table. `packed` is the byte of the preceding header
 * that contains flags and table size. */
static size_t get_gif_color_table_bytes(uint32_t packed)
{
    return packed & 0x80 ? (size_t)3 << ((packed & 7) + 1) : 0;
}

/* Skips GIF sub-blocks, each with its length before it. Returns the offset after the empty block
 * that ends them. */
static size_t gif_skip_sub_blocks(struct str b, size_t at)
{
    while (byte_at_or_zero(b, at))
        at += 1 + byte_at_or_zero(b, at);
    return at + 1;
}

static bool gif_is_animated(struct str b)
{
    size_t at = 13 + get_gif_color_table_bytes(byte_at_or_zero(b, 10));
    int pictures = 0;

    while (at < b.n && pictures < 2) {
        if (byte_at_or_zero(b, at) == 0x21) {
            at = gif_skip_sub_blocks(b, at + 2);
        } else if (byte_at_or_zero(b, at) == 0x2c) {
            pictures++;
            at = gif_skip_sub_blocks(b, at + 11 +
                                            get_gif_color_table_bytes(byte_at_or_zero(b, at + 9)));
        } else {
            break;
        }
    }
    return pictures > 1;
}

bool picture_is_animated(struct str b)
{
    if (has_magic_bytes(b, "GIF8", 4))
        return gif_is_animated(b);
    if (picture_is_avif(b))
        return memcmp(b.p + 8, "avis", 4) == 0;
    return has_magic_bytes(b, "RIFF", 4) && b.n > 20 && memcmp(b.p + 12, "VP8X", 4) == 0 &&
           (b.p[20] & 2);
}

/* Adds a duration to *sum. If the sum would overflow, it stays at the maximum, because a file may
 * contain any duration. */
static void add_duration_saturated(uint64_t *sum, uint64_t ms)
{
    *sum = *sum + ms < UINT32_MAX ? *sum + ms : UINT32_MAX;
}

static uint64_t gif_duration_ms(struct str b)
{
    size_t at = 13 + get_gif_color_table_bytes(byte_at_or_zero(b, 10));
    uint64_t sum = 0;

    while (at < b.n) {
        if (byte_at_or_zero(b, at) == 0x21) {
            if (byte_at_or_zero(b, at + 1) == 0xf9 && byte_at_or_zero(b, at + 2) == 4)
                add_duration_saturated(&sum, (uint64_t)read_little_endian_16(b, at + 4) * 10);
            at = gif_skip_sub_blocks(b, at + 2);
        } else if (byte_at_or_zero(b, at) == 0x2c) {
            at = gif_skip_sub_blocks(b, at + 11 +
                                            get_gif_color_table_bytes(byte_at_or_zero(b, at + 9)));
        } else {
            break;
        }
    }
    return sum;
}

/* Reads the header of a PNG chunk and moves *at behind the chunk. Returns false if the chunk is
 * incomplete. */
static bool read_png_chunk(struct str b, size_t *at, struct str *ret_type, size_t *ret_data)
{
    if (*at + 12 > b.n)
        return false;
    size_t length = read_big_endian_32(b, *at);
    *ret_type = str_slice(b.p + *at + 4, 4);
    *ret_data = *at + 8;
    if (length > b.n - *at - 12)
        return false;
    *at += 12 + length;
    return true;
}

bool picture_is_apng(struct str b)
{
    size_t at = 8, data;
    struct str type;

    if (!has_magic_bytes(b, "\x89PNG\r\n\x1a\n", 8))
        return false;
    while (read_png_chunk(b, &at, &type, &data) && !str_is(type, "IDAT"))
        if (str_is(type, "acTL"))
            return true;
    return false;
}

static uint64_t apng_duration_ms(struct str b)
{
    size_t at = 8, data;
    struct str type;
    uint64_t sum = 0;

    while (read_png_chunk(b, &at, &type, &data)) {
        uint32_t parts = read_big_endian_16(b, data + 22);

        if (str_is(type, "fcTL"))
            add_duration_saturated(&sum, (uint64_t)read_big_endian_16(b, data + 20) * 1000 /
                                             (parts ? parts : 100));
    }
    return sum;
}

uint32_t picture_duration_ms(struct str b)
{
    if (has_magic_bytes(b, "GIF8", 4))
        return (uint32_t)gif_duration_ms(b);
    return picture_is_apng(b) ? (uint32_t)apng_duration_ms(b) : 0;
}
