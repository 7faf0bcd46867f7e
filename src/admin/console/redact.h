/* redact.h - redacts secrets in recorded requests, replies and headers.
 *
 * Tokens, passwords and codes become "***". Texts may be truncated or malformed anywhere: a partial
 * secret is also redacted, and bytes that are not UTF-8 become U+FFFD. */
#ifndef ADMIN_CONSOLE_REDACT_H
#define ADMIN_CONSOLE_REDACT_H

#include "base/buf.h"

/* Redacts a JSON or form body. `location` is the path of the route, such as "/oauth2/token", or
 * NULL. */
void redact_body(struct str text, const char *location, struct buf *out);
/* Redacts the error message of a refused call, such as "password: Must be 8 or more in length." */
void redact_error_text(struct str text, const char *location, struct buf *out);
/* Redacts header lines. Each line ends with a line feed. */
void redact_headers(struct str lines, const char *location, struct buf *out);
/* Redacts a path with its query string. */
void redact_request_target(struct str target, const char *location, struct buf *out);

#endif
