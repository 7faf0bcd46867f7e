/* inspect.c - lists the schemas that a type contains. */
#include "json/internal.h"

#include "base/arena.h"
#include "base/mem.h"

struct walk {
    const struct schema **seen;
    size_t count;
    void (*visit)(const struct schema *, void *);
    void *arg;
};

static bool walk_first(struct walk *w, const struct schema *schema)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->seen[i] == schema)
            return false;
    w->seen = mem_resize(w->seen, (w->count + 1) * sizeof *w->seen);
    w->seen[w->count++] = schema;
    return true;
}

/* Visits each schema once, because schemas may be recursive: command options contain options. */
static void walk_type(struct walk *w, const struct type *type)
{
    type = type_shown(type);
    while (type->kind == KIND_ARRAY || type->kind == KIND_MAP)
        type = type->of;
    if (type->kind != KIND_OBJECT || !walk_first(w, type->schema))
        return;
    if (type->schema->name)
        w->visit(type->schema, w->arg);
    for (const struct field *f = type->schema->fields; f->name.p; f++)
        walk_type(w, f->type);
}

void schema_walk(const struct type *type, void (*visit)(const struct schema *, void *), void *arg)
{
    struct walk w = { .visit = visit, .arg = arg };

    walk_type(&w, type);
    mem_free(w.seen);
}
