/* number.c - converts between decimal text and doubles, exactly and independent of the locale.
 *
 * Hard cases are passed to the C library, as digits and an exponent ("314e-2"): only the decimal
 * point would depend on the locale. */
#include "json/number.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* At most 767 digits decide how a decimal is rounded to a double. Of the digits after them, it only
 * matters whether one is not 0. */
enum { DIGITS_MAX = 800, EXPONENT_MAX = 99999 };

/* A decimal number: its digits without leading zeros, and the power of ten of its last digit. */
struct decimal {
    char text[DIGITS_MAX + 32];
    size_t n;
    int64_t exponent;
};

static int64_t parse_exponent(struct str s)
{
    bool minus = s.n && s.p[0] == '-';
    int64_t v = 0;

    for (size_t i = s.n && (minus || s.p[0] == '+'); i < s.n; i++)
        if (v < INT64_MAX / 1000)
            v = v * 10 + (s.p[i] - '0');
    return minus ? -v : v;
}

static void parse_decimal(struct str raw, struct decimal *d)
{
    bool point = false, more = false;

    d->n = 0;
    d->exponent = 0;
    for (size_t i = 0; i < raw.n; i++) {
        char c = raw.p[i];

        if (c == 'e' || c == 'E') {
            d->exponent += parse_exponent(str_skip_bytes(raw, i + 1));
            break;
        }
        if (c == '.')
            point = true;
        if (c < '0' || c > '9')
            continue;
        d->exponent -= point;
        if (d->n == 0 && c == '0')
            continue;
        if (d->n < DIGITS_MAX) {
            d->text[d->n++] = c;
        } else {
            more |= c != '0';
            d->exponent++;
        }
    }
    if (more) {
        d->text[d->n++] = '1';
        d->exponent--;
    }
}

/* Converts a decimal with one multiplication or division, if both operands are exact doubles. */
static bool convert_decimal_exactly(const struct decimal *d, double *ret)
{
    static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    uint64_t mantissa = 0;

    if (d->n > 15 || d->exponent < -22 || d->exponent > 22)
        return false;
    for (size_t i = 0; i < d->n; i++)
        mantissa = mantissa * 10 + (uint64_t)(d->text[i] - '0');
    *ret = d->exponent < 0 ? (double)mantissa / tens[-d->exponent]
                           : (double)mantissa * tens[d->exponent];
    return true;
}

static double convert_with_strtod(struct decimal *d)
{
    int64_t e = d->exponent;

    e = e > EXPONENT_MAX ? EXPONENT_MAX : e < -EXPONENT_MAX ? -EXPONENT_MAX : e;
    snprintf(d->text + d->n, sizeof d->text - d->n, "e%d", (int)e);
    return strtod(d->text, NULL);
}

double parse_double(struct str raw)
{
    struct decimal d;
    double v = 0;

    parse_decimal(raw, &d);
    if (d.n && !convert_decimal_exactly(&d, &v))
        v = convert_with_strtod(&d);
    return raw.n && raw.p[0] == '-' ? -v : v;
}

/* Rounds v to `digits` significant decimal digits and returns the exponent: v is about ret_m times
 * ten to the power of the exponent. */
static int round_to_significant_digits(double v, int digits, uint64_t *ret_m)
{
    char text[40];
    uint64_t m = 0;
    int i = 0;

    snprintf(text, sizeof text, "%.*e", digits - 1, v);
    for (; text[i] != 'e'; i++)
        if (text[i] >= '0' && text[i] <= '9')
            m = m * 10 + (uint64_t)(text[i] - '0');
    *ret_m = m;
    return (int)strtol(text + i + 1, NULL, 10) - (digits - 1);
}

static bool decimal_parses_to_double(double v, uint64_t m, int exponent)
{
    char text[40];

    snprintf(text, sizeof text, "%llue%d", (unsigned long long)m, exponent);
    return strtod(text, NULL) == v;
}

/* Finds the shortest decimal that parses to v. Every decimal of 15 digits survives the conversion
 * to a double, and 17 digits identify every double; subnormal doubles need fewer. At powers of two,
 * where the distance between doubles changes, the nearest decimal may parse to another double while
 * the next higher decimal parses to v. */
static int find_shortest_decimal(double v, uint64_t *ret_m)
{
    for (int digits = v < DBL_MIN ? 1 : 15;; digits++) {
        int e = round_to_significant_digits(v, digits, ret_m);

        if (decimal_parses_to_double(v, *ret_m, e) || digits == 17)
            return e;
        if (decimal_parses_to_double(v, *ret_m + 1, e)) {
            *ret_m += 1;
            return e;
        }
    }
}

/* Formats the number 0.DIGITS times ten to the power of `point`, where DIGITS are the `count`
 * digits. */
static size_t format_decimal(const char *digits, int count, int point, char *out)
{
    if (point > 21 || point <= -6) {
        if (count == 1)
            return (size_t)snprintf(out, NUMBER_TEXT_SIZE, "%ce%+d", digits[0], point - 1);
        return (size_t)snprintf(out, NUMBER_TEXT_SIZE, "%c.%.*se%+d", digits[0], count - 1,
                                digits + 1, point - 1);
    }
    if (point <= 0)
        return (size_t)snprintf(out, NUMBER_TEXT_SIZE, "0.%.*s%.*s", -point, "00000", count,
                                digits);
    if (point < count)
        return (size_t)snprintf(out, NUMBER_TEXT_SIZE, "%.*s.%.*s", point, digits, count - point,
                                digits + point);
    return (size_t)snprintf(out, NUMBER_TEXT_SIZE, "%.*s%.*s", count, digits, point - count,
                            "000000000000000000000");
}

size_t format_double(double v, char out[NUMBER_TEXT_SIZE])
{
    char digits[20];
    uint64_t m;
    size_t sign = v < 0;

    if (sign)
        *out++ = '-';
    v = fabs(v);
    if (v < 9007199254740992.0 && v == (double)(uint64_t)v)
        return sign + format_decimal_digits((uint64_t)v, out);

    int exponent = find_shortest_decimal(v, &m);
    while (m % 10 == 0) {
        m /= 10;
        exponent++;
    }
    int count = (int)format_decimal_digits(m, digits);
    return sign + format_decimal(digits, count, count + exponent, out);
}

size_t format_decimal_digits(uint64_t v, char out[20])
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233"
        "34353637383940414243444546474849505152535455565758596061626364656667"
        "6869707172737475767778798081828384858687888990919293949596979899";
    char text[20];
    size_t at = sizeof text;

    for (; v >= 100; v /= 100)
        memcpy(text + (at -= 2), pairs + v % 100 * 2, 2);
    if (v >= 10)
        memcpy(text + (at -= 2), pairs + v * 2, 2);
    else
        text[--at] = (char)('0' + v);
    memcpy(out, text + at, sizeof text - at);
    return sizeof text - at;
}
