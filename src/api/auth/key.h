/* key.h - the server's key file, and that it belongs to the database. */
#ifndef API_AUTH_KEY_H
#define API_AUTH_KEY_H

#include "store/store.h"

enum { AUTH_KEY_BYTES = 32 };

/* Reads <folder>/pepper.key. A database that was never used gets a new one; a database that
 * was used with another key, or has lost its own, is refused with a sentence. store NULL:
 * there is no database to ask. */
enum err auth_key_read(const char *folder, struct store *store, unsigned char key[AUTH_KEY_BYTES]);

#endif
