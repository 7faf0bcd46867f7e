/* number.h - converts between decimal text and doubles, exactly and independent of the locale. */
#ifndef JSON_NUMBER_H
#define JSON_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { NUMBER_TEXT_SIZE = 32 };

/* Returns the double nearest to a JSON number; infinity if the number is too large. */
double parse_double(struct str raw);

/* Writes the shortest digits that parse to the same double, in JavaScript's format (5, 0.1, 1e+21).
 * v must be finite. Returns the length. */
size_t format_double(double v, char out[NUMBER_TEXT_SIZE]);

/* Writes v in decimal digits and returns their number, at most 20. */
size_t format_decimal_digits(uint64_t v, char out[20]);

#endif
