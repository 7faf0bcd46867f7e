/* encode.c - encodes structs as JSON by a schema. */
#include "json/internal.h"

/* Maximum number of encoded objects that are cached. List elements often point to the same object,
 * such as the author of many messages: it is encoded once, then its output is copied. */
enum { CACHED_OBJECTS = 8 };
struct encoded_objects {
    struct {
        const void *object;
        const struct schema *schema;
        size_t at, n; /* offset and length in the output */
    } cached[CACHED_OBJECTS];
    unsigned count; /* number of objects cached so far; a new object overwrites the oldest one */
};

static bool copy_cached_encoding(struct json_writer *j, const struct encoded_objects *e,
                                 const struct schema *schema, const void *object)
{
    for (unsigned i = 0; i < e->count && i < CACHED_OBJECTS; i++)
        if (e->cached[i].object == object && e->cached[i].schema == schema) {
            char *to = buf_reserve(j->out, e->cached[i].n);

            if (to) {
                memcpy(to, j->out->p + e->cached[i].at, e->cached[i].n);
                j->out->n += e->cached[i].n;
            }
            j->comma = true;
            return true;
        }
    return false;
}

static void cache_object_encoding(struct encoded_objects *e, const struct schema *schema,
                                  const void *object, size_t at, size_t n)
{
    unsigned i = e->count++ % CACHED_OBJECTS;

    e->cached[i].object = object;
    e->cached[i].schema = schema;
    e->cached[i].at = at;
    e->cached[i].n = n;
}

/* Encodes a list element. `known` contains the objects already encoded in this list, or is NULL. */
static void encode_element_of_list(struct json_writer *j, struct encoded_objects *known,
                                   const struct type *type, const void *item);
static void encode_object(struct json_writer *j, struct encoded_objects *known,
                          const struct schema *schema, const void *object);

/* Encodes an object that a struct member points to, or copies its earlier encoding from `known`. No
 * comma is written, because the member's name precedes the object. */
static void encode_object_or_copy_cached(struct json_writer *j, struct encoded_objects *known,
                                         const struct schema *schema, const void *object)
{
    size_t at = j->out->n;

    if (known && copy_cached_encoding(j, known, schema, object))
        return;
    encode_object(j, known, schema, object);
    if (known && !buf_is_full(j->out))
        cache_object_encoding(known, schema, object, at, j->out->n - at);
}

static void encode_list_items(struct json_writer *j, struct encoded_objects *known,
                              const struct type *of, const struct list *list)
{
    const char *item = list->items;
    size_t size = schema_list_item_size(of);

    json_begin_array(j);
    for (size_t i = 0; i < list->count; i++, item += size)
        encode_element_of_list(j, known, of, item);
    json_end_array(j);
}

static void encode_array(struct json_writer *j, struct encoded_objects *known,
                         const struct type *of, const struct list *list)
{
    struct encoded_objects here;

    here.count = 0;
    encode_list_items(j, known ? known : &here, of, list);
}

static void encode_map(struct json_writer *j, struct encoded_objects *known, const struct type *of,
                       const struct list *list)
{
    const char *entry = list->items;
    size_t size = json_map_entry_size(of);

    json_begin_object(j);
    for (size_t i = 0; i < list->count; i++, entry += size) {
        json_write_escaped_key(j, *(const struct str *)(const void *)entry);
        encode_element_of_list(j, known, of, entry + sizeof(struct str));
    }
    json_end_object(j);
}

static void encode_element_of_list(struct json_writer *j, struct encoded_objects *known,
                                   const struct type *type, const void *item)
{
    switch (type->kind) {
    case KIND_STRING:
        json_write_text(j, *(const struct str *)item);
        break;
    case KIND_INT:
        json_write_int(j, *(const int64_t *)item);
        break;
    case KIND_REAL:
        json_write_real(j, *(const double *)item);
        break;
    case KIND_BOOL:
        json_write_bool(j, *(const bool *)item);
        break;
    case KIND_ID:
    case KIND_BITS:
        json_write_id(j, *(const uint64_t *)item);
        break;
    case KIND_TIME:
        json_write_time(j, *(const int64_t *)item);
        break;
    case KIND_RAW:
        if (type->show)
            type->show(j, *(const struct str *)item);
        else
            json_write_raw(j, *(const struct str *)item);
        break;
    case KIND_ARRAY:
        encode_array(j, known, type->of, item);
        break;
    case KIND_MAP:
        encode_map(j, known, type->of, item);
        break;
    case KIND_OBJECT:
        encode_object(j, known, type->schema, item);
        break;
    case KIND_IMAGE:
        json_write_null(j); /* images are input only */
        break;
    }
}

/* Returns whether a struct member has a value, is null, or is absent. */
static enum field_presence get_presence_of_member(const struct field *f, const char *member)
{
    if (member_type_infos[f->member].opt)
        return *(const enum field_presence *)(const void *)member;
    if (f->member == MEMBER_POINTER)
        return *(void *const *)(const void *)member ? GIVEN : ABSENT;
    if (f->member == MEMBER_STR && f->flags & (OPTIONAL | NULLABLE))
        return ((const struct str *)(const void *)member)->p ? GIVEN : ABSENT;
    return GIVEN;
}

/* Returns true if an absent field is written as null. A struct member without a presence flag
 * cannot distinguish null and absent. */
static bool field_encodes_absent_as_null(const struct field *f)
{
    return f->flags & NULLABLE && !(f->flags & OPTIONAL && member_type_infos[f->member].opt);
}

static void encode_value(struct json_writer *j, struct encoded_objects *known,
                         const struct field *f, const char *member)
{
    member += member_type_infos[f->member].value;
    if (f->type->kind == KIND_OBJECT)
        encode_object_or_copy_cached(j, known, f->type->schema,
                                     *(void *const *)(const void *)member);
    else
        encode_element_of_list(j, known, f->type, member);
}

static void encode_field(struct json_writer *j, struct encoded_objects *known,
                         const struct field *f, const char *object)
{
    const char *member = object + f->offset;
    enum field_presence given = get_presence_of_member(f, member);

    if (given == ABSENT && !field_encodes_absent_as_null(f))
        return;
    json_write_key(j, f->name);
    if (given == GIVEN)
        encode_value(j, known, f, member);
    else
        json_write_null(j);
}

bool schema_encode_field_value(struct json_writer *j, const struct field *f, const void *object)
{
    const char *member = (const char *)object + f->offset;

    if (get_presence_of_member(f, member) != GIVEN)
        return false;
    encode_value(j, NULL, f, member);
    return true;
}

void schema_encode_fields(struct json_writer *j, const struct schema *schema, const void *object,
                          bool (*shows)(const void *arg, struct str name), const void *arg)
{
    for (const struct field *f = schema->fields; f->name.p; f++)
        if (shows(arg, f->name))
            encode_field(j, NULL, f, object);
}

static void encode_object(struct json_writer *j, struct encoded_objects *known,
                          const struct schema *schema, const void *object)
{
    if (!object) {
        json_write_null(j);
        return;
    }
    json_begin_object(j);
    for (const struct field *f = schema->fields; f->name.p; f++)
        encode_field(j, known, f, object);
    json_end_object(j);
}

void schema_encode_object(struct json_writer *j, const struct schema *schema, const void *object)
{
    encode_object(j, NULL, schema, object);
}

void schema_encode(struct json_writer *j, const struct type *type, const void *value)
{
    encode_element_of_list(j, NULL, type, value);
}
