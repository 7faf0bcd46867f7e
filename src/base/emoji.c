/* emoji.c - recognises Unicode emoji. */
#include "base/emoji.h"

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/utf8.h"

enum {
    MAX_BYTES = 128,
    ZERO_WIDTH_JOINER = 0x200d,
    VARIATION_SELECTOR_16 = 0xfe0f,
    KEYCAP = 0x20e3,
    TAG_END = 0xe007f
};

struct emoji_range {
    uint32_t first, last;
};

/* Ranges of code points that are emoji. Digits, '#' and the asterisk, which are emoji only in
 * keycaps, are not included. */
static const struct emoji_range emoji_ranges[] = {
    { 0xa9, 0xa9 },       { 0xae, 0xae },       { 0x203c, 0x203c },   { 0x2049, 0x2049 },
    { 0x2122, 0x2122 },   { 0x2139, 0x2139 },   { 0x2194, 0x21aa },   { 0x231a, 0x23ff },
    { 0x24c2, 0x24c2 },   { 0x25aa, 0x25fe },   { 0x2600, 0x27bf },   { 0x2934, 0x2935 },
    { 0x2b05, 0x2b55 },   { 0x3030, 0x3030 },   { 0x303d, 0x303d },   { 0x3297, 0x3299 },
    { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf }, { 0x1f170, 0x1f19a }, { 0x1f201, 0x1f251 },
    { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f7e0, 0x1f7f0 }, { 0x1f900, 0x1faff },
};

static bool is_emoji_character(uint32_t c)
{
    for (size_t i = 0; i < COUNT_OF(emoji_ranges); i++)
        if (c >= emoji_ranges[i].first && c <= emoji_ranges[i].last)
            return true;
    return false;
}

static bool is_skin_tone(uint32_t c)
{
    return c >= 0x1f3fb && c <= 0x1f3ff;
}

static bool is_regional_indicator(uint32_t c)
{
    return c >= 0x1f1e6 && c <= 0x1f1ff;
}

static uint32_t peek_character(struct str s)
{
    uint32_t c;

    return utf8_decode(s, &c) ? c : 0;
}

static uint32_t consume_character(struct str *s)
{
    uint32_t c = 0;

    *s = str_skip_bytes(*s, utf8_decode(*s, &c));
    return c;
}

static bool consume_code_point_if(struct str *s, uint32_t c)
{
    if (peek_character(*s) != c)
        return false;
    consume_character(s);
    return true;
}

/* Consumes one emoji character with its optional variation selector, skin tone and flag tags. */
static bool consume_emoji_sequence(struct str *s)
{
    if (!is_emoji_character(consume_character(s)))
        return false;
    consume_code_point_if(s, VARIATION_SELECTOR_16);
    if (is_skin_tone(peek_character(*s)))
        consume_character(s);
    if (peek_character(*s) < 0xe0020 || peek_character(*s) > TAG_END)
        return true;
    while (peek_character(*s) >= 0xe0020 && peek_character(*s) < TAG_END)
        consume_character(s);
    return consume_code_point_if(s, TAG_END);
}

static bool is_keycap_emoji(struct str s)
{
    uint32_t c = consume_character(&s);

    if (!((c >= '0' && c <= '9') || c == '#' || c == '*'))
        return false;
    consume_code_point_if(&s, VARIATION_SELECTOR_16);
    return consume_code_point_if(&s, KEYCAP) && !s.n;
}

bool is_single_regional_indicator(struct str text)
{
    uint32_t c = consume_character(&text);

    return is_regional_indicator(c) && !text.n;
}

bool is_emoji(struct str text)
{
    struct str rest = text;

    if (!text.n || text.n > MAX_BYTES || !utf8_is_valid(text))
        return false;
    if (is_keycap_emoji(text))
        return true;
    if (is_regional_indicator(consume_character(&rest)))
        return is_regional_indicator(consume_character(&rest)) && !rest.n;
    rest = text;
    do {
        if (!consume_emoji_sequence(&rest))
            return false;
    } while (consume_code_point_if(&rest, ZERO_WIDTH_JOINER));
    return !rest.n;
}
