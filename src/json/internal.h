/* internal.h - definitions for schemas that the files of json/ share. */
#ifndef JSON_INTERNAL_H
#define JSON_INTERNAL_H

#include "base/arena.h"
#include "json/read.h"
#include "json/schema.h"

/* Limits of types that declare no limits. MAX_FIELDS must be below 64, the number of bits in
 * object_decode_progress.seen. */
enum {
    DEFAULT_MAX_ITEMS = 1521,
    DEFAULT_MAX_CHARACTERS = 152133,
    MAX_FIELDS = 63,
    MAX_FIELD_NAME_BYTES = 60
};

/* Describes the C type of a struct member (enum struct_member_kind). */
struct struct_member_layout {
    const char *name;
    unsigned kinds;
    uint8_t size;
    uint8_t value; /* offset in bytes of the value in the member */
    bool opt;      /* whether the member starts with an enum field_presence */
};
extern const struct struct_member_layout member_type_infos[];

/* A JSON value that is neither an array nor an object. */
struct scalar_value {
    enum json_value_kind kind;
    bool truth;
    bool of_text; /* whether the value comes from a query or form, where numbers are text, too */
    struct json_number number;
    struct str text; /* content if the value is a string; otherwise its JSON text */
};

/* Stores a valid value in *out, whose C type depends on the type (struct str, int64_t, …). If the
 * value is invalid, adds an error to form. */
void decode_scalar_value(struct form *form, const struct type *type, const struct scalar_value *s,
                         const struct json_path *at, void *out);

/* Decodes an integer that was already parsed, in the same way as decode_scalar_value. */
void decode_integer_value(struct form *form, const struct type *type, int64_t v,
                          const struct json_path *at, int64_t *out);

/* Returns true if an integer is within the limits of the type and, if the type has choices, is one
 * of them. */
bool int_is_within_type_limits(const struct type *type, int64_t v);

/* Decodes an image, which is encoded as a data URI, in the same way as decode_scalar_value. */
void decode_image_uri(struct form *form, const struct type *type, struct str text,
                      const struct json_path *at, struct uploaded_image *out);

/* Returns true if a text of n bytes certainly meets the type's length limits, which count code
 * points. A code point has 1 to 4 bytes, so code points must be counted only if the length is near
 * a limit. */
static inline bool byte_length_certainly_meets_limits(const struct type *type, size_t n)
{
    uint64_t max = (uint64_t)(type->max ? type->max : DEFAULT_MAX_CHARACTERS);

    return n <= max && (n + 3) / 4 >= (uint64_t)type->min;
}

/* Returns false and adds an error if a length or count violates the limits of the type. cap is the
 * maximum for types that declare no maximum. */
bool check_length_limits(struct form *form, const struct type *type, size_t n, int64_t cap,
                         const struct json_path *at);

/* json_type_get_minimum and json_type_get_maximum return the limit of a number type in *ret, or
 * return false if the type has no such limit. */
bool json_type_get_minimum(const struct type *type, int64_t *ret);
bool json_type_get_maximum(const struct type *type, int64_t *ret);

/* State of decoding one JSON object into a struct. */
struct object_decode_progress {
    const struct schema *schema;
    char *object;
    size_t next;   /* index of the field after the last found field; the next search starts there */
    uint64_t seen; /* bit set of the fields that were present, one bit per field */
};

const struct field *decode_find_field(struct object_decode_progress *p, struct str name);
/* Finds a field by its name, which ends at the next quote, so the caller need not know its length.
 * Returns NULL if there is no such field or the name has escapes. At least MAX_FIELD_NAME_BYTES + 1
 * bytes must be readable. */
const struct field *decode_find_quoted_field(struct object_decode_progress *p, const char *text);
bool decode_field_is_present(const struct object_decode_progress *p, size_t field);
/* Marks the last found field as present. If it was already marked, because its key occurs twice,
 * clears its struct member and returns true. */
bool decode_mark_field_present(struct object_decode_progress *p);
void decode_unmark_field_present(struct object_decode_progress *p);
/* Ends an object: sets defaults, reports missing fields and runs the schema's check. */
void decode_set_defaults_and_check_object(struct object_decode_progress *p, struct form *form,
                                          const struct json_path *at);

/* Returns the address of a field's value in the object. If the member is optional, sets its
 * presence flag to `given`. */
void *field_get_value_address(const struct field *f, char *object, enum field_presence given);
void field_store_default(const struct field *f, char *object);

/* list_append_unzeroed appends an element to a list like list_append, but does not zero its
 * memory. */
enum { LIST_INITIAL_CAPACITY = 4 };
void list_grow(struct arena *arena, struct list *list, size_t size);
static inline void *list_append_unzeroed(struct arena *arena, struct list *list, size_t size)
{
    if (!list->count && !list->cap) {
        list->items = arena_alloc_unzeroed(arena, LIST_INITIAL_CAPACITY * size);
        list->cap = LIST_INITIAL_CAPACITY;
    } else if (list->count >= list->cap) {
        list_grow(arena, list, size);
    }
    return (char *)list->items + list->count++ * size;
}

static inline const struct type *type_get_documented_type(const struct type *type)
{
    return type->kind == KIND_RAW && type->show ? type->of : type;
}

/* Returns the size in bytes of a map entry: a struct str, then the value. */
size_t json_map_entry_size(const struct type *of);

#endif
