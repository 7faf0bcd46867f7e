/* schema.h - request and response formats of the API as data.
 *
 * A type describes values: their kind, limits, a check and documentation. A field binds a type to a
 * struct member and a name, and says whether the field may be absent or null. A schema is a list of
 * fields. From these tables bodies are decoded and validated, responses encoded, and the OpenAPI
 * document and the reference generated, so that each limit is defined once.
 *
 * src/json uses only base/. Start here; the pull parser is in read.h, the writer in write.h,
 * validation errors in form.h. */
#ifndef JSON_SCHEMA_H
#define JSON_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors.h"
#include "base/snowflake.h"
#include "base/str.h"
#include "json/form.h"
#include "json/write.h"

enum json_type_kind {
    KIND_STRING = 1, /* struct str; never contains U+0000 */
    KIND_INT,        /* int64_t, exact */
    KIND_REAL,       /* double */
    KIND_BOOL,       /* bool */
    KIND_ID,         /* snowflake; decoded from a string or an integer, encoded as a string */
    KIND_BITS,       /* uint64_t permission set; decoded from a string or an integer, encoded as a
                      * string */
    KIND_TIME,       /* int64_t microseconds; an ISO 8601 string */
    KIND_IMAGE,      /* struct uploaded_image; decoded from a data URI; not in responses */
    KIND_RAW,        /* struct str with the JSON text of any value */
    KIND_ARRAY,      /* struct list with elements of type .of */
    KIND_MAP,    /* object with arbitrary keys: a struct list of entries (key, value of type .of) */
    KIND_OBJECT, /* struct of .schema; a list contains the structs themselves, a struct member is a
                  * pointer */
};

/* A value of an enumeration. The array of choices ends with .doc == NULL. */
struct enum_choice {
    int64_t value;
    const char *text; /* allowed string; NULL for integers */
    const char *name; /* name of the constant: "FRIEND" */
    const char *doc;
    const char *old_word; /* for integers: name of the value in API version 6, which is accepted,
                           * too */
};

/* A condition on a string that length limits cannot express, and the error if the string does not
 * meet it. */
struct string_rule {
    bool (*is_valid)(struct str text);
    const char *code;
    const char *message;
};

enum type_flags {
    TYPE_TRIM = 1,         /* strings: trim white space at both ends */
    TYPE_CLAMP = 2,        /* numbers: a number out of range becomes the nearest limit; no error */
    TYPE_LOWER = 4,        /* strings: convert ASCII letters to lower case first */
    TYPE_SAFE_INT = 8,     /* integers: only values within +-2^53 */
    TYPE_LOOSE_ENUM = 16,  /* integers: accept values outside of .choices */
    TYPE_EITHER = 64,      /* strings and numbers: accept a number as text and text as a number;
                            * booleans: accept text; arrays: accept a comma-separated string */
    TYPE_EMPTY_NONE = 128, /* in fields: treat an empty string as null; for times, treat 0 as null,
                            * too */
    TYPE_NULL_NONE = 32, /* arrays: decode null as an empty array; maps: ignore entries whose value
                          * is null */
};

struct type {
    enum json_type_kind kind;
    unsigned flags;
    /* Limits: the length of strings in code points, the number of elements of arrays and maps, the
     * value of numbers, the size of images in bytes (max only). If both min and max are 0, the
     * default limits apply: 152133 characters, 1521 elements. If max is below min, there is no
     * maximum. */
    int64_t min, max;
    const struct enum_choice *choices; /* allowed values of strings and integers */
    const struct string_rule *rule;    /* condition on strings */
    const struct type *of; /* element type of arrays and maps; for .show, the type that it writes */
    const struct schema *schema; /* schema of objects */
    /* For KIND_RAW, if the stored text is not JSON: writes the text as JSON of type .of. */
    void (*show)(struct json_writer *j, struct str text);
    const char *doc;
};

/* Whether an optional or nullable member has a value. */
enum field_presence { ABSENT, GIVEN_NULL, GIVEN };

struct list {
    void *items;
    size_t count;
    size_t cap; /* number of allocated elements; 0 if list_append did not allocate the elements */
};

struct opt_str {
    enum field_presence given;
    struct str value;
};
struct opt_int {
    enum field_presence given;
    int64_t value;
};
struct opt_real {
    enum field_presence given;
    double value;
};
struct opt_bool {
    enum field_presence given;
    bool value;
};
struct opt_id {
    enum field_presence given;
    snowflake value;
};
struct opt_list {
    enum field_presence given;
    struct list value;
};
struct opt_object {
    enum field_presence given;
    void *value;
};

struct uploaded_image {
    struct str bytes;
    const char *extension; /* "png", "jpeg", "gif", "webp" or "avif" */
};
struct opt_image {
    enum field_presence given;
    struct uploaded_image value;
};

/* An entry of a KIND_MAP list: the key, then a value of type .of, stored like an array element.
 * This struct is the entry of a map of strings. */
struct string_pair {
    struct str key, value;
};

/* The C type of a struct member; set by the macro FIELD. */
enum struct_member_kind {
    MEMBER_POINTER, /* pointer to the struct of an object; NULL if the object is absent (or null, if
                     * nullable) */
    MEMBER_STR,
    MEMBER_INT,
    MEMBER_REAL,
    MEMBER_BOOL,
    MEMBER_U64,
    MEMBER_LIST,
    MEMBER_IMAGE,
    MEMBER_OPT_STR,
    MEMBER_OPT_INT,
    MEMBER_OPT_REAL,
    MEMBER_OPT_BOOL,
    MEMBER_OPT_ID,
    MEMBER_OPT_LIST,
    MEMBER_OPT_OBJECT,
    MEMBER_OPT_IMAGE,
};

#define MEMBER_OF(lvalue)                          \
    _Generic((lvalue), struct str                  \
             : MEMBER_STR, int64_t                 \
             : MEMBER_INT, double                  \
             : MEMBER_REAL, bool                   \
             : MEMBER_BOOL, uint64_t               \
             : MEMBER_U64, struct list             \
             : MEMBER_LIST, struct uploaded_image  \
             : MEMBER_IMAGE, struct opt_str        \
             : MEMBER_OPT_STR, struct opt_int      \
             : MEMBER_OPT_INT, struct opt_real     \
             : MEMBER_OPT_REAL, struct opt_bool    \
             : MEMBER_OPT_BOOL, struct opt_id      \
             : MEMBER_OPT_ID, struct opt_list      \
             : MEMBER_OPT_LIST, struct opt_object  \
             : MEMBER_OPT_OBJECT, struct opt_image \
             : MEMBER_OPT_IMAGE, default           \
             : MEMBER_POINTER)

/* Use FIELD(struct command, name) if the struct member and the API field have the same name,
 * otherwise FIELD_AS. */
#define FIELD(type_, member_) FIELD_AS(type_, member_, #member_)
#define FIELD_AS(type_, member_, name_)                          \
    .name = STR_INIT(name_), .offset = offsetof(type_, member_), \
    .member = MEMBER_OF(((type_ *)0)->member_)

enum field_flags {
    OPTIONAL = 1, /* field may be absent (a `?` after the name in Discord's documentation) */
    NULLABLE = 2, /* field may be null (a `?` before the type in Discord's documentation) */
    DEPRECATED = 4,
    RESPONSE_ALIAS = 8, /* the field is a second name for the member of another field; only in
                         * responses */
};

/* The loader relocates the pointers of 5,000 fields at each start, so each byte of this struct
 * costs 5 KB of memory per process. */
struct field {
    struct str name; /* a NULL pointer ends the list */
    const struct type *type;
    uint32_t offset;
    enum struct_member_kind member : 8;
    unsigned flags : 8;
    /* Default value of an OPTIONAL field whose member has no presence flag, for bodies in which the
     * field is absent or null: a number, boolean or text. Fields without a default become empty
     * lists or NULL pointers. */
    int64_t fallback;
    const char *fallback_text;
    const char *doc;
};

struct schema {
    const char *name; /* OpenAPI component: "Relationship" */
    size_t size;      /* sizeof the object's struct */
    const struct field *fields;
    /* Checks combinations of fields, and reports errors with form_add_error. Also runs if single
     * fields are invalid, so call form_has_error_at_path before using a field. */
    void (*check)(struct form *form, const struct json_path *here, const void *object);
    bool once; /* for query strings: reject a parameter that occurs more than once (RFC 6749,
                * 3.1) */
    /* Returns the fields that apply to this object, one bit per field. Other fields are cleared,
     * and their errors removed, before `check` runs. If NULL, all fields apply. */
    uint64_t (*applicable_fields)(const void *object);
    const char *doc;
};

/* Decodes one JSON text. **ret points to the decoded value: for an object type to its struct, for
 * an array type to a struct list, for other types to the C value that an array of the type would
 * contain. Returns ERR_INVALID_JSON if the text is not JSON, or ERR_INVALID_FORM_BODY with all
 * errors in form if the text does not match the type. An empty text counts as {}. Strings point
 * into the text or the arena. */
enum err schema_decode(const struct type *type, struct str text, struct form *form, void **ret);
/* Decodes a JSON text like schema_decode, but returns NULL on errors, without a list of them. */
void *schema_decode_or_null(const struct type *type, struct str text, struct arena *arena);
/* Decodes JSON text that is part of a larger body, like schema_decode; `at` is the path of the text
 * in that body. form may already contain errors. */
enum err schema_decode_part_of_body(const struct type *type, struct str text, struct form *form,
                                    const struct json_path *here, void **ret);

/* Decodes a query string or an application/x-www-form-urlencoded body. An array is a repeated key
 * or a comma-separated value; booleans may be "True", "1", "False", "0". */
enum err schema_decode_query(const struct schema *schema, struct str query, struct form *form,
                             void **ret);

/* Encodes a value: a C value that an array of the type would contain (a struct str *, an int64_t *,
 * …), or the struct of an object. An absent field is omitted if OPTIONAL, and written as null if
 * only NULLABLE. A member without presence flag that is a NULL pointer is written as null if
 * NULLABLE, otherwise omitted. */
void schema_encode(struct json_writer *j, const struct type *type, const void *value);
void schema_encode_object(struct json_writer *j, const struct schema *schema, const void *object);
/* Encodes the value of one field. Returns false, writing nothing, if it is absent or null. */
bool schema_encode_field_value(struct json_writer *j, const struct field *f, const void *object);
/* Encodes the fields for which `shows` returns true, as members of an object begun by the caller.
 */
void schema_encode_fields(struct json_writer *j, const struct schema *schema, const void *object,
                          bool (*shows)(const void *arg, struct str name), const void *arg);

/* Describes a type as JSON Schema (OpenAPI 3.1). Named schemas become {"$ref":
 * "#/components/schemas/Name"}; schema_write_json_schema_component writes the component itself. */
void schema_write_json_schema(struct json_writer *j, const struct type *type);
void schema_write_json_schema_component(struct json_writer *j, const struct schema *schema);

/* Appends the description of a type in words: "string, 1-32 characters" or
 * "array[Relationship]". */
void schema_append_type_in_words(struct buf *out, const struct type *type);

/* Calls visit once for each named schema that the type contains, directly or nested. */
void schema_visit_contained_schemas(const struct type *type,
                                    void (*visit)(const struct schema *, void *), void *arg);

/* Appends a zeroed element to a list. The elements may move in memory when the list grows. If
 * list_append did not allocate the elements, they are copied first. */
void *list_append(struct arena *arena, struct list *list, size_t item_size);
/* Makes `list` an empty list with allocated memory for `cap` elements. */
void list_reserve(struct arena *arena, struct list *list, size_t item_size, size_t cap);
/* Reverses the order of the elements. */
void list_reverse(struct list *list, size_t item_size);

size_t schema_list_item_size(const struct type *type);

#endif
