/* key_file.h - the key file of the server (pepper.key), and the check that it belongs to the
 * database. */
#ifndef API_AUTH_KEY_FILE_H
#define API_AUTH_KEY_FILE_H

#include "store/store.h"

enum { AUTH_KEY_BYTES = 32 };

/* Reads <folder>/pepper.key. For a database that was never used, creates a new key. If the database
 * was used with another key, or its key is missing, logs why and returns an error. If store is
 * NULL, does not check the database. */
enum err read_or_create_server_key(const char *folder, struct store *store,
                                   unsigned char key[AUTH_KEY_BYTES]);

#endif
