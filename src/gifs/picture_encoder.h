/* picture_encoder.h - encodes small 16-colour pictures as GIF and PNG. */
#ifndef GIFS_PICTURE_ENCODER_H
#define GIFS_PICTURE_ENCODER_H

#include <stdint.h>

#include "base/buf.h"

struct picture_frame {
    uint16_t width, height;
    const unsigned char *pixels; /* one byte per pixel, 0-15 */
};

struct picture_palette {
    unsigned char rgb[16][3];
};

/* Write an animated GIF that loops forever. Call gif_encode_begin, then gif_encode_frame for each
 * frame, then gif_encode_end. */
void gif_encode_begin(struct buf *out, uint16_t width, uint16_t height,
                      const struct picture_palette *p);
void gif_encode_frame(struct buf *out, const struct picture_frame *f, unsigned hundredths);
void gif_encode_end(struct buf *out);

void png_encode_picture(struct buf *out, const struct picture_frame *f,
                        const struct picture_palette *p);

#endif
