/* snowflake.h - snowflake ids, which contain their creation time.
 *
 * 42 bits of milliseconds since 2015, 5 of worker, 5 of process, 12 of sequence. The epoch is part
 * of the API: clients compute creation dates from it. */
#ifndef BASE_SNOWFLAKE_H
#define BASE_SNOWFLAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef uint64_t snowflake;

#define SNOWFLAKE_EPOCH_MS 1420070400000LL
/* Size in bytes of the decimal text of 2^63 - 1 with its NUL. */
#define SNOWFLAKE_TEXT_SIZE 20

/* Sets the node number, 0-1023 (worker and process bits), and resets the sequence. */
void snowflake_set_node(unsigned node);
unsigned snowflake_get_node(void);

/* Returns a new id, greater than all earlier ids of this process. May be called from any thread. */
snowflake snowflake_new(void);

/* Makes all ids that this process creates from now on greater than `newest`. */
void snowflake_set_minimum(snowflake newest);
/* Returns the time of the newest id that this process has created, in ms; the snowflake epoch if it
 * has created none. */
int64_t snowflake_newest_ms(void);

/* Returns a new guild id. Also reserves the id before it (minus 1), which clients use for "all
 * channels". */
snowflake snowflake_new_guild_id(void);

static inline int64_t snowflake_to_ms(snowflake id)
{
    return (int64_t)(id >> 22) + SNOWFLAKE_EPOCH_MS;
}

/* Returns the smallest possible id of the millisecond `ms`, for searches by time. */
static inline snowflake snowflake_from_ms(int64_t ms)
{
    return ms < SNOWFLAKE_EPOCH_MS ? 0 : (snowflake)(ms - SNOWFLAKE_EPOCH_MS) << 22;
}

/* Parses an id of decimal digits. Returns false unless 0 <= id < 2^63. */
bool snowflake_parse(struct str s, snowflake *ret);

#endif
