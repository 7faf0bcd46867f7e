/* image.c - tests images as data URIs, and the detection of their type. */
#include "unit/unit.h"

#include "base/arena.h"
#include "json/schema.h"

static const struct type image = { .kind = KIND_IMAGE, .max = 12 };

static struct arena *arena;
static struct form form;

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

static enum err decode(const char *uri, void **ret)
{
    form = (struct form){ .arena = arena };
    return schema_decode(&image, str_printf(arena, "\"%s\"", uri), &form, ret);
}

static const char *extension(const char *uri)
{
    void *ret;

    return decode(uri, &ret) == OK ? ((struct uploaded_image *)ret)->extension : "none";
}

static void wrong(const char *uri, const char *code)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    void *ret;

    assert_int_equal(decode(uri, &ret), ERR_INVALID_FORM_BODY);
    buf_init(&out, 10000);
    write_form_errors_json(&form, &j);
    buf_add_char(&out, '\0');
    assert_non_null(strstr(out.p, code));
    buf_clear(&out);
}

static void image_type_is_detected_from_its_bytes_not_its_label(void **state)
{
    (void)state;
    assert_string_equal(extension("data:image/gif;base64,iVBORw0KGgo="), "png");
    assert_string_equal(extension("data:image/png;base64,/9j/4AAQ"), "jpeg");
    assert_string_equal(extension("data:image/png;base64,R0lGODlhAQA="), "gif");
    assert_string_equal(extension("data:text/plain;base64,R0lGODdhAQA="), "gif");
    assert_string_equal(extension("data:;base64,UklGRgAAAABXRUJQ"), "webp");
}

static void white_space_in_base64_images_is_ignored(void **state)
{
    (void)state;
    assert_string_equal(extension("data:image/gif;base64,R0lG\\nODlh\\r\\nAQA=\\n"), "gif");
    assert_string_equal(extension("data:image/gif;base64, R0lG ODlh\\tAQA="), "gif");
}

static void decoded_image_contains_the_bytes(void **state)
{
    (void)state;
    void *ret;

    assert_int_equal(decode("data:image/gif;base64,R0lGODlhAQA=", &ret), OK);
    const struct uploaded_image *i = ret;
    assert_int_equal(i->bytes.n, 8);
    assert_memory_equal(i->bytes.p, "GIF89a\x01\0", 8);
}

static void data_uri_may_have_spaces_after_separators(void **state)
{
    (void)state;
    assert_string_equal(extension("data: image/gif; base64, R0lGODlhAQA="), "gif");
    assert_string_equal(extension("DATA:image/gif;BASE64,R0lGODlhAQA="), "gif");
}

static void invalid_image_data_uris_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "data:image/png;base64",
        "data:image/png;base64,",
        "data:image/png,R0lGODlhAQA=",
        "data:image/png;base32,R0lGODlhAQA=",
        "image/png;base64,R0lGODlhAQA=",
        "R0lGODlhAQA=",
        "data:image/gif;base64,R0lGODlhAQA",
        "data:image/gif;base64,R0lGODlh!AA=",
        "data:image/gif;base64,R0lGODphAQA=",
        "data:image/webp;base64,UklGRgAAAABXRUJR",
        "data:image/webp;base64,UklGRgAA",
        "data:image/png;base64,iVBORw0KGg==",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        wrong(bad[i], "\"IMAGE_INVALID\",\"message\":\"Invalid image\"");

    void *ret;
    form = (struct form){ .arena = arena };
    assert_int_equal(schema_decode(&image, STR("5"), &form, &ret), ERR_INVALID_FORM_BODY);
}

static void image_size_limit_counts_decoded_bytes(void **state)
{
    (void)state;
    /* 12 bytes are allowed. */
    assert_string_equal(extension("data:image/gif;base64,R0lGODlhAQABAAAA"), "gif");
    wrong("data:image/gif;base64,R0lGODlhAQABAAAAAA==",
          "\"BINARY_TYPE_MAX_SIZE\",\"message\":\"File cannot be larger than 0.0 kb.\"");
    assert_string_equal(extension("data:image/gif;base64,R0lGODlhAQABAAA="), "gif");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(image_type_is_detected_from_its_bytes_not_its_label),
        TEST(decoded_image_contains_the_bytes),
        TEST(white_space_in_base64_images_is_ignored),
        TEST(data_uri_may_have_spaces_after_separators),
        TEST(invalid_image_data_uris_are_refused),
        TEST(image_size_limit_counts_decoded_bytes),
    };
    return cmocka_run_group_tests_name("json/image", tests, NULL, NULL);
}
