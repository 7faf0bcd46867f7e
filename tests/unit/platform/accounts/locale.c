/* locale.c - the language that headers ask for. */
#include "unit/unit.h"

#include "platform/accounts/internal.h"

static void assert_wanted(const char *named, const char *accepted, const char *expected)
{
    struct str found = locale_wanted(str_of(named), str_of(accepted));

    if (!expected) {
        assert_null(found.p);
        return;
    }
    assert_int_equal(found.n, strlen(expected));
    assert_memory_equal(found.p, expected, found.n);
}

static void the_header_of_its_own_goes_first(void **state)
{
    (void)state;
    assert_wanted("de", "fr", "de");
    assert_wanted(" PT-br ", "fr", "pt-BR");
    assert_wanted("tlh", "fr", "fr");
    assert_wanted("en", "fr", "fr"); /* only whole tags */
    assert_wanted("", "", NULL);
    assert_wanted("tlh", "", NULL);
}

static void the_heaviest_tag_that_we_have_wins(void **state)
{
    (void)state;
    assert_wanted("", "de", "de");
    assert_wanted("", "fr;q=0.5, de;q=0.8", "de");
    assert_wanted("", "fr;q=0.8,de;q=0.85", "de");
    assert_wanted("", "tlh, fr;q=0.2", "fr");
    assert_wanted("", "fr, de", "fr"); /* the first of equals */
    assert_wanted("", "fr;q=0.9, de;q=1.0", "de");
    assert_wanted("", "fr;q=0, de;q=0.001", "de");
    assert_wanted("", "fr;q=0", NULL);
    assert_wanted("", "*", NULL);
}

static void a_language_stands_for_its_regions(void **state)
{
    (void)state;
    assert_wanted("", "de-AT", "de");
    assert_wanted("", "en-GB", "en-GB");
    assert_wanted("", "en-AU", "en-US");
    assert_wanted("", "en", "en-US");
    assert_wanted("", "es", "es-ES");
    assert_wanted("", "es-419", "es-419");
    assert_wanted("", "pt-PT", "pt-BR");
    assert_wanted("", "sv", "sv-SE");
    assert_wanted("", "zh-TW", "zh-TW");
    assert_wanted("", "zh", "zh-CN");
}

static void nonsense_is_skipped(void **state)
{
    (void)state;
    assert_wanted("", ",;,=;q, ,fr", "fr");
    assert_wanted("", "fr;q=", NULL);
    assert_wanted("", "fr;q=7", NULL);
    assert_wanted("", "fr;level=1", NULL);
    assert_wanted("", "fr;q=0.99999999999999999999", "fr");
    assert_wanted("", "-", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_of_its_own_goes_first),
        cmocka_unit_test(the_heaviest_tag_that_we_have_wins),
        cmocka_unit_test(a_language_stands_for_its_regions),
        cmocka_unit_test(nonsense_is_skipped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
