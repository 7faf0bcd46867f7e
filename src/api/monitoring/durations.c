/* durations.c - histogram of the durations of calls, per domain.
 *
 * Each loop has its own counters, so loops share no lock and no cache line; readers add them up. */
#include "api/monitoring/durations.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"

const int64_t duration_bounds_us[DURATION_BOUNDS] = { 500,   1000,   2500,   5000,    10000,
                                                      25000, 100000, 250000, 1000000, 5000000 };

/* Histogram of one domain (feature folder) on one loop. The last bucket counts durations above all
 * bounds. */
struct duration_cell {
    _Alignas(64) _Atomic uint64_t counts[DURATION_BOUNDS + 1];
    _Atomic uint64_t us;
};

struct call_durations {
    const struct domain *const *domains;
    size_t groups;
    unsigned loops;
    void *memory;
    struct duration_cell *cells; /* one histogram per loop and domain; the histograms of a loop are
                                  * adjacent */
};

struct call_durations *call_durations_new(const struct domain *const *domains, unsigned loops)
{
    struct call_durations *d = mem_new(sizeof *d);

    d->domains = domains;
    d->loops = loops;
    while (domains[d->groups])
        d->groups++;
    d->memory = mem_new(d->groups * loops * sizeof *d->cells + 64);
    d->cells = (void *)(((uintptr_t)d->memory + 63) / 64 * 64);
    return d;
}

void call_durations_free(struct call_durations *d)
{
    if (!d)
        return;
    mem_free(d->memory);
    mem_free(d);
}

/* Adds to a counter. No atomic read-modify-write is needed, because only this loop writes the
 * counter. */
static void add_to_duration_counter(_Atomic uint64_t *cell, uint64_t n)
{
    atomic_store_explicit(cell, atomic_load_explicit(cell, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

void call_durations_record(struct call_durations *d, unsigned loop, unsigned group, int64_t ns)
{
    struct duration_cell *cell = &d->cells[loop * d->groups + group];
    int64_t us = ns / 1000;
    int i = 0;

    while (i < DURATION_BOUNDS && us > duration_bounds_us[i])
        i++;
    add_to_duration_counter(&cell->counts[i], 1);
    add_to_duration_counter(&cell->us, (uint64_t)us);
}

size_t call_durations_get_domain_count(const struct call_durations *d)
{
    return d->groups;
}

const char *call_durations_get_domain_name(const struct call_durations *d, size_t group)
{
    return d->domains[group]->name;
}

void call_durations_read_histogram(const struct call_durations *d, size_t group,
                                   uint64_t ret[DURATION_BOUNDS + 1])
{
    memset(ret, 0, (DURATION_BOUNDS + 1) * sizeof *ret);
    for (unsigned loop = 0; loop < d->loops; loop++) {
        const struct duration_cell *cell = &d->cells[loop * d->groups + group];

        for (int i = 0; i <= DURATION_BOUNDS; i++)
            ret[i] += atomic_load_explicit(&cell->counts[i], memory_order_relaxed);
    }
}

static void write_domain_metrics(const struct call_durations *d, size_t group, struct buf *out)
{
    uint64_t counts[DURATION_BOUNDS + 1], us = 0, all = 0;
    const char *name = call_durations_get_domain_name(d, group);

    call_durations_read_histogram(d, group, counts);
    for (unsigned loop = 0; loop < d->loops; loop++)
        us += atomic_load_explicit(&d->cells[loop * d->groups + group].us, memory_order_relaxed);
    for (int i = 0; i <= DURATION_BOUNDS; i++)
        all += counts[i];
    if (!all)
        return;
    uint64_t below = 0;
    for (int i = 0; i < DURATION_BOUNDS; i++) {
        below += counts[i];
        buf_printf(out, "guildhall_call_seconds_bucket{group=\"%s\",le=\"%g\"} %llu\n", name,
                   (double)duration_bounds_us[i] / 1e6, (unsigned long long)below);
    }
    buf_printf(out,
               "guildhall_call_seconds_bucket{group=\"%s\",le=\"+Inf\"} %llu\n"
               "guildhall_call_seconds_sum{group=\"%s\"} %.6f\n"
               "guildhall_call_seconds_count{group=\"%s\"} %llu\n",
               name, (unsigned long long)all, name, (double)us / 1e6, name,
               (unsigned long long)all);
}

void call_durations_write_metrics(const struct call_durations *d, struct buf *out)
{
    buf_add_lit(out, "# HELP guildhall_call_seconds Duration of API calls by domain.\n"
                     "# TYPE guildhall_call_seconds histogram\n");
    for (size_t group = 0; group < d->groups; group++)
        write_domain_metrics(d, group, out);
}
