/* timestamp.h - moments as the interface writes them.
 *
 * Held as microseconds since 1970 UTC; written 2026-01-31T18:45:31.297561+00:00
 * with six digits of fraction or none; read as RFC 3339 with Z or any offset.
 * Without an offset the moment is in UTC. The colon of an offset may be left out. */
#ifndef BASE_TIMESTAMP_H
#define BASE_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define TIMESTAMP_TEXT 33 /* with the NUL */

/* Returns the length written. Moments outside the years 0000-9999 are moved to
 * the nearest one inside; timestamp_parse refuses them. */
size_t timestamp_format(int64_t us, char out[TIMESTAMP_TEXT]);
bool timestamp_parse(struct str s, int64_t *ret_us);

/* YYYY-MM-DD, a real day; days since 1970. */
bool date_parse(struct str s, int64_t *ret_days);

/* The HTTP Date form: Sun, 06 Nov 1994 08:49:37 GMT, 29 characters. */
void timestamp_http(int64_t s, char out[30]);

#endif
