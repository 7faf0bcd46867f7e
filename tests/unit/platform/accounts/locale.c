/* locale.c - tests how the locale of a request is found in its headers. */
#include "unit/unit.h"

#include "platform/accounts/internal.h"

static void assert_locale_from_headers(const char *named, const char *accepted,
                                       const char *expected)
{
    struct str found = determine_locale_from_header_values(str_of(named), str_of(accepted));

    if (!expected) {
        assert_null(found.p);
        return;
    }
    assert_int_equal(found.n, strlen(expected));
    assert_memory_equal(found.p, expected, found.n);
}

static void locale_header_overrides_accept_language(void **state)
{
    (void)state;
    assert_locale_from_headers("de", "fr", "de");
    assert_locale_from_headers(" PT-br ", "fr", "pt-BR");
    assert_locale_from_headers("tlh", "fr", "fr");
    assert_locale_from_headers("en", "fr", "fr"); /* only whole tags */
    assert_locale_from_headers("", "", NULL);
    assert_locale_from_headers("tlh", "", NULL);
}

static void supported_language_with_the_highest_weight_wins(void **state)
{
    (void)state;
    assert_locale_from_headers("", "de", "de");
    assert_locale_from_headers("", "fr;q=0.5, de;q=0.8", "de");
    assert_locale_from_headers("", "fr;q=0.8,de;q=0.85", "de");
    assert_locale_from_headers("", "tlh, fr;q=0.2", "fr");
    assert_locale_from_headers("", "fr, de", "fr"); /* the first of equal weights */
    assert_locale_from_headers("", "fr;q=0.9, de;q=1.0", "de");
    assert_locale_from_headers("", "fr;q=0, de;q=0.001", "de");
    assert_locale_from_headers("", "fr;q=0", NULL);
    assert_locale_from_headers("", "*", NULL);
}

static void language_falls_back_to_a_supported_region(void **state)
{
    (void)state;
    assert_locale_from_headers("", "de-AT", "de");
    assert_locale_from_headers("", "en-GB", "en-GB");
    assert_locale_from_headers("", "en-AU", "en-US");
    assert_locale_from_headers("", "en", "en-US");
    assert_locale_from_headers("", "es", "es-ES");
    assert_locale_from_headers("", "es-419", "es-419");
    assert_locale_from_headers("", "pt-PT", "pt-BR");
    assert_locale_from_headers("", "sv", "sv-SE");
    assert_locale_from_headers("", "zh-TW", "zh-TW");
    assert_locale_from_headers("", "zh", "zh-CN");
}

static void malformed_accept_language_entries_are_skipped(void **state)
{
    (void)state;
    assert_locale_from_headers("", ",;,=;q, ,fr", "fr");
    assert_locale_from_headers("", "fr;q=", NULL);
    assert_locale_from_headers("", "fr;q=7", NULL);
    assert_locale_from_headers("", "fr;level=1", NULL);
    assert_locale_from_headers("", "fr;q=0.99999999999999999999", "fr");
    assert_locale_from_headers("", "-", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locale_header_overrides_accept_language),
        cmocka_unit_test(supported_language_with_the_highest_weight_wins),
        cmocka_unit_test(language_falls_back_to_a_supported_region),
        cmocka_unit_test(malformed_accept_language_entries_are_skipped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
