/* png.h - pictures of two colours, for what is drawn when asked for. */
#ifndef BASE_PNG_H
#define BASE_PNG_H

#include "base/buf.h"

/* Bytes of one line of so many pixels: a filter byte, then a bit a pixel. */
#define PNG_LINE(width) (((width) + 7) / 8 + 1)

struct png {
    unsigned width, height;
    unsigned char colors[6]; /* where a bit is 0, where it is 1: red, green, blue */
    unsigned char *pixels;   /* height lines of PNG_LINE(width) bytes, filter bytes 0 */
};

static inline void png_dot(const struct png *p, unsigned x, unsigned y)
{
    p->pixels[y * PNG_LINE(p->width) + 1 + x / 8] |= (unsigned char)(0x80 >> x % 8);
}

/* Appends it to out. */
void png_of_two_colors(const struct png *p, struct buf *out);

#endif
