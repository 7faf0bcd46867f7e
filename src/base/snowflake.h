/* snowflake.h - ids that carry their time of birth.
 *
 * 42 bits of milliseconds since 2015, 5 of worker, 5 of process, 12 of sequence.
 * The epoch is part of the interface: clients compute creation dates from it. */
#ifndef BASE_SNOWFLAKE_H
#define BASE_SNOWFLAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef uint64_t snowflake;

#define SNOWFLAKE_EPOCH_MS 1420070400000LL
/* Enough for 2^63 - 1 and its NUL. */
#define SNOWFLAKE_TEXT 20

/* Which node this is, 0-1023: worker and process together. Ids begin anew with the
 * clock. */
void snowflake_init(unsigned node);
unsigned snowflake_node(void);

/* A new id, greater than every one before it in this process. Any thread. */
snowflake snowflake_new(void);

/* Ids from now on are greater than this one. */
void snowflake_continue(snowflake newest);
/* The moment that the newest id of this process carries; the epoch: there is none yet. */
int64_t snowflake_newest_ms(void);

/* For guilds: also burns the id before it, which stands for "all channels". */
snowflake snowflake_new_guild(void);

static inline int64_t snowflake_ms(snowflake id)
{
    return (int64_t)(id >> 22) + SNOWFLAKE_EPOCH_MS;
}

/* The smallest id of a moment, to search by time. */
static inline snowflake snowflake_at(int64_t ms)
{
    return ms < SNOWFLAKE_EPOCH_MS ? 0 : (snowflake)(ms - SNOWFLAKE_EPOCH_MS) << 22;
}

/* 0 <= id < 2^63 in decimal digits and nothing else. */
bool snowflake_parse(struct str s, snowflake *ret);

#endif
