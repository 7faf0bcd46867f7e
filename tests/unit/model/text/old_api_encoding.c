/* old_api_encoding.c - tests the conversion of replies for old API versions. */
#include "unit/unit.h"

#include "model/text/old_api_encoding.h"

static void respelled(const char *json, const char *expected)
{
    struct buf out;

    buf_init(&out, 4096);
    encode_json_for_old_api(str_of(json), &out);
    assert_int_equal(out.n, strlen(expected));
    assert_memory_equal(buf_as_str(&out).p, expected, out.n);
    buf_clear(&out);
}

static void old_api_versions_get_permissions_as_numbers(void **state)
{
    (void)state;
    respelled("{\"id\":\"7\",\"permissions\":\"2147483656\"}",
              "{\"id\":\"7\",\"permissions\":8,\"permissions_new\":\"2147483656\"}");
    respelled("[{\"permissions\":[]},{\"permissions\":null}]",
              "[{\"permissions\":[]},{\"permissions\":null}]");
    respelled("{\"permissions\":\"words\"}", "{\"permissions\":\"words\"}");
}

static void old_api_versions_get_overwrite_types_as_names(void **state)
{
    (void)state;
    respelled(
        "{\"type\":0,\"permission_overwrites\":[{\"id\":\"1\",\"type\":1,\"allow\":\"0\","
        "\"deny\":\"4\"},{\"type\":0}],\"nested\":{\"type\":1}}",
        "{\"type\":0,\"permission_overwrites\":[{\"id\":\"1\",\"type\":\"member\",\"allow\":0,"
        "\"allow_new\":\"0\",\"deny\":4,\"deny_new\":\"4\"},{\"type\":\"role\"}],"
        "\"nested\":{\"type\":1}}");
}

static void conversion_for_old_api_versions_leaves_text_unchanged(void **state)
{
    (void)state;
    respelled("{\"content\":\"\\\"permissions\\\":\\\"8\\\"\",\"x\":\"\\\\\"}",
              "{\"content\":\"\\\"permissions\\\":\\\"8\\\"\",\"x\":\"\\\\\"}");
    respelled("{\"permissions\":\"8", "{\"permissions\":\"8"); /* cut off */
    respelled("{\"permissions\"", "{\"permissions\"");
}

static void api_versions_6_to_10_are_parsed(void **state)
{
    int version = 0;

    (void)state;
    assert_true(parse_api_version(STR("v6"), &version) && version == 6);
    assert_true(parse_api_version(STR("v10"), &version) && version == 10);
    assert_false(parse_api_version(STR("v5"), &version));
    assert_false(parse_api_version(STR("v11"), &version));
    assert_false(parse_api_version(STR("v"), &version));
    assert_false(parse_api_version(STR("users"), &version));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_api_versions_get_permissions_as_numbers),
        cmocka_unit_test(old_api_versions_get_overwrite_types_as_names),
        cmocka_unit_test(conversion_for_old_api_versions_leaves_text_unchanged),
        cmocka_unit_test(api_versions_6_to_10_are_parsed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
