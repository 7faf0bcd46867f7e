/* etf.c - tests the conversion between JSON and Erlang's external term format. */
#include "unit/unit.h"

#include "base/arena.h"
#include "gateway/wire/etf.h"

static struct str to_terms(struct arena *a, const char *json)
{
    struct buf out;

    buf_init(&out, 65536);
    buf_add_char(&out, (char)ETF_VERSION);
    assert_true(etf_from_json(str_of(json), a, &out));
    struct str s = str_dup(a, buf_as_str(&out));
    buf_clear(&out);
    return s;
}

static struct str to_json(struct arena *a, struct str terms)
{
    struct buf out;

    buf_init(&out, 65536);
    assert_true(etf_to_json(terms, &out));
    struct str s = str_dup(a, buf_as_str(&out));
    buf_clear(&out);
    return s;
}

static bool refused(struct str terms)
{
    struct buf out;

    buf_init(&out, 65536);
    bool ok = etf_to_json(terms, &out);
    buf_clear(&out);
    return !ok;
}

static void json_values_round_trip_through_etf(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "null",
        "true",
        "false",
        "0",
        "255",
        "256",
        "-1",
        "-2147483648",
        "2147483647",
        "2147483648",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "0.5",
        "-1.25e+300",
        "\"\"",
        "\"text\"",
        "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"",
        "\"quote \\\" and \\n line\"",
        "[]",
        "[1,2,3]",
        "[[],{}]",
        "{}",
        "{\"a\":1,\"b\":[null,{\"c\":\"d\"}]}",
        "{\"op\":2,\"d\":{\"token\":\"x\"},\"s\":null,\"t\":null}",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena *a = arena_new();
        struct str back = to_json(a, to_terms(a, texts[i]));

        assert_true(str_is(back, texts[i]));
        arena_free(a);
    }
}

static void each_json_type_has_its_etf_tag(void **state)
{
    (void)state;
    struct arena *a = arena_new();

    assert_true(str_eq(to_terms(a, "255"), STR("\x83\x61\xff")));
    assert_true(str_eq(to_terms(a, "256"), STR("\x83\x62\0\0\1\0")));
    assert_true(str_eq(to_terms(a, "-1"), STR("\x83\x62\xff\xff\xff\xff")));
    assert_true(str_eq(to_terms(a, "2147483648"), STR("\x83\x6e\4\0\0\0\0\x80")));
    assert_true(str_eq(to_terms(a, "-2147483649"), STR("\x83\x6e\4\1\1\0\0\x80")));
    assert_true(str_eq(to_terms(a, "\"hi\""), STR("\x83\x6d\0\0\0\2hi")));
    assert_true(str_eq(to_terms(a, "null"), STR("\x83\x73\3nil")));
    assert_true(str_eq(to_terms(a, "true"), STR("\x83\x73\4true")));
    assert_true(str_eq(to_terms(a, "[]"), STR("\x83\x6a")));
    assert_true(str_eq(to_terms(a, "[1]"), STR("\x83\x6c\0\0\0\1\x61\1\x6a")));
    assert_true(str_eq(to_terms(a, "{\"a\":1}"), STR("\x83\x74\0\0\0\1\x6d\0\0\0\1\x61\x61\1")));
    assert_true(str_eq(to_terms(a, "1.5"), STR("\x83\x46\x3f\xf8\0\0\0\0\0\0")));
    assert_true(str_eq(to_terms(a, "1e999"), STR("\x83\x73\3nil")));
    arena_free(a);
}

static void alternative_etf_encodings_are_decoded(void **state)
{
    (void)state;
    struct arena *a = arena_new();

    assert_true(str_is(to_json(a, STR("\x83\x64\0\3nil")), "null"));
    assert_true(str_is(to_json(a, STR("\x83\x77\4null")), "null"));
    assert_true(str_is(to_json(a, STR("\x83\x76\0\5false")), "false"));
    assert_true(str_is(to_json(a, STR("\x83\x6b\0\2\1\xff")), "[1,255]"));
    assert_true(str_is(to_json(a, STR("\x83\x68\2\x61\1\x61\2")), "[1,2]"));
    assert_true(str_is(to_json(a, STR("\x83\x63"
                                      "1.50000000000000000000e+00\0\0\0\0\0")),
                       "1.5"));
    arena_free(a);
}

static void malformed_etf_is_refused(void **state)
{
    (void)state;
    assert_true(refused(STR("")));
    assert_true(refused(STR("\x83")));
    assert_true(refused(STR("\x82\x61\1")));
    assert_true(refused(STR("\x83\x61\1\x61")));                  /* trailing bytes */
    assert_true(refused(STR("\x83\x74\0\0\0\1\x73\2op\x61\1")));  /* an atom as key */
    assert_true(refused(STR("\x83\x73\5maybe")));                 /* another atom */
    assert_true(refused(STR("\x83\x6d\0\0\0\1\xff")));            /* not UTF-8 */
    assert_true(refused(STR("\x83\x6d\xff\xff\xff\xffx")));       /* length beyond the end */
    assert_true(refused(STR("\x83\x6c\0\0\0\1\x61\1\x61\2")));    /* improper list */
    assert_true(refused(STR("\x83\x6e\x9\0\1\1\1\1\1\1\1\1\1"))); /* 72 bits */
    assert_true(refused(STR("\x83\x6e\x8\1\1\0\0\0\0\0\0\x80"))); /* below int64 */
    assert_true(refused(STR("\x83\x46\x7f\xf0\0\0\0\0\0\0")));    /* infinity */
    assert_true(refused(STR("\x83\x50\0\0\0\1")));                /* compressed */
    assert_true(refused(STR("\x83\x6c\xff\xff\xff\xff")));
}

static void etf_nesting_depth_is_limited(void **state)
{
    (void)state;
    char deep[400];
    size_t n = 0;

    deep[n++] = (char)ETF_VERSION;
    for (int i = 0; i < 64; i++) {
        deep[n++] = 104;
        deep[n++] = 1;
    }
    deep[n++] = 106;
    assert_true(refused(str_slice(deep, n)));
    struct buf out;
    buf_init(&out, 1000);
    deep[2] = 1;
    /* A message with one level less is accepted. */
    deep[2 * 63 + 1] = 106;
    assert_true(etf_to_json(str_slice(deep, 2 * 63 + 2), &out));
    buf_clear(&out);
}

static void etf_conversion_fails_when_the_buffer_is_full(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    struct buf out;

    buf_init(&out, 4);
    assert_false(etf_from_json(STR("[1,2,3]"), a, &out));
    buf_clear(&out);
    buf_init(&out, 4);
    assert_false(etf_to_json(STR("\x83\x6b\0\4\1\1\1\1"), &out));
    buf_clear(&out);
    assert_false(etf_from_json(STR("[1,"), a, &out));
    buf_clear(&out);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_values_round_trip_through_etf),
        cmocka_unit_test(each_json_type_has_its_etf_tag),
        cmocka_unit_test(alternative_etf_encodings_are_decoded),
        cmocka_unit_test(malformed_etf_is_refused),
        cmocka_unit_test(etf_nesting_depth_is_limited),
        cmocka_unit_test(etf_conversion_fails_when_the_buffer_is_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
