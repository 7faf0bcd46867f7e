/* cache.c - tests the bounds, the eviction and the freeing of caches. */
#include "unit/unit.h"

#include <pthread.h>

#include "base/cache.h"
#include "base/clock.h"
#include "base/mem.h"

struct number {
    struct cache_entry entry;
    int key, value;
};

static int freed, last_freed;

static bool number_is(const struct cache_entry *e, const void *key)
{
    return ((const struct number *)e)->key == *(const int *)key;
}

static void number_free(struct cache_entry *e)
{
    freed++;
    last_freed = ((struct number *)e)->value;
    mem_free(e);
}

static void put(struct cache *c, int key, int value, size_t bytes)
{
    struct number *n = mem_new(sizeof *n);

    n->key = key;
    n->value = value;
    cache_insert(c, (uint64_t)key, bytes, &n->entry);
}

/* Returns the value, or -1 if the key is not cached. */
static int find(struct cache *c, int key)
{
    const struct number *n = cache_find(c, (uint64_t)key, &key);

    return n ? n->value : -1;
}

static int begin(void **state)
{
    (void)state;
    freed = last_freed = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    clock_restore_real_time();
    return 0;
}

static void cache_evicts_above_its_maximum_number_of_entries(void **state)
{
    (void)state;
    static struct cache_kind kind = { .entries = 3, .free = number_free };
    static struct cache c = { .kind = &kind };

    assert_int_equal(find(&c, 1), -1);
    for (int i = 1; i <= 3; i++)
        put(&c, i, i * 10, 1);
    assert_int_equal(freed, 0);
    put(&c, 4, 40, 1);
    assert_int_equal(freed, 1);
    assert_int_equal(find(&c, 1), -1);
    for (int i = 2; i <= 4; i++)
        assert_int_equal(find(&c, i), i * 10);
    cache_clear(&c);
}

static void cache_evicts_the_least_recently_used_entry(void **state)
{
    (void)state;
    static struct cache_kind kind = { .entries = 3, .free = number_free };
    static struct cache c = { .kind = &kind };

    for (int i = 1; i <= 3; i++)
        put(&c, i, i * 10, 1);
    assert_int_equal(find(&c, 1), 10);
    assert_int_equal(find(&c, 3), 30); /* already the most recently used */
    put(&c, 4, 40, 1);
    assert_int_equal(last_freed, 20);
    put(&c, 5, 50, 1);
    assert_int_equal(last_freed, 10);
    put(&c, 6, 60, 1);
    assert_int_equal(last_freed, 30);
    assert_int_equal(freed, 3);
    cache_clear(&c);
}

static void cache_evicts_above_its_maximum_number_of_bytes(void **state)
{
    (void)state;
    static struct cache_kind kind = { .bytes = 100, .free = number_free };
    static struct cache c = { .kind = &kind };

    put(&c, 1, 10, 40);
    put(&c, 2, 20, 60);
    assert_int_equal(freed, 0); /* the sum equals the bound */
    put(&c, 3, 30, 1);
    assert_int_equal(freed, 1);
    assert_int_equal(find(&c, 1), -1);
    put(&c, 4, 40, 100); /* evicts both other entries */
    assert_int_equal(freed, 3);
    assert_int_equal(find(&c, 4), 40);
    put(&c, 5, 50, 101); /* larger than the bound: stored alone until the next put */
    assert_int_equal(find(&c, 5), 50);
    assert_int_equal(find(&c, 4), -1);
    put(&c, 6, 60, 1);
    assert_int_equal(find(&c, 5), -1);
    assert_int_equal(find(&c, 6), 60);
    cache_clear(&c);
}

static void idle_cache_entries_are_not_found_and_are_freed(void **state)
{
    (void)state;
    static struct cache_kind kind = { .idle_ms = 1000, .free = number_free };
    static struct cache c = { .kind = &kind };

    clock_stop_wall_and_monotonic();
    put(&c, 1, 10, 1);
    put(&c, 2, 20, 1);
    clock_advance_wall_and_monotonic(900 * 1000);
    assert_int_equal(find(&c, 1), 10); /* this lookup counts as a use */
    clock_advance_wall_and_monotonic(900 * 1000);
    assert_int_equal(find(&c, 1), 10);
    assert_int_equal(find(&c, 2), -1);
    assert_int_equal(freed, 0);
    put(&c, 3, 30, 1);
    assert_int_equal(freed, 1);
    assert_int_equal(last_freed, 20);
    clock_advance_wall_and_monotonic(1100 * 1000);
    assert_int_equal(find(&c, 1), -1);
    put(&c, 4, 40, 1);
    assert_int_equal(freed, 3);
    cache_clear(&c);
}

static void one_cache_put_frees_only_a_few_idle_entries(void **state)
{
    (void)state;
    static struct cache_kind kind = { .idle_ms = 1000, .free = number_free };
    static struct cache c = { .kind = &kind };

    clock_stop_wall_and_monotonic();
    for (int i = 0; i < 100; i++)
        put(&c, i, i, 1);
    clock_advance_wall_and_monotonic(2000 * 1000);
    put(&c, 100, 100, 1);
    assert_in_range(freed, 1, 16);
    for (int i = 0; i < 100; i++)
        put(&c, 101, i, 1);
    assert_int_equal(c.entries.count, 2);
    cache_clear(&c);
}

static void cache_put_replaces_and_frees_the_entry_with_the_same_key(void **state)
{
    (void)state;
    static struct cache_kind kind = { .entries = 2, .bytes = 100, .free = number_free };
    static struct cache c = { .kind = &kind };

    put(&c, 1, 10, 50);
    put(&c, 2, 20, 50);
    put(&c, 1, 11, 50);
    assert_int_equal(freed, 1);
    assert_int_equal(last_freed, 10);
    assert_int_equal(find(&c, 1), 11);
    assert_int_equal(find(&c, 2), 20);
    assert_true(c.stats.evictions == 0 && c.stats.bytes == 100 && c.stats.entries == 2);
    cache_clear(&c);
}

static void different_key_with_the_same_hash_is_a_cache_miss(void **state)
{
    (void)state;
    static struct cache_kind kind = { .matches = number_is, .free = number_free };
    static struct cache c = { .kind = &kind };

    put(&c, 1, 10, 1);
    assert_null(cache_find(&c, 1, &(int){ 7 }));
    assert_int_equal(find(&c, 1), 10);
    assert_true(c.stats.hits == 1 && c.stats.misses == 1);
    cache_clear(&c);
}

static void cache_remove_does_not_free_the_entry(void **state)
{
    (void)state;
    static struct cache_kind kind = { .free = number_free };
    static struct cache c = { .kind = &kind };

    put(&c, 1, 10, 30);
    put(&c, 2, 20, 5);
    struct number *n = cache_find(&c, 1, NULL);
    cache_remove(&c, &n->entry);
    assert_int_equal(find(&c, 1), -1);
    assert_true(c.stats.bytes == 5 && c.stats.entries == 1);
    cache_insert(&c, 1, 31, &n->entry);
    assert_int_equal(find(&c, 1), 10);
    assert_true(c.stats.bytes == 36 && c.stats.entries == 2);
    assert_int_equal(freed, 0);
    cache_clear(&c);
}

static bool is_odd(const struct cache_entry *e, const void *arg)
{
    assert_ptr_equal(arg, &freed);
    return ((const struct number *)e)->value % 2;
}

static void cache_evict_if_frees_only_matching_entries(void **state)
{
    (void)state;
    static struct cache_kind kind = { .free = number_free };
    static struct cache c = { .kind = &kind };

    cache_evict_if(&c, is_odd, &freed); /* on an empty cache */
    for (int i = 0; i < 100; i++)
        put(&c, i, i, 1);
    cache_evict_if(&c, is_odd, &freed);
    assert_int_equal(freed, 50);
    for (int i = 0; i < 100; i++)
        assert_int_equal(find(&c, i), i % 2 ? -1 : i);
    cache_clear(&c);
}

/* The address sanitizer checks that nothing leaks. */
static void cache_entries_without_free_function_are_freed(void **state)
{
    (void)state;
    static struct cache_kind kind = { .entries = 1 };
    static struct cache c = { .kind = &kind };

    put(&c, 1, 10, 1);
    put(&c, 2, 20, 1);
    assert_int_equal(find(&c, 2), 20);
    cache_clear(&c);
    assert_int_equal(freed, 0);
}

static void cache_clear_frees_every_entry_once(void **state)
{
    (void)state;
    static struct cache_kind kind = { .entries = 10, .free = number_free };
    static struct cache c = { .kind = &kind };

    cache_clear(&c);
    for (int i = 0; i < 5; i++)
        put(&c, i, i, 1);
    cache_clear(&c);
    assert_int_equal(freed, 5);
    assert_int_equal(find(&c, 1), -1);
    cache_clear(&c);
    assert_int_equal(freed, 5);
    put(&c, 1, 1, 1); /* a cleared cache can be used again */
    assert_int_equal(find(&c, 1), 1);
    cache_clear(&c);
    assert_int_equal(freed, 6);
}

static void record_cache_stats(const char *name, const struct cache_stats *s, void *arg)
{
    if (strcmp(name, "counted") == 0)
        *(struct cache_stats *)arg = *s;
}

static struct cache_stats stats_of_counted(void)
{
    struct cache_stats s = { 0 };

    cache_visit_kind_stats(record_cache_stats, &s);
    return s;
}

/* Counters do not fall when one of the caches is cleared. */
static void cache_statistics_are_summed_by_name(void **state)
{
    (void)state;
    static struct cache_kind kind = { .name = "counted", .entries = 2, .free = number_free };
    static struct cache one = { .kind = &kind }, two = { .kind = &kind };

    for (int i = 0; i < 3; i++)
        put(&one, i, i, 10);
    put(&two, 7, 7, 5);
    assert_int_equal(find(&one, 2), 2);
    assert_int_equal(find(&two, 7), 7);
    assert_int_equal(find(&two, 8), -1);
    struct cache_stats s = stats_of_counted();
    assert_true(s.hits == 2 && s.misses == 1 && s.evictions == 1);
    assert_true(s.entries == 3 && s.bytes == 25);

    cache_clear(&one);
    s = stats_of_counted();
    assert_true(s.hits == 2 && s.misses == 1 && s.evictions == 1);
    assert_true(s.entries == 1 && s.bytes == 5);
    cache_clear(&two);
    s = stats_of_counted();
    assert_true(s.hits == 2 && s.entries == 0 && s.bytes == 0);
}

static void *use_thread_cache(void *kind)
{
    struct cache *own = cache_get_for_thread(kind);

    put(own, 1, 10, 1);
    assert_ptr_equal(cache_get_for_thread(kind), own);
    assert_int_equal(find(own, 1), 10);
    return own;
}

static void each_thread_has_its_own_cache_and_frees_it_on_exit(void **state)
{
    (void)state;
    static struct cache_kind kind = { .entries = 2, .free = number_free },
                             other = { .entries = 2, .free = number_free };
    pthread_t thread;
    void *own;

    assert_int_equal(pthread_create(&thread, NULL, use_thread_cache, &kind), 0);
    assert_int_equal(pthread_join(thread, &own), 0);
    assert_int_equal(freed, 1);
    assert_int_equal(find(cache_get_for_thread(&kind), 1), -1);
    assert_ptr_not_equal(cache_get_for_thread(&kind), cache_get_for_thread(&other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cache_evicts_above_its_maximum_number_of_entries, begin,
                                        end),
        cmocka_unit_test_setup_teardown(cache_evicts_the_least_recently_used_entry, begin, end),
        cmocka_unit_test_setup_teardown(cache_evicts_above_its_maximum_number_of_bytes, begin, end),
        cmocka_unit_test_setup_teardown(idle_cache_entries_are_not_found_and_are_freed, begin, end),
        cmocka_unit_test_setup_teardown(one_cache_put_frees_only_a_few_idle_entries, begin, end),
        cmocka_unit_test_setup_teardown(cache_put_replaces_and_frees_the_entry_with_the_same_key,
                                        begin, end),
        cmocka_unit_test_setup_teardown(different_key_with_the_same_hash_is_a_cache_miss, begin,
                                        end),
        cmocka_unit_test_setup_teardown(cache_remove_does_not_free_the_entry, begin, end),
        cmocka_unit_test_setup_teardown(cache_evict_if_frees_only_matching_entries, begin, end),
        cmocka_unit_test_setup_teardown(cache_entries_without_free_function_are_freed, begin, end),
        cmocka_unit_test_setup_teardown(cache_clear_frees_every_entry_once, begin, end),
        cmocka_unit_test_setup_teardown(cache_statistics_are_summed_by_name, begin, end),
        cmocka_unit_test_setup_teardown(each_thread_has_its_own_cache_and_frees_it_on_exit, begin,
                                        end),
    };
    return cmocka_run_group_tests_name("base/cache", tests, NULL, NULL);
}
