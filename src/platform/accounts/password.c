/* password.c - Argon2id password hashing, with the cost that the operator configured, and digests
 * of random secrets. */
#include "platform/accounts/internal.h"

#include <sodium.h>

enum err password_hash_with_cost(struct password_cost cost, struct arena *a, struct str password,
                                 struct str *ret)
{
    char *out = arena_alloc(a, crypto_pwhash_STRBYTES);

    if (crypto_pwhash_str_alg(out, password.p, password.n, cost.ops, cost.memory,
                              crypto_pwhash_ALG_ARGON2ID13) != 0)
        return ERR_UNAVAILABLE; /* Argon2id could not allocate its memory. */
    *ret = str_of(out);
    return OK;
}

enum err password_hash(const struct api *api, struct arena *a, struct str password, struct str *ret)
{
    return password_hash_with_cost(api_get_options(api)->password_cost, a, password, ret);
}

bool password_verify(const struct api *api, struct str hash, struct str password)
{
    struct password_cost cost = api_get_options(api)->password_cost;
    char text[crypto_pwhash_STRBYTES] = { 0 };

    if (!hash.p || hash.n >= sizeof text) {
        int done = crypto_pwhash_str_alg(text, password.p, password.n, cost.ops, cost.memory,
                                         crypto_pwhash_ALG_ARGON2ID13);

        (void)done; /* unused: hashing only makes the reply take as long as for a known login */
        return false;
    }
    memcpy(text, hash.p, hash.n);
    return crypto_pwhash_str_verify(text, password.p, password.n) == 0;
}

struct str random_secret_compute_digest(struct arena *arena, struct str secret)
{
    unsigned char digest[32];

    crypto_generichash(digest, sizeof digest, (const unsigned char *)secret.p, secret.n, NULL, 0);
    return str_hex_encode(arena, digest, sizeof digest);
}
