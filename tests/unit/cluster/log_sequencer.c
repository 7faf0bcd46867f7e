/* log_sequencer.c - tests that frames are delivered once and in the order of their log positions.
 */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cluster/log_sequencer.h"

enum { POSITIONS = 5000, FIRST = 17 };

struct arrivals {
    int64_t positions[POSITIONS];
    size_t count;
};

static void record_delivered_log_entry(void *arg, int64_t position, const struct log_entry *f)
{
    struct arrivals *h = arg;

    assert_true(f->announced->guild_id == (snowflake)position);
    assert_true(h->count < POSITIONS);
    h->positions[h->count++] = position;
}

static void offer_frame(struct log_sequencer *l, int64_t position, bool at_hand)
{
    struct arena *a = arena_new();
    struct emitted_event n = { .event = EVENT_GUILD_UPDATE, .guild_id = (snowflake)position };
    struct log_entry f = { .announced = &n };

    log_sequencer_offer_entry(l, position, log_entry_encode(&f, a), at_hand ? &f : NULL);
    arena_free(a);
}

static bool is_aborted_position(int64_t position)
{
    return position % 7 == 3;
}

static void offer_log_entry_or_aborted_position(struct log_sequencer *l, int64_t position)
{
    if (is_aborted_position(position))
        log_sequencer_offer_entry(l, position, STR(""), NULL);
    else
        offer_frame(l, position, rand() % 2);
}

static void log_entries_are_delivered_in_log_order(void **state)
{
    (void)state;
    struct arrivals *h = mem_new(sizeof *h);
    struct log_entry_sink sink = { h, record_delivered_log_entry };
    struct log_sequencer *l = log_sequencer_new(&sink, FIRST);
    int64_t order[POSITIONS];

    srand(1);
    for (int i = 0; i < POSITIONS; i++)
        order[i] = FIRST + i;
    for (int i = 0; i + 1 < POSITIONS; i++) {
        int other = i + rand() % (POSITIONS - i > 50 ? 50 : POSITIONS - i);
        int64_t swapped = order[i];

        order[i] = order[other];
        order[other] = swapped;
    }
    for (int i = 0; i < POSITIONS; i++) {
        offer_log_entry_or_aborted_position(l, order[i]);
        if (rand() % 3 == 0)
            offer_log_entry_or_aborted_position(l, order[rand() % (i + 1)]);
    }
    assert_int_equal(log_sequencer_next_position(l), FIRST + POSITIONS);
    assert_true(log_sequencer_greatest_position(l) < log_sequencer_next_position(l));
    size_t at = 0;
    for (int64_t p = FIRST; p < FIRST + POSITIONS; p++)
        if (!is_aborted_position(p))
            assert_int_equal(h->positions[at++], p);
    assert_int_equal(at, h->count);
    log_sequencer_free(l);
    mem_free(h);
}

static void delivery_waits_for_a_missing_log_position(void **state)
{
    (void)state;
    struct arrivals *h = mem_new(sizeof *h);
    struct log_entry_sink sink = { h, record_delivered_log_entry };
    struct log_sequencer *l = log_sequencer_new(&sink, 1);

    offer_frame(l, 2, true);
    offer_frame(l, 3, false);
    offer_frame(l, 5, false);
    assert_int_equal(h->count, 0);
    assert_int_equal(log_sequencer_next_position(l), 1);
    assert_int_equal(log_sequencer_greatest_position(l), 5);
    assert_int_equal(log_sequencer_abort_missing(l, 3), 1);
    assert_int_equal(h->count, 2);
    assert_int_equal(log_sequencer_next_position(l), 4);
    offer_frame(l, 4, true);
    assert_int_equal(h->count, 4);
    log_sequencer_free(l);
    mem_free(h);
}

static void log_entries_too_far_ahead_are_not_buffered(void **state)
{
    (void)state;
    struct arrivals *h = mem_new(sizeof *h);
    struct log_entry_sink sink = { h, record_delivered_log_entry };
    struct log_sequencer *l = log_sequencer_new(&sink, 1);

    offer_frame(l, 1 + 65536, false);
    assert_int_equal(log_sequencer_greatest_position(l), 0);
    offer_frame(l, 1, false);
    offer_frame(l, 1 + 65536, false);
    assert_int_equal(log_sequencer_greatest_position(l), 1 + 65536);
    assert_int_equal(log_sequencer_abort_missing(l, 65536), 65535);
    assert_int_equal(h->count, 2);
    log_sequencer_free(l);
    mem_free(h);
}

static void unreadable_log_entry_is_skipped_and_counted(void **state)
{
    (void)state;
    struct arrivals *h = mem_new(sizeof *h);
    struct log_entry_sink sink = { h, record_delivered_log_entry };
    struct log_sequencer *l = log_sequencer_new(&sink, FIRST);

    offer_frame(l, FIRST, false);
    assert_int_equal(log_sequencer_unreadable_count(l), 0);
    log_sequencer_offer_entry(l, FIRST + 1, STR("no frame"), NULL);
    offer_frame(l, FIRST + 2, false);
    assert_int_equal(log_sequencer_unreadable_count(l), 1);
    assert_int_equal(h->count, 2);
    assert_int_equal(log_sequencer_next_position(l), FIRST + 3);
    log_sequencer_free(l);
    mem_free(h);
}

static void unreadable_published_entry_is_read_from_the_log(void **state)
{
    (void)state;
    struct arrivals *h = mem_new(sizeof *h);
    struct log_entry_sink sink = { h, record_delivered_log_entry };
    struct log_sequencer *l = log_sequencer_new(&sink, FIRST);

    log_sequencer_offer_entry_from_nats(l, FIRST, STR("no frame"));
    assert_int_equal(log_sequencer_next_position(l), FIRST);
    offer_frame(l, FIRST + 1, false);
    log_sequencer_offer_entry_from_nats(l, FIRST, STR("no frame"));
    assert_int_equal(h->count, 0);
    offer_frame(l, FIRST, false);
    assert_int_equal(h->count, 2);
    assert_int_equal(log_sequencer_next_position(l), FIRST + 2);
    assert_int_equal(log_sequencer_unreadable_count(l), 0);

    /* The unreadable frame waited behind a missing position when the log was read. */
    log_sequencer_offer_entry_from_nats(l, FIRST + 3, STR("no frame"));
    offer_frame(l, FIRST + 2, false);
    assert_int_equal(log_sequencer_next_position(l), FIRST + 3);
    offer_frame(l, FIRST + 3, false);
    assert_int_equal(h->count, 4);

    /* The position before the frame is aborted; the log contains the frame. */
    log_sequencer_offer_entry_from_nats(l, FIRST + 5, STR("no frame"));
    offer_frame(l, FIRST + 5, false);
    assert_int_equal(log_sequencer_abort_missing(l, FIRST + 5), 1);
    assert_int_equal(h->count, 5);
    assert_int_equal(log_sequencer_unreadable_count(l), 0);
    log_sequencer_free(l);
    mem_free(h);
}

/* Whether the sequencer needs entries with an address, and the positions that it passed over. */
static bool needed;
static int64_t passed_over[POSITIONS];
static size_t passed_over_count;

static bool need_entries(void *arg, const struct log_entry_address *a)
{
    (void)arg;
    assert_int_equal(a->count, 1);
    return needed;
}

static void record_passed_over_position(void *arg, int64_t position,
                                        const struct log_entry_address *a)
{
    const struct arrivals *h = arg;

    assert_true(a->keys[0] == (uint64_t)position);
    assert_true(!h->count || h->positions[h->count - 1] < position);
    passed_over[passed_over_count++] = position;
}

static void offer_address_of_log_entry(struct log_sequencer *l, int64_t position, bool with_entry)
{
    struct arena *arena = arena_new();
    struct emitted_event n = { .event = EVENT_GUILD_UPDATE, .guild_id = (snowflake)position };
    struct log_entry f = { .announced = &n };
    struct log_entry_address a = {
        .count = 1, .keys = { (uint64_t)position }, .events = 1, .hash = (uint64_t)position
    };

    log_sequencer_offer_address_of_entry(l, position, &a,
                                         with_entry ? log_entry_encode(&f, arena) : STR(""));
    arena_free(arena);
}

static void entry_with_only_an_address_is_passed_over_unless_it_is_needed(void **state)
{
    (void)state;
    struct arrivals *h = mem_new(sizeof *h);
    struct log_entry_sink sink = { h, record_delivered_log_entry, need_entries,
                                   record_passed_over_position };
    struct log_sequencer *l = log_sequencer_new(&sink, FIRST);
    struct delivered_log_entry delivered[DELIVERED_ENTRIES_RECORDED];

    log_sequencer_enable_delivered_list(l);
    needed = false;
    offer_address_of_log_entry(l, FIRST + 1, true); /* not delivered: nobody needs it */
    offer_address_of_log_entry(l, FIRST, false);
    assert_int_equal(passed_over_count, 2);
    assert_int_equal(log_sequencer_next_position(l), FIRST + 2);
    assert_int_equal(h->count, 0);
    assert_int_equal(log_sequencer_list_delivered_entries(l, delivered), 2);
    assert_true(delivered[1].position == FIRST + 1 && delivered[1].hash == FIRST + 1);

    needed = true;
    offer_address_of_log_entry(l, FIRST + 2, false);
    assert_int_equal(log_sequencer_next_position(l), FIRST + 2);
    assert_int_equal(log_sequencer_greatest_position(l), FIRST + 2);
    offer_frame(l, FIRST + 2, false); /* read from the log */
    offer_address_of_log_entry(l, FIRST + 3, true);
    offer_address_of_log_entry(l, FIRST + 3, false);
    assert_int_equal(h->count, 2);

    /* Whether an entry is needed is decided when its turn comes. */
    needed = false;
    offer_address_of_log_entry(l, FIRST + 5, false);
    needed = true;
    offer_frame(l, FIRST + 4, true);
    assert_int_equal(log_sequencer_next_position(l), FIRST + 5);
    offer_address_of_log_entry(l, FIRST + 5, true);
    assert_int_equal(h->count, 4);
    assert_int_equal(passed_over_count, 2);
    log_sequencer_free(l);
    mem_free(h);
}

/* Every position is delivered or passed over once, in order (record_passed_over_position). */
static void addresses_and_entries_arrive_in_any_order(void **state)
{
    (void)state;
    struct arrivals *h = mem_new(sizeof *h);
    struct log_entry_sink sink = { h, record_delivered_log_entry, need_entries,
                                   record_passed_over_position };
    struct log_sequencer *l = log_sequencer_new(&sink, FIRST);
    int64_t next;

    srand(2);
    passed_over_count = 0;
    while ((next = log_sequencer_next_position(l)) < FIRST + POSITIONS) {
        int64_t position = next + rand() % 20;

        needed = rand() % 2;
        if (position >= FIRST + POSITIONS)
            continue;
        if (rand() % 4)
            offer_address_of_log_entry(l, position, rand() % 2);
        else if (rand() % 2)
            offer_frame(l, position, rand() % 2);
        else
            log_sequencer_abort_missing(l, next - 1);
    }
    assert_int_equal(h->count + passed_over_count, POSITIONS);
    for (size_t i = 1; i < h->count; i++)
        assert_true(h->positions[i - 1] < h->positions[i]);
    log_sequencer_free(l);
    mem_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_entries_are_delivered_in_log_order),
        cmocka_unit_test(delivery_waits_for_a_missing_log_position),
        cmocka_unit_test(log_entries_too_far_ahead_are_not_buffered),
        cmocka_unit_test(unreadable_log_entry_is_skipped_and_counted),
        cmocka_unit_test(unreadable_published_entry_is_read_from_the_log),
        cmocka_unit_test(entry_with_only_an_address_is_passed_over_unless_it_is_needed),
        cmocka_unit_test(addresses_and_entries_arrive_in_any_order),
    };

    return cmocka_run_group_tests_name("cluster/line", tests, NULL, NULL);
}
