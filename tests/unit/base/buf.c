/* buf.c - tests that buffers grow up to their maximum size and not beyond. */
#include "unit/unit.h"

#include "base/arena.h"
#include "base/buf.h"

static void buffer_content_survives_growth(void **state)
{
    (void)state;
    struct buf b;

    buf_init(&b, 1 << 20);
    for (int i = 0; i < 100000; i++)
        buf_add_char(&b, (char)('a' + i % 26));
    assert_int_equal(b.n, 100000);
    for (size_t i = 0; i < b.n; i++)
        assert_int_equal(b.p[i], 'a' + i % 26);
    assert_false(buf_is_full(&b));
    buf_clear(&b);
    assert_int_equal(b.n, 0);
    buf_add_lit(&b, "again");
    assert_str(buf_as_str(&b), "again");
    buf_clear(&b);
}

static void buffer_accepts_exactly_its_maximum_size(void **state)
{
    (void)state;
    struct buf b;

    buf_init(&b, 10);
    buf_add_lit(&b, "12345");
    buf_add_lit(&b, "67890");
    assert_false(buf_is_full(&b));
    assert_str(buf_as_str(&b), "1234567890");
    buf_add_char(&b, 'x');
    assert_true(buf_is_full(&b));
    assert_str(buf_as_str(&b), "1234567890");
    buf_clear(&b);
}

static void append_that_does_not_fit_is_dropped_entirely(void **state)
{
    (void)state;
    struct buf b;

    buf_init(&b, 10);
    buf_add_lit(&b, "12345");
    buf_add_lit(&b, "678901");
    assert_true(buf_is_full(&b));
    assert_str(buf_as_str(&b), "12345");
    assert_null(buf_reserve(&b, SIZE_MAX));
    buf_reset(&b);
    assert_false(buf_is_full(&b));
    assert_int_equal(b.n, 0);
    buf_clear(&b);
}

/* Data after a dropped append would look complete. */
static void full_buffer_ignores_later_appends(void **state)
{
    (void)state;
    struct buf b;

    buf_init(&b, 10);
    buf_add_lit(&b, "12345");
    buf_add_lit(&b, "678901");
    buf_add_char(&b, 'x');
    buf_add_u64(&b, 7);
    buf_printf(&b, "%d", 8);
    assert_null(buf_reserve(&b, 1));
    assert_str(buf_as_str(&b), "12345");
    buf_truncate(&b, 3);
    assert_false(buf_is_full(&b));
    buf_add_lit(&b, "4567890");
    assert_str(buf_as_str(&b), "1234567890");
    assert_false(buf_is_full(&b));
    buf_clear(&b);
}

static void moving_an_overflowed_buffer_marks_its_arena_incomplete(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct buf b;

    buf_init(&b, 3);
    buf_add_lit(&b, "abc");
    assert_str(buf_move_to_arena(&b, arena), "abc");
    assert_false(arena_has_lost_data(arena));
    assert_int_equal(b.n, 0);
    buf_add_lit(&b, "abcd");
    assert_str(buf_move_to_arena(&b, arena), "");
    assert_true(arena_has_lost_data(arena));
    arena_reset(arena);
    assert_false(arena_has_lost_data(arena));
    arena_free(arena);
}

static void empty_append_never_fills_the_buffer(void **state)
{
    (void)state;
    struct buf b;

    buf_init(&b, 0);
    buf_add(&b, NULL, 0);
    assert_false(buf_is_full(&b));
    buf_add_char(&b, 'x');
    assert_true(buf_is_full(&b));
    buf_clear(&b);
}

static void integers_are_appended_up_to_their_limits(void **state)
{
    (void)state;
    struct buf b;

    buf_init(&b, 1000);
    buf_add_u64(&b, 0);
    buf_add_char(&b, ' ');
    buf_add_u64(&b, UINT64_MAX);
    buf_add_char(&b, ' ');
    buf_add_i64(&b, INT64_MIN);
    buf_add_char(&b, ' ');
    buf_add_i64(&b, -1);
    assert_str(buf_as_str(&b), "0 18446744073709551615 -9223372036854775808 -1");
    buf_clear(&b);
}

static void buf_printf_can_fill_the_last_byte(void **state)
{
    (void)state;
    struct buf b;
    char long_text[301];

    memset(long_text, 'x', 300);
    long_text[300] = '\0';
    buf_init(&b, 5);
    buf_printf(&b, "%d", 12345);
    assert_false(buf_is_full(&b));
    assert_str(buf_as_str(&b), "12345");
    buf_clear(&b);

    buf_init(&b, 300);
    buf_printf(&b, "%s", long_text);
    assert_false(buf_is_full(&b));
    assert_str(buf_as_str(&b), long_text);
    buf_printf(&b, "%s", "y");
    assert_true(buf_is_full(&b));
    assert_int_equal(b.n, 300);
    buf_clear(&b);
}

static void buf_drop_front_removes_bytes_from_the_front(void **state)
{
    (void)state;
    struct buf b;

    buf_init(&b, 100);
    buf_add_lit(&b, "abcdef");
    buf_drop_first_bytes(&b, 2);
    assert_str(buf_as_str(&b), "cdef");
    buf_drop_first_bytes(&b, 4);
    assert_int_equal(b.n, 0);
    buf_add_lit(&b, "x");
    buf_drop_first_bytes(&b, 100);
    assert_int_equal(b.n, 0);
    buf_clear(&b);
}

static void buf_add_html_escapes_special_characters(void **state)
{
    (void)state;
    struct buf b;

    buf_init(&b, 100);
    buf_add_html_escaped(&b, STR("<a title=\"x\">R&D's caf\xc3\xa9</a>"));
    assert_str(buf_as_str(&b), "&lt;a title=&quot;x&quot;&gt;R&amp;D's caf\xc3\xa9&lt;/a&gt;");
    buf_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer_content_survives_growth),
        cmocka_unit_test(buffer_accepts_exactly_its_maximum_size),
        cmocka_unit_test(append_that_does_not_fit_is_dropped_entirely),
        cmocka_unit_test(full_buffer_ignores_later_appends),
        cmocka_unit_test(moving_an_overflowed_buffer_marks_its_arena_incomplete),
        cmocka_unit_test(empty_append_never_fills_the_buffer),
        cmocka_unit_test(integers_are_appended_up_to_their_limits),
        cmocka_unit_test(buf_printf_can_fill_the_last_byte),
        cmocka_unit_test(buf_add_html_escapes_special_characters),
        cmocka_unit_test(buf_drop_front_removes_bytes_from_the_front),
    };
    return cmocka_run_group_tests_name("base/buf", tests, NULL, NULL);
}
