/* timestamp.h - timestamps in the format of the API.
 *
 * Stored as microseconds since 1970 UTC; written as 2026-01-31T18:45:31.297561+00:00, with six
 * fraction digits or none; parsed as RFC 3339 with Z or any offset. A missing offset means UTC; the
 * colon of an offset is optional. */
#ifndef BASE_TIMESTAMP_H
#define BASE_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define TIMESTAMP_TEXT_SIZE 33 /* size of a timestamp's text, with the NUL */

/* Writes a timestamp in microseconds and returns its length. Times outside of the years 0000-9999
 * become the nearest limit, as in timestamp_parse. */
size_t timestamp_format(int64_t us, char out[TIMESTAMP_TEXT_SIZE]);
bool timestamp_parse(struct str s, int64_t *ret_us);

/* Parses a date YYYY-MM-DD to days since 1970-01-01. Returns false if the date does not exist. */
bool date_parse(struct str s, int64_t *ret_days);

/* Writes the HTTP Date format: Sun, 06 Nov 1994 08:49:37 GMT, 29 characters. */
void format_http_date(int64_t s, char out[30]);

#endif
