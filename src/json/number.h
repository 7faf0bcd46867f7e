/* number.h - decimal text and doubles, exactly and whatever the locale. */
#ifndef JSON_NUMBER_H
#define JSON_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { NUMBER_TEXT = 32 };

/* The double nearest to a number in JSON's grammar; infinite where it is too
 * big for one. */
double number_from_text(struct str raw);

/* The shortest digits that read back as the same double, laid out as JavaScript
 * does (5, 0.1, 1e+21). Not for infinities and NaN. Returns the length. */
size_t number_to_text(double v, char out[NUMBER_TEXT]);

/* Decimal digits without a sign; returns their count, at most 20. */
size_t number_digits(uint64_t v, char out[20]);

#endif
