/* snapshot_positions.c - event log positions whose changes a snapshot of the store included before
 * their events were delivered. */
#include "gateway/subscriptions/snapshot_positions.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/test_faults.h"
#include "gateway/wire/gateway_event.h"

/* A set of event log positions. Only one loop uses it, so the reference count is not atomic. */
struct snapshot_positions {
    unsigned refs;
    size_t count;
    int64_t positions[];
};

struct snapshot_positions *snapshot_log_positions_new(const struct list *positions)
{
    if (!positions->count || test_fault_is_enabled(TEST_FAULT_REPEATED_EVENTS))
        return NULL;
    struct snapshot_positions *k = mem_new(sizeof *k + positions->count * sizeof *k->positions);
    k->refs = 1;
    k->count = positions->count;
    memcpy(k->positions, positions->items, k->count * sizeof *k->positions);
    return k;
}

struct snapshot_positions *snapshot_log_positions_ref(struct snapshot_positions *k)
{
    if (k)
        k->refs++;
    return k;
}

void snapshot_log_positions_unref(struct snapshot_positions *k)
{
    if (k && --k->refs == 0)
        mem_free(k);
}

static int compare_positions(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static bool snapshot_has_position(const struct snapshot_positions *k, int64_t position)
{
    return bsearch(&position, k->positions, k->count, sizeof position, compare_positions);
}

bool snapshot_log_positions_include_all(const struct snapshot_positions *k,
                                        const struct snapshot_positions *other)
{
    for (size_t i = 0; other && i < other->count; i++)
        if (!k || !snapshot_has_position(k, other->positions[i]))
            return false;
    return true;
}

bool snapshot_positions_contain_event(struct snapshot_positions **k, uint64_t number)
{
    int64_t position = (int64_t)(number >> EVENT_NUMBER_BITS);

    if (position > (*k)->positions[(*k)->count - 1]) {
        snapshot_log_positions_unref(*k);
        *k = NULL;
        return false;
    }
    return snapshot_has_position(*k, position);
}
