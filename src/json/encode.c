/* encode.c - structs through a schema into JSON. */
#include "json/internal.h"

static void encode_item(struct json *j, const struct type *type, const void *item);

static void encode_array(struct json *j, const struct type *of, const struct list *list)
{
    const char *item = list->items;
    size_t size = schema_item_size(of);

    json_array(j);
    for (size_t i = 0; i < list->count; i++, item += size)
        encode_item(j, of, item);
    json_array_end(j);
}

static void encode_map(struct json *j, const struct type *of, const struct list *list)
{
    const char *entry = list->items;
    size_t size = map_entry_size(of);

    json_object(j);
    for (size_t i = 0; i < list->count; i++, entry += size) {
        json_key_text(j, *(const struct str *)(const void *)entry);
        encode_item(j, of, entry + sizeof(struct str));
    }
    json_object_end(j);
}

/* A value as an array holds it. */
static void encode_item(struct json *j, const struct type *type, const void *item)
{
    switch (type->kind) {
    case KIND_STRING:
        json_text(j, *(const struct str *)item);
        break;
    case KIND_INT:
        json_int(j, *(const int64_t *)item);
        break;
    case KIND_REAL:
        json_real(j, *(const double *)item);
        break;
    case KIND_BOOL:
        json_bool(j, *(const bool *)item);
        break;
    case KIND_ID:
    case KIND_BITS:
        json_id(j, *(const uint64_t *)item);
        break;
    case KIND_TIME:
        json_time(j, *(const int64_t *)item);
        break;
    case KIND_RAW:
        if (type->show)
            type->show(j, *(const struct str *)item);
        else
            json_raw(j, *(const struct str *)item);
        break;
    case KIND_ARRAY:
        encode_array(j, type->of, item);
        break;
    case KIND_MAP:
        encode_map(j, type->of, item);
        break;
    case KIND_OBJECT:
        schema_encode_object(j, type->schema, item);
        break;
    case KIND_IMAGE:
        json_null(j); /* input only */
        break;
    }
}

/* Whether a member holds a value. */
static enum given member_given(const struct field *f, const char *member)
{
    if (member_infos[f->member].opt)
        return *(const enum given *)(const void *)member;
    if (f->member == MEMBER_POINTER)
        return *(void *const *)(const void *)member ? GIVEN : ABSENT;
    if (f->member == MEMBER_STR && f->flags & (OPTIONAL | NULLABLE))
        return ((const struct str *)(const void *)member)->p ? GIVEN : ABSENT;
    return GIVEN;
}

/* Where a plain member cannot tell null from absent, null is the safer word. */
static bool absent_is_null(const struct field *f)
{
    return f->flags & NULLABLE && !(f->flags & OPTIONAL && member_infos[f->member].opt);
}

static void encode_field(struct json *j, const struct field *f, const char *object)
{
    const char *member = object + f->offset;
    enum given given = member_given(f, member);

    if (given == ABSENT && !absent_is_null(f))
        return;
    json_key(j, f->name);
    member += member_infos[f->member].value;
    if (given != GIVEN)
        json_null(j);
    else if (f->type->kind == KIND_OBJECT)
        schema_encode_object(j, f->type->schema, *(void *const *)(const void *)member);
    else
        encode_item(j, f->type, member);
}

void schema_encode_some(struct json *j, const struct schema *schema, const void *object,
                        bool (*shows)(const void *arg, struct str name), const void *arg)
{
    for (const struct field *f = schema->fields; f->name.p; f++)
        if (shows(arg, f->name))
            encode_field(j, f, object);
}

void schema_encode_object(struct json *j, const struct schema *schema, const void *object)
{
    if (!object) {
        json_null(j);
        return;
    }
    json_object(j);
    for (const struct field *f = schema->fields; f->name.p; f++)
        encode_field(j, f, object);
    json_object_end(j);
}

void schema_encode(struct json *j, const struct type *type, const void *value)
{
    encode_item(j, type, value);
}
