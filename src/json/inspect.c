/* inspect.c - lists the schemas that a type contains. */
#include "json/internal.h"

#include "base/arena.h"
#include "base/mem.h"

struct schema_walk_state {
    const struct schema **seen;
    size_t count;
    void (*visit)(const struct schema *, void *);
    void *arg;
};

static bool mark_schema_visited(struct schema_walk_state *w, const struct schema *schema)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->seen[i] == schema)
            return false;
    w->seen = mem_resize(w->seen, (w->count + 1) * sizeof *w->seen);
    w->seen[w->count++] = schema;
    return true;
}

/* Visits each schema only once, because schemas may be recursive: command options contain
 * options. */
static void visit_type_schemas(struct schema_walk_state *w, const struct type *type)
{
    type = type_get_documented_type(type);
    while (type->kind == KIND_ARRAY || type->kind == KIND_MAP)
        type = type->of;
    if (type->kind != KIND_OBJECT || !mark_schema_visited(w, type->schema))
        return;
    if (type->schema->name)
        w->visit(type->schema, w->arg);
    for (const struct field *f = type->schema->fields; f->name.p; f++)
        visit_type_schemas(w, f->type);
}

void schema_visit_contained_schemas(const struct type *type,
                                    void (*visit)(const struct schema *, void *), void *arg)
{
    struct schema_walk_state w = { .visit = visit, .arg = arg };

    visit_type_schemas(&w, type);
    mem_free(w.seen);
}
