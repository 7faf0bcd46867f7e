/* case_folding.c - converts texts to lower case for matching, and finds word boundaries. */
#include "platform/automod/matching.h"

#include <utf8proc.h>

#include "base/utf8.h"

/* Allocates for the worst case: four bytes per character, because lower case may be longer than the
 * original. */
struct folded_text text_fold_case(struct arena *arena, struct str text)
{
    struct folded_text ret = { .original = text };

    if (utf8_is_ascii(text)) {
        ret.text = str_lower(arena, text);
        return ret;
    }
    char *out = arena_alloc_unzeroed(arena, 4 * text.n);
    uint32_t *offsets = arena_alloc_unzeroed(arena, (4 * text.n + 1) * sizeof *offsets), c;
    size_t n = 0, size;

    for (struct str rest = text; rest.n && (size = utf8_decode(rest, &c));
         rest = str_skip_bytes(rest, size)) {
        size_t made = utf8_encode((uint32_t)utf8proc_tolower((utf8proc_int32_t)c), out + n);

        for (size_t i = 0; i < made; i++)
            offsets[n + i] = (uint32_t)(rest.p - text.p);
        n += made;
    }
    offsets[n] = (uint32_t)text.n;
    ret.text = str_slice(out, n);
    ret.offsets = offsets;
    return ret;
}

struct str original_text_of_folded_range(const struct folded_text *t, size_t start, size_t end)
{
    if (t->offsets) {
        start = t->offsets[start];
        end = t->offsets[end];
    }
    return str_slice(t->original.p + start, end - start);
}

bool is_letter_digit_or_mark(uint32_t c)
{
    if (c < 0x80)
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    return (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_NO);
}

static bool has_word_character_before(struct str text, size_t at)
{
    size_t from = at;
    uint32_t c;

    if (!at)
        return false;
    do
        from--;
    while (from && ((unsigned char)text.p[from] & 0xc0) == 0x80);
    return utf8_decode(str_slice(text.p + from, at - from), &c) && is_letter_digit_or_mark(c);
}

bool is_word_boundary(struct str text, size_t at)
{
    uint32_t c;

    return !has_word_character_before(text, at) || at >= text.n ||
           !utf8_decode(str_skip_bytes(text, at), &c) || !is_letter_digit_or_mark(c);
}
