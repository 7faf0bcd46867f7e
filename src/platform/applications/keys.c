/* keys.c - signing key, client secret and bot token of an application. The signing key is derived
 * from the server's key file and a salt. The client secret is stored as a digest that is keyed with
 * the same file. So the database alone suffices neither to sign nor to log in. */
#include "platform/applications/internal.h"

#include <sodium.h>

enum { SECRET_BYTES = 32, DIGEST_BYTES = 32 };

static void derive_signing_key_pair(const struct auth *auth, const struct application *a,
                                    unsigned char *public, unsigned char *secret)
{
    unsigned char seed[crypto_sign_SEEDBYTES];

    auth_derive_key(auth, "ed25519", a->id, a->key_salt, seed, sizeof seed);
    crypto_sign_seed_keypair(public, secret, seed);
    sodium_memzero(seed, sizeof seed);
}

struct str application_public_key(struct arena *arena, const struct auth *auth,
                                  const struct application *a)
{
    unsigned char public[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];

    derive_signing_key_pair(auth, a, public, secret);
    sodium_memzero(secret, sizeof secret);
    return str_hex_encode(arena, public, sizeof public);
}

void application_sign_bytes(const struct auth *auth, const struct application *a, struct str bytes,
                            unsigned char signature[64])
{
    unsigned char public[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];

    derive_signing_key_pair(auth, a, public, secret);
    crypto_sign_detached(signature, NULL, (const unsigned char *)bytes.p, bytes.n, secret);
    sodium_memzero(secret, sizeof secret);
}

/* --- token of a bot ------------------------------------------------------------------ */

static const char END_BOT_TOKENS[] = "delete from tokens where user_id = $1 and kind = 2";

enum err application_reset_bot_token(struct tx *tx, struct auth *auth, const struct application *a,
                                     struct str *ret)
{
    struct token_to_issue grant = {
        .kind = CALLER_BOT, .user_id = a->bot_id, .application_id = a->id, .scopes = STR("")
    };

    if (!a->bot_id)
        return ERR_NO_BOT;
    enum err e = tx_exec(tx, END_BOT_TOKENS, BIND(v_id(a->bot_id)), NULL);
    return e ? e : auth_issue_token(auth, tx, &grant, ret);
}

/* --- client secret of an application ------------------------------------------------- */

static void derive_client_secret_digest(const struct auth *auth, const struct application *a,
                                        struct str secret, unsigned char digest[DIGEST_BYTES])
{
    auth_derive_key(auth, "client-secret", a->id, secret, digest, DIGEST_BYTES);
}

static const char SAVE_SECRET[] = "update applications set secret_digest = $2 where id = $1";

enum err application_reset_client_secret(struct tx *tx, const struct auth *auth,
                                         const struct application *a, struct str *ret)
{
    unsigned char bytes[SECRET_BYTES], digest[DIGEST_BYTES];

    randombytes_buf(bytes, sizeof bytes);
    *ret = str_base64url_encode(tx_arena(tx), bytes, sizeof bytes);
    derive_client_secret_digest(auth, a, *ret, digest);
    return tx_exec(tx, SAVE_SECRET,
                   BIND(v_id(a->id), v_bytes(str_slice((const char *)digest, sizeof digest))),
                   NULL);
}

bool application_client_secret_matches(const struct auth *auth, const struct application *a,
                                       struct str secret)
{
    unsigned char digest[DIGEST_BYTES];

    derive_client_secret_digest(auth, a, secret, digest);
    return a->secret_digest.n == sizeof digest &&
           sodium_memcmp(a->secret_digest.p, digest, sizeof digest) == 0;
}
