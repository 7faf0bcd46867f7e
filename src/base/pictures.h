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

/* By the brand in its first box. */
bool picture_is_avif(struct str bytes);
/* A GIF of two pictures or more, a WebP or an AVIF that says so. */
bool picture_is_animated(struct str bytes);
/* A PNG that says so before its first picture. */
bool picture_is_apng(struct str bytes);
/* How long the pictures of a GIF or an APNG are shown, one after the other. */
uint32_t picture_moves_ms(struct str bytes);

#endif
