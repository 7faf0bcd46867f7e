/* ssrc_blocks.c - tests the order in which blocks of SSRCs are assigned. */
#include "unit/unit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "relay/media/packets.h"
#include "relay/ssrc_blocks.h"

enum { BLOCKS = 200 * 1000 };

static int compare_ssrcs(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* If so many blocks were chosen at random, about 75 would be equal to another one. */
static void no_ssrc_block_is_assigned_twice(void **state)
{
    uint32_t *taken = mem_new(BLOCKS * sizeof *taken);
    struct ssrc_blocks b;

    (void)state;
    ssrc_blocks_init(&b);
    for (int i = 0; i < BLOCKS; i++) {
        taken[i] = ssrc_blocks_assign_next(&b);
        assert_true(taken[i] != 0 && taken[i] % SSRCS_PER_PARTICIPANT == 0);
        assert_true(ssrc_block_is_allowed(taken[i]));
    }
    qsort(taken, BLOCKS, sizeof *taken, compare_ssrcs);
    for (int i = 1; i < BLOCKS; i++)
        assert_true(taken[i] != taken[i - 1]);
    mem_free(taken);
}

/* The order is spread over the whole range, and another process has another order. */
static void ssrc_blocks_cannot_be_guessed(void **state)
{
    struct ssrc_blocks b[2];
    unsigned equal = 0, upper = 0;

    (void)state;
    ssrc_blocks_init(&b[0]);
    ssrc_blocks_init(&b[1]);
    for (int i = 0; i < 1000; i++) {
        uint32_t first = ssrc_blocks_assign_next(&b[0]);

        equal += first == ssrc_blocks_assign_next(&b[1]);
        upper += first > UINT32_MAX / 2;
    }
    assert_true(equal < 3);
    assert_in_range(upper, 300, 700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_ssrc_block_is_assigned_twice),
        cmocka_unit_test(ssrc_blocks_cannot_be_guessed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
