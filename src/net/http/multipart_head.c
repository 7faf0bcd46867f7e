/* multipart_head.c - parses the headers of one part of a multipart body (RFC 7578 §4). */
#include "net/http/multipart_head.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "net/http/syntax.h"

/* Returns true if s is UTF-8 without control characters. Names need this form, because they are
 * written to files, logs and JSON. */
static bool is_utf8_without_controls(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return utf8_is_valid(s);
}

/* Removes escapes of a quoted value. Some clients do not escape backslashes, so a backslash counts
 * as an escape only before a quote or another backslash. */
static struct str unquote_parameter(const struct header_parameter *p, char *out)
{
    size_t n = 0;

    for (size_t i = 0; i < p->value.n; i++) {
        const char *c = p->value.p + i;
        bool escape =
            p->quoted && *c == '\\' && i + 1 < p->value.n && (c[1] == '"' || c[1] == '\\');

        i += escape;
        out[n++] = p->value.p[i];
    }
    return str_slice(out, n);
}

/* Decodes a value such as "UTF-8''na%C3%AFve.txt" (RFC 8187). Ignores the language between the
 * quotes. */
static bool decode_extended_parameter(struct str value, char *out, struct str *ret)
{
    struct str charset = str_cut(&value, '\'');
    size_t n = 0;

    if (!str_eq_nocase(charset, STR("UTF-8")) || !value.n || !memchr(value.p, '\'', value.n))
        return false;
    str_cut(&value, '\'');
    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];

        if (c == '%') {
            int high = i + 2 < value.n ? hex_digit_to_int(value.p[i + 1]) : -1;
            int low = i + 2 < value.n ? hex_digit_to_int(value.p[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        }
        out[n++] = c;
    }
    *ret = str_slice(out, n);
    return true;
}

/* Copies s to field. Returns false if the field is already set, or if s is not UTF-8 without
 * control characters. */
static bool set_part_field_once(char **field, struct str s)
{
    if (*field || !is_utf8_without_controls(s))
        return false;
    *field = mem_new(s.n + 1);
    if (s.n)
        memcpy(*field, s.p, s.n);
    return true;
}

/* Stores a parameter of Content-Disposition. ret_extended gets the value of the extended file name
 * (RFC 8187), which overrides the parameter filename. */
static bool store_disposition_parameter(struct multipart_part *p, const struct header_parameter *a,
                                        char **ret_extended)
{
    char text[MULTIPART_MAX_PART_HEAD];
    struct str extended;

    if (str_eq_nocase(a->name, STR("name")))
        return set_part_field_once(&p->name, unquote_parameter(a, text));
    if (str_eq_nocase(a->name, STR("filename")))
        return set_part_field_once(&p->filename, unquote_parameter(a, text));
    if (str_eq_nocase(a->name, STR("filename*")))
        return decode_extended_parameter(a->value, text, &extended) &&
               set_part_field_once(ret_extended, extended);
    return true;
}

static bool parse_content_disposition(struct multipart_part *p, struct str value)
{
    struct str rest = value, type = str_cut(&rest, ';');
    struct header_parameter a;
    char *extended = NULL;
    int more;

    /* If the name is already set, this is a second Content-Disposition header: an error. */
    if (p->name || !str_eq_nocase(str_trim(type), STR("form-data")))
        return false;
    rest = str_skip_bytes(value, type.n);
    while ((more = parse_next_header_parameter(&rest, &a)) > 0)
        if (!store_disposition_parameter(p, &a, &extended))
            break;
    if (extended) {
        mem_free(p->filename);
        p->filename = extended;
    }
    return more == 0 && p->name;
}

/* Content-Transfer-Encoding is obsolete in forms. Returns true for values that mean that the
 * content need not be decoded. */
static bool is_identity_encoding(struct str value)
{
    return str_eq_nocase(value, STR("binary")) || str_eq_nocase(value, STR("8bit")) ||
           str_eq_nocase(value, STR("7bit"));
}

static bool parse_part_header_line(struct multipart_part *p, struct str line)
{
    struct str value = line, name = str_cut(&value, ':');

    if (name.n == 0 || name.n == line.n || !all_octets_in_class(name, OCTET_TOKEN) ||
        !all_octets_in_class(value, OCTET_VALUE))
        return false;
    value = str_trim(value);
    if (str_eq_nocase(name, STR("Content-Disposition")))
        return parse_content_disposition(p, value);
    if (str_eq_nocase(name, STR("Content-Type")))
        return set_part_field_once(&p->content_type, value);
    if (str_eq_nocase(name, STR("Content-Transfer-Encoding")))
        return is_identity_encoding(value);
    return true;
}

enum err multipart_parse_part_headers(struct multipart_part *p, struct str head)
{
    for (;;) {
        struct str line = str_cut(&head, '\n');

        /* The line must end with CRLF. (parse_part_header_line rejects a CR inside the line.) */
        if (line.n == 0 || line.p[line.n - 1] != '\r')
            return ERR_BAD_REQUEST;
        line.n--;
        if (line.n == 0)
            return p->name ? OK : ERR_BAD_REQUEST;
        if (!parse_part_header_line(p, line))
            return ERR_BAD_REQUEST;
    }
}

void multipart_part_free_fields(struct multipart_part *p)
{
    mem_free(p->name);
    mem_free(p->filename);
    mem_free(p->content_type);
    buf_clear(&p->data);
}
