/* arena.c - tests that arenas allocate zeroed, aligned memory at stable addresses. */
#include "unit/unit.h"

#include <stdalign.h>
#include <stdbool.h>

#include "base/arena.h"

static bool all_are(const unsigned char *p, size_t n, unsigned char value)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != value)
            return false;
    return true;
}

static void arena_memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    struct arena *a = arena_new();

    /* The second round reuses the same block, which is no longer zeroed. */
    for (int round = 0; round < 2; round++) {
        for (size_t size = 1; size < 200; size++) {
            unsigned char *p = arena_alloc(a, size);

            assert_int_equal((uintptr_t)p % alignof(max_align_t), 0);
            assert_true(all_are(p, size, 0));
            memset(p, 0xff, size);
        }
        arena_reset(a);
    }
    arena_free(a);
}

static void arena_allocations_do_not_overlap_or_move(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    unsigned char *pieces[256];

    for (size_t i = 0; i < 256; i++)
        pieces[i] = memset(arena_alloc_unzeroed(a, 1 + i * 3), (int)i, 1 + i * 3);
    for (size_t i = 0; i < 256; i++)
        assert_true(all_are(pieces[i], 1 + i * 3, (unsigned char)i));
    arena_free(a);
}

static void arena_allocation_may_exceed_the_block_size(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    unsigned char *small = memset(arena_alloc(a, 10), 1, 10);
    unsigned char *big = memset(arena_alloc(a, 5 << 20), 2, 5 << 20);

    assert_true(all_are(small, 10, 1));
    assert_true(all_are(big, 5 << 20, 2));
    assert_true(arena_used_bytes(a) >= 10 + (5 << 20));
    arena_reset(a);
    assert_int_equal(arena_used_bytes(a), 0);
    arena_free(a);
}

static void arena_free_accepts_null(void **state)
{
    (void)state;
    arena_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_memory_is_zeroed_and_aligned),
        cmocka_unit_test(arena_allocations_do_not_overlap_or_move),
        cmocka_unit_test(arena_allocation_may_exceed_the_block_size),
        cmocka_unit_test(arena_free_accepts_null),
    };
    return cmocka_run_group_tests_name("base/arena", tests, NULL, NULL);
}
