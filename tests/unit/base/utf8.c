/* utf8.c - UTF-8, strictly. */
#include "unit/unit.h"

#include "base/utf8.h"

static void accepts_each_form_at_its_limits(void **state)
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

        assert_true(utf8_valid(s));
        assert_int_equal(utf8_length(s), 1);
        assert_int_equal(utf8_decode(s, &cp), s.n);
        assert_int_equal(cp, cases[i].cp);
        assert_int_equal(utf8_encode(cp, out), s.n);
        assert_memory_equal(out, s.p, s.n);
        /* Cut off anywhere, it is not. */
        for (size_t n = 1; n < s.n; n++) {
            assert_false(utf8_valid(str_slice(s.p, n)));
            assert_int_equal(utf8_decode(str_slice(s.p, n), &cp), 0);
        }
    }
}

static void refuses_what_is_not_utf8(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\x80",             /* a continuation alone */
        "\xbf",             /* its last form */
        "\xc0\x80",         /* NUL in two bytes */
        "\xc1\xbf",         /* 0x7f in two */
        "\xe0\x9f\xbf",     /* 0x7ff in three */
        "\xf0\x8f\xbf\xbf", /* 0xffff in four */
        "\xed\xa0\x80",     /* first surrogate */
        "\xed\xbf\xbf",     /* last surrogate */
        "\xf4\x90\x80\x80", /* 0x110000 */
        "\xf5\x80\x80\x80", /* beyond */
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
        assert_false(utf8_valid(str_of(bad[i])));
        /* Also behind and before long ASCII, which is read eight at a time. */
        for (size_t before = 0; before < 17; before++) {
            size_t n = strlen(bad[i]);

            memset(padded, 'a', sizeof padded);
            memcpy(padded + before, bad[i], n);
            assert_false(utf8_valid(str_slice(padded, sizeof padded)));
        }
    }
}

static void empty_text_is_valid_and_has_no_code_point(void **state)
{
    (void)state;
    uint32_t cp;

    assert_true(utf8_valid(str_of(NULL)));
    assert_int_equal(utf8_length(STR("")), 0);
    assert_int_equal(utf8_decode(STR(""), &cp), 0);
}

static void counts_code_points_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(utf8_length(STR("na\xc3\xafve \xf0\x9f\x98\x80")), 7);
}

/* Of any bytes those count that do not go on with a character, eight at a time or one by one. */
static void counts_every_byte_at_every_place(void **state)
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

static void trims_unicode_white_space_at_both_ends_only(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_each_form_at_its_limits),
        cmocka_unit_test(refuses_what_is_not_utf8),
        cmocka_unit_test(empty_text_is_valid_and_has_no_code_point),
        cmocka_unit_test(counts_code_points_not_bytes),
        cmocka_unit_test(counts_every_byte_at_every_place),
        cmocka_unit_test(trims_unicode_white_space_at_both_ends_only),
    };
    return cmocka_run_group_tests_name("base/utf8", tests, NULL, NULL);
}
