/* traffic.c - tests the ring buffer of recorded requests. */
#include "unit/unit.h"

#include "traffic/traffic.h"

enum { SIZE = 64 * 1024 };

static struct buf room;

static void add_call(struct traffic_ring *t, int status, struct str request)
{
    struct traffic_record r = { .kind = TRAFFIC_CALL, .status = status };
    struct str texts[TRAFFIC_TEXTS] = { [TRAFFIC_TARGET] = STR("/a"), [TRAFFIC_REQUEST] = request };

    traffic_add_record(t, &r, texts);
}

static void traffic_is_not_recorded_without_a_viewer(void **state)
{
    struct traffic_ring *t = traffic_ring_new(SIZE, false);
    uint64_t oldest, newest;

    (void)state;
    assert_false(traffic_is_recorded(NULL));
    assert_false(traffic_is_recorded(t));
    add_call(t, 200, STR(""));
    traffic_read_record_number_range(t, &oldest, &newest);
    assert_int_equal(oldest + newest, 0);
    traffic_start_watching(t);
    traffic_start_watching(t);
    traffic_stop_watching(t);
    assert_true(traffic_is_recorded(t));
    add_call(t, 200, STR("x"));
    traffic_stop_watching(t);
    assert_false(traffic_is_recorded(t));
    traffic_read_record_number_range(t, &oldest, &newest);
    assert_int_equal(oldest, 1);
    assert_int_equal(newest, 1);
    traffic_ring_free(t);
    t = traffic_ring_new(SIZE, true);
    traffic_start_watching(t);
    traffic_stop_watching(t);
    assert_true(traffic_is_recorded(t));
    traffic_ring_free(t);
}

static void traffic_record_contains_the_recorded_texts(void **state)
{
    struct traffic_ring *t = traffic_ring_new(SIZE, true);
    struct traffic_record r;

    (void)state;
    add_call(t, 404, STR("body"));
    assert_true(traffic_read_record(t, 1, &r, &room));
    assert_int_equal(r.status, 404);
    assert_true(str_is(traffic_record_text(&r, &room, TRAFFIC_TARGET), "/a"));
    assert_true(str_is(traffic_record_text(&r, &room, TRAFFIC_REQUEST), "body"));
    assert_int_equal(traffic_record_text(&r, &room, TRAFFIC_REPLY).n, 0);
    assert_false(traffic_read_record(t, 0, &r, &room));
    assert_false(traffic_read_record(t, 2, &r, &room));
    traffic_ring_free(t);
}

static void oldest_traffic_records_are_dropped_and_others_stay_intact(void **state)
{
    static char text[2 * TRAFFIC_MIN_TEXT_LIMIT];
    struct traffic_ring *t = traffic_ring_new(SIZE, true);
    struct traffic_record r;
    uint64_t oldest, newest;

    (void)state;
    for (size_t i = 1; i <= 1000; i++) {
        memset(text, 'a' + (int)(i % 26), sizeof text);
        add_call(t, (int)i, str_slice(text, i * 37 % sizeof text));
    }
    traffic_read_record_number_range(t, &oldest, &newest);
    assert_int_equal(newest, 1000);
    assert_true(oldest > 900 && oldest < 1000);
    assert_false(traffic_read_record(t, oldest - 1, &r, &room));
    for (uint64_t n = oldest; n <= newest; n++) {
        assert_true(traffic_read_record(t, n, &r, &room));
        assert_int_equal(r.status, (int)n);
        assert_int_equal(r.lengths[TRAFFIC_REQUEST], n * 37 % sizeof text);
        struct str retained = traffic_record_text(&r, &room, TRAFFIC_REQUEST);
        assert_true(retained.n == r.lengths[TRAFFIC_REQUEST] ||
                    retained.n == TRAFFIC_MIN_TEXT_LIMIT);
        for (size_t i = 0; i < retained.n; i++)
            assert_int_equal(retained.p[i], 'a' + (int)(n % 26));
    }
    traffic_ring_free(t);
}

static void large_ring_stores_longer_texts(void **state)
{
    static char text[TRAFFIC_MAX_TEXT + 1];
    struct traffic_ring *t = traffic_ring_new(8 * 1024 * 1024, true);
    struct traffic_record r;

    (void)state;
    memset(text, 'a', sizeof text);
    add_call(t, 1, str_slice(text, sizeof text));
    assert_true(traffic_read_record(t, 1, &r, &room));
    assert_int_equal(traffic_record_text(&r, &room, TRAFFIC_REQUEST).n, TRAFFIC_MAX_TEXT);
    assert_true(r.monotonic_ns > 0);
    traffic_ring_free(t);
}

static void number_of_small_traffic_records_is_limited(void **state)
{
    struct traffic_ring *t = traffic_ring_new(64 * 1024 * 1024, true);
    struct traffic_record r;
    uint64_t oldest, newest;

    (void)state;
    for (int i = 0; i < 20000; i++)
        add_call(t, i, STR(""));
    traffic_read_record_number_range(t, &oldest, &newest);
    assert_int_equal(newest, 20000);
    assert_int_equal(oldest, 20000 - 16384 + 1);
    assert_true(traffic_read_record(t, oldest, &r, &room));
    assert_int_equal(r.status, (int)oldest - 1);
    traffic_ring_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traffic_is_not_recorded_without_a_viewer),
        cmocka_unit_test(traffic_record_contains_the_recorded_texts),
        cmocka_unit_test(oldest_traffic_records_are_dropped_and_others_stay_intact),
        cmocka_unit_test(large_ring_stores_longer_texts),
        cmocka_unit_test(number_of_small_traffic_records_is_limited),
    };

    buf_init(&room, TRAFFIC_TEXTS * TRAFFIC_MAX_TEXT + 1);
    int failed = cmocka_run_group_tests_name("traffic", tests, NULL, NULL);
    buf_clear(&room);
    return failed;
}
