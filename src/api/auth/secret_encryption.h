/* secret_encryption.h - encrypts secrets that are stored in the database and must be decrypted
 * later.
 *
 * The key is derived from the server's key file, a purpose and an id, so a secret of one purpose or
 * account cannot be decrypted as that of another. */
#ifndef API_SEALED_H
#define API_SEALED_H

#include "api/auth/auth.h"

/* Encrypts a secret; `word` is the purpose. Returns a NULL pointer for an empty secret. */
struct str encrypt_secret(struct arena *arena, const struct auth *auth, const char *word,
                          snowflake id, struct str secret);
/* Decrypts a secret. Returns a NULL pointer if the decryption fails. */
struct str decrypt_secret(struct arena *arena, const struct auth *auth, const char *word,
                          snowflake id, struct str sealed);

#endif
