/* pictures.h - what a picture is and how large, told by its first bytes. */
#ifndef BASE_PICTURES_H
#define BASE_PICTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct picture {
    const char *type;       /* "image/png" */
    uint32_t width, height; /* 0: the header does not say */
};

/* PNG, JPEG, GIF or WebP; false: none of them. */
bool picture_look(struct str bytes, struct picture *ret);

#endif
