/* join_rate_limit.h - rate limit of voice joins per account. The caller holds a lock. */
#ifndef VOICE_JOIN_RATE_LIMIT_H
#define VOICE_JOIN_RATE_LIMIT_H

#include <stdbool.h>

#include "base/snowflake.h"

struct join_rate_limit;

/* Creates the rate limit. If `limited` is false, all joins are allowed. */
struct join_rate_limit *voice_join_rate_limit_new(bool limited);
void voice_join_rate_limit_free(struct join_rate_limit *p);

/* Counts a join of the user. Returns whether the rate limit allows the join now. */
bool voice_join_rate_limit_allows(struct join_rate_limit *p, snowflake user_id);
/* Frees expired entries; call regularly. */
void voice_join_rate_limit_remove_expired(struct join_rate_limit *p);

#endif
