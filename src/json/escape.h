/* escape.h - escapes inside JSON strings. */
#ifndef JSON_ESCAPE_H
#define JSON_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct arena;

/* The escape that begins at p: how many bytes it takes (a surrogate pair is one
 * escape), 0 when it is broken or half of a pair. */
size_t escape_read(const char *p, const char *end, uint32_t *ret);

/* The text of a string whose escapes are all known to be good. */
struct str escape_resolve(struct arena *arena, struct str raw);

#endif
