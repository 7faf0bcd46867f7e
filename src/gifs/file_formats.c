/* file_formats.c - file formats of a GIF, and the choice of the best available file. */
#include "gifs/internal.h"

#include <stdio.h>

#include "base/mem.h"

const struct gif_format_info gif_formats[GIF_FORMAT_COUNT] = {
#define F(name, word, extension, type) \
    [GIF_##name] = { STR_INIT(word), STR_INIT(extension), STR_INIT(type) },
    GIF_FORMATS(F)
#undef F
};

bool find_gif_format(struct str word, enum gif_format *ret)
{
    if (str_is(word, "loopedmp4"))
        word = gif_formats[GIF_MP4].word;
    for (int f = 0; f < GIF_FORMAT_COUNT; f++) {
        if (str_eq(word, gif_formats[f].word)) {
            *ret = (enum gif_format)f;
            return true;
        }
    }
    return false;
}

enum gif_format parse_requested_gif_format(struct str word)
{
    enum gif_format format;

    return find_gif_format(word, &format) && format != GIF_PREVIEW ? format : GIF_MP4;
}

static uint32_t parse_pixel_count(struct str s)
{
    uint64_t n;

    return str_to_u64(s, &n) && n <= UINT16_MAX ? (uint32_t)n : 0;
}

struct gif_media_sizes parse_gif_media_sizes(struct str text)
{
    struct gif_media_sizes m = { 0 };

    while (text.n) {
        struct str size = str_cut(&text, ';'), word = str_cut(&size, ' ');
        struct str width = str_cut(&size, 'x');
        enum gif_format f;

        if (find_gif_format(word, &f))
            m.of[f] = (struct gif_size){ parse_pixel_count(width), parse_pixel_count(size) };
    }
    return m;
}

struct str format_gif_media_sizes(struct arena *a, const struct gif_media_sizes *m)
{
    char text[GIF_FORMAT_COUNT * 32];
    int n = 0;

    for (int f = 0; f < GIF_FORMAT_COUNT; f++)
        if (m->of[f].width)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%.*s %ux%u", n ? ";" : "",
                          STR_ARGS(gif_formats[f].word), m->of[f].width, m->of[f].height);
    return str_dup(a, str_slice(text, (size_t)n));
}

/* Formats of each file type, from the largest to the smallest. */
static const enum gif_format formats_by_type[][4] = {
    { GIF_MP4, GIF_TINYMP4, GIF_NANOMP4, GIF_FORMAT_COUNT },
    { GIF_WEBM, GIF_TINYWEBM, GIF_NANOWEBM, GIF_FORMAT_COUNT },
    { GIF_GIF, GIF_MEDIUMGIF, GIF_TINYGIF, GIF_NANOGIF },
    { GIF_WEBP, GIF_TINYWEBP, GIF_NANOWEBP, GIF_FORMAT_COUNT },
};

static bool gif_has_file_of_format(const struct gif_media_sizes *m, enum gif_format f)
{
    return f < GIF_FORMAT_COUNT && m->of[f].width;
}

/* Returns the format itself if the GIF has a file in it. Otherwise returns the next larger format
 * that has a file, or else a smaller one. */
static enum gif_format choose_format_of_nearest_size(const struct gif_media_sizes *m,
                                                     const enum gif_format kind[4], int at)
{
    for (int i = at; i >= 0; i--)
        if (gif_has_file_of_format(m, kind[i]))
            return kind[i];
    for (int i = at + 1; i < 4; i++)
        if (gif_has_file_of_format(m, kind[i]))
            return kind[i];
    return GIF_FORMAT_COUNT;
}

enum gif_format choose_gif_format(const struct gif_media_sizes *m, enum gif_format wanted)
{
    enum gif_format found = gif_has_file_of_format(m, wanted) ? wanted : GIF_FORMAT_COUNT;

    /* If there is no still picture, use the smallest animation. */
    if (wanted == GIF_PREVIEW && found == GIF_FORMAT_COUNT)
        found = choose_format_of_nearest_size(m, formats_by_type[2], 2);
    for (size_t k = 0; k < COUNT_OF(formats_by_type) && found == GIF_FORMAT_COUNT; k++)
        for (int i = 0; i < 4; i++)
            if (formats_by_type[k][i] == wanted)
                found = choose_format_of_nearest_size(m, formats_by_type[k], i);
    if (found == GIF_FORMAT_COUNT)
        found = choose_format_of_nearest_size(m, formats_by_type[2], 0);
    for (int f = 0; f < GIF_FORMAT_COUNT && found == GIF_FORMAT_COUNT; f++)
        if (gif_has_file_of_format(m, (enum gif_format)f))
            found = (enum gif_format)f;
    return found;
}
