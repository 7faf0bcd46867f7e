/* batch.c - the events of one commit, shared by all loops that deliver them. */
#include "gateway/sessions/batch.h"

#include <assert.h>

#include "base/mem.h"
#include "gateway/wire/news.h"

struct news_batch *news_batch_new(unsigned loops, size_t capacity)
{
    size_t parcels = loops * sizeof(struct parcel);
    struct news_batch *b = mem_new(sizeof *b + parcels + capacity * sizeof *b->news);

    b->loops = loops;
    b->unreleased = loops;
    b->news = (struct news **)(void *)(b->parcels + loops);
    for (unsigned i = 0; i < loops; i++)
        b->parcels[i].batch = b;
    return b;
}

void news_batch_add(struct news_batch *b, struct news *n)
{
    b->news[b->count++] = n;
}

void news_batch_free(struct news_batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        news_unref(b->news[i]);
    mem_free(b);
}

struct news *parcel_begin(struct parcel *p)
{
    assert(p->begun < p->batch->count);
    return p->batch->news[p->begun++];
}

bool parcel_is_begun(const struct parcel *p)
{
    return p->begun == p->batch->count;
}

uint64_t parcel_number(const struct parcel *p)
{
    return p->batch->news[p->batch->count - 1]->number;
}

void parcel_release(struct parcel *p)
{
    struct news_batch *b = p->batch;

    if (atomic_fetch_sub_explicit(&b->unreleased, 1, memory_order_acq_rel) == 1)
        news_batch_free(b);
}
