/* indent.c - reformats JSON with one line per member. */
#include "json/write.h"

static void append_indented_newline(struct buf *out, int depth)
{
    buf_add_char(out, '\n');
    for (int i = 0; i < depth; i++)
        buf_add_lit(out, "  ");
}

static size_t get_quoted_string_length(const char *p, const char *end)
{
    const char *at = p + 1;

    while (at < end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    return (size_t)(at - p) + 1;
}

/* Writes an opening bracket. If the object or array is empty, also writes the closing bracket and
 * returns true. */
static bool append_open_bracket(struct buf *out, const char *p, const char *end)
{
    bool empty = p + 1 < end && (p[1] == '}' || p[1] == ']');

    buf_add(out, p, empty ? 2 : 1);
    return empty;
}

void json_indent(struct str text, struct buf *out)
{
    int depth = 0;

    for (const char *p = text.p, *end = p + text.n; p < end; p++) {
        size_t n = 1;

        switch (*p) {
        case '"':
            n = get_quoted_string_length(p, end);
            buf_add(out, p, n);
            break;
        case '{':
        case '[':
            if (append_open_bracket(out, p, end))
                n = 2;
            else
                append_indented_newline(out, ++depth);
            break;
        case '}':
        case ']':
            append_indented_newline(out, --depth);
            buf_add_char(out, *p);
            break;
        case ',':
            buf_add_char(out, ',');
            append_indented_newline(out, depth);
            break;
        case ':':
            buf_add_lit(out, ": ");
            break;
        default:
            buf_add_char(out, *p);
        }
        p += n - 1;
    }
}
