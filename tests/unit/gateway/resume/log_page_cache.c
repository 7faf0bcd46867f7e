/* log_page_cache.c - tests which decoded pages of the event log are cached. */
#include "unit/unit.h"

#include "gateway/resume/log_page_cache.h"

enum { LAST = 100 };

static void count_visited_event(void *arg, struct gateway_event *n)
{
    (void)n;
    ++*(int *)arg;
}

enum { ACCOUNT = 5, GUILD = 1, OTHER_GUILD = 2 };

/* Visits a page for a session in GUILD; adds the events to *visited. */
static enum log_page_visit visit_page(struct log_page_cache *c, int64_t number, int64_t after,
                                      int64_t last, int64_t now_ms, snowflake guild_id,
                                      int *visited)
{
    struct session_interest interest;
    struct log_part_set unread;

    session_interest_init(&interest, ACCOUNT);
    session_interest_add_guild(&interest, guild_id);
    enum log_page_visit ret = event_log_page_cache_visit_events(
        c, number, after, last, &interest, now_ms, count_visited_event, visited, &unread);
    session_interest_clear(&interest);
    return ret;
}

static bool page_is_cached(struct log_page_cache *c, int64_t number, int64_t now_ms)
{
    int visited = 0;

    return visit_page(c, number, 0, LAST, now_ms, GUILD, &visited) == LOG_PAGE_VISITED;
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

    for (int i = 1; i <= count; i++) {
        struct gateway_event *n =
            gateway_event_new(EVENT_GUILD_UPDATE, audience_of_guild(GUILD), STR("{}"));

        n->number = (uint64_t)(after + i) << EVENT_NUMBER_BITS;
        event_log_page_add_event(p, n);
    }
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
    assert_int_equal(visit_page(c, 2, FIRST - 1, FIRST + 19, 0, GUILD, &visited), LOG_PAGE_VISITED);
    assert_int_equal(visited, 3);

    /* Rows are missing in between, or before. */
    event_log_page_cache_insert(c, page_with_events(2, FIRST + 29, FIRST + 39, 1), 0);
    assert_int_equal(event_log_page_cache_last_position(c, 2), FIRST + 19);
    event_log_page_cache_insert(c, page_with_events(3, FIRST + LOG_PAGE_POSITIONS, FIRST + 200, 1),
                                0);
    assert_int_equal(event_log_page_cache_last_position(c, 3), 0);
    event_log_page_cache_free(c);
}

static struct gateway_event *unread_entry(int64_t position, snowflake guild_id)
{
    uint64_t key = log_address_key(AUDIENCE_GUILD, guild_id);
    struct gateway_event *n = unread_log_entry_new(position, 2, &key, 1);

    n->number = ((uint64_t)position << EVENT_NUMBER_BITS) + 2;
    return n;
}

static void unread_entries_are_read_for_sessions_that_need_them(void **state)
{
    (void)state;
    struct log_page_cache *c = event_log_page_cache_new();
    struct event_log_page *p = page_with_events(0, 0, LAST, 1);
    int visited = 0;

    event_log_page_add_event(p, unread_entry(2, OTHER_GUILD));
    event_log_page_add_event(p, unread_entry(3, GUILD));
    event_log_page_cache_insert(c, p, 0);
    assert_int_equal(visit_page(c, 0, 0, 2, 0, GUILD, &visited), LOG_PAGE_VISITED);
    assert_int_equal(visited, 1);
    assert_int_equal(visit_page(c, 0, 2, LAST, 0, OTHER_GUILD, &visited), LOG_PAGE_VISITED);
    assert_int_equal(visited, 1);
    assert_int_equal(visit_page(c, 0, 0, LAST, 0, GUILD, &visited), LOG_PAGE_INCOMPLETE);
    assert_int_equal(visited, 1);

    /* The same page is read again, now with position 3, which has two events. */
    p = page_with_events(0, 0, LAST, 3);
    p->events[1]->number = (UINT64_C(3) << EVENT_NUMBER_BITS) + 1;
    p->events[2]->number = (UINT64_C(3) << EVENT_NUMBER_BITS) + 2;
    event_log_page_cache_insert(c, p, 0);
    assert_int_equal(visit_page(c, 0, 0, LAST, 0, GUILD, &visited), LOG_PAGE_VISITED);
    assert_int_equal(visited, 4);
    assert_int_equal(visit_page(c, 0, 0, LAST, 0, OTHER_GUILD, &visited), LOG_PAGE_INCOMPLETE);
    event_log_page_cache_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unused_log_pages_are_evicted),
        cmocka_unit_test(log_page_that_ends_before_the_range_is_not_used),
        cmocka_unit_test(newer_rows_are_appended_to_the_cached_page),
        cmocka_unit_test(unread_entries_are_read_for_sessions_that_need_them),
        cmocka_unit_test(full_cache_evicts_the_least_recently_used_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
