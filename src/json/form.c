/* form.c - validation errors of a request body, collected in a tree.
 *
 * A node exists only while there is an error at it or below it. */
#include "json/form.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "json/number.h"

struct problem {
    struct problem *next;
    const char *code;
    struct str message;
};

struct form_node {
    struct form_node *up, *next, *children;
    struct problem *problems;
    struct str key; /* object key, or array index as digits */
};

/* Returns the text of a path element; an array index is written to `text`. */
static struct str place_text(const struct place *at, char text[20])
{
    if (at->key.p)
        return at->key;
    return str_slice(text, number_digits(at->index, text));
}

static struct form_node **child_slot(struct form_node *node, struct str key)
{
    struct form_node **slot = &node->children;

    while (*slot && !str_eq((*slot)->key, key))
        slot = &(*slot)->next;
    return slot;
}

static struct form_node *find_node(const struct form *f, const struct place *at)
{
    char text[20];

    if (!at)
        return f->root;
    struct form_node *up = find_node(f, at->up);
    return up ? *child_slot(up, place_text(at, text)) : NULL;
}

static struct form_node *make_node(struct form *f, const struct place *at)
{
    char text[20];

    if (!at) {
        if (!f->root)
            f->root = arena_alloc(f->arena, sizeof *f->root);
        return f->root;
    }

    struct form_node *up = make_node(f, at->up);
    struct str key = place_text(at, text);
    struct form_node **slot = child_slot(up, key);
    if (!*slot) {
        *slot = arena_alloc(f->arena, sizeof **slot);
        (*slot)->up = up;
        (*slot)->key = str_dup(f->arena, key);
    }
    return *slot;
}

/* Returns the text, with invalid UTF-8 replaced by U+FFFD. */
static struct str make_valid(struct arena *arena, struct str s)
{
    if (utf8_valid(s))
        return s;

    char *out = arena_raw(arena, s.n * 3);
    size_t n = 0;
    while (s.n) {
        uint32_t cp = 0xfffd;
        size_t taken = utf8_decode(s, &cp);

        n += utf8_encode(cp, out + n);
        s = str_from(s, taken ? taken : 1);
    }
    return str_slice(out, n);
}

static struct str form_format_text(struct arena *arena, const char *message, va_list args)
{
    va_list again;

    va_copy(again, args);
    int n = vsnprintf(NULL, 0, message, again);
    va_end(again);
    size_t size = n < 0 ? 0 : (size_t)n;
    char *text = arena_raw(arena, size + 1);
    vsnprintf(text, size + 1, message, args);
    return make_valid(arena, str_slice(text, size));
}

void form_fail(struct form *f, const struct place *at, const char *code, const char *message, ...)
{
    va_list args;

    if (f->problems == FORM_MAX_PROBLEMS) {
        f->dropped = true;
        return;
    }
    struct problem *problem = arena_alloc(f->arena, sizeof *problem);
    problem->code = code;
    va_start(args, message);
    problem->message = form_format_text(f->arena, message, args);
    va_end(args);

    struct problem **slot = &make_node(f, at)->problems;
    while (*slot)
        slot = &(*slot)->next;
    *slot = problem;
    f->problems++;
}

struct str form_quote(struct str value)
{
    struct str rest = value;
    uint32_t cp;

    for (int i = 0; i < FORM_MAX_QUOTE && rest.n; i++) {
        size_t n = utf8_decode(rest, &cp);

        rest = str_from(rest, n ? n : 1);
    }
    return str_slice(value.p, value.n - rest.n);
}

static unsigned count_problems(const struct form_node *node)
{
    unsigned n = 0;

    for (const struct problem *p = node->problems; p; p = p->next)
        n++;
    for (const struct form_node *c = node->children; c; c = c->next)
        n += count_problems(c);
    return n;
}

void form_forget(struct form *f, const struct place *at)
{
    struct form_node *node = find_node(f, at);

    if (!node)
        return;
    f->problems -= count_problems(node);
    /* Parent nodes that have no other error are removed, too. */
    while (node->up) {
        struct form_node *up = node->up;

        *child_slot(up, node->key) = node->next;
        if (up->children || up->problems)
            return;
        node = up;
    }
    f->root = NULL;
}

bool form_search(const struct form *f, const struct place *at)
{
    return f->dropped || find_node(f, at);
}

static void write_problems(const struct problem *problem, struct json *j)
{
    json_name(j, "_errors");
    json_array(j);
    for (; problem; problem = problem->next) {
        json_object(j);
        json_name(j, "code");
        json_text(j, str_of(problem->code));
        json_name(j, "message");
        json_text(j, problem->message);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_node(const struct form_node *node, struct json *j)
{
    json_object(j);
    if (node->problems)
        write_problems(node->problems, j);
    for (const struct form_node *c = node->children; c; c = c->next) {
        json_key_text(j, c->key);
        write_node(c, j);
    }
    json_object_end(j);
}

void form_write(const struct form *f, struct json *j)
{
    if (f->root) {
        write_node(f->root, j);
    } else {
        json_object(j);
        json_object_end(j);
    }
}

static const struct form_node *first_node(const struct form_node *node)
{
    while (node && !node->problems)
        node = node->children;
    return node;
}

static void write_path(const struct form_node *node, struct buf *out)
{
    if (!node->up)
        return;
    write_path(node->up, out);
    if (node->up->up)
        buf_add_char(out, '.');
    buf_add_str(out, node->key);
}

void form_first(const struct form *f, struct buf *out)
{
    const struct form_node *node = first_node(f->root);

    if (!node)
        return;
    write_path(node, out);
    if (node->up)
        buf_add_lit(out, ": ");
    buf_add_str(out, node->problems->message);
}

void form_require(struct form *f, const struct place *here, const char *key, bool there)
{
    struct place at = place_key(here, str_of(key));

    if (!there && !form_failed_at(f, &at))
        form_fail(f, &at, FORM_REQUIRED);
}
