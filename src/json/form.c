/* form.c - validation errors of a request body, collected in a tree.
 *
 * A node of the tree exists only while its path, or a path below it, has an error. */
#include "json/form.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "json/number.h"

struct form_error {
    struct form_error *next;
    const char *code;
    struct str message;
};

struct form_node {
    struct form_node *up, *next, *children;
    struct form_error *problems;
    struct str key; /* key of an object member, or index of an array element in digits */
};

/* Returns the text of a path element. If the element is an array index, writes its digits to
 * `text`. */
static struct str format_path_element(const struct json_path *at, char text[20])
{
    if (at->key.p)
        return at->key;
    return str_slice(text, format_decimal_digits(at->index, text));
}

static struct form_node **find_child_slot(struct form_node *node, struct str key)
{
    struct form_node **slot = &node->children;

    while (*slot && !str_eq((*slot)->key, key))
        slot = &(*slot)->next;
    return slot;
}

static struct form_node *find_error_node(const struct form *f, const struct json_path *at)
{
    char text[20];

    if (!at)
        return f->root;
    struct form_node *up = find_error_node(f, at->up);
    return up ? *find_child_slot(up, format_path_element(at, text)) : NULL;
}

static struct form_node *get_or_create_error_node(struct form *f, const struct json_path *at)
{
    char text[20];

    if (!at) {
        if (!f->root)
            f->root = arena_alloc(f->arena, sizeof *f->root);
        return f->root;
    }

    struct form_node *up = get_or_create_error_node(f, at->up);
    struct str key = format_path_element(at, text);
    struct form_node **slot = find_child_slot(up, key);
    if (!*slot) {
        *slot = arena_alloc(f->arena, sizeof **slot);
        (*slot)->up = up;
        (*slot)->key = str_dup(f->arena, key);
    }
    return *slot;
}

/* Returns the text, with invalid UTF-8 replaced by U+FFFD. */
static struct str replace_invalid_utf8(struct arena *arena, struct str s)
{
    if (utf8_is_valid(s))
        return s;

    char *out = arena_alloc_unzeroed(arena, s.n * 3);
    size_t n = 0;
    while (s.n) {
        uint32_t cp = 0xfffd;
        size_t taken = utf8_decode(s, &cp);

        n += utf8_encode(cp, out + n);
        s = str_skip_bytes(s, taken ? taken : 1);
    }
    return str_slice(out, n);
}

static struct str format_error_message(struct arena *arena, const char *message, va_list args)
{
    va_list again;

    va_copy(again, args);
    int n = vsnprintf(NULL, 0, message, again);
    va_end(again);
    size_t size = n < 0 ? 0 : (size_t)n;
    char *text = arena_alloc_unzeroed(arena, size + 1);
    vsnprintf(text, size + 1, message, args);
    return replace_invalid_utf8(arena, str_slice(text, size));
}

void form_add_error(struct form *f, const struct json_path *at, const char *code,
                    const char *message, ...)
{
    va_list args;

    if (f->problems == FORM_MAX_ERRORS) {
        f->dropped = true;
        return;
    }
    struct form_error *problem = arena_alloc(f->arena, sizeof *problem);
    problem->code = code;
    va_start(args, message);
    problem->message = format_error_message(f->arena, message, args);
    va_end(args);

    struct form_error **slot = &get_or_create_error_node(f, at)->problems;
    while (*slot)
        slot = &(*slot)->next;
    *slot = problem;
    f->problems++;
}

struct str form_shorten_quoted_value(struct str value)
{
    struct str rest = value;
    uint32_t cp;

    for (int i = 0; i < FORM_MAX_QUOTED_CHARACTERS && rest.n; i++) {
        size_t n = utf8_decode(rest, &cp);

        rest = str_skip_bytes(rest, n ? n : 1);
    }
    return str_slice(value.p, value.n - rest.n);
}

static unsigned count_errors_of_subtree(const struct form_node *node)
{
    unsigned n = 0;

    for (const struct form_error *p = node->problems; p; p = p->next)
        n++;
    for (const struct form_node *c = node->children; c; c = c->next)
        n += count_errors_of_subtree(c);
    return n;
}

void form_remove_errors_at_path(struct form *f, const struct json_path *at)
{
    struct form_node *node = find_error_node(f, at);

    if (!node)
        return;
    f->problems -= count_errors_of_subtree(node);
    /* Remove the parent nodes, too, if they contain no other error. */
    while (node->up) {
        struct form_node *up = node->up;

        *find_child_slot(up, node->key) = node->next;
        if (up->children || up->problems)
            return;
        node = up;
    }
    f->root = NULL;
}

bool form_has_error_at_path_or_below(const struct form *f, const struct json_path *at)
{
    return f->dropped || find_error_node(f, at);
}

static void write_error_array_json(const struct form_error *problem, struct json_writer *j)
{
    json_write_name(j, "_errors");
    json_begin_array(j);
    for (; problem; problem = problem->next) {
        json_begin_object(j);
        json_write_name(j, "code");
        json_write_text(j, str_of(problem->code));
        json_write_name(j, "message");
        json_write_text(j, problem->message);
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_error_node_json(const struct form_node *node, struct json_writer *j)
{
    json_begin_object(j);
    if (node->problems)
        write_error_array_json(node->problems, j);
    for (const struct form_node *c = node->children; c; c = c->next) {
        json_write_escaped_key(j, c->key);
        write_error_node_json(c, j);
    }
    json_end_object(j);
}

void write_form_errors_json(const struct form *f, struct json_writer *j)
{
    if (f->root) {
        write_error_node_json(f->root, j);
    } else {
        json_begin_object(j);
        json_end_object(j);
    }
}

static const struct form_node *find_first_error_node(const struct form_node *node)
{
    while (node && !node->problems)
        node = node->children;
    return node;
}

static void append_path_of_error_node(const struct form_node *node, struct buf *out)
{
    if (!node->up)
        return;
    append_path_of_error_node(node->up, out);
    if (node->up->up)
        buf_add_char(out, '.');
    buf_add_str(out, node->key);
}

void form_append_text_of_first_error(const struct form *f, struct buf *out)
{
    const struct form_node *node = find_first_error_node(f->root);

    if (!node)
        return;
    append_path_of_error_node(node, out);
    if (node->up)
        buf_add_lit(out, ": ");
    buf_add_str(out, node->problems->message);
}

void form_add_error_if_field_missing(struct form *f, const struct json_path *here, const char *key,
                                     bool there)
{
    struct json_path at = json_path_key(here, str_of(key));

    if (!there && !form_has_error_at_path(f, &at))
        form_add_error(f, &at, FORM_REQUIRED);
}
