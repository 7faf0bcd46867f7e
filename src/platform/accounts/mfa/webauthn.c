/* webauthn.c - parses and verifies what security keys and passkeys send. */
#include "platform/accounts/mfa/webauthn.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/x509.h>
#include <sodium.h>

#include "base/arena.h"
#include "json/schema.h"
#include "model/fields/types.h"
#include "platform/accounts/mfa/cbor.h"

enum {
    RP_ID_HASH = crypto_hash_sha256_BYTES,
    HEADER = RP_ID_HASH + 5, /* hash, flags, counter of signatures */
    AAGUID = 16,             /* model of the key */
    COORDINATE = 32,
};
enum authenticator_flags { FLAG_USER_PRESENT = 1, FLAG_CREDENTIAL = 64 };

/* --- JSON ------------------------------------------------------------------------------- */

struct json_response {
    struct str client_data, attestation, authenticator_data, signature;
};
struct json_credential {
    struct str id, raw_id;
    const struct json_response *response;
};
struct json_client_data {
    struct str type, challenge, origin;
};

static const struct field response_fields[] = {
    { FIELD_AS(struct json_response, client_data, "clientDataJSON"), .type = &type_text },
    { FIELD_AS(struct json_response, attestation, "attestationObject"), .type = &type_text,
      .flags = OPTIONAL | NULLABLE },
    { FIELD_AS(struct json_response, authenticator_data, "authenticatorData"), .type = &type_text,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct json_response, signature), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema response_schema = {
    .size = sizeof(struct json_response),
    .fields = response_fields,
};
static const struct type type_response = { .kind = KIND_OBJECT, .schema = &response_schema };

static const struct field credential_fields[] = {
    { FIELD(struct json_credential, id), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD_AS(struct json_credential, raw_id, "rawId"), .type = &type_text,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct json_credential, response), .type = &type_response },
    { 0 },
};
static const struct schema credential_schema = {
    .size = sizeof(struct json_credential),
    .fields = credential_fields,
};
static const struct type type_credential = { .kind = KIND_OBJECT, .schema = &credential_schema };

static const struct field client_data_fields[] = {
    { FIELD(struct json_client_data, type), .type = &type_text },
    { FIELD(struct json_client_data, challenge), .type = &type_text },
    { FIELD(struct json_client_data, origin), .type = &type_text },
    { 0 },
};
static const struct schema client_data_schema = {
    .size = sizeof(struct json_client_data),
    .fields = client_data_fields,
};
static const struct type type_client_data = { .kind = KIND_OBJECT, .schema = &client_data_schema };

/* Accepts base64, which the client Fermi sends, and base64url, which browsers send. */
static bool decode_either_base64(struct arena *a, struct str text, struct str *ret)
{
    char *url = arena_alloc(a, text.n + 1), *bytes = arena_alloc(a, text.n + 1);
    size_t n = 0;

    while (text.n && text.p[text.n - 1] == '=')
        text.n--;
    for (size_t i = 0; i < text.n; i++)
        url[i] = text.p[i] == '+' ? '-' : text.p[i] == '/' ? '_' : text.p[i];
    if (!str_base64url_decode(str_slice(url, text.n), bytes, text.n, &n))
        return false;
    *ret = str_slice(bytes, n);
    return true;
}

bool webauthn_response_parse(struct arena *a, struct str json, struct webauthn_response *ret)
{
    const struct json_credential *c = schema_decode_or_null(&type_credential, json, a);

    if (!c)
        return false;
    const struct json_response *r = c->response;
    return decode_either_base64(a, c->raw_id.n ? c->raw_id : c->id, &ret->credential_id) &&
           decode_either_base64(a, r->client_data, &ret->client_data) &&
           decode_either_base64(a, r->attestation, &ret->attestation) &&
           decode_either_base64(a, r->authenticator_data, &ret->authenticator_data) &&
           decode_either_base64(a, r->signature, &ret->signature);
}

bool webauthn_client_data_parse(struct arena *a, struct str json, struct webauthn_client_data *ret)
{
    const struct json_client_data *d =
        json.n ? schema_decode_or_null(&type_client_data, json, a) : NULL;
    struct str challenge;

    if (!d || !decode_either_base64(a, d->challenge, &challenge) ||
        challenge.n > sizeof ret->challenge)
        return false;
    *ret = (struct webauthn_client_data){ .type = d->type,
                                          .origin = d->origin,
                                          .challenge_length = challenge.n };
    if (challenge.n)
        memcpy(ret->challenge, challenge.p, challenge.n);
    return true;
}

struct str webauthn_host_of_origin(struct arena *a, struct str origin)
{
    struct str rest = str_lower(a, origin);

    if (str_starts_with(rest, STR("https://")))
        rest = str_skip_bytes(rest, 8);
    else if (str_starts_with(rest, STR("http://")))
        rest = str_skip_bytes(rest, 7);
    else
        return STR("");
    rest = str_cut(&rest, '/');
    return str_cut(&rest, ':');
}

/* --- authenticator data ----------------------------------------------------------------- */

/* Parses the attested credential data: model, credential id, public key; extensions may follow. */
static bool parse_new_credential(struct str bytes, struct webauthn_authenticator_data *ret)
{
    const unsigned char *p = (const unsigned char *)bytes.p;

    if (bytes.n < AAGUID + 2)
        return false;
    size_t id_length = (size_t)p[AAGUID] << 8 | p[AAGUID + 1];
    struct str rest = str_skip_bytes(bytes, AAGUID + 2);
    if (!id_length || id_length > WEBAUTHN_MAX_CREDENTIAL_ID || id_length > rest.n)
        return false;
    ret->credential_id = str_slice(rest.p, id_length);
    rest = str_skip_bytes(rest, id_length);
    struct cbor_reader r;
    cbor_reader_init(&r, rest);
    if (!cbor_skip(&r))
        return false;
    ret->public_key = str_slice(rest.p, (size_t)((const char *)r.at - rest.p));
    return true;
}

bool webauthn_authenticator_data_parse(struct str bytes, struct webauthn_authenticator_data *ret)
{
    const unsigned char *p = (const unsigned char *)bytes.p;

    if (bytes.n < HEADER)
        return false;
    p += RP_ID_HASH;
    *ret = (struct webauthn_authenticator_data){
        .rp_id_hash = str_slice(bytes.p, RP_ID_HASH),
        .user_present = p[0] & FLAG_USER_PRESENT,
        .sign_count = (int64_t)p[1] << 24 | p[2] << 16 | p[3] << 8 | p[4],
    };
    return !(p[0] & FLAG_CREDENTIAL) || parse_new_credential(str_skip_bytes(bytes, HEADER), ret);
}

bool webauthn_attestation_parse(struct str bytes, struct webauthn_authenticator_data *ret)
{
    struct str key, data = { 0 };
    struct cbor_reader r;
    size_t count;

    cbor_reader_init(&r, bytes);
    if (!cbor_read_map(&r, &count))
        return false;
    for (; count; count--) {
        if (!cbor_read_text(&r, &key) ||
            !(str_is(key, "authData") ? cbor_read_bytes(&r, &data) : cbor_skip(&r)))
            return false;
    }
    return r.at == r.end && webauthn_authenticator_data_parse(data, ret) && ret->public_key.n;
}

/* --- keys and signatures ---------------------------------------------------------------- */

/* A COSE key (RFC 9053, RFC 8230): x and y of P-256, x of Ed25519, or modulus and exponent of RSA.
 */
struct cose_key {
    int64_t algorithm;
    struct str x, y;
    struct str modulus, exponent;
};

/* Labels of members. For RSA keys, -1 and -2 are modulus and exponent. */
enum cose_label { COSE_TYPE = 1, COSE_ALGORITHM = 3, COSE_CURVE = -1, COSE_X = -2, COSE_Y = -3 };
enum cose_type { COSE_OKP = 1, COSE_EC2 = 2, COSE_RSA = 3 };
enum cose_curve { COSE_P256 = 1, COSE_ED25519 = 6 };
/* Larger keys would make a signature expensive to verify. */
enum { RSA_MIN_MODULUS = 256, RSA_MAX_MODULUS = 512, RSA_MAX_EXPONENT = 4 };

/* Reads a member of a COSE key. The type comes first in the canonical form, which CTAP2 requires.
 */
static bool read_cose_member(struct cbor_reader *r, int64_t label, int64_t *type, int64_t *curve,
                             struct cose_key *ret)
{
    bool rsa = *type == COSE_RSA;

    return label == COSE_TYPE        ? cbor_read_int(r, type)
           : label == COSE_ALGORITHM ? cbor_read_int(r, &ret->algorithm)
           : label == COSE_CURVE
               ? (rsa ? cbor_read_bytes(r, &ret->modulus) : cbor_read_int(r, curve))
           : label == COSE_X ? cbor_read_bytes(r, rsa ? &ret->exponent : &ret->x)
           : label == COSE_Y ? cbor_read_bytes(r, &ret->y)
                             : cbor_skip(r);
}

static bool parse_cose_key(struct str bytes, struct cose_key *ret)
{
    int64_t type = 0, curve = 0, label;
    struct cbor_reader r;
    size_t count;

    *ret = (struct cose_key){ 0 };
    cbor_reader_init(&r, bytes);
    if (!cbor_read_map(&r, &count))
        return false;
    for (; count; count--)
        if (!cbor_read_int(&r, &label) || !read_cose_member(&r, label, &type, &curve, ret))
            return false;
    if (r.at != r.end)
        return false;
    switch (ret->algorithm) {
    case WEBAUTHN_ES256:
        return type == COSE_EC2 && curve == COSE_P256 && ret->x.n == COORDINATE &&
               ret->y.n == COORDINATE;
    case WEBAUTHN_EDDSA:
        return type == COSE_OKP && curve == COSE_ED25519 && ret->x.n == COORDINATE;
    case WEBAUTHN_RS256:
        return type == COSE_RSA && ret->modulus.n >= RSA_MIN_MODULUS &&
               ret->modulus.n <= RSA_MAX_MODULUS && ret->exponent.n &&
               ret->exponent.n <= RSA_MAX_EXPONENT;
    default:
        return false;
    }
}

/* Returns NULL if the point is not on the curve. */
static EVP_PKEY *p256_key_decode(const struct cose_key *key)
{
    /* SubjectPublicKeyInfo of an uncompressed point of P-256 (RFC 5480), up to the point. */
    static const unsigned char header[] = {
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
        0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    };
    unsigned char der[sizeof header + 2 * COORDINATE];
    const unsigned char *p = der;

    memcpy(der, header, sizeof header);
    memcpy(der + sizeof header, key->x.p, COORDINATE);
    memcpy(der + sizeof header + COORDINATE, key->y.p, COORDINATE);
    return d2i_PUBKEY(NULL, &p, sizeof der);
}

static EVP_PKEY *rsa_key_decode(const struct cose_key *key)
{
    BIGNUM *n = BN_bin2bn((const unsigned char *)key->modulus.p, (int)key->modulus.n, NULL);
    BIGNUM *e = BN_bin2bn((const unsigned char *)key->exponent.p, (int)key->exponent.n, NULL);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *params = NULL;
    EVP_PKEY *ret = NULL;

    if (n && e && ctx && builder && BN_is_odd(n) && BN_is_odd(e) && !BN_is_one(e) &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e))
        params = OSSL_PARAM_BLD_to_param(builder);
    if (params && (EVP_PKEY_fromdata_init(ctx) != 1 ||
                   EVP_PKEY_fromdata(ctx, &ret, EVP_PKEY_PUBLIC_KEY, params) != 1))
        ret = NULL;
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(builder);
    EVP_PKEY_CTX_free(ctx);
    BN_free(e);
    BN_free(n);
    return ret;
}

/* Returns the key of ES256 or RS256, or NULL if it is invalid. */
static EVP_PKEY *decode_openssl_key(const struct cose_key *key)
{
    return key->algorithm == WEBAUTHN_RS256 ? rsa_key_decode(key) : p256_key_decode(key);
}

bool webauthn_key_is_supported(struct str public_key)
{
    struct cose_key key;

    if (!parse_cose_key(public_key, &key))
        return false;
    if (key.algorithm == WEBAUTHN_EDDSA)
        return true;
    EVP_PKEY *decoded = decode_openssl_key(&key);
    EVP_PKEY_free(decoded);
    return decoded;
}

/* Verifies a signature over the SHA-256 digest of the text. */
static bool verify_with_openssl(const struct cose_key *key, struct str text, struct str signature)
{
    EVP_PKEY *decoded = decode_openssl_key(key);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool valid = decoded && ctx &&
                 EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, decoded) == 1 &&
                 EVP_DigestVerify(ctx, (const unsigned char *)signature.p, signature.n,
                                  (const unsigned char *)text.p, text.n) == 1;

    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(decoded);
    return valid;
}

static bool verify_ed25519(const struct cose_key *key, struct str text, struct str signature)
{
    return signature.n == crypto_sign_BYTES &&
           crypto_sign_verify_detached((const unsigned char *)signature.p,
                                       (const unsigned char *)text.p, text.n,
                                       (const unsigned char *)key->x.p) == 0;
}

bool webauthn_verify_signature(struct arena *a, struct str public_key,
                               const struct webauthn_response *r)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    struct cose_key key;

    if (!parse_cose_key(public_key, &key) || !r->signature.n)
        return false;
    crypto_hash_sha256(digest, (const unsigned char *)r->client_data.p, r->client_data.n);
    struct str text =
        STR_CONCAT(a, r->authenticator_data, str_slice((const char *)digest, sizeof digest));
    return key.algorithm == WEBAUTHN_EDDSA ? verify_ed25519(&key, text, r->signature)
                                           : verify_with_openssl(&key, text, r->signature);
}
