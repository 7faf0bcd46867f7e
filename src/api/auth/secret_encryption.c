/* secret_encryption.c - encrypts secrets that the database stores and that are decrypted later. */
#include "api/auth/secret_encryption.h"

#include <sodium.h>

enum { NONCE = crypto_secretbox_NONCEBYTES, OVERHEAD = NONCE + crypto_secretbox_MACBYTES };

struct str encrypt_secret(struct arena *arena, const struct auth *auth, const char *word,
                          snowflake id, struct str secret)
{
    unsigned char key[crypto_secretbox_KEYBYTES];

    if (!secret.n)
        return (struct str){ 0 };
    unsigned char *out = arena_alloc(arena, OVERHEAD + secret.n);
    auth_derive_key(auth, word, id, STR(""), key, sizeof key);
    randombytes_buf(out, NONCE);
    crypto_secretbox_easy(out + NONCE, (const unsigned char *)secret.p, secret.n, out, key);
    sodium_memzero(key, sizeof key);
    return str_slice((const char *)out, OVERHEAD + secret.n);
}

struct str decrypt_secret(struct arena *arena, const struct auth *auth, const char *word,
                          snowflake id, struct str sealed)
{
    unsigned char key[crypto_secretbox_KEYBYTES];

    if (!sealed.p || sealed.n <= OVERHEAD)
        return (struct str){ 0 };
    unsigned char *out = arena_alloc(arena, sealed.n - OVERHEAD);
    const unsigned char *in = (const unsigned char *)sealed.p;
    auth_derive_key(auth, word, id, STR(""), key, sizeof key);
    int wrong = crypto_secretbox_open_easy(out, in + NONCE, sealed.n - NONCE, in, key);
    sodium_memzero(key, sizeof key);
    return wrong ? (struct str){ 0 } : str_slice((const char *)out, sealed.n - OVERHEAD);
}
