/* scalar.c - tests the decoding of single values: coercion, refusal, limits. */
#include "unit/json/thing.h"

static void json_numbers_become_integers_only_without_loss(void **state)
{
    (void)state;
    assert_int_equal(good("'rank':5")->rank.value, 5);
    assert_int_equal(good("'rank':5.0")->rank.value, 5);
    assert_int_equal(good("'rank':-2.5e1")->rank.value, -25);
    assert_true(good("'rank':9223372036854775807")->rank.value == INT64_MAX);
    assert_true(good("'rank':-9223372036854775808")->rank.value == INT64_MIN);
    wrong("'rank':9223372036854775808", "NUMBER_TYPE_COERCE",
          "Value \"9223372036854775808\" is not int.");
    wrong("'rank':9.3e18", "NUMBER_TYPE_COERCE", "Value \"9.3e18\" is not int.");
    wrong("'rank':1e400", "NUMBER_TYPE_COERCE", "Value \"1e400\" is not int.");
    wrong("'rank':5.5", "NUMBER_TYPE_COERCE", "Value \"5.5\" is not int.");
    assert_int_equal(good("'rank':'5'")->rank.value, 5);
    assert_int_equal(good("'rank':'-5'")->rank.value, -5);
    assert_int_equal(good("'rank':'0'")->rank.value, 0);
    assert_true(good("'rank':'9223372036854775807'")->rank.value == INT64_MAX);
    wrong("'rank':'9223372036854775808'", "NUMBER_TYPE_COERCE",
          "Value \"9223372036854775808\" is not int.");
    wrong("'rank':'5.0'", "NUMBER_TYPE_COERCE", "Value \"5.0\" is not int.");
    wrong("'rank':'1e3'", "NUMBER_TYPE_COERCE", "Value \"1e3\" is not int.");
    wrong("'rank':'0x10'", "NUMBER_TYPE_COERCE", "Value \"0x10\" is not int.");
    wrong("'rank':'+5'", "NUMBER_TYPE_COERCE", "Value \"+5\" is not int.");
    wrong("'rank':'five'", "NUMBER_TYPE_COERCE", "Value \"five\" is not int.");
    wrong("'rank':''", "NUMBER_TYPE_COERCE", "Value \"\" is not int.");
    wrong("'rank':' 5'", "NUMBER_TYPE_COERCE", "Value \" 5\" is not int.");
    wrong("'rank':true", "NUMBER_TYPE_COERCE", "Value \"true\" is not int.");
    wrong("'rank':{ 'a' : 1 }", "NUMBER_TYPE_COERCE", "Value \"{ \"a\" : 1 }\" is not int.");
}

static void integers_out_of_range_are_refused(void **state)
{
    (void)state;
    assert_int_equal(good("'level':-5")->level, -5);
    assert_int_equal(good("'level':10")->level, 10);
    wrong("'level':-6", "NUMBER_TYPE_MIN", "int value should be greater than or equal to -5.");
    wrong("'level':11", "NUMBER_TYPE_MAX", "int value should be less than or equal to 10.");
    assert_true(good("'safe':9007199254740992")->safe.value == 1LL << 53);
    assert_true(good("'safe':-9007199254740992")->safe.value == -(1LL << 53));
    wrong("'safe':9007199254740993", "NUMBER_TYPE_MAX",
          "int value should be less than or equal to 9007199254740992.");
    wrong("'safe':-9007199254740993", "NUMBER_TYPE_MIN",
          "int value should be greater than or equal to -9007199254740992.");
    assert_int_equal(good("'clamp':0")->clamp.value, 1);
    assert_int_equal(good("'clamp':11")->clamp.value, 10);
    assert_int_equal(good("'clamp':5")->clamp.value, 5);
    assert_int_equal(good("'clamp':99999999999999999999")->clamp.value, 10);
    assert_int_equal(good("'clamp':-99999999999999999999")->clamp.value, 1);
    assert_int_equal(good("'clamp':'-99999999999999999999'")->clamp.value, 1);
    assert_int_equal(good("'level':'-5'")->level, -5);
    wrong("'level':'-6'", "NUMBER_TYPE_MIN", "int value should be greater than or equal to -5.");
    wrong("'level':'11'", "NUMBER_TYPE_MAX", "int value should be less than or equal to 10.");
    assert_int_equal(good("'mode':'2'")->mode.value, 2);
    assert_int_equal(good("'mode':'deux'")->mode.value, 2);
    wrong("'mode':'zwei'", "NUMBER_TYPE_COERCE", "Value \"zwei\" is not int.");
    wrong("'clamp':'-'", "NUMBER_TYPE_COERCE", "Value \"-\" is not int.");
    wrong("'clamp':1.5", "NUMBER_TYPE_COERCE", "Value \"1.5\" is not int.");
}

static void floating_point_fields_must_be_finite_and_in_range(void **state)
{
    (void)state;
    assert_true(good("'ratio':0.25")->ratio.value == 0.25);
    assert_true(good("'ratio':1")->ratio.value == 1);
    assert_true(good("'weight':-1e300")->weight == -1e300);
    assert_true(good("'clamped':2.5")->clamped.value == 2);
    assert_true(good("'clamped':0.5")->clamped.value == 1);
    wrong("'ratio':1.01", "NUMBER_TYPE_MAX", "float value should be less than or equal to 1.");
    wrong("'ratio':-0.01", "NUMBER_TYPE_MIN", "float value should be greater than or equal to 0.");
    wrong("'ratio':1e999", "NUMBER_TYPE_COERCE", "Value \"1e999\" is not float.");
    assert_true(good("'ratio':'1'")->ratio.value == 1);
    wrong("'ratio':'0.5'", "NUMBER_TYPE_COERCE", "Value \"0.5\" is not float.");
    wrong("'ratio':'nan'", "NUMBER_TYPE_COERCE", "Value \"nan\" is not float.");
    wrong("'ratio':false", "NUMBER_TYPE_COERCE", "Value \"false\" is not float.");
}

static void empty_value_is_null_if_the_type_says_so(void **state)
{
    (void)state;
    assert_int_equal(good("'alt':''")->alt.given, GIVEN_NULL);
    assert_int_equal(good("'alt':null")->alt.given, GIVEN_NULL);
    assert_int_equal(good("'alt':'a'")->alt.given, GIVEN);
    assert_int_equal(good("'since':0")->since.given, GIVEN_NULL);
    assert_int_equal(good("'since': 0 ")->since.given, GIVEN_NULL);
    assert_int_equal(good("'since':''")->since.given, GIVEN_NULL);
    assert_int_equal(good("'since':'1970-01-01 00:00:01'")->since.value, 1000000);
    wrong("'since':1", "DATE_TIME_TYPE_PARSE", "Could not parse 1. Should be ISO8601.");
    wrong("'since':0.5", "DATE_TIME_TYPE_PARSE", "Could not parse 0.5. Should be ISO8601.");
    wrong("'at':0", "DATE_TIME_TYPE_PARSE", "Could not parse 0. Should be ISO8601.");
}

static void text_with_a_nul_character_is_refused(void **state)
{
    (void)state;
    wrong("'note':'a\\u0000b'", "STRING_TYPE_REGEX",
          "String value did not match validation regex.");
    wrong("'note':'\\u0000'", "STRING_TYPE_REGEX", "String value did not match validation regex.");
}

static void boolean_fields_accept_only_true_and_false(void **state)
{
    (void)state;
    assert_true(good("'on':true")->on.value);
    assert_false(good("'on':false")->on.value);
    assert_int_equal(good("'on':false")->on.given, GIVEN);
    assert_false(good("'off':false")->off);
    wrong("'on':1", "BOOLEAN_TYPE_CONVERT", "Must be either true or false.");
    wrong("'on':'true'", "BOOLEAN_TYPE_CONVERT", "Must be either true or false.");
}

static void string_fields_refuse_other_json_types(void **state)
{
    (void)state;
    assert_str(good("'note':'x'")->note, "x");
    wrong("'note':12345678901234567890123", "STRING_TYPE_CONVERT",
          "Could not interpret \"12345678901234567890123\" as string.");
    wrong("'note':-5", "STRING_TYPE_CONVERT", "Could not interpret \"-5\" as string.");
    wrong("'note':1.5", "STRING_TYPE_CONVERT", "Could not interpret \"1.5\" as string.");
    wrong("'note':true", "STRING_TYPE_CONVERT", "Could not interpret \"true\" as string.");
    wrong("'note':[]", "STRING_TYPE_CONVERT", "Could not interpret \"[]\" as string.");
    wrong("'note':{}", "STRING_TYPE_CONVERT", "Could not interpret \"{}\" as string.");
}

static void lenient_types_accept_numbers_as_strings_and_strings_as_numbers(void **state)
{
    (void)state;
    assert_str(good("'lower':-5")->lower.value, "-5");
    wrong("'lower':1.5", "STRING_TYPE_CONVERT", "Could not interpret \"1.5\" as string.");
    wrong("'lower':true", "STRING_TYPE_CONVERT", "Could not interpret \"true\" as string.");
    assert_int_equal(good("'loose':'2'")->loose.value, 2);
    assert_true(good("'loose':'-9223372036854775808'")->loose.value == INT64_MIN);
    wrong("'loose':'5.0'", "NUMBER_TYPE_COERCE", "Value \"5.0\" is not int.");
    wrong("'loose':' 5'", "NUMBER_TYPE_COERCE", "Value \" 5\" is not int.");
    assert_true(good("'clamped':'1.5'")->clamped.value == 1.5);
    wrong("'clamped':' 1.5'", "NUMBER_TYPE_COERCE", "Value \" 1.5\" is not float.");
}

static void string_length_counts_code_points_after_trimming(void **state)
{
    (void)state;
    assert_str(good("'name':'  ab\\u2003'")->name, "ab");
    assert_str(
        good("'name':'\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80'")->name,
        "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80");
    wrong("'name':' a '", "BASE_TYPE_BAD_LENGTH", "Must be between 2 and 4 in length.");
    wrong("'name':'\xf0\x9f\x98\x80'", "BASE_TYPE_BAD_LENGTH",
          "Must be between 2 and 4 in length.");
    wrong("'name':'abcde'", "BASE_TYPE_BAD_LENGTH", "Must be between 2 and 4 in length.");
    assert_str(good("'nick':''")->nick.value, "");
    assert_str(good("'nick':'abc'")->nick.value, "abc");
    wrong("'nick':'abcd'", "BASE_TYPE_MAX_LENGTH", "Must be 3 or fewer in length.");
    wrong("'lower':''", "BASE_TYPE_MIN_LENGTH", "Must be 1 or more in length.");
}

static void text_without_a_declared_maximum_is_limited(void **state)
{
    (void)state;
    char *long_text = arena_alloc_unzeroed(arena, 152134);
    void *ret;

    memset(long_text, 'a', 152134);
    struct str most = str_printf(arena, "{\"name\":\"abc\",\"note\":\"%.152133s\"}", long_text);
    assert_int_equal(decode(&thing, most, &ret), OK);
    struct str more = str_printf(arena, "{\"name\":\"abc\",\"note\":\"%.152134s\"}", long_text);
    assert_int_equal(decode(&thing, more, &ret), ERR_INVALID_FORM_BODY);
    assert_str(form_text(), "{\"note\":{\"_errors\":[{\"code\":\"BASE_TYPE_MAX_LENGTH\","
                            "\"message\":\"Must be 152133 or fewer in length.\"}]}}");
}

static void string_rules_choices_and_lower_case_are_applied(void **state)
{
    (void)state;
    wrong("'nick':'axb'", "STRING_TYPE_REGEX", "String value did not match validation regex.");
    assert_str(good("'lower':'ABC\xc3\x89'")->lower.value, "abc\xc3\x89");
    assert_str(good("'type':'blue'")->kind, "blue");
    wrong("'type':'green'", "BASE_TYPE_CHOICES", "Value must be one of ('red', 'blue').");
    wrong("'type':'re'", "BASE_TYPE_CHOICES", "Value must be one of ('red', 'blue').");
    assert_int_equal(good("'mode':2")->mode.value, 2);
    wrong("'mode':3", "BASE_TYPE_CHOICES", "Value must be one of (1, 2).");
    wrong("'mode':'x'", "NUMBER_TYPE_COERCE", "Value \"x\" is not int.");
    assert_int_equal(good("'loose':3")->loose.value, 3);
}

static void snowflake_fields_accept_strings_or_integers_below_2_to_the_63(void **state)
{
    (void)state;
    assert_int_equal(good("'owner':'175928847299117063'")->owner.value, 175928847299117063);
    assert_int_equal(good("'owner':175928847299117063")->owner.value, 175928847299117063);
    assert_true(good("'owner':'9223372036854775807'")->owner.value == INT64_MAX);
    assert_int_equal(good("'owner':0")->owner.value, 0);
    wrong("'owner':'9223372036854775808'", "NUMBER_TYPE_COERCE",
          "Value \"9223372036854775808\" is not snowflake.");
    wrong("'owner':9223372036854775808", "NUMBER_TYPE_COERCE",
          "Value \"9223372036854775808\" is not snowflake.");
    wrong("'owner':-1", "NUMBER_TYPE_COERCE", "Value \"-1\" is not snowflake.");
    wrong("'owner':'-1'", "NUMBER_TYPE_COERCE", "Value \"-1\" is not snowflake.");
    wrong("'owner':1.0", "NUMBER_TYPE_COERCE", "Value \"1.0\" is not snowflake.");
    wrong("'owner':''", "NUMBER_TYPE_COERCE", "Value \"\" is not snowflake.");
    wrong("'owner':'me'", "NUMBER_TYPE_COERCE", "Value \"me\" is not snowflake.");
}

static void bitset_fields_accept_64_bits(void **state)
{
    (void)state;
    assert_true(good("'bits':'18446744073709551615'")->bits == UINT64_MAX);
    assert_true(good("'bits':18446744073709551615")->bits == UINT64_MAX);
    assert_int_equal(good("'bits':8")->bits, 8);
    wrong("'bits':'18446744073709551616'", "NUMBER_TYPE_COERCE",
          "Value \"18446744073709551616\" is not int.");
    wrong("'bits':-1", "NUMBER_TYPE_COERCE", "Value \"-1\" is not int.");
}

static void time_fields_accept_only_iso_8601_strings(void **state)
{
    (void)state;
    assert_int_equal(good("'at':'1970-01-01T00:00:01.5Z'")->at.value, 1500000);
    wrong("'at':'yesterday'", "DATE_TIME_TYPE_PARSE",
          "Could not parse yesterday. Should be ISO8601.");
    wrong("'at':5", "DATE_TIME_TYPE_PARSE", "Could not parse 5. Should be ISO8601.");
}

static void raw_json_fields_keep_the_source_text(void **state)
{
    (void)state;
    assert_str(good("'raw': { 'a' : [1, 2.50] } ")->raw.value, "{ \"a\" : [1, 2.50] }");
    assert_str(good("'raw':'x\\n'")->raw.value, "\"x\\n\"");
}

static void long_values_are_truncated_in_errors(void **state)
{
    (void)state;
    char *long_text = arena_alloc_unzeroed(arena, 1000);
    void *ret;

    memset(long_text, 'a', 1000);
    struct str json = str_printf(arena, "{\"name\":\"abc\",\"rank\":\"%.1000s\"}", long_text);
    assert_int_equal(decode(&thing, json, &ret), ERR_INVALID_FORM_BODY);
    struct str expected = str_printf(
        arena,
        "{\"rank\":{\"_errors\":[{\"code\":\"NUMBER_TYPE_COERCE\",\"message\":\"Value \\\"%.100s\\\" is not int.\"}]}}",
        long_text);
    assert_str(form_text(), expected.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(json_numbers_become_integers_only_without_loss),
        TEST(integers_out_of_range_are_refused),
        TEST(floating_point_fields_must_be_finite_and_in_range),
        TEST(empty_value_is_null_if_the_type_says_so),
        TEST(text_with_a_nul_character_is_refused),
        TEST(boolean_fields_accept_only_true_and_false),
        TEST(string_fields_refuse_other_json_types),
        TEST(lenient_types_accept_numbers_as_strings_and_strings_as_numbers),
        TEST(string_length_counts_code_points_after_trimming),
        TEST(text_without_a_declared_maximum_is_limited),
        TEST(string_rules_choices_and_lower_case_are_applied),
        TEST(snowflake_fields_accept_strings_or_integers_below_2_to_the_63),
        TEST(bitset_fields_accept_64_bits),
        TEST(time_fields_accept_only_iso_8601_strings),
        TEST(raw_json_fields_keep_the_source_text),
        TEST(long_values_are_truncated_in_errors),
    };
    return cmocka_run_group_tests_name("json/scalar", tests, NULL, NULL);
}
