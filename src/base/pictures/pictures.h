/* pictures.h - detects type, size and animation of image files by their bytes. */
#ifndef BASE_PICTURES_PICTURES_H
#define BASE_PICTURES_PICTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct picture_properties {
    const char *type;       /* "image/png" */
    uint32_t width, height; /* 0 if unknown */
};

/* Recognises PNG, JPEG, GIF and WebP by their first bytes; returns false for other types. */
bool picture_detect_type(struct str bytes, struct picture_properties *ret);

/* Returns true if the file's first box (ftyp) has an AVIF brand. */
bool picture_is_avif(struct str bytes);
/* Returns true for a GIF with several frames, and for a WebP or AVIF that is marked as animated. */
bool picture_is_animated(struct str bytes);
/* Returns true for a PNG with an animation chunk before the image data. */
bool picture_is_apng(struct str bytes);
/* Returns the total duration of all frames of a GIF or an APNG, in ms. */
uint32_t picture_duration_ms(struct str bytes);

#endif
