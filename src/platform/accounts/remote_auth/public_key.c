/* public_key.c - the RSA key of a device that logs in by a QR code. */
#include "platform/accounts/remote_auth/remote_auth.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <sodium.h>

enum {
    KEY_BITS_MIN = 2048,
    KEY_BITS_MAX = 4096,
    EXPONENT_BITS_MAX = 32,
    ENCRYPTED_MAX = KEY_BITS_MAX / 8,
};

/* The time of an encryption grows with the bits of the exponent: up to 10 ms for one as long as the
 * modulus. Clients use 65537. */
static bool rsa_exponent_is_short(const EVP_PKEY *key)
{
    BIGNUM *exponent = NULL;
    bool is_short = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 &&
                    BN_num_bits(exponent) <= EXPONENT_BITS_MAX;

    BN_free(exponent);
    return is_short;
}

static EVP_PKEY *rsa_key_decode(struct arena *arena, struct str text, struct str *ret_der)
{
    if (!str_base64_decode(arena, text, ret_der))
        return NULL;
    const unsigned char *p = (const unsigned char *)ret_der->p;
    EVP_PKEY *key = d2i_PUBKEY(NULL, &p, (long)ret_der->n);
    bool fits = key && p == (const unsigned char *)ret_der->p + ret_der->n &&
                EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA &&
                EVP_PKEY_get_bits(key) >= KEY_BITS_MIN && EVP_PKEY_get_bits(key) <= KEY_BITS_MAX &&
                rsa_exponent_is_short(key);

    if (fits)
        return key;
    EVP_PKEY_free(key);
    return NULL;
}

bool remote_auth_key_parse(struct arena *arena, struct str key, struct str *ret_fingerprint)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    struct str der;
    EVP_PKEY *parsed = rsa_key_decode(arena, key, &der);

    if (!parsed)
        return false;
    EVP_PKEY_free(parsed);
    crypto_hash_sha256(digest, (const unsigned char *)der.p, der.n);
    *ret_fingerprint = str_base64url_encode(arena, digest, sizeof digest);
    return true;
}

static bool rsa_oaep_encrypt(EVP_PKEY *key, struct str text, unsigned char *out, size_t *n)
{
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
    bool done = ctx && EVP_PKEY_encrypt_init(ctx) == 1 &&
                EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_OAEP_PADDING) == 1 &&
                EVP_PKEY_CTX_set_rsa_oaep_md(ctx, EVP_sha256()) == 1 &&
                EVP_PKEY_CTX_set_rsa_mgf1_md(ctx, EVP_sha256()) == 1 &&
                EVP_PKEY_encrypt(ctx, out, n, (const unsigned char *)text.p, text.n) == 1;

    EVP_PKEY_CTX_free(ctx);
    return done;
}

bool remote_auth_key_encrypt(struct arena *arena, struct str key, struct str text, struct str *ret)
{
    unsigned char out[ENCRYPTED_MAX];
    size_t n = sizeof out;
    struct str der;
    EVP_PKEY *parsed = rsa_key_decode(arena, key, &der);
    bool done = parsed && rsa_oaep_encrypt(parsed, text, out, &n);

    EVP_PKEY_free(parsed);
    if (!done)
        return false;
    size_t size = sodium_base64_encoded_len(n, sodium_base64_VARIANT_ORIGINAL);
    char *encoded = arena_alloc(arena, size);
    sodium_bin2base64(encoded, size, out, n, sodium_base64_VARIANT_ORIGINAL);
    *ret = str_of(encoded);
    return true;
}
