/* p256_keys.c - tests P-256 points, the content that MLS signs, signatures, and stream keys. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "voice/p256_keys.h"
#include "voice/streams/rules.h"

/* Test vectors. */
#define KEY "02365d1e41f1de9f229d28acd545c998f508fe1f4871464a79c4a32e7ae46cab6a"
#define LONG                                                                             \
    "04365d1e41f1de9f229d28acd545c998f508fe1f4871464a79c4a32e7ae46cab6a2b8bae151f32300b" \
    "4f369b3883b3566f98c254613c17e0a160115e38250871cc"
#define CONTENT                                                                                    \
    "1c4d4c5320312e30205365727669636553656c665369676e61747572654046303030303030"                   \
    "30302d303030302d343030302d383030302d3030303030303030303030313a02365d1e41f1de9f229d28acd545c9" \
    "98f508fe1f4871464a79c4a32e7ae46cab6a"
#define SIGNED                                                                                     \
    "304402204bc235521e5f6160b1a3894896b397aa958397991fc98715d8420786e5ee537e0220222f7edef283d4b9" \
    "d88993be6cf94d15ee88e1ce0ccf1ffd78f500bec34c21c8"
#define LONG_SIGNED                                                                             \
    "3045022010148d12008d1f32aa387733124c1d79cdee11c8a8bc2fc4ff1267eb054cd470022100a700f909983" \
    "41b630654388d6275a6c049716a0ef4f3c244cd747efac312efa2"

static struct arena *arena;

static struct str from_hex(const char *hex)
{
    size_t n = strlen(hex) / 2;
    unsigned char *out = arena_alloc(arena, n + 1);

    for (size_t i = 0; i < n; i++) {
        unsigned v;

        assert_int_equal(sscanf(hex + 2 * i, "%2x", &v), 1);
        out[i] = (unsigned char)v;
    }
    return str_slice((const char *)out, n);
}

static struct str content_of(struct str key)
{
    return STR_CONCAT(arena, STR("00000000-0000-4000-8000-000000000001:"), key);
}

static void signed_content_has_the_mls_encoding(void **state)
{
    (void)state;
    struct str made =
        mls_encode_sign_content(arena, "ServiceSelfSignature", content_of(from_hex(KEY)));

    assert_true(str_eq(made, from_hex(CONTENT)));
    made = mls_encode_sign_content(arena, "ServiceSelfSignature", content_of(from_hex(LONG)));
    assert_int_equal(made.n, 133);
    assert_memory_equal(made.p + 29, "\x40\x66", 2);
}

static void mls_lengths_take_one_two_or_four_bytes(void **state)
{
    static const struct {
        size_t n;
        const char *head;
    } cases[] = { { 0, "00" },       { 63, "3f" },          { 64, "4040" },
                  { 16383, "7fff" }, { 16384, "80004000" }, { 70000, "80011170" } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str head = from_hex(cases[i].head);
        struct str content = str_slice(arena_alloc(arena, cases[i].n + 1), cases[i].n);
        struct str made = mls_encode_sign_content(arena, "", content);

        assert_int_equal(made.n, 9 + head.n + cases[i].n);
        assert_memory_equal(made.p + 9, head.p, head.n);
    }
}

static void known_mls_signatures_are_valid(void **state)
{
    struct str key = from_hex(KEY), same = from_hex(LONG);

    (void)state;
    assert_true(p256_verify_signature(key, from_hex(CONTENT), from_hex(SIGNED)));
    assert_true(p256_verify_signature(
        same, mls_encode_sign_content(arena, "ServiceSelfSignature", content_of(same)),
        from_hex(LONG_SIGNED)));
    /* The signature covers the uploaded bytes, not the point. */
    assert_false(p256_verify_signature(same, from_hex(CONTENT), from_hex(LONG_SIGNED)));
    assert_false(p256_verify_signature(
        key, mls_encode_sign_content(arena, "OtherSelfSignature_x", content_of(key)),
        from_hex(SIGNED)));
}

static void compressed_and_uncompressed_keys_are_the_same_point(void **state)
{
    unsigned char a[P256_KEY_SIZE], b[P256_KEY_SIZE];

    (void)state;
    assert_true(p256_key_parse(from_hex(KEY), a) && p256_key_parse(from_hex(LONG), b));
    assert_memory_equal(a, b, P256_KEY_SIZE);
    assert_memory_equal(a, from_hex(KEY).p, P256_KEY_SIZE);
}

static void invalid_curve_points_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "00", /* infinity */
        "02",
        "05365d1e41f1de9f229d28acd545c998f508fe1f4871464a79c4a32e7ae46cab6a",
        "02ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", /* larger than the
                                                                                 field */
        "020000000000000000000000000000000000000000000000000000000000000007", /* x without a y */
        KEY "00",
    };
    unsigned char point[P256_KEY_SIZE];
    char *text = strdup(LONG);

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(p256_key_parse(from_hex(bad[i]), point));
    text[1] = '6'; /* hybrid form with the right y: still refused */
    assert_false(p256_key_parse(from_hex(text), point));
    text[1] = '4';
    text[129] = 'd'; /* not on the curve */
    assert_false(p256_key_parse(from_hex(text), point));
    free(text);
}

static void signatures_must_be_strict_der(void **state)
{
    static const char *const bad[] = {
        "", SIGNED "00",
        /* r || s */
        "4bc235521e5f6160b1a3894896b397aa958397991fc98715d8420786e5ee537e"
        "222f7edef283d4b9d88993be6cf94d15ee88e1ce0ccf1ffd78f500bec34c21c8",
        /* an unnecessary leading zero of r */
        "30450221004bc235521e5f6160b1a3894896b397aa958397991fc98715d8420786e5ee537e0220222f7edef283"
        "d4b9d88993be6cf94d15ee88e1ce0ccf1ffd78f500bec34c21c8",
        /* a length in two bytes */
        "30814402204bc235521e5f6160b1a3894896b397aa958397991fc98715d8420786e5ee537e0220222f7edef283"
        "d4b9d88993be6cf94d15ee88e1ce0ccf1ffd78f500bec34c21c8",
        "3006020100020100", /* r and s of zero */
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(p256_verify_signature(from_hex(KEY), from_hex(CONTENT), from_hex(bad[i])));
    for (size_t i = 0; i < 70; i++) { /* a change of any bit invalidates the signature */
        struct str changed = from_hex(SIGNED);

        ((char *)(uintptr_t)changed.p)[i] ^= 1;
        assert_false(p256_verify_signature(from_hex(KEY), from_hex(CONTENT), changed));
    }
}

/* --- stream keys ---------------------------------------------------------------------- */

static void malformed_stream_keys_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "guild",
        "guild:1:2",
        "guild:1:2:3:4",
        "guild:1:2:",
        "guild::2:3",
        "guild:01:2:3",
        "guild:0:2:3",
        "guild:+1:2:3",
        "guild: 1:2:3",
        "guild:1:2:3 ",
        "guild:1:2:9223372036854775808",
        "guild:1:2:3x",
        "Guild:1:2:3",
        "call:1",
        "call:1:2:3",
        "call:-1:2",
        "test:1",
        "call:1:2\n",
    };
    struct stream_key k;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(stream_key_parse(str_of(bad[i]), &k));
    assert_true(stream_key_parse(STR("guild:1:2:9223372036854775807"), &k));
    assert_true(k.guild_id == 1 && k.channel_id == 2 && k.owner_id == INT64_MAX);
    assert_true(str_is(stream_key_format(arena, &k), "guild:1:2:9223372036854775807"));
    assert_true(stream_key_parse(STR("call:4:5"), &k));
    assert_true(!k.guild_id && k.channel_id == 4 && k.owner_id == 5);
    assert_true(str_is(stream_key_format(arena, &k), "call:4:5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signed_content_has_the_mls_encoding),
        cmocka_unit_test(mls_lengths_take_one_two_or_four_bytes),
        cmocka_unit_test(known_mls_signatures_are_valid),
        cmocka_unit_test(compressed_and_uncompressed_keys_are_the_same_point),
        cmocka_unit_test(invalid_curve_points_are_refused),
        cmocka_unit_test(signatures_must_be_strict_der),
        cmocka_unit_test(malformed_stream_keys_are_refused),
    };

    arena = arena_new();
    int failed = cmocka_run_group_tests_name("voice/points", tests, NULL, NULL);
    arena_free(arena);
    return failed;
}
