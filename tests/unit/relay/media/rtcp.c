/* rtcp.c - tests the parsing of RTCP packets. */
#include "unit/unit.h"

#include "relay/media/rtcp.h"

static struct str of_bytes(const unsigned char *bytes, size_t n)
{
    return str_slice((const char *)bytes, n);
}

static void rtcp_feedback_names_the_ssrc_of_its_media(void **state)
{
    static const unsigned char pli[] = { 0x81, 206, 0, 2, 0, 0, 1, 0x10, 0, 0, 2, 0x21 };
    static const unsigned char nack[] = {
        0x81, 205, 0, 3, 0, 0, 1, 0x10, 0, 0, 2, 0x21, 0, 1, 0, 0
    };
    static const unsigned char fir[] = { 0x84, 206, 0, 4, 0, 0,    1, 0x10, 0, 0,
                                         0,    0,   0, 0, 2, 0x23, 1, 0,    0, 0 };
    struct str rest = of_bytes(pli, sizeof pli);
    struct rtcp_packet part;

    (void)state;
    assert_true(rtcp_parse_next(&rest, &part));
    assert_int_equal(part.sender, 0x110);
    assert_int_equal(part.about, 0x221);
    assert_false(part.announces);
    assert_int_equal(part.bytes.n, sizeof pli);
    assert_false(rtcp_parse_next(&rest, &part));
    rest = of_bytes(nack, sizeof nack);
    assert_true(rtcp_parse_next(&rest, &part) && part.about == 0x221);
    rest = of_bytes(fir, sizeof fir);
    assert_true(rtcp_parse_next(&rest, &part) && part.about == 0x223);
}

static void rtcp_report_may_be_followed_by_another_part(void **state)
{
    unsigned char both[28 + 12] = { 0x80, 200, 0, 6, 0, 0, 1, 0x11 };
    static const unsigned char description[] = { 0x81, 202, 0, 2, 0, 0, 1, 0x11, 1, 0, 0, 0 };
    struct str rest = of_bytes(both, sizeof both);
    struct rtcp_packet part;

    (void)state;
    memcpy(both + 28, description, sizeof description);
    assert_true(rtcp_parse_next(&rest, &part) && part.announces && part.bytes.n == 28);
    assert_true(rtcp_parse_next(&rest, &part) && part.announces && part.bytes.n == 12);
    assert_false(rtcp_parse_next(&rest, &part));
}

static void truncated_rtcp_parts_are_refused(void **state)
{
    unsigned char pli[] = { 0x81, 206, 0, 2, 0, 0, 1, 0x10, 0, 0, 2, 0x21 };
    struct rtcp_packet part;

    (void)state;
    for (size_t n = 0; n < sizeof pli; n++) {
        struct str rest = of_bytes(pli, n);

        assert_false(rtcp_parse_next(&rest, &part));
    }
    pli[3] = 1; /* eight bytes: feedback without an SSRC */
    struct str rest = of_bytes(pli, sizeof pli);
    assert_true(rtcp_parse_next(&rest, &part) && part.about == 0);
    pli[3] = 0;
    rest = of_bytes(pli, sizeof pli);
    assert_false(rtcp_parse_next(&rest, &part));
    pli[0] = 0x41;
    assert_false(rtcp_parse_next(&rest, &part));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rtcp_feedback_names_the_ssrc_of_its_media),
        cmocka_unit_test(rtcp_report_may_be_followed_by_another_part),
        cmocka_unit_test(truncated_rtcp_parts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
