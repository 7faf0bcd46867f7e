/* fuzz_dtls.c - fuzzes the DTLS handshake with a browser. Input: datagrams, each after its length
 * in two bytes. */
#include "fuzz.h"

#include "relay/media/network_order.h"
#include "relay/webrtc/dtls.h"

enum { DATAGRAMS_MAX = 16 };

static void check_outgoing_datagrams(struct dtls *d)
{
    unsigned char out[DTLS_MAX_DATAGRAM];

    for (size_t n; (n = dtls_pop_outgoing_datagram(d, out));)
        FUZZ_CHECK(n <= sizeof out && dtls_is_record(str_slice((const char *)out, n)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct dtls_identity *identity;

    if (!identity)
        identity = dtls_identity_new();
    FUZZ_CHECK(identity != NULL);
    struct dtls *d = dtls_new(identity, STR("sha-256 00:11:22"));
    struct str rest = str_slice((const char *)data, size);
    for (int i = 0; i < DATAGRAMS_MAX && rest.n > 2; i++) {
        size_t n = network_read_u16(rest.p);

        rest = str_skip_bytes(rest, 2);
        n = n < rest.n ? n : rest.n;
        /* Nobody knows a certificate with that fingerprint, so no handshake succeeds. */
        FUZZ_CHECK(dtls_receive_datagram(d, str_slice(rest.p, n)) != DTLS_DONE);
        check_outgoing_datagrams(d);
        rest = str_skip_bytes(rest, n);
    }
    dtls_free(d);
    return 0;
}
