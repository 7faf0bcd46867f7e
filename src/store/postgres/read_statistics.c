/* read_statistics.c - statistics per name of a read (struct work_item.name): its round trips. Reads
 * of one name usually need the same number of round trips. If the number is known, COMMIT is sent
 * with the last query, which saves a round trip. If the prediction is wrong, the read restarts, and
 * the statistics of the name are used again only after the number was the same three times. Reads
 * that use too much time of a loop, or too many round trips, run on the workers for a while. */
#include "store/postgres/postgres.h"

/* Values of the trust in the statistics of a work item's name. Above 0, the statistics predict the
 * number of round trips; below TRUST_LOST, reads of the name run on the worker threads. */
enum { TRUST_DISALLOWED_ON_LOOPS = -32, TRUST_LOST = -2, TRUST_MOST = 7 };

struct round_trip_statistics {
    int8_t trust;
    uint8_t round_trips;
};

static struct read_statistics *find_statistics_slot(struct postgres *p,
                                                    const struct work_item *work)
{
    uint64_t key = (uint64_t)(uintptr_t)work->name * UINT64_C(0x9e3779b97f4a7c15);

    return &p->statistics[key >> 52];
}

static struct round_trip_statistics load_read_statistics(struct postgres *p,
                                                         const struct work_item *work)
{
    uint16_t both =
        atomic_load_explicit(&find_statistics_slot(p, work)->both, memory_order_relaxed);

    return (struct round_trip_statistics){ .trust = (int8_t)(both >> 8),
                                           .round_trips = (uint8_t)both };
}

static void store_read_statistics(struct postgres *p, const struct work_item *work,
                                  struct round_trip_statistics k)
{
    uint16_t both = (uint16_t)((unsigned)(uint8_t)k.trust << 8 | k.round_trips);

    atomic_store_explicit(&find_statistics_slot(p, work)->both, both, memory_order_relaxed);
}

static bool work_item_has_statistics(const struct work_item *work)
{
    return work->mode == STORE_READ && work->is_idempotent && work->name;
}

bool same_name_reads_need_at_most_round_trips(struct postgres *p, const struct work_item *work,
                                              unsigned round_trips)
{
    struct round_trip_statistics k = work_item_has_statistics(work)
                                         ? load_read_statistics(p, work)
                                         : (struct round_trip_statistics){ 0 };

    return k.trust > 0 && k.round_trips <= round_trips;
}

bool same_name_reads_may_run_on_loop(struct postgres *p, const struct work_item *work)
{
    return work_item_has_statistics(work) && load_read_statistics(p, work).trust >= TRUST_LOST;
}

void same_name_reads_record_round_trips(struct postgres *p, const struct work_item *work,
                                        unsigned round_trips)
{
    if (!work_item_has_statistics(work))
        return;

    struct round_trip_statistics k = load_read_statistics(p, work);
    bool same = k.round_trips == round_trips || !k.round_trips;

    if (!same && k.trust > TRUST_LOST)
        k.trust = TRUST_LOST;
    else if (k.trust < (same ? TRUST_MOST : TRUST_LOST))
        k.trust++;
    k.round_trips = round_trips < UINT8_MAX ? (uint8_t)round_trips : UINT8_MAX;
    store_read_statistics(p, work, k);
}

void same_name_reads_disallow_on_loops(struct postgres *p, const struct work_item *work)
{
    store_read_statistics(p, work,
                          (struct round_trip_statistics){ .trust = TRUST_DISALLOWED_ON_LOOPS });
}
