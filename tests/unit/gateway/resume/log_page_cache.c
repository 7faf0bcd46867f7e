/* log_page_cache.c - tests which decoded pages of the event log are cached. */
#include "unit/unit.h"

#include "gateway/resume/log_page_cache.h"

enum { LAST = 100 };

static void count_visited_event(void *arg, struct gateway_event *n)
{
    (void)n;
    ++*(int *)arg;
}

static bool page_is_cached(struct log_page_cache *c, int64_t number, int64_t now_ms)
{
    int visited = 0;

    return event_log_page_cache_visit_events(c, number, LAST, now_ms, count_visited_event,
                                             &visited);
}

static void unused_log_pages_are_evicted(void **state)
{
    (void)state;
    struct log_page_cache *c = event_log_page_cache_new();

    assert_false(page_is_cached(c, 7, 0));
    for (int64_t i = 0; i < 4; i++)
        event_log_page_cache_insert(c, event_log_page_new(i, 0, LAST), 0);
    event_log_page_cache_insert(c, event_log_page_new(1, 0, LAST), 0); /* decoded by two threads */
    assert_true(page_is_cached(c, 1, 20 * 1000));
    event_log_page_cache_evict_unused(c, 30 * 1000);
    assert_true(page_is_cached(c, 0, 20 * 1000));
    event_log_page_cache_evict_unused(c, 30 * 1000 + 1);
    assert_true(page_is_cached(c, 0, 30 * 1000));
    assert_true(page_is_cached(c, 1, 30 * 1000));
    assert_false(page_is_cached(c, 2, 30 * 1000));
    assert_false(page_is_cached(c, 3, 30 * 1000));
    event_log_page_cache_free(c);
    event_log_page_cache_free(NULL);
    event_log_page_cache_evict_unused(NULL, 0);
}

static void log_page_that_ends_before_the_range_is_not_used(void **state)
{
    (void)state;
    struct log_page_cache *c = event_log_page_cache_new();

    event_log_page_cache_insert(c, event_log_page_new(0, 0, LAST - 1), 0);
    assert_false(page_is_cached(c, 0, 0));
    event_log_page_cache_insert(c, event_log_page_new(0, 0, LAST), 0);
    assert_true(page_is_cached(c, 0, 0));
    event_log_page_cache_free(c);
}

static void full_cache_evicts_the_least_recently_used_page(void **state)
{
    (void)state;
    enum { PAGES = 160 };
    struct log_page_cache *c = event_log_page_cache_new();

    for (int64_t i = 0; i < PAGES; i++)
        event_log_page_cache_insert(c, event_log_page_new(i, 0, LAST), i);
    assert_true(page_is_cached(c, 0, PAGES));
    event_log_page_cache_insert(c, event_log_page_new(PAGES, 0, LAST), PAGES);
    assert_true(page_is_cached(c, 0, PAGES));
    assert_false(page_is_cached(c, 1, PAGES));
    assert_true(page_is_cached(c, 2, PAGES));
    assert_true(page_is_cached(c, PAGES, PAGES));
    event_log_page_cache_free(c);
}

static struct event_log_page *page_with_events(int64_t number, int64_t after, int64_t last,
                                               int count)
{
    struct event_log_page *p = event_log_page_new(number, after, last);

    while (count--)
        event_log_page_add_event(
            p, gateway_event_new(EVENT_GUILD_UPDATE, audience_of_guild(1), STR("{}")));
    return p;
}

static void newer_rows_are_appended_to_the_cached_page(void **state)
{
    (void)state;
    enum { FIRST = 2 * LOG_PAGE_POSITIONS };
    struct log_page_cache *c = event_log_page_cache_new();
    int visited = 0;

    assert_int_equal(event_log_page_cache_last_position(c, 2), 0);
    event_log_page_cache_insert(c, page_with_events(2, FIRST - 1, FIRST + 9, 1), 0);
    event_log_page_cache_insert(c, page_with_events(2, FIRST + 9, FIRST + 19, 2), 0);
    assert_int_equal(event_log_page_cache_last_position(c, 2), FIRST + 19);
    assert_true(
        event_log_page_cache_visit_events(c, 2, FIRST + 19, 0, count_visited_event, &visited));
    assert_int_equal(visited, 3);

    /* Rows are missing in between, or before. */
    event_log_page_cache_insert(c, page_with_events(2, FIRST + 29, FIRST + 39, 1), 0);
    assert_int_equal(event_log_page_cache_last_position(c, 2), FIRST + 19);
    event_log_page_cache_insert(c, page_with_events(3, FIRST + LOG_PAGE_POSITIONS, FIRST + 200, 1),
                                0);
    assert_int_equal(event_log_page_cache_last_position(c, 3), 0);
    event_log_page_cache_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unused_log_pages_are_evicted),
        cmocka_unit_test(log_page_that_ends_before_the_range_is_not_used),
        cmocka_unit_test(newer_rows_are_appended_to_the_cached_page),
        cmocka_unit_test(full_cache_evicts_the_least_recently_used_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
