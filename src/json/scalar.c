/* scalar.c - validates and converts single values. */
#include "json/internal.h"

#include <math.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/timestamp.h"
#include "base/utf8.h"

static const int64_t SAFE_INT = 1LL << 53;

/* Note: if both min and max of a type are 0, the type has no minimum, unless it has
 * TYPE_SAFE_INT. */
bool json_type_get_minimum(const struct type *type, int64_t *ret)
{
    *ret = type->min;
    if (type->min || type->max)
        return true;
    *ret = -SAFE_INT;
    return type->flags & TYPE_SAFE_INT;
}

bool json_type_get_maximum(const struct type *type, int64_t *ret)
{
    *ret = type->max;
    if ((type->min || type->max) && type->max >= type->min)
        return true;
    *ret = SAFE_INT;
    return type->flags & TYPE_SAFE_INT;
}

bool check_length_limits(struct form *form, const struct type *type, size_t n, int64_t cap,
                         const struct json_path *at)
{
    long long length = (long long)n, min = type->min, max = type->max ? type->max : cap;

    if (length >= min && length <= max)
        return true;
    if (type->min && type->max)
        form_add_error(form, at, FORM_BAD_LENGTH, min, max);
    else if (length < min)
        form_add_error(form, at, FORM_MIN_LENGTH, min);
    else
        form_add_error(form, at, FORM_MAX_LENGTH, max);
    return false;
}

/* Adds an error that lists the allowed values. */
static void report_invalid_choice(struct form *form, const struct type *type,
                                  const struct json_path *at)
{
    struct buf list;

    buf_init(&list, 64 * 1024);
    for (const struct enum_choice *c = type->choices; c->doc; c++) {
        if (c != type->choices)
            buf_add_lit(&list, ", ");
        if (c->text)
            buf_printf(&list, "'%s'", c->text);
        else
            buf_add_i64(&list, c->value);
    }
    form_add_error(form, at, FORM_CHOICES, "Value must be one of (%.*s).",
                   STR_ARGS(buf_as_str(&list)));
    buf_clear(&list);
}

static bool is_allowed_choice(const struct type *type, struct str text, int64_t value)
{
    if (!type->choices || type->flags & TYPE_LOOSE_ENUM)
        return true;
    for (const struct enum_choice *c = type->choices; c->doc; c++)
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

static void decode_string_value(struct form *form, const struct type *type,
                                const struct scalar_value *s, const struct json_path *at,
                                struct str *out)
{
    struct str text = s->text;

    bool number = s->kind == JSON_NUMBER && is_integer_text(text) && type->flags & TYPE_EITHER;

    if (s->kind != JSON_STRING && !number) {
        form_add_error(form, at, FORM_NOT_STRING, STR_ARGS(form_shorten_quoted_value(text)));
        return;
    }
    if (type->flags & TYPE_TRIM)
        text = utf8_trim(text);
    if (type->flags & TYPE_LOWER)
        text = str_lower(form->arena, text);
    *out = text;

    if (!byte_length_certainly_meets_limits(type, text.n) &&
        !check_length_limits(form, type, utf8_length(text), DEFAULT_MAX_CHARACTERS, at))
        return;
    if (!is_allowed_choice(type, text, 0))
        report_invalid_choice(form, type, at);
    else if (type->rule && !type->rule->is_valid(text))
        form_add_error(form, at, type->rule->code, "%s", type->rule->message);
    else if (text.n && memchr(text.p, '\0', text.n))
        form_add_error(form, at, FORM_REGEX); /* databases cannot store U+0000 in text */
}

/* Returns true for numbers and for strings of digits, which the libraries JDA and Concord send.
 * Returns true for other strings only in queries, or if the type has TYPE_EITHER. */
static bool can_convert_to_number(const struct type *type, const struct scalar_value *s)
{
    if (s->kind == JSON_STRING)
        return s->of_text || type->flags & TYPE_EITHER || is_integer_text(s->text);
    return s->kind == JSON_NUMBER;
}

/* Finds the choice (allowed value) of an integer by the name that it had in API version 6. */
static bool find_choice_by_old_name(const struct type *type, const struct scalar_value *s,
                                    int64_t *ret)
{
    if (!type->choices || s->kind != JSON_STRING)
        return false;
    for (const struct enum_choice *c = type->choices; c->doc; c++)
        if (c->old_word && str_is(s->text, c->old_word)) {
            *ret = c->value;
            return true;
        }
    return false;
}

static bool convert_to_int(const struct type *type, const struct scalar_value *s, int64_t *ret)
{
    const struct json_number *n = &s->number;

    if (!can_convert_to_number(type, s))
        return find_choice_by_old_name(type, s, ret);
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

bool int_is_within_type_limits(const struct type *type, int64_t v)
{
    int64_t limit;

    return !(json_type_get_minimum(type, &limit) && v < limit) &&
           !(json_type_get_maximum(type, &limit) && v > limit) &&
           is_allowed_choice(type, STR(""), v);
}

void decode_integer_value(struct form *form, const struct type *type, int64_t v,
                          const struct json_path *at, int64_t *out)
{
    int64_t limit;

    if (json_type_get_minimum(type, &limit) && v < limit) {
        if (!(type->flags & TYPE_CLAMP))
            form_add_error(form, at, FORM_NUMBER_MIN, (long long)limit);
        v = limit;
    } else if (json_type_get_maximum(type, &limit) && v > limit) {
        if (!(type->flags & TYPE_CLAMP))
            form_add_error(form, at, FORM_NUMBER_MAX, (long long)limit);
        v = limit;
    } else if (!is_allowed_choice(type, STR(""), v)) {
        report_invalid_choice(form, type, at);
    }
    *out = v;
}

static void decode_int_value(struct form *form, const struct type *type,
                             const struct scalar_value *s, const struct json_path *at, int64_t *out)
{
    int64_t v;

    if (convert_to_int(type, s, &v))
        decode_integer_value(form, type, v, at, out);
    else
        form_add_error(form, at, FORM_NOT_INT, STR_ARGS(form_shorten_quoted_value(s->text)));
}

static bool convert_to_real(const struct type *type, const struct scalar_value *s, double *ret)
{
    struct json_reader r;
    struct json_number n = s->number;

    if (!can_convert_to_number(type, s))
        return false;
    if (s->kind == JSON_STRING) {
        json_reader_init(&r, s->text, NULL);
        if (!json_read_number(&r, &n) || !json_is_at_end(&r) || n.raw.n != s->text.n)
            return false;
    }
    *ret = n.d;
    return isfinite(n.d);
}

static void decode_real_value(struct form *form, const struct type *type,
                              const struct scalar_value *s, const struct json_path *at, double *out)
{
    /* Compare integers exactly as well, because the conversion to double may have rounded them to
     * the limit. */
    bool whole = s->kind == JSON_NUMBER && s->number.kind == NUMBER_INT;
    int64_t limit;
    double v;

    if (!convert_to_real(type, s, &v)) {
        form_add_error(form, at, FORM_NOT_FLOAT, STR_ARGS(form_shorten_quoted_value(s->text)));
        return;
    }
    if (json_type_get_minimum(type, &limit) &&
        (v < (double)limit || (whole && s->number.i < limit))) {
        if (!(type->flags & TYPE_CLAMP))
            form_add_error(form, at, FORM_REAL_MIN, (long long)limit);
        v = (double)limit;
    } else if (json_type_get_maximum(type, &limit) &&
               (v > (double)limit || (whole && s->number.i > limit))) {
        if (!(type->flags & TYPE_CLAMP))
            form_add_error(form, at, FORM_REAL_MAX, (long long)limit);
        v = (double)limit;
    }
    *out = v;
}

/* Converts an unsigned integer from a string or a number. */
static bool convert_to_u64(const struct scalar_value *s, uint64_t *ret)
{
    if (s->kind == JSON_STRING)
        return str_to_u64(s->text, ret);
    if (s->kind != JSON_NUMBER || s->number.kind == NUMBER_REAL ||
        (s->number.kind == NUMBER_INT && s->number.i < 0))
        return false;
    *ret = s->number.u;
    return true;
}

static void decode_timestamp_value(struct form *form, const struct scalar_value *s,
                                   const struct json_path *at, int64_t *out)
{
    if (s->kind != JSON_STRING || !timestamp_parse(s->text, out))
        form_add_error(form, at, FORM_NOT_TIME, STR_ARGS(form_shorten_quoted_value(s->text)));
}

void decode_scalar_value(struct form *form, const struct type *type, const struct scalar_value *s,
                         const struct json_path *at, void *out)
{
    switch (type->kind) {
    case KIND_STRING:
        decode_string_value(form, type, s, at, out);
        break;
    case KIND_INT:
        decode_int_value(form, type, s, at, out);
        break;
    case KIND_REAL:
        decode_real_value(form, type, s, at, out);
        break;
    case KIND_BOOL:
        if (s->kind == JSON_BOOL)
            *(bool *)out = s->truth;
        else if (type->flags & TYPE_EITHER && s->kind == JSON_STRING &&
                 (str_is(s->text, "true") || str_is(s->text, "false")))
            *(bool *)out = str_is(s->text, "true");
        else
            form_add_error(form, at, FORM_NOT_BOOL);
        break;
    case KIND_ID:
        if (!convert_to_u64(s, out) || *(uint64_t *)out > INT64_MAX)
            form_add_error(form, at, FORM_NOT_SNOWFLAKE,
                           STR_ARGS(form_shorten_quoted_value(s->text)));
        break;
    case KIND_BITS:
        if (!convert_to_u64(s, out))
            form_add_error(form, at, FORM_NOT_INT, STR_ARGS(form_shorten_quoted_value(s->text)));
        break;
    case KIND_TIME:
        decode_timestamp_value(form, s, at, out);
        break;
    case KIND_IMAGE:
        if (s->kind == JSON_STRING)
            decode_image_uri(form, type, s->text, at, out);
        else
            form_add_error(form, at, FORM_NOT_IMAGE);
        break;
    default:
        break; /* arrays, maps and objects are not scalars; raw values are decoded by the callers */
    }
}
