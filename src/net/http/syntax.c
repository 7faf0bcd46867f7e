/* syntax.c - character classes and small elements of the HTTP grammar. */
#include "net/http/syntax.h"

/* clang-format off */
enum {
    V = OCTET_VALUE,
    K = OCTET_TOKEN | OCTET_VALUE,
    T = OCTET_TARGET | OCTET_VALUE,
    U = OCTET_TOKEN | OCTET_TARGET | OCTET_VALUE,
    H = OCTET_TARGET | OCTET_VALUE | OCTET_HOST,
    A = OCTET_TOKEN | OCTET_TARGET | OCTET_VALUE | OCTET_HOST,
};

const unsigned char octet_classes[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, V, 0, 0, 0, 0, 0, 0, /*         HTAB         */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    V, A, T, K, A, A, A, A, H, H, A, A, T, A, A, T, /*  !"#$%&'()*+,-./     */
    A, A, A, A, A, A, A, A, A, A, H, H, T, H, T, T, /* 0123456789:;<=>?     */
    T, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A, /* @ABCDEFGHIJKLMNO     */
    A, A, A, A, A, A, A, A, A, A, A, H, T, H, U, A, /* PQRSTUVWXYZ[\]^_     */
    U, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A, /* `abcdefghijklmno     */
    A, A, A, A, A, A, A, A, A, A, A, T, U, T, A, 0, /* pqrstuvwxyz{|}~ DEL  */
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,
    V, V, V, V, V, V, V, V, V, V, V, V, V, V, V, V,
};
/* clang-format on */

int hex_digit_to_int(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void skip_blanks(struct str *s)
{
    while (s->n && (s->p[0] == ' ' || s->p[0] == '\t'))
        *s = str_skip_bytes(*s, 1);
}

static struct str parse_token(struct str *s)
{
    const char *end = skip_octets_of_class(s->p, s->p + s->n, OCTET_TOKEN);
    struct str token = { s->p, (size_t)(end - s->p) };

    *s = str_skip_bytes(*s, token.n);
    return token;
}

/* Parses an unquoted value. Accepts more characters than RFC 9110 allows in a token, because
 * clients send names such as files[0] and boundaries with '=' without quotes. */
static struct str parse_unquoted_value(struct str *s)
{
    size_t n = 0;

    while (n < s->n && octet_is_in_class(s->p[n], OCTET_VALUE) && !strchr(";\" \t", s->p[n]))
        n++;
    struct str value = { s->p, n };
    *s = str_skip_bytes(*s, n);
    return value;
}

/* Parses a quoted value; *s starts after the opening quote. */
static bool parse_quoted_value(struct str *s, struct str *ret)
{
    for (size_t i = 0; i < s->n && octet_is_in_class(s->p[i], OCTET_VALUE); i++) {
        if (s->p[i] == '"') {
            *ret = str_slice(s->p, i);
            *s = str_skip_bytes(*s, i + 1);
            return true;
        }
        if (s->p[i] == '\\')
            i++;
    }
    return false;
}

int parse_next_header_parameter(struct str *rest, struct header_parameter *ret)
{
    bool separated = false;

    skip_blanks(rest);
    /* Empty parameters, as in "a/b;; c=d" and "a/b;", are ignored. */
    while (rest->n && rest->p[0] == ';') {
        separated = true;
        *rest = str_skip_bytes(*rest, 1);
        skip_blanks(rest);
    }
    if (!rest->n)
        return 0;
    if (!separated)
        return -1;

    ret->name = parse_token(rest);
    if (!ret->name.n || !rest->n || rest->p[0] != '=')
        return -1;
    *rest = str_skip_bytes(*rest, 1);
    ret->quoted = rest->n && rest->p[0] == '"';
    if (!ret->quoted) {
        ret->value = parse_unquoted_value(rest);
        return ret->value.n ? 1 : -1;
    }
    *rest = str_skip_bytes(*rest, 1);
    return parse_quoted_value(rest, &ret->value) ? 1 : -1;
}
