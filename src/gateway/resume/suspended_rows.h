/* suspended_rows.h - sessions that no node owns, stored as bytes.
 *
 * A server that stops suspends its sessions; a node that releases a session to another one does so
 * for a moment. All functions run in a write transaction. */
#ifndef GATEWAY_RESUME_SUSPENDED_ROWS_H
#define GATEWAY_RESUME_SUSPENDED_ROWS_H

#include "base/snowflake.h"
#include "store/store.h"

struct suspended_session {
    uint64_t number;
    snowflake user_id;
    int64_t until_ms;
    struct str body; /* session_bytes.h */
};

/* Drops some; *ret_more: others are left. */
enum err suspended_rows_drop(struct tx *tx, bool *ret_more);
enum err suspended_row_add(struct tx *tx, const struct suspended_session *p);
/* Without a cluster: a server that stops seals the rows when it has written them all. The next one
 * may use them only if it finds the seal, because only then has no event happened since. */
enum err suspended_rows_seal(struct tx *tx);
enum err suspended_rows_unseal(struct tx *tx, bool *ret_any);
/* Removes the row; *ret is left as it is if there is none. */
enum err suspended_row_take(struct tx *tx, uint64_t number, snowflake user_id, int64_t now_ms,
                            struct str *ret);

#endif
