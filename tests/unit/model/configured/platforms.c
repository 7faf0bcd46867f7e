/* platforms.c - tests the operator's options for external platforms. */
#include "unit/unit.h"

#include "model/integration.h"
#include "model/configured/platforms.h"

static bool set(struct platform_options o)
{
    const char *problem = NULL;
    bool fine = platforms_configure(&o, &problem);

    assert_true(fine == !problem);
    return fine;
}

static void platforms_are_local_by_default(void **state)
{
    (void)state;
    assert_true(set((struct platform_options){ 0 }));
    assert_true(platform_is_enabled(PLATFORM_A) && platform_is_enabled(PLATFORM_B));
    assert_false(platform_is_enabled(PLATFORM_NONE));
    assert_null(platform_get_provider_url(PLATFORM_A).p);
    assert_int_equal(get_partners_guild_id(), 0);
    assert_str(partners_account_name(), "Partners");

    assert_true(set((struct platform_options){ .at = { "off", "https://b.example/x//" },
                                               .key = { NULL, "k" },
                                               .partners_guild = "42",
                                               .partners_account = "h:The: House" }));
    assert_false(platform_is_enabled(PLATFORM_A));
    assert_str(platform_get_provider_url(PLATFORM_B), "https://b.example/x");
    assert_str(platform_get_provider_key(PLATFORM_B), "k");
    assert_int_equal(get_partners_guild_id(), 42);
    assert_str(get_partners_account_id(), "h");
    assert_str(partners_account_name(), "The: House");
}

static void integration_types_have_a_canonical_and_a_configured_name(void **state)
{
    (void)state;
    assert_true(set((struct platform_options){ .words = "platform_a:purple,service:app" }));
    assert_str(integration_get_displayed_type(STR("platform_a")), "purple");
    assert_str(integration_get_displayed_type(STR("platform_b")), "platform_b");
    assert_str(integration_get_displayed_type(STR("service")), "app");
    assert_int_equal(platform_find_by_name(STR("purple")), PLATFORM_A);
    assert_int_equal(platform_find_by_name(STR("platform_a")), PLATFORM_A);
    assert_int_equal(platform_find_by_name(STR("platform_b")), PLATFORM_B);
    assert_int_equal(platform_find_by_name(STR("app")), PLATFORM_NONE);
    assert_int_equal(platform_find_by_name(STR("")), PLATFORM_NONE);
    /* New options replace all earlier ones. */
    assert_true(set((struct platform_options){ 0 }));
    assert_int_equal(platform_find_by_name(STR("purple")), PLATFORM_NONE);
}

static void invalid_platform_options_are_refused(void **state)
{
    static const char *const words[] = { "platform_a",
                                         "x:y",
                                         "platform_a:A",
                                         "platform_a:",
                                         "platform_a:service",
                                         "platform_a:x,service:x",
                                         "platform_a:abcdefghijklmnopqrstuvwxyz0123456" };

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_false(set((struct platform_options){ .words = words[i] }));
    assert_true(
        set((struct platform_options){ .words = "platform_a:abcdefghijklmnopqrstuvwxyz012345" }));
    assert_false(set((struct platform_options){ .at = { "yes" } }));
    assert_false(set((struct platform_options){ .at = { NULL, "ftp://x" } }));
    assert_false(set((struct platform_options){ .partners_guild = "home" }));
    assert_false(set((struct platform_options){ .partners_account = "house" }));
    assert_false(set((struct platform_options){ .partners_account = ":x" }));
}

static void renamed_platform_b_shows_the_emoticons_field(void **state)
{
    struct integration i = { .type = STR("platform_b"), .enable_emoticons = { GIVEN, true } };

    (void)state;
    assert_true(set((struct platform_options){ 0 }));
    integration_set_displayed_type(&i);
    assert_int_equal(i.enable_emoticons.given, ABSENT);
    assert_true(set((struct platform_options){ .words = "platform_b:red" }));
    integration_set_displayed_type(&i);
    assert_str(i.displayed_type, "red");
    assert_true(i.enable_emoticons.given == GIVEN && !i.enable_emoticons.value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(platforms_are_local_by_default),
        cmocka_unit_test(integration_types_have_a_canonical_and_a_configured_name),
        cmocka_unit_test(invalid_platform_options_are_refused),
        cmocka_unit_test(renamed_platform_b_shows_the_emoticons_field),
    };

    return cmocka_run_group_tests_name("model/platforms", tests, NULL, NULL);
}
