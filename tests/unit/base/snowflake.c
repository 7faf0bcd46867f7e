/* snowflake.c - tests that snowflakes rise, contain their creation time and are unique. */
#include "unit/unit.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/snowflake.h"

enum { THREADS = 4, PER_THREAD = 20000 };

static void snowflakes_contain_their_creation_time(void **state)
{
    (void)state;
    int64_t before = clock_ms();
    snowflake id = snowflake_new();
    int64_t after = clock_ms();

    assert_true(snowflake_to_ms(id) >= before && snowflake_to_ms(id) <= after + 1);
    assert_int_equal(snowflake_from_ms(snowflake_to_ms(id)) >> 22, id >> 22);
    assert_int_equal(snowflake_from_ms(SNOWFLAKE_EPOCH_MS - 1), 0);
    assert_int_equal(snowflake_to_ms(175928847299117063), 1462015105796);
}

static void snowflakes_rise_even_when_the_clock_is_set_back(void **state)
{
    (void)state;
    snowflake last = snowflake_new();

    clock_advance_wall_and_monotonic(-3600 * 1000000LL);
    for (int i = 0; i < 10000; i++) {
        snowflake id = snowflake_new();

        assert_true(id > last);
        last = id;
    }
    clock_restore_real_time();
}

static void snowflakes_contain_the_node_number(void **state)
{
    (void)state;
    snowflake_set_node(1023);
    assert_int_equal(snowflake_new() >> 12 & 1023, 1023);
    snowflake_set_node(5);
    assert_int_equal(snowflake_new() >> 12 & 1023, 5);
    snowflake_set_node(0);
}

/* A guild's id minus one means "all channels" in command permissions, so it must not be used as
 * an id. */
static void new_guild_reserves_the_snowflake_before_its_own(void **state)
{
    (void)state;
    snowflake last = snowflake_new();

    for (int i = 0; i < 20000; i++) {
        snowflake id = i % 3 ? snowflake_new_guild_id() : snowflake_new();

        assert_true(id > last);
        if (i % 3) {
            assert_true(id - 1 > last);
            assert_int_equal(snowflake_to_ms(id - 1), snowflake_to_ms(id));
        }
        last = id;
    }
}

static void *make_ids(void *arg)
{
    snowflake *ids = arg;

    for (int i = 0; i < PER_THREAD; i++)
        ids[i] = i % 2 ? snowflake_new() : snowflake_new_guild_id();
    return NULL;
}

static int compare(const void *a, const void *b)
{
    snowflake x = *(const snowflake *)a, y = *(const snowflake *)b;

    return (x > y) - (x < y);
}

static void threads_never_generate_the_same_snowflake(void **state)
{
    (void)state;
    static snowflake ids[THREADS * PER_THREAD];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, make_ids, ids + i * PER_THREAD);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    qsort(ids, THREADS * PER_THREAD, sizeof *ids, compare);
    for (size_t i = 1; i < THREADS * PER_THREAD; i++)
        assert_true(ids[i] > ids[i - 1]);
}

static void only_decimal_numbers_below_2_to_the_63_parse_as_snowflakes(void **state)
{
    (void)state;
    static const char *const bad[] = { "",
                                       "9223372036854775808",
                                       "18446744073709551616",
                                       "-1",
                                       "+1",
                                       " 1",
                                       "1 ",
                                       "1.0",
                                       "0x10",
                                       "1e3",
                                       "99999999999999999999999" };
    snowflake id;

    assert_true(snowflake_parse(STR("0"), &id));
    assert_int_equal(id, 0);
    assert_true(snowflake_parse(STR("9223372036854775807"), &id));
    assert_true(id == INT64_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(snowflake_parse(str_of(bad[i]), &id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snowflakes_contain_their_creation_time),
        cmocka_unit_test(snowflakes_rise_even_when_the_clock_is_set_back),
        cmocka_unit_test(snowflakes_contain_the_node_number),
        cmocka_unit_test(new_guild_reserves_the_snowflake_before_its_own),
        cmocka_unit_test(threads_never_generate_the_same_snowflake),
        cmocka_unit_test(only_decimal_numbers_below_2_to_the_63_parse_as_snowflakes),
    };
    return cmocka_run_group_tests_name("base/snowflake", tests, NULL, NULL);
}
