/* secrets.c - what must not be readable in the database. */
#include "integrations/internal.h"

#include <sodium.h>

enum { DIGEST_BYTES = 32 };

static void key_of(const struct auth *auth, snowflake user_id,
                   unsigned char key[crypto_secretbox_KEYBYTES])
{
    auth_derive(auth, "connection-secret", user_id, STR(""), key, crypto_secretbox_KEYBYTES);
}

struct str secret_seal(struct arena *arena, const struct auth *auth, snowflake user_id,
                       struct str secret)
{
    enum { NONCE = crypto_secretbox_NONCEBYTES };
    unsigned char key[crypto_secretbox_KEYBYTES];
    unsigned char *out = arena_alloc(arena, NONCE + crypto_secretbox_MACBYTES + secret.n);

    if (!secret.n)
        return (struct str){ 0 };
    key_of(auth, user_id, key);
    randombytes_buf(out, NONCE);
    crypto_secretbox_easy(out + NONCE, (const unsigned char *)secret.p, secret.n, out, key);
    sodium_memzero(key, sizeof key);
    return str_slice((const char *)out, NONCE + crypto_secretbox_MACBYTES + secret.n);
}

struct str secret_open(struct arena *arena, const struct auth *auth, snowflake user_id,
                       struct str sealed)
{
    enum { NONCE = crypto_secretbox_NONCEBYTES, OVERHEAD = NONCE + crypto_secretbox_MACBYTES };
    unsigned char key[crypto_secretbox_KEYBYTES];

    if (!sealed.p || sealed.n <= OVERHEAD)
        return (struct str){ 0 };
    unsigned char *out = arena_alloc(arena, sealed.n - OVERHEAD);
    const unsigned char *in = (const unsigned char *)sealed.p;
    key_of(auth, user_id, key);
    int wrong = crypto_secretbox_open_easy(out, in + NONCE, sealed.n - NONCE, in, key);
    sodium_memzero(key, sizeof key);
    if (wrong)
        return (struct str){ 0 };
    return str_slice((const char *)out, sealed.n - OVERHEAD);
}

struct str secret_digest(struct arena *arena, const struct auth *auth, const char *word,
                         struct str secret)
{
    unsigned char *digest = arena_alloc(arena, DIGEST_BYTES);

    auth_derive(auth, word, 0, secret, digest, DIGEST_BYTES);
    return str_slice((const char *)digest, DIGEST_BYTES);
}
