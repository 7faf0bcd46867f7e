/* fast_decode.h - fast path for the most common values: strings without escapes and maps of such
 * strings, without white space. The slow path (decode.c) handles everything else.
 *
 * Call these functions only for input that starts before reader.safe: then a name and the first
 * bytes of its value can be read without checking for the end of the text. */
#ifndef JSON_FAST_DECODE_H
#define JSON_FAST_DECODE_H

#include "base/arena.h"
#include "json/plan.h"
#include "json/reader_inline.h"

/* Returns the closing quote of the string whose content starts at p; NULL if the string has escapes
 * or is invalid. */
static inline const char *fast_find_string_end(const struct json_reader *r, const char *p)
{
    unsigned marks = find_special_bytes_mask(p);

    while (!marks) {
        p += SCAN_BLOCK;
        if (p >= r->safe)
            return find_unescaped_string_end(p, r->end);
        marks = find_special_bytes_mask(p);
    }
    p += __builtin_ctz(marks);
    return *p == '"' ? p : find_unescaped_string_end(p, r->end);
}

static inline bool fast_string_length_is_valid(const struct decode_plan_step *s, size_t n)
{
    return n - s->min_length <= s->range;
}

/* Returns the closing quote of the key at p if a string follows; NULL if the slow path is
 * needed. */
static __attribute__((noinline)) const char *fast_find_key_end(const struct json_reader *r,
                                                               const char *p)
{
    const char *end = *p == '"' ? fast_find_string_end(r, p + 1) : NULL;

    return end && end < r->safe && end[1] == ':' && end[2] == '"' ? end : NULL;
}

/* Recognises a two-letter key, such as a language code, by its eight bytes: a quote, two bytes from
 * 0x60 to 0x7f (which need no escape), a quote, a colon, a quote. */
static inline bool is_two_letter_key(uint64_t word)
{
    return (word & UINT64_C(0xffffffe0e0ff)) == UINT64_C(0x223a22606022);
}

static bool string_pairs_contain_key(const struct string_pair *p, const struct string_pair *end,
                                     struct str key)
{
    while (p < end && !short_str_eq(p->key, key))
        p++;
    return p < end;
}

/* Returns true if a key occurs twice. A 64-bit filter of the keys avoids most comparisons. */
static __attribute__((noinline)) bool string_pairs_have_duplicate_key(
    const struct string_pair *first, const struct string_pair *end)
{
    uint64_t keys = 0;

    for (const struct string_pair *p = first; p < end; p++) {
        unsigned a = (unsigned char)p->key.p[0];
        unsigned b = p->key.n ? (unsigned char)p->key.p[p->key.n - 1] : a;
        uint64_t bit = UINT64_C(1) << (a * 5 + b) % 64;

        if (keys & bit && string_pairs_contain_key(first, p, p->key))
            return true;
        keys |= bit;
    }
    return false;
}

/* Decodes a map of strings into the free bytes of the arena, which are allocated only on success. A
 * check for duplicate keys is not needed if all keys have two letters and are in ascending order.
 *
 * All fast_decode_ functions return the end of the value. If the slow path is needed, they return
 * NULL and consume nothing. */
static inline __attribute__((always_inline)) const char *fast_decode_text_map(
    struct json_reader *r, const struct decode_plan_step *s, const char *at, char *object)
{
    struct arena *a = r->arena;
    struct string_pair *first = (struct string_pair *)(void *)a->at, *pair = first;
    const struct string_pair *end = first + (size_t)(a->end - a->at) / sizeof *pair;
    unsigned letters = 0;
    bool in_order = true;

    if (*at != '{' || r->depth >= JSON_MAX_DEPTH)
        return NULL;
    do {
        struct str key = str_slice(at + 2, 2);
        const char *text = at + 7;
        uint64_t word = load_u64_little_endian(at + 1);

        if (is_two_letter_key(word)) {
            unsigned next = __builtin_bswap16((uint16_t)(word >> 8));

            if (next <= letters)
                in_order = false;
            letters = next;
        } else {
            text = fast_find_key_end(r, at + 1);
            if (!text)
                return NULL;
            key.n = (size_t)(text - key.p);
            text += 3;
            in_order = false;
        }
        at = fast_find_string_end(r, text);
        if (!at || !fast_string_length_is_valid(s, (size_t)(at - text)) || pair == end)
            return NULL;
        *pair++ = (struct string_pair){ key, { text, (size_t)(at - text) } };
        if (++at >= r->safe)
            return NULL;
    } while (*at == ',');
    size_t count = (size_t)(pair - first);
    if (*at != '}' || count > s->max_entries ||
        (!in_order && string_pairs_have_duplicate_key(first, pair)))
        return NULL;
    *(struct list *)decode_plan_step_get_value_address(s, object) =
        (struct list){ first, count, count };
    a->at = (char *)pair;
    a->used += count * sizeof *pair;
    r->values += (unsigned)count;
    return at + 1;
}

static inline const char *fast_decode_text(const struct json_reader *r,
                                           const struct decode_plan_step *s, const char *at,
                                           char *object)
{
    const char *text = at + 1, *end = *at == '"' ? fast_find_string_end(r, text) : NULL;

    if (!end || !fast_string_length_is_valid(s, (size_t)(end - text)))
        return NULL;
    *(struct str *)decode_plan_step_get_value_address(s, object) =
        str_slice(text, (size_t)(end - text));
    return end + 1;
}

static inline const char *fast_decode_raw(const struct json_reader *r,
                                          const struct decode_plan_step *s, const char *at,
                                          char *object)
{
    const char *end = *at == '"' ? fast_find_string_end(r, at + 1) : NULL;

    if (!end)
        return NULL;
    *(struct str *)decode_plan_step_get_value_address(s, object) =
        str_slice(at, (size_t)(end + 1 - at));
    return end + 1;
}

/* Decodes a one-digit integer, such as a type number. */
static inline const char *fast_decode_int(const struct decode_plan_step *s, const char *at,
                                          char *object)
{
    unsigned digit = (unsigned char)at[0] - '0';

    if (digit > 9 || !(s->digits >> digit & 1) || (at[1] != ',' && at[1] != '}'))
        return NULL;
    *(int64_t *)decode_plan_step_get_value_address(s, object) = digit;
    return at + 1;
}

static inline const char *fast_decode_bool(const struct decode_plan_step *s, const char *at,
                                           char *object)
{
    bool value = *at == 't';

    if (memcmp(at, value ? "true" : "fals", 4) != 0 || (!value && at[4] != 'e'))
        return NULL;
    if (s->value != s->member)
        decode_plan_step_get_value_address(s, object);
    *(bool *)(object + s->value) = value;
    return at + (value ? 4 : 5);
}

static inline __attribute__((always_inline)) const char *fast_decode_value(
    struct json_reader *r, const struct decode_plan_step *s, const char *at, char *object)
{
    if (s->kind == STEP_TEXT)
        return fast_decode_text(r, s, at, object);
    if (s->kind == STEP_TEXT_MAP)
        return fast_decode_text_map(r, s, at, object);
    if (s->kind == STEP_RAW)
        return fast_decode_raw(r, s, at, object);
    if (s->kind == STEP_INT)
        return fast_decode_int(s, at, object);
    return s->kind == STEP_BOOL ? fast_decode_bool(s, at, object) : NULL;
}

#endif
