/* replay.c - tests the buffer of events that a session may replay after RESUME. */
#include "unit/unit.h"

#include <malloc.h>

#include "base/mem.h"
#include "gateway/sessions/replay.h"

enum { SESSIONS = 100, EVENTS = 10000, MOST_EACH = 75 * 1024 };

static struct gateway_event *make_numbered_event(uint64_t number)
{
    struct gateway_event *n =
        gateway_event_new(EVENT_MESSAGE_DELETE, audience_of_guild(1), STR("{}"));

    n->number = number;
    return n;
}

static void add(struct replay_buffer *r, uint64_t number, int64_t now_s)
{
    struct gateway_event *n = make_numbered_event(number);

    replay_buffer_add(r, n, 0, now_s);
    gateway_event_unref(n);
}

static void expect_retained_events(const struct replay_buffer *r, uint64_t first, uint32_t count)
{
    assert_int_equal(r->count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(replay_buffer_entry_at(r, i)->event->number, first + i);
}

static void replay_buffer_retains_the_last_events_in_order(void **state)
{
    struct replay_buffer r = { 0 };

    (void)state;
    for (uint64_t i = 0; i < EVENTS; i++) {
        add(&r, i, 1);
        if (i < 100 || i % 997 == 0)
            expect_retained_events(&r, i < REPLAY_COUNT ? 0 : i + 1 - REPLAY_COUNT,
                                   i < REPLAY_COUNT ? (uint32_t)i + 1 : REPLAY_COUNT);
    }
    replay_buffer_clear(&r);
    assert_null(r.oldest);
}

static void replay_buffer_drops_old_events_and_reuses_their_memory(void **state)
{
    struct replay_buffer r = { 0 };
    int64_t now = 1000000;

    (void)state;
    for (uint64_t i = 0; i < 300; i++)
        add(&r, i, now + (int64_t)i);
    replay_buffer_evict_expired(&r, now + 250 + REPLAY_AGE_S);
    expect_retained_events(&r, 250, 50);
    for (uint64_t i = 300; i < 1300; i++)
        add(&r, i, now + 300);
    expect_retained_events(&r, 300 - 50, 1050);
    replay_buffer_evict_expired(&r, now + 5000);
    assert_int_equal(r.count, 0);
    assert_null(r.oldest);
    add(&r, 7, now + 5000);
    expect_retained_events(&r, 7, 1);
    replay_buffer_clear(&r);
}

/* All sessions receive the same events, so their buffers grow together without unused memory
 * between them. */
static void replay_buffers_do_not_fragment_the_heap(void **state)
{
    struct replay_buffer *all = mem_new(SESSIONS * sizeof *all);
    struct gateway_event *n = make_numbered_event(1);

    (void)state;
    malloc_trim(0);
    size_t before = mallinfo2().arena;
    for (int i = 0; i < REPLAY_COUNT + 50; i++)
        for (int s = 0; s < SESSIONS; s++)
            replay_buffer_add(&all[s], n, 0, 1);
    size_t each = (mallinfo2().arena - before) / SESSIONS;
    if (each > MOST_EACH)
        fail_msg("%zu bytes for each", each);
    for (int s = 0; s < SESSIONS; s++)
        replay_buffer_clear(&all[s]);
    gateway_event_unref(n);
    mem_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replay_buffer_retains_the_last_events_in_order),
        cmocka_unit_test(replay_buffer_drops_old_events_and_reuses_their_memory),
        cmocka_unit_test(replay_buffers_do_not_fragment_the_heap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
