/* schema_fault.c - checks the fields of a schema against its struct. */
#include "support/schema_fault.h"

#include "json/internal.h"

static const char *type_fault(const struct type *type)
{
    if (!type)
        return "has no type";
    if (type->kind < KIND_STRING || type->kind > KIND_OBJECT)
        return "has a type without kind";
    if (type->kind == KIND_OBJECT)
        return type->schema ? NULL : "is an object without schema";
    if (type->kind == KIND_ARRAY || type->kind == KIND_MAP)
        return type->of ? type_fault(type->of) : "holds nothing: .of is missing";
    if (type->show && (type->kind != KIND_RAW || !type->of))
        return "is shown otherwise, but it does not say as what";
    if (type->rule && type->kind != KIND_STRING)
        return "has a rule but is no string";
    if (!type->choices)
        return NULL;
    if (type->kind != KIND_STRING && type->kind != KIND_INT)
        return "has choices but is neither string nor integer";
    for (const struct enum_choice *c = type->choices; c->doc; c++)
        if (!c->text != (type->kind == KIND_INT))
            return "has a choice of the wrong kind";
    return NULL;
}

static const char *member_fault(const struct schema *schema, const struct field *f)
{
    const struct struct_member_layout *m = &member_type_infos[f->member];
    bool fallback = f->fallback || f->fallback_text;

    if (f->name.n == 0)
        return "has no name";
    if (!(m->kinds >> f->type->kind & 1))
        return "has a member that cannot hold its kind";
    if (f->offset + m->size > schema->size)
        return "lies outside the struct";
    if (fallback && (m->opt || !(f->flags & OPTIONAL)))
        return "has a fallback but is not an OPTIONAL plain member";
    if (f->fallback_text ? f->member != MEMBER_STR : f->fallback && f->member == MEMBER_STR)
        return "has a fallback of the wrong kind";
    if (m->opt || f->member == MEMBER_POINTER || f->member == MEMBER_STR)
        return NULL;
    if (f->member == MEMBER_IMAGE && f->flags & (OPTIONAL | NULLABLE))
        return "may be missing, but a plain image cannot say so";
    if (f->flags & NULLABLE && !(f->flags & OPTIONAL))
        return "may be null, but a plain member cannot say so";
    return NULL;
}

static bool inspect_overlap(const struct field *a, const struct field *b)
{
    return a->offset < b->offset + member_type_infos[b->member].size &&
           b->offset < a->offset + member_type_infos[a->member].size;
}

static bool is_shown_again(const struct field *a, const struct field *b)
{
    return b->flags & RESPONSE_ALIAS && a->offset == b->offset && a->member == b->member;
}

static const char *field_fault(const struct schema *schema, const struct field *f)
{
    const char *fault = type_fault(f->type);

    if (!fault)
        fault = member_fault(schema, f);
    if (!fault && f->name.n > MAX_FIELD_NAME_BYTES)
        fault = "has a name that is too long";
    for (const struct field *other = schema->fields; !fault && other < f; other++) {
        if (str_eq(other->name, f->name))
            fault = "is there twice";
        else if (inspect_overlap(other, f) && !is_shown_again(other, f))
            fault = "shares its member with another field";
    }
    return fault;
}

/* Returns the unnamed schema of a field's type, or NULL. */
static const struct schema *inner_schema(const struct type *type)
{
    type = type_get_documented_type(type);
    while (type->kind == KIND_ARRAY || type->kind == KIND_MAP)
        type = type->of;
    return type->kind == KIND_OBJECT && !type->schema->name ? type->schema : NULL;
}

const char *schema_fault(const struct schema *schema, struct arena *arena)
{
    const char *name = schema->name ? schema->name : "(unnamed)";
    size_t count = 0;

    if (!schema->fields)
        return str_printf(arena, "%s has no fields", name).p;
    for (const struct field *f = schema->fields; f->name.p; f++, count++) {
        const char *fault = field_fault(schema, f);

        if (fault)
            return str_printf(arena, "%s.%.*s %s", name, STR_ARGS(f->name), fault).p;
        const struct schema *inner = inner_schema(f->type);
        if (inner && inner != schema && (fault = schema_fault(inner, arena)))
            return str_printf(arena, "%s.%.*s: %s", name, STR_ARGS(f->name), fault).p;
    }
    if (count > MAX_FIELDS)
        return str_printf(arena, "%s has more than %d fields", name, MAX_FIELDS).p;
    return NULL;
}
