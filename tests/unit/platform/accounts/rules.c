/* rules.c - tests the rules for accounts: age, reserved usernames, image hashes. */
#include "unit/unit.h"

#include <sodium.h>
#include <string.h>

#include "platform/accounts/internal.h"

static void age_rises_on_the_birthday(void **state)
{
    (void)state;
    assert_int_equal(age_in_years_on(STR("2000-06-15"), STR("2013-06-14")), 12);
    assert_int_equal(age_in_years_on(STR("2000-06-15"), STR("2013-06-15")), 13);
    assert_int_equal(age_in_years_on(STR("2000-06-15"), STR("2013-06-16")), 13);
    assert_int_equal(age_in_years_on(STR("2000-06-15"), STR("2013-05-30")), 12);
    assert_int_equal(age_in_years_on(STR("2000-12-31"), STR("2014-01-01")), 13);
    assert_int_equal(age_in_years_on(STR("2000-01-01"), STR("2000-01-01")), 0);
    /* A person born on a leap day has the birthday on 1 March in other years. */
    assert_int_equal(age_in_years_on(STR("2000-02-29"), STR("2013-02-28")), 12);
    assert_int_equal(age_in_years_on(STR("2000-02-29"), STR("2013-03-01")), 13);
    /* A birth date in the future gives a negative age. */
    assert_true(age_in_years_on(STR("2030-01-01"), STR("2013-01-01")) < 13);
    assert_int_equal(age_in_years_on(STR("0001-01-01"), STR("2013-01-01")), 2012);
}

static void reserved_usernames_are_recognized(void **state)
{
    (void)state;
    assert_true(username_is_reserved(STR("everyone")));
    assert_true(username_is_reserved(STR("here")));
    assert_true(username_is_reserved(STR("me")));
    assert_true(username_is_reserved(STR("system")));
    assert_false(username_is_reserved(STR("everyone2")));
    assert_false(username_is_reserved(STR("")));
    assert_false(username_is_reserved(STR("ada")));
}

static struct arena *arena;

static struct str name_of(const char *extension, struct str bytes)
{
    return compute_picture_hash_of_upload(arena, &(struct uploaded_image){ bytes, extension }, 1);
}

static void image_hash_depends_on_content_and_upload(void **state)
{
    (void)state;
    struct str a = name_of("png", STR("abc"));

    assert_int_equal(a.n, 32);
    assert_true(str_eq(a, name_of("jpeg", STR("abc"))));
    assert_false(str_eq(a, name_of("png", STR("abd"))));
    assert_false(str_eq(a, compute_picture_hash_of_upload(
                               arena, &(struct uploaded_image){ STR("abc"), "png" }, 2)));
}

/* A GIF of one pixel, and an image block with its own colour table. */
#define GIF   "GIF89a\1\0\1\0\0\0\0"
#define FRAME "\x2c\0\0\0\0\1\0\1\0\x80\0\0\0\xff\xff\xff\2\2\x4c\1\0"
#define DELAY "\x21\xf9\4\0\0\0\0\0"

static void animated_images_have_hashes_with_an_a_prefix(void **state)
{
    (void)state;
    assert_true(str_starts_with(name_of("gif", STR(GIF FRAME FRAME ";")), STR("a_")));
    assert_int_equal(name_of("gif", STR(GIF DELAY FRAME DELAY FRAME ";")).n, 34);
    assert_int_equal(name_of("gif", STR(GIF DELAY DELAY FRAME ";")).n, 32);
    assert_int_equal(name_of("gif", STR(GIF)).n, 32);
    assert_int_equal(name_of("gif", STR("GIF89a")).n, 32);
    assert_int_equal(name_of("avif", STR("....ftypavis")).n, 34);
    assert_int_equal(name_of("avif", STR("....ftypavif")).n, 32);
    assert_true(str_starts_with(name_of("webp", STR("RIFF....WEBPVP8X....\x02...")), STR("a_")));
    assert_int_equal(name_of("webp", STR("RIFF....WEBPVP8X....\x10...")).n, 32);
    assert_int_equal(name_of("webp", STR("RIFF....WEBPVP8 ....\x02...")).n, 32);
    assert_int_equal(name_of("webp", STR("RIFF....WEBPVP8X....")).n, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(age_rises_on_the_birthday),
        cmocka_unit_test(reserved_usernames_are_recognized),
        cmocka_unit_test(image_hash_depends_on_content_and_upload),
        cmocka_unit_test(animated_images_have_hashes_with_an_a_prefix),
    };

    if (sodium_init() < 0)
        return 1;
    arena = arena_new();
    int failed = cmocka_run_group_tests_name("platform/rules", tests, NULL, NULL);
    arena_free(arena);
    return failed;
}
