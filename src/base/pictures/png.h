/* png.h - encodes PNG images with two colours. */
#ifndef BASE_PICTURES_PNG_H
#define BASE_PICTURES_PNG_H

#include "base/buf.h"

/* Number of bytes of a row of pixels: a filter byte, then one bit per pixel. */
#define PNG_ROW_BYTES(width) (((width) + 7) / 8 + 1)

struct png_image {
    unsigned width, height;
    unsigned char colors[6]; /* RGB colour of the pixels whose bit is 0, then of the pixels whose
                              * bit is 1 */
    unsigned char *pixels;   /* `height` rows of PNG_ROW_BYTES(width) bytes; each row starts with
                              * filter byte 0 */
};

static inline void png_set_pixel(const struct png_image *p, unsigned x, unsigned y)
{
    p->pixels[y * PNG_ROW_BYTES(p->width) + 1 + x / 8] |= (unsigned char)(0x80 >> x % 8);
}

/* Appends the PNG file to out. */
void png_encode_two_colors(const struct png_image *p, struct buf *out);

#endif
