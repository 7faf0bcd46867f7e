/* map.c - tests that maps retain their entries through growth and removals. */
#include "unit/unit.h"

#include "base/map.h"

static void map_returns_every_value_that_was_put(void **state)
{
    (void)state;
    struct map m;
    static int values[1000];

    map_init(&m);
    for (uint64_t k = 0; k < 1000; k++)
        assert_null(map_set_value(&m, k * 64, &values[k]));
    for (uint64_t k = 0; k < 1000; k++)
        assert_ptr_equal(map_find_value(&m, k * 64), &values[k]);
    assert_null(map_find_value(&m, 1));
    assert_int_equal(m.count, 1000);
    assert_ptr_equal(map_set_value(&m, 0, &values[7]), &values[0]);
    assert_int_equal(m.count, 1000);
    map_clear(&m);
}

/* Removal moves later entries of the same probe sequence, so that they stay reachable. */
static void map_removal_does_not_lose_other_entries(void **state)
{
    (void)state;
    struct map m;
    static int values[4096];

    map_init(&m);
    for (uint64_t k = 0; k < 4096; k++)
        map_set_value(&m, k, &values[k]);
    for (uint64_t k = 0; k < 4096; k += 3)
        assert_ptr_equal(map_remove_value(&m, k), &values[k]);
    for (uint64_t k = 0; k < 4096; k++)
        assert_ptr_equal(map_find_value(&m, k), k % 3 ? &values[k] : NULL);
    assert_null(map_remove_value(&m, 0));

    size_t at = 0, seen = 0;
    while (map_next_value(&m, &at))
        seen++;
    assert_int_equal(seen, m.count);
    map_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_returns_every_value_that_was_put),
        cmocka_unit_test(map_removal_does_not_lose_other_entries),
    };
    return cmocka_run_group_tests_name("base/map", tests, NULL, NULL);
}
