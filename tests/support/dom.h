/* dom.h - JSON as a tree, for tests that look into answers. */
#ifndef TESTS_DOM_H
#define TESTS_DOM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "json/read.h"

struct dom {
    enum json_kind kind;
    struct str key;  /* in an object */
    struct str text; /* of a string, or as written */
    bool truth;
    struct dom *items; /* of an array or object */
    size_t count;
};

/* NULL when it is not JSON. */
struct dom *dom_parse(struct arena *a, struct str text);

/* A member of an object, or NULL; dom_at takes "errors.name._errors.0.code". */
const struct dom *dom_member(const struct dom *d, struct str key);
const struct dom *dom_at(const struct dom *d, const char *path);

/* Is everything in `expected` also in `actual`? Objects may have more members,
 * arrays must agree item by item. Otherwise where not, in words. */
bool dom_contains(const struct dom *actual, const struct dom *expected, struct arena *a,
                  struct str *ret_where);

#endif
