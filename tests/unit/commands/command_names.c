/* command_names.c - tests command names, localizations, choices and contexts of commands. */
#include "unit/unit.h"

#include <string.h>

#include "base/utf8.h"
#include "commands/commands.h"
#include "commands/command_names.h"

/* --- names ---------------------------------------------------------------------------- */

static enum command_name_error name_of(uint32_t c)
{
    char text[4];

    return check_command_name(str_slice(text, utf8_encode(c, text)));
}

static void devanagari_and_thai_vowel_signs_are_valid_in_names(void **state)
{
    static const uint32_t ranges[][2] = {
        { 0x0900, 0x0950 },   { 0x0955, 0x0963 }, { 0x0966, 0x097f }, { 0xa8e0, 0xa8ff },
        { 0x11b00, 0x11b09 }, { 0x0e01, 0x0e3a }, { 0x0e40, 0x0e5b },
    };
    static const uint32_t others[] = { 0x0951, 0x0954, 0x0964, 0x0965, 0x0e3f, 0x0e5c };

    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (uint32_t c = ranges[i][0]; c <= ranges[i][1]; c++)
            assert_int_equal(name_of(c), NAME_FINE);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(name_of(others[i]), NAME_CHARACTERS);
}

/* A name with a non-ASCII letter skips the ASCII table, so both must agree. */
static void ascii_table_agrees_with_the_unicode_rule(void **state)
{
    (void)state;
    for (uint32_t c = 1; c < 128; c++) {
        char both[] = { (char)c, (char)0xc3, (char)0xa9, 0 }; /* and an é */

        assert_int_equal(name_of(c), check_command_name(str_of(both)));
    }
}

static void upper_case_letters_of_every_script_are_refused(void **state)
{
    (void)state;
    assert_int_equal(name_of(0x00e9), NAME_FINE);       /* é */
    assert_int_equal(name_of(0x00c9), NAME_CASE);       /* É */
    assert_int_equal(name_of(0x01c5), NAME_CASE);       /* ǅ, title case */
    assert_int_equal(name_of(0x0130), NAME_CASE);       /* İ */
    assert_int_equal(name_of(0x10400), NAME_CASE);      /* Deseret */
    assert_int_equal(name_of(0x10428), NAME_FINE);      /* its lower case */
    assert_int_equal(name_of(0x1d400), NAME_FINE);      /* a capital without a lower case */
    assert_int_equal(name_of(0x2160), NAME_CASE);       /* Ⅰ, a number with a lower case */
    assert_int_equal(name_of(0x4e2d), NAME_FINE);       /* 中 */
    assert_int_equal(name_of(0x0301), NAME_CHARACTERS); /* a combining accent */
    assert_int_equal(name_of(0x064e), NAME_CHARACTERS); /* an Arabic vowel sign */
    assert_int_equal(name_of(0x1f600), NAME_CHARACTERS);
    assert_int_equal(name_of(0x00a0), NAME_CHARACTERS);
    assert_int_equal(name_of(0x200d), NAME_CHARACTERS); /* a joiner */
}

static void command_names_have_at_most_32_characters(void **state)
{
    char text[33 * 4];
    size_t n = 0;

    (void)state;
    for (int i = 0; i < 32; i++)
        n += utf8_encode(0x10428, text + n);
    assert_int_equal(check_command_name(str_slice(text, n)), NAME_FINE);
    n += utf8_encode(0x10428, text + n);
    assert_int_equal(check_command_name(str_slice(text, n)), NAME_CHARACTERS);
    assert_int_equal(check_command_name(STR("abcdefghijabcdefghijabcdefghijab")), NAME_FINE);
    assert_int_equal(check_command_name(STR("abcdefghijabcdefghijabcdefghijabc")), NAME_CHARACTERS);
    assert_int_equal(check_command_name(STR("")), NAME_CHARACTERS);
    assert_int_equal(check_command_name(STR("é\n")), NAME_CHARACTERS);
}

/* --- localizations -------------------------------------------------------------------- */

static struct string_pair words[] = { { STR_INIT("en-GB"), STR_INIT("colour") },
                                      { STR_INIT("en-US"), STR_INIT("color") },
                                      { STR_INIT("es-ES"), STR_INIT("color-es") } };

static bool finds(size_t count, const char *locale, const char *expected)
{
    struct opt_list dictionary = { GIVEN, { words, count } };
    struct str found;

    if (!localizations_find_text(&dictionary, str_of(locale), &found))
        return expected == NULL;
    return expected && str_is(found, expected);
}

static void localization_falls_back_to_a_related_locale(void **state)
{
    struct opt_list none = { .given = GIVEN_NULL };
    struct str found;

    (void)state;
    assert_true(finds(3, "en-GB", "colour"));
    assert_true(finds(3, "en-US", "color"));
    assert_true(finds(1, "en-US", "colour"));
    assert_true(finds(3, "es-419", "color-es"));
    assert_true(finds(3, "es-ES", "color-es"));
    assert_true(finds(3, "de", NULL));
    assert_true(finds(3, "pt-BR", NULL));
    assert_true(finds(3, "", NULL));
    assert_false(localizations_find_text(&none, STR("de"), &found));
    assert_true(locale_fallback_bits(STR("es-419")) ==
                (locale_get_bit(STR("es-419")) | locale_get_bit(STR("es-ES"))));
    assert_true(locale_fallback_bits(STR("es-ES")) == locale_get_bit(STR("es-ES")));
    assert_true(locale_get_bit(STR("he")) != 0);
    assert_true(locale_get_bit(STR("EN-us")) == 0);
}

static void each_supported_locale_has_its_own_bit(void **state)
{
    static const char *const others[] = { "", "d", "dex", "de-DE", "en", "zz", "DE", "m", "{}" };
    const struct enum_choice *c = type_locale.choices;

    (void)state;
    for (unsigned i = 0; c[i].doc; i++)
        assert_true(locale_get_bit(str_of(c[i].text)) == UINT64_C(1) << i);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(locale_get_bit(str_of(others[i])) == 0);
}

static void only_locales_with_a_bit_are_supported(void **state)
{
    static const char *const behind[] = { "", "-US", "-BR", "-419", "-TW", "x" };

    (void)state;
    for (int a = 0; a < 256; a++)
        for (int b = 0; b < 256; b++)
            for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
                char text[8] = { (char)a, (char)b };
                struct str locale = str_slice(text, 2 + strlen(behind[i]));

                memcpy(text + 2, behind[i], strlen(behind[i]));
                assert_int_equal(locale_is_supported(locale), locale_get_bit(locale) != 0);
            }
    assert_false(locale_is_supported(STR("")));
    assert_false(locale_is_supported(STR("d")));
}

static void command_locales_include_options_and_choices(void **state)
{
    struct string_pair de = { STR("de"), STR("x") }, fr = { STR("fr"), STR("x") },
                       ja = { STR("ja"), STR("x") };
    struct command_choice choice = { .name_localizations = { GIVEN, { &ja, 1 } } };
    struct command_option inner = { .choices = { GIVEN, { &choice, 1 } } };
    struct command_option outer = { .description_localizations = { GIVEN, { &fr, 1 } },
                                    .options = { GIVEN, { &inner, 1 } } };
    struct command k = { .name_localizations = { GIVEN, { &de, 1 } },
                         .options = { GIVEN, { &outer, 1 } } };

    (void)state;
    assert_true(command_locale_bits(&k) ==
                (locale_get_bit(de.key) | locale_get_bit(fr.key) | locale_get_bit(ja.key)));
}

static void choice_values_match_text_or_numbers(void **state)
{
    struct command_choice text = { .value = STR("\"a\\\"b\"") }, number = { .value = STR("1.5") };

    (void)state;
    assert_true(command_choice_equals_text(&text, STR("a\"b")));
    assert_false(command_choice_equals_text(&text, STR("a")));
    assert_false(command_choice_equals_number(&text, 0));
    assert_true(command_choice_equals_number(&number, 1.5));
    assert_false(command_choice_equals_number(&number, 1));
    assert_false(command_choice_equals_text(&number, STR("1.5")));
}

/* --- contexts ------------------------------------------------------------------------- */

enum { IN_GUILD = 1, IN_DM = 2, IN_PRIVATE = 4 };

static void contexts_field_overrides_dm_permission(void **state)
{
    int64_t some[] = { CONTEXT_BOT_DM, CONTEXT_PRIVATE_CHANNEL };
    struct command k = { .contexts = { .given = GIVEN_NULL }, .dm_permission = { GIVEN, true } };

    (void)state;
    assert_int_equal(command_get_context_bits(&k), IN_GUILD | IN_DM);
    k.dm_permission.value = false;
    assert_int_equal(command_get_context_bits(&k), IN_GUILD);
    k.contexts = (struct opt_list){ GIVEN, { some, 2 } };
    assert_int_equal(command_get_context_bits(&k), IN_DM | IN_PRIVATE);
    k.guild_id = (struct opt_id){ GIVEN, 1 };
    assert_int_equal(command_get_context_bits(&k), IN_GUILD);
    assert_int_equal(command_get_integration_type_bits(&k), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devanagari_and_thai_vowel_signs_are_valid_in_names),
        cmocka_unit_test(ascii_table_agrees_with_the_unicode_rule),
        cmocka_unit_test(upper_case_letters_of_every_script_are_refused),
        cmocka_unit_test(command_names_have_at_most_32_characters),
        cmocka_unit_test(localization_falls_back_to_a_related_locale),
        cmocka_unit_test(each_supported_locale_has_its_own_bit),
        cmocka_unit_test(only_locales_with_a_bit_are_supported),
        cmocka_unit_test(command_locales_include_options_and_choices),
        cmocka_unit_test(choice_values_match_text_or_numbers),
        cmocka_unit_test(contexts_field_overrides_dm_permission),
    };
    return cmocka_run_group_tests_name("commands/words", tests, NULL, NULL);
}
