/* quality.c - tests the measurement of packet loss and jitter. */
#include "unit/unit.h"

#include "relay/media/quality.h"

#define MS INT64_C(1000000)

struct sender {
    struct media_quality quality;
    struct rtp_position highest;
};

static int64_t send_packet(struct sender *s, uint16_t sequence, int64_t at_ns)
{
    struct rtp_packet p = { .sequence = sequence, .timestamp = sequence * 960U };
    uint64_t number;

    assert_true(rtp_extend_sequence(&s->highest, &p, &number));
    int64_t more =
        media_quality_record_packet(&s->quality, &s->highest, number, p.timestamp, at_ns);
    rtp_update_highest_position(&s->highest, &p, number);
    return more;
}

static void skipped_packets_count_as_missing_until_they_arrive(void **state)
{
    struct sender s = { 0 };

    (void)state;
    assert_int_equal(send_packet(&s, 10, MS), 0);
    assert_int_equal(send_packet(&s, 11, 2 * MS), 0);
    assert_int_equal(send_packet(&s, 14, 3 * MS), 2); /* 12 and 13 */
    assert_int_equal(send_packet(&s, 13, 4 * MS), -1);
    assert_int_equal(s.quality.missing - s.quality.late, 1);
    assert_int_equal(s.quality.packets, 4);
    /* A client that restarts its sequence has lost nothing. */
    assert_int_equal(send_packet(&s, 1000, 5 * MS), 0);
    assert_int_equal(s.quality.missing, 2);
}

static void packets_at_even_intervals_have_no_jitter(void **state)
{
    struct sender even = { 0 }, uneven = { 0 };

    (void)state;
    for (uint16_t i = 1; i <= 200; i++) {
        send_packet(&even, i, i * 20 * MS);
        send_packet(&uneven, i, i * 20 * MS + (i % 2) * 10 * MS);
    }
    assert_int_equal(even.quality.jitter_ns, 0);
    assert_true(uneven.quality.jitter_ns > 9 * MS && uneven.quality.jitter_ns <= 10 * MS);
    /* A pause is not jitter. */
    send_packet(&even, 260, 100 * 1000 * MS);
    assert_int_equal(even.quality.jitter_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skipped_packets_count_as_missing_until_they_arrive),
        cmocka_unit_test(packets_at_even_intervals_have_no_jitter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
