/* quick.h - fast path for the most common values: strings without escapes and maps of such strings,
 * without white space. The slow path (decode.c) handles everything else.
 *
 * All input here starts before reader.safe, so that a name and the first bytes of its value can be
 * read without checking for the end of the text. */
#ifndef JSON_QUICK_H
#define JSON_QUICK_H

#include "base/arena.h"
#include "json/plan.h"
#include "json/token.h"

/* The closing quote of the string content at p; NULL if the string has escapes or is invalid. */
static inline const char *quick_text_end(const struct json_reader *r, const char *p)
{
    unsigned marks = scan_marks(p);

    while (!marks) {
        p += SCAN_BLOCK;
        if (p >= r->safe)
            return token_text_end(p, r->end);
        marks = scan_marks(p);
    }
    p += __builtin_ctz(marks);
    return *p == '"' ? p : token_text_end(p, r->end);
}

static inline bool quick_length(const struct step *s, size_t n)
{
    return n - s->least <= s->range;
}

/* Returns the closing quote of the key at p if a string follows; NULL: use the slow path. */
static __attribute__((noinline)) const char *quick_key_any(const struct json_reader *r,
                                                           const char *p)
{
    const char *end = *p == '"' ? quick_text_end(r, p + 1) : NULL;

    return end && end < r->safe && end[1] == ':' && end[2] == '"' ? end : NULL;
}

/* Recognises a two-letter key, such as a language code, by its eight bytes: a quote, two bytes from
 * 0x60 to 0x7f (which need no escape), a quote, a colon, a quote. */
static inline bool quick_two_letters(uint64_t word)
{
    return (word & UINT64_C(0xffffffe0e0ff)) == UINT64_C(0x223a22606022);
}

static bool words_have(const struct pair *p, const struct pair *end, struct str key)
{
    while (p < end && !scan_eq(p->key, key))
        p++;
    return p < end;
}

/* True if a key occurs twice. A 64-bit filter by first and last byte avoids most comparisons. */
static __attribute__((noinline)) bool words_repeat(const struct pair *first, const struct pair *end)
{
    uint64_t keys = 0;

    for (const struct pair *p = first; p < end; p++) {
        unsigned a = (unsigned char)p->key.p[0];
        unsigned b = p->key.n ? (unsigned char)p->key.p[p->key.n - 1] : a;
        uint64_t bit = UINT64_C(1) << (a * 5 + b) % 64;

        if (keys & bit && words_have(first, p, p->key))
            return true;
        keys |= bit;
    }
    return false;
}

/* Decodes a map of strings into the free bytes of the arena, which are allocated only on success.
 * Two-letter keys in ascending order need no check for duplicates.
 *
 * All quick_ functions return the end of the value; NULL, with nothing consumed, if the slow path
 * is needed. */
static inline __attribute__((always_inline)) const char *quick_words(struct json_reader *r,
                                                                     const struct step *s,
                                                                     const char *at, char *object)
{
    struct arena *a = r->arena;
    struct pair *first = (struct pair *)(void *)a->at, *pair = first;
    const struct pair *end = first + (size_t)(a->end - a->at) / sizeof *pair;
    unsigned letters = 0;
    bool in_order = true;

    if (*at != '{' || r->depth >= JSON_MAX_DEPTH)
        return NULL;
    do {
        struct str key = str_slice(at + 2, 2);
        const char *text = at + 7;
        uint64_t word = scan_load(at + 1);

        if (quick_two_letters(word)) {
            unsigned next = __builtin_bswap16((uint16_t)(word >> 8));

            if (next <= letters)
                in_order = false;
            letters = next;
        } else {
            text = quick_key_any(r, at + 1);
            if (!text)
                return NULL;
            key.n = (size_t)(text - key.p);
            text += 3;
            in_order = false;
        }
        at = quick_text_end(r, text);
        if (!at || !quick_length(s, (size_t)(at - text)) || pair == end)
            return NULL;
        *pair++ = (struct pair){ key, { text, (size_t)(at - text) } };
        if (++at >= r->safe)
            return NULL;
    } while (*at == ',');
    size_t count = (size_t)(pair - first);
    if (*at != '}' || count > s->most || (!in_order && words_repeat(first, pair)))
        return NULL;
    *(struct list *)step_slot(s, object) = (struct list){ first, count, count };
    a->at = (char *)pair;
    a->used += count * sizeof *pair;
    r->values += (unsigned)count;
    return at + 1;
}

static inline const char *quick_text(const struct json_reader *r, const struct step *s,
                                     const char *at, char *object)
{
    const char *text = at + 1, *end = *at == '"' ? quick_text_end(r, text) : NULL;

    if (!end || !quick_length(s, (size_t)(end - text)))
        return NULL;
    *(struct str *)step_slot(s, object) = str_slice(text, (size_t)(end - text));
    return end + 1;
}

static inline const char *quick_raw(const struct json_reader *r, const struct step *s,
                                    const char *at, char *object)
{
    const char *end = *at == '"' ? quick_text_end(r, at + 1) : NULL;

    if (!end)
        return NULL;
    *(struct str *)step_slot(s, object) = str_slice(at, (size_t)(end + 1 - at));
    return end + 1;
}

/* Decodes a one-digit integer, such as a type number. */
static inline const char *quick_int(const struct step *s, const char *at, char *object)
{
    unsigned digit = (unsigned char)at[0] - '0';

    if (digit > 9 || !(s->digits >> digit & 1) || (at[1] != ',' && at[1] != '}'))
        return NULL;
    *(int64_t *)step_slot(s, object) = digit;
    return at + 1;
}

static inline const char *quick_bool(const struct step *s, const char *at, char *object)
{
    bool value = *at == 't';

    if (memcmp(at, value ? "true" : "fals", 4) != 0 || (!value && at[4] != 'e'))
        return NULL;
    if (s->value != s->member)
        step_slot(s, object);
    *(bool *)(object + s->value) = value;
    return at + (value ? 4 : 5);
}

static inline __attribute__((always_inline)) const char *quick_value(struct json_reader *r,
                                                                     const struct step *s,
                                                                     const char *at, char *object)
{
    if (s->kind == STEP_TEXT)
        return quick_text(r, s, at, object);
    if (s->kind == STEP_WORDS)
        return quick_words(r, s, at, object);
    if (s->kind == STEP_RAW)
        return quick_raw(r, s, at, object);
    if (s->kind == STEP_INT)
        return quick_int(s, at, object);
    return s->kind == STEP_BOOL ? quick_bool(s, at, object) : NULL;
}

#endif
