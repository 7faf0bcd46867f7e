/* sdp.c - the offer of a browser in SDP and its answer: accepted, refused and ignored lines. */
#include "unit/unit.h"

#include <string.h>

#include "relay/webrtc/sdp.h"

#define HASH                                                                                        \
    "4A:79:94:16:44:3F:BD:05:41:5A:AC:20:72:12:7C:AA:E9:28:8F:C4:0D:4D:9B:CE:F0:4D:7C:14:4C:7B:5B:" \
    "A9"
#define CREDENTIALS "a=ice-ufrag:Xk3p\na=ice-pwd:0yJx3n6hq3t7v9w1z5b8d2\n"

static bool parses(const char *text)
{
    struct sdp_offer offer;

    return sdp_parse_offer(str_of(text), &offer);
}

static void offer_of_a_browser_is_parsed(void **state)
{
    struct sdp_offer offer;

    (void)state;
    assert_true(sdp_parse_offer(
        STR("a=extmap-allow-mixed\na=ice-ufrag:Xk3p\na=ice-pwd:0yJx3n6hq3t7v9w1z5b8d2\n"
            "a=ice-options:trickle\na=fingerprint:sha-256 " HASH "\n"
            "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level\n"
            "a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\n"
            "a=rtpmap:111 opus/48000/2\na=rtpmap:96 VP8/90000\na=rtpmap:97 rtx/90000"),
        &offer));
    assert_true(str_is(offer.ufrag, "Xk3p"));
    assert_true(str_is(offer.password, "0yJx3n6hq3t7v9w1z5b8d2"));
    assert_string_equal(offer.fingerprints, "sha-256 " HASH "\n");
    assert_int_equal(offer.opus_type, 111);
    assert_int_equal(offer.transport_cc_id, 3);
}

static void whole_sdp_with_crlf_line_ends_is_parsed(void **state)
{
    struct sdp_offer offer;

    (void)state;
    assert_true(
        sdp_parse_offer(STR("v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 109\r\n"
                            "a=ice-ufrag:Xk3p\r\na=ice-pwd:0yJx3n6hq3t7v9w1z5b8d2\r\n"
                            "a=fingerprint:SHA-256 " HASH "\r\na=rtpmap:109 OPUS/48000/2\r\n"),
                        &offer));
    assert_int_equal(offer.opus_type, 109);
    assert_int_equal(offer.transport_cc_id, -1);
}

static void sdp_with_missing_or_malformed_lines_is_refused(void **state)
{
    (void)state;
    assert_true(parses(CREDENTIALS "a=fingerprint:sha-256 " HASH));
    assert_false(parses(""));
    assert_false(parses(CREDENTIALS));
    assert_false(parses(CREDENTIALS "a=fingerprint:sha-1 " HASH)); /* not a secure hash */
    assert_false(parses(CREDENTIALS "a=fingerprint:sha-256 zz"));
    assert_false(parses("a=ice-ufrag:Xk3p\na=fingerprint:sha-256 " HASH));
    assert_false(
        parses("a=ice-ufrag:Xk3\na=ice-pwd:0yJx3n6hq3t7v9w1z5b8d2\na=fingerprint:sha-256 " HASH));
    assert_false(
        parses("a=ice-ufrag:Xk3p\na=ice-pwd:0yJx3n6hq3t7v9w1z5b8d\na=fingerprint:sha-256 " HASH));
    assert_false(
        parses("a=ice-ufrag:Xk 3p\na=ice-pwd:0yJx3n6hq3t7v9w1z5b8d2\na=fingerprint:sha-256 " HASH));
}

static void excess_fingerprints_of_an_sdp_offer_are_ignored(void **state)
{
    char text[16000] = CREDENTIALS;
    struct sdp_offer offer;

    (void)state;
    for (int i = 0; i < 100; i++)
        strcat(text, "a=fingerprint:sha-256 " HASH "\n");
    assert_true(sdp_parse_offer(str_of(text), &offer));
    assert_true(strlen(offer.fingerprints) < SDP_FINGERPRINT_TEXT);
}

static void payload_types_out_of_range_are_ignored(void **state)
{
    struct sdp_offer offer;

    (void)state;
    assert_true(
        sdp_parse_offer(STR(CREDENTIALS "a=fingerprint:sha-256 " HASH "\n"
                                        "a=rtpmap:400 opus/48000/2\na=rtpmap:x opus/48000/2\n"
                                        "a=extmap:0 http://www.ietf.org/id/draft-holmer-rmcat-"
                                        "transport-wide-cc-extensions-01\n"),
                        &offer));
    assert_int_equal(offer.opus_type, -1);
    assert_int_equal(offer.transport_cc_id, -1);
}

static void sdp_answer_has_all_lines_that_clients_need(void **state)
{
    struct sdp_candidate candidates[] = { { STR_INIT("203.0.113.5"), 50000 },
                                          { STR_INIT("2001:db8::1"), 50000 } };
    struct buf out;

    (void)state;
    buf_init(&out, 4096);
    sdp_write_answer(&out, "sha-256 4A:79", STR("Xk3p"), STR("pw"), candidates, 2);
    assert_true(str_is(buf_as_str(&out),
                       "m=audio 50000 ICE/SDP\na=fingerprint:sha-256 4A:79\nc=IN IP4 203.0.113.5\n"
                       "a=rtcp:50000\na=ice-ufrag:Xk3p\na=ice-pwd:pw\na=fingerprint:sha-256 4A:79\n"
                       "a=candidate:1 1 UDP 2130706431 203.0.113.5 50000 typ host\n"
                       "a=candidate:2 1 UDP 2130706175 2001:db8::1 50000 typ host\n"));
    buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offer_of_a_browser_is_parsed),
        cmocka_unit_test(whole_sdp_with_crlf_line_ends_is_parsed),
        cmocka_unit_test(sdp_with_missing_or_malformed_lines_is_refused),
        cmocka_unit_test(excess_fingerprints_of_an_sdp_offer_are_ignored),
        cmocka_unit_test(payload_types_out_of_range_are_ignored),
        cmocka_unit_test(sdp_answer_has_all_lines_that_clients_need),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
