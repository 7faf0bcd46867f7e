/* picture_encoder.c - encodes small 16-colour pictures as GIF and PNG. */
#include "gifs/picture_encoder.h"

#include <zlib.h>

#include "base/mem.h"

static void append_u16_little_endian(struct buf *out, unsigned v)
{
    buf_add_char(out, (char)(v & 0xff));
    buf_add_char(out, (char)(v >> 8 & 0xff));
}

/* --- GIF: LZW codes of growing length, in blocks of up to 255 bytes ------------------- */

enum { COLOUR_BITS = 4, CLEAR = 1 << COLOUR_BITS, END, FIRST, MOST_CODES = 4096 };

struct gif_lzw_encoder {
    struct buf *out;
    uint32_t bits;
    unsigned bit_count, size, next;
    unsigned char block[255];
    size_t filled;
    /* LZW code for a code that is followed by a colour; 0 if there is none. */
    uint16_t (*child)[CLEAR];
};

static void flush_gif_block(struct gif_lzw_encoder *c)
{
    if (c->filled) {
        buf_add_char(c->out, (char)c->filled);
        buf_add(c->out, c->block, c->filled);
    }
    c->filled = 0;
}

static void write_lzw_code(struct gif_lzw_encoder *c, unsigned code)
{
    c->bits |= code << c->bit_count;
    c->bit_count += c->size;
    while (c->bit_count >= 8) {
        c->block[c->filled++] = (unsigned char)c->bits;
        if (c->filled == sizeof c->block)
            flush_gif_block(c);
        c->bits >>= 8;
        c->bit_count -= 8;
    }
}

static void reset_lzw_table(struct gif_lzw_encoder *c)
{
    write_lzw_code(c, CLEAR);
    memset(c->child, 0, MOST_CODES * sizeof *c->child);
    c->size = COLOUR_BITS + 1;
    c->next = FIRST;
}

static void write_lzw_pixels(struct gif_lzw_encoder *c, const unsigned char *pixels, size_t count)
{
    unsigned run = pixels[0];

    for (size_t i = 1; i < count; i++) {
        unsigned longer = c->child[run][pixels[i]];

        if (longer) {
            run = longer;
            continue;
        }
        write_lzw_code(c, run);
        if (c->next < MOST_CODES) {
            c->child[run][pixels[i]] = (uint16_t)c->next;
            if (c->next == 1U << c->size && c->size < 12)
                c->size++;
            c->next++;
        } else {
            reset_lzw_table(c);
        }
        run = pixels[i];
    }
    write_lzw_code(c, run);
}

void gif_encode_begin(struct buf *out, uint16_t width, uint16_t height,
                      const struct picture_palette *p)
{
    buf_add_lit(out, "GIF89a");
    append_u16_little_endian(out, width);
    append_u16_little_endian(out, height);
    buf_add(out, "\xf3\0\0", 3); /* flags: a global colour table of sixteen colours follows */
    buf_add(out, p->rgb, sizeof p->rgb);
    buf_add(out, "\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 19);
}

void gif_encode_frame(struct buf *out, const struct picture_frame *f, unsigned hundredths)
{
    struct gif_lzw_encoder c = { .out = out, .size = COLOUR_BITS + 1 };

    buf_add(out, "\x21\xf9\x04\x04", 4);
    append_u16_little_endian(out, hundredths);
    buf_add(out, "\0\0\x2c\0\0\0\0", 7);
    append_u16_little_endian(out, f->width);
    append_u16_little_endian(out, f->height);
    buf_add_char(out, 0);
    buf_add_char(out, COLOUR_BITS);
    c.child = mem_new(MOST_CODES * sizeof *c.child);
    reset_lzw_table(&c);
    write_lzw_pixels(&c, f->pixels, (size_t)f->width * f->height);
    write_lzw_code(&c, END);
    if (c.bit_count)
        c.block[c.filled++] = (unsigned char)c.bits;
    flush_gif_block(&c);
    buf_add_char(out, 0);
    mem_free(c.child);
}

void gif_encode_end(struct buf *out)
{
    buf_add_char(out, 0x3b);
}

/* --- PNG ------------------------------------------------------------------------------ */

static void append_u32_big_endian(struct buf *out, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_add_char(out, (char)(v >> shift & 0xff));
}

static void append_png_chunk(struct buf *out, const char *name, struct str data)
{
    uLong sum = crc32(0, (const Bytef *)name, 4);

    if (data.n)
        sum = crc32(sum, (const Bytef *)data.p, (uInt)data.n);
    append_u32_big_endian(out, (uint32_t)data.n);
    buf_add(out, name, 4);
    buf_add_str(out, data);
    append_u32_big_endian(out, (uint32_t)sum);
}

static void append_png_pixels(struct buf *out, const struct picture_frame *f)
{
    size_t width = f->width, size = (width + 1) * f->height;
    uLongf packed = compressBound((uLong)size);
    unsigned char *lines = mem_new(size), *data = mem_new(packed);

    for (size_t y = 0; y < f->height; y++)
        memcpy(lines + y * (width + 1) + 1, f->pixels + y * width, width);
    compress2(data, &packed, lines, (uLong)size, 9);
    append_png_chunk(out, "IDAT", str_slice((const char *)data, packed));
    mem_free(data);
    mem_free(lines);
}

void png_encode_picture(struct buf *out, const struct picture_frame *f,
                        const struct picture_palette *p)
{
    struct buf head;

    buf_init(&head, 64);
    append_u32_big_endian(&head, f->width);
    append_u32_big_endian(&head, f->height);
    buf_add(&head, "\x08\x03\0\0\0", 5); /* eight bits per pixel, with a palette */
    buf_add_lit(out, "\x89PNG\r\n\x1a\n");
    append_png_chunk(out, "IHDR", buf_as_str(&head));
    append_png_chunk(out, "PLTE", str_slice((const char *)p->rgb, sizeof p->rgb));
    append_png_pixels(out, f);
    append_png_chunk(out, "IEND", STR(""));
    buf_clear(&head);
}
