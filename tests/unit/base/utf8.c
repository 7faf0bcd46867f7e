/* utf8.c - tests the strict UTF-8 decoder, the code point count and trimming. */
#include "unit/unit.h"

#include "base/utf8.h"

static void utf8_accepts_each_sequence_length_at_its_limits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t cp;
    } cases[] = {
        { "\x01", 0x1 },
        { "\x7f", 0x7f },
        { "\xc2\x80", 0x80 },
        { "\xdf\xbf", 0x7ff },
        { "\xe0\xa0\x80", 0x800 },
        { "\xed\x9f\xbf", 0xd7ff },
        { "\xee\x80\x80", 0xe000 },
        { "\xef\xbf\xbf", 0xffff },
        { "\xf0\x90\x80\x80", 0x10000 },
        { "\xf4\x8f\xbf\xbf", 0x10ffff },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str s = str_of(cases[i].text);
        uint32_t cp = 0;
        char out[4];

        assert_true(utf8_is_valid(s));
        assert_int_equal(utf8_length(s), 1);
        assert_int_equal(utf8_decode(s, &cp), s.n);
        assert_int_equal(cp, cases[i].cp);
        assert_int_equal(utf8_encode(cp, out), s.n);
        assert_memory_equal(out, s.p, s.n);
        /* Every truncated prefix of a sequence is invalid. */
        for (size_t n = 1; n < s.n; n++) {
            assert_false(utf8_is_valid(str_slice(s.p, n)));
            assert_int_equal(utf8_decode(str_slice(s.p, n), &cp), 0);
        }
    }
}

static void utf8_refuses_malformed_sequences(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\x80",             /* a continuation alone */
        "\xbf",             /* the last continuation byte */
        "\xc0\x80",         /* overlong NUL */
        "\xc1\xbf",         /* overlong 0x7f */
        "\xe0\x9f\xbf",     /* overlong 0x7ff */
        "\xf0\x8f\xbf\xbf", /* overlong 0xffff */
        "\xed\xa0\x80",     /* first surrogate */
        "\xed\xbf\xbf",     /* last surrogate */
        "\xf4\x90\x80\x80", /* 0x110000 */
        "\xf5\x80\x80\x80", /* beyond the last code point */
        "\xf8\x88\x80\x80\x80",
        "\xfe",
        "\xff",
        "\xc3(",     /* no continuation */
        "\xe2\x82(", /* third byte wrong */
        "\xe2(\xa1", /* second byte wrong */
        "\xf0\x9f\x98(",
    };
    char padded[64];
    uint32_t cp;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(utf8_decode(str_of(bad[i]), &cp), 0);
        assert_false(utf8_is_valid(str_of(bad[i])));
        /* The bad sequence is also found before and after long ASCII text, which is read eight
         * bytes at a time. */
        for (size_t before = 0; before < 17; before++) {
            size_t n = strlen(bad[i]);

            memset(padded, 'a', sizeof padded);
            memcpy(padded + before, bad[i], n);
            assert_false(utf8_is_valid(str_slice(padded, sizeof padded)));
        }
    }
}

static void empty_text_is_valid_utf8_without_code_points(void **state)
{
    (void)state;
    uint32_t cp;

    assert_true(utf8_is_valid(str_of(NULL)));
    assert_int_equal(utf8_length(STR("")), 0);
    assert_int_equal(utf8_decode(STR(""), &cp), 0);
}

static void utf8_length_counts_code_points(void **state)
{
    (void)state;
    assert_int_equal(utf8_length(STR("na\xc3\xafve \xf0\x9f\x98\x80")), 7);
}

static void utf8_length_counts_non_continuation_bytes_at_every_offset(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++)
        for (size_t n = 1; n < 20; n++)
            for (size_t i = 0; i < n; i++) {
                char text[20];

                memset(text, byte & 1 ? 0xbf : 'x', n);
                text[i] = (char)byte;
                assert_int_equal(utf8_length(str_slice(text, n)),
                                 (byte & 1 ? 0 : n - 1) + ((byte & 0xc0) != 0x80));
            }
}

static void utf8_trim_removes_unicode_white_space_at_both_ends(void **state)
{
    (void)state;
    assert_str(utf8_trim(STR(" \t\n a b \r\v\f")), "a b");
    assert_str(utf8_trim(STR("\xc2\xa0\xe2\x80\x83x\xe3\x80\x80\xc2\x85")), "x");
    assert_str(utf8_trim(STR("\xe2\x80\xa8\xe2\x80\xa9\xe1\x9a\x80")), "");
    assert_str(utf8_trim(STR("")), "");
    /* A zero width space is not white space. */
    assert_str(utf8_trim(STR("\xe2\x80\x8bx")), "\xe2\x80\x8bx");
    assert_str(utf8_trim(STR("\xc3\xa9 ")), "\xc3\xa9");
}

static void truncated_character_at_the_end_is_removed(void **state)
{
    (void)state;
    assert_str(utf8_drop_incomplete_last_character(STR("a\xf0\x9f\x98\x80")), "a\xf0\x9f\x98\x80");
    assert_str(utf8_drop_incomplete_last_character(STR("a\xf0\x9f\x98")), "a");
    assert_str(utf8_drop_incomplete_last_character(STR("a\xf0\x9f")), "a");
    assert_str(utf8_drop_incomplete_last_character(STR("a\xf0")), "a");
    assert_str(utf8_drop_incomplete_last_character(STR("a\xc3\xa9")), "a\xc3\xa9");
    assert_str(utf8_drop_incomplete_last_character(STR("a\xc3")), "a");
    assert_str(utf8_drop_incomplete_last_character(STR("abc")), "abc");
    assert_str(utf8_drop_incomplete_last_character(STR("")), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_accepts_each_sequence_length_at_its_limits),
        cmocka_unit_test(utf8_refuses_malformed_sequences),
        cmocka_unit_test(empty_text_is_valid_utf8_without_code_points),
        cmocka_unit_test(utf8_length_counts_code_points),
        cmocka_unit_test(utf8_length_counts_non_continuation_bytes_at_every_offset),
        cmocka_unit_test(utf8_trim_removes_unicode_white_space_at_both_ends),
        cmocka_unit_test(truncated_character_at_the_end_is_removed),
    };
    return cmocka_run_group_tests_name("base/utf8", tests, NULL, NULL);
}
