/* form.h - everything that is wrong with a body, gathered in one tree.
 *
 * The answer mirrors the request: object keys, array indexes as text, and at
 * each failing place {"_errors": [{"code", "message"}]}. All problems of a body
 * go out in one answer. */
#ifndef JSON_FORM_H
#define JSON_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "json/write.h"

/* Where in a body: a chain on the stack of whoever walks it. The root is NULL. */
struct place {
    const struct place *up;
    struct str key; /* p is NULL for an index */
    size_t index;
};

static inline struct place place_key(const struct place *up, struct str key)
{
    return (struct place){ .up = up, .key = key };
}

static inline struct place place_index(const struct place *up, size_t index)
{
    return (struct place){ .up = up, .index = index };
}

struct form_node;

/* More than this many problems are not told: the answer stays bounded. */
enum { FORM_MAX_PROBLEMS = 1000, FORM_MAX_QUOTE = 100 };

/* What is known of the JSON text of an object while its schema's check runs: all that it says is
 * within so many bytes, and, where it is plain, stands there without escapes. Else zero. */
struct form_text {
    size_t bytes;
    bool plain;
};

struct form {
    struct arena *arena;
    struct form_node *root; /* NULL while nothing is wrong */
    unsigned problems;      /* noted in the tree */
    bool dropped;           /* some were one too many */
    struct form_text text;
};

static inline bool form_failed(const struct form *f)
{
    return f->root || f->dropped;
}

/* Notes a problem. The leaf codes are those of the interface, the messages are
 * printf formats; bytes in them that are not UTF-8 become U+FFFD. */
void form_fail(struct form *f, const struct place *at, const char *code, const char *message, ...)
    __attribute__((format(printf, 4, 5)));

/* What of a value from outside is quoted in a message: 100 code points of it. */
struct str form_quote(struct str value);

/* Forgets what was noted at a place and below it (a later duplicate key wins). */
void form_forget(struct form *f, const struct place *at);

/* True when something at this very place or below it is wrong: checks that tie
 * fields together skip what failed already. Once problems were dropped it is
 * always true, as any place may be one of theirs. */
bool form_search(const struct form *f, const struct place *at);
static inline bool form_failed_at(const struct form *f, const struct place *at)
{
    return form_failed(f) && form_search(f, at);
}

/* Notes that a field is missing, unless something else is wrong with it. */
void form_require(struct form *f, const struct place *here, const char *key, bool there);

/* Writes the value of "errors". */
void form_write(const struct form *f, struct json *j);

/* The first problem of the tree, as "options.0.name: This field is required", for people. */
void form_first(const struct form *f, struct buf *out);

/* The leaf codes, with the usual sentence where there is one. */
#define FORM_REQUIRED      "BASE_TYPE_REQUIRED", "This field is required"
#define FORM_REPEATED      "BASE_TYPE_REPEATED", "This parameter may only be given once."
#define FORM_NO_ITEM       "LIST_ITEM_VALUE_REQUIRED", "List item values of ModelType are required"
#define FORM_CHOICES       "BASE_TYPE_CHOICES"
#define FORM_BAD_LENGTH    "BASE_TYPE_BAD_LENGTH", "Must be between %lld and %lld in length."
#define FORM_MIN_LENGTH    "BASE_TYPE_MIN_LENGTH", "Must be %lld or more in length."
#define FORM_MAX_LENGTH    "BASE_TYPE_MAX_LENGTH", "Must be %lld or fewer in length."
#define FORM_NOT_INT       "NUMBER_TYPE_COERCE", "Value \"%.*s\" is not int."
#define FORM_NOT_FLOAT     "NUMBER_TYPE_COERCE", "Value \"%.*s\" is not float."
#define FORM_NOT_SNOWFLAKE "NUMBER_TYPE_COERCE", "Value \"%.*s\" is not snowflake."
#define FORM_NUMBER_MIN    "NUMBER_TYPE_MIN", "int value should be greater than or equal to %lld."
#define FORM_NUMBER_MAX    "NUMBER_TYPE_MAX", "int value should be less than or equal to %lld."
#define FORM_REAL_MIN      "NUMBER_TYPE_MIN", "float value should be greater than or equal to %lld."
#define FORM_REAL_MAX      "NUMBER_TYPE_MAX", "float value should be less than or equal to %lld."
#define FORM_NOT_BOOL      "BOOLEAN_TYPE_CONVERT", "Must be either true or false."
#define FORM_NOT_STRING    "STRING_TYPE_CONVERT", "Could not interpret \"%.*s\" as string."
#define FORM_REGEX         "STRING_TYPE_REGEX", "String value did not match validation regex."
#define FORM_NOT_LIST      "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType"
#define FORM_NOT_DICT      "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType"
#define FORM_NOT_MODEL     "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType"
#define FORM_NOT_ENUM      "ENUM_TYPE_COERCE", "Value \"%.*s\" is not a valid enum value."
#define FORM_NOT_TIME      "DATE_TIME_TYPE_PARSE", "Could not parse %.*s. Should be ISO8601."
#define FORM_NOT_IMAGE     "IMAGE_INVALID", "Invalid image"
#define FORM_TOO_BIG       "BINARY_TYPE_MAX_SIZE", "File cannot be larger than %.1f kb."
#define FORM_CONTENT_TYPE \
    "CONTENT_TYPE_INVALID", "Expected \"Content-Type\" header to be one of {%s}."

#endif
