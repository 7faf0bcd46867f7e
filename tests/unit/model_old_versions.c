/* model_old_versions.c - tests of src/model/text/old_versions.c. */
#include "unit.h"

#include "model/text/old_versions.h"

static void respelled(const char *json, const char *expected)
{
    struct buf out;

    buf_init(&out, 4096);
    old_spelling(str_of(json), &out);
    assert_int_equal(out.n, strlen(expected));
    assert_memory_equal(buf_str(&out).p, expected, out.n);
    buf_clear(&out);
}

static void permission_sets_become_numbers(void **state)
{
    (void)state;
    respelled("{\"id\":\"7\",\"permissions\":\"2147483656\"}",
              "{\"id\":\"7\",\"permissions\":8,\"permissions_new\":\"2147483656\"}");
    respelled("[{\"permissions\":[]},{\"permissions\":null}]",
              "[{\"permissions\":[]},{\"permissions\":null}]");
    respelled("{\"permissions\":\"words\"}", "{\"permissions\":\"words\"}");
}

static void overwrites_name_their_type(void **state)
{
    (void)state;
    respelled(
        "{\"type\":0,\"permission_overwrites\":[{\"id\":\"1\",\"type\":1,\"allow\":\"0\","
        "\"deny\":\"4\"},{\"type\":0}],\"nested\":{\"type\":1}}",
        "{\"type\":0,\"permission_overwrites\":[{\"id\":\"1\",\"type\":\"member\",\"allow\":0,"
        "\"allow_new\":\"0\",\"deny\":4,\"deny_new\":\"4\"},{\"type\":\"role\"}],"
        "\"nested\":{\"type\":1}}");
}

static void texts_stay_as_they_are(void **state)
{
    (void)state;
    respelled("{\"content\":\"\\\"permissions\\\":\\\"8\\\"\",\"x\":\"\\\\\"}",
              "{\"content\":\"\\\"permissions\\\":\\\"8\\\"\",\"x\":\"\\\\\"}");
    respelled("{\"permissions\":\"8", "{\"permissions\":\"8"); /* cut off */
    respelled("{\"permissions\"", "{\"permissions\"");
}

static void versions_are_read(void **state)
{
    int version = 0;

    (void)state;
    assert_true(version_read(STR("v6"), &version) && version == 6);
    assert_true(version_read(STR("v10"), &version) && version == 10);
    assert_false(version_read(STR("v5"), &version));
    assert_false(version_read(STR("v11"), &version));
    assert_false(version_read(STR("v"), &version));
    assert_false(version_read(STR("users"), &version));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(permission_sets_become_numbers),
        cmocka_unit_test(overwrites_name_their_type),
        cmocka_unit_test(texts_stay_as_they_are),
        cmocka_unit_test(versions_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
