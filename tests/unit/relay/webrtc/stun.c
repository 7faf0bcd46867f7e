/* stun.c - STUN: the vectors of RFC 5769, refusals, truncated messages. */
#include "unit/unit.h"

#include <sodium.h>
#include <string.h>

#include "relay/webrtc/stun.h"

/* RFC 5769, 2.1: a request with SOFTWARE, PRIORITY, ICE-CONTROLLED and the user "evtj:h6vY". */
static const char request_hex[] =
    "000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69656e74002400046e"
    "0001ff80290008932ff9b151263b36000600096576746a3a68367659202020000800149aeaa70cbfd8cb56781e"
    "f2b5b2d3f249c1b571a280280004e57a3bcf";
static const struct str password = STR_INIT("VOkJxbRl1RmTxUk/WvJxBt");

static struct str message(unsigned char out[200])
{
    size_t n;

    assert_int_equal(sodium_hex2bin(out, 200, request_hex, strlen(request_hex), NULL, &n, NULL), 0);
    return str_slice((const char *)out, n);
}

static void request_of_rfc_5769_is_parsed_and_verified(void **state)
{
    unsigned char bytes[200];
    struct stun_request request;

    (void)state;
    assert_true(stun_parse_request(message(bytes), &request));
    assert_true(str_is(request.server_fragment, "evtj"));
    assert_true(str_is(request.client_fragment, "h6vY"));
    assert_false(request.nominates);
    assert_true(stun_verify_integrity(&request, password));
    assert_false(stun_verify_integrity(&request, STR("VOkJxbRl1RmTxUk/WvJxBs")));
}

static void stun_response_has_client_address_and_integrity(void **state)
{
    unsigned char bytes[200], out[STUN_MAX_RESPONSE];
    struct stun_address four = { { 192, 0, 2, 1 }, 4, 32853 }, six = { { 0x20, 1 }, 16, 1 };
    struct stun_request request, again;

    (void)state;
    assert_true(stun_parse_request(message(bytes), &request));
    size_t n = stun_write_response(&request, password, &four, out);
    assert_int_equal(n, 64);
    assert_memory_equal(out, "\x01\x01\x00\x2c\x21\x12\xa4\x42", 8);
    assert_memory_equal(out + 8, bytes + 8, STUN_ID);
    /* The value of RFC 5769, 2.2. */
    assert_memory_equal(out + 20, "\x00\x20\x00\x08\x00\x01\xa1\x47\xe1\x12\xa6\x43", 12);
    again =
        (struct stun_request){ .datagram = str_slice((const char *)out, n), .integrity_at = 32 };
    assert_true(stun_verify_integrity(&again, password));
    assert_int_equal(stun_write_response(&request, password, &six, out), STUN_MAX_RESPONSE);
}

static void changed_and_truncated_requests_are_refused(void **state)
{
    unsigned char bytes[200];
    struct str whole = message(bytes);
    struct stun_request request;

    (void)state;
    for (size_t i = 0; i < whole.n; i++) {
        assert_false(stun_parse_request(str_slice(whole.p, i), &request));
        if (i == whole.n - 8) /* the header of FINGERPRINT is not authenticated */
            i += 4;
        bytes[i] ^= 1;
        assert_false(stun_parse_request(whole, &request) &&
                     stun_verify_integrity(&request, password));
        bytes[i] ^= 1;
    }
}

static void requests_without_user_name_or_integrity_are_refused(void **state)
{
    unsigned char bytes[200];
    struct str whole = message(bytes);
    struct stun_request request;

    (void)state;
    bytes[3] = 0x30; /* ends before USERNAME */
    assert_false(stun_parse_request(str_slice(whole.p, 20 + 0x30), &request));
    bytes[3] = 0x38; /* ends before MESSAGE-INTEGRITY */
    assert_false(stun_parse_request(str_slice(whole.p, 20 + 0x38), &request));
}

static void other_datagrams_are_not_recognized_as_stun(void **state)
{
    static const unsigned char discovery[74] = { 0, 1, 0, 70, 0, 0, 0, 16 };
    unsigned char bytes[200];

    (void)state;
    assert_false(stun_is_message(str_slice((const char *)discovery, sizeof discovery)));
    assert_false(stun_is_message(STR("\x13\x37\xca\xfe\0\0\0\0")));
    assert_true(stun_is_message(message(bytes)));
}

static void stun_indications_and_responses_are_not_requests(void **state)
{
    unsigned char bytes[200];
    struct str whole = message(bytes);
    struct stun_request request;

    (void)state;
    bytes[1] = 0x11;
    assert_false(stun_parse_request(whole, &request));
    bytes[0] = 1;
    bytes[1] = 1;
    assert_false(stun_parse_request(whole, &request));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_of_rfc_5769_is_parsed_and_verified),
        cmocka_unit_test(stun_response_has_client_address_and_integrity),
        cmocka_unit_test(changed_and_truncated_requests_are_refused),
        cmocka_unit_test(requests_without_user_name_or_integrity_are_refused),
        cmocka_unit_test(other_datagrams_are_not_recognized_as_stun),
        cmocka_unit_test(stun_indications_and_responses_are_not_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
