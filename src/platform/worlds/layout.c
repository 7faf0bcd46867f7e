/* layout.c - formats JSON for people, and validation errors as lines of text. */
#include "platform/worlds/file.h"

#include "json/read.h"

/* --- JSON ----------------------------------------------------------------------------- */

/* Returns the length of the JSON string at p, with its quotes. */
static size_t string_length(const char *p)
{
    size_t n = 1;

    while (p[n] != '"')
        n += p[n] == '\\' ? 2 : 1;
    return n + 1;
}

/* Returns whether the object or array at p contains an object. */
static bool holds_object(const char *p)
{
    int depth = 0;

    for (;; p++) {
        if (*p == '"')
            p += string_length(p) - 1;
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

struct str layout_compact(struct arena *arena, struct str json)
{
    char *out = arena_raw(arena, json.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < json.n; i++) {
        size_t length = json.p[i] == '"' ? string_length(json.p + i) : !is_space(json.p[i]);

        memcpy(out + n, json.p + i, length);
        n += length;
        i += length > 1 ? length - 1 : 0;
    }
    return str_slice(out, n);
}

static void new_line(struct buf *out, int depth)
{
    buf_add_char(out, '\n');
    for (int i = 0; i < depth; i++)
        buf_add_lit(out, "  ");
}

void layout_json(struct str json, struct buf *out)
{
    uint64_t broken = 0; /* bit n is set: values at nesting depth n are on separate lines */
    int depth = 0;

    for (size_t i = 0; i < json.n; i++) {
        const char *p = json.p + i;
        bool lines = broken >> depth & 1;

        if (is_space(*p))
            continue;
        if (*p == '"') {
            size_t n = string_length(p);

            buf_add(out, p, n);
            i += n - 1;
        } else if (*p == '{' || *p == '[') {
            buf_add_char(out, *p);
            depth++;
            broken &= ~(UINT64_C(1) << depth);
            if (holds_object(p)) {
                broken |= UINT64_C(1) << depth;
                new_line(out, depth);
            }
        } else if (*p == '}' || *p == ']') {
            depth--;
            if (lines)
                new_line(out, depth);
            buf_add_char(out, *p);
        } else if (*p == ',') {
            buf_add_char(out, ',');
            if (lines)
                new_line(out, depth);
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

static void add_problem(struct json_reader *r, struct str path, struct buf *out)
{
    struct str key, text;

    json_enter(r);
    while (json_next_member(r, &key)) {
        if (!str_is(key, "message")) {
            json_skip(r, NULL);
        } else if (json_take_string(r, &text)) {
            buf_printf(out, "%.*s: %.*s\n", STR_FMT(path.n ? path : STR("the file")),
                       STR_FMT(text));
        }
    }
}

static void add_problems(struct json_reader *r, struct str path, struct buf *out)
{
    struct str key;

    json_enter(r);
    while (json_next_member(r, &key)) {
        if (str_is(key, "_errors")) {
            json_enter(r);
            while (json_next_item(r))
                add_problem(r, path, out);
        } else {
            struct str dot = path.n ? STR(".") : STR("");

            add_problems(r, STR_CONCAT(r->arena, path, dot, key), out);
        }
    }
}

struct str layout_problems(const struct form *form, struct arena *arena)
{
    struct json_reader r;
    struct buf tree, lines;
    struct json j = json_to(&tree);

    buf_init(&tree, SIZE_MAX);
    buf_init(&lines, SIZE_MAX);
    form_write(form, &j);
    json_reader_init(&r, buf_str(&tree), arena);
    if (json_peek(&r) == JSON_OBJECT)
        add_problems(&r, STR(""), &lines);
    struct str text = buf_take(&lines, arena);
    buf_clear(&tree);
    return text;
}
