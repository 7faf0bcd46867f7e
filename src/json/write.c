/* write.c - writes JSON to a buffer. */
#include "json/write.h"

#include <math.h>

#include "base/timestamp.h"
#include "json/number.h"
#include "json/scan.h"

/* Reserves n bytes for a value, after a comma if needed. */
static char *value_room(struct json *j, size_t n)
{
    char *at = buf_room(j->out, n + j->comma);

    if (!at)
        return NULL;
    j->out->n += n + j->comma;
    if (j->comma)
        *at++ = ',';
    j->comma = true;
    return at;
}

static void value_add(struct json *j, const char *p, size_t n)
{
    char *at = value_room(j, n);

    if (at)
        memcpy(at, p, n);
}

static void open_level(struct json *j, char bracket)
{
    value_add(j, &bracket, 1);
    j->comma = false;
}

static void close_level(struct json *j, char bracket)
{
    buf_add_char(j->out, bracket);
    j->comma = true;
}

void json_object(struct json *j)
{
    open_level(j, '{');
}

void json_object_end(struct json *j)
{
    close_level(j, '}');
}

void json_array(struct json *j)
{
    open_level(j, '[');
}

void json_array_end(struct json *j)
{
    close_level(j, ']');
}

void json_key(struct json *j, struct str name)
{
    char *at = value_room(j, name.n + 3);

    j->comma = false;
    if (!at)
        return;
    *at++ = '"';
    memcpy(at, name.p, name.n);
    memcpy(at + name.n, "\":", 2);
}

void json_key_text(struct json *j, struct str name)
{
    json_text(j, name);
    buf_add_char(j->out, ':');
    j->comma = false;
}

void json_null(struct json *j)
{
    value_add(j, "null", 4);
}

void json_bool(struct json *j, bool v)
{
    value_add(j, v ? "true" : "false", v ? 4 : 5);
}

void json_int(struct json *j, int64_t v)
{
    char text[21] = "-";
    size_t minus = v < 0;

    value_add(j, text, minus + number_digits(minus ? 0 - (uint64_t)v : (uint64_t)v, text + minus));
}

void json_real(struct json *j, double v)
{
    char text[NUMBER_TEXT];

    if (isfinite(v))
        value_add(j, text, number_to_text(v, text));
    else
        json_null(j);
}

static bool is_escaped(unsigned char c)
{
    return c < 0x20 || c == '"' || c == '\\';
}

/* Returns the letter of a two-character escape; 0 for six-character escapes. */
static char short_escape(unsigned char c)
{
    switch (c) {
    case '"':
    case '\\':
        return (char)c;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

static size_t plain_length(struct str s)
{
    size_t i = 0;

    for (; i + 8 <= s.n; i += 8) {
        uint64_t marks = scan_escapes(scan_load(s.p + i));

        if (marks)
            return i + scan_first(marks);
    }
    while (i < s.n && !is_escaped((unsigned char)s.p[i]))
        i++;
    return i;
}

static size_t escaped_length(struct str s)
{
    size_t n = s.n;

    for (size_t i = 0; i < s.n; i++)
        if (is_escaped((unsigned char)s.p[i]))
            n += short_escape((unsigned char)s.p[i]) ? 1 : 5;
    return n;
}

static char *write_escape(char *at, unsigned char c)
{
    char letter = short_escape(c);

    *at++ = '\\';
    if (letter) {
        *at++ = letter;
        return at;
    }
    memcpy(at, "u00", 3);
    at[3] = (char)('0' + (c >> 4));
    at[4] = "0123456789abcdef"[c & 15];
    return at + 5;
}

static char *write_escaped(char *at, struct str s)
{
    while (s.n) {
        size_t plain = plain_length(s);

        memcpy(at, s.p, plain);
        at += plain;
        if (plain < s.n)
            at = write_escape(at, (unsigned char)s.p[plain++]);
        s = str_from(s, plain);
    }
    return at;
}

void json_text(struct json *j, struct str s)
{
    size_t plain = plain_length(s);
    struct str rest = str_from(s, plain);
    char *at = value_room(j, plain + escaped_length(rest) + 2);

    if (!at)
        return;
    *at++ = '"';
    if (plain)
        memcpy(at, s.p, plain);
    at = write_escaped(at + plain, rest);
    *at = '"';
}

void json_id(struct json *j, snowflake id)
{
    char text[22] = "\"";
    size_t n = number_digits(id, text + 1);

    text[n + 1] = '"';
    value_add(j, text, n + 2);
}

void json_time(struct json *j, int64_t us)
{
    char text[TIMESTAMP_TEXT + 2] = "\"";
    size_t n = timestamp_format(us, text + 1);

    text[n + 1] = '"';
    value_add(j, text, n + 2);
}

void json_raw(struct json *j, struct str value)
{
    if (value.n)
        value_add(j, value.p, value.n);
    else
        json_null(j);
}

void json_members(struct json *j, struct str members)
{
    if (members.n)
        value_add(j, members.p, members.n);
}
