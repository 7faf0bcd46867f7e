/* fuzz_log.c - fuzzes the decoders of log entries and their addresses. Input: an address, followed
 * by an entry. */
#include "fuzz.h"

#include <string.h>

#include "cluster/log_address.h"

/* An address that can be decoded is encoded to the same bytes. */
static void check_decoded_log_address(struct str whole, struct str rest,
                                      const struct log_entry_address *a)
{
    unsigned parts[LOG_ADDRESS_KEYS_MAX];
    unsigned count = log_address_list_nats_parts(a, parts);
    struct buf b;

    FUZZ_CHECK(a->count >= 1 && a->count <= LOG_ADDRESS_KEYS_MAX && count <= a->count);
    for (unsigned i = 0; i < count; i++)
        FUZZ_CHECK(parts[i] < LOG_PARTS);
    buf_init(&b, LOG_ADDRESS_MAX_BYTES);
    log_address_append(a, &b);
    FUZZ_CHECK(!buf_is_full(&b) && b.n == whole.n - rest.n && !memcmp(b.p, whole.p, b.n));
    buf_clear(&b);
}

/* The address of a decoded entry has no more keys than its events have audiences. */
static void check_entry(struct str bytes)
{
    struct arena *arena = arena_new();
    struct log_entry_address a;
    struct log_entry f;

    if (log_entry_decode(bytes, arena, &f)) {
        log_entry_must_be_stored(&f);
        if (log_address_from_entry(&f, bytes, &a))
            FUZZ_CHECK(a.count <= a.events);
    }
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = { (const char *)data, size }, rest = bytes;
    struct log_entry_address a;

    if (log_address_decode(&rest, &a))
        check_decoded_log_address(bytes, rest, &a);
    else
        rest = bytes;
    check_entry(rest);
    return 0;
}
