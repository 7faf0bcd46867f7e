/* traffic.c - tests the ring buffer of recorded requests. */
#include "unit/unit.h"

#include "traffic/traffic.h"

enum { SIZE = 64 * 1024 };

static struct buf room;

static void add_call(struct traffic *t, int status, struct str request)
{
    struct traffic_record r = { .kind = TRAFFIC_CALL, .status = status };
    struct str texts[TRAFFIC_TEXTS] = { [TRAFFIC_TARGET] = STR("/a"), [TRAFFIC_REQUEST] = request };

    traffic_add(t, &r, texts);
}

static void traffic_is_not_recorded_without_a_viewer(void **state)
{
    struct traffic *t = traffic_new(SIZE, false);
    uint64_t oldest, newest;

    (void)state;
    assert_false(traffic_is_on(NULL));
    assert_false(traffic_is_on(t));
    add_call(t, 200, STR(""));
    traffic_range(t, &oldest, &newest);
    assert_int_equal(oldest + newest, 0);
    traffic_hold(t);
    traffic_hold(t);
    traffic_release(t);
    assert_true(traffic_is_on(t));
    add_call(t, 200, STR("x"));
    traffic_release(t);
    assert_false(traffic_is_on(t));
    traffic_range(t, &oldest, &newest);
    assert_int_equal(oldest, 1);
    assert_int_equal(newest, 1);
    traffic_free(t);
    t = traffic_new(SIZE, true);
    traffic_hold(t);
    traffic_release(t);
    assert_true(traffic_is_on(t));
    traffic_free(t);
}

static void traffic_record_contains_the_recorded_texts(void **state)
{
    struct traffic *t = traffic_new(SIZE, true);
    struct traffic_record r;

    (void)state;
    add_call(t, 404, STR("body"));
    assert_true(traffic_get(t, 1, &r, &room));
    assert_int_equal(r.status, 404);
    assert_true(str_is(traffic_text(&r, &room, TRAFFIC_TARGET), "/a"));
    assert_true(str_is(traffic_text(&r, &room, TRAFFIC_REQUEST), "body"));
    assert_int_equal(traffic_text(&r, &room, TRAFFIC_REPLY).n, 0);
    assert_false(traffic_get(t, 0, &r, &room));
    assert_false(traffic_get(t, 2, &r, &room));
    traffic_free(t);
}

static void oldest_traffic_records_are_dropped_and_others_stay_intact(void **state)
{
    static char text[2 * TRAFFIC_LONGEST];
    struct traffic *t = traffic_new(SIZE, true);
    struct traffic_record r;
    uint64_t oldest, newest;

    (void)state;
    for (size_t i = 1; i <= 1000; i++) {
        memset(text, 'a' + (int)(i % 26), sizeof text);
        add_call(t, (int)i, str_slice(text, i * 37 % sizeof text));
    }
    traffic_range(t, &oldest, &newest);
    assert_int_equal(newest, 1000);
    assert_true(oldest > 900 && oldest < 1000);
    assert_false(traffic_get(t, oldest - 1, &r, &room));
    for (uint64_t n = oldest; n <= newest; n++) {
        assert_true(traffic_get(t, n, &r, &room));
        assert_int_equal(r.status, (int)n);
        assert_int_equal(r.lengths[TRAFFIC_REQUEST], n * 37 % sizeof text);
        struct str kept = traffic_text(&r, &room, TRAFFIC_REQUEST);
        assert_true(kept.n == r.lengths[TRAFFIC_REQUEST] || kept.n == TRAFFIC_LONGEST);
        for (size_t i = 0; i < kept.n; i++)
            assert_int_equal(kept.p[i], 'a' + (int)(n % 26));
    }
    traffic_free(t);
}

static void number_of_small_traffic_records_is_limited(void **state)
{
    struct traffic *t = traffic_new(64 * 1024 * 1024, true);
    struct traffic_record r;
    uint64_t oldest, newest;

    (void)state;
    for (int i = 0; i < 20000; i++)
        add_call(t, i, STR(""));
    traffic_range(t, &oldest, &newest);
    assert_int_equal(newest, 20000);
    assert_int_equal(oldest, 20000 - 16384 + 1);
    assert_true(traffic_get(t, oldest, &r, &room));
    assert_int_equal(r.status, (int)oldest - 1);
    traffic_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traffic_is_not_recorded_without_a_viewer),
        cmocka_unit_test(traffic_record_contains_the_recorded_texts),
        cmocka_unit_test(oldest_traffic_records_are_dropped_and_others_stay_intact),
        cmocka_unit_test(number_of_small_traffic_records_is_limited),
    };

    buf_init(&room, TRAFFIC_TEXTS * TRAFFIC_LONGEST + 1);
    int failed = cmocka_run_group_tests_name("traffic", tests, NULL, NULL);
    buf_clear(&room);
    return failed;
}
