/* search_words.c - tests the normalisation of text for search. */
#include "unit/unit.h"

#include "base/arena.h"
#include "model/text/search_words.h"

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

static void words_have_lower_case_and_no_accents(void **state)
{
    (void)state;
    struct list words = split_into_search_words(
        arena,
        normalize_search_text(arena, STR(" Cr\xc3\xa8me,  BR\xc3\x9bL\xc3\x89"
                                         "E ")),
        false);
    const struct str *w = words.items;

    assert_int_equal(words.count, 2);
    assert_str(w[0], "creme");
    assert_str(w[1], "brulee");
}

/* Returns the normalised text of q, `count` marks above, `count` marks below, and z. */
static struct str normalize_marks(const char *above, const char *below, int count)
{
    struct str text = STR("q");

    for (int i = 0; i < count; i++)
        text = STR_CONCAT(arena, text, str_of(above));
    for (int i = 0; i < count; i++)
        text = STR_CONCAT(arena, text, str_of(below));
    return normalize_search_text(arena, STR_CONCAT(arena, text, STR("z")));
}

/* More marks would be sorted in quadratic time. */
static void a_letter_has_at_most_30_combining_marks(void **state)
{
    (void)state;
    /* A mark has two bytes here. */
    assert_int_equal(normalize_marks("\xcc\x81", "\xcc\xa3", 15).n, 2 + 30 * 2);
    assert_int_equal(normalize_marks("\xcc\x81", "\xcc\xa3", 16).n, 2 + 30 * 2);
    assert_int_equal(normalize_marks("\xcc\x81", "\xcc\xa3", 500).n, 2 + 30 * 2);
    /* Halfwidth sound marks become combining marks of three bytes. */
    assert_int_equal(normalize_marks("\xef\xbe\x9e", "\xef\xbe\x9f", 500).n, 2 + 30 * 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(words_have_lower_case_and_no_accents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_letter_has_at_most_30_combining_marks, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
