/* snowflake.c - snowflake ids, which contain their creation time. */
#include "base/snowflake.h"

#include <stdatomic.h>

#include "base/clock.h"

enum { SEQUENCE_BITS = 12, NODE_BITS = 10 };

static uint64_t node_bits;

/* Time of the last id in ms since the snowflake epoch, and its sequence number, in one integer: a
 * full sequence carries into the next millisecond. */
static _Atomic uint64_t last_sequence;

void snowflake_set_node(unsigned node)
{
    node_bits = (uint64_t)(node & 1023) << SEQUENCE_BITS;
    atomic_store(&last_sequence, 0);
}

unsigned snowflake_get_node(void)
{
    return (unsigned)(node_bits >> SEQUENCE_BITS);
}

/* Reserves `count` consecutive sequence numbers for new ids and returns the last one. If the clock
 * stops or steps back, the numbers continue after the last reserved one. */
static uint64_t reserve_sequence_numbers(uint64_t count)
{
    uint64_t now = (uint64_t)(clock_ms() - SNOWFLAKE_EPOCH_MS) << SEQUENCE_BITS;
    uint64_t before = atomic_load_explicit(&last_sequence, memory_order_relaxed), next;

    do
        next = (before >= now ? before : now - 1) + count;
    while (!atomic_compare_exchange_weak(&last_sequence, &before, next));
    return next;
}

static snowflake snowflake_from_sequence(uint64_t sequence_number)
{
    uint64_t ms = sequence_number >> SEQUENCE_BITS, sequence = sequence_number & 0xfff;

    return ms << (SEQUENCE_BITS + NODE_BITS) | node_bits | sequence;
}

snowflake snowflake_new(void)
{
    return snowflake_from_sequence(reserve_sequence_numbers(1));
}

void snowflake_set_minimum(snowflake newest)
{
    uint64_t sequence_number = (newest >> (SEQUENCE_BITS + NODE_BITS)) << SEQUENCE_BITS | 0xfff;
    uint64_t before = atomic_load(&last_sequence);

    while (before < sequence_number &&
           !atomic_compare_exchange_weak(&last_sequence, &before, sequence_number))
        ;
}

int64_t snowflake_newest_ms(void)
{
    return (int64_t)(atomic_load(&last_sequence) >> SEQUENCE_BITS) + SNOWFLAKE_EPOCH_MS;
}

snowflake snowflake_new_guild_id(void)
{
    uint64_t sequence_number = reserve_sequence_numbers(2);

    /* Repeat until the id minus 1, which is also reserved, has the same millisecond as the guild's
     * id. */
    while ((sequence_number & 0xfff) == 0)
        sequence_number = reserve_sequence_numbers(2);
    return snowflake_from_sequence(sequence_number);
}

bool snowflake_parse(struct str s, snowflake *ret)
{
    uint64_t v;

    if (!str_to_u64(s, &v) || v > INT64_MAX)
        return false;
    *ret = v;
    return true;
}
