/* snowflake.c - snowflake ids, which contain their creation time. */
#include "base/snowflake.h"

#include <stdatomic.h>

#include "base/clock.h"

enum { SEQUENCE_BITS = 12, NODE_BITS = 10 };

static uint64_t node_bits;

/* Milliseconds since the epoch and sequence of the last id in one number, so that a full sequence
 * carries into the next millisecond. */
static _Atomic uint64_t last;

void snowflake_init(unsigned node)
{
    node_bits = (uint64_t)(node & 1023) << SEQUENCE_BITS;
    atomic_store(&last, 0);
}

unsigned snowflake_node(void)
{
    return (unsigned)(node_bits >> SEQUENCE_BITS);
}

/* Reserves `count` consecutive sequence numbers and returns the last. If the clock stops or steps
 * back, counting continues from the last number. */
static uint64_t snowflake_take(uint64_t count)
{
    uint64_t now = (uint64_t)(clock_ms() - SNOWFLAKE_EPOCH_MS) << SEQUENCE_BITS;
    uint64_t before = atomic_load_explicit(&last, memory_order_relaxed), next;

    do
        next = (before >= now ? before : now - 1) + count;
    while (!atomic_compare_exchange_weak(&last, &before, next));
    return next;
}

static snowflake place_to_id(uint64_t place)
{
    uint64_t ms = place >> SEQUENCE_BITS, sequence = place & 0xfff;

    return ms << (SEQUENCE_BITS + NODE_BITS) | node_bits | sequence;
}

snowflake snowflake_new(void)
{
    return place_to_id(snowflake_take(1));
}

void snowflake_continue(snowflake newest)
{
    uint64_t place = (newest >> (SEQUENCE_BITS + NODE_BITS)) << SEQUENCE_BITS | 0xfff;
    uint64_t before = atomic_load(&last);

    while (before < place && !atomic_compare_exchange_weak(&last, &before, place))
        ;
}

int64_t snowflake_newest_ms(void)
{
    return (int64_t)(atomic_load(&last) >> SEQUENCE_BITS) + SNOWFLAKE_EPOCH_MS;
}

snowflake snowflake_new_guild(void)
{
    uint64_t place = snowflake_take(2);

    /* The reserved id is the guild's id minus 1, so both must be in the same millisecond. */
    while ((place & 0xfff) == 0)
        place = snowflake_take(2);
    return place_to_id(place);
}

bool snowflake_parse(struct str s, snowflake *ret)
{
    uint64_t v;

    if (!str_to_u64(s, &v) || v > INT64_MAX)
        return false;
    *ret = v;
    return true;
}
