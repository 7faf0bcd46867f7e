/* encryption.c - tests the encryption of push messages with the example of RFC 8291, and the
 * signature for push services. */
#include "unit/unit.h"

#include "platform/web_push/encryption.h"
#include "voice/p256_keys.h"

static void decode(const char *text, unsigned char *out, size_t n)
{
    size_t got = 0;

    assert_true(str_base64url_decode(str_of(text), out, n, &got));
    assert_int_equal(got, n);
}

/* RFC 8291, section 5 and appendix A. */
static void push_message_is_encrypted_as_in_the_example_of_rfc_8291(void **state)
{
    static const char expected[] =
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWA"
        "mS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxs"
        "j_Qulcy4a-fN";
    struct arena *a = arena_new();
    unsigned char secret[P256_SECRET_BYTES], salt[PUSH_SALT_BYTES], point[P256_POINT_BYTES];
    struct p256_key_pair sender;
    struct web_push_receiver_keys to;
    struct str body;

    (void)state;
    decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw", secret, sizeof secret);
    decode(
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
        point, sizeof point);
    decode(
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        to.point, sizeof to.point);
    decode("BTBZMqHH6r4Tts7J_aSIgg", to.auth, sizeof to.auth);
    decode("DGv6ra1nlYgDCS1FRnbzlw", salt, sizeof salt);
    assert_true(p256_key_pair_from_secret(secret, &sender));
    assert_memory_equal(sender.point, point, sizeof point);
    assert_true(web_push_encrypt(a, &to, &sender, salt,
                                 STR("When I grow up, I want to be a watermelon"), &body));
    struct str text = str_base64url_encode(a, body.p, body.n);
    assert_int_equal(text.n, sizeof expected - 1);
    assert_memory_equal(text.p, expected, text.n);
    arena_free(a);
}

static void push_message_fits_into_the_4096_bytes_that_push_services_accept(void **state)
{
    struct arena *a = arena_new();
    unsigned char salt[PUSH_SALT_BYTES] = { 0 };
    struct p256_key_pair sender, receiver;
    struct web_push_receiver_keys to = { 0 };
    char *longest = arena_alloc(a, PUSH_TEXT_MAX + 1);
    struct str body;

    (void)state;
    assert_true(p256_key_pair_new(&sender));
    assert_true(p256_key_pair_new(&receiver));
    memcpy(to.point, receiver.point, sizeof to.point);
    memset(longest, 'a', PUSH_TEXT_MAX + 1);
    assert_true(web_push_encrypt(a, &to, &sender, salt, str_slice(longest, PUSH_TEXT_MAX), &body));
    assert_true(body.n <= 4096);
    assert_false(
        web_push_encrypt(a, &to, &sender, salt, str_slice(longest, PUSH_TEXT_MAX + 1), &body));
    arena_free(a);
}

static void push_keys_must_be_points_on_the_curve(void **state)
{
    struct p256_key_pair pair;
    unsigned char zero[P256_SECRET_BYTES] = { 0 }, most[P256_SECRET_BYTES], seed[48] = { 0 };

    (void)state;
    memset(most, 0xff, sizeof most);
    assert_false(p256_key_pair_from_secret(zero, &pair));
    assert_false(p256_key_pair_from_secret(most, &pair));
    assert_true(p256_key_pair_from_seed(seed, &pair)); /* the secret 1 */
    assert_int_equal(pair.secret[P256_SECRET_BYTES - 1], 1);
    assert_true(p256_point_is_valid(str_slice((char *)pair.point, sizeof pair.point)));
    assert_false(p256_point_is_valid(str_slice((char *)pair.point, sizeof pair.point - 1)));
    pair.point[64] ^= 1;
    assert_false(p256_point_is_valid(str_slice((char *)pair.point, sizeof pair.point)));
}

/* Returns the part of text between two words. */
static struct str between(struct str text, const char *from, const char *to)
{
    const char *begin = memmem(text.p, text.n, from, strlen(from));

    assert_non_null(begin);
    begin += strlen(from);
    size_t left = (size_t)(text.p + text.n - begin);
    const char *end = *to ? memmem(begin, left, to, strlen(to)) : text.p + text.n;
    assert_non_null(end);
    return str_slice(begin, (size_t)(end - begin));
}

/* Encodes the two numbers of a signature as DER. */
static struct str der_of_signature(struct arena *a, const unsigned char *numbers)
{
    unsigned char *out = arena_alloc(a, 80);
    size_t n = 2;

    for (int i = 0; i < 2; i++) {
        const unsigned char *p = numbers + (ptrdiff_t)32 * i;
        size_t skip = 0;

        while (skip < 31 && !p[skip])
            skip++;
        bool pad = p[skip] >= 0x80;
        out[n++] = 2;
        out[n++] = (unsigned char)(32 - skip + pad);
        if (pad)
            out[n++] = 0;
        memcpy(out + n, p + skip, 32 - skip);
        n += 32 - skip;
    }
    out[0] = 0x30;
    out[1] = (unsigned char)(n - 2);
    return str_slice((const char *)out, n);
}

/* The claims are those of the example of RFC 8292, section 2.4. */
static void vapid_token_is_signed_with_audience_and_contact(void **state)
{
    struct arena *a = arena_new();
    struct p256_key_pair key;
    unsigned char point[P256_POINT_BYTES], numbers[ES256_SIGNATURE_BYTES];
    char claims[300];
    size_t n = 0;

    (void)state;
    assert_true(p256_key_pair_new(&key));
    struct str value = vapid_create_authorization_header(
        a, &key, STR("https://push.example.net"), STR("mailto:push@example.com"), 1453523768);
    struct str head = between(value, "vapid t=", "."), rest = between(value, ".", "");
    struct str payload = str_cut(&rest, '.'), signature = between(rest, "", ", k=");
    struct str public = between(rest, ", k=", "");

    assert_true(str_is(head, "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9"));
    assert_true(str_base64url_decode(payload, claims, sizeof claims, &n));
    assert_true(str_is(str_slice(claims, n),
                       "{\"aud\":\"https://push.example.net\",\"exp\":1453523768,"
                       "\"sub\":\"mailto:push@example.com\"}"));
    assert_true(str_base64url_decode(public, point, sizeof point, &n));
    assert_memory_equal(point, key.point, sizeof point);
    assert_true(str_base64url_decode(signature, numbers, sizeof numbers, &n));
    assert_int_equal(n, sizeof numbers);
    assert_true(p256_verify_signature(str_slice((char *)point, sizeof point),
                                      STR_CONCAT(a, head, STR("."), payload),
                                      der_of_signature(a, numbers)));
    assert_false(p256_verify_signature(str_slice((char *)point, sizeof point),
                                       STR_CONCAT(a, head, STR("!"), payload),
                                       der_of_signature(a, numbers)));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(push_message_is_encrypted_as_in_the_example_of_rfc_8291),
        cmocka_unit_test(push_message_fits_into_the_4096_bytes_that_push_services_accept),
        cmocka_unit_test(push_keys_must_be_points_on_the_curve),
        cmocka_unit_test(vapid_token_is_signed_with_audience_and_contact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
