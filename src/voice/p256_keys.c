/* p256_keys.c - P-256 public keys and ECDSA signatures. */
#include "voice/p256_keys.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "base/arena.h"
#include "base/buf.h"

static bool has_ec_point_format(struct str p)
{
    return (p.n == P256_KEY_SIZE && (p.p[0] == 2 || p.p[0] == 3)) || (p.n == 65 && p.p[0] == 4);
}

/* Creates a public key from the bytes of a point. Returns NULL if the point is not on the curve. */
static EVP_PKEY *public_key_from_point(struct str point)
{
    char group[] = "P-256";
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)(uintptr_t)point.p,
                                          point.n),
        OSSL_PARAM_construct_end(),
    };
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    EVP_PKEY *key = NULL;

    if (!context || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) != 1) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    ERR_clear_error();
    return key;
}

bool p256_key_parse(struct str bytes, unsigned char ret[P256_KEY_SIZE])
{
    EVP_PKEY *key = has_ec_point_format(bytes) ? public_key_from_point(bytes) : NULL;

    if (!key)
        return false;
    EVP_PKEY_free(key);
    /* First byte of the compressed form: the parity of Y says which of the two points with this X
     * coordinate is meant. */
    ret[0] = bytes.n == P256_KEY_SIZE ? (unsigned char)bytes.p[0]
                                      : (unsigned char)(2 + (bytes.p[64] & 1));
    memcpy(ret + 1, bytes.p + 1, P256_KEY_SIZE - 1);
    return true;
}

/* Returns whether a DER signature is canonical: decoding and encoding it yields the same bytes. */
static bool is_canonical_der_signature(struct str der)
{
    const unsigned char *at = (const unsigned char *)der.p;
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &at, (long)der.n);
    unsigned char *again = NULL;
    int n = signature ? i2d_ECDSA_SIG(signature, &again) : -1;
    bool same = n > 0 && (size_t)n == der.n && memcmp(again, der.p, der.n) == 0;

    OPENSSL_free(again);
    ECDSA_SIG_free(signature);
    ERR_clear_error();
    return same;
}

bool p256_verify_signature(struct str point, struct str signed_bytes, struct str signature)
{
    EVP_PKEY *key =
        has_ec_point_format(point) && signature.n <= 80 && is_canonical_der_signature(signature)
            ? public_key_from_point(point)
            : NULL;
    EVP_MD_CTX *context = key ? EVP_MD_CTX_new() : NULL;
    bool good = context && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
                EVP_DigestVerify(context, (const unsigned char *)signature.p, signature.n,
                                 (const unsigned char *)signed_bytes.p, signed_bytes.n) == 1;

    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return good;
}

/* --- signed content ------------------------------------------------------------------- */

/* Appends a length, encoded in one, two or four bytes like a QUIC integer. */
static void append_mls_length(struct buf *out, size_t n)
{
    if (n >= 16384)
        buf_add(out, (const char[]){ (char)(0x80 | n >> 24), (char)(n >> 16) }, 2);
    if (n >= 64)
        buf_add_char(out, (char)(n >= 16384 ? n >> 8 : 0x40 | n >> 8));
    buf_add_char(out, (char)n);
}

struct str mls_encode_sign_content(struct arena *a, const char *label, struct str content)
{
    struct str full = STR_CONCAT(a, STR("MLS 1.0 "), str_of(label));
    struct buf out;

    buf_init(&out, 1 << 20);
    append_mls_length(&out, full.n);
    buf_add_str(&out, full);
    append_mls_length(&out, content.n);
    buf_add_str(&out, content);
    return buf_move_to_arena(&out, a);
}
