/* json_layout.c - formats JSON for people, and validation errors as lines of text. */
#include "platform/worlds/import_export.h"

#include "json/read.h"

/* --- JSON ----------------------------------------------------------------------------- */

/* Returns the length in bytes of the JSON string at p, including its quotes. */
static size_t json_string_length(const char *p)
{
    size_t n = 1;

    while (p[n] != '"')
        n += p[n] == '\\' ? 2 : 1;
    return n + 1;
}

static bool contains_nested_object(const char *p)
{
    int depth = 0;

    for (;; p++) {
        if (*p == '"')
            p += json_string_length(p) - 1;
        else if (*p == '{' && depth > 0)
            return true;
        else if (*p == '{' || *p == '[')
            depth++;
        else if ((*p == '}' || *p == ']') && --depth == 0)
            return false;
    }
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

struct str json_remove_white_space(struct arena *arena, struct str json)
{
    char *out = arena_alloc_unzeroed(arena, json.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < json.n; i++) {
        size_t length = json.p[i] == '"' ? json_string_length(json.p + i) : !is_space(json.p[i]);

        memcpy(out + n, json.p + i, length);
        n += length;
        i += length > 1 ? length - 1 : 0;
    }
    return str_slice(out, n);
}

static void add_line_break(struct buf *out, int depth)
{
    buf_add_char(out, '\n');
    for (int i = 0; i < depth; i++)
        buf_add_lit(out, "  ");
}

void world_file_format_json(struct str json, struct buf *out)
{
    uint64_t broken = 0; /* bit n: the values at nesting depth n are on lines of their own */
    int depth = 0;

    for (size_t i = 0; i < json.n; i++) {
        const char *p = json.p + i;
        bool lines = broken >> depth & 1;

        if (is_space(*p))
            continue;
        if (*p == '"') {
            size_t n = json_string_length(p);

            buf_add(out, p, n);
            i += n - 1;
        } else if (*p == '{' || *p == '[') {
            buf_add_char(out, *p);
            depth++;
            broken &= ~(UINT64_C(1) << depth);
            if (contains_nested_object(p)) {
                broken |= UINT64_C(1) << depth;
                add_line_break(out, depth);
            }
        } else if (*p == '}' || *p == ']') {
            depth--;
            if (lines)
                add_line_break(out, depth);
            buf_add_char(out, *p);
        } else if (*p == ',') {
            buf_add_char(out, ',');
            if (lines)
                add_line_break(out, depth);
            else
                buf_add_char(out, ' ');
        } else if (*p == ':') {
            buf_add_lit(out, ": ");
        } else {
            buf_add_char(out, *p);
        }
    }
    buf_add_char(out, '\n');
}

/* --- validation errors ---------------------------------------------------------------- */

static void add_error_line(struct json_reader *r, struct str path, struct buf *out)
{
    struct str key, text;

    json_enter_container(r);
    while (json_next_member(r, &key)) {
        if (!str_is(key, "message")) {
            json_skip_value(r, NULL);
        } else if (json_read_string(r, &text)) {
            buf_printf(out, "%.*s: %.*s\n", STR_ARGS(path.n ? path : STR("the file")),
                       STR_ARGS(text));
        }
    }
}

static void add_error_lines(struct json_reader *r, struct str path, struct buf *out)
{
    struct str key;

    json_enter_container(r);
    while (json_next_member(r, &key)) {
        if (str_is(key, "_errors")) {
            json_enter_container(r);
            while (json_next_item(r))
                add_error_line(r, path, out);
        } else {
            struct str dot = path.n ? STR(".") : STR("");

            add_error_lines(r, STR_CONCAT(r->arena, path, dot, key), out);
        }
    }
}

struct str world_file_format_errors(const struct form *form, struct arena *arena)
{
    struct json_reader r;
    struct buf tree, lines;
    struct json_writer j = json_writer_to_buf(&tree);

    buf_init(&tree, SIZE_MAX);
    buf_init(&lines, SIZE_MAX);
    write_form_errors_json(form, &j);
    json_reader_init(&r, buf_as_str(&tree), arena);
    if (json_peek_kind(&r) == JSON_OBJECT)
        add_error_lines(&r, STR(""), &lines);
    struct str text = buf_move_to_arena(&lines, arena);
    buf_clear(&tree);
    return text;
}

int64_t json_count_objects(struct str json)
{
    int64_t count = 0;

    for (const char *p = json.p, *end = json.p + json.n; p < end; p++) {
        count += *p == '{';
        if (*p == '"')
            p += json_string_length(p) - 1;
    }
    return count;
}
