/* form.c - tests the tree of form errors, which mirrors the request body. */
#include "unit/unit.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "json/form.h"

static struct arena *arena;
static struct form form;
static struct buf out;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    form = (struct form){ .arena = arena };
    buf_init(&out, 1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_clear(&out);
    arena_free(arena);
    return 0;
}

static struct str written(void)
{
    struct json_writer j = json_writer_to_buf(&out);

    buf_reset(&out);
    write_form_errors_json(&form, &j);
    return buf_as_str(&out);
}

static void form_without_errors_is_an_empty_object(void **state)
{
    (void)state;
    assert_false(form_has_errors(&form));
    assert_false(form_has_error_at_path(&form, NULL));
    assert_str(written(), "{}");
}

static void form_errors_are_nested_at_the_path_of_their_field(void **state)
{
    (void)state;
    struct json_path options = json_path_key(NULL, STR("options"));
    struct json_path second = json_path_index(&options, 1);
    struct json_path name = json_path_key(&second, STR("name"));
    struct json_path type = json_path_key(&second, STR("type"));

    form_add_error(&form, &name, FORM_BAD_LENGTH, 1LL, 32LL);
    form_add_error(&form, &type, FORM_REQUIRED);
    form_add_error(&form, &options, FORM_MAX_LENGTH, 25LL);
    assert_true(form_has_errors(&form));
    assert_str(
        written(),
        "{\"options\":{"
        "\"_errors\":[{\"code\":\"BASE_TYPE_MAX_LENGTH\",\"message\":\"Must be 25 or fewer in length.\"}],"
        "\"1\":{"
        "\"name\":{\"_errors\":[{\"code\":\"BASE_TYPE_BAD_LENGTH\",\"message\":\"Must be between 1 and 32 in length.\"}]},"
        "\"type\":{\"_errors\":[{\"code\":\"BASE_TYPE_REQUIRED\",\"message\":\"This field is required\"}]}}}}");
}

static void form_errors_of_the_whole_body_are_at_the_root(void **state)
{
    (void)state;
    form_add_error(&form, NULL, FORM_NOT_MODEL);
    form_add_error(&form, NULL, "X", "second %d", 2);
    assert_str(
        written(),
        "{\"_errors\":[{\"code\":\"MODEL_TYPE_CONVERT\",\"message\":\"Only dictionaries may be used in a ModelType\"},"
        "{\"code\":\"X\",\"message\":\"second 2\"}]}");
}

static void form_error_keys_are_copied_and_escaped(void **state)
{
    (void)state;
    char key[] = "a\"b";
    struct json_path at = json_path_key(NULL, str_of(key));

    form_add_error(&form, &at, "X", "m");
    key[0] = 'z';
    assert_str(written(), "{\"a\\\"b\":{\"_errors\":[{\"code\":\"X\",\"message\":\"m\"}]}}");
}

static void form_has_error_at_a_path_and_its_parents(void **state)
{
    (void)state;
    struct json_path a = json_path_key(NULL, STR("a")), zero = json_path_index(&a, 0),
                     one = json_path_index(&a, 1);
    struct json_path b = json_path_key(NULL, STR("b")), below = json_path_key(&zero, STR("x"));

    form_add_error(&form, &zero, "X", "m");
    assert_true(form_has_error_at_path(&form, NULL));
    assert_true(form_has_error_at_path(&form, &a));
    assert_true(form_has_error_at_path(&form, &zero));
    assert_false(form_has_error_at_path(&form, &one));
    assert_false(form_has_error_at_path(&form, &below));
    assert_false(form_has_error_at_path(&form, &b));
}

static void form_errors_below_a_path_can_be_removed(void **state)
{
    (void)state;
    struct json_path a = json_path_key(NULL, STR("a")), zero = json_path_index(&a, 0),
                     x = json_path_key(&zero, STR("x"));
    struct json_path b = json_path_key(NULL, STR("b")), c = json_path_key(NULL, STR("c"));

    form_add_error(&form, &x, "X", "m");
    form_add_error(&form, &b, "Y", "m");
    form_remove_errors_at_path(&form, &c);
    form_remove_errors_at_path(&form, &a);
    assert_str(written(), "{\"b\":{\"_errors\":[{\"code\":\"Y\",\"message\":\"m\"}]}}");
    form_remove_errors_at_path(&form, &b);
    assert_false(form_has_errors(&form));

    /* Parents without other errors are removed, up to the root. */
    form_add_error(&form, &x, "X", "m");
    form_remove_errors_at_path(&form, &x);
    assert_false(form_has_error_at_path(&form, &a));
    assert_false(form_has_errors(&form));
    assert_int_equal(form.problems, 0);
}

static void form_error_messages_are_valid_utf8(void **state)
{
    (void)state;
    form_add_error(&form, NULL, "X", "%s", "a\xff\xc3\xa9\xe2\x82z\xed\xa0\x80");
    assert_true(utf8_is_valid(written()));
    assert_str(written(), "{\"_errors\":[{\"code\":\"X\",\"message\":\"a\xef\xbf\xbd\xc3\xa9"
                          "\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"}]}");
}

static void quoted_values_in_errors_have_at_most_100_code_points(void **state)
{
    (void)state;
    char text[500];

    for (size_t i = 0; i < sizeof text; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    assert_int_equal(form_shorten_quoted_value(str_slice(text, 198)).n, 198);
    assert_int_equal(form_shorten_quoted_value(str_slice(text, 200)).n, 200);
    assert_int_equal(form_shorten_quoted_value(str_slice(text, 202)).n, 200);
    assert_int_equal(form_shorten_quoted_value(STR("")).n, 0);
    memset(text, 0x80, sizeof text);
    assert_int_equal(form_shorten_quoted_value(str_slice(text, sizeof text)).n, 100);
}

static void number_of_form_errors_is_limited(void **state)
{
    (void)state;
    struct json_path list = json_path_key(NULL, STR("list")),
                     other = json_path_key(NULL, STR("other"));

    for (size_t i = 0; i < FORM_MAX_ERRORS; i++) {
        struct json_path at = json_path_index(&list, i);

        form_add_error(&form, &at, FORM_REQUIRED);
    }
    assert_false(form_has_error_at_path(&form, &other));
    size_t before = written().n;
    form_add_error(&form, &other, FORM_REQUIRED);
    assert_int_equal(written().n, before);
    /* An error beyond the limit still counts as a failure for later checks. */
    assert_true(form_has_error_at_path(&form, &other));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(form_without_errors_is_an_empty_object),
        TEST(form_errors_are_nested_at_the_path_of_their_field),
        TEST(form_errors_of_the_whole_body_are_at_the_root),
        TEST(form_error_keys_are_copied_and_escaped),
        TEST(form_has_error_at_a_path_and_its_parents),
        TEST(form_errors_below_a_path_can_be_removed),
        TEST(form_error_messages_are_valid_utf8),
        TEST(quoted_values_in_errors_have_at_most_100_code_points),
        TEST(number_of_form_errors_is_limited),
    };
    return cmocka_run_group_tests_name("json/form", tests, NULL, NULL);
}
