/* webauthn.c - tests the parser and verifier of security keys with keys and signatures that OpenSSL
 * 3.0 made. */
#include "unit/unit.h"

#include <stdio.h>

#include "base/arena.h"
#include "platform/accounts/mfa/webauthn.h"

/* sha256("chat.example"), the flags "user present" and "user verified", and a counter of 7. */
#define AUTHENTICATOR_DATA \
    "8d2eb32d9070185cf9eb966f525c6ec6573a43b98ab110419db9d28f33b34e380500000007"
#define X         "8b08a5520fc78b7340ff1b4b35dbbfdcc2abde648d78582a0a71f47d2a24a755"
#define Y         "89fd8f0d39965bfe98eca300064ae31b92ca6083d2c9d7b92a336d1759b8c6ef"
#define ES256_KEY "a5010203262001215820" X "225820" Y
#define ES256_SIGNATURE                                                                          \
    "3045022057dad220a99e0070f8a75d85c5e4dda2e9ac9c01b232d63e6a4b64eef22a21eb022100f506621e046e" \
    "3774fd4a9f2befcd65e6f66bf59c7b93dc69602811537a084130"
#define ED25519_KEY \
    "a401010327200621582065a33e1f448ba8bd5c5f57dad762311e766a28fdad35c7967c7a9ba75bc5ded1"
#define ED25519_SIGNATURE                                                                       \
    "5fa6f815fd8a1185755f4554edc6a363b24158fcf38c6fd9f7d9eb6e0f3f1df3f367bb05a8d1e7272c167b29e" \
    "47623725154ab41b9a4256bce63959ca14c0f0a"
#define RSA_MODULUS                                                                            \
    "aa17dd8e854d279519082a4c68ad50fefbb86f961563721a4cf631a47eed9a68453b05e6f2203fb638d234fc" \
    "e45da9b702e14e6fe2cee06d01850b04b70af3bb297ab4c23fed2f1d5bd2126cdf4940d972623d2d7c2d56b6" \
    "7fc25d25ed04e9e593e5e3bc830b53befd8dde4e058736f03895321814532dde81a239fc7f035f09c6eb12a3" \
    "e104642984253dffd6a73ccf82b183ffcab0a33875fe11492a9cd9c78dbcce8373a360777af0433c2fecabdb" \
    "68974794a7b1e66b871dae109fde3c5c602bd8453235f11b8f6b6d3a6350b5ea7268d85781e9e8ea2d8433a8" \
    "293243b9f360f5638b41896a604ae8cda0a07c9cfed809d686f828f3cd9f39ec1dbc2a75"
#define RS256_SIGNATURE                                                                        \
    "18160a63ff69ef1c744e37636bd03ff211c43aa1307cadf505048e855a4c71cda02bb83b618a1b3e7321a937" \
    "5c79b936d34f48811883ef46e5455ceb0ce89e8d0b6f43df762fc5c73f5a1db1a21b61e987ce3ad0f7cfd77b" \
    "0a8037ed2eb7ca3e4e85f815a3ec505861e1509c76b473d2fb0e89b79c28bb6585f9600dd223ab1339e8516b" \
    "4b83d576942c5696492643fdb3d4b8b39ebad1752539faff9b583c421ca683e916e5f78a02af7649e9c18822" \
    "5997344d877085dba01082ca389e7ac19ba9fb63d2ce87cf03f90d963bb79a69ba7b0cf24a27903190971caa" \
    "fb9eb9a0b2d00a5fd79cd6514633b328f7efbf77376c9e64592ae91948e89e8bb8770789"
#define RSA_KEY \
    "a4"        \
    "0103"      \
    "03390100"  \
    "20590100" RSA_MODULUS "2143010001"
#define CLIENT_DATA                                                                       \
    "{\"type\":\"webauthn.get\",\"challenge\":\"AAECAwQFBgc\",\"origin\":\"https://chat." \
    "example:8443\",\"crossOrigin\":false}"
#define NEW_CREDENTIAL                                                                          \
    "8d2eb32d9070185cf9eb966f525c6ec6573a43b98ab110419db9d28f33b34e384500000006000000000000000" \
    "000000000000000000010000102030405060708090a0b0c0d0e0f" ES256_KEY
#define ATTESTATION                                            \
    "a363666d74646e6f6e656761747453746d74a0686175746844617461" \
    "5894" NEW_CREDENTIAL

static struct arena *arena;

static int create_arena(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int free_arena(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

/* Decodes hex to memory of that size, so that the sanitizer sees a read beyond the end. */
static struct str hex(const char *text)
{
    size_t n = strlen(text) / 2;
    char *out = arena_alloc(arena, n ? n : 1);
    unsigned byte;

    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
        out[i] = (char)byte;
    }
    return str_slice(out, n);
}

static bool verify(const char *key, const char *signature, const char *data, const char *client)
{
    struct webauthn_response r = { .client_data = str_of(client),
                                   .authenticator_data = hex(data),
                                   .signature = hex(signature) };

    return webauthn_verify_signature(arena, hex(key), &r);
}

static void signatures_of_each_algorithm_are_verified(void **state)
{
    (void)state;
    assert_true(verify(ES256_KEY, ES256_SIGNATURE, AUTHENTICATOR_DATA, CLIENT_DATA));
    assert_true(verify(ED25519_KEY, ED25519_SIGNATURE, AUTHENTICATOR_DATA, CLIENT_DATA));
    assert_true(verify(RSA_KEY, RS256_SIGNATURE, AUTHENTICATOR_DATA, CLIENT_DATA));
    assert_false(verify(RSA_KEY, RS256_SIGNATURE, AUTHENTICATOR_DATA, CLIENT_DATA " "));
    assert_false(verify(RSA_KEY, ES256_SIGNATURE, AUTHENTICATOR_DATA, CLIENT_DATA));
    assert_false(verify(ES256_KEY, RS256_SIGNATURE, AUTHENTICATOR_DATA, CLIENT_DATA));
    assert_false(verify(ED25519_KEY, ES256_SIGNATURE, AUTHENTICATOR_DATA, CLIENT_DATA));
    assert_false(verify(ES256_KEY, ED25519_SIGNATURE, AUTHENTICATOR_DATA, CLIENT_DATA));
    assert_false(verify(ES256_KEY, ES256_SIGNATURE, AUTHENTICATOR_DATA, CLIENT_DATA " "));
    assert_false(verify(ES256_KEY, ES256_SIGNATURE, AUTHENTICATOR_DATA "00", CLIENT_DATA));
    assert_false(verify(ES256_KEY, "", AUTHENTICATOR_DATA, CLIENT_DATA));
    assert_false(verify(ES256_KEY, "30", AUTHENTICATOR_DATA, CLIENT_DATA));
}

static void unsupported_key_types_and_invalid_points_are_refused(void **state)
{
    static const char *const refused[] = {
        "",
        "a0",
        ES256_KEY "00",
        "a5010203260001215820" X "225820" Y, /* label 0 instead of the curve */
        "a501020326200221"
        "5820" X "225820" Y,                                   /* P-384 */
        "a50102033901002001215820" X "225820" Y,               /* RS256 with the type of P-256 */
        "a401030339010020590100" RSA_MODULUS "2140",           /* RSA without exponent */
        "a401030339010020590100" RSA_MODULUS "214101",         /* exponent 1 */
        "a401030339010020590100" RSA_MODULUS "21450100000001", /* exponent of 33 bits */
        "a4010303390100205820" X "2143010001",                 /* RSA with 256 bits */
        "a5010203262001215820" X "225820" X,                   /* not on the curve */
        "a4010203262001215820" X,                              /* only x */
        "a4010103272004215820" X,                              /* X25519 */
        "a5010203262001215821" X "00225820" Y,                 /* a coordinate of 33 bytes */
    };

    (void)state;
    assert_true(webauthn_key_is_supported(hex(ES256_KEY)));
    assert_true(webauthn_key_is_supported(hex(ED25519_KEY)));
    assert_true(webauthn_key_is_supported(hex(RSA_KEY)));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(webauthn_key_is_supported(hex(refused[i])));
}

static void authenticator_data_is_parsed(void **state)
{
    struct webauthn_authenticator_data d;

    (void)state;
    assert_true(webauthn_authenticator_data_parse(hex(AUTHENTICATOR_DATA), &d));
    assert_true(d.user_present && d.sign_count == 7 && !d.credential_id.n && !d.public_key.n);
    assert_int_equal(d.rp_id_hash.n, 32);
    struct str bytes = hex(AUTHENTICATOR_DATA);
    assert_false(webauthn_authenticator_data_parse(str_slice(bytes.p, bytes.n - 1), &d));
    assert_false(webauthn_authenticator_data_parse(STR(""), &d));
}

static void attestation_contains_the_new_credential(void **state)
{
    struct webauthn_authenticator_data d;
    struct str whole = hex(ATTESTATION);

    (void)state;
    assert_true(webauthn_attestation_parse(whole, &d));
    assert_true(d.user_present && d.sign_count == 6);
    assert_true(str_eq(d.credential_id, hex("000102030405060708090a0b0c0d0e0f")));
    assert_true(str_eq(d.public_key, hex(ES256_KEY)));
    /* Every prefix, and further bytes, are refused. */
    for (size_t n = 0; n < whole.n; n++)
        assert_false(webauthn_attestation_parse(str_dup(arena, str_slice(whole.p, n)), &d));
    assert_false(webauthn_attestation_parse(hex(ATTESTATION "00"), &d));
    /* Without authenticator data, and with data of a credential that is only used. */
    assert_false(webauthn_attestation_parse(hex("a163666d74646e6f6e65"), &d));
    assert_false(
        webauthn_attestation_parse(hex("a16861757468446174615825" AUTHENTICATOR_DATA), &d));
}

static void webauthn_responses_may_be_base64_or_base64url(void **state)
{
    struct webauthn_response r;

    (void)state;
    assert_true(
        webauthn_response_parse(arena,
                                STR("{\"rawId\":\"+/8=\",\"response\":{\"clientDataJSON\":\"e30=\","
                                    "\"signature\":\"-_8\",\"authenticatorData\":null}}"),
                                &r));
    assert_true(str_eq(r.credential_id, r.signature) && str_eq(r.signature, hex("fbff")));
    assert_str(r.client_data, "{}");
    assert_false(r.attestation.n || r.authenticator_data.n);
    assert_true(webauthn_response_parse(
        arena, STR("{\"id\":\"-_8\",\"response\":{\"clientDataJSON\":\"\"}}"), &r));
    assert_true(str_eq(r.credential_id, hex("fbff")));
    assert_false(webauthn_response_parse(arena, STR(""), &r));
    assert_false(webauthn_response_parse(arena, STR("{\"rawId\":\"AA\"}"), &r));
    assert_false(webauthn_response_parse(
        arena, STR("{\"rawId\":\"!\",\"response\":{\"clientDataJSON\":\"\"}}"), &r));
}

static void client_data_has_type_challenge_and_origin(void **state)
{
    struct webauthn_client_data d;

    (void)state;
    assert_true(webauthn_client_data_parse(arena, STR(CLIENT_DATA), &d));
    assert_str(d.type, "webauthn.get");
    assert_int_equal(d.challenge_length, 8);
    assert_memory_equal(d.challenge, "\0\1\2\3\4\5\6\7", 8);
    assert_str(webauthn_host_of_origin(arena, d.origin), "chat.example");
    assert_str(webauthn_host_of_origin(arena, STR("http://LocalHost:8080")), "localhost");
    assert_str(webauthn_host_of_origin(arena, STR("https://a.example/b:c")), "a.example");
    assert_str(webauthn_host_of_origin(arena, STR("null")), "");
    assert_str(webauthn_host_of_origin(arena, STR("android:apk-key-hash:x")), "");
    assert_false(webauthn_client_data_parse(arena, STR("{}"), &d));
    assert_false(webauthn_client_data_parse(arena, STR(""), &d));
    assert_false(webauthn_client_data_parse(
        arena, STR("{\"type\":\"webauthn.get\",\"challenge\":\"=a\",\"origin\":\"x\"}"), &d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures_of_each_algorithm_are_verified),
        cmocka_unit_test(unsupported_key_types_and_invalid_points_are_refused),
        cmocka_unit_test(authenticator_data_is_parsed),
        cmocka_unit_test(attestation_contains_the_new_credential),
        cmocka_unit_test(webauthn_responses_may_be_base64_or_base64url),
        cmocka_unit_test(client_data_has_type_challenge_and_origin),
    };

    return cmocka_run_group_tests(tests, create_arena, free_arena);
}
