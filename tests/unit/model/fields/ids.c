/* ids.c - tests lists of snowflakes. */
#include "unit/unit.h"

#include "model/fields/ids.h"

static void id_list_contains_every_added_id(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct list ids = { 0 };

    assert_false(id_list_contains(&ids, 0));
    for (snowflake id = 1; id <= 100; id++)
        id_list_add(arena, &ids, id);
    assert_int_equal(ids.count, 100);
    for (snowflake id = 1; id <= 100; id++)
        assert_true(id_list_contains(&ids, id));
    assert_false(id_list_contains(&ids, 101));
    arena_free(arena);
}

/* The list must not assume capacity from a count that is a power of two. */
static void id_list_add_does_not_write_beyond_a_borrowed_array(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    snowflake three[] = { 1, 2, 3 };
    struct list ids = { three, 2 };

    id_list_add(arena, &ids, 7);
    assert_int_equal(three[2], 3);
    assert_true(id_list_contains(&ids, 1) && id_list_contains(&ids, 2) &&
                id_list_contains(&ids, 7));
    arena_free(arena);
}

static void shortened_id_list_can_grow_again(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct list ids = { 0 };

    for (snowflake id = 1; id <= 5; id++)
        id_list_add(arena, &ids, id);
    ids.count = 3;
    for (snowflake id = 11; id <= 20; id++)
        id_list_add(arena, &ids, id);
    assert_int_equal(ids.count, 13);
    assert_true(id_list_contains(&ids, 3) && id_list_contains(&ids, 20));
    assert_false(id_list_contains(&ids, 4));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(id_list_contains_every_added_id),
        cmocka_unit_test(id_list_add_does_not_write_beyond_a_borrowed_array),
        cmocka_unit_test(shortened_id_list_can_grow_again),
    };
    return cmocka_run_group_tests_name("model/ids", tests, NULL, NULL);
}
