/* expect.c - expectations about replies. */
#include <stdarg.h>
#include <stdlib.h>

#include "internal.h"

static void show(struct answer a)
{
    printf("%s answered %d: %.*s\n", a.call, a.status, a.body.n > 2000 ? 2000 : (int)a.body.n,
           a.body.p);
}

const char *answer_text(struct answer a, const char *path)
{
    const struct dom *d = dom_at(a.json, path);

    if (!d || !d->text.p) {
        show(a);
        fail_test(__FILE__, __LINE__, "no text at %s", path);
    }
    return str_dup_cstring(world_arena(a.client->world), d->text);
}

void expect_status_at(const char *file, int line, struct answer a, int status)
{
    if (a.status == status && (status != 204 || a.body.n == 0))
        return;
    show(a);
    fail_test(file, line, "expected status %d", status);
}

void expect_json_at(const char *file, int line, struct answer a, const char *fmt, ...)
{
    struct arena *arena = world_arena(a.client->world);
    struct str where;
    va_list args;

    va_start(args, fmt);
    const struct dom *expected = parse_expected(arena, fmt, args);
    va_end(args);
    if (a.json && dom_contains(a.json, expected, arena, &where))
        return;
    show(a);
    fail_test(file, line, "%s", a.json ? where.p : "the body is not JSON");
}

void expect_error_at(const char *file, int line, struct answer a, int status, int code)
{
    const struct dom *c = dom_at(a.json, "code"), *m = dom_at(a.json, "message");

    if (a.status == status && c && c->kind == JSON_NUMBER && atoi(c->text.p) == code && m &&
        m->kind == JSON_STRING)
        return;
    show(a);
    fail_test(file, line, "expected error %d with status %d", code, status);
}

void expect_invalid_at(const char *file, int line, struct answer a, const char *path,
                       const char *code)
{
    struct arena *arena = world_arena(a.client->world);
    const struct dom *leaves =
        dom_at(a.json, str_printf(arena, "errors%s%s._errors", *path ? "." : "", path).p);

    expect_error_at(file, line, a, 400, 50035);
    for (size_t i = 0; leaves && i < leaves->count; i++) {
        const struct dom *leaf = dom_member(&leaves->items[i], STR("code"));

        if (leaf && str_is(leaf->text, code))
            return;
    }
    show(a);
    fail_test(file, line, "expected %s at '%s'", code, path);
}

void expect_absent_at(const char *file, int line, struct answer a, const char *path)
{
    if (!dom_at(a.json, path))
        return;
    show(a);
    fail_test(file, line, "'%s' is present, but must be absent", path);
}
