/* emoji.c - recognises Unicode emoji. */
#include "base/emoji.h"

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { MAX_BYTES = 128, JOINER = 0x200d, AS_PICTURE = 0xfe0f, KEYCAP = 0x20e3, TAG_END = 0xe007f };

struct emoji_range {
    uint32_t first, last;
};

/* Ranges of emoji characters; letters and digits are not included. */
static const struct emoji_range pictures[] = {
    { 0xa9, 0xa9 },       { 0xae, 0xae },       { 0x203c, 0x203c },   { 0x2049, 0x2049 },
    { 0x2122, 0x2122 },   { 0x2139, 0x2139 },   { 0x2194, 0x21aa },   { 0x231a, 0x23ff },
    { 0x24c2, 0x24c2 },   { 0x25aa, 0x25fe },   { 0x2600, 0x27bf },   { 0x2934, 0x2935 },
    { 0x2b05, 0x2b55 },   { 0x3030, 0x3030 },   { 0x303d, 0x303d },   { 0x3297, 0x3299 },
    { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf }, { 0x1f170, 0x1f19a }, { 0x1f201, 0x1f251 },
    { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f7e0, 0x1f7f0 }, { 0x1f900, 0x1faff },
};

static bool is_picture(uint32_t c)
{
    for (size_t i = 0; i < COUNT_OF(pictures); i++)
        if (c >= pictures[i].first && c <= pictures[i].last)
            return true;
    return false;
}

static bool is_tone(uint32_t c)
{
    return c >= 0x1f3fb && c <= 0x1f3ff;
}

static bool is_flag_letter(uint32_t c)
{
    return c >= 0x1f1e6 && c <= 0x1f1ff;
}

static uint32_t emoji_peek(struct str s)
{
    uint32_t c;

    return utf8_decode(s, &c) ? c : 0;
}

static uint32_t emoji_take(struct str *s)
{
    uint32_t c = 0;

    *s = str_from(*s, utf8_decode(*s, &c));
    return c;
}

static bool emoji_take_if(struct str *s, uint32_t c)
{
    if (emoji_peek(*s) != c)
        return false;
    emoji_take(s);
    return true;
}

/* Consumes a character and its optional variation selector, skin tone and flag tags. */
static bool emoji_take_picture(struct str *s)
{
    if (!is_picture(emoji_take(s)))
        return false;
    emoji_take_if(s, AS_PICTURE);
    if (is_tone(emoji_peek(*s)))
        emoji_take(s);
    if (emoji_peek(*s) < 0xe0020 || emoji_peek(*s) > TAG_END)
        return true;
    while (emoji_peek(*s) >= 0xe0020 && emoji_peek(*s) < TAG_END)
        emoji_take(s);
    return emoji_take_if(s, TAG_END);
}

static bool is_keycap(struct str s)
{
    uint32_t c = emoji_take(&s);

    if (!((c >= '0' && c <= '9') || c == '#' || c == '*'))
        return false;
    emoji_take_if(&s, AS_PICTURE);
    return emoji_take_if(&s, KEYCAP) && !s.n;
}

bool is_lone_flag_letter(struct str text)
{
    uint32_t c = emoji_take(&text);

    return is_flag_letter(c) && !text.n;
}

bool is_emoji(struct str text)
{
    struct str rest = text;

    if (!text.n || text.n > MAX_BYTES || !utf8_valid(text))
        return false;
    if (is_keycap(text))
        return true;
    if (is_flag_letter(emoji_take(&rest)))
        return is_flag_letter(emoji_take(&rest)) && !rest.n;
    rest = text;
    do {
        if (!emoji_take_picture(&rest))
            return false;
    } while (emoji_take_if(&rest, JOINER));
    return !rest.n;
}
