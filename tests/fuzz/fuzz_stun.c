/* fuzz_stun.c - fuzzes the parser of STUN requests. Input: a datagram. */
#include "fuzz.h"

#include "relay/webrtc/dtls.h"
#include "relay/webrtc/stun.h"

static bool is_inside(struct str part, struct str whole)
{
    return part.p >= whole.p && part.p + part.n <= whole.p + whole.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str datagram = str_slice((const char *)data, size), password = STR("0123456789abcdef");
    const struct stun_address from = { .bytes = { 127, 0, 0, 1 }, .n = size % 2 ? 4 : 16 };
    unsigned char out[STUN_MAX_RESPONSE];
    struct stun_request request;

    FUZZ_CHECK(!stun_is_message(datagram) || !dtls_is_record(datagram));
    if (!stun_parse_request(datagram, &request))
        return 0;
    FUZZ_CHECK(stun_is_message(datagram));
    FUZZ_CHECK(is_inside(request.server_fragment, datagram) &&
               is_inside(request.client_fragment, datagram));
    FUZZ_CHECK(request.integrity_at + 24 <= size);
    stun_verify_integrity(&request, password);
    size_t n = stun_write_response(&request, password, &from, out);
    FUZZ_CHECK(n <= sizeof out && stun_is_message(str_slice((const char *)out, n)));
    return 0;
}
