/* picture.h - encodes small 16-colour pictures as GIF and PNG. */
#ifndef GIFS_PICTURE_H
#define GIFS_PICTURE_H

#include <stdint.h>

#include "base/buf.h"

struct picture_frame {
    uint16_t width, height;
    const unsigned char *pixels; /* one byte per pixel, 0-15 */
};

struct palette {
    unsigned char rgb[16][3];
};

/* Write an animation that loops forever: gif_begin, gif_add_frame for each frame, gif_end. */
void gif_begin(struct buf *out, uint16_t width, uint16_t height, const struct palette *p);
void gif_add_frame(struct buf *out, const struct picture_frame *f, unsigned hundredths);
void gif_end(struct buf *out);

void png_write(struct buf *out, const struct picture_frame *f, const struct palette *p);

#endif
