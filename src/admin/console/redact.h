/* redact.h - redacts secrets in recorded requests, replies and headers.
 *
 * Tokens, passwords and codes become "***". Texts may be truncated or malformed anywhere: a partial
 * secret is also redacted, and bytes that are not UTF-8 become U+FFFD. */
#ifndef ADMIN_CONSOLE_REDACT_H
#define ADMIN_CONSOLE_REDACT_H

#include "base/buf.h"

/* Redacts a JSON or form body. location is the route's path, such as "/oauth2/token", or NULL. */
void redact_secrets_in_body(struct str text, const char *location, struct buf *out);
/* Redacts the reason of a rejected call, such as "password: Must be 8 or more in length." */
void redact_secrets_in_error_text(struct str text, const char *location, struct buf *out);
/* Redacts header lines, each ended by a line feed. */
void redact_secrets_in_headers(struct str lines, const char *location, struct buf *out);
/* Redacts a path with its query string. */
void redact_secrets_in_request_target(struct str target, const char *location, struct buf *out);

#endif
