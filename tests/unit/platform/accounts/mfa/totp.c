/* totp.c - tests time-based one-time passwords with the vectors of RFC 6238. */
#include "unit/unit.h"

#include "platform/accounts/mfa/totp.h"

#define SECRET "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

static const unsigned char *secret(void)
{
    static unsigned char bytes[TOTP_SECRET];

    assert_true(totp_secret_parse(STR(SECRET), bytes));
    return bytes;
}

static void totp_codes_match_the_rfc_6238_vectors(void **state)
{
    (void)state;
    assert_memory_equal(secret(), "12345678901234567890", TOTP_SECRET);
    assert_int_equal(totp_code_of_step(secret(), 59 / 30), 287082);
    assert_int_equal(totp_code_of_step(secret(), 1111111109 / 30), 81804);
    assert_int_equal(totp_code_of_step(secret(), 1111111111 / 30), 50471);
    assert_int_equal(totp_code_of_step(secret(), 1234567890 / 30), 5924);
    assert_int_equal(totp_code_of_step(secret(), 2000000000 / 30), 279037);
    assert_int_equal(totp_code_of_step(secret(), INT64_C(20000000000) / 30), 353130);
}

static void totp_secret_is_20_bytes_in_base32(void **state)
{
    unsigned char bytes[TOTP_SECRET];

    (void)state;
    assert_true(totp_secret_parse(STR("gezd gnbv gy3t qojq-gezdgnbvgy3tqojq"), bytes));
    assert_false(totp_secret_parse(STR(""), bytes));
    assert_false(totp_secret_parse(STR("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJ"), bytes));
    assert_false(totp_secret_parse(STR(SECRET "A"), bytes));
    assert_false(totp_secret_parse(STR("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJ1"), bytes));
}

static void totp_code_is_valid_once_and_one_step_early_or_late(void **state)
{
    const int64_t now = 1111111111, step = now / 30;

    (void)state;
    assert_int_equal(totp_find_matching_step(secret(), STR("050471"), now, -1), step);
    assert_int_equal(totp_find_matching_step(secret(), STR("050471"), now - 30, -1), step);
    assert_int_equal(totp_find_matching_step(secret(), STR("050471"), now + 30, -1), step);
    assert_int_equal(totp_find_matching_step(secret(), STR("050471"), now - 60, -1), -1);
    assert_int_equal(totp_find_matching_step(secret(), STR("050471"), now + 60, -1), -1);
    assert_int_equal(totp_find_matching_step(secret(), STR("050471"), now, step), -1);
    assert_int_equal(totp_find_matching_step(secret(), STR("050471"), now, step - 1), step);
    assert_int_equal(totp_find_matching_step(secret(), STR("50471"), now, -1), -1);
    assert_int_equal(totp_find_matching_step(secret(), STR("+50471"), now, -1), -1);
    assert_int_equal(totp_find_matching_step(secret(), STR(""), now, -1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totp_codes_match_the_rfc_6238_vectors),
        cmocka_unit_test(totp_secret_is_20_bytes_in_base32),
        cmocka_unit_test(totp_code_is_valid_once_and_one_step_early_or_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
