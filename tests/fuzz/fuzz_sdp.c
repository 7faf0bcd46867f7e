/* fuzz_sdp.c - fuzzes the parser of the SDP of browsers. Input: the text. */
#include "fuzz.h"

#include <string.h>

#include "relay/webrtc/sdp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sdp_offer offer;

    if (!sdp_parse_offer(str_slice((const char *)data, size), &offer))
        return 0;
    FUZZ_CHECK(offer.ufrag.n >= SDP_MIN_UFRAG && offer.ufrag.n <= SDP_MAX_CREDENTIAL);
    FUZZ_CHECK(offer.password.n >= SDP_MIN_PASSWORD && offer.password.n <= SDP_MAX_CREDENTIAL);
    FUZZ_CHECK(memchr(offer.fingerprints, '\0', sizeof offer.fingerprints));
    FUZZ_CHECK(offer.opus_type >= -1 && offer.opus_type <= 127);
    FUZZ_CHECK(offer.transport_cc_id >= -1 && offer.transport_cc_id <= 14);
    return 0;
}
