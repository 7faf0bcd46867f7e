/* secrets.c - encrypts provider secrets, and digests codes and states, for the database. */
#include "integrations/internal.h"

#include "api/auth/sealed.h"

enum { DIGEST_BYTES = 32 };

static const char WORD[] = "connection-secret";

struct str secret_seal(struct arena *arena, const struct auth *auth, snowflake user_id,
                       struct str secret)
{
    return sealed_make(arena, auth, WORD, user_id, secret);
}

struct str secret_open(struct arena *arena, const struct auth *auth, snowflake user_id,
                       struct str sealed)
{
    return sealed_open(arena, auth, WORD, user_id, sealed);
}

struct str secret_digest(struct arena *arena, const struct auth *auth, const char *word,
                         struct str secret)
{
    unsigned char *digest = arena_alloc(arena, DIGEST_BYTES);

    auth_derive(auth, word, 0, secret, digest, DIGEST_BYTES);
    return str_slice((const char *)digest, DIGEST_BYTES);
}
