/* known.c - log positions that a snapshot of the store included before their events were sent. */
#include "gateway/views/known.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/planted.h"
#include "gateway/wire/news.h"

/* Used by one loop only, so the reference count is not atomic. */
struct known_positions {
    unsigned refs;
    size_t count;
    int64_t positions[];
};

struct known_positions *known_new(const struct list *positions)
{
    if (!positions->count || fault_planted(PLANTED_UNKNOWING))
        return NULL;
    struct known_positions *k = mem_new(sizeof *k + positions->count * sizeof *k->positions);
    k->refs = 1;
    k->count = positions->count;
    memcpy(k->positions, positions->items, k->count * sizeof *k->positions);
    return k;
}

struct known_positions *known_ref(struct known_positions *k)
{
    if (k)
        k->refs++;
    return k;
}

void known_unref(struct known_positions *k)
{
    if (k && --k->refs == 0)
        mem_free(k);
}

static int compare_positions(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static bool known_position(const struct known_positions *k, int64_t position)
{
    return bsearch(&position, k->positions, k->count, sizeof position, compare_positions);
}

bool known_covers(const struct known_positions *k, const struct known_positions *other)
{
    for (size_t i = 0; other && i < other->count; i++)
        if (!k || !known_position(k, other->positions[i]))
            return false;
    return true;
}

bool known_find(struct known_positions **k, uint64_t number)
{
    int64_t position = (int64_t)(number >> NUMBERS_OF_POSITION);

    if (position > (*k)->positions[(*k)->count - 1]) {
        known_unref(*k);
        *k = NULL;
        return false;
    }
    return known_position(*k, position);
}
