/* parked.h - sessions that are put away while no server runs: their rows. */
#ifndef GATEWAY_SOURCE_PARKED_H
#define GATEWAY_SOURCE_PARKED_H

#include "gateway/gateway.h"

/* As struct gateway_source has them. */
enum err parked_drop(struct tx *tx, bool *ret_more);
enum err parked_add(struct tx *tx, const struct parked_session *p);
enum err parked_close(struct tx *tx);
enum err parked_open(struct tx *tx, bool *ret_some);
enum err parked_take(struct tx *tx, uint64_t number, snowflake user_id, int64_t now_ms,
                     struct str *ret);

#endif
