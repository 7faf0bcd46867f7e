/* encryption.c - RFC 8291 (message encryption for web push), RFC 8292 (VAPID). */
#include "platform/web_push/encryption.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <sodium.h>

#include "base/buf.h"
#include "json/write.h"

enum { SEED_BYTES = 48, KEY_BYTES = 16, NONCE_BYTES = 12, TAG_BYTES = 16, RECORD_BYTES = 4096 };

/* --- keys ----------------------------------------------------------------------------- */

static bool compute_public_point_of_secret(const EC_GROUP *group, const BIGNUM *secret,
                                           unsigned char *ret)
{
    EC_POINT *point = EC_POINT_new(group);
    bool ok = point && EC_POINT_mul(group, point, secret, NULL, NULL, NULL) == 1 &&
              EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, ret, P256_POINT_BYTES,
                                 NULL) == P256_POINT_BYTES;

    EC_POINT_free(point);
    return ok;
}

static bool key_pair_from_secret_number(const EC_GROUP *group, const BIGNUM *secret,
                                        struct p256_key_pair *ret)
{
    return !BN_is_zero(secret) && BN_cmp(secret, EC_GROUP_get0_order(group)) < 0 &&
           BN_bn2binpad(secret, ret->secret, P256_SECRET_BYTES) == P256_SECRET_BYTES &&
           compute_public_point_of_secret(group, secret, ret->point);
}

bool p256_key_pair_from_secret(const unsigned char secret[P256_SECRET_BYTES],
                               struct p256_key_pair *ret)
{
    EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    BIGNUM *number = BN_bin2bn(secret, P256_SECRET_BYTES, NULL);
    bool ok = group && number && key_pair_from_secret_number(group, number, ret);

    BN_clear_free(number);
    EC_GROUP_free(group);
    ERR_clear_error();
    return ok;
}

/* Computes 1 + seed mod (order - 1), as FIPS 186-5 A.2.1; its 128 extra bits make the bias
 * negligible. */
bool p256_key_pair_from_seed(const unsigned char seed[SEED_BYTES], struct p256_key_pair *ret)
{
    EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    BIGNUM *number = BN_bin2bn(seed, SEED_BYTES, NULL);
    BIGNUM *range = group ? BN_dup(EC_GROUP_get0_order(group)) : NULL;
    BN_CTX *context = BN_CTX_secure_new();
    bool ok = number && range && context && BN_sub_word(range, 1) == 1 &&
              BN_mod(number, number, range, context) == 1 && BN_add_word(number, 1) == 1 &&
              key_pair_from_secret_number(group, number, ret);

    BN_CTX_free(context);
    BN_free(range);
    BN_clear_free(number);
    EC_GROUP_free(group);
    ERR_clear_error();
    return ok;
}

bool p256_key_pair_new(struct p256_key_pair *ret)
{
    unsigned char seed[SEED_BYTES];

    randombytes_buf(seed, sizeof seed);
    bool ok = p256_key_pair_from_seed(seed, ret);

    sodium_memzero(seed, sizeof seed);
    return ok;
}

/* Creates an OpenSSL key; secret is NULL for a public key. Returns NULL if the point is not on the
 * curve. */
static EVP_PKEY *key_from_bytes(const unsigned char *point, const unsigned char *secret)
{
    OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
    BIGNUM *number = secret ? BN_bin2bn(secret, P256_SECRET_BYTES, NULL) : NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    EVP_PKEY *key = NULL;
    OSSL_PARAM *params = NULL;

    if (parts && context && (!secret || number) &&
        OSSL_PARAM_BLD_push_utf8_string(parts, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(parts, OSSL_PKEY_PARAM_PUB_KEY, point, P256_POINT_BYTES) ==
            1 &&
        (!number || OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_PRIV_KEY, number) == 1))
        params = OSSL_PARAM_BLD_to_param(parts);
    if (params && (EVP_PKEY_fromdata_init(context) != 1 ||
                   EVP_PKEY_fromdata(context, &key, secret ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY,
                                     params) != 1)) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(parts);
    BN_clear_free(number);
    EVP_PKEY_CTX_free(context);
    ERR_clear_error();
    return key;
}

bool p256_point_is_valid(struct str bytes)
{
    EVP_PKEY *key = bytes.n == P256_POINT_BYTES && bytes.p[0] == 4
                        ? key_from_bytes((const unsigned char *)bytes.p, NULL)
                        : NULL;

    EVP_PKEY_free(key);
    return key != NULL;
}

/* --- encryption ----------------------------------------------------------------------- */

static bool derive_shared_secret(const struct web_push_receiver_keys *to,
                                 const struct p256_key_pair *sender,
                                 unsigned char ret[P256_SECRET_BYTES])
{
    EVP_PKEY *own = key_from_bytes(sender->point, sender->secret);
    EVP_PKEY *other = key_from_bytes(to->point, NULL);
    EVP_PKEY_CTX *context = own ? EVP_PKEY_CTX_new(own, NULL) : NULL;
    size_t n = P256_SECRET_BYTES;
    bool ok = context && other && EVP_PKEY_derive_init(context) == 1 &&
              EVP_PKEY_derive_set_peer(context, other) == 1 &&
              EVP_PKEY_derive(context, ret, &n) == 1 && n == P256_SECRET_BYTES;

    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(other);
    EVP_PKEY_free(own);
    ERR_clear_error();
    return ok;
}

/* HKDF (RFC 5869) with SHA-256, for at most 32 bytes of output. */
static void hkdf_derive_key(const unsigned char *salt, size_t salt_n, const unsigned char *secret,
                            size_t secret_n, struct str info, unsigned char *ret, size_t n)
{
    crypto_auth_hmacsha256_state state;
    unsigned char extracted[32], expanded[32], one = 1;

    crypto_auth_hmacsha256_init(&state, salt, salt_n);
    crypto_auth_hmacsha256_update(&state, secret, secret_n);
    crypto_auth_hmacsha256_final(&state, extracted);
    crypto_auth_hmacsha256_init(&state, extracted, sizeof extracted);
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)info.p, info.n);
    crypto_auth_hmacsha256_update(&state, &one, 1);
    crypto_auth_hmacsha256_final(&state, expanded);
    memcpy(ret, expanded, n);
    sodium_memzero(extracted, sizeof extracted);
    sodium_memzero(expanded, sizeof expanded);
}

struct content_key {
    unsigned char key[KEY_BYTES], nonce[NONCE_BYTES];
};

static bool derive_content_key(struct arena *a, const struct web_push_receiver_keys *to,
                               const struct p256_key_pair *sender, const unsigned char *salt,
                               struct content_key *ret)
{
    unsigned char shared[P256_SECRET_BYTES], mixed[32];

    if (!derive_shared_secret(to, sender, shared))
        return false;
    /* A string literal ends with a zero byte, which RFC 8291 and RFC 8188 require after the label.
     */
    struct str info = STR_CONCAT(a, str_slice("WebPush: info", sizeof "WebPush: info"),
                                 str_slice((const char *)to->point, P256_POINT_BYTES),
                                 str_slice((const char *)sender->point, P256_POINT_BYTES));

    hkdf_derive_key(to->auth, PUSH_AUTH_BYTES, shared, sizeof shared, info, mixed, sizeof mixed);
    hkdf_derive_key(salt, PUSH_SALT_BYTES, mixed, sizeof mixed,
                    str_slice("Content-Encoding: aes128gcm", sizeof "Content-Encoding: aes128gcm"),
                    ret->key, KEY_BYTES);
    hkdf_derive_key(salt, PUSH_SALT_BYTES, mixed, sizeof mixed,
                    str_slice("Content-Encoding: nonce", sizeof "Content-Encoding: nonce"),
                    ret->nonce, NONCE_BYTES);
    sodium_memzero(shared, sizeof shared);
    sodium_memzero(mixed, sizeof mixed);
    return true;
}

/* Encrypts the text and a delimiter byte (2: last record), and writes ciphertext and tag. */
static bool encrypt_last_record(const struct content_key *k, struct str text, unsigned char *out)
{
    static const unsigned char delimiter = 2;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int n = 0, m = 0, end = 0;
    bool ok = context && EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, k->key, k->nonce) &&
              EVP_EncryptUpdate(context, out, &n, (const unsigned char *)text.p, (int)text.n) &&
              EVP_EncryptUpdate(context, out + n, &m, &delimiter, 1) &&
              EVP_EncryptFinal_ex(context, out + n + m, &end) &&
              EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, TAG_BYTES, out + n + m + end) &&
              (size_t)n + (size_t)m + (size_t)end == text.n + 1;

    EVP_CIPHER_CTX_free(context);
    ERR_clear_error();
    return ok;
}

bool web_push_encrypt(struct arena *a, const struct web_push_receiver_keys *to,
                      const struct p256_key_pair *sender, const unsigned char salt[PUSH_SALT_BYTES],
                      struct str text, struct str *ret)
{
    enum { HEADER_BYTES = PUSH_SALT_BYTES + 4 + 1 + P256_POINT_BYTES };
    size_t n = HEADER_BYTES + text.n + 1 + TAG_BYTES;
    struct content_key k;

    if (text.n > PUSH_TEXT_MAX || !derive_content_key(a, to, sender, salt, &k))
        return false;
    unsigned char *out = arena_alloc(a, n);

    memcpy(out, salt, PUSH_SALT_BYTES);
    out[PUSH_SALT_BYTES + 2] = RECORD_BYTES >> 8; /* record size: 32 bits, big-endian */
    out[PUSH_SALT_BYTES + 4] = P256_POINT_BYTES;
    memcpy(out + PUSH_SALT_BYTES + 5, sender->point, P256_POINT_BYTES);
    bool ok = encrypt_last_record(&k, text, out + HEADER_BYTES);

    sodium_memzero(&k, sizeof k);
    *ret = str_slice((const char *)out, n);
    return ok;
}

/* --- VAPID ---------------------------------------------------------------------------- */

/* Converts a signature from DER to the two numbers of JSON Web Signature. */
static bool convert_der_signature_to_numbers(const unsigned char *der, size_t n, unsigned char *ret)
{
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &der, (long)n);
    bool ok = signature && BN_bn2binpad(ECDSA_SIG_get0_r(signature), ret, 32) == 32 &&
              BN_bn2binpad(ECDSA_SIG_get0_s(signature), ret + 32, 32) == 32;

    ECDSA_SIG_free(signature);
    return ok;
}

bool es256_sign(const struct p256_key_pair *pair, struct str text,
                unsigned char ret[ES256_SIGNATURE_BYTES])
{
    EVP_PKEY *key = key_from_bytes(pair->point, pair->secret);
    EVP_MD_CTX *context = key ? EVP_MD_CTX_new() : NULL;
    unsigned char der[80];
    size_t n = sizeof der;
    bool ok = context && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
              EVP_DigestSign(context, der, &n, (const unsigned char *)text.p, text.n) == 1 &&
              convert_der_signature_to_numbers(der, n, ret);

    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return ok;
}

static struct str encode_vapid_claims(struct arena *a, struct str origin, struct str contact,
                                      int64_t expires_s)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, 16 * 1024);
    json_begin_object(&j);
    json_write_name(&j, "aud");
    json_write_text(&j, origin);
    json_write_name(&j, "exp");
    json_write_int(&j, expires_s);
    json_write_name(&j, "sub");
    json_write_text(&j, contact);
    json_end_object(&j);
    return buf_move_to_arena(&out, a);
}

struct str vapid_create_authorization_header(struct arena *a, const struct p256_key_pair *key,
                                             struct str origin, struct str contact,
                                             int64_t expires_s)
{
    static const char head[] = "{\"typ\":\"JWT\",\"alg\":\"ES256\"}";
    unsigned char signature[ES256_SIGNATURE_BYTES];
    struct str claims = encode_vapid_claims(a, origin, contact, expires_s);
    struct str text = STR_CONCAT(a, str_base64url_encode(a, head, sizeof head - 1), STR("."),
                                 str_base64url_encode(a, claims.p, claims.n));

    if (!es256_sign(key, text, signature))
        return (struct str){ 0 };
    return STR_CONCAT(a, STR("vapid t="), text, STR("."),
                      str_base64url_encode(a, signature, sizeof signature), STR(", k="),
                      str_base64url_encode(a, key->point, P256_POINT_BYTES));
}
