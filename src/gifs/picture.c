/* picture.c - encodes small 16-colour pictures as GIF and PNG. */
#include "gifs/picture.h"

#include <zlib.h>

#include "base/mem.h"

static void add_little16(struct buf *out, unsigned v)
{
    buf_add_char(out, (char)(v & 0xff));
    buf_add_char(out, (char)(v >> 8 & 0xff));
}

/* --- GIF: LZW codes of growing length, in blocks of up to 255 bytes ------------------- */

enum { COLOUR_BITS = 4, CLEAR = 1 << COLOUR_BITS, END, FIRST, MOST_CODES = 4096 };

struct gif_coder {
    struct buf *out;
    uint32_t bits;
    unsigned held, size, next;
    unsigned char block[255];
    size_t filled;
    uint16_t (*child)[CLEAR]; /* the longer code for a code and a colour; 0: none yet */
};

static void flush_block(struct gif_coder *c)
{
    if (c->filled) {
        buf_add_char(c->out, (char)c->filled);
        buf_add(c->out, c->block, c->filled);
    }
    c->filled = 0;
}

static void put_code(struct gif_coder *c, unsigned code)
{
    c->bits |= code << c->held;
    c->held += c->size;
    while (c->held >= 8) {
        c->block[c->filled++] = (unsigned char)c->bits;
        if (c->filled == sizeof c->block)
            flush_block(c);
        c->bits >>= 8;
        c->held -= 8;
    }
}

static void start_over(struct gif_coder *c)
{
    put_code(c, CLEAR);
    memset(c->child, 0, MOST_CODES * sizeof *c->child);
    c->size = COLOUR_BITS + 1;
    c->next = FIRST;
}

static void put_pixels(struct gif_coder *c, const unsigned char *pixels, size_t count)
{
    unsigned run = pixels[0];

    for (size_t i = 1; i < count; i++) {
        unsigned longer = c->child[run][pixels[i]];

        if (longer) {
            run = longer;
            continue;
        }
        put_code(c, run);
        if (c->next < MOST_CODES) {
            c->child[run][pixels[i]] = (uint16_t)c->next;
            if (c->next == 1U << c->size && c->size < 12)
                c->size++;
            c->next++;
        } else {
            start_over(c);
        }
        run = pixels[i];
    }
    put_code(c, run);
}

void gif_begin(struct buf *out, uint16_t width, uint16_t height, const struct palette *p)
{
    buf_add_lit(out, "GIF89a");
    add_little16(out, width);
    add_little16(out, height);
    buf_add(out, "\xf3\0\0", 3); /* a global table of sixteen colours follows */
    buf_add(out, p->rgb, sizeof p->rgb);
    buf_add(out, "\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 19);
}

void gif_add_frame(struct buf *out, const struct picture_frame *f, unsigned hundredths)
{
    struct gif_coder c = { .out = out, .size = COLOUR_BITS + 1 };

    buf_add(out, "\x21\xf9\x04\x04", 4);
    add_little16(out, hundredths);
    buf_add(out, "\0\0\x2c\0\0\0\0", 7);
    add_little16(out, f->width);
    add_little16(out, f->height);
    buf_add_char(out, 0);
    buf_add_char(out, COLOUR_BITS);
    c.child = mem_new(MOST_CODES * sizeof *c.child);
    start_over(&c);
    put_pixels(&c, f->pixels, (size_t)f->width * f->height);
    put_code(&c, END);
    if (c.held)
        c.block[c.filled++] = (unsigned char)c.bits;
    flush_block(&c);
    buf_add_char(out, 0);
    mem_free(c.child);
}

void gif_end(struct buf *out)
{
    buf_add_char(out, 0x3b);
}

/* --- PNG ------------------------------------------------------------------------------ */

static void add_big32(struct buf *out, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_add_char(out, (char)(v >> shift & 0xff));
}

static void add_chunk(struct buf *out, const char *name, struct str data)
{
    uLong sum = crc32(0, (const Bytef *)name, 4);

    if (data.n)
        sum = crc32(sum, (const Bytef *)data.p, (uInt)data.n);
    add_big32(out, (uint32_t)data.n);
    buf_add(out, name, 4);
    buf_add_str(out, data);
    add_big32(out, (uint32_t)sum);
}

static void add_lines(struct buf *out, const struct picture_frame *f)
{
    size_t width = f->width, size = (width + 1) * f->height;
    uLongf packed = compressBound((uLong)size);
    unsigned char *lines = mem_new(size), *data = mem_new(packed);

    for (size_t y = 0; y < f->height; y++)
        memcpy(lines + y * (width + 1) + 1, f->pixels + y * width, width);
    compress2(data, &packed, lines, (uLong)size, 9);
    add_chunk(out, "IDAT", str_slice((const char *)data, packed));
    mem_free(data);
    mem_free(lines);
}

void png_write(struct buf *out, const struct picture_frame *f, const struct palette *p)
{
    struct buf head;

    buf_init(&head, 64);
    add_big32(&head, f->width);
    add_big32(&head, f->height);
    buf_add(&head, "\x08\x03\0\0\0", 5); /* eight bits per pixel, palette */
    buf_add_lit(out, "\x89PNG\r\n\x1a\n");
    add_chunk(out, "IHDR", buf_str(&head));
    add_chunk(out, "PLTE", str_slice((const char *)p->rgb, sizeof p->rgb));
    add_lines(out, f);
    add_chunk(out, "IEND", STR(""));
    buf_clear(&head);
}
