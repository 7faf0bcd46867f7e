/* media.c - tests the sanitizing of filenames and the detection of images. */
#include "unit/unit.h"

#include "base/arena.h"
#include "platform/messages/internal.h"

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

static void assert_name(struct str sent, const char *retained)
{
    struct str safe = sanitize_filename(arena, sent);

    assert_int_equal(safe.n, strlen(retained));
    assert_memory_equal(safe.p, retained, safe.n);
}

static void uploaded_filenames_contain_only_safe_characters(void **state)
{
    (void)state;
    assert_name(STR("a-b_c.D9"), "a-b_c.D9");
    assert_name(STR("a/b\\c\"d\r\n"), "a_b_c_d__");
    assert_name(STR("a\0b"), "a_b");
    assert_name(STR("\xf0\x9f\x98\x80.png"), "_.png");
    assert_name(STR("...hidden"), "hidden");
    assert_name(STR("...."), "file");
    assert_name(STR(""), "file");
}

static void long_filenames_keep_their_extension(void **state)
{
    char name[200];

    (void)state;
    memset(name, 'a', sizeof name);
    assert_int_equal(sanitize_filename(arena, str_slice(name, 100)).n, 100);
    assert_int_equal(sanitize_filename(arena, str_slice(name, 101)).n, 100);
    memcpy(name + 196, ".tar", 4);
    struct str safe = sanitize_filename(arena, str_slice(name, 200));
    assert_int_equal(safe.n, 100);
    assert_memory_equal(safe.p + 95, "a.tar", 5);
    /* An extension that is too long is not preserved. */
    memset(name + 196, 'a', 4);
    name[10] = '.';
    assert_int_equal(sanitize_filename(arena, str_slice(name, 200)).n, 100);
}

static void assert_image_type_and_size(struct str bytes, const char *type, uint32_t width,
                                       uint32_t height)
{
    struct attachment_media_info m = media_detect_type(STR("x.txt"), bytes);

    assert_string_equal(m.type, type);
    assert_int_equal(m.width, width);
    assert_int_equal(m.height, height);
}

static void size_of_every_webp_format_is_detected(void **state)
{
    (void)state;
    assert_image_type_and_size(
        STR("RIFF\x1e\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x40\x01\xf0\x40"), "image/webp",
        320, 240);
    assert_image_type_and_size(STR("RIFF\x1e\0\0\0WEBPVP8L\x0a\0\0\0\x2f\x3f\x41\x3c\0\0\0\0\0\0"),
                               "image/webp", 320, 1 + (0x3c41 >> 6));
    assert_image_type_and_size(STR("RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\xff\0\0\0\x01"),
                               "image/webp", 65536, 65537);
}

static void truncated_images_have_no_size(void **state)
{
    static const char jpeg[] = "\xff\xd8\xff\xe0\0\x04zz\xff\xff\xc2\0\x11\x08\0\x30\0\x50\x03\1";

    (void)state;
    assert_image_type_and_size(STR(jpeg), "image/jpeg", 80, 48);
    for (size_t n = 3; n < 16; n++)
        assert_image_type_and_size(str_slice(jpeg, n), "image/jpeg", 0, 0);
    assert_image_type_and_size(STR("\xff\xd8\xff\xda\0\0\0\0\0\0\0\0"), "image/jpeg", 0, 0);
    assert_image_type_and_size(STR("GIF89a"), "text/plain; charset=utf-8", 0, 0);
    assert_image_type_and_size(STR("\x89PNG\r\n\x1a\n"), "text/plain; charset=utf-8", 0, 0);
}

static void only_passive_media_types_are_displayed_inline(void **state)
{
    (void)state;
    assert_true(media_type_is_safe_inline(STR("image/png")));
    assert_true(media_type_is_safe_inline(STR("video/mp4")));
    assert_true(media_type_is_safe_inline(STR("text/plain; charset=utf-8")));
    assert_false(media_type_is_safe_inline(STR("image/svg+xml")));
    assert_false(media_type_is_safe_inline(STR("text/html; charset=utf-8")));
    assert_false(media_type_is_safe_inline(STR("application/pdf")));
    assert_false(media_type_is_safe_inline(STR("application/octet-stream")));
    assert_string_equal(media_detect_type(STR("a.HTML"), STR("x")).type,
                        "text/html; charset=utf-8");
    assert_string_equal(media_detect_type(STR("a"), STR("x")).type, "application/octet-stream");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uploaded_filenames_contain_only_safe_characters),
        cmocka_unit_test(long_filenames_keep_their_extension),
        cmocka_unit_test(size_of_every_webp_format_is_detected),
        cmocka_unit_test(truncated_images_have_no_size),
        cmocka_unit_test(only_passive_media_types_are_displayed_inline),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
