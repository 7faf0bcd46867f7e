/* sealed.h - what has to be read again and must not be readable in the database.
 *
 * Encrypted with a key that follows from the server's key file, the purpose's word and whose it
 * is; what was sealed for one purpose or account does not open for another. */
#ifndef API_SEALED_H
#define API_SEALED_H

#include "api/auth/auth.h"

/* Of nothing: p == NULL. */
struct str sealed_make(struct arena *arena, const struct auth *auth, const char *word, snowflake id,
                       struct str secret);
/* p == NULL: it cannot be opened. */
struct str sealed_open(struct arena *arena, const struct auth *auth, const char *word, snowflake id,
                       struct str sealed);

#endif
