/* write.c - tests that the JSON writer gives the same text as JSON.stringify. */
#include "unit/unit.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "json/write.h"

static struct buf out;
static struct json_writer j;

static int set_up(void **state)
{
    (void)state;
    buf_init(&out, 1 << 20);
    j = json_writer_to_buf(&out);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_clear(&out);
    return 0;
}

static void json_writer_adds_commas_and_colons(void **state)
{
    (void)state;
    json_begin_object(&j);
    json_write_name(&j, "a");
    json_begin_array(&j);
    json_end_array(&j);
    json_write_name(&j, "b");
    json_begin_object(&j);
    json_end_object(&j);
    json_write_name(&j, "c");
    json_begin_array(&j);
    json_write_int(&j, 1);
    json_write_null(&j);
    json_write_bool(&j, true);
    json_write_bool(&j, false);
    json_write_text(&j, STR("x"));
    json_begin_array(&j);
    json_end_array(&j);
    json_write_raw(&j, STR("{\"k\":0}"));
    json_end_array(&j);
    json_write_escaped_key(&j, STR("d\"\n"));
    json_write_real(&j, 0.5);
    json_end_object(&j);
    assert_str(buf_as_str(&out), "{\"a\":[],\"b\":{},\"c\":[1,null,true,false,\"x\",[],{\"k\":0}],"
                                 "\"d\\\"\\n\":0.5}");
}

static void json_writer_writes_exact_integers(void **state)
{
    (void)state;
    static const int64_t values[] = { 0, 9, 10, 99, 100, -1, 1234567, INT64_MAX, INT64_MIN };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        json_write_int(&j, values[i]);
    assert_str(buf_as_str(&out),
               "0,9,10,99,100,-1,1234567,9223372036854775807,-9223372036854775808");
}

static void json_writer_writes_ids_and_times_as_strings(void **state)
{
    (void)state;
    json_write_id(&j, 0);
    json_write_id(&j, 175928847299117063);
    json_write_id(&j, UINT64_MAX);
    json_write_time(&j, 1769885131297561);
    assert_str(buf_as_str(&out), "\"0\",\"175928847299117063\",\"18446744073709551615\","
                                 "\"2026-01-31T18:45:31.297561+00:00\"");
}

static void json_writer_escapes_only_required_characters(void **state)
{
    (void)state;
    json_write_text(&j, STR("\b\f\n\r\t\"\\"));
    json_write_text(&j, STR("\x01\x1f\x7f/'<\xe2\x80\xa8\xf0\x9f\x98\x80"));
    json_write_text(&j, STR("a\0b"));
    assert_str(buf_as_str(&out), "\"\\b\\f\\n\\r\\t\\\"\\\\\","
                                 "\"\\u0001\\u001f\x7f/'<\xe2\x80\xa8\xf0\x9f\x98\x80\","
                                 "\"a\\u0000b\"");
}

/* Text is scanned eight bytes at a time, so the character to escape is tested at every offset. */
static void json_writer_finds_escapes_at_every_offset(void **state)
{
    (void)state;
    for (size_t n = 1; n < 40; n++) {
        for (size_t at = 0; at < n; at++) {
            char text[40];

            memset(text, 0xe9, sizeof text);
            text[at] = '"';
            buf_reset(&out);
            j = json_writer_to_buf(&out);
            json_write_text(&j, str_slice(text, n));
            assert_int_equal(out.n, n + 3);
            assert_memory_equal(out.p + at + 1, "\\\"", 2);
        }
    }
}

static void json_writer_writes_empty_text_as_two_quotes(void **state)
{
    (void)state;
    json_write_text(&j, str_of(NULL));
    json_write_text(&j, STR(""));
    json_write_raw(&j, STR(""));
    assert_str(buf_as_str(&out), "\"\",\"\",null");
}

static void json_writer_formats_floats_like_javascript(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        { 5.0, "5" },
        { -5.0, "-5" },
        { 0.0, "0" },
        { -0.0, "0" },
        { 0.1, "0.1" },
        { -0.5, "-0.5" },
        { 1.0 / 3, "0.3333333333333333" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 123.456, "123.456" },
        { 1e15, "1000000000000000" },
        { 9007199254740991.0, "9007199254740991" },
        { 9007199254740992.0, "9007199254740992" },
        { 1e20, "100000000000000000000" },
        { 123456789012345680000.0, "123456789012345680000" },
        { 1e21, "1e+21" },
        { 1.5e300, "1.5e+300" },
        { 0.000001, "0.000001" },
        { 0.00000123, "0.00000123" },
        { 1e-7, "1e-7" },
        { 1.5e-7, "1.5e-7" },
        { DBL_MAX, "1.7976931348623157e+308" },
        { DBL_MIN, "2.2250738585072014e-308" },
        { 5e-324, "5e-324" },
        { 2.2250738585072011e-308, "2.225073858507201e-308" },
        { 0x1p-44, "5.684341886080802e-14" },
        { 4.35, "4.35" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&out);
        j = json_writer_to_buf(&out);
        json_write_real(&j, cases[i].v);
        assert_str(buf_as_str(&out), cases[i].text);
    }
}

static void json_writer_writes_nan_and_infinity_as_null(void **state)
{
    (void)state;
    json_write_real(&j, INFINITY);
    json_write_real(&j, -INFINITY);
    json_write_real(&j, NAN);
    assert_str(buf_as_str(&out), "null,null,null");
}

static void written_floats_parse_back_to_the_same_value(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252ULL;

    for (int i = 0; i < 20000; i++) {
        double v;

        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        memcpy(&v, &seed, sizeof v);
        if (!isfinite(v))
            continue;
        buf_reset(&out);
        j = json_writer_to_buf(&out);
        json_write_real(&j, v);
        buf_add_char(&out, '\0');
        assert_true(strtod(out.p, NULL) == v);
    }
}

static void json_numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        skip();
    json_write_real(&j, 0.1);
    json_write_real(&j, 1.5e300);
    setlocale(LC_NUMERIC, "C");
    assert_str(buf_as_str(&out), "0.1,1.5e+300");
}

static void write_sample_json(struct json_writer *to)
{
    json_begin_object(to);
    json_write_name(to, "text");
    json_write_text(to, STR("a\"b\n\x01 plain text of some length"));
    json_write_escaped_key(to, STR("k\"ey"));
    json_begin_array(to);
    json_write_int(to, INT64_MIN);
    json_write_real(to, 0.1);
    json_write_bool(to, true);
    json_write_null(to);
    json_write_id(to, UINT64_MAX);
    json_write_time(to, 0);
    json_write_raw(to, STR("{\"raw\":[1,2]}"));
    json_end_array(to);
    json_write_name(to, "last");
    json_begin_object(to);
    json_end_object(to);
    json_end_object(to);
}

static void json_that_does_not_fit_is_truncated_and_marks_the_buffer_full(void **state)
{
    (void)state;
    write_sample_json(&j);
    for (size_t max = 0; max <= out.n + 1; max++) {
        struct buf small;
        struct json_writer k = json_writer_to_buf(&small);

        buf_init(&small, max);
        write_sample_json(&k);
        assert_int_equal(buf_is_full(&small), max < out.n);
        assert_true(str_starts_with(buf_as_str(&out), buf_as_str(&small)));
        assert_true(small.n <= max);
        buf_clear(&small);
    }
}

static void json_value_can_fill_the_buffer_to_its_last_byte(void **state)
{
    (void)state;
    struct buf small;

    buf_init(&small, 9);
    j = json_writer_to_buf(&small);
    json_write_text(&j, STR("ab\n"));
    assert_false(buf_is_full(&small));
    json_write_int(&j, 12);
    assert_false(buf_is_full(&small));
    assert_str(buf_as_str(&small), "\"ab\\n\",12");
    json_write_int(&j, 1);
    assert_true(buf_is_full(&small));
    buf_clear(&small);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(json_writer_adds_commas_and_colons),
        TEST(json_writer_writes_exact_integers),
        TEST(json_writer_writes_ids_and_times_as_strings),
        TEST(json_writer_escapes_only_required_characters),
        TEST(json_writer_finds_escapes_at_every_offset),
        TEST(json_writer_writes_empty_text_as_two_quotes),
        TEST(json_writer_formats_floats_like_javascript),
        TEST(json_writer_writes_nan_and_infinity_as_null),
        TEST(written_floats_parse_back_to_the_same_value),
        TEST(json_numbers_do_not_depend_on_the_locale),
        TEST(json_that_does_not_fit_is_truncated_and_marks_the_buffer_full),
        TEST(json_value_can_fill_the_buffer_to_its_last_byte),
    };
    return cmocka_run_group_tests_name("json/write", tests, NULL, NULL);
}
