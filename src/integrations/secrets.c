/* secrets.c - encrypts provider secrets and computes digests of codes, for the database. */
#include "integrations/internal.h"

#include "api/auth/secret_encryption.h"

enum { DIGEST_BYTES = 32 };

static const char WORD[] = "connection-secret";

struct str encrypt_linked_account_secret(struct arena *arena, const struct auth *auth,
                                         snowflake user_id, struct str secret)
{
    return encrypt_secret(arena, auth, WORD, user_id, secret);
}

struct str decrypt_linked_account_secret(struct arena *arena, const struct auth *auth,
                                         snowflake user_id, struct str sealed)
{
    return decrypt_secret(arena, auth, WORD, user_id, sealed);
}

struct str compute_digest_of_account_link_secret(struct arena *arena, const struct auth *auth,
                                                 const char *word, struct str secret)
{
    unsigned char *digest = arena_alloc(arena, DIGEST_BYTES);

    auth_derive_key(auth, word, 0, secret, digest, DIGEST_BYTES);
    return str_slice((const char *)digest, DIGEST_BYTES);
}
