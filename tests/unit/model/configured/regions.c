/* regions.c - tests the operator's list of voice regions. */
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "model/configured/regions.h"

static const char *problem_of(const char *list)
{
    const char *problem = "none was set";
    bool ok = voice_regions_configure(str_of(list), &problem);

    assert_true(ok == (problem == NULL));
    return problem;
}

static void valid_region_lists_are_accepted(void **state)
{
    (void)state;
    assert_null(problem_of("main"));
    assert_null(problem_of("main:Main"));
    assert_null(problem_of(" main : Main Street , eu-1:Europe, x:\xc3\x84ther "));
    assert_null(problem_of("main:"));
    assert_null(problem_of("a:b:c"));
    assert_null(problem_of("abcdefghijklmnopqrstuvwxyz-01234")); /* 32 */
}

static void invalid_region_lists_are_reported(void **state)
{
    (void)state;
    static const char bad_id[] = "has an id that is not 1-32 characters of a-z, 0-9 and -";

    assert_string_equal(problem_of(""), "contains no region");
    assert_string_equal(problem_of(","), bad_id);
    assert_string_equal(problem_of("main,,eu"), bad_id);
    assert_string_equal(problem_of(":Main"), bad_id);
    assert_string_equal(problem_of("Main"), bad_id);
    assert_string_equal(problem_of("a b"), bad_id);
    assert_string_equal(problem_of("\xc3\xa4"), bad_id);
    assert_string_equal(problem_of("abcdefghijklmnopqrstuvwxyz-012345"), bad_id); /* 33 */
    assert_string_equal(problem_of("a:x,b:y,a:z"), "contains a region twice");
    assert_string_equal(problem_of("a:\xff"), "has a name that is too long or not UTF-8");
}

static void region_names_and_lists_have_limits(void **state)
{
    (void)state;
    char list[400] = "";

    snprintf(list, sizeof list, "a:%063d", 0);
    assert_null(problem_of(list));
    snprintf(list, sizeof list, "a:%064d", 0);
    assert_string_equal(problem_of(list), "has a name that is too long or not UTF-8");
    list[0] = '\0';
    for (int i = 0; i < 32; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%sr%d", i ? "," : "", i);
    assert_null(problem_of(list));
    strcat(list, ",more");
    assert_string_equal(problem_of(list), "has more than 32 regions");
}

static const char *near_problem(const char *list)
{
    const char *problem = "none was set";
    bool ok = voice_regions_configure_client_networks(str_of(list), &problem);

    assert_true(ok == (problem == NULL));
    return problem;
}

static void vip_regions_are_usable_only_by_vip_guilds(void **state)
{
    const char *problem;

    (void)state;
    assert_null(problem_of("main,eu"));
    assert_true(voice_regions_configure_vip(str_of(NULL), &problem));
    assert_true(voice_regions_configure_vip(STR("gold:Gold, silver"), &problem));
    assert_true(voice_region_is_usable(STR("gold"), true));
    assert_false(voice_region_is_usable(STR("gold"), false));
    assert_true(voice_region_is_usable(STR("eu"), false));
    assert_false(voice_region_is_usable(STR("moon"), true));
    assert_false(voice_regions_configure_vip(STR("eu"), &problem));
    assert_string_equal(problem, "contains a region twice");
}

static void invalid_networks_of_regions_are_reported(void **state)
{
    static const char bad_net[] =
        "contains a network that does not have the form 10.0.0.0/8 or 2001:db8::/32";
    char list[6000] = "";

    (void)state;
    assert_null(problem_of("main,eu"));
    assert_null(near_problem(NULL));
    assert_null(near_problem(" 10.0.0.0/8 = eu , 2001:db8::/32=main,0.0.0.0/0=eu,::1/128=eu"));
    assert_string_equal(near_problem("10.0.0.0=eu"), bad_net);
    assert_string_equal(near_problem("10.0.0.0/33=eu"), bad_net);
    assert_string_equal(near_problem("10.0.0/8=eu"), bad_net);
    assert_string_equal(near_problem("::/129=eu"), bad_net);
    assert_string_equal(near_problem("10.0.0.0/x=eu"), bad_net);
    assert_string_equal(near_problem("=eu"), bad_net);
    assert_string_equal(near_problem("10.0.0.0/8=moon"),
                        "contains a region that is not in voice-regions or voice-vip-regions");
    for (int i = 0; i < 256; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s10.%d.0.0/16=eu", i ? "," : "",
                 i);
    assert_null(near_problem(list));
    strcat(list, ",11.0.0.0/8=eu");
    assert_string_equal(near_problem(list), "has more than 256 networks");
}

/* Returns the id of the optimal region, of which there is exactly one. */
static struct str optimal(struct arena *arena, const char *address, bool vip)
{
    struct list list = voice_regions_list_for_client(arena, str_of(address), vip);
    const struct voice_region *r = list.items;
    struct str found = { 0 };

    for (size_t i = 0; i < list.count; i++) {
        assert_false(r[i].optimal && found.p);
        if (r[i].optimal)
            found = r[i].id;
    }
    assert_non_null(found.p);
    return found;
}

static void region_with_the_longest_matching_network_is_optimal(void **state)
{
    struct arena *arena = arena_new();
    const char *problem;

    (void)state;
    assert_null(problem_of("main,eu,us"));
    assert_true(voice_regions_configure_vip(STR("gold"), &problem));
    assert_null(near_problem("10.0.0.0/8=eu,10.9.0.0/17=us,10.9.0.1/32=gold,2001:db8::/33=us"));
    assert_true(str_is(optimal(arena, "10.1.1.1", false), "eu"));
    assert_true(str_is(optimal(arena, "10.9.127.1", false), "us"));
    assert_true(str_is(optimal(arena, "10.9.128.1", false), "eu"));
    assert_true(str_is(optimal(arena, "10.9.0.1", true), "gold"));
    assert_true(str_is(optimal(arena, "10.9.0.1", false), "us"));
    assert_true(str_is(optimal(arena, "::ffff:10.1.1.1", false), "eu"));
    assert_true(str_is(optimal(arena, "2001:db8:7fff::1", false), "us"));
    assert_true(str_is(optimal(arena, "2001:db8:8000::1", false), "main"));
    assert_true(str_is(optimal(arena, "192.0.2.1", true), "main"));
    assert_true(str_is(optimal(arena, "nowhere", false), "main"));
    assert_true(str_is(optimal(arena, "", false), "main"));
    arena_free(arena);
}

static void voice_endpoint_contains_the_region(void **state)
{
    struct arena *arena = arena_new();

    (void)state;
    voice_regions_set_endpoint_pattern(NULL);
    assert_null(voice_region_get_endpoint(arena, STR("eu")).p);
    voice_regions_set_endpoint_pattern("voice.example/a");
    assert_true(str_is(voice_region_get_endpoint(arena, STR("eu")), "voice.example/a"));
    voice_regions_set_endpoint_pattern("{region}.voice.example/a");
    assert_true(str_is(voice_region_get_endpoint(arena, STR("eu")), "eu.voice.example/a"));
    voice_regions_set_endpoint_pattern("voice.example/{region}");
    assert_true(str_is(voice_region_get_endpoint(arena, STR("eu")), "voice.example/eu"));
    voice_regions_set_endpoint_pattern(NULL);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_region_lists_are_accepted),
        cmocka_unit_test(invalid_region_lists_are_reported),
        cmocka_unit_test(region_names_and_lists_have_limits),
        cmocka_unit_test(vip_regions_are_usable_only_by_vip_guilds),
        cmocka_unit_test(invalid_networks_of_regions_are_reported),
        cmocka_unit_test(region_with_the_longest_matching_network_is_optimal),
        cmocka_unit_test(voice_endpoint_contains_the_region),
    };
    return cmocka_run_group_tests_name("voice/regions", tests, NULL, NULL);
}
