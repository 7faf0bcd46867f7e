/* scalar.c - validates and converts single values. */
#include "json/internal.h"

#include <math.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/timestamp.h"
#include "base/utf8.h"

static const int64_t SAFE_INT = 1LL << 53;

/* Returns the minimum of a number. A maximum below the minimum means that there is no maximum. */
bool type_minimum(const struct type *type, int64_t *ret)
{
    *ret = type->min;
    if (type->min || type->max)
        return true;
    *ret = -SAFE_INT;
    return type->flags & TYPE_SAFE_INT;
}

bool type_maximum(const struct type *type, int64_t *ret)
{
    *ret = type->max;
    if ((type->min || type->max) && type->max >= type->min)
        return true;
    *ret = SAFE_INT;
    return type->flags & TYPE_SAFE_INT;
}

bool length_check(struct form *form, const struct type *type, size_t n, int64_t cap,
                  const struct place *at)
{
    long long length = (long long)n, min = type->min, max = type->max ? type->max : cap;

    if (length >= min && length <= max)
        return true;
    if (type->min && type->max)
        form_fail(form, at, FORM_BAD_LENGTH, min, max);
    else if (length < min)
        form_fail(form, at, FORM_MIN_LENGTH, min);
    else
        form_fail(form, at, FORM_MAX_LENGTH, max);
    return false;
}

/* Adds an error that lists the allowed values. */
static void fail_choices(struct form *form, const struct type *type, const struct place *at)
{
    struct buf list;

    buf_init(&list, 64 * 1024);
    for (const struct choice *c = type->choices; c->doc; c++) {
        if (c != type->choices)
            buf_add_lit(&list, ", ");
        if (c->text)
            buf_printf(&list, "'%s'", c->text);
        else
            buf_add_i64(&list, c->value);
    }
    form_fail(form, at, FORM_CHOICES, "Value must be one of (%.*s).", STR_FMT(buf_str(&list)));
    buf_clear(&list);
}

static bool is_choice(const struct type *type, struct str text, int64_t value)
{
    if (!type->choices || type->flags & TYPE_LOOSE_ENUM)
        return true;
    for (const struct choice *c = type->choices; c->doc; c++)
        if (c->text ? str_is(text, c->text) : value == c->value)
            return true;
    return false;
}

static bool is_integer_text(struct str text)
{
    size_t i = text.n && text.p[0] == '-';

    if (i == text.n)
        return false;
    while (i < text.n && text.p[i] >= '0' && text.p[i] <= '9')
        i++;
    return i == text.n;
}

static void decode_string(struct form *form, const struct type *type, const struct scalar *s,
                          const struct place *at, struct str *out)
{
    struct str text = s->text;

    bool number = s->kind == JSON_NUMBER && is_integer_text(text) && type->flags & TYPE_EITHER;

    if (s->kind != JSON_STRING && !number) {
        form_fail(form, at, FORM_NOT_STRING, STR_FMT(form_quote(text)));
        return;
    }
    if (type->flags & TYPE_TRIM)
        text = utf8_trim(text);
    if (type->flags & TYPE_LOWER)
        text = str_lower(form->arena, text);
    *out = text;

    if (!length_is_surely_fine(type, text.n) &&
        !length_check(form, type, utf8_length(text), CHARACTERS_MAX, at))
        return;
    if (!is_choice(type, text, 0))
        fail_choices(form, type, at);
    else if (type->rule && !type->rule->holds(text))
        form_fail(form, at, type->rule->code, "%s", type->rule->message);
    else if (text.n && memchr(text.p, '\0', text.n))
        form_fail(form, at, FORM_REGEX); /* databases cannot store U+0000 in text */
}

/* Accepts integers as strings of digits, because the libraries JDA and Concord send them. Fractions
 * in strings are accepted only in queries or if the type has TYPE_EITHER. */
static bool may_be_number(const struct type *type, const struct scalar *s)
{
    if (s->kind == JSON_STRING)
        return s->of_text || type->flags & TYPE_EITHER || is_integer_text(s->text);
    return s->kind == JSON_NUMBER;
}

/* Finds a choice by the name that it had in API version 6. */
static bool choice_by_word(const struct type *type, const struct scalar *s, int64_t *ret)
{
    if (!type->choices || s->kind != JSON_STRING)
        return false;
    for (const struct choice *c = type->choices; c->doc; c++)
        if (c->old_word && str_is(s->text, c->old_word)) {
            *ret = c->value;
            return true;
        }
    return false;
}

static bool to_int(const struct type *type, const struct scalar *s, int64_t *ret)
{
    const struct json_number *n = &s->number;

    if (!may_be_number(type, s))
        return choice_by_word(type, s, ret);
    if (s->kind == JSON_NUMBER && n->kind == NUMBER_INT) {
        *ret = n->i;
        return true;
    }
    if (s->kind == JSON_STRING && str_to_i64(s->text, ret))
        return true;
    if (type->flags & TYPE_CLAMP && is_integer_text(s->text)) {
        *ret = s->text.p[0] == '-' ? INT64_MIN : INT64_MAX;
        return true;
    }
    if (s->kind != JSON_NUMBER || !(n->d > -0x1p63 && n->d < 0x1p63))
        return false;
    *ret = (int64_t)n->d;
    return (double)*ret == n->d;
}

bool int_is_fine(const struct type *type, int64_t v)
{
    int64_t limit;

    return !(type_minimum(type, &limit) && v < limit) &&
           !(type_maximum(type, &limit) && v > limit) && is_choice(type, STR(""), v);
}

void int_decode(struct form *form, const struct type *type, int64_t v, const struct place *at,
                int64_t *out)
{
    int64_t limit;

    if (type_minimum(type, &limit) && v < limit) {
        if (!(type->flags & TYPE_CLAMP))
            form_fail(form, at, FORM_NUMBER_MIN, (long long)limit);
        v = limit;
    } else if (type_maximum(type, &limit) && v > limit) {
        if (!(type->flags & TYPE_CLAMP))
            form_fail(form, at, FORM_NUMBER_MAX, (long long)limit);
        v = limit;
    } else if (!is_choice(type, STR(""), v)) {
        fail_choices(form, type, at);
    }
    *out = v;
}

static void decode_int(struct form *form, const struct type *type, const struct scalar *s,
                       const struct place *at, int64_t *out)
{
    int64_t v;

    if (to_int(type, s, &v))
        int_decode(form, type, v, at, out);
    else
        form_fail(form, at, FORM_NOT_INT, STR_FMT(form_quote(s->text)));
}

static bool to_real(const struct type *type, const struct scalar *s, double *ret)
{
    struct json_reader r;
    struct json_number n = s->number;

    if (!may_be_number(type, s))
        return false;
    if (s->kind == JSON_STRING) {
        json_reader_init(&r, s->text, NULL);
        if (!json_take_number(&r, &n) || !json_end(&r) || n.raw.n != s->text.n)
            return false;
    }
    *ret = n.d;
    return isfinite(n.d);
}

static void decode_real(struct form *form, const struct type *type, const struct scalar *s,
                        const struct place *at, double *out)
{
    /* The conversion to double may round an integer to the limit, so compare the integer, too. */
    bool whole = s->kind == JSON_NUMBER && s->number.kind == NUMBER_INT;
    int64_t limit;
    double v;

    if (!to_real(type, s, &v)) {
        form_fail(form, at, FORM_NOT_FLOAT, STR_FMT(form_quote(s->text)));
        return;
    }
    if (type_minimum(type, &limit) && (v < (double)limit || (whole && s->number.i < limit))) {
        if (!(type->flags & TYPE_CLAMP))
            form_fail(form, at, FORM_REAL_MIN, (long long)limit);
        v = (double)limit;
    } else if (type_maximum(type, &limit) &&
               (v > (double)limit || (whole && s->number.i > limit))) {
        if (!(type->flags & TYPE_CLAMP))
            form_fail(form, at, FORM_REAL_MAX, (long long)limit);
        v = (double)limit;
    }
    *out = v;
}

/* Converts an unsigned integer from a string or a number. */
static bool to_u64(const struct scalar *s, uint64_t *ret)
{
    if (s->kind == JSON_STRING)
        return str_to_u64(s->text, ret);
    if (s->kind != JSON_NUMBER || s->number.kind == NUMBER_REAL ||
        (s->number.kind == NUMBER_INT && s->number.i < 0))
        return false;
    *ret = s->number.u;
    return true;
}

static void decode_time(struct form *form, const struct scalar *s, const struct place *at,
                        int64_t *out)
{
    if (s->kind != JSON_STRING || !timestamp_parse(s->text, out))
        form_fail(form, at, FORM_NOT_TIME, STR_FMT(form_quote(s->text)));
}

void scalar_decode(struct form *form, const struct type *type, const struct scalar *s,
                   const struct place *at, void *out)
{
    switch (type->kind) {
    case KIND_STRING:
        decode_string(form, type, s, at, out);
        break;
    case KIND_INT:
        decode_int(form, type, s, at, out);
        break;
    case KIND_REAL:
        decode_real(form, type, s, at, out);
        break;
    case KIND_BOOL:
        if (s->kind == JSON_BOOL)
            *(bool *)out = s->truth;
        else if (type->flags & TYPE_EITHER && s->kind == JSON_STRING &&
                 (str_is(s->text, "true") || str_is(s->text, "false")))
            *(bool *)out = str_is(s->text, "true");
        else
            form_fail(form, at, FORM_NOT_BOOL);
        break;
    case KIND_ID:
        if (!to_u64(s, out) || *(uint64_t *)out > INT64_MAX)
            form_fail(form, at, FORM_NOT_SNOWFLAKE, STR_FMT(form_quote(s->text)));
        break;
    case KIND_BITS:
        if (!to_u64(s, out))
            form_fail(form, at, FORM_NOT_INT, STR_FMT(form_quote(s->text)));
        break;
    case KIND_TIME:
        decode_time(form, s, at, out);
        break;
    case KIND_IMAGE:
        if (s->kind == JSON_STRING)
            image_decode(form, type, s->text, at, out);
        else
            form_fail(form, at, FORM_NOT_IMAGE);
        break;
    default:
        break; /* arrays, maps and objects are not scalars; raw values are stored as JSON text */
    }
}
