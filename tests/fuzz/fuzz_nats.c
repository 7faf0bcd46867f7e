/* fuzz_nats.c - fuzzes the parsers of NATS messages and of NATS server addresses. Input: any
 * bytes. */
#include "fuzz.h"

#include "cluster/nats_protocol.h"

static bool lies_in(struct str part, struct str whole)
{
    return !part.n || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

/* A truncated message is incomplete or gives the result of the whole. */
static void check_truncated_messages(struct str rest, long whole)
{
    struct nats_command w;

    for (size_t n = 0; n < rest.n && n <= 256; n++) {
        long part = nats_parse_command(str_slice(rest.p, n), &w);

        FUZZ_CHECK(part == 0 || part == whole);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = { (const char *)data, size }, rest = bytes;
    struct nats_servers servers;
    struct nats_command w;
    long took;

    while ((took = nats_parse_command(rest, &w)) > 0) {
        FUZZ_CHECK((size_t)took <= rest.n);
        FUZZ_CHECK(lies_in(w.subject, rest) && lies_in(w.body, rest));
        if (w.kind == NATS_INFO)
            FUZZ_CHECK(nats_parse_max_payload(w.body) <= NATS_PAYLOAD_MAX);
        check_truncated_messages(rest, took);
        rest = str_skip_bytes(rest, (size_t)took);
    }
    if (nats_servers_parse(bytes, &servers)) {
        FUZZ_CHECK(servers.count && servers.count <= NATS_SERVERS_MAX);
        for (size_t i = 0; i < servers.count; i++)
            FUZZ_CHECK(servers.items[i].host[0] && servers.items[i].port[0]);
    }
    return 0;
}
