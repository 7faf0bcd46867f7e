/* dom.h - parses JSON into a tree, for tests that examine replies. */
#ifndef TESTS_DOM_H
#define TESTS_DOM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "json/read.h"

struct dom {
    enum json_value_kind kind;
    struct str key;  /* key of an object member */
    struct str text; /* decoded string, or the source text of another value */
    bool truth;
    struct dom *items; /* items of an array or object */
    size_t count;
};

/* Returns NULL if the text is not JSON. */
struct dom *dom_parse(struct arena *a, struct str text);

/* Returns a member of an object, or NULL; dom_at takes a path such as
 * "errors.name._errors.0.code". */
const struct dom *dom_member(const struct dom *d, struct str key);
const struct dom *dom_at(const struct dom *d, const char *path);

/* Returns whether everything in `expected` is also in `actual`. Objects may have more members,
 * arrays must agree item by item. On failure it describes the difference. */
bool dom_contains(const struct dom *actual, const struct dom *expected, struct arena *a,
                  struct str *ret_where);

#endif
