/* transport_feedback.c - tests the transport-wide congestion control feedback. */
#include "unit/unit.h"

#include <string.h>

#include "relay/webrtc/transport_feedback.h"

enum { MS = 1000 };

static void packet_number_is_read_from_the_header_extension(void **state)
{
    struct decrypted_rtp_packet p = {
        .extended = true,
        .bytes = { 0xbe, 0xde, 0, 2, 0x10, 0x7f, 0, 0x31, 0x12, 0x34, 0, 0, 'x' },
        .n = 13,
    };
    uint16_t number = 0;

    (void)state;
    assert_true(transport_feedback_read_packet_number(&p, 3, &number));
    assert_int_equal(number, 0x1234);
    assert_false(transport_feedback_read_packet_number(&p, 1, &number)); /* not two bytes */
    assert_false(transport_feedback_read_packet_number(&p, 4, &number));
    p.n = 11; /* shorter than its extension */
    assert_false(transport_feedback_read_packet_number(&p, 3, &number));
    p.n = 13;
    p.bytes[7] = 0x3f; /* an element beyond the end */
    assert_false(transport_feedback_read_packet_number(&p, 3, &number));
    p.extended = false;
    assert_false(transport_feedback_read_packet_number(&p, 3, &number));
}

static void feedback_has_the_arrival_time_of_each_packet(void **state)
{
    static const unsigned char expected[] = {
        0x8f, 205,  0, 6,             /* seven words */
        0,    0,    0, 1, 0, 0, 0, 2, /* sender, media */
        0xff, 0xff, 0, 4,             /* first number, count */
        0,    0,    1, 0,             /* reference: 64 ms; index 0 */
        0xd2, 0x40,                   /* small, missing, large, small */
        0x18,                         /* 6 ms after the reference */
        0x01, 0x90,                   /* 100 ms later */
        0x04,                         /* 1 ms later */
        0,    0,
    };
    struct transport_feedback f = { 0 };
    unsigned char out[PACKET_MAX];

    (void)state;
    assert_false(transport_feedback_record_arrival(&f, 65535, 70 * MS));
    assert_true(transport_feedback_record_arrival(&f, 1, 170 * MS));
    assert_true(transport_feedback_record_arrival(&f, 2, 171 * MS));
    size_t n = transport_feedback_write(&f, 1, 2, 171 * MS, out);
    assert_int_equal(n, sizeof expected);
    assert_memory_equal(out, expected, n);
    /* The next feedback continues, and packets that were reported are ignored. */
    assert_false(transport_feedback_record_arrival(&f, 1, 180 * MS));
    assert_false(transport_feedback_record_arrival(&f, 3, 180 * MS));
    n = transport_feedback_write(&f, 1, 2, 300 * MS, out);
    assert_memory_equal(out + 12, "\0\3\0\1", 4);
    assert_int_equal(out[19], 1);
}

static void transport_feedback_fits_a_datagram_despite_gaps(void **state)
{
    struct transport_feedback f = { 0 };
    unsigned char out[PACKET_MAX];

    (void)state;
    for (unsigned i = 0; i < FEEDBACK_PACKETS; i++)
        transport_feedback_record_arrival(&f, (uint16_t)i, 1 + (int64_t)(i % 2) * 500 * MS);
    assert_in_range(transport_feedback_write(&f, 1, 2, 0, out), 20, 400);
    transport_feedback_record_arrival(&f, 5000, 100);
    assert_int_equal(f.first, 5000);
    assert_int_equal(f.count, 1);
    /* An arrival that is too long after the first one counts as lost. */
    transport_feedback_record_arrival(&f, 5001, 20000 * (int64_t)MS);
    size_t n = transport_feedback_write(&f, 1, 2, 0, out);
    assert_int_equal(n, 24);
    assert_int_equal(out[20], 0xd0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packet_number_is_read_from_the_header_extension),
        cmocka_unit_test(feedback_has_the_arrival_time_of_each_packet),
        cmocka_unit_test(transport_feedback_fits_a_datagram_despite_gaps),
    };

    return cmocka_run_group_tests_name("relay/webrtc/transport_feedback", tests, NULL, NULL);
}
