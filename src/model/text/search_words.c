/* search_words.c - normalises text (case, accents, Unicode forms) and splits it into words. */
#include "model/text/search_words.h"

#include <stdlib.h>
#include <utf8proc.h>

#include "base/mem.h"
#include "base/utf8.h"

/* Maps text with utf8proc. Returns the text unchanged if that fails. */
static struct str transform_with_utf8proc(struct arena *a, struct str text,
                                          utf8proc_option_t options)
{
    utf8proc_uint8_t *made = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)text.p, (utf8proc_ssize_t)text.n,
                                      &made, options | UTF8PROC_STABLE);

    if (n < 0)
        return text;
    struct str copy = str_dup(a, str_slice((const char *)made, (size_t)n));
    free(made);
    return copy;
}

enum { MAX_COMBINING_MARKS = 30 };

static bool is_combining_mark(uint32_t c)
{
    /* NFKC replaces U+FF9E and U+FF9F by combining marks. */
    return utf8proc_get_property((utf8proc_int32_t)c)->combining_class || c == 0xff9e ||
           c == 0xff9f;
}

/* Removes combining marks after 30 of them, the limit of Unicode's stream-safe text format, because
 * utf8proc sorts the marks of a letter in quadratic time. */
static struct str limit_combining_marks(struct arena *a, struct str text)
{
    char *out = arena_alloc_unzeroed(a, text.n + 1);
    size_t n = 0, size, marks = 0;
    uint32_t c;

    for (; text.n && (size = utf8_decode(text, &c)); text = str_skip_bytes(text, size)) {
        marks = is_combining_mark(c) ? marks + 1 : 0;
        if (marks > MAX_COMBINING_MARKS)
            continue;
        memcpy(out + n, text.p, size);
        n += size;
    }
    return str_slice(out, n);
}

static bool is_unicode_space(uint32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

/* Replaces white space by single spaces and removes it at both ends. */
static struct str collapse_spaces(struct arena *a, struct str text)
{
    char *out = arena_alloc_unzeroed(a, text.n + 1);
    size_t n = 0, size;
    bool gap = false;
    uint32_t c;

    for (; text.n && (size = utf8_decode(text, &c)); text = str_skip_bytes(text, size)) {
        if (is_unicode_space(c)) {
            gap = n > 0;
            continue;
        }
        if (gap)
            out[n++] = ' ';
        gap = false;
        memcpy(out + n, text.p, size);
        n += size;
    }
    return str_slice(out, n);
}

struct str normalize_search_text(struct arena *a, struct str text)
{
    text = utf8_is_ascii(text)
               ? str_lower(a, text)
               : transform_with_utf8proc(a, limit_combining_marks(a, text),
                                         UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD);
    return collapse_spaces(a, text);
}

struct str utf8_first_character(struct str text)
{
    uint32_t c;

    return str_slice(text.p, utf8_decode(text, &c));
}

/* Returns whether the character is an accent of Latin, Greek or Cyrillic letters. Other combining
 * marks are part of the letter. */
static bool is_accent(uint32_t c)
{
    return (c >= 0x300 && c <= 0x36f) || (c >= 0x1ab0 && c <= 0x1aff) ||
           (c >= 0x1dc0 && c <= 0x1dff) || (c >= 0x20d0 && c <= 0x20ff) ||
           (c >= 0xfe20 && c <= 0xfe2f) || (c >= 0x483 && c <= 0x487);
}

static struct str remove_accents(struct arena *a, struct str text)
{
    char *out;
    size_t n = 0, size;
    uint32_t c;

    if (utf8_is_ascii(text))
        return text;
    text =
        transform_with_utf8proc(a, text, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD);
    out = arena_alloc_unzeroed(a, text.n + 1);
    for (; text.n && (size = utf8_decode(text, &c)); text = str_skip_bytes(text, size)) {
        if (is_accent(c))
            continue;
        memcpy(out + n, text.p, size);
        n += size;
    }
    return transform_with_utf8proc(a, str_slice(out, n), UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
}

struct letter_range {
    uint32_t first, last;
};

static bool is_in_letter_ranges(uint32_t c, const struct letter_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

static bool is_word_char(uint32_t c)
{
    /* Characters outside of ASCII that separate words: punctuation and spaces. Symbols such as
     * emoji are part of words. */
    static const struct letter_range gaps[] = {
        { 0x80, 0xa9 },     { 0xab, 0xb4 },     { 0xb6, 0xb9 },     { 0xbb, 0xbf },
        { 0xd7, 0xd7 },     { 0xf7, 0xf7 },     { 0x1680, 0x1680 }, { 0x2000, 0x206f },
        { 0x2e00, 0x2e7f }, { 0x3000, 0x3004 }, { 0x3008, 0x3020 }, { 0x3030, 0x3030 },
        { 0x30fb, 0x30fb }, { 0xfe00, 0xfe6f }, { 0xff00, 0xff0f },
    };

    if (c < 0x80)
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    return !is_in_letter_ranges(c, gaps, COUNT_OF(gaps));
}

/* Returns whether the character's script has no spaces between words: Thai, Hangul, Kana, Han. */
static bool is_script_without_spaces(uint32_t c)
{
    static const struct letter_range dense[] = {
        { 0xe00, 0xe7f },   { 0x1100, 0x11ff }, { 0x3005, 0x3007 },   { 0x3040, 0x30ff },
        { 0x31f0, 0x31ff }, { 0x3400, 0x4dbf }, { 0x4e00, 0x9fff },   { 0xac00, 0xd7a3 },
        { 0xf900, 0xfaff }, { 0xff66, 0xff9f }, { 0x20000, 0x3ffff },
    };

    return c >= 0x80 && is_in_letter_ranges(c, dense, COUNT_OF(dense));
}

enum { MAX_WORD_BYTES = 128 };

static void add_search_word(struct arena *a, struct list *words, const char *p, size_t n)
{
    if (n > MAX_WORD_BYTES)
        for (n = MAX_WORD_BYTES; n && (p[n] & 0xc0) == 0x80; n--)
            ;
    if (n)
        *(struct str *)list_append(a, words, sizeof(struct str)) = str_slice(p, n);
}

/* Adds pairs of adjacent characters as words. ABC becomes AB, BC and C, so that a search by prefix
 * finds each character. For a query the last C is omitted, unless the text has only one
 * character. */
static void add_character_pairs(struct arena *a, struct list *words, struct str run, bool query)
{
    size_t before = words->count;
    uint32_t c;

    while (run.n) {
        size_t first = utf8_decode(run, &c), second = utf8_decode(str_skip_bytes(run, first), &c);

        if (second || !query || words->count == before)
            add_search_word(a, words, run.p, first + second);
        run = str_skip_bytes(run, first);
    }
}

struct list split_into_search_words(struct arena *a, struct str normal, bool query)
{
    struct str rest = remove_accents(a, normal);
    struct list words = { 0 };
    size_t size;
    uint32_t c;

    while (rest.n && (size = utf8_decode(rest, &c))) {
        const char *began = rest.p;
        bool dense = is_script_without_spaces(c);

        if (!is_word_char(c)) {
            rest = str_skip_bytes(rest, size);
            continue;
        }
        while (rest.n && (size = utf8_decode(rest, &c)) && is_word_char(c) &&
               is_script_without_spaces(c) == dense)
            rest = str_skip_bytes(rest, size);
        if (dense)
            add_character_pairs(a, &words, str_slice(began, (size_t)(rest.p - began)), query);
        else
            add_search_word(a, &words, began, (size_t)(rest.p - began));
    }
    return words;
}
