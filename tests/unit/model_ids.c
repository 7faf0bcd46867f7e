/* model_ids.c - lists of snowflakes, whoever made them. */
#include "unit.h"

#include "model/fields/ids.h"

static void a_list_holds_what_was_added(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct list ids = { 0 };

    assert_false(ids_hold(&ids, 0));
    for (snowflake id = 1; id <= 100; id++)
        ids_add(arena, &ids, id);
    assert_int_equal(ids.count, 100);
    for (snowflake id = 1; id <= 100; id++)
        assert_true(ids_hold(&ids, id));
    assert_false(ids_hold(&ids, 101));
    arena_free(arena);
}

/* A count that is a power of two says nothing about the room behind it. */
static void foreign_memory_is_not_written_to(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    snowflake three[] = { 1, 2, 3 };
    struct list ids = { three, 2 };

    ids_add(arena, &ids, 7);
    assert_int_equal(three[2], 3);
    assert_true(ids_hold(&ids, 1) && ids_hold(&ids, 2) && ids_hold(&ids, 7));
    arena_free(arena);
}

static void a_list_that_was_shortened_grows_again(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct list ids = { 0 };

    for (snowflake id = 1; id <= 5; id++)
        ids_add(arena, &ids, id);
    ids.count = 3;
    for (snowflake id = 11; id <= 20; id++)
        ids_add(arena, &ids, id);
    assert_int_equal(ids.count, 13);
    assert_true(ids_hold(&ids, 3) && ids_hold(&ids, 20));
    assert_false(ids_hold(&ids, 4));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_holds_what_was_added),
        cmocka_unit_test(foreign_memory_is_not_written_to),
        cmocka_unit_test(a_list_that_was_shortened_grows_again),
    };
    return cmocka_run_group_tests_name("model/ids", tests, NULL, NULL);
}
