/* kinds.c - statistics per name of a read (struct work.name): how many round trips it needs. Reads
 * of one name usually need the same number of round trips. If it is known, the last round trip also
 * ends the transaction, which saves one. If the prediction is wrong, the read restarts, and the
 * name is not trusted again before the number repeats three times. Reads that use too much time of
 * a loop, or too many round trips, run on the workers for a while. */
#include "store/postgres/postgres.h"

/* Trust in the statistics; above 0: the number of round trips is predictable. */
enum { TRUST_BARRED = -32, TRUST_LOST = -2, TRUST_MOST = 7 };

struct kind {
    int8_t trust;
    uint8_t round_trips;
};

static struct postgres_kind *kind_of_read(struct postgres *p, const struct work *work)
{
    uint64_t key = (uint64_t)(uintptr_t)work->name * UINT64_C(0x9e3779b97f4a7c15);

    return &p->kinds[key >> 52];
}

static struct kind kind_load(struct postgres *p, const struct work *work)
{
    uint16_t both = atomic_load_explicit(&kind_of_read(p, work)->both, memory_order_relaxed);

    return (struct kind){ .trust = (int8_t)(both >> 8), .round_trips = (uint8_t)both };
}

static void kind_store(struct postgres *p, const struct work *work, struct kind k)
{
    uint16_t both = (uint16_t)((unsigned)(uint8_t)k.trust << 8 | k.round_trips);

    atomic_store_explicit(&kind_of_read(p, work)->both, both, memory_order_relaxed);
}

static bool has_kind(const struct work *work)
{
    return work->mode == STORE_READ && work->again && work->name;
}

bool postgres_kind_ends_with(struct postgres *p, const struct work *work, unsigned round_trips)
{
    struct kind k = has_kind(work) ? kind_load(p, work) : (struct kind){ 0 };

    return k.trust > 0 && k.round_trips <= round_trips;
}

bool postgres_kind_fits_loop(struct postgres *p, const struct work *work)
{
    return has_kind(work) && kind_load(p, work).trust >= TRUST_LOST;
}

void postgres_kind_note(struct postgres *p, const struct work *work, unsigned round_trips)
{
    if (!has_kind(work))
        return;

    struct kind k = kind_load(p, work);
    bool same = k.round_trips == round_trips || !k.round_trips;

    if (!same && k.trust > TRUST_LOST)
        k.trust = TRUST_LOST;
    else if (k.trust < (same ? TRUST_MOST : TRUST_LOST))
        k.trust++;
    k.round_trips = round_trips < UINT8_MAX ? (uint8_t)round_trips : UINT8_MAX;
    kind_store(p, work, k);
}

void postgres_kind_bar(struct postgres *p, const struct work *work)
{
    kind_store(p, work, (struct kind){ .trust = TRUST_BARRED });
}
