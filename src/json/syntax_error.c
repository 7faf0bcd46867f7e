/* syntax_error.c - describes the first syntax error of a JSON text that a person wrote.
 *
 * The normal parser does not store its position when it fails. So this file parses a rejected text
 * again and stores the position before each token. */
#include "base/arena.h"
#include "base/buf.h"
#include "json/read.h"
#include "json/reader_inline.h"

struct syntax_error_walk {
    struct json_reader r;
    const char *before; /* start of the current token */
    bool no_comma;      /* whether a comma is missing before the current token */
    struct {
        struct str key; /* name of the current member of an object; NULL pointer if this nesting
                         * level is an array */
        size_t index;   /* index of the next item */
    } levels[JSON_MAX_DEPTH];
};

static void skip_scalar_or_enter_container(struct syntax_error_walk *w)
{
    w->before = w->r.at;
    w->no_comma = false;
    enum json_value_kind kind = json_peek_kind(&w->r);

    if (kind != JSON_ARRAY && kind != JSON_OBJECT) {
        json_skip_value(&w->r, NULL);
        return;
    }
    json_enter_container(&w->r);
    if (!w->r.bad) {
        w->levels[w->r.depth - 1].key = (struct str){ 0 };
        w->levels[w->r.depth - 1].index = 0;
    }
}

/* Moves to the next object member or array item; returns false if there is none. */
static bool move_to_next_member(struct syntax_error_walk *w)
{
    struct json_reader *r = &w->r;
    unsigned level = r->depth - 1;
    bool found;

    w->before = skip_json_space(r->at, r->end);
    w->no_comma = !r->first && w->before < r->end && *w->before != ',';
    if (!r->first && !w->no_comma && w->before < r->end)
        w->before = skip_json_space(w->before + 1, r->end);
    if (r->in_object & 1)
        found = json_next_member(r, &w->levels[level].key);
    else if ((found = json_next_item(r)))
        w->levels[level].index++;
    return found;
}

static bool find_syntax_error_in_json(struct syntax_error_walk *w)
{
    skip_scalar_or_enter_container(w);
    while (!w->r.bad && w->r.depth)
        if (move_to_next_member(w))
            skip_scalar_or_enter_container(w);
    if (w->r.bad)
        return false;
    w->before = skip_json_space(w->r.at, w->r.end);
    return json_is_at_end(&w->r);
}

static void append_line_and_column(struct str text, const char *at, struct buf *out)
{
    unsigned long long line = 1, column = 1;

    for (const char *p = text.p; p < at; p++) {
        if (*p == '\n') {
            line++;
            column = 1;
        } else {
            column += ((unsigned char)*p & 0xc0) != 0x80;
        }
    }
    buf_printf(out, "line %llu, column %llu", line, column);
}

/* Appends a path such as users.0.name. */
static void append_json_path(const struct syntax_error_walk *w, struct buf *out)
{
    for (unsigned i = 0; i < w->r.depth; i++) {
        struct str key = w->levels[i].key;

        if (!key.p && !w->levels[i].index)
            break;
        buf_add_str(out, i ? STR(".") : STR(", at "));
        if (key.p)
            buf_add_str(out, key);
        else
            buf_add_u64(out, w->levels[i].index - 1);
    }
}

static void append_syntax_error_reason(const struct syntax_error_walk *w, struct buf *out)
{
    unsigned char c = w->before < w->r.end ? (unsigned char)*w->before : 0;

    if (w->r.values >= JSON_MAX_VALUES)
        buf_printf(out, "the text has more than %d values", JSON_MAX_VALUES);
    else if (w->before >= w->r.end)
        buf_add_lit(out, "the text ends before it is complete");
    else if (w->r.depth == JSON_MAX_DEPTH && (c == '[' || c == '{'))
        buf_printf(out, "the text has more than %d levels of nesting", JSON_MAX_DEPTH);
    else if (w->no_comma && w->r.depth && (c == '"' || c == '{' || c == '['))
        buf_add_lit(out, "a comma is missing before this value");
    else if (c == '"')
        buf_add_lit(
            out,
            "this string has no closing quote, an unescaped special character, or no colon after "
            "it");
    else if (c > ' ' && c < 127)
        buf_printf(out, "the character '%c' is not allowed at this position", c);
    else
        buf_printf(out, "the byte 0x%02x is not allowed at this position", c);
}

struct str json_describe_syntax_error(struct str text, struct arena *arena)
{
    struct syntax_error_walk *w = arena_alloc(arena, sizeof *w);
    struct buf out;

    json_reader_init(&w->r, text, arena);
    if (find_syntax_error_in_json(w))
        return STR("");
    buf_init(&out, SIZE_MAX);
    append_line_and_column(text, w->before, &out);
    append_json_path(w, &out);
    buf_add_lit(&out, ": ");
    append_syntax_error_reason(w, &out);
    return buf_move_to_arena(&out, arena);
}
