/* password.c - Argon2id password hashing, with the cost that the operator configured. */
#include "platform/accounts/internal.h"

#include <sodium.h>

enum err password_hash_with_cost(unsigned long long ops, size_t memory, struct arena *a,
                                 struct str password, struct str *ret)
{
    char *out = arena_alloc(a, crypto_pwhash_STRBYTES);

    if (crypto_pwhash_str_alg(out, password.p, password.n, ops, memory,
                              crypto_pwhash_ALG_ARGON2ID13) != 0)
        return ERR_UNAVAILABLE; /* Argon2id could not allocate its memory. */
    *ret = str_of(out);
    return OK;
}

enum err password_hash(const struct api *api, struct arena *a, struct str password, struct str *ret)
{
    const struct api_options *o = api_options(api);

    return password_hash_with_cost(o->password_ops, o->password_memory, a, password, ret);
}

bool password_verify(const struct api *api, struct str hash, struct str password)
{
    const struct api_options *o = api_options(api);
    char text[crypto_pwhash_STRBYTES] = { 0 };

    if (!hash.p || hash.n >= sizeof text) {
        int done = crypto_pwhash_str_alg(text, password.p, password.n, o->password_ops,
                                         o->password_memory, crypto_pwhash_ALG_ARGON2ID13);

        (void)done; /* The result is unused: only the time that hashing takes matters. */
        return false;
    }
    memcpy(text, hash.p, hash.n);
    return crypto_pwhash_str_verify(text, password.p, password.n) == 0;
}
