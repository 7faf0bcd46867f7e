/* bundle_format.c - tests the binary format of command bundles. */
#include "commands/index/bundle.h"
#include "unit/unit.h"

static const struct command_bundle_entry two[] = {
    { 1, 2, BUNDLE_NO_DEFAULT_PERMISSIONS, 3, 2, 70000, 1, 0, 7, 1 },
    { UINT64_C(1) << 62, 5, 8, UINT64_MAX, 7, 9, 4, 1, 0, 2 },
};
#define TEXTS "{},{\"a\":1}"

static void bundle_decodes_to_the_encoded_entries(void **state)
{
    struct arena *arena = arena_new();
    struct str bytes = encode_command_bundle_entries(arena, two, 2);
    const struct command_bundle_entry *k;
    size_t count;

    (void)state;
    assert_true(decode_command_bundle_entries(arena, bytes, STR(TEXTS), &k, &count));
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(k[i].id, two[i].id);
        assert_int_equal(k[i].version, two[i].version);
        assert_int_equal(k[i].default_member_permissions, two[i].default_member_permissions);
        assert_int_equal(k[i].locales, two[i].locales);
        assert_int_equal(k[i].length, two[i].length);
        assert_int_equal(k[i].size, two[i].size);
        assert_memory_equal(&k[i].type, &two[i].type, 4);
    }
    assert_true(decode_command_bundle_entries(arena, bytes, STR(""), &k,
                                              &count)); /* texts are stored elsewhere */
    /* The encoding does not depend on the byte order of the machine. */
    assert_memory_equal(bytes.p, "GCB\1\2\0\0\0\1\0\0\0\0\0\0\0\2", 17);
    arena_free(arena);
}

static void truncated_bundle_is_refused(void **state)
{
    struct arena *arena = arena_new();
    struct str bytes = encode_command_bundle_entries(arena, two, 2), texts = STR(TEXTS);
    const struct command_bundle_entry *k;
    size_t count;

    (void)state;
    for (size_t n = 0; n < bytes.n; n++)
        assert_false(
            decode_command_bundle_entries(arena, str_slice(bytes.p, n), texts, &k, &count));
    for (size_t n = 1; n < texts.n; n++)
        assert_false(
            decode_command_bundle_entries(arena, bytes, str_slice(texts.p, n), &k, &count));
    assert_false(decode_command_bundle_entries(arena, bytes, STR(TEXTS ","), &k, &count));
    assert_false(decode_command_bundle_entries(arena, bytes, STR("{},{\"a\":1)"), &k, &count));
    assert_false(decode_command_bundle_entries(arena, bytes, STR("{};{\"a\":1}"), &k, &count));
    arena_free(arena);
}

static void bundle_with_wrong_entry_lengths_is_refused(void **state)
{
    struct arena *arena = arena_new();
    const struct command_bundle_entry *k;
    size_t count;

    (void)state;
    for (uint32_t length = 0; length < 40; length++) {
        struct command_bundle_entry lying[] = { two[0], two[1] };

        lying[1].length = length == 7 ? UINT32_MAX : length;
        assert_false(decode_command_bundle_entries(
            arena, encode_command_bundle_entries(arena, lying, 2), STR(TEXTS), &k, &count));
    }
    arena_free(arena);
}

static void bundle_of_another_version_is_refused(void **state)
{
    struct arena *arena = arena_new();
    struct str bytes = encode_command_bundle_entries(arena, two, 2);
    const struct command_bundle_entry *k;
    char *copy = str_dup_cstring(arena, bytes);
    size_t count;

    (void)state;
    copy[3] = 2;
    assert_false(
        decode_command_bundle_entries(arena, str_slice(copy, bytes.n), STR(TEXTS), &k, &count));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bundle_decodes_to_the_encoded_entries),
        cmocka_unit_test(truncated_bundle_is_refused),
        cmocka_unit_test(bundle_with_wrong_entry_lengths_is_refused),
        cmocka_unit_test(bundle_of_another_version_is_refused),
    };
    return cmocka_run_group_tests_name("commands/bundle_format", tests, NULL, NULL);
}
