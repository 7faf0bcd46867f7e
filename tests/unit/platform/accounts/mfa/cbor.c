/* cbor.c - tests the CBOR reader with examples of RFC 8949, and refusals. */
#include "unit/unit.h"

#include "platform/accounts/mfa/cbor.h"

/* A reader for a literal of bytes. */
#define READER(bytes) reader_of(STR(bytes))

static struct cbor_reader reader_of(struct str bytes)
{
    struct cbor_reader r;

    cbor_reader_init(&r, bytes);
    return r;
}

static void assert_cbor_integer_equals(struct str bytes, int64_t expected)
{
    struct cbor_reader r = reader_of(bytes);
    int64_t got;

    assert_true(cbor_read_int(&r, &got));
    assert_int_equal(got, expected);
    assert_ptr_equal(r.at, r.end);
}

static void cbor_integers_match_the_examples_of_rfc_8949(void **state)
{
    (void)state;
    assert_cbor_integer_equals(STR("\x00"), 0);
    assert_cbor_integer_equals(STR("\x17"), 23);
    assert_cbor_integer_equals(STR("\x18\x18"), 24);
    assert_cbor_integer_equals(STR("\x19\x03\xe8"), 1000);
    assert_cbor_integer_equals(STR("\x1a\x00\x0f\x42\x40"), 1000000);
    assert_cbor_integer_equals(STR("\x1b\x00\x00\x00\xe8\xd4\xa5\x10\x00"), INT64_C(1000000000000));
    assert_cbor_integer_equals(STR("\x20"), -1);
    assert_cbor_integer_equals(STR("\x38\x63"), -100);
    assert_cbor_integer_equals(STR("\x39\x03\xe7"), -1000);
}

static void cbor_maps_bytes_and_texts_are_read_in_order(void **state)
{
    struct cbor_reader r = READER("\xa2\x01\x44\x01\x02\x03\x04\x61\x61\x63"
                                  "def");
    struct str got;
    size_t count;
    int64_t key;

    (void)state;
    assert_true(cbor_read_map(&r, &count));
    assert_int_equal(count, 2);
    assert_true(cbor_read_int(&r, &key) && key == 1);
    assert_true(cbor_read_bytes(&r, &got) && str_is(got, "\x01\x02\x03\x04"));
    assert_true(cbor_read_text(&r, &got) && str_is(got, "a"));
    assert_true(cbor_read_text(&r, &got) && str_is(got, "def"));
    assert_false(cbor_skip(&r));
}

static void skipped_cbor_items_may_nest_four_levels_deep(void **state)
{
    static const struct str items[] = {
        STR_INIT("\x82\x61\x61\xa1\x61\x62\x61\x63"), /* ["a", {"b": "c"}] */
        STR_INIT("\x83\x01\x82\x02\x03\x82\x04\x05"), /* [1, [2, 3], [4, 5]] */
        STR_INIT("\xf9\x3c\x00"),
        STR_INIT("\xf5"),
        STR_INIT("\x80"),
        STR_INIT("\x81\x81\x01"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        struct cbor_reader r = reader_of(items[i]);

        assert_true(cbor_skip(&r));
        assert_ptr_equal(r.at, r.end);
    }
    struct cbor_reader deep = READER("\x81\x81\x81\x81\x01");
    assert_false(cbor_skip(&deep));
    struct cbor_reader less_deep = READER("\x81\x81\x81\x01");
    assert_true(cbor_skip(&less_deep));
}

static void malformed_and_indefinite_cbor_items_are_refused(void **state)
{
    static const struct str items[] = {
        STR_INIT(""),
        STR_INIT("\x18"),
        STR_INIT("\x1c"),
        STR_INIT("\x44\x01"),
        STR_INIT("\x5f\x41\xff"),
        STR_INIT("\x9f\xff"),
        STR_INIT("\xbf\xff"),
        STR_INIT("\x82\x01"),
        STR_INIT("\xa1\x01"),
        STR_INIT("\xc1\x01"), /* tag */
        STR_INIT("\xbb\xff\xff\xff\xff\xff\xff\xff\xff"),
        STR_INIT("\x5b\xff\xff\xff\xff\xff\xff\xff\xff"),
    };
    size_t count;
    int64_t v;

    (void)state;
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        struct cbor_reader r = reader_of(items[i]);

        assert_false(cbor_skip(&r));
        assert_false(cbor_skip(&r));
    }
    struct cbor_reader large = READER("\x1b\xff\xff\xff\xff\xff\xff\xff\xff");
    assert_false(cbor_read_int(&large, &v));
    struct cbor_reader text = READER("\x61\x61");
    assert_false(cbor_read_int(&text, &v));
    struct cbor_reader map = READER("\xa2\x01\x01");
    assert_false(cbor_read_map(&map, &count));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cbor_integers_match_the_examples_of_rfc_8949),
        cmocka_unit_test(cbor_maps_bytes_and_texts_are_read_in_order),
        cmocka_unit_test(skipped_cbor_items_may_nest_four_levels_deep),
        cmocka_unit_test(malformed_and_indefinite_cbor_items_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
