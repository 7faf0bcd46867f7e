/* homes.h - which server of a cluster has a session, and what the log says: rows. */
#ifndef GATEWAY_SOURCE_HOMES_H
#define GATEWAY_SOURCE_HOMES_H

#include "gateway/gateway.h"

/* As struct gateway_source has them. */
enum err home_row_note(struct tx *tx, uint64_t number, snowflake user_id, uint32_t identity);
enum err home_row_forget(struct tx *tx, uint64_t number, uint32_t identity);
enum err home_row_move(struct tx *tx, uint64_t number, uint32_t from, uint32_t to, bool *ret);
enum err home_row_find(struct tx *tx, uint64_t number, snowflake user_id, struct session_home *ret);
enum err home_rows_tidy(struct tx *tx, uint32_t identity, const struct list *kept,
                        int64_t patience_ms, int64_t now_ms);
enum err log_range_read(struct tx *tx, int64_t *ret_first, int64_t *ret_last);
enum err log_positions_read(struct tx *tx, int64_t from, int64_t limit, struct list *ret);
enum err log_rows_read(struct tx *tx, int64_t after, int64_t last, int64_t limit, struct list *ret);

#endif
