/* hide.h - texts of the wire without what nobody else may know.
 *
 * Tokens, passwords and codes become "***". The texts may be cut or broken anywhere: what is
 * left of a secret is hidden too, and bytes that are not UTF-8 become U+FFFD. */
#ifndef ADMIN_CONSOLE_HIDE_H
#define ADMIN_CONSOLE_HIDE_H

#include "base/buf.h"

/* A body, JSON or a form; place is the row's path, as "/oauth2/token", or NULL. */
void hide_body(struct str text, const char *place, struct buf *out);
/* Why a call was refused, as "password: Must be 8 or more in length." */
void hide_problem(struct str text, const char *place, struct buf *out);
/* Lines of headers, each ended by a line feed and with what is secret in them hidden. */
void hide_headers(struct str lines, const char *place, struct buf *out);
/* A path with its query. */
void hide_target(struct str target, const char *place, struct buf *out);

#endif
