/* form.h - validation errors of a request body, collected in a tree.
 *
 * The response mirrors the request: object keys, array indexes as text, and {"_errors": [{"code",
 * "message"}]} at each invalid path. One response reports all errors of a body. */
#ifndef JSON_FORM_H
#define JSON_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "json/write.h"

/* A JSON path in a body, as a linked list on the stack. The root is NULL. */
struct json_path {
    const struct json_path *up;
    struct str key; /* key of an object member; NULL pointer if this element is an array index */
    size_t index;
};

static inline struct json_path json_path_key(const struct json_path *up, struct str key)
{
    return (struct json_path){ .up = up, .key = key };
}

static inline struct json_path json_path_index(const struct json_path *up, size_t index)
{
    return (struct json_path){ .up = up, .index = index };
}

struct form_node;

/* Errors beyond FORM_MAX_ERRORS are dropped, to limit the size of the response. */
enum { FORM_MAX_ERRORS = 1000, FORM_MAX_QUOTED_CHARACTERS = 100 };

/* Describes the JSON text of the object that a schema's check function is checking; zeros at other
 * times. bytes is the length of the text, and thus an upper bound for the length of every string in
 * it. plain is true if no string so far had an escape. */
struct checked_object_text_properties {
    size_t bytes;
    bool plain;
};

struct form {
    struct arena *arena;
    struct form_node *root; /* NULL if there are no errors */
    unsigned problems;      /* number of errors in the tree */
    bool dropped;           /* whether errors beyond FORM_MAX_ERRORS were dropped */
    struct checked_object_text_properties text;
};

static inline bool form_has_errors(const struct form *f)
{
    return f->root || f->dropped;
}

/* Adds an error with a code of Discord's API. The message is a printf format; invalid UTF-8 in the
 * formatted message becomes U+FFFD. */
void form_add_error(struct form *f, const struct json_path *at, const char *code,
                    const char *message, ...) __attribute__((format(printf, 4, 5)));

/* Returns the first FORM_MAX_QUOTED_CHARACTERS code points of a value, for an error message that
 * quotes the value. */
struct str form_shorten_quoted_value(struct str value);

void form_remove_errors_at_path(struct form *f, const struct json_path *at);

/* Returns true if there is an error at this path or below it. Checks that combine several fields
 * use it to skip invalid fields. If errors were dropped, always returns true, because any path may
 * have had an error. */
bool form_has_error_at_path_or_below(const struct form *f, const struct json_path *at);
static inline bool form_has_error_at_path(const struct form *f, const struct json_path *at)
{
    return form_has_errors(f) && form_has_error_at_path_or_below(f, at);
}

/* Adds an error for a missing field, unless the field already has an error. */
void form_add_error_if_field_missing(struct form *f, const struct json_path *here, const char *key,
                                     bool there);

/* Writes the value of the member "errors" of the response. */
void write_form_errors_json(const struct form *f, struct json_writer *j);

/* Appends the first error of the tree, such as "options.0.name: This field is required". */
void form_append_text_of_first_error(const struct form *f, struct buf *out);

/* Error codes of Discord's API, each followed by the standard message if there is one. */
#define FORM_REQUIRED        "BASE_TYPE_REQUIRED", "This field is required"
#define FORM_REPEATED        "BASE_TYPE_REPEATED", "This parameter may only be given once."
#define FORM_ITEM_REQUIRED   "LIST_ITEM_VALUE_REQUIRED", "List item values of ModelType are required"
#define FORM_CHOICES         "BASE_TYPE_CHOICES"
#define FORM_BAD_LENGTH      "BASE_TYPE_BAD_LENGTH", "Must be between %lld and %lld in length."
#define FORM_MIN_LENGTH      "BASE_TYPE_MIN_LENGTH", "Must be %lld or more in length."
#define FORM_MAX_LENGTH      "BASE_TYPE_MAX_LENGTH", "Must be %lld or fewer in length."
#define FORM_NOT_INT         "NUMBER_TYPE_COERCE", "Value \"%.*s\" is not int."
#define FORM_NOT_FLOAT       "NUMBER_TYPE_COERCE", "Value \"%.*s\" is not float."
#define FORM_NOT_SNOWFLAKE   "NUMBER_TYPE_COERCE", "Value \"%.*s\" is not snowflake."
#define FORM_NUMBER_MIN      "NUMBER_TYPE_MIN", "int value should be greater than or equal to %lld."
#define FORM_NUMBER_MAX      "NUMBER_TYPE_MAX", "int value should be less than or equal to %lld."
#define FORM_REAL_MIN        "NUMBER_TYPE_MIN", "float value should be greater than or equal to %lld."
#define FORM_REAL_MAX        "NUMBER_TYPE_MAX", "float value should be less than or equal to %lld."
#define FORM_NOT_BOOL        "BOOLEAN_TYPE_CONVERT", "Must be either true or false."
#define FORM_NOT_STRING      "STRING_TYPE_CONVERT", "Could not interpret \"%.*s\" as string."
#define FORM_REGEX           "STRING_TYPE_REGEX", "String value did not match validation regex."
#define FORM_NOT_LIST        "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType"
#define FORM_NOT_DICT        "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType"
#define FORM_NOT_MODEL       "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType"
#define FORM_NOT_ENUM        "ENUM_TYPE_COERCE", "Value \"%.*s\" is not a valid enum value."
#define FORM_NOT_TIME        "DATE_TIME_TYPE_PARSE", "Could not parse %.*s. Should be ISO8601."
#define FORM_NOT_IMAGE       "IMAGE_INVALID", "Invalid image"
#define FORM_IMAGE_TOO_LARGE "BINARY_TYPE_MAX_SIZE", "File cannot be larger than %.1f kb."
#define FORM_CONTENT_TYPE \
    "CONTENT_TYPE_INVALID", "Expected \"Content-Type\" header to be one of {%s}."

#endif
