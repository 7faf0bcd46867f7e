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

static void es256_and_ed25519_signatures_are_verified(void **state)
{
    (void)state;
    assert_true(verify(ES256_KEY, ES256_SIGNATURE, AUTHENTICATOR_DATA, CLIENT_DATA));
    assert_true(verify(ED25519_KEY, ED25519_SIGNATURE, AUTHENTICATOR_DATA, CLIENT_DATA));
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
        "5820" X "225820" Y,                     /* P-384 */
        "a50102033901002001215820" X "225820" Y, /* RS256 */
        "a5010203262001215820" X "225820" X,     /* not on the curve */
        "a4010203262001215820" X,                /* only x */
        "a4010103272004215820" X,                /* X25519 */
        "a5010203262001215821" X "00225820" Y,   /* a coordinate of 33 bytes */
    };

    (void)state;
    assert_true(webauthn_key_is_supported(hex(ES256_KEY)));
    assert_true(webauthn_key_is_supported(hex(ED25519_KEY)));
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
        cmocka_unit_test(es256_and_ed25519_signatures_are_verified),
        cmocka_unit_test(unsupported_key_types_and_invalid_points_are_refused),
        cmocka_unit_test(authenticator_data_is_parsed),
        cmocka_unit_test(attestation_contains_the_new_credential),
        cmocka_unit_test(webauthn_responses_may_be_base64_or_base64url),
        cmocka_unit_test(client_data_has_type_challenge_and_origin),
    };

    return cmocka_run_group_tests(tests, create_arena, free_arena);
}
