/* signing.c - creates RSA keys and signs JSON Web Tokens. */
#include "platform/oauth2/signing.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <sodium.h>

enum { KEY_BITS = 2048, MOST_KEY_BYTES = KEY_BITS / 8 };

/* --- key generation ------------------------------------------------------------------- */

static bool encode_key_parameter(struct arena *arena, const EVP_PKEY *key, const char *name,
                                 struct str *ret)
{
    unsigned char bytes[MOST_KEY_BYTES];
    BIGNUM *n = NULL;
    int length = -1;

    if (EVP_PKEY_get_bn_param(key, name, &n) == 1 && BN_num_bytes(n) <= MOST_KEY_BYTES)
        length = BN_bn2bin(n, bytes);
    BN_free(n);
    if (length <= 0)
        return false;
    *ret = str_base64url_encode(arena, bytes, (size_t)length);
    return true;
}

static bool encode_private_key(struct arena *arena, const EVP_PKEY *key, struct str *ret)
{
    unsigned char *der = NULL;
    int length = i2d_PrivateKey(key, &der);

    if (length <= 0)
        return false;
    *ret = str_dup(arena, str_slice((const char *)der, (size_t)length));
    OPENSSL_clear_free(der, (size_t)length);
    return true;
}

static struct str compute_key_thumbprint(struct arena *arena, const struct signing_key *key)
{
    struct str members = STR_CONCAT(arena, STR("{\"e\":\""), key->exponent,
                                    STR("\",\"kty\":\"RSA\",\"n\":\""), key->modulus, STR("\"}"));
    unsigned char hash[crypto_hash_sha256_BYTES];

    crypto_hash_sha256(hash, (const unsigned char *)members.p, members.n);
    return str_base64url_encode(arena, hash, sizeof hash);
}

bool openid_signing_key_new(struct arena *arena, struct signing_key *ret)
{
    EVP_PKEY *key = EVP_RSA_gen(KEY_BITS);
    bool made = key && encode_key_parameter(arena, key, OSSL_PKEY_PARAM_RSA_N, &ret->modulus) &&
                encode_key_parameter(arena, key, OSSL_PKEY_PARAM_RSA_E, &ret->exponent) &&
                encode_private_key(arena, key, &ret->secret);

    EVP_PKEY_free(key);
    ERR_clear_error();
    if (made)
        ret->kid = compute_key_thumbprint(arena, ret);
    return made;
}

/* --- signing -------------------------------------------------------------------------- */

static bool sign_text_with_rsa_key(EVP_PKEY *key, struct str text, unsigned char *ret,
                                   size_t *ret_length)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok = context && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
              EVP_DigestSign(context, ret, ret_length, (const unsigned char *)text.p, text.n) == 1;

    EVP_MD_CTX_free(context);
    return ok;
}

struct str jwt_sign(struct arena *arena, const struct signing_key *key, struct str claims)
{
    struct str head = STR_CONCAT(arena, STR("{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\""),
                                 key->kid, STR("\"}"));
    struct str text = STR_CONCAT(arena, str_base64url_encode(arena, head.p, head.n), STR("."),
                                 str_base64url_encode(arena, claims.p, claims.n));
    const unsigned char *at = (const unsigned char *)key->secret.p;
    EVP_PKEY *secret = d2i_AutoPrivateKey(NULL, &at, (long)key->secret.n);
    unsigned char signature[MOST_KEY_BYTES];
    size_t length = sizeof signature;
    bool ok = secret && sign_text_with_rsa_key(secret, text, signature, &length);

    EVP_PKEY_free(secret);
    ERR_clear_error();
    if (!ok)
        return (struct str){ 0 };
    return STR_CONCAT(arena, text, STR("."), str_base64url_encode(arena, signature, length));
}
