/* packets.c - tests the parsing of voice datagrams and the detection of replays. */
#include "unit/unit.h"

#include <stdio.h>

#include <string.h>

#include "relay/media/packets.h"

static struct str packet(unsigned char *bytes, size_t n)
{
    return str_slice((const char *)bytes, n);
}

static void voice_datagram_kinds_are_recognized(void **state)
{
    unsigned char b[1500] = { 0, 1, 0, 70, 1, 2, 3, 4 };

    (void)state;
    assert_int_equal(classify_media_datagram(packet(b, 74)), PACKET_IS_DISCOVERY);
    assert_int_equal(packet_read_ssrc(PACKET_IS_DISCOVERY, packet(b, 74)), 0x01020304);
    assert_int_equal(classify_media_datagram(packet(b, 73)), PACKET_IGNORED);
    assert_int_equal(classify_media_datagram(packet(b, 75)), PACKET_IGNORED);
    b[1] = 2;
    assert_int_equal(classify_media_datagram(packet(b, 74)), PACKET_IGNORED);
    memcpy(b, "\x13\x37\xca\xfe", 4);
    assert_int_equal(classify_media_datagram(packet(b, 8)), PACKET_IS_PING);
    memcpy(b, "\x80\x78", 2);
    memcpy(b + 8, "\x0a\x0b\x0c\x0d", 4);
    for (size_t n = 0; n < 12; n++)
        assert_int_equal(classify_media_datagram(packet(b, n)), PACKET_IGNORED);
    assert_int_equal(classify_media_datagram(packet(b, 12)), PACKET_RTP);
    assert_int_equal(packet_read_ssrc(PACKET_RTP, packet(b, 12)), 0x0a0b0c0d);
    assert_int_equal(classify_media_datagram(packet(b, PACKET_MAX)), PACKET_RTP);
    assert_int_equal(classify_media_datagram(packet(b, PACKET_MAX + 1)), PACKET_IGNORED);
    b[1] = 0xf8; /* with a marker */
    assert_int_equal(classify_media_datagram(packet(b, 12)), PACKET_RTP);
    b[1] = 200;
    assert_int_equal(classify_media_datagram(packet(b, 12)), PACKET_RTCP);
    b[1] = 206;
    assert_int_equal(classify_media_datagram(packet(b, 12)), PACKET_RTCP);
    b[0] = 0x40;
    assert_int_equal(classify_media_datagram(packet(b, 12)), PACKET_IGNORED);
}

static void ssrcs_with_the_cookie_of_stun_are_not_allowed(void **state)
{
    (void)state;
    assert_false(ssrc_block_is_allowed(0x2112a440));
    assert_true(ssrc_block_is_allowed(0x2112a430));
    assert_true(ssrc_block_is_allowed(0x2112a450));
}

/* Authentic packets are never dropped: another stream of the sender continues the numbers. */
static void new_rtp_stream_of_a_sender_continues_the_numbering(void **state)
{
    struct rtp_stream s = { 0 };
    struct rtp_packet p = { .sequence = 65535, .timestamp = 960000 };
    struct rtp_stream_position a = rtp_stream_position_of_new_packet(&s, &p);

    (void)state;
    assert_true(a.sequence == 65535 && a.timestamp == 960000 && a.newest && !a.restarts);
    rtp_stream_record_position(&s, &p, &a);
    p = (struct rtp_packet){ .sequence = 0, .timestamp = 960960 };
    a = rtp_stream_position_of_new_packet(&s, &p);
    assert_true(a.sequence == 0 && a.timestamp == 960960 && !a.restarts);
    rtp_stream_record_position(&s, &p, &a);
    p = (struct rtp_packet){ .sequence = 40000, .timestamp = 5 };
    a = rtp_stream_position_of_new_packet(&s, &p);
    assert_true(a.sequence == 1 && a.timestamp == 961920 && a.restarts);
    rtp_stream_record_position(&s, &p, &a);
    p = (struct rtp_packet){ .sequence = 40001, .timestamp = 965 };
    a = rtp_stream_position_of_new_packet(&s, &p);
    assert_true(a.sequence == 2 && a.timestamp == 962880 && !a.restarts);
    rtp_stream_clear(&s);
}

static void ip_discovery_reply_has_74_bytes(void **state)
{
    unsigned char out[PACKET_DISCOVERY_SIZE];

    (void)state;
    packet_write_ip_discovery_reply(0x01020304, STR("203.0.113.9"), 50001, out);
    assert_memory_equal(out,
                        "\0\2\0\106\1\2\3\4"
                        "203.0.113.9\0",
                        20);
    for (size_t i = 19; i < 72; i++)
        assert_int_equal(out[i], 0);
    assert_int_equal(out[72] << 8 | out[73], 50001);
}

static void truncated_rtp_headers_are_refused(void **state)
{
    unsigned char b[64] = { 0x80, 0x78, 0x12, 0x34, 0, 0, 0, 9, 0, 0, 0, 16 };
    struct rtp_packet p;

    (void)state;
    assert_true(rtp_parse_header(packet(b, 12), &p));
    assert_int_equal(p.sequence, 0x1234);
    assert_int_equal(p.timestamp, 9);
    assert_int_equal(p.ssrc, 16);
    assert_int_equal(p.type, 120);
    assert_int_equal(p.encrypted.n, 0);
    b[0] = 0x93; /* an extension and three contributing sources */
    assert_false(rtp_parse_header(packet(b, 27), &p));
    assert_true(rtp_parse_header(packet(b, 30), &p));
    assert_int_equal(p.clear.n, 28);
    assert_int_equal(p.encrypted.n, 2);
    assert_int_equal(p.sources, 3);
    assert_true(p.extended);
    b[0] = 0x8f;
    assert_false(rtp_parse_header(packet(b, 64), &p) && p.clear.n > 64);
}

static void replay_window_accepts_each_number_once(void **state)
{
    struct replay_window w = { 0 };

    (void)state;
    assert_true(replay_window_is_new(&w, 0));
    replay_window_add_number(&w, 0);
    assert_false(replay_window_is_new(&w, 0));
    for (uint64_t n = 2; n < 1000; n += 2) {
        assert_true(replay_window_is_new(&w, n));
        replay_window_add_number(&w, n);
    }
    for (uint64_t n = 998 - REPLAY_WINDOW + 1; n <= 998; n++)
        assert_int_equal(replay_window_is_new(&w, n), n % 2 == 1);
    assert_false(replay_window_is_new(&w, 998 - REPLAY_WINDOW));
    assert_false(replay_window_is_new(&w, 998 - REPLAY_WINDOW - 1));
    replay_window_add_number(&w, 999 - REPLAY_WINDOW + 2);
    assert_false(replay_window_is_new(&w, 999 - REPLAY_WINDOW + 2));
    replay_window_add_number(&w, 100000);
    for (uint64_t n = 100000 - REPLAY_WINDOW + 1; n < 100000; n++)
        assert_true(replay_window_is_new(&w, n));
}

static void replay_window_remembers_all_numbers_within_it(void **state)
{
    (void)state;
    for (uint64_t step = 1; step < 200; step++) {
        struct replay_window w = { 0 };

        replay_window_add_number(&w, 1000);
        replay_window_add_number(&w, 1000 + step);
        assert_false(replay_window_is_new(&w, 1000));
        assert_false(replay_window_is_new(&w, 1000 + step));
        for (uint64_t n = 1001; n < 1000 + step; n++)
            assert_int_equal(replay_window_is_new(&w, n), 1000 + step - n < REPLAY_WINDOW);
    }
}

static struct rtp_packet sent(uint16_t sequence, uint32_t timestamp)
{
    return (struct rtp_packet){ .sequence = sequence, .timestamp = timestamp };
}

static void rtp_sequence_numbers_are_extended_after_wraparound(void **state)
{
    struct rtp_position location = { 0 };
    struct rtp_packet p = sent(65535, UINT32_MAX - 100);
    uint64_t first, next;

    (void)state;
    assert_true(rtp_extend_sequence(&location, &p, &first));
    rtp_update_highest_position(&location, &p, first);
    p = sent(0, 860);
    assert_true(rtp_extend_sequence(&location, &p, &next));
    assert_true(next == first + 1);
    rtp_update_highest_position(&location, &p, next);
    p = sent(65534, UINT32_MAX - 1060);
    assert_true(rtp_extend_sequence(&location, &p, &next));
    assert_true(next == first - 1);
    /* The same sequence number one wraparound earlier, with an old timestamp. */
    p = sent(5, 860u - 65536u * 960u);
    assert_false(rtp_extend_sequence(&location, &p, &next));
    p = sent(5, 860u - 10u * 48000u);
    assert_true(rtp_extend_sequence(&location, &p, &next));
}

/* --- streams -------------------------------------------------------------------------- */

static bool stream_admits_packet(struct rtp_stream *s, uint16_t sequence, uint32_t timestamp,
                                 unsigned content, struct rtp_stream_position *ret)
{
    char sealed[16];
    int n = snprintf(sealed, sizeof sealed, "%u", content);
    struct rtp_packet p = sent(sequence, timestamp);

    p.encrypted = str_slice(sealed, (size_t)n);
    bool admits = rtp_stream_packet_is_new(s, &p, ret);
    if (admits)
        rtp_stream_record_packet(s, &p, ret);
    return admits;
}

static void restarted_rtp_tracks_continue_the_numbering(void **state)
{
    struct rtp_stream s = { 0 };
    struct rtp_stream_position a;
    uint64_t last = 0;
    uint32_t last_time = 0;

    (void)state;
    for (unsigned track = 0; track < 30; track++) {
        for (unsigned i = 0; i < 300; i++) {
            assert_true(
                stream_admits_packet(&s, (uint16_t)(65500 + i), i * 960, track * 300 + i, &a));
            assert_true(!last || (a.number == last + 1 && a.newest));
            assert_true(!last || (int32_t)(a.timestamp - last_time) == 960);
            assert_int_equal(a.sequence, (uint16_t)a.number);
            last = a.number;
            last_time = a.timestamp;
        }
        for (unsigned i = 0; i < 300; i++) /* packets of earlier tracks are replays */
            assert_false(
                stream_admits_packet(&s, (uint16_t)(65500 + i), i * 960, track * 300 + i, &a));
        assert_false(stream_admits_packet(&s, 65500, 0, 0, &a));
    }
    rtp_stream_clear(&s);
}

static void rtp_track_restart_is_detected_without_its_first_packets(void **state)
{
    struct rtp_stream s = { 0 };
    struct rtp_stream_position a;

    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        assert_true(stream_admits_packet(&s, (uint16_t)i, i * 960, i, &a));
    for (unsigned i = 3; i < 1000; i++)
        assert_true(stream_admits_packet(&s, (uint16_t)i, i * 960, 5000 + i, &a));
    /* A restart is not detected in the middle of a track, and missing packets of this track may
     * be late. */
    assert_false(stream_admits_packet(&s, 1, 960, 9998, &a));
    assert_false(stream_admits_packet(&s, 500, 500 * 960, 9999, &a));
    rtp_stream_clear(&s);
}

static void rtp_sequence_that_jumps_back_continues_by_timestamp(void **state)
{
    struct rtp_stream s = { 0 };
    struct rtp_stream_position a;

    (void)state;
    for (unsigned i = 0; i < 2000; i++)
        assert_true(stream_admits_packet(&s, (uint16_t)(40000 + i), i * 960, i, &a));
    for (unsigned i = 0; i < 2000; i++)
        assert_true(
            stream_admits_packet(&s, (uint16_t)(10000 + i), (2000 + i) * 960, 2000 + i, &a));
    for (unsigned i = 0; i < 2000; i++)
        assert_false(stream_admits_packet(&s, (uint16_t)(40000 + i), i * 960, i, &a));
    rtp_stream_clear(&s);
}

static void rtp_stream_recognizes_a_limited_number_of_restarts(void **state)
{
    struct rtp_stream s = { 0 };
    struct rtp_stream_position a;
    unsigned tracks = 0;

    (void)state;
    while (!rtp_stream_has_no_space_for_start_hashes(&s)) {
        for (unsigned i = 0; i < 300; i++)
            stream_admits_packet(&s, (uint16_t)i, i * 960, tracks * 300 + i, &a);
        tracks++;
    }
    assert_true(tracks >= 32);
    assert_false(stream_admits_packet(&s, 0, 0, 1000000, &a));
    rtp_stream_clear(&s);
}

static void video_numbers_continue_only_after_another_sender(void **state)
{
    struct rtp_stream s = { 0 };
    struct rtp_stream_position a = rtp_stream_record_video_packet(
        &s, &(struct rtp_packet){ .sequence = 65535, .timestamp = 9000 });

    (void)state;
    assert_true(a.sequence == 65535 && a.timestamp == 9000 && a.newest);
    a = rtp_stream_record_video_packet(&s,
                                       &(struct rtp_packet){ .sequence = 0, .timestamp = 9000 });
    assert_true(a.sequence == 0 && a.newest);
    a = rtp_stream_record_video_packet(&s,
                                       &(struct rtp_packet){ .sequence = 65000, .timestamp = 1 });
    assert_true(a.sequence == 65000 && a.timestamp == 1 && !a.newest); /* late, unchanged */
    s.has_new_sender = true;
    a = rtp_stream_record_video_packet(&s, &(struct rtp_packet){ .sequence = 500, .timestamp = 7 });
    assert_true(a.sequence == 1 && a.timestamp == 9000 + 960 && a.newest);
    a = rtp_stream_record_video_packet(&s,
                                       &(struct rtp_packet){ .sequence = 502, .timestamp = 3007 });
    assert_true(a.sequence == 3 && a.timestamp == 9000 + 960 + 3000);
    rtp_stream_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(video_numbers_continue_only_after_another_sender),
        cmocka_unit_test(voice_datagram_kinds_are_recognized),
        cmocka_unit_test(ip_discovery_reply_has_74_bytes),
        cmocka_unit_test(ssrcs_with_the_cookie_of_stun_are_not_allowed),
        cmocka_unit_test(new_rtp_stream_of_a_sender_continues_the_numbering),
        cmocka_unit_test(truncated_rtp_headers_are_refused),
        cmocka_unit_test(replay_window_accepts_each_number_once),
        cmocka_unit_test(replay_window_remembers_all_numbers_within_it),
        cmocka_unit_test(rtp_sequence_numbers_are_extended_after_wraparound),
        cmocka_unit_test(restarted_rtp_tracks_continue_the_numbering),
        cmocka_unit_test(rtp_track_restart_is_detected_without_its_first_packets),
        cmocka_unit_test(rtp_sequence_that_jumps_back_continues_by_timestamp),
        cmocka_unit_test(rtp_stream_recognizes_a_limited_number_of_restarts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
