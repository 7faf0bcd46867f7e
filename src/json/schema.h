/* schema.h - the interface's rules as data.
 *
 * A type is a rule: kind, limits, a check, its sentence for the docs. A field
 * puts a type into a struct under a name and says whether it may be absent or
 * null. A schema is a list of fields. From these rows bodies are decoded and
 * validated, replies encoded, and the OpenAPI document and the reference
 * written, so that "1-32 characters" has one home. */
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

enum kind {
    KIND_STRING = 1, /* struct str; never with U+0000 in it */
    KIND_INT,        /* int64_t, exact */
    KIND_REAL,       /* double */
    KIND_BOOL,       /* bool */
    KIND_ID,         /* snowflake; a string or an integer on the wire, out as a string */
    KIND_BITS,       /* uint64_t permission set; a string or an integer, out as a string */
    KIND_TIME,       /* int64_t microseconds; an ISO 8601 string */
    KIND_IMAGE,      /* struct image; a data URI; input only */
    KIND_RAW,        /* struct str holding any one JSON value */
    KIND_ARRAY,      /* struct list of .of */
    KIND_MAP,        /* struct list of struct map_item + .of: an object with free keys */
    KIND_OBJECT,     /* the struct of .schema: in lists itself, in structs a pointer to it */
};

/* What a value of an enumeration means; the list ends with .doc == NULL. */
struct choice {
    int64_t value;
    const char *text; /* for strings; NULL for integers */
    const char *name; /* "FRIEND" */
    const char *doc;
    const char *old_word; /* integers: what version 6 called it; accepted */
};

/* A condition that kind and limits cannot say, with the leaf error it earns. */
struct rule {
    bool (*holds)(struct str text);
    const char *code;
    const char *message;
};

enum type_flags {
    TYPE_TRIM = 1,         /* strings: white space at both ends does not count */
    TYPE_CLAMP = 2,        /* numbers out of range are moved into it, not refused */
    TYPE_LOWER = 4,        /* strings: ASCII letters are made lower case first */
    TYPE_SAFE_INT = 8,     /* integers within +-2^53 */
    TYPE_LOOSE_ENUM = 16,  /* an integer outside .choices is kept, not refused */
    TYPE_EITHER = 64,      /* strings and numbers: a whole number may come as the other; booleans:
                            * as text; arrays: as text with commas between the items */
    TYPE_EMPTY_NONE = 128, /* in fields: an empty string, and a 0 for a moment, is taken as null */
    TYPE_NULL_NONE = 32,   /* arrays: a null is an empty one; maps: a null entry is none */
};

struct type {
    enum kind kind;
    unsigned flags;
    /* Strings: length in code points. Arrays and maps: count. Numbers: value.
     * Images: bytes (max). No limits when both are 0; a maximum below the
     * minimum is none. Without one, text is at most 152133 characters and a list
     * 1521 items. */
    int64_t min, max;
    const struct choice *choices; /* strings and integers */
    const struct rule *rule;      /* strings */
    const struct type *of;        /* what arrays and maps hold; what a text with .show becomes */
    const struct schema *schema;  /* objects */
    /* KIND_RAW: the text is not JSON yet; writes it as a value of the type .of. */
    void (*show)(struct json *j, struct str text);
    const char *doc;
};

/* Members of structs that may be missing or null. */
enum given { ABSENT, GIVEN_NULL, GIVEN };

struct list {
    void *items;
    size_t count;
    size_t cap; /* items there is room for; 0 in lists that were not made by list_add */
};

struct opt_str {
    enum given given;
    struct str value;
};
struct opt_int {
    enum given given;
    int64_t value;
};
struct opt_real {
    enum given given;
    double value;
};
struct opt_bool {
    enum given given;
    bool value;
};
struct opt_id {
    enum given given;
    snowflake value;
};
struct opt_list {
    enum given given;
    struct list value;
};
struct opt_object {
    enum given given;
    void *value;
};

struct image {
    struct str bytes;
    const char *extension; /* "png", "jpeg", "gif", "webp", "avif" */
};
struct opt_image {
    enum given given;
    struct image value;
};

/* An entry of KIND_MAP: the key, then a value of type .of as an array would
 * hold it. For maps of strings this is a struct pair. */
struct pair {
    struct str key, value;
};

/* The C type of a member, noted by FIELD. */
enum member_kind {
    MEMBER_POINTER, /* to an object's struct; NULL: absent, or null where it may be */
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
             : MEMBER_LIST, struct image           \
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

/* FIELD(struct command, name) for a member of the same name; FIELD_AS where the
 * interface's word is not the member's. */
#define FIELD(type_, member_) FIELD_AS(type_, member_, #member_)
#define FIELD_AS(type_, member_, name_)                          \
    .name = STR_INIT(name_), .offset = offsetof(type_, member_), \
    .member = MEMBER_OF(((type_ *)0)->member_)

enum field_flags {
    OPTIONAL = 1, /* the `?` after a name: may be absent */
    NULLABLE = 2, /* the `?` before a type: may be null */
    DEPRECATED = 4,
    SHOWN_AGAIN = 8, /* in answers: a member that another field has too, under one more name */
};

struct field {
    struct str name; /* .p == NULL ends a list */
    size_t offset;
    enum member_kind member;
    const struct type *type;
    unsigned flags;
    /* The value of an absent (or null) OPTIONAL field whose member is plain:
     * numbers and booleans, or text. Plain lists are then empty, pointers NULL. */
    int64_t fallback;
    const char *fallback_text;
    const char *doc;
};

struct schema {
    const char *name; /* "Relationship"; components of the OpenAPI document */
    size_t size;      /* of the struct */
    const struct field *fields;
    /* What ties fields together; notes problems with form_fail. It also runs
     * when single fields have failed: ask form_failed_at before using one. */
    void (*check)(struct form *form, const struct place *here, const void *object);
    bool once; /* of a query: a parameter that occurs twice is refused (RFC 6749, 3.1) */
    /* The fields that count in this object, a bit for each row. The others are emptied and what
     * is wrong with them is forgotten, before the check. NULL: all count. */
    uint64_t (*counts)(const void *object);
    const char *doc;
};

/* Decode one JSON text. *ret is the struct of an object type, a struct list * of
 * an array type, for others what an array of the type would hold. ERR_INVALID_JSON when the text is
 * not JSON, ERR_INVALID_FORM_BODY with all problems in form when it is not what the type says. An
 * empty text is taken as {} . Strings point into text or the arena. */
enum err schema_decode(const struct type *type, struct str text, struct form *form, void **ret);
/* The same where nobody is told what is wrong with it: NULL, then. */
void *schema_read(const struct type *type, struct str text, struct arena *arena);
/* The same for a JSON text that stands at a place of a larger one; form may hold problems
 * of the rest. */
enum err schema_decode_at(const struct type *type, struct str text, struct form *form,
                          const struct place *here, void **ret);

/* Decode a query string or an application/x-www-form-urlencoded body. Arrays are
 * repeated keys or comma lists; booleans also "True", "1", "False", "0". */
enum err schema_decode_query(const struct schema *schema, struct str query, struct form *form,
                             void **ret);

/* Encode: value is what an array of the type would hold (a struct str *, an
 * int64_t *, …), for an object the struct itself. What is absent is left out
 * where the field is OPTIONAL and null where it is only NULLABLE. A plain pointer
 * or str that is NULL is null where it may be, else left out. */
void schema_encode(struct json *j, const struct type *type, const void *value);
void schema_encode_object(struct json *j, const struct schema *schema, const void *object);
/* The value of one field alone. Writes nothing and returns false if it is absent or null. */
bool schema_encode_member(struct json *j, const struct field *f, const void *object);
/* Those fields of an object that are to be shown, into an object that is open. */
void schema_encode_some(struct json *j, const struct schema *schema, const void *object,
                        bool (*shows)(const void *arg, struct str name), const void *arg);

/* Describe as JSON Schema (OpenAPI 3.1). Named schemas become
 * {"$ref": "#/components/schemas/Name"}; schema_describe_object writes the
 * component itself. */
void schema_describe(struct json *j, const struct type *type);
void schema_describe_object(struct json *j, const struct schema *schema);

/* "string, 1-32 characters", "?snowflake", "array[Relationship]": for the docs. */
void schema_phrase(struct buf *out, const struct type *type);

/* Calls visit once for each named schema that a type leads to. */
void schema_walk(const struct type *type, void (*visit)(const struct schema *, void *), void *arg);

/* One more element at the end of a list, zeroed. Elements move while it grows; what somebody
 * else's memory holds is copied first. */
void *list_add(struct arena *arena, struct list *list, size_t item_size);
/* Makes it an empty list with room for so many, where their number is known. */
void list_reserve(struct arena *arena, struct list *list, size_t item_size, size_t cap);

/* Bytes one element takes in a struct list. */
size_t schema_item_size(const struct type *type);

#endif
