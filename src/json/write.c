/* write.c - writes JSON to a buffer. */
#include "json/write.h"

#include <math.h>

#include "base/timestamp.h"
#include "json/number.h"
#include "json/scan.h"

/* Reserves n bytes for a value. Before that, writes a comma if one is needed. */
static inline char *reserve_space_for_value(struct json_writer *j, size_t n)
{
    char *at = buf_reserve(j->out, n + j->comma);

    if (!at)
        return NULL;
    j->out->n += n + j->comma;
    if (j->comma)
        *at++ = ',';
    j->comma = true;
    return at;
}

/* Copies a text. Most names and values are short; for these, a call of memcpy would take longer
 * than the copy. */
static inline void copy_text(char *to, const char *from, size_t n)
{
    if (n > 16) {
        memcpy(to, from, n);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    } else if (n) {
        to[0] = from[0];
        to[n / 2] = from[n / 2];
        to[n - 1] = from[n - 1];
    }
}

static void append_encoded_value(struct json_writer *j, const char *p, size_t n)
{
    char *at = reserve_space_for_value(j, n);

    if (at)
        copy_text(at, p, n);
}

static void append_opening_bracket(struct json_writer *j, char bracket)
{
    append_encoded_value(j, &bracket, 1);
    j->comma = false;
}

static void append_closing_bracket(struct json_writer *j, char bracket)
{
    buf_add_char(j->out, bracket);
    j->comma = true;
}

void json_begin_object(struct json_writer *j)
{
    append_opening_bracket(j, '{');
}

void json_end_object(struct json_writer *j)
{
    append_closing_bracket(j, '}');
}

void json_begin_array(struct json_writer *j)
{
    append_opening_bracket(j, '[');
}

void json_end_array(struct json_writer *j)
{
    append_closing_bracket(j, ']');
}

void json_write_key(struct json_writer *j, struct str name)
{
    char *at = reserve_space_for_value(j, name.n + 3);

    j->comma = false;
    if (!at)
        return;
    *at++ = '"';
    copy_text(at, name.p, name.n);
    memcpy(at + name.n, "\":", 2);
}

void json_write_escaped_key(struct json_writer *j, struct str name)
{
    json_write_text(j, name);
    buf_add_char(j->out, ':');
    j->comma = false;
}

void json_write_null(struct json_writer *j)
{
    append_encoded_value(j, "null", 4);
}

void json_write_bool(struct json_writer *j, bool v)
{
    append_encoded_value(j, v ? "true" : "false", v ? 4 : 5);
}

void json_write_int(struct json_writer *j, int64_t v)
{
    char text[21] = "-";
    size_t minus = v < 0;

    append_encoded_value(
        j, text,
        minus + format_decimal_digits(minus ? 0 - (uint64_t)v : (uint64_t)v, text + minus));
}

void json_write_real(struct json_writer *j, double v)
{
    char text[NUMBER_TEXT_SIZE];

    if (isfinite(v))
        append_encoded_value(j, text, format_double(v, text));
    else
        json_write_null(j);
}

static bool needs_escape(unsigned char c)
{
    return c < 0x20 || c == '"' || c == '\\';
}

/* Returns the letter of a two-character escape such as \n; returns 0 if the character needs an
 * escape such as \u001f. */
static char short_escape_letter(unsigned char c)
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

static size_t get_length_before_first_escape(struct str s)
{
    size_t i = 0;

    for (; i + 8 <= s.n; i += 8) {
        uint64_t marks = mark_bytes_to_escape(load_u64_little_endian(s.p + i));

        if (marks)
            return i + first_marked_byte_index(marks);
    }
    while (i < s.n && !needs_escape((unsigned char)s.p[i]))
        i++;
    return i;
}

static size_t compute_escaped_length(struct str s)
{
    size_t n = s.n;

    for (size_t i = 0; i < s.n; i++)
        if (needs_escape((unsigned char)s.p[i]))
            n += short_escape_letter((unsigned char)s.p[i]) ? 1 : 5;
    return n;
}

static char *write_escape_sequence(char *at, unsigned char c)
{
    char letter = short_escape_letter(c);

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

static char *write_escaped_string(char *at, struct str s)
{
    while (s.n) {
        size_t plain = get_length_before_first_escape(s);

        memcpy(at, s.p, plain);
        at += plain;
        if (plain < s.n)
            at = write_escape_sequence(at, (unsigned char)s.p[plain++]);
        s = str_skip_bytes(s, plain);
    }
    return at;
}

void json_write_text(struct json_writer *j, struct str s)
{
    size_t plain = get_length_before_first_escape(s);
    struct str rest = str_skip_bytes(s, plain);
    char *at = reserve_space_for_value(j, plain + compute_escaped_length(rest) + 2);

    if (!at)
        return;
    *at++ = '"';
    copy_text(at, s.p, plain);
    at = write_escaped_string(at + plain, rest);
    *at = '"';
}

void json_write_id(struct json_writer *j, snowflake id)
{
    char text[22] = "\"";
    size_t n = format_decimal_digits(id, text + 1);

    text[n + 1] = '"';
    append_encoded_value(j, text, n + 2);
}

void json_write_time(struct json_writer *j, int64_t us)
{
    char text[TIMESTAMP_TEXT_SIZE + 2] = "\"";
    size_t n = timestamp_format(us, text + 1);

    text[n + 1] = '"';
    append_encoded_value(j, text, n + 2);
}

void json_write_raw(struct json_writer *j, struct str value)
{
    if (value.n)
        append_encoded_value(j, value.p, value.n);
    else
        json_write_null(j);
}

void json_write_raw_members(struct json_writer *j, struct str members)
{
    if (members.n)
        append_encoded_value(j, members.p, members.n);
}
