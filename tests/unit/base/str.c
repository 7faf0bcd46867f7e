/* str.c - tests the functions for strings with explicit lengths: compare, split, parse, copy,
 * encode. */
#include "unit/unit.h"

#include <sodium.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void string_comparison_includes_bytes_after_nul(void **state)
{
    (void)state;
    assert_true(str_eq(STR("a\0b"), STR("a\0b")));
    assert_false(str_eq(STR("a\0b"), STR("a\0c")));
    assert_false(str_eq(STR("ab"), STR("abc")));
    assert_true(str_eq(str_of(NULL), STR("")));
    assert_true(str_is(STR("abc"), "abc"));
    assert_true(str_starts_with(STR("abc"), STR("ab")));
    assert_true(str_starts_with(str_of(NULL), STR("")));
    assert_false(str_starts_with(STR("ab"), STR("abc")));
}

static void case_insensitive_comparison_covers_only_ascii(void **state)
{
    (void)state;
    assert_true(str_eq_nocase(STR("Content-TYPE"), STR("content-type")));
    assert_false(str_eq_nocase(STR("a"), STR("ab")));
    /* The characters '@' and '`', '[' and '{' differ by 32, like letters of different case. */
    assert_false(str_eq_nocase(STR("@["), STR("`{")));
    assert_false(str_eq_nocase(STR("\xc3\x89"), STR("\xc3\xa9")));
    assert_str(str_lower(arena, STR("ABz[\xc3\x89")), "abz[\xc3\x89");
}

static void strings_are_ordered_by_bytes_then_by_length(void **state)
{
    (void)state;
    assert_true(str_cmp(STR("a"), STR("b")) < 0);
    assert_true(str_cmp(STR("b"), STR("a")) > 0);
    assert_true(str_cmp(STR("a"), STR("ab")) < 0);
    assert_true(str_cmp(STR("ab"), STR("a")) > 0);
    assert_int_equal(str_cmp(STR("ab"), STR("ab")), 0);
    assert_int_equal(str_cmp(STR(""), str_of(NULL)), 0);
    assert_true(str_cmp(STR("\xff"), STR("a")) > 0);
}

static void str_cut_removes_the_separator(void **state)
{
    (void)state;
    struct str s = STR("a,b,,c");

    assert_str(str_cut(&s, ','), "a");
    assert_str(str_cut(&s, ','), "b");
    assert_str(str_cut(&s, ','), "");
    assert_str(s, "c");
    assert_str(str_cut(&s, ','), "c");
    assert_int_equal(s.n, 0);
    assert_str(str_cut(&s, ','), "");
}

static void str_trim_removes_spaces_and_tabs_at_both_ends(void **state)
{
    (void)state;
    assert_str(str_trim(STR(" \t a b\t ")), "a b");
    assert_str(str_trim(STR(" \t ")), "");
    assert_str(str_trim(STR("\na")), "\na");
}

static void skipping_beyond_the_end_returns_an_empty_string(void **state)
{
    (void)state;
    assert_str(str_skip_bytes(STR("abc"), 1), "bc");
    assert_str(str_skip_bytes(STR("abc"), 3), "");
    assert_str(str_skip_bytes(STR("abc"), 9), "");
}

static void integers_are_parsed_up_to_their_limits(void **state)
{
    (void)state;
    uint64_t u;
    int64_t i;

    assert_true(str_to_u64(STR("18446744073709551615"), &u));
    assert_true(u == UINT64_MAX);
    assert_false(str_to_u64(STR("18446744073709551616"), &u));
    assert_false(str_to_u64(STR("99999999999999999999"), &u));
    assert_true(str_to_u64(STR("00000000000000000001"), &u));
    assert_int_equal(u, 1);
    assert_true(str_to_i64(STR("-9223372036854775808"), &i));
    assert_true(i == INT64_MIN);
    assert_false(str_to_i64(STR("-9223372036854775809"), &i));
    assert_true(str_to_i64(STR("9223372036854775807"), &i));
    assert_true(i == INT64_MAX);
    assert_false(str_to_i64(STR("9223372036854775808"), &i));
}

static void text_with_non_digits_does_not_parse_as_an_integer(void **state)
{
    (void)state;
    static const char *const bad[] = { "",    "-",   "+1",  "1 ", " 1", "1a",
                                       "--1", "1.0", "0x1", "/",  ":" };
    uint64_t u;
    int64_t i;

    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_false(str_to_u64(str_of(bad[k]), &u));
        assert_false(str_to_i64(str_of(bad[k]), &i));
    }
    assert_false(str_to_u64(STR("-1"), &u));
}

static void copied_strings_do_not_change_with_their_source(void **state)
{
    (void)state;
    char text[] = "abc";
    struct str copy = str_dup(arena, str_of(text));
    char *z = str_dup_cstring(arena, str_slice(text, 2));

    text[0] = 'x';
    assert_str(copy, "abc");
    assert_string_equal(z, "ab");
    assert_string_equal(str_dup_cstring(arena, str_of(NULL)), "");
    assert_str(str_printf(arena, "%d-%s", 5, "x"), "5-x");
}

static struct str unescape(const char *text, bool plus)
{
    struct str s = { NULL, 0 };

    assert_true(str_percent_decode(arena, str_of(text), plus, &s));
    return s;
}

static void reserved_characters_are_percent_encoded(void **state)
{
    (void)state;
    assert_str(str_percent_encode(arena, STR("azAZ09-._~")), "azAZ09-._~");
    assert_str(str_percent_encode(arena, STR("a b+c/d?e&f=g%")), "a%20b%2Bc%2Fd%3Fe%26f%3Dg%25");
    assert_str(str_percent_encode(arena, STR("\xe2\x82\xac\0")), "%E2%82%AC%00");
    assert_str(str_percent_encode(arena, STR("")), "");
    assert_str(str_percent_encode(arena, STR("`@[{/:^")), "%60%40%5B%7B%2F%3A%5E");
}

static void percent_escapes_are_decoded_only_once(void **state)
{
    (void)state;
    assert_str(unescape("a%20b", false), "a b");
    assert_str(unescape("%e2%82%AC", false), "\xe2\x82\xac");
    assert_str(unescape("%2525", false), "%25");
    assert_str(unescape("a+b", true), "a b");
    assert_str(unescape("a+b%2B", false), "a+b+");
    assert_str(unescape("", true), "");
    assert_int_equal(unescape("a%00b", false).n, 3);
}

static void malformed_percent_escapes_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "%", "%2", "a%2", "%g0", "%0g", "%%20", "%-1", "% 1" };
    struct str s;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(str_percent_decode(arena, str_of(bad[i]), true, &s));
}

static void hex_and_base64_round_trip(void **state)
{
    (void)state;
    const unsigned char bytes[] = { 0xfb, 0xff, 0x00, 0x10 };
    unsigned char out[4];
    size_t n;
    struct str s;

    assert_str(str_hex_encode(arena, bytes, 4), "fbff0010");
    assert_str(str_base64url_encode(arena, bytes, 4), "-_8AEA");
    assert_true(str_base64url_decode(STR("-_8AEA"), out, sizeof out, &n));
    assert_int_equal(n, 4);
    assert_memory_equal(out, bytes, 4);
    assert_true(str_base64_decode(arena, STR("+/8AEA=="), &s));
    assert_int_equal(s.n, 4);
    assert_memory_equal(s.p, bytes, 4);
    assert_true(str_base64_decode(arena, STR(""), &s));
    assert_int_equal(s.n, 0);
}

static void base64url_matches_libsodium(void **state)
{
    const int variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
    unsigned char bytes[100], out[100], others[100];
    char text[200];
    size_t n, m;

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 83 + 7);
    for (size_t i = 0; i <= sizeof bytes; i++) {
        sodium_bin2base64(text, sizeof text, bytes, i, variant);
        struct str s = str_base64url_encode(arena, bytes, i);
        assert_str(s, text);
        assert_true(str_base64url_decode(s, out, i, &n));
        assert_int_equal(n, i);
        assert_memory_equal(out, bytes, i);
    }
    for (size_t length = 1; length < 6; length++) {
        for (int c = 0; c < 256; c++) {
            memset(text, 'A', sizeof text);
            text[length - 1] = (char)c;
            /* Some versions of libsodium accept every byte above 127. */
            bool good = c < 128 && sodium_base642bin(others, sizeof others, text, length, NULL, &m,
                                                     NULL, variant) == 0;

            assert_int_equal(str_base64url_decode(str_slice(text, length), out, sizeof out, &n),
                             good);
            if (good)
                assert_int_equal(n, m);
            if (good)
                assert_memory_equal(out, others, n);
        }
    }
}

static void malformed_base64_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "+_8AEA==", "+/8AEA", "+/8AEA=", "A", "===", "+/8AEA==A" };
    unsigned char out[3];
    struct str s;
    size_t n;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(str_base64_decode(arena, str_of(bad[i]), &s));
    assert_true(str_base64_decode(arena, STR("+/8A\r\n EA=="), &s) && s.n == 4);
    assert_false(str_base64url_decode(STR("+/8AEA"), out, sizeof out, &n));
    assert_false(str_base64url_decode(STR("-_8AEA=="), out, sizeof out, &n));
    /* Four bytes do not fit into three. */
    assert_false(str_base64url_decode(STR("-_8AEA"), out, sizeof out, &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(string_comparison_includes_bytes_after_nul),
        cmocka_unit_test(case_insensitive_comparison_covers_only_ascii),
        cmocka_unit_test(strings_are_ordered_by_bytes_then_by_length),
        cmocka_unit_test(str_cut_removes_the_separator),
        cmocka_unit_test(str_trim_removes_spaces_and_tabs_at_both_ends),
        cmocka_unit_test(skipping_beyond_the_end_returns_an_empty_string),
        cmocka_unit_test(integers_are_parsed_up_to_their_limits),
        cmocka_unit_test(text_with_non_digits_does_not_parse_as_an_integer),
        cmocka_unit_test(copied_strings_do_not_change_with_their_source),
        cmocka_unit_test(reserved_characters_are_percent_encoded),
        cmocka_unit_test(percent_escapes_are_decoded_only_once),
        cmocka_unit_test(malformed_percent_escapes_are_refused),
        cmocka_unit_test(hex_and_base64_round_trip),
        cmocka_unit_test(base64url_matches_libsodium),
        cmocka_unit_test(malformed_base64_is_refused),
    };
    return cmocka_run_group_tests_name("base/str", tests, set_up, tear_down);
}
