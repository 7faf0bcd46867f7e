/* read.c - tests the JSON reader: exact values, and the refusal of malformed text.
 * tests/conformance has the longer list of valid and invalid JSON. */
#include "unit/unit.h"

#include <math.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "json/read.h"

static struct arena *arena;
static struct json_reader r;

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

static void read_from(const char *text)
{
    json_reader_init(&r, str_of(text), arena);
}

static struct json_number number(const char *text)
{
    struct json_number n;

    read_from(text);
    assert_int_equal(json_peek_kind(&r), JSON_NUMBER);
    assert_true(json_read_number(&r, &n));
    assert_true(json_is_at_end(&r));
    assert_str(n.raw, text);
    return n;
}

static struct str string(const char *text)
{
    struct str s = { NULL, 0 };

    read_from(text);
    assert_int_equal(json_peek_kind(&r), JSON_STRING);
    assert_true(json_read_string(&r, &s));
    assert_true(json_is_at_end(&r));
    return s;
}

static void json_integers_are_exact_to_64_bits(void **state)
{
    (void)state;
    struct json_number n = number("9223372036854775807");
    assert_int_equal(n.kind, NUMBER_INT);
    assert_true(n.i == INT64_MAX);

    n = number("9223372036854775808");
    assert_int_equal(n.kind, NUMBER_UINT);
    assert_true(n.u == 9223372036854775808ULL);

    n = number("18446744073709551615");
    assert_int_equal(n.kind, NUMBER_UINT);
    assert_true(n.u == UINT64_MAX);
    assert_true(n.d == 18446744073709551616.0);

    n = number("18446744073709551616");
    assert_int_equal(n.kind, NUMBER_REAL);
    assert_true(n.d == 18446744073709551616.0);

    n = number("-9223372036854775808");
    assert_int_equal(n.kind, NUMBER_INT);
    assert_true(n.i == INT64_MIN);

    n = number("-9223372036854775809");
    assert_int_equal(n.kind, NUMBER_REAL);
    assert_true(n.d == -9223372036854775808.0);

    n = number("9007199254740993");
    assert_true(n.i == 9007199254740993);
    assert_true(n.d == 9007199254740992.0);
}

static void negative_zero_is_parsed(void **state)
{
    (void)state;
    struct json_number n = number("-0");

    assert_int_equal(n.kind, NUMBER_INT);
    assert_int_equal(n.i, 0);
    assert_true(signbit(n.d));
    n = number("-0.0e-5");
    assert_int_equal(n.kind, NUMBER_REAL);
    assert_true(n.d == 0 && signbit(n.d));
    assert_false(signbit(number("0").d));
}

static void json_numbers_are_rounded_to_the_nearest_double(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double v;
    } cases[] = {
        { "0.1", 0.1 },
        { "1e2", 100 },
        { "1E+2", 100 },
        { "150e-2", 1.5 },
        { "-2.5", -2.5 },
        { "1e22", 1e22 },
        { "1e23", 1e23 },
        { "0.30000000000000004", 0.30000000000000004 },
        { "1.7976931348623157e308", 1.7976931348623157e308 },
        { "1.7976931348623159e308", INFINITY },
        { "-1e400", -INFINITY },
        { "1e99999999999999999999", INFINITY },
        { "1e-99999999999999999999", 0 },
        { "0e99999999999999999999", 0 },
        { "5e-324", 5e-324 },
        { "2e-324", 0 },
        { "3e-324", 5e-324 },
        { "2.2250738585072011e-308", 2.2250738585072011e-308 },
        { "9007199254740993.0", 9007199254740992.0 },
        { "9007199254740993.00000000000000000000000000000001", 9007199254740994.0 },
        { "123456789012345678901234567890", 123456789012345678901234567890.0 },
        { "0.000000000000000000000000000001", 1e-30 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_number n = number(cases[i].text);

        assert_int_equal(n.kind, NUMBER_REAL);
        if (n.d != cases[i].v)
            fail_msg("%s is read as %.17g", cases[i].text, n.d);
    }
}

static void json_numbers_with_thousands_of_digits_are_rounded_correctly(void **state)
{
    (void)state;
    static char text[5000];

    memset(text, '0', sizeof text - 1);
    memcpy(text, "9007199254740993.", 17);
    assert_true(number(text).d == 9007199254740992.0);
    text[sizeof text - 2] = '1';
    assert_true(number(text).d == 9007199254740994.0);
    memcpy(text, "0.0", 3);
    memset(text + 3, '0', 16);
    assert_true(number(text).d == 0);
}

static void json_string_escapes_are_decoded(void **state)
{
    (void)state;
    assert_str(string("\"plain\""), "plain");
    assert_str(string("\"\""), "");
    assert_str(string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "\"\\/\b\f\n\r\t");
    assert_str(string("\"\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\""),
               "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_str(string("\"\\uDBFF\\uDFFF\\uffff\""), "\xf4\x8f\xbf\xbf\xef\xbf\xbf");
    assert_str(string("\"x\\ny\""), "x\ny");

    struct str s = string("\"a\\u0000b\"");
    assert_int_equal(s.n, 3);
    assert_memory_equal(s.p, "a\0b", 3);
}

static void json_strings_without_escapes_are_not_copied(void **state)
{
    (void)state;
    const char *text = "\"plain \xc3\xa9\"";

    assert_ptr_equal(string(text).p, text + 1);
    assert_int_equal(arena_used_bytes(arena), 0);
}

/* Strings are scanned eight bytes at a time, so the invalid byte is tested at every offset. */
static void invalid_bytes_are_found_at_every_offset_of_a_string(void **state)
{
    (void)state;
    char text[40];

    for (size_t n = 3; n < sizeof text; n++) {
        for (size_t at = 1; at < n - 1; at++) {
            memset(text, 'a', n);
            text[0] = text[n - 1] = '"';
            assert_true(json_is_valid(str_slice(text, n)));
            static const char bad[] = { '\0', '\n', '\x1f', '"', '\\', '\x80', '\xff', '\xc3' };
            for (size_t i = 0; i < sizeof bad; i++) {
                text[at] = bad[i];
                assert_false(json_is_valid(str_slice(text, n)));
            }
            text[at] = '\x7f';
            assert_true(json_is_valid(str_slice(text, n)));
        }
    }
}

/* Strings are tested with bytes after them and at the very end of the text. */
static void json_strings_with_invalid_utf8_are_refused(void **state)
{
    static const char thirds[] = { 'x', '\x7f', '\x80', '\xbf', '\xc0' };

    (void)state;
    for (int a = 0x80; a < 0x100; a++)
        for (int b = 0x60; b < 0x100; b++)
            for (size_t i = 0; i < sizeof thirds; i++)
                for (size_t n = 2; n < 5; n++) {
                    char text[] = { '"', (char)a, (char)b, thirds[i], '\x80', '"', '"' };

                    text[n + 1] = '"';
                    assert_int_equal(json_is_valid(str_slice(text, n + 2)),
                                     utf8_is_valid(str_slice(text + 1, n)));
                }
}

static void json_reader_returns_values_one_by_one(void **state)
{
    (void)state;
    struct json_number n;
    struct str key, s;
    bool b;

    read_from(" { \"a\" : [ 1 , true , null ] , \"b\\n\" : { } , \"c\":[],\"d\":\"x\" } ");
    assert_int_equal(json_peek_kind(&r), JSON_OBJECT);
    json_enter_container(&r);
    assert_true(json_next_member(&r, &key));
    assert_str(key, "a");
    assert_int_equal(json_peek_kind(&r), JSON_ARRAY);
    json_enter_container(&r);
    assert_true(json_next_item(&r));
    assert_true(json_read_number(&r, &n));
    assert_true(json_next_item(&r));
    assert_int_equal(json_peek_kind(&r), JSON_BOOL);
    assert_true(json_read_bool(&r, &b) && b);
    assert_true(json_next_item(&r));
    assert_int_equal(json_peek_kind(&r), JSON_NULL);
    assert_true(json_read_null(&r));
    assert_false(json_next_item(&r));
    assert_true(json_next_member(&r, &key));
    assert_str(key, "b\n");
    json_enter_container(&r);
    assert_false(json_next_member(&r, &key));
    assert_true(json_next_member(&r, &key));
    json_enter_container(&r);
    assert_false(json_next_item(&r));
    assert_true(json_next_member(&r, &key));
    assert_str(key, "d");
    assert_true(json_read_string(&r, &s));
    assert_false(json_next_member(&r, &key));
    assert_true(json_is_at_end(&r));
    assert_int_equal(r.values, 8);
}

static void json_skip_returns_the_text_of_one_value(void **state)
{
    (void)state;
    struct str raw = { NULL, 0 };

    read_from(" [ {\"a\":[1,{}]} , \"\\n\" ,-1.5e3,null ] ");
    json_enter_container(&r);
    assert_true(json_next_item(&r) && json_skip_value(&r, &raw));
    assert_str(raw, "{\"a\":[1,{}]}");
    assert_true(json_next_item(&r) && json_skip_value(&r, &raw));
    assert_str(raw, "\"\\n\"");
    assert_true(json_next_item(&r) && json_skip_value(&r, &raw));
    assert_str(raw, "-1.5e3");
    assert_true(json_next_item(&r) && json_skip_value(&r, &raw));
    assert_str(raw, "null");
    assert_false(json_next_item(&r));
    assert_true(json_is_at_end(&r));
    assert_int_equal(arena_used_bytes(arena), 0);
}

static void json_reader_fails_after_the_first_error(void **state)
{
    (void)state;
    struct json_number n;
    struct str s;
    bool b;

    read_from("[1 2, {\"a\":1}]");
    json_enter_container(&r);
    assert_true(json_next_item(&r) && json_read_number(&r, &n));
    assert_false(json_next_item(&r));
    assert_false(json_reader_has_no_error(&r));
    assert_int_equal(json_peek_kind(&r), JSON_BAD);
    assert_false(json_read_number(&r, &n));
    assert_false(json_read_string(&r, &s));
    assert_false(json_read_bool(&r, &b));
    assert_false(json_read_null(&r));
    json_enter_container(&r);
    assert_false(json_next_item(&r));
    assert_false(json_next_member(&r, &s));
    assert_false(json_skip_value(&r, &s));
    assert_false(json_is_at_end(&r));
}

static void reading_a_json_value_of_the_wrong_type_is_an_error(void **state)
{
    (void)state;
    struct json_number n;
    struct str s;
    bool b;

    read_from("\"x\"");
    assert_false(json_read_number(&r, &n));
    assert_false(json_reader_has_no_error(&r));
    read_from("1");
    assert_false(json_read_string(&r, &s));
    read_from("null");
    assert_false(json_read_bool(&r, &b));
    read_from("true");
    assert_false(json_read_null(&r));
    read_from("1");
    json_enter_container(&r);
    assert_false(json_reader_has_no_error(&r));
    read_from("[]");
    json_enter_container(&r);
    assert_false(json_next_member(&r, &s));
    assert_false(json_reader_has_no_error(&r));
    read_from("{}");
    json_enter_container(&r);
    assert_false(json_next_item(&r));
    assert_false(json_reader_has_no_error(&r));
}

static void json_text_must_be_exactly_one_value(void **state)
{
    (void)state;
    struct json_number n;

    read_from("1 2");
    assert_true(json_read_number(&r, &n));
    assert_false(json_is_at_end(&r));
    /* A caller that would read both values gets the error too. */
    read_from("[]1");
    json_enter_container(&r);
    assert_false(json_next_item(&r));
    assert_false(json_read_number(&r, &n));
    assert_false(json_is_at_end(&r));
    /* An empty text is no value. */
    read_from("");
    assert_false(json_is_at_end(&r));
    /* A text that was not read to its end is refused. */
    read_from("[");
    json_enter_container(&r);
    assert_false(json_is_at_end(&r));
    assert_false(json_is_valid(str_of(NULL)));
}

static bool nested(size_t depth, char open, char close)
{
    static char text[2 * 100000];

    memset(text, open, depth);
    memset(text + depth, close, depth);
    return json_is_valid(str_slice(text, 2 * depth));
}

static void json_nesting_depth_is_limited(void **state)
{
    (void)state;
    assert_true(nested(JSON_MAX_DEPTH, '[', ']'));
    assert_false(nested(JSON_MAX_DEPTH + 1, '[', ']'));
    assert_false(nested(100000, '[', ']'));
}

static bool many(size_t count)
{
    static char text[2 * JSON_MAX_VALUES + 16];

    memset(text, ',', sizeof text);
    for (size_t i = 0; i < count; i++)
        text[1 + 2 * i] = '0';
    text[0] = '[';
    text[2 * count] = ']';
    return json_is_valid(str_slice(text, 2 * count + 1));
}

static void number_of_json_values_is_limited(void **state)
{
    (void)state;
    /* The array counts as one value. */
    assert_true(many(JSON_MAX_VALUES - 1));
    assert_false(many(JSON_MAX_VALUES));
}

static void expect_json_error_position(const char *text, const char *begins)
{
    struct str delivered_to = json_describe_syntax_error(str_of(text), arena);

    assert_string_equal(
        str_dup_cstring(arena, str_slice(delivered_to.p, delivered_to.n < strlen(begins)
                                                             ? delivered_to.n
                                                             : strlen(begins))),
        begins);
    assert_true(json_is_valid(str_of(text)) == (delivered_to.n == 0));
}

static void json_error_names_line_column_and_path(void **state)
{
    (void)state;
    expect_json_error_position("{\"a\": [1, {\"b\": null}]} ", "");
    expect_json_error_position("", "line 1, column 1: the text ends");
    expect_json_error_position(
        "{\n \"users\": [\n  {\"name\": \"\u00e4d\u00e4\" \"x\": 1}]}",
        "line 3, column 18, at users.0.name: a comma is missing before this");
    expect_json_error_position(
        "[1,]", "line 1, column 4, at 1: the character ']' is not allowed at this position");
    expect_json_error_position("{\"a\": 1,}", "line 1, column 9, at a: the character '}' is not");
    expect_json_error_position("{\"a\": [tru]}",
                               "line 1, column 8, at a.0: the character 't' is not");
    expect_json_error_position("{\"a\": {\"b\": \"x\n\"}}",
                               "line 1, column 13, at a.b: this string");
    expect_json_error_position("{\"a\" 1}", "line 1, column 2, at a: this string");
    expect_json_error_position("[1] 2", "line 1, column 5: the character '2' is not");
    expect_json_error_position("[1\n,\n", "line 3, column 1, at 1: the text ends");
    expect_json_error_position("[\x01]", "line 1, column 2, at 0: the byte 0x01 is not");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(json_integers_are_exact_to_64_bits),
        TEST(negative_zero_is_parsed),
        TEST(json_numbers_are_rounded_to_the_nearest_double),
        TEST(json_numbers_with_thousands_of_digits_are_rounded_correctly),
        TEST(json_string_escapes_are_decoded),
        TEST(json_strings_without_escapes_are_not_copied),
        TEST(invalid_bytes_are_found_at_every_offset_of_a_string),
        TEST(json_strings_with_invalid_utf8_are_refused),
        TEST(json_reader_returns_values_one_by_one),
        TEST(json_skip_returns_the_text_of_one_value),
        TEST(json_reader_fails_after_the_first_error),
        TEST(reading_a_json_value_of_the_wrong_type_is_an_error),
        TEST(json_text_must_be_exactly_one_value),
        TEST(json_nesting_depth_is_limited),
        TEST(number_of_json_values_is_limited),
        TEST(json_error_names_line_column_and_path),
    };
    return cmocka_run_group_tests_name("json/read", tests, NULL, NULL);
}
